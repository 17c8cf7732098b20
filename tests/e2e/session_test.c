/* session_test.c: the built server and connections of the native wire that break its rules: requests that cannot be
 * answered, ids that are used twice, workers that are none. Nothing of it reaches anyone else. */
#include "test.h"

#include <stdio.h>
#include <time.h>

#include "realserver.h"
#include "webclient.h"
#include "wireclient.h"

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

/* ---- native frames ---- */

static uint32_t caller_count;

/* A token of one tenant with one role. */
static void token_for(const char *tenant, const char *role, char ret[80]) {
    struct wireclient c;
    char name[64];
    snprintf(name, sizeof name, "%s-%s-%u", tenant, role, ++caller_count);
    struct wire_name roles[1] = {{slice_str(role)}};
    struct wire_token_new m = {.name = slice_str(name), .tenant = slice_str(tenant), .roles = {roles, 1}};
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    const struct wire_token_given *got = wireclient_ask(&c, WIRE_TOKEN_NEW, &m, WIRE_TOKEN_GIVEN);
    snprintf(ret, 80, "%.*s", SLICE_FMT(got->token));
    wireclient_close(&c);
}

static void frame_put(struct buf *out, uint8_t opcode, uint32_t request) {
    frame_close(out, frame_open(out, opcode, 0, request));
}

static bool says(const struct wire_error *e, const char *words) {
    char text[512];
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(e->message));
    return strstr(text, words) != NULL;
}

static void hung_up_with(struct wireclient *c, const char *words) {
    struct wiregot got;
    assert_true(wireclient_next(c, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.op, WIRE_ERROR);
    assert_int_equal(got.request, 0);
    const struct wire_error *e = got.message;
    if (!says(e, words)) fail_msg("%.*s", SLICE_FMT(e->message));
    assert_false(wireclient_next(c, WIRECLIENT_WAIT_MS, &got));
    wireclient_close(c);
}

static void a_request_that_cannot_be_answered_ends_its_connection_only(void **state) {
    (void)state;
    char viewer[80];
    token_for("acme", "viewer", viewer);
    const char *const tokens[] = {server.admin, server.worker, viewer};
    struct buf frame;
    buf_init(&frame, 64);
    for (uint32_t op = 0; op < 256; op++) {
        const struct wire_info *info = wire_info((uint8_t)op);
        if (info == NULL || info->sender == WIRE_FROM_SERVER || info->answer == 0) continue;
        for (size_t i = 0; i < sizeof tokens / sizeof tokens[0]; i++) {
            struct wireclient c;
            wireclient_open(&c, server.address, tokens[i], WIRE_PEER_CLIENT);
            buf_clear(&frame);
            frame_put(&frame, (uint8_t)op, 0);
            assert_true(wireclient_send_raw(&c, frame.at, frame.len));
            hung_up_with(&c, "needs a request id");
        }
    }
    buf_fini(&frame);
    assert_true(webclient_is_served(server.address, server.admin));
}

/* Ids are the client's: what it confuses by using one twice is its own. */
static void a_request_id_that_is_in_use_does_no_harm(void **state) {
    (void)state;
    struct wireclient c;
    struct buf frames;
    struct wiregot got;
    buf_init(&frames, 1 << 20);
    for (uint32_t op = 0; op < 256; op++) {
        const struct wire_info *info = wire_info((uint8_t)op);
        if (info == NULL || info->sender == WIRE_FROM_SERVER || info->answer == 0) continue;
        for (uint32_t i = 0; i < 3; i++) frame_put(&frames, (uint8_t)op, 7);
    }
    struct wire_stop stop = {.request = 7};
    for (uint32_t i = 0; i < 64; i++) wire_put(&frames, WIRE_STOP, 0, 8, &stop);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    assert_true(wireclient_send_raw(&c, frames.at, frames.len));
    frames.len = 0;
    frame_put(&frames, WIRE_PING, 9);
    frame_put(&frames, WIRE_STATS, 10); /* behind all of the second lane */
    assert_true(wireclient_send_raw(&c, frames.at, frames.len));
    do assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    while (got.request != 10);
    /* a watch that took the place of one with its id is told of a change once, and is ended by one stop */
    struct wire_kv_watch watch = {.key = SLICE("twice")};
    struct wire_kv_entry entry = {SLICE("twice"), SLICE("v")};
    struct wire_kv_change set = {.op = WIRE_KV_SET, .entries = {&entry, 1}};
    stop.request = 20;
    frames.len = 0;
    for (uint32_t i = 0; i < 3; i++) wire_put(&frames, WIRE_KV_WATCH, 0, 20, &watch);
    wire_put(&frames, WIRE_KV_CHANGE, 0, 21, &set);
    wire_put(&frames, WIRE_STATS, 0, 22, &(struct wire_empty){0});
    assert_true(wireclient_send_raw(&c, frames.at, frames.len));
    uint32_t told = 0;
    do {
        assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
        if (got.op == WIRE_KV_EVENT && ((const struct wire_kv_event *)got.message)->key.len > 0) told++;
    } while (got.request != 22);
    assert_int_equal(told, 1);
    (void)wireclient_ask(&c, WIRE_STOP, &stop, WIRE_ACCEPTED);
    (void)wireclient_refused(&c, WIRE_STOP, &stop, ERR_NOT_FOUND);
    wireclient_close(&c);
    buf_fini(&frames);
    assert_true(webclient_is_served(server.address, server.admin));
}

/* ---- workers ---- */

static struct wire_attach attach_as(const char *id, uint64_t incarnation) {
    return (struct wire_attach){.worker = slice_str(id),
                                .incarnation = incarnation,
                                .info = {.pool = SLICE("default"), .slots = 1},
                                .load = {.credit = 1}};
}

/* A flow of one job that a worker has to run. */
static void submit_for(const char *token) {
    struct webclient c;
    webclient_open(&c, server.address, token);
    struct webgot got = webclient_ask(&c, "POST", "/api/v1/flows",
                                      "{\"jobs\": {\"a\": {\"run\": \"true\", \"env\": {\"P\": \"secret\"}}}}");
    if (got.status != 201) fail_msg("%d %s", got.status, got.body);
    webclient_close(&c);
}

/* The next assignment. Everything else that comes is fine. */
static struct wire_attempt assigned(struct wireclient *c) {
    struct wiregot got;
    do
        if (!wireclient_next(c, WIRECLIENT_WAIT_MS, &got)) fail_msg("no assignment came");
    while (got.op != WIRE_ASSIGN);
    const struct wire_assign *m = got.message;
    return ((const struct wire_assignment *)m->assignments.at)[0].attempt;
}

static void done_put(struct buf *out, uint32_t request, const struct wire_attempt *attempt, const char *result) {
    struct wire_end end = {.attempt = *attempt, .outcome = WIRE_OUTCOME_OK, .result = slice_str(result)};
    struct wire_done m = {.ends = {&end, 1}};
    wire_put(out, WIRE_DONE, 0, request, &m);
}

/* The code and the words of an error that answers this request. Nothing is assigned meanwhile. */
static const struct wire_error *refusal_of(struct wireclient *c, uint32_t request) {
    struct wiregot got;
    do {
        assert_true(wireclient_next(c, WIRECLIENT_WAIT_MS, &got));
        assert_int_not_equal(got.op, WIRE_ASSIGN);
    } while (got.request != request);
    assert_int_equal(got.op, WIRE_ERROR);
    return got.message;
}

static void a_worker_of_another_tenant_cannot_take_an_id(void **state) {
    (void)state;
    char acme[80], globex[80], submitter[80], text[80];
    struct wireclient own, foreign;
    token_for("acme", "worker", acme);
    token_for("globex", "worker", globex);
    token_for("acme", "submitter", submitter);
    wireclient_open(&own, server.address, acme, WIRE_PEER_WORKER);
    struct wire_attach attach = attach_as("box-00aa11", 1);
    (void)wireclient_ask(&own, WIRE_ATTACH, &attach, WIRE_ATTACHED);
    submit_for(submitter);
    struct wire_attempt first = assigned(&own);

    struct buf frames;
    buf_init(&frames, 1 << 16);
    static const uint64_t incarnations[] = {0, 1, 2, UINT64_C(1) << 40};
    wireclient_open(&foreign, server.address, globex, WIRE_PEER_WORKER);
    struct wire_attach unformed = attach_as("", 1);
    wireclient_send(&foreign, WIRE_ATTACH, &unformed);
    const struct wire_error *bad = refusal_of(&foreign, foreign.request_last);
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(bad->code));
    for (size_t i = 0; i < sizeof incarnations / sizeof incarnations[0]; i++) {
        attach.incarnation = incarnations[i];
        buf_clear(&frames);
        wire_put(&frames, WIRE_ATTACH, 0, 100, &attach);
        done_put(&frames, 101, &first, "{\"forged\": true}");
        assert_true(wireclient_send_raw(&foreign, frames.at, frames.len));
        bool attach_was_refused = false, done_was_refused = false;
        while (!attach_was_refused || !done_was_refused) {
            struct wiregot got;
            assert_true(wireclient_next(&foreign, WIRECLIENT_WAIT_MS, &got));
            assert_int_equal(got.op, WIRE_ERROR);
            const struct wire_error *e = got.message;
            if (got.request == 101) done_was_refused = true;
            if (got.request != 100) continue;
            attach_was_refused = true;
            assert_true(slice_eq(e->code, slice_str(text))); /* as an id that is none */
            assert_false(says(e, "box-00aa11") && says(e, "another"));
        }
    }
    /* the job is still its worker's, whose connection is still there, and the next one goes there, too */
    buf_clear(&frames);
    done_put(&frames, 200, &first, "");
    assert_true(wireclient_send_raw(&own, frames.at, frames.len));
    submit_for(submitter);
    struct wire_attempt second = assigned(&own);
    assert_int_not_equal(second.flow, first.flow);
    wireclient_close(&foreign);
    /* whether a worker is there cannot be asked either */
    char viewer[80];
    token_for("globex", "viewer", viewer);
    wireclient_open(&foreign, server.address, viewer, WIRE_PEER_CLIENT);
    struct wire_list list = {.what = WIRE_LIST_RUNNING, .name = SLICE("box-00aa11")};
    const char *there = wireclient_refused(&foreign, WIRE_LIST, &list, ERR_NOT_FOUND);
    assert_string_equal(there, "there is no worker box-00aa11");
    wireclient_close(&foreign);
    wireclient_close(&own);
    buf_fini(&frames);
}

/* `attach`, `detach` and `attach` again in one write: the words of a worker behind them are its own. */
static void a_worker_may_speak_behind_its_attach(void **state) {
    (void)state;
    char acme[80], submitter[80];
    struct wireclient c;
    struct buf frames;
    struct wiregot got;
    token_for("acme", "worker", acme);
    token_for("acme", "submitter", submitter);
    struct wire_attach attach = attach_as("box-00aa22", 1);
    buf_init(&frames, 1 << 16);
    wire_put(&frames, WIRE_ATTACH, 0, 1, &attach);
    frame_put(&frames, WIRE_DETACH, 2);
    frame_put(&frames, WIRE_HEARTBEAT, 3);
    wire_put(&frames, WIRE_ATTACH, 0, 4, &attach);
    frame_put(&frames, WIRE_HEARTBEAT, 5);
    wireclient_open(&c, server.address, acme, WIRE_PEER_WORKER);
    assert_true(wireclient_send_raw(&c, frames.at, frames.len));
    static const uint8_t answers[] = {0, WIRE_ATTACHED, WIRE_ACCEPTED, WIRE_ERROR, WIRE_ATTACHED, WIRE_LEASE};
    for (uint32_t left = 5; left > 0; left--) {
        do assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
        while (got.request == 0);
        assert_int_equal(got.op, answers[got.request]);
    }
    struct wire_load credit = {.credit = 1};
    assert_true(wireclient_tell(&c, WIRE_CREDIT, &credit));
    submit_for(submitter);
    (void)assigned(&c);
    wireclient_close(&c);
    buf_fini(&frames);
}

static void a_worker_that_is_hung_up_on_gets_nothing_more(void **state) {
    (void)state;
    char acme[80], submitter[80], viewer[80];
    struct buf frames;
    buf_init(&frames, 1 << 16);
    token_for("hung", "worker", acme);
    token_for("hung", "submitter", submitter);
    token_for("globex", "viewer", viewer);
    for (uint32_t round = 0; round < 4; round++) {
        struct wireclient c, next;
        struct wiregot got;
        bool waits = round % 2 == 0; /* a job does, before the worker comes */
        struct wire_attach attach = attach_as("box-00aa33", 1 + round);
        struct wire_attempt nobodys = {.flow = 999999, .ordinal = 1, .attempt = 1};
        struct wire_log_piece pieces[] = {{.data = SLICE("x")}, {.offset = 7, .data = SLICE("y")}}; /* with a gap */
        struct wire_log_batch batch = {.attempt = nobodys, .pieces = {pieces, 2}};
        struct wire_log log = {.batches = {&batch, 1}};
        if (waits) submit_for(submitter);
        buf_clear(&frames);
        wire_put(&frames, WIRE_ATTACH, 0, 1, &attach);
        wire_put(&frames, WIRE_LOG, 0, 0, &log);
        wireclient_open(&c, server.address, acme, WIRE_PEER_WORKER);
        assert_true(wireclient_send_raw(&c, frames.at, frames.len));
        while (wireclient_next(&c, WIRECLIENT_WAIT_MS, &got)) assert_int_not_equal(got.op, WIRE_ASSIGN);
        wireclient_close(&c);
        wireclient_open(&next, server.address, viewer, WIRE_PEER_CLIENT); /* has the place of that session now */
        if (!waits) submit_for(submitter);
        uint32_t ping = wireclient_send(&next, WIRE_STATS, &(struct wire_empty){0});
        do {
            assert_true(wireclient_next(&next, WIRECLIENT_WAIT_MS, &got));
            assert_int_not_equal(got.op, WIRE_ASSIGN);
        } while (got.request != ping);
        /* the worker comes back, and has the job */
        attach.incarnation++;
        wireclient_open(&c, server.address, acme, WIRE_PEER_WORKER);
        (void)wireclient_send(&c, WIRE_ATTACH, &attach);
        struct wire_attempt attempt = assigned(&c);
        buf_clear(&frames);
        done_put(&frames, 9, &attempt, "");
        assert_true(wireclient_send_raw(&c, frames.at, frames.len));
        do assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
        while (got.request != 9);
        wireclient_close(&c);
        wireclient_close(&next);
    }
    buf_fini(&frames);
    assert_true(webclient_is_served(server.address, server.admin));
}

/* Tries until the id is free: a worker that says nothing is forgotten some time after its lease. */
static void attach_when_free(struct wireclient *c, const struct wire_attach *attach) {
    time_t end = time(NULL) + 60;
    struct wiregot got;
    do {
        assert_true(time(NULL) < end);
        wireclient_send(c, WIRE_ATTACH, attach);
        do assert_true(wireclient_next(c, WIRECLIENT_WAIT_MS, &got));
        while (got.request != c->request_last);
    } while (got.op != WIRE_ATTACHED);
}

static void a_worker_whose_id_was_taken_cannot_drain_the_new_one(void **state) {
    (void)state;
    struct realserver usual = server;
    char acme[80], globex[80];
    struct wireclient old, taker;
    struct wire_attach attach = attach_as("box-00cc22", 1);
    realserver_make(&server);
    server.flags[0] = "--lease-ms";
    server.flags[1] = "300";
    realserver_start(&server);
    token_for("acme", "worker", acme);
    token_for("globex", "worker", globex);
    wireclient_open(&old, server.address, acme, WIRE_PEER_WORKER);
    (void)wireclient_ask(&old, WIRE_ATTACH, &attach, WIRE_ATTACHED);
    wireclient_open(&taker, server.address, globex, WIRE_PEER_WORKER);
    attach_when_free(&taker, &attach);
    struct wire_drain unnamed = {0}, named = {.worker = attach.worker};
    (void)wireclient_refused(&old, WIRE_DRAIN, &unnamed, ERR_STALE);
    (void)wireclient_refused(&old, WIRE_DRAIN, &named, ERR_STALE);
    struct wire_heartbeat beat = {.load = {.credit = 1}}; /* of the same incarnation, too */
    (void)wireclient_refused(&old, WIRE_HEARTBEAT, &beat, ERR_STALE);
    (void)wireclient_ask(&taker, WIRE_HEARTBEAT, &beat, WIRE_LEASE);
    wireclient_close(&old);
    wireclient_close(&taker);
    realserver_remove(&server);
    server = usual;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_that_cannot_be_answered_ends_its_connection_only),
        cmocka_unit_test(a_request_id_that_is_in_use_does_no_harm),
        cmocka_unit_test(a_worker_of_another_tenant_cannot_take_an_id),
        cmocka_unit_test(a_worker_may_speak_behind_its_attach),
        cmocka_unit_test(a_worker_that_is_hung_up_on_gets_nothing_more),
        cmocka_unit_test(a_worker_whose_id_was_taken_cannot_drain_the_new_one),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
