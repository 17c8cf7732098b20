/* tally_test.c: what has happened is counted once, live as in replay and after a snapshot; flows of older rules are not
 * counted. */
#include "engine_fixture.h"

#include "state.h"

static uint64_t count_of(const struct engine *e, uint32_t what) {
    return view_tally(engine_state(e))[what];
}

/* In the engine, in one made from its journal, and in one made from its snapshot. */
static void assert_counts(struct fixture *r, uint32_t what, uint64_t n) {
    struct engine *replayed = fixture_replay(r), *reloaded = fixture_reload(r);
    assert_int_equal(count_of(r->engine, what), n);
    assert_int_equal(count_of(replayed, what), n);
    assert_int_equal(count_of(reloaded, what), n);
    engine_free(replayed);
    engine_free(reloaded);
}

static uint64_t submit(struct fixture *r, uint32_t retries) {
    struct options o = fixture_options();
    o.retries = retries;
    o.backoff_base_ms = 1;
    o.backoff_cap_ms = 1;
    o.backoff_jitter_ms = 0;
    assert_ok(fixture_submit(r, &o, (const char *const[]){"a"}, 1));
    return r->reply.flow.v;
}

static void an_attempt_is_counted_with_its_times(void **state) {
    struct fixture *r = *state;
    uint64_t flow = submit(r, 3);
    fixture_tick(r, 40);
    assert_ok(fixture_attach(r, "w1", 1, 1));
    fixture_tick(r, 4);
    assert_ok(fixture_started(r, "w1", 1, ref_of(flow, 0), 1));
    fixture_tick(r, 300);
    assert_ok(fixture_exit(r, "w1", ref_of(flow, 0), 1, 7));
    fixture_tick(r, 10);
    assert_ok(fixture_started(r, "w1", 1, ref_of(flow, 0), 2));
    assert_ok(fixture_done(r, "w1", 1, ref_of(flow, 0), 2, OUTCOME_OK));
    assert_counts(r, TALLY_FLOWS, 1);
    assert_counts(r, TALLY_FLOWS_SUCCEEDED, 1);
    assert_counts(r, TALLY_JOBS, 1);
    assert_counts(r, TALLY_RETRIES, 1);
    assert_counts(r, TALLY_ENTERED + JOB_DISPATCHED, 2);
    assert_counts(r, TALLY_ENTERED + JOB_SUCCEEDED, 1);
    assert_counts(r, TALLY_ENTERED + JOB_FAILED, 0);
    assert_true(count_of(r->engine, TALLY_WAIT) >= 40);
    assert_true(count_of(r->engine, TALLY_RUN) >= 300);
    assert_int_equal(count_of(r->engine, TALLY_RUN + 1 + 8), 1); /* 250 to 500 ms */
    assert_int_equal(count_of(r->engine, TALLY_RUN + 1), 1);     /* the second took no time */
}

static void a_retry_by_a_person_is_none_of_the_engine(void **state) {
    struct fixture *r = *state;
    uint64_t flow = submit(r, 0);
    assert_ok(fixture_attach(r, "w1", 1, 1));
    assert_ok(fixture_exit(r, "w1", ref_of(flow, 0), 1, 1));
    assert_counts(r, TALLY_FLOWS_FAILED, 1);
    assert_ok(fixture_retry(r, ref_of(flow, 0)));
    assert_ok(fixture_done(r, "w1", 1, ref_of(flow, 0), 2, OUTCOME_OK));
    assert_counts(r, TALLY_RETRIES, 0);
    assert_counts(r, TALLY_ENTERED + JOB_FAILED, 1);
    assert_counts(r, TALLY_FLOWS_SUCCEEDED, 1);
}

static void an_approval_is_counted_by_what_was_decided(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    assert_ok(fixture_submit(r, &o, (const char *const[]){"a", "b"}, 2));
    uint64_t flow = r->reply.flow.v;
    fixture_tick(r, 70);
    assert_ok(fixture_verdict(r, ref_of(flow, 0), VERDICT_ALLOW, NULL));
    assert_ok(fixture_verdict(r, ref_of(flow, 1), VERDICT_DENY, NULL));
    assert_counts(r, TALLY_APPROVED, 1);
    assert_counts(r, TALLY_REJECTED, 1);
    assert_counts(r, TALLY_EXPIRED, 0);
    assert_int_equal(count_of(r->engine, TALLY_APPROVAL + 1 + 6), 2); /* 50 to 100 ms */
}

static void numbers_of_the_table_do_not_overlap(void **state) {
    (void)state;
    static const uint32_t numbers[] = {
#define X(tally, number, text) number,
        TALLY_TABLE(X)
#undef X
    };
    for (size_t i = 1; i < sizeof numbers / sizeof numbers[0]; i++) assert_true(numbers[i] > numbers[i - 1]);
    for (uint32_t i = 1; i < TALLY_BOUND_COUNT; i++) assert_true(tally_bounds_ms[i] > tally_bounds_ms[i - 1]);
    assert_true(TALLY_FLOW + TALLY_SPREAD_SLOTS <= TALLY_COUNT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(an_attempt_is_counted_with_its_times),
        FIXTURE_TEST(a_retry_by_a_person_is_none_of_the_engine),
        FIXTURE_TEST(an_approval_is_counted_by_what_was_decided),
        cmocka_unit_test(numbers_of_the_table_do_not_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
