/* order.h: 32-bit values that carry their own bytes key (`key_of`, as for struct index in map.h), in the order of their
 * keys. A tree of small nodes: about 6 bytes a value, every operation O(log n) whatever the keys are, a walk costs what
 * it visits. Equal keys are not allowed. The key of a value must be readable until the value is taken out. */
#ifndef REEVE_ORDER_H
#define REEVE_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "map.h"
#include "pool.h"
#include "slice.h"

struct order {
    struct pool leaves; /* of order_leaf */
    struct pool inners; /* of order_inner */
    uint32_t root;      /* 0 = empty; a leaf when depth is 0 */
    uint32_t depth;     /* levels of inner nodes above the leaves */
    uint32_t count;
};

struct order_place { /* a position in a walk; valid until the next change */
    uint32_t leaf;
    uint32_t at;
};

void order_init(struct order *o);
void order_fini(struct order *o);
void order_put(struct order *o, uint32_t value, index_key_fn key_of, const void *ctx);
void order_del(struct order *o, uint32_t value, index_key_fn key_of, const void *ctx);
/* The first value whose key is not below `key`, 0 = none; order_next goes on from there. */
uint32_t order_seek(const struct order *o, struct slice key, index_key_fn key_of, const void *ctx,
                    struct order_place *ret);
uint32_t order_next(const struct order *o, struct order_place *place);
size_t order_bytes(const struct order *o);

#endif
