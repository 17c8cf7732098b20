/* hex.h: bytes as hexadecimal digits, and back. */
#ifndef REEVE_HEX_H
#define REEVE_HEX_H

#include "slice.h"

/* The value of a digit in either case; -1 for any other byte. */
static inline int hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Writes 2 * bytes.len digits in lower case and a 0. */
void hex_write(struct slice bytes, char *out);
/* As hex_write writes it: false unless the text is exactly 2 * `bytes` digits in lower case. */
bool hex_read(struct slice text, size_t bytes, uint8_t *ret);

#endif
