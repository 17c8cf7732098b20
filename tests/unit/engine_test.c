/* engine_test.c: one engine, from submit to the end of a flow, and back from its journal and snapshot. */
#include "engine_fixture.h"

#define FILL_BYTES 3900u

static int setup(void **state) {
    static struct fixture rig;
    fixture_init(&rig);
    *state = &rig;
    return 0;
}

static int teardown(void **state) {
    fixture_fini(*state);
    return 0;
}

static void chain_runs_in_order(void **state) {
    struct fixture *r = *state;
    struct options o;
    options_default(&o);
    const char *jobs[] = {"c: b", "a", "b: a"};
    assert_int_equal(fixture_submit(r, &o, jobs, 3), ERR_OK);
    uint64_t flow = r->reply.flow.v;
    assert_int_equal(flow, 1);
    assert_int_equal(fixture_state(r, flow, 0), JOB_READY); /* a comes first, whatever the order of the submit */
    assert_int_equal(fixture_state(r, flow, 1), JOB_WAITING);
    assert_int_equal(fixture_attach(r, "w1", 1, 4), ERR_OK);
    assert_int_equal(fixture_state(r, flow, 0), JOB_DISPATCHED);
    fixture_check_digests(r);
    fixture_run_all(r, "w1", 1);
    struct flow_view view;
    assert_true(view_flow(engine_state(r->engine), (flow_id){flow}, &view));
    assert_int_equal(view.state, FLOW_SUCCEEDED);
    assert_int_equal(view.by_state[JOB_SUCCEEDED], 3);
    fixture_check_digests(r);
}

static void nothing_leaves_before_it_is_durable(void **state) {
    struct fixture *r = *state;
    struct options o;
    options_default(&o);
    r->hold = true;
    const char *jobs[] = {"a"};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_UNKNOWN);
    const char *bad[] = {"a: nobody"};
    assert_int_equal(fixture_submit(r, &o, bad, 1), ERR_UNKNOWN); /* a rejection tells of the state as well */
    r->hold = false;
    fixture_flush(r);
    assert_int_equal(r->answered, r->token);
    assert_int_equal(r->reply.err, ERR_UNKNOWN_NAME);
}

static void failure_cascades_and_retries_run_out(void **state) {
    struct fixture *r = *state;
    struct options o;
    options_default(&o);
    o.retries = 1;
    const char *jobs[] = {"a", "b: a", "c: b"};
    assert_int_equal(fixture_submit(r, &o, jobs, 3), ERR_OK);
    assert_int_equal(fixture_attach(r, "w1", 1, 4), ERR_OK);
    struct job_ref a = {{1}, 0};
    assert_int_equal(fixture_done(r, "w1", 1, a, 1, OUTCOME_EXIT), ERR_OK);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    int64_t wait = fixture_job(r, 1, 0).due.ms - r->in.wall.ms;
    assert_in_range(wait, 2000, 2499);
    fixture_tick(r, 1999);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    fixture_tick(r, 501);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_int_equal(fixture_done(r, "w1", 1, a, 1, OUTCOME_OK),
                     ERR_OK); /* a repeat of the first word: the same answer */
    assert_true(r->reply.repeated);
    assert_int_equal(fixture_done(r, "w1", 1, a, 2, OUTCOME_EXIT), ERR_OK);
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(fixture_state(r, 1, i), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 2).cause, CAUSE_UPSTREAM);
    fixture_check_digests(r);
}

static void crash_keeps_everything(void **state) {
    struct fixture *r = *state;
    struct options o;
    options_default(&o);
    const char *jobs[] = {"a", "b: a"};
    assert_int_equal(fixture_submit(r, &o, jobs, 2), ERR_OK);
    assert_int_equal(fixture_attach(r, "w1", 1, 1), ERR_OK);
    fixture_crash(r);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_int_equal(fixture_attach(r, "w1", 1, 1), ERR_OK); /* holds nothing: it is sent again under the same number */
    assert_int_equal(fixture_job(r, 1, 0).attempt, 1);
    fixture_run_all(r, "w1", 1);
    assert_int_equal(fixture_state(r, 1, 1), JOB_SUCCEEDED);
    fixture_check_digests(r);
}

static void silence_ends_a_lease(void **state) {
    struct fixture *r = *state;
    struct options o;
    options_default(&o);
    o.retries = 0;
    const char *jobs[] = {"a"};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_OK);
    assert_int_equal(fixture_attach(r, "w1", 1, 1), ERR_OK);
    fixture_tick(r, r->limits.lease_ms - 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_LOST);
    assert_int_equal(fixture_done(r, "w1", 1, (struct job_ref){{1}, 0}, 1, OUTCOME_OK), ERR_STALE);
    fixture_check_digests(r);
}

static void cycle_is_named(void **state) {
    struct fixture *r = *state;
    struct options o;
    options_default(&o);
    const char *jobs[] = {"x", "a: c x", "b: a", "c: b"};
    assert_int_equal(fixture_submit(r, &o, jobs, 4), ERR_CYCLE);
    assert_non_null(strstr(r->reply.why.text, "a -> b -> c -> a"));
}

static void a_thousand_flows_settle(void **state) {
    struct fixture *r = *state;
    struct options o;
    options_default(&o);
    const char *jobs[] = {"a", "b: a", "c: a", "d: b c"};
    for (int i = 0; i < 1000; i++) assert_int_equal(fixture_submit(r, &o, jobs, 4), ERR_OK);
    assert_int_equal(fixture_attach(r, "w1", 1, 100), ERR_OK);
    fixture_run_all(r, "w1", 1);
    struct state_counts counts;
    view_counts(engine_state(r->engine), engine_live(r->engine), &counts);
    assert_int_equal(counts.by_state[JOB_SUCCEEDED], 4000);
    assert_int_equal(counts.flows_running, 0);
    assert_int_equal(counts.reserved_bytes, 0);
    fixture_check_digests(r);
}

static void a_small_batch_waits_when_space_is_short(void **state) {
    struct fixture *r = *state;
    struct options o;
    options_default(&o);
    const char *jobs[] = {"a"};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_OK);
    struct command pause = {.kind = CMD_PAUSE};
    pause.as.pause = (struct cmd_pause){.scope = PAUSE_POOL, .name = SLICE("default"), .on = true};
    engine_begin(r->engine, &r->in);
    assert_false(engine_should_fill(r->engine, FILL_BYTES)); /* nothing to append */
    engine_command(r->engine, &pause);
    assert_false(engine_should_fill(r->engine, FILL_BYTES)); /* space is no concern */
    r->in.journal_free_bytes = 2 * 4 * 256 - 1;  /* four attempts may come; see ATTEMPT_RECORD_BYTES */
    engine_begin(r->engine, &r->in);
    assert_true(engine_should_fill(r->engine, FILL_BYTES));
    r->in.journal_free_bytes += 2;
    engine_begin(r->engine, &r->in);
    assert_false(engine_should_fill(r->engine, FILL_BYTES));
    r->in.journal_free_bytes -= 2;
    engine_begin(r->engine, &r->in);
    assert_true(engine_should_fill(r->engine, FILL_BYTES));
    char name[100]; /* many of them: the batch fills its block */
    memset(name, 'n', sizeof name);
    for (uint32_t i = 0; i < 40; i++) {
        name[0] = (char)('a' + i % 26);
        name[1] = (char)('a' + i / 26);
        pause.as.pause.name = slice_of(name, sizeof name);
        engine_command(r->engine, &pause);
    }
    assert_false(engine_should_fill(r->engine, FILL_BYTES));
    fixture_flush(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(chain_runs_in_order, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_leaves_before_it_is_durable, setup, teardown),
        cmocka_unit_test_setup_teardown(failure_cascades_and_retries_run_out, setup, teardown),
        cmocka_unit_test_setup_teardown(crash_keeps_everything, setup, teardown),
        cmocka_unit_test_setup_teardown(silence_ends_a_lease, setup, teardown),
        cmocka_unit_test_setup_teardown(cycle_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_thousand_flows_settle, setup, teardown),
        cmocka_unit_test_setup_teardown(a_small_batch_waits_when_space_is_short, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
