/* bench_impl.h: what the files of this folder share: the run, and rounds of floor and measurement. */
#ifndef REEVE_BENCH_IMPL_H
#define REEVE_BENCH_IMPL_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "figure.h"
#include "workload.h"

#define BENCH_PATH_MAX 256u

struct bench {
    const char *build;
    const char *disk;                /* directory in which ours are made */
    const struct workload *workload; /* under way */
    bool json;
    bool lists;      /* only says what there is */
    bool quick;      /* everything small, once: does it work, not how fast is it */
    bool draws;      /* progress, on a terminal */
    uint32_t rounds; /* of floor and measurement in turn */
    double drawn_at;
};

const struct workload_settings *bench_with(const struct bench *b); /* of the workload under way */
void bench_progress(struct bench *b, const char *what, uint64_t done, uint64_t all);
/* The number, or in a quick run a hundredth of it. */
uint64_t bench_size(const struct bench *b, uint64_t number);
double bench_now(void); /* seconds */

/* Floor and measurement in turn: floor, value, floor, value, …, floor. */
struct pairing {
    enum err (*floor)(void *ctx, double *ret, struct why *why);
    enum err (*value)(void *ctx, double *ret, struct why *why);
    void *ctx;
};
CHECKED enum err bench_rounds(struct bench *b, const struct pairing *p, struct spread *ret_value, double *ret_floor,
                              struct why *why);

#endif
