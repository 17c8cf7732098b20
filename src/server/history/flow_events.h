/* flow_events.h: what happened to one flow, from its birth on: from the ring of events when that reaches back so far,
 * else from the journal, by a reader of its own (port/replay.h). */
#ifndef REEVE_FLOW_EVENTS_H
#define REEVE_FLOW_EVENTS_H

#include "net.h"
#include "pool.h"

struct server;
struct request;

struct flow_events {
    struct pool all; /* struct flow_events_request: requests for which the journal is being read */
};

void flow_events_init(struct server *s);
void flow_events_fini(struct server *s);
void flow_events_read(struct server *s, struct request *r); /* WIRE_TALE */
void flow_events_step(struct server *s);
void flow_events_forget(struct server *s, conn_id conn);

#endif
