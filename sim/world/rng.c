/* rng.c: see rng.h. */
#include "rng.h"

#include "hash.h"
#include "panic.h"

void rng_init(struct rng *r, uint64_t seed) {
    r->state = hash_mix(seed + 0x9e3779b97f4a7c15ULL);
    r->step = hash_mix(seed ^ 0x5851f42d4c957f2dULL) | 1u;
}

struct rng rng_fork(struct rng *r, uint64_t label) {
    struct rng fork;
    rng_init(&fork, rng_u64(r) ^ hash_mix(label));
    return fork;
}

uint64_t rng_u64(struct rng *r) {
    r->state += r->step;
    return hash_mix(hash_mix(r->state) + r->step);
}

uint32_t rng_below(struct rng *r, uint32_t bound) {
    if (bound == 0) return 0;
    return (uint32_t)(((rng_u64(r) >> 32) * bound) >> 32);
}

int64_t rng_range(struct rng *r, int64_t least, int64_t most) {
    REQUIRE(least <= most);
    return least + (int64_t)(rng_u64(r) % ((uint64_t)(most - least) + 1u));
}

bool rng_chance(struct rng *r, uint32_t ppm) {
    return rng_below(r, 1000000u) < ppm;
}

int64_t rng_skewed(struct rng *r, int64_t most) {
    REQUIRE(most >= 0);
    uint32_t halvings = rng_below(r, 6);
    return rng_range(r, 0, most >> halvings);
}
