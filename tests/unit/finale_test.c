/* finale_test.c: what follows the main jobs of a flow (ADR 0132), and the flow's timeout and deadline (ADR 0133).
 * The option sets are the stages: set 0 is of main jobs, sets 1 to 3 of on_success, on_failure and finally; set 4 is of
 * compensations. */
#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define UNDO_SET 4u

static uint32_t fatal[] = {9};

static void sets_of(struct options sets[UNDO_SET + 1]) {
    for (uint32_t i = 0; i <= UNDO_SET; i++) {
        sets[i] = fixture_options();
        sets[i].retries = 0;
        sets[i].stage = i < UNDO_SET ? (uint8_t)i : FLOW_STAGE_MAIN;
        sets[i].fatal_exits = (struct tlv_u32s){fatal, 1};
    }
}

static enum err submit_more(struct fixture *r, const char *const *jobs, uint32_t count, bool more) {
    struct options sets[UNDO_SET + 1];
    sets_of(sets);
    return fixture_submit_sets(r, sets, UNDO_SET + 1, jobs, count, more);
}

static void submit(struct fixture *r, const char *const *jobs, uint32_t count) {
    assert_ok(submit_more(r, jobs, count, false));
}

static void ends(struct fixture *r, uint32_t ordinal, enum outcome outcome) {
    struct job_view job = fixture_job(r, 1, ordinal);
    assert_ok(fixture_done(r, fixture_worker_of(r, 1, ordinal), 1, job.ref, job.attempt, outcome));
    fixture_check_digests(r);
}

static void exits_fatally(struct fixture *r, uint32_t ordinal) {
    struct job_view job = fixture_job(r, 1, ordinal);
    assert_ok(fixture_exit(r, fixture_worker_of(r, 1, ordinal), job.ref, job.attempt, 9));
}

static enum flow_stage stage(struct fixture *r) {
    return fixture_flow(r, 1).stage;
}

static void is(struct fixture *r, uint32_t ordinal, enum job_state state) {
    assert_string_equal(job_state_word(fixture_state(r, 1, ordinal)), job_state_word(state));
}

/* 0 a, 1 b after a; 2 cheer; 3 tell; 4 clean, 5 sweep after clean. */
static const char *const all_stages[] = {"a", "b: a", "cheer@1", "tell@2", "clean@3", "sweep@3: clean"};
#define ALL 6u

static void finally_waits_for_the_main_jobs(void **state) {
    struct fixture *r = *state;
    submit(r, all_stages, ALL);
    for (uint32_t i = 2; i < ALL; i++) {
        is(r, i, JOB_WAITING);
        assert_int_equal(fixture_why(r, 1, i).block, BLOCK_STAGE);
    }
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    assert_int_equal(stage(r), FLOW_STAGE_MAIN);
    ends(r, 1, OUTCOME_OK);
    assert_int_equal(stage(r), FLOW_STAGE_SUCCESS);
    is(r, 2, JOB_DISPATCHED);
    is(r, 3, JOB_SKIPPED);
    assert_int_equal(fixture_job(r, 1, 3).cause, CAUSE_OUTCOME);
    is(r, 4, JOB_WAITING);
    ends(r, 2, OUTCOME_OK);
    assert_int_equal(stage(r), FLOW_STAGE_FINALLY);
    is(r, 4, JOB_DISPATCHED);
    assert_int_equal(fixture_why(r, 1, 5).block, BLOCK_PARENTS);
    ends(r, 4, OUTCOME_OK);
    ends(r, 5, OUTCOME_OK);
    assert_int_equal(stage(r), FLOW_STAGE_OVER);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

static void a_failure_calls_on_failure_and_a_retry_runs_all_anew(void **state) {
    struct fixture *r = *state;
    submit(r, all_stages, ALL);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    ends(r, 1, OUTCOME_EXIT);
    is(r, 2, JOB_SKIPPED);
    assert_refused(r, fixture_retry(r, ref_of(1, 1)), ERR_STATE,
                   "stage on_failure: retry the job when the flow has ended");
    ends(r, 3, OUTCOME_OK);
    ends(r, 4, OUTCOME_OK);
    ends(r, 5, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_ok(fixture_retry(r, ref_of(1, 1)));
    assert_int_equal(stage(r), FLOW_STAGE_MAIN);
    for (uint32_t i = 2; i < ALL; i++) is(r, i, JOB_WAITING);
    fixture_check_digests(r);
    ends(r, 1, OUTCOME_OK);
    is(r, 2, JOB_DISPATCHED);
    is(r, 3, JOB_SKIPPED);
    ends(r, 2, OUTCOME_OK);
    ends(r, 4, OUTCOME_OK);
    ends(r, 5, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_int_equal(fixture_job(r, 1, 4).attempt, 2);
}

static void a_failed_finally_job_fails_the_flow_and_is_retried_alone(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a", "clean@3", "cheer@1"}, 3);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    ends(r, 2, OUTCOME_OK);
    ends(r, 1, OUTCOME_EXIT);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_ok(fixture_retry(r, ref_of(1, 1)));
    assert_int_equal(stage(r), FLOW_STAGE_OVER);
    is(r, 2, JOB_SUCCEEDED);
    ends(r, 1, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_int_equal(fixture_job(r, 1, 2).attempt, 1);
    assert_refused(r, fixture_rerun(r, 1), ERR_STATE, "nothing to rerun");
}

static void a_rerun_runs_finally_again(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a", "b", "clean@3"}, 3);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    ends(r, 1, OUTCOME_EXIT);
    ends(r, 2, OUTCOME_OK);
    assert_ok(fixture_rerun(r, 1));
    is(r, 0, JOB_SUCCEEDED);
    is(r, 1, JOB_DISPATCHED);
    is(r, 2, JOB_WAITING);
    ends(r, 1, OUTCOME_OK);
    ends(r, 2, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

static void a_cancel_leaves_finally_and_a_second_one_ends_it(void **state) {
    struct fixture *r = *state;
    submit(r, all_stages, ALL);
    assert_ok(fixture_attach(r, "w", 1, 8));
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX))); /* the main jobs are being stopped: the same cancel */
    assert_int_equal(stage(r), FLOW_STAGE_MAIN);
    ends(r, 0, OUTCOME_STOPPED);
    is(r, 2, JOB_SKIPPED);
    is(r, 3, JOB_SKIPPED);
    is(r, 4, JOB_DISPATCHED);
    ends(r, 4, OUTCOME_OK);
    is(r, 5, JOB_DISPATCHED); /* the children of finally jobs hear of them, though the flow is cancelled */
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    ends(r, 5, OUTCOME_STOPPED);
    is(r, 5, JOB_CANCELLED);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_CANCELLED);
}

static void finally_comes_behind_the_last_compensation(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a~4", "b~4: a", "c: b", "tell@2", "clean@3"}, 5);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    ends(r, 1, OUTCOME_OK);
    exits_fatally(r, 2);
    is(r, 5, JOB_DISPATCHED); /* the compensation of b */
    is(r, 3, JOB_WAITING);
    ends(r, 5, OUTCOME_OK);
    is(r, 3, JOB_WAITING);
    ends(r, 6, OUTCOME_EXIT); /* whatever its end */
    is(r, 3, JOB_DISPATCHED);
    exits_fatally(r, 3); /* which undoes nothing */
    is(r, 4, JOB_DISPATCHED);
    ends(r, 4, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_int_equal(fixture_flow(r, 1).job_count, 7);
    assert_ok(fixture_retry(r, ref_of(1, 6))); /* the undoing starts again: what follows runs anew behind it */
    is(r, 4, JOB_WAITING);
    ends(r, 6, OUTCOME_OK);
    is(r, 3, JOB_DISPATCHED);
}

static enum err quarantine_fatally(struct fixture *r, uint32_t ordinal) {
    struct cmd_verdict verdict = {.job = ref_of(1, ordinal), .verdict = VERDICT_QUARANTINE, .fatal = true};
    return fixture_send_verdict(r, &verdict);
}

static void a_late_verdict_undoes_and_runs_finally_again(void **state) {
    struct fixture *r = *state;
    submit(r, (const char *[]){"a~4", "clean@3"}, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    assert_refused(r, quarantine_fatally(r, 0), ERR_BUSY, "stage finally");
    ends(r, 1, OUTCOME_OK);
    assert_ok(quarantine_fatally(r, 0));
    is(r, 1, JOB_WAITING);
    is(r, 2, JOB_DISPATCHED);
    ends(r, 2, OUTCOME_OK);
    is(r, 1, JOB_DISPATCHED);
    ends(r, 1, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void jobs_are_added_while_the_main_jobs_run(void **state) {
    struct fixture *r = *state;
    struct options sets[UNDO_SET + 1];
    sets_of(sets);
    submit(r, (const char *[]){"a", "clean@3"}, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    assert_ok(fixture_add(r, 1, &sets[0], (const char *[]){"b"}, 1, false));
    assert_ok(fixture_add(r, 1, &sets[3], (const char *[]){"late-clean"}, 1, false));
    assert_refused(r, fixture_add(r, 1, &sets[0], (const char *[]){"c: clean"}, 1, false), ERR_INVALID,
                   "job c (main) cannot need a job of finally");
    ends(r, 0, OUTCOME_OK);
    is(r, 1, JOB_WAITING);
    ends(r, 2, OUTCOME_OK);
    is(r, 1, JOB_DISPATCHED);
    is(r, 3, JOB_DISPATCHED);
    assert_refused(r, fixture_add(r, 1, &sets[0], (const char *[]){"d"}, 1, false), ERR_STATE,
                   "the main jobs of the flow are over (stage: finally)");
}

static void a_flow_that_expects_more_jobs_stays_in_the_main_stage(void **state) {
    struct fixture *r = *state;
    struct options sets[UNDO_SET + 1];
    sets_of(sets);
    assert_ok(submit_more(r, (const char *[]){"a", "clean@3"}, 2, true));
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    is(r, 1, JOB_WAITING);
    assert_ok(fixture_add(r, 1, &sets[0], NULL, 0, false));
    is(r, 1, JOB_DISPATCHED);
}

static void a_job_that_is_cancelled_by_name_is_not_called(void **state) {
    struct fixture *r = *state;
    submit(r, all_stages, ALL);
    assert_ok(fixture_attach(r, "w", 1, 8));
    assert_ok(fixture_cancel(r, ref_of(1, 4)));
    is(r, 4, JOB_CANCELLED);
    is(r, 5, JOB_CANCELLED); /* it needs that one */
    ends(r, 0, OUTCOME_OK);
    ends(r, 1, OUTCOME_OK);
    ends(r, 2, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_CANCELLED);
}

static void a_trigger_waits_for_its_stage(void **state) {
    struct fixture *r = *state;
    struct options sets[UNDO_SET + 1];
    sets_of(sets);
    sets[4].stage = FLOW_STAGE_FINALLY;
    sets[4].trigger = TRIGGER_ALL_DONE;
    assert_ok(fixture_submit_sets(r, sets, 5, (const char *[]){"a", "clean@3", "report@4: clean"}, 3, false));
    assert_ok(fixture_attach(r, "w", 1, 8));
    assert_ok(fixture_cancel(r, ref_of(1, 1)));
    is(r, 2, JOB_WAITING); /* all that it needs is over, and its stage has not come */
    assert_int_equal(fixture_why(r, 1, 2).block, BLOCK_STAGE);
    ends(r, 0, OUTCOME_OK);
    is(r, 2, JOB_DISPATCHED);
}

/* ---- times ---- */

static void a_timeout_calls_the_main_jobs_off(void **state) {
    struct fixture *r = *state;
    r->timeout_ms = 1000;
    submit(r, all_stages, ALL);
    assert_ok(fixture_attach(r, "w", 1, 8));
    fixture_tick(r, 999);
    assert_false(fixture_flow(r, 1).timed_out);
    fixture_tick(r, 1);
    assert_true(fixture_flow(r, 1).timed_out);
    is(r, 1, JOB_CANCELLED);
    assert_int_equal(fixture_job(r, 1, 1).cause, CAUSE_FLOW_TIMEOUT);
    struct options main_set = fixture_options();
    assert_refused(r, fixture_add(r, 1, &main_set, (const char *[]){"x"}, 1, false), ERR_STATE, "(timeout)");
    ends(r, 0, OUTCOME_STOPPED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_FLOW_TIMEOUT);
    is(r, 3, JOB_DISPATCHED);
    ends(r, 3, OUTCOME_OK);
    ends(r, 4, OUTCOME_OK);
    ends(r, 5, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_ok(fixture_rerun(r, 1)); /* with the whole time before it */
    fixture_tick(r, 999);
    assert_false(fixture_flow(r, 1).timed_out);
    fixture_tick(r, 1);
    assert_true(fixture_flow(r, 1).timed_out);
}

static void the_timeout_is_of_the_main_jobs_alone(void **state) {
    struct fixture *r = *state;
    r->timeout_ms = 1000;
    submit(r, (const char *[]){"a", "clean@3"}, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    fixture_tick(r, 5000);
    is(r, 1, JOB_DISPATCHED);
    ends(r, 1, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    fixture_tick(r, 5000);
}

static void a_timeout_is_a_failure_that_is_compensated(void **state) {
    struct fixture *r = *state;
    r->timeout_ms = 1000;
    r->compensate_on = COMPENSATE_FAILURE;
    submit(r, (const char *[]){"a~4", "b: a"}, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    fixture_tick(r, 1000);
    ends(r, 1, OUTCOME_STOPPED);
    is(r, 2, JOB_DISPATCHED);
    ends(r, 2, OUTCOME_OK);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void a_timeout_ends_a_flow_that_waits_for_more_jobs(void **state) {
    struct fixture *r = *state;
    r->timeout_ms = 1000;
    assert_ok(submit_more(r, (const char *[]){"a"}, 1, true));
    assert_ok(fixture_attach(r, "w", 1, 8));
    ends(r, 0, OUTCOME_OK);
    fixture_tick(r, 1000);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void a_deadline_marks_the_flow_and_ends_nothing(void **state) {
    struct fixture *r = *state;
    r->late_after_ms = 1000;
    submit(r, (const char *[]){"a"}, 1);
    fixture_crash(r);
    fixture_tick(r, 1000);
    assert_true(fixture_flow(r, 1).late);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING);
    fixture_check_digests(r);
}

static void times_come_back_from_a_snapshot(void **state) {
    struct fixture *r = *state;
    r->timeout_ms = 1000;
    r->late_after_ms = 500;
    submit(r, (const char *[]){"a", "clean@3"}, 2);
    fixture_check_digests(r); /* a follower begins with a snapshot, and is fed with what comes */
    fixture_tick(r, 500);
    fixture_check_digests(r);
    struct engine *e = fixture_reload(r);
    assert_int_equal(engine_next_due(e).ms, engine_next_due(r->engine).ms);
    engine_free(e);
    fixture_tick(r, 500);
    assert_true(fixture_flow(r, 1).timed_out);
    fixture_check_digests(r);
}

static void a_schedule_gives_its_flows_stages_and_times(void **state) {
    struct fixture *r = *state;
    struct options sets[UNDO_SET + 1];
    sets_of(sets);
    struct job_spec specs[] = {{.name = SLICE("a")}, {.name = SLICE("clean"), .profile = FLOW_STAGE_FINALLY}};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme"), .principal = SLICE("tester")};
    cmd.as.schedule = (struct cmd_schedule){.name = SLICE("s"),
                                            .expression = SLICE("* * * * *"),
                                            .timeout_ms = 5000,
                                            .late_after_ms = 1000,
                                            .jobs = {sets, UNDO_SET + 1, specs, 2, false}};
    assert_ok(fixture_command(r, &cmd));
    int64_t slot = r->in.wall.ms - 60000;
    cmd = (struct command){.kind = CMD_SCHEDULE_BACKFILL, .tenant = SLICE("acme")};
    cmd.as.schedule_name = (struct cmd_schedule_name){.name = SLICE("s"), .slots = &slot, .slot_count = 1};
    assert_ok(fixture_command(r, &cmd));
    is(r, 1, JOB_WAITING);
    assert_int_equal(fixture_flow(r, 1).deadline.ms, r->in.wall.ms + 1000); /* it was caught up: it counts from now */
    assert_int_equal(fixture_flow(r, 1).timeout.ms, r->in.wall.ms + 5000);
    fixture_check_digests(r);
    fixture_tick(r, 5000);
    assert_true(fixture_flow(r, 1).late);
    assert_true(fixture_flow(r, 1).timed_out);
    is(r, 1, JOB_READY);
}

/* ---- many jobs ---- */

static void a_stage_of_many_jobs_begins_step_by_step(void **state) {
    struct fixture *r = *state;
    const uint32_t count = STEP_JOBS_MAX + 100;
    char(*names)[16] = calloc(count, sizeof *names);
    const char **jobs = calloc(count, sizeof *jobs);
    struct options sets[UNDO_SET + 1];
    sets_of(sets);
    for (uint32_t i = 1; i < 4; i++) sets[i].kind = JOB_BARRIER;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "j%u@%u", i, i == 0 ? 0 : 1 + i % 3);
        jobs[i] = names[i];
    }
    assert_ok(fixture_submit_sets(r, sets, UNDO_SET + 1, jobs, count, false));
    assert_ok(fixture_attach(r, "w", 1, 8));
    struct command cmd = {.kind = CMD_DONE, .token = 1};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = ref_of(1, 0), .attempt = 1, .outcome = OUTCOME_EXIT};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd); /* no pass: CONTINUED has not been written yet */
    fixture_flush(r);
    assert_true(fixture_flow(r, 1).settling);
    assert_int_equal(stage(r), FLOW_STAGE_FAILURE);
    fixture_check_digests(r);
    fixture_crash(r); /* and goes on from there */
    fixture_tick(r, 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    is(r, 1, JOB_SUCCEEDED); /* on_failure */
    is(r, 2, JOB_SUCCEEDED); /* finally */
    is(r, 3, JOB_SKIPPED);   /* on_success */
    free(names);
    free(jobs);
}

/* ---- what is refused ---- */

static void refused(struct fixture *r, struct options *o, const char *job, const char *word) {
    struct options sets[2] = {*o, fixture_options()};
    assert_refused(r, fixture_submit_sets(r, sets, 2, (const char *[]){"a@1", job}, 2, false), ERR_INVALID, word);
}

static void what_may_not_follow_the_main_jobs(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.stage = FLOW_STAGE_FINALLY;
    refused(r, &o, "f~1", "runs behind the main jobs and cannot have a compensation");
    refused(r, &o, "f: a", "job f (finally) cannot need a job of main");
    o.deadline_ms = r->in.wall.ms + 1000;
    refused(r, &o, "f", "a job of finally cannot have a deadline");
    o.deadline_ms = 0;
    o.gates = GATE_BIT(GATE_EXPANSION);
    refused(r, &o, "f", "a job of finally cannot have foreach");
    o = fixture_options();
    o.stage = JOB_STAGE_COUNT;
    refused(r, &o, "f", "the stage of a job is main, on_success, on_failure or finally");
    r->timeout_ms = -1;
    assert_refused(r, fixture_submit(r, &o, (const char *[]){"a"}, 1), ERR_LIMIT, "the timeout of the flow");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(finally_waits_for_the_main_jobs),
        FIXTURE_TEST(a_failure_calls_on_failure_and_a_retry_runs_all_anew),
        FIXTURE_TEST(a_failed_finally_job_fails_the_flow_and_is_retried_alone),
        FIXTURE_TEST(a_rerun_runs_finally_again),
        FIXTURE_TEST(a_cancel_leaves_finally_and_a_second_one_ends_it),
        FIXTURE_TEST(finally_comes_behind_the_last_compensation),
        FIXTURE_TEST(a_late_verdict_undoes_and_runs_finally_again),
        FIXTURE_TEST(jobs_are_added_while_the_main_jobs_run),
        FIXTURE_TEST(a_flow_that_expects_more_jobs_stays_in_the_main_stage),
        FIXTURE_TEST(a_job_that_is_cancelled_by_name_is_not_called),
        FIXTURE_TEST(a_trigger_waits_for_its_stage),
        FIXTURE_TEST(a_timeout_calls_the_main_jobs_off),
        FIXTURE_TEST(the_timeout_is_of_the_main_jobs_alone),
        FIXTURE_TEST(a_timeout_is_a_failure_that_is_compensated),
        FIXTURE_TEST(a_timeout_ends_a_flow_that_waits_for_more_jobs),
        FIXTURE_TEST(a_deadline_marks_the_flow_and_ends_nothing),
        FIXTURE_TEST(times_come_back_from_a_snapshot),
        FIXTURE_TEST(a_schedule_gives_its_flows_stages_and_times),
        FIXTURE_TEST(a_stage_of_many_jobs_begins_step_by_step),
        FIXTURE_TEST(what_may_not_follow_the_main_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
