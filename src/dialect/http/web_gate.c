/* web_gate.c: who may come by HTTP, and with what. Decided on the head, before the body is read: by the name that we
 * are called by (a page of another name may have been led here by its name server), by the page that sends it, by
 * token, by how often it comes, by role, and by the form of the body. */
#include <stdio.h>
#include <strings.h>

#include "authenticate.h"
#include "callback_token.h"
#include "hash.h"
#include "jwt.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "uri.h"
#include "web_impl.h"

#define TENANT_HEADER "reeve-tenant"
#define SESSION_PATH API_PREFIX "/session"

/* ---- names ---- */

/* "host:port" without the port, and "[::1]:port" with its brackets. */
static struct slice host_of(struct slice authority) {
    const uint8_t *colon = authority.len > 0 ? memrchr(authority.ptr, ':', authority.len) : NULL;
    const uint8_t *bracket = authority.len > 0 ? memrchr(authority.ptr, ']', authority.len) : NULL;
    if (colon == NULL || (bracket != NULL && colon < bracket)) return authority;
    return slice_of(authority.ptr, (size_t)(colon - authority.ptr));
}

static bool text_is(struct slice a, struct slice b) {
    return a.len == b.len && (slice_eq(a, b) || strncasecmp((const char *)a.ptr, (const char *)b.ptr, a.len) == 0);
}

static bool is_listed(struct slice host, const char *names) {
    struct slice left = slice_str(names != NULL ? names : "");
    while (left.len > 0) {
        const uint8_t *comma = memchr(left.ptr, ',', left.len);
        size_t len = comma != NULL ? (size_t)(comma - left.ptr) : left.len;
        struct slice name = slice_of(left.ptr, len);
        while (name.len > 0 && name.ptr[0] == ' ') name = slice_of(name.ptr + 1, name.len - 1);
        if (name.len > 0 && text_is(host, name)) return true;
        left = comma != NULL ? slice_of(comma + 1, left.len - len - 1) : slice_of(left.ptr, 0);
    }
    return false;
}

/* An address in digits cannot be another's name. */
static bool is_address(struct slice host) {
    if (host.len > 0 && host.ptr[0] == '[') return true;
    for (size_t i = 0; i < host.len; i++)
        if ((host.ptr[i] < '0' || host.ptr[i] > '9') && host.ptr[i] != '.') return false;
    return host.len > 0;
}

/* That of the URL by which others reach us, perhaps through a proxy. */
static struct slice public_host(const struct server *s) {
    struct slice url = bytes_slice(s->reached_at), none = {0}, authority, path, query;
    return uri_split(url, &authority, &path, &query) ? host_of(authority) : none;
}

static bool is_listened_at(struct slice host, const char *address) {
    struct slice listen = host_of(slice_str(address != NULL ? address : ""));
    bool any = slice_eq(listen, SLICE("0.0.0.0")) || slice_eq(listen, SLICE("[::]")) || listen.len == 0;
    return any ? is_address(host) : text_is(host, listen);
}

static bool is_ours(const struct server *s, const struct session *n, struct slice authority) {
    struct slice host = host_of(authority), public = public_host(s);
    const struct http_face *face = web_of(n)->face;
    if (public.len > 0 && text_is(host, public)) return true;
    return is_listed(host, "localhost,127.0.0.1,[::1]") || is_listened_at(host, s->options.listen) ||
           (face->listen != NULL && is_listened_at(host, face->listen(s))) || is_listed(host, s->options.http_hosts);
}

static struct slice authority_of(const struct http_request *r) {
    const struct slice *host = http_header(r, "host");
    return r->authority.len > 0 ? r->authority : host != NULL ? *host : (struct slice){0};
}

/* A page may talk to the server that it came from. */
static bool is_same_origin(const struct session *n, struct slice origin, struct slice authority) {
    char own[600];
    snprintf(own, sizeof own, "https://%.*s", SLICE_FMT(authority));
    if (http_text_is(origin, own)) return true;
    snprintf(own, sizeof own, "http://%.*s", SLICE_FMT(authority));
    return !n->is_tls && http_text_is(origin, own);
}

bool web_knows_host(const struct server *s, const struct session *n) {
    struct slice authority = authority_of(&web_of(n)->in.request);
    return n->is_local || is_ours(s, n, authority) || (authority.len == 0 && web_of(n)->in.request.minor == 0);
}

bool web_is_own_page(const struct session *n, struct slice origin) {
    return is_same_origin(n, origin, authority_of(&web_of(n)->in.request));
}

static bool check_names(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    struct slice authority = authority_of(r);
    const struct slice *origin = http_header(r, "origin");
    char text[400];
    /* Pages cannot come by Unix socket. HTTP/1.0 knows no host; a page would not speak it. */
    if (n->is_local) return true;
    if (!is_ours(s, n, authority) && (authority.len > 0 || r->minor == 1)) {
        snprintf(text, sizeof text, "unknown host name %.*s: add it to the setting http_hosts",
                 (int)(authority.len < 128 ? authority.len : 128), (const char *)authority.ptr);
        web_say_error(s, n, ERR_FORBIDDEN, 421, text, NULL, NULL);
        return false;
    }
    if (http_header_count(r, "origin") > 0 && (origin == NULL || !is_same_origin(n, *origin, authority))) {
        web_say_error(s, n, ERR_FORBIDDEN, 0, "requests from web pages of other origins are not allowed", NULL, NULL);
        return false;
    }
    return true;
}

/* ---- who ---- */

/* A callback brings its token in its path: whoever is called back is given one text, not two. */
static struct slice token_of_path(struct slice path) {
    struct slice prefix = SLICE(CALLBACK_PATH);
    if (path.len <= prefix.len || memcmp(path.ptr, prefix.ptr, prefix.len) != 0) return (struct slice){0};
    return slice_of(path.ptr + prefix.len, path.len - prefix.len);
}

/* Whoever looks after machines and is on this one may be let in without a token, to read numbers. */
static bool reads_metrics_freely(const struct server *s, const struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    bool is_here = n->is_local || strncmp(n->address, "127.", 4) == 0 || strncmp(n->address, "[::1]", 5) == 0;
    return s->options.metrics_open && is_here && slice_eq(r->path, SLICE("/metrics")) &&
           http_header_count(r, "authorization") == 0;
}

static bool check_caller(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    const struct slice *given = http_header(r, "authorization"), *tenant = http_header(r, TENANT_HEADER);
    struct slice token = {0}, cookie = {0};
    struct why why = {{0}};
    enum err e = ERR_OK;
    web_of(n)->cookie = (struct cookie){0};
    if (reads_metrics_freely(s, n)) {
        n->who = (struct caller){.name = "metrics", .roles = ROLE_BIT(ROLE_VIEWER)};
        n->state = SESSION_OPEN;
        return true;
    }
    if (given != NULL && given->len > 7 && http_text_is(slice_of(given->ptr, 7), "bearer ")) {
        token = slice_of(given->ptr + 7, given->len - 7);
        while (token.len > 0 && token.ptr[0] == ' ') token = slice_of(token.ptr + 1, token.len - 1);
    } else if (http_header_count(r, "authorization") > 0) {
        e = why_set(&why, ERR_UNAUTHENTICATED, "expected one header: Authorization: Bearer TOKEN");
    } else {
        token = token_of_path(r->path);
    }
    if (e == ERR_OK && http_header_count(r, TENANT_HEADER) > 1)
        e = why_set(&why, ERR_INVALID, "expected one header Reeve-Tenant, found several");
    struct slice wanted = tenant != NULL ? *tenant : (struct slice){0};
    bool by_cookie = given == NULL && token.len == 0 && cookie_find(r, &cookie);
    if (e == ERR_OK)
        e = by_cookie ? web_vouch_cookie(s, n, cookie, wanted, &why) : authenticate(s, n, token, wanted, &why);
    if (e == ERR_OK) {
        n->state = SESSION_OPEN;
        return true;
    }
    bool awaits_keys = e == ERR_BUSY && jwt_looks_like(token); /* of an identity provider (oidc.h) */
    web_say_error(s, n, e, awaits_keys ? 503 : 0, why.text, NULL, NULL);
    return false;
}

void web_say_limited(struct server *s, struct session *n, int64_t wait_ms, const char *text) {
    logins_of(s)->limited_count++;
    web_say_wait(s, n, (uint32_t)wait_ms, text);
}

static bool check_rate(struct server *s, struct session *n) {
    const struct caller *c = &n->who;
    uint64_t key =
        hash64(c->name, strlen(c->name), hash64(c->id, strlen(c->id), hash64(c->tenant, strlen(c->tenant), 2)));
    int64_t wait = rate_take(&logins_of(s)->requests, key, web_now(s));
    if (wait > 0) web_say_limited(s, n, wait, "too many requests in too short a time (http_rate)");
    return wait == 0;
}

/* ---- what ---- */

static const char *allow_of(uint32_t verbs, char text[64]) {
    size_t len = 0;
    verbs |= 1u << HTTP_VERB_OPTIONS;
    for (uint32_t i = 0; i < HTTP_VERB_COUNT; i++)
        if (verbs & 1u << i)
            len +=
                (size_t)snprintf(text + len, 64 - len, "%s%s", len > 0 ? ", " : "", http_verb_word((enum http_verb)i));
    return text;
}

bool web_is_session(const struct http_request *r) {
    return slice_eq(r->path, SLICE(SESSION_PATH));
}

/* RFC 9110, 8.3: parameters may follow. */
bool web_is_json(const struct http_request *r) {
    const struct slice *type = http_header(r, "content-type");
    if (type == NULL) return false;
    const uint8_t *end = type->len > 0 ? memchr(type->ptr, ';', type->len) : NULL;
    struct slice word = slice_of(type->ptr, end != NULL ? (size_t)(end - type->ptr) : type->len);
    while (word.len > 0 && word.ptr[word.len - 1] == ' ') word.len--;
    return http_text_is(word, "application/json");
}

static bool check_route(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    struct api_match m;
    struct why why = {{0}};
    char text[200], allow[64];
    arena_reset(&webs_of(s)->arena);
    enum err e = api_find(r, &webs_of(s)->arena, &m, &why);
    if (e != ERR_OK) {
        web_say_error(s, n, e, 0, why.text, NULL, NULL);
    } else if (m.verbs == 0) {
        web_say_error(s, n, ERR_NOT_FOUND, 0, "not found: nothing at this path", NULL, NULL);
    } else if (m.route == NULL) {
        snprintf(text, sizeof text, "this path answers to %s", allow_of(m.verbs, allow));
        web_say_error(s, n, ERR_UNSUPPORTED, 405, text, NULL, allow);
    } else if ((e = request_may(s, n, m.route->op, &why)) != ERR_OK) {
        web_say_error(s, n, e, 0, why.text, NULL, NULL);
    } else if (r->verb != HTTP_VERB_DELETE && m.route->body != API_BODY_NONE && m.route->body != API_BODY_BYTES &&
               !web_is_json(r)) {
        web_say_error(s, n, ERR_UNSUPPORTED, 415, "expected content-type: application/json", NULL, NULL);
    } else {
        web_of(n)->match = m;
        return true;
    }
    return false;
}

/* What anyone may ask, so that who looks after machines needs no token. */
static bool answer_health(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    bool alive = slice_eq(r->path, SLICE("/healthz")), ready = slice_eq(r->path, SLICE("/readyz"));
    char allow[64];
    if (!alive && !ready) return false;
    const char *unready = server_unready(s);
    bool well = alive || unready == NULL;
    if (r->verb == HTTP_VERB_GET || r->verb == HTTP_VERB_HEAD)
        web_say_status(s, n, well ? 200 : 503, well ? "ok" : unready, ready ? shard_clock_note(server_shard(s)) : NULL);
    else
        web_say_error(s, n, ERR_UNSUPPORTED, 405, "this path answers to GET", NULL,
                      allow_of(1u << HTTP_VERB_GET | 1u << HTTP_VERB_HEAD, allow));
    return true;
}

static bool answer_options(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    struct api_match m = {.verbs = 1u << HTTP_VERB_GET | 1u << HTTP_VERB_HEAD};
    struct why why;
    char allow[64];
    if (r->verb != HTTP_VERB_OPTIONS) return false;
    arena_reset(&webs_of(s)->arena);
    bool named = !slice_eq(r->path, SLICE("*"));
    if (web_is_session(r)) {
        web_say_nothing(s, n, WEB_SESSION_VERBS);
        return true;
    }
    if (web_mount_of(r) != NULL) {
        web_say_nothing(s, n, web_mount_of(r)->verbs);
        return true;
    }
    if (named && (api_find(r, &webs_of(s)->arena, &m, &why) != ERR_OK || m.verbs == 0))
        web_say_error(s, n, ERR_NOT_FOUND, 0, "not found: nothing at this path", NULL, NULL);
    else
        web_say_nothing(s, n, allow_of(m.verbs, allow));
    return true;
}

bool web_admit(struct server *s, struct session *n) {
    const struct http_request *r = &web_of(n)->in.request;
    if (!check_names(s, n) || answer_health(s, n) || answer_options(s, n)) return false;
    bool reads = r->verb == HTTP_VERB_GET || r->verb == HTTP_VERB_HEAD;
    if (reads && (web_answer_ticket(s, n) || web_answer_login(s, n) || web_answer_asset(s, n))) return false;
    if (s->draining) {
        web_say_error(s, n, ERR_BUSY, 503, "the server is stopping", NULL, NULL);
        return false;
    }
    n->state = SESSION_NEW; /* whoever it was before */
    n->who = (struct caller){0};
    n->job = (struct attempt_effect){0};
    if (web_is_session(r) && r->verb == HTTP_VERB_POST) return web_admit_login(s, n, r);
    if (!check_caller(s, n) || !check_rate(s, n)) return false;
    const struct http_mount *mount = web_mount_of(r);
    return mount != NULL ? mount->admit(s, n) : web_is_session(r) || check_route(s, n);
}
