/* simlog.c: see simlog.h. */
#include "simlog.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "panic.h"

void simlog_init(struct simlog *l) {
    *l = (struct simlog){0};
    vec_init(&l->batches, sizeof(struct batch));
}

static void records_free(struct batch *b) {
    void *owned;
    memcpy(&owned, &b->records.ptr, sizeof owned); /* drops the const: we made the copy */
    free(owned);
    b->records = (struct slice){0};
}

void simlog_fini(struct simlog *l) {
    for (uint32_t i = 0; i < l->batches.count; i++) records_free(vec_at(&l->batches, i));
    vec_fini(&l->batches);
    simlog_abort(l);
}

void simlog_begin(struct simlog *l, const struct batch *b) {
    REQUIRE(!l->has_pending);
    REQUIRE(b->first_lsn == simlog_lsn(l) + 1);
    uint8_t *copy = malloc(b->records.len + 1);
    ENSURE(copy != NULL);
    memcpy(copy, b->records.ptr, b->records.len);
    l->pending = *b;
    l->pending.records = slice_of(copy, b->records.len);
    l->has_pending = true;
}

void simlog_commit(struct simlog *l) {
    REQUIRE(l->has_pending);
    *(struct batch *)vec_push(&l->batches) = l->pending;
    l->has_pending = false;
}

void simlog_abort(struct simlog *l) {
    if (l->has_pending) records_free(&l->pending);
    l->has_pending = false;
}

uint64_t simlog_lsn(const struct simlog *l) {
    if (l->batches.count == 0) return 0;
    return ((const struct batch *)vec_at(&l->batches, l->batches.count - 1))->last_lsn;
}

static bool same(const struct batch *a, const struct batch *b) {
    return a->first_lsn == b->first_lsn && a->last_lsn == b->last_lsn && a->epoch == b->epoch &&
           a->shard == b->shard && a->rules == b->rules && a->time.ms == b->time.ms && a->seed == b->seed &&
           slice_eq(a->records, b->records);
}

static const struct batch *find(const struct simlog *l, uint64_t first_lsn) {
    uint32_t low = 0, high = l->batches.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct batch *b = vec_at(&l->batches, middle);
        if (b->first_lsn == first_lsn) return b;
        if (b->first_lsn < first_lsn)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

const char *simlog_recovered(struct simlog *l, const struct batch *b) {
    if (b->first_lsn <= simlog_lsn(l)) {
        const struct batch *known = find(l, b->first_lsn);
        if (known == NULL) return "a batch begins where none began";
        return same(known, b) ? NULL : "a durable batch came back changed";
    }
    if (!l->has_pending) return "a batch came back that was never appended";
    return same(&l->pending, b) ? NULL : "the batch in flight came back changed";
}

void simlog_resumed(struct simlog *l, uint64_t head) {
    if (l->has_pending && l->pending.last_lsn <= head)
        simlog_commit(l);
    else
        simlog_abort(l);
}

bool simlog_replay(const struct simlog *l, struct engine *e, uint64_t from_lsn, struct why *why) {
    for (uint32_t i = 0; i < l->batches.count; i++) {
        const struct batch *b = vec_at(&l->batches, i);
        if (b->last_lsn <= from_lsn) continue;
        if (engine_replay(e, b, why) != ERR_OK) return false;
    }
    return true;
}
