/* expand.h: foreach jobs and their children. Part of apply (ADR 0046).
 *
 * A foreach job stands before an expansion question; the answer is one record: how many items, and the hash of the blob
 * that holds them. From then on the job is the fan-in of its children and ends when they have: it waits for them, and
 * whoever depends on it waits for all of them. Children are jobs like any other (attempts, retries, timeouts, results,
 * dead letters), but are made only when there is room among the `max_parallel` that may be under way at once.
 *
 *     index    0 ........................ next ................ count
 *              begun: under way, or ended      nothing but a number
 *
 * They begin in the order of their indices, and those that were reset (retry, rerun) before those that never began. A
 * child that needed one attempt and left no result gives its struct back when it ends.
 *
 * What a foreach job asks (condition, policy, approval) and when it may start or must end are asked and kept once, for
 * all children; their options have the rest. A compensation is that of the foreach job as a whole. */
#ifndef REEVE_EXPAND_H
#define REEVE_EXPAND_H

#include "state.h"

/* A job is new: its children have those options. */
void expand_name(struct state *s, struct job *j, uint32_t child_profile);
/* Its expansion question was answered. */
void expand_answer(struct state *s, uint32_t job, const struct rec_expanded *rec);
/* It is past all its questions: children may begin. */
void expand_begin(struct state *s, uint32_t job);

/* A child ended. Its struct may be gone afterwards. */
void expand_child_ended(struct state *s, uint32_t child);
/* The foreach job ended, in whatever way: what has not begun never will, unless it is reset. */
void expand_job_ended(struct state *s, uint32_t job);
/* The foreach job is WAITING again: so are those of its children that ended badly, and the rest may begin. */
void expand_reopen(struct state *s, uint32_t job);

/* Ends a foreach job whose children are under way: no more begin, those that did are stopped. */
void expand_call_off(struct state *s, uint32_t job, enum job_cause cause, uint32_t confirm_ms);
/* A dead child gets a new budget; the foreach job is reopened with it if it had failed by its children. */
void expand_retry_child(struct state *s, uint32_t child);
/* The flow is no longer paused. */
void expand_resume(struct state *s, uint32_t job);

/* Consequences, one step at a time; see propagate.h. */
static inline bool expand_has_work(const struct state *s, const struct flow *f) {
    return f->fan && fan_at(s, f->fan)->busy_head;
}
void expand_step(struct state *s, uint32_t flow);
/* True while the children of one of its jobs are gone through one by one. */
bool expand_is_passing(const struct state *s, const struct flow *f);

/* Why a child that was told to stop did so: someone asked, or it was called off with the others (sets its root). */
enum job_cause expand_stop_cause(const struct state *s, struct job *child);

/* The expansion of a foreach job, NULL before it got its items. */
static inline struct expansion *expansion_of(const struct state *s, const struct job *j) {
    uint32_t index = j->extra ? extra_at(s, j->extra)->expansion : 0;
    return index ? expansion_at(s, index) : NULL;
}
/* The foreach job of a child. */
static inline struct job *expand_whole(const struct state *s, const struct job *child) {
    return job_at(s, expansion_at(s, child->expansion)->job);
}
static inline bool expand_waits_for_room(const struct job *child) {
    return child->state == JOB_WAITING && child->parents_open != 0;
}
/* The expansion that an ordinal belongs to, NULL when there is none. */
struct expansion *expand_find(const struct state *s, const struct flow *f, uint32_t ordinal);
/* How a child without a struct stands: WAITING, SUCCEEDED or CANCELLED. */
enum job_state expand_bare_state(const struct expansion *x, uint32_t ordinal);
/* What called-off children that never began ended by. */
enum job_cause expand_child_cause(const struct expansion *x);
/* How many children may end badly. */
uint32_t expand_allowed(const struct options *o, uint32_t count);

/* A flow leaves, child by child: frees the last of the last foreach job, or what is left of that. */
void expand_shed(struct state *s, struct flow *f);

/* Loading a snapshot: an expansion without its children, one child, and when all are there. */
uint32_t expand_make(struct state *s, uint32_t job, uint32_t count, struct slice items);
uint32_t expand_make_child(struct state *s, uint32_t expansion, uint32_t item);
void expand_count_child(struct state *s, uint32_t child);
void expand_restore(struct state *s, uint32_t expansion);

#endif
