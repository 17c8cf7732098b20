/* resp.c: see resp.h. */
#include "resp.h"

#include <stdarg.h>
#include <stdio.h>

#include "hex.h"
#include "panic.h"

#define NUMBER_LINE_BYTES_MAX 32u /* of a length, with its sign; Redis allows 64 KiB of zeroes */
#define LENGTH_MAX INT64_C(0xffffffff)

struct span {
    uint32_t at, len; /* in the command, or in the words of a line */
};

void resp_in_init(struct resp_in *r) {
    *r = (struct resp_in){0};
    vec_init(&r->spans, sizeof(struct span));
    vec_init(&r->args, sizeof(struct slice));
    buf_init(&r->words, RESP_LINE_BYTES_MAX);
}

void resp_in_fini(struct resp_in *r) {
    vec_fini(&r->spans);
    vec_fini(&r->args);
    buf_fini(&r->words);
}

static enum resp_got bad(struct why *why, const char *text) {
    (void)why_set(why, ERR_INVALID, "ERR Protocol error: %s", text);
    return RESP_BAD;
}

static void span_add(struct resp_in *r, size_t at, size_t len) {
    *(struct span *)vec_push(&r->spans) = (struct span){(uint32_t)at, (uint32_t)len};
}

/* The spans as slices, and the reader as new. */
static enum resp_got whole(struct resp_in *r, const uint8_t *base) {
    r->args.count = 0;
    for (uint32_t i = 0; i < r->spans.count; i++) {
        const struct span *p = vec_at(&r->spans, i);
        *(struct slice *)vec_push(&r->args) = p->len > 0 ? slice_of(base + p->at, p->len) : SLICE("");
    }
    r->spans.count = 0;
    r->wanted = 0;
    r->at = 0;
    return RESP_COMMAND;
}

/* ---- arrays ---- */

/* A length and its line end, from r->at + 1 on. RESP_COMMAND: *ret has it and r->at is behind it. */
static enum resp_got take_length(struct resp_in *r, struct slice in, const char *too_long, const char *invalid,
                                 int64_t *ret, struct why *why) {
    size_t at = r->at + 1;
    bool negative = at < in.len && in.ptr[at] == '-';
    int64_t number = 0;
    at += negative;
    size_t first = at;
    for (; at < in.len && in.ptr[at] >= '0' && in.ptr[at] <= '9'; at++) {
        if (at - r->at > NUMBER_LINE_BYTES_MAX) return bad(why, too_long);
        if (number <= LENGTH_MAX) number = number * 10 + (in.ptr[at] - '0');
    }
    if (at >= in.len) return RESP_MORE;
    if (in.ptr[at] != '\r' || at == first) return bad(why, invalid);
    if (at + 1 >= in.len) return RESP_MORE;
    if (in.ptr[at + 1] != '\n') return bad(why, invalid);
    *ret = negative ? -number : number;
    r->at = at + 2;
    return RESP_COMMAND;
}

static enum resp_got take_bulk(struct resp_in *r, struct slice in, const struct resp_rules *rules, struct why *why) {
    size_t begin = r->at;
    int64_t len = 0;
    if (begin >= in.len) return RESP_MORE;
    if (in.ptr[begin] != '$') {
        char text[40], c = (char)in.ptr[begin];
        snprintf(text, sizeof text, "expected '$', got '%c'", c >= ' ' && c < 0x7f ? c : '?');
        return bad(why, text);
    }
    enum resp_got got = take_length(r, in, "too big bulk count string", "invalid bulk length", &len, why);
    if (got != RESP_COMMAND) return got;
    if (len < 0 || len > (int64_t)rules->bulk_bytes_max) return bad(why, "invalid bulk length");
    size_t end = r->at + (size_t)len;
    if (in.len < end + 2) {
        r->at = begin; /* its header is short enough to be read again */
        return RESP_MORE;
    }
    if (in.ptr[end] != '\r' || in.ptr[end + 1] != '\n') return bad(why, "a string does not end where it says");
    span_add(r, r->at, (size_t)len);
    r->at = end + 2;
    return RESP_COMMAND;
}

static enum resp_got take_array(struct resp_in *r, struct slice in, const struct resp_rules *rules, size_t *ret_used,
                                struct why *why) {
    enum resp_got got = RESP_COMMAND;
    if (r->wanted == 0) {
        int64_t count = 0;
        got = take_length(r, in, "too big mbulk count string", "invalid multibulk length", &count, why);
        if (got != RESP_COMMAND) return got;
        if (count > (int64_t)rules->args_max) return bad(why, "invalid multibulk length");
        if (count <= 0) { /* nothing is asked */
            *ret_used = r->at;
            return whole(r, in.ptr);
        }
        r->wanted = (uint32_t)count;
    }
    while (r->spans.count < r->wanted && got == RESP_COMMAND) got = take_bulk(r, in, rules, why);
    if (got != RESP_COMMAND) return got;
    *ret_used = r->at;
    return whole(r, in.ptr);
}

/* ---- lines ---- */

/* What stands behind a backslash between double quotes. Returns how many bytes it takes. */
static size_t take_escape(struct buf *to, struct slice left) {
    if (left.len >= 3 && left.ptr[0] == 'x' && hex_digit(left.ptr[1]) >= 0 && hex_digit(left.ptr[2]) >= 0) {
        buf_put_u8(to, (uint8_t)(hex_digit(left.ptr[1]) << 4 | hex_digit(left.ptr[2])));
        return 3;
    }
    static const char from[] = "nrtba", into[] = "\n\r\t\b\a";
    const char *known = memchr(from, left.ptr[0], sizeof from - 1);
    buf_put_u8(to, known != NULL ? (uint8_t)into[known - from] : left.ptr[0]);
    return 1;
}

static bool is_space(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0;
}

/* One word off the front; false: its quotes do not match. */
static bool take_word(struct resp_in *r, struct slice *line) {
    size_t start = r->words.len, i = 0;
    uint8_t quote = 0;
    for (; i < line->len && (quote != 0 || !is_space(line->ptr[i])); i++) {
        uint8_t c = line->ptr[i];
        bool escapes = quote != 0 && c == '\\' && i + 1 < line->len;
        if (escapes && quote == '"') {
            i += take_escape(&r->words, slice_of(line->ptr + i + 1, line->len - i - 1));
        } else if (escapes && line->ptr[i + 1] == '\'') {
            buf_put_u8(&r->words, line->ptr[++i]);
        } else if (quote != 0 && c == quote) {
            if (i + 1 < line->len && !is_space(line->ptr[i + 1])) return false;
            quote = 0;
        } else if (quote == 0 && (c == '"' || c == '\'')) {
            quote = c;
        } else {
            buf_put_u8(&r->words, c);
        }
    }
    if (quote != 0) return false;
    span_add(r, start, r->words.len - start);
    *line = slice_of(line->ptr + i, line->len - i);
    return true;
}

static enum resp_got take_line(struct resp_in *r, struct slice in, const struct resp_rules *rules, size_t *ret_used,
                               struct why *why) {
    const uint8_t *end = memchr(in.ptr + r->at, '\n', in.len - r->at);
    if (end == NULL) {
        r->at = in.len;
        return in.len > RESP_LINE_BYTES_MAX ? bad(why, "too big inline request") : RESP_MORE;
    }
    size_t len = (size_t)(end - in.ptr);
    if (len > RESP_LINE_BYTES_MAX) return bad(why, "too big inline request");
    struct slice line = slice_of(in.ptr, len);
    if (len > 0 && line.ptr[len - 1] == '\r') line.len--;
    buf_clear(&r->words);
    for (;;) {
        while (line.len > 0 && is_space(line.ptr[0])) line = slice_of(line.ptr + 1, line.len - 1);
        if (line.len == 0) break;
        if (r->spans.count == rules->args_max) return bad(why, "invalid multibulk length");
        if (!take_word(r, &line)) return bad(why, "unbalanced quotes in request");
    }
    ENSURE(!r->words.full);
    *ret_used = len + 1;
    return whole(r, r->words.at);
}

enum resp_got resp_take(struct resp_in *r, struct slice in, const struct resp_rules *rules, size_t *ret_used,
                        struct why *why) {
    *ret_used = 0;
    if (in.len == 0) return RESP_MORE;
    REQUIRE(r->at <= in.len && in.len <= UINT32_MAX);
    if (in.ptr[0] == '*') return take_array(r, in, rules, ret_used, why);
    if (rules->lines) return take_line(r, in, rules, ret_used, why);
    return bad(why, "a command begins with '*': lines of words are for the listener of --resp-listen");
}

/* ---- replies ---- */

static void put_line(struct resp_out *o, uint8_t kind, int64_t number) {
    uint8_t line[24], *at = line + sizeof line;
    uint64_t left = number < 0 ? (uint64_t)0 - (uint64_t)number : (uint64_t)number;
    *--at = '\n';
    *--at = '\r';
    do {
        *--at = (uint8_t)('0' + left % 10);
        left /= 10;
    } while (left > 0);
    if (number < 0) *--at = '-';
    *--at = kind;
    buf_put(o->to, at, (size_t)(line + sizeof line - at));
}

void resp_simple(struct resp_out *o, const char *text) {
    buf_put_u8(o->to, '+');
    buf_put_slice(o->to, slice_str(text));
    buf_put(o->to, "\r\n", 2);
}

void resp_error(struct resp_out *o, const char *text) {
    buf_put_u8(o->to, '-');
    for (const char *c = text; *c != 0; c++) buf_put_u8(o->to, *c == '\r' || *c == '\n' ? ' ' : (uint8_t)*c);
    buf_put(o->to, "\r\n", 2);
}

void resp_errorf(struct resp_out *o, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    resp_error(o, text);
}

void resp_number(struct resp_out *o, int64_t number) {
    put_line(o, ':', number);
}

void resp_bulk(struct resp_out *o, struct slice text) {
    put_line(o, '$', (int64_t)text.len);
    buf_put_slice(o->to, text);
    buf_put(o->to, "\r\n", 2);
}

void resp_text(struct resp_out *o, const char *text) {
    resp_bulk(o, slice_str(text));
}

void resp_verbatim(struct resp_out *o, struct slice text) {
    if (o->version < 3) {
        resp_bulk(o, text);
        return;
    }
    put_line(o, '=', (int64_t)text.len + 4);
    buf_put_slice(o->to, SLICE("txt:"));
    buf_put_slice(o->to, text);
    buf_put(o->to, "\r\n", 2);
}

void resp_nil(struct resp_out *o) {
    buf_put_slice(o->to, o->version >= 3 ? SLICE("_\r\n") : SLICE("$-1\r\n"));
}

void resp_nil_array(struct resp_out *o) {
    buf_put_slice(o->to, o->version >= 3 ? SLICE("_\r\n") : SLICE("*-1\r\n"));
}

void resp_array(struct resp_out *o, uint64_t count) {
    put_line(o, '*', (int64_t)count);
}

void resp_map(struct resp_out *o, uint64_t pairs) {
    put_line(o, o->version >= 3 ? '%' : '*', (int64_t)(o->version >= 3 ? pairs : 2 * pairs));
}

void resp_set(struct resp_out *o, uint64_t count) {
    put_line(o, o->version >= 3 ? '~' : '*', (int64_t)count);
}

void resp_push(struct resp_out *o, uint64_t count) {
    put_line(o, o->version >= 3 ? '>' : '*', (int64_t)count);
}
