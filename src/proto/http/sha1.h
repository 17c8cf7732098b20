/* sha1.h: SHA-1, for the one place that has to have it: the handshake of WebSocket, where it proves that the server
 * understood and protects nothing. Not for anything else. */
#ifndef REEVE_SHA1_H
#define REEVE_SHA1_H

#include "slice.h"

#define SHA1_BYTES 20u
#define SHA1_INPUT_BYTES_MAX 119u /* two blocks, with the padding */

void sha1(struct slice bytes, uint8_t ret[SHA1_BYTES]);

#endif
