/* playground_test.c: `reeve up --playground` with real processes: the plug is pulled over HTTP, the port is
 * answered all the time, jobs run through it, and nothing that was acknowledged is missing afterwards. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "realcli.h"
#include "webclient.h"

#define PATH "/api/v1/playground"
#define TEST(f) cmocka_unit_test(f)
#define WAIT_TURNS 3000 /* of 10 ms */

static struct realcli up;
static char address[64], token[128];

static void read_line(const char *name, char *ret, size_t room) {
    char path[160];
    snprintf(path, sizeof path, "%s/%s", up.data, name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_non_null(fgets(ret, (int)room, f));
    ret[strcspn(ret, "\n")] = 0;
    fclose(f);
}

static int setup(void **state) {
    (void)state;
    realcli_make(&up);
    realcli_ok(&up, "up --playground --listen 127.0.0.1:0 --detach", NULL);
    read_line("address", address, sizeof address);
    read_line("admin.token", token, sizeof token);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realcli_stop(&up);
    return 0;
}

/* ---- asking ---- */

static char said[1 << 16];

/* On a connection of its own, which may break off when the server is killed: then it is made again. */
static int ask(const char *verb, const char *path, const char *body) {
    for (int i = 0; i < WAIT_TURNS; i++) {
        struct webclient c;
        webclient_open(&c, address, token);
        struct webgot got = webclient_ask(&c, verb, path, body);
        int status = got.status;
        if (status != 0) snprintf(said, sizeof said, "%s", got.body);
        webclient_close(&c);
        if (status != 0) return status;
    }
    fail_msg("nobody answers");
    return 0;
}

static long number(const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(said, quoted);
    return at != NULL ? strtol(at + strlen(quoted), NULL, 10) : -1;
}

static void wait_until(const char *words) {
    for (int i = 0; i < WAIT_TURNS; i++) {
        assert_int_equal(ask("GET", PATH, NULL), 200);
        if (strstr(said, words) != NULL) return;
        (void)poll(NULL, 0, 10);
    }
    fail_msg("never %s: %s", words, said);
}

static void pull(void) {
    assert_int_equal(ask("POST", PATH "/kill", "{}"), 200);
    wait_until("\"server\":\"dead\"");
}

static void recover(void) {
    assert_int_equal(ask("POST", PATH "/recover", "{}"), 200);
    wait_until("\"server\":\"running\"");
}

/* ---- the port ---- */

static struct watch {
    atomic_bool stop;
    atomic_uint tried, refused;
} port;

/* A connection every 10 ms, for as long as it takes. */
static void *watch_port(void *ctx) {
    struct sockaddr_in to = {.sin_family = AF_INET};
    (void)ctx;
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    to.sin_port = htons((uint16_t)strtol(strchr(address, ':') + 1, NULL, 10));
    while (!atomic_load(&port.stop)) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0) atomic_fetch_add(&port.refused, 1);
        atomic_fetch_add(&port.tried, 1);
        close(fd);
        (void)poll(NULL, 0, 10);
    }
    return NULL;
}

/* ---- the tests ---- */

static void a_killed_server_loses_nothing_and_its_port_stays_open(void **state) {
    (void)state;
    pthread_t watcher;
    enum { FLOWS = 20 };
    char ids[FLOWS][32];
    assert_int_equal(pthread_create(&watcher, NULL, watch_port, NULL), 0);
    /* Two that run through it, and many that are acknowledged right before. */
    for (int i = 0; i < FLOWS; i++) {
        const char *text = i < 2 ? "{\"jobs\":{\"long\":{\"run\":\"sleep 4; echo done\"}}}"
                                 : "{\"jobs\":{\"a\":{\"sleep\":\"100ms\"},\"b\":{\"noop\":true,\"needs\":[\"a\"]}}}";
        assert_int_equal(ask("POST", "/api/v1/flows", text), 201);
        const char *at = strstr(said, "\"flow\":\"");
        assert_non_null(at);
        sscanf(at + 8, "%31[^\"]", ids[i]);
    }
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "/api/v1/jobs/%s/long", ids[i]);
        for (int k = 0; k < WAIT_TURNS && strstr(said, "\"state\":\"running\"") == NULL; k++) {
            assert_int_equal(ask("GET", path, NULL), 200);
            (void)poll(NULL, 0, 10);
        }
    }
    pull();
    assert_true(number("restart_in_ms") > 0);
    assert_int_equal(number("kills"), 1);
    recover();
    /* What the worker had goes on; what was given to it and not yet sent is sent again, under the same number. */
    for (int i = 0; number("attempts_adopted") + number("attempts_again") < number("attempts_open"); i++) {
        assert_true(i < WAIT_TURNS);
        assert_int_equal(ask("GET", PATH, NULL), 200);
        (void)poll(NULL, 0, 10);
    }
    assert_int_equal(number("lost"), 0);
    assert_true(number("attempts_adopted") >= 2);
    assert_true(number("attempts_open") >= 2);
    assert_true(number("records") >= FLOWS);
    assert_true(number("flows") >= FLOWS);
    /* What the client was told is what counts: each of them is there, and ends well after one attempt. */
    for (int i = 0; i < FLOWS; i++) {
        char path[96];
        snprintf(path, sizeof path, "/api/v1/flows/%s/wait?timeout_ms=15000", ids[i]);
        assert_int_equal(ask("GET", path, NULL), 200);
        assert_non_null(strstr(said, "succeeded"));
        snprintf(path, sizeof path, "/api/v1/jobs/%s/%s", ids[i], i < 2 ? "long" : "a");
        assert_int_equal(ask("GET", path, NULL), 200);
        assert_int_equal(number("attempt"), 1);
    }
    atomic_store(&port.stop, true);
    pthread_join(watcher, NULL);
    assert_true(atomic_load(&port.tried) > 50);
    assert_int_equal(atomic_load(&port.refused), 0);
}

static void while_it_is_dead_the_supervisor_speaks(void **state) {
    (void)state;
    pull();
    long kills = number("kills");
    assert_int_equal(ask("GET", "/api/v1/flows", NULL), 503);
    assert_non_null(strstr(said, "\"code\":\"unavailable\""));
    assert_int_equal(number("retry_after"), 1);
    assert_int_equal(ask("POST", "/api/v1/flows", "{}"), 503);
    /* A browser sends a kill again that it got no answer to: it is done, and not done twice. */
    assert_int_equal(ask("POST", PATH "/kill", "{}"), 200);
    assert_non_null(strstr(said, "\"server\":\"dead\""));
    assert_int_equal(number("kills"), kills);
    /* A word without a token, or of one who may not, starts nothing. */
    char kept[sizeof token];
    memcpy(kept, token, sizeof kept);
    snprintf(token, sizeof token, "reeve-none");
    assert_int_equal(ask("POST", PATH "/recover", "{}"), 401);
    read_line("worker.token", token, sizeof token);
    assert_int_equal(ask("POST", PATH "/recover", "{}"), 403);
    memcpy(token, kept, sizeof kept);
    wait_until("\"server\":\"dead\"");
    recover();
    assert_int_equal(ask("POST", PATH "/recover", "{}"), 409);
    wait_until("\"lost\":0");
}

/* As a browser sends it; `csrf` may be NULL. */
static struct webgot browse(struct webclient *c, const char *verb, const char *path, const char *cookie,
                            const char *csrf) {
    char request[1200];
    snprintf(request, sizeof request,
             "%s %s HTTP/1.1\r\nHost: %s\r\nAccept-Encoding: gzip\r\nCookie: %s\r\n%s%s%sContent-Length: 0\r\n\r\n",
             verb, path, address, cookie, csrf != NULL ? "Content-Type: application/json\r\nReeve-CSRF: " : "",
             csrf != NULL ? csrf : "", csrf != NULL ? "\r\n" : "");
    webclient_open(c, address, NULL);
    webclient_send(c, request);
    return webclient_next(c);
}

static int browse_status(const char *verb, const char *path, const char *cookie, const char *csrf) {
    int status = 503; /* in the moment of a recovery the supervisor may still answer: come again */
    for (int i = 0; i < WAIT_TURNS && status == 503; i++) {
        struct webclient c;
        status = browse(&c, verb, path, cookie, csrf).status;
        webclient_close(&c);
        if (status == 503) (void)poll(NULL, 0, 10);
    }
    return status;
}

static void a_browser_stays_through_it(void **state) {
    (void)state;
    struct webclient c;
    char body[200], cookie[300], csrf[200];
    snprintf(body, sizeof body, "{\"token\":\"%s\"}", token);
    char request[600];
    snprintf(request, sizeof request,
             "POST /api/v1/session HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             address, strlen(body), body);
    webclient_open(&c, address, NULL);
    webclient_send(&c, request);
    struct webgot got = webclient_next(&c);
    assert_int_equal(got.status, 200);
    const char *at = strstr(got.head, "reeve_session_");
    assert_non_null(at);
    snprintf(cookie, sizeof cookie, "%.*s", (int)strcspn(at, ";\r"), at);
    snprintf(csrf, sizeof csrf, "%s", webgot_text(&c, &got, "csrf"));
    assert_non_null(strstr(got.body, "\"playground\":true"));
    webclient_close(&c);
    int page = browse_status("GET", "/playground", cookie, NULL); /* 404 where the program was built without it */
    assert_int_equal(browse_status("POST", PATH "/kill", cookie, NULL), 401);
    assert_int_equal(browse_status("POST", PATH "/kill", cookie, csrf), 200);
    wait_until("\"server\":\"dead\"");
    if (page == 200) assert_int_equal(browse_status("GET", "/playground", cookie, NULL), 200);
    assert_int_equal(browse_status("GET", PATH, cookie, NULL), 200);
    assert_int_equal(browse_status("POST", PATH "/recover", cookie, NULL), 401);
    assert_int_equal(browse_status("POST", PATH "/recover", cookie, csrf), 200);
    wait_until("\"server\":\"running\"");
    assert_int_equal(browse_status("GET", "/api/v1/session", cookie, NULL), 401);
    assert_int_equal(browse_status("GET", "/api/v1/session", cookie, csrf), 200);
}

/* Who logged out before the server died does not get in by its supervisor, nor by its successor. */
static void a_logout_outlives_the_server(void **state) {
    (void)state;
    struct webclient c;
    char body[200], request[600], cookie[300], csrf[200];
    snprintf(body, sizeof body, "{\"token\":\"%s\"}", token);
    snprintf(request, sizeof request,
             "POST /api/v1/session HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             address, strlen(body), body);
    webclient_open(&c, address, NULL);
    webclient_send(&c, request);
    struct webgot got = webclient_next(&c);
    const char *at = strstr(got.head, "reeve_session_");
    assert_non_null(at);
    snprintf(cookie, sizeof cookie, "%.*s", (int)strcspn(at, ";\r"), at);
    snprintf(csrf, sizeof csrf, "%s", webgot_text(&c, &got, "csrf"));
    webclient_close(&c);
    assert_int_equal(browse_status("DELETE", "/api/v1/session", cookie, csrf), 204);
    pull();
    assert_int_equal(browse_status("POST", PATH "/recover", cookie, csrf), 401);
    recover();
    assert_int_equal(browse_status("GET", "/api/v1/session", cookie, csrf), 401);
}

/* Its front end finds what it looks for: the interface is open, and stays open through a kill. */
static void orions_interface_is_there_too(void **state) {
    (void)state;
    char orion[64];
    struct webclient c;
    read_line("orion.address", orion, sizeof orion);
    assert_memory_equal(orion, "127.0.0.1:", 10);
    int status = 503; /* of who comes in the moment of a recovery: he is to come again */
    for (int i = 0; i < WAIT_TURNS && status == 503; i++) {
        webclient_open(&c, orion, NULL);
        webclient_send(&c, "POST /api/v1/dag HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: once\r\n"
                           "Content-Length: 32\r\n\r\n[{\"id\": \"a\", \"payload\": \"work\"}]");
        status = webclient_next(&c).status;
        webclient_close(&c);
        if (status == 503) (void)poll(NULL, 0, 10);
    }
    assert_int_equal(status, 201);
    pull();
    webclient_open(&c, orion, NULL);
    struct webgot got = webclient_ask(&c, "GET", "/admin/status", NULL);
    assert_int_equal(got.status, 200);
    webclient_close(&c);
    recover();
    /* another one beside it finds another port, unless it is told to do without */
    struct realcli own, playing = up;
    char other[64], path[200];
    realcli_make(&own);
    realcli_ok(&own, "up --playground --listen 127.0.0.1:0 --detach", NULL);
    up = own;
    read_line("orion.address", other, sizeof other);
    assert_string_not_equal(orion, other);
    realcli_ok(&own, "down", NULL);
    realcli_ok(&own, "up --playground --orion=no --listen 127.0.0.1:0 --detach", NULL);
    snprintf(path, sizeof path, "%s/orion.address", own.data);
    assert_int_equal(access(path, F_OK), -1);
    realcli_stop(&own);
    up = playing;
}

static void a_server_that_is_killed_from_outside_comes_back_too(void **state) {
    (void)state;
    assert_int_equal(ask("GET", PATH, NULL), 200);
    long pid = number("pid"), kills = number("kills");
    assert_true(pid > 1);
    assert_int_equal(kill((pid_t)pid, SIGKILL), 0);
    wait_until("\"server\":\"dead\"");
    assert_int_equal(number("kills"), kills);
    assert_true(number("restart_in_ms") > 20000);
    recover();
    assert_int_not_equal(number("pid"), pid);
    assert_int_equal(ask("GET", "/api/v1/stats", NULL), 200);
    assert_int_equal(number("recovery_lost"), 0);
    assert_true(number("recovery_records") > 0);
}

static void elsewhere_there_is_no_plug(void **state) {
    (void)state;
    struct realcli plain;
    char kept[sizeof address], kept_token[sizeof token];
    memcpy(kept, address, sizeof kept);
    memcpy(kept_token, token, sizeof kept_token);
    struct realcli playing = up;
    realcli_make(&plain);
    realcli_ok(&plain, "up --listen 127.0.0.1:0 --detach", NULL);
    up = plain;
    read_line("address", address, sizeof address);
    read_line("admin.token", token, sizeof token);
    assert_int_equal(ask("GET", PATH, NULL), 404);
    assert_non_null(strstr(said, "reeve up --playground"));
    assert_int_equal(ask("POST", PATH "/kill", "{}"), 404);
    assert_int_equal(ask("GET", "/api/v1/stats", NULL), 200);
    realcli_stop(&plain);
    up = playing;
    memcpy(address, kept, sizeof kept);
    memcpy(token, kept_token, sizeof kept_token);
}

static void slots_are_enough_to_see_something(void **state) {
    (void)state;
    struct realcli own;
    realcli_make(&own);
    realcli_refused(&own, "up --playground --slots 2 --detach", 2, "needs at least");
    realcli_stop(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_killed_server_loses_nothing_and_its_port_stays_open),
        TEST(while_it_is_dead_the_supervisor_speaks),
        TEST(a_browser_stays_through_it),
        TEST(a_logout_outlives_the_server),
        TEST(orions_interface_is_there_too),
        TEST(a_server_that_is_killed_from_outside_comes_back_too),
        TEST(elsewhere_there_is_no_plug),
        TEST(slots_are_enough_to_see_something),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
