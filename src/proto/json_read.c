/* json_read.c: see json_read.h. One pass over the bytes, no recursion: what is open is a bit per level.
 *
 * Keys that occur twice are found when their object ends. Up to then its keys are kept on a stack, each with a mark
 * made of its length and first bytes; few keys are compared each with each, many are sorted first. The order of a
 * heapsort does not depend on luck, so no input makes this slow. */
#include "json_read.h"

#include <stdio.h>

#include "panic.h"
#include "utf8.h"

struct json_key_seen {
    uint64_t mark;
    struct slice text;
    uint32_t at;
};

enum expected {
    EXPECT_VALUE,         /* at the beginning, or after a comma in an array */
    EXPECT_VALUE_OR_END,  /* after [ */
    EXPECT_KEY,           /* after a comma in an object */
    EXPECT_KEY_OR_END,    /* after { */
    EXPECT_COMMA_OR_END,  /* after a member or an item */
    EXPECT_NOTHING,       /* after the value */
    EXPECT_NOTHING_AT_ALL /* after a refusal */
};

#define KEYS_COMPARED_MAX 16u
#define KEY_SLOTS_FIRST 64u

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

/* Eight bytes at once: whether all are plain, that is neither quote, backslash, control character nor above 0x7f. */
static inline bool are_plain(const uint8_t *at) {
    uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u, v;
    memcpy(&v, at, sizeof v);
    uint64_t quote = v ^ ones * '"', escape = v ^ ones * '\\';
    uint64_t special = ((quote - ones) & ~quote) | ((escape - ones) & ~escape) | (v - ones * 0x20) | v;
    return (special & highs) == 0;
}

static inline bool is_plain(uint8_t c) {
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static int hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
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

/* The code point of an escape whose backslash is at `at`, and where it ends; NULL when refused. */
static const uint8_t *read_escape(struct json_read *r, const uint8_t *at, uint32_t *ret) {
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    const uint8_t *p = at + 1;
    const char *name = p < r->end && *p ? strchr(names, *p) : NULL;
    if (name) {
        *ret = (uint8_t)values[name - names];
        return p + 1;
    }
    int32_t high = p < r->end && *p == 'u' ? hex4(p + 1, r->end) : -1;
    if (high < 0) {
        (void)refuse(r, ERR_INVALID, at,
                     "expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t or \\u with four hex digits");
        return NULL;
    }
    p += 5;
    *ret = (uint32_t)high;
    if (high < 0xd800 || high > 0xdfff) return p;
    int32_t low = high < 0xdc00 && r->end - p >= 2 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, r->end) : -1;
    if (low < 0xdc00 || low > 0xdfff) {
        (void)refuse(r, ERR_INVALID, at, "expected both halves of a surrogate pair");
        return NULL;
    }
    *ret = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return p + 6;
}

/* Moves over plain bytes and UTF-8 sequences; stops at a quote, an escape, a bad byte or the end. */
static const uint8_t *skip_plain(const uint8_t *p, const uint8_t *end) {
    for (;;) {
        while (end - p >= 8 && are_plain(p)) p += 8;
        while (p < end && is_plain(*p)) p++;
        if (p == end || *p < 0x80) return p;
        size_t len = utf8_sequence(slice_of(p, (size_t)(end - p)));
        if (len == 0) return p;
        p += len;
    }
}

static enum err refuse_text(struct json_read *r, const uint8_t *start, const uint8_t *at) {
    if (at == r->end) return refuse(r, ERR_INVALID, start, "expected a closing quote, found the end");
    if (*at >= 0x80) return refuse(r, ERR_INVALID, at, "expected UTF-8 in a text");
    return refuse_found(r, at, "control characters in a text to be escaped");
}

/* The end of a text with escapes, from the first escape on; its beginning is plain. */
static enum err read_escaped(struct json_read *r, const uint8_t *start, const uint8_t *p, struct slice *ret) {
    const uint8_t *quote = p; /* an upper bound of the length: escapes are longer than what they stand for */
    while (quote < r->end && *quote != '"') quote += *quote == '\\' && r->end - quote > 1 ? 2 : 1;
    uint8_t *text = arena_try(r->arena, (size_t)(quote - start) + UTF8_BYTES_MAX);
    if (!text) return refuse(r, ERR_LIMIT, start, "no room for this text");
    size_t len = (size_t)(p - start - 1);
    memcpy(text, start + 1, len);
    while (p < r->end && *p == '\\') {
        uint32_t code;
        p = read_escape(r, p, &code);
        if (!p) return ERR_INVALID;
        len += utf8_write(code, text + len);
        const uint8_t *plain = p;
        p = skip_plain(p, r->end);
        memcpy(text + len, plain, (size_t)(p - plain));
        len += (size_t)(p - plain);
    }
    if (p == r->end || *p != '"') return refuse_text(r, start, p);
    r->at = p + 1;
    *ret = slice_of(text, len);
    return ERR_OK;
}

/* r->at is at the opening quote, and moves behind the closing one. */
static enum err read_text(struct json_read *r, struct slice *ret) {
    const uint8_t *start = r->at;
    const uint8_t *p = skip_plain(start + 1, r->end);
    if (p < r->end && *p == '"') {
        *ret = slice_of(start + 1, (size_t)(p - start - 1));
        r->at = p + 1;
        return ERR_OK;
    }
    if (p < r->end && *p == '\\') return read_escaped(r, start, p, ret);
    return refuse_text(r, start, p);
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

/* ---- keys ---- */

static uint64_t mark_of(struct slice key) {
    uint64_t mark = 0;
    memcpy(&mark, key.ptr, key.len < 7 ? key.len : 7);
    return mark << 8 | (key.len & 0xff);
}

static enum err remember_key(struct json_read *r, struct slice key, uint32_t at) {
    if (r->key_count == r->key_slots) {
        uint32_t slots = r->key_slots ? r->key_slots * 2 : KEY_SLOTS_FIRST;
        struct json_key_seen *keys = arena_try(r->arena, slots * sizeof *keys);
        if (!keys) return refuse(r, ERR_LIMIT, r->in.ptr + at, "no room for so many keys");
        if (r->key_count) memcpy(keys, r->keys, r->key_count * sizeof *keys);
        r->keys = keys;
        r->key_slots = slots;
    }
    r->keys[r->key_count++] = (struct json_key_seen){mark_of(key), key, at};
    return ERR_OK;
}

static int key_order(const struct json_key_seen *a, const struct json_key_seen *b) {
    if (a->mark != b->mark) return a->mark < b->mark ? -1 : 1;
    int order = slice_cmp(a->text, b->text);
    if (order != 0) return order;
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool is_same_key(const struct json_key_seen *a, const struct json_key_seen *b) {
    return a->mark == b->mark && slice_eq(a->text, b->text);
}

static void sift_down(struct json_key_seen *keys, uint32_t from, uint32_t count) {
    struct json_key_seen moved = keys[from];
    for (uint32_t child; (child = 2 * from + 1) < count; from = child) {
        if (child + 1 < count && key_order(&keys[child], &keys[child + 1]) < 0) child++;
        if (key_order(&moved, &keys[child]) >= 0) break;
        keys[from] = keys[child];
    }
    keys[from] = moved;
}

static void sort_keys(struct json_key_seen *keys, uint32_t count) {
    for (uint32_t i = count / 2; i > 0; i--) sift_down(keys, i - 1, count);
    for (uint32_t last = count - 1; last > 0; last--) {
        struct json_key_seen largest = keys[0];
        keys[0] = keys[last];
        keys[last] = largest;
        sift_down(keys, 0, last);
    }
}

/* A key that stood before, or NULL. */
static const struct json_key_seen *find_repeated(struct json_key_seen *keys, uint32_t count) {
    if (count > KEYS_COMPARED_MAX) {
        sort_keys(keys, count);
        for (uint32_t i = 1; i < count; i++)
            if (is_same_key(&keys[i - 1], &keys[i])) return &keys[i];
        return NULL;
    }
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (keys[i].mark == keys[k].mark && is_same_key(&keys[i], &keys[k])) return &keys[i];
    return NULL;
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
    r->level_keys[r->depth++] = r->key_count;
    r->expected = is_object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    r->at++;
    return ERR_OK;
}

static enum err close_level(struct json_read *r, struct json_token *ret) {
    bool is_object = in_object(r);
    uint32_t first = r->level_keys[r->depth - 1];
    if (is_object && r->key_count - first > 1) {
        const struct json_key_seen *again = find_repeated(r->keys + first, r->key_count - first);
        if (again) return refuse(r, ERR_INVALID, r->in.ptr + again->at, "expected each key of an object once");
    }
    ret->kind = is_object ? JSON_OBJECT_END : JSON_ARRAY_END;
    ret->at = offset_of(r, r->at);
    r->key_count = first;
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
    if (e == ERR_OK) e = remember_key(r, ret->key, ret->key_at);
    if (e) return e;
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

enum err json_read_next(struct json_read *r, struct json_token *ret) {
    struct json_token token = {0};
    skip_space(r);
    enum err e = read_token(r, &token);
    if (e == ERR_OK) *ret = token;
    return e;
}

enum err json_read_skip(struct json_read *r) {
    REQUIRE(r->depth > 0);
    uint32_t outside = r->depth - 1;
    while (r->depth > outside) {
        struct json_token token;
        enum err e = json_read_next(r, &token);
        if (e) return e;
    }
    return ERR_OK;
}
