/* ossignature.c: see ossignature.h. A key is made of its numbers for one check and thrown away: what was found is kept
 * by the caller, so this is done once for a token and not with each request. */
#include "openssl.h"

#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>

#include "ossignature.h"
#include "panic.h"

#define POINT_BYTES_MAX (1u + 2u * 48u)
#define DER_BYTES_MAX 256u

static const struct {
    const char *digest; /* NULL: the algorithm has its own */
    enum signature_kind kind;
    enum signature_curve curve;
    bool is_pss;
} table[SIGNATURE_ALG_COUNT] = {
    [SIGNATURE_RS256] = {"SHA256", SIGNATURE_RSA, SIGNATURE_NO_CURVE, false},
    [SIGNATURE_RS384] = {"SHA384", SIGNATURE_RSA, SIGNATURE_NO_CURVE, false},
    [SIGNATURE_RS512] = {"SHA512", SIGNATURE_RSA, SIGNATURE_NO_CURVE, false},
    [SIGNATURE_PS256] = {"SHA256", SIGNATURE_RSA, SIGNATURE_NO_CURVE, true},
    [SIGNATURE_PS384] = {"SHA384", SIGNATURE_RSA, SIGNATURE_NO_CURVE, true},
    [SIGNATURE_PS512] = {"SHA512", SIGNATURE_RSA, SIGNATURE_NO_CURVE, true},
    [SIGNATURE_ES256] = {"SHA256", SIGNATURE_EC, SIGNATURE_P256, false},
    [SIGNATURE_ES384] = {"SHA384", SIGNATURE_EC, SIGNATURE_P384, false},
    [SIGNATURE_EDDSA] = {NULL, SIGNATURE_OKP, SIGNATURE_ED25519, false},
};

/* ---- keys ---- */

static size_t curve_bytes(enum signature_curve c) {
    switch (c) {
    case SIGNATURE_P256: return 32;
    case SIGNATURE_P384: return 48;
    case SIGNATURE_ED25519: return 32;
    case SIGNATURE_NO_CURVE: return 0;
    }
    PANIC("a curve of no kind");
}

static EVP_PKEY *key_of_params(const char *type, OSSL_PARAM_BLD *build) {
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;
    if (params == NULL || ctx == NULL) PANIC("no memory");
    if (EVP_PKEY_fromdata_init(ctx) != 1 || EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1) key = NULL;
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return key;
}

static EVP_PKEY *rsa_key(const struct public_key *k) {
    if (k->n.len == 0 || k->e.len == 0 || k->n.len > SIGNATURE_RSA_BITS_MAX / 8 || k->e.len > 8) return NULL;
    BIGNUM *n = BN_bin2bn(k->n.ptr, (int)k->n.len, NULL), *e = BN_bin2bn(k->e.ptr, (int)k->e.len, NULL);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (n == NULL || e == NULL || build == NULL) PANIC("no memory");
    bool is_strong = BN_num_bits(n) >= (int)SIGNATURE_RSA_BITS_MIN && BN_is_odd(n) && BN_is_odd(e) && !BN_is_one(e);
    ENSURE(OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) == 1);
    ENSURE(OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e) == 1);
    if (is_strong) key = key_of_params("RSA", build);
    OSSL_PARAM_BLD_free(build);
    BN_free(n);
    BN_free(e);
    return key;
}

/* OpenSSL refuses a point that is not on the curve. */
static EVP_PKEY *ec_key(const struct public_key *k) {
    uint8_t point[POINT_BYTES_MAX] = {POINT_CONVERSION_UNCOMPRESSED};
    size_t bytes = curve_bytes(k->curve);
    if (k->x.len != bytes || k->y.len != bytes || bytes == 0 || k->curve == SIGNATURE_ED25519) return NULL;
    memcpy(point + 1, k->x.ptr, bytes);
    memcpy(point + 1 + bytes, k->y.ptr, bytes);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    if (build == NULL) PANIC("no memory");
    const char *group = k->curve == SIGNATURE_P256 ? "P-256" : "P-384";
    ENSURE(OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, group, 0) == 1);
    ENSURE(OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, 1 + 2 * bytes) == 1);
    EVP_PKEY *key = key_of_params("EC", build);
    OSSL_PARAM_BLD_free(build);
    return key;
}

static EVP_PKEY *key_of(const struct public_key *k) {
    switch (k->kind) {
    case SIGNATURE_RSA: return rsa_key(k);
    case SIGNATURE_EC: return ec_key(k);
    case SIGNATURE_OKP:
        if (k->x.len != curve_bytes(SIGNATURE_ED25519)) return NULL;
        return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, slice_data(k->x), k->x.len);
    }
    PANIC("a key of no kind");
}

/* ---- signatures ---- */

/* The two numbers of JWS, as OpenSSL wants them. 0: they are none. */
static size_t der_of(enum signature_curve curve, struct slice raw, uint8_t ret[DER_BYTES_MAX]) {
    size_t half = curve_bytes(curve);
    if (raw.len != 2 * half) return 0;
    ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(raw.ptr, (int)half, NULL), *s = BN_bin2bn(raw.ptr + half, (int)half, NULL);
    if (sig == NULL || r == NULL || s == NULL) PANIC("no memory");
    bool is_good = !BN_is_zero(r) && !BN_is_zero(s);
    ENSURE(ECDSA_SIG_set0(sig, r, s) == 1);
    uint8_t *at = ret;
    int len = i2d_ECDSA_SIG(sig, NULL);
    ENSURE(len > 0 && (size_t)len <= DER_BYTES_MAX);
    (void)i2d_ECDSA_SIG(sig, &at);
    ECDSA_SIG_free(sig);
    return is_good ? (size_t)len : 0;
}

static bool check(enum signature_alg alg, EVP_PKEY *key, struct slice bytes, struct slice signature) {
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    EVP_PKEY_CTX *ctx = NULL;
    if (md == NULL) PANIC("no memory");
    bool good = EVP_DigestVerifyInit_ex(md, &ctx, table[alg].digest, NULL, NULL, key, NULL) == 1;
    if (good && table[alg].is_pss)
        good = EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) == 1 &&
               EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_DIGEST) == 1;
    good = good && EVP_DigestVerify(md, slice_data(signature), signature.len, slice_data(bytes), bytes.len) == 1;
    EVP_MD_CTX_free(md);
    return good;
}

static enum err op_verify(struct verifier *v, enum signature_alg alg, const struct public_key *key, struct slice bytes,
                          struct slice signature, struct why *why) {
    uint8_t der[DER_BYTES_MAX];
    (void)v;
    REQUIRE(alg < SIGNATURE_ALG_COUNT);
    if (table[alg].kind != key->kind || table[alg].curve != key->curve)
        return why_set(why, ERR_UNAUTHENTICATED, "the key is of another kind than the algorithm of the token");
    if (key->kind == SIGNATURE_EC) signature = slice_of(der, der_of(key->curve, signature, der));
    EVP_PKEY *k = key_of(key);
    bool good = k != NULL && signature.len > 0 && check(alg, k, bytes, signature);
    enum err e = k == NULL ? why_set(why, ERR_INVALID, "the key of the issuer is damaged or too weak")
                 : good    ? ERR_OK
                           : why_set(why, ERR_UNAUTHENTICATED, "the signature of the token is wrong");
    EVP_PKEY_free(k);
    ERR_clear_error();
    return e;
}

struct verifier *ossignature(void) {
    static struct verifier it = {op_verify};
    return &it;
}
