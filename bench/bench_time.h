/* bench_time.h: seconds, for the benchmarks of single parts. */
#ifndef REEVE_BENCH_TIME_H
#define REEVE_BENCH_TIME_H

#include <time.h>

static inline double bench_seconds(clockid_t clock) {
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline double bench_now(void) {
    return bench_seconds(CLOCK_MONOTONIC);
}

/* Processor time of this thread. */
static inline double bench_cpu(void) {
    return bench_seconds(CLOCK_THREAD_CPUTIME_ID);
}

#endif
