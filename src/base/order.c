/* order.c: see order.h. A B+ tree. Leaves hold values and form a chain; an inner node has for each child the first
 * value below it, which is always one that is still there. Full nodes are split in the middle (the last leaf at its
 * end, so that ascending keys fill whole leaves); a node goes when it is empty, not when it is half empty. */
#include "order.h"

#include <string.h>

#include "panic.h"

#define LEAF_MAX 61u
#define INNER_MAX 31u
#define DEPTH_MAX 24u /* a level needs a full root: 16^24 insertions */
#define NODES_MAX (UINT32_MAX - 1u)

struct order_leaf {
    uint32_t count; /* never 0 while in use */
    uint32_t next, prev;
    uint32_t values[LEAF_MAX];
};

struct order_inner {
    uint32_t count;
    uint32_t firsts[INNER_MAX];
    uint32_t children[INNER_MAX];
};

struct order_path { /* from the root down */
    uint32_t inners[DEPTH_MAX];
    uint32_t ats[DEPTH_MAX]; /* which child was taken */
    uint32_t leaf;
};

static struct order_leaf *leaf_at(const struct order *o, uint32_t i) {
    return pool_at(&o->leaves, i);
}

static struct order_inner *inner_at(const struct order *o, uint32_t i) {
    return pool_at(&o->inners, i);
}

void order_init(struct order *o) {
    *o = (struct order){0};
    pool_init(&o->leaves, sizeof(struct order_leaf), NODES_MAX);
    pool_init(&o->inners, sizeof(struct order_inner), NODES_MAX);
}

void order_fini(struct order *o) {
    pool_fini(&o->leaves);
    pool_fini(&o->inners);
    o->root = o->depth = o->count = 0;
}

size_t order_bytes(const struct order *o) {
    return pool_bytes(&o->leaves) + pool_bytes(&o->inners);
}

/* How many of the ascending values have a key below `key`. */
static uint32_t count_below(const uint32_t *values, uint32_t count, struct slice key, index_key_fn key_of,
                            const void *ctx) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (slice_cmp(key_of(ctx, values[mid]), key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Which child of an inner node a key belongs to: the last whose first key is not above it. */
static uint32_t child_for(const struct order_inner *n, struct slice key, index_key_fn key_of, const void *ctx) {
    uint32_t below = count_below(n->firsts, n->count, key, key_of, ctx);
    if (below < n->count && slice_eq(key_of(ctx, n->firsts[below]), key)) return below;
    return below ? below - 1 : 0;
}

static void descend(const struct order *o, struct slice key, index_key_fn key_of, const void *ctx,
                    struct order_path *ret) {
    uint32_t node = o->root;
    for (uint32_t level = 0; level < o->depth; level++) {
        const struct order_inner *n = inner_at(o, node);
        uint32_t at = child_for(n, key, key_of, ctx);
        ret->inners[level] = node;
        ret->ats[level] = at;
        node = n->children[at];
    }
    ret->leaf = node;
}

/* The first value below the node of that level changed: so did what the nodes above say. */
static void first_changed(struct order *o, const struct order_path *p, uint32_t level, uint32_t first) {
    while (level-- > 0) {
        inner_at(o, p->inners[level])->firsts[p->ats[level]] = first;
        if (p->ats[level] != 0) return;
    }
}

static void open_gap(uint32_t *values, uint32_t count, uint32_t at, uint32_t value) {
    memmove(values + at + 1, values + at, (count - at) * sizeof *values);
    values[at] = value;
}

static void close_gap(uint32_t *values, uint32_t count, uint32_t at) {
    memmove(values + at, values + at + 1, (count - at - 1) * sizeof *values);
}

/* Moves the values from `keep` on into a new leaf behind this one, and returns it. */
static uint32_t split_leaf(struct order *o, uint32_t leaf, uint32_t keep) {
    uint32_t right = pool_alloc(&o->leaves);
    ENSURE(right != 0);
    struct order_leaf *a = leaf_at(o, leaf), *b = leaf_at(o, right);
    b->count = a->count - keep;
    memcpy(b->values, a->values + keep, b->count * sizeof *b->values);
    a->count = keep;
    b->next = a->next;
    b->prev = leaf;
    if (a->next) leaf_at(o, a->next)->prev = right;
    a->next = right;
    return right;
}

static uint32_t split_inner(struct order *o, uint32_t node) {
    uint32_t right = pool_alloc(&o->inners);
    ENSURE(right != 0);
    struct order_inner *a = inner_at(o, node), *b = inner_at(o, right);
    uint32_t keep = a->count / 2;
    b->count = a->count - keep;
    memcpy(b->firsts, a->firsts + keep, b->count * sizeof *b->firsts);
    memcpy(b->children, a->children + keep, b->count * sizeof *b->children);
    a->count = keep;
    return right;
}

static void grow_root(struct order *o, uint32_t left_first, uint32_t right, uint32_t right_first) {
    ENSURE(o->depth < DEPTH_MAX);
    uint32_t root = pool_alloc(&o->inners);
    ENSURE(root != 0);
    *inner_at(o, root) =
        (struct order_inner){.count = 2, .firsts = {left_first, right_first}, .children = {o->root, right}};
    o->root = root;
    o->depth++;
}

/* A node below `level` was split: `child` is its new right half. */
static void add_child(struct order *o, const struct order_path *p, uint32_t level, uint32_t child, uint32_t first,
                      uint32_t left_first) {
    while (level-- > 0) {
        uint32_t node = p->inners[level], at = p->ats[level] + 1, right = 0;
        if (inner_at(o, node)->count == INNER_MAX) {
            right = split_inner(o, node);
            if (at > inner_at(o, node)->count) {
                at -= inner_at(o, node)->count;
                node = right;
            }
        }
        struct order_inner *n = inner_at(o, node);
        open_gap(n->firsts, n->count, at, first);
        open_gap(n->children, n->count, at, child);
        n->count++;
        if (right == 0) return;
        child = right;
        first = inner_at(o, right)->firsts[0];
        left_first = inner_at(o, p->inners[level])->firsts[0];
    }
    grow_root(o, left_first, child, first);
}

void order_put(struct order *o, uint32_t value, index_key_fn key_of, const void *ctx) {
    REQUIRE(value != 0);
    struct slice key = key_of(ctx, value);
    if (o->root == 0) {
        o->root = pool_alloc(&o->leaves);
        ENSURE(o->root != 0 && o->depth == 0);
        *leaf_at(o, o->root) = (struct order_leaf){.count = 1, .values = {value}};
        o->count = 1;
        return;
    }
    struct order_path p;
    descend(o, key, key_of, ctx, &p);
    struct order_leaf *leaf = leaf_at(o, p.leaf);
    uint32_t at = count_below(leaf->values, leaf->count, key, key_of, ctx);
    REQUIRE(at == leaf->count || !slice_eq(key_of(ctx, leaf->values[at]), key));
    o->count++;
    if (leaf->count < LEAF_MAX) {
        open_gap(leaf->values, leaf->count++, at, value);
        if (at == 0) first_changed(o, &p, o->depth, value);
        return;
    }
    bool at_end = at == leaf->count && leaf->next == 0;
    uint32_t right = split_leaf(o, p.leaf, at_end ? LEAF_MAX : LEAF_MAX / 2);
    struct order_leaf *a = leaf_at(o, p.leaf), *b = leaf_at(o, right);
    if (at_end || at > a->count)
        open_gap(b->values, b->count++, at - a->count, value);
    else
        open_gap(a->values, a->count++, at, value);
    if (at == 0) first_changed(o, &p, o->depth, value);
    add_child(o, &p, o->depth, right, b->values[0], a->values[0]);
}

static void free_leaf(struct order *o, uint32_t leaf) {
    struct order_leaf *n = leaf_at(o, leaf);
    if (n->next) leaf_at(o, n->next)->prev = n->prev;
    if (n->prev) leaf_at(o, n->prev)->next = n->next;
    pool_free(&o->leaves, leaf);
}

/* The child that the path took below `level` is gone. */
static void remove_child(struct order *o, const struct order_path *p, uint32_t level) {
    while (level-- > 0) {
        struct order_inner *n = inner_at(o, p->inners[level]);
        uint32_t at = p->ats[level];
        close_gap(n->firsts, n->count, at);
        close_gap(n->children, n->count, at);
        if (--n->count > 0) {
            if (at == 0) first_changed(o, p, level, n->firsts[0]);
            break;
        }
        pool_free(&o->inners, p->inners[level]);
        if (level == 0) o->root = o->depth = 0;
    }
    while (o->depth > 0 && inner_at(o, o->root)->count == 1) {
        uint32_t only = inner_at(o, o->root)->children[0];
        pool_free(&o->inners, o->root);
        o->root = only;
        o->depth--;
    }
}

void order_del(struct order *o, uint32_t value, index_key_fn key_of, const void *ctx) {
    REQUIRE(o->root != 0);
    struct slice key = key_of(ctx, value);
    struct order_path p;
    descend(o, key, key_of, ctx, &p);
    struct order_leaf *leaf = leaf_at(o, p.leaf);
    uint32_t at = count_below(leaf->values, leaf->count, key, key_of, ctx);
    REQUIRE(at < leaf->count && leaf->values[at] == value);
    o->count--;
    close_gap(leaf->values, leaf->count, at);
    if (--leaf->count > 0) {
        if (at == 0) first_changed(o, &p, o->depth, leaf->values[0]);
        return;
    }
    free_leaf(o, p.leaf);
    if (o->depth == 0)
        o->root = 0;
    else
        remove_child(o, &p, o->depth);
}

static uint32_t value_at(const struct order *o, struct order_place *place) {
    if (place->leaf == 0) return 0;
    const struct order_leaf *leaf = leaf_at(o, place->leaf);
    if (place->at == leaf->count) {
        *place = (struct order_place){leaf->next, 0};
        if (place->leaf == 0) return 0;
        leaf = leaf_at(o, place->leaf);
    }
    return leaf->values[place->at];
}

uint32_t order_seek(const struct order *o, struct slice key, index_key_fn key_of, const void *ctx,
                    struct order_place *ret) {
    *ret = (struct order_place){0};
    if (o->root == 0) return 0;
    struct order_path p;
    descend(o, key, key_of, ctx, &p);
    const struct order_leaf *leaf = leaf_at(o, p.leaf);
    *ret = (struct order_place){p.leaf, count_below(leaf->values, leaf->count, key, key_of, ctx)};
    return value_at(o, ret);
}

uint32_t order_next(const struct order *o, struct order_place *place) {
    if (place->leaf == 0) return 0;
    place->at++;
    return value_at(o, place);
}
