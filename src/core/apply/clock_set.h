/* clock_set.h: the clock of the records was wrong, and is set right (ADR 0116). */
#ifndef REEVE_CLOCK_SET_H
#define REEVE_CLOCK_SET_H

#include "record.h"
#include "state.h"

/* Time goes on `by_ms` later than it was, or earlier. What waits keeps the rest of its wait: if it was noted at
 * `from_ms` or later it moves along. What is only told (when a flow began or ended) moves only if it would lie in
 * the future. A schedule does not fire what it fired, and does not wait for a time that it had reached by the wrong
 * clock. */
void clock_set_move(struct state *s, const struct rec_clock *r);

#endif
