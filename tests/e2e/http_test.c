/* http_test.c: the built program over HTTP: work is submitted, watched and changed by JSON; what is asked by the rules
 * is answered by the rules, and what is not is refused without harm to anyone else. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "api.h"
#include "openapi.h"
#include "realserver.h"
#include "realworker.h"
#include "webclient.h"

static struct realserver server;
static struct realworker worker;
static struct webclient client;
static struct openapi document;

#define AT_BYTES 2048u
#define FLOW(jobs) "{\"name\": \"web\", \"jobs\": {" jobs "}}"

static int group_setup(void **state) {
    (void)state;
    openapi_open(&document, "docs/openapi.yaml");
    realserver_make(&server);
    realserver_start(&server);
    realworker_make(&worker, &server, "w");
    realworker_start(&worker, &server);
    return 0;
}

static int group_teardown(void **state) {
    (void)state;
    (void)realworker_stop(&worker);
    realserver_remove(&server);
    openapi_close(&document);
    return 0;
}

static int setup(void **state) {
    (void)state;
    webclient_open(&client, server.address, server.admin);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    webclient_close(&client);
    return 0;
}

/* What is answered is as docs/openapi.yaml says, whatever it is. */
static void check_answer(const char *verb, const char *path, const struct webgot *got) {
    bool other = got->status == 405 || got->status == 204 || strstr(got->body, "nothing at this path") != NULL;
    if (!other && !openapi_allows(&document, verb, path, got->status, got->body))
        fail_msg("%s %s: %d is not as in docs/openapi.yaml: %s: %s", verb, path, got->status, document.place,
                 got->body);
}

static struct webgot ask(const char *verb, const char *path, const char *body, int status) {
    struct webgot got = webclient_ask(&client, verb, path, body);
    if (got.status != status) fail_msg("%s %s: %d, not %d: %s", verb, path, got.status, status, got.body);
    check_answer(verb, path, &got);
    return got;
}

/* The path with the id in place of each @. */
static const char *at(const char *path, const char *id) {
    char *text = arena_alloc(&client.arena, AT_BYTES);
    size_t len = 0;
    for (; *path != 0; path++)
        if (*path == '@')
            len += (size_t)snprintf(text + len, AT_BYTES - len, "%s", id);
        else
            text[len++] = *path;
    return text;
}

static const char *submit(const char *flow) {
    struct webgot got = ask("POST", "/api/v1/flows", flow, 201);
    return webgot_text(&client, &got, "flow");
}

/* ---- work ---- */

static void a_flow_is_submitted_and_followed(void **state) {
    (void)state;
    const char *id =
        submit(FLOW("\"a\": {\"run\": [\"sh\", \"-c\", \"echo one; echo '{\\\"n\\\": 7}' > $REEVE_OUTPUT\"]},"
                    "\"b\": {\"needs\": [\"a\"], \"run\": [\"echo\", \"two\"]}"));
    struct webgot got = ask("GET", at("/api/v1/flows/@/wait", id), NULL, 200);
    assert_has(got.body, "\"over\":[");
    got = ask("GET", at("/api/v1/flows/@", id), NULL, 200);
    assert_has(got.body, "\"state\":\"succeeded\"");
    assert_has(got.body, "\"states\":{\"succeeded\":2}");
    assert_has_not(got.body, "\"jobs\":");
    got = ask("GET", at("/api/v1/flows/@?details=true", id), NULL, 200);
    assert_has(got.body, "\"jobs\":[{\"job\":\"");
    got = ask("GET", at("/api/v1/jobs/@/a", id), NULL, 200);
    assert_has(got.body, "\"result\":{\"n\": 7}");                        /* not as a string */
    assert_has(got.body, "\"body\":{\"argv\":[\"sh\",\"-c\",\"echo one"); /* not as bytes */
    assert_has(got.body, "\"attempts\":[{\"attempt\":1,");
    got = ask("GET", at("/api/v1/jobs/@/b", id), NULL, 200);
    assert_has(got.body, "\"parents\":[\"a\"]");
    got = ask("GET", at("/api/v1/jobs/@/b/logs", id), NULL, 200);
    assert_string_equal(got.body, "two\n");
    got = ask("GET", at("/api/v1/jobs/@/b/logs?offset=1&most=2", id), NULL, 200);
    assert_string_equal(got.body, "wo");
    got = ask("GET", at("/api/v1/jobs/@/b/logs?tail_bytes=3", id), NULL, 200);
    assert_string_equal(got.body, "wo\n");
    got = ask("GET", at("/api/v1/jobs/@/b/why", id), NULL, 200);
    assert_has(got.body, "\"state\":\"succeeded\"");
    got = ask("GET", "/api/v1/stats", NULL, 200);
    assert_has(got.body, "\"numbers\":{\"flows\":");
    got = ask("GET", "/api/v1/workers", NULL, 200);
    assert_has(got.body, "\"attached\":true");
}

static void the_same_key_is_the_same_flow(void **state) {
    (void)state;
    char text[1024];
    const char *body = FLOW("\"a\": {\"noop\": true}");
    struct webgot got[2];
    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text,
                 "POST /api/v1/flows HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nIdempotency-Key: k1\r\n"
                 "Content-Type: application/json; charset=utf-8\r\nContent-Length: %zu\r\n\r\n%s",
                 server.admin, strlen(body), body);
        webclient_send(&client, text);
        got[i] = webclient_next(&client);
    }
    assert_int_equal(got[0].status, 201);
    assert_int_equal(got[1].status, 200);
    assert_string_equal(webgot_text(&client, &got[0], "flow"), webgot_text(&client, &got[1], "flow"));
    assert_has(got[1].body, "\"repeated\":true");
}

static void a_flow_can_be_checked_without_being_submitted(void **state) {
    (void)state;
    const char *good = "{\"name\": \"only-looked-at\", \"jobs\": {\"a\": {\"noop\": true}}}";
    struct webgot got = ask("POST", "/api/v1/flows?check=true", good, 200);
    assert_has(got.body, "\"job_count\":1");
    assert_null(strstr(got.body, "\"flow\""));
    got = ask("GET", "/api/v1/flows?name=only-looked-at", NULL, 200);
    assert_has(got.body, "\"flows\":[]");
    got = ask("POST", "/api/v1/flows?check=true", FLOW("\"a\": {\"needs\": \"b\", \"noop\": true}"), 400);
    assert_has(got.body, "there is no job `b`");
}

static void lists_come_in_pages(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++)
        (void)submit(
            "{\"name\": \"paged\", \"labels\": {\"team\": \"blue sea\"}, \"jobs\": {\"a\": {\"noop\": true}}}");
    char path[256] = "/api/v1/flows?name=paged&labels=team%3Dblue+sea&most=2";
    uint32_t count = 0, pages = 0;
    for (;; pages++) {
        struct webgot got = ask("GET", path, NULL, 200);
        for (const char *p = got.body; (p = strstr(p, "{\"flow\":")) != NULL; p++) count++;
        assert_has(got.body, "\"labels\":{\"team\":\"blue sea\"}");
        if (strstr(got.body, "\"cursor\"") == NULL) break;
        snprintf(path, sizeof path, "/api/v1/flows?name=paged&labels=team%%3Dblue+sea&most=2&cursor=%s",
                 webgot_text(&client, &got, "cursor"));
    }
    assert_int_equal(count, 5);
    assert_int_equal(pages, 2);
    struct webgot got = ask("GET", "/api/v1/flows?name=none-of-these", NULL, 200);
    assert_has(got.body, "\"flows\":[]"); /* the list is there, empty */
}

static void people_decide(void **state) {
    (void)state;
    const char *id = submit(FLOW("\"g\": {\"gate\": \"shall we?\"}, \"a\": {\"needs\": [\"g\"], \"noop\": true}"));
    struct webgot got = ask("GET", "/api/v1/questions", NULL, 200);
    const char *mine = strstr(got.body, at("\"job\":\"@/g\"", id));
    assert_non_null(mine);
    assert_has(mine, "\"body\":{\"message\":\"shall we?\"}");
    char hash[65], path[128], body[256];
    memcpy(hash, strstr(mine, "\"hash\":\"") + 8, 64);
    hash[64] = 0;
    const char *begin = mine;
    while (strncmp(begin, "{\"question\":", 12) != 0) begin--;
    snprintf(path, sizeof path, "/api/v1/questions/%d/verdict", (int)strtol(begin + 12, NULL, 10));
    got = ask("POST", path,
              "{\"verdict\": \"allow\", \"hash\": \"00000000000000000000000000000000"
              "00000000000000000000000000000000\"}",
              409);
    assert_has(got.body, "\"code\":\"");
    got = ask("POST", path, "{\"verdict\": \"maybe\"}", 400);
    assert_has(got.body, "verdict: maybe is none of approve, reject");
    snprintf(body, sizeof body, "{\"verdict\": \"approve\", \"hash\": \"%s\", \"reason\": \"seen\"}", hash);
    (void)ask("POST", path, body, 200);
    (void)ask("GET", at("/api/v1/flows/@/wait", id), NULL, 200);
    got = ask("GET", at("/api/v1/flows/@", id), NULL, 200);
    assert_has(got.body, "\"state\":\"succeeded\"");
    (void)ask("POST", path, body, 404);
}

static void work_is_changed(void **state) {
    (void)state;
    const char *id = submit(FLOW("\"bad\": {\"run\": [\"false\"], \"retries\": 0}"));
    (void)ask("GET", at("/api/v1/jobs/@/bad/wait", id), NULL, 200);
    struct webgot got = ask("GET", "/api/v1/dead", NULL, 200);
    assert_has(got.body, at("\"job\":\"@/bad\"", id));
    got = ask("GET", at("/api/v1/dead?flow=@", id), NULL, 200);
    assert_has(got.body, at("\"job\":\"@/bad\"", id));
    const char *other = submit(FLOW("\"n\": {\"noop\": true}"));
    got = ask("GET", at("/api/v1/dead?flow=@", other), NULL, 200);
    assert_null(strstr(got.body, "\"job\""));
    (void)ask("GET", "/api/v1/dead?flow=f9zzzzzzzzz", NULL, 404);
    got = ask("POST", at("/api/v1/jobs/@/bad/retry", id), "{\"reason\": \"once more\"}", 200);
    assert_has(got.body, at("\"target\":\"@/bad\"", id));
    (void)ask("GET", at("/api/v1/jobs/@/bad/wait", id), NULL, 200);
    (void)ask("POST", at("/api/v1/jobs/@/bad/discard", id), "", 200);
    (void)ask("POST", at("/api/v1/jobs/@/bad/discard", id), "", 409);

    id = submit(FLOW("\"s\": {\"sleep\": \"1h\"}"));
    (void)ask("POST", at("/api/v1/flows/@/pause", id), "{}", 200);
    got = ask("GET", at("/api/v1/flows/@", id), NULL, 200);
    assert_has(got.body, "\"paused\":true");
    (void)ask("POST", at("/api/v1/flows/@/resume", id), "{}", 200);
    (void)ask("POST", at("/api/v1/jobs/@/s/cancel", id), "{}", 200);
    (void)ask("GET", at("/api/v1/flows/@/wait", id), NULL, 200);
    got = ask("GET", at("/api/v1/flows/@/jobs?states=cancelled", id), NULL, 200);
    assert_has(got.body, "\"state\":\"cancelled\"");
}

static void a_flow_is_a_graph(void **state) {
    (void)state;
    const char *id = submit(FLOW("\"a\": {\"run\": [\"echo\", \"hi\"]}, "
                                 "\"m\": {\"needs\": \"a\", \"foreach\": [1, 2, 3], \"noop\": true}"));
    (void)ask("GET", at("/api/v1/flows/@/wait", id), NULL, 200);
    struct webgot got = ask("GET", at("/api/v1/flows/@/graph", id), NULL, 200);
    assert_has(got.body, "\"parents\":[\"a\"]");
    assert_has(got.body, "\"items\":3,\"items_begun\":3");
    assert_has(got.body, "\"attempts\":[{\"attempt\":1");
    assert_null(strstr(got.body, "\"body\""));
    got = ask("GET", at("/api/v1/flows/@/graph?items_of=m&most=2", id), NULL, 200);
    assert_has(got.body, at("\"job\":\"@/m[1]\"", id));
    assert_null(strstr(got.body, "m[2]"));
    got = ask("GET", at("/api/v1/flows/@/graph?items_of=m&most=2&cursor=2", id), NULL, 200);
    assert_has(got.body, at("\"job\":\"@/m[2]\"", id));
    got = ask("GET", at("/api/v1/flows/@/graph?items_of=x", id), NULL, 400);
    assert_has(got.body, "has no job x");
    (void)ask("GET", at("/api/v1/flows/@/graph?graph=false", id), NULL, 400);
}

/* The path of what the one worker holds. */
static const char *held_path(void) {
    char name[64] = {0};
    struct webgot got = ask("GET", "/api/v1/workers?name=w", NULL, 200);
    const char *found = strstr(got.body, "\"worker\":\"");
    assert_non_null(found);
    assert_int_equal(sscanf(found, "\"worker\":\"%63[^\"]", name), 1);
    return at("/api/v1/workers/@/jobs", name);
}

static void a_worker_shows_what_it_holds(void **state) {
    (void)state;
    const char *id = submit(FLOW("\"held\": {\"sleep\": \"1h\"}")), *path = held_path();
    const char *mine = at("\"job\":\"@/held\"", id);
    time_t until = time(NULL) + WEBCLIENT_WAIT_MS / 1000;
    while (strstr(ask("GET", path, NULL, 200).body, mine) == NULL) assert_true(time(NULL) < until);
    const char *over = at("@?states=succeeded", path);
    assert_null(strstr(ask("GET", over, NULL, 200).body, mine));
    (void)ask("POST", at("/api/v1/jobs/@/held/cancel", id), "{}", 200);
    (void)ask("GET", at("/api/v1/flows/@/wait", id), NULL, 200);
    assert_null(strstr(ask("GET", path, NULL, 200).body, mine));
    assert_has(ask("GET", "/api/v1/workers/nobody/jobs", NULL, 404).body, "there is no worker nobody");
}

static void the_rest_of_the_table_works(void **state) {
    (void)state;
    (void)ask("POST", "/api/v1/store",
              "{\"op\": \"set\", \"entries\": [{\"key\": \"a/b\", \"value\": \"x y\"}, "
              "{\"key\": \"raw\", \"value\": {\"base64\": \"/wA=\"}}]}",
              200);
    struct webgot got = ask("GET", "/api/v1/store?keys=a/b&keys=raw", NULL, 200);
    assert_has(got.body, "\"key\":\"a/b\",\"kind\":\"text\",\"value\":\"x y\"");
    assert_has(got.body, "\"value\":{\"base64\":\"/wA=\"}");
    (void)ask("PUT", "/api/v1/schedules/nightly",
              "{\"expression\": \"cron 0 3 * * *\", \"flow\": {\"spec\": {\"jobs\": {\"a\": {\"noop\": true}}}}}", 200);
    got = ask("GET", "/api/v1/schedules", NULL, 200);
    assert_has(got.body, "\"name\":\"nightly\",\"expression\":\"cron 0 3 * * *\"");
    (void)ask("POST", "/api/v1/schedules/nightly/pause", "{}", 200);
    (void)ask("DELETE", "/api/v1/schedules/nightly", NULL, 200);
    got = ask("POST", "/api/v1/tokens", "{\"name\": \"ann\", \"roles\": [\"viewer\"]}", 200);
    char path[128];
    snprintf(path, sizeof path, "/api/v1/tokens/%s", webgot_text(&client, &got, "id"));
    assert_memory_equal(webgot_text(&client, &got, "token"), "rv_", 3);
    (void)ask("DELETE", path, NULL, 200);
    (void)ask("PUT", "/api/v1/pools/gpu", "{\"capabilities\": [\"cuda\"]}", 200);
    (void)ask("PUT", "/api/v1/tenants/acme", "{\"weight\": 3}", 200);
    (void)ask("POST", "/api/v1/limits", "{\"kind\": \"key\", \"name\": \"db\", \"width\": 2}", 200);
    got = ask("GET", "/api/v1/blobs?most=1", NULL, 200);
    assert_has(got.body, "\"blobs\":[");
    got = ask("GET", "/api/v1/services", NULL, 200);
    assert_has(got.body, "\"services\":[]");
}

/* ---- refusals ---- */

static void refusals_are_json(void **state) {
    (void)state;
    struct webgot got = ask("GET", "/api/v1/nothing", NULL, 404);
    assert_has(got.body, "{\"code\":\"not_found\",\"message\":\"not found: nothing at this path\"}");
    (void)ask("GET", "/nothing", NULL, 404);
    (void)ask("GET", "/api/v1/flows/", NULL, 404);
    (void)ask("GET", "/api/v1x/flows", NULL, 404);
    (void)ask("GET", "/api/v1/../v1/flows", NULL, 404);
    (void)ask("GET", "/api/v1/jobs/f1/%2e%2e", NULL, 404);
    got = ask("GET", "/api/v1/flows/f999999", NULL, 404);
    assert_has(got.body, "\"code\":\"not_found\"");
    (void)ask("GET", "/api/v1/flows/%zz", NULL, 400);
    (void)ask("GET", "/api/v1/flows/%00", NULL, 400);
    got = ask("GET", "/api/v1/flows?most=many", NULL, 400);
    assert_has(got.body, "\"field\":\"most\"");
    got = ask("GET", "/api/v1/flows?colour=red", NULL, 400);
    assert_has(got.body, "\"field\":\"colour\"");
    got = ask("GET", "/api/v1/flows?what=jobs", NULL, 400);
    assert_has(got.body, "given by the path");
    got = ask("POST", "/api/v1/limits", "{\"kind\": \"colour\"}", 400);
    assert_has(got.body, "is none of key, rate, tenant\",\"field\":\"kind\"");
    got = ask("POST", "/api/v1/store", "{\"entries\": [{\"key\": \"a\"}, {\"key\": 7}]}", 400);
    assert_has(got.body, "\"field\":\"entries[1].key\"");
    got = ask("POST", "/api/v1/store", "{\"op\": \"set\"", 400);
    assert_has(got.body, "line 1, column 13");
    (void)ask("POST", "/api/v1/store", "[]", 400);
    (void)ask("POST", "/api/v1/store?op=set", "{}", 400);
    (void)ask("POST", "/api/v1/jobs/f1/a/cancel", "{\"targets\": [\"f2\"]}", 400);
    got = ask("POST", "/api/v1/flows", "{\"jobs\": {\"a\": {\"needs\": [\"b\"], \"noop\": true}}}", 400);
    assert_has(got.body, "\"code\":\"unknown_name\"");
    (void)ask("POST", "/api/v1/flows", "{\"jobs\": 7}", 400);
    (void)ask("POST", "/api/v1/flows", "", 400);
    char deep[512] = "";
    memset(deep, '[', 200);
    (void)ask("POST", "/api/v1/flows", deep, 422);
    (void)ask("GET", "/api/v1/flows", NULL, 200); /* and the connection is none the worse for it */
    got = ask("PUT", "/api/v1/flows", "{}", 405); /* but for a body that is not read */
    assert_has(got.head, "\r\nAllow: GET, HEAD, POST, OPTIONS\r\n");
    assert_true(webclient_is_closed(&client));
}

static const char *token_of(const char *role) {
    char body[128];
    snprintf(body, sizeof body, "{\"name\": \"%s\", \"roles\": [\"%s\"]}", role, role);
    struct webgot got = ask("POST", "/api/v1/tokens", body, 200);
    return webgot_text(&client, &got, "token");
}

/* Each request has a caller of its own, also on one connection. */
static void every_request_needs_a_token_and_a_role(void **state) {
    (void)state;
    struct webclient other;
    const char *viewer = token_of("viewer");
    client.token = viewer;
    (void)ask("GET", "/api/v1/flows", NULL, 200);
    struct webgot got = ask("POST", "/api/v1/flows", FLOW("\"a\": {\"noop\": true}"), 403);
    assert_has(got.body, "viewer is not allowed to submit");
    client.token = server.admin;
    webclient_open(&other, server.address, server.admin);
    assert_int_equal(webclient_ask(&other, "POST", "/api/v1/flows", FLOW("\"a\": {\"noop\": true}")).status, 201);
    other.token = "rv_wrong";
    got = webclient_ask(&other, "GET", "/api/v1/flows", NULL);
    assert_int_equal(got.status, 401);
    assert_has(got.head, "\r\nWWW-Authenticate: Bearer\r\n");
    webclient_close(&other);
    static const char *const headers[] = {"", "Authorization: Basic eDp5\r\n", "Authorization: Bearer\r\n",
                                          "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"};
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        char text[256];
        snprintf(text, sizeof text, "GET /api/v1/flows HTTP/1.1\r\nHost: localhost\r\n%s\r\n", headers[i]);
        (void)webclient_once(&other, server.address, text, 401);
        assert_true(webclient_is_closed(&other)); /* a stranger gets one answer */
        webclient_close(&other);
    }
}

/* No route of the table can be used without a token, and each is served with one. */
static void every_route_is_there_and_guarded(void **state) {
    (void)state;
    uint32_t count;
    const struct api_route *routes = api_routes(&count);
    for (uint32_t i = 0; i < count; i++) {
        char path[256];
        size_t len = (size_t)snprintf(path, sizeof path, "%s", routes[i].bare ? "" : API_PREFIX);
        for (const char *p = routes[i].path; *p != 0; p++) {
            if (*p == '{') p = strchr(p, '}');
            path[len++] = *p == '}' ? '7' : *p;
        }
        path[len] = 0;
        const char *verb = http_verb_word(routes[i].verb);
        const char *body = routes[i].body != API_BODY_NONE ? "{}" : NULL;
        struct webclient other;
        webclient_open(&other, server.address, NULL);
        assert_int_equal(webclient_ask(&other, verb, path, body).status, 401);
        webclient_close(&other);
        if (strstr(path, "wait") != NULL) continue;          /* until something is over */
        if (routes[i].answer == API_ANSWER_STREAM) continue; /* never over: events_test.c */
        struct webgot got = webclient_ask(&client, verb, path, body);
        bool absent = got.status == 405 || strstr(got.body, "nothing at this path") != NULL;
        check_answer(verb, path, &got);
        if (absent || got.status >= 500) fail_msg("%s %s: %d %s", verb, path, got.status, got.body);
        got = webclient_ask(&client, "OPTIONS", path, NULL);
        assert_int_equal(got.status, 204);
        assert_has(strstr(got.head, "\r\nAllow: "), verb);
        if (strstr(got.head, "Connection: close") == NULL) continue;
        webclient_close(&client);
        webclient_open(&client, server.address, server.admin);
    }
}

static void names_and_origins_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *headers;
        int status;
    } cases[] = {
        {"Host: localhost:1\r\n", 401},
        {"Host: 127.0.0.1\r\n", 401},
        {"Host: [::1]:7070\r\n", 401},
        {"Host: LOCALHOST\r\n", 401},
        {"Host: evil.example\r\n", 421},
        {"Host: localhost.evil.example\r\n", 421},
        {"Host: 192.168.0.1\r\n", 421},
        {"Host:\r\n", 421},
        {"Host: localhost:7070\r\nOrigin: http://localhost:7070\r\n", 401},
        {"Host: localhost:7070\r\nOrigin: http://localhost:7071\r\n", 403},
        {"Host: localhost:7070\r\nOrigin: http://evil.example\r\n", 403},
        {"Host: localhost:7070\r\nOrigin: null\r\n", 403},
        {"Host: localhost:7070\r\nOrigin:\r\n", 403},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct webclient other;
        char text[256];
        snprintf(text, sizeof text, "GET /api/v1/flows HTTP/1.1\r\n%s\r\n", cases[i].headers);
        struct webgot got = webclient_once(&other, server.address, text, cases[i].status);
        assert_has_not(got.head, "Access-Control"); /* nobody is let in by CORS */
        webclient_close(&other);
    }
    struct webclient other; /* the target itself may have the name, and then it counts */
    (void)webclient_once(&other, server.address, "GET http://evil/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 421);
    webclient_close(&other);
    (void)webclient_once(&other, server.address, "GET http://localhost/healthz HTTP/1.1\r\nHost: x\r\n\r\n", 200);
    webclient_close(&other);
}

static void changes_are_json(void **state) {
    (void)state;
    static const char *const types[] = {"", "Content-Type: text/plain\r\n",
                                        "Content-Type: application/x-www-form-urlencoded\r\n",
                                        "Content-Type: application/jsonp\r\n"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct webclient other;
        char text[512];
        snprintf(text, sizeof text,
                 "POST /api/v1/limits HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s"
                 "Content-Length: 2\r\n\r\n{}",
                 server.admin, types[i]);
        (void)webclient_once(&other, server.address, text, 415);
        webclient_close(&other);
    }
}

/* ---- the protocol ---- */

static void health_needs_no_token(void **state) {
    (void)state;
    struct webclient other;
    struct webgot got = webclient_once(&other, server.address, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 200);
    assert_string_equal(got.body, "{\"status\":\"ok\"}\n");
    assert_has(got.head, "\r\nX-Content-Type-Options: nosniff\r\n");
    assert_has(got.head, "\r\nContent-Security-Policy: default-src 'none'");
    assert_has(got.head, " GMT\r\n");
    assert_has_not(got.head, "\r\nServer:");
    assert_has_not(got.head, "0.1.0");
    webclient_close(&other);
    (void)webclient_once(&other, server.address, "GET /readyz HTTP/1.0\r\n\r\n", 200);
    webclient_close(&other);
    (void)webclient_once(&other, server.address, "DELETE /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n", 405);
    webclient_close(&other);
}

#define HEAD_OF(verb, path) verb " " path " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"

/* The text with the token in place of each %s. */
static const char *with_token(const char *format) {
    size_t most = strlen(format) + 8 * sizeof server.admin, len = 0;
    char *text = arena_alloc(&client.arena, most);
    for (; *format != 0; format++)
        if (*format == '%')
            len += (size_t)snprintf(text + len, most - len, "%s", server.admin), format++;
        else
            text[len++] = *format;
    return text;
}

/* Many requests in one piece; the first is answered only after a while, and the others wait for it. */
static void answers_are_in_order(void **state) {
    (void)state;
    const char *id = submit(FLOW("\"g\": {\"gate\": \"?\"}"));
    webclient_send(
        &client,
        at(with_token(HEAD_OF("GET", "/api/v1/flows/@/wait?timeout_ms=200") "\r\n" HEAD_OF(
               "GET", "/api/v1/flows/@") "\r\n" HEAD_OF("GET",
                                                        "/api/v1/nothing") "\r\n" HEAD_OF("GET",
                                                                                          "/api/v1/stats") "\r\n"),
           id));
    assert_has(webclient_next(&client).body, "\"timed_out\":true");
    assert_has(webclient_next(&client).body, "\"created_ms\":");
    assert_int_equal(webclient_next(&client).status, 404);
    assert_has(webclient_next(&client).body, "\"numbers\":");
    /* more than is kept while one is served: it is read later, and none is lost */
    webclient_send(&client, at(with_token(HEAD_OF("GET", "/api/v1/flows/@/wait?timeout_ms=100") "\r\n"), id));
    for (int i = 0; i < 1000; i++) webclient_send(&client, with_token(HEAD_OF("GET", "/api/v1/flows/f99") "\r\n"));
    assert_int_equal(webclient_next(&client).status, 200);
    for (int i = 0; i < 1000; i++) assert_int_equal(webclient_next(&client).status, 404);
    (void)ask("POST", at("/api/v1/flows/@/cancel", id), "{}", 200);
}

static void bodies_come_in_chunks_and_when_told_to(void **state) {
    (void)state;
    webclient_send(&client,
                   with_token(HEAD_OF("POST", "/api/v1/flows") "Content-Type: application/json\r\n"
                                                               "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"job\r\n1a\r\n"
                                                               "s\": {\"a\": {\"noop\": true}}}\r\n0\r\n\r\n"));
    assert_int_equal(webclient_next(&client).status, 201);
    webclient_send(&client,
                   with_token(HEAD_OF("POST", "/api/v1/flows") "Content-Type: application/json\r\n"
                                                               "Expect: 100-continue\r\nContent-Length: 31\r\n\r\n"));
    assert_int_equal(webclient_next(&client).status, 100);
    webclient_send(&client, "{\"jobs\": {\"a\": {\"noop\": true}}}");
    assert_int_equal(webclient_next(&client).status, 201);
    /* who would be refused is told before it sends the body */
    webclient_send(&client,
                   with_token(HEAD_OF("POST", "/api/v1/nothing") "Content-Type: application/json\r\n"
                                                                 "Expect: 100-continue\r\nContent-Length: 31\r\n\r\n"));
    struct webgot got = webclient_next(&client);
    assert_int_equal(got.status, 404);
    assert_has(got.head, "\r\nConnection: close\r\n");
    assert_true(webclient_is_closed(&client));
}

static void head_and_options(void **state) {
    (void)state;
    const char *id = submit(FLOW("\"a\": {\"run\": [\"echo\", \"hello\"]}"));
    (void)ask("GET", at("/api/v1/flows/@/wait", id), NULL, 200);
    struct webgot whole = ask("GET", at("/api/v1/jobs/@/a", id), NULL, 200);
    webclient_send(&client, at(with_token(HEAD_OF("HEAD", "/api/v1/jobs/@/a") "\r\n"), id));
    struct webgot got = webclient_next_head(&client);
    char length[64];
    snprintf(length, sizeof length, "\r\nContent-Length: %zu\r\n", whole.bytes);
    assert_has(got.head, length);
    webclient_send(&client, at(with_token(HEAD_OF("HEAD", "/api/v1/jobs/@/a/logs?follow=true") "\r\n"), id));
    assert_int_equal(webclient_next_head(&client).status, 200);
    (void)ask("GET", "/api/v1/stats", NULL, 200); /* no byte of a body came between */
    struct webclient other;
    got = webclient_once(&other, server.address, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 204);
    assert_has(got.head, "\r\nAllow: ");
    webclient_close(&other);
}

static void old_http_works(void **state) {
    (void)state;
    const char *id = submit(FLOW("\"a\": {\"run\": [\"echo\", \"hello\"]}"));
    (void)ask("GET", at("/api/v1/flows/@/wait", id), NULL, 200);
    struct webclient other;
    char text[512];
    snprintf(text, sizeof text, "GET /api/v1/jobs/%s/a/logs HTTP/1.0\r\nAuthorization: Bearer %s\r\n\r\n", id,
             server.admin);
    struct webgot got = webclient_once(&other, server.address, text, 200);
    assert_string_equal(got.body, "hello\n"); /* up to the end of the connection */
    assert_has_not(got.head, "chunked");
    webclient_close(&other);
    snprintf(text, sizeof text,
             "GET /api/v1/stats HTTP/1.0\r\nConnection: keep-alive\r\nAuthorization: Bearer %s\r\n\r\n", server.admin);
    got = webclient_once(&other, server.address, text, 200);
    assert_has(got.head, "\r\nConnection: keep-alive\r\n");
    webclient_send(&other, text);
    assert_int_equal(webclient_next(&other).status, 200);
    webclient_close(&other);
}

/* Whatever a request hides behind another one is not looked at. */
static void a_refused_connection_is_closed(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"GET / HTTP/1.1\nHost: localhost\n\n", 400},
        {"GET / HTTP/1.1\r\nHost: localhost\r\nA: b\rC: d\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: localhost\r\nA: b\r\n c\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", 400},
        {"GET / HTTP/2.0\r\nHost: localhost\r\n\r\n", 505},
        {"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", 413},
        {"CONNECT localhost:22 HTTP/1.1\r\nHost: localhost\r\n\r\n", 400},
        {"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n", 401},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct webclient other;
        char text[1024];
        snprintf(text, sizeof text, "%sGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", cases[i].text);
        webclient_open(&other, server.address, server.admin);
        assert_int_equal(webclient_ask(&other, "GET", "/api/v1/stats", NULL).status, 200); /* it is no stranger */
        webclient_send(&other, text);
        struct webgot got = webclient_next(&other);
        assert_int_equal(got.status, cases[i].status);
        assert_has(got.body, "\"code\":\"");
        assert_has(got.head, "\r\nConnection: close\r\n");
        assert_true(webclient_is_closed(&other));
        assert_int_equal(other.in.len, 0);
        webclient_close(&other);
    }
}

static void the_socket_vouches_for_its_user(void **state) {
    (void)state;
    struct webclient other;
    webclient_open(&other, server.socket, NULL);
    assert_int_equal(webclient_ask(&other, "GET", "/api/v1/flows", NULL).status, 200);
    webclient_close(&other);
}

static void many_idle_connections_hurt_nobody(void **state) {
    (void)state;
    static struct webclient idle[500];
    for (size_t i = 0; i < 500; i++) {
        webclient_open(&idle[i], server.address, server.admin);
        assert_int_equal(webclient_ask(&idle[i], "GET", "/api/v1/flows/f99", NULL).status, 404);
    }
    assert_int_equal(webclient_ask(&idle[0], "GET", "/api/v1/stats", NULL).status, 200);
    (void)submit(FLOW("\"a\": {\"noop\": true}"));
    for (size_t i = 0; i < 500; i++) webclient_close(&idle[i]);
}

/* ---- a server of its own ---- */

static void what_was_answered_survives_kill_9(void **state) {
    (void)state;
    struct realserver own;
    struct webclient c;
    char ids[20][32], path[64];
    realserver_make(&own);
    realserver_start(&own);
    webclient_open(&c, own.address, own.admin);
    for (int i = 0; i < 20; i++) {
        struct webgot got = webclient_ask(&c, "POST", "/api/v1/flows", FLOW("\"a\": {\"noop\": true}"));
        assert_int_equal(got.status, 201);
        snprintf(ids[i], sizeof ids[i], "%s", webgot_text(&c, &got, "flow"));
    }
    realserver_kill(&own);
    webclient_close(&c);
    realserver_start(&own);
    webclient_open(&c, own.address, own.admin);
    for (int i = 0; i < 20; i++) {
        snprintf(path, sizeof path, "/api/v1/flows/%s", ids[i]);
        assert_int_equal(webclient_ask(&c, "GET", path, NULL).status, 200);
    }
    webclient_close(&c);
    realserver_remove(&own);
}

static void the_slow_are_not_waited_for(void **state) {
    (void)state;
    struct realserver own;
    struct webclient c;
    char text[512];
    realserver_make(&own);
    static const char *const flags[] = {"--hello_ms", "300", "--http_body_ms", "300", "--http_idle_ms", "300"};
    for (size_t i = 0; i < 6; i++) own.flags[i] = flags[i];
    realserver_start(&own);
    struct webgot got = webclient_once(&c, own.address, "GET / HTTP/1.1\r\nHost: loc", 408); /* half a head */
    assert_has(got.body, "did not arrive in time");
    assert_true(webclient_is_closed(&c));
    webclient_close(&c);
    snprintf(text, sizeof text,
             "POST /api/v1/flows HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
             "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
             own.admin);
    (void)webclient_once(&c, own.address, text, 408); /* half a body */
    webclient_close(&c);
    webclient_open(&c, own.address, own.admin);
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/stats", NULL).status, 200);
    assert_true(webclient_is_closed(&c)); /* nothing more came */
    webclient_close(&c);
    webclient_open(&c, own.address, own.admin); /* half a head behind a whole request */
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/stats", NULL).status, 200);
    webclient_send(&c, "GET /api");
    assert_int_equal(webclient_next(&c).status, 408);
    webclient_close(&c);
    realserver_remove(&own);
}

/* Who takes its answer gets all of it, who takes nothing is let go, and both are asked for at the same time. */
static void the_unwilling_are_not_waited_for(void **state) {
    (void)state;
    struct realserver own;
    struct realworker helper;
    struct webclient c, stuck;
    char path[64];
    realserver_make(&own);
    own.flags[0] = "--http_idle_ms";
    own.flags[1] = "500";
    realserver_start(&own);
    realworker_make(&helper, &own, "h");
    realworker_start(&helper, &own);
    webclient_open(&c, own.address, own.admin);
    struct webgot got = webclient_ask(&c, "POST", "/api/v1/flows",
                                      FLOW("\"a\": {\"run\": \"head -c 30000000 /dev/zero | tr '\\\\0' x\"}"));
    assert_int_equal(got.status, 201);
    const char *id = webgot_text(&c, &got, "flow");
    snprintf(path, sizeof path, "/api/v1/flows/%s/wait", id);
    assert_int_equal(webclient_ask(&c, "GET", path, NULL).status, 200);
    webclient_open(&stuck, own.address, own.admin);
    snprintf(path, sizeof path, "/api/v1/jobs/%s/a/logs", id);
    webclient_ask_only(&stuck, "GET", path, NULL);
    got = webclient_ask(&c, "GET", path, NULL);
    assert_int_equal(got.bytes, 30000000);
    time_t until = time(NULL) + WEBCLIENT_WAIT_MS / 1000;
    do { /* the worker, and who asks: anew, for on a busy machine it may have been idle for too long itself */
        webclient_close(&c);
        webclient_open(&c, own.address, own.admin);
        got = webclient_ask(&c, "GET", "/api/v1/stats", NULL);
        assert_true(time(NULL) < until);
    } while (strstr(got.body, "\"connections\":2") == NULL);
    webclient_close(&stuck);
    webclient_close(&c);
    (void)realworker_stop(&helper);
    realserver_remove(&own);
}

static void a_stopping_server_lets_go(void **state) {
    (void)state;
    struct realserver own;
    struct webclient c;
    realserver_make(&own);
    realserver_start(&own);
    webclient_open(&c, own.address, own.admin);
    assert_int_equal(webclient_ask(&c, "GET", "/api/v1/stats", NULL).status, 200);
    assert_int_equal(realserver_stop(&own), 0);
    assert_true(webclient_is_closed(&c));
    webclient_close(&c);
    realserver_remove(&own);
}

static void further_names_are_a_setting(void **state) {
    (void)state;
    struct realserver own;
    struct webclient c;
    realserver_make(&own);
    own.flags[0] = "--http_hosts";
    own.flags[1] = "reeve.example, other.example";
    realserver_start(&own);
    (void)webclient_once(&c, own.address, "GET /healthz HTTP/1.1\r\nHost: Other.example:80\r\n\r\n", 200);
    webclient_close(&c);
    (void)webclient_once(&c, own.address, "GET /healthz HTTP/1.1\r\nHost: third.example\r\n\r\n", 421);
    webclient_close(&c);
    realserver_remove(&own);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_flow_is_submitted_and_followed),
        TEST(the_same_key_is_the_same_flow),
        TEST(a_flow_can_be_checked_without_being_submitted),
        TEST(lists_come_in_pages),
        TEST(people_decide),
        TEST(work_is_changed),
        TEST(a_flow_is_a_graph),
        TEST(a_worker_shows_what_it_holds),
        TEST(the_rest_of_the_table_works),
        TEST(refusals_are_json),
        TEST(every_request_needs_a_token_and_a_role),
        TEST(every_route_is_there_and_guarded),
        TEST(names_and_origins_are_checked),
        TEST(changes_are_json),
        TEST(health_needs_no_token),
        TEST(answers_are_in_order),
        TEST(bodies_come_in_chunks_and_when_told_to),
        TEST(head_and_options),
        TEST(old_http_works),
        TEST(a_refused_connection_is_closed),
        TEST(the_socket_vouches_for_its_user),
        TEST(many_idle_connections_hurt_nobody),
        cmocka_unit_test(what_was_answered_survives_kill_9),
        cmocka_unit_test(the_slow_are_not_waited_for),
        cmocka_unit_test(the_unwilling_are_not_waited_for),
        cmocka_unit_test(a_stopping_server_lets_go),
        cmocka_unit_test(further_names_are_a_setting),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
