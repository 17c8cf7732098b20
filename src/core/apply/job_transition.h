/* job_transition.h: what happens to one job: the only place where a job's state changes. */
#ifndef REEVE_JOB_TRANSITION_H
#define REEVE_JOB_TRANSITION_H

#include "state.h"

/* Moves a job by the table of job.h and keeps queues, timers, counters, reservations and events in step. A run or
 * question of the state that is left must have been taken off (link = 0) or goes along (RUNNING); `link` belongs to the
 * state that is entered. */
void job_move_linked(struct state *s, uint32_t index, enum job_state to, enum job_cause cause, uint32_t link);
void job_move(struct state *s, uint32_t index, enum job_state to, enum job_cause cause); /* keeps the link */

/* Counts one failed attempt against the budget. */
void job_spend(struct state *s, struct job *j);
void job_forgive(struct state *s, struct job *j); /* all of them */

/* Ends a job: as job_move, and its children and its flow hear of it. */
void job_finish(struct state *s, uint32_t index, enum job_state to, enum job_cause cause);

/* It has this result: succeeded, or stands before the question about its output. */
void job_succeed(struct state *s, uint32_t index, struct slice result, struct slice result_hash);

/* Takes a WAITING or HELD job as far as it goes by itself: time, questions, then ready or (gates, barriers) done. */
void job_advance(struct state *s, uint32_t index);

/* Looks at all parents anew: sets parents_open, or drags the job down, or lets it advance. For jobs just added or
 * reset; afterwards parents report one by one through job_parent_ended. */
void job_judge(struct state *s, uint32_t index);
void job_judge_as(struct state *s, uint32_t index, const struct rec_job *rec); /* with its message at hand */

/* Who is to blame for what an end of the job drags down. One that needs one success answers for that itself: a retry of
 * any of its parents brings both back. */
uint32_t job_root_of(const struct state *s, const struct job *j);
/* The job was dragged down and begins anew when job `retried` of its flow does, or those before it in this sweep. */
bool job_comes_back(struct state *s, uint32_t index, uint32_t retried);

/* A parent ended. `late`: it had been reported as succeeded before. `root`: whom to blame; NO_ORDINAL: another flow. */
void job_parent_ended(struct state *s, uint32_t index, enum job_state parent, bool late, uint32_t root);

/* Stops a job on someone's request: at once, or by telling its worker. */
void job_cancel(struct state *s, uint32_t index, uint32_t confirm_ms);

/* Back to WAITING with a fresh budget; the caller judges it. */
void job_reset(struct state *s, uint32_t index);

/* A SUCCEEDED job whose output was judged unfit afterwards. */
void job_quarantine_late(struct state *s, uint32_t index);

/* Half of job_move: counters, reservation, ready queue, timer. Also how a new or loaded job enters its state. */
void job_enter(struct state *s, uint32_t index);
void job_enter_loaded(struct state *s, uint32_t index); /* and what is counted of its end */

/* The dead-letter list. */
void dead_push(struct state *s, uint32_t index);
void dead_unlink(struct state *s, uint32_t index); /* off the list, and nothing else */
void dead_remove(struct state *s, uint32_t index); /* nothing when it is not on the list */

#endif
