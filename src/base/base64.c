/* base64.c: see base64.h. */
#include "base64.h"

static int digit_of(uint8_t c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

enum err base64_read(struct slice text, struct arena *arena, struct slice *ret, struct why *why) {
    uint8_t *bytes = arena_try(arena, text.len / 4 * 3 + 4);
    uint32_t bits = 0, held = 0;
    size_t count = 0, at = 0;
    if (bytes == NULL) return why_set(why, ERR_LIMIT, "it is too long");
    for (; at < text.len && text.ptr[at] != '='; at++) {
        int digit = digit_of(text.ptr[at]);
        if (digit < 0) return why_set(why, ERR_INVALID, "Illegal base64 character %x", text.ptr[at]);
        bits = bits << 6 | (uint32_t)digit;
        if (++held < 4) continue;
        bytes[count++] = (uint8_t)(bits >> 16), bytes[count++] = (uint8_t)(bits >> 8), bytes[count++] = (uint8_t)bits;
        bits = held = 0;
    }
    if (at < text.len) { /* padding: two for two digits, one for three */
        size_t pads = held == 2 ? 2 : held == 3 ? 1 : 0;
        if (pads == 0 || at + pads > text.len || text.ptr[at + pads - 1] != '=')
            return why_set(why, ERR_INVALID, "Input byte array has wrong 4-byte ending unit");
        at += pads;
    }
    if (held == 1) return why_set(why, ERR_INVALID, "Last unit does not have enough valid bits");
    if (held > 1) bytes[count++] = (uint8_t)(held == 2 ? bits >> 4 : bits >> 10);
    if (held > 2) bytes[count++] = (uint8_t)(bits >> 2);
    if (at < text.len) return why_set(why, ERR_INVALID, "Input byte array has incorrect ending byte at %zu", at);
    *ret = slice_of(bytes, count);
    return ERR_OK;
}

void base64_put(struct buf *out, struct slice bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t *to = buf_space(out, (bytes.len + 2) / 3 * 4);
    if (to == NULL) return;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        uint32_t bits = (uint32_t)bytes.ptr[i] << 16 | (left > 1 ? (uint32_t)bytes.ptr[i + 1] << 8 : 0) |
                        (left > 2 ? bytes.ptr[i + 2] : 0);
        *to++ = (uint8_t)digits[bits >> 18];
        *to++ = (uint8_t)digits[bits >> 12 & 63];
        *to++ = (uint8_t)(left > 1 ? digits[bits >> 6 & 63] : '=');
        *to++ = (uint8_t)(left > 2 ? digits[bits & 63] : '=');
    }
}
