/* given_away_test.c: a worker that comes back with an attempt that has been given away meanwhile, or goes while one is
 * being given to it, against the built server. All cases were found by the simulator. */
#include "test.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>

#include "realserver.h"
#include "wireclient.h"

static struct realserver server;

static int setup(void **state) {
    (void)state;
    realserver_make(&server);
    realserver_start(&server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    realserver_remove(&server);
    return 0;
}

static void send_attach(struct wireclient *w, uint64_t incarnation, struct wire_held *held, uint32_t count) {
    wireclient_open(w, server.address, server.worker, WIRE_PEER_WORKER);
    struct wire_attach m = {.worker = SLICE("w1"),
                            .incarnation = incarnation,
                            .info = {.pool = SLICE("default"), .slots = 8},
                            .load = {.credit = 8},
                            .held = {held, count}};
    assert_true(wireclient_send(w, WIRE_ATTACH, &m) != 0);
}

static const void *next(struct wireclient *w, enum wire_op op) {
    struct wiregot got;
    while (wireclient_next(w, WIRECLIENT_WAIT_MS, &got))
        if (got.op == op) return got.message;
    fail_msg("no %s came", wire_word((uint8_t)op));
    return NULL;
}

static struct wire_attempt assigned(struct wireclient *w) {
    const struct wire_assign *a = next(w, WIRE_ASSIGN);
    return ((const struct wire_assignment *)a->assignments.at)->attempt;
}

/* Worker w1 is given an exclusive job. */
static struct wire_attempt give(struct wireclient *w) {
    struct wireclient c;
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    struct wire_options options = {.kind = JOB_COMMAND,
                                   .attempts_max = 2,
                                   .backoff_base_ms = 1,
                                   .backoff_cap_ms = 1,
                                   .backoff_jitter_ms = 1,
                                   .exclusive = true};
    struct wire_job job = {.name = SLICE("one"), .body = SLICE("x")};
    struct wire_flow flow = {.name = SLICE("given"), .part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit submit = {{&flow, 1}};
    (void)wireclient_ask(&c, WIRE_SUBMIT, &submit, WIRE_SUBMITTED);
    wireclient_close(&c);
    send_attach(w, 1, NULL, 0);
    return assigned(w);
}

/* It goes, and comes back as a new incarnation without it: so the attempt ends as lost, and there is a second one.
 * Returns the first. */
static struct wire_attempt give_and_lose(struct wireclient *w) {
    struct wire_attempt attempt = give(w);
    wireclient_close(w);
    send_attach(w, 2, NULL, 0);
    assert_int_equal(assigned(w).attempt, 2);
    return attempt;
}

/* Ten bytes of output, and that it is over; what is said to that. */
static const void *tell_log_and_end(struct wireclient *w, struct wire_attempt attempt, enum wire_op answer) {
    struct wire_log_piece piece = {.data = SLICE("hello log\n")};
    struct wire_log_batch batch = {.attempt = attempt, .pieces = {&piece, 1}};
    struct wire_log log = {{&batch, 1}};
    assert_true(wireclient_tell(w, WIRE_LOG, &log));
    struct wire_end end = {.attempt = attempt, .outcome = WIRE_OUTCOME_OK, .log_bytes = 10};
    struct wire_done done = {{&end, 1}};
    return wireclient_ask(w, WIRE_DONE, &done, answer);
}

/* Its log is not wanted any more, so it is not missed either: else the worker would try for ever. */
static void an_end_that_comes_too_late_is_refused_for_good(void **state) {
    (void)state;
    struct wireclient w;
    struct wire_attempt attempt = give_and_lose(&w);
    const struct wire_done_ack *ack = tell_log_and_end(&w, attempt, WIRE_DONE_ACK);
    const struct wire_end_ack *one = ack->acks.at;
    assert_int_equal(ack->acks.count, 1);
    assert_true(slice_eq(one->code, SLICE("stale")));
    wireclient_close(&w);
}

/* The worker's goodbye and an order crossed. Its log is taken only from whoever is attached, so is its end. */
static void an_end_behind_a_goodbye_waits_for_the_next_attach(void **state) {
    (void)state;
    struct wireclient w;
    struct wire_attempt attempt = give(&w);
    struct wire_detach detach = {.reason = SLICE("drained")};
    (void)wireclient_ask(&w, WIRE_DETACH, &detach, WIRE_ACCEPTED);
    const struct wire_error *refused = tell_log_and_end(&w, attempt, WIRE_ERROR);
    assert_true(slice_eq(refused->code, SLICE("wrong_state")));
    wireclient_close(&w);
    struct wire_held held = {.attempt = attempt, .phase = WIRE_HELD_FINISHED};
    send_attach(&w, 1, &held, 1);
    (void)next(&w, WIRE_ATTACHED);
    const struct wire_done_ack *ack = tell_log_and_end(&w, attempt, WIRE_DONE_ACK);
    assert_int_equal(((const struct wire_end_ack *)ack->acks.at)->code.len, 0);
    wireclient_close(&w);
}

/* An exclusive attempt that waits for a lease must not begin with the one that `attached` gives. */
static void what_is_not_its_own_is_dropped_before_attached(void **state) {
    (void)state;
    struct wireclient w;
    struct wiregot got;
    struct wire_held held = {.attempt = give_and_lose(&w), .phase = WIRE_HELD_ASSIGNED};
    wireclient_close(&w);
    send_attach(&w, 2, &held, 1);
    assert_true(wireclient_next(&w, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.op, WIRE_CANCEL_ATTEMPT);
    const struct wire_stop_attempts *m = got.message;
    assert_int_equal(m->stops.count, 1);
    assert_int_equal(((const struct wire_stopped *)m->stops.at)->cause, WIRE_STOP_DROP);
    (void)next(&w, WIRE_ATTACHED);
    wireclient_close(&w);
}

/* ---- a server that stood still ---- */

#define LEASE_MS 400
#define LEASE_FLAG "--lease-ms=400"
#define HEARTBEAT_FLAG "--heartbeat-ms=100"

static int setup_short(void **state) {
    (void)state;
    realserver_make(&server);
    server.flags[0] = LEASE_FLAG;
    server.flags[1] = HEARTBEAT_FLAG;
    realserver_start(&server);
    return 0;
}

/* What is tested is time itself: there is no other event to wait for. */
static void stand_still(void) {
    assert_int_equal(kill(server.pid, SIGSTOP), 0);
    (void)poll(NULL, 0, LEASE_MS * 3);
}

static void assert_ends_well(struct wireclient *w, struct wire_attempt attempt) {
    const struct wire_done_ack *ack = tell_log_and_end(w, attempt, WIRE_DONE_ACK);
    assert_int_equal(ack->acks.count, 1);
    assert_int_equal(((const struct wire_end_ack *)ack->acks.at)->code.len, 0);
}

static void a_server_that_stood_still_hears_its_workers_first(void **state) {
    (void)state;
    struct wireclient w;
    struct wire_attempt attempt = give(&w);
    stand_still();
    struct wire_heartbeat beat = {.load = {.credit = 8}};
    assert_true(wireclient_send(&w, WIRE_HEARTBEAT, &beat) != 0);
    assert_int_equal(kill(server.pid, SIGCONT), 0);
    (void)next(&w, WIRE_LEASE);
    assert_ends_well(&w, attempt);
    wireclient_close(&w);
}

static void a_worker_finds_back_to_a_server_that_stood_still(void **state) {
    (void)state;
    struct wireclient w;
    struct wire_attempt attempt = give(&w);
    wireclient_close(&w); /* it has given up on the connection */
    stand_still();
    assert_int_equal(kill(server.pid, SIGCONT), 0);
    struct wire_held held = {.attempt = attempt, .phase = WIRE_HELD_RUNNING};
    send_attach(&w, 1, &held, 1);
    (void)next(&w, WIRE_ATTACHED);
    assert_ends_well(&w, attempt);
    wireclient_close(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_end_that_comes_too_late_is_refused_for_good, setup, teardown),
        cmocka_unit_test_setup_teardown(an_end_behind_a_goodbye_waits_for_the_next_attach, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_not_its_own_is_dropped_before_attached, setup, teardown),
        cmocka_unit_test_setup_teardown(a_server_that_stood_still_hears_its_workers_first, setup_short, teardown),
        cmocka_unit_test_setup_teardown(a_worker_finds_back_to_a_server_that_stood_still, setup_short, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
