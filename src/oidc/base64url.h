/* base64url.h: bytes as JWS writes them (RFC 7515, 2): the alphabet of URLs, no padding, one text for one value. */
#ifndef REEVE_BASE64URL_H
#define REEVE_BASE64URL_H

#include "arena.h"
#include "buf.h"

/* False: a byte that is no digit, a length that no bytes have, or bits at the end that belong to no byte: two texts
 * would mean the same, and a signature that was seen once could be told apart from itself. */
bool base64url_read(struct slice text, struct arena *arena, struct slice *ret);
void base64url_put(struct buf *out, struct slice bytes);

#endif
