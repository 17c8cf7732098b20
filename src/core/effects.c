/* effects.c: see effects.h. */
#include "effects.h"

#include "panic.h"
#include "state.h"

#define REPLY_CHUNK_BYTES 4096
#define REPLY_BYTES_MAX ((size_t)1 << 30)

void effects_init(struct effects *x) {
    vec_init(&x->list, sizeof(struct effect));
    arena_init(&x->arena, REPLY_CHUNK_BYTES, REPLY_BYTES_MAX);
    x->lsn = 0;
}

void effects_fini(struct effects *x) {
    vec_fini(&x->list);
    arena_fini(&x->arena);
}

void effects_reset(struct effects *x) {
    x->list.count = 0;
    arena_reset(&x->arena);
    x->lsn = 0;
}

void effects_push(struct effects *x, const struct effect *effect) {
    struct effect *slot = vec_push(&x->list);
    *slot = *effect;
}

/* The record being applied is the next one: s->lsn still names the last. */
static void push_from_apply(struct state *s, struct effect *effect) {
    effect->lsn = s->lsn + 1;
    effects_push(s->effects, effect);
}

void emit_event(struct state *s, const struct event *event) {
    uint32_t ordinal = s->event_ordinal++; /* also in replay: positions must not depend on who listens */
    if (s->effects == NULL) return;
    struct effect effect = {.kind = EFFECT_EVENT, .ordinal = ordinal, .as.event = *event};
    effect.as.event.time = s->now;
    push_from_apply(s, &effect);
}

void emit_attempt(struct state *s, enum effect_kind kind, const struct attempt_effect *a) {
    REQUIRE(kind == EFFECT_ASSIGN || kind == EFFECT_STOP || kind == EFFECT_DROP);
    if (s->effects == NULL) return;
    struct effect effect = {.kind = kind, .as.attempt = *a};
    push_from_apply(s, &effect);
}

void emit_question(struct state *s, const struct question_effect *q) {
    if (s->effects == NULL) return;
    struct effect effect = {.kind = EFFECT_QUESTION, .as.question = *q};
    push_from_apply(s, &effect);
}
