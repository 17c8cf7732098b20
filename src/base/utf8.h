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

/* Text from elsewhere, on its way to a terminal or a log that people read on one. The length of the character at the
 * start of `s` (not empty) if it may be shown; 0 for bytes that are no character, for controls (they command the
 * terminal) and for those that turn the order of a line around: U+202E makes "gpj.exe" of a name that ends in .jpg. */
size_t utf8_shown(struct slice s);
/* Puts a question mark in place of each byte or character that may not be shown. Shortens the text, if anything. */
void utf8_clean(char *text);

#endif
