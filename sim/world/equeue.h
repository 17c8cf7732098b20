/* equeue.h: everything that will happen, ordered by (virtual time, order of asking). The only source of progress in a
 * simulated world: time is the time of the event that runs. Nothing is ever cancelled; owners that restart give their
 * events a generation and ignore those of an earlier one. */
#ifndef REEVE_EQUEUE_H
#define REEVE_EQUEUE_H

#include <stdbool.h>
#include <stdint.h>

struct event_call; /* see below */

typedef void (*event_fn)(void *ctx, uint64_t arg);

struct event_call {
    int64_t at_us;
    uint64_t order;
    event_fn fn;
    void *ctx;
    uint64_t arg;
};

struct equeue {
    struct event_call *heap;
    uint32_t count;
    uint32_t slots;
    uint64_t order;
    int64_t now_us;
};

void equeue_init(struct equeue *q);
void equeue_fini(struct equeue *q);
void equeue_at(struct equeue *q, int64_t at_us, event_fn fn, void *ctx,
               uint64_t arg); /* the past counts as now */
void equeue_in(struct equeue *q, int64_t delay_us, event_fn fn, void *ctx, uint64_t arg);
bool equeue_step(struct equeue *q); /* runs the next event; false when there is none */

#endif
