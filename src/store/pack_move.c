/* pack_move.c: giving space back. A closed pack without living entries is removed; one whose file is mostly dead
 * entries or padding, or that is small, is read back, a few blocks with each flush, and its living entries are
 * appended anew.
 *
 * Guarantees: a pack is removed only when all that made its entries dead is durable: their copies elsewhere, or the
 * entries appended at that time (in which the owner may say why). Until then a crash leaves
 * both copies, and the owner takes one. Must not: move what it could not read; such a pack stays as it is. */
#include "diskio.h"
#include "pack_impl.h"
#include "panic.h"

static bool removable(const struct packs *p, const struct pack *k) {
    return k->closed && !k->doomed && k->live_count == 0 && k->gone_ticket <= p->durable;
}

static bool worth_moving(const struct packs *p, const struct pack *k) {
    if (!k->closed || k->big || k->rotten || k->doomed || k->live_count == 0 || k->moved) return false;
    bool dead = k->live_bytes * 2 < k->total_bytes;
    bool padded = k->live_bytes * 2 < k->file_bytes;
    /* Less than half full by every measure: of a start, not of pack_push. A full one is never moved for this. */
    bool small = !k->full && k->file_bytes * 2 < p->options.pack_bytes && k->total_count * 2 < PACK_ENTRIES_MAX &&
                 k->total_bytes * 2 < PACK_RAW_FACTOR * p->options.pack_bytes;
    return dead || padded || small;
}

bool pack_move_wanted(const struct packs *p) {
    return p->look || p->moving != 0;
}

void pack_move_plan(struct packs *p, struct pack_flush *f) {
    f->doomed.count = 0;
    f->move.pack = 0;
    f->move.read = false;
    f->move.err = ERR_OK;
    bool room = p->free_bytes > p->options.pack_bytes; /* a move takes space before it gives any */
    bool later = false;
    for (uint32_t i = 1; p->look && i <= p->pool.high; i++) {
        struct pack *k = pack_at(p, i);
        if (k->number == 0 || i == p->moving) continue;
        if (removable(p, k)) {
            k->doomed = true;
            u32vec_push(&f->doomed, k->number);
        } else if (k->closed && !k->doomed && k->live_count == 0) {
            later = true; /* what made its entries dead is not durable yet */
        } else if (p->moving == 0 && room && worth_moving(p, k)) {
            p->moving = i;
            p->moving_block = 0;
        }
    }
    p->look = later;
    if (p->moving == 0) return;
    struct pack *k = pack_at(p, p->moving);
    uint32_t left = k->offsets.count - p->moving_block;
    f->move.pack = k->number;
    f->move.first = p->moving_block;
    f->move.offsets.count = 0;
    uint64_t blocks = (uint64_t)MOVE_ENTRIES * k->offsets.count / (k->total_count + 1) + 1;
    for (uint32_t i = 0; i < left && i < blocks && i < MOVE_BLOCKS; i++)
        u32vec_push(&f->move.offsets, k->offsets.at[p->moving_block + i]);
}

static enum err payloads_read(struct pack_flush *f, struct why *why) {
    struct pack_move *m = &f->move;
    enum err e = packio_open(&f->io, f->dir, m->pack, why);
    for (uint32_t i = 0; e == ERR_OK && i < m->offsets.count; i++) {
        struct pack_block b;
        struct buf *raw = vec_push(&m->payloads);
        buf_init(raw, PACK_BLOCK_RAW_MAX);
        e = packio_payload(&f->io, (uint64_t)m->offsets.at[i] * PACK_BLOCK_ALIGN, &b, raw, why);
        if (e != ERR_OK) buf_clear(raw);
    }
    packio_close(&f->io);
    return e;
}

void pack_move_run(struct pack_flush *f) {
    char name[PACKIO_NAME_MAX];
    struct why why;
    for (uint32_t i = 0; i < f->doomed.count; i++) {
        packio_name(name, f->dir, f->doomed.at[i], false);
        /* If it stays, the next start finds it, and its owner lets it go again. */
        if (f->disk->ops->remove(f->disk, name, &why) != ERR_OK) why.text[0] = 0;
    }
    if (f->move.pack != 0 && !f->move.read) f->move.err = payloads_read(f, &f->move.why);
    f->move.read = true;
}

/* Asks the owner for each entry of a block that was read back. */
static bool payload_move(struct packs *p, struct pack *from, uint32_t block, struct slice payload) {
    struct cursor c = cursor_of(payload);
    while (cursor_left(&c) > 0) {
        struct pack_entry e;
        struct pack_place to;
        if (!packfmt_entry_next(&c, payload, &e)) return false;
        e.block = block;
        struct pack_place at = {from->number, block, e.at, e.len};
        if (!p->owner->lives(p->owner, &e, at)) continue;
        pack_push(p, e.kind, e.head, slice_of(payload.ptr + e.at, e.len), &to);
        p->owner->moved(p->owner, &e, at, to);
        pack_uncount(from, e.len);
        p->moved_count++;
    }
    return true;
}

void pack_move_take(struct packs *p, struct pack_flush *f) {
    struct pack_move *m = &f->move;
    for (uint32_t i = 0; i < f->doomed.count; i++) pack_free(p, pack_by_number(p, f->doomed.at[i]));
    f->doomed.count = 0;
    if (m->pack == 0) return;
    struct pack *k = pack_at(p, p->moving);
    ENSURE(k->number == m->pack);
    bool good = true;
    for (uint32_t i = 0; i < m->payloads.count; i++) {
        struct buf *raw = vec_at(&m->payloads, i);
        good = payload_move(p, k, m->first + i, buf_slice(raw)) && good;
        buf_fini(raw);
    }
    m->payloads.count = 0;
    p->moving_block += m->offsets.count;
    if (m->err != ERR_OK) pack_damaged(p, k, &m->why);
    bool ended = p->moving_block >= k->offsets.count;
    if (ended || k->rotten || !good) {
        k->moved = true;
        k->gone_ticket = p->flush_number;
        k->rotten = k->rotten || !good;
        p->moving = 0;
        p->look = true;
    }
}
