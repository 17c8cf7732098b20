/* http_scan.c: see http_scan.h. */
#include "http_scan.h"

#include <stddef.h>

static enum http_scanned refuse(const char **ret_text, const char *text) {
    *ret_text = text;
    return HTTP_SCAN_BAD;
}

static enum http_scanned line_ends(struct http_scan *s) {
    bool blank = !s->in_line;
    s->after_return = s->in_line = false;
    s->lines++;
    return blank ? HTTP_SCAN_END : HTTP_SCAN_MORE;
}

static enum http_scanned scan_byte(struct http_scan *s, uint8_t byte, const char **ret_text) {
    if (s->after_return && byte != '\n') return refuse(ret_text, "a carriage return without its line feed");
    if (byte == '\n' && !s->after_return) return refuse(ret_text, "a line feed without its carriage return");
    if (byte == '\n') return line_ends(s);
    if (byte == '\r') {
        s->after_return = true;
        return HTTP_SCAN_MORE;
    }
    bool blank = byte == ' ' || byte == '\t';
    if (blank && !s->in_line && s->lines > 0) return refuse(ret_text, "a header that goes on in the next line");
    if ((byte < 0x20 && byte != '\t') || byte == 0x7f) return refuse(ret_text, "a control character");
    s->in_line = true;
    return HTTP_SCAN_MORE;
}

/* What may stand anywhere behind the first byte of a line, and changes nothing there. */
static bool is_plain(uint8_t byte) {
    return byte >= 0x20 && byte != 0x7f;
}

/* The same of eight bytes at once: no byte below 0x20 and none that is 0x7f, each by the borrow of a subtraction. A
 * borrow may go on into the next byte, but begins at one that is not plain. */
static bool are_plain(const uint8_t *at) {
    const uint64_t ones = 0x0101010101010101u, tops = 0x80 * ones;
    uint64_t x, y;
    memcpy(&x, at, sizeof x);
    y = x ^ (0x7f * ones);
    return ((((x - 0x20 * ones) & ~x) | ((y - ones) & ~y)) & tops) == 0;
}

static size_t plain_run(struct slice s) {
    size_t i = 0;
    while (i + 8 <= s.len && are_plain(s.ptr + i)) i += 8;
    while (i < s.len && is_plain(s.ptr[i])) i++;
    return i;
}

enum http_scanned http_scan(struct http_scan *s, struct slice bytes, size_t *ret_used, const char **ret_text) {
    enum http_scanned got = HTTP_SCAN_MORE;
    size_t i = 0;
    while (got == HTTP_SCAN_MORE && i < bytes.len) {
        got = scan_byte(s, bytes.ptr[i++], ret_text);
        if (s->in_line && !s->after_return) i += plain_run(slice_of(bytes.ptr + i, bytes.len - i));
    }
    *ret_used = i;
    return got;
}
