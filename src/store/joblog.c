/* joblog.c: see joblog.h.
 *
 * A log is a sorted array of extents: runs of bytes, each in one entry of a pack. Guarantees: what can be read are the
 * bytes that were appended, in order, each once; where some are missing (a cut, damage) it is said. Must not: touch the
 * disk outside of the open, a reader and the flush. */
#include "joblog.h"

#include "joblog_impl.h"
#include "panic.h"

/* ---- appending ---- */

/* Gives the memory of dropped extents back, now and then. */
static void extents_clear(struct log *g) {
    if (g->dead < 64 || g->dead * 2 < g->extents.count - g->tail) return;
    uint32_t after = g->extents.count - g->tail - g->dead;
    if (after > 0) memmove(extent_at(g, g->tail), extent_at(g, g->tail + g->dead), after * sizeof(struct extent));
    g->extents.count -= g->dead;
    g->dead = 0;
}

/* The pieces of a batch, from where the log ends. */
struct joblog_ring {
    const struct log_piece *pieces;
    uint32_t count, at;
    size_t used; /* of pieces[at] */
};

static uint64_t feed_bytes(const struct log_piece *pieces, uint32_t count) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) bytes += pieces[i].bytes.len;
    return bytes;
}

static void feed_skip(struct joblog_ring *f, uint64_t bytes) {
    while (f->at < f->count && bytes >= f->pieces[f->at].bytes.len - f->used) {
        bytes -= f->pieces[f->at].bytes.len - f->used;
        f->at++;
        f->used = 0;
    }
    f->used += (size_t)bytes;
}

/* Fills `body` with up to `most` printed bytes and says how many. */
static uint32_t feed_take(struct joblog_ring *f, uint64_t most, struct buf *body) {
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

static void cut_make(struct joblogs *l, struct log *g, uint32_t drop, const struct log_head *h) {
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
    uint32_t count = joblog_seek(g, head_max);
    g->tail = count < EXTENTS_MAX / 2 ? count : EXTENTS_MAX / 2;
}

/* One extent: how far it may go, what it pushes out, and where it is. */
static enum err extent_append(struct joblogs *l, struct log *g, struct joblog_ring *f, uint64_t bytes_max,
                              struct why *why) {
    struct joblog_ring before = *f;
    uint64_t head_max = bytes_max == 0 ? UINT64_MAX : bytes_max - bytes_max / 2;
    struct log_head h = {.offset = g->end, .cut_begin = g->cut_begin, .cut_end = g->cut_end};
    uint8_t space[PACK_HEAD_MAX];
    struct buf head = {.at = space, .slots = sizeof space, .max = sizeof space};
    struct pack_place place;
    joblog_key_read(g->key, &h.key);
    head_bound(g, head_max);
    /* No extent lies across the end of the head, so that the head is kept to the byte. */
    h.bytes = feed_take(f, g->end < head_max ? head_max - g->end : UINT64_MAX, &l->body);
    uint32_t drop = cut_plan(g, h.bytes, bytes_max);
    if (drop > 0) {
        h.cut_begin = g->tail > 0 ? extent_end(g, g->tail - 1) : 0;
        h.cut_end = extent_end(g, g->tail + g->dead + drop - 1);
    }
    joblog_head_encode(&h, &head);
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
    uint32_t i = joblog_find(l, key);
    uint64_t end = i != 0 ? log_at(l, i)->end : 0, bytes = feed_bytes(pieces, count);
    joblogs_state(l, key, ret);
    if (offset > end)
        return why_set(why, ERR_CONFLICT, "log bytes from %llu on are missing, the batch begins at %llu",
                       (unsigned long long)end, (unsigned long long)offset);
    if (bytes > INT64_MAX || offset > INT64_MAX - bytes) return why_set(why, ERR_INVALID, "the log is too long");
    if (offset + bytes <= end) return ERR_OK; /* seen before */
    if (i == 0 && l->pool.count >= l->options.logs_max)
        return why_set(why, ERR_LIMIT, "too many logs: logs_max is %u", l->options.logs_max);
    struct log *g = i != 0 ? log_at(l, i) : joblog_enter(l, key);
    struct joblog_ring f = {pieces, count, 0, 0};
    feed_skip(&f, end - offset);
    enum err e = ERR_OK;
    while (e == ERR_OK && f.at < f.count) {
        if (f.used == f.pieces[f.at].bytes.len)
            feed_skip(&f, 0); /* an empty piece */
        else
            e = extent_append(l, g, &f, bytes_max, why);
    }
    if (g->extents.count == 0)
        joblog_free(l, joblog_find(l, key));
    else
        state_of(l, g, ret);
    return e;
}

void joblogs_state(const struct joblogs *l, const struct log_key *key, struct log_state *ret) {
    uint32_t i = joblog_find(l, key);
    if (i == 0)
        *ret = (struct log_state){.synced = true};
    else
        state_of(l, log_at(l, i), ret);
}

uint64_t joblogs_durable(const struct joblogs *l) {
    return packs_durable(l->packs);
}

/* ---- reading ---- */

bool joblog_pieces_decode(struct slice body, uint64_t offset, uint64_t skip_to, log_piece_fn each, void *ctx,
                          uint64_t *ret_bytes) {
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
    uint32_t i = joblog_find(l, key);
    *ret_next = offset;
    if (i == 0) {
        if (packs_damage(l->packs, why) == ERR_OK) return ERR_OK;
        return why_wrap(why, ERR_CORRUPT, "the log is not in the index and may be among what is damaged");
    }
    const struct log *g = log_at(l, i);
    uint64_t at = offset, read = 0;
    while (at < g->end && (read < bytes_max || read == 0)) {
        if (at >= g->cut_begin && at < g->cut_end) at = g->cut_end;
        uint32_t k = joblog_seek(g, at);
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
        joblog_key_read(log_at(l, i)->key, &key);
        if (!keep(ctx, &key)) joblog_free(l, i);
    }
    *cursor = i;
    return i > l->pool.high;
}

void joblogs_drop(struct joblogs *l, const struct log_key *key) {
    uint32_t i = joblog_find(l, key);
    if (i != 0) joblog_free(l, i);
}

/* ---- flushing, life ---- */

bool joblogs_wait(const struct joblogs *l) {
    return packs_wait(l->packs);
}

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
    l->owner = joblog_owner;
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
    joblog_order_settle(l);
    joblog_cuts_settle(l);
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
