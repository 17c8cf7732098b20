/* flow_recorded.h: the jobs of a flow as the message that would submit them again: what was recorded, not what became
 * of it. Templates and expressions are as they were sent; compensations that were made, items and results are not
 * there. */
#ifndef REEVE_FLOW_RECORDED_H
#define REEVE_FLOW_RECORDED_H

#include "server_impl.h"

/* In the arena. Times of day that jobs were given (deadlines, earliest starts) move on by the age of the flow: those
 * that a file says as durations count from the submit. ERR_UNSUPPORTED: a version of a service. */
CHECKED enum err flow_recorded_read(struct server *s, const struct flow_view *flow, struct arena *arena,
                                    struct wire_jobs *ret, struct why *why);

#endif
