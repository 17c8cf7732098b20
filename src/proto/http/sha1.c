/* sha1.c: see sha1.h. RFC 3174. */
#include "sha1.h"

#include "panic.h"

#define BLOCK_BYTES 64u

static uint32_t rotate(uint32_t v, uint32_t bits) {
    return v << bits | v >> (32 - bits);
}

static void mix(uint32_t h[5], const uint8_t block[BLOCK_BYTES]) {
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (uint32_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (uint32_t i = 16; i < 80; i++) w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    for (uint32_t i = 0; i < 80; i++) {
        uint32_t f = i < 20   ? (b & c) | (~b & d)
                     : i < 40 ? b ^ c ^ d
                     : i < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        uint32_t k = i < 20 ? 0x5a827999u : i < 40 ? 0x6ed9eba1u : i < 60 ? 0x8f1bbcdcu : 0xca62c1d6u;
        uint32_t t = rotate(a, 5) + f + e + k + w[i];
        e = d, d = c, c = rotate(b, 30), b = a, a = t;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

void sha1(struct slice bytes, uint8_t ret[SHA1_BYTES]) {
    uint32_t h[5] = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    uint8_t padded[2 * BLOCK_BYTES] = {0};
    REQUIRE(bytes.len <= SHA1_INPUT_BYTES_MAX);
    if (bytes.len > 0) memcpy(padded, bytes.ptr, bytes.len);
    padded[bytes.len] = 0x80;
    size_t total = bytes.len + 9 <= BLOCK_BYTES ? BLOCK_BYTES : 2 * BLOCK_BYTES;
    padded[total - 2] = (uint8_t)(bytes.len * 8 >> 8);
    padded[total - 1] = (uint8_t)(bytes.len * 8);
    for (size_t at = 0; at < total; at += BLOCK_BYTES) mix(h, padded + at);
    for (uint32_t i = 0; i < SHA1_BYTES; i++) ret[i] = (uint8_t)(h[i / 4] >> (8 * (3 - i % 4)));
}
