/* saga_failure_test.c: flows that compensate every failure (ADR 0131); saga_test.c has those that wait for a fatal one.
 * Set 0 tries once more, set 1 is that of the compensations, set 2 asks a person. */
#include "engine_fixture.h"

enum { PLAIN, UNDO, ASKS, SET_COUNT };

static void submit(struct fixture *r, const char *const *jobs, uint32_t count) {
    struct options sets[SET_COUNT];
    for (uint32_t i = 0; i < SET_COUNT; i++) {
        sets[i] = fixture_options();
        sets[i].retries = 1;
        sets[i].backoff_base_ms = 10;
        sets[i].backoff_jitter_ms = 0;
    }
    sets[ASKS].gates = GATE_BIT(GATE_APPROVAL);
    sets[ASKS].deadline_ms = r->in.wall.ms + 1000;
    r->compensate_on = COMPENSATE_FAILURE;
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, count, false));
}

static void ends(struct fixture *r, uint32_t ordinal, enum outcome outcome) {
    struct job_view job = fixture_job(r, 1, ordinal);
    assert_ok(fixture_done(r, fixture_worker_of(r, 1, ordinal), 1, job.ref, job.attempt, outcome));
}

/* Both attempts. */
static void fails(struct fixture *r, uint32_t ordinal) {
    ends(r, ordinal, OUTCOME_EXIT);
    fixture_tick(r, 500);
    ends(r, ordinal, OUTCOME_EXIT);
    assert_int_equal(fixture_state(r, 1, ordinal), JOB_FAILED);
}

static void is_undoing(struct fixture *r, uint32_t ordinal, uint32_t undone) {
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_COMPENSATING);
    assert_int_equal(fixture_state(r, 1, ordinal), JOB_DISPATCHED);
    assert_int_equal(fixture_job(r, 1, ordinal).undoes, undone);
    fixture_check_digests(r);
}

static void every_failure_unwinds_a_flow_that_says_so(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a~1", "f: a", "d: f"}, 3);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    ends(r, 1, OUTCOME_EXIT); /* which is tried again */
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_NONE);
    fixture_tick(r, 500);
    ends(r, 1, OUTCOME_EXIT);
    assert_int_equal(fixture_job(r, 1, 1).cause, CAUSE_EXIT);
    assert_int_equal(fixture_job(r, 1, 2).cause, CAUSE_UPSTREAM); /* what it drags down comes first */
    is_undoing(r, 3, 0);
    assert_refused(r, fixture_retry(r, ref_of(1, 1)), ERR_STATE, "the flow failed and is being unwound");
    ends(r, 3, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_DONE);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

/* Nothing is done yet, so nobody has to undo anything: a person may still try the job again. */
static void a_failure_with_nothing_to_undo_unwinds_nothing(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"f~1", "b: f"}, 2);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fails(r, 0);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_NONE);
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    ends(r, 0, OUTCOME_OK);
    fails(r, 1);
    is_undoing(r, 2, 0);
    ends(r, 2, OUTCOME_OK);
}

static void what_succeeds_beside_a_failure_is_undone(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"q@2", "b~1", "c: b"}, 3);
    fixture_tick(r, 1000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_TIMED_OUT); /* before anything began */
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_NONE);
    assert_ok(fixture_attach(r, "w", 1, 1));
    ends(r, 1, OUTCOME_OK);
    assert_int_equal(fixture_job(r, 1, 2).cause, CAUSE_SAGA);
    is_undoing(r, 3, 1);
    ends(r, 3, OUTCOME_OK);
}

static void an_open_attempt_may_have_something_to_undo(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"b~1", "f"}, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    fails(r, 1);
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_STOPPING);
    ends(r, 0, OUTCOME_OK);
    is_undoing(r, 2, 0);
    ends(r, 2, OUTCOME_OK);
}

static void a_time_out_is_a_failure_and_a_denial_is_none(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a~1", "no@2: a", "late@2: a"}, 3);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    assert_ok(fixture_verdict(r, ref_of(1, 1), VERDICT_DENY, NULL));
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_NONE);
    fixture_tick(r, 1000);
    assert_int_equal(fixture_state(r, 1, 2), JOB_TIMED_OUT);
    is_undoing(r, 3, 0);
    ends(r, 3, OUTCOME_OK);
}

static void flows_of_a_schedule_undo_failures_too(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[0].retries = 0;
    struct job_spec specs[] = {
        {.name = SLICE("a"), .undo_profile = 2, .undo_body = SLICE("undo")},
        {.name = SLICE("f"), .parents = &(struct parent_ref){.name = SLICE("a")}, .parent_count = 1}};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme"), .principal = SLICE("tester")};
    cmd.as.schedule = (struct cmd_schedule){.name = SLICE("s"),
                                            .expression = SLICE("* * * * *"),
                                            .compensate_on = COMPENSATE_FAILURE,
                                            .jobs = {sets, 2, specs, 2, false}};
    assert_ok(fixture_command(r, &cmd));
    int64_t slot = r->in.wall.ms + 1;
    cmd = (struct command){.kind = CMD_SCHEDULE_BACKFILL, .tenant = SLICE("acme")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = SLICE("s"), .slots = &slot, .slot_count = 1};
    slot -= 60000;
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    ends(r, 1, OUTCOME_EXIT);
    is_undoing(r, 2, 0);
    ends(r, 2, OUTCOME_OK);
}

static void only_fatal_or_failure(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    r->compensate_on = COMPENSATE_COUNT;
    assert_refused(r, fixture_submit(r, &o, (const char *[]){"a"}, 1), ERR_INVALID, "fatal or failure");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(every_failure_unwinds_a_flow_that_says_so),
        FIXTURE_TEST(a_failure_with_nothing_to_undo_unwinds_nothing),
        FIXTURE_TEST(what_succeeds_beside_a_failure_is_undone),
        FIXTURE_TEST(an_open_attempt_may_have_something_to_undo),
        FIXTURE_TEST(a_time_out_is_a_failure_and_a_denial_is_none),
        FIXTURE_TEST(flows_of_a_schedule_undo_failures_too),
        FIXTURE_TEST(only_fatal_or_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
