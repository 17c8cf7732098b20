/* evaluator.h: the questions that the server answers itself: does a `when` hold, what are the items of a `foreach`,
 * what do templates become (core/apply/question.h). Each is evaluated in a pass of the loop, a few per pass, and
 * answered by a verdict of the principal `server`. After a restart the engine asks again what was not answered.
 *
 * What cannot be evaluated fails its job with the message; what finds no room now is tried again. */
#ifndef REEVE_EVALUATOR_H
#define REEVE_EVALUATOR_H

#include "arena.h"
#include "effect.h"
#include "server_impl.h"
#include "vec.h"

struct evaluator {
    struct vec asked;   /* struct question_effect */
    uint32_t asked_at;  /* the next of them */
    struct vec later;   /* struct judge_later */
    struct vec writing; /* struct judge_writing: items on their way to the disk */
    struct arena arena; /* of one question, or of one child that is handed out */
};

extern const uint8_t evaluator_slot;

static inline struct evaluator *evaluator_of(const struct server *s) {
    return shard_part(server_shard(s), evaluator_slot);
}

/* Whether what such a job would ask can be answered at all: refused at the door, not when its parents are done. */
struct wire_run;
struct options;
struct job_spec;
/* `has_slot`: a schedule makes its flow. */
CHECKED enum err evaluator_check(struct server *s, const struct job_spec *job, const struct options *o,
                                 const struct wire_run *run, bool has_slot, struct why *why);

#endif
