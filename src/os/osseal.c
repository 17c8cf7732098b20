/* osseal.c: see osseal.h. Through libcrypto's plain functions for the reason that osdigest.c gives. A server seals and
 * opens a handful of secrets of 32 bytes when it starts and when they change, so speed does not matter. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include "osseal.h"

#include <openssl/aes.h>
#include <openssl/crypto.h>
#include <openssl/modes.h>

#include "panic.h"

static void block(const unsigned char in[16], unsigned char out[16], const void *key) {
    AES_encrypt(in, out, key);
}

static GCM128_CONTEXT *begin(AES_KEY *aes, const uint8_t *key, const uint8_t *nonce, struct slice with) {
    ENSURE(AES_set_encrypt_key(key, (int)SEAL_KEY_BYTES * 8, aes) == 0);
    GCM128_CONTEXT *c = CRYPTO_gcm128_new(aes, block);
    ENSURE(c != NULL);
    CRYPTO_gcm128_setiv(c, nonce, SEAL_NONCE_BYTES);
    ENSURE(CRYPTO_gcm128_aad(c, with.ptr, with.len) == 0);
    return c;
}

static void end(GCM128_CONTEXT *c, AES_KEY *aes) {
    CRYPTO_gcm128_release(c);
    OPENSSL_cleanse(aes, sizeof *aes);
}

void osseal(struct hasher *d, const uint8_t key[SEAL_KEY_BYTES], const uint8_t nonce[SEAL_NONCE_BYTES],
            struct slice with, struct slice plain, uint8_t *ret) {
    AES_KEY aes;
    (void)d;
    GCM128_CONTEXT *c = begin(&aes, key, nonce, with);
    memcpy(ret, nonce, SEAL_NONCE_BYTES);
    ENSURE(CRYPTO_gcm128_encrypt(c, plain.ptr, ret + SEAL_NONCE_BYTES, plain.len) == 0);
    CRYPTO_gcm128_tag(c, ret + SEAL_NONCE_BYTES + plain.len, SEAL_TAG_BYTES);
    end(c, &aes);
}

bool osseal_open(struct hasher *d, const uint8_t key[SEAL_KEY_BYTES], struct slice with, struct slice sealed,
                 uint8_t *ret) {
    AES_KEY aes;
    (void)d;
    if (sealed.len < SEAL_BYTES(0)) return false;
    size_t len = sealed.len - SEAL_BYTES(0);
    GCM128_CONTEXT *c = begin(&aes, key, sealed.ptr, with);
    ENSURE(CRYPTO_gcm128_decrypt(c, sealed.ptr + SEAL_NONCE_BYTES, ret, len) == 0);
    bool is_good = CRYPTO_gcm128_finish(c, sealed.ptr + SEAL_NONCE_BYTES + len, SEAL_TAG_BYTES) == 0;
    if (!is_good) OPENSSL_cleanse(ret, len);
    end(c, &aes);
    return is_good;
}
