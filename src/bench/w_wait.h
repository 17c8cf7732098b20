/* w_wait.h: flows submitted by the client of a lab, and waited for; each has to succeed. */
#ifndef REEVE_W_WAIT_H
#define REEVE_W_WAIT_H

#include "lab.h"

#define WAIT_ID_BYTES 32u

/* The one flow of a submit frame. */
CHECKED enum err wait_submit(struct lab *l, const struct buf *request, char ret_id[WAIT_ID_BYTES], struct why *why);
CHECKED enum err wait_flows(struct lab *l, char (*ids)[WAIT_ID_BYTES], uint32_t count, struct why *why);
CHECKED enum err wait_submitted(struct lab *l, const struct buf *request, struct why *why); /* both */

/* One no-op, submitted and over when the event of its success has come; for who subscribed before. */
CHECKED enum err wait_subscribe(struct client *c, struct why *why);
CHECKED enum err wait_trip(struct client *c, struct why *why);

#endif
