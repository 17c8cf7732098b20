/* buf.h: a growing byte buffer with its maximum at birth, and the bounded cursor that reads what it wrote.
 *
 * A put past the maximum sets `full` and is dropped, as is every later put: encode, then check once. A read past
 * the end sets `bad` and returns zero or an empty slice, as does every later read: decode, then check once. */
#ifndef REEVE_BUF_H
#define REEVE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slice.h"

struct buf {
    uint8_t *at;
    size_t len;
    size_t slots;
    size_t max;
    bool full;
};

void buf_init(struct buf *b, size_t max);
void buf_fini(struct buf *b);
void buf_clear(struct buf *b);                   /* keeps the memory */
void buf_cut(struct buf *b, size_t len);         /* back to an earlier length; clears `full` */
uint8_t *buf_grow(struct buf *b, size_t bytes);  /* buf_space where there is no room yet */
/* Room at the end, counted as written; NULL when full. Every byte that leaves the program goes through here, most of
 * them a few at a time: so it is here, and not a call. */
static inline uint8_t *buf_space(struct buf *b, size_t bytes) {
    if (b->full || b->at == NULL || bytes > b->slots - b->len) return buf_grow(b, bytes);
    uint8_t *at = b->at + b->len;
    b->len += bytes;
    return at;
}
static inline void buf_put(struct buf *b, const void *ptr, size_t len) {
    if (len == 0) return;
    uint8_t *at = buf_space(b, len);
    if (at != NULL) memcpy(at, ptr, len);
}
static inline void buf_put_slice(struct buf *b, struct slice s) {
    buf_put(b, s.ptr, s.len);
}
static inline void buf_put_u8(struct buf *b, uint8_t v) {
    uint8_t *at = buf_space(b, 1);
    if (at != NULL) *at = v;
}
void buf_put_u16(struct buf *b, uint16_t v); /* fixed widths are little-endian */
void buf_put_u32(struct buf *b, uint32_t v);
void buf_put_u64(struct buf *b, uint64_t v);
void buf_put_varint(struct buf *b, uint64_t v);  /* LEB128, shortest form */
void buf_put_str(struct buf *b, struct slice s); /* varint length, bytes */
void buf_put_decimal(struct buf *b, uint64_t v);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline struct slice buf_slice(const struct buf *b) {
    return slice_of(b->at, b->len);
}

struct cursor {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

static inline struct cursor cursor_of(struct slice s) {
    return (struct cursor){s.ptr, s.len ? s.ptr + s.len : s.ptr, false};
}
static inline size_t cursor_left(const struct cursor *c) {
    return (size_t)(c->end - c->at);
}
uint8_t cursor_u8(struct cursor *c);
uint16_t cursor_u16(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
uint64_t cursor_varint(struct cursor *c); /* refuses overlong and > 64 bit forms */
struct slice cursor_bytes(struct cursor *c, size_t len);
struct slice cursor_str(struct cursor *c); /* varint length, bytes */

static inline uint64_t zigzag(int64_t v) {
    return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}
static inline int64_t unzigzag(uint64_t v) {
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

#endif
