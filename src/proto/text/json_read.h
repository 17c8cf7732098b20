/* json_read.h: a strict, bounded JSON reader. It reads a whole text that is in memory and hands out one token after the
 * other; json_tree.h builds a tree from them.
 *
 * Strict is RFC 8259 to the letter: UTF-8, no byte order mark, no comments, no trailing commas, one value. Where the
 * RFC leaves a choice, what could be misunderstood is refused: a key that occurs twice in its object, and an escape
 * that is half of a surrogate pair. Numbers are handed out as they are written, so that none is rounded; a text may
 * hold U+0000, and whoever passes it on as a C string must look.
 *
 * Texts without escapes are slices of the input; the others, and the keys of the objects that are open, are in the
 * arena. A refusal names line, column and what was expected. */
#ifndef REEVE_JSON_READ_H
#define REEVE_JSON_READ_H

#include "arena.h"
#include "err.h"
#include "json_keys.h"
#include "slice.h"

struct limits; /* limit.h */

#define JSON_READ_DEPTH_MAX 256u /* what json_depth_max may be set to at most */

enum json_kind {
    JSON_NULL,
    JSON_BOOL,
    JSON_NUMBER,
    JSON_TEXT,
    JSON_OBJECT, /* its members follow, then JSON_OBJECT_END */
    JSON_ARRAY,  /* its items follow, then JSON_ARRAY_END */
    JSON_OBJECT_END,
    JSON_ARRAY_END,
    JSON_OVER, /* the text ended as it should; from here on every token is this one */
};
const char *json_kind_word(enum json_kind kind); /* "an object", for messages */

struct json_token {
    enum json_kind kind;
    bool is_member;  /* of an object: `key` is its name */
    bool truth;      /* of JSON_BOOL */
    uint32_t at;     /* offset of the value in the input */
    uint32_t key_at; /* offset of the key */
    struct slice key;
    struct slice text; /* JSON_TEXT: what it says; JSON_NUMBER: as it was written */
};

struct json_read {
    struct slice in;
    const uint8_t *at, *end;
    struct arena *arena;
    struct why *why;
    struct json_token token; /* the last */
    uint8_t expected;        /* what may come next */
    uint32_t depth, depth_max;
    uint64_t is_object[JSON_READ_DEPTH_MAX / 64]; /* a bit per level */
    struct json_keys keys;
    uint32_t level_keys[JSON_READ_DEPTH_MAX]; /* where the keys of each level begin */
    uint32_t bad_at;                          /* after a refusal: offset of what was refused */
};

/* The input stays with the caller for as long as tokens are used. `why` may be NULL. */
void json_read_init(struct json_read *r, struct slice in, const struct limits *limits, struct arena *arena,
                    struct why *why);
/* ERR_INVALID for what is not JSON, ERR_LIMIT for what is too long, too deep or more than the arena holds. After a
 * refusal the reader is of no further use. The token is valid until the next call. */
CHECKED enum err json_read_next(struct json_read *r, const struct json_token **ret);
/* After JSON_OBJECT or JSON_ARRAY: reads up to and with its end. */
CHECKED enum err json_read_skip(struct json_read *r);

/* Lines and columns count from 1, columns in characters. */
struct json_place {
    uint32_t line, column;
};
struct json_place json_place(struct slice in, uint32_t at);

/* The value of a number that was written as `text`. Integers have neither fraction nor exponent; what does not fit is
 * refused (ERR_LIMIT), never rounded. f64 is the nearest double. */
CHECKED enum err json_number_i64(struct slice text, int64_t *ret);
CHECKED enum err json_number_u64(struct slice text, uint64_t *ret);
CHECKED enum err json_number_f64(struct slice text, double *ret);

#endif
