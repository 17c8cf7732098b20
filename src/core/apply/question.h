/* question.h: what a job waits for that the engine cannot decide. Raised by apply, answered from outside by a verdict
 * that names the question, its revision and the hash of what the answerer saw. Part of apply. */
#ifndef REEVE_QUESTION_H
#define REEVE_QUESTION_H

#include "state.h"

/* Asks; the job is HELD (or CHECKING, for GATE_OUTPUT) and links to the question. */
void question_open(struct state *s, uint32_t job, enum gate gate);
/* Ids rise, so the list of all is in their order. */
void question_link(struct state *s, uint32_t index);
/* Takes the job's open question away unanswered. */
void question_close(struct state *s, struct job *j);
void question_answer(struct state *s, uint32_t question, const struct rec_verdict *rec);

/* The hash an answer must name: of the body, rendered if it was; of the result, when the output is judged. */
struct slice question_hash(const struct state *s, const struct question *q, struct arena *arena);
/* When the engine must look at an open question by itself. */
wall_time question_due(const struct state *s, const struct question *q);
/* Asked by the rules of a policy, before the run or after it. */
static inline bool question_is_of_policy(enum gate gate) { return gate == GATE_POLICY || gate == GATE_OUTPUT; }
/* The policy has changed since it let the job pass. Such a permission is void for every attempt that has not begun: a
 * job on its way to READY is asked about again by itself (job_advance), one that is READY when it is its turn. */
bool policy_is_later(const struct state *s, const struct job *j); /* than what let the job pass */
static inline bool policy_has_lapsed(const struct state *s, const struct job *j) {
    return (j->gates & GATE_BIT(GATE_POLICY)) && policy_is_later(s, j);
}
/* Takes it back, with what it brought: constraints, and an approval. */
void policy_lapse(struct state *s, struct job *j);

/* The policy question of a compensation: a no skips it, no answer lets it run. */
bool question_is_soft(const struct state *s, const struct job *j, enum gate gate);
struct question_effect question_effect_of(const struct state *s, const struct question *q);

#endif
