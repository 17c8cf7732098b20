/* audit.c: see audit.h. Must not: write, or depend on anything but the files. */
#include "audit.h"

#include <inttypes.h>
#include <stdio.h>

#include "panic.h"
#include "scan.h"
#include "segment.h"
#include "utf8.h"

#define NAME_BYTES 200u
#define TRIES 8u /* each follows a move of a whole segment, which takes longer than to read some */

struct audit_slot {        /* a record that fits, until the segment is through: later ones take its place */
    struct audit_record r; /* without its texts */
    char principal[NAME_BYTES], name[NAME_BYTES], text[AUDIT_TEXT_BYTES];
};

struct audit_reading {
    const struct audit_query *q;
    const atomic_bool *stop;
    struct arena *arena;  /* of the page */
    struct arena scratch; /* of one record */
    struct audit_slot *ring; /* the last `room` that fit, of one segment: `seen` have been put in */
    uint32_t room;
    uint64_t seen;
    bool before; /* something was older than since_ms: so is everything in older segments */
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

static bool fits(const struct audit_query *q, const struct record *r, int64_t time_ms) {
    struct slice principal = text_of(r, "principal");
    if (q->flow != 0 && number_of(r, "flow", 0) != q->flow) return false;
    if (q->people && principal.len == 0) return false;
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

/* ---- one segment ---- */

static enum err batch_read(struct audit_reading *p, const struct batch *b, struct why *why) {
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

/* Up to its first block that is none: the end, or what is being written just now. Whether the chain is whole is the
 * business of who starts a server. */
static enum err segment_read(struct audit_reading *p, struct scan *scan, const struct segment *g, struct why *why) {
    char name[SEGMENT_NAME_MAX];
    segment_file_name(name, g);
    enum err e = g->packed ? scan_open_packed(scan, name, why) : scan_open(scan, name, g->header.nonce, false, why);
    if (e != ERR_OK) return e;
    for (uint64_t offset = BLOCK_FIRST_OFFSET; e == ERR_OK && offset < scan->bytes;) {
        struct block b;
        bool valid = false;
        if (atomic_load(p->stop)) e = why_set(why, ERR_STATE, "it is no longer wanted");
        if (e == ERR_OK) e = scan_block(scan, offset, &valid, &b, why);
        if (e != ERR_OK || !valid) break;
        if (b.kind == BLOCK_BATCH && b.batch.first_lsn > p->q->upto_lsn) break;
        if (b.kind == BLOCK_BATCH) e = batch_read(p, &b.batch, why);
        offset += b.total_bytes;
    }
    scan_close(scan);
    return e;
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

static enum err segments_read(struct audit_reading *p, struct disk *d, const struct segment_table *t,
                              struct audit_page *page, struct why *why) {
    struct scan scan;
    enum err e = ERR_OK;
    uint32_t read = 0;
    uint64_t oldest = 0; /* record of a segment that was read */
    p->ring = ARENA_ARRAY(p->arena, struct audit_slot, p->q->most + 1);
    scan_init(&scan, d);
    for (uint32_t i = t->rows.count; e == ERR_OK && i > 0; i--) {
        const struct segment *g = segment_at(t, i - 1);
        if (!g->used || g->header.first_lsn > p->q->upto_lsn) continue;
        if (read++ == AUDIT_SEGMENTS_MAX) {
            page->next = oldest - 1;
            break;
        }
        oldest = g->header.first_lsn;
        p->seen = 0;
        p->room = p->q->most - page->count + 1; /* one more tells that there is a next page */
        e = segment_read(p, &scan, g, why);
        if (e == ERR_OK) page_take(p, page);
        if (page->count > p->q->most) {
            page->count = p->q->most;
            page->next = page->at[page->count - 1].lsn - 1;
            break;
        }
        if (p->before) break;
    }
    scan_fini(&scan);
    return e;
}

/* ERR_NOT_FOUND: a segment has moved since it was listed: into the archive, or was packed or removed there. */
static enum err page_read(struct disk *d, const struct audit_query *q, const atomic_bool *stop, struct arena *arena,
                          struct audit_page *ret, struct why *why) {
    struct segment_table t;
    struct audit_reading p = {.q = q, .stop = stop, .arena = arena};
    *ret = (struct audit_page){.at = ARENA_ARRAY(arena, struct audit_record, q->most + 1)};
    segment_table_init(&t);
    arena_init(&p.scratch, 65536, (size_t)1 << 30);
    enum err e = segment_table_load(&t, d, true, why);
    if (e == ERR_OK) e = segments_read(&p, d, &t, ret, why);
    arena_fini(&p.scratch);
    segment_table_fini(&t);
    return e;
}

enum err audit_read(struct disk *d, const struct audit_query *q, const atomic_bool *stop, struct arena *arena,
                    struct audit_page *ret, struct why *why) {
    REQUIRE(q->most > 0);
    struct audit_page page;
    enum err e = ERR_NOT_FOUND;
    for (uint32_t i = 0; e == ERR_NOT_FOUND && i < TRIES; i++) e = page_read(d, q, stop, arena, &page, why);
    if (e == ERR_NOT_FOUND) return why_set(why, ERR_BUSY, "the journal is being moved into its archive");
    if (e == ERR_OK) *ret = page;
    return e;
}
