/* digest.h: SHA-256, as the world offers it, and SHA-1 for the handshake of WebSocket. Implemented in os/ with OpenSSL.
 * A pure function of its input, so the simulator uses the real one. May be called from every thread; one running digest
 * belongs to one thread at a time. */
#ifndef REEVE_DIGEST_H
#define REEVE_DIGEST_H

#include "slice.h"

#define DIGEST_BYTES 32u
#define DIGEST_SHA1_BYTES 20u

struct digest_run; /* one digest on its way */

struct hasher {
    void (*whole)(struct hasher *d, struct slice bytes, uint8_t ret[DIGEST_BYTES]);
    struct digest_run *(*begin)(struct hasher *d);
    void (*more)(struct digest_run *r, struct slice bytes);
    void (*end)(struct digest_run *r, uint8_t ret[DIGEST_BYTES]); /* also frees it */
    void (*drop)(struct digest_run *r);                          /* frees it; fine with NULL */
    /* Proves nothing about who made the bytes: for a protocol that prescribes it, not for a secret. */
    void (*sha1)(struct hasher *d, struct slice bytes, uint8_t ret[DIGEST_SHA1_BYTES]);
};

#endif
