/* map.h: a hash table from a 64-bit key to a 32-bit value, and one from bytes to a 32-bit value.
 *
 * Open addressing, linear probing, deletion by shifting back: no tombstones, cost stays flat. Iteration order
 * depends on nothing but the sequence of operations, and still no decision may depend on it (STYLE habit 9).
 * Value 0 means "absent", so it cannot be stored. */
#ifndef REEVE_MAP_H
#define REEVE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct map_entry {
    uint64_t key;
    uint32_t value; /* 0 = free slot */
};

struct map {
    struct map_entry *entries;
    uint32_t mask; /* slots - 1; 0 before the first insert */
    uint32_t count;
};

void map_init(struct map *m);
void map_fini(struct map *m);
uint32_t map_get(const struct map *m, uint64_t key);           /* 0 when absent */
void map_put(struct map *m, uint64_t key, uint32_t value);     /* replaces */
uint32_t map_join(struct map *m, uint64_t key, uint32_t bits); /* adds bits to the value; what it was, or 0 */
uint32_t map_del(struct map *m, uint64_t key);                 /* the value removed, or 0 */
size_t map_bytes(const struct map *m);

/* A table of values that carry their own bytes key: `key_of(ctx, value)` returns it. 8 bytes a slot. */
typedef struct slice (*index_key_fn)(const void *ctx, uint32_t value);

struct index_entry {
    uint32_t hash;
    uint32_t value;
};

struct index {
    struct index_entry *entries;
    uint32_t mask;
    uint32_t count;
};

void index_init(struct index *x);
void index_fini(struct index *x);
uint32_t index_get(const struct index *x, struct slice key, index_key_fn key_of, const void *ctx);
void index_put(struct index *x, struct slice key, uint32_t value); /* the key must not be there yet */
void index_del(struct index *x, struct slice key, uint32_t value);
void index_reserve(struct index *x, uint32_t count); /* no growth until `count` entries */
size_t index_bytes(const struct index *x);

/* The same at 4 bytes a slot, for keys that are never removed one by one: the hash is not kept, so a look-up asks for
 * the key of every value it passes. */
struct lean_index {
    uint32_t *values;
    uint32_t mask;
    uint32_t count;
};

void lean_fini(struct lean_index *x);
/* Ends it in steps: gives back about `bytes`. True when nothing is left; before that it is no table any more. */
bool lean_release(struct lean_index *x, size_t bytes);
uint32_t lean_get(const struct lean_index *x, struct slice key, index_key_fn key_of, const void *ctx);
void lean_put(struct lean_index *x, struct slice key, uint32_t value, index_key_fn key_of, const void *ctx);
void lean_reserve(struct lean_index *x, uint32_t count, index_key_fn key_of, const void *ctx);
size_t lean_bytes(const struct lean_index *x);

#endif
