/* store_state.h: the shared store inside the durable state (state.h); store.h has what happens to it.
 *
 * Facts are the items: (tenant, flow, key) with a value, a version and perhaps an expiry; and the members of sets.
 * Everything else here is an index. Items of all namespaces are in one table and one order, their texts begin with the
 * number of their space; members likewise, with the number of their set. So a namespace costs a few bytes, a page of a
 * namespace costs the page, and what is dropped as a whole (a flow's namespace, a large set) is unreachable at once:
 * its number is no longer found, and its memory is given back in steps (store_sweep). */
#ifndef REEVE_STORE_STATE_H
#define REEVE_STORE_STATE_H

#include "bytes.h"
#include "map.h"
#include "order.h"
#include "pool.h"
#include "record.h"
#include "vec.h"
#include "wtime.h"

#define STORE_PREFIX_BYTES 4u

struct store_space { /* index: a namespace that has keys */
    uint64_t owner;  /* a flow number, or a tenant with the top bit set; 0 in a free slot */
    uint32_t tenant;
    uint32_t items;
    bool is_dropped; /* its items are gone, their memory is not yet */
};

struct item {
    struct bytes *text; /* number of its space, then the key; NULL in a free slot */
    union {
        struct bytes *value; /* ITEM_TEXT */
        int64_t number;      /* ITEM_NUMBER */
        uint32_t set;        /* ITEM_SET */
    } as;
    uint64_t version;  /* LSN of the last change of its value */
    wall_time expires; /* TIME_NEVER */
    uint8_t kind;      /* enum item_kind */
    uint32_t timer;    /* index */
};

struct set {
    uint32_t item;  /* 0 in a free slot; of a dropped set UINT32_MAX */
    uint32_t count; /* index: members */
    uint64_t bytes; /* index: what they cost */
};

struct member { /* so small that its pool cannot tell free slots: walk member_order */
    struct bytes *text; /* number of its set, then the member */
};

struct store {
    struct pool spaces, items, sets, members;
    struct map space_by_owner;
    struct index item_by_text, member_by_text;
    struct order item_order, member_order;
    uint64_t item_count;               /* index: with those whose memory is yet to be given back */
    struct u32vec dropped_spaces;      /* index: whose memory is to be given back */
    struct u32vec dropped_sets;
};

static inline struct store_space *space_at(const struct store *t, uint32_t i) {
    return pool_at(&t->spaces, i);
}
static inline struct item *item_at(const struct store *t, uint32_t i) { return pool_at(&t->items, i); }
static inline struct set *set_at(const struct store *t, uint32_t i) { return pool_at(&t->sets, i); }
static inline struct member *member_at(const struct store *t, uint32_t i) { return pool_at(&t->members, i); }

#endif
