/* figure.h: numbers of several rounds, and how they are shown: a line for people, an object for programs. */
#ifndef REEVE_FIGURE_H
#define REEVE_FIGURE_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"

#define BENCH_ROUNDS_MAX 9u

struct bench;

/* Numbers of several rounds, kept in order. */
struct series {
    double at[BENCH_ROUNDS_MAX + 1];
    uint32_t count;
};
void series_add(struct series *s, double v);
double series_median(const struct series *s);

/* The machine is noisy, so the middle one counts; how far the others lie apart tells how much it means. */
struct spread {
    double median, least, most;
    uint32_t rounds;
};
struct spread spread_once(double v);
struct spread spread_of(const struct series *s);
struct spread spread_times(struct spread s, double factor);
struct spread spread_under(double n, struct spread s); /* n / each: seconds become a rate */

/* One line of the result. */
struct figure {
    const char *shape; /* what of the workload it is; "" = it is all of it */
    const char *unit;
    bool more_is_better;
    struct spread value;
    double floor;        /* in the same unit; 0 = there is none */
    double target;       /* in the same unit; 0 = only stated */
    uint64_t syncs;      /* of the journal, during one measurement: how often the server's own counter rose */
    uint64_t operations; /* of that measurement: submits answered, or jobs ended; 0 = there is no such number */
};
void figure_report(const struct bench *b, const struct figure *f);

#endif
