/* osseal.h: AES-256-GCM for port/digest.h. */
#ifndef REEVE_OSSEAL_H
#define REEVE_OSSEAL_H

#include "digest.h"

void osseal(struct hasher *d, const uint8_t key[SEAL_KEY_BYTES], const uint8_t nonce[SEAL_NONCE_BYTES],
            struct slice with, struct slice plain, uint8_t *ret);
bool osseal_open(struct hasher *d, const uint8_t key[SEAL_KEY_BYTES], struct slice with, struct slice sealed,
                 uint8_t *ret);

#endif
