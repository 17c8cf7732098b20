/* bytes.c: see bytes.h. One allocation holds the length and the content. */
#include "bytes.h"

#include <stdlib.h>

#include "panic.h"

struct bytes {
    size_t len;
    uint8_t at[];
};

struct bytes *bytes_new(struct slice s) {
    if (s.len == 0) return NULL;
    struct bytes *b = malloc(sizeof *b + s.len);
    if (b == NULL) PANIC("out of memory");
    b->len = s.len;
    memcpy(b->at, s.ptr, s.len);
    return b;
}

void bytes_free(struct bytes *b) {
    free(b);
}

struct slice bytes_slice(const struct bytes *b) {
    return b ? slice_of(b->at, b->len) : slice_of(NULL, 0);
}
