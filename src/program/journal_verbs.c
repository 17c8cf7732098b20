/* journal_verbs.c: see journal_verbs.h. */
#include "journal_verbs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compact.h"
#include "file.h"
#include "fold.h"
#include "inspect.h"
#include "journal_engine.h"
#include "oschild.h"
#include "osclock.h"

struct flags {
    const char *data;
    uint64_t lsn; /* at */
    uint64_t from, to;
    uint64_t archive_days;
};

static bool number_parse(const char *text, uint64_t *ret) {
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || text[0] == '-') return false;
    *ret = v;
    return true;
}

static enum err options_parse(int argc, char **argv, struct flags *ret, struct why *why) {
    struct flags o = {.from = 1, .to = UINT64_MAX};
    struct file_options defaults;
    file_options_default(&defaults);
    o.archive_days = defaults.archive_days;
    for (int i = 0; i < argc; i += 2) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value == NULL) return why_set(why, ERR_INVALID, "%s needs a value", name);
        bool good = true;
        if (strcmp(name, "--data") == 0)
            o.data = value;
        else if (strcmp(name, "--lsn") == 0)
            good = number_parse(value, &o.lsn);
        else if (strcmp(name, "--from") == 0)
            good = number_parse(value, &o.from);
        else if (strcmp(name, "--to") == 0)
            good = number_parse(value, &o.to);
        else if (strcmp(name, "--archive-days") == 0)
            good = number_parse(value, &o.archive_days) && o.archive_days <= UINT32_MAX;
        else
            return why_set(why, ERR_INVALID, "there is no option %s", name);
        if (!good) return why_set(why, ERR_INVALID, "%s: expected a number, found `%s`", name, value);
    }
    *ret = o;
    return ERR_OK;
}

static enum err data_open(const struct flags *o, struct journal_located *ret, struct why *why) {
    if (o->data == NULL) return why_set(why, ERR_INVALID, "pass --data DIR");
    return journal_engine_locate(o->data, ret, why);
}

static enum err verify(const struct flags *o, struct why *why) {
    struct journal_located l;
    struct journal_report r;
    enum err e = data_open(o, &l, why);
    if (e != ERR_OK) return e;
    e = l.reader->ops->verify(l.reader, &r, why);
    journal_located_close(&l);
    if (e != ERR_OK) return e;
    printf("{\"segments\":%u,\"archived\":%u,\"batches\":%llu,\"bytes\":%llu,\"first_lsn\":%llu,\"last_lsn\":%llu,"
           "\"epoch\":%llu,\"sealed\":%s,\"snapshots\":%u,\"snapshot_lsn\":%llu}\n",
           r.segment_count, r.archived_count, (unsigned long long)r.batch_count, (unsigned long long)r.payload_bytes,
           (unsigned long long)r.first_lsn, (unsigned long long)r.last_lsn, (unsigned long long)r.epoch,
           r.sealed ? "true" : "false", r.snapshot_count, (unsigned long long)r.snapshot_lsn);
    return ERR_OK;
}

static enum err out_more(struct byte_sink *s, const void *from, size_t len, struct why *why) {
    (void)s;
    if (fwrite(from, 1, len, stdout) != len) return why_set(why, ERR_IO, "output: %s", strerrordesc_np(errno));
    return ERR_OK;
}

static enum err dump(const struct flags *o, struct why *why) {
    struct journal_located l;
    struct byte_sink out = {out_more};
    enum err e = data_open(o, &l, why);
    if (e != ERR_OK) return e;
    e = inspect_dump(l.reader, o->from, o->to, &out, why);
    journal_located_close(&l);
    return e;
}

static enum err at(const struct flags *o, struct why *why) {
    struct journal_located l;
    struct fold f;
    if (o->lsn == 0) return why_set(why, ERR_INVALID, "pass --lsn N");
    enum err e = data_open(o, &l, why);
    if (e != ERR_OK) return e;
    e = fold_run(l.reader, o->lsn, &f, why);
    journal_located_close(&l);
    if (e != ERR_OK) return e;
    struct digest digest = engine_digest(f.engine);
    engine_free(f.engine);
    printf("{\"lsn\":%llu,\"epoch\":%llu,\"time_ms\":%lld,\"snapshot_lsn\":%llu,\"digest\":\"%016llx%016llx\"}\n",
           (unsigned long long)f.info.lsn, (unsigned long long)f.info.epoch, (long long)f.info.time.ms,
           (unsigned long long)f.snapshot_lsn, (unsigned long long)digest.hi, (unsigned long long)digest.lo);
    return ERR_OK;
}

static enum err compact(const struct flags *o, struct why *why) {
    struct journal_located l;
    struct compact_report r;
    enum err e = data_open(o, &l, why);
    if (e != ERR_OK) return e;
    oschild_background();
    struct compact_options options = {o->lsn, (uint32_t)o->archive_days, osclock()->wall(osclock())};
    e = compact_lock(l.disk, why);
    if (e == ERR_OK) e = compact_run(l.disk, &options, &r, why);
    journal_located_close(&l);
    if (e != ERR_OK) return e;
    printf("{\"lsn\":%llu,\"snapshot_lsn\":%llu,\"batches\":%llu,\"packed\":%u,\"packed_from_bytes\":%llu,"
           "\"packed_bytes\":%llu,\"removed\":%u}\n",
           (unsigned long long)r.lsn, (unsigned long long)r.snapshot_lsn, (unsigned long long)r.batch_count,
           r.archive.packed_count, (unsigned long long)r.archive.plain_bytes,
           (unsigned long long)r.archive.packed_bytes, r.archive.removed_count);
    /* The snapshot stands, so the run is a success; what is wrong with the archive a person has to know. */
    if (r.archive_err != ERR_OK)
        fprintf(stderr, "reeve journal compact: archive: %s: %s\n", err_word(r.archive_err), r.archive_why.text);
    return ERR_OK;
}

enum err journal_verify(int count, char **args, struct why *why) {
    struct flags o;
    enum err e = options_parse(count, args, &o, why);
    return e == ERR_OK ? verify(&o, why) : e;
}

enum err journal_dump(int count, char **args, struct why *why) {
    struct flags o;
    enum err e = options_parse(count, args, &o, why);
    return e == ERR_OK ? dump(&o, why) : e;
}

enum err journal_at(int count, char **args, struct why *why) {
    struct flags o;
    enum err e = options_parse(count, args, &o, why);
    return e == ERR_OK ? at(&o, why) : e;
}

enum err journal_compact(int count, char **args, struct why *why) {
    struct flags o;
    enum err e = options_parse(count, args, &o, why);
    return e == ERR_OK ? compact(&o, why) : e;
}
