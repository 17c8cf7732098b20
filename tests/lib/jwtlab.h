/* jwtlab.h: keys of an identity provider and tokens signed by them, made at test time; also bad ones. */
#ifndef REEVE_JWTLAB_H
#define REEVE_JWTLAB_H

#include "buf.h"

enum jwtlab_kind { JWTLAB_RSA, JWTLAB_RSA_WEAK, JWTLAB_P256, JWTLAB_P384, JWTLAB_ED25519, JWTLAB_KIND_COUNT };

struct jwtlab_key;

struct jwtlab_key *jwtlab_key_new(enum jwtlab_kind kind);
void jwtlab_key_free(struct jwtlab_key *k);
/* Its public half as a member of a key set; `more` is JSON behind it, like `,"use":"sig"`. */
void jwtlab_jwk(const struct jwtlab_key *k, const char *kid, const char *more, struct buf *out);
/* Header and claims as they are given, signed. `alg` chooses how: a word of JWS; "none" = an empty signature;
 * "HS256" = an HMAC with `secret`; "DER" = ES256 with the signature in the other form. Terminated. */
void jwtlab_sign(const struct jwtlab_key *k, const char *alg, struct slice secret, const char *header,
                 const char *claims, struct buf *out);

#endif
