/* auth.h: who is who. Which role may send what is in requests.h.
 *
 * Tokens, secrets, ended browser sessions and login links are records of the directory (core/model/directory_state.h).
 * Here is what the core cannot do: it knows no cryptography. A token is 256 random bits, shown once; what is recorded
 * is an HMAC-SHA-256 of its SHA-256, under a key that follows from the data key and the number of the journal. So a
 * journal that was copied opens nothing without `cluster.key` (cluster_key.h).
 *
 * The batch that makes LSN 1 also begins identity: with the two tokens of a first start (`admin.token` and
 * `worker.token`, files that only their owner can read), or with those of the file `tokens` of an earlier version. */
#ifndef REEVE_AUTH_H
#define REEVE_AUTH_H

#include "clock.h"
#include "command.h"
#include "digest.h"
#include "disk.h"
#include "err.h"
#include "map.h"
#include "slice.h"
#include "vec.h"

struct state;
struct token_view;

#define AUTH_NAME_MAX 129u /* with the zero */
#define AUTH_TOKEN_BYTES 72u
#define AUTH_ID_BYTES TOKEN_ID_BYTES
#define AUTH_SECRET_BYTES 32u

/* The position of a role is its bit in records: a new one goes to the end. */
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
#define ROLE_JOB 30u      /* a job, by the token of its attempt; has no word, so nobody can be given it */
#define ROLE_CALLBACK 31u /* whoever has the token of an external job; the same */
#define ROLE_BIT(r) (1u << (r))
_Static_assert(ROLE_BIT(ROLE_ADMIN) == ROLE_BIT_ADMIN, "the core knows which role that is");
extern const char *const role_words[ROLE_COUNT];

struct oidc;

struct caller {
    char id[AUTH_ID_BYTES]; /* of the token; empty: there was none */
    char name[AUTH_NAME_MAX];
    char tenant[AUTH_NAME_MAX]; /* empty: of all tenants */
    uint32_t roles;             /* ROLE_BITs; 0 = nobody */
    int64_t expires_ms;         /* wall; 0 = never */
    uint8_t kind;               /* enum principal_kind */
    bool is_by_mcp;             /* an agent, whatever its token is */
};

#define AUTH_RECENT_BYTES 96u

struct auth {
    struct oidc *oidc; /* who came in by an identity provider (oidc.h); NULL = nobody can */
    struct disk *disk;
    struct clock *clock;
    struct hasher *hasher;
    uint32_t shard;
    const struct state *state; /* of the directory; NULL while its shard is closed */
    bool is_first;             /* this is the first start of a new data directory */
    bool is_beginning;         /* identity has not begun in the journal: `begin` says with what, in this arena */
    struct cmd_identity begin;
    struct arena arena;
    struct { /* the token that was looked at last, and its hash: by HTTP the same comes often */
        uint8_t text[AUTH_RECENT_BYTES], hash[DIGEST_BYTES];
        size_t len;
    } recent;
    struct map used;                   /* a token's id -> seconds of its last use. Not kept over a restart */
    uint8_t secret[AUTH_SECRET_BYTES]; /* that texts of the server are proved with (hmac_token.h) */
    uint8_t token_key[SEAL_KEY_BYTES]; /* under which tokens are hashed */
};

/* `state`: what the journal says, before the server adds anything to it. Makes, reads and checks the key file, and for
 * a journal in which identity has not begun prepares its beginning. */
CHECKED enum err auth_open(struct auth *a, struct disk *disk, struct clock *clock, struct hasher *hasher,
                           uint32_t shard, const struct state *state, struct why *why);
/* The same journal was opened again: that is its state now. */
CHECKED enum err auth_reopen(struct auth *a, const struct state *state, struct why *why);
/* Its shard closes: nobody is known until auth_reopen. */
void auth_unbind(struct auth *a);
void auth_close(struct auth *a);
/* What has to be recorded before anything is served. False: identity has begun. */
bool auth_beginning(const struct auth *a, struct command *ret);
/* And that is durable: files of earlier versions are put away. */
CHECKED enum err auth_begun(struct auth *a, struct why *why);

/* ERR_UNAUTHENTICATED: not known, or expired. */
CHECKED enum err auth_check(struct auth *a, struct slice text, wall_time now, struct caller *ret, struct why *why);
/* The same by the id of a token, for who has proved before that the token is its own. */
CHECKED enum err auth_by_id(struct auth *a, struct slice id, wall_time now, struct caller *ret, struct why *why);

struct minted_token {
    char id[AUTH_ID_BYTES], text[AUTH_TOKEN_BYTES];
    uint8_t hash[DIGEST_BYTES]; /* as it is recorded */
};
/* Draws a new one. It is good for nothing until it is recorded. */
void auth_mint(struct auth *a, struct minted_token *ret);
/* The same for a file of tokens: `hash` is SHA-256 of the text. */
void auth_mint_plain(struct clock *clock, struct hasher *hasher, struct minted_token *ret);
struct rec_token_info auth_token_info(const struct minted_token *t, const struct caller *c, wall_time now);
/* When it was last used since this start; 0 = it was not. */
int64_t auth_used_ms(const struct auth *a, struct slice id);
void auth_forget_use(struct auth *a, struct slice id);
/* Of a text that is random enough to be compared by its hash alone: login links. */
void auth_hash(const struct auth *a, struct slice text, uint8_t ret[DIGEST_BYTES]);

uint32_t role_by_word(struct slice word);  /* its bit, 0 = there is none */
uint8_t principal_kind_of(uint32_t roles); /* of a token that does not say */

#endif
