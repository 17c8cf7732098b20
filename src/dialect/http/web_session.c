/* web_session.c: how browsers come in and go: by a token that a person types, or by a link that was made for them; with
 * a cookie from then on (cookie.h). Who fails too often has to wait, wherever the token came from. */
#include <stdio.h>

#include "authenticate.h"
#include "call.h"
#include "cookie.h"
#include "hash.h"
#include "http_dialect.h"
#include "json_tree.h"
#include "oidc.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "uri.h"
#include "view_directory.h"
#include "web_impl.h"

#define LOGIN_PATH "/login"
#define LOGIN_BYTES_MAX 4096u /* what a stranger may make us hold */
#define FAILURE_NS INT64_C(10000000000)
#define NS_PER_S INT64_C(1000000000)
#define COOKIE_LINE_BYTES (COOKIE_BYTES + 128u)

void web_session_init(struct server *s) {
    struct logins *l = logins_of(s);
    int64_t rate = s->limits->http_rate;
    rate_init(&l->failures, FAILURE_NS, s->limits->login_failures);
    rate_init(&l->requests, rate < NS_PER_S ? NS_PER_S / rate : 1, s->limits->http_burst);
}

void web_session_fini(struct server *s) {
    rate_fini(&logins_of(s)->failures);
    rate_fini(&logins_of(s)->requests);
}

/* ---- how often ---- */

/* An address without its port. */
static uint64_t address_key(const struct session *n) {
    const char *colon = strrchr(n->address, ':');
    return hash64(n->address, colon != NULL ? (size_t)(colon - n->address) : strlen(n->address), 1);
}

static bool may_try(struct server *s, struct session *n) {
    int64_t wait = rate_wait(&logins_of(s)->failures, address_key(n), web_now(s));
    if (wait > 0) web_say_limited(s, n, wait, "too many logins from this address have failed (login_failures)");
    return wait == 0;
}

static void failed(struct server *s, struct session *n, const char *text) {
    logins_of(s)->failed_count++;
    (void)rate_take(&logins_of(s)->failures, address_key(n), web_now(s));
    server_log(s, SERVER_WARN, "login", "%s: %s", n->address, text);
}

int64_t web_login_wait(struct server *s, const struct session *n) {
    return rate_wait(&logins_of(s)->failures, address_key(n), web_now(s));
}

void web_login_failed(struct server *s, struct session *n, const char *text) {
    failed(s, n, text);
}

/* ---- cookies ---- */

static wall_time wall_now(const struct server *s) {
    return s->world.clock->wall(s->world.clock);
}

enum err web_vouch_cookie(struct server *s, struct session *n, struct slice text, struct slice tenant,
                          struct why *why) {
    const struct http_request *r = &web_of(n)->in.request;
    struct cookie *c = &web_of(n)->cookie;
    enum err e = cookie_check(&s->auth, text, r, wall_now(s), c, why);
    if (e == ERR_OK) e = authenticate_cookie(s, n, c->who, tenant, why);
    if (e == ERR_OK && http_header_count(r, "upgrade") > 0 && http_header_count(r, "origin") == 0)
        e = why_set(why, ERR_FORBIDDEN, "the header Origin is missing");
    if (e != ERR_OK) *c = (struct cookie){0};
    return e;
}

/* Secure: over TLS, ours or that of the proxy that our public name is of. */
static void cookie_line(const struct server *s, const struct session *n, const char *value, int64_t seconds,
                        char ret[COOKIE_LINE_BYTES]) {
    struct slice url = bytes_slice(s->reached_at);
    const struct slice *host = http_header(&web_of(n)->in.request, "host");
    char name[COOKIE_NAME_BYTES];
    bool secure = n->is_tls;
    cookie_name(&web_of(n)->in.request, name);
    if (!secure && host != NULL && url.len == host->len + 8 && memcmp(url.ptr, "https://", 8) == 0)
        secure = memcmp(url.ptr + 8, host->ptr, host->len) == 0;
    snprintf(ret, COOKIE_LINE_BYTES, "%s=%s; Path=/; Max-Age=%lld; HttpOnly; SameSite=Strict%s", name, value,
             (long long)seconds, secure ? "; Secure" : "");
}

/* n->who is in; from now on by this cookie. */
static void open_session(struct server *s, struct session *n, const char *who, char ret_line[COOKIE_LINE_BYTES]) {
    struct cookie *c = &web_of(n)->cookie;
    char value[COOKIE_BYTES];
    int64_t now = wall_now(s).ms, until = now + s->limits->session_ms;
    *c = (struct cookie){.number = s->world.clock->random(s->world.clock)};
    c->expires_ms = n->who.expires_ms != 0 && n->who.expires_ms < until ? n->who.expires_ms : until;
    snprintf(c->who, sizeof c->who, "%s", who);
    cookie_make(&s->auth, c, value);
    cookie_line(s, n, value, (c->expires_ms - now) / 1000, ret_line);
    n->state = SESSION_OPEN;
    logins_of(s)->count++;
    server_log(s, SERVER_INFO, "login", "%s logged in as %s", n->address, n->who.name);
}

enum err web_login_enter(struct server *s, struct session *n, const char *who, struct why *why) {
    char line[COOKIE_LINE_BYTES], csrf[COOKIE_CSRF_BYTES], location[COOKIE_CSRF_BYTES + 8];
    enum err e = authenticate_cookie(s, n, who, (struct slice){0}, why);
    if (e != ERR_OK) return e;
    open_session(s, n, who, line);
    cookie_csrf(&s->auth, &web_of(n)->cookie, csrf); /* behind "#": as of a link, below */
    snprintf(location, sizeof location, "/#csrf=%s", csrf);
    struct http_head h = {.status = 303, .length = 0, .location = location, .cookie = line};
    web_put_head(s, n, &h);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    web_finished(s, n);
    return ERR_OK;
}

/* ---- /api/v1/session ---- */

bool web_admit_login(struct server *s, struct session *n, const struct http_request *r) {
    const struct slice *length = http_header(r, "content-length");
    uint64_t bytes = 0;
    for (size_t i = 0; length != NULL && i < length->len && bytes <= LOGIN_BYTES_MAX; i++)
        bytes = bytes * 10 + (uint64_t)(length->ptr[i] - '0'); /* digits: the parser has looked */
    if (length == NULL)
        web_say_error(s, n, ERR_INVALID, 411, "a login needs the header content-length", NULL, NULL);
    else if (bytes > LOGIN_BYTES_MAX)
        web_say_error(s, n, ERR_LIMIT, 413, "a login is one short token", NULL, NULL);
    else if (!web_is_json(r))
        web_say_error(s, n, ERR_UNSUPPORTED, 415, "expected content-type: application/json", NULL, NULL);
    else
        return may_try(s, n);
    return false;
}

/* `csrf` is for who has just logged in: a copy of the cookie must not be able to ask for it. */
static void put_session(const struct server *s, const struct session *n, bool is_new, struct json *j) {
    const struct cookie *c = &web_of(n)->cookie;
    char csrf[COOKIE_CSRF_BYTES];
    bool has_cookie = c->who[0] != 0;
    json_object(j);
    json_key(j, "name"), json_str(j, n->who.name);
    if (n->who.tenant[0] != 0) json_key(j, "tenant"), json_str(j, n->who.tenant);
    json_key(j, "roles");
    json_array(j);
    for (uint32_t i = 0; i < ROLE_COUNT; i++)
        if (n->who.roles & ROLE_BIT(i)) json_str(j, role_words[i]);
    json_array_end(j);
    if (is_new) {
        cookie_csrf(&s->auth, c, csrf);
        json_key(j, "csrf"), json_str(j, csrf);
    }
    int64_t expires_ms = has_cookie ? c->expires_ms : n->who.expires_ms;
    if (expires_ms != 0) json_key(j, "expires_ms"), json_i64(j, expires_ms);
    json_key(j, "version"), json_text(j, bytes_slice(s->build));
    if (s->reached_at != NULL) json_key(j, "public_url"), json_text(j, bytes_slice(s->reached_at));
    json_key(j, "playground"), json_bool(j, s->options.kill_switch != NULL);
    json_object_end(j);
}

static void say_session(struct server *s, struct session *n, const char *cookie) {
    struct json j = web_json(s);
    struct http_head h = {.status = 200, .cookie = cookie};
    put_session(s, n, cookie != NULL, &j);
    web_send_json(s, n, &h);
}

static enum err token_of(struct server *s, const struct http_request *r, struct slice *ret, struct why *why) {
    const struct json_node *root = NULL;
    arena_reset(&webs_of(s)->arena);
    enum err e = json_tree_read(r->body, s->limits, &webs_of(s)->arena, &root, why);
    if (e != ERR_OK) return e;
    const struct json_node *token = json_tree_get(root, SLICE("token"));
    if (token == NULL || token->kind != JSON_TEXT || root->count != 1)
        return why_set(why, ERR_INVALID, "expected {\"token\": \"…\"}");
    *ret = token->text;
    return ERR_OK;
}

static void login(struct server *s, struct session *n) {
    char who[COOKIE_WHO_BYTES] = "", line[COOKIE_LINE_BYTES];
    struct slice token;
    struct why why = {{0}};
    enum err e = token_of(s, &web_of(n)->in.request, &token, &why);
    if (e == ERR_OK) {
        e = authenticate_login(s, n, token, &why);
        if (e == ERR_UNAUTHENTICATED) failed(s, n, why.text);
    }
    if (e != ERR_OK) {
        web_say_error(s, n, e, 0, why.text, NULL, NULL);
        return;
    }
    ENSURE(cookie_who(&n->who, who));
    open_session(s, n, who, line);
    say_session(s, n, line);
}

/* ---- what is recorded ---- */

/* What is in webs.out leaves when what the engine was asked is durable; a refusal is said instead. */
static enum err hold_for(struct server *s, struct request *r, const struct cmd_identity *what) {
    struct command cmd = {.kind = CMD_IDENTITY};
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return ERR_BUSY; /* that was said */
    cmd.as.identity = *what;
    enum err e = call_command(s, r, c, 0, &cmd);
    call_hold_made(r, c, buf_slice(&webs_of(s)->out));
    return e;
}

static bool is_of_browser(struct server *s, const struct request *r) {
    if (r->session->dialect == &http_dialect) return true;
    session_error(s, r->session, r->id, ERR_UNSUPPORTED, "this is for browsers, by HTTP");
    return false;
}

static void put_logged_out(struct server *s, struct session *n) {
    char line[COOKIE_LINE_BYTES];
    cookie_line(s, n, "", 0, line);
    struct http_head h = {.status = 204, .length = HTTP_NO_BODY, .cookie = line};
    web_put_head(s, n, &h);
}

/* The cookie is no longer ours, should someone have kept it. */
HANDLER(req_logout) {
    const struct wire_logout *m = r->message;
    if (!is_of_browser(s, r)) return;
    const struct cookie c = web_of(r->session)->cookie;
    if (c.who[0] == 0 || c.number != m->session) {
        session_error(s, r->session, r->id, ERR_STATE, "no browser session came with this request");
        return;
    }
    struct rec_session over = {slice_str(c.who), c.number, c.expires_ms};
    oidc_session_end(oidc_of(s), c.who); /* nothing, unless it began at a provider */
    put_logged_out(s, r->session);
    if (hold_for(s, r, &(struct cmd_identity){.op = IDENTITY_SESSION_END, .sessions = &over, .session_count = 1}) ==
        ERR_OK)
        web_stream_end_session(s, &c);
}

static void logout(struct server *s, struct session *n) {
    struct wire_logout m = {.session = web_of(n)->cookie.number};
    if (web_of(n)->cookie.who[0] != 0) {
        web_give_message(s, n, WIRE_LOGOUT, &m);
        return;
    }
    put_logged_out(s, n);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    web_finished(s, n);
}

void web_serve_session(struct server *s, struct session *n) {
    enum http_verb verb = web_of(n)->in.request.verb;
    if (verb == HTTP_VERB_POST)
        login(s, n);
    else if (verb == HTTP_VERB_DELETE)
        logout(s, n);
    else if (verb == HTTP_VERB_GET || verb == HTTP_VERB_HEAD)
        say_session(s, n, NULL);
    else
        web_say_error(s, n, ERR_UNSUPPORTED, 405, "this path answers to " WEB_SESSION_VERBS, NULL, WEB_SESSION_VERBS);
}

/* ---- links ---- */

static bool ticket_of(const struct http_request *r, struct slice *ret) {
    struct slice query = r->query, key, value;
    if (!slice_eq(r->path, SLICE(LOGIN_PATH)) || r->verb != HTTP_VERB_GET) return false;
    while (uri_pair_next(&query, &key, &value)) {
        *ret = value;
        if (slice_eq(key, SLICE("ticket"))) return true;
    }
    return false;
}

/* A person opens a link in a browser, perhaps after a chat's preview has used it: the answer is a page, and whoever is
 * logged in goes on from it. */
static void say_spent_link(struct server *s, struct session *n) {
    static const char page[] =
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Reeve</title><h1>Reeve</h1>"
        "<p>This link was already used or has expired: make another with <code>reeve console</code>.</p>"
        "<p><a href=\"/\">Open the console</a></p></html>\n";
    struct http_head h = {.status = 403, .type = "text/html; charset=utf-8", .length = sizeof page - 1};
    web_put_head(s, n, &h);
    buf_put(&webs_of(s)->out, page, sizeof page - 1);
    session_send_raw(s, n, buf_slice(&webs_of(s)->out));
    web_finished(s, n);
}

bool web_answer_ticket(struct server *s, struct session *n) {
    struct slice ticket, who;
    struct why why = {{0}};
    uint8_t hash[DIGEST_BYTES];
    char text[COOKIE_WHO_BYTES] = "";
    if (!ticket_of(&web_of(n)->in.request, &ticket)) return false;
    auth_hash(&s->auth, ticket, hash);
    bool is_good = s->auth.state != NULL && view_ticket(s->auth.state, wall_now(s), slice_of(hash, sizeof hash), &who);
    if (!is_good && !may_try(s, n))
        return true; /* a good link opens also where others have failed: it cannot be guessed */
    if (!is_good) {
        failed(s, n, "a login link that was already used or has expired");
        say_spent_link(s, n);
        return true;
    }
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(who));
    enum err e = authenticate_cookie(s, n, text, (struct slice){0}, &why);
    if (e != ERR_OK) {
        failed(s, n, why.text);
        web_say_error(s, n, e, 0, why.text, NULL, NULL);
        return true;
    }
    n->state = SESSION_OPEN;
    struct wire_login_use m = {.ticket = ticket};
    web_give_message(s, n, WIRE_LOGIN_USE, &m);
    return true;
}

HANDLER(req_login_use) {
    const struct wire_login_use *m = r->message;
    struct session *n = r->session;
    char who[COOKIE_WHO_BYTES], line[COOKIE_LINE_BYTES], csrf[COOKIE_CSRF_BYTES], location[COOKIE_CSRF_BYTES + 8];
    uint8_t hash[DIGEST_BYTES];
    if (!is_of_browser(s, r)) return;
    if (web_of(n)->match.route != NULL || !cookie_who(&n->who, who)) {
        session_error(s, n, r->id, ERR_FORBIDDEN, "a login link is opened in a browser");
        return;
    }
    auth_hash(&s->auth, m->ticket, hash);
    open_session(s, n, who, line);
    /* Behind "#": only the page itself sees it (console/src/api/session.ts). */
    cookie_csrf(&s->auth, &web_of(n)->cookie, csrf);
    snprintf(location, sizeof location, "/#csrf=%s", csrf);
    struct http_head h = {.status = 303, .length = 0, .location = location, .cookie = line};
    web_put_head(s, n, &h);
    (void)hold_for(s, r, &(struct cmd_identity){.op = IDENTITY_TICKET_USE, .hash = slice_of(hash, sizeof hash)});
}

HANDLER(req_login_new) {
    char who[COOKIE_WHO_BYTES], ticket[LOGIN_TICKET_BYTES], url[LOGIN_URL_BYTES] = "";
    uint8_t hash[DIGEST_BYTES];
    struct clock *clock = s->world.clock;
    struct command cmd = {.kind = CMD_IDENTITY};
    if (!cookie_who(&r->session->who, who)) {
        session_error(s, r->session, r->id, ERR_FORBIDDEN, "a login link needs a token or the Unix socket");
        return;
    }
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    uint64_t high = clock->random(clock), low = clock->random(clock);
    snprintf(ticket, sizeof ticket, "%016llx%016llx", (unsigned long long)high, (unsigned long long)low);
    auth_hash(&s->auth, slice_str(ticket), hash);
    int64_t expires_ms = wall_now(s).ms + s->limits->login_link_ms;
    cmd.as.identity = (struct cmd_identity){.op = IDENTITY_TICKET_ADD,
                                            .hash = slice_of(hash, sizeof hash),
                                            .who = slice_str(who),
                                            .expires_ms = expires_ms};
    (void)call_command(s, r, c, 0, &cmd);
    struct slice base = bytes_slice(s->reached_at);
    if (base.len > 0) snprintf(url, sizeof url, "%.*s" LOGIN_PATH "?ticket=%s", SLICE_FMT(base), ticket);
    struct wire_login_link got = {.lsn = engine_lsn(server_shard(s)->engine),
                                  .url = slice_str(url),
                                  .ticket = slice_str(ticket),
                                  .expires_ms = expires_ms};
    call_hold(s, r, c, WIRE_LOGIN_LINK, &got);
}
