/* server_choice.c: see server_choice.h. */
#include "server_choice.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "context.h"
#include "datadir.h"

static const char *environment(const char *name) {
    const char *value = getenv(name);
    return value != NULL && value[0] != 0 ? value : NULL;
}

/* Of the verb, or of the shell that it was typed in. */
static const char *place_flag(const struct cli *c, const char *name) {
    const char *value = cli_flag(c, name);
    return value == NULL && c->host != NULL ? cli_flag(c->host, name) : value;
}

static const char *flag_or_environment(const struct cli *c, const char *flag, const char *name) {
    const char *value = place_flag(c, flag);
    return value != NULL ? value : environment(name);
}

bool server_choice_is_own(const struct cli *c) {
    for (size_t i = 0; i < CLI_PLACE_FLAGS; i++)
        if (cli_flag(c, cli_common_flags[i].name) != NULL) return true;
    return false;
}

/* ---- contexts ---- */

static const char *text_or(struct slice text, const char *other) {
    return text.len > 0 ? (const char *)text.ptr : other;
}

/* Its token goes with its server. REEVE_TOKEN is for a context that has none: it may come from a store of secrets. */
static void place_of(const struct context *from, struct client_place *ret) {
    ret->server = (const char *)from->server.ptr;
    ret->data = NULL;
    ret->token = text_or(from->token, ret->token);
    ret->tls.cert = text_or(from->tls_cert, ret->tls.cert);
    if (from->tls_ca.len > 0 || from->tls_pin.len > 0) {
        ret->tls.ca = text_or(from->tls_ca, NULL);
        ret->tls.pin = text_or(from->tls_pin, NULL);
    }
}

/* A token of `reeve login` that is about to end. One that ended less than its provider's margin ago may still do, so a
 * provider that cannot be reached is no reason to stop. */
static enum err renew(struct cli *c, struct context *found, struct why *why) {
    const struct login_world *w = c->world->login;
    if (w == NULL || !login_token_is_due(w, found)) return ERR_OK;
    enum err e = login_token_renew(w, &c->arena, found, why);
    return e == ERR_UNKNOWN ? ERR_OK : e;
}

static enum err by_context(struct cli *c, struct slice name, struct client_place *ret, struct why *why) {
    struct contexts all;
    struct context *found;
    enum err e = contexts_read(&c->arena, &all, why);
    if (e == ERR_OK) e = context_need(&all, name, &found, why);
    if (e == ERR_OK) e = renew(c, found, why);
    if (e == ERR_OK) place_of(found, ret);
    return e;
}

static enum err by_use(struct cli *c, struct client_place *ret, struct why *why) {
    struct contexts all;
    enum err e = contexts_read(&c->arena, &all, why);
    if (e != ERR_OK || all.used.len == 0) return e;
    struct context *found;
    e = context_need(&all, all.used, &found, why);
    if (e == ERR_OK) e = renew(c, found, why);
    if (e == ERR_OK) place_of(found, ret);
    return e;
}

/* ---- the order ---- */

/* The flag of the verb itself comes before all that the shell was started with. */
static const char *context_flag(const struct cli *c) {
    bool names_other = cli_flag(c, "server") != NULL || cli_flag(c, "data") != NULL;
    return names_other ? cli_flag(c, "context") : place_flag(c, "context");
}

static const char *near_of(struct cli *c) {
    char *found = arena_alloc(&c->arena, PATH_MAX);
    return datadir_near(found, PATH_MAX) ? found : NULL;
}

static enum err choose(struct cli *c, struct client_place *ret, struct why *why) {
    const char *context = context_flag(c);
    if (context != NULL && (cli_flag(c, "server") != NULL || cli_flag(c, "data") != NULL))
        return why_set(why, ERR_INVALID, "--context names a server: pass it without --server and --data");
    if (context == NULL) {
        ret->server = place_flag(c, "server");
        ret->data = place_flag(c, "data");
        /* A directory that was named on the command line beats a server of the environment. */
        if (ret->server == NULL && ret->data == NULL) ret->server = environment("REEVE_SERVER");
        if (ret->server == NULL && ret->data == NULL) context = environment("REEVE_CONTEXT");
    }
    if (context != NULL) return by_context(c, slice_str(context), ret, why);
    if (ret->data == NULL) ret->data = environment("REEVE_DATA");
    if (ret->data == NULL) ret->data = near_of(c);
    enum err e = ret->server == NULL && ret->data == NULL ? by_use(c, ret, why) : ERR_OK;
    if (ret->server == NULL && ret->data == NULL) ret->data = ".reeve";
    return e;
}

const char *server_choice_data(struct cli *c) {
    const char *data = flag_or_environment(c, "data", "REEVE_DATA");
    if (data == NULL) data = near_of(c);
    return data != NULL ? data : ".reeve";
}

enum err server_choice(struct cli *c, const struct client_place **ret, struct why *why) {
    struct cli *owner = c->host != NULL && !server_choice_is_own(c) ? c->host : c;
    struct client_place place = {.token = environment("REEVE_TOKEN"),
                                 .build = c->world->build,
                                 .secure = c->world->secure,
                                 .tls = {.ca = flag_or_environment(c, "tls-ca", "REEVE_TLS_CA"),
                                         .pin = flag_or_environment(c, "tls-pin", "REEVE_TLS_PIN"),
                                         .cert = flag_or_environment(c, "tls-cert", "REEVE_TLS_CERT"),
                                         .key = environment("REEVE_TLS_KEY")}};
    if (!owner->is_placed) {
        enum err e = choose(owner, &place, why);
        if (e != ERR_OK) return e;
        owner->place = place;
        owner->is_placed = true;
    }
    *ret = &owner->place;
    return ERR_OK;
}

/* ---- for people ---- */

const char *server_choice_nearer(struct cli *c) {
    static const char *const names[] = {"REEVE_SERVER", "REEVE_CONTEXT", "REEVE_DATA"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (environment(names[i]) != NULL) return names[i];
    return near_of(c);
}

void server_choice_explain(struct cli *c, struct why *why) {
    struct contexts all;
    struct why ignored;
    if (place_flag(c, "data") != NULL || environment("REEVE_DATA") != NULL || near_of(c) == NULL) return;
    if (contexts_read(&c->arena, &all, &ignored) != ERR_OK || all.used.len == 0) return;
    struct why reason = *why;
    (void)why_set(why, ERR_UNKNOWN, "%s, or pass --context %.*s (in use, but %s comes first)", reason.text,
                  SLICE_FMT(all.used), near_of(c));
}
