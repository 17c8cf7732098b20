/* flow_events.h: what happened to one flow, from its birth on: from the ring of events when that reaches back so far,
 * else from the journal, by a reader of its own (port/replay.h). */
#ifndef REEVE_FLOW_EVENTS_H
#define REEVE_FLOW_EVENTS_H

#include "net.h"
#include "pool.h"
#include "server_impl.h"

struct flow_events {
    struct pool all; /* struct flow_events_request: requests for which the journal is being read */
};

extern const uint8_t flow_events_slot;

static inline struct flow_events *flow_events_of(const struct server *s) {
    return shard_part(server_shard(s), flow_events_slot);
}

#endif
