/* signature.h: whether a signature over bytes was made with the private half of a public key. Implemented in os/ with
 * OpenSSL. A pure function of its input, so the simulator uses the real one.
 *
 * Asymmetric algorithms only, on purpose: there is no word for "none" or for a shared secret here, so no header of a
 * token can ask for one. */
#ifndef REEVE_SIGNATURE_H
#define REEVE_SIGNATURE_H

#include "err.h"
#include "slice.h"

enum signature_kind { SIGNATURE_RSA, SIGNATURE_EC, SIGNATURE_OKP };
enum signature_curve { SIGNATURE_NO_CURVE, SIGNATURE_P256, SIGNATURE_P384, SIGNATURE_ED25519 };

#define SIGNATURE_RSA_BITS_MIN 2048u
#define SIGNATURE_RSA_BITS_MAX 8192u

/*     algorithm         word     kind           curve              bytes of a hash */
#define SIGNATURE_TABLE(X)                                                   \
    X(SIGNATURE_RS256, "RS256", SIGNATURE_RSA, SIGNATURE_NO_CURVE, 32)       \
    X(SIGNATURE_RS384, "RS384", SIGNATURE_RSA, SIGNATURE_NO_CURVE, 48)       \
    X(SIGNATURE_RS512, "RS512", SIGNATURE_RSA, SIGNATURE_NO_CURVE, 64)       \
    X(SIGNATURE_PS256, "PS256", SIGNATURE_RSA, SIGNATURE_NO_CURVE, 32)       \
    X(SIGNATURE_PS384, "PS384", SIGNATURE_RSA, SIGNATURE_NO_CURVE, 48)       \
    X(SIGNATURE_PS512, "PS512", SIGNATURE_RSA, SIGNATURE_NO_CURVE, 64)       \
    X(SIGNATURE_ES256, "ES256", SIGNATURE_EC, SIGNATURE_P256, 32)            \
    X(SIGNATURE_ES384, "ES384", SIGNATURE_EC, SIGNATURE_P384, 48)            \
    X(SIGNATURE_EDDSA, "EdDSA", SIGNATURE_OKP, SIGNATURE_ED25519, 64)

enum signature_alg {
#define X(alg, word, kind, curve, hash_bytes) alg,
    SIGNATURE_TABLE(X)
#undef X
        SIGNATURE_ALG_COUNT
};
#define SIGNATURE_BIT(alg) (1u << (alg))

/* Numbers are big-endian without leading zeroes (RSA), or as long as the curve says. */
struct public_key {
    enum signature_kind kind;
    enum signature_curve curve;
    struct slice n, e; /* RSA */
    struct slice x, y; /* EC; OKP has x only */
};

struct verifier {
    /* ERR_UNAUTHENTICATED: it was not. ERR_INVALID: the key is none, a point beside its curve for example. The
     * signature has the form of JWS (RFC 7518): of EC the two numbers, one behind the other. */
    enum err (*verify)(struct verifier *v, enum signature_alg alg, const struct public_key *key, struct slice bytes,
                       struct slice signature, struct why *why);
};

#endif
