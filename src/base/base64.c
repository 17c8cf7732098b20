/* base64.c: see base64.h. */
#include "base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_put(struct buf *out, struct slice bytes) {
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t have = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t bits = (uint32_t)bytes.ptr[i] << 16;
        if (have > 1) bits |= (uint32_t)bytes.ptr[i + 1] << 8;
        if (have > 2) bits |= bytes.ptr[i + 2];
        uint8_t quad[4] = {(uint8_t)digits[bits >> 18], (uint8_t)digits[(bits >> 12) & 63], '=', '='};
        if (have > 1) quad[2] = (uint8_t)digits[(bits >> 6) & 63];
        if (have > 2) quad[3] = (uint8_t)digits[bits & 63];
        buf_put(out, quad, sizeof quad);
    }
}

static int value_of(uint8_t c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* One group of 2 to 4 digits. */
static void group_put(struct buf *out, uint32_t bits, size_t count) {
    bits <<= 6 * (4 - count);
    uint8_t bytes[3] = {(uint8_t)(bits >> 16), (uint8_t)(bits >> 8), (uint8_t)bits};
    buf_put(out, bytes, count - 1);
}

bool base64_take(struct slice text, struct buf *out, uint8_t *ret_bad) {
    size_t before = out->len, len = text.len;
    for (int i = 0; i < 2 && len > 0 && len % 4 != 1 && text.len % 4 == 0 && text.ptr[len - 1] == '='; i++) len--;
    uint32_t bits = 0;
    size_t count = 0;
    for (size_t i = 0; i < len; i++) {
        int value = value_of(text.ptr[i]);
        if (value < 0) {
            buf_cut(out, before);
            *ret_bad = text.ptr[i];
            return false;
        }
        bits = bits << 6 | (uint32_t)value;
        if (++count < 4) continue;
        group_put(out, bits, count);
        bits = 0;
        count = 0;
    }
    if (count == 1) {
        buf_cut(out, before);
        *ret_bad = 0;
        return false;
    }
    if (count > 1) group_put(out, bits, count);
    return true;
}
