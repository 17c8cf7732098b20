/* attempts.c: see attempts.h. */
#include "attempts.h"

#include <stdio.h>

#include "min.h"
#include "panic.h"
#include "wtime.h"

#define TOMBS_MAX 65536u /* by then nothing so old is on its way */

struct attempt_key {
    uint8_t at[ATTEMPT_KEY_BYTES];
};

static struct attempt_key key_of(const struct wire_attempt *id) {
    struct attempt_key k;
    memcpy(k.at, &id->flow, 8);
    memcpy(k.at + 8, &id->ordinal, 4);
    memcpy(k.at + 12, &id->attempt, 4);
    memcpy(k.at + 16, &id->shard, 4);
    return k;
}

static struct slice key_slice(const struct attempt_key *k) {
    return slice_of(k->at, sizeof k->at);
}

static struct slice held_key(const void *ctx, uint32_t value) {
    const struct attempts *t = ctx;
    return slice_of(((const struct attempt *)pool_at(&t->pool, value))->key, ATTEMPT_KEY_BYTES);
}

static struct slice tomb_key(const void *ctx, uint32_t value) {
    const struct attempts *t = ctx;
    return key_slice(vec_at(&t->tombs, value - 1));
}

static void heap_moved(void *ctx, uint64_t ref, uint32_t position) {
    struct attempts *t = ctx;
    ((struct attempt *)pool_at(&t->pool, (uint32_t)ref))->heap_position = position;
}

void attempts_init(struct attempts *t, uint32_t max) {
    *t = (struct attempts){0};
    pool_init(&t->pool, sizeof(struct attempt), max);
    index_init(&t->held);
    index_init(&t->buried);
    heap_init(&t->due, heap_moved, t);
    vec_init(&t->dirty, sizeof(uint32_t));
    vec_init(&t->tombs, sizeof(struct attempt_key));
}

static void attempt_fini(struct attempt *a) {
    capture_fini(&a->capture);
    vec_fini(&a->transfer.items);
    bytes_free(a->job);
    bytes_free(a->order);
    bytes_free(a->end);
}

void attempts_fini(struct attempts *t) {
    for (uint32_t i = 1; i <= attempts_high(t); i++) {
        struct attempt *a = attempts_at(t, i);
        if (a != NULL) attempt_fini(a);
    }
    pool_fini(&t->pool);
    index_fini(&t->held);
    index_fini(&t->buried);
    heap_fini(&t->due);
    vec_fini(&t->dirty);
    vec_fini(&t->tombs);
}

struct attempt *attempts_at(const struct attempts *t, uint32_t index) {
    struct attempt *a = pool_at(&t->pool, index);
    return a->is_used ? a : NULL;
}

struct attempt *attempts_find(const struct attempts *t, const struct wire_attempt *id) {
    struct attempt_key k = key_of(id);
    uint32_t index = index_get(&t->held, key_slice(&k), held_key, t);
    return index ? pool_at(&t->pool, index) : NULL;
}

bool attempts_is_buried(const struct attempts *t, const struct wire_attempt *id) {
    struct attempt_key k = key_of(id);
    return index_get(&t->buried, key_slice(&k), tomb_key, t) != 0;
}

static void bury(struct attempts *t, const struct wire_attempt *id) {
    struct attempt_key k = key_of(id);
    if (index_get(&t->buried, key_slice(&k), tomb_key, t) != 0) return;
    uint32_t slot = t->tombs.count;
    if (slot < TOMBS_MAX) {
        (void)vec_push(&t->tombs);
    } else {
        slot = t->tomb_next++ % TOMBS_MAX;
        index_del(&t->buried, key_slice(vec_at(&t->tombs, slot)), slot + 1);
    }
    *(struct attempt_key *)vec_at(&t->tombs, slot) = k;
    index_put(&t->buried, key_slice(&k), slot + 1);
}

struct attempt *attempts_new(struct attempts *t, const struct wire_attempt *id, struct slice job,
                             uint64_t log_bytes_max) {
    uint32_t index = pool_alloc(&t->pool);
    if (index == 0) return NULL;
    struct attempt *a = pool_at(&t->pool, index);
    struct attempt_key k = key_of(id);
    *a = (struct attempt){
        .id = *id,
        .index = index,
        .is_used = true,
        .sleep_until_ms = TIME_NEVER,
        .timeout_at_ms = TIME_NEVER,
        .kill_at_ms = TIME_NEVER,
        .spool_at_ms = TIME_NEVER,
        .tell_at_ms = TIME_NEVER,
        .tend_at_ms = TIME_NEVER,
        .ended_at_ms = TIME_NEVER,
        .job = bytes_new(job),
    };
    memcpy(a->key, k.at, sizeof a->key);
    capture_init(&a->capture, log_bytes_max);
    vec_init(&a->transfer.items, sizeof(struct transfer_item));
    index_put(&t->held, key_slice(&k), index);
    return a;
}

void attempts_name_space(struct attempt *a) {
    const struct wire_attempt *id = &a->id;
    snprintf(a->space, sizeof a->space, "%x-%llx-%x-%x", id->shard, (unsigned long long)id->flow, id->ordinal,
             id->attempt);
}

void attempts_free(struct attempts *t, struct attempt *a) {
    uint32_t index = a->index;
    REQUIRE(a->is_used && index != 0);
    bury(t, &a->id);
    if (a->heap_position != 0) heap_remove(&t->due, a->heap_position);
    index_del(&t->held, slice_of(a->key, sizeof a->key), index);
    attempt_fini(a);
    pool_free(&t->pool, index);
}

void attempts_touch(struct attempts *t, struct attempt *a) {
    if (a->is_dirty) return;
    a->is_dirty = true;
    *(uint32_t *)vec_push(&t->dirty) = a->index;
}

void attempts_time(struct attempts *t, struct attempt *a) {
    int64_t when = min_i64(min_i64(a->sleep_until_ms, a->timeout_at_ms), min_i64(a->kill_at_ms, a->spool_at_ms));
    when = min_i64(when, min_i64(a->tell_at_ms, a->tend_at_ms));
    if (a->heap_position != 0) heap_remove(&t->due, a->heap_position);
    a->heap_position = 0;
    if (when != TIME_NEVER) heap_push(&t->due, when, a->index);
}

struct attempt *attempts_due(struct attempts *t, int64_t now_ms) {
    const struct heap_item *top = heap_top(&t->due);
    if (top == NULL || top->key > now_ms) return NULL;
    return pool_at(&t->pool, (uint32_t)top->ref);
}
