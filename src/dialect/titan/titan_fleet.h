/* titan_fleet.h: what Titan's own workers say to their master, on the listener of titan_session.h: REGISTER,
 * UNREGISTER_SERVICE, JOB_COMPLETE, LOG_STREAM, LOG_BATCH. Answered by titan_say, or later by titan_ask and then
 * titan_say (titan_session.h): one answer to each frame, in order. */
#ifndef REEVE_TITAN_FLEET_H
#define REEVE_TITAN_FLEET_H

#include "server_impl.h"
#include "titan.h"

/* Jobs by Titan's protocol name a topic, which leads to our own workers and to Titan's: nobody else's jobs come to
 * those. It is made when there is none. Inside a pass, once. */
void titan_fleet_topic(struct server *s);
/* The first connection whose first frame is still on its way; UINT64_MAX = there is none. What came on later ones may
 * have overtaken it. */
conn_id titan_fleet_pending(struct server *s);
void titan_fleet_frame(struct server *s, struct session *n, const struct titan_frame *f);

#endif
