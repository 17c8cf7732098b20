/* web_oidc.c: how browsers come in by an identity provider (OpenID Connect: authorization code with PKCE). Pages
 * without scripts and styles, in words for someone who only wants to get in.
 *
 *     GET /login                     where have you got your account?
 *     GET /login/issuers             the same for programs
 *     GET /login/start/NAME          to the provider, with a cookie that binds the answer to this browser
 *     GET /login/callback/NAME       back: the code becomes a token, the token an account, the account a session
 *
 * The token is asked for by a process of its own, so the request waits for it and nothing else does. */
#include <stdio.h>
#include <stdlib.h>

#include "base64.h"
#include "base64url.h"
#include "http_text.h"
#include "json_tree.h"
#include "login_state.h"
#include "oidc.h"
#include "panic.h"
#include "uri.h"
#include "utf8.h"
#include "web_impl.h"

#define LOGIN_PATH "/login"
#define LIST_PATH "/login/issuers"
#define START_PATH "/login/start/"
#define CALLBACK_PATH "/login/callback/"
#define STATE_COOKIE "reeve_login"
#define ANSWER_BYTES_MAX 65536u
#define URL_BYTES_MAX 4096u
#define SKEW_MS_SHOWN 30000

extern const uint8_t web_slot;

/* ---- pages ---- */

static void put_html(struct buf *out, struct slice text) {
    for (size_t i = 0; i < text.len;) {
        size_t len = utf8_shown(slice_of(text.ptr + i, text.len - i));
        uint8_t c = text.ptr[i];
        if (len == 0)
            buf_put_u8(out, '?');
        else if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
            buf_printf(out, "&#%u;", c);
        else
            buf_put(out, text.ptr + i, len);
        i += len > 0 ? len : 1;
    }
}

static struct buf *page_begin(struct server *s, const char *title) {
    struct buf *page = &webs_of(s)->json;
    buf_clear(page);
    buf_printf(page,
               "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
               "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Reeve</title>\n<h1>%s</h1>\n",
               title);
    return page;
}

static void page_say(struct server *s, struct session *n, uint16_t status) {
    struct webs *all = webs_of(s);
    buf_put_slice(&all->json, SLICE("</html>\n"));
    struct http_head h = {.status = status, .type = "text/html; charset=utf-8", .length = (int64_t)all->json.len};
    web_put_head(s, n, &h);
    if (web_of(n)->in.request.verb != HTTP_VERB_HEAD) buf_put_slice(&all->out, buf_slice(&all->json));
    session_send_raw(s, n, buf_slice(&all->out));
    web_finished(s, n);
}

/* What went wrong, and where to go from here. `more` may be NULL. */
static void say_problem(struct server *s, struct session *n, uint16_t status, const char *text, const char *more) {
    struct buf *page = page_begin(s, "You are not logged in");
    buf_put_slice(page, SLICE("<p role=\"alert\">"));
    put_html(page, slice_str(text));
    buf_put_slice(page, SLICE("</p>\n"));
    if (more != NULL && more[0] != 0) {
        buf_put_slice(page, SLICE("<p>"));
        put_html(page, slice_str(more));
        buf_put_slice(page, SLICE("</p>\n"));
    }
    buf_put_slice(page, SLICE("<p><a href=\"" LOGIN_PATH "\">Log in again</a></p>\n"));
    page_say(s, n, status);
}

static void say_list(struct server *s, struct session *n) {
    const struct issuers *list = oidc_of(s)->issuers;
    struct buf *page = page_begin(s, "Log in to Reeve");
    buf_put_slice(page, SLICE("<p>Choose where you have an account:</p>\n<ul>\n"));
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->all[i].client_id.len == 0) continue;
        buf_printf(page, "<li><a href=\"" START_PATH "%.*s\">Log in with ", SLICE_FMT(list->all[i].name));
        put_html(page, list->all[i].title);
        buf_put_slice(page, SLICE("</a></li>\n"));
    }
    buf_put_slice(page,
                  SLICE("</ul>\n<p>You have a token of this server? <a href=\"/\">Open the console</a> and log in "
                        "with it.</p>\n"));
    page_say(s, n, 200);
}

/* For the console and the command line. A client with a secret is the server's own: a command line cannot be it. */
static void say_json(struct server *s, struct session *n) {
    const struct issuers *list = oidc_of(s)->issuers;
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "issuers");
    json_array(&j);
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        const struct issuer *is = &list->all[i];
        struct slice cli = is->cli_client_id.len > 0  ? is->cli_client_id
                           : is->secret_file.len == 0 ? is->client_id
                                                      : (struct slice){0};
        json_object(&j);
        json_key(&j, "name"), json_text(&j, is->name);
        json_key(&j, "title"), json_text(&j, is->title);
        json_key(&j, "issuer"), json_text(&j, is->url);
        json_key(&j, "browser"), json_bool(&j, is->client_id.len > 0);
        if (cli.len > 0 && is->audience_count > 0) json_key(&j, "client_id"), json_text(&j, cli);
        json_key(&j, "scopes"), json_text(&j, is->scopes);
        if (is->ca.len > 0) json_key(&j, "ca"), json_text(&j, is->ca);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    struct http_head h = {.status = 200};
    web_send_json(s, n, &h);
}

/* ---- there ---- */

/* A NAME=VALUE behind what is there, as forms write it. */
static void put_pair(struct buf *out, const char *name, struct slice value) {
    struct why ignored;
    bool first = out->len == 0 || out->at[out->len - 1] == '?';
    buf_printf(out, "%s%s=", first ? "" : "&", name);
    (void)!http_text_put(HTTP_TEXT_URL, false, value, out, &ignored);
}

static void redirect_uri(const struct server *s, const struct issuer *is, struct buf *out) {
    buf_put_slice(out, bytes_slice(s->reached_at));
    buf_printf(out, CALLBACK_PATH "%.*s", SLICE_FMT(is->name));
}

static bool is_secure(const struct server *s, const struct session *n) {
    return n->is_tls || slice_begins(bytes_slice(s->reached_at), SLICE("https://"));
}

/* Lax, not strict: it has to come along when the provider sends the browser back. */
static void state_line(const struct server *s, const struct session *n, const char *value, int seconds,
                       char ret[LOGIN_STATE_BYTES + 128]) {
    char name[COOKIE_NAME_BYTES];
    cookie_name_of(&web_of(n)->in.request, STATE_COOKIE, name);
    snprintf(ret, LOGIN_STATE_BYTES + 128, "%s=%s; Path=" CALLBACK_PATH "; Max-Age=%d; HttpOnly; SameSite=Lax%s", name,
             value, seconds, is_secure(s, n) ? "; Secure" : "");
}

static void challenge_put(const struct server *s, const char *verifier, struct buf *out) {
    uint8_t hash[DIGEST_BYTES];
    s->world.hasher->whole(s->world.hasher, slice_str(verifier), hash);
    buf_put_slice(out, SLICE("&code_challenge_method=S256&code_challenge="));
    base64url_put(out, slice_of(hash, sizeof hash));
}

static void address_put(struct server *s, const struct issuer *is, const struct keyring_places *places,
                        const struct login_state *l, struct buf *out) {
    char text[LOGIN_STATE_TEXT_BYTES];
    struct buf back;
    buf_init(&back, URL_BYTES_MAX);
    redirect_uri(s, is, &back);
    buf_printf(out, "%s%s", places->authorization, strchr(places->authorization, '?') != NULL ? "&" : "?");
    buf_put_slice(out, SLICE("response_type=code"));
    put_pair(out, "client_id", is->client_id);
    put_pair(out, "redirect_uri", buf_slice(&back));
    put_pair(out, "scope", is->scopes);
    login_state_text(&s->auth, l, LOGIN_STATE_STATE, text);
    put_pair(out, "state", slice_str(text));
    login_state_text(&s->auth, l, LOGIN_STATE_NONCE, text);
    put_pair(out, "nonce", slice_str(text));
    login_state_text(&s->auth, l, LOGIN_STATE_VERIFIER, text);
    challenge_put(s, text, out);
    buf_put_u8(out, 0);
    buf_fini(&back);
}

/* The provider sends browsers back to the public address: begun elsewhere, a login could not end. */
static bool is_at_home(const struct server *s, const struct session *n) {
    struct slice authority, path, query, url = bytes_slice(s->reached_at);
    const struct slice *host = http_header(&web_of(n)->in.request, "host");
    return uri_split(url, &authority, &path, &query) && host != NULL && slice_eq(*host, authority);
}

static void start(struct server *s, struct session *n, const struct issuer *is) {
    const struct keyring_places *places = NULL;
    struct login_state l = {.number = s->world.clock->random(s->world.clock)};
    char value[LOGIN_STATE_BYTES], line[LOGIN_STATE_BYTES + 128], text[400];
    struct why why = {{0}};
    struct buf url;
    if (!is_at_home(s, n)) {
        snprintf(text, sizeof text, "Logins work at the public address of this server: open %.*s" LOGIN_PATH " .",
                 SLICE_FMT(bytes_slice(s->reached_at)));
        say_problem(s, n, 400, text, "Its administrator sets that address by public_url.");
        return;
    }
    if (oidc_places(s, is, &places, &why) != ERR_OK || places->authorization[0] == 0) {
        say_problem(s, n, 503, why.text[0] != 0 ? why.text : "This provider has no address for logins.",
                    "Try again in a moment. If it stays so, tell the administrator of this server.");
        return;
    }
    snprintf(l.issuer, sizeof l.issuer, "%.*s", SLICE_FMT(is->name));
    l.expires_ms = s->world.clock->wall(s->world.clock).ms + LOGIN_STATE_MS;
    login_state_make(&s->auth, &l, value);
    state_line(s, n, value, LOGIN_STATE_MS / 1000, line);
    buf_init(&url, 4 * URL_BYTES_MAX);
    address_put(s, is, places, &l, &url);
    ENSURE(!url.full);
    struct http_head h = {.status = 303, .length = 0, .location = (const char *)url.at, .cookie = line};
    web_put_head(s, n, &h);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    web_finished(s, n);
    buf_fini(&url);
}

/* ---- and back ---- */

struct callback_query {
    struct slice code, state, error, description, iss;
};

static enum err query_read(struct server *s, const struct http_request *r, struct callback_query *ret,
                           struct why *why) {
    struct callback_query q = {.code = {0}};
    struct slice left = r->query, key, value;
    const struct {
        const char *name;
        struct slice *to;
    } names[] = {{"code", &q.code},
                 {"state", &q.state},
                 {"error", &q.error},
                 {"error_description", &q.description},
                 {"iss", &q.iss}};
    arena_reset(&webs_of(s)->arena);
    while (uri_pair_next(&left, &key, &value))
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (!slice_eq(key, slice_str(names[i].name))) continue;
            if (names[i].to->ptr != NULL) return why_set(why, ERR_INVALID, "`%s` came twice", names[i].name);
            enum err e = uri_decode(value, true, &webs_of(s)->arena, names[i].to, why);
            if (e != ERR_OK) return e;
        }
    *ret = q;
    return ERR_OK;
}

/* That this browser has asked this provider, and that the answer is to that question. */
static enum err state_check(struct server *s, struct session *n, const struct issuer *is,
                            const struct callback_query *q, struct login_state *ret, struct why *why) {
    char name[COOKIE_NAME_BYTES], text[LOGIN_STATE_TEXT_BYTES];
    struct slice cookie;
    struct login_state l;
    cookie_name_of(&web_of(n)->in.request, STATE_COOKIE, name);
    if (!cookie_find_named(&web_of(n)->in.request, name, &cookie))
        return why_set(why, ERR_UNAUTHENTICATED, "this login was not begun in this browser, or too long ago");
    enum err e = login_state_read(&s->auth, cookie, s->world.clock->wall(s->world.clock), &l, why);
    if (e != ERR_OK) return e;
    login_state_text(&s->auth, &l, LOGIN_STATE_STATE, text);
    if (!slice_eq(slice_str(l.issuer), is->name) || !hmac_token_is_same(q->state, text, strlen(text)))
        return why_set(why, ERR_UNAUTHENTICATED, "this login was not begun in this browser (`state`)");
    *ret = l;
    return ERR_OK;
}

/* RFC 9207: an answer that says whose it is must be of the one that was asked. */
static enum err iss_check(struct server *s, const struct issuer *is, const struct callback_query *q, struct why *why) {
    const struct keyring_places *places = NULL;
    enum err e = oidc_places(s, is, &places, why);
    if (e != ERR_OK) return e;
    if ((q->iss.len > 0 || places->says_iss) && !slice_eq(q->iss, is->url))
        return why_set(why, ERR_UNAUTHENTICATED, "the answer is of another provider than the one that was asked");
    return ERR_OK;
}

static struct web_code *code_free(struct webs *all) {
    for (uint32_t i = 0; i < WEB_CODES_MAX; i++)
        if (all->codes[i].conn.v == 0) return &all->codes[i];
    return NULL;
}

static void code_end(struct webs *all, struct web_code *c) {
    all->code_count -= c->conn.v != 0;
    buf_fini(&c->said);
    *c = (struct web_code){.status = 0};
}

static void came(void *ctx, fetch_id id, const struct fetched *f) {
    struct server *s = ctx;
    for (uint32_t i = 0; i < WEB_CODES_MAX; i++) {
        struct web_code *c = &webs_of(s)->codes[i];
        if (c->conn.v == 0 || c->fetch.v != id.v) continue;
        c->fetch.v = 0;
        c->status = f->status;
        c->date_ms = f->date_ms;
        buf_put_slice(&c->said, f->status == 0 ? f->problem : f->body);
    }
    part_wake(server_shard(s), web_slot);
}

/* RFC 6749, 2.3.1: name and secret as forms write them. */
static void authorization_put(const struct issuer *is, struct buf *out) {
    struct buf pair;
    struct why ignored;
    buf_init(&pair, 4 * (ISSUER_SECRET_MAX + 512));
    (void)!http_text_put(HTTP_TEXT_URL, false, is->client_id, &pair, &ignored);
    buf_put_u8(&pair, ':');
    (void)!http_text_put(HTTP_TEXT_URL, false, is->secret, &pair, &ignored);
    buf_put_slice(out, SLICE("Basic "));
    base64_put(out, buf_slice(&pair));
    buf_fini(&pair);
}

static fetch_id code_ask(struct server *s, const struct issuer *is, const struct keyring_places *places,
                         struct slice code, const char *verifier) {
    struct buf form, back, authorization;
    struct fetch_handler h = {came, s};
    buf_init(&form, FETCH_FORM_MAX);
    buf_init(&back, URL_BYTES_MAX);
    buf_init(&authorization, FETCH_URL_MAX);
    redirect_uri(s, is, &back);
    put_pair(&form, "grant_type", SLICE("authorization_code"));
    put_pair(&form, "code", code);
    put_pair(&form, "redirect_uri", buf_slice(&back));
    put_pair(&form, "code_verifier", slice_str(verifier));
    if (is->secret.len > 0)
        authorization_put(is, &authorization);
    else
        put_pair(&form, "client_id", is->client_id);
    struct fetch_spec spec = {.url = slice_str(places->token),
                              .form = buf_slice(&form),
                              .authorization = buf_slice(&authorization),
                              .bytes_max = ANSWER_BYTES_MAX};
    bool fits = !form.full && !back.full && !authorization.full;
    fetch_id id = fits ? oidc_fetch(s, is, &spec, &h) : (fetch_id){0};
    buf_fini(&form);
    buf_fini(&back);
    buf_fini(&authorization);
    return id;
}

static void exchange(struct server *s, struct session *n, const struct issuer *is, const struct login_state *l,
                     struct slice code) {
    const struct keyring_places *places = NULL;
    struct web_code *c = code_free(webs_of(s));
    struct why why = {{0}};
    char verifier[LOGIN_STATE_TEXT_BYTES];
    login_state_text(&s->auth, l, LOGIN_STATE_VERIFIER, verifier);
    fetch_id id = {0};
    if (c != NULL && oidc_places(s, is, &places, &why) == ERR_OK && places->token[0] != 0)
        id = code_ask(s, is, places, code, verifier);
    if (id.v == 0) {
        say_problem(s, n, 503, "Too many people are logging in at this moment.", "Try again in a few seconds.");
        return;
    }
    struct web *w = web_of(n);
    w->busy = true;
    n->opened_ms = web_now(s) + OIDC_FETCH_MS; /* the provider has its own time, and hello_ms begins behind it */
    webs_of(s)->code_count++;
    *c = (struct web_code){.fetch = id, .conn = n->conn, .request = web_request_next(w)};
    snprintf(c->issuer, sizeof c->issuer, "%s", l->issuer);
    login_state_text(&s->auth, l, LOGIN_STATE_NONCE, c->nonce);
    buf_init(&c->said, ANSWER_BYTES_MAX + 1024);
}

static void callback(struct server *s, struct session *n, const struct issuer *is) {
    struct callback_query q;
    struct login_state l;
    struct why why = {{0}};
    char text[400];
    if (web_login_wait(s, n) > 0) {
        say_problem(s, n, 429, "Too many logins from your address have failed.", "Try again in a minute.");
        return;
    }
    enum err e = query_read(s, &web_of(n)->in.request, &q, &why);
    if (e == ERR_OK) e = state_check(s, n, is, &q, &l, &why);
    if (e == ERR_OK) e = iss_check(s, is, &q, &why);
    if (e != ERR_OK) {
        web_login_failed(s, n, why.text);
        snprintf(text, sizeof text, "The answer of %.*s cannot be used: %s.", SLICE_FMT(is->title), why.text);
        say_problem(s, n, e == ERR_INVALID ? 400 : 403, text, "Begin again, and finish in the same browser.");
    } else if (q.error.len > 0 || q.code.len == 0) {
        bool denied = slice_eq(q.error, SLICE("access_denied"));
        snprintf(text, sizeof text, "%.*s did not let you in: %s", SLICE_FMT(is->title),
                 denied ? "you, or its administrator, refused." : "it reports an error.");
        struct slice more = q.description.len > 0 ? q.description : q.error;
        char detail[200];
        snprintf(detail, sizeof detail, "%.*s", SLICE_FMT(utf8_cut(more, 180)));
        say_problem(s, n, 403, text, detail);
    } else {
        exchange(s, n, is, &l, q.code);
    }
}

/* ---- the end of it ---- */

/* {"id_token": "…"}, or {"error": "…", "error_description": "…"}. */
static enum err token_of(struct server *s, const struct web_code *c, struct slice *ret, struct why *why) {
    const struct json_node *root = NULL;
    struct slice said = buf_slice(&c->said);
    if (c->status == 0) return why_set(why, ERR_BUSY, "it cannot be reached: %.*s", SLICE_FMT(utf8_cut(said, 150)));
    arena_reset(&webs_of(s)->arena);
    if (json_tree_read(said, s->limits, &webs_of(s)->arena, &root, why) != ERR_OK)
        return why_set(why, ERR_UNAUTHENTICATED, "its answer (status %u) is not JSON", c->status);
    const struct json_node *token = json_tree_get(root, SLICE("id_token")),
                           *error = json_tree_get(root, SLICE("error"));
    const struct json_node *more = json_tree_get(root, SLICE("error_description"));
    if (c->status == 200 && token != NULL && token->kind == JSON_TEXT) {
        *ret = token->text;
        return ERR_OK;
    }
    if (error == NULL || error->kind != JSON_TEXT)
        return why_set(why, ERR_UNAUTHENTICATED, "its answer (status %u) has no ID token", c->status);
    bool has_more = more != NULL && more->kind == JSON_TEXT;
    return why_set(why, ERR_UNAUTHENTICATED, "it does not accept the login: %.*s%s%.*s",
                   SLICE_FMT(utf8_cut(error->text, 40)), has_more ? ", " : "",
                   SLICE_FMT(has_more ? utf8_cut(more->text, 120) : (struct slice){0}));
}

static void say_failed(struct server *s, struct session *n, const struct web_code *c, const struct issuer *is,
                       enum err e, const struct why *why) {
    char text[400], more[200] = "Begin again. If it stays so, tell the administrator of this server what stands here.";
    int64_t skew_ms = c->date_ms != 0 ? c->date_ms - s->world.clock->wall(s->world.clock).ms : 0;
    if (e == ERR_UNAUTHENTICATED)
        web_login_failed(s, n, why->text); /* a provider that is down, or knows others, is no guess at a secret */
    else
        server_log(s, SERVER_WARN, "login", "%s: %s", n->address, why->text);
    if (e == ERR_FORBIDDEN) {
        snprintf(text, sizeof text, "%.*s knows you, but your account has no access to this server: %s.",
                 SLICE_FMT(is->title), why->text);
        snprintf(more, sizeof more, "Ask the administrator of this server for access, and show this page.");
    } else {
        snprintf(text, sizeof text, "The login with %.*s failed: %s.", SLICE_FMT(is->title), why->text);
    }
    if (e != ERR_FORBIDDEN && llabs(skew_ms) > SKEW_MS_SHOWN)
        snprintf(
            more, sizeof more,
            "The clock of the provider is %lld s %s that of this server: one of them is wrong, and logins need both.",
            (long long)llabs(skew_ms) / 1000, skew_ms > 0 ? "ahead of" : "behind");
    say_problem(s, n, e == ERR_BUSY ? 503 : 403, text, more);
}

static void finish(struct server *s, struct session *n, const struct web_code *c) {
    const struct issuers *list = oidc_of(s)->issuers;
    const struct issuer *is = list != NULL ? issuers_by_name(list, slice_str(c->issuer)) : NULL;
    struct slice token;
    struct caller who;
    struct why why = {{0}};
    char name[OIDC_WHO_BYTES];
    if (is == NULL) {
        say_problem(s, n, 403, "This server no longer accepts logins of that provider.", NULL);
        return;
    }
    enum err e = token_of(s, c, &token, &why);
    if (e == ERR_OK) e = oidc_login(s, is, token, slice_str(c->nonce), &who, &why);
    if (e == ERR_OK) {
        oidc_session_open(s, is, &who, name);
        e = web_login_enter(s, n, name, &why);
        if (e != ERR_OK) oidc_session_end(oidc_of(s), name);
    }
    if (e != ERR_OK) say_failed(s, n, c, is, e, &why);
}

void web_oidc_go_on(struct server *s) {
    for (uint32_t i = 0; i < WEB_CODES_MAX; i++) {
        struct web_code *c = &webs_of(s)->codes[i];
        if (c->conn.v == 0 || c->fetch.v != 0) continue;
        struct session *n = session_of(s, c->conn);
        if (n != NULL && web_of(n)->busy && web_of(n)->request == c->request) finish(s, n, c);
        code_end(webs_of(s), c);
    }
}

void web_oidc_fini(struct server *s) {
    for (uint32_t i = 0; i < WEB_CODES_MAX; i++) {
        struct web_code *c = &webs_of(s)->codes[i];
        if (c->fetch.v != 0) s->world.fetcher->ops->stop(s->world.fetcher, c->fetch);
        code_end(webs_of(s), c);
    }
}

/* ---- which of them ---- */

static const struct issuer *named(const struct issuers *list, struct slice path, const char *front) {
    struct slice prefix = slice_str(front);
    if (list == NULL || !slice_begins(path, prefix)) return NULL;
    const struct issuer *is = issuers_by_name(list, slice_of(path.ptr + prefix.len, path.len - prefix.len));
    return is != NULL && is->client_id.len > 0 ? is : NULL;
}

static bool has_logins(const struct issuers *list) {
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        if (list->all[i].client_id.len > 0) return true;
    return false;
}

bool web_answer_login(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    const struct issuers *list = oidc_of(s)->issuers;
    if (!slice_begins(r->path, SLICE(LOGIN_PATH))) return false;
    if (slice_eq(r->path, SLICE(LIST_PATH))) {
        say_json(s, n);
        return true;
    }
    if (!has_logins(list)) return false;
    const struct issuer *to = named(list, r->path, START_PATH), *back = named(list, r->path, CALLBACK_PATH);
    bool is_page = slice_eq(r->path, SLICE(LOGIN_PATH)), is_known = to != NULL || back != NULL;
    if (!is_page && !is_known && !slice_begins(r->path, SLICE(LOGIN_PATH "/"))) return false;
    if (is_known && r->verb != HTTP_VERB_GET)
        web_say_error(s, n, ERR_UNSUPPORTED, 405, "this path answers to GET", NULL, "GET");
    else if (is_page)
        say_list(s, n);
    else if (to != NULL)
        start(s, n, to);
    else if (back != NULL)
        callback(s, n, back);
    else
        say_problem(s, n, 404, "This server has no such login.", NULL);
    return true;
}
