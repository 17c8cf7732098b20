/* jwtlab.c: see jwtlab.h. */
#include "openssl.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <string.h>

#include "base64url.h"
#include "jwtlab.h"
#include "panic.h"

struct jwtlab_key {
    enum jwtlab_kind kind;
    EVP_PKEY *key;
};

struct jwtlab_key *jwtlab_key_new(enum jwtlab_kind kind) {
    struct jwtlab_key *k = calloc(1, sizeof *k);
    ENSURE(k != NULL);
    k->kind = kind;
    switch (kind) {
    case JWTLAB_RSA: k->key = EVP_RSA_gen(2048); break;
    case JWTLAB_RSA_WEAK: k->key = EVP_RSA_gen(1024); break;
    case JWTLAB_P256: k->key = EVP_EC_gen("P-256"); break;
    case JWTLAB_P384: k->key = EVP_EC_gen("P-384"); break;
    case JWTLAB_ED25519: k->key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"); break;
    case JWTLAB_KIND_COUNT: break;
    }
    ENSURE(k->key != NULL);
    return k;
}

void jwtlab_key_free(struct jwtlab_key *k) {
    if (k == NULL) return;
    EVP_PKEY_free(k->key);
    free(k);
}

static void put_number(const struct jwtlab_key *k, const char *param, const char *name, int bytes, struct buf *out) {
    BIGNUM *n = NULL;
    uint8_t text[512];
    ENSURE(EVP_PKEY_get_bn_param(k->key, param, &n) == 1);
    int len = bytes > 0 ? bytes : BN_num_bytes(n);
    ENSURE(BN_bn2binpad(n, text, len) == len);
    buf_printf(out, ",\"%s\":\"", name);
    base64url_put(out, slice_of(text, (size_t)len));
    buf_put_u8(out, '"');
    BN_free(n);
}

void jwtlab_jwk(const struct jwtlab_key *k, const char *kid, const char *more, struct buf *out) {
    static const char *const heads[] = {[JWTLAB_RSA] = "\"kty\":\"RSA\"",
                                        [JWTLAB_RSA_WEAK] = "\"kty\":\"RSA\"",
                                        [JWTLAB_P256] = "\"kty\":\"EC\",\"crv\":\"P-256\"",
                                        [JWTLAB_P384] = "\"kty\":\"EC\",\"crv\":\"P-384\"",
                                        [JWTLAB_ED25519] = "\"kty\":\"OKP\",\"crv\":\"Ed25519\""};
    uint8_t raw[64];
    size_t len = sizeof raw;
    buf_printf(out, "{%s,\"kid\":\"%s\"", heads[k->kind], kid);
    if (k->kind == JWTLAB_RSA || k->kind == JWTLAB_RSA_WEAK) {
        put_number(k, OSSL_PKEY_PARAM_RSA_N, "n", 0, out);
        put_number(k, OSSL_PKEY_PARAM_RSA_E, "e", 0, out);
    } else if (k->kind == JWTLAB_ED25519) {
        ENSURE(EVP_PKEY_get_raw_public_key(k->key, raw, &len) == 1);
        buf_put_slice(out, SLICE(",\"x\":\""));
        base64url_put(out, slice_of(raw, len));
        buf_put_u8(out, '"');
    } else {
        int bytes = k->kind == JWTLAB_P256 ? 32 : 48;
        put_number(k, OSSL_PKEY_PARAM_EC_PUB_X, "x", bytes, out);
        put_number(k, OSSL_PKEY_PARAM_EC_PUB_Y, "y", bytes, out);
    }
    buf_printf(out, "%s}", more);
}

/* The two numbers behind each other. */
static size_t raw_of(uint8_t *der, size_t len, int half, uint8_t *ret) {
    const uint8_t *at = der;
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &at, (long)len);
    ENSURE(sig != NULL);
    ENSURE(BN_bn2binpad(ECDSA_SIG_get0_r(sig), ret, half) == half);
    ENSURE(BN_bn2binpad(ECDSA_SIG_get0_s(sig), ret + half, half) == half);
    ECDSA_SIG_free(sig);
    return 2 * (size_t)half;
}

static size_t sign(const struct jwtlab_key *k, const char *alg, struct slice text, uint8_t ret[1024]) {
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    EVP_PKEY_CTX *ctx = NULL;
    uint8_t der[1024];
    size_t len = sizeof der;
    bool is_der = strcmp(alg, "DER") == 0;
    const char *digest = is_der                        ? "SHA256"
                         : strcmp(alg, "EdDSA") == 0   ? NULL
                         : strcmp(alg + 2, "256") == 0 ? "SHA256"
                         : strcmp(alg + 2, "384") == 0 ? "SHA384"
                                                       : "SHA512";
    ENSURE(EVP_DigestSignInit_ex(md, &ctx, digest, NULL, NULL, k->key, NULL) == 1);
    if (alg[0] == 'P') {
        ENSURE(EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) == 1);
        ENSURE(EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_DIGEST) == 1);
    }
    ENSURE(EVP_DigestSign(md, der, &len, text.ptr, text.len) == 1);
    EVP_MD_CTX_free(md);
    if (alg[0] == 'E' && alg[1] == 'S') return raw_of(der, len, k->kind == JWTLAB_P256 ? 32 : 48, ret);
    memcpy(ret, der, len);
    return len;
}

void jwtlab_sign(const struct jwtlab_key *k, const char *alg, struct slice secret, const char *header,
                 const char *claims, struct buf *out) {
    uint8_t signature[1024];
    size_t len = 0;
    size_t from = out->len;
    base64url_put(out, slice_str(header));
    buf_put_u8(out, '.');
    base64url_put(out, slice_str(claims));
    struct slice text = slice_of(out->at + from, out->len - from);
    if (strcmp(alg, "HS256") == 0) {
        unsigned bytes = 0;
        ENSURE(HMAC(EVP_sha256(), slice_data(secret), (int)secret.len, text.ptr, text.len, signature, &bytes) != NULL);
        len = bytes;
    } else if (strcmp(alg, "none") != 0) {
        len = sign(k, alg, text, signature);
    }
    buf_put_u8(out, '.');
    base64url_put(out, slice_of(signature, len));
    buf_put_u8(out, 0);
    buf_cut(out, out->len - 1);
}
