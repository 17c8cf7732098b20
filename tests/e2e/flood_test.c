/* flood_test.c: one principal floods the server by each protocol, without reading what it is sent or without ending
 * what it began; the memory of the server stays within the bound, and another principal is served as if nothing
 * happened. The bounds are set low, so that a flood is over in a second. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "realserver.h"
#include "wireclient.h"

#define MIB ((size_t)1 << 20)
#define BUDGET_MIB 64u /* of all connections */
#define SHARE_MIB 16u  /* of a principal */
/* What comes on top: one answer on its way from the state to the socket is there three times, those that leave have
 * 32 MiB, and a sanitizer doubles small pieces. */
#define BASE_MIB 112u
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define P99_US 80000u /* it is not our work alone that takes four times as long */
#else
#define P99_US 20000u
#endif
#define TICK_US 4000u /* the kernel's account of a thread that runs has steps of a tick */
#define ASKED 200u
#define CONNECTIONS_MAX 64u
#define KEYS 16u
#define VALUE_BYTES (256u << 10)

static struct realserver server;
static char eve[80], bob[80];         /* tokens */
static struct wireclient victim;      /* bob's */
static uint64_t floor_us, before_mib; /* bob's p99 and the server's memory, before the flood */

static int flood[CONNECTIONS_MAX];
static uint32_t flood_count;
static struct buf said; /* over and over, by each of them */
static size_t at[CONNECTIONS_MAX];
static bool reads;

/* The time that the server's one thread has worked so far. What it worked between a request and its answer is what the
 * one who asked had to wait for, on a machine that has nothing else to do; and this one may have much. */
static uint64_t worked_us(void) {
    char path[64];
    unsigned long long ns = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)server.pid, (int)server.pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu", &ns), 1);
    fclose(f);
    return ns / 1000u;
}

static uint64_t memory_mib(void) {
    char path[64];
    unsigned long pages = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)server.pid);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%*s %lu", &pages), 1);
    fclose(f);
    return pages * (unsigned long)sysconf(_SC_PAGESIZE) / MIB;
}

/* ---- who is there ---- */

static void new_token(struct wireclient *admin, const char *name, const char *tenant, char ret[80]) {
    struct wire_name roles[] = {{SLICE("viewer")}, {SLICE("submitter")}};
    struct wire_token_new m = {.name = slice_str(name), .tenant = slice_str(tenant), .roles = {roles, 2}};
    const struct wire_token_given *t = wireclient_ask(admin, WIRE_TOKEN_NEW, &m, WIRE_TOKEN_GIVEN);
    snprintf(ret, 80, "%.*s", SLICE_FMT(t->token));
}

static void fill_store(void) {
    static uint8_t value[VALUE_BYTES];
    struct wireclient c;
    memset(value, 'x', sizeof value);
    wireclient_open(&c, server.address, eve, WIRE_PEER_CLIENT);
    for (uint32_t i = 0; i < KEYS; i++) {
        char key[8];
        snprintf(key, sizeof key, "k%u", i);
        struct wire_kv_entry entry = {.key = slice_str(key), .value = slice_of(value, sizeof value)};
        struct wire_kv_change m = {.op = WIRE_KV_SET, .entries = {&entry, 1}};
        (void)wireclient_ask(&c, WIRE_KV_CHANGE, &m, WIRE_KV_CHANGED);
    }
    wireclient_close(&c);
}

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static int setup(void **state) {
    (void)state;
    struct wireclient admin;
    /* freed memory goes back at once, as it does without a sanitizer */
    (void)setenv("ASAN_OPTIONS", "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:detect_leaks=0", 1);
    realserver_make(&server);
    static const char *const flags[] = {
        "--log-level", "error", "--connection-memory-bytes-max", "67108864", "--principal-memory-bytes-max",
        "16777216"};
    memcpy(server.flags, flags, sizeof flags);
    server.quiet = true; /* nobody reads its log meanwhile */
    realserver_start(&server);
    wireclient_open(&admin, server.socket, NULL, WIRE_PEER_CLIENT);
    new_token(&admin, "eve", "acme", eve);
    new_token(&admin, "bob", "other", bob);
    wireclient_close(&admin);
    fill_store();
    wireclient_open(&victim, server.address, bob, WIRE_PEER_CLIENT);
    buf_init(&said, 64 * MIB);
    reads = false;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    for (uint32_t i = 0; i < flood_count; i++) close(flood[i]);
    flood_count = 0;
    memset(at, 0, sizeof at);
    wireclient_close(&victim);
    buf_fini(&said);
    realserver_remove(&server);
    return 0;
}

/* ---- a flood ---- */

static int dial(void) {
    struct wireclient c;
    assert_true(wireclient_dial(&c, server.address));
    int fd = c.fd;
    buf_fini(&c.in);
    return fd;
}

static void join(int fd) {
    assert_true(flood_count < CONNECTIONS_MAX);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    flood[flood_count++] = fd;
}

static void join_native(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct wireclient c;
        wireclient_open(&c, server.address, eve, WIRE_PEER_CLIENT);
        buf_fini(&c.in);
        arena_fini(&c.arena);
        join(c.fd);
    }
}

static void say_all(int fd, const void *bytes, size_t len) {
    struct wireclient c = {.fd = fd};
    assert_true(wireclient_send_raw(&c, bytes, len));
}

/* What the sockets take now. Some have been hung up on, and that is fine. */
static void go_on(void) {
    static char ignored[65536];
    for (uint32_t i = 0; i < flood_count; i++) {
        for (int turns = 0; said.len > 0 && turns < 4; turns++) {
            ssize_t n = send(flood[i], said.at + at[i], said.len - at[i], MSG_NOSIGNAL | MSG_DONTWAIT);
            if (n <= 0) break;
            at[i] = (at[i] + (size_t)n) % said.len;
        }
        for (int turns = 0; reads && turns < 16 && recv(flood[i], ignored, sizeof ignored, MSG_DONTWAIT) > 0; turns++)
            continue;
    }
}

struct measured {
    uint64_t p99_us, most_mib;
};

static struct measured measure(void) {
    uint64_t took[ASKED];
    struct measured m = {0};
    for (uint32_t i = 0; i < ASKED; i++) {
        go_on();
        struct wire_kv_key key = {SLICE("mine")};
        struct wire_kv_get get = {.keys = {&key, 1}};
        uint64_t begun = worked_us();
        (void)wireclient_ask(&victim, WIRE_KV_GET, &get, WIRE_KV_ITEMS);
        took[i] = worked_us() - begun;
        wireclient_forget(&victim);
        uint64_t mib = memory_mib();
        if (mib > m.most_mib) m.most_mib = mib;
    }
    qsort(took, ASKED, sizeof took[0], compare);
    m.p99_us = took[ASKED * 99 / 100 - 1]; /* all but one in a hundred took no longer */
    return m;
}

static void before(void) {
    struct measured m = measure();
    floor_us = m.p99_us;
    before_mib = m.most_mib;
}

static void holds(const char *what) {
    struct measured m = measure();
    print_message("%s: p99 %llu us (before %llu), %llu MiB (before %llu)\n", what, (unsigned long long)m.p99_us,
                  (unsigned long long)floor_us, (unsigned long long)m.most_mib, (unsigned long long)before_mib);
    assert_true(m.most_mib <= before_mib + BUDGET_MIB + BASE_MIB);
    assert_true(m.p99_us <= P99_US + TICK_US);
}

/* ---- the native wire ---- */

static void put_native(enum wire_op op, const void *message, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) wire_put(&said, op, 0, i + 1, message);
}

static void reads_that_nobody_takes(void **state) {
    (void)state;
    struct wire_kv_key keys[KEYS];
    static char names[KEYS][8];
    for (uint32_t i = 0; i < KEYS; i++) {
        snprintf(names[i], sizeof names[i], "k%u", i);
        keys[i].text = slice_str(names[i]);
    }
    struct wire_kv_get get = {.keys = {keys, KEYS}};
    before();
    join_native(8);
    put_native(WIRE_KV_GET, &get, 1000);
    holds("kv_get, not read");
}

static void submit_some(uint32_t flows) {
    struct wireclient c;
    struct wire_flow *list = calloc(flows, sizeof *list);
    assert_non_null(list);
    for (uint32_t i = 0; i < flows; i++) list[i].spec = SLICE("{\"jobs\": {\"a\": {\"noop\": true}}}");
    struct wire_submit m = {.flows = {list, flows}};
    wireclient_open(&c, server.address, eve, WIRE_PEER_CLIENT);
    (void)wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    wireclient_close(&c);
    free(list);
}

static void questions_without_end(void **state) {
    (void)state;
    struct wire_list list = {0};
    struct wire_stats stats = {0};
    submit_some(2000);
    before();
    join_native(10);
    reads = true;
    put_native(WIRE_LIST, &list, 200);
    put_native(WIRE_STATS, &stats, 200);
    holds("list and stats, read");
}

/* As no client of ours would make it: a list is its key, its length, a count, and an empty item is one byte. */
static void a_million_empty_flows(void **state) {
    (void)state;
    enum { FLOWS = 1000000 };
    static uint8_t empty[FLOWS];
    struct wire_flow none = {0};
    struct wire_submit one = {.flows = {&none, 1}};
    struct buf list, body;
    buf_init(&list, 2 * MIB);
    buf_init(&body, 2 * MIB);
    before();
    join_native(2);
    tlv_encode(wire_info(WIRE_SUBMIT)->desc, &one, &body);
    assert_int_equal(body.len, 4); /* key, length, one item, which is empty */
    buf_cut(&body, 1);
    buf_put_varint(&list, FLOWS);
    buf_put(&list, empty, sizeof empty);
    buf_put_str(&body, buf_slice(&list));
    size_t opened = frame_open(&said, WIRE_SUBMIT, 0, 1);
    buf_put_slice(&said, buf_slice(&body));
    frame_close(&said, opened);
    buf_fini(&list);
    buf_fini(&body);
    holds("submits of a million empty flows");
}

/* ---- HTTP ---- */

static void put_text(const char *text) {
    buf_put_slice(&said, slice_str(text));
}

static void answers_by_http_that_nobody_takes(void **state) {
    (void)state;
    char text[300];
    before();
    for (uint32_t i = 0; i < 40; i++) join(dial());
    snprintf(text, sizeof text,
             "GET /api/v1/store?most=4 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", eve);
    for (uint32_t i = 0; i < 50; i++) put_text(text);
    holds("GET /store, not read");
}

static void bodies_that_never_end(void **state) {
    (void)state;
    static char body[3 << 19];
    char text[400];
    before();
    snprintf(text, sizeof text,
             "POST /api/v1/flows HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: "
             "application/json\r\nContent-Length: 8000000\r\n\r\n",
             eve);
    memset(body, ' ', sizeof body);
    put_text(text);
    buf_put(&said, body, sizeof body);
    for (uint32_t i = 0; i < 16; i++) join(dial());
    holds("POST, not ended");
    /* those that had to go were told so, and when to come again */
    uint32_t told = 0;
    for (uint32_t i = 0; i < flood_count; i++) {
        char got[2048] = "";
        if (recv(flood[i], got, sizeof got - 1, MSG_DONTWAIT) <= 0) continue;
        if (memcmp(got, "HTTP/1.1 400 ", 13) == 0) continue; /* one of the few that had room to go on to the end */
        assert_memory_equal(got, "HTTP/1.1 429 ", 13);
        assert_non_null(strstr(got, "Retry-After: "));
        told++;
    }
    assert_true(told > 0);
}

/* Connections that have sent much and were answered hold nothing. */
static void what_was_served_is_given_back(void **state) {
    (void)state;
    enum { BODY_BYTES = 4 << 20 };
    static char body[BODY_BYTES];
    char text[400];
    memset(body, ' ', sizeof body); /* no JSON */
    snprintf(text, sizeof text,
             "POST /api/v1/flows HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: "
             "application/json\r\nContent-Length: %u\r\n\r\n",
             eve, BODY_BYTES);
    for (uint32_t i = 0; i < 12; i++) { /* three times the share */
        char got[64] = "";
        int fd = dial();
        say_all(fd, text, strlen(text));
        say_all(fd, body, sizeof body);
        assert_true(recv(fd, got, sizeof got - 1, 0) > 12);
        assert_memory_equal(got, "HTTP/1.1 400 ", 13);
        join(fd); /* and stays */
    }
}

static void followers_that_do_not_listen(void **state) {
    (void)state;
    char text[400];
    before();
    snprintf(text, sizeof text,
             "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nConnection: "
             "Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
             "dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
             eve);
    for (uint32_t i = 0; i < 60; i++) {
        int fd = dial();
        say_all(fd, text, strlen(text));
        join(fd);
    }
    for (uint32_t i = 0; i < 3; i++) submit_some(5000);
    holds("WebSockets, not read");
}

/* ---- RESP ---- */

static void auth(int fd, const char *token) {
    char text[200], got[5];
    snprintf(text, sizeof text, "*2\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\n", strlen(token), token);
    say_all(fd, text, strlen(text));
    assert_int_equal(recv(fd, got, sizeof got, MSG_WAITALL), 5);
    assert_memory_equal(got, "+OK\r\n", 5);
}

static void replies_that_nobody_takes(void **state) {
    (void)state;
    before();
    for (uint32_t n = 0; n < 50; n++) {
        buf_printf(&said, "*%u\r\n$4\r\nMGET\r\n", KEYS + 1);
        for (uint32_t i = 0; i < KEYS; i++) buf_printf(&said, "$%d\r\nk%u\r\n", i < 10 ? 2 : 3, i);
    }
    for (uint32_t i = 0; i < 30; i++) {
        int fd = dial();
        auth(fd, eve);
        join(fd);
    }
    holds("MGET, not read");
}

static void subscribers_that_do_not_listen(void **state) {
    (void)state;
    static char message[60000];
    const char *subscribe = "*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n";
    before();
    for (uint32_t i = 0; i < 40; i++) {
        int fd = dial();
        auth(fd, eve);
        say_all(fd, subscribe, strlen(subscribe));
        join(fd);
    }
    memset(message, 'm', sizeof message);
    int fd = dial();
    auth(fd, eve);
    for (uint32_t i = 0; i < 200; i++) {
        char got[64];
        char head[64];
        snprintf(head, sizeof head, "*3\r\n$7\r\nPUBLISH\r\n$1\r\nc\r\n$%zu\r\n", sizeof message);
        say_all(fd, head, strlen(head));
        say_all(fd, message, sizeof message);
        say_all(fd, "\r\n", 2);
        assert_true(recv(fd, got, sizeof got, 0) > 0);
        if (i % 50 == 0) assert_true(memory_mib() <= before_mib + BUDGET_MIB + BASE_MIB);
    }
    join(fd);
    holds("SUBSCRIBE, not read");
}

/* ---- connections ---- */

/* One principal may have half of them, and of what the network has taken an administrator on the machine notices
 * nothing. */
static void connections_have_their_shares(void **state) {
    (void)state;
    struct wire_hello hello = {.version_min = 2, .version_max = 2, .token = slice_str(eve), .build = SLICE("0.1.0")};
    struct wireclient own, bobs, admin, unauthenticated[CONNECTIONS_MAX];
    realserver_kill(&server);
    server.flags[2] = "--connections-max";
    server.flags[3] = "32";
    server.flags[4] = NULL;
    realserver_start(&server);
    join_native(16);
    assert_true(wireclient_dial(&own, server.address));
    const char *why = wireclient_refused(&own, WIRE_HELLO, &hello, ERR_BUSY);
    assert_non_null(strstr(why, "eve already has 16 connections"));
    wireclient_close(&own);
    wireclient_open(&bobs, server.address, bob, WIRE_PEER_CLIENT);
    for (uint32_t i = 0; i < 20; i++) assert_true(wireclient_dial(&unauthenticated[i], server.address));
    wireclient_open(&admin, server.socket, NULL, WIRE_PEER_CLIENT);
    wireclient_close(&admin);
    for (uint32_t i = 0; i < 20; i++) wireclient_close(&unauthenticated[i]);
    wireclient_close(&bobs);
    close(flood[--flood_count]); /* who goes makes room */
    struct wiregot got = {0};
    for (int tries = 0; tries < 200 && got.op != WIRE_WELCOME; tries++) {
        assert_true(wireclient_dial(&own, server.address));
        if (!wireclient_try(&own, WIRE_HELLO, &hello, &got)) got.op = WIRE_ERROR; /* hung up on: they leave just now */
        wireclient_close(&own);
    }
    assert_int_equal(got.op, WIRE_WELCOME);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(reads_that_nobody_takes),        TEST(questions_without_end),
        TEST(a_million_empty_flows),          TEST(answers_by_http_that_nobody_takes),
        TEST(what_was_served_is_given_back),  TEST(bodies_that_never_end),
        TEST(followers_that_do_not_listen),   TEST(replies_that_nobody_takes),
        TEST(subscribers_that_do_not_listen), TEST(connections_have_their_shares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
