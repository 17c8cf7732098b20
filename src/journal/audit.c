/* audit.c: see audit.h. Must not: depend on anything but the journal. */
#include "audit.h"

#include <inttypes.h>
#include <stdio.h>

#include "panic.h"
#include "utf8.h"

#define NAME_BYTES 200u
#define TRIES 8u /* each follows a move of a whole piece, which takes longer than to read some */

struct audit_slot {              /* a record that fits, until the piece is through: later ones take its place */
    struct audit_record r; /* without its texts */
    char principal[NAME_BYTES], name[NAME_BYTES], text[AUDIT_TEXT_BYTES];
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

/* ---- one record ---- */

static const struct tlv_field *field_of(const struct tlv_desc *d, const char *name) {
    for (uint32_t i = 0; i < d->field_count; i++)
        if (d->fields[i].type != TLV_RAW && strcmp(d->fields[i].name, name) == 0) return &d->fields[i];
    return NULL;
}

static const void *value_of(const struct record *r, const struct tlv_field *f) {
    return (const uint8_t *)&r->body + f->offset;
}

static uint64_t number_of(const struct record *r, const char *name, uint64_t without) {
    const struct tlv_field *f = field_of(record_desc(r->kind), name);
    if (f == NULL) return without;
    return f->type == TLV_U64   ? *(const uint64_t *)value_of(r, f)
           : f->type == TLV_U32 ? *(const uint32_t *)value_of(r, f)
                                : without;
}

static struct slice text_of(const struct record *r, const char *name) {
    const struct tlv_field *f = field_of(record_desc(r->kind), name);
    return f != NULL && f->type == TLV_TEXT ? *(const struct slice *)value_of(r, f) : (struct slice){0};
}

static void put_field(struct buf *out, const struct tlv_field *f, const void *v) {
    const struct slice *s = v;
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL:
        if (*(const bool *)v) buf_printf(out, "%s ", f->name);
        return;
    case TLV_U8:
        if (*(const uint8_t *)v != 0) buf_printf(out, "%s=%u ", f->name, *(const uint8_t *)v);
        return;
    case TLV_U16:
        if (*(const uint16_t *)v != 0) buf_printf(out, "%s=%u ", f->name, *(const uint16_t *)v);
        return;
    case TLV_U32:
        if (*(const uint32_t *)v != 0) buf_printf(out, "%s=%" PRIu32 " ", f->name, *(const uint32_t *)v);
        return;
    case TLV_U64:
        if (*(const uint64_t *)v != 0) buf_printf(out, "%s=%" PRIu64 " ", f->name, *(const uint64_t *)v);
        return;
    case TLV_I64:
        if (*(const int64_t *)v != 0) buf_printf(out, "%s=%" PRId64 " ", f->name, *(const int64_t *)v);
        return;
    case TLV_ENUM: buf_printf(out, "%s=%s ", f->name, f->names[*(const uint8_t *)v]); return;
    case TLV_TEXT:
        if (s->len > 0)
            buf_printf(out, "%s=\"%.*s\" ", f->name, (int)(s->len < 200 ? s->len : 200), (const char *)s->ptr);
        return;
    case TLV_BYTES:
    case TLV_HASH:
        if (s->len > 0) buf_printf(out, "%s of %zu bytes ", f->name, s->len);
        return;
    case TLV_U32S:
    case TLV_LIST:
        if (((const struct tlv_list *)v)->count > 0)
            buf_printf(out, "%" PRIu32 " %s ", ((const struct tlv_list *)v)->count, f->name);
        return;
    case TLV_MSG:
    case TLV_RAW: return;
    }
}

/* All that is not told otherwise. */
static void put_words(char to[AUDIT_TEXT_BYTES], const struct record *r) {
    static const char *const told[] = {"principal", "tenant", "trace", "flow", "ordinal"};
    const struct tlv_desc *d = record_desc(r->kind);
    struct buf out;
    buf_init(&out, AUDIT_TEXT_BYTES);
    for (uint32_t i = 0; i < d->field_count && !out.full; i++) {
        const struct tlv_field *f = &d->fields[i];
        bool is_told = false;
        for (size_t k = 0; k < sizeof told / sizeof told[0]; k++) is_told |= strcmp(f->name, told[k]) == 0;
        if (!is_told) put_field(&out, f, value_of(r, f));
    }
    struct slice text = utf8_cut(buf_slice(&out), AUDIT_TEXT_BYTES - 1);
    if (text.len > 0 && text.ptr[text.len - 1] == ' ') text.len--;
    snprintf(to, AUDIT_TEXT_BYTES, "%.*s", SLICE_FMT(text));
    buf_fini(&out);
}

/* What the server decides by itself (a condition, a template, the items of a foreach job) carries its own name. */
static bool is_someones(struct slice principal) {
    return principal.len > 0 && !slice_eq(principal, SLICE("server"));
}

static bool fits(const struct audit_query *q, const struct record *r, int64_t time_ms) {
    struct slice principal = text_of(r, "principal");
    if (q->flow != 0 && number_of(r, "flow", 0) != q->flow) return false;
    if (q->people && !is_someones(principal)) return false;
    if (q->principal.len > 0 && !slice_eq(principal, q->principal)) return false;
    if (q->kind.len > 0 && !slice_eq(q->kind, slice_str(record_word(r->kind)))) return false;
    return (q->since_ms == 0 || time_ms >= q->since_ms) && (q->until_ms == 0 || time_ms < q->until_ms);
}

static void keep(struct audit_reading *p, const struct record *r, uint64_t lsn, int64_t time_ms) {
    struct slice name = text_of(r, "worker");
    if (name.len == 0) name = text_of(r, "name");
    if (name.len == 0) name = text_of(r, "key");
    struct audit_slot *to = &p->ring[p->seen++ % p->room];
    to->r = (struct audit_record){.lsn = lsn,
                                  .time_ms = time_ms,
                                  .kind = r->kind,
                                  .flow = number_of(r, "flow", 0),
                                  .ordinal = (uint32_t)number_of(r, "ordinal", UINT32_MAX)};
    snprintf(to->principal, NAME_BYTES, "%.*s", SLICE_FMT(utf8_cut(text_of(r, "principal"), NAME_BYTES - 1)));
    snprintf(to->name, NAME_BYTES, "%.*s", SLICE_FMT(utf8_cut(name, NAME_BYTES - 1)));
    put_words(to->text, r);
}

/* ---- one batch ---- */

static enum err batch_read(void *ctx, const struct batch *b, struct why *why) {
    struct audit_reading *p = ctx;
    if (atomic_load(p->stop)) return why_set(why, ERR_STATE, "it is no longer wanted");
    struct cursor c = cursor_of(b->records);
    if (p->q->since_ms != 0 && b->time.ms < p->q->since_ms) p->before = true;
    for (uint64_t lsn = b->first_lsn; lsn <= b->last_lsn && lsn <= p->q->upto_lsn; lsn++) {
        struct record r;
        arena_reset(&p->scratch);
        enum err e = record_decode(&c, &p->scratch, &r, why);
        if (e != ERR_OK) return why_wrap(why, e, "record %" PRIu64, lsn);
        if (fits(p->q, &r, b->time.ms)) keep(p, &r, lsn, b->time.ms);
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
