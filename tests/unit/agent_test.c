/* agent_test.c: what a worker owes its server, word by word. The network and the clock are the test's: it plays the
 * server. */
#include "test.h"

#include <poll.h>
#include <stdio.h>

#include "agent.h"
#include "arena.h"
#include "osproc.h"
#include "osspace.h"
#include "tmpdisk.h"
#include "wire.h"

struct lab {
    struct net net;
    struct clock clock;
    struct proc proc;
    struct space space;
    struct tmpdisk disk;
    struct agent *agent;
    struct net_handler handler;
    int64_t now_ms;
    uint64_t conns, conn; /* dialled; the one that is open, 0 = none */
    struct buf said;      /* by the worker, on the open connection */
    struct arena arena;
    uint64_t epoch;
    uint32_t removed; /* workspaces */
    uint32_t gpus;
    struct proc *real_proc; /* with real processes, in real directories; NULL: there are none */
    struct space *real_space;
};

static struct lab *lab_of_net(struct net *n) {
    return (struct lab *)n;
}

static conn_id net_dial(struct net *n, const char *address, const struct net_handler *h) {
    struct lab *l = lab_of_net(n);
    assert_string_equal(address, "there:1");
    l->handler = *h;
    l->conn = ++l->conns;
    buf_clear(&l->said);
    return (conn_id){l->conn};
}

static void net_send(struct net *n, conn_id c, struct slice bytes) {
    assert_true(c.v == lab_of_net(n)->conn);
    buf_put_slice(&lab_of_net(n)->said, bytes);
}

static uint64_t net_unsent(struct net *n, conn_id c) {
    (void)n, (void)c;
    return 0;
}

static void net_pause(struct net *n, conn_id c, bool on) {
    (void)n, (void)c, (void)on;
}

static void net_close(struct net *n, conn_id c) {
    struct lab *l = lab_of_net(n);
    if (c.v == l->conn) l->conn = 0;
}

static const struct net_ops net_ops = {net_dial, net_send, net_unsent, net_pause, net_close, NULL, NULL, NULL};

static struct lab *lab_of_clock(struct clock *c) {
    return (struct lab *)((char *)c - offsetof(struct lab, clock));
}

static wall_time clock_wall(struct clock *c) {
    return (wall_time){1000000 + lab_of_clock(c)->now_ms};
}

static mono_time clock_mono(struct clock *c) {
    return (mono_time){lab_of_clock(c)->now_ms};
}

static uint64_t clock_random(struct clock *c) {
    (void)c;
    return 5;
}

static void lab_start(struct lab *l) {
    struct why why = {{0}};
    bool is_real = l->real_proc != NULL;
    struct agent_world world = {&l->clock, l->disk.disk, is_real ? l->real_space : &l->space, &l->net,
                                is_real ? l->real_proc : &l->proc};
    struct agent_options o = {.server = "there:1", .name = "w", .build = "test", .slots = 3, .gpus = l->gpus};
    limits_default(&o.limits);
    if (agent_open(&world, &o, &l->agent, &why) != ERR_OK) fail_msg("%s", why.text);
}

static void lab_open(struct lab *l) {
    *l = (struct lab){
        .net = {&net_ops}, .clock = {clock_wall, clock_mono, clock_random, NULL}, .now_ms = 5000, .epoch = 7};
    tmpdisk_make(&l->disk);
    buf_init(&l->said, 1u << 20);
    arena_init(&l->arena, 4096, 16u << 20);
    lab_start(l);
}

static void lab_close(struct lab *l) {
    agent_close(l->agent);
    tmpdisk_remove(&l->disk);
    buf_fini(&l->said);
    arena_fini(&l->arena);
}

/* The next thing the worker said, which must be this; NULL when `op` is 0, and then nothing was said. */
static const void *heard(struct lab *l, uint8_t op, uint32_t *ret_request) {
    struct slice in = arena_slice(&l->arena, buf_slice(&l->said));
    struct frame f;
    size_t need = 0;
    struct why why = {{0}};
    agent_pass(l->agent);
    in = arena_slice(&l->arena, buf_slice(&l->said));
    if (op == 0) {
        assert_int_equal(in.len, 0);
        return NULL;
    }
    assert_int_equal(frame_take(&in, 1u << 20, &f, &need, &why), ERR_OK);
    if (need != 0) fail_msg("%s was not said", wire_word(op));
    if (f.opcode != op) fail_msg("%s was said, not %s", wire_word(f.opcode), wire_word(op));
    size_t left = in.len;
    memmove(l->said.at, l->said.at + l->said.len - left, left);
    buf_cut(&l->said, left);
    void *message = arena_alloc(&l->arena, wire_info(op)->desc->size);
    assert_int_equal(wire_take(&f, &l->arena, message, &why), ERR_OK);
    if (ret_request != NULL) *ret_request = f.request;
    return message;
}

static void say(struct lab *l, enum wire_op op, uint32_t request, const void *message) {
    struct buf b;
    buf_init(&b, 1u << 20);
    wire_put(&b, op, request ? FRAME_ANSWER : 0, request, message);
    l->handler.received(l->handler.ctx, (conn_id){l->conn}, buf_slice(&b));
    buf_fini(&b);
}

/* Dials and attaches; what it said to hold. */
static const struct wire_attach *come_up(struct lab *l) {
    uint32_t request = 0;
    struct net_peer peer = {.address = "there"};
    agent_pass(l->agent);
    assert_true(l->conn != 0);
    l->handler.opened(l->handler.ctx, (conn_id){l->conn}, &peer);
    heard(l, WIRE_HELLO, &request);
    struct wire_welcome welcome = {.epoch = l->epoch};
    say(l, WIRE_WELCOME, request, &welcome);
    const struct wire_attach *attach = heard(l, WIRE_ATTACH, &request);
    struct wire_attached attached = {.epoch = l->epoch, .lease_ms = 10000, .heartbeat_ms = 1000};
    say(l, WIRE_ATTACHED, request, &attached);
    return attach;
}

static void assign(struct lab *l, uint32_t ordinal, enum job_kind kind, int64_t sleep_ms) {
    struct buf body;
    struct wire_run run = {.sleep_ms = sleep_ms};
    buf_init(&body, 1024);
    tlv_encode(&wire_run_desc, &run, &body);
    struct wire_assignment one = {
        .attempt = {0, 9, ordinal, 1}, .job = SLICE("f/x"), .kind = (uint8_t)kind, .body = buf_slice(&body)};
    struct wire_assign message = {l->epoch, {&one, 1}};
    say(l, WIRE_ASSIGN, 0, &message);
    buf_fini(&body);
}

static void assign_gpus(struct lab *l, uint32_t ordinal, const char *shell, uint32_t gpus) {
    struct buf body;
    struct wire_run run = {.shell = slice_str(shell)};
    buf_init(&body, 1024);
    tlv_encode(&wire_run_desc, &run, &body);
    struct wire_assignment one = {.attempt = {0, 9, ordinal, 1},
                                  .job = SLICE("f/x"),
                                  .kind = JOB_COMMAND,
                                  .body = buf_slice(&body),
                                  .gpus = gpus};
    struct wire_assign message = {l->epoch, {&one, 1}};
    say(l, WIRE_ASSIGN, 0, &message);
    buf_fini(&body);
}

static void stop(struct lab *l, uint32_t ordinal, enum wire_stop_cause cause) {
    struct wire_stopped one = {.attempt = {0, 9, ordinal, 1}, .cause = (uint8_t)cause};
    struct wire_stop_attempts message = {l->epoch, {&one, 1}};
    say(l, WIRE_CANCEL_ATTEMPT, 0, &message);
}

/* It says DONE for that one, with that outcome. */
static uint32_t done_heard(struct lab *l, uint32_t ordinal, enum wire_outcome outcome) {
    uint32_t request = 0;
    const struct wire_done *done = heard(l, WIRE_DONE, &request);
    const struct wire_end *end = done->ends.at;
    assert_int_equal(done->ends.count, 1);
    assert_int_equal(end->attempt.ordinal, ordinal);
    assert_int_equal(end->outcome, outcome);
    return request;
}

static void ack(struct lab *l, uint32_t ordinal, uint32_t request) {
    struct wire_end_ack one = {.attempt = {0, 9, ordinal, 1}};
    struct wire_done_ack message = {1, {&one, 1}};
    say(l, WIRE_DONE_ACK, request, &message);
}

static void an_attempt_is_run_once(void **state) {
    (void)state;
    struct lab l;
    lab_open(&l);
    assert_int_equal(come_up(&l)->held.count, 0);
    assign(&l, 1, JOB_SLEEP, 500);
    heard(&l, WIRE_STARTED, NULL);
    assign(&l, 1, JOB_SLEEP, 500); /* while it runs */
    heard(&l, 0, NULL);
    assert_int_equal(agent_held(l.agent), 1);
    assert_int_equal(agent_next(l.agent).ms, l.now_ms + 500);
    l.now_ms += 500;
    uint32_t request = done_heard(&l, 1, WIRE_OUTCOME_OK);
    assign(&l, 1, JOB_SLEEP, 500); /* while its end is on the way */
    heard(&l, 0, NULL);
    ack(&l, 1, request);
    assert_int_equal(agent_held(l.agent), 0);
    assign(&l, 1, JOB_SLEEP, 500); /* and after it */
    heard(&l, 0, NULL);
    assert_int_equal(agent_held(l.agent), 0);
    lab_close(&l);
}

static void a_stop_is_confirmed_and_a_drop_is_not(void **state) {
    (void)state;
    struct lab l;
    lab_open(&l);
    come_up(&l);
    assign(&l, 1, JOB_SLEEP, 5000);
    assign(&l, 2, JOB_SLEEP, 5000);
    heard(&l, WIRE_STARTED, NULL);
    stop(&l, 1, WIRE_STOP_CANCEL);
    ack(&l, 1, done_heard(&l, 1, WIRE_OUTCOME_STOPPED));
    stop(&l, 2, WIRE_STOP_DROP);
    heard(&l, 0, NULL);
    assert_int_equal(agent_held(l.agent), 0);
    stop(&l, 3, WIRE_STOP_CANCEL); /* before its assignment: confirmed, and never started */
    ack(&l, 3, done_heard(&l, 3, WIRE_OUTCOME_STOPPED));
    assign(&l, 3, JOB_SLEEP, 10);
    assign(&l, 2, JOB_SLEEP, 10);
    heard(&l, 0, NULL);
    stop(&l, 1, WIRE_STOP_CANCEL); /* long over */
    heard(&l, 0, NULL);
    lab_close(&l);
}

static void what_was_not_acknowledged_is_said_again(void **state) {
    (void)state;
    struct lab l;
    lab_open(&l);
    come_up(&l);
    assign(&l, 1, JOB_NOOP, 0);
    assign(&l, 2, JOB_SLEEP, 60000);
    heard(&l, WIRE_STARTED, NULL); /* of the one that still runs */
    done_heard(&l, 1, WIRE_OUTCOME_OK);
    l.handler.closed(l.handler.ctx, (conn_id){l.conn}, "gone");
    l.conn = 0;
    heard(&l, 0, NULL);
    assert_true(agent_next(l.agent).ms > l.now_ms); /* not at once */
    l.now_ms += 1000;
    const struct wire_attach *attach = come_up(&l);
    const struct wire_held *held = attach->held.at;
    assert_int_equal(attach->held.count, 2);
    assert_int_equal(attach->incarnation, 1);
    assert_int_equal(held[0].phase + held[1].phase, WIRE_HELD_FINISHED + WIRE_HELD_RUNNING);
    heard(&l, WIRE_STARTED, NULL);
    done_heard(&l, 1, WIRE_OUTCOME_OK);
    /* And by the next incarnation, from its disk; what had not ended is no more. */
    agent_close(l.agent);
    tmpdisk_reopen(&l.disk);
    l.conn = 0;
    lab_start(&l);
    attach = come_up(&l);
    assert_int_equal(attach->held.count, 1);
    assert_int_equal(attach->incarnation, 2);
    assert_int_equal(attach->epoch_seen, 7);
    ack(&l, 1, done_heard(&l, 1, WIRE_OUTCOME_OK));
    assert_int_equal(agent_held(l.agent), 0);
    lab_close(&l);
}

/* How long ago the end was that it tells of now. */
static uint64_t done_ago(struct lab *l, uint32_t *ret_request) {
    const struct wire_end *end = ((const struct wire_done *)heard(l, WIRE_DONE, ret_request))->ends.at;
    return end->ended_ago_ms;
}

/* An end that waits for its server says how long it has waited, each time; also one that waited on disk. */
static void an_end_says_how_long_ago_it_was(void **state) {
    (void)state;
    struct lab l;
    uint32_t request = 0;
    lab_open(&l);
    come_up(&l);
    assign(&l, 1, JOB_SLEEP, 500);
    heard(&l, WIRE_STARTED, NULL);
    l.handler.closed(l.handler.ctx, (conn_id){l.conn}, "gone");
    l.conn = 0;
    l.now_ms += 500;
    agent_pass(l.agent); /* it ends */
    l.handler.closed(l.handler.ctx, (conn_id){l.conn}, "nobody there");
    l.conn = 0;
    l.now_ms += 70000;
    come_up(&l);
    assert_int_equal(done_ago(&l, &request), 70000);
    l.handler.closed(l.handler.ctx, (conn_id){l.conn}, "gone");
    l.conn = 0;
    heard(&l, 0, NULL);
    l.now_ms += 1000;
    come_up(&l);
    assert_int_equal(done_ago(&l, &request), 71000);
    agent_close(l.agent);
    tmpdisk_reopen(&l.disk);
    l.conn = 0;
    l.now_ms += 4000;
    lab_start(&l);
    come_up(&l);
    assert_int_equal(done_ago(&l, &request), 75000);
    ack(&l, 1, request);
    assign(&l, 2, JOB_NOOP, 0);
    assert_int_equal(done_ago(&l, &request), 0);
    lab_close(&l);
}

/* ---- a slow server ---- */

static const struct disk_ops *real_ops;
static uint32_t creates, syncs;

static enum err counted_open(struct disk *d, const char *name, enum disk_open how, disk_file *ret, struct why *why) {
    creates += how == DISK_CREATE;
    return real_ops->open(d, name, how, ret, why);
}

static enum err counted_sync(struct disk *d, disk_file f, struct why *why) {
    syncs++;
    return real_ops->sync(d, f, why);
}

/* What a job costs the worker's disk does not depend on how many end while the server is slow. */
static void ends_that_a_slow_server_owes_share_a_sync(void **state) {
    (void)state;
    struct lab l;
    struct disk_ops counted;
    uint32_t request = 0, told = 0;
    lab_open(&l);
    real_ops = l.disk.disk->ops;
    counted = *real_ops;
    counted.open = counted_open;
    counted.sync = counted_sync;
    l.disk.disk->ops = &counted;
    come_up(&l);
    creates = syncs = 0;
    for (uint32_t i = 0; i < 400; i++) { /* 4 in each millisecond, none of them acknowledged for so long */
        assign(&l, i, JOB_NOOP, 0);
        if (i % 4 == 3) {
            told += (uint32_t)((const struct wire_done *)heard(&l, WIRE_DONE, &request))->ends.count;
            l.now_ms++;
        }
    }
    assert_int_equal(told, 400);
    assert_int_equal(syncs, 0);
    for (int i = 0; i < 300; i++) {
        l.now_ms++;
        agent_pass(l.agent);
    }
    assert_int_equal(creates, 1);
    assert_int_equal(syncs, 1);
    for (uint32_t i = 0; i < 100; i++) ack(&l, i, request);
    /* and they are all there after the worker has died */
    agent_close(l.agent);
    l.disk.disk->ops = real_ops;
    tmpdisk_reopen(&l.disk);
    l.conn = 0;
    buf_clear(&l.said);
    lab_start(&l);
    assert_true(come_up(&l)->held.count >= 300);
    for (uint32_t i = 0; i < 400; i++) ack(&l, i, request);
    assert_int_equal(agent_held(l.agent), 0);
    lab_close(&l);
}

static void words_of_an_earlier_server_are_ignored(void **state) {
    (void)state;
    struct lab l;
    lab_open(&l);
    come_up(&l);
    l.epoch = 6;
    assign(&l, 1, JOB_NOOP, 0);
    heard(&l, 0, NULL);
    l.epoch = 8;
    assign(&l, 1, JOB_SLEEP, 1000);
    heard(&l, WIRE_STARTED, NULL);
    l.epoch = 7; /* lower than what was seen meanwhile */
    stop(&l, 1, WIRE_STOP_CANCEL);
    heard(&l, 0, NULL);
    lab_close(&l);
}

/* The server counts what it dropped as free at once; the process takes its time to die. */
static void gpus_of_a_process_that_is_not_dead_yet_are_waited_for(void **state) {
    (void)state;
    struct lab l;
    struct why why;
    char path[300];
    lab_open(&l);
    agent_close(l.agent);
    tmpdisk_reopen(&l.disk);
    snprintf(path, sizeof path, "%s/space", l.disk.path);
    assert_int_equal(osproc_open(NULL, &l.real_proc, &why), ERR_OK);
    assert_int_equal(osspace_open(path, &l.real_space, &why), ERR_OK);
    l.gpus = 1;
    lab_start(&l);
    come_up(&l);
    assign_gpus(&l, 1, "exec sleep 600", 1);
    l.now_ms += 10;
    heard(&l, WIRE_STARTED, NULL);
    stop(&l, 1, WIRE_STOP_DROP);
    assign_gpus(&l, 2, "exec sleep 600", 1);
    assign_gpus(&l, 3, "true", 2); /* it will never have so many */
    done_heard(&l, 3, WIRE_OUTCOME_REFUSED);
    l.now_ms += 10;
    heard(&l, 0, NULL);
    for (int i = 0; i < 6000 && l.said.len == 0; i++) { /* until the first one's death is heard of */
        struct pollfd fd = {.fd = osproc_fd(l.real_proc), .events = POLLIN};
        if (poll(&fd, 1, 10) > 0) osproc_run(l.real_proc);
        agent_pass(l.agent);
        l.now_ms += l.now_ms < 5500 ? 10 : 0; /* no heartbeat */
        agent_pass(l.agent);
    }
    heard(&l, WIRE_STARTED, NULL);
    agent_close(l.agent);
    osproc_close(l.real_proc);
    osspace_close(l.real_space);
    tmpdisk_remove(&l.disk);
    buf_fini(&l.said);
    arena_fini(&l.arena);
}

static void a_silent_server_is_left(void **state) {
    (void)state;
    struct lab l;
    lab_open(&l);
    come_up(&l);
    uint32_t request = 0;
    for (int i = 0; i < 5; i++) { /* one that answers is not */
        l.now_ms += 1000;
        const struct wire_heartbeat *beat = heard(&l, WIRE_HEARTBEAT, &request);
        assert_int_equal(beat->load.credit, 3);
        struct wire_lease lease = {7, 10000, beat->sent_ms};
        say(&l, WIRE_LEASE, request, &lease);
    }
    uint64_t before = l.conns;
    for (int i = 0; i < 6; i++) {
        l.now_ms += 1000;
        buf_clear(&l.said);
        agent_pass(l.agent);
    }
    assert_true(l.conns > before || l.conn == 0);
    lab_close(&l);
}

static void a_draining_worker_gives_no_credit_and_detaches(void **state) {
    (void)state;
    struct lab l;
    lab_open(&l);
    come_up(&l);
    assign(&l, 1, JOB_SLEEP, 1500);
    heard(&l, WIRE_STARTED, NULL);
    agent_drain(l.agent);
    heard(&l, WIRE_DRAIN, NULL);
    l.now_ms += 1000;
    const struct wire_heartbeat *beat = heard(&l, WIRE_HEARTBEAT, NULL);
    assert_int_equal(beat->load.credit, 0);
    l.now_ms += 500;
    ack(&l, 1, done_heard(&l, 1, WIRE_OUTCOME_OK));
    assert_false(agent_is_over(l.agent));
    uint32_t request = 0;
    heard(&l, WIRE_DETACH, &request);
    struct wire_accepted accepted = {.lsn = 1};
    say(&l, WIRE_ACCEPTED, request, &accepted);
    assert_true(agent_is_over(l.agent));
    lab_close(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_attempt_is_run_once),
        cmocka_unit_test(a_stop_is_confirmed_and_a_drop_is_not),
        cmocka_unit_test(what_was_not_acknowledged_is_said_again),
        cmocka_unit_test(an_end_says_how_long_ago_it_was),
        cmocka_unit_test(ends_that_a_slow_server_owes_share_a_sync),
        cmocka_unit_test(words_of_an_earlier_server_are_ignored),
        cmocka_unit_test(gpus_of_a_process_that_is_not_dead_yet_are_waited_for),
        cmocka_unit_test(a_silent_server_is_left),
        cmocka_unit_test(a_draining_worker_gives_no_credit_and_detaches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
