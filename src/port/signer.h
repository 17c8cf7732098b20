/* signer.h: signatures by Ed25519 (RFC 8032), as the world offers them. Implemented in os/ with OpenSSL; the simulator
 * has one of its own, whose signatures prove nothing. */
#ifndef REEVE_SIGNER_H
#define REEVE_SIGNER_H

#include <stdbool.h>

#include "slice.h"

#define SIGNER_KEY_BYTES 32u
#define SIGNER_SIGNATURE_BYTES 64u

/* Who can tell whether a signature is right, without a secret. May be asked from every thread. */
struct sign_checker {
    bool (*is_right)(const struct sign_checker *c, const uint8_t key[SIGNER_KEY_BYTES], struct slice message,
                     const uint8_t signature[SIGNER_SIGNATURE_BYTES]);
};

/* Who holds one private key. Used by one thread at a time. */
struct signer {
    void (*key)(struct signer *s, uint8_t ret[SIGNER_KEY_BYTES]); /* the public one */
    void (*sign)(struct signer *s, struct slice message, uint8_t ret[SIGNER_SIGNATURE_BYTES]);
};

#endif
