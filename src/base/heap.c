/* heap.c: a 4-ary heap: half as deep as a binary one, and the four children share a cache line.
 *
 * Items move by shifting a hole, not by swapping; whenever one comes to rest its owner hears the new position. */
#include "heap.h"

#include <stdbool.h>
#include <stdlib.h>

#include "panic.h"

#define ARITY 4u
#define SLOTS_MIN 16u

void heap_init(struct heap *h, heap_moved_fn moved, void *ctx) {
    *h = (struct heap){.moved = moved, .ctx = ctx};
}

void heap_fini(struct heap *h) {
    free(h->items);
    *h = (struct heap){.moved = h->moved, .ctx = h->ctx};
}

static bool is_before(struct heap_item a, struct heap_item b) {
    return a.key != b.key ? a.key < b.key : a.ref < b.ref;
}

#define DEAD UINT64_MAX
#define DEAD_MIN 64u

static void rest(struct heap *h, uint32_t i, struct heap_item item) {
    h->items[i] = item;
    if (h->moved && item.ref != DEAD) h->moved(h->ctx, item.ref, i + 1);
}

static void sift_up(struct heap *h, uint32_t i, struct heap_item item) {
    while (i > 0) {
        uint32_t parent = (i - 1) / ARITY;
        if (!is_before(item, h->items[parent])) break;
        rest(h, i, h->items[parent]);
        i = parent;
    }
    rest(h, i, item);
}

static void sift_down(struct heap *h, uint32_t i, struct heap_item item) {
    for (;;) {
        uint64_t first = (uint64_t)i * ARITY + 1;
        if (first >= h->count) break;
        uint64_t end = first + ARITY < h->count ? first + ARITY : h->count;
        uint32_t best = (uint32_t)first;
        for (uint32_t child = best + 1; child < end; child++) {
            if (is_before(h->items[child], h->items[best])) best = child;
        }
        if (!is_before(h->items[best], item)) break;
        rest(h, i, h->items[best]);
        i = best;
    }
    rest(h, i, item);
}

/* Puts `item` into the hole at `i`, upwards or downwards as its key demands. */
static void settle(struct heap *h, uint32_t i, struct heap_item item) {
    if (i > 0 && is_before(item, h->items[(i - 1) / ARITY])) {
        sift_up(h, i, item);
    } else {
        sift_down(h, i, item);
    }
}

void heap_push(struct heap *h, int64_t key, uint64_t ref) {
    REQUIRE(ref != DEAD);
    if (h->count == h->slots) {
        REQUIRE(h->slots <= UINT32_MAX / 4);
        uint32_t slots = h->slots ? h->slots * 2 : SLOTS_MIN;
        struct heap_item *items = reallocarray(h->items, slots, sizeof *items);
        if (!items) PANIC("out of memory");
        h->items = items;
        h->slots = slots;
    }
    sift_up(h, h->count++, (struct heap_item){.key = key, .ref = ref});
}

static struct heap_item take_top(struct heap *h) {
    struct heap_item top = h->items[0];
    struct heap_item last = h->items[--h->count];
    if (h->count > 0) sift_down(h, 0, last);
    return top;
}

static void drop_dead_top(struct heap *h) {
    while (h->count > 0 && h->items[0].ref == DEAD) {
        (void)take_top(h);
        h->dead--;
    }
}

/* Keeps the living and makes a heap of them again. */
static void bury(struct heap *h) {
    uint32_t living = 0;
    for (uint32_t i = 0; i < h->count; i++)
        if (h->items[i].ref != DEAD) h->items[living++] = h->items[i];
    h->count = living;
    h->dead = 0;
    for (uint32_t i = living; i-- > 0;) sift_down(h, i, h->items[i]);
}

struct heap_item heap_pop(struct heap *h) {
    drop_dead_top(h);
    REQUIRE(h->count > 0);
    struct heap_item top = take_top(h);
    if (h->moved) h->moved(h->ctx, top.ref, 0);
    return top;
}

const struct heap_item *heap_top(struct heap *h) {
    drop_dead_top(h);
    return h->count ? &h->items[0] : NULL;
}

void heap_remove(struct heap *h, uint32_t position) {
    REQUIRE(position >= 1);
    REQUIRE(position <= h->count);
    struct heap_item *item = &h->items[position - 1];
    REQUIRE(item->ref != DEAD);
    if (h->moved) h->moved(h->ctx, item->ref, 0);
    item->ref = DEAD;
    h->dead++;
    if (h->dead > DEAD_MIN && h->dead > h->count / 2) bury(h);
}

void heap_rekey(struct heap *h, uint32_t position, int64_t key) {
    REQUIRE(position >= 1);
    REQUIRE(position <= h->count);
    struct heap_item item = h->items[position - 1];
    REQUIRE(item.ref != DEAD);
    item.key = key;
    settle(h, position - 1, item);
}
