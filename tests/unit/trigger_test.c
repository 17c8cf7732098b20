/* trigger_test.c: when a job starts by the ends of the jobs that it needs, and what is tried again. */
#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "state.h"

enum { PLAIN, ONE, NONE, QUESTION, ONE_HELD, SET_COUNT };

static void submit_more(struct fixture *r, const char *const *jobs, uint32_t count, bool more) {
    struct options sets[SET_COUNT];
    for (uint32_t i = 0; i < SET_COUNT; i++) {
        sets[i] = fixture_options();
        sets[i].retries = 0;
    }
    sets[ONE].trigger = TRIGGER_ONE_SUCCEEDED;
    sets[NONE].trigger = TRIGGER_NONE_FAILED;
    sets[ONE_HELD] = sets[ONE];
    sets[ONE_HELD].gates = GATE_BIT(GATE_POLICY);
    sets[QUESTION].gates = GATE_BIT(GATE_CONDITION);
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, count, more));
}

static void submit(struct fixture *r, const char *const *jobs, uint32_t count) {
    submit_more(r, jobs, count, false);
}

static void ends(struct fixture *r, uint32_t ordinal, enum outcome outcome) {
    assert_ok(fixture_done(r, "w", 1, ref_of(1, ordinal), fixture_job(r, 1, ordinal).attempt, outcome));
}

#define ASSERT_STATE(r, ordinal, wanted) assert_int_equal(fixture_state(r, 1, ordinal), wanted)

/* ---- triggers ---- */

static void one_success_is_enough_and_comes_once(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a", "b", "c", "x@1: a b c", "y: x"}, 5);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_EXIT);
    ASSERT_STATE(r, 3, JOB_WAITING);
    assert_int_equal(fixture_job(r, 1, 3).parents_open, 2);
    ends(r, 1, OUTCOME_OK);
    ASSERT_STATE(r, 3, JOB_DISPATCHED); /* beside c, which is running */
    ASSERT_STATE(r, 2, JOB_DISPATCHED);
    ends(r, 2, OUTCOME_OK);
    assert_int_equal(fixture_job(r, 1, 3).attempt, 1);
    ends(r, 3, OUTCOME_OK);
    ends(r, 4, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED); /* a failed, whatever came of it */
}

static void it_ends_when_the_last_that_might_succeed_has_failed(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a", "b", "x@1: a b", "y: x"}, 4);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 1, OUTCOME_EXIT);
    ASSERT_STATE(r, 2, JOB_WAITING);
    fixture_check_digests(r);
    ends(r, 0, OUTCOME_EXIT);
    ASSERT_STATE(r, 2, JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 2).cause, CAUSE_UPSTREAM);
    assert_int_equal(fixture_job(r, 1, 2).root, 0); /* the first of its list, not the last to end */
    assert_int_equal(fixture_job(r, 1, 3).root, 2);
}

/* It blames the first of its parents, but the second may bring the success as well. */
static void a_retry_of_any_parent_brings_it_back(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a", "b", "x@1: a b", "y: x", "z@1: x y"}, 5);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_EXIT);
    ends(r, 1, OUTCOME_EXIT);
    ASSERT_STATE(r, 4, JOB_FAILED);
    assert_ok(fixture_retry(r, ref_of(1, 1)));
    ASSERT_STATE(r, 0, JOB_FAILED);
    for (uint32_t i = 2; i < 5; i++) ASSERT_STATE(r, i, JOB_WAITING);
    fixture_check_digests(r);
    ends(r, 1, OUTCOME_OK);
    ASSERT_STATE(r, 2, JOB_DISPATCHED);
    ends(r, 2, OUTCOME_OK);
    ASSERT_STATE(r, 4, JOB_DISPATCHED); /* x is enough */
    ends(r, 3, OUTCOME_OK);
    ends(r, 4, OUTCOME_OK);
}

static void a_retry_counts_anew_while_it_waits(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a", "b", "x@1: a b"}, 3);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_EXIT);
    assert_int_equal(fixture_job(r, 1, 2).parents_open, 1);
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    assert_int_equal(fixture_job(r, 1, 2).parents_open, 2);
    ends(r, 1, OUTCOME_EXIT);
    ASSERT_STATE(r, 2, JOB_WAITING);
    ends(r, 0, OUTCOME_OK);
    ASSERT_STATE(r, 2, JOB_DISPATCHED);
}

static void quarantine(struct fixture *r, uint32_t ordinal) {
    struct command cmd = {.kind = CMD_VERDICT};
    cmd.as.verdict = (struct cmd_verdict){.job = ref_of(1, ordinal), .verdict = VERDICT_QUARANTINE};
    assert_ok(fixture_command(r, &cmd));
}

static void a_success_that_is_quarantined_is_none(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a", "b", "x@4: a b", "y@4: a"}, 4);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    ends(r, 1, OUTCOME_OK);
    ASSERT_STATE(r, 2, JOB_HELD);
    quarantine(r, 0);
    ASSERT_STATE(r, 2, JOB_HELD); /* b has succeeded as well */
    ASSERT_STATE(r, 3, JOB_FAILED);
    quarantine(r, 1);
    ASSERT_STATE(r, 2, JOB_FAILED);
    assert_ok(fixture_retry(r, ref_of(1, 1)));
    ASSERT_STATE(r, 2, JOB_WAITING);
    ASSERT_STATE(r, 3, JOB_FAILED);
}

static void other_flows_may_bring_the_success(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a", "b"}, 2);
    submit(r, (const char *[]){"x@1: 1/a 1/b", "y@1: 1/b"}, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 1, OUTCOME_EXIT);
    assert_int_equal(fixture_state(r, 2, 0), JOB_WAITING);
    assert_int_equal(fixture_state(r, 2, 1), JOB_FAILED);
    assert_int_equal(fixture_job(r, 2, 1).root, NO_ORDINAL);
    ends(r, 0, OUTCOME_OK);
    assert_int_equal(fixture_state(r, 2, 0), JOB_DISPATCHED);
    submit(r, (const char *[]){"x@1: 1/b 1/a", "y@1: 1/b"}, 2); /* by ends that were seen */
    assert_int_equal(fixture_state(r, 3, 0), JOB_DISPATCHED);
    assert_int_equal(fixture_state(r, 3, 1), JOB_FAILED);
}

static void jobs_that_come_later_are_judged_by_what_ended(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    submit_more(r, (const char *[]){"a", "b", "c"}, 3, true);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_EXIT);
    ends(r, 1, OUTCOME_OK);
    o.trigger = TRIGGER_ONE_SUCCEEDED;
    assert_ok(fixture_add(r, 1, &o, (const char *[]){"x: a b c", "y: a", "z: a c", "free"}, 4, false));
    ASSERT_STATE(r, 3, JOB_DISPATCHED);
    ASSERT_STATE(r, 4, JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 5).parents_open, 1);
    ASSERT_STATE(r, 6, JOB_DISPATCHED); /* it needs nobody */
}

static void a_skipped_parent_is_no_failure(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a@3", "b", "x@2: a b", "y: a", "z@2: y", "c", "bad@2: c"}, 7);
    assert_ok(fixture_attach(r, "w", 1, 8));
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_DENY, NULL)); /* its condition does not hold */
    ASSERT_STATE(r, 0, JOB_SKIPPED);
    ASSERT_STATE(r, 2, JOB_WAITING);
    ASSERT_STATE(r, 3, JOB_SKIPPED);
    ASSERT_STATE(r, 4, JOB_DISPATCHED);
    ends(r, 1, OUTCOME_OK);
    ASSERT_STATE(r, 2, JOB_DISPATCHED);
    ends(r, 5, OUTCOME_EXIT);
    ASSERT_STATE(r, 6, JOB_FAILED);
}

static void a_cancelled_parent_brings_neither(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a", "x@1: a", "y@2: a"}, 3);
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    ASSERT_STATE(r, 1, JOB_CANCELLED);
    ASSERT_STATE(r, 2, JOB_CANCELLED);
}

static void run_is_the_older_word_for_all_done(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.on_upstream = UPSTREAM_RUN;
    o.trigger = TRIGGER_NONE_FAILED;
    assert_refused(r, fixture_submit(r, &o, (const char *[]){"a"}, 1), ERR_INVALID, "trigger: all_done");
    o.trigger = TRIGGER_COUNT;
    assert_refused(r, fixture_submit(r, &o, (const char *[]){"a"}, 1), ERR_INVALID, "one_succeeded");
    o.trigger = TRIGGER_ALL_DONE;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b: a"}, 2));
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    ASSERT_STATE(r, 1, JOB_READY);
}

/* More parents than a record may visit end at once: the count holds across the steps. */
static void it_holds_across_steps(void **state) {
    struct fixture *r = *state;
    enum { PARENTS = STEP_JOBS_MAX + 300 };
    struct options sets[3] = {fixture_options(), fixture_options(), fixture_options()};
    char(*names)[8] = calloc(PARENTS, sizeof *names);
    struct job_spec *specs = calloc(PARENTS + 2, sizeof *specs);
    struct parent_ref *parents = calloc(PARENTS, sizeof *parents), root = {.name = SLICE("root")};
    sets[0].retries = 0;
    sets[1].kind = JOB_BARRIER;
    sets[2].trigger = TRIGGER_ONE_SUCCEEDED;
    specs[0].name = root.name;
    for (uint32_t i = 0; i < PARENTS; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        parents[i].name = slice_str(names[i]);
        specs[1 + i] = (struct job_spec){.name = parents[i].name, .profile = 1, .parents = &root, .parent_count = 1};
    }
    specs[PARENTS + 1] =
        (struct job_spec){.name = SLICE("x"), .profile = 2, .parents = parents, .parent_count = PARENTS};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 3, specs, PARENTS + 2, false};
    r->limits.job_parents_max = PARENTS;
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_attach(r, "w", 1, 1));
    ends(r, 0, OUTCOME_EXIT);
    for (int i = 0; i < 9; i++) fixture_tick(r, 1);
    ASSERT_STATE(r, PARENTS + 1, JOB_FAILED);
    fixture_check_digests(r);
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    for (int i = 0; i < 9; i++) fixture_tick(r, 1);
    ASSERT_STATE(r, PARENTS + 1, JOB_WAITING);
    assert_int_equal(fixture_job(r, 1, PARENTS + 1).parents_open, PARENTS);
    ends(r, 0, OUTCOME_OK);
    for (int i = 0; i < 9; i++) fixture_tick(r, 1);
    ASSERT_STATE(r, PARENTS + 1, JOB_DISPATCHED);
    free(parents);
    free(specs);
    free(names);
}

/* ---- what is tried again ---- */

static struct options tries(uint8_t on) {
    struct options o = fixture_options();
    o.retries = 3;
    o.retry_on = on;
    o.backoff_base_ms = 10;
    o.backoff_jitter_ms = 0;
    return o;
}

static void only_the_ends_that_a_job_names_are_tried_again(void **state) {
    struct fixture *r = *state;
    const uint8_t bits[] = {0, RETRY_LOST, RETRY_EXIT, RETRY_TIMEOUT | RETRY_EXIT};
    assert_ok(fixture_attach(r, "w", 1, 8));
    for (uint32_t i = 0; i < sizeof bits; i++) {
        struct options o = tries(bits[i]);
        assert_ok(fixture_submit(r, &o, (const char *[]){"exits", "lost"}, 2));
        assert_ok(fixture_exit(r, "w", ref_of(i + 1, 0), 1, 1));
        assert_ok(fixture_done(r, "w", 1, ref_of(i + 1, 1), 1, OUTCOME_STOPPED));
        bool exits = bits[i] == 0 || (bits[i] & RETRY_EXIT), losses = bits[i] == 0 || (bits[i] & RETRY_LOST);
        assert_int_equal(fixture_state(r, i + 1, 0), exits ? JOB_WAITING : JOB_FAILED);
        assert_int_equal(fixture_state(r, i + 1, 1), losses ? JOB_WAITING : JOB_FAILED);
        assert_int_equal(fixture_job(r, i + 1, 1).cause, CAUSE_LOST);
    }
}

static void a_time_out_ends_a_job_that_does_not_name_it(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 8));
    for (uint64_t flow = 1; flow <= 2; flow++) {
        struct options o = tries(flow == 1 ? RETRY_EXIT : RETRY_TIMEOUT);
        o.run_timeout_ms = 100;
        assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
        assert_ok(fixture_started(r, "w", 1, ref_of(flow, 0), 1));
        fixture_tick(r, 100);
        assert_ok(fixture_done(r, "w", 1, ref_of(flow, 0), 1, OUTCOME_STOPPED));
        assert_int_equal(fixture_state(r, flow, 0), flow == 1 ? JOB_TIMED_OUT : JOB_WAITING);
    }
}

static void what_never_began_is_tried_again(void **state) {
    struct fixture *r = *state;
    struct options o = tries(RETRY_TIMEOUT);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_REFUSED));
    ASSERT_STATE(r, 0, JOB_WAITING);
}

/* A loss that costs nothing is a second attempt all the same. */
static void no_loss_is_free_when_none_is_tried_again(void **state) {
    struct fixture *r = *state;
    struct options o = tries(RETRY_EXIT);
    o.free_losses = 3;
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(fixture_attach(r, "w", 2, 1));
    ASSERT_STATE(r, 0, JOB_FAILED);
    o.retry_on = RETRY_ALL + 1;
    assert_refused(r, fixture_submit(r, &o, (const char *[]){"a"}, 1), ERR_INVALID, "retry_on");
}

#define T(name) FIXTURE_TEST(name)
int main(void) {
    const struct CMUnitTest tests[] = {
        T(one_success_is_enough_and_comes_once),
        T(it_ends_when_the_last_that_might_succeed_has_failed),
        T(a_retry_of_any_parent_brings_it_back),
        T(a_retry_counts_anew_while_it_waits),
        T(a_success_that_is_quarantined_is_none),
        T(other_flows_may_bring_the_success),
        T(jobs_that_come_later_are_judged_by_what_ended),
        T(a_skipped_parent_is_no_failure),
        T(a_cancelled_parent_brings_neither),
        T(run_is_the_older_word_for_all_done),
        T(it_holds_across_steps),
        T(only_the_ends_that_a_job_names_are_tried_again),
        T(a_time_out_ends_a_job_that_does_not_name_it),
        T(what_never_began_is_tried_again),
        T(no_loss_is_free_when_none_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
