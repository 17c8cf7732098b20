/* bearer.h: who the bearer of a token of an identity provider is: all checks of one token, in their order. Nothing of
 * the token is believed before its signature is checked, except which issuer and which key it names, to find that
 * key. */
#ifndef REEVE_BEARER_H
#define REEVE_BEARER_H

#include "jwt.h"
#include "keyring.h"
#include "mapping.h"

struct bearer_world {
    const struct issuers *issuers;
    struct keyring *rings; /* of each of them */
    struct verifier *verifier;
    const struct limits *limits;
    struct arena *arena; /* of this token */
    wall_time now;
    int64_t mono_ms;
};

struct bearer {
    const struct issuer *issuer;
    struct mapping as;
    int64_t expires_ms; /* wall, the margin included */
};

/* A bearer token: made for one of the audiences of its issuer. ERR_UNAUTHENTICATED; ERR_FORBIDDEN: no rule fits;
 * ERR_BUSY: the keys of its issuer are not known yet. */
CHECKED enum err bearer_check(const struct bearer_world *w, struct slice token, struct bearer *ret, struct why *why);
/* The ID token of a login: made by this issuer, for our own client, with this nonce. */
CHECKED enum err bearer_check_login(const struct bearer_world *w, const struct issuer *is, struct slice token,
                                    struct slice nonce, struct bearer *ret, struct why *why);

#endif
