/* add_scope.h: what a job in a sandbox may add to a flow, or submit as a new one: jobs with a sandbox that is at least
 * as tight. Else the token that it has would be a way out. */
#ifndef REEVE_ADD_SCOPE_H
#define REEVE_ADD_SCOPE_H

#include "command.h"
#include "server_impl.h"

/* ERR_FORBIDDEN with the job's name. `adder`: the job that asks. */
CHECKED enum err add_scope_check(struct server *s, struct job_ref adder, const struct cmd_jobs *added,
                                 struct arena *arena, struct why *why);

#endif
