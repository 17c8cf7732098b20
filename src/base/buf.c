/* buf.c: writing bytes out and reading them back, each with one sticky failure mark. */
#include "buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "panic.h"

#define SLOTS_MIN ((size_t)64)
#define VARINT_BYTES_MAX 10u

/* ---- buf ---- */

void buf_init(struct buf *b, size_t max) {
    REQUIRE(max <= SIZE_MAX / 4);
    *b = (struct buf){.max = max};
}

void buf_fini(struct buf *b) {
    free(b->at);
    *b = (struct buf){.max = b->max};
}

void buf_clear(struct buf *b) {
    b->len = 0;
    b->full = false;
}

void buf_cut(struct buf *b, size_t len) {
    REQUIRE(len <= b->len);
    b->len = len;
    b->full = false;
}

static void grow(struct buf *b, size_t need) {
    size_t slots = b->slots ? b->slots * 2 : SLOTS_MIN;
    if (slots < need) slots = need;
    if (slots > b->max) slots = b->max;
    ENSURE(slots >= need);
    uint8_t *at = realloc(b->at, slots);
    if (!at) PANIC("out of memory");
    b->at = at;
    b->slots = slots;
}

uint8_t *buf_grow(struct buf *b, size_t bytes) {
    if (b->full) return NULL;
    if (bytes > b->slots - b->len || !b->at) {
        if (bytes > b->max - b->len) {
            b->full = true;
            return NULL;
        }
        grow(b, b->len + bytes);
    }
    uint8_t *at = b->at + b->len;
    b->len += bytes;
    return at;
}

void buf_put_u16(struct buf *b, uint16_t v) {
    const uint8_t bytes[] = {(uint8_t)v, (uint8_t)(v >> 8)};
    buf_put(b, bytes, sizeof bytes);
}

/* Spelled out, so that each is one store on a machine of that order. */
void buf_put_u32(struct buf *b, uint32_t v) {
    const uint8_t bytes[] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24)};
    buf_put(b, bytes, sizeof bytes);
}

void buf_put_u64(struct buf *b, uint64_t v) {
    const uint8_t bytes[] = {(uint8_t)v,         (uint8_t)(v >> 8),  (uint8_t)(v >> 16), (uint8_t)(v >> 24),
                             (uint8_t)(v >> 32), (uint8_t)(v >> 40), (uint8_t)(v >> 48), (uint8_t)(v >> 56)};
    buf_put(b, bytes, sizeof bytes);
}

void buf_put_varint(struct buf *b, uint64_t v) {
    if (v < 0x80 && b->len < b->slots && !b->full) { /* mostly */
        b->at[b->len++] = (uint8_t)v;
        return;
    }
    uint8_t bytes[VARINT_BYTES_MAX];
    size_t len = 0;
    while (v >= 0x80) {
        bytes[len++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    bytes[len++] = (uint8_t)v;
    buf_put(b, bytes, len);
}

void buf_put_str(struct buf *b, struct slice s) {
    buf_put_varint(b, s.len);
    buf_put_slice(b, s);
}

void buf_put_decimal(struct buf *b, uint64_t v) {
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    uint8_t digits[20]; /* of 2^64 - 1 */
    size_t at = sizeof digits;
    for (; v >= 10; v /= 100) memcpy(digits + (at -= 2), pairs + v % 100 * 2, 2); /* a division for two digits */
    if (v > 0 || at == sizeof digits) digits[--at] = (uint8_t)('0' + v);
    buf_put(b, digits + at, sizeof digits - at);
}

void buf_printf(struct buf *b, const char *format, ...) {
    char text[256];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    ENSURE(len >= 0);
    if ((size_t)len < sizeof text) {
        buf_put(b, text, (size_t)len);
        return;
    }
    /* One byte more than the text, for the terminator that vsnprintf insists on. */
    char *large = malloc((size_t)len + 1);
    if (!large) PANIC("out of memory");
    va_start(args, format);
    (void)vsnprintf(large, (size_t)len + 1, format, args);
    va_end(args);
    buf_put(b, large, (size_t)len);
    free(large);
}

/* ---- cursor ---- */

static void cursor_fail(struct cursor *c) {
    c->bad = true;
    c->at = c->end;
}

struct slice cursor_bytes(struct cursor *c, size_t len) {
    if (c->bad || len > cursor_left(c)) {
        cursor_fail(c);
        return (struct slice){NULL, 0};
    }
    struct slice s = slice_of(c->at, len);
    if (len) c->at += len;
    return s;
}

static uint64_t read_fixed(struct cursor *c, size_t bytes) {
    struct slice s = cursor_bytes(c, bytes);
    uint64_t v = 0;
    for (size_t i = 0; i < s.len; i++) v |= (uint64_t)s.ptr[i] << (8 * i);
    return v;
}

uint8_t cursor_u8(struct cursor *c) {
    return (uint8_t)read_fixed(c, 1);
}

uint16_t cursor_u16(struct cursor *c) {
    return (uint16_t)read_fixed(c, 2);
}

uint32_t cursor_u32(struct cursor *c) {
    return (uint32_t)read_fixed(c, 4);
}

uint64_t cursor_u64(struct cursor *c) {
    return read_fixed(c, 8);
}

uint64_t cursor_varint(struct cursor *c) {
    if (c->bad) return 0;
    const uint8_t *at = c->at;
    if (at < c->end && *at < 0x80) { /* most of them */
        c->at = at + 1;
        return *at;
    }
    uint64_t v = 0;
    for (unsigned i = 0; i < VARINT_BYTES_MAX && at < c->end; i++) {
        uint8_t byte = *at++;
        if (i == VARINT_BYTES_MAX - 1 && byte > 1) break; /* more than 64 bits */
        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80) continue;
        if (byte == 0 && i > 0) break; /* overlong: a shorter form exists */
        c->at = at;
        return v;
    }
    cursor_fail(c);
    return 0;
}

struct slice cursor_str(struct cursor *c) {
    uint64_t len = cursor_varint(c);
    if (len > cursor_left(c)) {
        cursor_fail(c);
        return (struct slice){NULL, 0};
    }
    return cursor_bytes(c, (size_t)len);
}
