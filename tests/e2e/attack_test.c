/* attack_test.c: the built server against those who mean it no good: each route without rights, requests that two
 * readers could understand in two ways, and those who want to be waited for. What is looked at is always the same: the
 * attack is refused, nothing happens twice, and everyone else is served as before. */
#include "test.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "auth.h"
#include "realserver.h"
#include "requests.h"
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

static uint64_t flows_of(const struct realserver *s) {
    struct webclient c;
    webclient_open(&c, s->address, s->admin);
    struct webgot got = webclient_ask(&c, "GET", "/api/v1/stats", NULL);
    const char *at = strstr(got.body, "\"flows\":");
    assert_non_null(at);
    uint64_t n = strtoull(at + 8, NULL, 10);
    webclient_close(&c);
    return n;
}

/* ---- each route ---- */

static void path_of(const struct api_route *route, char path[256]) {
    size_t len = (size_t)snprintf(path, 256, "%s", route->bare ? "" : API_PREFIX);
    for (const char *p = route->path; *p != 0; p++) {
        if (*p == '{') p = strchr(p, '}');
        path[len++] = *p == '}' ? '7' : *p;
    }
    path[len] = 0;
}

/* With a head like this the route answers so, and with an object that says why. */
static void refused(const struct api_route *route, const char *host, const char *headers, int status) {
    struct webclient c;
    char path[256], text[2048];
    path_of(route, path);
    bool changes = route->body != API_BODY_NONE;
    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n%s", http_verb_word(route->verb), path, host,
             headers, changes ? "Content-Type: application/json\r\nContent-Length: 2\r\n" : "", changes ? "{}" : "");
    struct webgot got = webclient_once(&c, server.address, text, status);
    assert_has(got.body, "{\"code\":\"");
    assert_has(got.body, "\"message\":\"");
    webclient_close(&c);
}

/* The headers of a browser that has logged in: its cookie, and what its page shows beside it. */
static void log_in(const char *token, char ret_cookie[300], char ret_csrf[100]) {
    struct webclient c;
    char body[160];
    snprintf(body, sizeof body, "{\"token\": \"%s\"}", token);
    webclient_open(&c, server.address, NULL);
    struct webgot got = webclient_ask(&c, "POST", "/api/v1/session", body);
    const char *line = strstr(got.head, "\r\nSet-Cookie: ");
    assert_non_null(line);
    snprintf(ret_cookie, 300, "Cookie: %.*s\r\n", (int)strcspn(line + 14, ";"), line + 14);
    snprintf(ret_csrf, 100, "Reeve-CSRF: %s\r\n", webgot_text(&c, &got, "csrf"));
    webclient_close(&c);
}

static void every_route_refuses_who_has_no_right(void **state) {
    (void)state;
    uint32_t count;
    const struct api_route *routes = api_routes(&count);
    char cookie[300], csrf[100], admin[160], worker[160], elsewhere[256], forged[500];
    log_in(server.admin, cookie, csrf);
    snprintf(admin, sizeof admin, "Authorization: Bearer %s\r\n", server.admin);
    snprintf(worker, sizeof worker, "Authorization: Bearer %s\r\n", server.worker);
    snprintf(elsewhere, sizeof elsewhere, "%sOrigin: http://evil.example\r\n", admin);
    snprintf(forged, sizeof forged, "%s%.*sg\r\n", csrf, (int)strlen(cookie) - 3, cookie);
    uint64_t before = flows_of(&server);
    for (uint32_t i = 0; i < count; i++) {
        const struct api_route *r = &routes[i];
        refused(r, "localhost", "", 401);
        refused(r, "localhost", "Authorization: Bearer rv_wrong\r\n", 401);
        refused(r, "localhost", "Authorization: Bearer rvj_1.1.1.1.00\r\n", 401);
        refused(r, "localhost", "Authorization: Bearer rvc_1.1.q1.7fffffffff.00\r\n", 401);
        refused(r, "localhost", "Authorization: Basic YTpi\r\n", 401);
        refused(r, "localhost", "Cookie: reeve_session=rvs_uid:0.7fffffffffff.1.00\r\n", 401);
        refused(r, "localhost", forged, 401);
        refused(r, "evil.example", admin, 421);
        refused(r, "localhost", elsewhere, 403);
        refused(r, "localhost", cookie, 401); /* copied from a request to another port of this host */
        refused(r, "localhost", csrf, 401);
        if (!role_may(ROLE_BIT(ROLE_WORKER), r->op)) refused(r, "localhost", worker, 403);
    }
    assert_int_equal(flows_of(&server), before); /* and none of it happened */
}

/* ---- requests in two ways ---- */

/* Behind each stands a submit that must never be seen: neither as a second request nor as a body. */
static void what_can_be_read_in_two_ways_is_not_read(void **state) {
    (void)state;
    static const char *const heads[] = {
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
        "Transfer-Encoding: identity, chunked\r\n",
        "Transfer-Encoding:\tchunked\r\nContent-Length: 1\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Content-Length: 4\r\nContent-Length: 5\r\n",
        "Content-Length: 4, 4\r\n",
        "Content-Length: +4\r\n",
        "Content-Length: -4\r\n",
        "Content-Length: 0x4\r\n",
        "Content-Length: 4 4\r\n",
        "Content-Length: 99999999999999999999\r\n",
        "Content-Length:\r\n",
        "Content-Length\r\n",
        " Content-Length: 4\r\n",
        "A: b\r\n\tContent-Length: 4\r\n",
        "A: b\rContent-Length: 4\r\n",
        "A: b\nContent-Length: 4\r\n",
        "A: b\r\n\r\r\nContent-Length: 4\r\n",
        "A\x01: b\r\nContent-Length: 4\r\n",
        "A: \x01\r\nContent-Length: 4\r\n",
        "(A): b\r\nContent-Length: 4\r\n",
        ": b\r\nContent-Length: 4\r\n",
        "Host: localhost\r\nContent-Length: 4\r\n",
        "Content-Length: 4\r\nExpect: something\r\n",
    };
    char text[2048], hidden[512];
    snprintf(hidden, sizeof hidden,
             "POST /api/v1/flows HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
             "Content-Type: application/json\r\nContent-Length: 31\r\n\r\n{\"jobs\": {\"a\": {\"noop\": true}}}",
             server.admin);
    uint64_t before = flows_of(&server);
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        struct webclient c;
        snprintf(text, sizeof text,
                 "POST /api/v1/limits HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                 "Content-Type: application/json\r\n%s\r\n0\r\n\r\n%s",
                 server.admin, heads[i], hidden);
        webclient_open(&c, server.address, NULL);
        webclient_send(&c, text);
        struct webgot got = webclient_next(&c);
        if ((got.status < 400 || got.status > 499) && got.status != 501) fail_msg("%s: %d", heads[i], got.status);
        assert_has(got.head, "\r\nConnection: close\r\n");
        assert_true(webclient_is_closed(&c));
        assert_int_equal(c.in.len, 0); /* no second answer */
        webclient_close(&c);
    }
    static const char *const chunks[] = {
        "5;a=b\n{}   \r\n0\r\n\r\n", /* a good extension is read and forgotten; these could be read in two ways */
        "5;a=\"\r\n\"\r\n{}   \r\n0\r\n\r\n",
        "5;\r\n{}   \r\n0\r\n\r\n",
        "0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "-1\r\n{}\r\n0\r\n\r\n",
        "2\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        "2 \r\n{}\r\n0\r\n\r\n",
        "fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        "ffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}0\r\n\r\n",
        "0\r\nContent-Length: 4\r\n\r\n",
        "g\r\n{}\r\n0\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof chunks / sizeof chunks[0]; i++) {
        struct webclient c;
        snprintf(text, sizeof text,
                 "POST /api/v1/limits HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                 "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%s%s",
                 server.admin, chunks[i], hidden);
        webclient_open(&c, server.address, NULL);
        webclient_send(&c, text);
        struct webgot got = webclient_next(&c);
        if (got.status < 400 || got.status > 499) fail_msg("%s: %d %s", chunks[i], got.status, got.body);
        assert_true(webclient_is_closed(&c));
        assert_int_equal(c.in.len, 0);
        webclient_close(&c);
    }
    assert_int_equal(flows_of(&server), before);
}

static void what_is_no_request_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "GET /\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/3.1\r\nHost: localhost\r\n\r\n",
        "GET / http/1.1\r\nHost: localhost\r\n\r\n",
        "GET\t/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET x HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /a#b HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET ftp://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: local host\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost/../x\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct webclient c;
        webclient_open(&c, server.address, NULL);
        webclient_send(&c, texts[i]);
        struct webgot got = webclient_next(&c);
        if (got.status != 0 && (got.status < 400 || got.status == 500)) fail_msg("%s: %d", texts[i], got.status);
        assert_true(webclient_is_closed(&c));
        webclient_close(&c);
    }
    assert_true(webclient_is_served(server.address, server.admin));
}

/* ---- too much ---- */

static void too_much_is_refused_early(void **state) {
    (void)state;
    struct webclient c;
    struct buf big;
    buf_init(&big, (size_t)64 << 20);
    buf_printf(&big, "GET / HTTP/1.1\r\nHost: localhost\r\nA: ");
    for (int i = 0; i < 40000; i++) buf_put_u8(&big, 'a'); /* http_head_bytes_max is 32,768 */
    buf_printf(&big, "\r\n\r\n");
    buf_put_u8(&big, 0);
    (void)webclient_once(&c, server.address, (const char *)big.at, 431);
    webclient_close(&c);
    buf_clear(&big);
    buf_printf(&big, "GET / HTTP/1.1\r\nHost: localhost\r\n");
    for (int i = 0; i < 101; i++) buf_printf(&big, "A: b\r\n"); /* http_headers_max */
    buf_printf(&big, "\r\n");
    buf_put_u8(&big, 0);
    (void)webclient_once(&c, server.address, (const char *)big.at, 431);
    webclient_close(&c);
    buf_clear(&big);
    buf_printf(&big, "GET /");
    for (int i = 0; i < 9000; i++) buf_put_u8(&big, 'a'); /* http_target_bytes_max */
    buf_printf(&big, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    buf_put_u8(&big, 0);
    (void)webclient_once(&c, server.address, (const char *)big.at, 414);
    webclient_close(&c);
    webclient_open(&c, server.address, server.admin);
    buf_clear(&big); /* a hundred thousand levels, well within the length of a body */
    buf_printf(&big, "{\"jobs\": ");
    for (int i = 0; i < 100000; i++) buf_put_u8(&big, '[');
    buf_put_u8(&big, 0);
    assert_int_equal(webclient_ask(&c, "POST", "/api/v1/flows", (const char *)big.at).status, 422);
    buf_clear(&big);
    buf_printf(&big, "{\"jobs\": {\"\xc3\x28\": {\"noop\": true}}}");
    buf_put_u8(&big, 0);
    assert_int_equal(webclient_ask(&c, "POST", "/api/v1/flows", (const char *)big.at).status, 400);
    assert_int_equal(webclient_ask(&c, "POST", "/api/v1/flows", "{\"jobs\": {\"a\": {\"run\": \"\\ud800\"}}}").status,
                     400);
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/flows?name=%ff", NULL).status, 400);
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/jobs/f1/%c3%28", NULL).status, 400);
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/jobs/f1/..%2f..%2fadmin.token/logs", NULL).status, 404);
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/blobs/..%2f..%2fadmin.token", NULL).status, 400);
    webclient_close(&c);
    buf_fini(&big);
    assert_true(webclient_is_served(server.address, server.admin));
}

/* ---- those who want to be waited for ---- */

#define SLOW 100

static bool has_ended(int fd) {
    char bytes[4096];
    ssize_t n;
    while ((n = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
    }
    return n == 0 || (errno != EAGAIN && errno != EINTR);
}

/* A head that comes letter by letter is not waited for, however steadily it comes. */
static void a_dripping_head_is_cut_off(void **state) {
    (void)state;
    static struct webclient slow[SLOW];
    static bool over[SLOW];
    struct realserver own;
    struct webclient c;
    uint32_t left = SLOW, asked = 0;
    realserver_make(&own);
    own.flags[0] = "--hello_ms";
    own.flags[1] = "700";
    realserver_start(&own);
    for (size_t i = 0; i < SLOW; i++) {
        webclient_open(&slow[i], own.address, own.admin);
        if (i % 2 == 0) assert_int_equal(webclient_ask(&slow[i], "GET", "/api/v1/stats", NULL).status, 200);
        webclient_send(&slow[i], "GET / HTTP/1.1\r\nHost: localhost\r\nA: ");
    }
    webclient_open(&c, own.address, own.admin);
    time_t until = time(NULL) + WEBCLIENT_WAIT_MS / 1000;
    for (; left > 0; asked++) {
        for (size_t i = 0; i < SLOW; i++) {
            if (over[i]) continue;
            webclient_send(&slow[i], "a");
            over[i] = has_ended(slow[i].fd);
            left -= over[i];
        }
        assert_int_equal(webclient_ask(&c, "GET", "/api/v1/stats", NULL).status, 200); /* all the while */
        assert_true(time(NULL) < until);
    }
    assert_true(asked > 1);
    for (size_t i = 0; i < SLOW; i++) webclient_close(&slow[i]);
    webclient_close(&c);
    realserver_remove(&own);
}

static uint64_t rss_of(pid_t pid) {
    char path[64], line[128];
    uint64_t kib = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0) kib = strtoull(line + 6, NULL, 10);
    fclose(f);
    return kib;
}

#define IDLE 1000
#ifdef __SANITIZE_ADDRESS__
#define IDLE_KIB_MAX 64 /* of each; most of it is what watches over memory */
#else
#define IDLE_KIB_MAX 12
#endif

static void a_thousand_idle_connections_cost_little(void **state) {
    (void)state;
    static struct webclient idle[IDLE];
    struct rlimit files = {0};
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0); /* for the server, too */
    struct realserver own;
    realserver_make(&own);
    realserver_start(&own);
    assert_true(webclient_is_served(own.address, own.admin));
    uint64_t before = rss_of(own.pid);
    for (size_t i = 0; i < IDLE; i++) {
        webclient_open(&idle[i], own.address, own.admin);
        assert_int_equal(webclient_ask(&idle[i], "GET", "/api/v1/flows/f99", NULL).status, 404);
    }
    uint64_t grown = rss_of(own.pid) - before;
    print_message("1,000 idle connections: %llu KiB\n", (unsigned long long)grown);
    assert_true(grown < (uint64_t)IDLE * IDLE_KIB_MAX);
    assert_true(webclient_is_served(own.address, own.admin)); /* and unauthenticated beside them push nobody out */
    static struct webclient unauthenticated[IDLE];
    for (size_t i = 0; i < IDLE; i++) webclient_open(&unauthenticated[i], own.address, NULL);
    assert_true(webclient_is_served(own.address, own.admin));
    assert_int_equal(webclient_ask(&idle[0], "GET", "/api/v1/stats", NULL).status, 200);
    assert_int_equal(webclient_ask(&idle[IDLE - 1], "GET", "/api/v1/stats", NULL).status, 200);
    for (size_t i = 0; i < IDLE; i++) {
        webclient_close(&idle[i]);
        webclient_close(&unauthenticated[i]);
    }
    realserver_remove(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_route_refuses_who_has_no_right),
        cmocka_unit_test(what_can_be_read_in_two_ways_is_not_read),
        cmocka_unit_test(what_is_no_request_is_refused),
        cmocka_unit_test(too_much_is_refused_early),
        cmocka_unit_test(a_dripping_head_is_cut_off),
        cmocka_unit_test(a_thousand_idle_connections_cost_little),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
