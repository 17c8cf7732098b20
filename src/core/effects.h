/* effects.h: the list of effects of one pass, and how apply fills it. */
#ifndef REEVE_EFFECTS_H
#define REEVE_EFFECTS_H

#include "arena.h"
#include "effect.h"
#include "vec.h"

struct state;

struct effects {
    struct vec list;    /* of struct effect */
    struct arena arena; /* replies */
    uint64_t lsn;       /* last record of the pass: nothing of it leaves before this is durable */
};

void effects_init(struct effects *x);
void effects_fini(struct effects *x);
void effects_reset(struct effects *x);

/* From apply: no-ops during replay. */
void emit_event(struct state *s, const struct event *event);
void emit_attempt(struct state *s, enum effect_kind kind, const struct attempt_effect *a);
void emit_question(struct state *s, const struct question_effect *q);

/* From decide: effects that belong to no record but tell the state as of now. */
void effects_push(struct effects *x, const struct effect *effect);

#endif
