/* keyring.h: the keys of one issuer over time: when they are fetched, how long they are believed, and what happens
 * while the issuer is down. It says what is to be fetched next and is told what came; it fetches nothing and reads no
 * clock.
 *
 *     NOTHING --due--> discovery document --ok--> key set --ok--> fresh until max-age (5 min to 1 day)
 *        ^                    | failed               | failed         | over, or a token names an unknown key
 *        `--- wait 1 s, 2 s, 4 s up to 60 s <--------'<---------------'
 *
 * - Keys that are no longer fresh are fetched again in the background and believed meanwhile: an issuer that is down
 *   for an hour locks nobody out. After KEYRING_STALE_MS without an answer they are believed no more.
 * - A key that is taken out of the set is gone with the next fetch.
 * - A token with an unknown key makes one fetch a minute at most, whoever sends how many: nobody can use us to flood an
 *   issuer, and a token with a made-up key costs nothing. */
#ifndef REEVE_KEYRING_H
#define REEVE_KEYRING_H

#include "issuers.h"
#include "jwks.h"

#define KEYRING_FRESH_MS_MIN (5 * 60 * 1000)
#define KEYRING_FRESH_MS_MAX (24 * 60 * 60 * 1000)
#define KEYRING_FRESH_MS_STANDARD (60 * 60 * 1000)
#define KEYRING_STALE_MS (24 * 60 * 60 * 1000)
#define KEYRING_UNKNOWN_MS 60000
#define KEYRING_WAIT_MS 1000
#define KEYRING_WAIT_MS_MAX 60000
#define KEYRING_DISCOVERY_MS (24 * 60 * 60 * 1000) /* how long the addresses are believed */

enum keyring_wants { KEYRING_NOTHING, KEYRING_DISCOVERY, KEYRING_KEYS };

struct keyring_places { /* of the discovery document; empty: it names none */
    char keys[ISSUER_URL_MAX + 1], authorization[ISSUER_URL_MAX + 1], token[ISSUER_URL_MAX + 1],
        device[ISSUER_URL_MAX + 1], end_session[ISSUER_URL_MAX + 1];
    bool says_iss; /* it puts its name into answers (RFC 9207) */
};

struct keyring {
    const struct issuer *is;
    struct keyring_places places;
    struct arena arena; /* holds the keys */
    struct jwks keys;
    bool has_places, has_keys;
    enum keyring_wants asked;                                   /* a fetch is under way */
    int64_t places_until_ms, fresh_until_ms, believed_until_ms; /* monotonic, as all of these */
    int64_t next_ms;                                            /* not before */
    int64_t unknown_ms;                                         /* when a token with an unknown key last made a fetch */
    int64_t wait_ms;                                            /* after the next failure */
    bool wants_now;                                             /* a token has an unknown key */
    uint32_t fetched_count, failed_count;
    struct why problem; /* of the last fetch; empty: it went well */
};

void keyring_init(struct keyring *k, const struct issuer *is);
void keyring_fini(struct keyring *k);
/* When something is to be fetched; TIME_NEVER while a fetch is under way. */
int64_t keyring_due(const struct keyring *k);
/* What to fetch now, and from where. */
enum keyring_wants keyring_begin(struct keyring *k, int64_t now_ms, char ret_url[ISSUER_URL_MAX + 64]);
/* What came of it. max_age_s < 0: it was not said. */
CHECKED enum err keyring_came(struct keyring *k, int64_t now_ms, struct slice body, int64_t max_age_s,
                              const struct limits *limits, struct why *why);
void keyring_failed(struct keyring *k, int64_t now_ms, const struct why *why);
/* ERR_BUSY: the keys are not known yet, or the key may be in a newer set, which is being fetched; try again soon. */
CHECKED enum err keyring_find(struct keyring *k, int64_t now_ms, struct slice kid, enum signature_alg alg,
                              const struct public_key **ret, struct why *why);

#endif
