/* effects.c: see effects.h. */
#include "effects.h"

#include "buf.h"
#include "mutant.h"
#include "panic.h"
#include "state.h"

#define REPLIES_MAX 10000000u /* answers held back at a time; each belongs to a request that is waiting */

void effects_init(struct effects *x) {
    *x = (struct effects){0};
    vec_init(&x->queue, sizeof(struct effect));
    pool_init(&x->replies, sizeof(struct reply), REPLIES_MAX);
}

static struct bytes *owned_by(const struct effect *e) {
    return e->kind == EFFECT_CHANGED || e->kind == EFFECT_PUBLISHED ? e->as.store.owned : NULL;
}

void effects_fini(struct effects *x) {
    for (uint32_t i = x->head; i < x->queue.count; i++) bytes_free(owned_by(vec_at(&x->queue, i)));
    bytes_free(x->leaving_bytes);
    vec_fini(&x->queue);
    pool_fini(&x->replies);
}

void effects_push(struct effects *x, const struct effect *effect) {
    REQUIRE(effect->lsn >= x->last_lsn); /* so the first of the queue holds back all behind it */
    x->last_lsn = effect->lsn;
    struct effect *slot = vec_push(&x->queue);
    *slot = *effect;
}

void effects_answer(struct effects *x, uint64_t token, const struct reply *reply, uint64_t lsn) {
    uint32_t index = pool_alloc(&x->replies);
    ENSURE(index != 0);
    struct reply *kept = pool_at(&x->replies, index);
    reply_copy(kept, reply);
    struct effect effect = {.kind = EFFECT_ANSWER, .ordinal = index, .lsn = lsn};
    effect.as.answer.token = token;
    effect.as.answer.reply = kept;
    effects_push(x, &effect);
}

/* The defects of the mutation test: an effect that does not wait. */
static bool leaks(const struct effect *effect) {
    bool is_answer = effect->kind == EFFECT_ANSWER;
    if (MUTANT(early_effect)) return effect->kind == EFFECT_ASSIGN;
    if (MUTANT(early_answer)) return is_answer && effect->as.answer.reply->err == ERR_OK;
    if (MUTANT(early_rejection)) return is_answer && effect->as.answer.reply->err != ERR_OK;
    return false;
}

static bool take_leak(struct effects *x, struct effect *ret) {
    for (uint32_t i = x->head; i < x->queue.count; i++) {
        struct effect *at = vec_at(&x->queue, i);
        if (!leaks(at)) continue;
        *ret = *at;
        for (; i > x->head; i--) *(struct effect *)vec_at(&x->queue, i) = *(struct effect *)vec_at(&x->queue, i - 1);
        x->head++;
        return true;
    }
    return false;
}

static bool take_next(struct effects *x, uint64_t durable_lsn, struct effect *ret) {
    if (x->head == x->queue.count) return false;
    const struct effect *next = vec_at(&x->queue, x->head);
    if (next->lsn > durable_lsn) return false;
    *ret = *next;
    x->head++;
    return true;
}

/* Under steady load the queue is never empty, so what has left is cut off now and then. */
static void compact(struct effects *x) {
    if (x->head == x->queue.count) x->head = x->queue.count = 0;
    if (x->head < 1024 || x->head < x->queue.count / 2) return;
    uint32_t left = x->queue.count - x->head;
    memmove(x->queue.at, vec_at(&x->queue, x->head), (size_t)left * x->queue.elem_bytes);
    x->queue.count = left;
    x->head = 0;
}

bool effects_take(struct effects *x, uint64_t durable_lsn, struct effect *ret) {
    if (x->leaving) pool_free(&x->replies, x->leaving);
    x->leaving = 0;
    bytes_free(x->leaving_bytes);
    x->leaving_bytes = NULL;
    bool leaky = MUTANT(early_effect) || MUTANT(early_answer) || MUTANT(early_rejection);
    if (!(leaky && take_leak(x, ret)) && !take_next(x, durable_lsn, ret)) return false;
    compact(x);
    if (ret->kind == EFFECT_ANSWER) {
        x->leaving = ret->ordinal;
        ret->ordinal = 0;
    }
    x->leaving_bytes = owned_by(ret);
    return true;
}

/* Key, channel and message outlive the command or record they came in: they are copied as one piece. */
static void own(struct store_effect *e) {
    struct buf both;
    buf_init(&both, e->tenant.len + e->key.len + e->body.len + 1);
    buf_put_slice(&both, e->tenant);
    buf_put_slice(&both, e->key);
    buf_put_slice(&both, e->body);
    ENSURE(!both.full);
    e->owned = bytes_new(buf_slice(&both));
    const uint8_t *at = bytes_slice(e->owned).ptr;
    e->tenant.ptr = at;
    e->key.ptr = at + e->tenant.len;
    e->body.ptr = at + e->tenant.len + e->key.len;
    buf_fini(&both);
}

void effects_publish(struct effects *x, const struct store_effect *message, uint64_t lsn) {
    struct effect effect = {.kind = EFFECT_PUBLISHED, .lsn = lsn, .as.store = *message};
    own(&effect.as.store);
    effects_push(x, &effect);
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
    REQUIRE(kind == EFFECT_ASSIGN || kind == EFFECT_STOP);
    if (s->effects == NULL) return;
    struct effect effect = {.kind = kind, .as.attempt = *a};
    push_from_apply(s, &effect);
}

void emit_question(struct state *s, const struct question_effect *q) {
    REQUIRE(q->question.v != 0);
    if (s->effects == NULL) return;
    struct effect effect = {.kind = EFFECT_QUESTION, .as.question = *q};
    push_from_apply(s, &effect);
}

void emit_changed(struct state *s, struct slice tenant, flow_id flow, struct slice key, uint64_t version) {
    if (s->effects == NULL || s->effects->watches == NULL) return;
    if (watches_each(s->effects->watches, WATCH_KEY, (struct watch_where){tenant, flow}, key, NULL, NULL) == 0) return;
    struct effect effect = {
        .kind = EFFECT_CHANGED, .as.store = {.tenant = tenant, .flow = flow, .key = key, .version = version}};
    own(&effect.as.store);
    push_from_apply(s, &effect);
}

void emit_token_ended(struct state *s, struct slice id) {
    if (s->effects == NULL) return;
    struct effect effect = {.kind = EFFECT_TOKEN_ENDED};
    REQUIRE(id.len < sizeof effect.as.token_id);
    memcpy(effect.as.token_id, id.ptr, id.len);
    push_from_apply(s, &effect);
}
