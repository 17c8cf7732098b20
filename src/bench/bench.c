/* bench.c: see bench.h. The arguments, and rounds of floor and measurement. */
#include "bench.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_impl.h"
#include "panic.h"

#define ROUNDS_STANDARD 5u
#define DRAW_SECONDS 0.1

double bench_now(void) {
    struct timespec t;
    ENSURE(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

uint64_t bench_size(const struct bench *b, uint64_t number) {
    return b->quick ? (number + 99) / 100 : number;
}

const struct workload_settings *bench_with(const struct bench *b) {
    return &b->workload->with;
}

enum err bench_rounds(struct bench *b, const struct pairing *p, struct spread *ret_value, double *ret_floor,
                      struct why *why) {
    struct series values = {.count = 0}, floors = {.count = 0};
    for (uint32_t i = 0; i <= b->rounds; i++) {
        double v = 0;
        bench_progress(b, "rounds", i, b->rounds);
        enum err e = p->floor(p->ctx, &v, why);
        if (e != ERR_OK) return why_wrap(why, e, "floor");
        series_add(&floors, v);
        if (i == b->rounds) break;
        e = p->value(p->ctx, &v, why);
        if (e != ERR_OK) return e;
        series_add(&values, v);
    }
    *ret_value = spread_of(&values);
    *ret_floor = series_median(&floors);
    return ERR_OK;
}

void bench_progress(struct bench *b, const char *what, uint64_t done, uint64_t all) {
    double now = bench_now();
    if (!b->draws || (done != all && now - b->drawn_at < DRAW_SECONDS)) return;
    b->drawn_at = now;
    fprintf(stderr, "\r\033[K%s %s %llu/%llu", b->workload->name, what, (unsigned long long)done,
            (unsigned long long)all);
    fflush(stderr);
}

/* ---- arguments ---- */

static void help(void) {
    printf("usage: reeve bench [WORKLOAD]... [--data DIR] [--rounds N] [--quick] [--list] [--json]\n\n");
    for (size_t i = 0; workload_at(i) != NULL; i++) printf("  %-4s %s\n", workload_at(i)->name, workload_at(i)->text);
    printf(
        "\nWithout a name all of them. Each starts this program as server and worker, and measures in the same run\n"
        "what the machine could do at best (floor); ratio 1 is as good as that. What is lost when it is killed, W12,\n"
        "is no number: a test asks for none.\n\n"
        "  --data DIR   on which disk: a directory is made in DIR and removed again; TMPDIR, else /var/tmp\n"
        "  --rounds N   rounds of floor and measurement; the median counts (default: 5)\n"
        "  --quick      a hundredth of the size, one round: whether it works, not how fast it is\n"
        "  --list       the workloads with their settings; nothing is measured\n"
        "  --json       one object per line: workload, value, unit, rounds, min, max, floor, ratio, syncs,\n"
        "               operations, target, met, version, settings\n");
}

static enum err rounds_parse(struct bench *b, const char *value, struct why *why) {
    char *end = NULL;
    unsigned long v = strtoul(value, &end, 10);
    if (*value == 0 || *end != 0 || v < 1 || v > BENCH_ROUNDS_MAX)
        return why_set(why, ERR_INVALID, "--rounds: expected a number from 1 to %u, found `%s`", BENCH_ROUNDS_MAX,
                       value);
    b->rounds = (uint32_t)v;
    return ERR_OK;
}

/* Names of workloads stay at the front of `args`. */
static enum err args_read(struct bench *b, int count, char **args, int *ret_names, struct why *why) {
    int names = 0;
    enum err e = ERR_OK;
    for (int i = 0; i < count && e == ERR_OK; i++) {
        const char *value = i + 1 < count ? args[i + 1] : NULL;
        bool takes_value = strcmp(args[i], "--data") == 0 || strcmp(args[i], "--rounds") == 0;
        if (takes_value && value == NULL) return why_set(why, ERR_INVALID, "%s: a value is missing", args[i]);
        if (strcmp(args[i], "--json") == 0)
            b->json = true;
        else if (strcmp(args[i], "--quick") == 0)
            b->quick = true;
        else if (strcmp(args[i], "--list") == 0)
            b->lists = true;
        else if (strcmp(args[i], "--data") == 0)
            b->disk = value;
        else if (takes_value)
            e = rounds_parse(b, value, why);
        else if (args[i][0] == '-')
            e = why_set(why, ERR_INVALID, "there is no flag %s; `reeve bench --help` lists them", args[i]);
        else if (workload_find(args[i]) == NULL)
            e = why_set(why, ERR_INVALID, "there is no workload `%s`; `reeve bench --help` lists them", args[i]);
        else
            args[names++] = args[i];
        if (takes_value) i++;
    }
    *ret_names = names;
    return e;
}

static enum err one_run(struct bench *b, const struct workload *w, struct why *why) {
    b->workload = w;
    enum err e = w->run(b, why);
    if (b->draws) fprintf(stderr, "\r\033[K");
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "%s", w->name);
}

enum err bench_run(int count, char **args, const char *build, struct why *why) {
    const char *tmp = getenv("TMPDIR");
    int names = 0;
    struct bench b = {.build = build,
                      .disk = tmp != NULL && tmp[0] != 0 ? tmp : "/var/tmp",
                      .draws = isatty(STDERR_FILENO) != 0,
                      .rounds = 0};
    for (int i = 0; i < count; i++)
        if (strcmp(args[i], "--help") == 0) {
            help();
            return ERR_OK;
        }
    enum err e = args_read(&b, count, args, &names, why);
    if (e == ERR_OK && b.lists) {
        workload_list(build, b.json);
        return ERR_OK;
    }
    if (e == ERR_OK && access(b.disk, W_OK) != 0)
        e = why_set(why, ERR_NOT_FOUND, "%s: %s", b.disk, strerrordesc_np(errno));
    if (b.rounds == 0) b.rounds = b.quick ? 1 : ROUNDS_STANDARD;
    if (e == ERR_OK && !b.json) printf("reeve %s, rounds: %u, disk: %s\n", build, b.rounds, b.disk);
    for (size_t i = 0; workload_at(i) != NULL && e == ERR_OK && names == 0; i++) e = one_run(&b, workload_at(i), why);
    for (int i = 0; i < names && e == ERR_OK; i++) e = one_run(&b, workload_find(args[i]), why);
    return e;
}
