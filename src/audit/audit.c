/* audit.c: see audit.h. Must not: depend on anything but the journal. */
#include "audit.h"

#include <inttypes.h>
#include <stdio.h>

#include "panic.h"

#define TRIES 8u /* each follows a move of a whole piece, which takes longer than to read some */

struct audit_slot {              /* a record that fits, until the piece is through: later ones take its place */
    struct audit_record r; /* without its texts */
    char principal[AUDIT_NAME_BYTES], tenant[AUDIT_NAME_BYTES], name[AUDIT_NAME_BYTES], text[AUDIT_TEXT_BYTES];
};

struct audit_reading {
    const struct audit_query *q;
    const atomic_bool *stop;
    struct arena *arena;  /* of the page */
    struct arena scratch; /* of one record */
    struct audit_slot *ring;    /* the last `room` that fit, of one piece: `seen` have been put in */
    uint32_t room;
    uint64_t seen;
    bool before; /* something was older than since_ms: so is everything in older pieces */
};

static void keep(struct audit_reading *p, const struct record *r, uint64_t lsn, int64_t time_ms) {
    struct audit_slot *to = &p->ring[p->seen++ % p->room];
    audit_record_of(r, lsn, time_ms, to->text, &to->r);
    snprintf(to->principal, AUDIT_NAME_BYTES, "%.*s", SLICE_FMT(to->r.principal));
    snprintf(to->tenant, AUDIT_NAME_BYTES, "%.*s", SLICE_FMT(to->r.tenant));
    snprintf(to->name, AUDIT_NAME_BYTES, "%.*s", SLICE_FMT(to->r.name));
}

/* ---- one batch ---- */

static enum err batch_read(void *ctx, const struct batch *b, struct why *why) {
    struct audit_reading *p = ctx;
    if (atomic_load(p->stop)) return why_set(why, ERR_STATE, "it is no longer wanted");
    struct cursor c = cursor_of(b->records);
    if (p->q->filter.since_ms != 0 && b->time.ms < p->q->filter.since_ms) p->before = true;
    for (uint64_t lsn = b->first_lsn; lsn <= b->last_lsn && lsn <= p->q->upto_lsn; lsn++) {
        struct record r;
        arena_reset(&p->scratch);
        enum err e = record_decode(&c, &p->scratch, &r, why);
        if (e != ERR_OK) return why_wrap(why, e, "record %" PRIu64, lsn);
        if (audit_fits(&p->q->filter, &r, b->time.ms)) keep(p, &r, lsn, b->time.ms);
    }
    return ERR_OK;
}

/* ---- all of them, backwards ---- */

static void page_take(const struct audit_reading *p, struct audit_page *page) {
    for (uint64_t i = p->seen; i > 0 && p->seen - i < p->room; i--) {
        const struct audit_slot *from = &p->ring[(i - 1) % p->room];
        struct audit_record *to = &page->at[page->count++];
        *to = from->r;
        to->principal = arena_slice(p->arena, slice_str(from->principal));
        to->tenant = arena_slice(p->arena, slice_str(from->tenant));
        to->name = arena_slice(p->arena, slice_str(from->name));
        to->text = arena_slice(p->arena, slice_str(from->text));
    }
}

static enum err pieces_read(struct audit_reading *p, struct journal *j, struct audit_page *page, struct why *why) {
    uint64_t first[AUDIT_PIECES_MAX + 1], upto = p->q->upto_lsn; /* one more tells that there is a next page */
    uint32_t count = 0;
    enum err e = j->ops->pieces(j, upto, first, AUDIT_PIECES_MAX + 1, &count, why);
    p->ring = ARENA_ARRAY(p->arena, struct audit_slot, p->q->most + 1);
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        if (i == AUDIT_PIECES_MAX) {
            page->next = upto;
            break;
        }
        p->seen = 0;
        p->room = p->q->most - page->count + 1; /* the same for records */
        e = j->ops->read(j, first[i], upto, batch_read, p, why);
        if (e == ERR_OK) page_take(p, page);
        if (page->count > p->q->most) {
            page->count = p->q->most;
            page->next = page->at[page->count - 1].lsn - 1;
            break;
        }
        if (p->before) break;
        upto = first[i] - 1;
    }
    return e;
}

/* ERR_NOT_FOUND: a piece has moved since it was listed: into the archive, or was packed or removed there. */
static enum err page_read(struct journal *j, const struct audit_query *q, const atomic_bool *stop, struct arena *arena,
                          struct audit_page *ret, struct why *why) {
    struct audit_reading p = {.q = q, .stop = stop, .arena = arena};
    *ret = (struct audit_page){.at = ARENA_ARRAY(arena, struct audit_record, q->most + 1)};
    arena_init(&p.scratch, 65536, (size_t)1 << 30);
    enum err e = pieces_read(&p, j, ret, why);
    arena_fini(&p.scratch);
    return e;
}

enum err audit_read(struct journal *reader, const struct audit_query *q, const atomic_bool *stop, struct arena *arena,
                    struct audit_page *ret, struct why *why) {
    REQUIRE(q->most > 0);
    struct audit_page page;
    enum err e = ERR_NOT_FOUND;
    for (uint32_t i = 0; e == ERR_NOT_FOUND && i < TRIES; i++) e = page_read(reader, q, stop, arena, &page, why);
    if (e == ERR_NOT_FOUND) return why_set(why, ERR_BUSY, "the journal is being moved into its archive");
    if (e == ERR_OK) *ret = page;
    return e;
}
