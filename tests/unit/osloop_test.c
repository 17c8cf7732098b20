/* osloop_test.c: the loop over real sockets: what is sent arrives, in order and whole; ends are told once; time
 * passes. */
#include "test.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "oscert.h"
#include "osclock.h"
#include "oslease.h"
#include "osloop.h"
#include "ostls.h"

#define BIG_BYTES (16u << 20) /* more than sockets hold, and gone within the grace of a close on a busy machine */

struct side {
    struct lab *lab;
    struct net_handler handler;
    conn_id conn;
    struct buf got;
    uint64_t got_bytes;
    unsigned opened, closed, drained;
    bool echo, count_only;
    uint32_t uid;
    bool is_local, is_tls;
    char certified[40], role[40], tenant[40];
    char why[200];
};

struct lab {
    struct osloop *loop;
    struct net *net;
    struct side server, client;
    bool (*until)(struct lab *);
    mono_time due;
    unsigned passes;
    int64_t deadline_ms;
    bool late;
    int plain; /* a socket beside the loop */
};

static void on_opened(void *ctx, conn_id c, const struct net_peer *peer) {
    struct side *s = ctx;
    s->conn = c;
    s->opened++;
    s->uid = peer->uid;
    s->is_local = peer->is_local;
    s->is_tls = peer->is_tls;
    snprintf(s->certified, sizeof s->certified, "%.*s", SLICE_FMT(peer->certified));
    snprintf(s->role, sizeof s->role, "%.*s", SLICE_FMT(peer->certified_role));
    snprintf(s->tenant, sizeof s->tenant, "%.*s", SLICE_FMT(peer->certified_tenant));
}

static void on_received(void *ctx, conn_id c, struct slice bytes) {
    struct side *s = ctx;
    assert_true(c.v == s->conn.v);
    s->got_bytes += bytes.len;
    if (!s->count_only) buf_put_slice(&s->got, bytes);
    if (s->echo) s->lab->net->ops->send(s->lab->net, c, bytes);
}

static void on_drained(void *ctx, conn_id c) {
    (void)c;
    ((struct side *)ctx)->drained++;
}

static void on_closed(void *ctx, conn_id c, const char *why) {
    struct side *s = ctx;
    (void)c;
    s->closed++;
    snprintf(s->why, sizeof s->why, "%s", why);
}

static void side_init(struct lab *lab, struct side *s) {
    *s = (struct side){.lab = lab, .handler = {on_opened, on_received, on_drained, on_closed, s}};
    buf_init(&s->got, BIG_BYTES * 2);
}

static void pass(void *ctx) {
    struct lab *lab = ctx;
    lab->passes++;
    if (test_mono_ms() > lab->deadline_ms) lab->late = true;
    if (lab->late || (lab->until != NULL && lab->until(lab))) osloop_stop(lab->loop);
}

static mono_time next(void *ctx) {
    struct lab *lab = ctx;
    mono_time due = {lab->deadline_ms};
    return lab->due.ms < due.ms ? lab->due : due;
}

static void lab_open(struct lab *lab) {
    struct why why;
    *lab = (struct lab){.due = {TIME_NEVER}, .deadline_ms = TIME_NEVER};
    assert_int_equal(osloop_open(100, &lab->loop, &why), ERR_OK);
    lab->net = osloop_net(lab->loop);
    side_init(lab, &lab->server);
    side_init(lab, &lab->client);
    osloop_own(lab->loop, &(struct osloop_owner){pass, next, lab});
}

static void lab_close(struct lab *lab) {
    osloop_close(lab->loop);
    buf_fini(&lab->server.got);
    buf_fini(&lab->client.got);
}

static void run_until(struct lab *lab, bool (*until)(struct lab *)) {
    lab->until = until;
    lab->deadline_ms = test_mono_ms() + 20000;
    osloop_run(lab->loop);
    assert_false(lab->late);
    lab->until = NULL;
}

static bool both_open(struct lab *lab) {
    return lab->server.opened && lab->client.opened;
}

static char tls_dir[] = "/tmp/reeve-osloop-XX"
                        "XX"
                        "XX"; /* of certificates; while it is used, tests are over TLS */
static bool over_tls;

static void tls_prepare(struct lab *lab) {
    char own[64], ca[64], worker[64];
    struct why why;
    struct ostls *server = NULL, *client = NULL;
    snprintf(own, sizeof own, "%s/server.pem", tls_dir);
    snprintf(ca, sizeof ca, "%s/ca.pem", tls_dir);
    snprintf(worker, sizeof worker, "%s/w.pem", tls_dir);
    assert_int_equal(ostls_server(&(struct ostls_files){.cert = own, .ca = ca}, &server, &why), ERR_OK);
    assert_int_equal(ostls_client(&(struct ostls_files){.cert = worker, .ca = worker}, &client, &why), ERR_OK);
    osloop_tls_server(lab->loop, server);
    osloop_tls_client(lab->loop, client);
}

static void connect_both(struct lab *lab, const char *listen) {
    struct why why;
    char address[OSLOOP_ADDRESS_MAX], tls[OSLOOP_ADDRESS_MAX + 8];
    if (over_tls) tls_prepare(lab);
    assert_int_equal(osloop_listen(lab->loop, listen, &lab->server.handler, address, &why), ERR_OK);
    snprintf(tls, sizeof tls, "tls://%s", address);
    conn_id c = lab->net->ops->dial(lab->net, over_tls ? tls : address, &lab->client.handler);
    assert_true(c.v != 0);
    run_until(lab, both_open);
    assert_true(c.v == lab->client.conn.v);
}

static bool client_has_five(struct lab *lab) {
    return lab->client.got.len >= 5;
}

static void what_is_sent_arrives(void **state) {
    (void)state;
    struct lab lab;
    lab_open(&lab);
    connect_both(&lab, "127.0.0.1:0");
    lab.server.echo = true;
    lab.net->ops->send(lab.net, lab.client.conn, SLICE("he"));
    lab.net->ops->send(lab.net, lab.client.conn, SLICE("llo"));
    assert_int_equal(lab.net->ops->unsent(lab.net, lab.client.conn), 5);
    run_until(&lab, client_has_five);
    assert_true(slice_eq(buf_slice(&lab.client.got), SLICE("hello")));
    assert_int_equal(lab.net->ops->unsent(lab.net, lab.client.conn), 0);
    assert_true(lab.client.drained > 0);
    assert_false(lab.server.is_local);
    lab_close(&lab);
}

static void a_unix_socket_tells_the_uid(void **state) {
    (void)state;
    struct lab lab;
    struct why why;
    struct stat st;
    char path[64] = "/tmp/reeve-osloop-XX"
                    "XX"
                    "XX",
         address[80], ret[OSLOOP_ADDRESS_MAX];
    assert_non_null(mkdtemp(path));
    snprintf(address, sizeof address, "unix:%s/s", path);
    lab_open(&lab);
    connect_both(&lab, address);
    assert_true(lab.server.is_local);
    assert_int_equal(lab.server.uid, getuid());
    /* Someone listens there: a second one is refused, and the first is left alone. */
    assert_int_equal(osloop_listen(lab.loop, address, &lab.server.handler, ret, &why), ERR_CONFLICT);
    lab_close(&lab);
    assert_int_not_equal(stat(address + 5, &st), 0);
    assert_int_equal(rmdir(path), 0);
}

static bool server_has_big(struct lab *lab) {
    return lab->server.got_bytes >= BIG_BYTES;
}

static bool a_few_turns(struct lab *lab) {
    return ++lab->passes > 100;
}

static void a_paused_reader_is_felt_and_nothing_is_lost(void **state) {
    (void)state;
    struct lab lab;
    lab_open(&lab);
    connect_both(&lab, "127.0.0.1:0");
    lab.server.count_only = true;
    lab.net->ops->pause(lab.net, lab.server.conn, true);
    uint8_t *big = calloc(1, BIG_BYTES);
    lab.net->ops->send(lab.net, lab.client.conn, slice_of(big, BIG_BYTES));
    free(big);
    lab.due.ms = 0; /* turns without waiting */
    lab.passes = 0;
    run_until(&lab, a_few_turns);
    lab.due.ms = TIME_NEVER;
    assert_int_equal(lab.server.got_bytes, 0);
    assert_true(lab.net->ops->unsent(lab.net, lab.client.conn) > 0);
    lab.net->ops->pause(lab.net, lab.server.conn, false);
    run_until(&lab, server_has_big);
    lab_close(&lab);
}

static bool server_closed(struct lab *lab) {
    return lab->server.closed > 0;
}

static void a_close_lets_what_was_sent_out_first(void **state) {
    (void)state;
    struct lab lab;
    lab_open(&lab);
    connect_both(&lab, "127.0.0.1:0");
    lab.server.count_only = true;
    uint8_t *big = calloc(1, BIG_BYTES);
    lab.net->ops->send(lab.net, lab.client.conn, slice_of(big, BIG_BYTES));
    free(big);
    /* The peer's own bytes, never read by us, must not reset the connection. */
    lab.net->ops->send(lab.net, lab.server.conn, SLICE("unread"));
    lab.net->ops->close(lab.net, lab.client.conn);
    lab.net->ops->send(lab.net, lab.client.conn, SLICE("too late"));
    run_until(&lab, server_closed);
    assert_int_equal(lab.server.got_bytes, BIG_BYTES);
    assert_int_equal(lab.server.closed, 1);
    assert_int_equal(lab.client.closed, 0);
    lab_close(&lab);
}

static void the_same_holds_over_tls(void **state) {
    struct why why;
    struct lab lab;
    char command[64];
    assert_non_null(mkdtemp(tls_dir));
    assert_int_equal(oscert_server(tls_dir, (const char *const[]){"127.0.0.1"}, 1, 10, &why), ERR_OK);
    assert_int_equal(oscert_peer(tls_dir, "w", "worker", "acme", 10, &why), ERR_OK);
    over_tls = true;
    what_is_sent_arrives(state);
    a_paused_reader_is_felt_and_nothing_is_lost(state);
    a_close_lets_what_was_sent_out_first(state);
    lab_open(&lab);
    connect_both(&lab, "127.0.0.1:0");
    assert_true(lab.server.is_tls && lab.client.is_tls);
    assert_string_equal(lab.server.certified, "w");
    assert_string_equal(lab.server.role, "worker");
    assert_string_equal(lab.server.tenant, "acme");
    lab_close(&lab);
    over_tls = false;
    snprintf(command, sizeof command, "rm -r %s", tls_dir);
    assert_int_equal(system(command), 0);
}

static bool server_was_told(struct lab *lab) {
    struct pollfd plain = {.fd = lab->plain, .events = POLLIN};
    return poll(&plain, 1, 0) == 1;
}

static bool server_open(struct lab *lab) {
    return lab->server.opened > 0;
}

/* The peer is no loop of ours, and has said more than we read: it still gets our last words and a clean end. */
static void last_words_reach_a_peer_that_was_not_read(void **state) {
    (void)state;
    struct lab lab;
    struct why why;
    char address[OSLOOP_ADDRESS_MAX], got[16];
    static const uint8_t unread[100000];
    lab_open(&lab);
    assert_int_equal(osloop_listen(lab.loop, "127.0.0.1:0", &lab.server.handler, address, &why), ERR_OK);
    uint16_t port = (uint16_t)strtoul(strchr(address, ':') + 1, NULL, 10);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    lab.plain = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(lab.plain, (struct sockaddr *)&to, sizeof to), 0);
    run_until(&lab, server_open);
    lab.net->ops->pause(lab.net, lab.server.conn, true);
    assert_int_equal(send(lab.plain, unread, sizeof unread, 0), (ssize_t)sizeof unread);
    lab.net->ops->send(lab.net, lab.server.conn, SLICE("goodbye"));
    lab.net->ops->close(lab.net, lab.server.conn);
    run_until(&lab, server_was_told);
    assert_int_equal(send(lab.plain, unread, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(recv(lab.plain, got, sizeof got, MSG_WAITALL), 7);
    assert_int_equal(recv(lab.plain, got, sizeof got, 0), 0); /* an end, not a reset */
    close(lab.plain);
    lab_close(&lab);
}

static bool client_closed(struct lab *lab) {
    return lab->client.closed > 0;
}

static void a_dial_that_fails_is_told_later_and_once(void **state) {
    (void)state;
    static const char *const nowhere[] = {"127.0.0.1:1", "unix:/nonexistent/socket", "nonsense", "127.0.0.1:99999"};
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
        struct lab lab;
        lab_open(&lab);
        assert_true(lab.net->ops->dial(lab.net, nowhere[i], &lab.client.handler).v != 0);
        assert_int_equal(lab.client.closed, 0);
        run_until(&lab, client_closed);
        assert_int_equal(lab.client.closed, 1);
        assert_int_equal(lab.client.opened, 0);
        assert_true(strlen(lab.client.why) > 0);
        lab_close(&lab);
    }
}

static void a_bad_address_to_listen_on_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"", "7070", "localhost", "127.0.0.1:", "127.0.0.1:65536", "example.invalid:1"};
    struct lab lab;
    struct why why;
    char ret[OSLOOP_ADDRESS_MAX];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        lab_open(&lab);
        assert_int_equal(osloop_listen(lab.loop, bad[i], &lab.server.handler, ret, &why), ERR_INVALID);
        lab_close(&lab);
    }
    assert_true(osloop_is_public("0.0.0.0:7070"));
    assert_true(osloop_is_public("[::]:7070"));
    assert_true(osloop_is_public("192.168.1.2:7070"));
    assert_false(osloop_is_public("127.0.0.1:7070"));
    assert_false(osloop_is_public("[::1]:7070"));
    assert_false(osloop_is_public("localhost:7070"));
    assert_false(osloop_is_public("unix:/tmp/x"));
}

static bool is_due(struct lab *lab) {
    return test_mono_ms() >= lab->due.ms;
}

/* An idle loop is not woken up, and one with a time to keep is woken up then. */
static void time_passes_without_wake_ups(void **state) {
    (void)state;
    struct lab lab;
    lab_open(&lab);
    lab.due.ms = test_mono_ms() + 200;
    run_until(&lab, is_due);
    assert_true(test_mono_ms() >= lab.due.ms);
    assert_true(lab.passes < 10);
    lab_close(&lab);
}

struct event {
    struct lab *lab;
    int fd;
    unsigned fired;
    int signal;
};

static struct event the_event;

static void event_ready(void *ctx, unsigned when) {
    struct event *e = ctx;
    uint64_t count;
    assert_true(when & OSLOOP_READABLE);
    assert_int_equal(read(e->fd, &count, sizeof count), sizeof count);
    e->fired++;
}

static void event_signal(void *ctx, int number) {
    ((struct event *)ctx)->signal = number;
}

static bool event_fired(struct lab *lab) {
    (void)lab;
    return the_event.fired > 0;
}

static bool signal_fired(struct lab *lab) {
    (void)lab;
    return the_event.signal != 0;
}

static void descriptors_and_signals_are_heard(void **state) {
    (void)state;
    struct lab lab;
    struct why why;
    watch_id w;
    uint64_t one = 1;
    lab_open(&lab);
    the_event = (struct event){.lab = &lab, .fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    assert_int_equal(osloop_watch(lab.loop, the_event.fd, OSLOOP_READABLE, event_ready, &the_event, &w, &why), ERR_OK);
    assert_int_equal(osloop_signal(lab.loop, SIGUSR1, event_signal, &the_event, &why), ERR_OK);
    assert_int_equal(write(the_event.fd, &one, sizeof one), sizeof one);
    run_until(&lab, event_fired);
    osloop_watch_set(lab.loop, w, 0);
    assert_int_equal(write(the_event.fd, &one, sizeof one), sizeof one);
    raise(SIGUSR1);
    run_until(&lab, signal_fired);
    assert_int_equal(the_event.signal, SIGUSR1);
    assert_int_equal(the_event.fired, 1);
    osloop_unwatch(lab.loop, w);
    osloop_unwatch(lab.loop, w);
    lab_close(&lab);
    close(the_event.fd);
}

/* ---- ports for services ---- */

#define PORTS 300u

static bool is_taken(const uint32_t *ports, uint32_t count, uint32_t port) {
    for (uint32_t i = 0; i < count; i++)
        if (ports[i] == port) return true;
    return false;
}

/* Two loops are as good as two workers: what keeps ports apart is the kernel's. Nobody listens at any of them. */
static void a_port_is_given_to_one_of_many_workers(void **state) {
    (void)state;
    struct osloop *loops[2] = {NULL, NULL};
    uint32_t ports[2 * PORTS];
    char name[32];
    struct why why;
    for (int i = 0; i < 2; i++) assert_int_equal(osloop_open(16, &loops[i], &why), ERR_OK);
    for (uint32_t i = 0; i < 2 * PORTS; i++) {
        struct net *n = osloop_net(loops[i % 2]);
        uint32_t port = n->ops->take_port(n);
        assert_true(port >= 20000 && port <= 65535);
        assert_false(is_taken(ports, i, port));
        ports[i] = port;
    }
    snprintf(name, sizeof name, "port-%u", ports[0]);
    assert_int_equal(oslease_take(name), -1);
    struct net *n = osloop_net(loops[0]);
    n->ops->give_port(n, ports[0]);
    int fd = oslease_take(name);
    assert_true(fd >= 0);
    (void)close(fd);
    snprintf(name, sizeof name, "port-%u", ports[1]);
    assert_int_equal(oslease_take(name), -1);
    osloop_close(loops[0]);
    osloop_close(loops[1]); /* gives back what it has */
    fd = oslease_take(name);
    assert_true(fd >= 0);
    (void)close(fd);
}

/* A port that someone listens at is no port for a service, whether he has a lease or not. */
static void a_port_that_is_in_use_is_not_given(void **state) {
    (void)state;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int lease = -1, on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint32_t port = oslease_port(&lease);
    assert_true(port != 0);
    a.sin_port = htons((uint16_t)port);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(fd, 1), 0);
    (void)close(lease);
    assert_false(oslease_is_free(port));
    (void)close(fd);
    assert_true(oslease_is_free(port));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_arrives),
        cmocka_unit_test(a_unix_socket_tells_the_uid),
        cmocka_unit_test(a_paused_reader_is_felt_and_nothing_is_lost),
        cmocka_unit_test(a_close_lets_what_was_sent_out_first),
        cmocka_unit_test(the_same_holds_over_tls),
        cmocka_unit_test(last_words_reach_a_peer_that_was_not_read),
        cmocka_unit_test(a_dial_that_fails_is_told_later_and_once),
        cmocka_unit_test(a_bad_address_to_listen_on_is_refused),
        cmocka_unit_test(time_passes_without_wake_ups),
        cmocka_unit_test(descriptors_and_signals_are_heard),
        cmocka_unit_test(a_port_is_given_to_one_of_many_workers),
        cmocka_unit_test(a_port_that_is_in_use_is_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
