/* arena.c: a list of chunks, the newest first; allocation moves a pointer inside the newest.
 *
 *   arena.chunk -> [older|bytes| used ... next ... end] -> [older|bytes| ... ] -> NULL
 *
 * Ordinary chunks double in size up to CHUNK_BYTES_MAX, so that the many small arenas (one per flow) stay small and
 * the few large ones make few calls. A request that no ordinary chunk could hold gets one of exactly its size,
 * which is put behind the newest: the room left in the newest stays in use. */
#include "arena.h"

#include <stdlib.h>
#include <string.h>

#include "panic.h"

#define CHUNK_BYTES_MIN ((size_t)64)
#define CHUNK_BYTES_MAX ((size_t)65536)

struct arena_chunk {
    struct arena_chunk *older;
    size_t bytes; /* with this header */
};

static size_t round_up_8(size_t bytes) {
    return (bytes + 7u) & ~(size_t)7u;
}

static uint8_t *chunk_data(struct arena_chunk *chunk) {
    return (uint8_t *)chunk + sizeof *chunk;
}

void arena_init(struct arena *a, size_t chunk_bytes, size_t bytes_max) {
    REQUIRE(a != NULL);
    REQUIRE(bytes_max <= SIZE_MAX / 2);
    size_t first = chunk_bytes < CHUNK_BYTES_MIN ? CHUNK_BYTES_MIN : chunk_bytes;
    if (first > SIZE_MAX / 4) first = SIZE_MAX / 4;
    *a = (struct arena){.chunk_bytes = round_up_8(first), .bytes_max = bytes_max};
}

static void free_list(struct arena_chunk *chunk) {
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
}

void arena_fini(struct arena *a) {
    free_list(a->chunk);
    a->chunk = NULL;
    a->next = a->end = NULL;
    a->bytes = 0;
}

bool arena_release(struct arena *a, size_t bytes) {
    a->next = a->end = NULL;
    for (size_t freed = 0; a->chunk && freed < bytes;) {
        struct arena_chunk *older = a->chunk->older;
        freed += a->chunk->bytes;
        a->bytes -= a->chunk->bytes;
        free(a->chunk);
        a->chunk = older;
    }
    return a->chunk == NULL;
}

void arena_reset(struct arena *a) {
    if (!a->chunk) return;
    free_list(a->chunk->older);
    a->chunk->older = NULL;
    a->bytes = a->chunk->bytes;
    a->next = chunk_data(a->chunk);
    a->end = (uint8_t *)a->chunk + a->chunk->bytes;
}

static struct arena_chunk *chunk_new(struct arena *a, size_t bytes) {
    struct arena_chunk *chunk = malloc(bytes);
    if (!chunk) PANIC("out of memory");
    chunk->older = NULL;
    chunk->bytes = bytes;
    a->bytes += bytes;
    return chunk;
}

/* An exact chunk beside the newest one; the newest keeps serving small requests. */
static void *alloc_big(struct arena *a, size_t need) {
    struct arena_chunk *chunk = chunk_new(a, need);
    if (a->chunk) {
        chunk->older = a->chunk->older;
        a->chunk->older = chunk;
    } else {
        a->chunk = chunk;
        a->next = a->end = (uint8_t *)chunk + need;
    }
    return chunk_data(chunk);
}

/* `bytes` is rounded and does not fit the newest chunk. */
static void *alloc_slow(struct arena *a, size_t bytes) {
    size_t need = bytes + sizeof(struct arena_chunk);
    if (a->bytes > a->bytes_max || need > a->bytes_max - a->bytes) return NULL;
    if (need > a->chunk_bytes) return alloc_big(a, need);

    size_t left = (a->bytes_max - a->bytes) & ~(size_t)7u;
    size_t size = a->chunk_bytes <= left ? a->chunk_bytes : left;
    if (size < need) return NULL; /* only when bytes_max is no multiple of 8 */
    struct arena_chunk *chunk = chunk_new(a, size);
    chunk->older = a->chunk;
    a->chunk = chunk;
    a->next = chunk_data(chunk) + bytes;
    a->end = (uint8_t *)chunk + size;
    if (a->chunk_bytes < CHUNK_BYTES_MAX) {
        a->chunk_bytes = a->chunk_bytes * 2 < CHUNK_BYTES_MAX ? a->chunk_bytes * 2 : CHUNK_BYTES_MAX;
    }
    return chunk_data(chunk);
}

static size_t rounded(size_t bytes) {
    return bytes ? round_up_8(bytes) : 8; /* an empty allocation is still an address of its own */
}

static void *take(struct arena *a, size_t bytes) {
    if (bytes > (size_t)(a->end - a->next)) return alloc_slow(a, bytes);
    void *at = a->next;
    a->next += bytes;
    return at;
}

void *arena_try(struct arena *a, size_t bytes) {
    if (bytes > SIZE_MAX / 4) return NULL;
    void *at = take(a, rounded(bytes));
    return at ? memset(at, 0, rounded(bytes)) : NULL;
}

void *arena_space(struct arena *a, size_t bytes) {
    void *at = bytes > SIZE_MAX / 4 ? NULL : take(a, rounded(bytes));
    if (!at) PANIC("an arena passed its maximum");
    return at;
}

void *arena_alloc(struct arena *a, size_t bytes) {
    void *at = arena_try(a, bytes);
    if (!at) PANIC("an arena passed its maximum");
    return at;
}

void *arena_copy(struct arena *a, const void *ptr, size_t len) {
    void *at = arena_space(a, len);
    if (len) memcpy(at, ptr, len);
    return at;
}

struct slice arena_slice(struct arena *a, struct slice s) {
    if (s.len == 0) return (struct slice){NULL, 0};
    return slice_of(arena_copy(a, s.ptr, s.len), s.len);
}
