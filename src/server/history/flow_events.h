/* flow_events.h: what happened to one flow, from its birth on: from the ring of events when that reaches back so far,
 * else from the journal, by a reader of its own (port/replay.h). */
#ifndef REEVE_FLOW_EVENTS_H
#define REEVE_FLOW_EVENTS_H

#include "net.h"
#include "pool.h"

struct server;
struct request;

struct tales {
    struct pool all; /* struct tale: requests for which the journal is being read */
};

void tale_init(struct server *s);
void tale_fini(struct server *s);
void tale_ask(struct server *s, struct request *r); /* WIRE_TALE */
void tale_turn(struct server *s);
void tale_forget(struct server *s, conn_id conn);

#endif
