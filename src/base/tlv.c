/* tlv.c: described structs as bytes, and back. This is the hot path of every record and every message.
 *
 * Both directions walk the table once. Decoding moves through the input and the table side by side, because tags
 * ascend in both; it never searches and allocates for lists and arrays only. Whatever has two possible encodings
 * is refused, so equal structs have equal bytes and digests may hash the bytes.
 *
 * A `max` of 0 on text, bytes, numbers and lists means that only the message around the field bounds it. */
#include "tlv.h"

#include <string.h>

#include "json.h"
#include "netaddr.h"
#include "panic.h"

#define VARINT_BYTES_MAX 10u
#define HASH_BYTES 32u
#define NESTING_MAX 16u /* a list may hold its own kind; the input must not choose the depth of our stack */

/* ---- what a field holds ---- */

static inline const void *field_in(const struct tlv_field *f, const void *from) {
    return (const uint8_t *)from + f->offset;
}

static inline struct slice load_slice(const void *at) {
    struct slice s;
    memcpy(&s, at, sizeof s);
    return s;
}

static inline struct tlv_u32s load_u32s(const void *at) {
    struct tlv_u32s n;
    memcpy(&n, at, sizeof n);
    return n;
}

static inline struct tlv_list load_list(const void *at) {
    struct tlv_list list;
    memcpy(&list, at, sizeof list);
    return list;
}

/* The value of a kind 0 field as it goes into the varint. */
static inline uint64_t load_number(enum tlv_type type, const void *at) {
    union {
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        int64_t i64;
    } v;
    switch (type) {
    case TLV_BOOL:
    case TLV_U8:
    case TLV_ENUM: return *(const uint8_t *)at;
    case TLV_U16: memcpy(&v.u16, at, sizeof v.u16); return v.u16;
    case TLV_U32: memcpy(&v.u32, at, sizeof v.u32); return v.u32;
    case TLV_U64: memcpy(&v.u64, at, sizeof v.u64); return v.u64;
    case TLV_I64: memcpy(&v.i64, at, sizeof v.i64); return zigzag(v.i64);
    case TLV_TEXT:
    case TLV_BYTES:
    case TLV_HASH:
    case TLV_U32S:
    case TLV_MSG:
    case TLV_LIST:
    case TLV_RAW: break;
    }
    PANIC("not a number");
}

static bool is_within(uint64_t size, uint32_t max) {
    return max == 0 || size <= max;
}

/* Most parts of most messages are not there. Whoever sees that at a glance need not walk their tables. */
bool tlv_is_blank(const struct tlv_desc *d, const void *from) {
    const uint8_t *bytes = from;
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, d->size - 1) == 0;
}

bool tlv_is_empty(const struct tlv_desc *d, const void *from) {
    for (uint32_t i = 0; i < d->field_count; i++)
        if (tlv_has(&d->fields[i], from)) return false;
    return true;
}

/* ---- encoding ---- */

static inline uint8_t *write_varint(uint8_t *at, uint64_t v) {
    while (v >= 0x80) {
        *at++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *at++ = (uint8_t)v;
    return at;
}

/* Two varints in one go, straight into the buffer while it has room to spare. */
static inline void put_pair(struct buf *out, uint64_t a, uint64_t b) {
    uint8_t aside[2 * VARINT_BYTES_MAX];
    bool has_room = out->slots - out->len >= sizeof aside && !out->full;
    uint8_t *start = has_room ? out->at + out->len : aside;
    uint8_t *end = write_varint(write_varint(start, a), b);
    if (has_room) {
        out->len += (size_t)(end - start);
    } else {
        buf_put(out, aside, (size_t)(end - aside));
    }
}

static inline void put_bytes(struct buf *out, uint64_t key, struct slice s) {
    put_pair(out, key, s.len);
    if (out->slots - out->len >= s.len && !out->full) {
        memcpy(out->at + out->len, s.ptr, s.len);
        out->len += s.len;
    } else {
        buf_put(out, s.ptr, s.len);
    }
}

/* A body whose length is known only once it is written gets one byte for it up front, and is moved on in the rare
 * case that one byte does not suffice. Returns where the body starts. */
static inline size_t open_body(struct buf *out) {
    if (out->slots > out->len && !out->full)
        out->at[out->len++] = 0;
    else
        buf_put_u8(out, 0);
    return out->len;
}

static void close_long(struct buf *out, size_t start) {
    if (out->full) return;
    uint8_t length[VARINT_BYTES_MAX];
    size_t body_bytes = out->len - start;
    size_t length_bytes = (size_t)(write_varint(length, body_bytes) - length);
    if (!buf_space(out, length_bytes - 1)) return;
    memmove(out->at + start - 1 + length_bytes, out->at + start, body_bytes);
    memcpy(out->at + start - 1, length, length_bytes);
}

static inline void close_body(struct buf *out, size_t start) {
    if (out->len - start < 0x80 && !out->full)
        out->at[start - 1] = (uint8_t)(out->len - start);
    else
        close_long(out, start);
}

static void put_numbers(struct buf *out, uint64_t key, struct tlv_u32s numbers) {
    REQUIRE(numbers.at != NULL);
    buf_put_varint(out, key);
    size_t start = open_body(out);
    for (uint32_t i = 0; i < numbers.count; i++) {
        if (out->slots - out->len >= 5 && !out->full) {
            out->len = (size_t)(write_varint(out->at + out->len, numbers.at[i]) - out->at);
        } else {
            buf_put_varint(out, numbers.at[i]);
        }
    }
    close_body(out, start);
}

static void put_message(const struct tlv_desc *d, const void *from, struct buf *out) {
    size_t start = open_body(out);
    tlv_encode(d, from, out);
    close_body(out, start);
}

/* Written first and taken back when it was nothing, which is cheaper than looking twice; but what is taken back must
 * not be what made the buffer full. */
static void put_part(struct buf *out, uint64_t key, const struct tlv_desc *d, const void *from) {
    size_t before = out->len;
    if (out->max - out->len <= VARINT_BYTES_MAX && tlv_is_empty(d, from)) return;
    buf_put_varint(out, key);
    size_t start = open_body(out);
    tlv_encode(d, from, out);
    if (out->full) return;
    if (out->len > start)
        close_body(out, start);
    else
        buf_cut(out, before);
}

static const struct tlv_field *raw_field(const struct tlv_desc *d) {
    const struct tlv_field *last = &d->fields[d->field_count - 1];
    REQUIRE(last->type == TLV_RAW);
    return last;
}

/* What was not looked into has its bytes and nothing else. */
static void put_lazy(const struct tlv_desc *d, const void *from, struct buf *out) {
    struct slice raw = load_slice(field_in(raw_field(d), from));
    if (raw.ptr == NULL) {
        put_message(d, from, out);
        return;
    }
    buf_put_varint(out, raw.len);
    buf_put_slice(out, raw);
}

static void put_list(struct buf *out, uint64_t key, const struct tlv_field *f, struct tlv_list list) {
    REQUIRE(list.at != NULL);
    buf_put_varint(out, key);
    size_t start = open_body(out);
    buf_put_varint(out, list.count);
    for (uint32_t i = 0; i < list.count; i++) {
        const void *item = (const uint8_t *)list.at + (size_t)i * f->sub->size;
        if (f->lazy)
            put_lazy(f->sub, item, out);
        else
            put_message(f->sub, item, out);
    }
    close_body(out, start);
}

/* Panics on a number that its field does not allow: such a struct could not be read back. */
static void require_number(const struct tlv_field *f, uint64_t v) {
    if (f->type == TLV_BOOL) REQUIRE(v <= 1);
    if (f->type == TLV_ENUM) REQUIRE(v < f->max);
}

static void put_slice(const struct tlv_field *f, uint64_t key, const void *at, struct buf *out) {
    struct slice s = load_slice(at);
    if (f->type == TLV_HASH) {
        REQUIRE(s.len == HASH_BYTES);
    } else {
        REQUIRE(is_within(s.len, f->max));
    }
    put_bytes(out, key, s);
}

void tlv_encode(const struct tlv_desc *d, const void *from, struct buf *out) {
    const struct tlv_field *end = d->fields + d->field_count;
    for (const struct tlv_field *f = d->fields; f < end; f++) {
        if (tlv_is_absent(f, from)) continue;
        const void *at = field_in(f, from);
        uint64_t key = (uint64_t)f->tag << 1;
        switch ((enum tlv_type)f->type) {
        case TLV_BOOL:
        case TLV_U8:
        case TLV_U16:
        case TLV_U32:
        case TLV_U64:
        case TLV_I64:
        case TLV_ENUM: {
            uint64_t v = load_number(f->type, at);
            require_number(f, v);
            put_pair(out, key, v);
            break;
        }
        case TLV_TEXT:
        case TLV_BYTES:
        case TLV_HASH: put_slice(f, key | 1, at, out); break;
        case TLV_U32S: {
            struct tlv_u32s numbers = load_u32s(at);
            REQUIRE(is_within(numbers.count, f->max));
            put_numbers(out, key | 1, numbers);
            break;
        }
        case TLV_LIST: {
            struct tlv_list list = load_list(at);
            REQUIRE(is_within(list.count, f->max));
            put_list(out, key | 1, f, list);
            break;
        }
        case TLV_MSG: put_part(out, key | 1, f->sub, at); break;
        case TLV_RAW: break;
        }
    }
}

/* ---- decoding ---- */

struct decoder {
    struct arena *arena;
    struct why *why;
    enum tlv_mode mode;
    uint32_t depth;
};

/* The rest of read_varint: two bytes and more. NULL when cut, overlong or wider than 64 bits. */
static const uint8_t *read_varint_slow(const uint8_t *at, const uint8_t *end, uint64_t *ret) {
    uint64_t v = 0;
    for (unsigned i = 0; i < VARINT_BYTES_MAX && at < end; i++) {
        uint8_t byte = *at++;
        if (i == VARINT_BYTES_MAX - 1 && byte > 1) return NULL;
        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80) continue;
        if (byte == 0 && i > 0) return NULL;
        *ret = v;
        return at;
    }
    return NULL;
}

static inline const uint8_t *read_varint(const uint8_t *at, const uint8_t *end, uint64_t *ret) {
    if (at < end && *at < 0x80) {
        *ret = *at;
        return at + 1;
    }
    if (end - at >= 2 && at[1] < 0x80 && at[1] != 0) { /* most lengths */
        *ret = (uint64_t)(at[0] & 0x7f) | (uint64_t)at[1] << 7;
        return at + 2;
    }
    return read_varint_slow(at, end, ret);
}

static enum err refuse(struct decoder *x, enum err e, const struct tlv_desc *d, const struct tlv_field *f,
                       const char *text) {
    return why_set(x->why, e, "%s.%s: %s", d->name, f ? f->name : "?", text);
}

static enum err decode_message(struct decoder *x, const struct tlv_desc *d, struct slice in, void *into);

/* Stores a number into its zeroed field; false when it is too wide, or the default written out. */
static inline bool store_number(const struct tlv_field *f, uint64_t v, void *at) {
    if (v == 0) return false;
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL:
        if (v > 1) return false;
        *(uint8_t *)at = 1;
        return true;
    case TLV_ENUM:
        if (v >= f->max || v > UINT8_MAX) return false;
        *(uint8_t *)at = (uint8_t)v;
        return true;
    case TLV_U8:
        if (v > UINT8_MAX) return false;
        *(uint8_t *)at = (uint8_t)v;
        return true;
    case TLV_U16:
        if (v > UINT16_MAX) return false;
        memcpy(at, &(uint16_t){(uint16_t)v}, sizeof(uint16_t));
        return true;
    case TLV_U32:
        if (v > UINT32_MAX) return false;
        memcpy(at, &(uint32_t){(uint32_t)v}, sizeof(uint32_t));
        return true;
    case TLV_U64: memcpy(at, &v, sizeof v); return true;
    case TLV_I64: memcpy(at, &(int64_t){unzigzag(v)}, sizeof(int64_t)); return true;
    case TLV_TEXT:
    case TLV_BYTES:
    case TLV_HASH:
    case TLV_U32S:
    case TLV_MSG:
    case TLV_LIST:
    case TLV_RAW: break;
    }
    return false;
}

static enum err decode_numbers(struct decoder *x, const struct tlv_desc *d, const struct tlv_field *f,
                               struct slice body, void *at) {
    size_t count = 0;
    for (size_t i = 0; i < body.len; i++) count += body.ptr[i] < 0x80; /* the last byte of each number */
    if (!is_within(count, f->max) || count > UINT32_MAX) return refuse(x, ERR_LIMIT, d, f, "too many numbers");
    REQUIRE(x->arena != NULL);
    uint32_t *numbers = arena_try(x->arena, count * sizeof *numbers);
    if (!numbers) return refuse(x, ERR_LIMIT, d, f, "no room for the numbers");

    const uint8_t *p = body.ptr;
    const uint8_t *end = body.ptr + body.len;
    for (uint32_t i = 0; p < end; i++) {
        uint64_t v;
        p = read_varint(p, end, &v);
        if (!p || v > UINT32_MAX) return refuse(x, ERR_INVALID, d, f, "a number is malformed");
        numbers[i] = (uint32_t)v;
    }
    struct tlv_u32s ret = {numbers, (uint32_t)count};
    memcpy(at, &ret, sizeof ret);
    return ERR_OK;
}

/* Sets the TLV_RAW member, which the message must have. */
static void keep_raw(const struct tlv_desc *d, struct slice in, void *into) {
    memcpy((uint8_t *)into + raw_field(d)->offset, &in, sizeof in);
}

static enum err decode_list(struct decoder *x, const struct tlv_desc *d, const struct tlv_field *f, struct slice body,
                            void *at) {
    const uint8_t *end = body.ptr + body.len;
    uint64_t count;
    const uint8_t *p = read_varint(body.ptr, end, &count);
    /* Each item takes at least its length byte: a count beyond that is a lie, and must not size an allocation. */
    if (!p || count == 0 || count > (size_t)(end - p)) return refuse(x, ERR_INVALID, d, f, "its count is wrong");
    if (!is_within(count, f->max) || count > UINT32_MAX) return refuse(x, ERR_LIMIT, d, f, "too many items");
    REQUIRE(x->arena != NULL);
    size_t item_bytes = f->sub->size; /* both are of 32 bits */
    uint8_t *items = arena_try(x->arena, (size_t)count * item_bytes);
    if (!items) return refuse(x, ERR_LIMIT, d, f, "no room for the items");

    for (uint64_t i = 0; i < count; i++) {
        uint64_t len;
        p = read_varint(p, end, &len);
        if (!p || len > (size_t)(end - p)) return refuse(x, ERR_INVALID, d, f, "an item is cut");
        struct slice item = slice_of(p, (size_t)len);
        p += len;
        if (f->lazy && x->mode == TLV_LAZY) {
            keep_raw(f->sub, item, items + i * item_bytes);
            continue;
        }
        enum err e = decode_message(x, f->sub, item, items + i * item_bytes);
        if (e) return e;
    }
    if (p != end) return refuse(x, ERR_INVALID, d, f, "bytes after the last item");
    struct tlv_list ret = {items, (uint32_t)count};
    memcpy(at, &ret, sizeof ret);
    return ERR_OK;
}

static enum err decode_body(struct decoder *x, const struct tlv_desc *d, const struct tlv_field *f, struct slice body,
                            void *at) {
    if (body.len == 0) return refuse(x, ERR_INVALID, d, f, "an empty value is written out");
    switch ((enum tlv_type)f->type) {
    case TLV_HASH:
        if (body.len != HASH_BYTES) return refuse(x, ERR_INVALID, d, f, "a hash has 32 bytes");
        memcpy(at, &body, sizeof body);
        return ERR_OK;
    case TLV_TEXT:
    case TLV_BYTES:
        if (!is_within(body.len, f->max)) return refuse(x, ERR_LIMIT, d, f, "too long");
        memcpy(at, &body, sizeof body);
        return ERR_OK;
    case TLV_U32S: return decode_numbers(x, d, f, body, at);
    case TLV_LIST: return decode_list(x, d, f, body, at);
    case TLV_MSG: return decode_message(x, f->sub, body, at);
    case TLV_BOOL:
    case TLV_U8:
    case TLV_U16:
    case TLV_U32:
    case TLV_U64:
    case TLV_I64:
    case TLV_ENUM:
    case TLV_RAW: break;
    }
    return refuse(x, ERR_INVALID, d, f, "it should be a number");
}

/* `into` is zeroed. Fields with tags below `f->tag` are done. */
static enum err decode_fields(struct decoder *x, const struct tlv_desc *d, const struct tlv_field *fields_end,
                              struct slice in, void *into) {
    const struct tlv_field *f = d->fields;
    const uint8_t *p = in.ptr;
    const uint8_t *end = in.len ? p + in.len : p;
    uint64_t last_tag = 0;
    while (p < end) {
        uint64_t key;
        uint64_t value;
        p = read_varint(p, end, &key);
        if (p) p = read_varint(p, end, &value);
        if (!p) return refuse(x, ERR_INVALID, d, NULL, "a number is cut or overlong");
        uint64_t tag = key >> 1;
        if (tag <= last_tag) return refuse(x, ERR_INVALID, d, NULL, "fields out of order");
        last_tag = tag;
        while (f < fields_end && f->tag < tag) f++;
        bool is_known = f < fields_end && f->tag == tag;
        if (!is_known && x->mode != TLV_SKIP_UNKNOWN) {
            return why_set(x->why, ERR_UNSUPPORTED, "%s: unknown field %llu", d->name, (unsigned long long)tag);
        }
        if (key & 1) {
            if (value > (size_t)(end - p)) return refuse(x, ERR_INVALID, d, is_known ? f : NULL, "it is cut");
            struct slice body = slice_of(p, (size_t)value);
            p += value;
            enum err e = is_known ? decode_body(x, d, f, body, (uint8_t *)into + f->offset) : ERR_OK;
            if (e) return e;
        } else if (is_known && !store_number(f, value, (uint8_t *)into + f->offset)) {
            return refuse(x, ERR_INVALID, d, f, "not a value of this field");
        }
    }
    return ERR_OK;
}

static enum err decode_message(struct decoder *x, const struct tlv_desc *d, struct slice in, void *into) {
    if (x->depth == NESTING_MAX) return why_set(x->why, ERR_LIMIT, "%s: nested too deep", d->name);
    const struct tlv_field *fields_end = d->fields + d->field_count;
    if (d->field_count && fields_end[-1].type == TLV_RAW) {
        fields_end--;
        keep_raw(d, in, into);
    }
    x->depth++;
    enum err e = decode_fields(x, d, fields_end, in, into);
    x->depth--;
    return e;
}

enum err tlv_decode(const struct tlv_desc *d, struct slice in, enum tlv_mode mode, struct arena *arena, void *ret,
                    struct why *why) {
    struct decoder x = {arena, why, mode, 0};
    memset(ret, 0, d->size);
    return decode_message(&x, d, in, ret);
}

uint64_t tlv_tags(struct slice in) {
    const uint8_t *p = in.ptr;
    const uint8_t *end = in.len ? p + in.len : p;
    uint64_t tags = 0;
    while (p < end) {
        uint64_t key;
        uint64_t value;
        p = read_varint(p, end, &key);
        if (p) p = read_varint(p, end, &value);
        if (!p || ((key & 1) && value > (size_t)(end - p))) return 0;
        if (key & 1) p += value;
        if (key >> 1 < 64) tags |= UINT64_C(1) << (key >> 1);
    }
    return tags;
}

/* ---- checking ---- */

static enum err check_message(const struct tlv_desc *d, const void *from, uint32_t depth, struct why *why);

static enum err check_size(const struct tlv_desc *d, const struct tlv_field *f, const void *ptr, uint64_t size,
                           struct why *why) {
    if (size > 0 && !ptr) return why_set(why, ERR_INVALID, "%s.%s: it points nowhere", d->name, f->name);
    if (is_within(size, f->max)) return ERR_OK;
    return why_set(why, ERR_LIMIT, "%s.%s: %llu, at most %u", d->name, f->name, (unsigned long long)size, f->max);
}

static enum err check_items(const struct tlv_desc *d, const struct tlv_field *f, struct tlv_list list, uint32_t depth,
                            struct why *why) {
    enum err e = check_size(d, f, list.at, list.count, why);
    for (uint32_t i = 0; i < list.count && e == ERR_OK; i++) {
        e = check_message(f->sub, (const uint8_t *)list.at + (size_t)i * f->sub->size, depth, why);
        if (e) return why_wrap(why, e, "%s.%s[%u]", d->name, f->name, i);
    }
    return e;
}

static enum err check_field(const struct tlv_desc *d, const struct tlv_field *f, const void *at, uint32_t depth,
                            struct why *why) {
    switch ((enum tlv_type)f->type) {
    case TLV_BOOL:
        if (*(const uint8_t *)at > 1) return why_set(why, ERR_INVALID, "%s.%s: not a bool", d->name, f->name);
        return ERR_OK;
    case TLV_ENUM: {
        uint8_t v = *(const uint8_t *)at;
        if (v == 0 || v < f->max) return ERR_OK;
        return why_set(why, ERR_INVALID, "%s.%s: %u is none of its values", d->name, f->name, v);
    }
    case TLV_TEXT:
    case TLV_BYTES: return check_size(d, f, load_slice(at).ptr, load_slice(at).len, why);
    case TLV_HASH:
        if (load_slice(at).len == 0 || load_slice(at).len == HASH_BYTES) return ERR_OK;
        return why_set(why, ERR_INVALID, "%s.%s: a hash has 32 bytes", d->name, f->name);
    case TLV_U32S: return check_size(d, f, load_u32s(at).at, load_u32s(at).count, why);
    case TLV_LIST: return check_items(d, f, load_list(at), depth, why);
    case TLV_MSG: return check_message(f->sub, at, depth, why);
    case TLV_U8:
    case TLV_U16:
    case TLV_U32:
    case TLV_U64:
    case TLV_I64:
    case TLV_RAW: break;
    }
    return ERR_OK;
}

static enum err check_message(const struct tlv_desc *d, const void *from, uint32_t depth, struct why *why) {
    if (depth == NESTING_MAX) return why_set(why, ERR_LIMIT, "%s: nested too deep", d->name);
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct tlv_field *f = &d->fields[i];
        if (tlv_is_absent(f, from)) continue;
        enum err e = check_field(d, f, field_in(f, from), depth + 1, why);
        if (e) return e;
    }
    return ERR_OK;
}

enum err tlv_check(const struct tlv_desc *d, const void *from, struct why *why) {
    return check_message(d, from, 0, why);
}

/* ---- JSON ---- */

static void json_number(const struct tlv_field *f, const void *at, struct json *out) {
    uint64_t v = load_number(f->type, at);
    if (v == 0) return;
    json_key(out, f->name);
    if (f->type == TLV_BOOL) {
        json_bool(out, true);
    } else if (f->type == TLV_I64) {
        json_i64(out, unzigzag(v));
    } else if (f->type == TLV_ENUM && f->names && v < f->max) {
        json_str(out, f->names[v]);
    } else {
        json_u64(out, v);
    }
}

static void json_slice(const struct tlv_field *f, struct slice s, struct json *out) {
    char address[NETADDR_TEXT_BYTES];
    if (s.len == 0 || f->form == TLV_FORM_SECRET) return;
    json_key(out, f->name);
    if (f->form == TLV_FORM_ADDRESS && netaddr_text(s, address)) {
        json_str(out, address);
    } else if (f->type == TLV_TEXT) {
        json_text(out, s);
    } else if (f->type == TLV_HASH) {
        json_hex(out, s);
    } else {
        json_base64(out, s);
    }
}

static void json_numbers(const struct tlv_field *f, struct tlv_u32s numbers, struct json *out) {
    if (numbers.count == 0) return;
    json_key(out, f->name);
    json_array(out);
    for (uint32_t i = 0; i < numbers.count; i++) json_u64(out, numbers.at[i]);
    json_array_end(out);
}

static void json_list(const struct tlv_field *f, struct tlv_list list, struct json *out) {
    if (list.count == 0) return;
    json_key(out, f->name);
    json_array(out);
    for (uint32_t i = 0; i < list.count; i++) {
        json_object(out);
        tlv_json(f->sub, (const uint8_t *)list.at + (size_t)i * f->sub->size, out);
        json_object_end(out);
    }
    json_array_end(out);
}

void tlv_json(const struct tlv_desc *d, const void *from, struct json *out) {
    for (uint32_t i = 0; i < d->field_count; i++) {
        const struct tlv_field *f = &d->fields[i];
        const void *at = field_in(f, from);
        switch ((enum tlv_type)f->type) {
        case TLV_BOOL:
        case TLV_U8:
        case TLV_U16:
        case TLV_U32:
        case TLV_U64:
        case TLV_I64:
        case TLV_ENUM: json_number(f, at, out); break;
        case TLV_TEXT:
        case TLV_BYTES:
        case TLV_HASH: json_slice(f, load_slice(at), out); break;
        case TLV_U32S: json_numbers(f, load_u32s(at), out); break;
        case TLV_LIST: json_list(f, load_list(at), out); break;
        case TLV_MSG:
            if (tlv_is_empty(f->sub, at)) break;
            json_key(out, f->name);
            json_object(out);
            tlv_json(f->sub, at, out);
            json_object_end(out);
            break;
        case TLV_RAW: break;
        }
    }
}
