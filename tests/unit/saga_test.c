/* saga_test.c: compensations: when they are entered, what makes a flow unwind, how it does, and that no crash in
 * between changes anything. */
#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "limit.h"
#include "record.h"
#include "state.h"

enum { PLAIN, UNDO, SET_COUNT };

struct sets {
    struct options at[SET_COUNT];
    uint32_t fatal;
};

/* Without jitter, exit code 9 is fatal. */
static void init_sets(struct sets *s) {
    s->fatal = 9;
    for (uint32_t i = 0; i < SET_COUNT; i++) {
        s->at[i] = fixture_options();
        s->at[i].backoff_base_ms = 10;
        s->at[i].backoff_jitter_ms = 0;
        s->at[i].fatal_exits = (struct tlv_u32s){&s->fatal, 1};
    }
    s->at[UNDO].retries = 1;
}

static enum err submit_more(struct fixture *r, const struct sets *s, const char *const *jobs, uint32_t count,
                            bool more) {
    return fixture_submit_sets(r, s->at, SET_COUNT, jobs, count, more);
}

static void submit(struct fixture *r, const char *const *jobs, uint32_t count) {
    struct sets s;
    init_sets(&s);
    assert_ok(submit_more(r, &s, jobs, count, false));
}

static struct job_ref at(uint32_t ordinal) {
    return ref_of(1, ordinal);
}

static void ok(struct fixture *r, uint32_t ordinal) {
    assert_ok(fixture_done(r, "w", 1, at(ordinal), fixture_job(r, 1, ordinal).attempt, OUTCOME_OK));
}

static void stopped(struct fixture *r, uint32_t ordinal) {
    assert_ok(fixture_done(r, "w", 1, at(ordinal), fixture_job(r, 1, ordinal).attempt, OUTCOME_STOPPED));
}

static void exits(struct fixture *r, uint32_t ordinal, uint32_t code) {
    assert_ok(fixture_exit(r, "w", at(ordinal), fixture_job(r, 1, ordinal).attempt, code));
}

static enum unwinding unwinding(const struct fixture *r) {
    return fixture_flow(r, 1).unwinding;
}

static void assert_job(const struct fixture *r, uint32_t ordinal, const char *name, enum job_state state,
                       enum job_cause cause) {
    struct job_view j = fixture_job(r, 1, ordinal);
    if (!slice_eq(j.name, slice_str(name)) || j.state != state || j.cause != cause)
        fail_msg("job %u is %.*s, %s (%s), not %s, %s (%s)", ordinal, SLICE_FMT(j.name), job_state_word(j.state),
                 job_cause_word(j.cause), name, job_state_word(state), job_cause_word(cause));
}

/* a and b have succeeded, c is running and has a compensation, d waits for c, and f fails fatally. */
static void unwind(struct fixture *r) {
    const char *jobs[] = {"a~1", "b~1: a", "c~1: a", "f: a", "d: c"};
    submit(r, jobs, 5);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    ok(r, 1);
    exits(r, 3, 9);
}

/* ---- the way of an unwinding ---- */

static void compensations_run_last_first_one_at_a_time(void **state) {
    struct fixture *r = *state;
    unwind(r);
    assert_int_equal(unwinding(r), UNWIND_STOPPING);
    assert_int_equal(fixture_flow(r, 1).undo_count, 2);
    assert_job(r, 3, "f", JOB_FAILED, CAUSE_EXIT);
    assert_job(r, 4, "d", JOB_CANCELLED, CAUSE_SAGA);
    assert_int_equal(fixture_job(r, 1, 2).stop, STOP_CANCEL);
    assert_int_equal(fixture_flow(r, 1).job_count, 5); /* nothing before all jobs are over */
    fixture_check_digests(r);
    ok(r, 2); /* its effects are real, though it was to be stopped */
    assert_job(r, 2, "c", JOB_CANCELLED, CAUSE_SAGA);
    const char *const names[] = {"c~undo", "b~undo", "a~undo"};
    const uint32_t undone[] = {2, 1, 0};
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(unwinding(r), UNWIND_COMPENSATING);
        assert_int_equal(fixture_flow(r, 1).job_count, 6 + i);
        assert_job(r, 5 + i, names[i], JOB_DISPATCHED, CAUSE_NONE);
        assert_int_equal(fixture_job(r, 1, 5 + i).undoes, undone[i]);
        assert_true(slice_eq(fixture_job(r, 1, 5 + i).body, SLICE("undo body")));
        assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING);
        fixture_check_digests(r);
        ok(r, 5 + i);
    }
    assert_int_equal(unwinding(r), UNWIND_DONE);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_int_equal(fixture_flow(r, 1).job_count, 8);
}

static void a_job_that_was_stopped_has_nothing_to_undo(void **state) {
    struct fixture *r = *state;
    unwind(r);
    stopped(r, 2);
    assert_job(r, 2, "c", JOB_CANCELLED, CAUSE_SAGA);
    assert_job(r, 5, "b~undo", JOB_DISPATCHED, CAUSE_NONE);
    ok(r, 5);
    ok(r, 6);
    assert_int_equal(fixture_flow(r, 1).job_count, 7);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void a_worker_that_never_confirms_holds_the_unwinding_up_for_a_time(void **state) {
    struct fixture *r = *state;
    unwind(r);
    for (int64_t ms = 0; ms < UNWIND_CONFIRM_MS; ms += 20000) {
        assert_int_equal(unwinding(r), UNWIND_STOPPING);
        fixture_tick(r, 20000);
        (void)fixture_heartbeat(r, "w", 1, 8, 0, 0);
    }
    assert_int_equal(unwinding(r), UNWIND_COMPENSATING);
    assert_job(r, 2, "c", JOB_CANCELLED, CAUSE_SAGA);
}

static void a_flow_without_compensations_fails_as_ever(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"f", "g", "child: f"};
    submit(r, jobs, 3);
    assert_ok(fixture_attach(r, "w", 1, 8));
    exits(r, 0, 9);
    assert_int_equal(unwinding(r), UNWIND_NONE);
    assert_int_equal(fixture_state(r, 1, 1), JOB_DISPATCHED);
    assert_int_equal(fixture_job(r, 1, 1).stop, STOP_NONE);
    assert_job(r, 2, "child", JOB_FAILED, CAUSE_UPSTREAM);
    ok(r, 1);
    assert_ok(fixture_rerun(r, 1));
}

static void nothing_done_yet_is_nothing_to_undo(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"f", "g", "later~1: g"};
    submit(r, jobs, 3);
    assert_ok(fixture_attach(r, "w", 1, 8));
    exits(r, 0, 9);
    assert_int_equal(unwinding(r), UNWIND_NONE);
    ok(r, 1);
    ok(r, 2);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_int_equal(fixture_flow(r, 1).job_count, 3);
}

static void an_attempt_under_way_may_have_something_to_undo(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"f", "g~1"};
    submit(r, jobs, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    exits(r, 0, 9);
    assert_int_equal(unwinding(r), UNWIND_STOPPING);
    fixture_check_digests(r);
    stopped(r, 1);
    assert_int_equal(unwinding(r), UNWIND_DONE);
    assert_int_equal(fixture_flow(r, 1).job_count, 2);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void what_the_failure_drags_down_keeps_its_cause(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"a~1", "f: a", "g: f", "h: a"};
    submit(r, jobs, 4);
    assert_ok(fixture_attach(r, "w", 1, 1));
    ok(r, 0);
    exits(r, 1, 9);
    assert_job(r, 2, "g", JOB_FAILED, CAUSE_UPSTREAM);
    assert_job(r, 3, "h", JOB_CANCELLED, CAUSE_SAGA);
    assert_job(r, 4, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
}

/* ---- entering ---- */

static void a_compensation_is_entered_before_the_output_is_judged(void **state) {
    struct fixture *r = *state;
    struct sets s;
    init_sets(&s);
    s.at[PLAIN].gates = GATE_BIT(GATE_OUTPUT);
    const char *jobs[] = {"a~1", "f"};
    assert_ok(submit_more(r, &s, jobs, 2, false));
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    assert_int_equal(fixture_state(r, 1, 0), JOB_CHECKING);
    assert_int_equal(fixture_flow(r, 1).undo_count, 1);
    fixture_check_digests(r);
    exits(r, 1, 9);
    assert_job(r, 0, "a", JOB_CANCELLED, CAUSE_SAGA);
    assert_job(r, 2, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
    assert_int_equal(fixture_job(r, 1, 2).options->gates, 0); /* its own output is not judged */
}

static void each_is_entered_once_also_when_its_job_succeeds_again(void **state) {
    struct fixture *r = *state;
    struct sets s;
    init_sets(&s);
    s.at[PLAIN].gates = GATE_BIT(GATE_OUTPUT);
    const char *jobs[] = {"a~1", "b~1", "f"};
    assert_ok(submit_more(r, &s, jobs, 3, false));
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    assert_ok(fixture_verdict(r, at(0), VERDICT_QUARANTINE, NULL));
    ok(r, 1);
    assert_ok(fixture_retry(r, at(0)));
    fixture_check_digests(r);
    ok(r, 0);
    assert_int_equal(fixture_flow(r, 1).undo_count, 2);
    exits(r, 2, 9);
    assert_job(r, 3, "b~undo", JOB_DISPATCHED, CAUSE_NONE);
    ok(r, 3);
    assert_job(r, 4, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
    ok(r, 4);
    assert_int_equal(fixture_flow(r, 1).job_count, 5);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void a_job_reset_before_it_succeeded_keeps_its_compensation(void **state) {
    struct fixture *r = *state;
    struct sets s;
    init_sets(&s);
    s.at[PLAIN].retries = 0;
    const char *jobs[] = {"a~1", "f: a"};
    assert_ok(submit_more(r, &s, jobs, 2, false));
    assert_ok(fixture_attach(r, "w", 1, 8));
    exits(r, 0, 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_ok(fixture_rerun(r, 1));
    fixture_check_digests(r);
    ok(r, 0);
    exits(r, 1, 9);
    assert_job(r, 2, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
}

/* ---- what is fatal ---- */

/* a has succeeded; b waits or runs, with those gates. */
static void one_done(struct fixture *r, uint8_t gates) {
    struct sets s;
    init_sets(&s);
    s.at[PLAIN].retries = 0;
    struct options sets[3] = {s.at[PLAIN], s.at[UNDO], s.at[PLAIN]};
    sets[2].gates = gates;
    const char *jobs[] = {"a~1", "b@2: a"};
    assert_ok(fixture_submit_sets(r, sets, 3, jobs, 2, false));
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
}

static void assert_compensates(struct fixture *r, bool yes) {
    assert_int_equal(unwinding(r), yes ? UNWIND_COMPENSATING : UNWIND_NONE);
    assert_int_equal(fixture_flow(r, 1).job_count, yes ? 3 : 2);
    if (!yes) return;
    assert_job(r, 2, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
    ok(r, 2);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void a_failure_that_is_not_fatal_undoes_nothing(void **state) {
    struct fixture *r = *state;
    one_done(r, 0);
    exits(r, 1, 1);
    assert_compensates(r, false);
    assert_ok(fixture_retry(r, at(1)));
}

static void a_worker_may_call_a_failure_fatal(void **state) {
    struct fixture *r = *state;
    one_done(r, 0);
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = at(1),
                                          .attempt = 1,
                                          .outcome = OUTCOME_EXIT,
                                          .exit_code = 1,
                                          .fatal = true};
    assert_ok(fixture_command(r, &cmd));
    assert_compensates(r, true);
}

static enum err fatal_verdict(struct fixture *r, uint32_t ordinal, enum verdict verdict) {
    struct cmd_verdict v = fixture_answer(r, at(ordinal), verdict);
    v.fatal = true;
    return fixture_send_verdict(r, &v);
}

static void a_verdict_may_be_fatal(void **state) {
    struct fixture *r = *state;
    one_done(r, GATE_BIT(GATE_POLICY));
    assert_refused(r, fatal_verdict(r, 1, VERDICT_ALLOW), ERR_INVALID, "only a deny");
    assert_ok(fatal_verdict(r, 1, VERDICT_DENY));
    assert_job(r, 1, "b", JOB_DENIED, CAUSE_VERDICT);
    assert_compensates(r, true);
}

static void a_verdict_that_is_not_fatal_undoes_nothing(void **state) {
    struct fixture *r = *state;
    one_done(r, GATE_BIT(GATE_POLICY));
    assert_ok(fixture_verdict(r, at(1), VERDICT_DENY, NULL));
    assert_compensates(r, false);
}

static void a_condition_is_never_fatal(void **state) {
    struct fixture *r = *state;
    one_done(r, GATE_BIT(GATE_CONDITION));
    assert_refused(r, fatal_verdict(r, 1, VERDICT_DENY), ERR_INVALID, "condition");
    assert_ok(fixture_verdict(r, at(1), VERDICT_DENY, NULL));
    assert_compensates(r, false);
}

static void a_quarantine_may_be_fatal(void **state) {
    struct fixture *r = *state;
    one_done(r, GATE_BIT(GATE_OUTPUT));
    ok(r, 1);
    assert_ok(fatal_verdict(r, 1, VERDICT_QUARANTINE));
    assert_compensates(r, true);
}

static void a_late_quarantine_undoes_a_flow_that_was_over(void **state) {
    struct fixture *r = *state;
    one_done(r, 0);
    ok(r, 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
    struct cmd_verdict v = {.job = at(0), .verdict = VERDICT_QUARANTINE, .fatal = true};
    assert_ok(fixture_send_verdict(r, &v));
    assert_job(r, 0, "a", JOB_QUARANTINED, CAUSE_VERDICT);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING);
    assert_compensates(r, true);
}

/* ---- compensations that do not succeed ---- */

static void a_failed_compensation_is_a_dead_letter_and_the_unwinding_goes_on(void **state) {
    struct fixture *r = *state;
    unwind(r);
    stopped(r, 2);
    exits(r, 5, 1);
    assert_job(r, 5, "b~undo", JOB_WAITING, CAUSE_EXIT); /* it has a retry of its own */
    assert_int_equal(fixture_flow(r, 1).job_count, 6);
    fixture_tick(r, 1000);
    exits(r, 5, 1);
    assert_job(r, 5, "b~undo", JOB_FAILED, CAUSE_EXIT);
    assert_true(fixture_job(r, 1, 5).dead_letter);
    assert_job(r, 6, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
    exits(r, 6, 9); /* fatal: no retry, and nothing more to unwind */
    assert_job(r, 6, "a~undo", JOB_FAILED, CAUSE_EXIT);
    assert_int_equal(unwinding(r), UNWIND_DONE);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_int_equal(fixture_counts(r).dead_letters, 3);
    assert_ok(fixture_discard(r, at(6)));
    assert_ok(fixture_retry(r, at(5))); /* a person mended something */
    assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING);
    assert_job(r, 5, "b~undo", JOB_DISPATCHED, CAUSE_NONE);
    assert_int_equal(fixture_job(r, 1, 5).undoes, 1);
    fixture_check_digests(r);
    ok(r, 5);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_int_equal(fixture_flow(r, 1).job_count, 7);
}

static void the_next_waits_for_a_compensation_that_is_retried(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"a~1", "b~1", "c~1", "f: a b c"};
    submit(r, jobs, 4);
    assert_ok(fixture_attach(r, "w", 1, 8));
    for (uint32_t i = 0; i < 3; i++) ok(r, i);
    exits(r, 3, 9);
    exits(r, 4, 9); /* c~undo; b~undo runs */
    assert_ok(fixture_retry(r, at(4)));
    ok(r, 5);
    assert_int_equal(fixture_flow(r, 1).job_count, 6);
    ok(r, 4);
    assert_job(r, 6, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
}

static void a_compensation_may_be_cancelled(void **state) {
    struct fixture *r = *state;
    unwind(r);
    stopped(r, 2);
    assert_ok(fixture_cancel(r, at(5)));
    stopped(r, 5);
    assert_job(r, 5, "b~undo", JOB_CANCELLED, CAUSE_REQUEST);
    assert_job(r, 6, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
}

/* ---- the soft question ---- */

static void soft(struct fixture *r) {
    struct sets s;
    init_sets(&s);
    s.at[UNDO].gates = GATE_BIT(GATE_POLICY) | GATE_BIT(GATE_APPROVAL) | GATE_BIT(GATE_OUTPUT);
    const char *jobs[] = {"a~1", "b~1", "f: a b"};
    assert_ok(submit_more(r, &s, jobs, 3, false));
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    ok(r, 1);
    exits(r, 2, 9);
    assert_job(r, 3, "b~undo", JOB_HELD, CAUSE_NONE);
}

static void a_policy_that_denies_skips_the_compensation(void **state) {
    struct fixture *r = *state;
    soft(r);
    assert_refused(r, fixture_verdict(r, at(3), VERDICT_HOLD, NULL), ERR_INVALID, "no approval");
    assert_ok(fixture_verdict(r, at(3), VERDICT_DENY, NULL));
    assert_job(r, 3, "b~undo", JOB_SKIPPED, CAUSE_VERDICT);
    assert_false(fixture_job(r, 1, 3).dead_letter);
    assert_job(r, 4, "a~undo", JOB_HELD, CAUSE_NONE);
    assert_ok(fixture_verdict(r, at(4), VERDICT_ALLOW, NULL));
    assert_job(r, 4, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
    ok(r, 4);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void a_policy_that_says_nothing_lets_the_compensation_run(void **state) {
    struct fixture *r = *state;
    soft(r);
    fixture_check_digests(r);
    fixture_tick(r, r->limits.undo_policy_ms - 1);
    (void)fixture_heartbeat(r, "w", 1, 8, 0, 0);
    assert_job(r, 3, "b~undo", JOB_HELD, CAUSE_NONE);
    fixture_tick(r, 1);
    assert_job(r, 3, "b~undo", JOB_DISPATCHED, CAUSE_NONE);
}

/* ---- what can and cannot be asked of such a flow ---- */

static void assert_closed(struct fixture *r) {
    struct options o = fixture_options();
    const char *jobs[] = {"x"};
    bool running = fixture_flow(r, 1).state == FLOW_RUNNING;
    assert_refused(r, fixture_add(r, 1, &o, jobs, 1, false), ERR_STATE,
                   running ? "no jobs can be added" : "has finished");
    assert_refused(r, fixture_cancel(r, at(UINT32_MAX)), ERR_STATE, running ? "one by one" : "has finished");
    assert_refused(r, fixture_rerun(r, 1), ERR_STATE, running ? "still running" : "submit it again");
    assert_refused(r, fixture_retry(r, at(3)), ERR_STATE, running ? "is being unwound" : "was unwound");
}

static void an_unwinding_flow_cannot_be_changed(void **state) {
    struct fixture *r = *state;
    unwind(r);
    assert_closed(r);
    stopped(r, 2);
    assert_closed(r);
    assert_ok(fixture_discard(r, at(3)));
    ok(r, 5);
    ok(r, 6);
    assert_int_equal(unwinding(r), UNWIND_DONE);
    assert_closed(r);
    assert_ok(fixture_forget(r, 1));
    assert_int_equal(fixture_counts(r).jobs, 0);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
}

static void an_open_flow_is_closed_when_it_unwinds(void **state) {
    struct fixture *r = *state;
    struct sets s;
    init_sets(&s);
    const char *jobs[] = {"a~1", "f: a"};
    assert_ok(submit_more(r, &s, jobs, 2, true));
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    exits(r, 1, 9);
    assert_false(fixture_flow(r, 1).more);
    ok(r, 2);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void a_paused_flow_unwinds_when_it_goes_on(void **state) {
    struct fixture *r = *state;
    unwind(r);
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    stopped(r, 2);
    assert_job(r, 5, "b~undo", JOB_READY, CAUSE_NONE);
    fixture_check_digests(r);
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, false));
    assert_job(r, 5, "b~undo", JOB_DISPATCHED, CAUSE_NONE);
}

static void a_flow_that_was_cancelled_before_still_undoes(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"a~1", "b"};
    submit(r, jobs, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    assert_ok(fixture_cancel(r, at(UINT32_MAX)));
    struct cmd_verdict v = {.job = at(0), .verdict = VERDICT_QUARANTINE, .fatal = true};
    assert_ok(fixture_send_verdict(r, &v));
    assert_int_equal(unwinding(r), UNWIND_STOPPING);
    stopped(r, 1);
    assert_job(r, 2, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
    ok(r, 2);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

/* ---- how they are recorded ---- */

static void compensations_have_the_reserved_priority(void **state) {
    struct fixture *r = *state;
    struct sets s;
    init_sets(&s);
    s.at[UNDO].deadline_ms = r->in.wall.ms + 1000; /* about the job, not about what undoes it */
    s.at[UNDO].not_before_ms = r->in.wall.ms + 60000;
    s.at[UNDO].gates = 0x3f;
    s.at[UNDO].four_eyes = true;
    const char *jobs[] = {"a~1", "f: a"};
    assert_ok(submit_more(r, &s, jobs, 2, false));
    struct options high = fixture_options();
    high.priority = (uint32_t)r->limits.priority_max;
    const char *others[] = {"x"};
    assert_ok(fixture_submit(r, &high, others, 1));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_done(r, "w", 1, ref_of(2, 0), 1, OUTCOME_OK));
    assert_ok(fixture_submit(r, &high, others, 1)); /* waits for the one slot */
    ok(r, 0);
    assert_ok(fixture_done(r, "w", 1, ref_of(3, 0), 1, OUTCOME_OK));
    assert_ok(fixture_submit(r, &high, others, 1));
    exits(r, 1, 9);
    const struct options *o = fixture_job(r, 1, 2).options;
    assert_int_equal(o->priority, r->limits.priority_max + 1);
    assert_int_equal(o->gates, GATE_BIT(GATE_POLICY));
    assert_int_equal(o->deadline_ms, 0);
    assert_int_equal(o->not_before_ms, 0);
    assert_false(o->four_eyes);
    assert_int_equal(o->retries, 1);
    assert_ok(fixture_done(r, "w", 1, ref_of(4, 0), 1, OUTCOME_OK)); /* nothing else is ready while it is held */
    assert_ok(fixture_submit(r, &high, others, 1));
    assert_ok(fixture_submit(r, &high, others, 1));
    assert_ok(fixture_verdict(r, at(2), VERDICT_ALLOW, NULL));
    assert_ok(fixture_done(r, "w", 1, ref_of(5, 0), 1, OUTCOME_OK));
    assert_job(r, 2, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
    assert_int_equal(fixture_state(r, 6, 0), JOB_READY);
}

static enum err submit_spec(struct fixture *r, const struct options *sets, const struct job_spec *spec) {
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 3, spec, 1, false};
    return fixture_command(r, &cmd);
}

static void bad_compensations_are_refused(void **state) {
    struct fixture *r = *state;
    char name[252];
    memset(name, 'n', sizeof name);
    struct options sets[3] = {fixture_options(), fixture_options(), fixture_options()};
    sets[1].kind = JOB_BARRIER;
    sets[2].gates = GATE_BIT(GATE_POLICY);
    struct job_spec s = {.name = SLICE("a"), .undo_profile = 4};
    assert_refused(r, submit_spec(r, sets, &s), ERR_INVALID, "missing options");
    s.undo_profile = 2;
    assert_refused(r, submit_spec(r, sets, &s), ERR_INVALID, "runs on a worker");
    s = (struct job_spec){.name = SLICE("a"), .profile = 1, .undo_profile = 1};
    assert_refused(r, submit_spec(r, sets, &s), ERR_INVALID, "runs on a worker");
    s = (struct job_spec){.name = SLICE("a"), .undo_profile = 3};
    assert_refused(r, submit_spec(r, sets, &s), ERR_INVALID, "no hash");
    s = (struct job_spec){.name = SLICE("a"), .undo_profile = 1, .undo_hash = SLICE("short")};
    assert_refused(r, submit_spec(r, sets, &s), ERR_INVALID, "32 bytes");
    s = (struct job_spec){.name = SLICE("a"), .undo_body = SLICE("x")};
    assert_refused(r, submit_spec(r, sets, &s), ERR_INVALID, "has no options");
    static const uint8_t hash[32] = {1};
    s = (struct job_spec){.name = SLICE("a"), .undo_hash = slice_of(hash, 32)};
    assert_refused(r, submit_spec(r, sets, &s), ERR_INVALID, "has no options");
    for (uint8_t kind = 0; kind < JOB_KIND_COUNT; kind++) { /* what ends by itself undoes nothing */
        if (kind != JOB_GATE && kind != JOB_EXTERNAL) continue;
        sets[1].kind = kind;
        s = (struct job_spec){.name = SLICE("a"), .undo_profile = 2};
        assert_refused(r, submit_spec(r, sets, &s), ERR_INVALID, "runs on a worker");
    }
    static char body[2 << 20];
    s = (struct job_spec){.name = SLICE("a"), .undo_profile = 1, .undo_body = slice_of(body, sizeof body)};
    assert_refused(r, submit_spec(r, sets, &s), ERR_LIMIT, "job_body_bytes_max");
    s = (struct job_spec){.name = SLICE("a~undo")};
    assert_refused(r, submit_spec(r, sets, &s), ERR_INVALID, "that of a compensation");
    s = (struct job_spec){.name = slice_of(name, 124), .undo_profile = 1};
    assert_ok(submit_spec(r, sets, &s));
}

/* The set of a compensation is one more than the client sent. */
static void compensations_count_as_sets_of_options(void **state) {
    struct fixture *r = *state;
    struct options sets[3] = {fixture_options(), fixture_options(), fixture_options()};
    struct job_spec s = {.name = SLICE("a"), .undo_profile = 1};
    r->limits.submit_profiles_max = 3;
    struct engine *e = fixture_replay(r);
    engine_free(r->engine);
    r->engine = e;
    fixture_crash(r);
    assert_refused(r, submit_spec(r, sets, &s), ERR_LIMIT, "submit_profiles_max");
    s.undo_profile = 0;
    assert_ok(submit_spec(r, sets, &s));
}

static void an_end_that_is_good_is_not_fatal(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"a~1", "b: a"};
    submit(r, jobs, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = at(1), .attempt = 1, .outcome = OUTCOME_OK, .fatal = true};
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_int_equal(unwinding(r), UNWIND_NONE);
}

/* A job that succeeded once and is wanted again: in whatever state a snapshot finds it, the room is counted once. */
static void the_room_is_counted_once_in_every_state(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"a~1", "b"};
    submit(r, jobs, 2);
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    struct cmd_verdict late = {.job = at(0), .verdict = VERDICT_QUARANTINE};
    assert_ok(fixture_send_verdict(r, &late));
    fixture_check_digests(r);
    assert_ok(fixture_drain(r, "w", true));
    assert_ok(fixture_retry(r, at(0)));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    for (uint32_t i = 0; i < 3; i++) {
        struct engine *other = fixture_reload(r);
        struct state_counts counts;
        view_counts(engine_state(other), NULL, &counts);
        engine_free(other);
        assert_int_equal(counts.reserved_bytes, fixture_counts(r).reserved_bytes);
        if (i == 0) assert_ok(fixture_drain(r, "w", false)); /* dispatched */
        if (i == 1) exits(r, 0, 1);                          /* waits for its retry */
    }
}

/* A cascade that takes every step of its record leaves what a fatal failure calls off to the next one; whoever is
 * restored in between goes on all the same. */
static void a_cascade_that_takes_all_steps_puts_the_unwinding_off(void **state) {
    struct fixture *r = *state;
    uint32_t due = 0;
    for (uint32_t children = STEP_JOBS_MAX - 3; children <= STEP_JOBS_MAX + 1; children++) {
        struct sets s;
        init_sets(&s);
        uint32_t count = children + 3;
        char(*names)[24] = calloc(count, sizeof *names);
        const char **jobs = calloc(count, sizeof *jobs);
        for (uint32_t i = 0; i < count; i++) {
            (void)snprintf(names[i], sizeof names[i], i == 0 ? "a~1" : i == 1 ? "f" : i == 2 ? "late" : "j%u: f", i);
            jobs[i] = names[i];
        }
        assert_ok(submit_more(r, &s, jobs, count, false));
        uint64_t flow = r->reply.flow.v;
        free(names);
        free(jobs);
        assert_ok(fixture_attach(r, "w", 1, 2)); /* a and f; `late` is ready when the failure comes */
        assert_ok(fixture_done(r, "w", 1, ref_of(flow, 0), 1, OUTCOME_OK));
        assert_ok(fixture_cancel(r, ref_of(flow, 2)));
        if (job_state_is_active(fixture_state(r, flow, 2)))
            assert_ok(fixture_done(r, "w", 1, ref_of(flow, 2), 1, OUTCOME_STOPPED));
        struct command cmd = {.kind = CMD_DONE, .token = 1};
        cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                              .incarnation = 1,
                                              .job = ref_of(flow, 1),
                                              .attempt = 1,
                                              .outcome = OUTCOME_EXIT,
                                              .exit_code = 9};
        engine_begin(r->engine, &r->in);
        engine_command(r->engine, &cmd); /* no pass: CONTINUED has not been written yet */
        fixture_flush(r);
        due += fixture_flow(r, flow).unwinding == UNWIND_DUE;
        fixture_check_digests(r);
        fixture_tick(r, 0);
        assert_ok(fixture_done(r, "w", 1, ref_of(flow, count), 1, OUTCOME_OK));
        assert_int_equal(fixture_flow(r, flow).unwinding, UNWIND_DONE);
    }
    assert_true(due > 0 && due < 5);
}

static void the_name_must_leave_room(void **state) {
    struct fixture *r = *state;
    char name[251];
    memset(name, 'n', sizeof name);
    struct limits wide = r->limits;
    wide.name_bytes_max = 255;
    struct engine *e = engine_new(0, &wide);
    engine_free(r->engine);
    r->engine = e;
    r->limits = wide;
    r->batches.count = 0;
    r->epoch = 0;
    engine_resume(r->engine, ++r->epoch, SLICE("test"), &r->in);
    fixture_flush(r);
    struct options sets[3] = {fixture_options(), fixture_options(), fixture_options()};
    struct job_spec s = {.name = slice_of(name, 251), .undo_profile = 1};
    assert_refused(r, submit_spec(r, sets, &s), ERR_LIMIT, "the name of the compensation");
    s.name.len = 250;
    assert_ok(submit_spec(r, sets, &s));
}

static void the_journal_keeps_room_for_compensations(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"a~1", "f: a"};
    submit(r, jobs, 2);
    uint64_t attempts = ATTEMPT_RECORD_BYTES;
    assert_int_equal(fixture_counts(r).reserved_bytes, 10 * attempts); /* 4 + 4, and 2 to undo a */
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    assert_int_equal(fixture_counts(r).reserved_bytes, 6 * attempts);
    struct engine *other = fixture_reload(r);
    struct state_counts counts;
    view_counts(engine_state(other), NULL, &counts);
    engine_free(other);
    assert_int_equal(counts.reserved_bytes, 6 * attempts);
    exits(r, 1, 9);
    assert_int_equal(fixture_counts(r).reserved_bytes, 2 * attempts);
    ok(r, 2);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
}

/* ---- other flows ---- */

static void other_flows_hear_of_it(void **state) {
    struct fixture *r = *state;
    const char *jobs[] = {"a~1", "f: a", "g: a", "h: g"};
    submit(r, jobs, 4);
    const char *others[] = {"x: 1/h", "y: 1/f"};
    struct options o = fixture_options();
    assert_ok(fixture_submit(r, &o, others, 2));
    assert_ok(fixture_attach(r, "w", 1, 8));
    ok(r, 0);
    exits(r, 1, 9);
    assert_int_equal(fixture_state(r, 2, 0), JOB_CANCELLED);
    assert_int_equal(fixture_state(r, 2, 1), JOB_FAILED);
    const char *more[] = {"z: 1/g"};
    assert_ok(fixture_submit(r, &o, more, 1));
    stopped(r, 2);
    assert_int_equal(fixture_state(r, 3, 0), JOB_CANCELLED);
}

/* ---- in steps ---- */

#define MANY (STEP_JOBS_MAX * 2u + 100u)

static void a_long_unwinding_goes_step_by_step(void **state) {
    struct fixture *r = *state;
    struct sets s;
    init_sets(&s);
    char(*names)[24] = calloc(MANY, sizeof *names);
    const char **jobs = calloc(MANY, sizeof *jobs);
    for (uint32_t i = 0; i < MANY; i++) {
        (void)snprintf(names[i], sizeof names[i], i == 0 ? "a~1" : i == 1 ? "f: a" : i < 20 ? "j%u" : "j%u: a", i);
        jobs[i] = names[i];
    }
    assert_ok(submit_more(r, &s, jobs, MANY, false));
    free(names);
    free(jobs);
    r->in.random = 1;
    assert_ok(fixture_attach(r, "w", 1, 1)); /* a first */
    ok(r, 0);
    uint32_t f = 1, ended = 0;
    while (!job_state_is_active(fixture_state(r, 1, f))) { /* those before it are given out first */
        for (uint32_t i = 2; i < 20; i++)
            if (job_state_is_active(fixture_state(r, 1, i))) {
                ok(r, i);
                ended++;
            }
        assert_true(ended < 20);
    }
    struct command cmd = {.kind = CMD_DONE, .token = 1};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = at(1), .attempt = 1, .outcome = OUTCOME_EXIT, .exit_code = 9};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd); /* no pass: CONTINUED has not been written yet */
    fixture_flush(r);
    assert_true(fixture_flow(r, 1).settling);
    fixture_check_digests(r);
    fixture_tick(r, 0);
    assert_int_equal(fixture_flow(r, 1).job_count, MANY + 1);
    assert_job(r, MANY, "a~undo", JOB_DISPATCHED, CAUSE_NONE);
    assert_job(r, MANY - 1, "j8291", JOB_CANCELLED, CAUSE_SAGA);
    assert_int_equal(fixture_flow(r, 1).by_state[JOB_CANCELLED], MANY - 2 - ended);
}

/* ---- a crash at every point ---- */

/* The records up to an LSN, as the journal of a server that died behind it. */
static void cut(const struct fixture *r, uint64_t lsn, struct fixture *ret) {
    memset(ret, 0, sizeof *ret);
    ret->limits = r->limits;
    ret->in = r->in;
    ret->epoch = r->epoch;
    ret->tenant = r->tenant;
    ret->principal = r->principal;
    buf_init(&ret->journal, (size_t)1 << 32);
    vec_init(&ret->batches, sizeof(struct batch));
    vec_init(&ret->effects, sizeof(struct effect));
    struct arena arena;
    arena_init(&arena, 4096, (size_t)1 << 24);
    for (uint32_t i = 0; i < r->batches.count; i++) {
        struct batch b = *(const struct batch *)vec_at(&r->batches, i);
        if (b.first_lsn > lsn) break;
        struct slice bytes = slice_of(r->journal.at + (uintptr_t)b.records.ptr, b.records.len);
        struct cursor c = cursor_of(bytes);
        for (uint64_t at_lsn = b.first_lsn; at_lsn <= b.last_lsn && at_lsn <= lsn; at_lsn++) {
            struct record record;
            assert_ok(record_decode(&c, &arena, &record, NULL));
        }
        b.records = slice_of((const uint8_t *)(uintptr_t)ret->journal.len, bytes.len - cursor_left(&c));
        buf_put_slice(&ret->journal, slice_of(bytes.ptr, b.records.len));
        if (b.last_lsn > lsn) b.last_lsn = lsn;
        *(struct batch *)vec_push(&ret->batches) = b;
    }
    arena_fini(&arena);
    ret->engine = engine_new(0, &ret->limits);
}

/* A worker that kept what it had. */
static void attach_again(struct fixture *r) {
    struct held_attempt held[16];
    uint32_t count = 0;
    struct flow_view flow;
    if (view_flow(engine_state(r->engine), (flow_id){1}, &flow))
        for (uint32_t i = 0; i < flow.job_count; i++)
            if (job_state_is_active(fixture_state(r, 1, i)))
                held[count++] = (struct held_attempt){at(i), fixture_job(r, 1, i).attempt, HELD_RUNNING};
    assert_ok(fixture_attach_holding(r, "w", 1, held, count));
}

static bool is_named(const struct job_view *j, const char *name) {
    return slice_eq(j->name, slice_str(name));
}

/* One step of a worker: c ends well, but only when it is told to stop; f fails fatally when b is done; the compensation
 * of b fails for good. */
static bool act(struct fixture *r) {
    for (uint32_t i = 0; i < fixture_flow(r, 1).job_count; i++) {
        struct job_view j = fixture_job(r, 1, i);
        if (!job_state_is_active(j.state)) continue;
        if (is_named(&j, "c") && j.stop == STOP_NONE) continue;
        if (is_named(&j, "f") && fixture_state(r, 1, 1) != JOB_SUCCEEDED) continue;
        if (is_named(&j, "f") || is_named(&j, "b~undo"))
            exits(r, i, 9);
        else
            ok(r, i);
        return true;
    }
    return false;
}

static void play(struct fixture *r) {
    struct flow_view flow;
    if (!view_flow(engine_state(r->engine), (flow_id){1}, &flow)) {
        const char *jobs[] = {"a~1", "b~1: a", "c~1: a", "f: a", "d: c"};
        submit(r, jobs, 5);
    }
    for (uint32_t steps = 0; fixture_flow(r, 1).state == FLOW_RUNNING; steps++) {
        assert_true(steps < 100);
        if (!act(r)) fixture_tick(r, 50);
    }
}

static void assert_same_end(const struct fixture *a, const struct fixture *b) {
    assert_int_equal(fixture_flow(a, 1).state, fixture_flow(b, 1).state);
    assert_int_equal(fixture_flow(b, 1).unwinding, UNWIND_DONE);
    assert_int_equal(fixture_flow(a, 1).job_count, fixture_flow(b, 1).job_count);
    for (uint32_t i = 0; i < fixture_flow(a, 1).job_count; i++) {
        struct job_view ja = fixture_job(a, 1, i), jb = fixture_job(b, 1, i);
        assert_true(slice_eq(ja.name, jb.name));
        assert_int_equal(ja.state, jb.state);
        assert_int_equal(ja.cause, jb.cause);
        assert_int_equal(ja.attempt, jb.attempt);
        assert_int_equal(ja.undoes, jb.undoes);
    }
}

/* Takes over from a cut journal, by replay or from a snapshot, and goes on to the same end. */
static void go_on(const struct fixture *whole, uint64_t lsn, bool by_snapshot) {
    struct fixture r;
    cut(whole, lsn, &r);
    if (by_snapshot) {
        struct engine *replayed = fixture_replay(&r);
        engine_free(r.engine);
        r.engine = replayed;
        struct engine *restored = fixture_reload(&r);
        assert_digests_equal(replayed, restored);
        engine_free(replayed);
        r.engine = restored;
        engine_resume(r.engine, ++r.epoch, SLICE("test"), &r.in);
        engine_finish(r.engine);
        fixture_flush(&r);
    } else {
        fixture_crash(&r);
    }
    attach_again(&r);
    play(&r);
    assert_same_end(whole, &r);
    fixture_check_digests(&r);
    fixture_fini(&r);
}

/* The rest of the journal over a snapshot of its beginning: not only the same end but the same state. */
static void follow(const struct fixture *whole, uint64_t lsn) {
    struct fixture head, all;
    cut(whole, lsn, &head);
    cut(whole, UINT64_MAX, &all);
    engine_free(head.engine);
    head.engine = fixture_replay(&head);
    struct engine *restored = fixture_reload(&head);
    struct arena arena;
    arena_init(&arena, 4096, (size_t)1 << 24);
    for (uint32_t i = 0; i < all.batches.count; i++) {
        struct batch b = *(const struct batch *)vec_at(&all.batches, i);
        if (b.last_lsn <= lsn) continue;
        struct cursor c = cursor_of(slice_of(all.journal.at + (uintptr_t)b.records.ptr, b.records.len));
        for (; b.first_lsn <= lsn; b.first_lsn++) {
            struct record record;
            assert_ok(record_decode(&c, &arena, &record, NULL));
        }
        size_t left = cursor_left(&c);
        b.records = slice_of(all.journal.at + (uintptr_t)b.records.ptr + (b.records.len - left), left);
        assert_ok(engine_replay(restored, &b, NULL));
    }
    arena_fini(&arena);
    assert_digests_equal(whole->engine, restored);
    engine_free(restored);
    fixture_fini(&head);
    fixture_fini(&all);
}

static void a_crash_at_any_point_changes_nothing(void **state) {
    struct fixture *r = *state;
    attach_again(r);
    play(r);
    const char *const names[] = {"a", "b", "c", "f", "d", "c~undo", "b~undo", "a~undo"};
    assert_int_equal(fixture_flow(r, 1).job_count, 8);
    for (uint32_t i = 0; i < 8; i++) assert_true(slice_eq(fixture_job(r, 1, i).name, slice_str(names[i])));
    assert_job(r, 6, "b~undo", JOB_FAILED, CAUSE_EXIT);
    assert_job(r, 7, "a~undo", JOB_SUCCEEDED, CAUSE_NONE);
    for (uint64_t lsn = 1; lsn <= engine_lsn(r->engine); lsn++) {
        go_on(r, lsn, false);
        go_on(r, lsn, true);
        follow(r, lsn);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(compensations_run_last_first_one_at_a_time),
        FIXTURE_TEST(a_job_that_was_stopped_has_nothing_to_undo),
        FIXTURE_TEST(a_worker_that_never_confirms_holds_the_unwinding_up_for_a_time),
        FIXTURE_TEST(a_flow_without_compensations_fails_as_ever),
        FIXTURE_TEST(nothing_done_yet_is_nothing_to_undo),
        FIXTURE_TEST(an_attempt_under_way_may_have_something_to_undo),
        FIXTURE_TEST(what_the_failure_drags_down_keeps_its_cause),
        FIXTURE_TEST(a_compensation_is_entered_before_the_output_is_judged),
        FIXTURE_TEST(each_is_entered_once_also_when_its_job_succeeds_again),
        FIXTURE_TEST(a_job_reset_before_it_succeeded_keeps_its_compensation),
        FIXTURE_TEST(a_failure_that_is_not_fatal_undoes_nothing),
        FIXTURE_TEST(a_worker_may_call_a_failure_fatal),
        FIXTURE_TEST(a_verdict_may_be_fatal),
        FIXTURE_TEST(a_verdict_that_is_not_fatal_undoes_nothing),
        FIXTURE_TEST(a_condition_is_never_fatal),
        FIXTURE_TEST(a_quarantine_may_be_fatal),
        FIXTURE_TEST(a_late_quarantine_undoes_a_flow_that_was_over),
        FIXTURE_TEST(a_failed_compensation_is_a_dead_letter_and_the_unwinding_goes_on),
        FIXTURE_TEST(the_next_waits_for_a_compensation_that_is_retried),
        FIXTURE_TEST(a_compensation_may_be_cancelled),
        FIXTURE_TEST(a_policy_that_denies_skips_the_compensation),
        FIXTURE_TEST(a_policy_that_says_nothing_lets_the_compensation_run),
        FIXTURE_TEST(an_unwinding_flow_cannot_be_changed),
        FIXTURE_TEST(an_open_flow_is_closed_when_it_unwinds),
        FIXTURE_TEST(a_paused_flow_unwinds_when_it_goes_on),
        FIXTURE_TEST(a_flow_that_was_cancelled_before_still_undoes),
        FIXTURE_TEST(compensations_have_the_reserved_priority),
        FIXTURE_TEST(bad_compensations_are_refused),
        FIXTURE_TEST(compensations_count_as_sets_of_options),
        FIXTURE_TEST(an_end_that_is_good_is_not_fatal),
        FIXTURE_TEST(the_room_is_counted_once_in_every_state),
        FIXTURE_TEST(a_cascade_that_takes_all_steps_puts_the_unwinding_off),
        FIXTURE_TEST(the_name_must_leave_room),
        FIXTURE_TEST(the_journal_keeps_room_for_compensations),
        FIXTURE_TEST(other_flows_hear_of_it),
        FIXTURE_TEST(a_long_unwinding_goes_step_by_step),
        FIXTURE_TEST(a_crash_at_any_point_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
