/* expand_judges_test.c: the second model's rules about conditions and foreach jobs, and the checker: a run that breaks
 * each promise, and one that breaks none. */
#include "trace_fixture.h"

#define CHILD(i) (TRACE_FIRST_CHILD + (i))
#define ATTEMPT(o, n, ...) \
    .as.attempt = {.flow = 1, .ordinal = (o), .attempt = (n), .worker = bytes("w"), .incarnation = 1, __VA_ARGS__}
#define VERDICT(o, g, v)                           \
    .kind = TR_VERDICT, .principal = bytes("eve"), \
    .as.verdict = {.flow = 1, .ordinal = (o), .gate = (g), .verdict = (v), .revision = 1}
#define JOB(o) .as.job = {.flow = 1, .ordinal = (o)}

static const struct trace_job child = {.kind = TK_WORK};
static const struct trace_job patient = {.kind = TK_WORK, .retries = 5};

/* Job 0 is a foreach job, job 1 waits for it. */
static void submit(struct trace_job each) {
    each.kind = TK_WORK;
    each.child = &child;
    each.gates |= TRACE_GATE_BIT(TG_EXPANSION);
    const struct trace_job jobs[] = {each, {.kind = TK_WORK, .parents = (const uint32_t[]){0}, .parent_count = 1}};
    TELL(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = 100});
    TELL(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = jobs, .job_count = 2});
}

static void expand(uint32_t count) {
    TELL(.kind = TR_EXPANDED, .as.expanded = {.flow = 1, .revision = 1, .count = count});
}

static void run(uint32_t i, enum trace_outcome outcome) {
    TELL(.kind = TR_ASSIGNED, ATTEMPT(CHILD(i), 1));
    TELL(.kind = TR_ENDED, ATTEMPT(CHILD(i), 1, .outcome = outcome));
}

/* ---- the model ---- */

static void children_take_turns(void **state) {
    (void)state;
    submit((struct trace_job){.max_parallel = 2});
    REFUSED(.kind = TR_EXPANDED, .as.expanded = {.flow = 1, .revision = 2, .count = 3});
    REFUSED(VERDICT(0, TG_EXPANSION, TV_ALLOW));
    expand(3);
    is(0, TS_WAITING, TC_NONE);
    is(CHILD(1), TS_READY, TC_NONE);
    is(CHILD(2), TS_WAITING, TC_NONE);
    REFUSED(.kind = TR_ASSIGNED, ATTEMPT(CHILD(2), 1));
    REFUSED(.kind = TR_ASSIGNED, ATTEMPT(CHILD(3), 1));
    REFUSED(.kind = TR_EXPANDED, .as.expanded = {.flow = 1, .revision = 1, .count = 3});
    run(1, TO_OK);
    is(CHILD(2), TS_READY, TC_NONE);
    run(2, TO_OK);
    is(1, TS_WAITING, TC_NONE);
    run(0, TO_OK);
    is(0, TS_SUCCEEDED, TC_NONE);
    is(1, TS_READY, TC_NONE);
}

static void none_is_enough(void **state) {
    (void)state;
    submit((struct trace_job){.max_parallel = 1});
    expand(0);
    is(0, TS_SUCCEEDED, TC_NONE);
}

static void bad_ends_are_tolerated_up_to_a_share(void **state) {
    (void)state;
    submit((struct trace_job){.max_parallel = 9, .allow_percent = 50});
    expand(3);
    run(0, TO_EXIT);
    run(1, TO_OK);
    run(2, TO_OK);
    is(0, TS_SUCCEEDED, TC_NONE);
}

static void bad_ends_beyond_it_fail(void **state) {
    (void)state;
    submit((struct trace_job){.max_parallel = 9, .allow_count = 1});
    expand(3);
    run(0, TO_EXIT);
    run(1, TO_EXIT);
    is(CHILD(2), TS_READY, TC_NONE);
    run(2, TO_OK);
    is(0, TS_FAILED, TC_CHILDREN);
    is(1, TS_FAILED, TC_UPSTREAM);
    TELL(.kind = TR_RETRIED, JOB(CHILD(1)));
    is(0, TS_WAITING, TC_NONE);
    is(1, TS_WAITING, TC_NONE);
    is(CHILD(0), TS_FAILED, TC_EXIT);
    TELL(.kind = TR_ASSIGNED, ATTEMPT(CHILD(1), 2));
    TELL(.kind = TR_ENDED, ATTEMPT(CHILD(1), 2, .outcome = TO_OK));
    is(0, TS_SUCCEEDED, TC_NONE);
    REFUSED(.kind = TR_RETRIED, JOB(CHILD(0)));
}

static void fail_fast_calls_off(void **state) {
    (void)state;
    submit((struct trace_job){.max_parallel = 2, .fail_fast = true});
    expand(4);
    TELL(.kind = TR_ASSIGNED, ATTEMPT(CHILD(1), 1));
    run(0, TO_EXIT);
    is(CHILD(2), TS_CANCELLED, TC_UPSTREAM);
    is(0, TS_WAITING, TC_NONE);
    TELL(.kind = TR_ENDED, ATTEMPT(CHILD(1), 1, .outcome = TO_STOPPED));
    is(CHILD(1), TS_CANCELLED, TC_UPSTREAM);
    is(0, TS_FAILED, TC_CHILDREN);
    TELL(.kind = TR_RETRIED, JOB(CHILD(0)));
    is(CHILD(0), TS_READY, TC_NONE);
    is(CHILD(1), TS_READY, TC_NONE);
    is(CHILD(2), TS_WAITING, TC_NONE);
}

static void a_deadline_and_a_cancel(void **state) {
    (void)state;
    submit((struct trace_job){.max_parallel = 1, .deadline_ms = T0 + 10});
    expand(2);
    TELL(.kind = TR_ASSIGNED, ATTEMPT(CHILD(0), 1));
    now += 10;
    TELL(.kind = TR_DUE, .as.due = {.flow = 1, .due = TD_DEADLINE});
    is(CHILD(1), TS_CANCELLED, TC_UPSTREAM);
    TELL(.kind = TR_CANCELLED, JOB(0)); /* someone's word is stronger */
    TELL(.kind = TR_ENDED, ATTEMPT(CHILD(0), 1, .outcome = TO_OK));
    is(CHILD(0), TS_CANCELLED, TC_REQUEST);
    is(0, TS_CANCELLED, TC_REQUEST);
    TELL(.kind = TR_RERUN, .as.job.flow = 1);
    is(0, TS_WAITING, TC_NONE);
    is(CHILD(0), TS_READY, TC_NONE);
}

static void what_cannot_be_evaluated_fails(void **state) {
    (void)state;
    submit((struct trace_job){.max_parallel = 1, .gates = TRACE_GATE_BIT(TG_CONDITION)});
    REFUSED(.kind = TR_EXPANDED, .as.expanded = {.flow = 1, .revision = 1, .count = 1});
    TELL(VERDICT(0, TG_CONDITION, TV_ALLOW));
    TELL(VERDICT(0, TG_EXPANSION, TV_FAIL));
    is(0, TS_FAILED, TC_VERDICT);
}

/* ---- the checker, by itself ---- */

static void scene(uint32_t max_parallel, uint32_t count) {
    const struct trace_job jobs[] = {
        {.kind = TK_WORK, .child = &patient, .max_parallel = max_parallel, .gates = TRACE_GATE_BIT(TG_CONDITION)},
        {.kind = TK_WORK, .parents = (const uint32_t[]){0}, .parent_count = 1}};
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = 100});
    SAY(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = jobs, .job_count = 2});
    if (count) SAY(.kind = TR_EXPANDED, .as.expanded = {.flow = 1, .count = count});
    SAY(.kind = TW_DURABLE, .as.durable.lsn = lsn);
}

static void too_many_at_once(void **state) {
    (void)state;
    scene(1, 2);
    SAY(.kind = TR_ASSIGNED, ATTEMPT(CHILD(0), 1));
    OBJECTION("expand", .kind = TR_ASSIGNED, ATTEMPT(CHILD(1), 1));
}

static void one_that_did_well_again(void **state) {
    (void)state;
    scene(1, 2);
    SAY(.kind = TR_ASSIGNED, ATTEMPT(CHILD(0), 1));
    SAY(.kind = TR_ENDED, ATTEMPT(CHILD(0), 1, .outcome = TO_OK));
    SAY(.kind = TR_RERUN, .as.job.flow = 1); /* someone wanted it so */
    SAY(.kind = TR_ASSIGNED, ATTEMPT(CHILD(0), 2));
    SAY(.kind = TR_ENDED, ATTEMPT(CHILD(0), 2, .outcome = TO_OK));
    OBJECTION("expand", .kind = TR_ASSIGNED, ATTEMPT(CHILD(0), 3));
}

static void the_foreach_job_itself(void **state) {
    (void)state;
    scene(1, 1);
    OBJECTION("expand", .kind = TR_ASSIGNED, ATTEMPT(0, 1));
}

static void a_job_gets_its_items_twice(void **state) {
    (void)state;
    scene(1, 1);
    OBJECTION("expand", .kind = TR_EXPANDED, .as.expanded = {.flow = 1, .count = 1});
}

static void a_condition_that_does_not_hold(void **state) {
    (void)state;
    scene(1, 1);
    SAY(VERDICT(0, TG_CONDITION, TV_DENY));
    OBJECTION("expand", .kind = TR_ASSIGNED, ATTEMPT(CHILD(0), 1));
}

static void the_fan_in_before_its_time(void **state) {
    (void)state;
    scene(2, 2);
    SAY(.kind = TR_ASSIGNED, ATTEMPT(CHILD(0), 1));
    SAY(.kind = TR_ENDED, ATTEMPT(CHILD(0), 1, .outcome = TO_OK));
    SAY(.kind = TR_ASSIGNED, ATTEMPT(CHILD(1), 1));
    SAY(.kind = TR_ASSIGNED, ATTEMPT(1, 1));
    SAY(.kind = TW_DURABLE, .as.durable.lsn = lsn);
    OBJECTION(
        "graph", .kind = TW_PROCESS,
        .as.process = {.flow = 1, .ordinal = 1, .attempt = 1, .worker = bytes("w"), .incarnation = 1, .fence = 1});
}

static void a_restart_takes_items_back(void **state) {
    (void)state;
    scene(1, 0);
    SAY(.kind = TR_EXPANDED, .as.expanded = {.flow = 1, .count = 3});
    SAY(.kind = TW_CRASHED);
    SAY(.kind = TW_RESTARTED, .as.restarted = {.epoch = 2, .head = lsn - 1});
    lsn--;
    struct trace_entry e = {.kind = TR_EXPANDED, .as.expanded = {.flow = 1, .count = 1}};
    e.lsn = ++lsn;
    e.epoch = 2;
    e.sum = 77;
    e.time_ms = now;
    if (!check_entry(c, &e)) fail_msg("%s", check_finding(c));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(children_take_turns),
        T(none_is_enough),
        T(bad_ends_are_tolerated_up_to_a_share),
        T(bad_ends_beyond_it_fail),
        T(fail_fast_calls_off),
        T(a_deadline_and_a_cancel),
        T(what_cannot_be_evaluated_fails),
        T(too_many_at_once),
        T(one_that_did_well_again),
        T(the_foreach_job_itself),
        T(a_job_gets_its_items_twice),
        T(a_condition_that_does_not_hold),
        T(the_fan_in_before_its_time),
        T(a_restart_takes_items_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
