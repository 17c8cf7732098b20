/* fair_queue.h: whose request is served next.
 *
 * Each connection has its own requests waiting (n->lanes), the first lane before the second. Principals take turns, and
 * so do the connections of one: whoever asks a thousand questions at once waits for its own answers, and nobody else
 * does. A connection that does not take its answers has none made: it stays out until it does. */
#ifndef REEVE_FAIR_QUEUE_H
#define REEVE_FAIR_QUEUE_H

#include "server_impl.h"

/* A request of this connection waits. False: there is no room for it. */
bool fair_queue_put(struct server *s, struct session *n, enum wire_lane lane, const struct lane_entry *e);
void fair_queue_resume(struct server *s, struct session *n); /* it may take answers again */
void fair_queue_forget(struct server *s, struct session *n); /* it is gone */
bool fair_queue_wait(const struct server *s); /* someone's turn has come */

#endif
