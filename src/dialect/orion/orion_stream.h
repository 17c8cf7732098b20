/* orion_stream.h: Orion's WebSocket. Its clients have no positions and nothing to resume: each gets what happens
 * from now on. A message is made once for all of them; one that does not take what it is sent is let go alone, and
 * counted.
 *
 * Orion shows workers as slots with small numbers. Ours are told apart the same way: a task takes the lowest number
 * that is free when it starts. All of it ends with the shard: its clients are let go, too. */
#ifndef REEVE_ORION_STREAM_H
#define REEVE_ORION_STREAM_H

#include "effect.h"
#include "net.h"
#include "vec.h"

struct server;
struct session;

#define ORION_SLOTS 64u

struct orion_stream {
    struct vec clients;                /* conn_id */
    struct vec joining;                /* conn_id: those whose request is still being looked at */
    struct job_ref slots[ORION_SLOTS]; /* flow 0 = free */
    int64_t tick_ms, ping_ms;          /* monotonic: the next */
    bool crash_told;
    struct job_ref root; /* of the cascade that is being gathered; flow 0 = none */
    int64_t root_ms;
    struct vec killed; /* uint32_t: ordinals */
};

extern const uint8_t orion_stream_slot;
struct orion_stream *orion_stream_of(const struct server *s);
void orion_stream_init(struct orion_stream *o);
void orion_stream_fini(struct orion_stream *o);
void orion_stream_begin(struct server *s, struct session *n); /* the request for it is there */
void orion_stream_forget(struct server *s, conn_id conn);
void orion_stream_event(struct server *s, const struct effect *e); /* durable */
void orion_stream_step(struct server *s);                          /* at the end of a pass, while somebody listens */
int64_t orion_stream_next(const struct server *s);

#endif
