/* verb_login.c: `reeve login`, `logout` and `whoami`. A person proves at an identity provider who they are: in a
 * browser of this machine, which comes back to a port of it (RFC 8252), or in any browser, by a code that is typed
 * there (--device, RFC 8628). The token that this gives is kept in a context, and is renewed by itself when it ends.
 *
 * Which providers a server believes it says itself; a client with a secret is never used. */
#include <stdio.h>

#include "api_print.h"
#include "login_flow.h"
#include "out.h"
#include "server_address.h"
#include "server_choice.h"
#include "verbs.h"
#include "wire_json.h"

/* ---- the server's word ---- */

static enum err get(struct cli *c, const struct client_place *place, const char *path, bool with_token,
                    const struct json_node **ret, uint32_t *ret_status, struct slice *ret_body) {
    struct limits limits;
    limits_default(&limits);
    enum err e = client_get(place, path, with_token, &c->arena, ret_status, ret_body, c->why);
    if (e != ERR_OK) return e;
    if (json_tree_read(*ret_body, &limits, &c->arena, ret, c->why) == ERR_OK) return ERR_OK;
    return cli_refuse(c, ERR_UNSUPPORTED, "the server does not answer as a reeve server of this version");
}

static struct slice text_of(const struct json_node *n, const char *key) {
    const struct json_node *m = json_tree_get(n, slice_str(key));
    return m != NULL && m->kind == JSON_TEXT ? m->text : (struct slice){0};
}

/* Who the token of this place is; a refusal is an error in the server's words. */
static enum err ask_who(struct cli *c, const struct client_place *place, const struct json_node **ret,
                        struct slice *ret_body) {
    uint32_t status = 0;
    enum err e = get(c, place, "/api/v1/session", true, ret, &status, ret_body);
    if (e != ERR_OK || status == 200) return e;
    struct slice words = text_of(*ret, "message"), code = text_of(*ret, "code");
    return cli_refuse(c, client_err(code), "%.*s", SLICE_FMT(words));
}

static enum err issuer_choose(struct cli *c, const struct client_place *place, struct login_issuer *ret) {
    const struct json_node *root = NULL;
    const char *wanted = cli_flag(c, "issuer");
    struct slice body;
    uint32_t status = 0, count = 0;
    enum err e = get(c, place, "/login/issuers", false, &root, &status, &body);
    if (e != ERR_OK) return e;
    const struct json_node *list = json_tree_get(root, SLICE("issuers"));
    for (const struct json_node *n = list != NULL ? list->first : NULL; n != NULL; n = n->next) {
        struct slice name = text_of(n, "name"), client = text_of(n, "client_id");
        if (client.len == 0 || (wanted != NULL && !slice_eq(name, slice_str(wanted)))) continue;
        *ret = (struct login_issuer){.name = name,
                                     .url = text_of(n, "issuer"),
                                     .client_id = client,
                                     .scopes = text_of(n, "scopes"),
                                     .ca = text_of(n, "ca")};
        count++;
    }
    if (count == 1) return ERR_OK;
    if (count > 1)
        return cli_refuse(c, ERR_INVALID, "the server has several identity providers: pass --issuer, like %.*s",
                          SLICE_FMT(ret->name));
    if (wanted != NULL)
        return cli_refuse(c, ERR_NOT_FOUND, "the server has no identity provider `%s` for the command line", wanted);
    return cli_refuse(c, ERR_NOT_FOUND,
                      "the server has no identity provider for the command line: use a token (`reeve context add`), or "
                      "have its administrator set `oidc`");
}

/* ---- the context ---- */

struct login_keep {
    struct cli *c;
    struct context context;
    bool is_used;
};

static enum err keep(void *ctx, struct contexts *all, struct why *why) {
    struct login_keep *x = ctx;
    struct context *old = context_find(all, x->context.name);
    if (old != NULL) {
        *old = x->context;
    } else if (all->contexts.count == CONTEXTS_MAX) {
        return why_set(why, ERR_LIMIT, "there are %u contexts already", CONTEXTS_MAX);
    } else {
        struct context *list = ARENA_ARRAY(&x->c->arena, struct context, all->contexts.count + 1);
        if (all->contexts.count > 0) memcpy(list, all->contexts.at, all->contexts.count * sizeof *list);
        list[all->contexts.count] = x->context;
        all->contexts = (struct tlv_list){list, all->contexts.count + 1};
        if (all->used.len == 0) all->used = x->context.name;
    }
    x->is_used = slice_eq(all->used, x->context.name);
    return ERR_OK;
}

/* The one that is named, else the one that --context names, else the one in use; a new one is of --server. */
static enum err context_choose(struct cli *c, struct context *ret) {
    const char *name = c->arg_count > 0 ? c->args[0] : cli_flag(c, "context"), *server = cli_flag(c, "server");
    struct contexts all;
    enum err e = contexts_read(&c->arena, &all, c->why);
    if (e != ERR_OK) return e;
    struct slice wanted = name != NULL ? slice_str(name) : all.used;
    if (wanted.len == 0)
        return cli_refuse(c, ERR_INVALID,
                          "name a context, and its server if it is new: reeve login NAME --server HOST");
    const struct context *found = context_find(&all, wanted);
    if (found != NULL && server == NULL) {
        *ret = *found;
        return ERR_OK;
    }
    if (server == NULL)
        return cli_refuse(c, ERR_NOT_FOUND, "there is no context %.*s: to make one, pass --server", SLICE_FMT(wanted));
    if (wanted.len > CONTEXT_NAME_MAX || memchr(wanted.ptr, '/', wanted.len) != NULL)
        return cli_refuse(c, ERR_INVALID, "`%.*s` cannot name a context", SLICE_FMT(wanted));
    char *address = arena_alloc(&c->arena, SERVER_ADDRESS_BYTES_MAX);
    e = server_address_read(server, address, c->why);
    *ret = (struct context){.name = wanted,
                            .server = slice_str(address),
                            .tls_ca = cli_flag_text(c, "tls-ca"),
                            .tls_pin = cli_flag_text(c, "tls-pin"),
                            .tls_cert = cli_flag_text(c, "tls-cert")};
    return e;
}

static const char *text_or_null(struct slice s) {
    return s.len > 0 ? (const char *)s.ptr : NULL;
}

static struct client_place place_of(struct cli *c, const struct context *x) {
    return (struct client_place){
        .server = (const char *)x->server.ptr,
        .token = text_or_null(x->token),
        .build = c->world->build,
        .secure = c->world->secure,
        .tls = {.ca = text_or_null(x->tls_ca), .pin = text_or_null(x->tls_pin), .cert = text_or_null(x->tls_cert)}};
}

/* ---- the verbs ---- */

enum err verb_login(struct cli *c) {
    struct login_keep x = {.c = c};
    struct login_issuer is = {.name = {0}};
    struct login_token t;
    struct slice body;
    const struct json_node *who = NULL;
    if (c->world->login == NULL) return cli_refuse(c, ERR_UNSUPPORTED, "this program cannot ask an identity provider");
    enum err e = context_choose(c, &x.context);
    if (e != ERR_OK) return e;
    struct client_place place = place_of(c, &x.context);
    e = issuer_choose(c, &place, &is);
    if (e == ERR_OK) e = login_flow_places(c, &is);
    if (e == ERR_OK) e = cli_flag(c, "device") != NULL ? login_flow_device(c, &is, &t) : login_flow_browser(c, &is, &t);
    if (e != ERR_OK) return e;
    x.context.token = t.token;
    x.context.refresh = t.refresh;
    x.context.token_ends_ms = t.ends_ms;
    x.context.token_url = is.token_url;
    x.context.client_id = is.client_id;
    x.context.login_ca = is.ca.len <= CONTEXT_CA_MAX ? is.ca : (struct slice){0};
    place = place_of(c, &x.context);
    e = ask_who(c, &place, &who, &body); /* before anything is kept: a token that does not fit helps nobody */
    if (e == ERR_OK) e = contexts_change(&c->arena, keep, &x, c->why);
    if (e != ERR_OK) return e;
    if (c->json)
        printf("%.*s\n", SLICE_FMT(body));
    else
        out_say(stdout, "logged in as %.*s, context %.*s%s", SLICE_FMT(text_of(who, "name")), SLICE_FMT(x.context.name),
                x.is_used ? "" : "; `reeve context use` puts it to use");
    return ERR_OK;
}

static enum err forget(void *ctx, struct contexts *all, struct why *why) {
    struct login_keep *x = ctx;
    struct context *found = NULL;
    struct slice name = x->context.name.len > 0 ? x->context.name : all->used;
    if (name.len == 0) return why_set(why, ERR_INVALID, "name a context: no context is in use");
    enum err e = context_need(all, name, &found, why);
    if (e != ERR_OK) return e;
    x->is_used = found->token.len > 0;
    found->token = found->refresh = found->token_url = found->client_id = found->login_ca = (struct slice){0};
    found->token_ends_ms = 0;
    x->context = *found;
    return ERR_OK;
}

enum err verb_logout(struct cli *c) {
    const char *name = c->arg_count > 0 ? c->args[0] : cli_flag(c, "context");
    struct login_keep x = {.c = c, .context = {.name = slice_str(name != NULL ? name : "")}};
    enum err e = contexts_change(&c->arena, forget, &x, c->why);
    if (e == ERR_OK)
        out_say(stdout, "%.*s: %s", SLICE_FMT(x.context.name), x.is_used ? "logged out" : "there was no token");
    return e;
}

enum err verb_whoami(struct cli *c) {
    const struct client_place *place = NULL;
    const struct json_node *who = NULL;
    struct slice body;
    char text[256] = "";
    enum err e = server_choice(c, &place, c->why);
    if (e == ERR_OK) e = ask_who(c, place, &who, &body);
    if (e != ERR_OK) return e;
    if (c->json) {
        while (body.len > 0 && body.ptr[body.len - 1] == '\n') body.len--;
        printf("%.*s\n", SLICE_FMT(body));
        return ERR_OK;
    }
    const struct json_node *roles = json_tree_get(who, SLICE("roles"));
    size_t len = 0;
    for (const struct json_node *n = roles != NULL ? roles->first : NULL; n != NULL && len + 40 < sizeof text;
         n = n->next)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", len > 0 ? ", " : "", SLICE_FMT(n->text));
    struct slice tenant = text_of(who, "tenant");
    out_say(stdout, "%.*s", SLICE_FMT(text_of(who, "name")));
    out_say(stdout, "roles: %s", text);
    out_say(stdout, "tenant: %.*s", SLICE_FMT(tenant.len > 0 ? tenant : SLICE("all")));
    return ERR_OK;
}
