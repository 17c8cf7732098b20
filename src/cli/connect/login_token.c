/* login_token.c: see login_token.h. */
#include "login_token.h"

#include <stdio.h>

#include "http_text.h"
#include "json_tree.h"
#include "limit.h"

#define TIMEOUT_MS 15000
#define ANSWER_BYTES_MAX 262144u
#define FORM_BYTES_MAX 32768u
#define EARLY_MS 60000 /* a token that ends sooner is renewed before it is used */

void login_form_put(struct buf *form, const char *name, struct slice value) {
    struct why ignored;
    buf_printf(form, "%s%s=", form->len > 0 ? "&" : "", name);
    (void)!http_text_put(HTTP_TEXT_URL, false, value, form, &ignored);
}

static struct slice text_of(struct arena *arena, const struct json_node *root, const char *key) {
    const struct json_node *n = json_tree_get(root, slice_str(key));
    if (n == NULL || n->kind != JSON_TEXT || memchr(n->text.ptr, 0, n->text.len) != NULL) return (struct slice){0};
    char *own = arena_alloc(arena, n->text.len + 1);
    memcpy(own, n->text.ptr, n->text.len);
    return slice_of(own, n->text.len);
}

/* Three parts: a server can check it by itself. Some providers give an access token that only they can read. */
static bool is_jwt(struct slice token) {
    uint32_t dots = 0;
    for (size_t i = 0; i < token.len; i++) dots += token.ptr[i] == '.';
    return dots == 2;
}

static enum err answer_read(const struct login_world *w, struct slice body, struct arena *arena,
                            struct login_token *ret, struct why *why) {
    const struct json_node *root = NULL;
    struct limits limits;
    struct login_token t = {.ends_ms = 0};
    int64_t seconds = 0;
    limits_default(&limits);
    if (json_tree_read(body, &limits, arena, &root, why) != ERR_OK)
        return why_set(why, ERR_UNKNOWN, "the provider's answer is not JSON");
    struct slice access = text_of(arena, root, "access_token"), id = text_of(arena, root, "id_token");
    const struct json_node *expires = json_tree_get(root, SLICE("expires_in"));
    t.token = is_jwt(access) || id.len == 0 ? access : id;
    t.refresh = text_of(arena, root, "refresh_token");
    t.error = text_of(arena, root, "error");
    t.error_text = text_of(arena, root, "error_description");
    if (expires != NULL && expires->kind == JSON_NUMBER && json_number_i64(expires->text, &seconds) == ERR_OK &&
        seconds > 0 && seconds < INT32_MAX)
        t.ends_ms = w->clock->wall(w->clock).ms + seconds * 1000;
    if (t.error.len == 0 && (t.token.len == 0 || t.token.len > CONTEXT_TOKEN_MAX))
        return why_set(why, ERR_UNKNOWN, "the provider gave no token of up to %u bytes", CONTEXT_TOKEN_MAX);
    if (t.refresh.len > CONTEXT_TOKEN_MAX) t.refresh = (struct slice){0};
    *ret = t;
    return ERR_OK;
}

enum err login_token_ask(const struct login_world *w, struct slice url, struct slice form, struct slice ca,
                         struct arena *arena, struct login_token *ret, struct why *why) {
    struct fetched got = {0};
    struct fetch_spec spec = {
        .url = url, .form = form, .ca = ca, .timeout_ms = TIMEOUT_MS, .bytes_max = ANSWER_BYTES_MAX};
    enum err e = w->fetch(&spec, arena, &got, why);
    if (e != ERR_OK) return e;
    if (got.status == 0) return why_set(why, ERR_UNKNOWN, "%.*s: %.*s", SLICE_FMT(url), SLICE_FMT(got.problem));
    return answer_read(w, got.body, arena, ret, why);
}

bool login_token_is_due(const struct login_world *w, const struct context *c) {
    return c->refresh.len > 0 && c->token_ends_ms != 0 && c->token_ends_ms - EARLY_MS <= w->clock->wall(w->clock).ms;
}

static enum err keep(void *ctx, struct contexts *all, struct why *why) {
    const struct context *fresh = ctx;
    struct context *old = NULL;
    enum err e = context_need(all, fresh->name, &old, why);
    if (e == ERR_OK) *old = *fresh;
    return e;
}

enum err login_token_renew(const struct login_world *w, struct arena *arena, struct context *c, struct why *why) {
    struct login_token t;
    struct buf form;
    buf_init(&form, FORM_BYTES_MAX);
    login_form_put(&form, "grant_type", SLICE("refresh_token"));
    login_form_put(&form, "refresh_token", c->refresh);
    login_form_put(&form, "client_id", c->client_id);
    enum err e = form.full ? why_set(why, ERR_LIMIT, "the refresh token is too long")
                           : login_token_ask(w, c->token_url, buf_slice(&form), c->login_ca, arena, &t, why);
    buf_fini(&form);
    if (e != ERR_OK) return e;
    if (t.error.len > 0)
        return why_set(why, ERR_UNAUTHENTICATED, "the login of context %.*s is over (%.*s): run `reeve login %.*s`",
                       SLICE_FMT(c->name), SLICE_FMT(t.error), SLICE_FMT(c->name));
    c->token = t.token;
    c->token_ends_ms = t.ends_ms;
    if (t.refresh.len > 0) c->refresh = t.refresh;
    return contexts_change(arena, keep, c, why);
}
