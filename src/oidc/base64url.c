/* base64url.c: see base64url.h. */
#include "base64url.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static int value_of(uint8_t c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool base64url_read(struct slice text, struct arena *arena, struct slice *ret) {
    if (text.len % 4 == 1) return false;
    size_t len = text.len / 4 * 3 + (text.len % 4 == 0 ? 0 : text.len % 4 - 1), at = 0;
    uint8_t *bytes = arena_try(arena, len + 1);
    uint32_t held = 0, bits = 0;
    if (bytes == NULL) return false;
    for (size_t i = 0; i < text.len; i++) {
        int v = value_of(text.ptr[i]);
        if (v < 0) return false;
        held = held << 6 | (uint32_t)v;
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes[at++] = (uint8_t)(held >> bits);
    }
    if ((held & ((1u << bits) - 1)) != 0) return false;
    *ret = slice_of(bytes, len);
    return true;
}

void base64url_put(struct buf *out, struct slice bytes) {
    uint32_t held = 0, bits = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        held = held << 8 | bytes.ptr[i];
        for (bits += 8; bits >= 6; bits -= 6) buf_put_u8(out, (uint8_t)digits[held >> (bits - 6) & 63]);
    }
    if (bits > 0) buf_put_u8(out, (uint8_t)digits[held << (6 - bits) & 63]);
}
