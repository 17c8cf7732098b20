/* utf8.c: see utf8.h. */
#include "utf8.h"

#include "panic.h"

size_t utf8_sequence(struct slice s) {
    uint8_t first = s.ptr[0];
    if (first < 0x80) return 1;
    size_t len = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || s.len < len) return 0;
    for (size_t i = 1; i < len; i++) {
        if ((s.ptr[i] & 0xc0) != 0x80) return 0;
    }
    uint8_t second = s.ptr[1];
    if (first == 0xe0 && second < 0xa0) return 0; /* overlong */
    if (first == 0xed && second > 0x9f) return 0; /* surrogates */
    if (first == 0xf0 && second < 0x90) return 0; /* overlong */
    if (first == 0xf4 && second > 0x8f) return 0; /* beyond U+10FFFF */
    return len;
}

/* How many bytes at the front are ASCII, for all we see eight at a time: most texts are nothing else. */
static size_t ascii_run(struct slice s) {
    size_t run = 0;
    uint64_t x;
    for (; run + 8 <= s.len; run += 8) {
        memcpy(&x, s.ptr + run, sizeof x);
        if (x & 0x8080808080808080u) break;
    }
    return run;
}

bool utf8_is_valid(struct slice s) {
    size_t plain = ascii_run(s);
    if (plain > 0) s = slice_of(s.ptr + plain, s.len - plain);
    while (s.len > 0) {
        size_t len = utf8_sequence(s);
        if (len == 0) return false;
        s = slice_of(s.ptr + len, s.len - len);
    }
    return true;
}

struct slice utf8_cut(struct slice s, size_t bytes) {
    if (s.len <= bytes) return s;
    while (bytes > 0 && (s.ptr[bytes] & 0xc0) == 0x80) bytes--;
    return slice_of(s.ptr, bytes);
}

size_t utf8_write(uint32_t code, uint8_t out[UTF8_BYTES_MAX]) {
    REQUIRE(code <= 0x10ffff);
    REQUIRE(code < 0xd800 || code > 0xdfff);
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (uint8_t)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    static const uint8_t lead[UTF8_BYTES_MAX + 1] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (uint8_t)(lead[len] | code);
    return len;
}

static uint32_t code_of(struct slice s, size_t len) {
    uint32_t code = s.ptr[0];
    if (len > 1) code &= 0xffu >> (len + 1);
    for (size_t i = 1; i < len; i++) code = code << 6 | (s.ptr[i] & 0x3fu);
    return code;
}

size_t utf8_shown(struct slice s) {
    size_t len = utf8_sequence(s);
    uint32_t code = code_of(s, len);
    bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    bool is_line_end = code == 0x2028 || code == 0x2029;
    bool is_bidi = code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x2069);
    return len == 0 || is_control || is_line_end || is_bidi ? 0 : len;
}

void utf8_clean(char *text) {
    struct slice left = slice_str(text);
    char *to = text;
    while (left.len > 0) {
        size_t shown = utf8_shown(left), len = shown > 0 ? shown : utf8_sequence(left);
        if (shown > 0)
            memmove(to, left.ptr, shown);
        else
            *to = '?';
        to += shown > 0 ? shown : 1;
        if (len == 0) len = 1;
        left = slice_of(left.ptr + len, left.len - len);
    }
    *to = 0;
}
