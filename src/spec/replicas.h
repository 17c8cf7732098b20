/* replicas.h: a job that deploys a service with replicas becomes one job for each replica and a barrier behind them.
 *
 * So the engine knows of deployments what it knows of jobs: one replica after the other, because its job needs that of
 * the one before; nothing further after the first that is not healthy; `why` and `show` of the job say which. */
#ifndef REEVE_REPLICAS_H
#define REEVE_REPLICAS_H

#include "arena.h"
#include "err.h"
#include "wire_flow.h"

/* Jobs of kind service with `replicas` in their options, whose bodies say already what they are replicas of. The jobs
 * are in an order in which parents come first. */
CHECKED enum err replicas_expand(struct arena *arena, struct wire_jobs *part, struct why *why);

#endif
