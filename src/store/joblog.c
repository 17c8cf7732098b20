/* joblog.c: see joblog.h.
 *
 * A log is a sorted array of extents: runs of bytes, each in one entry of a pack. Guarantees: what can be read are the
 * bytes that were appended, in order, each once; where some are missing (a cut, damage) it is said. Must not: touch the
 * disk outside of the open, a reader and the flush. */
#include "joblog.h"

#include "arena.h"
#include "map.h"
#include "panic.h"
#include "pool.h"

#define LOG_DIR "logs"
#define LOG_ENTRY 1u            /* kind of an entry; part of the format */
#define EXTENT_BYTES 49152u     /* printed bytes in one entry, so that their pieces fit into PACK_BODY_MAX */
#define EXTENTS_MAX 262144u     /* of one log, 8 MiB of memory; then the oldest of the tail go, as at a cap */
#define PIECE_COST 16u          /* two varints, at most */
#define KEY_BYTES 20u

struct extent {
    uint64_t offset;
    uint32_t bytes;
    struct pack_place place;
};

/* Extents [0, tail) are the head, [tail, tail + dead) were dropped and not yet cleared away, the rest is the tail. */
struct log {
    bool used; /* first: never zero */
    uint8_t key[KEY_BYTES];
    struct vec extents; /* struct extent */
    uint32_t tail, dead;
    uint64_t end;
    uint64_t cut_begin, cut_end;
    uint64_t ticket;
};

struct joblogs {
    struct pack_owner owner; /* first: the packs' pointer is ours */
    struct arena birth;      /* holds this object */
    struct disk *disk;
    struct joblogs_options options;
    struct packs *packs;
    struct pool pool; /* struct log */
    struct index by_key;
    struct pack_flush *flush;
    struct buf body;
};

/* ---- keys and extents ---- */

static struct log *log_at(const struct joblogs *l, uint32_t i) {
    return pool_at(&l->pool, i);
}

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

static void key_read(const uint8_t from[KEY_BYTES], struct log_key *ret) {
    struct cursor c = cursor_of(slice_of(from, KEY_BYTES));
    ret->shard = cursor_u32(&c);
    ret->flow = cursor_u64(&c);
    ret->ordinal = cursor_u32(&c);
    ret->attempt = cursor_u32(&c);
}

static uint32_t log_find(const struct joblogs *l, const struct log_key *k) {
    uint8_t key[KEY_BYTES];
    key_make(key, k);
    return index_get(&l->by_key, slice_of(key, KEY_BYTES), key_of, l);
}

static struct log *log_enter(struct joblogs *l, const struct log_key *k) {
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

static struct extent *extent_at(const struct log *g, uint32_t i) {
    return vec_at(&g->extents, i);
}

static uint64_t extent_end(const struct log *g, uint32_t i) {
    return extent_at(g, i)->offset + extent_at(g, i)->bytes;
}

/* The first extent that ends after `offset`; the count when there is none. */
static uint32_t extent_seek(const struct log *g, uint64_t offset) {
    uint32_t low = 0, high = g->extents.count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (extent_end(g, mid) > offset) high = mid;
        else low = mid + 1;
    }
    return low;
}

static bool is_cut(const struct log *g, const struct extent *x) {
    return x->offset >= g->cut_begin && x->offset < g->cut_end;
}

/* Gives the memory of dropped extents back, now and then. */
static void extents_clear(struct log *g) {
    if (g->dead < 64 || g->dead * 2 < g->extents.count - g->tail) return;
    uint32_t after = g->extents.count - g->tail - g->dead;
    if (after > 0) memmove(extent_at(g, g->tail), extent_at(g, g->tail + g->dead), after * sizeof(struct extent));
    g->extents.count -= g->dead;
    g->dead = 0;
}

static void log_free(struct joblogs *l, uint32_t i) {
    struct log *g = log_at(l, i);
    for (uint32_t k = 0; k < g->extents.count; k++)
        if (!is_cut(g, extent_at(g, k))) packs_release(l->packs, extent_at(g, k)->place);
    index_del(&l->by_key, slice_of(g->key, KEY_BYTES), i);
    vec_fini(&g->extents);
    pool_free(&l->pool, i);
}

/* ---- heads, and what the packs ask ---- */

struct head {
    struct log_key key;
    uint64_t offset;
    uint32_t bytes;
    uint64_t cut_begin, cut_end;
};

static void head_encode(const struct head *h, struct buf *out) {
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

static bool head_decode(struct slice bytes, struct head *ret) {
    struct cursor c = cursor_of(bytes);
    uint64_t shard = cursor_varint(&c), flow = cursor_varint(&c), ordinal = cursor_varint(&c);
    uint64_t attempt = cursor_varint(&c), offset = cursor_varint(&c), count = cursor_varint(&c);
    uint64_t cut_begin = cursor_varint(&c), cut_bytes = cursor_varint(&c);
    if (c.bad || shard > UINT32_MAX || ordinal > UINT32_MAX || attempt > UINT32_MAX) return false;
    if (count == 0 || count > PACK_BODY_MAX || offset > INT64_MAX || cut_begin > INT64_MAX) return false;
    if (cut_bytes > INT64_MAX || cut_begin + cut_bytes > offset + count) return false;
    *ret = (struct head){.key = {flow, (uint32_t)shard, (uint32_t)ordinal, (uint32_t)attempt}, .offset = offset};
    ret->bytes = (uint32_t)count;
    ret->cut_begin = cut_begin;
    ret->cut_end = cut_begin + cut_bytes;
    return true;
}

/* Packs come in the order in which they were made, entries that were moved after those that were not: an extent may
 * belong before others that are known already. */
static bool op_found(struct pack_owner *o, const struct pack_entry *e, struct pack_place place) {
    struct joblogs *l = (struct joblogs *)o;
    struct head h;
    if (e->kind != LOG_ENTRY || !head_decode(e->head, &h)) return false;
    uint32_t i = log_find(l, &h.key);
    struct log *g = i != 0 ? log_at(l, i) : log_enter(l, &h.key);
    uint32_t at = extent_seek(g, h.offset);
    bool last = at == g->extents.count;
    if (!last && extent_at(g, at)->offset < h.offset + h.bytes) return false; /* a second copy of one that was moved */
    (void)vec_push(&g->extents);
    if (!last) memmove(extent_at(g, at + 1), extent_at(g, at), (g->extents.count - 1 - at) * sizeof(struct extent));
    *extent_at(g, at) = (struct extent){h.offset, h.bytes, place};
    if (h.offset + h.bytes > g->end) g->end = h.offset + h.bytes;
    if (h.cut_end > g->cut_end) {
        g->cut_begin = h.cut_begin;
        g->cut_end = h.cut_end;
    }
    return true;
}

static struct extent *entry_extent(const struct joblogs *l, const struct pack_entry *e, struct pack_place from) {
    struct head h;
    if (e->kind != LOG_ENTRY || !head_decode(e->head, &h)) return NULL;
    uint32_t i = log_find(l, &h.key);
    if (i == 0) return NULL;
    const struct log *g = log_at(l, i);
    uint32_t at = extent_seek(g, h.offset);
    if (at == g->extents.count || is_cut(g, extent_at(g, at))) return NULL;
    return pack_place_eq(extent_at(g, at)->place, from) ? extent_at(g, at) : NULL;
}

static bool op_lives(struct pack_owner *o, const struct pack_entry *e, struct pack_place from) {
    return entry_extent((struct joblogs *)o, e, from) != NULL;
}

static void op_moved(struct pack_owner *o, const struct pack_entry *e, struct pack_place from, struct pack_place to) {
    entry_extent((struct joblogs *)o, e, from)->place = to;
}

/* What the last cut of a log named is dead, also where its entries were found again. */
static void cuts_settle(struct joblogs *l) {
    for (uint32_t i = 1; i <= l->pool.high; i++) {
        struct log *g = log_at(l, i);
        if (!g->used || g->cut_begin == g->cut_end) continue;
        uint32_t kept = 0;
        g->tail = 0;
        for (uint32_t k = 0; k < g->extents.count; k++) {
            struct extent x = *extent_at(g, k);
            if (is_cut(g, &x)) {
                packs_release(l->packs, x.place);
                continue;
            }
            if (x.offset < g->cut_begin) g->tail = kept + 1;
            *extent_at(g, kept++) = x;
        }
        g->extents.count = kept;
    }
}

/* ---- appending ---- */

/* The pieces of a batch, from where the log ends. */
struct feed {
    const struct log_piece *pieces;
    uint32_t count, at;
    size_t used; /* of pieces[at] */
};

static uint64_t feed_bytes(const struct log_piece *pieces, uint32_t count) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) bytes += pieces[i].bytes.len;
    return bytes;
}

static void feed_skip(struct feed *f, uint64_t bytes) {
    while (f->at < f->count && bytes >= f->pieces[f->at].bytes.len - f->used) {
        bytes -= f->pieces[f->at].bytes.len - f->used;
        f->at++;
        f->used = 0;
    }
    f->used += (size_t)bytes;
}

/* Fills `body` with up to `most` printed bytes and says how many. */
static uint32_t feed_take(struct feed *f, uint64_t most, struct buf *body) {
    uint64_t bytes = 0;
    wall_time before = {0};
    if (most > EXTENT_BYTES) most = EXTENT_BYTES;
    buf_clear(body);
    while (f->at < f->count && bytes < most && body->len + PIECE_COST < PACK_BODY_MAX) {
        const struct log_piece *p = &f->pieces[f->at];
        size_t len = p->bytes.len - f->used, room = PACK_BODY_MAX - body->len - PIECE_COST;
        if (len > most - bytes) len = (size_t)(most - bytes);
        if (len > room) len = room;
        if (len > 0) {
            buf_put_varint(body, (uint64_t)len << 1 | (p->stream & 1));
            buf_put_varint(body, zigzag((int64_t)((uint64_t)p->time.ms - (uint64_t)before.ms)));
            buf_put(body, p->bytes.ptr + f->used, len);
            before = p->time;
        }
        bytes += len;
        feed_skip(f, len);
    }
    ENSURE(!body->full);
    return (uint32_t)bytes;
}

/* How many extents of the tail have to go so that the log keeps to its cap once `bytes` more are there. */
static uint32_t cut_plan(const struct log *g, uint32_t bytes, uint64_t bytes_max) {
    uint64_t end = g->end + bytes, tail_max = bytes_max / 2;
    uint32_t first = g->tail + g->dead, drop = 0;
    while (first + drop < g->extents.count) {
        bool over = bytes_max != 0 && end - extent_end(g, first + drop) >= tail_max;
        bool many = g->extents.count - g->dead - drop > EXTENTS_MAX;
        if (!over && !many) break;
        drop++;
    }
    return drop;
}

static void cut_make(struct joblogs *l, struct log *g, uint32_t drop, const struct head *h) {
    uint32_t first = g->tail + g->dead;
    for (uint32_t i = 0; i < drop; i++) packs_release(l->packs, extent_at(g, first + i)->place);
    g->cut_begin = h->cut_begin;
    g->cut_end = h->cut_end;
    g->dead += drop;
    extents_clear(g);
}

/* Until something is cut, the head is what fits into the cap's first half. */
static void head_bound(struct log *g, uint64_t head_max) {
    if (g->cut_begin != g->cut_end) return;
    uint32_t count = extent_seek(g, head_max);
    g->tail = count < EXTENTS_MAX / 2 ? count : EXTENTS_MAX / 2;
}

/* One extent: how far it may go, what it pushes out, and where it is. */
static enum err extent_append(struct joblogs *l, struct log *g, struct feed *f, uint64_t bytes_max, struct why *why) {
    struct feed before = *f;
    uint64_t head_max = bytes_max == 0 ? UINT64_MAX : bytes_max - bytes_max / 2;
    struct head h = {.offset = g->end, .cut_begin = g->cut_begin, .cut_end = g->cut_end};
    uint8_t space[PACK_HEAD_MAX];
    struct buf head = {.at = space, .slots = sizeof space, .max = sizeof space};
    struct pack_place place;
    key_read(g->key, &h.key);
    head_bound(g, head_max);
    /* No extent lies across the end of the head, so that the head is kept to the byte. */
    h.bytes = feed_take(f, g->end < head_max ? head_max - g->end : UINT64_MAX, &l->body);
    uint32_t drop = cut_plan(g, h.bytes, bytes_max);
    if (drop > 0) {
        h.cut_begin = g->tail > 0 ? extent_end(g, g->tail - 1) : 0;
        h.cut_end = extent_end(g, g->tail + g->dead + drop - 1);
    }
    head_encode(&h, &head);
    enum err e = packs_append(l->packs, LOG_ENTRY, buf_slice(&head), buf_slice(&l->body), &place, why);
    if (e != ERR_OK) {
        *f = before;
        return e;
    }
    cut_make(l, g, drop, &h);
    *(struct extent *)vec_push(&g->extents) = (struct extent){g->end, h.bytes, place};
    g->end += h.bytes;
    g->ticket = packs_ticket(l->packs);
    return ERR_OK;
}

static void state_of(const struct joblogs *l, const struct log *g, struct log_state *ret) {
    *ret = (struct log_state){g->end, g->cut_begin, g->cut_end, g->ticket, g->ticket <= packs_durable(l->packs)};
}

enum err joblogs_append(struct joblogs *l, const struct log_key *key, uint64_t offset, const struct log_piece *pieces,
                        uint32_t count, uint64_t bytes_max, struct log_state *ret, struct why *why) {
    uint32_t i = log_find(l, key);
    uint64_t end = i != 0 ? log_at(l, i)->end : 0, bytes = feed_bytes(pieces, count);
    joblogs_state(l, key, ret);
    if (offset > end)
        return why_set(why, ERR_CONFLICT, "log bytes from %llu on are missing, the batch begins at %llu",
                       (unsigned long long)end, (unsigned long long)offset);
    if (bytes > INT64_MAX || offset > INT64_MAX - bytes) return why_set(why, ERR_INVALID, "the log is too long");
    if (offset + bytes <= end) return ERR_OK; /* seen before */
    if (i == 0 && l->pool.count >= l->options.logs_max)
        return why_set(why, ERR_LIMIT, "too many logs: logs_max is %u", l->options.logs_max);
    struct log *g = i != 0 ? log_at(l, i) : log_enter(l, key);
    struct feed f = {pieces, count, 0, 0};
    feed_skip(&f, end - offset);
    enum err e = ERR_OK;
    while (e == ERR_OK && f.at < f.count) {
        if (f.used == f.pieces[f.at].bytes.len) feed_skip(&f, 0); /* an empty piece */
        else e = extent_append(l, g, &f, bytes_max, why);
    }
    if (g->extents.count == 0) log_free(l, log_find(l, key));
    else state_of(l, g, ret);
    return e;
}

void joblogs_state(const struct joblogs *l, const struct log_key *key, struct log_state *ret) {
    uint32_t i = log_find(l, key);
    if (i == 0) *ret = (struct log_state){.synced = true};
    else state_of(l, log_at(l, i), ret);
}

uint64_t joblogs_durable(const struct joblogs *l) {
    return packs_durable(l->packs);
}

/* ---- reading ---- */

bool joblog_pieces_decode(struct slice body, uint64_t offset, uint64_t skip_to, log_piece_fn each,
                          void *ctx, uint64_t *ret_bytes) {
    struct cursor c = cursor_of(body);
    uint64_t begin = offset;
    wall_time time = {0};
    while (cursor_left(&c) > 0) {
        uint64_t head = cursor_varint(&c);
        uint64_t step = cursor_varint(&c);
        struct slice bytes = cursor_bytes(&c, (size_t)(head >> 1));
        if (c.bad || bytes.len == 0) return false;
        time.ms = (int64_t)((uint64_t)time.ms + (uint64_t)unzigzag(step));
        uint64_t end = offset + bytes.len;
        if (end > skip_to) {
            size_t skip = skip_to > offset ? (size_t)(skip_to - offset) : 0;
            struct log_piece piece = {(uint32_t)(head & 1), time, slice_of(bytes.ptr + skip, bytes.len - skip)};
            each(ctx, offset + skip, &piece);
        }
        offset = end;
    }
    *ret_bytes = offset - begin;
    return true;
}

static enum err extent_read(const struct joblogs *l, struct pack_reader *r, const struct extent *x, uint64_t offset,
                            log_piece_fn each, void *ctx, struct why *why) {
    struct slice body;
    struct pack_spot spot;
    if (!packs_find(l->packs, x->place, &body, &spot)) {
        enum err e = pack_reader_get(r, &spot, &body, why);
        if (e == ERR_NOT_FOUND) return why_wrap(why, ERR_CORRUPT, "a file is missing");
        if (e != ERR_OK) return e;
    }
    uint64_t bytes = 0;
    if (!joblog_pieces_decode(body, x->offset, offset, each, ctx, &bytes) || bytes != x->bytes)
        return why_set(why, ERR_CORRUPT, "the pieces of the log from byte %llu on make no sense",
                       (unsigned long long)x->offset);
    return ERR_OK;
}

enum err joblogs_read(const struct joblogs *l, struct pack_reader *r, const struct log_key *key, uint64_t offset,
                      uint64_t bytes_max, log_piece_fn each, void *ctx, uint64_t *ret_next, struct why *why) {
    uint32_t i = log_find(l, key);
    *ret_next = offset;
    if (i == 0) {
        if (packs_damage(l->packs, why) == ERR_OK) return ERR_OK;
        return why_wrap(why, ERR_CORRUPT, "the log is not in the index and may be among what is damaged");
    }
    const struct log *g = log_at(l, i);
    uint64_t at = offset, read = 0;
    while (at < g->end && (read < bytes_max || read == 0)) {
        if (at >= g->cut_begin && at < g->cut_end) at = g->cut_end;
        uint32_t k = extent_seek(g, at);
        if (k == g->extents.count) break;
        const struct extent *x = extent_at(g, k);
        if (x->offset > at)
            return why_set(why, ERR_CORRUPT, "log bytes %llu to %llu are lost to damage", (unsigned long long)at,
                           (unsigned long long)x->offset);
        enum err e = extent_read(l, r, x, at, each, ctx, why);
        if (e != ERR_OK) return e;
        read += extent_end(g, k) - at;
        at = *ret_next = extent_end(g, k);
    }
    return ERR_OK;
}

void joblogs_reader_init(const struct joblogs *l, struct pack_reader *r) {
    pack_reader_init(r, l->disk, LOG_DIR);
}

/* ---- letting go ---- */

bool joblogs_sweep(struct joblogs *l, uint32_t *cursor, uint32_t count_max, log_keep_fn keep, void *ctx) {
    uint32_t i = *cursor != 0 ? *cursor : 1;
    for (; count_max > 0 && i <= l->pool.high; i++, count_max--) {
        struct log_key key;
        if (!log_at(l, i)->used) continue;
        key_read(log_at(l, i)->key, &key);
        if (!keep(ctx, &key)) log_free(l, i);
    }
    *cursor = i;
    return i > l->pool.high;
}

void joblogs_drop(struct joblogs *l, const struct log_key *key) {
    uint32_t i = log_find(l, key);
    if (i != 0) log_free(l, i);
}

/* ---- flushing, life ---- */

bool joblogs_flush_begin(struct joblogs *l) {
    return packs_flush_begin(l->packs, &l->flush);
}

void joblogs_flush_run(struct joblogs *l) {
    pack_flush_run(l->flush);
}

enum err joblogs_flush_end(struct joblogs *l, struct why *why) {
    return packs_flush_end(l->packs, l->flush, why);
}

enum err joblogs_open(struct disk *disk, struct clock *clock, const struct joblogs_options *o, struct joblogs **ret,
                      struct why *why) {
    struct arena birth;
    arena_init(&birth, sizeof(struct joblogs) + 64, sizeof(struct joblogs) + 4096);
    struct joblogs *l = ARENA_NEW(&birth, struct joblogs);
    l->owner = (struct pack_owner){op_found, op_lives, op_moved};
    l->birth = birth;
    l->disk = disk;
    l->options = *o;
    pool_init(&l->pool, sizeof(struct log), UINT32_MAX);
    index_init(&l->by_key);
    buf_init(&l->body, PACK_BODY_MAX);
    struct packs_options p = {LOG_DIR, PACK_LOGS, o->pack_bytes, o->pending_bytes_max, o->reserve_bytes};
    enum err e = packs_open(disk, clock, &p, &l->owner, &l->packs, why);
    if (e != ERR_OK) {
        joblogs_close(l);
        return e;
    }
    cuts_settle(l);
    *ret = l;
    return ERR_OK;
}

void joblogs_close(struct joblogs *l) {
    for (uint32_t i = 1; i <= l->pool.high; i++)
        if (log_at(l, i)->used) vec_fini(&log_at(l, i)->extents);
    if (l->packs != NULL) packs_close(l->packs);
    pool_fini(&l->pool);
    index_fini(&l->by_key);
    buf_fini(&l->body);
    struct arena birth = l->birth;
    arena_fini(&birth);
}

void joblogs_stats(const struct joblogs *l, struct packs_stats *ret) {
    packs_stats(l->packs, ret);
}

enum err joblogs_damage(const struct joblogs *l, struct why *why) {
    return packs_damage(l->packs, why);
}
