/* reopen_test.c: a shard whose append was fenced, or of which nobody knows whether it happened, is opened again: what
 * the journal has is there and nothing else, nobody is answered who must not be, and everything goes on. */
#include "test.h"

#include <malloc.h>
#include <stdio.h>

#include "history_writer.h"
#include "hstore.h"
#include "orion_session.h"
#include "orion_view.h"
#include "ram.h"
#include "server_impl.h"
#include "sessionlab.h"
#include "titan_book.h"
#include "tmpdisk.h"

#define CLIENT 0u
#define WORKER 1u
#define SILENT 2u

static const struct net_peer local = {.address = "unix:1000", .is_local = true, .uid = 1000};

static struct {
    struct sessionlab lab;
    struct arena arena;
    uint32_t request;  /* the last that was sent */
    uint32_t answered; /* the last that was answered by `submitted` */
    char flow[64];     /* what that said */
    bool repeated;
    uint64_t epoch; /* what `attached` said last */
    uint32_t done_acks;
    uint32_t events, gaps; /* what a follower was told */
} t;

static struct shard *shard(void) {
    return server_shard(t.lab.server);
}

/* ---- peers ---- */

static void heard(void *ctx, conn_id conn, const struct frame *f) {
    (void)ctx, (void)conn;
    struct why why = {{0}};
    arena_reset(&t.arena);
    void *m = arena_alloc(&t.arena, wire_info(f->opcode)->desc->size);
    assert_int_equal(wire_take(f, &t.arena, m, &why), ERR_OK);
    if (f->opcode == WIRE_SUBMITTED) {
        const struct wire_submitted_flow *flow = ((const struct wire_submitted *)m)->flows.at;
        t.answered = f->request;
        t.repeated = flow->repeated;
        snprintf(t.flow, sizeof t.flow, "%.*s", SLICE_FMT(flow->flow));
    } else if (f->opcode == WIRE_ATTACHED) {
        t.epoch = ((const struct wire_attached *)m)->epoch;
    } else if (f->opcode == WIRE_DONE_ACK) {
        const struct wire_end_ack *acks = ((const struct wire_done_ack *)m)->acks.at;
        if (acks[0].code.len == 0) t.done_acks++;
    } else if (f->opcode == WIRE_EVENTS) {
        const struct wire_events *events = m;
        t.gaps += events->gap;
        t.events += events->events.count;
    }
}

static void say(uint32_t place, enum wire_op op, const void *message) {
    struct buf out;
    buf_init(&out, 65536);
    wire_put(&out, op, 0, ++t.request, message);
    sessionlab_write(&t.lab, place, buf_slice(&out));
    buf_fini(&out);
}

static void come(uint32_t place, enum wire_peer peer) {
    struct wire_hello hello = {
        .version_min = FRAME_VERSION, .version_max = FRAME_VERSION, .peer = (uint8_t)peer, .build = SLICE("lab")};
    sessionlab_open(&t.lab, place, SESSIONLAB_MAIN, &local, NULL);
    say(place, WIRE_HELLO, &hello);
    sessionlab_settle(&t.lab);
    assert_false(t.lab.conns[place].hung_up);
}

static void submit(const char *key, const char *spec) {
    struct wire_flow flow = {.key = slice_str(key), .spec = slice_str(spec)};
    struct wire_submit m = {.flows = {&flow, 1}};
    say(CLIENT, WIRE_SUBMIT, &m);
}

#define NOOP "{\"jobs\": {\"a\": {\"noop\": true}}}"
#define SKIPPED "{\"jobs\": {\"a\": {\"noop\": true, \"when\": \"false\"}}}" /* over by itself */
#define RUN "{\"jobs\": {\"a\": {\"run\": [\"x\"]}}}"

static void cancel(const char *flow) {
    struct wire_name target = {slice_str(flow)};
    struct wire_targets m = {.targets = {&target, 1}};
    say(CLIENT, WIRE_CANCEL, &m);
}

static void attach(const struct wire_attempt *running) {
    struct wire_held held = {.phase = WIRE_HELD_RUNNING};
    struct wire_attach m = {.worker = SLICE("w-000001"), .incarnation = 1, .load = {.credit = 2}};
    m.info.slots = 2;
    if (running != NULL) {
        held.attempt = *running;
        m.held = (struct tlv_list){&held, 1};
    }
    come(WORKER, WIRE_PEER_WORKER);
    say(WORKER, WIRE_ATTACH, &m);
    sessionlab_settle(&t.lab);
}

/* ---- the shard ---- */

static uint64_t flows(void) {
    struct state_counts n;
    view_counts(server_state(t.lab.server), NULL, &n);
    return n.flows;
}

/* The next append meets the fault. */
static void run_into(enum ram_fault fault) {
    ram_arm(t.lab.ram, fault, 0);
    for (uint32_t i = 0; i < 10 && shard()->state == SHARD_OWNED; i++) {
        sessionlab_pass(&t.lab);
        sessionlab_step(&t.lab);
    }
    assert_int_equal(shard()->state, SHARD_LOST);
}

static void lose(enum ram_fault fault) {
    submit("", SKIPPED);
    run_into(fault);
}

static void reopen(void) {
    uint64_t generation = shard()->generation, epoch = shard()->epoch;
    sessionlab_pass(&t.lab);
    assert_int_equal(shard()->state, SHARD_OWNED);
    assert_int_equal(shard()->generation, generation + 1);
    assert_true(shard()->epoch > epoch);
    sessionlab_settle(&t.lab);
}

static int setup(void **state) {
    (void)state;
    memset(&t, 0, sizeof t);
    arena_init(&t.arena, 4096, (size_t)1 << 28);
    sessionlab_init_ram(&t.lab, NULL);
    t.lab.heard = heard;
    come(CLIENT, WIRE_PEER_CLIENT);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    sessionlab_fini(&t.lab);
    arena_fini(&t.arena);
    return 0;
}

/* ---- what is there afterwards ---- */

static void an_append_is_there_or_not_as_the_journal_says(enum ram_fault fault, bool is_there) {
    submit("first", NOOP);
    sessionlab_settle(&t.lab);
    assert_int_equal(t.answered, t.request);
    assert_int_equal(flows(), 1);

    ram_arm(t.lab.ram, fault, 0);
    submit("second", NOOP);
    uint32_t asked = t.request;
    sessionlab_pass(&t.lab);
    sessionlab_step(&t.lab);
    sessionlab_pass(&t.lab);
    assert_int_equal(shard()->state, SHARD_LOST);
    reopen();
    assert_true(t.lab.conns[CLIENT].hung_up);
    assert_int_not_equal(t.answered, asked);
    assert_int_equal(flows(), is_there ? 2 : 1);

    come(CLIENT, WIRE_PEER_CLIENT);
    submit("second", NOOP);
    sessionlab_settle(&t.lab);
    assert_int_equal(t.answered, t.request);
    assert_int_equal(t.repeated, is_there);
    assert_int_equal(flows(), 2);
}

static void fenced(void **state) {
    (void)state;
    an_append_is_there_or_not_as_the_journal_says(RAM_FENCED, false);
}

static void unknown_and_kept(void **state) {
    (void)state;
    an_append_is_there_or_not_as_the_journal_says(RAM_UNKNOWN_KEPT, true);
}

static void unknown_and_there_later(void **state) {
    (void)state;
    an_append_is_there_or_not_as_the_journal_says(RAM_UNKNOWN_LATE, true);
}

static void unknown_and_lost(void **state) {
    (void)state;
    an_append_is_there_or_not_as_the_journal_says(RAM_UNKNOWN_LOST, false);
}

/* ---- what goes on ---- */

static void a_worker_comes_back_with_what_it_runs(void **state) {
    (void)state;
    struct job_view job;
    attach(NULL);
    assert_int_equal(t.epoch, shard()->epoch);
    submit("", RUN);
    sessionlab_settle(&t.lab);
    assert_int_equal(t.lab.attempt_count, 1);
    struct wire_attempt running = t.lab.attempts[0].attempt;
    say(WORKER, WIRE_STARTED, &(struct wire_attempts){{&running, 1}});
    sessionlab_settle(&t.lab);

    lose(RAM_UNKNOWN_LOST);
    reopen();
    assert_true(t.lab.conns[WORKER].hung_up);
    attach(&running);
    assert_int_equal(t.epoch, shard()->epoch);
    struct job_ref ref = {{running.flow}, running.ordinal};
    assert_true(view_job(server_state(t.lab.server), ref, &job));
    assert_int_equal(job.state, JOB_RUNNING);
    assert_int_equal(job.attempt, 1);
    assert_int_equal(t.lab.attempt_count, 1); /* it is not given away again */

    struct wire_end end = {.attempt = running, .outcome = WIRE_OUTCOME_OK};
    say(WORKER, WIRE_DONE, &(struct wire_done){{&end, 1}});
    sessionlab_settle(&t.lab);
    assert_int_equal(t.done_acks, 1);
    assert_true(view_job(server_state(t.lab.server), ref, &job));
    assert_int_equal(job.state, JOB_SUCCEEDED);
}

static void nobody_hears_of_what_was_lost_and_events_go_on(void **state) {
    (void)state;
    say(CLIENT, WIRE_FOLLOW, &(struct wire_follow){0});
    submit("", NOOP);
    sessionlab_settle(&t.lab);
    uint32_t before = t.events;
    assert_true(before > 0);
    lose(RAM_FENCED);
    reopen();
    assert_int_equal(t.events, before); /* of what was lost nobody hears */

    come(CLIENT, WIRE_PEER_CLIENT);
    say(CLIENT, WIRE_FOLLOW, &(struct wire_follow){0});
    submit("", NOOP);
    sessionlab_settle(&t.lab);
    assert_int_equal(t.gaps, 0);
    assert_int_equal(t.events, 2 * before);
}

/* A flow that was lost leaves its number to another one. */
static void dialects_forget_the_flows_that_they_have_seen(void **state) {
    (void)state;
    struct wire_orion numbers;
    submit("", NOOP);
    sessionlab_pass(&t.lab); /* decided, and not durable */
    arena_reset(&t.lab.server->frame_arena);
    titan_book_update(t.lab.server);
    orion_view_numbers(t.lab.server, SLICE("a"), &numbers);
    assert_int_equal(titan_book_of(t.lab.server)->seen, 1);
    assert_int_equal(orion_dags_of(t.lab.server)->seen, 1);
    run_into(RAM_UNKNOWN_LOST);
    reopen();
    assert_int_equal(flows(), 0);
    assert_int_equal(titan_book_of(t.lab.server)->seen, 0);
    assert_int_equal(orion_dags_of(t.lab.server)->seen, 0);
}

static void a_connection_that_was_silent_stays(void **state) {
    (void)state;
    struct wire_hello hello = {.version_min = FRAME_VERSION, .version_max = FRAME_VERSION, .build = SLICE("lab")};
    sessionlab_open(&t.lab, SILENT, SESSIONLAB_MAIN, &local, NULL);
    lose(RAM_FENCED);
    reopen();
    assert_false(t.lab.conns[SILENT].hung_up);
    say(SILENT, WIRE_HELLO, &hello);
    sessionlab_settle(&t.lab);
    assert_false(t.lab.conns[SILENT].hung_up);
    assert_int_equal(t.lab.server->sessions.count, 1);
}

/* Idle, and another owner came and went: it is found out by the seal. */
static void a_seal_that_is_fenced_reopens_too(void **state) {
    (void)state;
    struct journal *other;
    struct journal_head head;
    struct why why = {{0}};
    submit("", NOOP);
    sessionlab_pass(&t.lab);
    sessionlab_step(&t.lab);
    sessionlab_pass(&t.lab);
    assert_int_equal(t.answered, t.request);
    assert_int_equal(ram_open(t.lab.ram, &other, &why), ERR_OK);
    assert_int_equal(other->ops->acquire(other, 0, &head, &why), ERR_OK);
    other->ops->close(other);
    for (uint32_t i = 0; i < 1000 && shard()->state == SHARD_OWNED; i++) {
        t.lab.now_ms++;
        sessionlab_pass(&t.lab);
        sessionlab_step(&t.lab);
    }
    assert_int_equal(shard()->state, SHARD_LOST);
    reopen();
    assert_int_equal(flows(), 1);
}

/* Without an append that is durable in between, the next opening waits: two that take the journal from each other must
 * not turn for ever. */
static void what_is_lost_again_at_once_waits(void **state) {
    (void)state;
    lose(RAM_FENCED);
    ram_arm(t.lab.ram, RAM_FENCED, 0); /* its first record */
    sessionlab_pass(&t.lab);
    sessionlab_step(&t.lab);
    sessionlab_pass(&t.lab);
    assert_int_equal(shard()->state, SHARD_LOST);
    uint64_t generation = shard()->generation;
    int64_t next_ms = server_next(t.lab.server).ms - 1000; /* the lab's monotonic clock begins there */
    assert_true(next_ms > t.lab.now_ms + 100);
    sessionlab_pass(&t.lab);
    assert_int_equal(shard()->generation, generation);
    t.lab.now_ms = next_ms;
    reopen();
}

/* ---- memory ---- */

#if defined(__SANITIZE_ADDRESS__)
size_t __sanitizer_get_current_allocated_bytes(void);
static size_t memory_bytes(void) {
    return __sanitizer_get_current_allocated_bytes();
}
#else
static size_t memory_bytes(void) {
    return mallinfo2().uordblks;
}
#endif

#define RECORD_BYTES 1024u /* more than an opening adds to the journal, which is in memory too */

static void a_hundred_reopenings_take_no_memory(void **state) {
    (void)state;
    size_t before = 0;
    for (uint32_t i = 0; i < 110; i++) {
        come(CLIENT, WIRE_PEER_CLIENT);
        attach(NULL);
        say(CLIENT, WIRE_FOLLOW, &(struct wire_follow){0});
        lose(RAM_UNKNOWN_LOST);
        reopen();
        if (i == 9) before = memory_bytes();
    }
    assert_int_equal(shard()->generation, 111);
    assert_in_range(memory_bytes(), 0, before + 100 * RECORD_BYTES);
}

/* ---- the history ---- */

static void wait_for_history(uint64_t rows) {
    struct history_stats now;
    int64_t until_ms = test_mono_ms() + 60000;
    do {
        t.lab.now_ms += 50;
        server_wake(t.lab.server);
        sessionlab_pass(&t.lab);
        sessionlab_step(&t.lab);
        t.lab.history->ops->stats(t.lab.history, &now);
        assert_true(test_mono_ms() < until_ms);
    } while (now.flows < rows || now.lsn == 0 || now.waiting_bytes > 0);
    assert_int_equal(now.flows, rows);
}

static void the_history_goes_on(void **state) {
    (void)state;
    struct tmpdisk disk;
    char dir[300];
    struct why why = {{0}};
    struct history *history;
    tmpdisk_make(&disk);
    snprintf(dir, sizeof dir, "%s/history", disk.path);
    struct hstore_options o = {.dir = dir, .days = 30, .bytes_max = (uint64_t)1 << 30, .wall_ms = 1700000000000};
    assert_int_equal(hstore_open(&o, &history, &why), ERR_OK);
    memset(&t, 0, sizeof t);
    arena_init(&t.arena, 4096, (size_t)1 << 28);
    sessionlab_init_ram(&t.lab, history);
    t.lab.heard = heard;
    come(CLIENT, WIRE_PEER_CLIENT);
    submit("", SKIPPED);
    wait_for_history(1);
    submit("", NOOP); /* runs, for there is no worker */
    sessionlab_settle(&t.lab);
    cancel(t.flow);
    run_into(RAM_UNKNOWN_LOST); /* its row was made, and waited for the record of its end */
    t.lab.now_ms += 1000;
    reopen();
    come(CLIENT, WIRE_PEER_CLIENT);
    submit("", SKIPPED);
    wait_for_history(2);
    lose(RAM_UNKNOWN_KEPT);
    reopen();
    wait_for_history(3);
    teardown(NULL);
    tmpdisk_remove(&disk);
}

/* ---- when it cannot ---- */

static struct journal_ops spoilt; /* the journal's own, with one of them replaced */
static struct journal_ops spoilt_reader;
static enum err (*true_reader)(struct journal *j, struct journal **ret, struct why *why);
static enum err (*true_read)(struct journal *j, uint64_t from_lsn, uint64_t to_lsn, journal_batch_fn each, void *ctx,
                             struct why *why);
static uint32_t reads_that_fail;

static enum err refuse_acquire(struct journal *j, uint32_t number, struct journal_head *ret, struct why *why) {
    (void)j, (void)number, (void)ret;
    return why_set(why, ERR_CONFLICT, "it is kept by somebody else");
}

/* As if a trim beside it had taken away what is read. */
static enum err read_or_not(struct journal *j, uint64_t from_lsn, uint64_t to_lsn, journal_batch_fn each, void *ctx,
                            struct why *why) {
    if (reads_that_fail == 0) return true_read(j, from_lsn, to_lsn, each, ctx, why);
    reads_that_fail--;
    enum err e = true_read(j, from_lsn, from_lsn, each, ctx, why);
    return e == ERR_OK ? why_set(why, ERR_NOT_FOUND, "it is gone") : e;
}

static enum err spoil_reader(struct journal *j, struct journal **ret, struct why *why) {
    enum err e = true_reader(j, ret, why);
    true_read = (*ret)->ops->read;
    spoilt_reader = *(*ret)->ops;
    spoilt_reader.read = read_or_not;
    (*ret)->ops = &spoilt_reader;
    return e;
}

static void spoil_reads(uint32_t count) {
    spoilt = *shard()->journal->ops;
    true_reader = spoilt.reader;
    spoilt.reader = spoil_reader;
    shard()->journal->ops = &spoilt;
    reads_that_fail = count;
}

static void assert_it_fails(const char *text) {
    struct why why = {{0}};
    server_pass(t.lab.server);
    assert_int_not_equal(server_failed(t.lab.server, &why), ERR_OK);
    assert_has(why.text, "the shard was lost and cannot be opened again");
    assert_has(why.text, text);
    assert_true(server_is_drained(t.lab.server)); /* the program stops */
    sessionlab_abandon(&t.lab);
    arena_fini(&t.arena);
}

static void a_journal_that_is_refused_stops_the_server(void **state) {
    (void)state;
    sessionlab_open(&t.lab, SILENT, SESSIONLAB_MAIN, &local, NULL); /* outlives the parts */
    lose(RAM_FENCED);
    spoilt = *shard()->journal->ops;
    spoilt.acquire = refuse_acquire;
    shard()->journal->ops = &spoilt;
    assert_it_fails("it is kept by somebody else");
}

static void a_reading_from_under_which_records_are_trimmed_begins_anew(void **state) {
    (void)state;
    lose(RAM_UNKNOWN_KEPT);
    uint64_t lsn = engine_lsn(shard()->engine);
    spoil_reads(2);
    reopen();
    assert_int_equal(reads_that_fail, 0);
    assert_true(engine_lsn(shard()->engine) > lsn);
    assert_int_equal(flows(), 1);
}

static void and_does_not_for_ever(void **state) {
    (void)state;
    lose(RAM_FENCED);
    spoil_reads(3);
    assert_it_fails("it is gone");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fenced, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_and_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_and_there_later, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_and_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(a_worker_comes_back_with_what_it_runs, setup, teardown),
        cmocka_unit_test_setup_teardown(nobody_hears_of_what_was_lost_and_events_go_on, setup, teardown),
        cmocka_unit_test_setup_teardown(dialects_forget_the_flows_that_they_have_seen, setup, teardown),
        cmocka_unit_test_setup_teardown(a_connection_that_was_silent_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(a_seal_that_is_fenced_reopens_too, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_lost_again_at_once_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(a_hundred_reopenings_take_no_memory, setup, teardown),
        cmocka_unit_test(the_history_goes_on),
        cmocka_unit_test_setup(a_journal_that_is_refused_stops_the_server, setup),
        cmocka_unit_test_setup_teardown(a_reading_from_under_which_records_are_trimmed_begins_anew, setup, teardown),
        cmocka_unit_test_setup(and_does_not_for_ever, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
