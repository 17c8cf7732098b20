/* joblimits.h: what a job may use on this worker, and what is said when it wanted more.
 *
 * A job's own limits come first; one that names none gets the worker's standard; none is above what the worker allows
 * anyone. With `by_request` what was reserved for a job is also the most that it gets. */
#ifndef REEVE_JOBLIMITS_H
#define REEVE_JOBLIMITS_H

#include "agent_impl.h"

struct proc_limits joblimits_of(const struct agent_ceilings *c, const struct wire_assignment *order,
                                const struct wire_run *run);

/* Fills in what the attempt used, which limit it ran into and, when it did not end well, the sentence about it. Texts
 * are in `arena`. */
void joblimits_tell(const struct proc_limits *l, const struct proc_usage *usage, struct arena *arena,
                    struct wire_end *end);

#endif
