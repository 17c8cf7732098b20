/* json_text.c: see json_text.h. Most texts are plain: eight bytes are looked at in one step. */
#include "json_text.h"

#include <endian.h>

#include "hex.h"
#include "utf8.h"

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

static const uint8_t *refuse(struct json_fault *fault, enum err e, const uint8_t *at, const char *text) {
    *fault = (struct json_fault){e, at, text};
    return NULL;
}

/* The text that began at `start` cannot go on at `at`. */
static const uint8_t *refuse_byte(struct json_fault *fault, const uint8_t *start, const uint8_t *at,
                                  const uint8_t *end) {
    if (at == end) return refuse(fault, ERR_INVALID, start, "expected a closing quote, found the end");
    if (*at >= 0x80) return refuse(fault, ERR_INVALID, at, "expected UTF-8 in a text");
    return refuse(fault, ERR_INVALID, at, "expected control characters in a text to be escaped");
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
    if (high < 0) return refuse(fault, ERR_INVALID, at, escapes);
    p += 5;
    *ret = (uint32_t)high;
    if (high < 0xd800 || high > 0xdfff) return p;
    int32_t low = high < 0xdc00 && end - p >= 2 && p[0] == '\\' && p[1] == 'u' ? hex4(p + 2, end) : -1;
    if (low < 0xdc00 || low > 0xdfff) return refuse(fault, ERR_INVALID, at, "expected both halves of a surrogate pair");
    *ret = 0x10000 + ((uint32_t)(high - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
    return p + 6;
}

/* A text with escapes, whose first one is at `p`. */
static const uint8_t *read_escaped(const uint8_t *start, const uint8_t *p, const uint8_t *end, struct arena *arena,
                                   struct slice *ret, struct json_fault *fault) {
    const uint8_t *quote = p; /* an upper bound of the length: escapes are longer than what they stand for */
    while (quote < end && *quote != '"') quote += *quote == '\\' && end - quote > 1 ? 2 : 1;
    uint8_t *text = arena_try(arena, (size_t)(quote - start) + UTF8_BYTES_MAX);
    if (!text) return refuse(fault, ERR_LIMIT, start, "no room for this text");
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

const uint8_t *json_text_read(const uint8_t *start, const uint8_t *end, struct arena *arena, struct slice *ret,
                              struct json_fault *fault) {
    const uint8_t *p = skip_plain(start + 1, end);
    if (p < end && *p == '\\') return read_escaped(start, p, end, arena, ret, fault);
    if (p == end || *p != '"') return refuse_byte(fault, start, p, end);
    *ret = slice_of(start + 1, (size_t)(p - start - 1));
    return p + 1;
}
