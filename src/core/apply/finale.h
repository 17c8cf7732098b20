/* finale.h: what follows the main jobs of a flow, and the flow's own times. Part of apply.
 *
 * A job of a flow belongs to a *stage* (its option `stage`): to the main jobs, or to those that wait for their end:
 * `on_success`, `on_failure`, `finally`. The flow is in one stage after the other:
 *
 *      main ──▶ on_success or on_failure, by what the main jobs came to ──▶ finally ──▶ over
 *
 * Compensations are main jobs: the main stage ends when nothing is left to undo. What starts again after the end of
 * the main jobs (a retry, a rerun, a late fatal verdict) puts the flow back into the main stage, and everything that
 * followed runs anew behind the new end.
 *
 * A flow has a struct finale when it has such jobs, a timeout or a deadline; other flows have nothing of this. */
#ifndef REEVE_FINALE_H
#define REEVE_FINALE_H

#include "state.h"

/* A flow is new, or gets its first job behind the main ones. */
void finale_make(struct state *s, uint32_t flow);
void finale_free(struct state *s, struct flow *f); /* nothing where there is none */

/* Half of a move of a job: `sign` is 1 or -1. For flows that have a finale, and jobs that are no children. */
void finale_count(struct state *s, const struct flow *f, const struct job *j, int sign);
/* How many of the main jobs are in the state, and how many have not ended. */
uint32_t finale_main(const struct state *s, const struct flow *f, enum job_state state);
uint32_t finale_main_open(const struct state *s, const struct flow *f);

/* What the main jobs have come to, once all of them are over. */
enum flow_state finale_outcome(const struct state *s, const struct flow *f);

/* The flow has settled, and no compensation is to be made: goes on to the next stage if it is time. */
void finale_next(struct state *s, uint32_t flow);
/* The same, later: whatever happened, the timer is that of what may come next. */
void finale_set_timer(struct state *s, const struct flow *f);
wall_time finale_due(const struct state *s, const struct flow *f);

/* SWEEP_STAGE comes to the job. */
void finale_begin(struct state *s, uint32_t job);
/* Another sweep comes to a job that waits for its stage. */
void finale_keep(struct state *s, uint32_t job);

/* Main jobs start again after their end. */
void finale_again(struct state *s, uint32_t flow);
/* The flow is cancelled, in whichever stage it is. */
void finale_cancel(struct state *s, uint32_t flow);
/* One of its times has come. */
void finale_flow_due(struct state *s, const struct rec_flow_due *r);

/* Whether a record of that kind about the flow fits: the guard and decide ask alike. */
bool finale_may_time_out(const struct state *s, const struct flow *f);
bool finale_may_cancel(const struct state *s, const struct flow *f);
bool finale_may_retry(const struct state *s, const struct job *j);
bool finale_may_unwind(const struct state *s, const struct job *j); /* by a late verdict on it */
bool finale_may_grow(const struct state *s, const struct flow *f);

static inline enum flow_stage job_stage(const struct state *s, const struct job *j) {
    return (enum flow_stage)job_options(s, j)->stage;
}
static inline enum flow_stage flow_stage(const struct state *s, const struct flow *f) {
    return f->finale ? (enum flow_stage)finale_at(s, f->finale)->stage : FLOW_STAGE_MAIN;
}
static inline bool finale_timed_out(const struct state *s, const struct flow *f) {
    return f->finale && finale_at(s, f->finale)->timed_out;
}
/* It has its turn after the main jobs. */
static inline bool finale_follows(const struct state *s, const struct job *j) {
    return flow_at(s, j->flow)->finale && job_stage(s, j) != FLOW_STAGE_MAIN;
}
static inline uint32_t flow_stage_rank(enum flow_stage stage) {
    return stage == FLOW_STAGE_FAILURE ? (uint32_t)FLOW_STAGE_SUCCESS : (uint32_t)stage;
}
/* Its stage has not come. */
static inline bool finale_holds(const struct state *s, const struct job *j) {
    const struct flow *f = flow_at(s, j->flow);
    return f->finale && flow_stage_rank(job_stage(s, j)) > flow_stage_rank(flow_stage(s, f));
}

#endif
