/* json_read.c: see json_read.h. One pass over the bytes, no recursion: what is open is a bit per level. */
#include "json_read.h"

#include <endian.h>
#include <stdio.h>

#include "hex.h"
#include "limit.h"
#include "panic.h"
#include "utf8.h"

enum expected {
    EXPECT_VALUE,         /* at the beginning, or after a comma in an array */
    EXPECT_VALUE_OR_END,  /* after [ */
    EXPECT_KEY,           /* after a comma in an object */
    EXPECT_KEY_OR_END,    /* after { */
    EXPECT_COMMA_OR_END,  /* after a member or an item */
    EXPECT_NOTHING,       /* after the value */
    EXPECT_NOTHING_AT_ALL /* after a refusal */
};

const char *json_kind_word(enum json_kind kind) {
    switch (kind) {
    case JSON_NULL: return "null";
    case JSON_BOOL: return "true or false";
    case JSON_NUMBER: return "a number";
    case JSON_TEXT: return "a text";
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_OBJECT_END: return "the end of an object";
    case JSON_ARRAY_END: return "the end of an array";
    case JSON_OVER: return "the end";
    }
    PANIC("no such kind");
}

/* ---- places and refusals ---- */

struct json_place json_place(struct slice in, uint32_t at) {
    REQUIRE(at <= in.len);
    struct json_place place = {1, 1};
    for (uint32_t i = 0; i < at; i++) {
        if (in.ptr[i] == '\n') {
            place.line++;
            place.column = 1;
        } else if ((in.ptr[i] & 0xc0) != 0x80) {
            place.column++;
        }
    }
    return place;
}

static uint32_t offset_of(const struct json_read *r, const uint8_t *at) {
    return (uint32_t)(at - r->in.ptr);
}

static enum err refuse(struct json_read *r, enum err e, const uint8_t *at, const char *text) {
    r->expected = EXPECT_NOTHING_AT_ALL;
    r->bad_at = offset_of(r, at);
    struct json_place place = json_place(r->in, r->bad_at);
    return why_set(r->why, e, "line %u, column %u: %s", place.line, place.column, text);
}

static enum err refuse_found(struct json_read *r, const uint8_t *at, const char *wanted) {
    char text[160];
    if (at == r->end) {
        (void)snprintf(text, sizeof text, "expected %s, found the end", wanted);
    } else if (*at > 0x20 && *at < 0x7f) {
        (void)snprintf(text, sizeof text, "expected %s, found '%c'", wanted, *at);
    } else {
        (void)snprintf(text, sizeof text, "expected %s, found the byte 0x%02x", wanted, *at);
    }
    return refuse(r, ERR_INVALID, at, text);
}

/* ---- texts ---- */

/* Most texts are plain: eight bytes are looked at in one step. */

struct json_fault { /* what is wrong with a text, and where */
    enum err err;
    const uint8_t *at;
    const char *text;
};

static inline bool is_plain(uint8_t c) {
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* The top bit of each of eight bytes that is not plain: quote, backslash, control character or above 0x7f. A borrow may
 * set bits behind the first of them, never before it. */
static inline uint64_t specials_in(const uint8_t *at) {
    uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u, v;
    memcpy(&v, at, sizeof v);
    v = le64toh(v);
    uint64_t quote = v ^ ones * '"', escape = v ^ ones * '\\';
    return (((quote - ones) & ~quote) | ((escape - ones) & ~escape) | (v - ones * 0x20) | v) & highs;
}

static inline const uint8_t *skip_ascii(const uint8_t *p, const uint8_t *end) {
    for (; end - p >= 8; p += 8) {
        uint64_t specials = specials_in(p);
        if (specials) return p + __builtin_ctzll(specials) / 8;
    }
    while (p < end && is_plain(*p)) p++;
    return p;
}

/* Moves over plain bytes and UTF-8 sequences; stops at a quote, an escape, a bad byte or the end. */
static const uint8_t *skip_plain(const uint8_t *p, const uint8_t *end) {
    for (;;) {
        p = skip_ascii(p, end);
        if (p == end || *p < 0x80) return p;
        size_t len = utf8_sequence(slice_of(p, (size_t)(end - p)));
        if (len == 0) return p;
        p += len;
    }
}

static const uint8_t *text_fault(struct json_fault *fault, enum err e, const uint8_t *at, const char *text) {
    *fault = (struct json_fault){e, at, text};
    return NULL;
}

/* The text that began at `start` cannot go on at `at`. */
static const uint8_t *refuse_byte(struct json_fault *fault, const uint8_t *start, const uint8_t *at,
                                  const uint8_t *end) {
    if (at == end) return text_fault(fault, ERR_INVALID, start, "expected a closing quote, found the end");
    if (*at >= 0x80) return text_fault(fault, ERR_INVALID, at, "expected UTF-8 in a text");
    return text_fault(fault, ERR_INVALID, at, "expected control characters in a text to be escaped");
}

/* The four hex digits after \u; -1 when they are not four. */
static int32_t hex4(const uint8_t *at, const uint8_t *end) {
    if (end - at < 4) return -1;
    int32_t code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(at[i]);
        if (digit < 0) return -1;
        code = code << 4 | digit;
    }
    return code;
}

/* The code point of the escape whose backslash is at `at`. Returns what is behind it, or NULL. */
static const uint8_t *read_escape(const uint8_t *at, const uint8_t *end, uint32_t *ret, struct json_fault *fault) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    static const char *const escapes = "expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u with four hex digits";
    const uint8_t *p = at + 1;
    const char *name = p < end && *p ? strchr(names, *p) : NULL;
    if (name) {
        *ret = (uint8_t)values[name - names];
        return p + 1;
    }
    int32_t high = p < end && *p == 'u' ? hex4(p + 1, end) : -1;
    if (high < 0) return text_fault(fault, ERR_INVALID, at, escapes);
    p += 5;
    *ret = (uint32_t)high;
    if (high < 0xd800 || high > 0xdfff) return p;
    int32_t low = high < 0xdc00 && end - p >= 2 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
    if (low < 0xdc00 || low > 0xdfff)
        return text_fault(fault, ERR_INVALID, at, "expected both halves of a surrogate pair");
    *ret = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return p + 6;
}

/* A text with escapes, whose first one is at `p`. */
static const uint8_t *read_escaped(const uint8_t *start, const uint8_t *p, const uint8_t *end, struct arena *arena,
                                   struct slice *ret, struct json_fault *fault) {
    const uint8_t *quote = p; /* an upper bound of the length: escapes are longer than what they stand for */
    while (quote < end && *quote != '"') quote += *quote == '\\' && end - quote > 1 ? 2 : 1;
    uint8_t *text = arena_try(arena, (size_t)(quote - start) + UTF8_BYTES_MAX);
    if (!text) return text_fault(fault, ERR_LIMIT, start, "no room for this text");
    size_t len = (size_t)(p - start - 1);
    memcpy(text, start + 1, len);
    while (p < end && *p == '\\') {
        uint32_t code;
        const uint8_t *plain = read_escape(p, end, &code, fault);
        if (!plain) return NULL;
        len += utf8_write(code, text + len);
        p = skip_plain(plain, end);
        memcpy(text + len, plain, (size_t)(p - plain));
        len += (size_t)(p - plain);
    }
    if (p == end || *p != '"') return refuse_byte(fault, start, p, end);
    *ret = slice_of(text, len);
    return p + 1;
}

/* Reads the text whose opening quote is at `start`. Returns what is behind its closing quote, or NULL with the fault.
 * Without escapes *ret is a slice of the input, else it is in the arena. */
static const uint8_t *text_read(const uint8_t *start, const uint8_t *end, struct arena *arena, struct slice *ret,
                                struct json_fault *fault) {
    const uint8_t *p = skip_plain(start + 1, end);
    if (p < end && *p == '\\') return read_escaped(start, p, end, arena, ret, fault);
    if (p == end || *p != '"') return refuse_byte(fault, start, p, end);
    *ret = slice_of(start + 1, (size_t)(p - start - 1));
    return p + 1;
}

/* r->at is at the opening quote, and moves behind the closing one. */
static enum err read_text(struct json_read *r, struct slice *ret) {
    struct json_fault fault;
    const uint8_t *behind = text_read(r->at, r->end, r->arena, ret, &fault);
    if (!behind) return refuse(r, fault.err, fault.at, fault.text);
    r->at = behind;
    return ERR_OK;
}

/* ---- numbers and words ---- */

static inline bool is_digit(const uint8_t *p, const uint8_t *end) {
    return p < end && *p >= '0' && *p <= '9';
}

static const uint8_t *skip_digits(const uint8_t *p, const uint8_t *end) {
    while (is_digit(p, end)) p++;
    return p;
}

static enum err read_number(struct json_read *r, struct slice *ret) {
    const uint8_t *p = r->at;
    if (*p == '-') p++;
    if (!is_digit(p, r->end)) return refuse_found(r, p, "a digit");
    if (*p == '0' && is_digit(p + 1, r->end)) return refuse(r, ERR_INVALID, p, "expected no leading zero");
    p = skip_digits(p, r->end);
    if (p < r->end && *p == '.') {
        if (!is_digit(++p, r->end)) return refuse_found(r, p, "a digit after the point");
        p = skip_digits(p, r->end);
    }
    if (p < r->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < r->end && (*p == '+' || *p == '-')) p++;
        if (!is_digit(p, r->end)) return refuse_found(r, p, "a digit of the exponent");
        p = skip_digits(p, r->end);
    }
    *ret = slice_of(r->at, (size_t)(p - r->at));
    r->at = p;
    return ERR_OK;
}

static bool take_word(struct json_read *r, struct slice word) {
    if ((size_t)(r->end - r->at) < word.len || memcmp(r->at, word.ptr, word.len) != 0) return false;
    r->at += word.len;
    return true;
}

/* ---- levels ---- */

static bool in_object(const struct json_read *r) {
    uint32_t level = r->depth - 1;
    return r->is_object[level / 64] >> level % 64 & 1;
}

static enum err open_level(struct json_read *r, bool is_object) {
    if (r->depth == r->depth_max) return refuse(r, ERR_LIMIT, r->at, "nested too deep (json_depth_max)");
    uint64_t bit = (uint64_t)1 << r->depth % 64;
    uint64_t *word = &r->is_object[r->depth / 64];
    *word = is_object ? *word | bit : *word & ~bit;
    r->level_keys[r->depth++] = r->keys.count;
    r->expected = is_object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    r->at++;
    return ERR_OK;
}

static enum err close_level(struct json_read *r, struct json_token *ret) {
    bool is_object = in_object(r);
    uint32_t repeated_at;
    if (is_object && json_keys_end(&r->keys, r->level_keys[r->depth - 1], &repeated_at))
        return refuse(r, ERR_INVALID, r->in.ptr + repeated_at, "expected each key of an object once");
    ret->kind = is_object ? JSON_OBJECT_END : JSON_ARRAY_END;
    ret->at = offset_of(r, r->at);
    r->depth--;
    r->expected = r->depth ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
    r->at++;
    return ERR_OK;
}

/* ---- tokens ---- */

static inline void skip_space(struct json_read *r) {
    const uint8_t *p = r->at;
    while (p < r->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t')) p++;
    r->at = p;
}

static enum err read_value(struct json_read *r, struct json_token *ret) {
    ret->at = offset_of(r, r->at);
    uint8_t first = r->at < r->end ? *r->at : 0;
    if (first == '{' || first == '[') {
        ret->kind = first == '{' ? JSON_OBJECT : JSON_ARRAY;
        return open_level(r, first == '{');
    }
    enum err e = ERR_OK;
    if (first == '"') {
        ret->kind = JSON_TEXT;
        e = read_text(r, &ret->text);
    } else if (first == '-' || (first >= '0' && first <= '9')) {
        ret->kind = JSON_NUMBER;
        e = read_number(r, &ret->text);
    } else if (first == 't' && take_word(r, SLICE("true"))) {
        ret->kind = JSON_BOOL;
        ret->truth = true;
    } else if (first == 'f' && take_word(r, SLICE("false"))) {
        ret->kind = JSON_BOOL;
    } else if (first == 'n' && take_word(r, SLICE("null"))) {
        ret->kind = JSON_NULL;
    } else {
        return refuse_found(r, r->at, r->expected == EXPECT_VALUE_OR_END ? "a value or ]" : "a value");
    }
    r->expected = r->depth ? EXPECT_COMMA_OR_END : EXPECT_NOTHING;
    return e;
}

static enum err read_member(struct json_read *r, struct json_token *ret) {
    if (r->at == r->end || *r->at != '"')
        return refuse_found(r, r->at, r->expected == EXPECT_KEY_OR_END ? "a key in quotes or }" : "a key in quotes");
    ret->is_member = true;
    ret->key_at = offset_of(r, r->at);
    enum err e = read_text(r, &ret->key);
    if (e) return e;
    if (!json_keys_add(&r->keys, r->arena, ret->key, ret->key_at))
        return refuse(r, ERR_LIMIT, r->in.ptr + ret->key_at, "no room for so many keys");
    skip_space(r);
    if (r->at == r->end || *r->at != ':') return refuse_found(r, r->at, "a colon after the key");
    r->at++;
    skip_space(r);
    r->expected = EXPECT_VALUE;
    return read_value(r, ret);
}

void json_read_init(struct json_read *r, struct slice in, const struct limits *limits, struct arena *arena,
                    struct why *why) {
    REQUIRE(limits->json_depth_max <= JSON_READ_DEPTH_MAX);
    REQUIRE(limits->json_bytes_max < UINT32_MAX);
    if (in.len == 0) in = SLICE("");
    *r = (struct json_read){.in = in, .at = in.ptr, .end = in.ptr + in.len, .arena = arena, .why = why};
    r->depth_max = (uint32_t)limits->json_depth_max;
    r->expected = EXPECT_VALUE;
    if (in.len > (size_t)limits->json_bytes_max) {
        r->expected = EXPECT_NOTHING_AT_ALL;
        (void)why_set(why, ERR_LIMIT, "a JSON text of %zu bytes, at most %lld (json_bytes_max)", in.len,
                      (long long)limits->json_bytes_max);
    }
}

/* Whether the bracket that closes the innermost level may come here, and does. */
static bool is_level_over(const struct json_read *r) {
    bool may_end =
        r->expected == EXPECT_VALUE_OR_END || r->expected == EXPECT_KEY_OR_END || r->expected == EXPECT_COMMA_OR_END;
    return may_end && r->at < r->end && *r->at == (in_object(r) ? '}' : ']');
}

static enum err take_comma(struct json_read *r) {
    if (r->at == r->end || *r->at != ',') return refuse_found(r, r->at, in_object(r) ? "a comma or }" : "a comma or ]");
    r->at++;
    skip_space(r);
    r->expected = in_object(r) ? EXPECT_KEY : EXPECT_VALUE;
    return ERR_OK;
}

static enum err read_token(struct json_read *r, struct json_token *ret) {
    if (is_level_over(r)) return close_level(r, ret);
    if (r->expected == EXPECT_COMMA_OR_END) {
        enum err e = take_comma(r);
        if (e) return e;
    }
    switch ((enum expected)r->expected) {
    case EXPECT_VALUE:
    case EXPECT_VALUE_OR_END: return read_value(r, ret);
    case EXPECT_KEY:
    case EXPECT_KEY_OR_END: return read_member(r, ret);
    case EXPECT_NOTHING:
        ret->kind = JSON_OVER;
        ret->at = offset_of(r, r->at);
        return r->at == r->end ? ERR_OK : refuse_found(r, r->at, "nothing after the value");
    case EXPECT_COMMA_OR_END:
    case EXPECT_NOTHING_AT_ALL: break;
    }
    return ERR_LIMIT; /* too long from the beginning, or refused before */
}

enum err json_read_next(struct json_read *r, const struct json_token **ret) {
    r->token = (struct json_token){.kind = JSON_NULL};
    skip_space(r);
    enum err e = read_token(r, &r->token);
    if (e == ERR_OK) *ret = &r->token;
    return e;
}

enum err json_read_skip(struct json_read *r) {
    REQUIRE(r->depth > 0);
    uint32_t outside = r->depth - 1;
    while (r->depth > outside) {
        const struct json_token *token;
        enum err e = json_read_next(r, &token);
        if (e) return e;
    }
    return ERR_OK;
}
