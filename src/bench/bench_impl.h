/* bench_impl.h: what the files of this folder share: the run, its figures, rounds and their medians, the table. */
#ifndef REEVE_BENCH_IMPL_H
#define REEVE_BENCH_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

#define BENCH_PATH_MAX 256u
#define BENCH_ROUNDS_MAX 9u

struct bench {
    const char *build;
    const char *disk; /* directory in which ours are made */
    const char *name; /* of the workload under way: "W5" */
    bool json;
    bool quick;      /* everything small, once: does it work, not how fast is it */
    bool draws;      /* progress, on a terminal */
    uint32_t rounds; /* of floor and measurement in turn */
    double drawn_at;
};

/* One line of the result. */
struct figure {
    const char *shape; /* what of the workload it is; "" = it is all of it */
    const char *unit;
    bool more_is_better;
    double value;
    double floor;        /* in the same unit; 0 = there is none */
    double target;       /* in the same unit; 0 = only stated */
    uint64_t syncs;      /* of the journal, during one measurement: how often the server's own counter rose */
    uint64_t operations; /* of that measurement: submits answered, or jobs ended; 0 = there is no such number */
};

struct workload_entry {
    const char *name, *text;
    enum err (*run)(struct bench *b, struct why *why);
};

void bench_report(struct bench *b, const struct figure *f);
void bench_progress(struct bench *b, const char *what, uint64_t done, uint64_t all);
/* The number, or in a quick run a hundredth of it. */
uint64_t bench_size(const struct bench *b, uint64_t number);
double bench_now(void); /* seconds */

/* Figures of several rounds; the machine is noisy, so the middle one counts. */
struct series {
    double at[BENCH_ROUNDS_MAX + 1];
    uint32_t count;
};
void series_add(struct series *s, double v);
double series_median(const struct series *s);

/* Floor and measurement in turn: floor, value, floor, value, …, floor. */
struct pairing {
    enum err (*floor)(void *ctx, double *ret, struct why *why);
    enum err (*value)(void *ctx, double *ret, struct why *why);
    void *ctx;
};
CHECKED enum err bench_rounds(struct bench *b, const struct pairing *p, double *ret_value, double *ret_floor,
                              struct why *why);

/* w_*.c */
enum err w0_floors(struct bench *b, struct why *why);
enum err w1_submit_one(struct bench *b, struct why *why);
enum err w2_submit_many(struct bench *b, struct why *why);
enum err w3_submit_batches(struct bench *b, struct why *why);
enum err w4_round_trip(struct bench *b, struct why *why);
enum err w5_drain(struct bench *b, struct why *why);
enum err w6_processes(struct bench *b, struct why *why);
enum err w7_graphs(struct bench *b, struct why *why);
enum err w8_chain(struct bench *b, struct why *why);
enum err w9_restart(struct bench *b, struct why *why);
enum err w10_memory(struct bench *b, struct why *why);
enum err w11_fair(struct bench *b, struct why *why);
enum err w13_http_submit(struct bench *b, struct why *why);
enum err w14_http_get(struct bench *b, struct why *why);

#endif
