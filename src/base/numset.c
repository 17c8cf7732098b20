/* numset.c: see numset.h. A node is there when it has a bit, and then its parent has the bit of it. */
#include "numset.h"

#define BITS 5u
#define MASK 31u

void numset_init(struct numset *n) {
    for (uint32_t i = 0; i < NUMSET_LEVELS; i++) map_init(&n->levels[i]);
    n->count = 0;
}

void numset_fini(struct numset *n) {
    for (uint32_t i = 0; i < NUMSET_LEVELS; i++) map_fini(&n->levels[i]);
    n->count = 0;
}

void numset_put(struct numset *n, uint64_t number) {
    for (uint32_t level = 0; level < NUMSET_LEVELS; level++) {
        uint32_t bit = 1u << (number & MASK);
        number >>= BITS;
        uint32_t before = map_join(&n->levels[level], number, bit);
        if (before & bit) return;
        if (level == 0) n->count++;
        if (before != 0) return;
    }
}

void numset_del(struct numset *n, uint64_t number) {
    for (uint32_t level = 0; level < NUMSET_LEVELS; level++) {
        uint32_t bit = 1u << (number & MASK);
        number >>= BITS;
        uint32_t before = map_get(&n->levels[level], number);
        if ((before & bit) == 0) return;
        if (level == 0) n->count--;
        if (before != bit) {
            map_put(&n->levels[level], number, before & ~bit);
            return;
        }
        map_del(&n->levels[level], number);
    }
}

static uint32_t highest(uint32_t bits) {
    return 31u - (uint32_t)__builtin_clz(bits);
}

bool numset_below(const struct numset *n, uint64_t before, uint64_t *ret) {
    for (uint32_t level = 0; level < NUMSET_LEVELS; level++) {
        uint32_t lower = (1u << (before & MASK)) - 1;
        before >>= BITS;
        uint32_t bits = map_get(&n->levels[level], before) & lower;
        if (bits == 0) continue;
        uint64_t at = before << BITS | highest(bits);
        while (level-- > 0) at = at << BITS | highest(map_get(&n->levels[level], at));
        *ret = at;
        return true;
    }
    return false;
}

size_t numset_bytes(const struct numset *n) {
    size_t bytes = 0;
    for (uint32_t i = 0; i < NUMSET_LEVELS; i++) bytes += map_bytes(&n->levels[i]);
    return bytes;
}
