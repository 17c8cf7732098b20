/* jwks.h: the public keys of an issuer (RFC 7517), as its key set says. Of a set that is well-formed, keys that cannot
 * check a signature of ours (symmetric ones, weak ones, those for encryption, those of unknown kinds) are passed over
 * and counted; a set without a usable key is refused. */
#ifndef REEVE_JWKS_H
#define REEVE_JWKS_H

#include "arena.h"
#include "signature.h"

struct limits;

#define JWKS_KEYS_MAX 64u
#define JWKS_BYTES_MAX 262144u

struct jwks_key {
    struct slice kid; /* empty: it has none */
    struct public_key key;
    uint32_t algs; /* SIGNATURE_BITs that it may be used with */
};

struct jwks {
    struct jwks_key keys[JWKS_KEYS_MAX];
    uint32_t count, passed_over;
};

/* Texts and numbers are in the arena. ERR_INVALID says what is wrong with the set. */
CHECKED enum err jwks_read(struct slice json, const struct limits *limits, struct arena *arena, struct jwks *ret,
                           struct why *why);
/* The key that a token with this header was signed with. ERR_NOT_FOUND: the set has none, so perhaps a newer set has;
 * ERR_UNAUTHENTICATED: the token names no key, and several would do. */
CHECKED enum err jwks_find(const struct jwks *set, struct slice kid, enum signature_alg alg,
                           const struct public_key **ret, struct why *why);

#endif
