/* api_test.c: what programs do by HTTP beyond looking, against the built server: flows grow, dead letters are dealt
 * with many at once, lists are paged while they change. Every answer is held against docs/openapi.yaml. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "openapi.h"
#include "realserver.h"
#include "realworker.h"
#include "webclient.h"

static struct realserver server;
static struct realworker worker;
static struct webclient client;
static struct openapi document;

#define PATH_BYTES 1024u

static int group_setup(void **state) {
    (void)state;
    openapi_open(&document, "docs/openapi.yaml");
    realserver_make(&server);
    server.flags[0] = "--vault-pending-bytes-max"; /* so that the disk is slower than bodies */
    server.flags[1] = "262144";
    server.flags[2] = "--may-start-workers";
    server.flags[3] = "yes";
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

static struct webgot ask(const char *verb, const char *path, const char *body, int status) {
    struct webgot got = webclient_ask(&client, verb, path, body);
    if (got.status != status) fail_msg("%s %s: %d, not %d: %s", verb, path, got.status, status, got.body);
    if (!openapi_allows(&document, verb, path, got.status, got.body))
        fail_msg("%s %s: %d is not as in docs/openapi.yaml: %s: %s", verb, path, got.status, document.place, got.body);
    return got;
}

static const char *path_of(const char *format, const char *id) {
    char *text = arena_alloc(&client.arena, PATH_BYTES);
    const char *at = strchr(format, '@');
    snprintf(text, PATH_BYTES, "%.*s%s%s", (int)(at - format), format, id, at + 1);
    return text;
}

static const char *submit(const char *flow) {
    struct webgot got = ask("POST", "/api/v1/flows", flow, 201);
    return webgot_text(&client, &got, "flow");
}

static void wait_for(const char *id) {
    (void)ask("GET", path_of("/api/v1/flows/@/wait", id), NULL, 200);
}

/* With the hash that the list of questions shows. */
static void approve(const char *id, const char *job) {
    char text[200], path[200];
    struct webgot got = ask("GET", "/api/v1/questions?most=1000", NULL, 200);
    snprintf(text, sizeof text, "\"job\":\"%s/%s\",\"hash\":\"", id, job);
    const char *at = strstr(got.body, text);
    if (at == NULL) fail_msg("%s/%s asks nothing: %s", id, job, got.body);
    snprintf(path, sizeof path, "/api/v1/jobs/%s/%s/verdict", id, job);
    snprintf(text, sizeof text, "{\"verdict\": \"allow\", \"hash\": \"%.64s\"}", at + strlen(text));
    (void)ask("POST", path, text, 200);
}

/* ---- flows that grow ---- */

static void jobs_are_added_to_a_flow_that_runs(void **state) {
    (void)state;
    const char *id = submit("{\"jobs\": {\"a\": {\"noop\": true}, \"hold\": {\"gate\": {}}}}");
    struct webgot got = ask("POST", path_of("/api/v1/flows/@/jobs", id),
                            "{\"jobs\": {\"b\": {\"needs\": [\"a\"], \"noop\": true}, "
                            "\"c\": {\"needs\": [\"b\", \"hold\"], \"noop\": true}}}",
                            201);
    assert_string_equal(webgot_text(&client, &got, "flow"), id);
    assert_has(got.body, "\"job_count\":4");
    (void)ask("GET", path_of("/api/v1/jobs/@/b/wait", id), NULL, 200);
    got = ask("GET", path_of("/api/v1/flows/@/graph", id), NULL, 200);
    assert_has(got.body, "\"parents\":[\"hold\",\"b\"]");
    got = ask("GET", path_of("/api/v1/flows/@/jobs", id), NULL, 200);
    assert_has_not(got.body, "\"parents\"");
    approve(id, "hold");
    wait_for(id);
    got = ask("GET", path_of("/api/v1/flows/@", id), NULL, 200);
    assert_has(got.body, "\"states\":{\"succeeded\":4}");
}

static void what_cannot_be_added_is_refused(void **state) {
    (void)state;
    const char *id = submit("{\"jobs\": {\"a\": {\"gate\": {}}}}");
    const char *path = path_of("/api/v1/flows/@/jobs", id);
    struct webgot got = ask("POST", path, "{\"jobs\": {\"a\": {\"noop\": true}}}", 400);
    assert_has(got.body, "two jobs are named a");
    got = ask("POST", path, "{\"jobs\": {\"b\": {\"needs\": [\"nobody\"], \"noop\": true}}}", 400);
    assert_has(got.body, "nobody");
    got = ask("POST", path, "{\"jobs\": {\"b\": {\"fly\": true}}}", 400);
    got = ask("POST", path, "", 400);
    assert_has(got.body, "the body is missing");
    got = ask("POST", "/api/v1/flows/f9zzzzzzzzz/jobs", "{\"jobs\": {\"b\": {\"noop\": true}}}", 404);
    (void)ask("POST", path_of("/api/v1/flows/@/cancel", id), "{}", 200);
    wait_for(id);
    got = ask("POST", path, "{\"jobs\": {\"b\": {\"noop\": true}}}", 409);
}

/* ---- dead letters ---- */

static uint32_t count_of(const char *text, const char *word) {
    uint32_t n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at += strlen(word)) n++;
    return n;
}

static const char *submit_dead(const char *name, uint32_t count) {
    struct buf b;
    buf_init(&b, 1 << 20);
    buf_printf(&b, "{\"name\": \"%s\", \"jobs\": {", name);
    for (uint32_t i = 0; i < count; i++)
        buf_printf(&b, "%s\"%s%u\": {\"run\": [\"false\"], \"retries\": 0}", i > 0 ? "," : "", name, i);
    buf_printf(&b, "}}");
    buf_put_u8(&b, 0);
    const char *id = submit((const char *)b.at);
    buf_fini(&b);
    wait_for(id);
    return id;
}

static void dead_letters_are_dealt_with_many_at_once(void **state) {
    (void)state;
    const char *one = submit_dead("one", 5), *two = submit_dead("two", 3);
    char body[300];
    struct webgot got = ask("POST", "/api/v1/dead/retry", "{}", 400);
    assert_has(got.body, "nothing to act on");
    snprintf(body, sizeof body, "{\"targets\": [\"%s/one0\", \"%s/one1\", \"%s/none\"]}", one, one, one);
    got = ask("POST", "/api/v1/dead/discard", body, 200);
    assert_int_equal(count_of(got.body, "\"target\":"), 3);
    assert_int_equal(count_of(got.body, "\"code\":\"not_found\""), 1);
    snprintf(body, sizeof body, "{\"flow\": \"%s\", \"name\": \"one\"}", one);
    got = ask("POST", "/api/v1/dead/retry", body, 200);
    assert_int_equal(count_of(got.body, "\"target\":"), 3);
    assert_int_equal(count_of(got.body, "\"code\""), 0);
    wait_for(one); /* they are dead again */
    got = ask("POST", "/api/v1/dead/discard", "{\"states\": [\"denied\"]}", 200);
    assert_has(got.body, "\"results\":[]");
    got = ask("POST", "/api/v1/dead/discard", "{\"all\": true, \"targets\": [\"x\"]}", 400);
    got = ask("POST", "/api/v1/dead/discard", "{\"all\": true}", 200);
    assert_int_equal(count_of(got.body, "\"target\":"), 6);
    got = ask("GET", "/api/v1/dead", NULL, 200);
    assert_has(got.body, "\"jobs\":[]");
    (void)two;
}

/* What failed last is seen without turning all pages. */
static void dead_letters_come_the_newest_first(void **state) {
    (void)state;
    char first[64], path[200];
    snprintf(first, sizeof first, "%s", submit_dead("old", 2));
    const char *last = submit_dead("new", 1);
    struct webgot got = ask("GET", "/api/v1/dead?most=1&newest=true", NULL, 200);
    assert_has(got.body, last);
    snprintf(path, sizeof path, "/api/v1/dead?newest=true&cursor=%s", webgot_text(&client, &got, "cursor"));
    got = ask("GET", path, NULL, 200);
    assert_int_equal(count_of(got.body, "\"dead_letter\":true"), 2);
    assert_has_not(got.body, last);
    assert_has_not(got.body, "\"cursor\"");
    got = ask("GET", "/api/v1/dead?most=1", NULL, 200);
    assert_has(got.body, first);
    (void)ask("POST", "/api/v1/dead/discard", "{\"all\": true}", 200);
}

/* A page goes on behind the last one, also when that is gone by then. */
static void pages_of_dead_letters_lose_nothing(void **state) {
    (void)state;
    const char *id = submit_dead("p", 7);
    char path[200], body[200];
    struct webgot got = ask("GET", "/api/v1/dead?most=3", NULL, 200);
    uint32_t seen = count_of(got.body, "\"dead_letter\":true");
    assert_int_equal(seen, 3);
    snprintf(path, sizeof path, "/api/v1/dead?most=3&cursor=%s", webgot_text(&client, &got, "cursor"));
    got = ask("GET", path, NULL, 200);
    assert_int_equal(count_of(got.body, "\"dead_letter\":true"), 3);
    snprintf(path, sizeof path, "/api/v1/dead?most=3&cursor=%s", webgot_text(&client, &got, "cursor"));
    const char *last = strstr(got.body, "\"job\":\"");
    for (const char *at = last; (at = strstr(at + 1, "\"job\":\"")) != NULL;) last = at;
    snprintf(body, sizeof body, "{\"targets\": [\"%.*s\"]}", (int)strcspn(last + 7, "\""), last + 7);
    (void)ask("POST", "/api/v1/dead/discard", body, 200);
    got = ask("GET", path, NULL, 200);
    assert_true(count_of(got.body, "\"dead_letter\":true") <= 1);
    assert_has_not(got.body, "\"cursor\"");
    got = ask("GET", "/api/v1/dead?cursor=nonsense", NULL, 400);
    (void)ask("POST", "/api/v1/dead/discard", "{\"all\": true}", 200);
    (void)id;
}

static void questions_come_in_pages(void **state) {
    (void)state;
    const char *id = submit("{\"jobs\": {\"a\": {\"gate\": {}}, \"b\": {\"gate\": {}}, \"c\": {\"gate\": {}}, "
                            "\"d\": {\"gate\": {}}, \"e\": {\"gate\": {}}}}");
    char path[200];
    struct webgot got = ask("GET", "/api/v1/questions?most=2", NULL, 200);
    assert_int_equal(count_of(got.body, "\"question\":"), 2);
    snprintf(path, sizeof path, "/api/v1/questions?most=2&cursor=%s", webgot_text(&client, &got, "cursor"));
    approve(id, "b"); /* the last of the page */
    got = ask("GET", path, NULL, 200);
    assert_int_equal(count_of(got.body, "\"question\":"), 2);
    assert_has(got.body, "/c\"");
    snprintf(path, sizeof path, "/api/v1/questions?most=2&cursor=%s", webgot_text(&client, &got, "cursor"));
    got = ask("GET", path, NULL, 200);
    assert_int_equal(count_of(got.body, "\"question\":"), 1);
    assert_has_not(got.body, "\"cursor\"");
    (void)ask("POST", path_of("/api/v1/flows/@/cancel", id), "{}", 200);
    wait_for(id);
}

/* ---- blobs ---- */

/* Sends a body of this many bytes, in chunks or with its length, and gets the answer. */
static struct webgot upload(struct webclient *c, size_t bytes, bool chunked, uint8_t first) {
    char head[400];
    struct buf b;
    buf_init(&b, bytes + bytes / 1000 + 4096);
    int len =
        snprintf(head, sizeof head,
                 "POST /api/v1/blobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: x/y\r\n",
                 server.admin);
    buf_put(&b, head, (size_t)len);
    buf_printf(&b, chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Content-Length: %zu\r\n\r\n", bytes);
    for (size_t at = 0; at < bytes;) {
        size_t n = bytes - at < 10007 ? bytes - at : 10007;
        if (chunked) buf_printf(&b, "%zx\r\n", n);
        for (size_t i = 0; i < n; i++) buf_put_u8(&b, (uint8_t)((at + i) * 7 + first + (at + i) / 251));
        if (chunked) buf_printf(&b, "\r\n");
        at += n;
    }
    if (chunked) buf_printf(&b, "0\r\n\r\n");
    webclient_send_bytes(c, buf_slice(&b));
    buf_fini(&b);
    return webclient_next(c);
}

static void a_body_of_any_length_becomes_a_blob(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 65536, 65537, 3000000, 40000000};
    char path[200], text[100];
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int chunked = 0; chunked < 2; chunked++) {
            struct webgot got = upload(&client, sizes[i], chunked, 0);
            if (got.status != 200) fail_msg("%zu bytes: %d %s", sizes[i], got.status, got.body);
            assert_true(openapi_allows(&document, "POST", "/api/v1/blobs", 200, got.body));
            snprintf(text, sizeof text, "\"bytes\":%zu", sizes[i]);
            if (sizes[i] > 0) assert_has(got.body, text);
            snprintf(path, sizeof path, "/api/v1/blobs/%s", webgot_text(&client, &got, "hash"));
            got = webclient_ask(&client, "GET", path, NULL);
            assert_int_equal(got.bytes, sizes[i]);
            for (size_t k = 0; k < got.bytes; k++)
                if ((uint8_t)got.body[k] != (uint8_t)(k * 7 + k / 251)) fail_msg("byte %zu is another", k);
        }
}

/* The memory of the server must not grow with the body, and what is durable survives a kill. */
static void a_blob_that_was_answered_survives_a_kill(void **state) {
    (void)state;
    char path[200];
    struct webgot got = upload(&client, 100000, false, 3);
    snprintf(path, sizeof path, "/api/v1/blobs/%s", webgot_text(&client, &got, "hash"));
    realserver_kill(&server);
    realserver_start(&server);
    webclient_close(&client);
    webclient_open(&client, server.address, server.admin);
    got = webclient_ask(&client, "GET", path, NULL);
    assert_int_equal(got.bytes, 100000);
    got = webclient_ask(&client, "POST", "/api/v1/blobs?x=1", "{}");
    assert_int_equal(got.status, 400);
}

/* ---- workers ---- */

static void wait_for_text(const char *path, const char *text) {
    for (int i = 0; i < 20000; i++) {
        struct webgot got = ask("GET", path, NULL, 200);
        if (strstr(got.body, text) != NULL) return;
    }
    fail_msg("%s never said %s", path, text);
}

static pid_t start_worker(const char *body, const char **ret_id) {
    struct webgot got = ask("POST", "/api/v1/workers", body, 200);
    const char *pid = strstr(got.body, "\"pid\":");
    assert_non_null(pid);
    *ret_id = webgot_text(&client, &got, "worker");
    return (pid_t)strtol(pid + 6, NULL, 10);
}

/* It attaches under the id that was told, runs jobs, survives a kill of the server, and goes when that is stopped. */
static void a_worker_is_started_by_http(void **state) {
    (void)state;
    const char *id = NULL;
    char text[200];
    pid_t pid = start_worker("{\"slots\": 2, \"name\": \"mine\", \"labels\": {\"disk\": \"fast\"}}", &id);
    assert_true(strncmp(id, "mine-", 5) == 0);
    snprintf(text, sizeof text, "\"worker\":\"%s\"", id);
    wait_for_text("/api/v1/workers", text);
    wait_for(submit("{\"jobs\": {\"a\": {\"labels\": {\"disk\": \"fast\"}, \"run\": [\"true\"]}}}"));
    struct webgot got = ask("POST", "/api/v1/workers", "{\"name\": \"mine\"}", 409);
    got = ask("POST", "/api/v1/workers", "{\"name\": \"../x\"}", 400);
    got = ask("POST", "/api/v1/workers", "{\"slots\": 4000000000}", 422);
    (void)got;
    realserver_kill(&server);
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    assert_true(end.fd >= 0); /* it is there */
    realserver_start(&server);
    webclient_close(&client);
    webclient_open(&client, server.address, server.admin);
    wait_for(submit("{\"jobs\": {\"a\": {\"labels\": {\"disk\": \"fast\"}, \"run\": [\"true\"]}}}"));
    assert_int_equal(realserver_stop(&server), 0);
    assert_int_equal(poll(&end, 1, 20000), 1);
    close(end.fd);
    realserver_start(&server);
}

static void a_server_that_may_not_starts_none(void **state) {
    (void)state;
    struct realserver other;
    struct webclient c;
    realserver_make(&other);
    realserver_start(&other);
    webclient_open(&c, other.address, other.admin);
    struct webgot got = webclient_ask(&c, "POST", "/api/v1/workers", "{\"slots\": 1}");
    assert_int_equal(got.status, 403);
    assert_has(got.body, "--may-start-workers");
    webclient_close(&c);
    realserver_remove(&other);
}

/* ---- ranges ---- */

static struct webgot ask_range(const char *path, const char *headers, int status) {
    char text[700];
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n%s\r\n", path,
             server.admin, headers);
    webclient_send(&client, text);
    struct webgot got = webclient_next(&client);
    if (got.status != status) fail_msg("%s %s: %d, not %d: %s", path, headers, got.status, status, got.body);
    return got;
}

static void parts_of_logs_and_blobs_are_had_by_range(void **state) {
    (void)state;
    const char *id = submit("{\"jobs\": {\"a\": {\"run\": [\"printf\", \"0123456789\"]}}}");
    wait_for(id);
    const char *path = path_of("/api/v1/jobs/@/a/logs", id);
    static const struct {
        const char *header, *body, *range;
        int status;
    } cases[] = {
        {"Range: bytes=0-3\r\n", "0123", "bytes 0-3/10", 206},
        {"Range: bytes=4-4\r\n", "4", "bytes 4-4/10", 206},
        {"Range: bytes=7-\r\n", "789", "bytes 7-9/10", 206},
        {"Range: bytes=7-100\r\n", "789", "bytes 7-9/10", 206},
        {"Range: bytes=-2\r\n", "89", "bytes 8-9/10", 206},
        {"Range: bytes=-100\r\n", "0123456789", "bytes 0-9/10", 206},
        {"Range: bytes=10-\r\n", NULL, "bytes */10", 416},
        {"Range: bytes=5-4\r\n", "0123456789", NULL, 200},
        {"Range: bytes=0-1,3-4\r\n", "0123456789", NULL, 200},
        {"Range: lines=1-2\r\n", "0123456789", NULL, 200},
        {"Range: bytes=0-3\r\nIf-Range: \"x\"\r\n", "0123456789", NULL, 200},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct webgot got = ask_range(path, cases[i].header, cases[i].status);
        if (cases[i].body != NULL) assert_string_equal(got.body, cases[i].body);
        if (cases[i].range != NULL) assert_has(got.head, cases[i].range);
        assert_true((strstr(got.head, "Content-Range") != NULL) == (cases[i].range != NULL));
    }
    struct webgot blob = upload(&client, 100000, false, 0);
    path = path_of("/api/v1/blobs/@", webgot_text(&client, &blob, "hash"));
    struct webgot got = ask_range(path, "Range: bytes=99990-\r\n", 206);
    assert_int_equal(got.bytes, 10);
    assert_has(got.head, "bytes 99990-99999/100000");
    got = ask_range(path, "Range: bytes=70000-70000\r\n", 206);
    assert_int_equal((uint8_t)got.body[0], (uint8_t)(70000 * 7 + 70000 / 251));
}

/* ---- a worker, by its name ---- */

static void a_worker_is_shown_with_what_it_offers(void **state) {
    (void)state;
    struct realworker offers;
    realworker_make(&offers, &server, "offers");
    offers.flags[0] = "--cpu";
    offers.flags[1] = "4";
    offers.flags[2] = "--resource";
    offers.flags[3] = "licences=3";
    realworker_start(&offers, &server);
    wait_for_text("/api/v1/workers", "licences");
    struct webgot got = ask("GET", "/api/v1/workers", NULL, 200);
    char id[64], path[128];
    const char *at = strstr(got.body, "licences"); /* only it has some */
    while (strncmp(at, "\"worker\":\"", 10) != 0) at--;
    snprintf(id, sizeof id, "%.*s", (int)strcspn(at + 10, "\""), at + 10);
    snprintf(path, sizeof path, "/api/v1/workers/%s", id);
    got = ask("GET", path, NULL, 200);
    assert_string_equal(webgot_text(&client, &got, "worker"), id);
    assert_has(got.body, "\"cpu_milli\":4000");
    assert_has(got.body, "\"resources\":{\"licences\":3}");
    assert_has_not(got.body, "taken");
    const char *flow = submit("{\"jobs\": {\"a\": {\"resources\": {\"cpu\": 1.5, \"custom\": {\"licences\": 2}}, "
                              "\"run\": [\"sleep\", \"100\"]}}}");
    wait_for_text(path, "\"resources_taken\":{\"licences\":2}");
    got = ask("GET", path, NULL, 200);
    assert_has(got.body, "\"cpu_milli_taken\":1500");
    (void)ask("POST", path_of("/api/v1/flows/@/cancel", flow), "{}", 200);
    wait_for(flow);
    path[strlen(path) - 1] = 0;
    (void)ask("GET", path, NULL, 404); /* not by its beginning */
    (void)realworker_stop(&offers);
}

/* ---- the store, as it changes ---- */

static void changes_of_the_store_are_told(void **state) {
    (void)state;
    struct webclient all, one;
    webclient_open(&all, server.address, server.admin);
    webclient_ask_only(&all, "GET", "/api/v1/store/events?key=app/&prefix=true", NULL);
    const char *head = webclient_until(&all, "\"gap\":true");
    assert_has(head, "HTTP/1.1 200");
    assert_has(head, "Content-Type: text/event-stream");
    webclient_open(&one, server.address, server.admin);
    webclient_ask_only(&one, "GET", "/api/v1/store/events?key=app/b", NULL);
    (void)webclient_until(&one, "\"gap\":true");
    (void)ask("POST", "/api/v1/store", "{\"op\": \"set\", \"entries\": [{\"key\": \"app/a\", \"value\": \"1\"}]}", 200);
    (void)ask("POST", "/api/v1/store", "{\"op\": \"set\", \"entries\": [{\"key\": \"other\", \"value\": \"1\"}]}", 200);
    (void)ask("POST", "/api/v1/store", "{\"op\": \"set\", \"entries\": [{\"key\": \"app/b\", \"value\": \"1\"}]}", 200);
    (void)ask("POST", "/api/v1/store", "{\"op\": \"delete\", \"entries\": [{\"key\": \"app/a\"}]}", 200);
    (void)ask("POST", "/api/v1/store", "{\"op\": \"increase\", \"key\": \"app/n\", \"number\": 2}", 200);
    const char *told = webclient_until(&all, "\"key\":\"app/n\"");
    assert_has_not(told, "other");
    const char *set = strstr(told, "\"key\":\"app/a\",\"version\":");
    assert_non_null(set);
    const char *gone = strstr(set, "\"key\":\"app/a\"}\n\n"); /* without a version */
    assert_non_null(gone);
    assert_true(strstr(told, "\"key\":\"app/b\"") < gone);
    told = webclient_until(&one, "\"key\":\"app/b\"");
    assert_has_not(told, "app/a");
    webclient_close(&all);
    webclient_close(&one);
    (void)ask("GET", "/api/v1/store/events", NULL, 400); /* of which key? */
    webclient_open(&one, server.address, server.admin);
    webclient_ask_only(&one, "HEAD", "/api/v1/store/events?prefix=true", NULL);
    assert_int_equal(webclient_next_head(&one).status, 405);
    webclient_close(&one);
}

/* ---- flows by a label, whatever its value ---- */

static void flows_are_listed_by_the_name_of_a_label(void **state) {
    (void)state;
    const char *first = submit("{\"labels\": {\"run_of\": \"x\"}, \"jobs\": {\"a\": {\"noop\": true}}}");
    const char *second = submit("{\"labels\": {\"run_of\": \"y\"}, \"jobs\": {\"a\": {\"gate\": {}}}}");
    const char *not = submit("{\"labels\": {\"run_of_it\": \"x\"}, \"jobs\": {\"a\": {\"noop\": true}}}");
    wait_for(first);
    struct webgot got = ask("GET", "/api/v1/flows?label=run_of", NULL, 200);
    assert_has(got.body, first);
    assert_has(got.body, second);
    assert_true(strstr(got.body, second) < strstr(got.body, first)); /* newest first, running or not */
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"flow\":\"%s\"", not );
    assert_has_not(got.body, quoted);
    got = ask("GET", "/api/v1/flows?label=run_of&states=running", NULL, 200);
    assert_has(got.body, second);
    assert_has_not(got.body, first);
    (void)ask("GET", "/api/v1/workers?label=run_of", NULL, 400);
}

/* ---- compensations that were not run ---- */

static struct webgot ended(const char *flow) {
    const char *id = submit(flow);
    wait_for(id);
    return ask("GET", path_of("/api/v1/flows/@", id), NULL, 200);
}

static void a_flow_tells_its_stage_and_its_times(void **state) {
    (void)state;
    struct webgot got = ended("{\"timeout\": \"1h\", \"deadline\": \"30m\", "
                              "\"jobs\": {\"a\": {\"fail\": 2, \"retries\": 0}}, "
                              "\"on_success\": {\"cheer\": {\"noop\": true}}, "
                              "\"on_failure\": {\"tell\": {\"noop\": true}}, "
                              "\"finally\": {\"clean\": {\"noop\": true}}}");
    assert_has(got.body, "\"state\":\"failed\"");
    assert_has(got.body, "\"stage\":\"over\",\"called\":\"on_failure\"");
    assert_has(got.body, "\"timeout_at_ms\":");
    assert_has(got.body, "\"deadline_ms\":");
    assert_has_not(got.body, "\"late\":true");
    const char *id = submit("{\"timeout\": \"200ms\", \"jobs\": {\"ask\": {\"gate\": {}}}, "
                            "\"finally\": {\"clean\": {\"noop\": true}}}");
    got = ask("GET", path_of("/api/v1/jobs/@/clean/why", id), NULL, 200);
    assert_has(got.body, "waiting for the end of the main jobs");
    wait_for(id);
    got = ask("GET", path_of("/api/v1/flows/@", id), NULL, 200);
    assert_has(got.body, "\"timed_out\":true");
    got = ask("GET", path_of("/api/v1/jobs/@/ask", id), NULL, 200);
    assert_has(got.body, "\"cause\":\"flow_timeout\"");
    got = ask("POST", "/api/v1/flows",
              "{\"jobs\": {\"a\": {\"noop\": true}}, \"finally\": {\"a\": {\"noop\": true}}}", 400);
    assert_has(got.body, "there are two jobs `a`");
}

#define BOOKED "\"jobs\": {\"book\": {\"noop\": true, \"compensate\": {\"noop\": true}}, "

static void a_flow_tells_what_it_did_not_undo_and_why(void **state) {
    (void)state;
    struct webgot got = ended("{" BOOKED "\"pay\": {\"needs\": [\"book\"], \"fail\": 2, \"retries\": 0}}}");
    assert_has(got.body, "\"compensations_not_run\":1");
    assert_has(got.body, "\"not_run_because\":\"no failure was fatal; `compensate_on: failure`");
    got = ended("{" BOOKED "\"pay\": {\"needs\": [\"book\"], \"when\": \"false\", \"noop\": true}}}");
    assert_has_not(got.body, "compensations_not_run\":1"); /* it succeeded */
    got = ended("{\"compensate_on\": \"failure\", " BOOKED
                "\"pay\": {\"needs\": [\"book\"], \"fail\": 2, \"retries\": 0}}}");
    assert_has(got.body, "\"unwinding\":\"done\"");
    assert_has_not(got.body, "compensations_not_run\":1");
    const char *id = submit("{" BOOKED "\"ask\": {\"needs\": [\"book\"], \"gate\": {}}}}");
    (void)ask("GET", path_of("/api/v1/jobs/@/book/wait", id), NULL, 200);
    (void)ask("POST", path_of("/api/v1/flows/@/cancel", id), "{}", 200);
    wait_for(id);
    got = ask("GET", path_of("/api/v1/flows/@", id), NULL, 200);
    assert_has(got.body, "\"not_run_because\":\"the flow was cancelled\"");
    got = ask("POST", "/api/v1/flows", "{\"compensate_on\": \"any\", \"jobs\": {\"a\": {\"noop\": true}}}", 400);
    assert_has(got.body, "expected fatal or failure, found `any`");
}

/* ---- the output of an attempt, told piece by piece ---- */

static void a_log_tells_streams_and_times_of_its_pieces(void **state) {
    (void)state;
    const char *id = submit("{\"jobs\": {\"a\": {\"run\": \"printf out; sleep 0.2; printf error >&2\"}}}");
    wait_for(id);
    struct webgot got = ask("GET", path_of("/api/v1/jobs/@/a/logs?marks=true", id), NULL, 200);
    assert_has(got.head, "Content-Type: application/x-ndjson");
    assert_int_equal(count_of(got.body, "\n"), 2);
    assert_has(got.body, "{\"offset\":0,\"bytes\":3,\"stream\":\"out\",\"time_ms\":1");
    assert_has(got.body, "{\"offset\":3,\"bytes\":5,\"stream\":\"err\",\"time_ms\":1");
    got = ask("GET", path_of("/api/v1/jobs/@/a/logs?marks=true&offset=4", id), NULL, 200);
    assert_has(got.body, "{\"offset\":4,\"bytes\":4,\"stream\":\"err\"");
    got = ask("GET", path_of("/api/v1/jobs/@/a/logs", id), NULL, 200);
    assert_string_equal(got.body, "outerror");
}

/* ---- counters over time ---- */

static uint64_t last_of(const char *body, const char *word) {
    const char *last = NULL;
    for (const char *at = body; (at = strstr(at, word)) != NULL; at++) last = at;
    assert_non_null(last);
    return strtoull(last + strlen(word), NULL, 10);
}

/* The first sample is of the start of the server, the last one of now: what lies between them has happened. */
static void the_counters_of_the_past_are_told(void **state) {
    (void)state;
    struct webgot got = ask("GET", "/api/v1/stats/history", NULL, 200);
    assert_true(count_of(got.body, "\"time_ms\":") >= 2);
    assert_true(strstr(got.body, "\"entered_succeeded\":0") < strstr(got.body, "\"slots_used\":"));
    uint64_t good = last_of(got.body, "\"entered_succeeded\":"), bad = last_of(got.body, "\"flows_ended_failed\":");
    wait_for(submit("{\"jobs\": {\"a\": {\"noop\": true}, \"b\": {\"fail\": 3, \"retries\": 0}}}"));
    got = ask("GET", "/api/v1/stats/history", NULL, 200);
    assert_int_equal(last_of(got.body, "\"entered_succeeded\":"), good + 1);
    assert_int_equal(last_of(got.body, "\"flows_ended_failed\":"), bad + 1);
    got = ask("GET", "/api/v1/stats/history?since_ms=9000000000000", NULL, 200);
    assert_int_equal(count_of(got.body, "\"time_ms\":"), 1); /* now alone */
    got = ask("GET", "/api/v1/stats/history?step_ms=3600000", NULL, 200);
    assert_int_equal(count_of(got.body, "\"time_ms\":"), 2);
}

#define API_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        API_TEST(jobs_are_added_to_a_flow_that_runs),
        API_TEST(what_cannot_be_added_is_refused),
        API_TEST(dead_letters_are_dealt_with_many_at_once),
        API_TEST(dead_letters_come_the_newest_first),
        API_TEST(pages_of_dead_letters_lose_nothing),
        API_TEST(questions_come_in_pages),
        API_TEST(a_body_of_any_length_becomes_a_blob),
        API_TEST(a_blob_that_was_answered_survives_a_kill),
        API_TEST(parts_of_logs_and_blobs_are_had_by_range),
        API_TEST(a_worker_is_shown_with_what_it_offers),
        API_TEST(changes_of_the_store_are_told),
        API_TEST(flows_are_listed_by_the_name_of_a_label),
        API_TEST(a_flow_tells_what_it_did_not_undo_and_why),
        API_TEST(a_flow_tells_its_stage_and_its_times),
        API_TEST(a_log_tells_streams_and_times_of_its_pieces),
        API_TEST(the_counters_of_the_past_are_told),
        API_TEST(a_worker_is_started_by_http),
        API_TEST(a_server_that_may_not_starts_none),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
