/* login_token.h: tokens that an identity provider gave to this user (`reeve login`): what a token endpoint answers, and
 * how a token in a context is renewed before it ends. */
#ifndef REEVE_LOGIN_TOKEN_H
#define REEVE_LOGIN_TOKEN_H

#include "arena.h"
#include "clock.h"
#include "context.h"
#include "err.h"
#include "fetch.h"

struct login_world {
    struct clock *clock;
    /* One request, waited for; what came is in the arena. */
    enum err (*fetch)(const struct fetch_spec *spec, struct arena *arena, struct fetched *ret, struct why *why);
};

struct login_token { /* terminated texts */
    struct slice token, refresh;
    int64_t ends_ms;                /* wall; 0 = it does not say */
    struct slice error, error_text; /* empty: it is a token */
};

/* A form: NAME=VALUE pairs, escaped. */
void login_form_put(struct buf *form, const char *name, struct slice value);
/* Posts a form. An answer that says an error is ERR_OK with `error`. */
CHECKED enum err login_token_ask(const struct login_world *w, struct slice url, struct slice form, struct slice ca,
                                 struct arena *arena, struct login_token *ret, struct why *why);
bool login_token_is_due(const struct login_world *w, const struct context *c);
/* Gets another token for the context, and keeps it in the file. */
CHECKED enum err login_token_renew(const struct login_world *w, struct arena *arena, struct context *c,
                                   struct why *why);

#endif
