/* why_test.c: every reason why a job does not run, brought about once; and the order between them. */
#include "engine_fixture.h"

static uint64_t submit(struct fixture *r, const struct options *o) {
    assert_ok(fixture_submit(r, o, (const char *[]){"a"}, 1));
    return r->reply.flow.v;
}

#define assert_block(r, flow, ordinal, reason)                                              \
    do {                                                                                    \
        enum block got_ = fixture_why(r, flow, ordinal).block;                              \
        if (got_ != (reason)) fail_msg("%s, not %s", block_word(got_), block_word(reason)); \
    } while (0)

static void a_job_that_runs_waits_for_nothing(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t flow = submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_started(r, "w", 1, ref_of(flow, 0), 1));
    assert_block(r, flow, 0, BLOCK_NOTHING);
    assert_ok(fixture_done(r, "w", 1, ref_of(flow, 0), 1, OUTCOME_OK));
    assert_block(r, flow, 0, BLOCK_NOTHING);
}

static void parents_and_time(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.delay_ms = 1000;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b", "c: a b"}, 3));
    struct why_job why = fixture_why(r, 1, 2);
    assert_int_equal(why.block, BLOCK_PARENTS);
    assert_int_equal(why.parents_open, 2);
    assert_int_equal(why.parent.ordinal, 0);
    assert_block(r, 1, 0, BLOCK_TIME);
    assert_int_equal(fixture_why(r, 1, 0).until.ms, r->in.wall.ms + 1000);
    fixture_tick(r, 1000);
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_int_equal(fixture_why(r, 1, 2).parent.ordinal, 1);
    assert_ok(fixture_exit(r, "w", ref_of(1, 1), 1, 1));
    assert_block(r, 1, 1, BLOCK_TIME); /* backoff */
}

static void ready_jobs_are_counted_by_reason(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options(), gpu = fixture_options();
    uint64_t blocks[BLOCK_COUNT];
    struct name_item cap = {SLICE("gpu")};
    gpu.demand.capabilities = (struct tlv_list){&cap, 1};
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b", "c"}, 3));
    assert_ok(fixture_submit(r, &gpu, (const char *[]){"d", "e"}, 2));
    view_ready_blocks(engine_state(r->engine), engine_live(r->engine), &r->limits, blocks);
    assert_int_equal(blocks[BLOCK_NO_WORKERS], 5);
    assert_ok(fixture_attach(r, "w", 1, 1));
    view_ready_blocks(engine_state(r->engine), engine_live(r->engine), &r->limits, blocks);
    assert_int_equal(blocks[BLOCK_NO_WORKERS], 0);
    assert_int_equal(blocks[BLOCK_CAPACITY], 2); /* one of three runs */
    assert_int_equal(blocks[BLOCK_CAPABILITY], 2);
    assert_int_equal(blocks[BLOCK_PAUSED], 0);
}

static void jobs_that_a_pause_took_out_of_their_queue_are_counted_as_paused(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options(), other = fixture_options();
    uint64_t blocks[BLOCK_COUNT];
    other.priority = 7;
    other.demand.pool = SLICE("elsewhere");
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b", "c"}, 3));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    assert_ok(fixture_submit(r, &other, (const char *[]){"d", "e"}, 2));
    assert_ok(fixture_attach(r, "w", 1, 1)); /* a round comes upon them */
    view_ready_blocks(engine_state(r->engine), engine_live(r->engine), &r->limits, blocks);
    assert_int_equal(blocks[BLOCK_PAUSED], 3);
    assert_int_equal(blocks[BLOCK_NO_WORKERS], 2);
    assert_int_equal(blocks[BLOCK_QUEUE], 0);
}

static void what_is_no_longer_ready_counts_for_nothing(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t blocks[BLOCK_COUNT];
    for (uint32_t i = 0; i < 3; i++) {
        o.priority = i;
        (void)submit(r, &o);
    }
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_ok(fixture_forget(r, 1));            /* its class is gone */
    assert_ok(fixture_cancel(r, ref_of(2, 0))); /* the class has nobody left */
    view_ready_blocks(engine_state(r->engine), engine_live(r->engine), &r->limits, blocks);
    for (uint32_t b = 0; b < BLOCK_COUNT; b++) assert_int_equal(blocks[b], b == BLOCK_NO_WORKERS ? 1 : 0);
}

/* 256 are asked; what is paused is known without asking. */
static void of_very_many_classes_the_rest_counts_as_queued(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t blocks[BLOCK_COUNT];
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b"}, 2));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    assert_ok(fixture_attach(r, "w", 1, 1)); /* sets them aside */
    o.demand.pool = SLICE("elsewhere");
    for (uint32_t i = 1; i <= 256; i++) {
        o.demand.cpu_milli = i;
        (void)submit(r, &o);
    }
    view_ready_blocks(engine_state(r->engine), engine_live(r->engine), &r->limits, blocks);
    assert_int_equal(blocks[BLOCK_NO_WORKERS], 256);
    assert_int_equal(blocks[BLOCK_QUEUE], 0);
    assert_int_equal(blocks[BLOCK_PAUSED], 2);
    o.demand.cpu_milli = 257;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b", "c"}, 3));
    view_ready_blocks(engine_state(r->engine), engine_live(r->engine), &r->limits, blocks);
    assert_int_equal(blocks[BLOCK_NO_WORKERS], 256);
    assert_int_equal(blocks[BLOCK_QUEUE], 3);
    assert_int_equal(blocks[BLOCK_PAUSED], 2);
}

static void a_job_waits_for_a_question(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    o.approval_ms = 9000;
    uint64_t flow = submit(r, &o);
    struct why_job why = fixture_why(r, flow, 0);
    assert_int_equal(why.block, BLOCK_QUESTION);
    assert_int_equal(why.question.v, 1);
    assert_int_equal(why.until.ms, r->in.wall.ms + 9000);
    o.gates = GATE_BIT(GATE_OUTPUT);
    flow = submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_done(r, "w", 1, ref_of(flow, 0), 1, OUTCOME_OK));
    assert_block(r, flow, 0, BLOCK_QUESTION);
    assert_int_equal(fixture_why(r, flow, 0).until.ms, TIME_NEVER);
}

static void a_job_waits_for_its_pool(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t flow = submit(r, &o);
    assert_block(r, flow, 0, BLOCK_NO_WORKERS); /* a pool that nobody has heard of */
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, false, NULL));
    assert_block(r, flow, 0, BLOCK_NO_WORKERS); /* one that is set up and has none yet */
    assert_ok(fixture_pool(r, "default", POOL_INACTIVE, false, NULL));
    assert_block(r, flow, 0, BLOCK_POOL_INACTIVE);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_block(r, flow, 0, BLOCK_POOL_INACTIVE);
    assert_ok(fixture_pool(r, "default", POOL_DRAINING, false, NULL));
    assert_block(r, flow, 0, BLOCK_POOL_INACTIVE);
    assert_ok(fixture_pause(r, PAUSE_POOL, 0, "default", true));
    assert_block(r, flow, 0, BLOCK_PAUSED);
    assert_ok(fixture_drain(r, "w", true));
    assert_ok(fixture_pause(r, PAUSE_POOL, 0, "default", false));
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, false, NULL));
    assert_block(r, flow, 0, BLOCK_NO_WORKERS);
    assert_ok(fixture_detach(r, "w", 1));
    assert_ok(fixture_drain(r, "w", false));
    assert_block(r, flow, 0, BLOCK_NO_WORKERS);
}

static void a_job_waits_for_the_pools_of_its_topic(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.demand.pool = slice_of(NULL, 0);
    o.demand.topic = SLICE("t");
    uint64_t flow = submit(r, &o);
    assert_block(r, flow, 0, BLOCK_NO_POOL_MAPPING);
    assert_ok(fixture_topic(r, "t", "p", "q"));
    assert_block(r, flow, 0, BLOCK_NO_WORKERS);
    assert_ok(fixture_pause(r, PAUSE_POOL, 0, "p", true));
    assert_block(r, flow, 0, BLOCK_NO_WORKERS); /* q would take it */
    assert_ok(fixture_pool(r, "q", POOL_INACTIVE, false, NULL));
    assert_block(r, flow, 0, BLOCK_PAUSED); /* the first of those that are closed */
}

static void a_job_waits_for_a_worker(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    assert_ok(fixture_attach(r, "w", 1, 1));
    uint64_t running = submit(r, &o), flow = submit(r, &o);
    struct why_job why = fixture_why(r, running, 0);
    assert_int_equal(why.block, BLOCK_START);
    assert_int_equal(why.worker, 1);
    assert_int_equal(why.until.ms, r->in.wall.ms + r->limits.dispatch_timeout_ms);
    assert_block(r, flow, 0, BLOCK_CAPACITY);
    assert_ok(fixture_cancel(r, ref_of(running, 0)));
    why = fixture_why(r, running, 0);
    assert_int_equal(why.block, BLOCK_STOPPING);
    assert_int_equal(why.until.ms, r->in.wall.ms + r->limits.stop_confirm_ms);
    struct name_item names[] = {{SLICE("x")}};
    o.demand.capabilities = (struct tlv_list){names, 1};
    assert_block(r, submit(r, &o), 0, BLOCK_CAPABILITY);
    o = fixture_options();
    o.preferred_worker = SLICE("z");
    assert_block(r, submit(r, &o), 0, BLOCK_PREFERENCE);
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, true, NULL));
    assert_block(r, flow, 0, BLOCK_OVERLOADED);
}

/* A worker is free and the next round will serve others first: seen between two passes only. */
static void a_job_waits_for_its_turn(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t flow = submit(r, &o);
    struct command cmd = {.kind = CMD_ATTACH};
    cmd.as.attach = (struct cmd_attach){.worker = SLICE("w"), .incarnation = 1, .info = {.slots = 1}};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    assert_block(r, flow, 0, BLOCK_QUEUE);
    engine_finish(r->engine);
    fixture_flush(r);
    assert_block(r, flow, 0, BLOCK_START);
}

static void paused_comes_before_the_rest(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.start_within_ms = 5000;
    uint64_t flow = submit(r, &o);
    assert_ok(fixture_pause(r, PAUSE_FLOW, flow, NULL, true));
    assert_block(r, flow, 0, BLOCK_PAUSED);
    assert_int_equal(fixture_why(r, flow, 0).until.ms, r->in.wall.ms + 5000); /* the clock runs all the same */
    assert_ok(fixture_pause(r, PAUSE_FLOW, flow, NULL, false));
    assert_ok(fixture_pause(r, PAUSE_TENANT, 0, "acme", true));
    assert_block(r, flow, 0, BLOCK_PAUSED);
}

static void every_obstacle_has_a_word_and_a_text(void **state) {
    (void)state;
    for (uint32_t b = 0; b < BLOCK_COUNT; b++) {
        assert_true(strlen(block_word((enum block)b)) > 0);
        assert_true(strlen(block_text((enum block)b)) > 0);
    }
    assert_string_equal(block_word(BLOCK_OVERLOADED), "pool_overloaded");
    assert_panics((void)block_word(BLOCK_COUNT));
    assert_panics((void)block_text(BLOCK_COUNT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_job_that_runs_waits_for_nothing),
        FIXTURE_TEST(parents_and_time),
        FIXTURE_TEST(a_job_waits_for_a_question),
        FIXTURE_TEST(a_job_waits_for_its_pool),
        FIXTURE_TEST(a_job_waits_for_the_pools_of_its_topic),
        FIXTURE_TEST(a_job_waits_for_a_worker),
        FIXTURE_TEST(a_job_waits_for_its_turn),
        FIXTURE_TEST(paused_comes_before_the_rest),
        FIXTURE_TEST(every_obstacle_has_a_word_and_a_text),
        FIXTURE_TEST(ready_jobs_are_counted_by_reason),
        FIXTURE_TEST(jobs_that_a_pause_took_out_of_their_queue_are_counted_as_paused),
        FIXTURE_TEST(what_is_no_longer_ready_counts_for_nothing),
        FIXTURE_TEST(of_very_many_classes_the_rest_counts_as_queued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
