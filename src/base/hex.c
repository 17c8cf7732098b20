/* hex.c: see hex.h. */
#include "hex.h"

void hex_write(struct slice bytes, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.len; i++) {
        *out++ = digits[bytes.ptr[i] >> 4];
        *out++ = digits[bytes.ptr[i] & 15];
    }
    *out = 0;
}

bool hex_read(struct slice text, size_t bytes, uint8_t *ret) {
    if (text.len != 2 * bytes) return false;
    for (size_t i = 0; i < text.len; i++)
        if (hex_digit(text.ptr[i]) < 0 || (text.ptr[i] >= 'A' && text.ptr[i] <= 'F')) return false;
    for (size_t i = 0; i < bytes; i++)
        ret[i] = (uint8_t)(hex_digit(text.ptr[2 * i]) << 4 | hex_digit(text.ptr[2 * i + 1]));
    return true;
}
