/* pack_open.c: the start of a store: what is there, and what of it can be relied on.
 *
 * A closed pack is known by its footer and its bodies are not read. One without (the last one, or after a crash) is
 * walked block by block. A bad place that a later flush follows was synced once: damage, told and passed over.
 * Otherwise it is the torn end of the last flush, which nobody was told of: cut. What the last flush left readable may
 * have never been synced, or a sync of it may have failed: it is written again, the very same bytes, and synced before
 * anything is said to be there. Then the pack is closed: new entries go to a new one. */
#include <stdlib.h>

#include "diskio.h"
#include "pack_impl.h"
#include "panic.h"

struct pack_loading {
    struct packs *packs;
    struct packio io;
    struct buf raw;
    struct pack *pack; /* being loaded */
    struct buf rows;   /* of a pack that has no footer */
    bool closed;       /* its footer was good */
    uint64_t end;      /* of the last good block */
    struct why why;
};

static void entry_found(void *ctx, const struct pack_entry *e) {
    struct pack_loading *l = ctx;
    struct pack_place place = {l->pack->number, e->block, e->at, e->len};
    bool lives = l->packs->owner->found(l->packs->owner, e, place);
    pack_count(l->pack, l->pack->big ? 0 : e->len, lives);
}

static void damage(struct pack_loading *l, uint64_t offset, const char *what) {
    struct why why;
    (void)why_set(&why, ERR_CORRUPT, "%s: damaged at byte %llu: %s", l->io.name, (unsigned long long)offset, what);
    pack_damaged(l->packs, l->pack, &why);
}

/* ---- walking ---- */

static void block_take(struct pack_loading *l, uint64_t at, const struct pack_block *b) {
    struct slice payload = buf_slice(&l->raw);
    struct cursor c = cursor_of(payload);
    l->end = pack_block_end(at, b);
    if (b->flush > l->pack->last_flush) l->pack->last_flush = b->flush;
    if (b->kind == PACK_FOOTER) return; /* of an earlier start that could not end the file with its trailer */
    uint32_t ordinal = l->pack->offsets.count;
    u32vec_push(&l->pack->offsets, (uint32_t)(at / PACK_BLOCK_ALIGN));
    while (cursor_left(&c) > 0) {
        struct pack_entry e;
        if (!packfmt_entry_next(&c, payload, &e)) {
            damage(l, at, "its entries make no sense");
            return;
        }
        e.block = ordinal;
        packfmt_row_encode(&e, &l->rows);
        entry_found(l, &e);
    }
}

/* The next beginning of a flush after a bad place, 0 = none: the place is the torn end. */
static enum err flush_after(struct pack_loading *l, uint64_t at, uint64_t *ret) {
    *ret = 0;
    for (at = pack_align(at + 1, PACK_ALIGN); at < l->io.bytes; at += PACK_ALIGN) {
        struct pack_block b;
        enum err e = packio_block(&l->io, at, &b, &l->why);
        /* A footer that begins a flush was put behind a torn end by an earlier start: no proof of a sync before it. */
        if (e == ERR_CORRUPT || (e == ERR_OK && (b.index != 0 || b.kind == PACK_FOOTER))) continue;
        if (e == ERR_OK) *ret = at;
        return e;
    }
    return ERR_OK;
}

static enum err walk(struct pack_loading *l) {
    uint64_t at = PACK_ALIGN;
    struct pack_block b;
    while (at < l->io.bytes) {
        enum err e = packio_payload(&l->io, at, &b, &l->raw, &l->why);
        if (e == ERR_CORRUPT && at % PACK_ALIGN != 0) { /* the flush may have ended here: the next begins aligned */
            uint64_t next = pack_align(at, PACK_ALIGN);
            e = packio_payload(&l->io, next, &b, &l->raw, &l->why);
            if (e == ERR_OK && b.index == 0)
                at = next;
            else if (e == ERR_OK)
                e = ERR_CORRUPT;
        }
        if (e == ERR_OK) {
            block_take(l, at, &b);
            at = l->end;
            continue;
        }
        if (e != ERR_CORRUPT) return e;
        uint64_t next = 0;
        e = flush_after(l, at, &next);
        if (e != ERR_OK || next == 0) return e;
        damage(l, at, "a later flush follows a block that is unreadable");
        at = next;
    }
    return ERR_OK;
}

/* A pack whose header is unreadable: was anything in it ever synced? The header is written with the first flush, so
 * blocks of that one alone may be what a crash left of it. A second flush, or a footer, came after a sync. */
static enum err was_synced(struct pack_loading *l, bool *ret) {
    uint64_t first = 0;
    bool any = false;
    *ret = false;
    for (uint64_t at = PACK_ALIGN; at < l->io.bytes && !*ret;) {
        struct pack_block b;
        enum err e = packio_block(&l->io, at, &b, &l->why);
        if (e != ERR_OK && e != ERR_CORRUPT) return e;
        at = e == ERR_OK ? pack_block_end(at, &b) : pack_align(at + 1, PACK_ALIGN);
        if (e != ERR_OK) continue;
        *ret = b.kind == PACK_FOOTER || (any && b.flush != first);
        first = b.flush;
        any = true;
    }
    return ERR_OK;
}

static enum err headless_load(struct pack_loading *l) {
    bool synced = false;
    enum err e = was_synced(l, &synced);
    if (e != ERR_OK || !synced) return e;
    damage(l, 0, "its header is unreadable");
    return walk(l);
}

static enum err pack_load(struct pack_loading *l, uint32_t number, struct why *why) {
    struct packs *p = l->packs;
    enum err e = packio_open(&l->io, p->options.dir, number, why);
    if (e != ERR_OK && (e != ERR_CORRUPT || l->io.file.v < 0)) return e;
    l->pack = pack_at(p, pack_new(p, number));
    l->pack->file_bytes = l->io.bytes;
    l->pack->closed = true;
    l->pack->nonce = l->io.header.nonce;
    l->pack->big = l->io.header.kind == PACK_BIG;
    l->closed = false;
    l->end = 0;
    buf_clear(&l->rows);
    struct pack_block b;
    uint64_t at = 0;
    if (e == ERR_CORRUPT) {
        e = headless_load(l);
        return e == ERR_OK ? e : why_wrap(why, e, "%s", l->why.text);
    }
    e = packio_footer(&l->io, &b, &at, &l->raw, &l->why);
    if (e == ERR_OK) {
        l->closed = packfmt_footer_decode(buf_slice(&l->raw), at, &l->pack->offsets, entry_found, l);
        l->pack->last_flush = b.flush;
        l->end = l->io.bytes;
        if (l->closed) return ERR_OK;
        damage(l, at, "its footer makes no sense");
        l->pack->offsets.count = 0;
    }
    if (e == ERR_OK || e == ERR_NOT_FOUND) e = walk(l);
    if (e != ERR_OK) return why_wrap(why, e, "%s", l->why.text);
    if (l->pack->big) damage(l, l->io.bytes, "its footer is unreadable");
    return ERR_OK;
}

/* ---- settling ---- */

/* Where the blocks of the pack's last flush begin. */
static enum err last_flush_from(struct pack_loading *l, uint64_t *ret, struct why *why) {
    uint64_t from = l->end;
    for (uint32_t i = l->pack->offsets.count; i > 0; i--) {
        struct pack_block b;
        uint64_t at = (uint64_t)l->pack->offsets.at[i - 1] * PACK_BLOCK_ALIGN;
        enum err e = packio_block(&l->io, at, &b, why);
        if (e == ERR_CORRUPT) continue; /* whoever reads it is told; the rest must be made durable all the same */
        if (e != ERR_OK) return e;
        if (b.flush < l->pack->last_flush) break;
        from = at;
        if (i == 1) from = 0; /* the header was written with it */
    }
    *ret = from;
    return ERR_OK;
}

static enum err rewrite(struct pack_loading *l, disk_file f, uint64_t from, struct why *why) {
    struct disk *d = l->packs->disk;
    enum err e = ERR_OK;
    while (e == ERR_OK && from < l->end) {
        uint64_t left = l->end - from;
        size_t len = left < WRITE_BYTES ? (size_t)left : WRITE_BYTES, have = 0;
        buf_clear(&l->raw);
        uint8_t *bytes = buf_space(&l->raw, len);
        e = diskio_read(d, f, from, bytes, len, &have, why);
        if (e == ERR_OK && have == 0) break;
        if (e == ERR_OK) e = diskio_write(d, f, from, bytes, have, why);
        from += have;
    }
    return e;
}

/* Ends a pack that has none yet with its footer, after whatever lies at its end. */
static enum err footer_add(struct pack_loading *l, disk_file f, uint64_t flush, struct why *why) {
    struct buf out;
    struct packs *p = l->packs;
    uint64_t at = pack_align(l->io.bytes, PACK_ALIGN);
    struct pack_block b = {.nonce = l->pack->nonce, .flush = flush, .count = 1};
    buf_init(&out, PACK_OUT_MAX);
    uint64_t end = packfmt_end_encode(&b, at, &l->pack->offsets, buf_slice(&l->rows), p->flush.zstd, &out);
    enum err e = diskio_write(p->disk, f, at, out.at, out.len, why);
    buf_fini(&out);
    if (e == ERR_OK) l->pack->file_bytes = end;
    if (e == ERR_OK) l->pack->last_flush = flush;
    return e == ERR_NO_SPACE ? ERR_OK : e; /* a full disk: it is walked again next time */
}

/* The rows of a pack that is to get a footer are those of its walk, so for it this comes right after. */
static enum err pack_settle(struct pack_loading *l, struct why *why) {
    struct packs *p = l->packs;
    disk_file f;
    uint64_t from = 0;
    enum err e = last_flush_from(l, &from, why);
    if (e == ERR_OK) e = p->disk->ops->open(p->disk, l->io.name, DISK_WRITE, &f, why);
    if (e != ERR_OK) return e;
    e = rewrite(l, f, from, why);
    if (e == ERR_OK) e = p->disk->ops->sync(p->disk, f, why);
    if (e == ERR_OK && !l->closed && !l->pack->rotten && l->pack->last_flush > 0)
        e = footer_add(l, f, l->pack->last_flush + 1, why);
    if (e == ERR_OK) e = p->disk->ops->sync(p->disk, f, why);
    p->disk->ops->close(p->disk, f);
    return e;
}

/* ---- the directory ---- */

struct pack_names {
    struct u32vec packs, unborn;
};

static void name_add(void *ctx, const char *name, uint64_t bytes) {
    struct pack_names *n = ctx;
    bool unborn = false;
    (void)bytes;
    uint32_t number = packio_number(name, &unborn);
    if (number != 0) u32vec_push(unborn ? &n->unborn : &n->packs, number);
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Removes what never became a pack. */
static enum err unborn_remove(struct packs *p, const struct u32vec *numbers, struct why *why) {
    char name[PACKIO_NAME_MAX];
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < numbers->count; i++) {
        if (numbers->at[i] >= p->next_number) p->next_number = numbers->at[i] + 1;
        packio_name(name, p->options.dir, numbers->at[i], true);
        e = p->disk->ops->remove(p->disk, name, why);
    }
    return e;
}

static enum err packs_load(struct pack_loading *l, const struct u32vec *numbers, struct why *why) {
    struct packs *p = l->packs;
    uint32_t last = 0; /* pool index of the newest shared pack, if it is closed */
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < numbers->count; i++) {
        e = pack_load(l, numbers->at[i], why);
        if (e != ERR_OK) break;
        struct pack *k = l->pack;
        if (!k->big) last = l->closed ? pack_by_number(p, k->number) : 0;
        if (!k->big && !l->closed && k->nonce != 0) e = pack_settle(l, why);
        if (k->last_flush > p->flush_number) p->flush_number = k->last_flush;
        if (!k->big) continue;
        u32vec_fini(&k->offsets); /* a reader loads them when it needs them */
        k->offsets = (struct u32vec){0};
    }
    /* Whatever a later pack follows was synced before that one was made. */
    if (e == ERR_OK && last != 0) {
        l->pack = pack_at(p, last);
        l->closed = true;
        e = packio_open(&l->io, p->options.dir, l->pack->number, why);
        l->end = l->io.bytes;
        if (e == ERR_OK) e = pack_settle(l, why);
    }
    packio_close(&l->io);
    return e;
}

enum err pack_load_all(struct packs *p, struct why *why) {
    struct pack_names n = {0};
    struct pack_loading l = {.packs = p};
    struct disk *d = p->disk;
    enum err e = d->ops->mkdir(d, p->options.dir, why);
    if (e == ERR_OK) e = d->ops->sync_dir(d, "", why);
    if (e == ERR_OK) e = d->ops->list(d, p->options.dir, name_add, &n, why);
    if (e == ERR_OK) e = unborn_remove(p, &n.unborn, why);
    /* What a process that was killed left as names only: durable from here on, or gone. */
    if (e == ERR_OK) e = d->ops->sync_dir(d, p->options.dir, why);
    if (n.packs.count > 1) qsort(n.packs.at, n.packs.count, sizeof n.packs.at[0], by_number);
    packio_init(&l.io, d);
    buf_init(&l.raw, PACK_FOOTER_RAW_MAX);
    buf_init(&l.rows, PACK_FOOTER_RAW_MAX / 2);
    if (e == ERR_OK) e = packs_load(&l, &n.packs, why);
    packio_fini(&l.io);
    buf_fini(&l.raw);
    buf_fini(&l.rows);
    u32vec_fini(&n.packs);
    u32vec_fini(&n.unborn);
    p->durable = p->flush_number;
    p->flush_number++;
    return e;
}
