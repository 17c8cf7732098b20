/* numset.h: a set of 64-bit numbers that can be walked from any number downwards. A tree of 32 branches whose nodes are
 * bits, held in one table per level: every operation takes a look or two at a table, numbers that lie side by side
 * share their nodes (about a byte each), and gaps, however wide, cost nothing. */
#ifndef REEVE_NUMSET_H
#define REEVE_NUMSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map.h"

#define NUMSET_LEVELS 13u /* of five bits each */

struct numset {
    struct map levels[NUMSET_LEVELS]; /* from the number without its lowest bits to the bits of a node */
    uint32_t count;
};

void numset_init(struct numset *n);
void numset_fini(struct numset *n);
void numset_put(struct numset *n, uint64_t number); /* nothing happens when it is there */
void numset_del(struct numset *n, uint64_t number); /* nor when it is not */
/* The highest number below `before`. False: there is none. */
bool numset_below(const struct numset *n, uint64_t before, uint64_t *ret);
size_t numset_bytes(const struct numset *n);

#endif
