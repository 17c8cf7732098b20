/* hmac_token.h: texts that only this server can have made: an HMAC-SHA-256 (RFC 2104) with a secret that never leaves
 * it. What is proved says itself what it is about, so nothing is stored and a restart changes nothing. */
#ifndef REEVE_HMAC_TOKEN_H
#define REEVE_HMAC_TOKEN_H

#include "auth.h"

#define HMAC_TOKEN_TEXT_MAX 160u /* of what is proved */
#define HMAC_TOKEN_HEX_BYTES (2u * DIGEST_BYTES)

/* Of at most HMAC_TOKEN_TEXT_MAX bytes. */
void hmac_sha256(struct hasher *h, const uint8_t key[AUTH_SECRET_BYTES], struct slice text, uint8_t ret[DIGEST_BYTES]);
/* Appends the proof of the text, in hex, and a zero; there is room for it. Returns the length without the zero. */
size_t hmac_token_append(const struct auth *a, char *text, size_t len);
/* Equal texts take as long as different ones, so that nobody finds out a proof digit by digit. */
bool hmac_token_is_same(struct slice given, const char *ours, size_t len);

#endif
