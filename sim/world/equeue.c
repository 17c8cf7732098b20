/* equeue.c: see equeue.h. */
#include "equeue.h"

#include <stdlib.h>

#include "panic.h"

void equeue_init(struct equeue *q) {
    *q = (struct equeue){0};
}

void equeue_fini(struct equeue *q) {
    free(q->heap);
    *q = (struct equeue){0};
}

static bool before(const struct event_call *a, const struct event_call *b) {
    if (a->at_us != b->at_us) return a->at_us < b->at_us;
    return a->order < b->order;
}

static void sift_up(struct equeue *q, uint32_t i) {
    struct event_call moving = q->heap[i];
    while (i > 0) {
        uint32_t parent = (i - 1) / 2;
        if (!before(&moving, &q->heap[parent])) break;
        q->heap[i] = q->heap[parent];
        i = parent;
    }
    q->heap[i] = moving;
}

static void sift_down(struct equeue *q, uint32_t i) {
    struct event_call moving = q->heap[i];
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= q->count) break;
        if (child + 1 < q->count && before(&q->heap[child + 1], &q->heap[child])) child++;
        if (!before(&q->heap[child], &moving)) break;
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = moving;
}

void equeue_at(struct equeue *q, int64_t at_us, event_fn fn, void *ctx, uint64_t arg) {
    REQUIRE(fn != NULL);
    if (q->count == q->slots) {
        q->slots = q->slots ? q->slots * 2 : 64;
        q->heap = realloc(q->heap, q->slots * sizeof(*q->heap));
        ENSURE(q->heap != NULL);
    }
    if (at_us < q->now_us) at_us = q->now_us;
    q->heap[q->count] = (struct event_call){at_us, q->order++, fn, ctx, arg};
    sift_up(q, q->count++);
}

void equeue_in(struct equeue *q, int64_t delay_us, event_fn fn, void *ctx, uint64_t arg) {
    REQUIRE(delay_us >= 0);
    equeue_at(q, q->now_us + delay_us, fn, ctx, arg);
}

bool equeue_step(struct equeue *q) {
    if (q->count == 0) return false;
    struct event_call next = q->heap[0];
    q->heap[0] = q->heap[--q->count];
    if (q->count > 0) sift_down(q, 0);
    ENSURE(next.at_us >= q->now_us);
    q->now_us = next.at_us;
    next.fn(next.ctx, next.arg);
    return true;
}
