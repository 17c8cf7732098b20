/* json_keys.c: see json_keys.h. */
#include "json_keys.h"

#include "panic.h"

#define COMPARED_MAX 16u
#define SLOTS_FIRST 64u

struct json_key {
    uint64_t mark;
    struct slice text;
    uint32_t offset;
};

/* The last seven bytes and the length: names that are numbered differ at their end. */
static uint64_t mark_of(struct slice key) {
    uint64_t mark = 0;
    for (size_t i = key.len > 7 ? key.len - 7 : 0; i < key.len; i++) mark = mark << 8 | key.ptr[i];
    return mark << 8 | (key.len & 0xff);
}

bool json_keys_add(struct json_keys *k, struct arena *arena, struct slice key, uint32_t offset) {
    if (k->count == k->slots) {
        uint32_t slots = k->slots ? k->slots * 2 : SLOTS_FIRST;
        struct json_key *at = arena_try(arena, slots * sizeof *at);
        if (!at) return false;
        if (k->count) memcpy(at, k->at, k->count * sizeof *at);
        k->at = at;
        k->slots = slots;
    }
    k->at[k->count++] = (struct json_key){mark_of(key), key, offset};
    return true;
}

static bool is_same(const struct json_key *a, const struct json_key *b) {
    return a->mark == b->mark && slice_eq(a->text, b->text);
}

/* Equal keys in the order of the text, so that the first is never taken for the second. */
static int order_of(const struct json_key *a, const struct json_key *b) {
    if (a->mark != b->mark) return a->mark < b->mark ? -1 : 1;
    int order = slice_cmp(a->text, b->text);
    if (order != 0) return order;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static void sift_down(struct json_key *keys, uint32_t from, uint32_t count) {
    struct json_key moved = keys[from];
    for (uint32_t child; (child = 2 * from + 1) < count; from = child) {
        if (child + 1 < count && order_of(&keys[child], &keys[child + 1]) < 0) child++;
        if (order_of(&moved, &keys[child]) >= 0) break;
        keys[from] = keys[child];
    }
    keys[from] = moved;
}

static void sort(struct json_key *keys, uint32_t count) {
    for (uint32_t i = count / 2; i > 0; i--) sift_down(keys, i - 1, count);
    for (uint32_t last = count - 1; last > 0; last--) {
        struct json_key largest = keys[0];
        keys[0] = keys[last];
        keys[last] = largest;
        sift_down(keys, 0, last);
    }
}

/* A key that stood before, or NULL. */
static const struct json_key *find_repeated(struct json_key *keys, uint32_t count) {
    if (count > COMPARED_MAX) {
        sort(keys, count);
        for (uint32_t i = 1; i < count; i++)
            if (is_same(&keys[i - 1], &keys[i])) return &keys[i];
        return NULL;
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (is_same(&keys[i], &keys[k])) return &keys[i];
    return NULL;
}

bool json_keys_end(struct json_keys *k, uint32_t first, uint32_t *ret_offset) {
    REQUIRE(first <= k->count);
    uint32_t count = k->count - first;
    k->count = first;
    if (count < 2) return false;
    const struct json_key *again = find_repeated(k->at + first, count);
    if (again) *ret_offset = again->offset;
    return again != NULL;
}
