/* hmac_token.c: see hmac_token.h. */
#include "hmac_token.h"

#include <stdio.h>

#include "hex.h"
#include "panic.h"

#define BLOCK_BYTES 64u /* of SHA-256 */

void hmac_sha256(struct hasher *h, const uint8_t key[AUTH_SECRET_BYTES], struct slice text, uint8_t ret[DIGEST_BYTES]) {
    uint8_t inner[BLOCK_BYTES + HMAC_TOKEN_TEXT_MAX], outer[BLOCK_BYTES + DIGEST_BYTES];
    REQUIRE(text.len <= HMAC_TOKEN_TEXT_MAX);
    memset(inner, 0x36, BLOCK_BYTES);
    memset(outer, 0x5c, BLOCK_BYTES);
    for (size_t i = 0; i < AUTH_SECRET_BYTES; i++) {
        inner[i] ^= key[i];
        outer[i] ^= key[i];
    }
    memcpy(inner + BLOCK_BYTES, text.ptr, text.len);
    h->whole(h, slice_of(inner, BLOCK_BYTES + text.len), outer + BLOCK_BYTES);
    h->whole(h, slice_of(outer, sizeof outer), ret);
}

size_t hmac_token_append(const struct auth *a, char *text, size_t len) {
    uint8_t proof[DIGEST_BYTES];
    hmac_sha256(a->hasher, a->secret, slice_of(text, len), proof);
    hex_write(slice_of(proof, sizeof proof), text + len);
    return len + 2 * DIGEST_BYTES;
}

bool hmac_token_is_same(struct slice given, const char *ours, size_t len) {
    unsigned differ = 0;
    if (given.len != len) return false;
    for (size_t i = 0; i < len; i++) differ |= (unsigned)(given.ptr[i] ^ (uint8_t)ours[i]);
    return differ == 0;
}
