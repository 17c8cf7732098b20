/* saga_judges_test.c: the second model's rules about compensations, and the checker: a run that breaks each promise,
 * and one that breaks none. */
#include "trace_fixture.h"

/* ---- the model ---- */

#define ATTEMPT(o, ...) .as.attempt = {.flow = 1, .ordinal = (o), .attempt = 1, .worker = bytes("w"), \
                                       .incarnation = 1, __VA_ARGS__}
#define VERDICT(o, g, v, ...) .kind = TR_VERDICT, .as.verdict = {.flow = 1, .ordinal = (o), .gate = (g), \
                                                                 .verdict = (v), .revision = 1, __VA_ARGS__}

static const struct trace_job soft_undo = {
    .kind = TK_WORK, .gates = TRACE_GATE_BIT(TG_POLICY), .approval_ms = 500, .retries = 0};
static const struct trace_job undo = {.kind = TK_WORK};

/* Jobs 0 and 1 have compensations and have succeeded in that order; job 2 runs. */
static void two_done(const struct trace_job *how) {
    const struct trace_job jobs[] = {{.kind = TK_WORK, .undo = how},
                                     {.kind = TK_WORK, .undo = how},
                                     {.kind = TK_WORK},
                                     {.kind = TK_WORK, .gates = TRACE_GATE_BIT(TG_APPROVAL)}};
    TEACH(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = jobs, .job_count = 4});
    for (uint32_t i = 0; i < 3; i++) TEACH(.kind = TR_ASSIGNED, ATTEMPT(i));
    TEACH(.kind = TR_ENDED, ATTEMPT(0, .outcome = TO_OK));
    TEACH(.kind = TR_ENDED, ATTEMPT(1, .outcome = TO_OK));
}

static void fatal(void) {
    TEACH(.kind = TR_ENDED, ATTEMPT(2, .outcome = TO_EXIT, .fatal = true));
}

static struct trace_flow_now flow(void) {
    struct trace_flow_now f;
    assert_true(model_flow(m, 1, &f));
    return f;
}

static void undoes(uint32_t o, uint32_t undone) {
    struct trace_job_state j;
    assert_true(model_job(m, 1, o, &j));
    assert_int_equal(j.undoes, undone + 1);
}

static void compensations_run_from_the_last_to_the_first(void **state) {
    (void)state;
    two_done(&undo);
    assert_int_equal(flow().undo_count, 2);
    fatal();
    is(3, TS_CANCELLED, TC_SAGA);
    assert_int_equal(flow().unwinding, TZ_COMPENSATING);
    is(4, TS_READY, TC_NONE);
    undoes(4, 1);
    struct trace_undo made;
    assert_true(model_made(m, &made));
    assert_int_equal(made.ordinal, 4);
    assert_int_equal(made.undoes, 1);
    assert_false(model_made(m, &made));
    TEACH(.kind = TR_ASSIGNED, ATTEMPT(4));
    TEACH(.kind = TR_ENDED, ATTEMPT(4, .outcome = TO_EXIT)); /* whatever its end */
    undoes(5, 0);
    TEACH(.kind = TR_ASSIGNED, ATTEMPT(5));
    TEACH(.kind = TR_ENDED, ATTEMPT(5, .outcome = TO_OK));
    assert_int_equal(flow().unwinding, TZ_DONE);
    assert_int_equal(flow().state, TF_FAILED);
    assert_int_equal(flow().job_count, 6);
}

static void what_unwinds_is_closed(void **state) {
    (void)state;
    two_done(&undo);
    fatal();
    const struct trace_job job = {.kind = TK_WORK};
    REFUSED(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = &job, .job_count = 1});
    REFUSED(.kind = TR_CANCELLED, .as.job = {1, TRACE_NO_JOB});
    REFUSED(.kind = TR_RETRIED, .as.job = {1, 2});
    TEACH(.kind = TR_ASSIGNED, ATTEMPT(4));
    TEACH(.kind = TR_ENDED, ATTEMPT(4, .outcome = TO_EXIT));
    TEACH(.kind = TR_RETRIED, .as.job = {1, 4});
    is(4, TS_READY, TC_NONE);
}

static void a_verdict_is_fatal_when_it_says_so(void **state) {
    (void)state;
    two_done(&undo);
    TEACH(.kind = TR_ENDED, ATTEMPT(2, .outcome = TO_OK));
    TEACH(VERDICT(3, TG_APPROVAL, TV_DENY), .principal = bytes("ann"));
    assert_int_equal(flow().unwinding, TZ_NONE);
    TEACH(VERDICT(2, TG_OUTPUT, TV_QUARANTINE, .fatal = true), .principal = bytes("ann"));
    assert_int_equal(flow().unwinding, TZ_COMPENSATING);
}

static void the_question_is_soft(void **state) {
    (void)state;
    two_done(&soft_undo);
    fatal();
    is(4, TS_HELD, TC_NONE);
    REFUSED(VERDICT(4, TG_POLICY, TV_HOLD), .principal = bytes("ann"));
    TEACH(VERDICT(4, TG_POLICY, TV_DENY), .principal = bytes("ann"));
    is(4, TS_SKIPPED, TC_VERDICT);
    REFUSED(VERDICT(5, TG_POLICY, TV_ALLOW));
    now += 500;
    TEACH(VERDICT(5, TG_POLICY, TV_ALLOW));
    is(5, TS_READY, TC_NONE);
}

static void what_is_stopped_may_still_succeed(void **state) {
    (void)state;
    const struct trace_job jobs[] = {{.kind = TK_WORK, .undo = &undo}, {.kind = TK_WORK}};
    TEACH(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = jobs, .job_count = 2});
    TEACH(.kind = TR_ASSIGNED, ATTEMPT(0));
    TEACH(.kind = TR_ASSIGNED, ATTEMPT(1));
    TEACH(.kind = TR_ENDED, ATTEMPT(1, .outcome = TO_EXIT, .fatal = true));
    assert_int_equal(flow().unwinding, TZ_STOPPING);
    TEACH(.kind = TR_ENDED, ATTEMPT(0, .outcome = TO_OK));
    is(0, TS_CANCELLED, TC_SAGA);
    undoes(2, 0);
}

/* ---- the checker ---- */

#define PROCESS(o, name) .as.process = {.flow = 1, .ordinal = (o), .attempt = 1, .worker = bytes("w"), \
                                        .incarnation = 1, .undoes = bytes(name)}

static void begins(uint32_t o) {
    SAY(.kind = TR_ASSIGNED, ATTEMPT(o));
    durable();
}

static void runs(uint32_t o, const char *name) {
    begins(o);
    SAY(.kind = TW_PROCESS, PROCESS(o, name));
    SAY(.kind = TW_PROCESS_END, PROCESS(o, name));
    SAY(.kind = TR_ENDED, ATTEMPT(o, .outcome = TO_OK));
    durable();
}

static void is_made(uint32_t o, uint32_t undone) {
    SAY(.kind = TW_UNDO, .as.undo = {.flow = 1, .ordinal = o, .undoes = undone, .job = &undo});
}

/* a, b and c have compensations; a and b have succeeded. */
static void watch(void) {
    const struct trace_job jobs[] = {{.name = bytes("a"), .undo = &undo},
                                     {.name = bytes("b"), .undo = &undo},
                                     {.name = bytes("c"), .undo = &undo}};
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = 9});
    SAY(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = jobs, .job_count = 3});
    durable();
    runs(0, "");
    runs(1, "");
}

static void seen_over(uint32_t count) {
    for (uint32_t o = 0; o < count; o++)
        SAY(.kind = TW_SEEN, .as.seen = {.lsn = lsn, .flow = 1, .ordinal = o, .state = TS_SUCCEEDED});
}

static void a_clean_unwinding_is_clean(void **state) {
    (void)state;
    watch();
    is_made(3, 1);
    runs(3, "b");
    is_made(4, 0);
    runs(4, "a");
    seen_over(5);
    SAY(.kind = TW_QUIET);
}

static void one_is_forgotten(void **state) {
    (void)state;
    watch();
    is_made(3, 1);
    runs(3, "b");
    seen_over(4);
    OBJECTION("saga", .kind = TW_QUIET);
}

static void a_compensation_runs_before_a_later_one(void **state) {
    (void)state;
    watch();
    is_made(3, 0);
    begins(3);
    OBJECTION("saga", .kind = TW_PROCESS, PROCESS(3, "a"));
}

static void two_at_once(void **state) {
    (void)state;
    watch();
    is_made(3, 1);
    begins(3);
    SAY(.kind = TW_PROCESS, PROCESS(3, "b"));
    is_made(4, 0);
    begins(4);
    OBJECTION("saga", .kind = TW_PROCESS, PROCESS(4, "a"));
}

static void a_compensation_runs_twice(void **state) {
    (void)state;
    watch();
    is_made(3, 1);
    runs(3, "b");
    is_made(4, 1);
    begins(4);
    OBJECTION("saga", .kind = TW_PROCESS, PROCESS(4, "b"));
}

static void beside_a_job_that_runs(void **state) {
    (void)state;
    watch();
    begins(2);
    is_made(3, 1);
    begins(3);
    OBJECTION("saga", .kind = TW_PROCESS, PROCESS(3, "b"));
}

static void what_never_succeeded(void **state) {
    (void)state;
    watch();
    is_made(3, 2);
    begins(3);
    OBJECTION("saga", .kind = TW_PROCESS, PROCESS(3, "c"));
}

static void another_than_it_should(void **state) {
    (void)state;
    watch();
    is_made(3, 1);
    begins(3);
    OBJECTION("saga", .kind = TW_PROCESS, PROCESS(3, "a"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(compensations_run_from_the_last_to_the_first),
        T(what_unwinds_is_closed),
        T(a_verdict_is_fatal_when_it_says_so),
        T(the_question_is_soft),
        T(what_is_stopped_may_still_succeed),
        T(a_clean_unwinding_is_clean),
        T(one_is_forgotten),
        T(a_compensation_runs_before_a_later_one),
        T(two_at_once),
        T(a_compensation_runs_twice),
        T(beside_a_job_that_runs),
        T(what_never_succeeded),
        T(another_than_it_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
