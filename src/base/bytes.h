/* bytes.h: an owned byte string of fixed content: names, keys, encoded messages that live as long as their owner. */
#ifndef REEVE_BYTES_H
#define REEVE_BYTES_H

#include "slice.h"

struct bytes; /* NULL is the empty string */

struct bytes *bytes_new(struct slice s);
void bytes_free(struct bytes *b);
struct slice bytes_slice(const struct bytes *b);

#endif
