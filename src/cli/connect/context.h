/* context.h: the named servers of this user, each with its token: what --context NAME stands for.
 *
 * They are in one file, $XDG_CONFIG_HOME/reeve/contexts.json (else ~/.config/reeve/contexts.json), as JSON by the
 * descriptions below. It has secrets in it: it is made for its owner alone and replaced as a whole, and it is not read
 * when others could have read it, when it belongs to another user, or when it is a symbolic link. */
#ifndef REEVE_CONTEXT_H
#define REEVE_CONTEXT_H

#include "arena.h"
#include "err.h"
#include "tlv.h"

#define CONTEXT_NAME_MAX 64u
#define CONTEXT_TOKEN_MAX 8192u
#define CONTEXTS_MAX 1000u
#define CONTEXT_URL_MAX 2048u
#define CONTEXT_CA_MAX 65536u

struct context {
    struct slice name, server; /* server: as server_address_read writes it */
    struct slice tls_ca, tls_pin, tls_cert;
    struct slice token; /* goes to this server and to no other */
    /* Of `reeve login`: how the token is renewed. Empty: it was not made so. */
    struct slice refresh, token_url, client_id, login_ca;
    int64_t token_ends_ms; /* wall; 0 = it does not say */
};

struct contexts {
    struct tlv_list contexts; /* of struct context, in the order of their names */
    struct slice used;        /* name of the one in use; empty = none */
};

/* All texts are in the arena, terminated. A file that is not there has none. */
CHECKED enum err contexts_read(struct arena *arena, struct contexts *ret, struct why *why);
/* Reads, lets `change` change, and writes, unless that is refused; no other process changes the file meanwhile. */
typedef enum err (*contexts_change_fn)(void *ctx, struct contexts *contexts, struct why *why);
CHECKED enum err contexts_change(struct arena *arena, contexts_change_fn change, void *ctx, struct why *why);

/* NULL: there is none of that name. */
struct context *context_find(const struct contexts *contexts, struct slice name);
CHECKED enum err context_need(const struct contexts *contexts, struct slice name, struct context **ret,
                              struct why *why);

#endif
