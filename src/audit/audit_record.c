/* audit_record.c: see audit_record.h. */
#include "audit_record.h"

#include <inttypes.h>
#include <stdio.h>

#include "audit_verb.h"
#include "ids.h"
#include "utf8.h"

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

/* What it is about, if that is no flow. */
static struct slice name_of(const struct record *r) {
    struct slice name = text_of(r, "worker");
    if (name.len == 0) name = text_of(r, "name");
    return name.len > 0 ? name : text_of(r, "key");
}

bool audit_fits(const struct audit_filter *f, const struct record *r, int64_t time_ms) {
    struct slice principal = text_of(r, "principal");
    if (f->flow != 0 && number_of(r, "flow", 0) != f->flow) return false;
    if (f->job != 0 && number_of(r, "ordinal", UINT32_MAX) != f->job - 1) return false;
    if (f->people && !is_someones(principal)) return false;
    if (f->principal.len > 0 && !slice_eq(principal, f->principal)) return false;
    if (f->tenant.len > 0 && !slice_eq(text_of(r, "tenant"), f->tenant)) return false;
    if (f->kind.len > 0 && !slice_eq(f->kind, slice_str(record_word(r->kind)))) return false;
    if (f->verb.len > 0 && !slice_eq(f->verb, slice_str(audit_verb_of(r->kind)->verb))) return false;
    if (f->object.len > 0 && !slice_eq(f->object, name_of(r))) return false;
    return (f->since_ms == 0 || time_ms >= f->since_ms) && (f->until_ms == 0 || time_ms < f->until_ms);
}

void audit_record_of(const struct record *r, uint64_t lsn, int64_t time_ms, char text[AUDIT_TEXT_BYTES],
                     struct audit_record *ret) {
    put_words(text, r);
    *ret = (struct audit_record){.lsn = lsn,
                                 .time_ms = time_ms,
                                 .kind = r->kind,
                                 .principal = utf8_cut(text_of(r, "principal"), AUDIT_NAME_BYTES - 1),
                                 .tenant = utf8_cut(text_of(r, "tenant"), AUDIT_NAME_BYTES - 1),
                                 .flow = number_of(r, "flow", 0),
                                 .ordinal = (uint32_t)number_of(r, "ordinal", UINT32_MAX),
                                 .name = utf8_cut(name_of(r), AUDIT_NAME_BYTES - 1),
                                 .text = slice_str(text)};
}

void audit_object(uint32_t shard, const struct audit_record *r, char ret[AUDIT_OBJECT_BYTES]) {
    char flow[FLOW_TEXT_BYTES];
    if (r->flow == 0) {
        snprintf(ret, AUDIT_OBJECT_BYTES, "%.*s", SLICE_FMT(r->name));
        return;
    }
    flow_text(shard, (flow_id){r->flow}, flow);
    if (r->ordinal == UINT32_MAX)
        snprintf(ret, AUDIT_OBJECT_BYTES, "%s", flow);
    else
        snprintf(ret, AUDIT_OBJECT_BYTES, "%s/#%u", flow, r->ordinal);
}
