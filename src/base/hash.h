/* hash.h: fast hashes that are not for secrets. The values of hash64 are part of the format (digests, jitter):
 * they never change. SHA-256 and friends come from OpenSSL, outside the core. */
#ifndef REEVE_HASH_H
#define REEVE_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "slice.h"

uint64_t hash64(const void *ptr, size_t len, uint64_t seed);

/* A bijection that spreads every input bit over the word (the finaliser of MurmurHash3). */
static inline uint64_t hash_mix(uint64_t v) {
    v ^= v >> 33;
    v *= 0xff51afd7ed558ccdULL;
    v ^= v >> 33;
    v *= 0xc4ceb9fe1a85ec53ULL;
    v ^= v >> 33;
    return v;
}

/* CRC-32C (Castagnoli); the SSE 4.2 instruction where the machine has it. Start with 0, feed in pieces. */
uint32_t crc32c(uint32_t crc, const void *ptr, size_t len);

#endif
