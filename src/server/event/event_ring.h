/* event_ring.h: who hears of what happens. Events are kept in one ring for all; a subscriber is a position in it, so a
 * slow one costs nothing, and is told of a gap when the ring has gone past it. A wait is for the end of certain flows
 * and jobs. */
#ifndef REEVE_EVENT_RING_H
#define REEVE_EVENT_RING_H

#include "effect.h"
#include "map.h"
#include "net.h"
#include "pool.h"
#include "vec.h"

struct server;
struct request;

#define EVENT_RING_SIZE 16384u /* a flow of ten thousand jobs is that many events at once */

struct event_ring {
    struct effect *ring;  /* EVENT_RING_SIZE events */
    uint64_t first, next; /* positions: those from first up to next are in the ring */
    uint64_t before_lsn;  /* events up to here are not in it, */
    uint32_t before_ordinal; /* nor up to this one of that record */
    struct vec readers;   /* struct reader */
    struct pool waits;    /* struct wait */
    struct pool targets;  /* struct wait_target */
    struct map by_flow;   /* first wait_target of a flow */
    struct vec others;    /* uint32_t: waits with a deadline */
};

void event_ring_init(struct server *s);
void event_ring_fini(struct server *s);
void event_ring_subscribe(struct server *s, struct request *r);
void event_ring_wait(struct server *s, struct request *r);
void event_ring_put(struct server *s, const struct effect *e); /* durable */
void event_ring_flush(struct server *s);                       /* to those who take it */
int64_t event_ring_expire(struct server *s); /* ends waits whose time is over; when the next one is due */
bool event_ring_stop(struct server *s, conn_id conn, uint32_t request);
void event_ring_forget(struct server *s, conn_id conn);

#endif
