/* pool.c: chunks of 1,024 elements, touched only as indices are handed out. A fresh element is cleared at that moment,
 * when it is about to be written anyway; from then on whenever it is freed. */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

#include "panic.h"

void pool_init(struct pool *p, size_t elem_bytes, uint32_t max) {
    REQUIRE(elem_bytes > 0);
    REQUIRE(elem_bytes <= UINT32_MAX / POOL_CHUNK_COUNT);
    uint32_t bytes = (uint32_t)elem_bytes;
    if (bytes < sizeof(uint32_t)) bytes = sizeof(uint32_t); /* room for the link of the free list */
    *p = (struct pool){.elem_bytes = bytes, .max = max};
}

void pool_fini(struct pool *p) {
    for (uint32_t i = 0; i < p->chunk_count; i++) free(p->chunks[i]);
    free(p->chunks);
    *p = (struct pool){.elem_bytes = p->elem_bytes, .max = p->max};
}

static void add_chunk(struct pool *p) {
    if (p->chunk_count == p->chunk_slots) {
        uint32_t slots = p->chunk_slots ? p->chunk_slots * 2 : 4;
        uint8_t **chunks = realloc(p->chunks, slots * sizeof *chunks);
        if (!chunks) PANIC("out of memory");
        p->chunks = chunks;
        p->chunk_slots = slots;
    }
    uint8_t *chunk = malloc((size_t)POOL_CHUNK_COUNT * p->elem_bytes);
    if (!chunk) PANIC("out of memory");
    p->chunks[p->chunk_count++] = chunk;
}

static uint8_t *link_of(const struct pool *p, uint32_t index) {
    return (uint8_t *)pool_at(p, index) + p->elem_bytes - sizeof p->free_head;
}

uint32_t pool_alloc(struct pool *p) {
    if (p->count == p->max) return 0;
    p->count++;
    uint32_t index = p->free_head;
    if (index) {
        void *link = link_of(p, index);
        memcpy(&p->free_head, link, sizeof p->free_head);
        memset(link, 0, sizeof p->free_head);
        return index;
    }
    index = ++p->high;
    ENSURE(p->high <= p->max);
    if ((index - 1u) >> POOL_CHUNK_SHIFT == p->chunk_count) add_chunk(p);
    memset(pool_at(p, index), 0, p->elem_bytes);
    return index;
}

void pool_free(struct pool *p, uint32_t index) {
    REQUIRE(index != 0);
    REQUIRE(index <= p->high);
    REQUIRE(p->count > 0);
    memset(pool_at(p, index), 0, p->elem_bytes);
    memcpy(link_of(p, index), &p->free_head, sizeof p->free_head);
    p->free_head = index;
    p->count--;
}

size_t pool_bytes(const struct pool *p) {
    return (size_t)p->chunk_count * POOL_CHUNK_COUNT * p->elem_bytes + p->chunk_slots * sizeof(uint8_t *);
}
