/* saga.h: undoing what a flow did. Part of apply.
 *
 * A job may name its compensation. It is *entered* when an attempt of the job ends well, before anybody judges the
 * output. When the flow then fails fatally, or at all if it compensates every failure, it *unwinds*: every job that is
 * not over is called off, and when all are over the entered compensations run as jobs of the flow, last entered first,
 * one at a time, each once. Everything that decides what comes next is a fact of the flow (`unwinding`, `entered`), so
 * that a crash, a replay or a snapshot between any two records goes on exactly there. */
#ifndef REEVE_SAGA_H
#define REEVE_SAGA_H

#include "finale.h"
#include "state.h"

#define UNDO_SUFFIX "~undo"
#define UNDO_SUFFIX_BYTES 5u
#define UNDO_NAME_BYTES_MAX 255u /* of the compensation; as the format has it */

/* A job is new: its compensation has those options. */
void saga_name(struct state *s, struct job *j, uint32_t undo_profile);
/* A flow is loaded, its jobs are marked: the room for what is in `entered`. */
void saga_restore(struct state *s, uint32_t flow);

/* An attempt of the job ended well. */
void saga_enter(struct state *s, struct job *j);
/* The job ended by a fatal failure: its flow unwinds, if it has or may get anything to undo. */
void saga_fail(struct state *s, uint32_t job);
/* A job of the flow is new among those that failed, or a compensation among those entered: a flow that compensates
 * every failure unwinds as soon as it has both. */
void saga_failed(struct state *s, uint32_t flow);

/* The time of the flow is over: a failure, for a flow that compensates every one. */
void saga_timed_out(struct state *s, uint32_t flow);

/* Calls all jobs off; when no cascade of the present record is left. */
void saga_stop(struct state *s, uint32_t flow);
/* The flow has settled: makes the next compensation, if it is time for one. */
void saga_next(struct state *s, uint32_t flow);

/* The flow's state changed to or from running: journal space is kept for compensations of running flows. */
void saga_reserve(struct state *s, const struct flow *f, enum flow_state to);
/* Journal bytes that the attempts of a job's compensation may need. */
uint64_t saga_undo_bytes(const struct state *s, const struct job *j);

/* The job belongs to what an unwinding flow calls off. */
static inline bool saga_calls_off(const struct state *s, const struct job *j) {
    return flow_at(s, j->flow)->unwinding != UNWIND_NONE && job_undoes(s, j) == 0 && !finale_follows(s, j);
}
static inline bool saga_is_undo_name(struct slice name) {
    return name.len >= UNDO_SUFFIX_BYTES &&
           memcmp(name.ptr + name.len - UNDO_SUFFIX_BYTES, UNDO_SUFFIX, UNDO_SUFFIX_BYTES) == 0;
}

#endif
