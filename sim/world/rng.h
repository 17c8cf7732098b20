/* rng.h: the one source of chance in the simulator. A small generator whose whole state is two words, so that every run
 * is a function of its seed. Streams forked from it do not disturb each other: a fault drawn more or less in one part
 * leaves the choices of the others alone. Not for secrets. */
#ifndef REEVE_RNG_H
#define REEVE_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
    uint64_t step; /* odd; another stream for every value */
};

void rng_init(struct rng *r, uint64_t seed);
struct rng rng_fork(struct rng *r, uint64_t label);
uint64_t rng_u64(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t bound);             /* 0 .. bound-1; bound 0 gives 0 */
int64_t rng_range(struct rng *r, int64_t least, int64_t most); /* both ends included */
bool rng_chance(struct rng *r, uint32_t ppm);                  /* true in `ppm` of a million cases */
int64_t rng_skewed(struct rng *r, int64_t most);               /* 0 .. most, small values far more often */

#define PERCENT(n) ((uint32_t)(n)*10000u)

#endif
