/* events_test.c: the built server tells what happens, by WebSocket and as server-sent events: everything once and in
 * order, also what happened before it was asked, before it was killed, and while nobody took it; to whom it concerns
 * and to nobody else. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "eventclient.h"
#include "openapi.h"
#include "realserver.h"
#include "realworker.h"
#include "webclient.h"
#include "wireclient.h"

static struct realserver server;
static struct realworker worker;
static struct webclient client;
static struct webclient former[8]; /* clients of servers that were killed: they hold what was answered */
static uint32_t former_count;

#define FLOW(jobs) "{\"name\": \"told\", \"jobs\": {" jobs "}}"

static int start(void **state) {
    (void)state;
    server = (struct realserver){0};
    worker = (struct realworker){0};
    realserver_make(&server);
    return 0;
}

static int setup(void **state) {
    start(state);
    realserver_start(&server);
    webclient_open(&client, server.address, server.admin);
    return 0;
}

static int setup_work(void **state) {
    setup(state);
    realworker_make(&worker, &server, "w");
    worker.flags[0] = "--slots";
    worker.flags[1] = "64";
    realworker_start(&worker, &server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    while (former_count > 0) webclient_close(&former[--former_count]);
    webclient_close(&client);
    if (worker.pid != 0) (void)realworker_stop(&worker);
    realserver_remove(&server);
    return 0;
}

static void restart(void) {
    former[former_count++] = client;
    realserver_kill(&server);
    realserver_start(&server);
    webclient_open(&client, server.address, server.admin);
}

static void follow(struct eventclient *c, const char *query) {
    eventclient_open(c, server.address, server.admin, query, false, "");
}

/* The id of the flow; valid for a few calls. */
static const char *submit(const char *flow) {
    static char ids[8][32];
    static uint32_t next;
    struct webgot got = webclient_ask(&client, "POST", "/api/v1/flows", flow);
    if (got.status != 201) fail_msg("%d %s", got.status, got.body);
    char *id = ids[next++ % 8];
    snprintf(id, sizeof ids[0], "%s", webgot_text(&client, &got, "flow"));
    return id;
}

static void submit_many(uint32_t jobs, const char *body) {
    struct buf text;
    buf_init(&text, (size_t)1 << 24);
    buf_printf(&text, "{\"jobs\": {");
    for (uint32_t i = 0; i < jobs; i++) buf_printf(&text, "%s\"j%u\": {%s}", i > 0 ? ", " : "", i, body);
    buf_printf(&text, "}}");
    buf_put_u8(&text, 0);
    (void)submit((const char *)text.at);
    buf_fini(&text);
}

/* Everything that is durable now is told up to here. */
static struct position present(void) {
    struct eventclient c;
    follow(&c, "");
    struct position at = c.last;
    eventclient_close(&c);
    return at;
}

static void wait_for(const char *id) {
    char path[128];
    snprintf(path, sizeof path, "/api/v1/flows/%s/wait?timeout_ms=10000", id);
    for (int i = 0; i < 10; i++) { /* a worker takes its time to come back to a server that was killed */
        struct webgot got = webclient_ask(&client, "GET", path, NULL);
        assert_int_equal(got.status, 200);
        if (strstr(got.body, "timed_out") == NULL) return;
    }
    fail_msg("%s does not end", id);
}

static uint64_t stat_of(const char *name) {
    struct webgot got = webclient_ask(&client, "GET", "/api/v1/stats", NULL);
    char mark[64];
    snprintf(mark, sizeof mark, "\"%s\":", name);
    const char *at = strstr(got.body, mark);
    return at != NULL ? strtoull(at + strlen(mark), NULL, 10) : 0;
}

static void expect(struct eventclient *c, const char *const *parts) {
    struct eventclient_message m;
    do
        if (!eventclient_next(c, EVENTCLIENT_WAIT_MS, &m)) fail_msg("%s did not come", parts[0]);
    while (strcmp(m.type, "metrics") == 0);
    for (; *parts != NULL; parts++)
        if (strstr(m.text, *parts) == NULL) fail_msg("%s is not in %s", *parts, m.text);
}
#define EXPECT(c, ...) expect(c, (const char *const[]){__VA_ARGS__, NULL})

/* ---- what is told ---- */

static void a_job_is_told_from_its_birth_to_its_end(void **state) {
    (void)state;
    for (int sse = 0; sse < 2; sse++) {
        struct eventclient c;
        eventclient_open(&c, server.address, server.admin, "?type=flow,job", sse != 0, "");
        assert_non_null(strstr(c.hello, "\"server_time_ms\":"));
        const char *id = submit(FLOW("\"a\": {\"sleep\": \"10ms\"}"));
        char flow[64], job[64];
        snprintf(flow, sizeof flow, "\"target\":\"%s\"", id);
        snprintf(job, sizeof job, "\"target\":\"%s/a\"", id);
        EXPECT(&c, "\"type\":\"flow\"", flow, "\"to\":\"running\"", "\"time_ms\":");
        EXPECT(&c, "\"type\":\"job\"", job, "\"from\":\"waiting\",\"to\":\"ready\"");
        EXPECT(&c, job, "\"from\":\"ready\",\"to\":\"dispatched\"", "\"attempt\":1", "\"worker\":\"w-");
        EXPECT(&c, job, "\"from\":\"dispatched\",\"to\":\"running\"", "\"worker\":\"w-");
        EXPECT(&c, job, "\"from\":\"running\",\"to\":\"succeeded\"", "\"attempt\":1");
        EXPECT(&c, flow, "\"to\":\"succeeded\"");
        eventclient_close(&c);
    }
}

static void the_numbers_come_every_second(void **state) {
    (void)state;
    struct eventclient all, jobs, numbers;
    struct eventclient_message m;
    follow(&all, "");
    follow(&jobs, "?type=job");
    follow(&numbers, "?type=metrics");
    while (all.ticks < 2) assert_true(eventclient_next(&all, EVENTCLIENT_WAIT_MS, &m));
    assert_string_equal(m.type, "metrics");
    assert_false(m.has_position);
    assert_non_null(strstr(m.text, "\"numbers\":{\"flows\":0"));
    submit_many(1, "\"noop\": true");
    EXPECT(&jobs, "\"type\":\"job\"");
    assert_int_equal(jobs.ticks, 0);
    while (numbers.ticks < 2) assert_true(eventclient_next(&numbers, EVENTCLIENT_WAIT_MS, &m));
    assert_int_equal(eventclient_count(&numbers), 0);
    eventclient_close(&all);
    eventclient_close(&jobs);
    eventclient_close(&numbers);
}

static void only_what_concerns_a_client_is_told(void **state) {
    (void)state;
    const char *one = submit(FLOW("\"a\": {\"gate\": \"?\"}, \"b\": {\"gate\": \"?\"}"));
    const char *two = submit(FLOW("\"a\": {\"gate\": \"?\"}"));
    char query[64], path[64], want[64];
    struct eventclient flow, job, several, kind;
    snprintf(query, sizeof query, "?flow=%s", one);
    follow(&flow, query);
    snprintf(query, sizeof query, "?job=%s/b", one);
    follow(&job, query);
    snprintf(query, sizeof query, "?targets=%s/b&targets=%s", one, two);
    follow(&several, query);
    follow(&kind, "?type=flow&type=worker");
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/api/v1/flows/%s/cancel", i == 0 ? two : one);
        assert_int_equal(webclient_ask(&client, "POST", path, "{}").status, 200);
    }
    snprintf(want, sizeof want, "\"target\":\"%s/a\"", one);
    EXPECT(&flow, want, "\"to\":\"cancelled\"");
    snprintf(want, sizeof want, "\"target\":\"%s/b\"", one);
    EXPECT(&flow, want, "\"to\":\"cancelled\"");
    EXPECT(&job, want, "\"to\":\"cancelled\"");
    EXPECT(&several, "\"type\":\"job\"", two, "\"to\":\"cancelled\"");
    EXPECT(&several, "\"type\":\"flow\"", two, "\"to\":\"cancelled\"");
    EXPECT(&several, want, "\"to\":\"cancelled\"");
    EXPECT(&flow, "\"type\":\"flow\"", one, "\"to\":\"cancelled\"");
    EXPECT(&kind, "\"type\":\"flow\"", two, "\"to\":\"cancelled\"");
    EXPECT(&kind, "\"type\":\"flow\"", one, "\"to\":\"cancelled\"");
    eventclient_pump(&job);
    assert_int_equal(eventclient_count(&job), 1);
    eventclient_close(&flow);
    eventclient_close(&job);
    eventclient_close(&several);
    eventclient_close(&kind);
}

/* ---- who may hear it ---- */

static const char *token_of(const char *body) {
    struct webgot got = webclient_ask(&client, "POST", "/api/v1/tokens", body);
    if (got.status != 200) fail_msg("%d %s", got.status, got.body);
    return webgot_text(&client, &got, "token");
}

static void a_tenant_hears_of_its_own_flows_only(void **state) {
    (void)state;
    const char *blue = token_of("{\"name\": \"b\", \"tenant\": \"blue\", \"roles\": [\"submitter\", \"viewer\"]}");
    const char *nobody = token_of("{\"name\": \"w\", \"roles\": [\"worker\"]}");
    struct position before = present();
    struct webclient own;
    struct eventclient live, past;
    eventclient_open(&live, server.address, blue, "?type=flow,job,worker", false, "");
    (void)submit(FLOW("\"a\": {\"gate\": \"?\"}"));
    webclient_open(&own, server.address, blue);
    struct webgot got = webclient_ask(&own, "POST", "/api/v1/flows", FLOW("\"mine\": {\"gate\": \"?\"}"));
    assert_int_equal(got.status, 201);
    (void)submit(FLOW("\"a\": {\"gate\": \"?\"}"));
    EXPECT(&live, "\"type\":\"flow\"", webgot_text(&own, &got, "flow"));
    EXPECT(&live, "/mine");
    restart(); /* and from the journal the same */
    char query[64];
    snprintf(query, sizeof query, "?since=%llu.%u&type=flow,job", (unsigned long long)before.lsn, before.ordinal);
    eventclient_open(&past, server.address, blue, query, false, "");
    EXPECT(&past, "\"type\":\"flow\"", webgot_text(&own, &got, "flow"));
    EXPECT(&past, "/mine");
    struct webclient stranger;
    webclient_open(&stranger, server.address, nobody);
    assert_int_equal(webclient_ask(&stranger, "GET", "/api/v1/events", NULL).status, 403);
    webclient_close(&stranger);
    webclient_close(&own);
    eventclient_close(&live);
    eventclient_close(&past);
}

#define UPGRADE "Connection: Upgrade\r\nUpgrade: websocket\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define VERSION "Sec-WebSocket-Version: 13\r\n"

static void a_handshake_that_is_none_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *query, *headers;
        int status;
        const char *said;
    } cases[] = {
        {"", UPGRADE KEY VERSION "Origin: http://evil.example\r\n", 403, "other origins"},
        {"", UPGRADE KEY VERSION "Origin: null\r\n", 403, "other origins"},
        {"", UPGRADE VERSION, 400, "Sec-WebSocket-Key"},
        {"", UPGRADE "Sec-WebSocket-Key: short==\r\n" VERSION, 400, "Sec-WebSocket-Key"},
        {"", UPGRADE KEY "Sec-WebSocket-Version: 8\r\n", 400, "has to be 13"},
        {"", "Upgrade: websocket\r\n" KEY VERSION, 400, "Connection: Upgrade"},
        {"?since=x", UPGRADE KEY VERSION, 400, "position"},
        {"?type=jobs", UPGRADE KEY VERSION, 400, "no events of type `jobs`"},
        {"?flow=f99zz", UPGRADE KEY VERSION, 404, "f99zz"},
        {"?flow=f11&job=f11/a", UPGRADE KEY VERSION, 400, "not both"},
        {"?what=x", UPGRADE KEY VERSION, 400, "what"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct webclient c;
        char text[800];
        snprintf(text, sizeof text, "GET /api/v1/events%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n%s\r\n",
                 cases[i].query, server.address, server.admin, cases[i].headers);
        webclient_open(&c, server.address, NULL);
        webclient_send(&c, text);
        struct webgot got = webclient_next(&c);
        if (got.status != cases[i].status || strstr(got.body, cases[i].said) == NULL)
            fail_msg("case %zu: %d %s", i, got.status, got.body);
        webclient_close(&c);
    }
    struct eventclient same;
    char origin[128];
    snprintf(origin, sizeof origin, "Origin: http://%s\r\n", server.address);
    eventclient_open(&same, server.address, server.admin, "", false, origin);
    eventclient_close(&same);
}

static void bad_frames_are_closed_with_their_code(void **state) {
    (void)state;
    static char much[5000];
    static const struct {
        const char *bytes;
        size_t len;
        uint16_t code;
    } cases[] = {
        {"\x81\x00", 2, 1002},                 /* not masked */
        {"\xc1\x80\1\2\3\4", 6, 1002},         /* a reserved bit */
        {"\x09\x80\1\2\3\4", 6, 1002},         /* a ping in fragments */
        {"\x81\xfe\x10\x01\1\2\3\4", 8, 1009}, /* too long */
        {"\x81\x81\0\0\0\0\xff", 7, 1007},     /* not UTF-8 */
        {"\x88\x82\0\0\0\0\x0f\xa1", 8, 4001}, /* a close is answered */
        {much, sizeof much, 1002},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct eventclient c;
        struct eventclient_message m;
        follow(&c, "?type=job");
        eventclient_send(&c, "\x89\x82\0\0\0\0hi", 8); /* a ping, which is answered with its words */
        eventclient_send(&c, "\x81\x85\0\0\0\0hello", 11);
        eventclient_send(&c, cases[i].bytes, cases[i].len);
        assert_false(eventclient_next(&c, EVENTCLIENT_WAIT_MS, &m));
        if (c.code != cases[i].code) fail_msg("case %zu: %u in place of %u", i, c.code, cases[i].code);
        eventclient_close(&c);
    }
}

static void a_token_that_is_revoked_ends_its_streams(void **state) {
    (void)state;
    struct webgot got = webclient_ask(&client, "POST", "/api/v1/tokens", "{\"name\": \"v\", \"roles\": [\"viewer\"]}");
    struct eventclient socket, sse;
    struct eventclient_message m;
    char path[128];
    eventclient_open(&socket, server.address, webgot_text(&client, &got, "token"), "?type=job", false, "");
    eventclient_open(&sse, server.address, webgot_text(&client, &got, "token"), "?type=job", true, "");
    snprintf(path, sizeof path, "/api/v1/tokens/%s", webgot_text(&client, &got, "id"));
    assert_int_equal(webclient_ask(&client, "DELETE", path, NULL).status, 200);
    assert_false(eventclient_next(&socket, EVENTCLIENT_WAIT_MS, &m));
    assert_int_equal(socket.code, 1008);
    assert_false(eventclient_next(&sse, EVENTCLIENT_WAIT_MS, &m));
    assert_true(sse.is_closed);
    eventclient_close(&socket);
    eventclient_close(&sse);
}

static void a_server_that_stops_says_so(void **state) {
    (void)state;
    struct eventclient c;
    struct eventclient_message m;
    follow(&c, "?type=job");
    assert_int_equal(realserver_stop(&server), 0);
    assert_false(eventclient_next(&c, EVENTCLIENT_WAIT_MS, &m));
    assert_int_equal(c.code, 1001);
    eventclient_close(&c);
}

/* ---- nothing is missing ---- */

static void nothing_is_missing_across_kills(void **state) {
    (void)state;
    struct eventclient all, c;
    char query[64], header[64];
    wait_for(submit(FLOW("\"first\": {\"noop\": true}"))); /* the worker is there: it looks for its server once */
    struct position start_at = present();
    snprintf(query, sizeof query, "?since=%llu.%u", (unsigned long long)start_at.lsn, start_at.ordinal);
    follow(&c, query);
    for (int round = 0; round < 3; round++) {
        submit_many(200, "\"noop\": true");
        const char *id = submit(FLOW("\"a\": {\"noop\": true}"));
        if (round == 1) wait_for(id);
        struct eventclient_message m; /* some of it, then the server is gone in the middle */
        for (int i = 0; i < 150; i++) assert_true(eventclient_next(&c, EVENTCLIENT_WAIT_MS, &m));
        restart();
        eventclient_pump(&c); /* what was on its way still counts */
        close(c.fd);
        struct eventclient again;
        snprintf(query, sizeof query, "?since=%llu.%u", (unsigned long long)c.last.lsn, c.last.ordinal);
        snprintf(header, sizeof header, "Last-Event-ID: %llu.%u\r\n", (unsigned long long)c.last.lsn, c.last.ordinal);
        /* a browser's address stays as it was when it comes back */
        eventclient_open(&again, server.address, server.admin, round == 2 ? "?since=1.0" : query, round == 2,
                         round == 2 ? header : "");
        for (uint32_t i = 0; i < c.heard.count; i++)
            *(struct position *)vec_push(&again.heard) = *(struct position *)vec_at(&c.heard, i);
        buf_fini(&c.in);
        vec_fini(&c.heard);
        c = again;
        c.hello[0] = 0;
        for (uint32_t i = 0; i + 1 < c.heard.count; i++)
            if (i > 0)
                assert_true(position_is_after(*(struct position *)vec_at(&c.heard, i),
                                              *(struct position *)vec_at(&c.heard, i - 1)));
    }
    wait_for(submit(FLOW("\"last\": {\"noop\": true}")));
    struct position end = present();
    snprintf(query, sizeof query, "?since=%llu.%u", (unsigned long long)start_at.lsn, start_at.ordinal);
    follow(&all, query);
    const char *id = submit(FLOW("\"b\": {\"noop\": true}")); /* so that there is something behind the end */
    wait_for(id);
    end.ordinal = 0;
    end.lsn++;
    eventclient_until(&all, end);
    eventclient_until(&c, end);
    while (eventclient_count(&all) > eventclient_count(&c)) {
        struct eventclient_message m;
        assert_true(eventclient_next(&c, EVENTCLIENT_WAIT_MS, &m));
    }
    while (eventclient_count(&c) > eventclient_count(&all)) {
        struct eventclient_message m;
        assert_true(eventclient_next(&all, EVENTCLIENT_WAIT_MS, &m));
    }
    assert_true(eventclient_count(&all) > 1000);
    eventclient_same(&all, &c, start_at);
    eventclient_close(&all);
    eventclient_close(&c);
}

/* One that takes nothing falls behind, is fed from the journal when it takes again, and hears everything once. */
static void one_who_falls_behind_catches_up(void **state) {
    (void)state;
    struct eventclient healthy, stalled;
    struct position from = present();
    follow(&healthy, "");
    eventclient_receive_bytes = 65536;
    follow(&stalled, "");
    eventclient_receive_bytes = 0;
    for (int i = 0; i < 30; i++) {
        submit_many(1500, "\"gate\": \"?\""); /* each job is held: 45,000 events, more than memory keeps */
        eventclient_pump(&healthy);
    }
    const char *id = submit(FLOW("\"last\": {\"gate\": \"?\"}"));
    char want[64];
    struct eventclient_message m = {0};
    snprintf(want, sizeof want, "\"%s/last\"", id);
    while (strstr(m.text, want) == NULL || strstr(m.text, "held") == NULL)
        assert_true(eventclient_next(&healthy, EVENTCLIENT_WAIT_MS, &m));
    m.text[0] = 0;
    while (strstr(m.text, want) == NULL || strstr(m.text, "held") == NULL)
        assert_true(eventclient_next(&stalled, EVENTCLIENT_WAIT_MS, &m));
    assert_true(eventclient_count(&healthy) > 45000);
    eventclient_same(&healthy, &stalled, from);
    assert_int_equal(healthy.gaps + stalled.gaps, 0);
    assert_int_equal(stat_of("dropped_events"), 0);
    eventclient_close(&healthy);
    eventclient_close(&stalled);
}

/* The first message for one who wants everything from there on. */
static struct eventclient_message first_since(struct eventclient *c, struct position at) {
    struct eventclient_message m;
    char query[64];
    snprintf(query, sizeof query, "?since=%llu.%u&type=flow,job", (unsigned long long)at.lsn, at.ordinal);
    follow(c, query);
    assert_true(eventclient_next(c, EVENTCLIENT_WAIT_MS, &m));
    return m;
}

/* What the archive no longer has is told as a gap, with its size, and counted; what it has still comes. */
static void what_is_gone_is_a_gap(void **state) {
    (void)state;
    static const char *const flags[] = {
        "--segment-bytes", "1048576", "--compact-bytes", "1500000", "--archive-days", "0", NULL};
    memcpy(server.flags, flags, sizeof flags);
    realserver_start(&server);
    webclient_open(&client, server.address, server.admin);
    struct position from = present();
    struct eventclient c;
    struct eventclient_message m = {0};
    for (int i = 0; i < 200 && strcmp(m.type, "gap") != 0; i++) { /* until the first segments have gone */
        for (int k = 0; k < 3; k++) submit_many(1000, "\"gate\": \"a longer question, so that segments fill\"");
        if (i > 0) eventclient_close(&c);
        m = first_since(&c, from);
        if (strcmp(m.type, "gap") != 0) assert_int_equal(m.at.lsn, from.lsn + 1);
    }
    assert_string_equal(m.type, "gap");
    assert_true(c.dropped > 0);
    assert_int_equal(c.dropped, m.at.lsn - from.lsn);
    assert_int_equal(m.at.ordinal, UINT32_MAX);
    assert_true(stat_of("dropped_events") >= c.dropped);
    assert_true(eventclient_next(&c, EVENTCLIENT_WAIT_MS, &m)); /* and goes on right behind */
    assert_string_equal(m.type, "flow");
    eventclient_close(&c);
}

/* ---- the tale of a flow ---- */

static struct webgot tale_of(const char *id, const char *query) {
    char path[128];
    snprintf(path, sizeof path, "/api/v1/flows/%s/events%s", id, query);
    struct webgot got = webclient_ask(&client, "GET", path, NULL);
    struct openapi document;
    openapi_open(&document, "docs/openapi.yaml");
    if (!openapi_allows(&document, "GET", path, got.status, got.body)) fail_msg("%s: %s", document.place, got.body);
    openapi_close(&document);
    return got;
}

static uint32_t count_of(const char *text, const char *word) {
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) count++;
    return count;
}

static void the_tale_of_a_flow_is_the_same_from_memory_and_journal(void **state) {
    (void)state;
    const char *id = submit(FLOW("\"a\": {\"noop\": true}, \"b\": {\"noop\": true, \"needs\": [\"a\"]}"));
    (void)submit(FLOW("\"other\": {\"noop\": true}"));
    wait_for(id);
    struct webgot memory = tale_of(id, "");
    assert_int_equal(memory.status, 200);
    assert_int_equal(count_of(memory.body, "\"position\":"), 8); /* 2 of the flow, 3 of each job */
    assert_null(strstr(memory.body, "other"));
    assert_null(strstr(memory.body, "\"gap\""));
    const char *events = strstr(memory.body, "\"events\":");
    restart();
    struct webgot journal = tale_of(id, "");
    assert_int_equal(journal.status, 200);
    assert_string_equal(strstr(journal.body, "\"events\":"), events);
    struct webgot page = tale_of(id, "?most=4");
    assert_int_equal(count_of(page.body, "\"position\":"), 4);
    char query[128];
    snprintf(query, sizeof query, "?since=%s", webgot_text(&client, &page, "cursor"));
    struct webgot rest = tale_of(id, query);
    assert_int_equal(count_of(rest.body, "\"position\":"), 4);
    assert_null(strstr(rest.body, "cursor"));
    assert_int_equal(tale_of("f1zz", "").status, 404);
    assert_int_equal(tale_of(id, "?since=x").status, 400);
}

/* ---- by native v2 ---- */

static void the_wire_follows_too(void **state) {
    (void)state;
    struct position from = present();
    submit_many(3, "\"gate\": \"?\"");
    restart();
    struct wireclient c;
    struct wiregot got;
    char since[64];
    snprintf(since, sizeof since, "%llu.%u", (unsigned long long)from.lsn, from.ordinal);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    struct wire_name type = {SLICE("job")};
    struct wire_follow m = {.since = slice_str(since), .type = {&type, 1}};
    uint32_t request = wireclient_send(&c, WIRE_FOLLOW, &m), heard = 0;
    while (heard < 3) {
        assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
        assert_true(got.op == WIRE_EVENTS && got.request == request);
        const struct wire_events *e = got.message;
        for (uint32_t i = 0; i < e->events.count; i++)
            assert_true(slice_eq(((const struct wire_event *)e->events.at)[i].kind, SLICE("job")));
        heard += e->events.count;
    }
    assert_int_equal(heard, 3);
    struct wire_stop stop = {.request = request};
    (void)wireclient_send(&c, WIRE_STOP, &stop);
    assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    assert_true(got.op == WIRE_EVENTS && !(got.flags & FRAME_MORE));
    wireclient_close(&c);
}

/* The next frame of events; its message lives until the client is closed. */
static const struct wire_events *next_events(struct wireclient *c, uint32_t request) {
    struct wiregot got;
    assert_true(wireclient_next(c, WIRECLIENT_WAIT_MS, &got));
    assert_true(got.op == WIRE_EVENTS && got.request == request);
    return got.message;
}

static void expect_event(const struct wire_events *e, uint32_t i, const char *target, const char *to) {
    assert_true(i < e->events.count);
    const struct wire_event *v = (const struct wire_event *)e->events.at + i;
    if (!slice_eq(v->target, slice_str(target)) || !slice_eq(v->to, slice_str(to)))
        fail_msg("%.*s %.*s, not %s %s", SLICE_FMT(v->target), SLICE_FMT(v->to), target, to);
}

static void cancel(const char *target) {
    char path[128];
    snprintf(path, sizeof path, "/api/v1/flows/%s/cancel", target);
    assert_int_equal(webclient_ask(&client, "POST", path, "{}").status, 200);
}

/* The empty frame that says hello, the present state, and then the events of both flows. */
static void hears_two_flows(enum wire_op op, const void *message, const char *one, const char *two) {
    struct wireclient c;
    char a[64], b[64];
    snprintf(a, sizeof a, "%s/a", one);
    snprintf(b, sizeof b, "%s/b", two);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    uint32_t request = wireclient_send(&c, op, message);
    assert_int_equal(next_events(&c, request)->events.count, 0);
    const struct wire_events *state = next_events(&c, request);
    assert_int_equal(state->events.count, 2);
    expect_event(state, 0, a, "held");
    expect_event(state, 1, b, "held");
    cancel(two);
    cancel(one);
    const char *const order[] = {b, two, a, one};
    for (uint32_t heard = 0; heard < 4;) {
        const struct wire_events *e = next_events(&c, request);
        for (uint32_t i = 0; i < e->events.count; i++) expect_event(e, i, order[heard++], "cancelled");
    }
    wireclient_close(&c);
}

static void the_state_of_named_flows_comes_first(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) { /* follow, and the request that it replaced */
        const char *one = submit(FLOW("\"a\": {\"gate\": \"?\"}")), *two = submit(FLOW("\"b\": {\"gate\": \"?\"}"));
        struct wire_name names[2] = {{slice_str(one)}, {slice_str(two)}};
        struct wire_follow follow = {.targets = {names, 2}, .state_first = true};
        struct wire_subscribe subscribe = {.targets = {names, 2}, .state_first = true};
        if (i == 0)
            hears_two_flows(WIRE_FOLLOW, &follow, one, two);
        else
            hears_two_flows(WIRE_SUBSCRIBE, &subscribe, one, two);
    }
    struct webgot got = webclient_ask(&client, "GET", "/api/v1/events?state_first=true", NULL);
    assert_int_equal(got.status, 400);
}

/* What happened before this process began is in the archive alone. */
static void subscribe_is_follow_without_the_archive(void **state) {
    (void)state;
    struct wire_subscribe m = {.from_start = true};
    struct wireclient c;
    char job[64];
    (void)submit(FLOW("\"old\": {\"gate\": \"?\"}"));
    restart();
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    uint32_t request = wireclient_send(&c, WIRE_SUBSCRIBE, &m);
    assert_false(next_events(&c, request)->gap);
    const struct wire_events *e = next_events(&c, request);
    assert_true(e->gap && e->events.count == 0);
    const char *id = submit(FLOW("\"new\": {\"gate\": \"?\"}"));
    snprintf(job, sizeof job, "%s/new", id);
    e = next_events(&c, request);
    expect_event(e, 0, id, "running");
    expect_event(e, 1, job, "held");
    wireclient_close(&c);
}

/* With many followers events wait for some milliseconds. A stop does not lose them. */
static void a_stop_tells_what_has_happened_first(void **state) {
    (void)state;
    static struct eventclient others[200];
    struct wireclient c;
    struct wiregot got;
    uint32_t heard = 0;
    for (int i = 0; i < 200; i++) follow(&others[i], "?type=worker");
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    uint32_t request = wireclient_send(&c, WIRE_FOLLOW, &(struct wire_follow){0});
    assert_int_equal(next_events(&c, request)->events.count, 0);
    for (int i = 0; i < 3; i++) (void)submit(FLOW("\"a\": {\"gate\": \"?\"}")); /* answered when it is durable */
    (void)wireclient_send(&c, WIRE_STOP, &(struct wire_stop){.request = request});
    do {
        assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
        if (got.op == WIRE_EVENTS) heard += ((const struct wire_events *)got.message)->events.count;
    } while (got.op != WIRE_EVENTS || (got.flags & FRAME_MORE));
    assert_true(heard == 6);
    wireclient_close(&c);
    for (int i = 0; i < 200; i++) eventclient_close(&others[i]);
}

#define ALONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define WORKING(test) cmocka_unit_test_setup_teardown(test, setup_work, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WORKING(a_job_is_told_from_its_birth_to_its_end),
        ALONE(the_numbers_come_every_second),
        ALONE(only_what_concerns_a_client_is_told),
        ALONE(a_tenant_hears_of_its_own_flows_only),
        ALONE(a_handshake_that_is_none_is_refused),
        ALONE(bad_frames_are_closed_with_their_code),
        ALONE(a_token_that_is_revoked_ends_its_streams),
        ALONE(a_server_that_stops_says_so),
        WORKING(nothing_is_missing_across_kills),
        ALONE(one_who_falls_behind_catches_up),
        cmocka_unit_test_setup_teardown(what_is_gone_is_a_gap, start, teardown),
        WORKING(the_tale_of_a_flow_is_the_same_from_memory_and_journal),
        ALONE(the_wire_follows_too),
        ALONE(the_state_of_named_flows_comes_first),
        ALONE(subscribe_is_follow_without_the_archive),
        ALONE(a_stop_tells_what_has_happened_first),
    };
    if (getenv("ONLY") != NULL) cmocka_set_test_filter(getenv("ONLY")); /* one of them, by hand */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
