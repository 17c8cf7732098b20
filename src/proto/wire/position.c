/* position.c: see position.h. */
#include "position.h"

#include <stdio.h>

static bool number_read(struct slice text, uint64_t most, uint64_t *ret) {
    uint64_t v = 0;
    if (text.len == 0) return false;
    for (size_t i = 0; i < text.len; i++) {
        uint64_t digit = (uint64_t)text.ptr[i] - '0';
        if (text.ptr[i] < '0' || digit > 9 || v > (most - digit) / 10) return false;
        v = v * 10 + digit;
    }
    *ret = v;
    return true;
}

bool position_read(struct slice text, struct position *ret) {
    const uint8_t *dot = text.len > 0 ? memchr(text.ptr, '.', text.len) : NULL;
    size_t before = dot != NULL ? (size_t)(dot - text.ptr) : text.len;
    uint64_t lsn = 0, ordinal = UINT32_MAX;
    if (!number_read(slice_of(text.ptr, before), UINT64_MAX / 16, &lsn)) return false;
    if (dot != NULL && !number_read(slice_of(dot + 1, text.len - before - 1), UINT32_MAX, &ordinal)) return false;
    *ret = (struct position){lsn, (uint32_t)ordinal};
    return true;
}

struct slice position_text(struct position at, char room[POSITION_TEXT_BYTES]) {
    int len = snprintf(room, POSITION_TEXT_BYTES, "%llu.%u", (unsigned long long)at.lsn, at.ordinal);
    return slice_of(room, (size_t)len);
}
