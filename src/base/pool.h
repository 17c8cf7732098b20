/* pool.h: many things of one size, addressed by 32-bit index. Index 0 is "none".
 *
 * Elements live in chunks that never move, so pointers stay valid until pool_free. A free element is all zero but for
 * its last four bytes, which link the free list: an owner whose first member is never zero while in use can walk
 * 1..high and tell. Indices are reused, most recently freed first: whoever keeps one across time keeps an identity
 * beside it (an id or a generation). */
#ifndef REEVE_POOL_H
#define REEVE_POOL_H

#include <stddef.h>
#include <stdint.h>

#define POOL_CHUNK_SHIFT 10u
#define POOL_CHUNK_COUNT (1u << POOL_CHUNK_SHIFT)

struct pool {
    uint8_t **chunks;
    uint32_t chunk_count;
    uint32_t chunk_slots; /* length of the chunks array */
    uint32_t elem_bytes;
    uint32_t count; /* live elements */
    uint32_t high;  /* indices 1..high were handed out at some time */
    uint32_t max;
    uint32_t free_head;
};

void pool_init(struct pool *p, size_t elem_bytes, uint32_t max);
void pool_fini(struct pool *p);
uint32_t pool_alloc(struct pool *p); /* zeroed; 0 when `max` elements are live */
void pool_free(struct pool *p, uint32_t index);
size_t pool_bytes(const struct pool *p); /* held from the system */

static inline void *pool_at(const struct pool *p, uint32_t index) {
    uint32_t i = index - 1u;
    return p->chunks[i >> POOL_CHUNK_SHIFT] + (size_t)(i & (POOL_CHUNK_COUNT - 1u)) * p->elem_bytes;
}

#endif
