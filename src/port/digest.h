/* digest.h: SHA-256, as the world offers it, SHA-1 for the handshake of WebSocket, and AES-256-GCM for the secrets that
 * are in the journal. Implemented in os/ with OpenSSL. All of it is a pure function of its input (the caller draws the
 * nonce), so the simulator uses the real one. May be called from every thread; one running digest
 * belongs to one thread at a time. */
#ifndef REEVE_DIGEST_H
#define REEVE_DIGEST_H

#include "slice.h"

#define DIGEST_BYTES 32u
#define DIGEST_SHA1_BYTES 20u
#define SEAL_KEY_BYTES 32u
#define SEAL_NONCE_BYTES 12u
#define SEAL_TAG_BYTES 16u
#define SEAL_BYTES(plain) (SEAL_NONCE_BYTES + (plain) + SEAL_TAG_BYTES) /* of what is sealed, with its nonce */

struct digest_run; /* one digest on its way */

struct hasher {
    void (*whole)(struct hasher *d, struct slice bytes, uint8_t ret[DIGEST_BYTES]);
    struct digest_run *(*begin)(struct hasher *d);
    void (*more)(struct digest_run *r, struct slice bytes);
    void (*end)(struct digest_run *r, uint8_t ret[DIGEST_BYTES]); /* also frees it */
    void (*drop)(struct digest_run *r);                          /* frees it; fine with NULL */
    /* Proves nothing about who made the bytes: for a protocol that prescribes it, not for a secret. */
    void (*sha1)(struct hasher *d, struct slice bytes, uint8_t ret[DIGEST_SHA1_BYTES]);
    /* AES-256-GCM: nonce, ciphertext and tag, SEAL_BYTES(plain.len) of them. `with` is bound to it and not in it. A
     * nonce must never be used twice with one key. */
    void (*seal)(struct hasher *d, const uint8_t key[SEAL_KEY_BYTES], const uint8_t nonce[SEAL_NONCE_BYTES],
                 struct slice with, struct slice plain, uint8_t *ret);
    /* False: it was not sealed with this key and `with`, or it was changed. `ret` has sealed.len - SEAL_BYTES(0). */
    bool (*unseal)(struct hasher *d, const uint8_t key[SEAL_KEY_BYTES], struct slice with, struct slice sealed,
                   uint8_t *ret);
};

#endif
