/* jwt.h: a JSON Web Token (RFC 7519) in its one form that is accepted here: a JWS of three parts (RFC 7515), signed by
 * an algorithm of port/signature.h. It follows the advice of RFC 8725: nothing that the token says of itself chooses
 * how it is checked. The algorithm comes from a list that the server's owner has, the key from the issuer's own key
 * set; `jwk`, `jku`, `x5u` and `x5c` in a header are not looked at.
 *
 *     jwt_read        takes it apart; nothing in it is proved yet
 *     jwt_verify      that the issuer has signed it            (jwks.h chooses the key)
 *     jwt_check       that it is for us, and for this moment
 *
 * Texts point into the arena. Nothing here reads a clock. */
#ifndef REEVE_JWT_H
#define REEVE_JWT_H

#include "json_tree.h"
#include "signature.h"
#include "wtime.h"

#define JWT_BYTES_MAX 8192u
#define JWT_SUBJECT_BYTES_MAX 255u
#define JWT_AUDIENCES_MAX 64u

struct jwt {
    enum signature_alg alg;
    struct slice kid; /* empty: it names no key */
    struct slice signed_text, signature;
    const struct json_node *claims;
    struct slice issuer, subject;
    int64_t expires_ms, not_before_ms, issued_ms; /* 0: it does not say; it always says `exp` */
};

/* What a token has to be. */
struct jwt_wanted {
    const struct slice *audiences; /* one of them */
    uint32_t audience_count;
    struct slice client; /* of an ID token: who asked for it; empty: any */
    struct slice nonce;  /* that was asked with; empty: none was */
    int64_t margin_ms;   /* by how much two clocks may differ */
    wall_time now;
};

bool jwt_looks_like(struct slice text); /* three parts, and the first letters of `{"` */
/* ERR_UNAUTHENTICATED says which part is wrong. */
CHECKED enum err jwt_read(struct slice text, const struct limits *limits, struct arena *arena, struct jwt *ret,
                          struct why *why);
CHECKED enum err jwt_verify(const struct jwt *t, struct verifier *v, const struct public_key *key, struct why *why);
CHECKED enum err jwt_check(const struct jwt *t, const struct jwt_wanted *wanted, struct why *why);

#endif
