/* effects.h: the queue between the engine and the world. Each effect waits for the LSN it was computed from. */
#ifndef REEVE_EFFECTS_H
#define REEVE_EFFECTS_H

#include "effect.h"
#include "pool.h"
#include "vec.h"
#include "watch.h"

struct state;

struct effects {
    struct vec queue;    /* of struct effect, in order of their LSNs; `head` of them have left */
    uint32_t head;
    uint64_t last_lsn;   /* of the newest of them */
    struct pool replies; /* of struct reply: what answers point at */
    uint32_t leaving;    /* reply of the effect that left last: valid until the next one */
    struct bytes *leaving_bytes; /* likewise, of a change or a message */
    const struct watches *watches; /* without a watcher a change is no effect; NULL = nobody watches */
};

void effects_init(struct effects *x);
void effects_fini(struct effects *x);
void effects_push(struct effects *x, const struct effect *effect);
/* An answer, computed from the state at `lsn`. */
void effects_answer(struct effects *x, uint64_t token, const struct reply *reply, uint64_t lsn);
/* Takes out the next effect whose LSN is durable. */
bool effects_take(struct effects *x, uint64_t durable_lsn, struct effect *ret);

/* From apply, for the record being applied. During replay nobody listens, and positions are counted all the same. */
void emit_event(struct state *s, const struct event *event);
void emit_attempt(struct state *s, enum effect_kind kind, const struct attempt_effect *a);
void emit_question(struct state *s, const struct question_effect *q);
/* A key changed; nothing leaves when nobody watches it. */
void emit_changed(struct state *s, struct slice tenant, flow_id flow, struct slice key, uint64_t version);
/* A token opens nothing any more. */
void emit_token_ended(struct state *s, struct slice id);

/* A message, computed from the state at `lsn`; copies it. */
void effects_publish(struct effects *x, const struct store_effect *message, uint64_t lsn);

#endif
