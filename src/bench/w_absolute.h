/* w_absolute.h: workloads whose target is a time or a rate, not a share of a floor: each round has a server of its own,
 * whose journal is counted and applied once more afterwards. That time, apply alone, is their floor. */
#ifndef REEVE_W_ABSOLUTE_H
#define REEVE_W_ABSOLUTE_H

#include "lab.h"

struct absolute {
    /* One measurement on a fresh server; sets `seconds`. */
    enum err (*run)(struct lab *l, struct absolute *w, struct why *why);
    uint64_t jobs, flows, ends; /* that it makes; as the journal must have them */
    struct buf request;
    double seconds;
    uint64_t syncs_before; /* whoever prepares something first sets it when the clock starts */

    struct spread value; /* results: seconds */
    double floor;        /* median, in seconds */
    uint64_t syncs;      /* of the last round */
};

void absolute_init(struct absolute *w);
void absolute_fini(struct absolute *w);
CHECKED enum err absolute_rounds(struct absolute *w, struct bench *b, struct why *why);
void absolute_report_seconds(const struct absolute *w, struct bench *b, const char *shape, double target);
void absolute_report_rate(const struct absolute *w, struct bench *b, const char *shape, double target);
void absolute_report_each(const struct absolute *w, struct bench *b, const char *shape, double target); /* us per job */

#endif
