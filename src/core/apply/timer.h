/* timer.h: one heap of everything that waits for a time. An index: it follows from the facts of its owners. Apply keeps
 * it in step; the tick in decide_tick.c looks at its top and may put an entry off, never change a fact. */
#ifndef REEVE_TIMER_H
#define REEVE_TIMER_H

#include "state.h"

void timer_init(struct state *s);
/* Sets, moves or (TIME_NEVER) removes the timer of a thing. */
void timer_set(struct state *s, enum timer_kind kind, uint32_t index, wall_time due);
/* Nothing is due before this. */
static inline wall_time timer_next(const struct state *s) {
    return (wall_time){heap_bound(&s->timers)};
}
/* The first thing that is due at `now`; false when nothing is. */
bool timer_first(struct state *s, wall_time now, enum timer_kind *ret_kind, uint32_t *ret_index);

/* When the next thing happens to a job by time alone, by its state and options. */
wall_time job_due(const struct state *s, const struct job *j);
void job_set_timer(struct state *s, uint32_t index);

#endif
