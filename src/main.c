/* main.c: the program. A table of verbs; the only place where os/ meets the rest.
 *
 * Exit codes come from the error table (base/err.h): 0 done, 2 a wrong request, 5 not there, 9 damaged or failing
 * storage, and so on. Output for programs goes to standard output as JSON, words for people to standard error. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compact.h"
#include "file.h"
#include "fold.h"
#include "inspect.h"
#include "oschild.h"
#include "osclock.h"
#include "osdisk.h"
#include "serve.h"
#include "worker.h"

#ifndef REEVE_VERSION
#define REEVE_VERSION "0.1.0"
#endif

struct flags {
    const char *data;
    uint64_t lsn; /* at */
    uint64_t from, to;
    uint64_t archive_days;
};

struct verb {
    const char *words;
    const char *usage;
    const char *help;
    enum err (*run)(const struct flags *o, struct why *why);
    enum err (*run_raw)(int count, char **args, struct why *why); /* or: it reads its own flags */
};

static enum err verb_version(const struct flags *o, struct why *why) {
    (void)o, (void)why;
    printf("reeve %s\n", REEVE_VERSION);
    return ERR_OK;
}

static enum err data_open(const struct flags *o, struct disk **ret, struct why *why) {
    if (o->data == NULL) return why_set(why, ERR_INVALID, "--data DIR is missing");
    if (access(o->data, R_OK) != 0) return why_set(why, ERR_NOT_FOUND, "%s: %s", o->data, strerrordesc_np(errno));
    return osdisk_open(o->data, ret, why);
}

static enum err verb_verify(const struct flags *o, struct why *why) {
    struct disk *d;
    struct inspect_report r;
    enum err e = data_open(o, &d, why);
    if (e != ERR_OK) return e;
    e = inspect_verify(d, &r, why);
    osdisk_close(d);
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

static enum err verb_dump(const struct flags *o, struct why *why) {
    struct disk *d;
    struct byte_sink out = {out_more};
    enum err e = data_open(o, &d, why);
    if (e != ERR_OK) return e;
    e = inspect_dump(d, o->from, o->to, &out, why);
    osdisk_close(d);
    return e;
}

static enum err verb_at(const struct flags *o, struct why *why) {
    struct disk *d;
    struct fold f;
    if (o->lsn == 0) return why_set(why, ERR_INVALID, "--lsn N is missing");
    enum err e = data_open(o, &d, why);
    if (e != ERR_OK) return e;
    e = fold_run(d, o->lsn, &f, why);
    osdisk_close(d);
    if (e != ERR_OK) return e;
    struct digest digest = engine_digest(f.engine);
    engine_free(f.engine);
    printf("{\"lsn\":%llu,\"epoch\":%llu,\"time_ms\":%lld,\"snapshot_lsn\":%llu,\"digest\":\"%016llx%016llx\"}\n",
           (unsigned long long)f.info.lsn, (unsigned long long)f.info.epoch, (long long)f.info.time.ms,
           (unsigned long long)f.snapshot_lsn, (unsigned long long)digest.hi, (unsigned long long)digest.lo);
    return ERR_OK;
}

static enum err verb_compact(const struct flags *o, struct why *why) {
    struct disk *d;
    struct compact_report r;
    enum err e = data_open(o, &d, why);
    if (e != ERR_OK) return e;
    oschild_background();
    struct compact_options options = {o->lsn, (uint32_t)o->archive_days, osclock()->wall(osclock())};
    e = compact_lock(d, why);
    if (e == ERR_OK) e = compact_run(d, &options, &r, why);
    osdisk_close(d);
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

static enum err verb_serve(int count, char **args, struct why *why) {
    return serve_run(count, args, REEVE_VERSION, why);
}

static enum err verb_worker(int count, char **args, struct why *why) {
    return worker_run(count, args, REEVE_VERSION, why);
}

static const struct verb verbs[] = {
    {"version", "", "the version of this program", verb_version, NULL},
    {"serve", "[--data DIR] [--listen HOST:PORT]...", "run the server; --help lists the settings", NULL, verb_serve},
    {"worker", "[--server HOST:PORT] [--slots N]...", "run jobs for a server; --help lists the options", NULL,
     verb_worker},
    {"config", "[--data DIR]...", "every setting, and where its value comes from", NULL, serve_config},
    {"journal verify", "--data DIR", "read every byte; name the first damage", verb_verify, NULL},
    {"journal dump", "--data DIR [--from N] [--to N]", "one line of JSON per record", verb_dump, NULL},
    {"journal at", "--data DIR --lsn N", "the state after record N: its digest", verb_at, NULL},
    {"journal compact", "--data DIR [--lsn N] [--archive-days N]", "fold closed segments, pack the archive",
     verb_compact, NULL},
};
#define VERB_COUNT (sizeof verbs / sizeof verbs[0])

static void usage(FILE *to) {
    fprintf(to, "usage: reeve VERB [OPTION]...\n\n");
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(to, "  %-16s %-40s %s\n", verbs[i].words, verbs[i].usage, verbs[i].help);
}

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
        if (value == NULL) return why_set(why, ERR_INVALID, "%s: a value is missing", name);
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
            return why_set(why, ERR_INVALID, "%s: no such option", name);
        if (!good) return why_set(why, ERR_INVALID, "%s: not a number: %s", name, value);
    }
    *ret = o;
    return ERR_OK;
}

/* The verb whose words begin the arguments; ret_words says how many they are. */
static const struct verb *verb_find(int argc, char **argv, int *ret_words) {
    for (size_t i = 0; i < VERB_COUNT; i++) {
        char words[64];
        const char *space = strchr(verbs[i].words, ' ');
        int count = space != NULL ? 2 : 1;
        if (argc < count) continue;
        snprintf(words, sizeof words, "%s%s%s", argv[0], count == 2 ? " " : "", count == 2 ? argv[1] : "");
        if (strcmp(words, verbs[i].words) != 0) continue;
        *ret_words = count;
        return &verbs[i];
    }
    return NULL;
}

int main(int argc, char **argv) {
    struct why why = {{0}};
    struct flags o;
    int words = 0;
    bool help = argc == 2 && (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0);
    const struct verb *v = verb_find(argc - 1, argv + 1, &words);
    if (help || v == NULL) {
        usage(help ? stdout : stderr);
        return help ? 0 : err_exit_code(ERR_INVALID);
    }
    enum err e = v->run_raw != NULL ? v->run_raw(argc - 1 - words, argv + 1 + words, &why)
                                    : options_parse(argc - 1 - words, argv + 1 + words, &o, &why);
    if (e == ERR_OK && v->run != NULL) e = v->run(&o, &why);
    if (e == ERR_OK && fflush(stdout) != 0) e = why_set(&why, ERR_IO, "output: %s", strerrordesc_np(errno));
    if (e != ERR_OK) fprintf(stderr, "reeve %s: %s: %s\n", v->words, err_word(e), why.text);
    return err_exit_code(e);
}
