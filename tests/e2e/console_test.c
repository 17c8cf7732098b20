/* console_test.c: the web console in the built program: its files as browsers ask for them, who is let in by which
 * door, and what a page of someone else cannot do. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "realcli.h"
#include "realshell.h"
#include "webclient.h"

static struct realserver server;

static int group_setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    return 0;
}

static int group_teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

/* One request on a connection of its own, as a stranger. */
static struct webgot get(struct webclient *c, const char *path, const char *headers, int status) {
    char text[1024];
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", path, headers);
    return webclient_once(c, server.address, text, status);
}

static const char *header_of(struct webclient *c, const struct webgot *got, const char *name) {
    char mark[64];
    snprintf(mark, sizeof mark, "\r\n%s: ", name);
    const char *at = strstr(got->head, mark);
    if (at == NULL) fail_msg("no %s in %s", name, got->head);
    at += strlen(mark);
    size_t len = strcspn(at, "\r");
    char *text = arena_alloc(&c->arena, len + 1);
    memcpy(text, at, len);
    return text;
}

/* ---- files ---- */

static const char *unpacked(struct webclient *c, const struct webgot *got) {
    char path[96], command[128];
    char *text = arena_alloc(&c->arena, 65536);
    snprintf(path, sizeof path, "%s/page.gz", server.data);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(got->body, 1, got->bytes, f), got->bytes);
    fclose(f);
    snprintf(command, sizeof command, "gzip -dc %s", path);
    f = popen(command, "re");
    assert_non_null(f);
    assert_true(fread(text, 1, 65535, f) > 0);
    assert_int_equal(pclose(f), 0);
    return text;
}

static void the_console_is_in_the_program(void **state) {
    (void)state;
    struct webclient c, d;
    struct webgot got = get(&c, "/", "Accept-Encoding: gzip\r\n", 200);
    assert_string_equal(header_of(&c, &got, "Content-Type"), "text/html; charset=utf-8");
    assert_string_equal(header_of(&c, &got, "Content-Encoding"), "gzip");
    assert_string_equal(header_of(&c, &got, "Cache-Control"), "no-cache");
    assert_string_equal(header_of(&c, &got, "X-Content-Type-Options"), "nosniff");
    assert_string_equal(header_of(&c, &got, "Referrer-Policy"), "no-referrer");
    assert_string_equal(header_of(&c, &got, "Cross-Origin-Opener-Policy"), "same-origin");
    assert_string_equal(header_of(&c, &got, "Cross-Origin-Resource-Policy"), "same-origin");
    const char *policy = header_of(&c, &got, "Content-Security-Policy");
    assert_has(policy, "default-src 'none'; script-src 'self';");
    assert_has(policy, "frame-ancestors 'none'");
    assert_has_not(policy, "unsafe");
    const char *page = unpacked(&c, &got), *script = strstr(page, "src=\"/assets/");
    assert_non_null(script);
    assert_null(strstr(page, "<script>")); /* nothing is written into the page, and nothing comes from elsewhere */
    assert_null(strstr(page, "http://"));
    assert_null(strstr(page, "https://"));
    char path[128];
    snprintf(path, sizeof path, "%.*s", (int)strcspn(script + 5, "\""), script + 5);
    got = get(&d, path, "", 200);
    assert_string_equal(header_of(&d, &got, "Content-Type"), "text/javascript; charset=utf-8");
    assert_string_equal(header_of(&d, &got, "Cache-Control"), "public, max-age=31536000, immutable");
    assert_true(got.bytes > 1000);
    webclient_close(&c);
    webclient_close(&d);
}

static void every_page_is_the_index(void **state) {
    (void)state;
    static const char *const pages[] = {
        "/flows", "/flows/f3k9a", "/jobs/f3k9a/train", "/approvals", "/new",    "/workers",    "/services",
        "/dead",  "/schedules",   "/store?prefix=a",   "/audit",     "/agents", "/playground", "/login"};
    struct webclient c, d;
    struct webgot got = get(&c, "/", "", 200);
    const char *etag = header_of(&c, &got, "ETag");
    char headers[128];
    snprintf(headers, sizeof headers, "If-None-Match: %s\r\n", etag);
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++) {
        got = get(&d, pages[i], "", 200);
        assert_string_equal(header_of(&d, &got, "ETag"), etag);
        webclient_close(&d);
        got = get(&d, pages[i], headers, 304);
        assert_has_not(got.head, "Content-Length");
        webclient_close(&d);
    }
    webclient_open(&d, server.address, NULL);
    webclient_send(&d, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    got = webclient_next_head(&d);
    assert_int_equal(got.status, 200);
    assert_string_equal(header_of(&d, &got, "ETag"), etag);
    assert_true(webclient_is_closed(&d)); /* and no body came */
    webclient_close(&d);
    get(&d, "/", "Accept-Encoding: identity\r\n", 406);
    webclient_close(&d);
    webclient_close(&c);
}

/* What is not in the table does not exist, however it is spelled; who has no token learns no more than that. */
static void no_path_leads_out(void **state) {
    (void)state;
    static const char *const paths[] = {"/assets/../index.html",
                                        "/assets/..%2findex.html",
                                        "/assets/%2e%2e/%2e%2e/etc/passwd",
                                        "/../../../etc/passwd",
                                        "/assets/",
                                        "/assets",
                                        "//etc/passwd",
                                        "/.reeve/admin.token",
                                        "/admin.token",
                                        "/assets/admin.token",
                                        "/index.html/../admin.token",
                                        "/assets\\..\\admin.token"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct webclient c;
        struct webgot got = get(&c, paths[i], "", 401);
        assert_has_not(got.body, "rv_");
        webclient_close(&c);
        char headers[160];
        snprintf(headers, sizeof headers, "Authorization: Bearer %s\r\n", server.admin);
        (void)get(&c, paths[i], headers, 404);
        webclient_close(&c);
    }
    struct webclient c; /* the name that we are called by counts here too */
    (void)webclient_once(&c, server.address, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421);
    webclient_close(&c);
    (void)webclient_once(&c, server.address, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 401);
    webclient_close(&c);
}

/* ---- sessions ---- */

#define SESSION "/api/v1/session"
#define FLOW "{\"jobs\": {\"a\": {\"noop\": true}}}"

struct browser { /* what it would keep */
    char cookie[256], csrf[128];
};

/* One request of it on a connection of its own. `headers`: further ones. */
static struct webgot visit(struct webclient *c, const struct realserver *to, const char *cookie, const char *verb,
                           const char *path, const char *headers, const char *body) {
    char text[4096];
    size_t len = (size_t)snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s", verb, path, headers);
    if (cookie != NULL) len += (size_t)snprintf(text + len, sizeof text - len, "Cookie: a=b; %s; z=\r\n", cookie);
    if (body != NULL)
        len += (size_t)snprintf(text + len, sizeof text - len,
                                "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    snprintf(text + len, sizeof text - len, "\r\n%s", body != NULL ? body : "");
    webclient_open(c, to->address, NULL);
    webclient_send(c, text);
    return webclient_next(c);
}

static int status_of(const struct realserver *to, const char *cookie, const char *verb, const char *path,
                     const char *headers, const char *body) {
    struct webclient c;
    int status = visit(&c, to, cookie, verb, path, headers, body).status;
    webclient_close(&c);
    return status;
}

static void keep_cookie(struct webclient *c, const struct webgot *got, struct browser *ret) {
    const char *line = header_of(c, got, "Set-Cookie");
    snprintf(ret->cookie, sizeof ret->cookie, "%.*s", (int)strcspn(line, ";"), line);
    /* a login by token says it in its answer, one by a link behind the # of where it leads */
    const char *csrf = got->status == 303 ? header_of(c, got, "Location") : webgot_text(c, got, "csrf");
    if (got->status == 303) assert_memory_equal(csrf, "/#csrf=", 7), csrf += 7;
    assert_int_equal(strlen(csrf), 64);
    snprintf(ret->csrf, sizeof ret->csrf, "Reeve-CSRF: %s\r\n", csrf);
}

static void log_in(const struct realserver *to, const char *token, struct browser *ret) {
    struct webclient c;
    char body[160];
    snprintf(body, sizeof body, "{\"token\": \"%s\"}", token);
    struct webgot got = visit(&c, to, NULL, "POST", SESSION, "", body);
    if (got.status != 200) fail_msg("%d: %s", got.status, got.body);
    keep_cookie(&c, &got, ret);
    webclient_close(&c);
}

/* Makes a token; its id and itself. */
static void token_new(const struct realserver *to, const char *name, const char *role, char id[16], char token[80]) {
    struct webclient c;
    char body[128];
    snprintf(body, sizeof body, "{\"name\": \"%s\", \"roles\": [\"%s\"]}", name, role);
    webclient_open(&c, to->address, to->admin);
    struct webgot got = webclient_ask(&c, "POST", "/api/v1/tokens", body);
    assert_int_equal(got.status, 200);
    snprintf(id, 16, "%s", webgot_text(&c, &got, "id"));
    snprintf(token, 80, "%s", webgot_text(&c, &got, "token"));
    webclient_close(&c);
}

static void a_token_becomes_a_cookie(void **state) {
    (void)state;
    struct webclient c;
    struct browser b;
    char body[160];
    snprintf(body, sizeof body, "{\"token\": \"%s\"}", server.admin);
    struct webgot got = visit(&c, &server, NULL, "POST", SESSION, "Origin: http://localhost\r\n", body);
    assert_int_equal(got.status, 200);
    assert_has(got.body, "{\"name\":\"admin\",\"roles\":[\"admin\"],\"csrf\":\"");
    assert_has(got.body, "\"expires_ms\":");
    assert_has(got.body, "\"version\":\"");
    assert_has(got.body, "\"playground\":false");
    const char *line = header_of(&c, &got, "Set-Cookie");
    assert_memory_equal(line, "reeve_session=rvs_", 18);
    assert_has(line, "; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict");
    assert_has_not(line, "Secure"); /* there is no TLS here */
    assert_has_not(line, server.admin + 3);
    assert_has(got.head, "\r\nCache-Control: no-store\r\n");
    keep_cookie(&c, &got, &b);
    struct webclient d;
    got = visit(&d, &server, b.cookie, "GET", SESSION, b.csrf, NULL);
    assert_int_equal(got.status, 200);
    assert_has_not(got.body, "csrf"); /* who shows it has it */
    assert_has_not(got.head, "Set-Cookie");
    webclient_close(&d);
    webclient_close(&c);
    assert_int_equal(status_of(&server, b.cookie, "GET", "/api/v1/flows", b.csrf, NULL), 200);
    assert_int_equal(status_of(&server, NULL, "GET", "/api/v1/flows", "", NULL), 401);
    assert_int_equal(status_of(&server, NULL, "GET", SESSION, "", NULL), 401);
    assert_int_equal(status_of(&server, b.cookie, "PUT", SESSION, "", "{}"), 401); /* without csrf */
    assert_int_equal(status_of(&server, NULL, "OPTIONS", SESSION, "", NULL), 204);
    /* a token in the head counts for itself, whatever cookie comes along */
    assert_int_equal(status_of(&server, b.cookie, "GET", SESSION, "Authorization: Bearer rv_no\r\n", NULL), 401);
}

static void logins_are_short_and_in_json(void **state) {
    (void)state;
    static const struct {
        const char *head, *body;
        int status;
    } cases[] = {
        {"Content-Length: 2\r\nContent-Type: text/plain\r\n", "{}", 415},
        {"Content-Length: 2\r\nContent-Type: application/json\r\n", "{}", 400},
        {"Content-Length: 2\r\nContent-Type: application/json\r\n", "[]", 400},
        {"Content-Length: 2\r\nContent-Type: application/json\r\n", "{\"", 400},
        {"Content-Length: 12\r\nContent-Type: application/json\r\n", "{\"token\": 7}", 400},
        {"Content-Length: 20\r\nContent-Type: application/json\r\n", "{\"token\":\"\xff\xfe\",\"a\":1}", 400},
        {"Content-Length: 5000\r\nContent-Type: application/json\r\n", "", 413},
        {"Content-Length: 10000000\r\nContent-Type: application/json\r\n", "", 413},
        {"Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n", "2\r\n{}\r\n0\r\n\r\n", 411},
        {"Content-Length: 13\r\nContent-Type: application/json\r\nOrigin: http://evil.example\r\n", "", 403},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct webclient c;
        char text[512];
        snprintf(text, sizeof text, "POST " SESSION " HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s", cases[i].head,
                 cases[i].body);
        struct webgot got = webclient_once(&c, server.address, text, cases[i].status);
        assert_has_not(got.head, "Set-Cookie");
        webclient_close(&c);
    }
}

/* A browser sends the cookie to every port of the host, so a service of a job sees it; a page of someone else can send
 * it along. Neither knows what the login told our page. */
static void a_cookie_alone_is_half_of_a_session(void **state) {
    (void)state;
    struct browser b, other;
    char id[16], token[80], header[160];
    log_in(&server, server.admin, &b);
    log_in(&server, server.admin, &other);
    assert_int_equal(status_of(&server, b.cookie, "POST", "/api/v1/flows", "", FLOW), 401);
    assert_int_equal(status_of(&server, b.cookie, "POST", "/api/v1/flows", "Reeve-CSRF:\r\n", FLOW), 401);
    assert_int_equal(status_of(&server, b.cookie, "POST", "/api/v1/flows", other.csrf, FLOW), 401);
    snprintf(header, sizeof header, "%s%s", b.csrf, b.csrf);
    assert_int_equal(status_of(&server, b.cookie, "POST", "/api/v1/flows", header, FLOW), 401);
    static const char *const reads[] = {SESSION,    "/api/v1/flows",  "/api/v1/stats",
                                        "/metrics", "/api/v1/events", "/api/v1/store/events?key=a"};
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        assert_int_equal(status_of(&server, b.cookie, "GET", reads[i], "", NULL), 401);
        assert_int_equal(status_of(&server, b.cookie, "GET", reads[i], other.csrf, NULL), 401);
    }
    assert_int_equal(status_of(&server, b.cookie, "GET", SESSION, b.csrf, NULL), 200);
    assert_int_equal(status_of(&server, b.cookie, "DELETE", SESSION, "", NULL), 401);
    snprintf(header, sizeof header, "%sOrigin: http://evil.example\r\n", b.csrf);
    assert_int_equal(status_of(&server, b.cookie, "POST", "/api/v1/flows", header, FLOW), 403);
    assert_int_equal(status_of(&server, b.cookie, "POST", "/api/v1/flows", b.csrf, FLOW), 201);
    snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", server.admin);
    assert_int_equal(status_of(&server, NULL, "POST", "/api/v1/flows", header, FLOW), 201);
    /* and what the token may not do, its cookie may not */
    token_new(&server, "eve", "viewer", id, token);
    log_in(&server, token, &b);
    assert_int_equal(status_of(&server, b.cookie, "GET", "/api/v1/flows", b.csrf, NULL), 200);
    assert_int_equal(status_of(&server, b.cookie, "POST", "/api/v1/flows", b.csrf, FLOW), 403);
    assert_int_equal(status_of(&server, b.cookie, "GET", "/api/v1/tokens", b.csrf, NULL), 403);
    /* a page that wants to listen says where it comes from */
    snprintf(header, sizeof header, "%sUpgrade: websocket\r\n", b.csrf);
    assert_int_equal(status_of(&server, b.cookie, "GET", "/api/v1/flows", header, NULL), 403);
}

static void cookies_that_are_not_ours(void **state) {
    (void)state;
    struct realserver own;
    struct browser b, foreign;
    char bad[600];
    realserver_make(&own);
    realserver_start(&own);
    log_in(&own, own.admin, &foreign);
    log_in(&server, server.admin, &b);
    assert_int_equal(status_of(&server, foreign.cookie, "GET", "/api/v1/flows", foreign.csrf, NULL), 401);
    for (size_t i = 0; i < strlen(b.cookie); i++) { /* each letter counts */
        snprintf(bad, sizeof bad, "%s", b.cookie);
        bad[i] = bad[i] == '7' ? '8' : '7';
        assert_int_equal(status_of(&server, bad, "GET", "/api/v1/flows", b.csrf, NULL), 401);
    }
    static const char *const texts[] = {
        "reeve_session=",         "reeve_session=rvs_", "reeve_session=rvs_uid:0.7fffffffffff.1.",
        "reeve_session=rvs_....", "reeve_session=%00",  "reeve_sessionx=1"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(status_of(&server, texts[i], "GET", "/api/v1/flows", b.csrf, NULL), 401);
    snprintf(bad, sizeof bad, "%s; %s", b.cookie, b.cookie); /* someone has put a second one beside it */
    assert_int_equal(status_of(&server, bad, "GET", "/api/v1/flows", b.csrf, NULL), 401);
    realserver_remove(&own);
}

static void a_session_ends_with_its_token_not_with_the_server(void **state) {
    (void)state;
    struct realserver own;
    struct browser b, gone;
    char id[16], token[80], path[64];
    realserver_make(&own);
    realserver_start(&own);
    token_new(&own, "ann", "operator", id, token);
    log_in(&own, token, &b);
    log_in(&own, token, &gone);
    assert_int_equal(status_of(&own, gone.cookie, "DELETE", SESSION, gone.csrf, NULL), 204);
    assert_int_equal(status_of(&own, gone.cookie, "GET", SESSION, gone.csrf, NULL), 401); /* whoever has kept it */
    realserver_kill(&own);
    realserver_start(&own);
    assert_int_equal(status_of(&own, gone.cookie, "GET", SESSION, gone.csrf, NULL), 401); /* also later */
    assert_int_equal(status_of(&own, b.cookie, "POST", "/api/v1/flows", b.csrf, FLOW), 201);
    struct webclient c;
    webclient_open(&c, own.address, own.admin);
    snprintf(path, sizeof path, "/api/v1/tokens/%s", id);
    assert_int_equal(webclient_ask(&c, "DELETE", path, NULL).status, 200);
    webclient_close(&c);
    assert_int_equal(status_of(&own, b.cookie, "GET", "/api/v1/flows", b.csrf, NULL), 401);
    assert_int_equal(status_of(&own, b.cookie, "GET", SESSION, b.csrf, NULL), 401);
    /* what it did is in the journal under its name */
    struct realshell shell = {.server = &own};
    assert_int_equal(realserver_stop(&own), 0);
    realshell_must(&shell, "journal dump --data $D | grep submit");
    assert_has(shell.said, "ann");
    realserver_remove(&own);
}

#define HANDSHAKE                                   \
    "Connection: Upgrade\r\nUpgrade: websocket\r\n" \
    "Sec-WebSocket-Version: 13\r\n"                 \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define EVENTS "/api/v1/events"

/* The browser's own rules do not hold for WebSockets: any page may open one, with our cookie. */
static void who_may_listen(void **state) {
    (void)state;
    struct browser b;
    struct webclient c;
    char id[16], token[80], headers[700], path[64], protocol[128];
    token_new(&server, "lis", "viewer", id, token);
    log_in(&server, token, &b);
    snprintf(protocol, sizeof protocol, "Sec-WebSocket-Protocol: reeve, csrf.%.64s\r\n",
             b.csrf + strlen("Reeve-CSRF: "));
    static const struct {
        const char *origin;
        bool with_cookie, with_csrf;
        int status;
    } cases[] = {{"", false, false, 401},
                 {"", false, true, 401},
                 {"Origin: http://localhost\r\n", false, true, 401},
                 {"Origin: http://localhost\r\n", true, false, 401},
                 {"", true, true, 403},
                 {"Origin: http://evil.example\r\n", true, true, 403},
                 {"Origin: null\r\n", true, true, 403}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(headers, sizeof headers, HANDSHAKE "%s%s", cases[i].origin, cases[i].with_csrf ? protocol : "");
        assert_int_equal(status_of(&server, cases[i].with_cookie ? b.cookie : NULL, "GET", EVENTS, headers, NULL),
                         cases[i].status);
    }
    webclient_open(&c, server.address, NULL);
    snprintf(headers, sizeof headers,
             "GET " EVENTS " HTTP/1.1\r\nHost: localhost\r\n" HANDSHAKE
             "Origin: http://localhost\r\n%sCookie: %s\r\n\r\n",
             protocol, b.cookie);
    webclient_send(&c, headers);
    struct webgot got = webclient_next_head(&c);
    assert_int_equal(got.status, 101);
    assert_string_equal(header_of(&c, &got, "Sec-WebSocket-Protocol"), "reeve");
    snprintf(path, sizeof path, "/api/v1/tokens/%s", id); /* and it ends with the token */
    struct webclient admin;
    webclient_open(&admin, server.address, server.admin);
    assert_int_equal(webclient_ask(&admin, "DELETE", path, NULL).status, 200);
    webclient_close(&admin);
    time_t until = time(NULL) + WEBCLIENT_WAIT_MS / 1000;
    while (!webclient_is_closed(&c)) assert_true(time(NULL) < until);
    webclient_close(&c);
}

/* A page that was left open hears nothing more. */
static void a_logout_ends_what_the_page_listens_to(void **state) {
    (void)state;
    struct browser b, other;
    struct webclient listening, still;
    char text[512];
    log_in(&server, server.admin, &b);
    log_in(&server, server.admin, &other);
    snprintf(text, sizeof text, "GET " EVENTS " HTTP/1.1\r\nHost: localhost\r\n%sCookie: %s\r\n\r\n", b.csrf, b.cookie);
    webclient_open(&listening, server.address, NULL);
    webclient_send(&listening, text);
    (void)webclient_until(&listening, "event: hello");
    snprintf(text, sizeof text, "GET " EVENTS " HTTP/1.1\r\nHost: localhost\r\n%sCookie: %s\r\n\r\n", other.csrf,
             other.cookie);
    webclient_open(&still, server.address, NULL);
    webclient_send(&still, text);
    (void)webclient_until(&still, "event: hello");
    assert_int_equal(status_of(&server, b.cookie, "DELETE", SESSION, b.csrf, NULL), 204);
    time_t until = time(NULL) + WEBCLIENT_WAIT_MS / 1000;
    while (!webclient_is_closed(&listening)) assert_true(time(NULL) < until);
    assert_int_equal(status_of(&server, other.cookie, "POST", "/api/v1/flows", other.csrf, FLOW), 201);
    (void)webclient_until(&still, "event: flow");
    webclient_close(&listening);
    webclient_close(&still);
}

/* Two servers on one host: a browser sends both cookies to both, and each finds its own. */
static void two_servers_on_one_host_do_not_log_each_other_out(void **state) {
    (void)state;
    struct realserver own;
    struct {
        const struct realserver *server;
        struct browser b;
    } at[2] = {{.server = &server}, {.server = &own}};
    char text[1400], both[600];
    realserver_make(&own);
    realserver_start(&own);
    for (int i = 0; i < 2; i++) {
        struct webclient c;
        char body[160];
        snprintf(body, sizeof body, "{\"token\": \"%s\"}", at[i].server->admin);
        snprintf(text, sizeof text,
                 "POST " SESSION " HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
                 "Content-Length: %zu\r\n\r\n%s",
                 at[i].server->address, strlen(body), body);
        webclient_open(&c, at[i].server->address, NULL);
        webclient_send(&c, text);
        struct webgot got = webclient_next(&c);
        assert_int_equal(got.status, 200);
        const char *line = header_of(&c, &got, "Set-Cookie"), *port = strrchr(at[i].server->address, ':') + 1;
        keep_cookie(&c, &got, &at[i].b);
        snprintf(text, sizeof text, "reeve_session_%s=", port);
        assert_memory_equal(line, text, strlen(text));
        webclient_close(&c);
    }
    snprintf(both, sizeof both, "%s; %s", at[0].b.cookie, at[1].b.cookie);
    for (int i = 0; i < 2; i++) {
        struct webclient c;
        snprintf(text, sizeof text, "GET " SESSION " HTTP/1.1\r\nHost: %s\r\n%sCookie: %s\r\n\r\n",
                 at[i].server->address, at[i].b.csrf, both);
        webclient_open(&c, at[i].server->address, NULL);
        webclient_send(&c, text);
        assert_int_equal(webclient_next(&c).status, 200);
        webclient_close(&c);
    }
    realserver_remove(&own);
}

/* ---- links ---- */

static const char *path_of(const char *url) {
    const char *path = strstr(url, "/login?ticket=");
    if (path == NULL) fail_msg("no link: %s", url);
    return path;
}

static void a_link_lets_one_browser_in(void **state) {
    (void)state;
    struct realserver own;
    struct realshell shell = {.server = &own};
    struct webclient c;
    struct browser b;
    char path[128];
    realserver_make(&own);
    realserver_start(&own);
    realshell_must(&shell, "console --data $D --json");
    assert_has(shell.said, "{\"lsn\":");
    assert_has(shell.said, "\"expires_ms\":");
    realshell_must(&shell, "console --data $D");
    assert_memory_equal(shell.said, "http://127.0.0.1:", 17);
    shell.said[strcspn(shell.said, "\n")] = 0;
    snprintf(path, sizeof path, "%s", path_of(shell.said));
    struct webgot got = visit(&c, &own, NULL, "GET", path, "", NULL);
    assert_int_equal(got.status, 303);
    assert_string_equal(header_of(&c, &got, "Referrer-Policy"), "no-referrer");
    keep_cookie(&c, &got, &b);
    webclient_close(&c);
    assert_int_equal(status_of(&own, b.cookie, "GET", SESSION, b.csrf, NULL), 200);
    got = visit(&c, &own, NULL, "GET", path, "", NULL); /* once */
    assert_int_equal(got.status, 403);
    assert_has_not(got.head, "Set-Cookie");
    assert_has(got.head, "text/html");
    assert_has(got.body, "make another with <code>reeve console</code>");
    webclient_close(&c);
    assert_int_equal(status_of(&own, NULL, "GET", "/login?ticket=", "", NULL), 403);
    assert_int_equal(status_of(&own, NULL, "GET", "/login?ticket=0123456789abcdef0123456789abcdef", "", NULL), 403);
    assert_int_equal(status_of(&own, NULL, "GET", "/login?x=y", "", NULL), 200); /* the page */
    /* a restart voids neither a link nor a session, and a link that was used stays used */
    realshell_must(&shell, "console --data $D");
    shell.said[strcspn(shell.said, "\n")] = 0;
    snprintf(path, sizeof path, "%s", path_of(shell.said));
    realserver_kill(&own);
    realserver_start(&own);
    assert_int_equal(status_of(&own, b.cookie, "GET", SESSION, b.csrf, NULL), 200);
    assert_int_equal(status_of(&own, NULL, "GET", path, "", NULL), 303);
    realserver_kill(&own);
    realserver_start(&own);
    assert_int_equal(status_of(&own, NULL, "GET", path, "", NULL), 403);
    realserver_remove(&own);
}

static void a_link_is_as_strong_as_who_asked_for_it(void **state) {
    (void)state;
    struct webclient c, d;
    char id[16], token[80];
    token_new(&server, "vera", "viewer", id, token);
    webclient_open(&c, server.address, token);
    struct webgot got = webclient_ask(&c, "POST", "/api/v1/session/link", "{}");
    assert_int_equal(got.status, 200);
    got = visit(&d, &server, NULL, "GET", path_of(webgot_text(&c, &got, "url")), "", NULL);
    assert_int_equal(got.status, 303);
    struct browser b;
    keep_cookie(&d, &got, &b);
    webclient_close(&d);
    got = visit(&d, &server, b.cookie, "GET", SESSION, b.csrf, NULL);
    assert_has(got.body, "{\"name\":\"vera\",\"roles\":[\"viewer\"],");
    webclient_close(&d);
    webclient_close(&c);
    webclient_open(&c, server.socket, NULL); /* the socket's user is an administrator, also in a browser */
    got = webclient_ask(&c, "POST", "/api/v1/session/link", "{}");
    got = visit(&d, &server, NULL, "GET", path_of(webgot_text(&c, &got, "url")), "", NULL);
    keep_cookie(&d, &got, &b);
    webclient_close(&d);
    got = visit(&d, &server, b.cookie, "GET", SESSION, b.csrf, NULL);
    assert_has(got.body, "{\"name\":\"uid:");
    webclient_close(&d);
    webclient_close(&c);
    webclient_open(&c, server.address, server.worker);
    assert_int_equal(webclient_ask(&c, "POST", "/api/v1/session/link", "{}").status, 403);
    webclient_close(&c);
}

static void the_link_is_opened_in_a_browser(void **state) {
    (void)state;
    struct realshell shell = {.server = &server};
    char path[96], line[256] = "";
    snprintf(path, sizeof path, "%s/browser", server.data);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "#!/bin/sh\necho \"$1\" > %s/seen\n", server.data);
    fclose(f);
    assert_int_equal(chmod(path, 0755), 0);
    snprintf(path, sizeof path, "%s/seen", server.data);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(realshell_run(&shell, "BROWSER=$D/browser", "console --data $D --open"), 0);
    f = fopen(path, "re"); /* opens when the browser does */
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_string_equal(line, shell.said);
    realshell_refused(&shell, "BROWSER=$D/nothing", "console --data $D --open", 5, "open the link yourself");
    realshell_refused(&shell, "", "console --data $D more", 2, "");
}

static void up_prints_a_link(void **state) {
    (void)state;
    struct realcli r;
    realcli_make(&r);
    struct ran ran = realcli_ok(&r, "up --detach --listen 127.0.0.1:0", NULL);
    char address[64] = "", path[128];
    const char *url = strstr(ran.out, "http://127.0.0.1:");
    assert_non_null(url);
    snprintf(address, sizeof address, "%.*s", (int)strcspn(url + 7, "/"), url + 7);
    snprintf(path, sizeof path, "%.*s", (int)strcspn(path_of(url), "\n"), path_of(url));
    struct realserver at = {0};
    snprintf(at.address, sizeof at.address, "%s", address);
    assert_int_equal(status_of(&at, NULL, "GET", path, "", NULL), 303);
    realcli_stop(&r);
}

#define PLAYGROUND "/api/v1/playground"

static void read_line(const char *data, const char *name, char *ret, size_t room) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", data, name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(ret, (int)room, f));
    ret[strcspn(ret, "\n")] = 0;
    fclose(f);
}

/* The supervisor keeps the port: the page is there, and knows the browser that the server had let in. */
static void a_browser_sees_the_server_through_its_death(void **state) {
    (void)state;
    struct realcli r;
    struct realserver at = {0};
    struct webclient c;
    struct browser b;
    realcli_make(&r);
    (void)realcli_ok(&r, "up --playground --detach --listen 127.0.0.1:0", NULL);
    read_line(r.data, "address", at.address, sizeof at.address);
    read_line(r.data, "admin.token", at.admin, sizeof at.admin);
    log_in(&at, at.admin, &b);
    struct webgot got = visit(&c, &at, b.cookie, "GET", SESSION, b.csrf, NULL);
    assert_has(got.body, "\"playground\":true");
    webclient_close(&c);
    assert_int_equal(status_of(&at, b.cookie, "POST", PLAYGROUND "/kill", "", "{}"), 401);
    assert_int_equal(status_of(&at, b.cookie, "POST", PLAYGROUND "/kill", b.csrf, "{}"), 200);
    int status;
    do status = status_of(&at, b.cookie, "GET", SESSION, b.csrf, NULL); /* may be cut off in the middle */
    while (status != 503);
    got = visit(&c, &at, NULL, "GET", "/playground", "", NULL);
    assert_int_equal(got.status, 200);
    assert_string_equal(header_of(&c, &got, "Content-Encoding"), "gzip");
    webclient_close(&c);
    assert_int_equal(status_of(&at, NULL, "GET", "/assets/../admin.token", "", NULL), 503);
    assert_int_equal(status_of(&at, NULL, "POST", PLAYGROUND "/recover", "", "{}"), 401);
    assert_int_equal(status_of(&at, b.cookie, "POST", PLAYGROUND "/recover", "", "{}"), 401);
    assert_int_equal(status_of(&at, b.cookie, "POST", PLAYGROUND "/recover", b.csrf, "{}"), 200);
    do status = status_of(&at, b.cookie, "GET", SESSION, b.csrf, NULL);
    while (status != 200);
    realcli_stop(&r);
}

static void the_public_name_is_ours(void **state) {
    (void)state;
    struct realserver own;
    struct realshell shell = {.server = &own};
    struct webclient c;
    char text[512], body[160];
    realserver_make(&own);
    own.flags[0] = "--public_url";
    own.flags[1] = "https://jobs.example.org/";
    realserver_start(&own);
    realshell_must(&shell, "console --data $D");
    assert_memory_equal(shell.said, "https://jobs.example.org/login?ticket=", 38);
    snprintf(body, sizeof body, "{\"token\": \"%s\"}", own.admin);
    static const char *const hosts[] = {"jobs.example.org", "localhost"};
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "POST " SESSION " HTTP/1.1\r\nHost: %s\r\nOrigin: http%s://%s\r\n"
                 "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                 hosts[i], i == 0 ? "s" : "", hosts[i], strlen(body), body);
        struct webgot got = webclient_once(&c, own.address, text, 200);
        const char *line = header_of(&c, &got, "Set-Cookie");
        assert_true((strstr(line, "; Secure") != NULL) == (i == 0));
        assert_has(got.body, "\"public_url\":\"https://jobs.example.org\"");
        webclient_close(&c);
    }
    (void)webclient_once(&c, own.address, "GET / HTTP/1.1\r\nHost: other.example.org\r\n\r\n", 421);
    webclient_close(&c);
    assert_int_equal(realserver_stop(&own), 0);
    realshell_refused(&shell, "", "serve --data $D --public-url jobs.example.org", 2, "begins with http://");
    realserver_remove(&own);
}

/* ---- how often ---- */

static void who_fails_too_often_has_to_wait(void **state) {
    (void)state;
    struct realserver own;
    struct webclient c;
    struct browser b;
    char right[160];
    realserver_make(&own);
    own.flags[0] = "--login_failures";
    own.flags[1] = "4";
    realserver_start(&own);
    log_in(&own, own.admin, &b);
    snprintf(right, sizeof right, "{\"token\": \"%s\"}", own.admin);
    for (int i = 0; i < 3; i++)
        assert_int_equal(status_of(&own, NULL, "POST", SESSION, "", "{\"token\": \"rv_guess\"}"), 401);
    assert_int_equal(status_of(&own, NULL, "GET", "/login?ticket=guess", "", NULL), 403);
    struct webgot got = visit(&c, &own, NULL, "POST", SESSION, "", right);
    assert_int_equal(got.status, 429);
    assert_has(got.body, "\"code\":\"busy\"");
    assert_has(got.body, "\"retry_after\":");
    assert_true(strtol(header_of(&c, &got, "Retry-After"), NULL, 10) >= 1);
    webclient_close(&c);
    assert_int_equal(status_of(&own, NULL, "GET", "/login?ticket=guess", "", NULL), 429);
    /* a link that was made for someone opens all the same, and nobody else can void it by asking for many */
    char id[16], token[80], link[128];
    token_new(&own, "vera", "viewer", id, token);
    webclient_open(&c, own.address, own.admin);
    got = webclient_ask(&c, "POST", "/api/v1/session/link", "{}");
    snprintf(link, sizeof link, "%s", path_of(webgot_text(&c, &got, "url")));
    c.token = token;
    for (int i = 0; i < 40; i++) assert_int_equal(webclient_ask(&c, "POST", "/api/v1/session/link", "{}").status, 200);
    webclient_close(&c);
    assert_int_equal(status_of(&own, NULL, "GET", link, "", NULL), 303);
    /* who is in stays in, and tokens work as ever */
    assert_int_equal(status_of(&own, b.cookie, "GET", SESSION, b.csrf, NULL), 200);
    webclient_open(&c, own.address, own.admin);
    got = webclient_ask(&c, "GET", "/api/v1/stats", NULL);
    assert_has(got.body, "\"logins\":2,\"logins_failed\":4,\"http_limited\":2,");
    webclient_close(&c);
    realserver_remove(&own);
}

static void nobody_takes_more_than_a_share(void **state) {
    (void)state;
    struct realserver own;
    struct webclient c;
    struct webgot got = {0};
    char id[16], token[80];
    realserver_make(&own);
    static const char *const flags[] = {"--http_rate", "1", "--http_burst", "20"};
    for (size_t i = 0; i < 4; i++) own.flags[i] = flags[i];
    realserver_start(&own);
    token_new(&own, "ann", "viewer", id, token);
    webclient_open(&c, own.address, own.admin);
    for (int i = 0; i < 1000 && got.status != 429; i++) got = webclient_ask(&c, "GET", "/api/v1/flows", NULL);
    assert_int_equal(got.status, 429);
    assert_string_equal(header_of(&c, &got, "Retry-After"), "1");
    assert_has(got.body, "(http_rate)\",\"retry_after\":1}");
    c.token = token; /* another one is not hurt, on the same connection */
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/flows", NULL).status, 200);
    webclient_close(&c);
    realserver_remove(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_console_is_in_the_program),
        cmocka_unit_test(every_page_is_the_index),
        cmocka_unit_test(no_path_leads_out),
        cmocka_unit_test(a_token_becomes_a_cookie),
        cmocka_unit_test(logins_are_short_and_in_json),
        cmocka_unit_test(a_cookie_alone_is_half_of_a_session),
        cmocka_unit_test(cookies_that_are_not_ours),
        cmocka_unit_test(a_session_ends_with_its_token_not_with_the_server),
        cmocka_unit_test(who_may_listen),
        cmocka_unit_test(a_logout_ends_what_the_page_listens_to),
        cmocka_unit_test(two_servers_on_one_host_do_not_log_each_other_out),
        cmocka_unit_test(a_link_lets_one_browser_in),
        cmocka_unit_test(a_link_is_as_strong_as_who_asked_for_it),
        cmocka_unit_test(the_link_is_opened_in_a_browser),
        cmocka_unit_test(up_prints_a_link),
        cmocka_unit_test(a_browser_sees_the_server_through_its_death),
        cmocka_unit_test(the_public_name_is_ours),
        cmocka_unit_test(who_fails_too_often_has_to_wait),
        cmocka_unit_test(nobody_takes_more_than_a_share),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
