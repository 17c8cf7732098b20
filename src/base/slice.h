/* slice.h: bytes that someone else owns. */
#ifndef REEVE_SLICE_H
#define REEVE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const uint8_t *ptr; /* may be NULL when len is 0 */
    size_t len;
};

#define SLICE(literal) ((struct slice){(const uint8_t *)("" literal), sizeof(literal) - 1})
#define SLICE_FMT(s) (int)(s).len, (const char *)((s).len ? (s).ptr : (const uint8_t *)"")

static inline struct slice slice_of(const void *ptr, size_t len) {
    return (struct slice){(const uint8_t *)ptr, len};
}

static inline struct slice slice_str(const char *text) {
    return slice_of(text, strlen(text));
}

/* The bytes for a call into a library: never NULL, because some libraries (and memcpy and its kin) refuse NULL even for
 * no bytes at all. */
static inline const void *slice_data(struct slice s) {
    return s.len > 0 ? s.ptr : (const uint8_t *)"";
}

static inline bool slice_begins(struct slice text, struct slice with) {
    return text.len >= with.len && (with.len == 0 || memcmp(text.ptr, with.ptr, with.len) == 0);
}

static inline bool slice_eq(struct slice a, struct slice b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* What is behind the last slash of a path. */
static inline struct slice slice_base_name(struct slice path) {
    for (size_t i = path.len; i > 0; i--)
        if (path.ptr[i - 1] == '/') return slice_of(path.ptr + i, path.len - i);
    return path;
}

/* Digits and nothing else, at most 19 of them; no digits are 0. */
static inline bool slice_decimal(struct slice text, uint64_t *ret) {
    uint64_t v = 0;
    if (text.len > 19) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        v = v * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *ret = v;
    return true;
}

/* Order by bytes, shorter first on a common prefix: -1, 0, 1. */
static inline int slice_cmp(struct slice a, struct slice b) {
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    if (order != 0) return order < 0 ? -1 : 1;
    return a.len == b.len ? 0 : a.len < b.len ? -1 : 1;
}

#endif
