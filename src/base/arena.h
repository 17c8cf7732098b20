/* arena.h: memory with one lifetime. Allocations are never freed one by one; the whole arena is reset or ended.
 *
 * An arena has its maximum at birth. Going over it is a panic for `arena_alloc` (callers that size from
 * outside input must check limits first or use `arena_try`). Allocations are zeroed and 8-byte aligned. */
#ifndef REEVE_ARENA_H
#define REEVE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunk; /* newest; older ones hang behind it */
    uint8_t *next;             /* free bytes of the newest chunk */
    uint8_t *end;
    size_t chunk_bytes; /* size of the next ordinary chunk */
    size_t bytes;       /* held from the system */
    size_t bytes_max;
};

void arena_init(struct arena *a, size_t chunk_bytes, size_t bytes_max); /* takes no memory yet */
void arena_fini(struct arena *a);
/* Ends an arena in steps: frees chunks until `bytes` are given back. True when nothing is left. */
bool arena_release(struct arena *a, size_t bytes);
void arena_reset(struct arena *a); /* keeps the newest chunk for reuse */
void *arena_alloc(struct arena *a, size_t bytes);
void *arena_space(struct arena *a, size_t bytes); /* not zeroed: for what is written over at once */
void *arena_try(struct arena *a, size_t bytes);                 /* NULL when it would pass the maximum */
void *arena_copy(struct arena *a, const void *ptr, size_t len); /* not terminated */
struct slice arena_slice(struct arena *a, struct slice s);      /* a copy of s */

#define ARENA_NEW(a, type) ((type *)arena_alloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, count) ((type *)arena_alloc((a), sizeof(type) * (size_t)(count)))

#endif
