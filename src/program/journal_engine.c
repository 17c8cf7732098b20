/* journal_engine.c: see journal_engine.h. */
#include "journal_engine.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "osclock.h"
#include "osdisk.h"
#include "panic.h"

#define SEGMENT_BYTES_MIN 131072 /* of a batch twice what a record has beside a submit */

/* ---- file: segments in the data directory; its path is the locator ---- */

static enum err file_settings(const struct settings *s, struct file_options *ret, struct why *why) {
    int64_t segment_bytes = setting_number(s, SETTING_segment_bytes);
    if (segment_bytes % 4096 != 0)
        return why_set(why, ERR_INVALID, "segment_bytes: %lld is not a multiple of 4096", (long long)segment_bytes);
    if (segment_bytes != 0 && segment_bytes < SEGMENT_BYTES_MIN)
        return why_set(why, ERR_INVALID, "segment_bytes: %lld is less than %d", (long long)segment_bytes,
                       SEGMENT_BYTES_MIN);
    file_options_default(ret);
    ret->archive_days = (uint32_t)setting_number(s, SETTING_archive_days);
    if (segment_bytes != 0) ret->segment_bytes = (uint64_t)segment_bytes;
    ret->locator = setting_text(s, SETTING_data);
    return ERR_OK;
}

static enum err open_file(const struct settings *s, struct disk *disk, struct journal **ret, struct why *why) {
    struct file_options o;
    enum err e = file_settings(s, &o, why);
    return e == ERR_OK ? file_open(disk, osclock(), &o, ret, why) : e;
}

static enum err locate_file(const char *locator, struct journal_located *ret, struct why *why) {
    struct journal_located l;
    if (access(locator, R_OK) != 0) return why_set(why, ERR_NOT_FOUND, "%s: %s", locator, strerrordesc_np(errno));
    enum err e = osdisk_open(locator, &l.disk, why);
    if (e != ERR_OK) return e;
    e = file_reader(l.disk, &l.reader, why);
    if (e == ERR_OK)
        *ret = l;
    else
        osdisk_close(l.disk);
    return e;
}

/* ---- the table ---- */

struct engine_row {
    const char *word; /* of the setting `journal` */
    enum err (*open)(const struct settings *s, struct disk *disk, struct journal **ret, struct why *why);
    /* ERR_NOT_FOUND: it is no locator of this engine, or there is nothing. NULL: no other process can open one. */
    enum err (*locate)(const char *locator, struct journal_located *ret, struct why *why);
};

static const struct engine_row engines[] = {
    {"file", open_file, locate_file},
};

#define ENGINE_COUNT (sizeof engines / sizeof engines[0])

enum err journal_engine_open(const struct settings *s, struct disk *disk, struct journal **ret, struct why *why) {
    const char *word = setting_text(s, SETTING_journal);
    for (size_t i = 0; i < ENGINE_COUNT; i++)
        if (strcmp(engines[i].word, word) == 0) return engines[i].open(s, disk, ret, why);
    PANIC("a word of the setting `journal` has no engine");
}

enum err journal_engine_locate(const char *locator, struct journal_located *ret, struct why *why) {
    enum err e = ERR_NOT_FOUND;
    for (size_t i = 0; e == ERR_NOT_FOUND && i < ENGINE_COUNT; i++)
        if (engines[i].locate != NULL) e = engines[i].locate(locator, ret, why);
    return e;
}

void journal_located_close(struct journal_located *l) {
    l->reader->ops->close(l->reader);
    if (l->disk != NULL) osdisk_close(l->disk);
}
