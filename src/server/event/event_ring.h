/* event_ring.h: what happened of late, in one ring for all who follow it (subscribers.h), and waits: clients that asked
 * to be told when certain flows and jobs are over. */
#ifndef REEVE_EVENT_RING_H
#define REEVE_EVENT_RING_H

#include "effect.h"
#include "map.h"
#include "net.h"
#include "pool.h"
#include "server_impl.h"
#include "vec.h"

#define EVENT_RING_SIZE 16384u /* a flow of ten thousand jobs is that many events at once */

struct event_ring {
    struct effect *ring;     /* EVENT_RING_SIZE events */
    uint64_t first, next;    /* positions: those from first up to next are in the ring */
    uint64_t before_lsn;     /* events up to here are not in it, */
    uint32_t before_ordinal; /* nor up to this one of that record */
    struct pool waits;       /* struct wait */
    struct pool targets;     /* struct wait_target */
    struct map by_flow;      /* first wait_target of a flow */
    struct vec others;       /* uint32_t: waits with a deadline */
    int64_t next_ms;         /* the earliest of them */
};

extern const uint8_t event_ring_slot;

static inline struct event_ring *event_ring_of(const struct server *s) {
    return shard_part(server_shard(s), event_ring_slot);
}

#endif
