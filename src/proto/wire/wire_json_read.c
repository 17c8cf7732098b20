/* wire_json_read.c: JSON, queries and paths into messages. See wire_json.h. */
#include <stdio.h>

#include "base64.h"
#include "hex.h"
#include "panic.h"
#include "wire_json.h"

#define HASH_BYTES 32u
#define ROOM_SLACK_BYTES ((size_t)128 << 10) /* two chunks of an arena */

/* ---- refusals ---- */

static enum err refuse(struct wire_json_in *x, const struct tlv_field *f, enum err e, const char *text) {
    snprintf(x->field, sizeof x->field, "%s", f->name);
    return why_set(x->why, e, "%s: %s", f->name, text);
}

static enum err refuse_kind(struct wire_json_in *x, const struct tlv_field *f, const struct json_node *node,
                            const char *expected) {
    snprintf(x->field, sizeof x->field, "%s", f->name);
    return why_set(x->why, ERR_INVALID, "%s: expected %s, found %s", f->name, expected, json_kind_word(node->kind));
}

/* On the way up: "name" becomes "jobs[2].name". */
static enum err place(struct wire_json_in *x, enum err e, const struct tlv_field *f, int64_t index) {
    char inner[WIRE_JSON_FIELD_BYTES];
    if (e == ERR_OK) return ERR_OK;
    memcpy(inner, x->field, sizeof inner);
    if (index < 0)
        snprintf(x->field, sizeof x->field, "%s.%s", f->name, inner);
    else
        snprintf(x->field, sizeof x->field, "%s[%lld].%s", f->name, (long long)index, inner);
    return e;
}

/* Memory for something whose size the text chooses; NULL: no more is to be had. What is left then is enough for what
 * follows the text byte for byte (strings, hashes), which is taken without asking. */
static void *room(struct wire_json_in *x, size_t bytes) {
    struct arena *a = x->arena;
    size_t slack = ROOM_SLACK_BYTES + 4 * x->text.len;
    void *p = arena_try(a, bytes);
    return p != NULL && a->bytes < a->bytes_max && a->bytes_max - a->bytes >= slack ? p : NULL;
}

/* ---- single values ---- */

static enum err store_number(struct wire_json_in *x, const struct tlv_field *f, struct slice text, uint8_t *at) {
    uint64_t v = 0;
    int64_t number = 0;
    enum err e = f->type == TLV_I64 ? json_number_i64(text, &number) : json_number_u64(text, &v);
    if (f->type == TLV_I64) v = (uint64_t)number;
    size_t bytes = f->type == TLV_U8 ? 1 : f->type == TLV_U16 ? 2 : f->type == TLV_U32 ? 4 : 8;
    bool fits = bytes == 8 || v < (uint64_t)1 << bytes * 8;
    if (e != ERR_OK || !fits) return refuse(x, f, ERR_INVALID, "not a whole number that fits this field");
    memcpy(at, &v, bytes); /* little-endian, as all of ours are */
    return ERR_OK;
}

static enum err store_word(struct wire_json_in *x, const struct tlv_field *f, struct slice text, uint8_t *at) {
    char known[160] = "";
    for (uint32_t i = 0; i < f->max; i++) {
        const char *old = f->form == TLV_FORM_RENAMED ? f->names[f->max + i] : NULL;
        if (slice_eq(text, slice_str(f->names[i])) || (old != NULL && slice_eq(text, slice_str(old)))) {
            *at = (uint8_t)i;
            return ERR_OK;
        }
        size_t len = strlen(known);
        snprintf(known + len, sizeof known - len, "%s%s", i > 0 ? ", " : "", f->names[i]);
    }
    snprintf(x->field, sizeof x->field, "%s", f->name);
    return why_set(x->why, ERR_INVALID, "%s: %.*s is none of %s", f->name, SLICE_FMT(text), known);
}

static enum err store_hash(struct wire_json_in *x, const struct tlv_field *f, struct slice text, uint8_t *at) {
    struct slice hash = {0};
    if (text.len == 0) return ERR_OK;
    if (text.len != HASH_BYTES * 2) return refuse(x, f, ERR_INVALID, "a hash has 64 hexadecimal digits");
    uint8_t *bytes = arena_alloc(x->arena, HASH_BYTES);
    if (!hex_read(text, HASH_BYTES, bytes))
        return refuse(x, f, ERR_INVALID, "a hash has 64 hexadecimal digits, in lower case");
    hash = slice_of(bytes, HASH_BYTES);
    memcpy(at, &hash, sizeof hash);
    return ERR_OK;
}

static enum err store_slice(struct wire_json_in *x, const struct tlv_field *f, struct slice s, uint8_t *at) {
    if (f->max != 0 && s.len > f->max) {
        snprintf(x->field, sizeof x->field, "%s", f->name);
        return why_set(x->why, ERR_LIMIT, "%s: %zu bytes, at most %u", f->name, s.len, f->max);
    }
    memcpy(at, &s, sizeof s);
    return ERR_OK;
}

static enum err store_base64(struct wire_json_in *x, const struct tlv_field *f, struct slice text, uint8_t *at) {
    struct slice bytes;
    struct why inner = {{0}};
    enum err e = text.len % 4 == 0 ? base64_read(text, x->arena, &bytes, &inner) : ERR_INVALID;
    if (e == ERR_LIMIT) return refuse(x, f, ERR_LIMIT, "too long");
    return e == ERR_OK ? store_slice(x, f, bytes, at) : refuse(x, f, ERR_INVALID, "that is not base64");
}

/* ---- JSON ---- */

static enum err read_bytes(struct wire_json_in *x, const struct tlv_field *f, const struct json_node *node,
                           uint8_t *at) {
    const struct json_node *inner = node->count == 1 ? json_tree_get(node, SLICE("base64")) : NULL;
    if (f->form == TLV_FORM_JSON) return store_slice(x, f, slice_of(x->text.ptr + node->at, node->end - node->at), at);
    if (node->kind == JSON_TEXT) return store_slice(x, f, node->text, at);
    if (inner != NULL && inner->kind == JSON_TEXT && f->type == TLV_BYTES) return store_base64(x, f, inner->text, at);
    if (f->form != TLV_FORM_MESSAGE || node->kind != JSON_OBJECT)
        return refuse_kind(x, f, node, f->type == TLV_BYTES ? "a string or {\"base64\": …}" : "a string");
    void *message = room(x, f->sub->size);
    struct buf out;
    if (message == NULL) return refuse(x, f, ERR_LIMIT, "no room for it");
    enum err e = place(x, wire_json_read(x, node, f->sub, message), f, -1);
    if (e != ERR_OK) return e;
    buf_init(&out, f->max != 0 ? f->max : SIZE_MAX);
    tlv_encode(f->sub, message, &out);
    struct slice copy = arena_slice(x->arena, buf_slice(&out));
    bool full = out.full;
    buf_fini(&out);
    return full ? refuse(x, f, ERR_LIMIT, "too long") : store_slice(x, f, copy, at);
}

static enum err read_value(struct wire_json_in *x, const struct tlv_field *f, const struct json_node *node,
                           uint8_t *at);

static enum err read_item(struct wire_json_in *x, const struct tlv_field *f, const struct json_node *node,
                          uint8_t *item) {
    const struct tlv_desc *sub = f->sub;
    if (wire_json_is_map(sub)) {
        enum err e = store_slice(x, &sub->fields[0], node->key, item + sub->fields[0].offset);
        return e == ERR_OK ? read_value(x, &sub->fields[1], node, item + sub->fields[1].offset) : e;
    }
    if (wire_json_is_plain(sub)) return read_value(x, &sub->fields[0], node, item + sub->fields[0].offset);
    if (node->kind != JSON_OBJECT) return refuse_kind(x, f, node, "an object");
    return wire_json_read(x, node, sub, item);
}

static enum err read_list(struct wire_json_in *x, const struct tlv_field *f, const struct json_node *node,
                          uint8_t *at) {
    bool is_map = wire_json_is_map(f->sub);
    struct tlv_list list = {.count = node->count};
    if (node->kind != (is_map ? JSON_OBJECT : JSON_ARRAY))
        return refuse_kind(x, f, node, is_map ? "an object" : "an array");
    if (f->max != 0 && node->count > f->max) return refuse(x, f, ERR_LIMIT, "too many items");
    list.at = room(x, (size_t)node->count * f->sub->size + 1);
    if (list.at == NULL) return refuse(x, f, ERR_LIMIT, "no room for the items");
    int64_t index = 0;
    for (const struct json_node *n = node->first; n != NULL; n = n->next, index++) {
        enum err e = read_item(x, f, n, (uint8_t *)list.at + (size_t)index * f->sub->size);
        if (e != ERR_OK) return place(x, e, f, index);
    }
    memcpy(at, &list, sizeof list);
    return ERR_OK;
}

static enum err read_numbers(struct wire_json_in *x, const struct tlv_field *f, const struct json_node *node,
                             uint8_t *at) {
    if (node->kind != JSON_ARRAY) return refuse_kind(x, f, node, "an array");
    if (f->max != 0 && node->count > f->max) return refuse(x, f, ERR_LIMIT, "too many numbers");
    uint32_t *numbers = room(x, (size_t)node->count * sizeof *numbers + 1), count = 0;
    if (numbers == NULL) return refuse(x, f, ERR_LIMIT, "no room for the numbers");
    const struct tlv_field one = {.type = TLV_U32, .name = f->name};
    for (const struct json_node *n = node->first; n != NULL; n = n->next) {
        if (n->kind != JSON_NUMBER) return refuse_kind(x, f, n, "a number");
        enum err e = store_number(x, &one, n->text, (uint8_t *)&numbers[count++]);
        if (e != ERR_OK) return e;
    }
    memcpy(at, &(struct tlv_u32s){numbers, count}, sizeof(struct tlv_u32s));
    return ERR_OK;
}

static enum err read_value(struct wire_json_in *x, const struct tlv_field *f, const struct json_node *node,
                           uint8_t *at) {
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL:
        if (node->kind != JSON_BOOL) return refuse_kind(x, f, node, "true or false");
        *at = node->truth;
        return ERR_OK;
    case TLV_U8:
    case TLV_U16:
    case TLV_U32:
    case TLV_U64:
    case TLV_I64:
        if (node->kind != JSON_NUMBER) return refuse_kind(x, f, node, "a number");
        return store_number(x, f, node->text, at);
    case TLV_ENUM:
        if (node->kind != JSON_TEXT) return refuse_kind(x, f, node, "a word");
        return store_word(x, f, node->text, at);
    case TLV_TEXT:
    case TLV_BYTES: return read_bytes(x, f, node, at);
    case TLV_HASH:
        if (node->kind != JSON_TEXT) return refuse_kind(x, f, node, "a string");
        return store_hash(x, f, node->text, at);
    case TLV_U32S: return read_numbers(x, f, node, at);
    case TLV_MSG:
        if (node->kind != JSON_OBJECT) return refuse_kind(x, f, node, "an object");
        return place(x, wire_json_read(x, node, f->sub, at), f, -1);
    case TLV_LIST: return read_list(x, f, node, at);
    case TLV_RAW: break;
    }
    PANIC("a field without a type");
}

enum err wire_json_read(struct wire_json_in *x, const struct json_node *object, const struct tlv_desc *d, void *ret) {
    REQUIRE(object->kind == JSON_OBJECT);
    for (const struct json_node *n = object->first; n != NULL; n = n->next) {
        const struct tlv_field *f = wire_json_field(d, n->key);
        if (f == NULL) {
            snprintf(x->field, sizeof x->field, "%.*s", SLICE_FMT(n->key));
            return why_set(x->why, ERR_INVALID, "there is no `%.*s` in %s", SLICE_FMT(n->key), d->name);
        }
        if (n->kind == JSON_NULL && f->form != TLV_FORM_JSON) continue; /* as if it were left out */
        enum err e = read_value(x, f, n, (uint8_t *)ret + f->offset);
        if (e != ERR_OK) return e;
    }
    return ERR_OK;
}

/* ---- text ---- */

static enum err set_value(struct wire_json_in *x, const struct tlv_field *f, struct slice text, uint8_t *at);

static enum err set_item(struct wire_json_in *x, const struct tlv_field *f, struct slice text, uint8_t *at) {
    struct tlv_list list;
    memcpy(&list, at, sizeof list);
    const struct tlv_desc *sub = f->sub;
    if (f->max != 0 && list.count >= f->max) return refuse(x, f, ERR_LIMIT, "given too often");
    uint8_t *items = room(x, (size_t)(list.count + 1) * sub->size);
    if (items == NULL) return refuse(x, f, ERR_LIMIT, "given too often");
    if (list.count > 0) memcpy(items, list.at, (size_t)list.count * sub->size);
    uint8_t *item = items + (size_t)list.count * sub->size;
    enum err e = ERR_OK;
    if (wire_json_is_map(sub)) {
        const uint8_t *equals = text.len > 0 ? memchr(text.ptr, '=', text.len) : NULL;
        if (equals == NULL) return refuse(x, f, ERR_INVALID, "expected NAME=VALUE");
        struct slice key = slice_of(text.ptr, (size_t)(equals - text.ptr));
        e = store_slice(x, &sub->fields[0], key, item + sub->fields[0].offset);
        text = slice_of(equals + 1, text.len - key.len - 1);
    } else if (!wire_json_is_plain(sub)) {
        return refuse(x, f, ERR_INVALID, "this can be given in a body only");
    }
    const struct tlv_field *last = &sub->fields[sub->field_count - 1];
    if (e == ERR_OK) e = set_value(x, last, text, item + last->offset);
    if (e != ERR_OK) return place(x, e, f, list.count);
    list = (struct tlv_list){items, list.count + 1};
    memcpy(at, &list, sizeof list);
    return ERR_OK;
}

static enum err set_value(struct wire_json_in *x, const struct tlv_field *f, struct slice text, uint8_t *at) {
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL:
        if (!slice_eq(text, SLICE("true")) && !slice_eq(text, SLICE("false")))
            return refuse(x, f, ERR_INVALID, "expected true or false");
        *at = text.ptr[0] == 't';
        return ERR_OK;
    case TLV_U8:
    case TLV_U16:
    case TLV_U32:
    case TLV_U64:
    case TLV_I64: return store_number(x, f, text, at);
    case TLV_ENUM: return store_word(x, f, text, at);
    case TLV_TEXT:
    case TLV_BYTES: return store_slice(x, f, text, at);
    case TLV_HASH: return store_hash(x, f, text, at);
    case TLV_LIST: return set_item(x, f, text, at);
    case TLV_U32S:
    case TLV_MSG: return refuse(x, f, ERR_INVALID, "this can be given in a body only");
    case TLV_RAW: break;
    }
    PANIC("a field without a type");
}

enum err wire_json_set(struct wire_json_in *x, const struct tlv_desc *d, struct slice name, struct slice text,
                       void *ret) {
    const struct tlv_field *f = wire_json_field(d, name);
    if (f != NULL) return set_value(x, f, text, (uint8_t *)ret + f->offset);
    snprintf(x->field, sizeof x->field, "%.*s", SLICE_FMT(name));
    return why_set(x->why, ERR_INVALID, "there is no `%.*s` in %s", SLICE_FMT(name), d->name);
}
