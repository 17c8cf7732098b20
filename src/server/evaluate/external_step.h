/* external_step.h: what an external job has done on a worker. Its body has two steps, one that begins the work outside
 * and one that asks how it is; an attempt is one of them, and the worker is told of it as of an ordinary command or
 * request. */
#ifndef REEVE_EXTERNAL_STEP_H
#define REEVE_EXTERNAL_STEP_H

#include "server_impl.h"

#define EXTERNAL_STEP_AGAIN_EXIT 75u /* EX_TEMPFAIL: how a poll that is a command says "not yet" */

/* Body, kind and environment of the attempt. */
void external_step_fill(struct server *s, const struct attempt_effect *a, const struct job_view *job,
                        struct wire_assignment *ret);
/* What the end of the attempt means: sets `again`, or turns the outcome round. */
void external_step_ended(struct server *s, struct arena *arena, struct cmd_attempt *a);

#endif
