/* server_test.c: the built server, over real sockets: what it acknowledges it keeps, whatever happens to it, and what
 * makes no sense it refuses with a sentence. */
#include "test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static void open_admin(struct wireclient *c) {
    wireclient_open(c, server.address, server.admin, WIRE_PEER_CLIENT);
}

/* ---- flows ---- */

static uint32_t send_noop(struct wireclient *c, struct slice name, struct slice key) {
    struct wire_options options = {.kind = JOB_NOOP};
    struct wire_job job = {.name = SLICE("only")};
    struct wire_flow flow = {.name = name, .key = key, .part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    return wireclient_send(c, WIRE_SUBMIT, &m);
}

static struct slice submit_noop(struct wireclient *c, struct slice name, struct slice key) {
    uint32_t request = send_noop(c, name, key);
    struct wiregot got;
    assert_true(wireclient_next(c, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.request, request);
    assert_int_equal(got.op, WIRE_SUBMITTED);
    const struct wire_submitted *m = got.message;
    const struct wire_submitted_flow *f = m->flows.at;
    assert_int_equal(m->flows.count, 1);
    if (f->code.len > 0) fail_msg("%.*s", SLICE_FMT(f->message));
    assert_true(m->lsn > 0);
    return f->flow;
}

static const struct wire_got *get(struct wireclient *c, struct slice target) {
    struct wire_get m = {.target = target, .details = true};
    return wireclient_ask(c, WIRE_GET, &m, WIRE_GOT);
}

static void a_submit_survives_a_kill(void **state) {
    (void)state;
    struct wireclient c;
    char ids[50][24];
    open_admin(&c);
    for (int i = 0; i < 50; i++) {
        struct slice id = submit_noop(&c, SLICE("kept"), (struct slice){0});
        snprintf(ids[i], sizeof ids[i], "%.*s", SLICE_FMT(id));
    }
    wireclient_close(&c);
    realserver_kill(&server);
    realserver_start(&server);
    open_admin(&c);
    for (int i = 0; i < 50; i++) {
        const struct wire_got *g = get(&c, slice_str(ids[i]));
        assert_true(slice_eq(g->flow.name, SLICE("kept")));
        assert_int_equal(g->jobs.count, 1);
    }
    wireclient_close(&c);
}

/* Submits until the server is gone; returns how many were acknowledged, all of them in `ids`. */
static int submit_until_killed(char (*ids)[24], int most, int kill_after) {
    struct wireclient c;
    struct wiregot got;
    int acknowledged = 0;
    open_admin(&c);
    for (int i = 0; i < 64; i++) send_noop(&c, SLICE("flood"), (struct slice){0});
    while (acknowledged < most && wireclient_next(&c, WIRECLIENT_WAIT_MS, &got)) {
        if (got.op != WIRE_SUBMITTED) continue;
        const struct wire_submitted *m = got.message;
        const struct wire_submitted_flow *f = m->flows.at;
        if (f->flow.len > 0) snprintf(ids[acknowledged++], sizeof ids[0], "%.*s", SLICE_FMT(f->flow));
        if (acknowledged == kill_after) realserver_kill(&server);
        if (server.pid != 0) (void)send_noop(&c, SLICE("flood"), (struct slice){0});
    }
    wireclient_close(&c);
    return acknowledged;
}

static void nothing_acknowledged_is_lost_in_a_flood(void **state) {
    (void)state;
    static char ids[4000][24];
    for (int round = 0; round < 8; round++) {
        int count = submit_until_killed(ids, 4000, 150 + round * 37);
        assert_true(count >= 150);
        realserver_start(&server);
        struct wireclient c;
        open_admin(&c);
        for (int i = 0; i < count; i++) (void)get(&c, slice_str(ids[i]));
        wireclient_close(&c);
    }
}

static const struct wire_submitted_flow *submit_file(struct wireclient *c, struct slice spec, struct slice params) {
    struct wire_flow flow = {.spec = spec, .params = params};
    struct wire_submit m = {{&flow, 1}};
    const struct wire_submitted *got = wireclient_ask(c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    return got->flows.at;
}

#define BLOB_OF_NOBODY "sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void a_flow_file_is_taken_as_json(void **state) {
    (void)state;
    struct wireclient c;
    open_admin(&c);
    const char *file = "{\"name\":\"filed\",\"params\":{\"n\":null},\"jobs\":"
                       "{\"b\":{\"noop\":true,\"needs\":\"a\"},\"a\":{\"sleep\":\"${params.n}\"}}}";
    const struct wire_submitted_flow *f = submit_file(&c, slice_str(file), SLICE("{\"n\":\"5s\"}"));
    if (f->code.len > 0) fail_msg("%.*s", SLICE_FMT(f->message));
    assert_int_equal(f->job_count, 2);
    const struct wire_got *g = get(&c, f->flow);
    assert_true(slice_eq(g->flow.name, SLICE("filed")));
    assert_int_equal(g->jobs.count, 2);
    static const struct {
        const char *file, *params, *said;
    } bad[] = {
        {"{\"jobs\":{}}", "", "flow:1:9: a flow needs at least one job"},
        {"{\"jobs\"", "", "flow: line 1"},
        {"{\"jobs\":{\"a\":{\"script\":\"/etc/passwd\"}}}", "", "files cannot be named here"},
        {"{\"jobs\":{\"a\":{\"script\":{\"file\":\"sha256:abc\"}}}}", "", "files cannot be named here"},
        {"{\"jobs\":{\"a\":{\"script\":{\"file\":\"" BLOB_OF_NOBODY "\",\"name\":\"x.sh\"}}}}", "", "blob"},
        {"{\"jobs\":{\"a\":\"x\"}}", "[]", "params: expected an object"},
        {"{\"jobs\":{\"a\":\"x\"}}", "{\"z\":1}", "the flow has no parameter `z`"},
        {"{\"jobs\":{\"a\":{\"run\":\"x\",\"when\":\"1 +\"}}}", "", "flow:1:32: when:1: unexpected symbol"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        f = submit_file(&c, slice_str(bad[i].file), slice_str(bad[i].params));
        char text[512];
        snprintf(text, sizeof text, "%.*s", SLICE_FMT(f->message));
        assert_int_equal(f->flow.len, 0);
        if (strstr(text, bad[i].said) == NULL) fail_msg("`%s` is not in: %s", bad[i].said, text);
    }
    wireclient_close(&c);
}

/* Jobs that no flow file was read for: what they would ask is looked at all the same. */
static void questions_that_have_no_answer_are_refused(void **state) {
    (void)state;
    static const struct {
        struct wire_run run;
        uint8_t gates;
        const char *said;
    } bad[] = {
        {{.when = SLICE("jobs.")}, 1, "job a: when:1: <name> expected"},
        {{.when = SLICE("jobs.b.outputs")}, 1, "it uses outputs of `b`, which must be one of its parents"},
        {{.foreach = SLICE("{")}, 128, "job a: foreach:1: unexpected symbol"},
        {{.shell = SLICE("echo ${jobs.b.outputs}")}, 2, "it uses outputs of `b`"},
        {{.shell = SLICE("echo ${jobs.b")}, 2, "without its `}`"},
    };
    struct wireclient c;
    open_admin(&c);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct buf body;
        buf_init(&body, 1 << 16);
        tlv_encode(&wire_run_desc, &bad[i].run, &body);
        struct wire_options options = {.kind = JOB_COMMAND, .gates = bad[i].gates};
        struct wire_job job = {.name = SLICE("a"), .body = buf_slice(&body)};
        struct wire_flow flow = {.part = {.options = {&options, 1}, .jobs = {&job, 1}}};
        struct wire_submit m = {.flows = {&flow, 1}};
        const struct wire_submitted *got = wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
        const struct wire_submitted_flow *f = got->flows.at;
        char text[512];
        snprintf(text, sizeof text, "%.*s", SLICE_FMT(f->message));
        assert_int_equal(f->flow.len, 0);
        if (strstr(text, bad[i].said) == NULL) fail_msg("`%s` is not in: %s", bad[i].said, text);
        buf_fini(&body);
    }
    wireclient_close(&c);
}

static void a_key_answers_twice_the_same(void **state) {
    (void)state;
    struct wireclient c;
    char first[24];
    open_admin(&c);
    struct slice id = submit_noop(&c, SLICE("keyed"), SLICE("key-1"));
    snprintf(first, sizeof first, "%.*s", SLICE_FMT(id));
    wireclient_close(&c);
    realserver_kill(&server);
    realserver_start(&server);
    open_admin(&c);
    struct slice second = submit_noop(&c, SLICE("keyed"), SLICE("key-1"));
    assert_true(slice_eq(second, slice_str(first)));
    uint32_t request = send_noop(&c, SLICE("another"), SLICE("key-1"));
    struct wiregot got;
    assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.request, request);
    const struct wire_submitted *m = got.message;
    assert_true(slice_eq(((struct wire_submitted_flow *)m->flows.at)->code, SLICE("conflict")));
    wireclient_close(&c);
}

/* ---- a worker on the wire ---- */

static void attach(struct wireclient *w, const char *name, uint64_t incarnation, struct wire_held *held,
                   uint32_t count) {
    wireclient_open(w, server.address, server.worker, WIRE_PEER_WORKER);
    struct wire_attach m = {.worker = slice_str(name),
                            .incarnation = incarnation,
                            .info = {.pool = SLICE("default"), .slots = 8},
                            .load = {.credit = 8},
                            .held = {held, count}};
    const struct wire_attached *a = wireclient_ask(w, WIRE_ATTACH, &m, WIRE_ATTACHED);
    assert_true(a->epoch > 0);
    assert_true(a->lease_ms > 0);
}

static const struct wire_assign *next_assign(struct wireclient *w) {
    struct wiregot got;
    while (wireclient_next(w, WIRECLIENT_WAIT_MS, &got))
        if (got.op == WIRE_ASSIGN) return got.message;
    fail_msg("nothing was assigned");
    return NULL;
}

static void say_done(struct wireclient *w, const struct wire_attempt *a, uint64_t log_bytes, struct slice result) {
    struct wire_end end = {.attempt = *a, .outcome = WIRE_OUTCOME_OK, .log_bytes = log_bytes, .result = result};
    struct wire_done m = {{&end, 1}};
    const struct wire_done_ack *ack = wireclient_ask(w, WIRE_DONE, &m, WIRE_DONE_ACK);
    const struct wire_end_ack *one = ack->acks.at;
    assert_int_equal(ack->acks.count, 1);
    if (one->code.len > 0) fail_msg("%.*s: %.*s", SLICE_FMT(one->code), SLICE_FMT(one->message));
}

static void say_started(struct wireclient *w, struct wire_attempt a) {
    struct wire_attempts m = {{&a, 1}};
    assert_true(wireclient_tell(w, WIRE_STARTED, &m));
}

static void wait_over(struct wireclient *c, struct slice flow, const char *state_word) {
    struct wire_name name = {flow};
    struct wire_wait m = {.targets = {&name, 1}, .timeout_ms = WIRECLIENT_WAIT_MS};
    const struct wire_waited *w = wireclient_ask(c, WIRE_WAIT, &m, WIRE_WAITED);
    assert_false(w->timed_out);
    assert_int_equal(w->over.count, 1);
    const struct wire_job_view *v = w->over.at;
    assert_true(slice_eq(v->state, slice_str(state_word)));
}

static void hear_log_ack(struct wireclient *w, struct wire_attempt a, uint64_t offset) {
    struct wiregot got;
    do assert_true(wireclient_next(w, WIRECLIENT_WAIT_MS, &got));
    while (got.op != WIRE_LOG_ACK);
    const struct wire_log_ack *m = got.message;
    const struct wire_log_mark *mark = m->marks.at;
    assert_int_equal(m->marks.count, 1);
    assert_int_equal(mark->attempt.ordinal, a.ordinal);
    assert_int_equal(mark->offset, offset);
}

/* An end that names a log which did not come is not recorded, and the worker hears how much of it did. */
static void say_too_early(struct wireclient *w, struct wire_attempt a) {
    struct wire_end end = {.attempt = a, .outcome = WIRE_OUTCOME_OK, .log_bytes = 10};
    struct wire_done m = {{&end, 1}};
    uint32_t request = wireclient_send(w, WIRE_DONE, &m);
    struct wiregot got;
    hear_log_ack(w, a, 0);
    assert_true(wireclient_next(w, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.request, request);
    assert_int_equal(got.op, WIRE_ERROR);
    assert_true(slice_eq(((const struct wire_error *)got.message)->code, SLICE("conflict")));
}

static void a_worker_runs_a_chain_with_results_and_logs(void **state) {
    (void)state;
    struct wireclient c, w;
    open_admin(&c);
    struct wire_options options = {.kind = JOB_COMMAND};
    uint32_t parent = 0;
    struct wire_job jobs[2] = {{.name = SLICE("first"), .body = SLICE("x")},
                               {.name = SLICE("second"), .parents = {&parent, 1}}};
    struct wire_flow flow = {.name = SLICE("chain"), .part = {.options = {&options, 1}, .jobs = {jobs, 2}}};
    struct wire_submit submit = {{&flow, 1}};
    const struct wire_submitted *s = wireclient_ask(&c, WIRE_SUBMIT, &submit, WIRE_SUBMITTED);
    struct slice id = ((struct wire_submitted_flow *)s->flows.at)->flow;
    assert_true(id.len > 0);
    attach(&w, "w1", 1, NULL, 0);
    for (int i = 0; i < 2; i++) {
        const struct wire_assign *a = next_assign(&w);
        assert_int_equal(a->assignments.count, 1);
        const struct wire_assignment *one = a->assignments.at;
        assert_int_equal(one->attempt.attempt, 1);
        assert_int_equal(one->inputs.count, i);
        say_started(&w, one->attempt);
        struct wire_log_piece piece = {.data = SLICE("hello log\n"), .time_ms = 5};
        struct wire_log_batch batch = {.attempt = one->attempt, .pieces = {&piece, 1}};
        struct wire_log log = {{&batch, 1}};
        say_too_early(&w, one->attempt);
        assert_true(wireclient_tell(&w, WIRE_LOG, &log));
        hear_log_ack(&w, one->attempt, 10);
        assert_true(wireclient_tell(&w, WIRE_LOG, &log)); /* once more: it is acknowledged once more */
        hear_log_ack(&w, one->attempt, 10);
        say_done(&w, &one->attempt, 10, SLICE("{\"rows\":7}"));
    }
    wait_over(&c, id, "succeeded");
    char job[40];
    snprintf(job, sizeof job, "%.*s/sec", SLICE_FMT(id));
    struct wire_logs logs = {.job = slice_str(job)};
    const struct wire_log_data *data = wireclient_ask(&c, WIRE_LOGS, &logs, WIRE_LOG_DATA);
    assert_int_equal(data->pieces.count, 1);
    assert_true(slice_eq(((struct wire_log_piece *)data->pieces.at)->data, SLICE("hello log\n")));
    assert_true(data->over);
    const struct wire_got *g = get(&c, slice_str(job));
    const struct wire_job_view *v = g->jobs.at;
    assert_true(slice_eq(v->result, SLICE("{\"rows\":7}")));
    wireclient_close(&w);
    wireclient_close(&c);
}

static uint8_t log_byte(uint64_t offset) {
    return (uint8_t)(offset * 2654435761u >> 13);
}

static void send_log(struct wireclient *w, struct wire_attempt a, uint64_t offset, uint32_t bytes) {
    static uint8_t data[65536];
    for (uint32_t i = 0; i < bytes; i++) data[i] = log_byte(offset + i);
    struct wire_log_piece piece = {.offset = offset, .data = slice_of(data, bytes), .stream = WIRE_STREAM_ERR};
    struct wire_log_batch batch = {.attempt = a, .pieces = {&piece, 1}};
    struct wire_log log = {{&batch, 1}};
    assert_true(wireclient_tell(w, WIRE_LOG, &log));
}

/* Reads what follows of a stream of log until `upto`, or to its end. */
static uint64_t follow_log(struct wireclient *c, uint32_t request, uint64_t at, uint64_t upto) {
    struct wiregot got;
    do {
        assert_true(wireclient_next(c, WIRECLIENT_WAIT_MS, &got));
        assert_int_equal(got.request, request);
        assert_int_equal(got.op, WIRE_LOG_DATA);
        const struct wire_log_data *d = got.message;
        const struct wire_log_piece *pieces = d->pieces.at;
        for (uint32_t i = 0; i < d->pieces.count; i++) {
            assert_int_equal(pieces[i].offset, at);
            for (size_t k = 0; k < pieces[i].data.len; k++)
                if (pieces[i].data.ptr[k] != log_byte(at + k)) fail_msg("byte %lu differs", (unsigned long)(at + k));
            at += pieces[i].data.len;
        }
        assert_int_equal(d->over, !(got.flags & FRAME_MORE));
        wireclient_forget(c);
    } while (at < upto && (got.flags & FRAME_MORE));
    return at;
}

static void a_log_is_followed_while_it_is_written(void **state) {
    (void)state;
    struct wireclient c, w;
    uint64_t end = (uint64_t)24 << 20;
    open_admin(&c);
    struct slice flow = submit_noop(&c, SLICE("talks"), (struct slice){0});
    attach(&w, "talker", 1, NULL, 0);
    struct wire_attempt a = ((struct wire_assignment *)next_assign(&w)->assignments.at)->attempt;
    say_started(&w, a);
    send_log(&w, a, 0, 1000);
    hear_log_ack(&w, a, 1000);
    struct wire_logs m = {.job = flow, .follow = true};
    uint32_t request = wireclient_send(&c, WIRE_LOGS, &m);
    uint64_t at = follow_log(&c, request, 0, 1000);
    for (uint64_t offset = 1000; offset < end; offset += 65536) {
        send_log(&w, a, offset, offset + 65536 <= end ? 65536 : (uint32_t)(end - offset));
        if (offset % (1 << 20) < 65536 && at < offset) at = follow_log(&c, request, at, offset);
    }
    at = follow_log(&c, request, at, end);
    assert_int_equal(at, end);
    say_done(&w, &a, end, (struct slice){0});
    assert_int_equal(follow_log(&c, request, at, UINT64_MAX), end); /* it ends when the attempt does */
    wireclient_close(&c);
    wireclient_close(&w);
}

static void a_running_attempt_is_adopted_after_a_kill(void **state) {
    (void)state;
    struct wireclient c, w;
    open_admin(&c);
    char flow[24];
    struct slice id = submit_noop(&c, SLICE("long"), (struct slice){0});
    snprintf(flow, sizeof flow, "%.*s", SLICE_FMT(id));
    attach(&w, "adopted", 1, NULL, 0);
    struct wire_attempt a = ((struct wire_assignment *)next_assign(&w)->assignments.at)->attempt;
    say_started(&w, a);
    struct wire_heartbeat beat = {.load = {.credit = 8}, .sent_ms = 77};
    const struct wire_lease *lease = wireclient_ask(&w, WIRE_HEARTBEAT, &beat, WIRE_LEASE);
    assert_int_equal(lease->sent_ms, 77);
    wireclient_close(&c);
    wireclient_close(&w);
    realserver_kill(&server);
    realserver_start(&server);
    open_admin(&c);
    struct wire_held held = {.attempt = a, .phase = WIRE_HELD_RUNNING};
    attach(&w, "adopted", 1, &held, 1);
    say_done(&w, &a, 0, (struct slice){0});
    wait_over(&c, slice_str(flow), "succeeded");
    const struct wire_job_view *v = get(&c, slice_str(flow))->jobs.at;
    assert_int_equal(v->attempt, 1);
    say_done(&w, &a, 0, (struct slice){0}); /* once more: the same acknowledgement */
    wireclient_close(&c);
    wireclient_close(&w);
}

static void a_second_connection_of_a_worker_takes_over(void **state) {
    (void)state;
    struct wireclient w1, w2, c;
    struct wiregot got;
    attach(&w1, "twice", 1, NULL, 0);
    attach(&w2, "twice", 1, NULL, 0);
    while (wireclient_next(&w1, WIRECLIENT_WAIT_MS, &got)) assert_int_equal(got.op, WIRE_GOODBYE);
    open_admin(&c);
    struct slice flow = submit_noop(&c, SLICE("over"), (struct slice){0});
    struct wire_attempt a = ((struct wire_assignment *)next_assign(&w2)->assignments.at)->attempt;
    say_done(&w2, &a, 0, (struct slice){0});
    wait_over(&c, flow, "succeeded");
    wireclient_close(&w1);
    wireclient_close(&w2);
    wireclient_close(&c);
}

/* ---- looking on ---- */

static void a_subscriber_hears_everything_in_order(void **state) {
    (void)state;
    struct wireclient c, w, sub;
    struct wiregot got;
    open_admin(&c);
    open_admin(&sub);
    struct wire_follow m = {0};
    uint32_t request = wireclient_send(&sub, WIRE_FOLLOW, &m);
    assert_true(wireclient_next(&sub, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.op, WIRE_EVENTS);
    struct slice flow = submit_noop(&c, SLICE("seen"), (struct slice){0});
    attach(&w, "seer", 1, NULL, 0);
    struct wire_attempt a = ((struct wire_assignment *)next_assign(&w)->assignments.at)->attempt;
    say_done(&w, &a, 0, (struct slice){0});
    uint64_t lsn = 0;
    uint32_t ordinal = 0;
    bool over = false;
    while (!over && wireclient_next(&sub, WIRECLIENT_WAIT_MS, &got)) {
        const struct wire_events *e = got.message;
        const struct wire_event *list = e->events.at;
        assert_int_equal(got.request, request);
        assert_false(e->gap);
        for (uint32_t i = 0; i < e->events.count; i++) {
            assert_true(list[i].lsn > lsn || (list[i].lsn == lsn && list[i].ordinal > ordinal));
            lsn = list[i].lsn;
            ordinal = list[i].ordinal;
            over |= slice_eq(list[i].target, flow) && slice_eq(list[i].to, SLICE("succeeded"));
        }
    }
    assert_true(over);
    struct wire_stop stop = {.request = request};
    (void)wireclient_ask(&sub, WIRE_STOP, &stop, WIRE_ACCEPTED);
    (void)wireclient_refused(&sub, WIRE_STOP, &stop, ERR_NOT_FOUND);
    wireclient_close(&c);
    wireclient_close(&w);
    wireclient_close(&sub);
}

static void a_wait_ends_by_its_time(void **state) {
    (void)state;
    struct wireclient c;
    open_admin(&c);
    struct wire_name name = {submit_noop(&c, SLICE("nobody"), (struct slice){0})};
    struct wire_wait m = {.targets = {&name, 1}, .timeout_ms = 50};
    const struct wire_waited *w = wireclient_ask(&c, WIRE_WAIT, &m, WIRE_WAITED);
    assert_true(w->timed_out);
    struct wire_why why = {name.name};
    const struct wire_reason *r = wireclient_ask(&c, WIRE_WHY, &why, WIRE_REASON);
    assert_true(slice_eq(r->code, SLICE("no_workers")));
    wireclient_close(&c);
}

static void lists_come_in_pages(void **state) {
    (void)state;
    struct wireclient c;
    open_admin(&c);
    for (int i = 0; i < 25; i++) (void)submit_noop(&c, SLICE("paged"), (struct slice){0});
    struct wire_list m = {.what = WIRE_LIST_FLOWS, .most = 10, .name = SLICE("paged")};
    uint32_t seen = 0;
    for (int page = 0; page < 3; page++) {
        const struct wire_listed *got = wireclient_ask(&c, WIRE_LIST, &m, WIRE_LISTED);
        seen += got->flows.count;
        m.cursor = got->cursor;
        if (got->cursor.len == 0) break;
    }
    assert_int_equal(seen, 25);
    wireclient_close(&c);
}

/* ---- blobs and keys ---- */

static void a_blob_is_there_after_a_kill(void **state) {
    (void)state;
    struct wireclient c;
    open_admin(&c);
    uint8_t hash[32];
    size_t bytes = 300000;
    uint8_t *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) data[i] = (uint8_t)(i * 31 >> 3);
    struct wire_blob_begin begin = {.bytes = bytes};
    const struct wire_blob_state *s = wireclient_ask(&c, WIRE_BLOB_BEGIN, &begin, WIRE_BLOB_STATE);
    uint64_t upload = s->upload;
    struct wire_blob_part wrong = {.upload = upload, .offset = 5, .data = SLICE("x")};
    (void)wireclient_refused(&c, WIRE_BLOB_PART, &wrong, ERR_CONFLICT);
    for (size_t at = 0; at < bytes; at += 100000) {
        struct wire_blob_part part = {.upload = upload, .offset = at, .data = slice_of(data + at, 100000)};
        (void)wireclient_ask(&c, WIRE_BLOB_PART, &part, WIRE_BLOB_STATE);
    }
    struct wire_blob_end end = {.upload = upload};
    s = wireclient_ask(&c, WIRE_BLOB_END, &end, WIRE_BLOB_STATE);
    assert_true(s->stored);
    assert_int_equal(s->hash.len, 32);
    memcpy(hash, s->hash.ptr, 32);
    wireclient_close(&c);
    realserver_kill(&server);
    realserver_start(&server);
    open_admin(&c);
    struct wire_blob_get get_it = {.hash = slice_of(hash, 32)};
    uint32_t request = wireclient_send(&c, WIRE_BLOB_GET, &get_it);
    struct wiregot got;
    uint64_t at = 0;
    do {
        assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
        assert_int_equal(got.op, WIRE_BLOB_DATA);
        assert_int_equal(got.request, request);
        const struct wire_blob_data *d = got.message;
        assert_int_equal(d->offset, at);
        assert_memory_equal(d->data.ptr, data + at, d->data.len);
        at += d->data.len;
    } while (got.flags & FRAME_MORE);
    assert_int_equal(at, bytes);
    struct wire_blob_begin again = {.hash = slice_of(hash, 32)};
    s = wireclient_ask(&c, WIRE_BLOB_BEGIN, &again, WIRE_BLOB_STATE);
    assert_true(s->stored);
    free(data);
    wireclient_close(&c);
}

static void keys_are_kept_and_watched(void **state) {
    (void)state;
    struct wireclient c, watcher;
    struct wiregot got;
    open_admin(&c);
    open_admin(&watcher);
    struct wire_kv_watch watch = {.key = SLICE("color")};
    uint32_t request = wireclient_send(&watcher, WIRE_KV_WATCH, &watch);
    assert_true(wireclient_next(&watcher, WIRECLIENT_WAIT_MS, &got));
    assert_true(((const struct wire_kv_event *)got.message)->gap);
    struct wire_kv_entry entry = {SLICE("color"), SLICE("red")};
    struct wire_kv_change m = {.op = WIRE_KV_SET, .entries = {&entry, 1}};
    uint64_t version =
        ((const struct wire_kv_changed *)wireclient_ask(&c, WIRE_KV_CHANGE, &m, WIRE_KV_CHANGED))->version;
    assert_true(version > 0);
    assert_true(wireclient_next(&watcher, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.request, request);
    assert_true(slice_eq(((const struct wire_kv_event *)got.message)->key, SLICE("color")));
    m.condition = WIRE_KV_IF_ABSENT;
    (void)wireclient_refused(&c, WIRE_KV_CHANGE, &m, ERR_CONFLICT);
    wireclient_close(&watcher);
    wireclient_close(&c);
    realserver_kill(&server);
    realserver_start(&server);
    open_admin(&c);
    struct wire_kv_key key = {SLICE("color")};
    struct wire_kv_get g = {.keys = {&key, 1}};
    const struct wire_kv_items *items = wireclient_ask(&c, WIRE_KV_GET, &g, WIRE_KV_ITEMS);
    assert_int_equal(items->items.count, 1);
    assert_true(slice_eq(((struct wire_kv_item *)items->items.at)->value, SLICE("red")));
    wireclient_close(&c);
}

/* ---- who may ---- */

static void hello_refused(const char *token, enum err code) {
    struct wireclient c;
    struct wiregot got;
    assert_true(wireclient_dial(&c, server.address));
    struct wire_hello m = {.version_min = 2, .version_max = 2, .token = slice_str(token)};
    (void)wireclient_refused(&c, WIRE_HELLO, &m, code);
    assert_false(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got)); /* and it hung up */
    wireclient_close(&c);
}

static void strangers_are_refused(void **state) {
    (void)state;
    struct wireclient c;
    struct wiregot got;
    hello_refused("", ERR_UNAUTHENTICATED);
    hello_refused("rv_guess", ERR_UNAUTHENTICATED);
    static const char bad_header[] = "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff";
    assert_true(wireclient_dial(&c, server.address));
    assert_true(wireclient_send_raw(&c, bad_header, sizeof bad_header - 1));
    assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.op, WIRE_ERROR);
    assert_false(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    wireclient_close(&c);
    /* a hello of a megabyte is refused by its header, before we hold it */
    assert_true(wireclient_dial(&c, server.address));
    assert_true(wireclient_send_raw(&c, "\x02\x01\0\0\0\0\0\x01\0\0\0\0\0\x10\0\0", 16));
    assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.op, WIRE_ERROR);
    wireclient_close(&c);
    assert_true(wireclient_dial(&c, server.address));
    struct wire_get m = {.target = SLICE("f11")};
    (void)wireclient_refused(&c, WIRE_GET, &m, ERR_UNAUTHENTICATED);
    wireclient_close(&c);
    wireclient_open(&c, server.socket, NULL, WIRE_PEER_CLIENT); /* the same user, by socket */
    (void)submit_noop(&c, SLICE("local"), (struct slice){0});
    wireclient_close(&c);
}

/* Everything that the server says to this, up to its end. */
static const char *said_to(const char *bytes, size_t len) {
    static char said[4096];
    struct wireclient c;
    size_t got = 0;
    ssize_t n;
    assert_true(wireclient_dial(&c, server.address));
    if (len > 0) assert_true(wireclient_send_raw(&c, bytes, len));
    struct pollfd p = {.fd = c.fd, .events = POLLIN};
    while (got < sizeof said - 1 && poll(&p, 1, WIRECLIENT_WAIT_MS) > 0 &&
           (n = read(c.fd, said + got, sizeof said - 1 - got)) > 0)
        got += (size_t)n;
    assert_true(p.revents != 0); /* it was ended, not waited for */
    said[got] = 0;
    assert_int_equal(strlen(said), got);
    wireclient_close(&c);
    return said;
}

/* A connection hears its own protocol or nothing: bytes of ours on a connection that a browser opened before it needed
 * it would be taken for the answer to its first request. */
static void nobody_hears_a_protocol_that_it_has_not_spoken(void **state) {
    (void)state;
    realserver_kill(&server);
    server.flags[0] = "--hello-ms";
    server.flags[1] = "200";
    realserver_start(&server);
    assert_string_equal(said_to("", 0), "");
    assert_string_equal(said_to("GE", 2), ""); /* too few to tell */
    assert_string_equal(said_to("\x01\x02\x03\x04\x05\x06\x07\x08", 8), "");
    static const char *const texts[] = {"\x16\x03\x01", "SSH-2.0-client\r\n", "PROPFIND / HTTP/1.1\r\nHost: a\r\n\r\n",
                                        "PING\r\n"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_memory_equal(said_to(texts[i], strlen(texts[i])), "HTTP/1.1 400 ", 13);
    assert_memory_equal(said_to("GET / HTTP/1.1\r\n", 16), "HTTP/1.1 408 ", 13);
}

static void who_does_not_say_hello_makes_room(void **state) {
    (void)state;
    struct wireclient silent[5], c;
    struct wiregot got;
    realserver_kill(&server);
    server.flags[0] = "--hello-ms";
    server.flags[1] = "400";
    server.flags[2] = "--strangers-max";
    server.flags[3] = "4";
    realserver_start(&server);
    wireclient_open(&c, server.address, server.admin, WIRE_PEER_CLIENT);
    for (size_t i = 0; i < 5; i++) {
        assert_true(wireclient_dial(&silent[i], server.address));
        assert_true(wireclient_send_raw(&silent[i], "\x02", 1));
    }
    /* the fifth is one too many, and the first of them goes; it hears why if its byte was read by then */
    if (wireclient_next(&silent[0], 20000, &got)) {
        assert_int_equal(got.op, WIRE_ERROR);
        assert_non_null(strstr((const char *)((const struct wire_error *)got.message)->message.ptr, "strangers_max"));
    }
    assert_true(realserver_says(&server, "strangers_max"));
    for (size_t i = 1; i < 5; i++) {
        assert_true(wireclient_next(&silent[i], 20000, &got));
        assert_int_equal(got.op, WIRE_ERROR);
        assert_non_null(
            strstr((const char *)((const struct wire_error *)got.message)->message.ptr, "no HELLO arrived"));
    }
    for (size_t i = 0; i < 5; i++) wireclient_close(&silent[i]);
    (void)submit_noop(&c, SLICE("known"), (struct slice){0}); /* who said hello is not counted */
    wireclient_close(&c);
}

static void roles_bound_what_a_token_may(void **state) {
    (void)state;
    struct wireclient admin, viewer, worker;
    open_admin(&admin);
    struct wire_name role = {SLICE("viewer")};
    struct wire_token_new m = {.name = SLICE("eve"), .tenant = SLICE("acme"), .roles = {&role, 1}};
    const struct wire_token_given *t = wireclient_ask(&admin, WIRE_TOKEN_NEW, &m, WIRE_TOKEN_GIVEN);
    char token[80], id[16];
    snprintf(token, sizeof token, "%.*s", SLICE_FMT(t->token));
    snprintf(id, sizeof id, "%.*s", SLICE_FMT(t->id));
    struct slice foreign = submit_noop(&admin, SLICE("private"), (struct slice){0});
    realserver_kill(&server);
    realserver_start(&server); /* tokens are kept */
    wireclient_open(&viewer, server.address, token, WIRE_PEER_CLIENT);
    struct wire_list list = {.what = WIRE_LIST_FLOWS};
    assert_int_equal(((const struct wire_listed *)wireclient_ask(&viewer, WIRE_LIST, &list, WIRE_LISTED))->flows.count,
                     0);
    struct wire_get look = {.target = foreign};
    (void)wireclient_refused(&viewer, WIRE_GET, &look, ERR_NOT_FOUND);
    struct wire_submit submit = {{0}};
    (void)wireclient_refused(&viewer, WIRE_SUBMIT, &submit, ERR_FORBIDDEN);
    (void)wireclient_refused(&viewer, WIRE_TOKEN_NEW, &m, ERR_FORBIDDEN);
    struct wire_attach attach_it = {.worker = SLICE("w")};
    (void)wireclient_refused(&viewer, WIRE_ATTACH, &attach_it, ERR_FORBIDDEN);
    wireclient_open(&worker, server.address, server.worker, WIRE_PEER_WORKER);
    (void)wireclient_refused(&worker, WIRE_LIST, &list, ERR_FORBIDDEN);
    struct wire_heartbeat beat = {0};
    (void)wireclient_refused(&worker, WIRE_HEARTBEAT, &beat, ERR_STATE);
    wireclient_close(&admin);
    open_admin(&admin);
    struct wire_name gone = {slice_str(id)};
    struct wire_targets revoke = {.targets = {&gone, 1}};
    (void)wireclient_ask(&admin, WIRE_TOKEN_REVOKE, &revoke, WIRE_ACCEPTED);
    hello_refused(token, ERR_UNAUTHENTICATED);
    wireclient_close(&admin);
    wireclient_close(&viewer);
    wireclient_close(&worker);
}

/* ---- bad input, for each request ---- */

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    struct wireclient c;
    open_admin(&c);
    struct slice flow = submit_noop(&c, SLICE("target"), (struct slice){0});
    struct wire_name nobody = {SLICE("fz9")}, empty = {SLICE("")}, self = {flow}, job = {0};
    char text[40];
    snprintf(text, sizeof text, "%.*s/only", SLICE_FMT(flow));
    job.name = slice_str(text);
    struct wire_targets none = {0}, unknown = {.targets = {&nobody, 1}}, of_flow = {.targets = {&self, 1}},
                        of_job = {.targets = {&job, 1}}, of_nothing = {.targets = {&empty, 1}};
    struct wire_pause pause = {.scope = WIRE_SCOPE_FLOW, .name = SLICE("fz9")}, no_pool = {.scope = WIRE_SCOPE_POOL};
    struct wire_verdict verdict = {.question = 999}, no_question = {.job = job.name};
    struct wire_complete complete = {.job = job.name};
    struct wire_get g = {.target = SLICE("f1")}, slash = {.target = SLICE("f11/")};
    struct wire_list jobs = {.what = WIRE_LIST_JOBS}, cursor = {.what = WIRE_LIST_FLOWS, .cursor = SLICE("x")};
    struct wire_why why = {SLICE("fz9/x")};
    struct wire_wait wait_none = {0}, wait_unknown = {.targets = {&nobody, 1}};
    struct wire_subscribe sub = {.targets = {&nobody, 1}};
    struct wire_follow follow = {.targets = {&nobody, 1}}, state_of_all = {.state_first = true},
                       follow_both = {.targets = {&job, 1}, .job = job.name};
    struct wire_logs logs = {.job = SLICE("fz9/x")}, later = {.job = job.name, .attempt = 9};
    struct wire_blob_part part = {.upload = 77};
    struct wire_blob_end end = {.upload = 77};
    struct wire_blob_get blob = {0}, blob32 = {.hash = SLICE("0123456789abcdef0123456789abcdef")};
    struct wire_kv_change kv = {.op = WIRE_KV_SET}, kv_flow = {.op = WIRE_KV_SET, .flow = SLICE("fz9")};
    struct wire_kv_get members = {.members = true};
    struct wire_token_new token = {0};
    struct wire_name bad_role = {SLICE("king")};
    struct wire_token_new king = {.name = SLICE("x"), .roles = {&bad_role, 1}};
    struct wire_pool pool = {0};
    struct wire_topic topic = {0};
    struct wire_tenant tenant = {.name = SLICE("t"), .weight = 1000000};
    struct wire_limit limit = {.kind = WIRE_LIMIT_KEY};
    struct wire_drain drain = {.worker = SLICE("nobody")};
    struct wire_attach att = {0}, att_pool = {.worker = SLICE("w"), .incarnation = 1};
    struct wire_stop stop = {.request = 4711};
    struct wire_submit submit = {{0}};
    struct wire_add_jobs add = {.flow = SLICE("fz9")};
    struct wire_service_set service = {.name = SLICE("s")};
    struct wire_hello hello = {.version_min = 2, .version_max = 2};
    const struct {
        enum wire_op op;
        const void *message;
        enum err code;
    } bad[] = {
        {WIRE_HELLO, &hello, ERR_STATE},
        {WIRE_SUBMIT, &submit, ERR_INVALID},
        {WIRE_CANCEL, &none, ERR_INVALID},
        {WIRE_CANCEL, &unknown, ERR_NOT_FOUND},
        {WIRE_CANCEL, &of_nothing, ERR_INVALID},
        {WIRE_RETRY, &of_flow, ERR_INVALID},
        {WIRE_RETRY, &of_job, ERR_STATE},
        {WIRE_DISCARD, &of_job, ERR_STATE},
        {WIRE_RERUN, &of_job, ERR_INVALID},
        {WIRE_RERUN, &of_flow, ERR_STATE},
        {WIRE_PAUSE, &pause, ERR_NOT_FOUND},
        {WIRE_RESUME, &no_pool, ERR_INVALID},
        {WIRE_VERDICT, &verdict, ERR_NOT_FOUND},
        {WIRE_VERDICT, &no_question, ERR_STATE},
        {WIRE_COMPLETE, &complete, ERR_STATE},
        {WIRE_GET, &g, ERR_NOT_FOUND},
        {WIRE_GET, &slash, ERR_INVALID},
        {WIRE_LIST, &jobs, ERR_INVALID},
        {WIRE_LIST, &cursor, ERR_INVALID},
        {WIRE_WHY, &why, ERR_NOT_FOUND},
        {WIRE_WAIT, &wait_none, ERR_INVALID},
        {WIRE_WAIT, &wait_unknown, ERR_NOT_FOUND},
        {WIRE_SUBSCRIBE, &sub, ERR_NOT_FOUND},
        {WIRE_FOLLOW, &follow, ERR_NOT_FOUND},
        {WIRE_FOLLOW, &follow_both, ERR_INVALID},
        {WIRE_FOLLOW, &state_of_all, ERR_INVALID},
        {WIRE_LOGS, &logs, ERR_NOT_FOUND},
        {WIRE_LOGS, &later, ERR_NOT_FOUND},
        {WIRE_BLOB_PART, &part, ERR_NOT_FOUND},
        {WIRE_BLOB_END, &end, ERR_NOT_FOUND},
        {WIRE_BLOB_GET, &blob, ERR_INVALID},
        {WIRE_BLOB_GET, &blob32, ERR_NOT_FOUND},
        {WIRE_KV_CHANGE, &kv, ERR_INVALID},
        {WIRE_KV_CHANGE, &kv_flow, ERR_NOT_FOUND},
        {WIRE_KV_GET, &members, ERR_INVALID},
        {WIRE_TOKEN_NEW, &token, ERR_INVALID},
        {WIRE_TOKEN_NEW, &king, ERR_UNKNOWN_NAME},
        {WIRE_POOL, &pool, ERR_INVALID},
        {WIRE_TOPIC, &topic, ERR_INVALID},
        {WIRE_TENANT, &tenant, ERR_INVALID},
        {WIRE_LIMIT, &limit, ERR_INVALID},
        {WIRE_DRAIN, &drain, ERR_NOT_FOUND},
        {WIRE_ATTACH, &att, ERR_INVALID},
        {WIRE_ATTACH, &att_pool, ERR_INVALID},
        {WIRE_STOP, &stop, ERR_NOT_FOUND},
        {WIRE_SERVICE_SET, &service, ERR_NOT_FOUND},
        {WIRE_WELCOME, &(struct wire_welcome){0}, ERR_INVALID},
        {WIRE_ORION_GET, &(struct wire_orion_get){0}, ERR_UNSUPPORTED},
        {WIRE_TITAN_GET, &(struct wire_titan_get){0}, ERR_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        (void)wireclient_refused(&c, bad[i].op, bad[i].message, bad[i].code);
    const struct wire_submitted *added = wireclient_ask(&c, WIRE_ADD_JOBS, &add, WIRE_SUBMITTED);
    assert_true(slice_eq(((struct wire_submitted_flow *)added->flows.at)->code, SLICE("not_found")));
    /* A body that is no message: refused, and the connection goes on. */
    struct buf out;
    struct wiregot got;
    buf_init(&out, 100);
    size_t opened = frame_open(&out, WIRE_SUBMIT, 0, 9999);
    buf_put_slice(&out, SLICE("\xff\xff\xff"));
    frame_close(&out, opened);
    assert_true(wireclient_send_raw(&c, out.at, out.len));
    buf_fini(&out);
    assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.op, WIRE_ERROR);
    struct wire_ping ping = {.number = 5};
    assert_int_equal(((const struct wire_ping *)wireclient_ask(&c, WIRE_PING, &ping, WIRE_PONG))->number, 5);
    wireclient_close(&c);
}

static void finished_flows_leave_in_time_and_the_history_has_them(void **state) {
    (void)state;
    struct wireclient c, w;
    realserver_kill(&server);
    server.flags[0] = "--retention-ms";
    server.flags[1] = "1000";
    realserver_start(&server);
    open_admin(&c);
    struct slice running = submit_noop(&c, SLICE("stays"), (struct slice){0});
    attach(&w, "w", 1, NULL, 0);
    struct wire_attempt stays = ((struct wire_assignment *)next_assign(&w)->assignments.at)->attempt;
    say_started(&w, stays);
    struct slice flow = submit_noop(&c, SLICE("goes"), (struct slice){0});
    struct wire_attempt a = ((struct wire_assignment *)next_assign(&w)->assignments.at)->attempt;
    say_done(&w, &a, 0, (struct slice){0});
    wait_over(&c, flow, "succeeded");
    struct wire_get m = {.target = flow};
    struct wiregot got;
    do assert_true(wireclient_try(&c, WIRE_GET, &m, &got)); /* until it has left; the answer is the event */
    while (got.op == WIRE_GOT && !((const struct wire_got *)got.message)->flow.archived);
    assert_int_equal(got.op, WIRE_GOT); /* the history has it */
    (void)get(&c, running);
    wireclient_close(&c);
    wireclient_close(&w);
}

/* Small segments and an eager compaction: the journal is folded while it grows, and a start finds everything. */
static void the_journal_is_folded_while_it_grows(void **state) {
    (void)state;
    static const char *const flags[] = {"--segment-bytes", "1048576", "--compact-bytes", "1048576", "--log-level",
                                        "debug",           NULL};
    struct wireclient c;
    realserver_kill(&server);
    for (int i = 0; flags[i] != NULL; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    open_admin(&c);
    struct wire_options options = {.kind = JOB_NOOP};
    static uint8_t body[60000];
    struct wire_job job = {.name = SLICE("big"), .body = slice_of(body, sizeof body)};
    struct wire_flow flow = {.name = SLICE("folded"), .part = {.options = {&options, 1}, .jobs = {&job, 1}}};
    struct wire_submit m = {{&flow, 1}};
    for (int i = 0; i < 120; i++) {
        (void)wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
        wireclient_forget(&c);
    }
    assert_true(realserver_says(&server, "compaction   done"));
    wireclient_close(&c);
    realserver_kill(&server);
    realserver_start(&server);
    open_admin(&c);
    struct wire_list list = {.what = WIRE_LIST_FLOWS, .name = SLICE("folded"), .most = 1000};
    assert_int_equal(((const struct wire_listed *)wireclient_ask(&c, WIRE_LIST, &list, WIRE_LISTED))->flows.count, 120);
    wireclient_close(&c);
}

/* Small segments make small submits: what a segment cannot hold is refused, and the server lives. */
static void what_no_segment_holds_is_refused(void **state) {
    (void)state;
    enum { JOBS = 30 };
    static uint8_t body[60000];
    static char names[JOBS][8];
    struct wire_options options = {.kind = JOB_NOOP};
    struct wire_job jobs[JOBS];
    struct wireclient c;
    realserver_kill(&server);
    server.flags[0] = "--segment-bytes";
    server.flags[1] = "1048576";
    realserver_start(&server);
    open_admin(&c);
    for (int i = 0; i < JOBS; i++) {
        snprintf(names[i], sizeof names[i], "j%d", i);
        jobs[i] = (struct wire_job){.name = slice_str(names[i]), .body = slice_of(body, sizeof body)};
    }
    struct wire_flow flow = {.name = SLICE("wide"), .part = {.options = {&options, 1}, .jobs = {jobs, JOBS}}};
    struct wire_submit m = {{&flow, 1}};
    const struct wire_submitted *got = wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    const struct wire_submitted_flow *refused = got->flows.at;
    assert_int_equal(got->flows.count, 1);
    assert_true(slice_eq(refused->code, SLICE("limit")));
    wireclient_forget(&c);
    flow.part.jobs.count = JOBS / 5;
    got = wireclient_ask(&c, WIRE_SUBMIT, &m, WIRE_SUBMITTED);
    assert_int_equal(((const struct wire_submitted_flow *)got->flows.at)->code.len, 0);
    wireclient_close(&c);
}

static void a_terminated_server_answers_and_seals(void **state) {
    (void)state;
    struct wireclient c;
    struct wiregot got;
    open_admin(&c);
    (void)submit_noop(&c, SLICE("last"), (struct slice){0});
    assert_int_equal(realserver_stop(&server), 0);
    assert_true(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    assert_int_equal(got.op, WIRE_GOODBYE);
    assert_false(wireclient_next(&c, WIRECLIENT_WAIT_MS, &got));
    wireclient_close(&c);
    realserver_start(&server);
    open_admin(&c);
    struct wire_list m = {.what = WIRE_LIST_FLOWS, .name = SLICE("last")};
    assert_int_equal(((const struct wire_listed *)wireclient_ask(&c, WIRE_LIST, &m, WIRE_LISTED))->flows.count, 1);
    wireclient_close(&c);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_submit_survives_a_kill),
        TEST(a_flow_file_is_taken_as_json),
        TEST(questions_that_have_no_answer_are_refused),
        TEST(nothing_acknowledged_is_lost_in_a_flood),
        TEST(a_key_answers_twice_the_same),
        TEST(a_worker_runs_a_chain_with_results_and_logs),
        TEST(a_log_is_followed_while_it_is_written),
        TEST(a_running_attempt_is_adopted_after_a_kill),
        TEST(a_second_connection_of_a_worker_takes_over),
        TEST(a_subscriber_hears_everything_in_order),
        TEST(a_wait_ends_by_its_time),
        TEST(lists_come_in_pages),
        TEST(a_blob_is_there_after_a_kill),
        TEST(keys_are_kept_and_watched),
        TEST(strangers_are_refused),
        TEST(nobody_hears_a_protocol_that_it_has_not_spoken),
        TEST(who_does_not_say_hello_makes_room),
        TEST(roles_bound_what_a_token_may),
        TEST(what_makes_no_sense_is_refused),
        TEST(finished_flows_leave_in_time_and_the_history_has_them),
        TEST(the_journal_is_folded_while_it_grows),
        TEST(what_no_segment_holds_is_refused),
        TEST(a_terminated_server_answers_and_seals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
