/* propagate.h: consequences. When a job ends its children hear of it; when a flow is cancelled or rerun every job does.
 *
 * Consequences follow from the graph alone, so they happen inside apply, live as in replay: a crash cannot fall between
 * a failure and its cascade. One record visits at most STEP_JOBS_MAX jobs; what is left stays in the flow as a cursor
 * (`work`, `sweep`) and is continued by REC_CONTINUED, between other commands. Visits are breadth-first, each edge
 * once; a cascade that leaves its flow goes on in the other when it is done here. */
#ifndef REEVE_PROPAGATE_H
#define REEVE_PROPAGATE_H

#include "state.h"

/* A job ended: remember to tell its children, and to see whether its flow is over. */
void propagate_push(struct state *s, struct job *j);
/* Starts a pass over all jobs of a flow. */
void propagate_sweep(struct state *s, uint32_t flow, enum sweep sweep, uint32_t root, uint32_t confirm_ms);
/* The flow may have ended, or has work: look at it when the record is applied. */
void propagate_touch(struct state *s, uint32_t flow);

/* Around each record. propagate_end does what fits into the budget. */
void propagate_begin(struct state *s);
void propagate_end(struct state *s);
/* REC_CONTINUED: takes a flow off the waiting list so that propagate_end goes on with it. */
void propagate_continue(struct state *s, uint32_t flow);

/* After loading a snapshot: puts a flow whose facts say so on the waiting list. */
void propagate_restore(struct state *s, uint32_t flow);

#endif
