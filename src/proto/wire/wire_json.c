/* wire_json.c: see wire_json.h; reading is in wire_json_read.c. */
#include "wire_json.h"

#include "utf8.h"
#include "wire_session.h"

/* ---- what descriptions tell ---- */

bool wire_json_is_map(const struct tlv_desc *sub) {
    return sub == &wire_pair_desc || sub == &wire_amount_desc;
}

bool wire_json_is_plain(const struct tlv_desc *sub) {
    return sub->field_count == 1;
}

const struct tlv_field *wire_json_field(const struct tlv_desc *d, struct slice name) {
    if (name.len == 0) return NULL;
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct tlv_field *f = &d->fields[i];
        if (f->name[0] != (char)name.ptr[0]) continue; /* most are told apart by a letter */
        if (f->type != TLV_RAW && slice_eq(name, slice_str(f->name))) return f;
    }
    return NULL;
}

/* ---- values ---- */

static struct slice slice_at(const void *at) {
    struct slice s;
    memcpy(&s, at, sizeof s);
    return s;
}

static struct tlv_list list_at(const void *at) {
    struct tlv_list list;
    memcpy(&list, at, sizeof list);
    return list;
}

static uint64_t number_at(const struct tlv_field *f, const void *at) {
    uint64_t v = 0; /* little-endian, as all of ours are; a copy of a fixed size is no call */
    if (f->type == TLV_U64 || f->type == TLV_I64)
        memcpy(&v, at, 8);
    else if (f->type == TLV_U32)
        memcpy(&v, at, 4);
    else if (f->type == TLV_U16)
        memcpy(&v, at, 2);
    else
        memcpy(&v, at, 1);
    return v;
}

static bool is_json(const struct wire_json_out *x, struct slice text) {
    struct json_read r;
    const struct json_token *token = NULL;
    json_read_init(&r, text, x->limits, x->arena, NULL);
    do {
        if (json_read_next(&r, &token) != ERR_OK) return false;
    } while (token->kind != JSON_OVER);
    return true;
}

static void put_object(const struct wire_json_out *x, const struct tlv_desc *d, const void *from) {
    json_object(x->json);
    wire_json_put(x, d, &from, 1, NULL);
    json_object_end(x->json);
}

static void put_bytes(const struct wire_json_out *x, struct slice s) {
    if (utf8_is_valid(s)) {
        json_text(x->json, s);
        return;
    }
    json_object(x->json);
    json_key(x->json, "base64");
    json_base64(x->json, s);
    json_object_end(x->json);
}

/* Whoever wrote it may not have kept to the form: then it is bytes like any other. */
static void put_slice(const struct wire_json_out *x, const struct tlv_field *f, struct slice s) {
    void *message = f->form == TLV_FORM_MESSAGE ? arena_try(x->arena, f->sub->size) : NULL;
    if (f->type == TLV_HASH)
        json_hex(x->json, s);
    else if (f->form == TLV_FORM_JSON && is_json(x, s))
        json_raw(x->json, s);
    else if (message != NULL && tlv_decode(f->sub, s, TLV_SKIP_UNKNOWN, x->arena, message, NULL) == ERR_OK)
        put_object(x, f->sub, message);
    else
        put_bytes(x, s);
}

static void put_number(const struct wire_json_out *x, const struct tlv_field *f, uint64_t v) {
    if (f->type == TLV_BOOL)
        json_bool(x->json, v != 0);
    else if (f->type == TLV_I64)
        json_i64(x->json, (int64_t)v);
    else if (f->type == TLV_ENUM && f->names != NULL && v < f->max)
        json_str(x->json, f->names[v]);
    else
        json_u64(x->json, v);
}

static void put_value(const struct wire_json_out *x, const struct tlv_field *f, const void *at) {
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL:
    case TLV_U8:
    case TLV_U16:
    case TLV_U32:
    case TLV_U64:
    case TLV_I64:
    case TLV_ENUM: put_number(x, f, number_at(f, at)); break;
    case TLV_TEXT:
    case TLV_BYTES:
    case TLV_HASH: put_slice(x, f, slice_at(at)); break;
    case TLV_MSG: put_object(x, f->sub, at); break;
    case TLV_U32S: {
        struct tlv_u32s numbers;
        memcpy(&numbers, at, sizeof numbers);
        json_array(x->json);
        for (uint32_t i = 0; i < numbers.count; i++) json_u64(x->json, numbers.at[i]);
        json_array_end(x->json);
        break;
    }
    case TLV_LIST:
    case TLV_RAW: break; /* lists: put_items */
    }
}

/* ---- messages ---- */

static void put_items(const struct wire_json_out *x, const struct tlv_desc *sub, struct tlv_list list) {
    for (uint32_t i = 0; i < list.count; i++) {
        const uint8_t *item = (const uint8_t *)list.at + (size_t)i * sub->size;
        const struct tlv_field *first = &sub->fields[0], *second = &sub->fields[sub->field_count - 1];
        if (wire_json_is_map(sub)) {
            json_key_slice(x->json, slice_at(item + first->offset));
            put_value(x, second, item + second->offset);
        } else if (wire_json_is_plain(sub)) {
            put_value(x, first, item + first->offset);
        } else {
            put_object(x, sub, item);
        }
    }
}

static void put_list(const struct wire_json_out *x, const struct tlv_field *f, const void *const *parts,
                     uint32_t count) {
    bool is_map = wire_json_is_map(f->sub);
    json_key_own(x->json, f->name);
    if (is_map)
        json_object(x->json);
    else
        json_array(x->json);
    for (uint32_t i = 0; i < count; i++) put_items(x, f->sub, list_at((const uint8_t *)parts[i] + f->offset));
    if (is_map)
        json_object_end(x->json);
    else
        json_array_end(x->json);
}

void wire_json_put(const struct wire_json_out *x, const struct tlv_desc *d, const void *const *parts, uint32_t count,
                   const char *about) {
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct tlv_field *f = &d->fields[i];
        uint32_t part = 0;
        while (part < count && !tlv_has(f, parts[part])) part++;
        bool wanted = f->type == TLV_LIST && about != NULL && strcmp(about, f->name) == 0;
        if (part == count && !wanted) continue;
        if (f->type == TLV_LIST) {
            put_list(x, f, parts, count);
        } else {
            json_key_own(x->json, f->name);
            put_value(x, f, (const uint8_t *)parts[part] + f->offset);
        }
    }
}
