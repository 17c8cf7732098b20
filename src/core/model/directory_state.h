/* directory_state.h: who may do what: the tokens of principals, the secrets that prove texts of ours, browser sessions
 * that were ended, login links that are open. Facts of the state, changed by apply alone (apply/directory.c).
 *
 * The core knows nothing of cryptography: hashes and ciphertext are bytes to it. It compares them, keeps them unique,
 * and forgets them when they are over. */
#ifndef REEVE_DIRECTORY_STATE_H
#define REEVE_DIRECTORY_STATE_H

#include "bytes.h"
#include "map.h"
#include "pool.h"
#include "record.h"
#include "vec.h"

#define DIRECTORY_HASH_BYTES 32u

struct token {
    struct bytes *record; /* rec_token_info as recorded; NULL in a free slot */
    struct slice id;      /* index: points into record, so do the next three */
    struct slice hash, name, tenant;
    uint32_t roles; /* index, so the next three */
    uint8_t kind;
    int64_t created_ms, expires_ms;
};

struct secret {
    uint64_t number;
    uint8_t kind; /* enum secret_kind */
    struct bytes *sealed;
};

struct ended_session { /* see rec_session */
    char who[DIRECTORY_WHO_BYTES];
    uint64_t number;
    int64_t expires_ms;
};

struct ticket { /* a login link that nobody has used yet */
    uint8_t hash[DIRECTORY_HASH_BYTES];
    char who[DIRECTORY_WHO_BYTES];
    int64_t expires_ms;
};

struct directory {
    uint64_t log;                            /* number of this journal; 0 = identity has not begun in it */
    struct pool tokens;                      /* of struct token */
    struct vec secrets;                      /* of struct secret */
    struct vec ended;                        /* of struct ended_session */
    struct vec tickets;                      /* of struct ticket, oldest first */
    struct index token_by_hash, token_by_id; /* index */
    uint32_t admins;                         /* index: tokens of administrators of all tenants that do not expire */
    uint32_t tenant_tokens;                  /* index: tokens that are limited to a tenant */
};

static inline struct token *token_at(const struct directory *d, uint32_t i) {
    return pool_at(&d->tokens, i);
}
static inline struct secret *secret_at(const struct directory *d, uint32_t i) {
    return vec_at(&d->secrets, i);
}
static inline struct ended_session *ended_session_at(const struct directory *d, uint32_t i) {
    return vec_at(&d->ended, i);
}
static inline struct ticket *ticket_at(const struct directory *d, uint32_t i) {
    return vec_at(&d->tickets, i);
}

#endif
