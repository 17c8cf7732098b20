/* heap.h: a 4-ary min-heap of (key, ref). The owner is told where each ref sits, so it can be moved or removed in
 * O(log n). Removal is cheaper still, O(1) on average: most timers are set only to be taken off again, so a removed
 * item stays as a dead one until it comes to the top or the dead are the majority. Equal keys come out in order of
 * `ref`, so that the order is a function of the content alone. */
#ifndef REEVE_HEAP_H
#define REEVE_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct heap_item {
    int64_t key;
    uint64_t ref;
};

/* `position` is 1-based; 0 = no longer in the heap. */
typedef void (*heap_moved_fn)(void *ctx, uint64_t ref, uint32_t position);

struct heap {
    struct heap_item *items;
    uint32_t count; /* with the dead */
    uint32_t dead;  /* removed and not yet cleared away */
    uint32_t slots;
    heap_moved_fn moved; /* may be NULL when nothing is ever removed from the middle */
    void *ctx;
};

void heap_init(struct heap *h, heap_moved_fn moved, void *ctx);
void heap_fini(struct heap *h);
void heap_push(struct heap *h, int64_t key, uint64_t ref);
struct heap_item heap_pop(struct heap *h); /* must not be empty */
void heap_remove(struct heap *h, uint32_t position);
void heap_rekey(struct heap *h, uint32_t position, int64_t key);
/* The first living item, or NULL. */
const struct heap_item *heap_top(struct heap *h);
/* No living item has a key below this; INT64_MAX when it is empty. */
static inline int64_t heap_bound(const struct heap *h) {
    return h->count ? h->items[0].key : INT64_MAX;
}

#endif
