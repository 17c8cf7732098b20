/* pack.c: appending and flushing. See pack.h.
 *
 * Guarantees: an entry is durable when its ticket is; a flush begins on a 4 KiB boundary, so no write touches a sector
 * that holds durable bytes; a flush begins only when the one before it was synced, so whatever a valid flush follows in
 * a file was durable once. Must not: retry a sync, or write again after a failed one. */
#include "pack.h"

#include "diskio.h"
#include "pack_impl.h"
#include "panic.h"

/* ---- packs ---- */

uint32_t pack_by_number(const struct packs *p, uint32_t number) {
    return map_get(&p->by_number, number);
}

uint32_t pack_new(struct packs *p, uint32_t number) {
    REQUIRE(number > 0 && pack_by_number(p, number) == 0);
    uint32_t index = pool_alloc(&p->pool);
    ENSURE(index != 0);
    pack_at(p, index)->number = number;
    map_put(&p->by_number, number, index);
    if (number >= p->next_number) p->next_number = number + 1;
    return index;
}

void pack_free(struct packs *p, uint32_t index) {
    struct pack *k = pack_at(p, index);
    REQUIRE(index != p->current && index != p->moving);
    ENSURE(map_del(&p->by_number, k->number) == index);
    u32vec_fini(&k->offsets);
    pool_free(&p->pool, index);
}

void pack_count(struct pack *k, uint32_t body_bytes, bool lives) {
    k->total_count++;
    k->total_bytes += body_bytes + ENTRY_COST;
    if (!lives) return;
    k->live_count++;
    k->live_bytes += body_bytes + ENTRY_COST;
}

void pack_uncount(struct pack *k, uint32_t body_bytes) {
    ENSURE(k->live_count > 0 && k->live_bytes >= body_bytes + ENTRY_COST);
    k->live_count--;
    k->live_bytes -= body_bytes + ENTRY_COST;
}

void pack_damaged(struct packs *p, struct pack *k, const struct why *why) {
    if (k->rotten) return;
    k->rotten = true;
    if (p->damaged_count++ == 0) p->damage = *why;
}

uint32_t packs_number_take(struct packs *p) {
    return p->next_number++;
}

void packs_adopt(struct packs *p, uint32_t number, uint64_t bytes) {
    struct pack *k = pack_at(p, pack_new(p, number));
    k->big = true;
    k->closed = true;
    k->file_bytes = bytes;
    pack_count(k, 0, true);
}

void packs_release(struct packs *p, struct pack_place place) {
    uint32_t index = pack_by_number(p, place.pack);
    REQUIRE(index != 0);
    struct pack *k = pack_at(p, index);
    pack_uncount(k, k->big ? 0 : place.len);
    k->gone_ticket = p->flush_number;
    p->look = p->look || k->closed;
}

/* ---- appending ---- */

static void current_begin(struct packs *p) {
    p->current = pack_new(p, packs_number_take(p));
    p->blocks_base = 0;
    do pack_at(p, p->current)->nonce = p->clock->random(p->clock);
    while (pack_at(p, p->current)->nonce == 0);
}

void pack_push(struct packs *p, uint32_t kind, struct slice head, struct slice body, struct pack_place *ret) {
    if (p->current == 0) current_begin(p);
    struct pack *k = pack_at(p, p->current);
    struct buf *b = p->blocks.count > 0 ? vec_at(&p->blocks, p->blocks.count - 1) : NULL;
    if (b == NULL || (b->len > 0 && b->len + pack_entry_bytes(head.len, body.len) > PACK_BLOCK_TARGET)) {
        b = vec_push(&p->blocks);
        buf_init(b, PACK_BLOCK_RAW_MAX);
    }
    size_t before = b->len;
    struct pack_entry row = {.kind = kind, .len = (uint32_t)body.len, .head = head};
    row.block = p->blocks_base + p->blocks.count - 1;
    packfmt_entry_encode(kind, head, body, b, &row.at);
    packfmt_row_encode(&row, &p->rows);
    ENSURE(!p->rows.full);
    p->pending_bytes += b->len - before;
    pack_count(k, row.len, true);
    *ret = (struct pack_place){k->number, row.block, row.at, row.len};
}

enum err packs_admit(struct packs *p, uint64_t bytes, struct why *why) {
    if (p->dead) return why_set(why, ERR_IO, "%s: a write or sync failed; nothing is taken any more", p->options.dir);
    if (p->pending_bytes + bytes > p->options.pending_bytes_max)
        return why_set(why, ERR_BUSY, "%s: %llu bytes wait for the disk, try again", p->options.dir,
                       (unsigned long long)p->pending_bytes);
    if (p->free_bytes >= p->options.reserve_bytes &&
        p->free_bytes - p->options.reserve_bytes >= p->pending_bytes + bytes)
        return ERR_OK;
    p->ask = true;
    return why_set(why, ERR_NO_SPACE, "%s: the disk is full up to what is kept for the journal", p->options.dir);
}

enum err packs_append(struct packs *p, uint32_t kind, struct slice head, struct slice body, struct pack_place *ret,
                      struct why *why) {
    enum err e = packs_admit(p, pack_entry_bytes(head.len, body.len), why);
    if (e == ERR_OK) pack_push(p, kind, head, body, ret);
    return e;
}

uint64_t packs_room(const struct packs *p) {
    return p->free_bytes > p->options.reserve_bytes ? p->free_bytes - p->options.reserve_bytes : 0;
}

void packs_ask(struct packs *p) {
    p->ask = true;
}

uint64_t packs_ticket(const struct packs *p) {
    return p->flush_number;
}

uint64_t packs_durable(const struct packs *p) {
    return p->durable;
}

bool packs_find(const struct packs *p, struct pack_place place, struct slice *ret_bytes, struct pack_spot *ret_spot) {
    uint32_t index = pack_by_number(p, place.pack);
    REQUIRE(index != 0);
    const struct pack *k = pack_at(p, index);
    if (k->big || place.block < k->offsets.count) {
        *ret_spot = (struct pack_spot){.pack = place.pack, .at = place.at, .len = place.len, .chunk = place.block};
        if (!k->big) ret_spot->offset = (uint64_t)k->offsets.at[place.block] * PACK_BLOCK_ALIGN;
        return false;
    }
    const struct buf *b;
    if (index == p->current && place.block >= p->blocks_base) {
        b = vec_at(&p->blocks, place.block - p->blocks_base);
    } else {
        ENSURE(p->flush.header.number == place.pack);
        b = vec_at(&p->flush.blocks, place.block - p->flush.offsets_before);
    }
    ENSURE((size_t)place.at + place.len <= b->len);
    *ret_bytes = slice_of(b->at + place.at, place.len);
    return true;
}

/* ---- flushing: the loop's side ---- */

static void blocks_free(struct vec *blocks) {
    for (uint32_t i = 0; i < blocks->count; i++) buf_fini(vec_at(blocks, i));
    blocks->count = 0;
}

/* A start after a crash walks and expands the open pack, so what compresses well counts too. */
static bool is_full(const struct packs *p, const struct pack *k) {
    return k->file_bytes >= p->options.pack_bytes || k->total_bytes >= PACK_RAW_FACTOR * p->options.pack_bytes ||
           k->total_count >= PACK_ENTRIES_MAX || p->rows.len >= FOOTER_ROWS_MAX;
}

/* Hands what waits for the current pack to the flush. */
static void leg_take(struct packs *p, struct pack_flush *f) {
    struct vec empty = f->blocks;
    ENSURE(empty.count == 0);
    f->blocks = p->blocks;
    p->blocks = empty;
    f->close = false;
    f->offsets.count = 0;
    f->offsets_before = 0;
    if (f->blocks.count == 0) return;
    struct pack *k = pack_at(p, p->current);
    f->header = (struct pack_header){p->options.kind, k->number, k->nonce, p->clock->wall(p->clock).ms};
    f->create = k->file_bytes == 0;
    f->from = f->create ? PACK_ALIGN : pack_align(k->file_bytes, PACK_ALIGN);
    f->close = is_full(p, k);
    u32vec_reserve(&f->offsets, k->offsets.count);
    for (uint32_t i = 0; i < k->offsets.count; i++) u32vec_push(&f->offsets, k->offsets.at[i]);
    f->offsets_before = k->offsets.count;
    p->blocks_base += f->blocks.count;
    if (!f->close) return;
    struct buf spare = f->rows;
    f->rows = p->rows;
    p->rows = spare;
    buf_clear(&p->rows);
    p->current = 0;
}

bool packs_wait(const struct packs *p) {
    if (p->flying || p->dead) return false;
    return p->retry || p->blocks.count > 0 || p->ask || pack_move_wanted(p);
}

bool packs_flush_begin(struct packs *p, struct pack_flush **ret) {
    if (!packs_wait(p)) return false;
    if (!p->retry) {
        p->flush.number = p->flush_number++;
        leg_take(p, &p->flush);
        pack_move_plan(p, &p->flush);
    }
    p->flying = true;
    p->retry = false;
    p->ask = false;
    *ret = &p->flush;
    return true;
}

static void leg_done(struct packs *p, struct pack_flush *f) {
    if (f->blocks.count == 0) return;
    struct pack *k = pack_at(p, pack_by_number(p, (uint32_t)f->header.number));
    for (uint32_t i = f->offsets_before; i < f->offsets.count; i++) u32vec_push(&k->offsets, f->offsets.at[i]);
    k->file_bytes = f->end;
    k->last_flush = f->number;
    k->closed = k->full = f->close;
    p->look = p->look || f->close;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f->blocks.count; i++) bytes += ((struct buf *)vec_at(&f->blocks, i))->len;
    ENSURE(p->pending_bytes >= bytes);
    p->pending_bytes -= bytes;
    blocks_free(&f->blocks);
}

enum err packs_flush_end(struct packs *p, struct pack_flush *f, struct why *why) {
    REQUIRE(p->flying && f == &p->flush);
    p->flying = false;
    p->free_bytes = f->free_bytes;
    if (f->err == ERR_NO_SPACE) {
        p->retry = true;
        *why = f->why;
        return f->err;
    }
    if (f->err != ERR_OK) {
        p->dead = true;
        *why = f->why;
        return f->err;
    }
    leg_done(p, f);
    p->durable = f->number;
    pack_move_take(p, f);
    return ERR_OK;
}

/* ---- flushing: the other thread's side ---- */

static enum err put(struct pack_flush *f, uint64_t *at, struct why *why) {
    enum err e = diskio_write(f->disk, f->file, *at, f->out.at, f->out.len, why);
    *at += f->out.len;
    buf_clear(&f->out);
    return e;
}

static enum err leg_open(struct pack_flush *f, const char *name, struct why *why) {
    if (f->file.v >= 0) return ERR_OK;
    enum err e = ERR_CONFLICT;
    if (f->create) e = f->disk->ops->open(f->disk, name, DISK_CREATE, &f->file, why);
    /* It is there already: ours of before, or of a try that met a full disk. */
    if (e == ERR_CONFLICT) e = f->disk->ops->open(f->disk, name, DISK_WRITE, &f->file, why);
    return e;
}

static enum err leg_blocks(struct pack_flush *f, struct why *why) {
    enum err e = ERR_OK;
    uint64_t written = f->create ? 0 : f->from, at = f->from;
    struct pack_block b = {.kind = PACK_DATA, .nonce = f->header.nonce, .flush = f->number};
    b.count = f->blocks.count;
    buf_clear(&f->out);
    f->offsets.count = f->offsets_before;
    if (f->create) {
        packfmt_header_encode(&f->header, &f->out);
        uint8_t *rest = buf_space(&f->out, PACK_ALIGN - PACK_HEADER_BYTES);
        memset(rest, 0, PACK_ALIGN - PACK_HEADER_BYTES);
    }
    for (uint32_t i = 0; e == ERR_OK && i < f->blocks.count; i++) {
        b.index = i;
        u32vec_push(&f->offsets, (uint32_t)(at / PACK_BLOCK_ALIGN));
        packfmt_block_encode(&b, buf_slice(vec_at(&f->blocks, i)), at, f->zstd, &f->out);
        at = pack_block_end(at, &b);
        if (f->out.len >= WRITE_BYTES) e = put(f, &written, why);
    }
    if (e == ERR_OK) e = put(f, &written, why);
    ENSURE(e != ERR_OK || written == at);
    f->end = at;
    return e;
}

/* Footer and trailer, once all that they speak of is durable: a start believes a footer and reads no bodies. A full
 * disk harms nothing here; the next start walks the pack and tries again. */
static enum err leg_close(struct pack_flush *f, struct why *why) {
    struct pack_block b = {.nonce = f->header.nonce, .flush = f->number};
    uint64_t written = f->end;
    b.index = b.count = f->blocks.count;
    buf_clear(&f->out);
    uint64_t end = packfmt_end_encode(&b, f->end, &f->offsets, buf_slice(&f->rows), f->zstd, &f->out);
    enum err e = put(f, &written, why);
    if (e == ERR_OK) e = f->disk->ops->sync(f->disk, f->file, why);
    if (e == ERR_OK) f->end = end;
    f->disk->ops->close(f->disk, f->file);
    f->file.v = -1;
    return e == ERR_NO_SPACE ? ERR_OK : e;
}

static enum err leg_run(struct pack_flush *f, struct why *why) {
    if (f->blocks.count == 0) return ERR_OK;
    char name[PACKIO_NAME_MAX];
    packio_name(name, f->dir, (uint32_t)f->header.number, false);
    enum err e = leg_open(f, name, why);
    if (e == ERR_OK) e = leg_blocks(f, why);
    if (e != ERR_OK) return why_wrap(why, e, "%s", name);
    e = f->disk->ops->sync(f->disk, f->file, why);
    if (e == ERR_OK && f->create) e = f->disk->ops->sync_dir(f->disk, f->dir, why);
    if (e == ERR_OK && f->close) e = leg_close(f, why);
    /* Whatever a sync says, it is not a full disk that a later try could heal. */
    return e == ERR_OK ? e : why_wrap(why, ERR_IO, "%s", name);
}

void pack_flush_run(struct pack_flush *f) {
    struct why why;
    pack_move_run(f);
    f->why.text[0] = 0;
    f->err = leg_run(f, &f->why);
    if (f->disk->ops->space(f->disk, &f->free_bytes, &why) != ERR_OK) f->free_bytes = 0; /* asked again */
}

/* ---- life ---- */

enum err packs_open(struct disk *disk, struct clock *clock, const struct packs_options *o, struct pack_owner *owner,
                    struct packs **ret, struct why *why) {
    REQUIRE(o->pack_bytes >= PACK_ALIGN && o->pack_bytes <= (1ull << 32)); /* block offsets are 32 bits, times 8 */
    struct arena birth;
    arena_init(&birth, sizeof(struct packs) + 64, sizeof(struct packs) + 4096);
    struct packs *p = ARENA_NEW(&birth, struct packs);
    p->birth = birth;
    p->disk = disk;
    p->clock = clock;
    p->options = *o;
    p->owner = owner;
    p->next_number = 1;
    pool_init(&p->pool, sizeof(struct pack), UINT32_MAX);
    map_init(&p->by_number);
    vec_init(&p->blocks, sizeof(struct buf));
    buf_init(&p->rows, PACK_FOOTER_RAW_MAX / 2);
    struct pack_flush *f = &p->flush;
    f->disk = disk;
    f->dir = o->dir;
    f->file.v = -1;
    f->zstd = packfmt_zstd_new();
    packio_init(&f->io, disk);
    vec_init(&f->blocks, sizeof(struct buf));
    vec_init(&f->move.payloads, sizeof(struct buf));
    buf_init(&f->out, PACK_OUT_MAX);
    buf_init(&f->rows, PACK_FOOTER_RAW_MAX / 2);
    enum err e = pack_load_all(p, why);
    if (e == ERR_OK) e = disk->ops->space(disk, &p->free_bytes, why);
    if (e != ERR_OK) {
        packs_close(p);
        return e;
    }
    p->look = true;
    *ret = p;
    return ERR_OK;
}

void packs_close(struct packs *p) {
    struct pack_flush *f = &p->flush;
    REQUIRE(!p->flying);
    if (f->file.v >= 0) p->disk->ops->close(p->disk, f->file);
    packio_fini(&f->io);
    packfmt_zstd_free(f->zstd);
    blocks_free(&f->blocks);
    blocks_free(&p->blocks);
    blocks_free(&f->move.payloads);
    vec_fini(&f->blocks);
    vec_fini(&p->blocks);
    vec_fini(&f->move.payloads);
    u32vec_fini(&f->move.offsets);
    u32vec_fini(&f->offsets);
    u32vec_fini(&f->doomed);
    buf_fini(&f->out);
    buf_fini(&f->rows);
    buf_fini(&p->rows);
    for (uint32_t i = 1; i <= p->pool.high; i++)
        if (pack_at(p, i)->number != 0) u32vec_fini(&pack_at(p, i)->offsets);
    pool_fini(&p->pool);
    map_fini(&p->by_number);
    struct arena birth = p->birth;
    arena_fini(&birth);
}

void packs_stats(const struct packs *p, struct packs_stats *ret) {
    *ret = (struct packs_stats){.flushes = p->durable, .moved = p->moved_count, .damaged = p->damaged_count};
    for (uint32_t i = 1; i <= p->pool.high; i++) {
        const struct pack *k = pack_at(p, i);
        if (k->number == 0) continue;
        ret->packs++;
        ret->file_bytes += k->file_bytes;
        ret->entries += k->live_count;
    }
}

enum err packs_damage(const struct packs *p, struct why *why) {
    if (p->damaged_count == 0) return ERR_OK;
    *why = p->damage;
    return ERR_CORRUPT;
}
