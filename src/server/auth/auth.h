/* auth.h: who is who. Which role may send what is in requests.h. Tokens are kept as SHA-256 in the file `tokens` of the
 * data directory, with name, tenant, roles and expiry; the token itself is shown once, when it is made. The first start
 * makes two: `admin.token` and `worker.token`, files that only their owner can read. */
#ifndef REEVE_AUTH_H
#define REEVE_AUTH_H

#include "clock.h"
#include "digest.h"
#include "disk.h"
#include "err.h"
#include "slice.h"
#include "vec.h"

#define AUTH_NAME_MAX 129u /* with the zero */
#define AUTH_TOKEN_BYTES 72u
#define AUTH_ID_BYTES 12u
#define AUTH_TOKENS_MAX 10000u
#define AUTH_SECRET_BYTES 32u

/*     role               word         what its bearer is for */
#define ROLE_TABLE(X)                                                                  \
    X(ROLE_ADMIN, "admin", "everything")                                               \
    X(ROLE_OPERATOR, "operator", "operates the server: pools, drains, pauses, limits") \
    X(ROLE_SUBMITTER, "submitter", "submits and manages flows")                        \
    X(ROLE_APPROVER, "approver", "answers questions")                                  \
    X(ROLE_INSPECT, "inspect", "reads output that is being checked")                   \
    X(ROLE_VIEWER, "viewer", "reads, changes nothing")                                 \
    X(ROLE_WORKER, "worker", "runs jobs")

enum role {
#define X(role, word, text) role,
    ROLE_TABLE(X)
#undef X
        ROLE_COUNT
};
#define ROLE_JOB ROLE_COUNT            /* a job, by the token of its attempt; has no word, so nobody can be given it */
#define ROLE_CALLBACK (ROLE_COUNT + 1) /* whoever has the token of an external job; the same */
#define ROLE_BIT(r) (1u << (r))
extern const char *const role_words[ROLE_COUNT];

struct oidc;

struct caller {
    char id[AUTH_ID_BYTES]; /* of the token; empty: there was none */
    char name[AUTH_NAME_MAX];
    char tenant[AUTH_NAME_MAX]; /* empty: of all tenants */
    uint32_t roles;             /* ROLE_BITs; 0 = nobody */
    int64_t expires_ms;         /* wall; 0 = never */
};

struct token {
    char id[AUTH_ID_BYTES];
    uint8_t hash[DIGEST_BYTES];
    struct caller caller;
    int64_t created_ms, used_ms; /* used: since this start */
};

#define AUTH_RECENT_BYTES 96u

struct auth {
    struct oidc *oidc; /* who came in by an identity provider (oidc.h); NULL = nobody can */
    struct disk *disk;
    struct clock *clock;
    struct hasher *hasher;
    struct vec tokens; /* struct token */
    struct vec ended;  /* sessions of browsers: session_revocation.h */
    struct {           /* the token that was looked at last, and its hash: by HTTP the same comes again and again */
        uint8_t text[AUTH_RECENT_BYTES], hash[DIGEST_BYTES];
        size_t len;
    } recent;
    uint8_t secret[AUTH_SECRET_BYTES]; /* that tokens of attempts are proved with; in the same file */
};

CHECKED enum err auth_open(struct auth *a, struct disk *disk, struct clock *clock, struct hasher *hasher,
                           bool *ret_first, struct why *why);
void auth_close(struct auth *a);
/* ERR_UNAUTHENTICATED: not known, or expired. */
CHECKED enum err auth_check(struct auth *a, struct slice text, wall_time now, struct caller *ret, struct why *why);
/* The same by the id of a token, for who has proved before that the token is its own. */
CHECKED enum err auth_by_id(struct auth *a, struct slice id, wall_time now, struct caller *ret, struct why *why);
/* Writes the file before it returns: tokens are made rarely. */
CHECKED enum err auth_add(struct auth *a, const struct caller *c, wall_time now, char ret_id[AUTH_ID_BYTES],
                          char ret_text[AUTH_TOKEN_BYTES], struct why *why);
CHECKED enum err auth_revoke(struct auth *a, struct slice id, struct why *why);

uint32_t role_by_word(struct slice word); /* its bit, 0 = there is none */

#endif
