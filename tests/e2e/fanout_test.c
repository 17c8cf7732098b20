/* fanout_test.c: many follow the events of a busy server by WebSocket, and one of them takes nothing: the others hear
 * everything, work goes on as fast as without them, and in the end the one has heard it too.
 *
 * Numbers for a machine with time, and a release build: FANOUT_CLIENTS=200 FANOUT_RATE=2000 FANOUT_SECONDS=10. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "eventclient.h"
#include "hash.h"
#include "realserver.h"
#include "realworker.h"
#include "webclient.h"

#define CLIENTS_MAX 400u
#define FLOW_JOBS 50u
#define ALL_BUT_TICKS "?type=flow,job,worker,service"
#define PATIENCE_MS 120000

/* Hears the same bytes as all others, so it is enough to count and to sum them up. */
struct listener {
    int fd;
    struct buf in;
    bool greeted, stalled, is_first; /* the first one takes nothing for a while */
    uint64_t count;
    uint32_t sum;
    char last[48]; /* position of the last event */
};

static struct realserver server;
static struct realworker worker;
static struct webclient client;
static struct listener listeners[CLIENTS_MAX];
static uint32_t listener_count;

static uint32_t number_of(const char *name, uint32_t standard) {
    const char *text = getenv(name);
    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : standard;
}

static int setup(void **state) {
    (void)state;
    server = (struct realserver){0};
    worker = (struct realworker){0};
    realserver_make(&server);
    realserver_start(&server);
    realworker_make(&worker, &server, "w");
    worker.flags[0] = "--slots";
    worker.flags[1] = "500";
    realworker_start(&worker, &server);
    webclient_open(&client, server.address, server.admin);
    return 0;
}

static void listeners_close(void) {
    for (uint32_t i = 0; i < listener_count; i++) {
        close(listeners[i].fd);
        buf_fini(&listeners[i].in);
    }
    listener_count = 0;
}

static int teardown(void **state) {
    (void)state;
    listeners_close();
    webclient_close(&client);
    (void)realworker_stop(&worker);
    realserver_remove(&server);
    return 0;
}

/* ---- listeners ---- */

static void listener_dial(struct listener *l) {
    char text[512], since[64] = "";
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    to.sin_port = htons((uint16_t)strtol(strrchr(server.address, ':') + 1, NULL, 10));
    l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int room = 65536;
    if (l->is_first) assert_int_equal(setsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    assert_int_equal(connect(l->fd, (struct sockaddr *)&to, sizeof to), 0);
    if (l->last[0] != 0) snprintf(since, sizeof since, "&since=%s", l->last);
    int len =
        snprintf(text, sizeof text,
                 "GET /api/v1/events" ALL_BUT_TICKS "%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
                 "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                 since, server.admin);
    assert_int_equal(send(l->fd, text, (size_t)len, MSG_NOSIGNAL), len);
}

static void listener_open(bool is_first) {
    struct listener *l = &listeners[listener_count++];
    *l = (struct listener){.is_first = is_first, .stalled = is_first};
    buf_init(&l->in, (size_t)64 << 20);
    listener_dial(l);
}

/* Who answers no ping for a minute is taken for dead, and comes back for what it has not heard. */
static void listener_again(struct listener *l) {
    close(l->fd);
    buf_clear(&l->in);
    l->greeted = false;
    listener_dial(l);
}

static void position_keep(struct listener *l, struct slice text) {
    static const char key[] = "\"position\":\"";
    const uint8_t *at = memmem(text.ptr, text.len, key, sizeof key - 1);
    assert_non_null(at);
    size_t len = 0;
    for (at += sizeof key - 1; *at != '"' && len < sizeof l->last - 1;) l->last[len++] = (char)*at++;
    l->last[len] = 0;
}

/* Frames off the front of what came; how many bytes. */
static size_t frames_take(struct listener *l) {
    size_t at = 0;
    while (l->in.len - at >= 4) {
        const uint8_t *f = l->in.at + at;
        size_t head = f[1] < 126 ? 2 : 4, length = f[1] < 126 ? f[1] : (size_t)f[2] << 8 | f[3];
        assert_true(f[1] <= 126);
        if (l->in.len - at < head + length) break;
        bool is_text = (f[0] & 0x0f) == 1;
        if (is_text && l->greeted) {
            l->count++;
            l->sum = crc32c(l->sum, f + head, length);
            if (l->is_first) position_keep(l, slice_of(f + head, length));
        }
        l->greeted |= is_text; /* the first one is the hello */
        if ((f[0] & 0x0f) == 9) (void)!send(l->fd, "\x8a\x80\0\0\0\0", 6, MSG_NOSIGNAL);
        at += head + length;
    }
    return at;
}

static void listener_read(struct listener *l) {
    static uint8_t bytes[262144];
    ssize_t got = recv(l->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0 && l->is_first && l->last[0] != 0) {
        listener_again(l);
        return;
    }
    if (got <= 0) fail_msg("a listener was sent away after %llu events", (unsigned long long)l->count);
    buf_put(&l->in, bytes, (size_t)got);
    size_t used = 0;
    if (!l->greeted) {
        uint8_t *end = memmem(l->in.at, l->in.len, "\r\n\r\n", 4);
        if (end == NULL) return;
        if (memcmp(l->in.at, "HTTP/1.1 101 ", 13) == 0) used = (size_t)(end + 4 - l->in.at);
        memmove(l->in.at, l->in.at + used, l->in.len - used);
        buf_cut(&l->in, l->in.len - used);
    }
    used = frames_take(l);
    memmove(l->in.at, l->in.at + used, l->in.len - used);
    buf_cut(&l->in, l->in.len - used);
}

/* Reads what comes until then. */
static void listen_until(int64_t until_ms) {
    struct pollfd fds[CLIENTS_MAX];
    do {
        uint32_t count = 0;
        int64_t left = until_ms - test_mono_ms();
        for (uint32_t i = 0; i < listener_count; i++)
            fds[i] = (struct pollfd){.fd = listeners[i].stalled && listeners[i].greeted ? -1 : listeners[i].fd,
                                     .events = POLLIN};
        count = listener_count;
        if (poll(fds, count, left > 0 ? (int)left : 0) <= 0) return;
        for (uint32_t i = 0; i < count; i++)
            if (fds[i].revents != 0) listener_read(&listeners[i]);
    } while (test_mono_ms() < until_ms);
}

static bool all_greeted(void) {
    for (uint32_t i = 0; i < listener_count; i++)
        if (!listeners[i].greeted) return false;
    return true;
}

static void listeners_open(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) listener_open(i == 0);
    for (int64_t by = test_mono_ms() + PATIENCE_MS; !all_greeted();) {
        assert_true(test_mono_ms() < by);
        listen_until(test_mono_ms() + 10);
    }
}

/* ---- work ---- */

static void submit(void) {
    static char text[8192];
    size_t len = (size_t)snprintf(text, sizeof text, "{\"jobs\": {");
    for (uint32_t i = 0; i < FLOW_JOBS; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s\"j%u\": {\"noop\": true}", i > 0 ? ", " : "", i);
    snprintf(text + len, sizeof text - len, "}}");
    assert_int_equal(webclient_ask(&client, "POST", "/api/v1/flows", text).status, 201);
}

static uint64_t succeeded(void) {
    struct webgot got = webclient_ask(&client, "GET", "/api/v1/stats", NULL);
    const char *at = strstr(got.body, "\"entered_succeeded\":");
    return at != NULL ? strtoull(at + strlen("\"entered_succeeded\":"), NULL, 10) : 0;
}

/* Completions per second, of jobs that come at this rate (0 = at once). */
static double work(uint32_t jobs, uint32_t rate) {
    uint64_t before = succeeded();
    int64_t start = test_mono_ms();
    for (uint32_t i = 0; i < jobs / FLOW_JOBS; i++) {
        if (rate > 0) listen_until(start + (int64_t)i * FLOW_JOBS * 1000 / rate);
        submit();
    }
    while (succeeded() < before + jobs) {
        if (test_mono_ms() > start + PATIENCE_MS) fail_msg("%u jobs are not done", jobs);
        listen_until(test_mono_ms() + 10);
    }
    return (double)jobs * 1000 / (double)(test_mono_ms() - start);
}

/* ---- what must be shown ---- */

/* Until the end of a last flow. */
static void hear_all(struct eventclient *c) {
    struct webgot got = webclient_ask(&client, "POST", "/api/v1/flows", "{\"jobs\": {\"last\": {\"noop\": true}}}");
    struct eventclient_message m = {0};
    char want[128];
    assert_int_equal(got.status, 201);
    snprintf(want, sizeof want, "\"target\":\"%s\",\"to\":\"succeeded\"", webgot_text(&client, &got, "flow"));
    while (strstr(m.text, want) == NULL) assert_true(eventclient_next(c, EVENTCLIENT_WAIT_MS, &m));
}

/* Everyone has heard what one hears who asks for it again afterwards, out of the journal. */
static void check_all(struct eventclient *reference, struct position from) {
    char query[96];
    struct eventclient past;
    snprintf(query, sizeof query, ALL_BUT_TICKS "&since=%llu.%u", (unsigned long long)from.lsn, from.ordinal);
    eventclient_open(&past, server.address, server.admin, query, false, "");
    while (position_is_after(reference->last, past.last)) {
        struct eventclient_message m;
        assert_true(eventclient_next(&past, EVENTCLIENT_WAIT_MS, &m));
    }
    eventclient_same(reference, &past, from);
    assert_int_equal(reference->gaps + past.gaps, 0);
    eventclient_close(&past);
    uint64_t want = eventclient_count(reference);
    listeners[0].stalled = false;
    for (uint32_t i = 0; i < listener_count; i++)
        for (int64_t by = test_mono_ms() + PATIENCE_MS; listeners[i].count < want; listen_until(test_mono_ms() + 10))
            if (test_mono_ms() > by)
                fail_msg("listener %u heard %llu of %llu", i, (unsigned long long)listeners[i].count,
                         (unsigned long long)want);
    for (uint32_t i = 0; i < listener_count; i++)
        if (listeners[i].count != want || listeners[i].sum != listeners[1].sum)
            fail_msg("listener %u heard something else: %llu of %llu events, %08x and %08x", i,
                     (unsigned long long)listeners[i].count, (unsigned long long)want, listeners[i].sum,
                     listeners[1].sum);
}

static void fan_out(uint32_t clients, uint32_t jobs, uint32_t rate, bool compares) {
    struct eventclient reference;
    double alone = compares ? work(jobs, rate) : 0;
    listeners_open(clients);
    eventclient_open(&reference, server.address, server.admin, ALL_BUT_TICKS, false, "");
    struct position from = reference.last;
    double together = work(jobs, rate);
    hear_all(&reference);
    check_all(&reference, from);
    if (compares)
        print_message("%u clients, %u jobs/s: %.0f completions/s without them, %.0f with them\n", clients, rate, alone,
                      together);
    if (compares && together < 0.9 * alone) fail_msg("completions fell from %.0f to %.0f a second", alone, together);
    eventclient_close(&reference);
}

static void many_listeners_do_not_slow_down_work(void **state) {
    (void)state;
    uint32_t rate = number_of("FANOUT_RATE", 400), seconds = number_of("FANOUT_SECONDS", 4);
    fan_out(number_of("FANOUT_CLIENTS", 40), rate * seconds, rate, true);
}

static void at_full_speed_nobody_loses_an_event(void **state) {
    (void)state;
    fan_out(number_of("FANOUT_CLIENTS", 40) / 4, number_of("FANOUT_JOBS", 10000), 0, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(many_listeners_do_not_slow_down_work, setup, teardown),
        cmocka_unit_test_setup_teardown(at_full_speed_nobody_loses_an_event, setup, teardown),
    };
    if (getenv("ONLY") != NULL) cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
