/* dispatch.h: gives ready jobs to free workers. One round per pass.
 *
 * A round looks at each class with ready jobs once, and at each free worker once per class it tries; after that an
 * assignment costs the logarithm of both. Within a round loads and shares only rise and queues only advance, so a key
 * read from a heap that is out of date can only be too good: it is computed anew and put back. Limits are only used
 * up in a round, never given back: a class that one of them holds is out of it until that changes. It takes no part in
 * the round at all, so the share of its tenant neither rises nor is saved up. */
#ifndef REEVE_DISPATCH_H
#define REEVE_DISPATCH_H

#include "live.h"
#include "state.h"

struct round;

/* NULL when there is nothing to give or nobody to give to. Memory comes from `arena`. `indices` is the state itself:
 * a round takes jobs of paused flows out of the queues, and changes no fact. */
struct round *round_begin(struct state *indices, struct live *live, const struct limits *limits, wall_time now,
                          struct arena *arena);
/* The next assignment: which job to which worker. The caller records and applies it, then calls round_given. */
bool round_next(struct round *r, uint32_t *ret_job, uint32_t *ret_worker);
void round_given(struct round *r);

#endif
