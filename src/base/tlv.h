/* tlv.h: described structs. One table says how a C struct looks as bytes; encoding, decoding, JSON and the tables
 * in docs/formats all come from it.
 *
 * On the wire a message is a run of fields in strictly ascending tag order, each `varint(tag << 1 | kind)`:
 * kind 0 is followed by a varint, kind 1 by a varint length and that many bytes. A field that equals its default
 * (zero, empty) is left out, so a new field changes no old bytes and no old digest. The form is canonical: one
 * value, one encoding; everything else (wrong order, overlong varint, written-out default, value too wide) is
 * refused. A list is kind 1 with `varint count`, then each item as `varint length, message`. An array of numbers is
 * kind 1 with varints back to back. */
#ifndef REEVE_TLV_H
#define REEVE_TLV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "slice.h"

enum tlv_type {
    TLV_BOOL,  /* bool */
    TLV_U8,    /* uint8_t */
    TLV_U16,   /* uint16_t */
    TLV_U32,   /* uint32_t */
    TLV_U64,   /* uint64_t */
    TLV_I64,   /* int64_t, zigzag */
    TLV_ENUM,  /* uint8_t below `max`; `names` gives the words */
    TLV_TEXT,  /* struct slice, UTF-8 for people; at most `max` bytes */
    TLV_BYTES, /* struct slice, anything; at most `max` bytes; base64 in JSON */
    TLV_HASH,  /* struct slice, empty or exactly 32 bytes; hex in JSON */
    TLV_U32S,  /* struct tlv_u32s, at most `max` numbers */
    TLV_MSG,   /* an embedded struct described by `sub`; left out when it encodes to nothing */
    TLV_LIST,  /* struct tlv_list of structs described by `sub`, at most `max` */
    TLV_RAW,   /* struct slice, never written: decoding sets it to the message's own bytes */
};

struct tlv_u32s {
    const uint32_t *at;
    uint32_t count;
};

struct tlv_list {
    void *at; /* an array of structs of sub->size bytes */
    uint32_t count;
};

struct tlv_desc;

/* What a TLV_TEXT, TLV_BYTES or TLV_ENUM is, for who shows and reads it; encoding and decoding do not care. */
enum tlv_form {
    TLV_FORM_ANY,
    TLV_FORM_RENAMED, /* an enumeration: behind its words stand as many old ones, which are read, too; NULL = none */
    TLV_FORM_JSON,    /* a JSON text */
    TLV_FORM_MESSAGE, /* a message, described by `sub` */
    TLV_FORM_ADDRESS, /* 4 or 16 bytes: of a machine */
    TLV_FORM_SECRET,  /* a hash of a secret, or a secret encrypted: shown to nobody */
};

struct tlv_field {
    uint16_t tag; /* 1 and up, ascending in the table (TLV_RAW: 0, last) */
    uint8_t type;
    uint8_t form; /* enum tlv_form */
    /* TLV_LIST: in mode TLV_LAZY its items get their TLV_RAW member and nothing else. An item that has one is written
     * as those bytes: who changes an item clears it. */
    bool lazy;
    uint16_t probe; /* where the eight bytes of the struct are that hold the number, length or count of the field */
    uint32_t offset;
    uint32_t max;
    uint64_t mask; /* its bits among those eight bytes: all zero = the field is absent; 0 = they cannot tell */
    const char *name;
    const struct tlv_desc *sub;
    const char *const *names; /* TLV_ENUM: its `max` words */
};

struct tlv_desc {
    const char *name;
    uint32_t size; /* sizeof the struct */
    uint32_t field_count;
    const struct tlv_field *fields;
};

/* Most fields of most messages are absent, so the table says where to look for that: one load and one test for a field
 * of any type. The eight bytes begin where the value does, or end with the struct where it is too short for that. So a
 * described struct has eight bytes at least: one of fewer does not compile, and TLV_ALONE before its member mends it */
#define TLV_ALONE _Alignas(uint64_t)
#define TLV_HAS_POINTER(type) (((type) >= TLV_TEXT && (type) <= TLV_U32S) || (type) == TLV_LIST) /* before its size */
#define TLV_HEAD_BYTES(type) (TLV_HAS_POINTER(type) ? offsetof(struct slice, len) : 0u)
#define TLV_VALUE_BYTES(type)                                             \
    ((type) == TLV_BOOL || (type) == TLV_U8 || (type) == TLV_ENUM    ? 1u \
     : (type) == TLV_U16                                             ? 2u \
     : (type) == TLV_U32 || (type) == TLV_U32S || (type) == TLV_LIST ? 4u \
                                                                     : 8u)
#define TLV_VALUE_AT(type, of, member) (offsetof(struct of, member) + TLV_HEAD_BYTES(type))
#define TLV_PROBE(type, of, member)                                                                            \
    ((type) == TLV_MSG || (type) == TLV_RAW                                   ? 0u                             \
     : TLV_VALUE_AT(type, of, member) + sizeof(uint64_t) <= sizeof(struct of) ? TLV_VALUE_AT(type, of, member) \
                                                                              : sizeof(struct of) - sizeof(uint64_t))
#define TLV_SKIPPED_BYTES(type, of, member) (TLV_VALUE_AT(type, of, member) - TLV_PROBE(type, of, member))
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define TLV_SHIFT(type, of, member) (8u * TLV_SKIPPED_BYTES(type, of, member))
#else
#define TLV_SHIFT(type, of, member) (64u - 8u * (TLV_SKIPPED_BYTES(type, of, member) + TLV_VALUE_BYTES(type)))
#endif
#define TLV_MASK(type, of, member)          \
    ((type) == TLV_MSG || (type) == TLV_RAW \
         ? 0u                               \
         : UINT64_MAX >> (64u - 8u * TLV_VALUE_BYTES(type)) << (TLV_SHIFT(type, of, member) & 63u))

/* clang-format off */
#define TLV_AT(type_, of_, member_)                                            \
    .type = (type_), .offset = offsetof(struct of_, member_),                  \
    .probe = TLV_PROBE(type_, of_, member_), .mask = TLV_MASK(type_, of_, member_)
#define TLV_FIELD(tag_, type_, struct_, member_, ...) \
    { .tag = (tag_), TLV_AT(type_, struct_, member_), .name = #member_, __VA_ARGS__ }
#define TLV_DESC(name_, struct_, fields_) \
    { .name = (name_), .size = sizeof(struct struct_), .field_count = sizeof(fields_) / sizeof((fields_)[0]), .fields = (fields_) }
/* clang-format on */

/* Appends the message. The struct must fit its own table (lengths, enum ranges): anything else is a panic. */
void tlv_encode(const struct tlv_desc *d, const void *from, struct buf *out);

/* Fills *ret (d->size bytes; on failure they mean nothing). Slices point into `in`; lists and arrays are in `arena`. */
enum tlv_mode { TLV_STRICT, TLV_SKIP_UNKNOWN, TLV_LAZY /* strict in what it reads */ };
CHECKED enum err tlv_decode(const struct tlv_desc *d, struct slice in, enum tlv_mode mode, struct arena *arena,
                            void *ret, struct why *why);

/* Which tags below 64 a message has, not looking into them, as bits; bytes that are no message have none. */
uint64_t tlv_tags(struct slice in);

/* All its bytes are zero, so it encodes to nothing. (The reverse need not hold: an empty slice may point somewhere.) */
bool tlv_is_blank(const struct tlv_desc *d, const void *from);

/* The field is left out of the message at `from`; of a message that is empty but not blank the answer is no. */
static inline bool tlv_is_absent(const struct tlv_field *f, const void *from) {
    const uint8_t *bytes = from;
    uint64_t probed;
    memcpy(&probed, bytes + f->probe, sizeof probed);
    if (f->mask != 0) return (probed & f->mask) == 0;
    return f->type == TLV_RAW || tlv_is_blank(f->sub, bytes + f->offset);
}

/* Whether the message encodes to nothing. */
bool tlv_is_empty(const struct tlv_desc *d, const void *from);
/* The field is in the message as it encodes. */
static inline bool tlv_has(const struct tlv_field *f, const void *from) {
    if (tlv_is_absent(f, from)) return false;
    return f->type != TLV_MSG || !tlv_is_empty(f->sub, (const uint8_t *)from + f->offset);
}

/* Checks what tlv_encode would panic on; names the field. For structs that were filled from outside. */
CHECKED enum err tlv_check(const struct tlv_desc *d, const void *from, struct why *why);

struct json;
/* Writes the fields as members of the JSON object that is open in `out`, defaults left out. */
void tlv_json(const struct tlv_desc *d, const void *from, struct json *out);

#endif
