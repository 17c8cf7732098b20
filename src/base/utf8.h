/* utf8.h: what is UTF-8 and what is not: shortest forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef REEVE_UTF8_H
#define REEVE_UTF8_H

#include "slice.h"

#define UTF8_BYTES_MAX 4

/* The length of the well-formed sequence at the start of `s` (not empty), or 0. */
size_t utf8_sequence(struct slice s);
bool utf8_is_valid(struct slice s);
/* The beginning of `s`, at most `bytes` long, that ends between two characters. */
struct slice utf8_cut(struct slice s, size_t bytes);
/* Writes a code point that is no surrogate and not beyond U+10FFFF; returns how many bytes it took. */
size_t utf8_write(uint32_t code, uint8_t out[UTF8_BYTES_MAX]);

#endif
