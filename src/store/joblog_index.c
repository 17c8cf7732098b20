/* joblog_index.c: which logs there are and where their extents lie; rebuilt at each start from the heads of all
 * entries. Must not: touch the disk. */
#include "joblog_impl.h"

#include <stdlib.h>

#include "panic.h"

/* ---- keys and extents ---- */

static struct slice key_of(const void *ctx, uint32_t value) {
    return slice_of(log_at(ctx, value)->key, KEY_BYTES);
}

static void key_make(uint8_t to[KEY_BYTES], const struct log_key *k) {
    struct buf b = {.at = to, .slots = KEY_BYTES, .max = KEY_BYTES};
    buf_put_u32(&b, k->shard);
    buf_put_u64(&b, k->flow);
    buf_put_u32(&b, k->ordinal);
    buf_put_u32(&b, k->attempt);
    ENSURE(!b.full && b.len == KEY_BYTES);
}

void joblog_key_read(const uint8_t from[KEY_BYTES], struct log_key *ret) {
    struct cursor c = cursor_of(slice_of(from, KEY_BYTES));
    ret->shard = cursor_u32(&c);
    ret->flow = cursor_u64(&c);
    ret->ordinal = cursor_u32(&c);
    ret->attempt = cursor_u32(&c);
}

uint32_t joblog_find(const struct joblogs *l, const struct log_key *k) {
    uint8_t key[KEY_BYTES];
    key_make(key, k);
    return index_get(&l->by_key, slice_of(key, KEY_BYTES), key_of, l);
}

struct log *joblog_enter(struct joblogs *l, const struct log_key *k) {
    uint32_t i = pool_alloc(&l->pool);
    ENSURE(i != 0);
    struct log *g = log_at(l, i);
    g->used = true;
    key_make(g->key, k);
    vec_init(&g->extents, sizeof(struct extent));
    vec_reserve(&g->extents, 1); /* most logs have one */
    index_put(&l->by_key, slice_of(g->key, KEY_BYTES), i);
    return g;
}

uint32_t joblog_seek(const struct log *g, uint64_t offset) {
    uint32_t low = 0, high = g->extents.count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (extent_end(g, mid) > offset)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

void joblog_free(struct joblogs *l, uint32_t i) {
    struct log *g = log_at(l, i);
    for (uint32_t k = 0; k < g->extents.count; k++)
        if (!log_is_cut(g, extent_at(g, k))) packs_release(l->packs, extent_at(g, k)->place);
    index_del(&l->by_key, slice_of(g->key, KEY_BYTES), i);
    vec_fini(&g->extents);
    pool_free(&l->pool, i);
}

/* ---- heads, and what the packs ask ---- */

void joblog_head_encode(const struct log_head *h, struct buf *out) {
    buf_put_varint(out, h->key.shard);
    buf_put_varint(out, h->key.flow);
    buf_put_varint(out, h->key.ordinal);
    buf_put_varint(out, h->key.attempt);
    buf_put_varint(out, h->offset);
    buf_put_varint(out, h->bytes);
    buf_put_varint(out, h->cut_begin);
    buf_put_varint(out, h->cut_end - h->cut_begin);
    ENSURE(!out->full);
}

static bool head_decode(struct slice bytes, struct log_head *ret) {
    struct cursor c = cursor_of(bytes);
    uint64_t shard = cursor_varint(&c), flow = cursor_varint(&c), ordinal = cursor_varint(&c);
    uint64_t attempt = cursor_varint(&c), offset = cursor_varint(&c), count = cursor_varint(&c);
    uint64_t cut_begin = cursor_varint(&c), cut_bytes = cursor_varint(&c);
    if (c.bad || shard > UINT32_MAX || ordinal > UINT32_MAX || attempt > UINT32_MAX) return false;
    if (count == 0 || count > PACK_BODY_MAX || offset > INT64_MAX || cut_begin > INT64_MAX) return false;
    if (cut_bytes > INT64_MAX || cut_begin + cut_bytes > offset + count) return false;
    *ret = (struct log_head){.key = {flow, (uint32_t)shard, (uint32_t)ordinal, (uint32_t)attempt}, .offset = offset};
    ret->bytes = (uint32_t)count;
    ret->cut_begin = cut_begin;
    ret->cut_end = cut_begin + cut_bytes;
    return true;
}

/* Packs come in the order in which they were made, entries that were moved after those that were not: an extent may
 * belong before others that are known already. They are put in order when all are there. */
static bool op_found(struct pack_owner *o, const struct pack_entry *e, struct pack_place place) {
    struct joblogs *l = (struct joblogs *)o;
    struct log_head h;
    if (e->kind != LOG_ENTRY || !head_decode(e->head, &h)) return false;
    uint32_t i = joblog_find(l, &h.key);
    struct log *g = i != 0 ? log_at(l, i) : joblog_enter(l, &h.key);
    if (h.offset < g->end) g->mixed = true;
    *(struct extent *)vec_push(&g->extents) = (struct extent){h.offset, h.bytes, place};
    if (h.offset + h.bytes > g->end) g->end = h.offset + h.bytes;
    if (h.cut_end > g->cut_end) {
        g->cut_begin = h.cut_begin;
        g->cut_end = h.cut_end;
    }
    return true;
}

static struct extent *entry_extent(const struct joblogs *l, const struct pack_entry *e, struct pack_place from) {
    struct log_head h;
    if (e->kind != LOG_ENTRY || !head_decode(e->head, &h)) return NULL;
    uint32_t i = joblog_find(l, &h.key);
    if (i == 0) return NULL;
    const struct log *g = log_at(l, i);
    uint32_t at = joblog_seek(g, h.offset);
    if (at == g->extents.count || log_is_cut(g, extent_at(g, at))) return NULL;
    return pack_place_eq(extent_at(g, at)->place, from) ? extent_at(g, at) : NULL;
}

static bool op_lives(struct pack_owner *o, const struct pack_entry *e, struct pack_place from) {
    return entry_extent((struct joblogs *)o, e, from) != NULL;
}

static void op_moved(struct pack_owner *o, const struct pack_entry *e, struct pack_place from, struct pack_place to) {
    entry_extent((struct joblogs *)o, e, from)->place = to;
}

const struct pack_owner joblog_owner = {op_found, op_lives, op_moved};

/* By offset; of two copies the one that was found first. */
static int extent_order(const void *left, const void *right) {
    const struct extent *a = left, *b = right;
    if (a->offset != b->offset) return a->offset < b->offset ? -1 : 1;
    if (a->place.pack != b->place.pack) return a->place.pack < b->place.pack ? -1 : 1;
    if (a->place.block != b->place.block) return a->place.block < b->place.block ? -1 : 1;
    return a->place.at < b->place.at ? -1 : a->place.at > b->place.at;
}

void joblog_order_settle(struct joblogs *l) {
    for (uint32_t i = 1; i <= l->pool.high; i++) {
        struct log *g = log_at(l, i);
        uint32_t kept = 0;
        uint64_t end = 0;
        if (!g->used || !g->mixed) continue;
        qsort(g->extents.at, g->extents.count, sizeof(struct extent), extent_order);
        for (uint32_t k = 0; k < g->extents.count; k++) {
            struct extent x = *extent_at(g, k);
            if (x.offset < end) {
                packs_release(l->packs, x.place);
                continue;
            }
            end = x.offset + x.bytes;
            *extent_at(g, kept++) = x;
        }
        g->extents.count = kept;
        g->mixed = false;
    }
}

void joblog_cuts_settle(struct joblogs *l) {
    for (uint32_t i = 1; i <= l->pool.high; i++) {
        struct log *g = log_at(l, i);
        if (!g->used || g->cut_begin == g->cut_end) continue;
        uint32_t kept = 0;
        g->tail = 0;
        for (uint32_t k = 0; k < g->extents.count; k++) {
            struct extent x = *extent_at(g, k);
            if (log_is_cut(g, &x)) {
                packs_release(l->packs, x.place);
                continue;
            }
            if (x.offset < g->cut_begin) g->tail = kept + 1;
            *extent_at(g, kept++) = x;
        }
        g->extents.count = kept;
    }
}
