/* rate.h: how often someone may come: a bucket for each of many (callers, addresses), in bounded memory.
 *
 * A bucket is the time at which it will be full again. One that is full remembers nothing, so it can be given to
 * someone else. When none is to be had, some share one: they are held to one rate together, and nobody escapes by
 * coming under many names. */
#ifndef REEVE_RATE_H
#define REEVE_RATE_H

#include "vec.h"

struct rate {
    int64_t step_ns;  /* how much later a bucket is full for each that is taken */
    int64_t depth_ns; /* and how much later at most */
    struct vec slots; /* none until the first comes */
};

void rate_init(struct rate *r, int64_t step_ns, int64_t burst); /* burst: how many may come at once */
void rate_fini(struct rate *r);
/* How many ms until this one may come; 0 = now. */
int64_t rate_wait(struct rate *r, uint64_t key, int64_t now_ms);
/* It came; as rate_wait, and when that is not 0 nothing is taken. */
int64_t rate_take(struct rate *r, uint64_t key, int64_t now_ms);

#endif
