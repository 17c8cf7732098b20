/* bench.c: see bench.h. The table of workloads, the arguments, and how figures are shown. */
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

static const struct workload_entry workloads[] = {
    {"W0", "the floors: F, T(1), T(64), S, and apply alone", w0_floors},
    {"W1", "durable submit, 1 connection, one at a time", w1_submit_one},
    {"W2", "durable submit, 64 connections, one in flight each", w2_submit_many},
    {"W3", "100,000 jobs submitted in batches of 1,000", w3_submit_batches},
    {"W4", "no-op round trip through a worker, one in flight", w4_round_trip},
    {"W5", "500,000 queued no-ops drained by 2 workers of 1,000 slots", w5_drain},
    {"W6", "5,000 times /bin/true, output captured", w6_processes},
    {"W7", "a flow of 10,000 no-ops, per job", w7_graphs},
    {"W8", "a chain of 1,000 no-ops, per step", w8_chain},
    {"W9", "1,000,000 queued, kill -9, restart to first dispatch", w9_restart},
    {"W10", "memory of a queued job; server and worker at rest", w10_memory},
    {"W11", "a no-op of a tenant while another has 100,000 jobs queued", w11_fair},
    {"W13", "durable submit by HTTP, 64 connections, one in flight each", w13_http_submit},
    {"W14", "a job by HTTP, 64 connections, one in flight each", w14_http_get},
};
#define WORKLOAD_COUNT (sizeof workloads / sizeof workloads[0])

double bench_now(void) {
    struct timespec t;
    ENSURE(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

uint64_t bench_size(const struct bench *b, uint64_t number) {
    return b->quick ? (number + 99) / 100 : number;
}

/* ---- medians ---- */

void series_add(struct series *s, double v) {
    REQUIRE(s->count < sizeof s->at / sizeof s->at[0]);
    uint32_t i = s->count++;
    for (; i > 0 && s->at[i - 1] > v; i--) s->at[i] = s->at[i - 1]; /* kept in order */
    s->at[i] = v;
}

double series_median(const struct series *s) {
    REQUIRE(s->count > 0);
    return (s->at[(s->count - 1) / 2] + s->at[s->count / 2]) / 2;
}

enum err bench_rounds(struct bench *b, const struct pairing *p, double *ret_value, double *ret_floor, struct why *why) {
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
    *ret_value = series_median(&values);
    *ret_floor = series_median(&floors);
    return ERR_OK;
}

/* ---- showing ---- */

void bench_progress(struct bench *b, const char *what, uint64_t done, uint64_t all) {
    double now = bench_now();
    if (!b->draws || (done != all && now - b->drawn_at < DRAW_SECONDS)) return;
    b->drawn_at = now;
    fprintf(stderr, "\r\033[K%s %s %llu/%llu", b->name, what, (unsigned long long)done, (unsigned long long)all);
    fflush(stderr);
}

/* How near it comes to the floor: 1 = it is as good. */
static double ratio_of(const struct figure *f) {
    if (f->floor <= 0 || f->value <= 0) return 0;
    return f->more_is_better ? f->value / f->floor : f->floor / f->value;
}

static bool is_met(const struct figure *f) {
    return f->more_is_better ? f->value >= f->target : f->value <= f->target;
}

static const char *number_text(double v, char text[32]) {
    snprintf(text, 32, v != 0 && v < 100 ? "%.4g" : "%.0f", v);
    return text;
}

static void report_json(const struct bench *b, const struct figure *f) {
    char text[32];
    printf("{\"workload\":\"%s\",", b->name);
    if (f->shape[0] != 0) printf("\"shape\":\"%s\",", f->shape);
    printf("\"value\":%s,\"unit\":\"%s\"", number_text(f->value, text), f->unit);
    if (f->floor > 0)
        printf(",\"floor\":%s,\"ratio\":%.3f", number_text(f->floor, text), ratio_of(f));
    else
        printf(",\"floor\":null,\"ratio\":null");
    printf(",\"syncs\":%llu,\"operations\":%llu", (unsigned long long)f->syncs, (unsigned long long)f->operations);
    if (f->target > 0)
        printf(",\"target\":%s,\"met\":%s}\n", number_text(f->target, text), is_met(f) ? "true" : "false");
    else
        printf(",\"target\":null,\"met\":null}\n");
}

static void report_text(const struct bench *b, const struct figure *f) {
    char value[32], other[32];
    printf("%-4s %-22s %10s %-5s", b->name, f->shape, number_text(f->value, value), f->unit);
    if (f->floor > 0)
        printf("  floor %10s  ratio %5.2f", number_text(f->floor, other), ratio_of(f));
    else
        printf("%32s", "");
    if (f->target > 0)
        printf("  target %s %-8s %s", f->more_is_better ? ">=" : "<=", number_text(f->target, other),
               is_met(f) ? "met" : "MISSED");
    if (f->syncs > 0) printf("  %llu syncs", (unsigned long long)f->syncs);
    printf("\n");
}

void bench_report(struct bench *b, const struct figure *f) {
    if (b->draws) fprintf(stderr, "\r\033[K");
    if (b->json)
        report_json(b, f);
    else
        report_text(b, f);
    fflush(stdout);
}

/* ---- arguments ---- */

static void help(void) {
    printf("usage: reeve bench [WORKLOAD]... [--data DIR] [--rounds N] [--quick] [--json]\n\n");
    for (size_t i = 0; i < WORKLOAD_COUNT; i++) printf("  %-4s %s\n", workloads[i].name, workloads[i].text);
    printf("\nWithout a name all of them. Each starts this program as server and worker, and measures in the same run\n"
           "what the machine could do at best (floor); ratio 1 is as good as that.\n\n"
           "  --data DIR   on which disk: a directory is made in DIR and removed again; TMPDIR, else /var/tmp\n"
           "  --rounds N   floor and measurement in turn, N times; the middle one counts; 5 unless said\n"
           "  --quick      a hundredth of the size, one round: whether it works, not how fast it is\n"
           "  --json       one object per line: workload, value, unit, floor, ratio, syncs, operations, target, met\n");
}

static const struct workload_entry *workload_find(const char *name) {
    for (size_t i = 0; i < WORKLOAD_COUNT; i++)
        if (strcasecmp(workloads[i].name, name) == 0) return &workloads[i];
    return NULL;
}

static enum err rounds_parse(struct bench *b, const char *value, struct why *why) {
    char *end = NULL;
    unsigned long v = strtoul(value, &end, 10);
    if (*value == 0 || *end != 0 || v < 1 || v > BENCH_ROUNDS_MAX)
        return why_set(why, ERR_INVALID, "--rounds: a number from 1 to %u is expected, not %s", BENCH_ROUNDS_MAX,
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

static enum err one_run(struct bench *b, const struct workload_entry *w, struct why *why) {
    b->name = w->name;
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
    if (e == ERR_OK && access(b.disk, W_OK) != 0)
        e = why_set(why, ERR_NOT_FOUND, "%s: %s", b.disk, strerrordesc_np(errno));
    if (b.rounds == 0) b.rounds = b.quick ? 1 : ROUNDS_STANDARD;
    for (size_t i = 0; i < WORKLOAD_COUNT && e == ERR_OK && names == 0; i++) e = one_run(&b, &workloads[i], why);
    for (int i = 0; i < names && e == ERR_OK; i++) e = one_run(&b, workload_find(args[i]), why);
    return e;
}
