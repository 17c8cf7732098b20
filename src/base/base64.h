/* base64.h: bytes as text, RFC 4648, the ordinary alphabet. */
#ifndef REEVE_BASE64_H
#define REEVE_BASE64_H

#include "buf.h"

void base64_put(struct buf *out, struct slice bytes); /* with padding, without line breaks */
/* Appends what the text stands for. Padding may be left out; nothing else may stand in it. False: `ret_bad` is the
 * character that does not belong there, 0 for a text that ends too soon; `out` is as before. */
bool base64_take(struct slice text, struct buf *out, uint8_t *ret_bad);

#endif
