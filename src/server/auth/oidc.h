/* oidc.h: principals that an identity provider vouches for (OpenID Connect): by a bearer token with each request, or
 * by a login of a browser, which is kept here. What is believed, and of whom, is in the document of the setting `oidc`
 * (oidc/issuers.h).
 *
 * - A token is checked once: its hash and what was found are kept until it expires, the keys of its issuer are fetched
 *   anew, or the document changes. So a request costs a look-up, as with a token of ours.
 * - Keys are fetched in the background and nothing waits for them: a token that comes before its issuer's keys is
 *   answered "try again".
 * - Sessions of browsers are in memory: a restart of the server ends them, and the next click goes through the issuer
 *   again, which mostly asks for nothing. What such a session may do is what the rules said at the login; a new
 *   document ends those whose issuer it no longer has.
 *
 * Why it is done this way: ADR 0145, 0146. */
#ifndef REEVE_OIDC_H
#define REEVE_OIDC_H

#include "auth.h"
#include "bearer.h"
#include "fetch.h"

#define OIDC_KNOWN_SETS 1024u /* of tokens that were checked, in groups of OIDC_KNOWN_EACH */
#define OIDC_KNOWN_EACH 4u
#define OIDC_SESSIONS_MAX 20000u
#define OIDC_SESSIONS_EACH 64u /* of one principal: its own oldest makes room */
#define OIDC_WHO_BYTES 24u     /* as COOKIE_WHO_BYTES */
#define OIDC_WHO_PREFIX "oidc:"
#define OIDC_FETCH_MS 10000 /* how long an answer of an issuer is waited for */

struct server;

struct oidc_known { /* a token that was checked */
    uint8_t hash[DIGEST_BYTES];
    struct caller caller; /* no name = a free place */
    int64_t until_ms;     /* wall: then it has expired, the margin included */
    uint32_t issuer;      /* its place in the document */
    uint32_t keys;        /* keyring.fetched_count of that moment */
    uint64_t used;        /* in the order in which they were */
};

struct oidc_session {         /* of a browser */
    char who[OIDC_WHO_BYTES]; /* empty = a free place */
    struct caller caller;
    int64_t until_ms; /* wall */
    char issuer[ISSUER_NAME_MAX + 1];
};

struct oidc {
    struct issuers *issuers; /* NULL = no provider is believed */
    struct keyring *rings;   /* one for each of them, in their arena */
    fetch_id fetches[ISSUERS_MAX];
    struct vec known;    /* struct oidc_known; empty until the first token came */
    struct vec sessions; /* struct oidc_session */
    struct arena arena;  /* of one token */
    uint64_t use_count;
};

struct oidc *oidc_of(const struct server *s);
/* Takes it over, and lets go of the one before: nothing that was found by that one counts. NULL = none. */
void oidc_issuers(struct server *s, struct issuers *issuers);

/* ERR_UNAUTHENTICATED, ERR_FORBIDDEN (no rule fits), or ERR_BUSY: its issuer's keys are not known yet. */
CHECKED enum err oidc_caller(struct server *s, struct slice token, struct caller *ret, struct why *why);

/* What came of a login: an ID token for this client, with this nonce. */
CHECKED enum err oidc_login(struct server *s, const struct issuer *is, struct slice id_token, struct slice nonce,
                            struct caller *ret, struct why *why);
/* Keeps who came in, for the cookie of a browser; its `who` there. */
void oidc_session_open(struct server *s, const struct issuer *is, const struct caller *c, char ret_who[OIDC_WHO_BYTES]);
void oidc_session_end(struct oidc *o, const char *who);
bool oidc_is_session(const char *who);
CHECKED enum err oidc_session_caller(const struct oidc *o, const char *who, wall_time now, struct caller *ret,
                                     struct why *why);

/* The addresses of an issuer. ERR_BUSY: they are not known yet. */
CHECKED enum err oidc_places(struct server *s, const struct issuer *is, const struct keyring_places **ret,
                             struct why *why);
/* A request to an issuer: with its authorities, and to public addresses only where the host is not the issuer's own. */
fetch_id oidc_fetch(struct server *s, const struct issuer *is, struct fetch_spec *spec, const struct fetch_handler *h);

#endif
