/* model_test.c: the second model on scenarios small enough to judge by hand, one rule each. */
#include "test.h"

#include <stdio.h>

#include "model_fixture.h"

/* ---- parents ---- */

static void child_waits_for_all_parents(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PLAIN}, {PARENTS(0, 1)});
    is(0, TS_READY, TC_NONE);
    is(2, TS_WAITING, TC_NONE);
    assert_int_equal(get(2).parents_open, 2);
    run(0, TO_OK);
    is(2, TS_WAITING, TC_NONE);
    assert_int_equal(get(2).parents_open, 1);
    run(1, TO_OK);
    is(2, TS_READY, TC_NONE);
    flow_is(TF_RUNNING);
    run(2, TO_OK);
    flow_is(TF_SUCCEEDED);
}

static void failure_takes_descendants_along(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0)}, {PARENTS(1)}, {PLAIN});
    run(0, TO_EXIT);
    is(0, TS_FAILED, TC_EXIT);
    is(1, TS_FAILED, TC_UPSTREAM);
    is(2, TS_FAILED, TC_UPSTREAM);
    is(3, TS_READY, TC_NONE);
    assert_int_equal(get(2).root, 0);
    assert_true(get(0).dead_letter);
    assert_false(get(1).dead_letter);
    flow_is(TF_RUNNING);
    run(3, TO_OK);
    flow_is(TF_FAILED);
}

static void upstream_rules_decide_what_a_failure_does(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0), .on_upstream = TU_SKIP}, {PARENTS(0), .on_upstream = TU_RUN}, {PARENTS(1)},
           {PARENTS(1), .on_upstream = TU_SKIP});
    run(0, TO_EXIT);
    is(1, TS_SKIPPED, TC_UPSTREAM);
    is(2, TS_READY, TC_NONE);
    is(3, TS_SKIPPED, TC_UPSTREAM); /* fail behind a skip is a skip */
    is(4, TS_SKIPPED, TC_UPSTREAM);
    assert_int_equal(get(3).root, 0);
}

static void triggers_decide_when_a_job_starts(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PLAIN}, {PARENTS(0), .on_upstream = TU_SKIP}, {PARENTS(0, 1), .trigger = TT_ONE_SUCCEEDED},
           {PARENTS(2), .trigger = TT_NONE_FAILED}, {PARENTS(0, 1), .trigger = TT_ALL_DONE}, {PARENTS(3)});
    run(0, TO_EXIT);
    is(2, TS_SKIPPED, TC_UPSTREAM);
    is(3, TS_WAITING, TC_NONE);
    is(4, TS_READY, TC_NONE);
    is(5, TS_WAITING, TC_NONE);
    run(1, TO_EXIT);
    is(3, TS_FAILED, TC_UPSTREAM);
    is(5, TS_READY, TC_NONE);
    is(6, TS_FAILED, TC_UPSTREAM);
    assert_int_equal(get(3).root, 0);
    assert_int_equal(get(6).root, 3);
    TEACH(.kind = TR_RETRIED, JOB(1));
    is(3, TS_WAITING, TC_NONE);
    is(6, TS_WAITING, TC_NONE);
    is(0, TS_FAILED, TC_EXIT);
}

static void cancel_takes_descendants_along_as_cancelled(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0)}, {PARENTS(0), .on_upstream = TU_SKIP}, {PARENTS(0), .on_upstream = TU_RUN});
    cancel(0);
    is(0, TS_CANCELLED, TC_REQUEST);
    is(1, TS_CANCELLED, TC_UPSTREAM);
    is(2, TS_CANCELLED, TC_UPSTREAM);
    is(3, TS_READY, TC_NONE);
    assert_int_equal(get(1).root, 0);
    assert_false(get(0).dead_letter);
    run(3, TO_OK);
    flow_is(TF_CANCELLED);
}

static void first_in_breadth_decides(void **state) {
    (void)state;
    /* 5 comes before 4 in the wave, because its parent 1 comes before 2. */
    SUBMIT({PLAIN}, {PARENTS(0)}, {PARENTS(0)}, {PLAIN}, {PARENTS(2), .on_upstream = TU_SKIP}, {PARENTS(1)},
           {PARENTS(4, 5)});
    run(0, TO_EXIT);
    is(4, TS_SKIPPED, TC_UPSTREAM);
    is(5, TS_FAILED, TC_UPSTREAM);
    is(6, TS_FAILED, TC_UPSTREAM);
}

static void started_jobs_are_not_touched(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0)}, {PARENTS(0)}, {PARENTS(1)});
    run(0, TO_OK);
    start(1, 1);
    verdict("guard", 0, TG_OUTPUT, TV_QUARANTINE);
    is(0, TS_QUARANTINED, TC_VERDICT);
    is(1, TS_RUNNING, TC_NONE);
    is(2, TS_FAILED, TC_UPSTREAM);
    is(3, TS_WAITING, TC_NONE);
    finish(1, 1, TO_OK);
    is(3, TS_READY, TC_NONE);
}

static void barrier_ends_by_itself_and_unlocks(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0), .kind = TK_BARRIER}, {PARENTS(1)});
    run(0, TO_OK);
    is(1, TS_SUCCEEDED, TC_NONE);
    is(2, TS_READY, TC_NONE);
}

static void foreign_parent_counts_by_its_end(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    const struct trace_foreign open[] = {{.flow = 1, .ordinal = 0}};
    SUBMIT_AS(2, {.foreign = open, .foreign_count = 1}, {PARENTS(0)});
    is_in(2, 0, TS_WAITING, TC_NONE);
    run(0, TO_EXIT);
    is_in(2, 0, TS_FAILED, TC_UPSTREAM);
    is_in(2, 1, TS_FAILED, TC_UPSTREAM);
    struct trace_job_state j;
    assert_true(model_job(m, 2, 0, &j));
    assert_int_equal(j.root, TRACE_NO_JOB);
    assert_true(model_job(m, 2, 1, &j));
    assert_int_equal(j.root, 0);
}

static void foreign_parent_counts_by_what_was_seen(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    run(0, TO_OK);
    const struct trace_foreign good[] = {{.flow = 1, .ordinal = 0, .seen = TS_SUCCEEDED}};
    const struct trace_foreign bad[] = {{.flow = 77, .ordinal = 0, .seen = TS_SKIPPED}};
    SUBMIT_AS(2, {.foreign = good, .foreign_count = 1}, {.foreign = bad, .foreign_count = 1});
    is_in(2, 0, TS_READY, TC_NONE);
    is_in(2, 1, TS_SKIPPED, TC_UPSTREAM);
    const struct trace_foreign lie[] = {{.flow = 1, .ordinal = 0, .seen = TS_FAILED}};
    const struct trace_job liar[] = {{.foreign = lie, .foreign_count = 1}};
    REFUSED(.kind = TR_SUBMITTED, .as.jobs = {.flow = 3, .jobs = liar, .job_count = 1});
}

static void foreign_parent_counts_once(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    const struct trace_foreign open[] = {{.flow = 1, .ordinal = 0}};
    SUBMIT_AS(2, {.foreign = open, .foreign_count = 1});
    run(0, TO_OK);
    verdict("guard", 0, TG_OUTPUT, TV_QUARANTINE);
    is_in(2, 0, TS_READY, TC_NONE);
}

/* ---- time ---- */

static void delay_counts_from_readiness(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0), .delay_ms = 10 * SECOND},
           {PARENTS(0), .delay_ms = 10 * SECOND, .delay_from_submit = true},
           {PARENTS(0), .not_before_ms = T0 + 60 * SECOND});
    now += 4 * SECOND;
    run(0, TO_OK);
    assert_int_equal(get(1).due_ms, T0 + 14 * SECOND);
    assert_int_equal(get(2).due_ms, T0 + 10 * SECOND);
    assert_int_equal(get(3).due_ms, T0 + 60 * SECOND);
    now += 5 * SECOND;
    REFUSED(.kind = TR_DUE, .as.due = {.flow = 1, .ordinal = 2, .due = TD_START});
    now += SECOND;
    due(2, TD_START);
    is(2, TS_READY, TC_NONE);
    is(1, TS_WAITING, TC_NONE);
}

static void times_in_the_past_do_not_wait(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0), .delay_ms = SECOND, .delay_from_submit = true, .not_before_ms = T0});
    now += SECOND;
    run(0, TO_OK);
    is(1, TS_READY, TC_NONE);
}

static void deadline_is_final_for_what_does_not_run(void **state) {
    (void)state;
    SUBMIT({.deadline_ms = T0 + SECOND, .retries = 5}, {PARENTS(0), .deadline_ms = T0 + SECOND},
           {.deadline_ms = T0 + SECOND});
    REFUSED(.kind = TR_DUE, .as.due = {.flow = 1, .ordinal = 0, .due = TD_DEADLINE});
    start(2, 1);
    now += SECOND;
    due(1, TD_DEADLINE);
    is(1, TS_TIMED_OUT, TC_DEADLINE);
    due(0, TD_DEADLINE);
    is(0, TS_TIMED_OUT, TC_DEADLINE);
    assert_true(get(0).dead_letter);
    REFUSED(.kind = TR_DUE, .as.due = {.flow = 1, .ordinal = 2, .due = TD_DEADLINE});
}

static void start_within_fails_a_ready_job(void **state) {
    (void)state;
    SUBMIT({.start_within_ms = SECOND, .retries = 3}, {PARENTS(0)});
    REFUSED(.kind = TR_DUE, .as.due = {.flow = 1, .ordinal = 0, .due = TD_START_WITHIN});
    now += SECOND;
    due(0, TD_START_WITHIN);
    is(0, TS_FAILED, TC_NO_WORKER);
    is(1, TS_FAILED, TC_UPSTREAM);
}

/* ---- attempts ---- */

static void states_follow_the_attempt(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    assert_int_equal(get(0).attempt, 0);
    assign(0, 1);
    is(0, TS_DISPATCHED, TC_NONE);
    REFUSED(.kind = TR_ASSIGNED, ATTEMPT(0, 2));
    now += SECOND;
    TEACH(.kind = TR_STARTED, ATTEMPT(0, 1));
    is(0, TS_RUNNING, TC_NONE);
    assert_int_equal(get(0).since_ms, now);
    REFUSED(.kind = TR_ENDED, ATTEMPT(0, 2, .outcome = TO_OK));
    finish(0, 1, TO_OK);
    is(0, TS_SUCCEEDED, TC_NONE);
    REFUSED(.kind = TR_ENDED, ATTEMPT(0, 1, .outcome = TO_OK));
}

static void retries_back_off_and_run_out(void **state) {
    (void)state;
    SUBMIT({.retries = 3, .backoff_base_ms = SECOND, .backoff_cap_ms = 5 * SECOND, .backoff_jitter_ms = 500});
    const int64_t waits[] = {2 * SECOND, 4 * SECOND, 5 * SECOND};
    for (uint32_t i = 0; i < 3; i++) {
        run(0, i == 1 ? TO_LOST : TO_EXIT);
        is(0, TS_WAITING, TC_NONE);
        assert_int_equal(get(0).used, i + 1);
        assert_int_equal(get(0).due_ms, now + waits[i]);
        now += waits[i];
        due(0, TD_START);
        is(0, TS_READY, TC_NONE);
    }
    run(0, TO_EXIT);
    is(0, TS_FAILED, TC_EXIT);
    assert_int_equal(get(0).used, 4);
    assert_int_equal(get(0).attempt, 4);
}

static void a_retry_waits_as_long_as_it_was_told(void **state) {
    (void)state;
    SUBMIT({.retries = 3, .backoff_base_ms = SECOND, .backoff_cap_ms = SECOND});
    start(0, 1);
    TEACH(.kind = TR_ENDED, ATTEMPT(0, 1, .outcome = TO_EXIT, .retry_after_ms = 3 * SECOND));
    assert_int_equal(get(0).due_ms, now + 3 * SECOND);
    now += 3 * SECOND;
    due(0, TD_START);
    is(0, TS_READY, TC_NONE);
}

static void an_end_is_when_its_record_says(void **state) {
    (void)state;
    SUBMIT({.retries = 1, .backoff_base_ms = SECOND, .backoff_cap_ms = SECOND}, {PLAIN});
    start(0, 1);
    start(1, 1);
    now += 10 * SECOND;
    TEACH(.kind = TR_ENDED, ATTEMPT(0, 1, .outcome = TO_EXIT, .ended_ago_ms = 4 * SECOND));
    assert_int_equal(get(0).due_ms, now + SECOND); /* what follows counts from the record */
    TEACH(.kind = TR_ENDED, ATTEMPT(1, 1, .outcome = TO_OK, .ended_ago_ms = 4 * SECOND));
    assert_int_equal(get(1).since_ms, now - 4 * SECOND);
    now += SECOND;
    due(0, TD_START);
    start(0, 2);
    REFUSED(.kind = TR_ENDED, ATTEMPT(0, 2, .outcome = TO_OK, .ended_ago_ms = SECOND));
}

static void each_failure_has_its_cause(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PLAIN}, {PLAIN}, {PLAIN});
    run(0, TO_EXIT);
    run(1, TO_LOST);
    run(2, TO_REFUSED);
    run(3, TO_STOPPED);
    is(0, TS_FAILED, TC_EXIT);
    is(1, TS_FAILED, TC_LOST);
    is(2, TS_FAILED, TC_REJECTED);
    is(3, TS_FAILED, TC_LOST);
}

static void fatal_ends_are_not_retried(void **state) {
    (void)state;
    const uint32_t codes[] = {2, 3};
    SUBMIT({.retries = 5, .fatal_exits = codes, .fatal_exit_count = 2}, {.retries = 5}, {.retries = 5});
    run(0, TO_EXIT); /* exit code 3 */
    run(1, TO_EXIT);
    start(2, 1);
    TEACH(.kind = TR_ENDED, ATTEMPT(2, 1, .outcome = TO_EXIT, .fatal = true));
    is(0, TS_FAILED, TC_EXIT);
    is(1, TS_WAITING, TC_NONE);
    is(2, TS_FAILED, TC_EXIT);
}

static void stop_cause_decides(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PLAIN}, {PLAIN}, {PLAIN});
    const enum trace_stop why[] = {TX_CANCEL, TX_DEADLINE, TX_RUN_TIMEOUT, TX_DISPATCH_TIMEOUT};
    for (uint32_t o = 0; o < 4; o++) {
        start(o, 1);
        stop(o, 1, why[o]);
        assert_int_equal(get(o).stop, why[o]);
        finish(o, 1, TO_STOPPED);
        assert_int_equal(get(o).stop, TX_NONE);
    }
    is(0, TS_CANCELLED, TC_REQUEST);
    is(1, TS_TIMED_OUT, TC_DEADLINE);
    is(2, TS_TIMED_OUT, TC_RUN_TIMEOUT);
    is(3, TS_FAILED, TC_DISPATCH);
}

static void success_may_beat_a_stop(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PLAIN}, {PLAIN}, {PLAIN});
    const enum trace_stop why[] = {TX_CANCEL, TX_DEADLINE, TX_RUN_TIMEOUT, TX_DISPATCH_TIMEOUT};
    for (uint32_t o = 0; o < 4; o++) {
        start(o, 1);
        stop(o, 1, why[o]);
        finish(o, 1, TO_OK);
    }
    is(0, TS_CANCELLED, TC_REQUEST);
    is(1, TS_TIMED_OUT, TC_DEADLINE);
    is(2, TS_SUCCEEDED, TC_NONE);
    is(3, TS_SUCCEEDED, TC_NONE);
}

static void timeouts_are_retried_deadlines_are_not(void **state) {
    (void)state;
    SUBMIT({.retries = 1}, {.retries = 1}, {.retries = 1});
    const enum trace_stop why[] = {TX_RUN_TIMEOUT, TX_DISPATCH_TIMEOUT, TX_DEADLINE};
    for (uint32_t o = 0; o < 3; o++) {
        start(o, 1);
        stop(o, 1, why[o]);
        finish(o, 1, TO_EXIT);
    }
    is(0, TS_WAITING, TC_NONE);
    is(1, TS_WAITING, TC_NONE);
    is(2, TS_TIMED_OUT, TC_DEADLINE);
}

static void stronger_stop_stays(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    start(0, 1);
    stop(0, 1, TX_RUN_TIMEOUT);
    cancel(0);
    assert_int_equal(get(0).stop, TX_CANCEL);
    stop(0, 1, TX_DEADLINE);
    assert_int_equal(get(0).stop, TX_CANCEL);
}

static void paused_flow_gets_no_worker(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    TEACH(.kind = TR_PAUSED, .as.pause = {.of_flow = true, .flow = 1, .on = true});
    REFUSED(.kind = TR_ASSIGNED, ATTEMPT(0, 1));
    TEACH(.kind = TR_PAUSED, .as.pause = {.of_flow = true, .flow = 1, .on = false});
    assign(0, 1);
}

/* ---- cancelling ---- */

static void cancel_of_a_running_job_waits_for_its_end(void **state) {
    (void)state;
    SUBMIT({.retries = 3}, {PARENTS(0)});
    start(0, 1);
    cancel(0);
    is(0, TS_RUNNING, TC_NONE);
    is(1, TS_WAITING, TC_NONE);
    finish(0, 1, TO_EXIT);
    is(0, TS_CANCELLED, TC_REQUEST);
    is(1, TS_CANCELLED, TC_UPSTREAM);
}

static void cancel_of_a_flow_spares_nobody(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0)}, {PARENTS(0), .on_upstream = TU_RUN}, {PLAIN}, {.gates = TRACE_GATE_BIT(TG_POLICY)});
    start(3, 1);
    cancel(TRACE_NO_JOB);
    for (uint32_t o = 0; o < 5; o++) {
        if (o != 3) is(o, TS_CANCELLED, TC_REQUEST);
    }
    is(3, TS_RUNNING, TC_NONE);
    flow_is(TF_RUNNING);
    const struct trace_job late[] = {{PLAIN}};
    REFUSED(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = late, .job_count = 1});
    finish(3, 1, TO_OK);
    is(3, TS_CANCELLED, TC_REQUEST);
    flow_is(TF_CANCELLED);
}

static void cancel_reaches_a_job_under_judgement(void **state) {
    (void)state;
    SUBMIT({.gates = TRACE_GATE_BIT(TG_OUTPUT)});
    run(0, TO_OK);
    is(0, TS_CHECKING, TC_NONE);
    cancel(0);
    is(0, TS_CANCELLED, TC_REQUEST);
    assert_false(get(0).has_question);
}

/* ---- questions ---- */

static void gates_come_in_order(void **state) {
    (void)state;
    const enum trace_gate order[] = {TG_CONDITION, TG_RENDER, TG_POLICY, TG_APPROVAL, TG_EXTERNAL};
    SUBMIT({.gates = 0x3f});
    for (uint32_t i = 0; i < 5; i++) {
        is(0, TS_HELD, TC_NONE);
        assert_int_equal(get(0).gate, order[i]);
        if (i == 2) REFUSED(.kind = TR_VERDICT, .as.verdict = {.flow = 1, .gate = TG_APPROVAL, .revision = 1});
        verdict("bob", 0, order[i], i == 2 ? TV_CONSTRAIN : TV_ALLOW);
    }
    is(0, TS_READY, TC_NONE);
    run(0, TO_OK);
    is(0, TS_CHECKING, TC_NONE);
    assert_int_equal(get(0).gate, TG_OUTPUT);
    verdict("bob", 0, TG_OUTPUT, TV_REDACT);
    is(0, TS_SUCCEEDED, TC_NONE);
}

static void denial_depends_on_the_gate_and_on_who_said_it(void **state) {
    (void)state;
    SUBMIT({.gates = TRACE_GATE_BIT(TG_CONDITION)}, {.gates = TRACE_GATE_BIT(TG_POLICY)},
           {.gates = TRACE_GATE_BIT(TG_APPROVAL)}, {PARENTS(1)});
    verdict("eval", 0, TG_CONDITION, TV_DENY);
    verdict("rules", 1, TG_POLICY, TV_DENY);
    verdict("", 2, TG_APPROVAL, TV_DENY);
    is(0, TS_SKIPPED, TC_VERDICT);
    is(1, TS_DENIED, TC_VERDICT);
    is(2, TS_DENIED, TC_NO_VERDICT);
    is(3, TS_FAILED, TC_UPSTREAM);
    assert_true(get(1).dead_letter);
}

static void gate_and_external_jobs_end_by_their_verdict(void **state) {
    (void)state;
    SUBMIT({.kind = TK_GATE}, {.kind = TK_EXTERNAL}, {PARENTS(0, 1)});
    is(0, TS_HELD, TC_NONE);
    assert_int_equal(get(0).gate, TG_APPROVAL);
    assert_int_equal(get(1).gate, TG_EXTERNAL);
    verdict("bob", 0, TG_APPROVAL, TV_ALLOW);
    is(0, TS_SUCCEEDED, TC_NONE);
    verdict("ci", 1, TG_EXTERNAL, TV_ALLOW);
    is(1, TS_SUCCEEDED, TC_NONE);
    is(2, TS_READY, TC_NONE);
}

static void quorum_counts_people_not_words(void **state) {
    (void)state;
    SUBMIT({.gates = TRACE_GATE_BIT(TG_APPROVAL), .quorum = 2, .four_eyes = true});
    assert_false(teach(verdict_of("ann", 0, TG_APPROVAL, TV_ALLOW)));
    verdict("bob", 0, TG_APPROVAL, TV_ALLOW);
    verdict("bob", 0, TG_APPROVAL, TV_ALLOW);
    is(0, TS_HELD, TC_NONE);
    verdict("cid", 0, TG_APPROVAL, TV_ALLOW);
    is(0, TS_READY, TC_NONE);
}

static void policy_may_ask_for_a_person(void **state) {
    (void)state;
    SUBMIT({.gates = TRACE_GATE_BIT(TG_POLICY)});
    verdict("rules", 0, TG_POLICY, TV_HOLD);
    is(0, TS_HELD, TC_NONE);
    assert_int_equal(get(0).gate, TG_APPROVAL);
    verdict("bob", 0, TG_APPROVAL, TV_ALLOW);
    is(0, TS_READY, TC_NONE);
}

static void again_is_the_same_question_anew(void **state) {
    (void)state;
    SUBMIT({.gates = TRACE_GATE_BIT(TG_POLICY)});
    verdict("rules", 0, TG_POLICY, TV_AGAIN);
    is(0, TS_HELD, TC_NONE);
    assert_int_equal(get(0).revision, 2);
    assert_false(teach(verdict_of("rules", 0, TG_POLICY, TV_ALLOW))); /* revision 1 */
    struct trace_entry e = verdict_of("rules", 0, TG_POLICY, TV_ALLOW);
    e.as.verdict.revision = 2;
    assert_true(teach(e));
    is(0, TS_READY, TC_NONE);
}

static void retry_after_failure_skips_passed_gates(void **state) {
    (void)state;
    SUBMIT({.gates = TRACE_GATE_BIT(TG_APPROVAL), .retries = 1});
    verdict("bob", 0, TG_APPROVAL, TV_ALLOW);
    run(0, TO_EXIT);
    due(0, TD_START);
    is(0, TS_READY, TC_NONE);
}

static void outputs_are_judged(void **state) {
    (void)state;
    SUBMIT({.gates = TRACE_GATE_BIT(TG_OUTPUT)}, {.gates = TRACE_GATE_BIT(TG_OUTPUT)}, {PARENTS(0)});
    run(0, TO_OK);
    run(1, TO_OK);
    is(2, TS_WAITING, TC_NONE);
    verdict("scan", 0, TG_OUTPUT, TV_QUARANTINE);
    verdict("scan", 1, TG_OUTPUT, TV_DENY);
    is(0, TS_QUARANTINED, TC_VERDICT);
    is(1, TS_DENIED, TC_VERDICT);
    is(2, TS_FAILED, TC_UPSTREAM);
}

/* ---- again ---- */

static void retry_brings_back_the_job_and_its_victims(void **state) {
    (void)state;
    SUBMIT({.gates = TRACE_GATE_BIT(TG_APPROVAL)}, {PARENTS(0)}, {PLAIN}, {PARENTS(2)}, {PARENTS(1, 3)});
    verdict("bob", 0, TG_APPROVAL, TV_ALLOW);
    run(0, TO_EXIT);
    run(2, TO_EXIT);
    is(4, TS_FAILED, TC_UPSTREAM);
    flow_is(TF_FAILED);
    REFUSED(.kind = TR_RETRIED, JOB(1));
    now += SECOND;
    TEACH(.kind = TR_RETRIED, JOB(0));
    flow_is(TF_RUNNING);
    is(0, TS_HELD, TC_NONE); /* asked anew */
    assert_int_equal(get(0).used, 0);
    assert_int_equal(get(0).attempt, 1);
    is(1, TS_WAITING, TC_NONE);
    is(3, TS_FAILED, TC_UPSTREAM);
    is(4, TS_FAILED, TC_UPSTREAM); /* the other root holds it down */
    assert_int_equal(get(4).root, 2);
    verdict("bob", 0, TG_APPROVAL, TV_ALLOW);
    run(0, TO_OK);
    is(1, TS_READY, TC_NONE);
}

static void retry_makes_waiting_children_wait_again(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PLAIN}, {PARENTS(0, 1), .on_upstream = TU_RUN});
    run(0, TO_EXIT);
    assert_int_equal(get(2).parents_open, 1);
    TEACH(.kind = TR_RETRIED, JOB(0));
    assert_int_equal(get(2).parents_open, 2);
    run(1, TO_OK);
    is(2, TS_WAITING, TC_NONE);
    run(0, TO_OK);
    is(2, TS_READY, TC_NONE);
}

static void retry_leaves_children_past_their_parents(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0), .on_upstream = TU_RUN, .delay_ms = 10 * SECOND}, {PARENTS(0), .on_upstream = TU_RUN});
    run(0, TO_EXIT);
    int64_t due_ms = get(1).due_ms;
    now += SECOND;
    TEACH(.kind = TR_RETRIED, JOB(0));
    is(2, TS_READY, TC_NONE);
    run(0, TO_OK);
    assert_int_equal(get(1).due_ms, due_ms);
    is(2, TS_READY, TC_NONE);
}

static void rerun_repeats_all_but_successes(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PLAIN}, {PARENTS(1)}, {PLAIN});
    run(0, TO_OK);
    REFUSED(.kind = TR_RERUN, JOB(0));
    run(1, TO_EXIT);
    cancel(3);
    flow_is(TF_FAILED);
    TEACH(.kind = TR_RERUN, JOB(0));
    is(0, TS_SUCCEEDED, TC_NONE);
    is(1, TS_READY, TC_NONE);
    is(2, TS_WAITING, TC_NONE);
    is(3, TS_READY, TC_NONE);
    run(1, TO_OK);
    run(2, TO_OK);
    run(3, TO_OK);
    flow_is(TF_SUCCEEDED);
}

static void discard_takes_a_dead_letter_away(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    REFUSED(.kind = TR_DISCARDED, JOB(0));
    run(0, TO_EXIT);
    TEACH(.kind = TR_DISCARDED, JOB(0));
    assert_false(get(0).dead_letter);
    is(0, TS_FAILED, TC_EXIT);
}

/* ---- flows ---- */

static void flow_waits_for_its_last_part(void **state) {
    (void)state;
    const struct trace_job one[] = {{PLAIN}};
    TEACH(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = one, .job_count = 1, .more = true});
    run(0, TO_EXIT);
    flow_is(TF_RUNNING);
    const struct trace_job next[] = {{PARENTS(0)}, {PARENTS(0), .on_upstream = TU_RUN}};
    TEACH(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = next, .job_count = 2});
    is(1, TS_FAILED, TC_UPSTREAM);
    is(2, TS_READY, TC_NONE);
    run(2, TO_OK);
    flow_is(TF_FAILED);
    REFUSED(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = next, .job_count = 2});
}

static void forgotten_flow_is_gone(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    REFUSED(.kind = TR_FORGOTTEN, JOB(0));
    run(0, TO_OK);
    TEACH(.kind = TR_FORGOTTEN, JOB(0));
    struct trace_flow_now f;
    assert_false(model_flow(m, 1, &f));
    assert_true(model_compare(m, NULL, 0, NULL, 0, text));
}

static void lsns_are_dense_and_time_does_not_fall(void **state) {
    (void)state;
    struct trace_entry e = {.kind = TR_OTHER, .lsn = 2, .time_ms = now};
    assert_false(model_apply(m, &e, text));
    TEACH(.kind = TR_OTHER);
    now--;
    REFUSED(.kind = TR_OTHER);
}

/* ---- comparing ---- */

static void differences_are_told(void **state) {
    (void)state;
    SUBMIT({.retries = 1, .backoff_jitter_ms = 500}, {PARENTS(0)}, {.gates = TRACE_GATE_BIT(TG_POLICY)});
    run(0, TO_EXIT);
    struct trace_flow_now flow = {.flow = 1, .job_count = 3};
    const struct trace_job_state right[3] = {get(0), get(1), get(2)};
    struct trace_job_state jobs[3];
#define WRONG(change)                                                   \
    do {                                                                \
        memcpy(jobs, right, sizeof jobs);                               \
        change;                                                         \
        assert_false(model_compare(m, &flow, 1, jobs, 3, text));        \
    } while (0)
    assert_true(model_compare(m, &flow, 1, right, 3, text));
    memcpy(jobs, right, sizeof jobs);
    jobs[0].due_ms += 499;
    assert_true(model_compare(m, &flow, 1, jobs, 3, text));
    WRONG(jobs[0].due_ms += 500);
    WRONG(jobs[0].due_ms -= 1);
    WRONG(jobs[0].state = TS_READY);
    assert_non_null(strstr(text, "job 1/0 is ready"));
    WRONG(jobs[0].used = 0);
    WRONG(jobs[0].attempt = 2);
    WRONG(jobs[0].since_ms += 1);
    WRONG(jobs[0].stop = TX_CANCEL);
    WRONG(jobs[0].dead_letter = true);
    WRONG(jobs[1].parents_open = 0);
    WRONG(jobs[1].root = 0);
    WRONG(jobs[1].ordinal = 3);
    WRONG(jobs[2].has_question = false);
    WRONG(jobs[2].gate = TG_APPROVAL);
    WRONG(jobs[2].revision = 2);
    WRONG(flow.state = TF_FAILED);
    flow.state = TF_RUNNING;
    WRONG(flow.job_count = 4);
    flow.job_count = 3;
    assert_false(model_compare(m, &flow, 1, right, 2, text));
    assert_false(model_compare(m, NULL, 0, NULL, 0, text));
    flow.settling = true;
    assert_true(model_compare(m, &flow, 1, NULL, 0, text));
#undef WRONG
}

/* ---- records that no engine may write ---- */

static void impossible_records_are_refused(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0)}, {.gates = TRACE_GATE_BIT(TG_APPROVAL)});
    const struct trace_job one[] = {{PLAIN}}, loop[] = {{PARENTS(0)}};
    REFUSED(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = one, .job_count = 1});
    REFUSED(.kind = TR_SUBMITTED, .as.jobs = {.flow = 2, .jobs = loop, .job_count = 1});
    const struct trace_job above[] = {{PARENTS(3)}};
    REFUSED(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = above, .job_count = 1});
    REFUSED(.kind = TR_CONTINUED, .as.job = {.flow = 9});
    REFUSED(.kind = TR_CANCELLED, JOB(3));
    REFUSED(.kind = TR_ASSIGNED, ATTEMPT(0, 2));
    REFUSED(.kind = TR_STARTED, ATTEMPT(0, 0));
    REFUSED(.kind = TR_STOPPING, ATTEMPT(0, 0, .stop = TX_CANCEL));
    REFUSED(.kind = TR_DUE, .as.due = {.flow = 1, .ordinal = 0, .due = TD_START});
    REFUSED(.kind = TR_DUE, .as.due = {.flow = 1, .ordinal = 1, .due = TD_START});
    REFUSED(.kind = TR_VERDICT, .as.verdict = {.flow = 1, .ordinal = 0, .gate = TG_CONDITION});
    assert_false(teach(verdict_of("", 2, TG_APPROVAL, TV_ALLOW)));
    assert_false(teach(verdict_of("bob", 2, TG_APPROVAL, TV_HOLD)));
    assert_false(teach(verdict_of("bob", 2, TG_APPROVAL, TV_REDACT)));
    assert_false(teach(verdict_of("bob", 0, TG_OUTPUT, TV_QUARANTINE)));
    assign(0, 1);
    REFUSED(.kind = TR_STARTED, ATTEMPT(0, 2));
    REFUSED(.kind = TR_STOPPING, ATTEMPT(0, 2, .stop = TX_CANCEL));
    TEACH(.kind = TR_STARTED, ATTEMPT(0, 1));
    REFUSED(.kind = TR_STARTED, ATTEMPT(0, 1));
    REFUSED(.kind = TR_CANCELLED, .as.job = {.flow = 9, .ordinal = 0});
}

static void start_within_is_for_ready_jobs(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0), .start_within_ms = 1});
    now += SECOND;
    REFUSED(.kind = TR_DUE, .as.due = {.flow = 1, .ordinal = 1, .due = TD_START_WITHIN});
}

static void forgotten_flow_takes_no_records(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    run(0, TO_EXIT);
    TEACH(.kind = TR_FORGOTTEN, JOB(0));
    REFUSED(.kind = TR_RETRIED, JOB(0));
    struct trace_flow_now flow = {.flow = 1, .state = TF_FAILED, .job_count = 1};
    assert_false(model_compare(m, &flow, 1, NULL, 0, text));
}

/* ---- what is left over ---- */

static void barrier_with_a_delay_unlocks_when_it_is_due(void **state) {
    (void)state;
    SUBMIT({.kind = TK_BARRIER, .delay_ms = SECOND}, {PARENTS(0)});
    now += SECOND;
    due(0, TD_START);
    is(0, TS_SUCCEEDED, TC_NONE);
    is(1, TS_READY, TC_NONE);
    assert_int_equal(get(0).due_ms, 0);
    assert_int_equal(get(0).root, TRACE_NO_JOB);
}

static void cancel_of_a_flow_reaches_other_flows(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    const struct trace_foreign open[] = {{.flow = 1, .ordinal = 0}};
    SUBMIT_AS(2, {.foreign = open, .foreign_count = 1}, {PLAIN, .on_upstream = TU_RUN});
    struct trace_job_state j;
    assert_true(model_job(m, 2, 0, &j));
    assert_int_equal(j.parents_open, 1);
    cancel(TRACE_NO_JOB);
    is_in(2, 0, TS_CANCELLED, TC_UPSTREAM);
    assert_true(model_job(m, 2, 0, &j));
    assert_int_equal(j.root, TRACE_NO_JOB);
}

static void cancel_of_a_flow_ends_its_growing(void **state) {
    (void)state;
    const struct trace_job one[] = {{PLAIN}};
    TEACH(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = one, .job_count = 1, .more = true});
    cancel(TRACE_NO_JOB);
    flow_is(TF_CANCELLED);
    TEACH(.kind = TR_RERUN, JOB(0));
    TEACH(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = one, .job_count = 1});
    is(1, TS_READY, TC_NONE);
}

static void stop_cause_is_gone_with_its_attempt(void **state) {
    (void)state;
    SUBMIT({.retries = 1}, {.gates = TRACE_GATE_BIT(TG_OUTPUT)});
    start(0, 1);
    stop(0, 1, TX_RUN_TIMEOUT);
    finish(0, 1, TO_STOPPED);
    assert_int_equal(get(0).stop, TX_NONE);
    start(1, 1);
    stop(1, 1, TX_RUN_TIMEOUT);
    finish(1, 1, TO_OK);
    is(1, TS_CHECKING, TC_NONE);
    assert_int_equal(get(1).stop, TX_NONE);
}

static void only_listed_exits_are_fatal(void **state) {
    (void)state;
    const uint32_t codes[] = {2};
    SUBMIT({.retries = 5, .fatal_exits = codes, .fatal_exit_count = 1});
    run(0, TO_EXIT); /* exit code 3 */
    is(0, TS_WAITING, TC_NONE);
}

static void timeouts_fail_a_flow(void **state) {
    (void)state;
    SUBMIT({.deadline_ms = T0});
    due(0, TD_DEADLINE);
    flow_is(TF_FAILED);
}

static void discarded_letter_may_come_back(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    run(0, TO_EXIT);
    TEACH(.kind = TR_DISCARDED, JOB(0));
    TEACH(.kind = TR_RETRIED, JOB(0));
    run(0, TO_EXIT);
    assert_true(get(0).dead_letter);
    TEACH(.kind = TR_DISCARDED, JOB(0));
}

static void again_forgets_votes(void **state) {
    (void)state;
    SUBMIT({.gates = TRACE_GATE_BIT(TG_APPROVAL), .quorum = 2});
    verdict("bob", 0, TG_APPROVAL, TV_ALLOW);
    verdict("cid", 0, TG_APPROVAL, TV_AGAIN);
    struct trace_entry e = verdict_of("cid", 0, TG_APPROVAL, TV_ALLOW);
    e.as.verdict.revision = 2;
    assert_true(teach(e));
    is(0, TS_HELD, TC_NONE);
}

static void what_is_said_of_an_end_is_compared(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    run(0, TO_EXIT);
    struct trace_flow_now flow = {.flow = 1, .state = TF_FAILED, .job_count = 1};
    struct trace_job_state j = get(0);
    assert_true(model_compare(m, &flow, 1, &j, 1, text));
    flow.more = true;
    assert_false(model_compare(m, &flow, 1, &j, 1, text));
    flow.more = false;
    j.cause = TC_LOST;
    assert_false(model_compare(m, &flow, 1, &j, 1, text));
    j.cause = TC_EXIT;
    struct trace_flow_now two[2] = {flow, {.flow = 2}};
    assert_false(model_compare(m, two, 2, &j, 1, text));
    struct trace_job_state both[2] = {j, j};
    both[1].ordinal = 1;
    assert_false(model_compare(m, &flow, 1, both, 2, text));
}

static void settling_spreads_to_flows_that_wait(void **state) {
    (void)state;
    SUBMIT({PLAIN});
    const struct trace_foreign open[] = {{.flow = 1, .ordinal = 0}}, next[] = {{.flow = 2, .ordinal = 0}};
    SUBMIT_AS(2, {.foreign = open, .foreign_count = 1});
    SUBMIT_AS(3, {.foreign = next, .foreign_count = 1});
    SUBMIT_AS(4, {PLAIN});
    run(0, TO_OK);
    struct trace_job_state j;
    assert_true(model_job(m, 4, 0, &j));
    struct trace_flow_now flows[] = {
        {.flow = 1, .settling = true, .job_count = 1}, {.flow = 2}, {.flow = 3}, {.flow = 4, .job_count = 1}};
    assert_true(model_compare(m, flows, 4, &j, 1, text));
    j.state = TS_WAITING;
    assert_false(model_compare(m, flows, 4, &j, 1, text));
}

static void stepped_flows_are_compared_without_times(void **state) {
    (void)state;
    SUBMIT({PLAIN}, {PARENTS(0)}, {PARENTS(0), .delay_ms = SECOND});
    run(0, TO_OK);
    struct trace_flow_now flow = {.flow = 1, .job_count = 3};
    struct trace_job_state jobs[] = {get(0), get(1), get(2)};
    jobs[1].since_ms += 5;
    jobs[2].due_ms += 5;
    assert_false(model_compare(m, &flow, 1, jobs, 3, text));
    TEACH(.kind = TR_CONTINUED, JOB(0));
    assert_true(model_compare(m, &flow, 1, jobs, 3, text));
    jobs[2].due_ms -= 6;
    assert_false(model_compare(m, &flow, 1, jobs, 3, text));
}

/* ---- limits ---- */

static void a_tenant_with_too_much_queued_gets_no_more(void **state) {
    (void)state;
    TEACH(.kind = TR_LIMIT, .as.limit = {.kind = TL_TENANT, .queued = 3, .bytes = 100});
    SUBMIT({PLAIN, .message_bytes = 40}, {PLAIN, .message_bytes = 40});
    const struct trace_job heavy = {PLAIN, .message_bytes = 21}, light = {PLAIN, .message_bytes = 20};
    REFUSED(.kind = TR_SUBMITTED, .as.jobs = {.flow = 2, .jobs = &heavy, .job_count = 1});
    TEACH(.kind = TR_SUBMITTED, .as.jobs = {.flow = 2, .jobs = &light, .job_count = 1});
    REFUSED(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = &light, .job_count = 1});
    TEACH(.kind = TR_CANCELLED, .as.job = {.flow = 2, .ordinal = 0});
    TEACH(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = &light, .job_count = 1});
    TEACH(.kind = TR_LIMIT, .as.limit = {.kind = TL_TENANT, .clear = true, .queued = 3});
    TEACH(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = &heavy, .job_count = 1});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_tenant_with_too_much_queued_gets_no_more), T(child_waits_for_all_parents),
        T(failure_takes_descendants_along), T(upstream_rules_decide_what_a_failure_does),
        T(triggers_decide_when_a_job_starts),
        T(cancel_takes_descendants_along_as_cancelled), T(first_in_breadth_decides), T(started_jobs_are_not_touched),
        T(barrier_ends_by_itself_and_unlocks), T(foreign_parent_counts_by_its_end),
        T(foreign_parent_counts_by_what_was_seen), T(foreign_parent_counts_once), T(delay_counts_from_readiness),
        T(times_in_the_past_do_not_wait), T(deadline_is_final_for_what_does_not_run),
        T(start_within_fails_a_ready_job), T(states_follow_the_attempt), T(retries_back_off_and_run_out),
        T(a_retry_waits_as_long_as_it_was_told), T(an_end_is_when_its_record_says), T(each_failure_has_its_cause),
        T(fatal_ends_are_not_retried), T(stop_cause_decides), T(success_may_beat_a_stop),
        T(timeouts_are_retried_deadlines_are_not), T(stronger_stop_stays), T(paused_flow_gets_no_worker),
        T(cancel_of_a_running_job_waits_for_its_end), T(cancel_of_a_flow_spares_nobody),
        T(cancel_reaches_a_job_under_judgement), T(gates_come_in_order),
        T(denial_depends_on_the_gate_and_on_who_said_it), T(gate_and_external_jobs_end_by_their_verdict),
        T(quorum_counts_people_not_words), T(policy_may_ask_for_a_person), T(again_is_the_same_question_anew),
        T(retry_after_failure_skips_passed_gates), T(outputs_are_judged),
        T(retry_brings_back_the_job_and_its_victims), T(retry_makes_waiting_children_wait_again),
        T(retry_leaves_children_past_their_parents), T(rerun_repeats_all_but_successes),
        T(discard_takes_a_dead_letter_away), T(flow_waits_for_its_last_part), T(forgotten_flow_is_gone),
        T(lsns_are_dense_and_time_does_not_fall), T(differences_are_told), T(impossible_records_are_refused),
        T(start_within_is_for_ready_jobs), T(forgotten_flow_takes_no_records),
        T(barrier_with_a_delay_unlocks_when_it_is_due), T(cancel_of_a_flow_reaches_other_flows),
        T(cancel_of_a_flow_ends_its_growing), T(stop_cause_is_gone_with_its_attempt), T(only_listed_exits_are_fatal),
        T(timeouts_fail_a_flow), T(discarded_letter_may_come_back), T(again_forgets_votes),
        T(what_is_said_of_an_end_is_compared), T(settling_spreads_to_flows_that_wait),
        T(stepped_flows_are_compared_without_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
