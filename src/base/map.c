/* map.c: both tables are the same machine: linear probing from a home slot, at most three quarters full, and a
 * removal that shifts later entries of the run back, so that a look-up may stop at the first free slot. */
#include "map.h"

#include <stdlib.h>

#include "hash.h"
#include "panic.h"

#define SLOTS_MIN 8u
#define SLOTS_MAX (1u << 31)

/* The least number of slots (a power of two) that holds `count` entries at most three quarters full. */
static uint32_t slots_for(uint64_t count) {
    uint64_t slots = SLOTS_MIN;
    while (slots * 3 / 4 < count) slots *= 2;
    REQUIRE(slots <= SLOTS_MAX);
    return (uint32_t)slots;
}

static void *slots_new(uint32_t slots, size_t entry_bytes) {
    void *entries = calloc(slots, entry_bytes);
    if (!entries) PANIC("out of memory");
    return entries;
}

/* Whether one more entry needs a larger table; true for one that has no slots yet. */
static bool is_crowded(uint32_t mask, uint32_t count) {
    if (mask == 0) return true;
    return (uint64_t)(count + 1u) * 4 > ((uint64_t)mask + 1) * 3;
}

/* Whether the entry at `at`, whose home is `home`, may move to the free slot `hole` without passing its home. */
static bool may_fill(uint32_t hole, uint32_t home, uint32_t at, uint32_t mask) {
    return ((at - home) & mask) >= ((at - hole) & mask);
}

/* ---- from a number to a number ---- */

void map_init(struct map *m) {
    *m = (struct map){0};
}

void map_fini(struct map *m) {
    free(m->entries);
    *m = (struct map){0};
}

/* Most keys are numbers handed out in order: four neighbours share a cache line, the groups are spread. */
static uint32_t map_home(uint64_t key, uint32_t mask) {
    return ((uint32_t)hash_mix(key >> 2) << 2 | (uint32_t)(key & 3)) & mask;
}

/* The slot of the key, or the free slot where it belongs. */
static uint32_t map_find(const struct map *m, uint64_t key) {
    uint32_t i = map_home(key, m->mask);
    while (m->entries[i].value != 0 && m->entries[i].key != key) i = (i + 1) & m->mask;
    return i;
}

static void map_grow(struct map *m) {
    struct map old = *m;
    uint32_t slots = slots_for((uint64_t)old.count + 1);
    m->entries = slots_new(slots, sizeof *m->entries);
    m->mask = slots - 1;
    if (old.entries) {
        for (uint32_t i = 0; i <= old.mask; i++) {
            if (old.entries[i].value != 0) m->entries[map_find(m, old.entries[i].key)] = old.entries[i];
        }
    }
    free(old.entries);
}

uint32_t map_get(const struct map *m, uint64_t key) {
    if (m->count == 0) return 0;
    return m->entries[map_find(m, key)].value;
}

void map_put(struct map *m, uint64_t key, uint32_t value) {
    REQUIRE(value != 0);
    uint32_t i = 0;
    if (m->mask != 0) {
        i = map_find(m, key);
        if (m->entries[i].value != 0) {
            m->entries[i].value = value;
            return;
        }
    }
    if (is_crowded(m->mask, m->count)) {
        map_grow(m);
        i = map_find(m, key);
    }
    m->entries[i] = (struct map_entry){.key = key, .value = value};
    m->count++;
}

uint32_t map_del(struct map *m, uint64_t key) {
    if (m->count == 0) return 0;
    uint32_t hole = map_find(m, key);
    uint32_t removed = m->entries[hole].value;
    if (removed == 0) return 0;
    for (uint32_t at = (hole + 1) & m->mask; m->entries[at].value != 0; at = (at + 1) & m->mask) {
        if (!may_fill(hole, map_home(m->entries[at].key, m->mask), at, m->mask)) continue;
        m->entries[hole] = m->entries[at];
        hole = at;
    }
    m->entries[hole] = (struct map_entry){0};
    m->count--;
    return removed;
}

size_t map_bytes(const struct map *m) {
    return m->entries ? ((size_t)m->mask + 1) * sizeof *m->entries : 0;
}

/* ---- from bytes to a number ---- */

void index_init(struct index *x) {
    *x = (struct index){0};
}

void index_fini(struct index *x) {
    free(x->entries);
    *x = (struct index){0};
}

static uint32_t index_hash(struct slice key) {
    return (uint32_t)hash64(key.ptr, key.len, 0);
}

static void index_place(struct index *x, struct index_entry entry) {
    uint32_t i = entry.hash & x->mask;
    while (x->entries[i].value != 0) i = (i + 1) & x->mask;
    x->entries[i] = entry;
}

static void index_resize(struct index *x, uint32_t slots) {
    struct index old = *x;
    x->entries = slots_new(slots, sizeof *x->entries);
    x->mask = slots - 1;
    if (old.entries) {
        for (uint32_t i = 0; i <= old.mask; i++) {
            if (old.entries[i].value != 0) index_place(x, old.entries[i]);
        }
    }
    free(old.entries);
}

uint32_t index_get(const struct index *x, struct slice key, index_key_fn key_of, const void *ctx) {
    if (x->count == 0) return 0;
    uint32_t hash = index_hash(key);
    for (uint32_t i = hash & x->mask; x->entries[i].value != 0; i = (i + 1) & x->mask) {
        const struct index_entry *entry = &x->entries[i];
        if (entry->hash == hash && slice_eq(key_of(ctx, entry->value), key)) return entry->value;
    }
    return 0;
}

void index_put(struct index *x, struct slice key, uint32_t value) {
    REQUIRE(value != 0);
    if (is_crowded(x->mask, x->count)) index_resize(x, slots_for((uint64_t)x->count + 1));
    index_place(x, (struct index_entry){.hash = index_hash(key), .value = value});
    x->count++;
}

void index_del(struct index *x, struct slice key, uint32_t value) {
    REQUIRE(value != 0);
    REQUIRE(x->count > 0);
    uint32_t hash = index_hash(key);
    uint32_t hole = hash & x->mask;
    while (x->entries[hole].value != value || x->entries[hole].hash != hash) {
        REQUIRE(x->entries[hole].value != 0); /* the entry must be there: its owner says so */
        hole = (hole + 1) & x->mask;
    }
    for (uint32_t at = (hole + 1) & x->mask; x->entries[at].value != 0; at = (at + 1) & x->mask) {
        if (!may_fill(hole, x->entries[at].hash & x->mask, at, x->mask)) continue;
        x->entries[hole] = x->entries[at];
        hole = at;
    }
    x->entries[hole] = (struct index_entry){0};
    x->count--;
}

void index_reserve(struct index *x, uint32_t count) {
    if (count == 0) return;
    uint32_t slots = slots_for(count);
    if (x->mask == 0 || slots > x->mask + 1) index_resize(x, slots);
}

size_t index_bytes(const struct index *x) {
    return x->entries ? ((size_t)x->mask + 1) * sizeof *x->entries : 0;
}

/* ---- lean_index ---- */

void lean_fini(struct lean_index *x) {
    free(x->values);
    *x = (struct lean_index){0};
}

bool lean_release(struct lean_index *x, size_t bytes) {
    uint64_t slots = (uint64_t)x->mask + 1, step = bytes / sizeof *x->values + 1;
    if (x->values == NULL || slots <= step) {
        lean_fini(x);
        return true;
    }
    uint32_t *rest = reallocarray(x->values, slots - step, sizeof *rest); /* a large block shrinks in place */
    if (!rest) PANIC("out of memory");
    *x = (struct lean_index){.values = rest, .mask = (uint32_t)(slots - step - 1)};
    return false;
}

static void lean_place(struct lean_index *x, struct slice key, uint32_t value) {
    uint32_t i = index_hash(key) & x->mask;
    while (x->values[i] != 0) i = (i + 1) & x->mask;
    x->values[i] = value;
}

static void lean_resize(struct lean_index *x, uint32_t slots, index_key_fn key_of, const void *ctx) {
    struct lean_index old = *x;
    x->values = slots_new(slots, sizeof *x->values);
    x->mask = slots - 1;
    for (uint32_t i = 0; old.values && i <= old.mask; i++)
        if (old.values[i] != 0) lean_place(x, key_of(ctx, old.values[i]), old.values[i]);
    free(old.values);
}

uint32_t lean_get(const struct lean_index *x, struct slice key, index_key_fn key_of, const void *ctx) {
    if (x->count == 0) return 0;
    for (uint32_t i = index_hash(key) & x->mask; x->values[i] != 0; i = (i + 1) & x->mask)
        if (slice_eq(key_of(ctx, x->values[i]), key)) return x->values[i];
    return 0;
}

void lean_put(struct lean_index *x, struct slice key, uint32_t value, index_key_fn key_of, const void *ctx) {
    REQUIRE(value != 0);
    if (is_crowded(x->mask, x->count)) lean_resize(x, slots_for((uint64_t)x->count + 1), key_of, ctx);
    lean_place(x, key, value);
    x->count++;
}

void lean_reserve(struct lean_index *x, uint32_t count, index_key_fn key_of, const void *ctx) {
    if (count == 0) return;
    uint32_t slots = slots_for(count);
    if (x->mask == 0 || slots > x->mask + 1) lean_resize(x, slots, key_of, ctx);
}

size_t lean_bytes(const struct lean_index *x) {
    return x->values ? ((size_t)x->mask + 1) * sizeof *x->values : 0;
}
