/* apply.h: the one way durable state changes. Cannot fail, makes no choice, reads no configuration; the same live, in
 * replay and on a standby. What follows from the graph alone happens here too (propagate.h). */
#ifndef REEVE_APPLY_H
#define REEVE_APPLY_H

#include "batch.h"
#include "state.h"

/* The time, randomness, owner and rules of the records that follow. */
void apply_batch(struct state *s, wall_time time, uint64_t seed, uint64_t epoch, uint32_t rules);

/* Applies the next record. A record that does not fit the state is a panic: decide made it against this very state, and
 * the journal proves that nothing was lost in between. Replay checks with apply_check first. */
void apply(struct state *s, const struct record *r);

/* Whether the record names things that exist and are in a state that allows it. For bytes that come from a file: a
 * journal that passes its checksums and fails here was written by a different program. */
CHECKED enum err apply_check(const struct state *s, const struct record *r, struct why *why);

#endif
