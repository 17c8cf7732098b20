/* base64.h: bytes as text, RFC 4648, without line ends. */
#ifndef REEVE_BASE64_H
#define REEVE_BASE64_H

#include "arena.h"
#include "buf.h"
#include "err.h"

/* Padding may be left out, but not be wrong. Refusals are worded as Java words them, because Titan's clients show them
 * to their users; the bytes are in the arena. */
CHECKED enum err base64_read(struct slice text, struct arena *arena, struct slice *ret, struct why *why);
void base64_put(struct buf *out, struct slice bytes); /* with padding */

#endif
