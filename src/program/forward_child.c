/* forward_child.c: see forward_child.h. */
#include "forward_child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "audit_export.h"
#include "forward_target.h"
#include "journal_engine.h"
#include "osforward.h"
#include "osdigest.h"
#include "oschild.h"
#include "told_upto.h"

#define PAGE_BYTES ((size_t)256 << 10)
#define PAUSE_MS_MIN 250
#define PAUSE_MS_MAX 60000
#define LOST_TRIES 20u /* of a record that the journal does not have */

struct forward {
    struct journal_located journal;
    struct forward_target target;
    const char *kept; /* the file with the position */
    struct audit_export x;
    struct buf lines;
    uint64_t lsn;
    bool is_bad;
};

/* ---- what is told ---- */

static void told(struct forward *f, const char *word, const char *text) {
    char line[600];
    int len = snprintf(line, sizeof line, "%s %.500s\n", word, text);
    for (int i = 0; i + 1 < len; i++)
        if ((unsigned char)line[i] < 0x20) line[i] = ' ';
    f->is_bad = strcmp(word, "bad") == 0;
    if (write(STDOUT_FILENO, line, (size_t)len) != len) _exit(1);
}

static void told_at(struct forward *f) {
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, f->lsn);
    told(f, "at", number);
}

static void pause_for(uint32_t failures) {
    int64_t ms = PAUSE_MS_MIN;
    for (uint32_t i = 0; i < failures && ms < PAUSE_MS_MAX; i++) ms *= 2;
    if (ms > PAUSE_MS_MAX) ms = PAUSE_MS_MAX;
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
}

/* ---- the position ---- */

static uint64_t kept_read(const char *path) {
    uint64_t lsn = 0;
    FILE *f = fopen(path, "re");
    if (f == NULL) return 0;
    if (fscanf(f, "%" SCNu64, &lsn) != 1) lsn = 0;
    (void)fclose(f);
    return lsn;
}

static enum err kept_write(const char *path, uint64_t lsn, struct why *why) {
    char tmp[1024];
    snprintf(tmp, sizeof tmp, "%s.tmp", path);
    FILE *f = fopen(tmp, "we");
    bool good = f != NULL && fprintf(f, "%" PRIu64 "\n", lsn) > 0 && fflush(f) == 0 && fsync(fileno(f)) == 0;
    if (f != NULL) good = fclose(f) == 0 && good;
    if (good && rename(tmp, path) == 0) return ERR_OK;
    return why_set(why, ERR_IO, "%s: %s", path, strerrordesc_np(errno));
}

/* ---- pages ---- */

/* Again and again, until it is taken. */
static void deliver(struct forward *f, uint64_t lsn) {
    struct why why;
    for (uint32_t failures = 0;; failures++) {
        enum err e = f->lines.len > 0 ? forward_target_put(&f->target, buf_slice(&f->lines), lsn, &why) : ERR_OK;
        if (e == ERR_OK) e = kept_write(f->kept, lsn, &why);
        if (e == ERR_OK) break;
        told(f, "bad", why.text);
        pause_for(failures);
    }
    f->lsn = lsn;
    told_at(f);
}

/* The journal no longer has what comes next, because it stood still for longer than the archive reaches: it goes on
 * where the archive begins, and says so. */
static void begin_anew(struct forward *f) {
    char text[160];
    snprintf(text, sizeof text, "records after %" PRIu64 " have left the archive before they were sent", f->lsn);
    told(f, "bad", text);
    f->lsn = 0;
}

static void go_on(struct forward *f, uint64_t upto) {
    uint32_t failures = 0;
    while (f->lsn < upto) {
        struct why why = {{0}};
        uint64_t lsn = f->lsn;
        bool more = false;
        f->x.upto_lsn = upto;
        buf_clear(&f->lines);
        enum err e = audit_export_page(&f->x, &lsn, &f->lines, &more, &why);
        if (e != ERR_OK) {
            told(f, "bad", why.text);
            if (e == ERR_BUSY && ++failures == LOST_TRIES) begin_anew(f);
            pause_for(failures < 4 ? failures : 4);
            continue;
        }
        failures = 0;
        deliver(f, lsn);
        if (lsn == 0 || !more) return;
    }
}

bool forward_child_is(int argc, char **argv) {
    return argc == 8 && strcmp(argv[1], OSFORWARD_CHILD) == 0;
}

int forward_child_run(char **argv, const char *build) {
    struct forward f = {.kept = argv[4]};
    struct why why = {{0}};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* of the thread that waits for us, which goes with its process */
    (void)signal(SIGPIPE, SIG_IGN);
    oschild_background();
    enum err e = journal_engine_locate(argv[2], &f.journal, &why);
    if (e == ERR_OK) e = forward_target_open(argv[3], argv[7], &f.target, &why);
    if (e != ERR_OK) {
        told(&f, "bad", why.text);
        return 1;
    }
    f.x = (struct audit_export){.reader = f.journal.reader,
                                .hasher = osdigest(),
                                .program = build,
                                .format = strcmp(argv[5], "ocsf") == 0 ? AUDIT_OCSF : AUDIT_JSONL,
                                .filter = {.people = strcmp(argv[6], "everything") != 0},
                                .is_stream = true,
                                .page_bytes = PAGE_BYTES};
    buf_init(&f.lines, (size_t)1 << 28);
    f.lsn = kept_read(f.kept);
    told_at(&f);
    told_upto_listen();
    for (uint64_t upto = f.lsn;;) {
        upto = told_upto_next(upto);
        go_on(&f, upto);
    }
}
