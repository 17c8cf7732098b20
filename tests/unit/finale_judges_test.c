/* finale_judges_test.c: the second model's rules about stages, and the checker: a run that breaks each promise, and one
 * that breaks none. */
#include "trace_fixture.h"

#define ATTEMPT(o, n, ...) \
    .as.attempt = {.flow = 1, .ordinal = (o), .attempt = (n), .worker = bytes("w"), .incarnation = 1, __VA_ARGS__}

/* 0 is the main job, 1 on_success, 2 on_failure, 3 finally. */
static const struct trace_job undo = {.kind = TK_WORK};
static const struct trace_job jobs[] = {{.kind = TK_WORK, .undo = &undo},
                                        {.kind = TK_WORK, .stage = TH_SUCCESS},
                                        {.kind = TK_WORK, .stage = TH_FAILURE},
                                        {.kind = TK_WORK, .stage = TH_FINALLY, .retries = 1}};
#define SUBMITTED(...) .kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .jobs = jobs, .job_count = 4, __VA_ARGS__}

static struct trace_flow_now flow(void) {
    struct trace_flow_now f;
    assert_true(model_flow(m, 1, &f));
    return f;
}

static void taught(uint32_t o, uint32_t attempt, enum trace_outcome outcome) {
    TEACH(.kind = TR_ASSIGNED, ATTEMPT(o, attempt));
    TEACH(.kind = TR_ENDED, ATTEMPT(o, attempt, .outcome = outcome));
}

static void stages_follow_each_other(void **state) {
    (void)state;
    TEACH(SUBMITTED(.more = false));
    is(3, TS_WAITING, TC_NONE);
    REFUSED(.kind = TR_ASSIGNED, ATTEMPT(3, 1));
    taught(0, 1, TO_OK);
    is(1, TS_READY, TC_NONE);
    is(2, TS_SKIPPED, TC_OUTCOME);
    is(3, TS_WAITING, TC_NONE);
    const struct trace_job late = {.kind = TK_WORK};
    REFUSED(.kind = TR_ADDED, .as.jobs = {.flow = 1, .jobs = &late, .job_count = 1});
    taught(1, 1, TO_EXIT);
    REFUSED(.kind = TR_RETRIED, .as.job = {1, 1});
    taught(3, 1, TO_OK);
    assert_int_equal(flow().state, TF_FAILED);
    TEACH(.kind = TR_RETRIED, .as.job = {1, 1});
    is(3, TS_SUCCEEDED, TC_NONE);
    taught(1, 2, TO_OK);
    assert_int_equal(flow().state, TF_SUCCEEDED);
}

static void a_cancel_calls_neither(void **state) {
    (void)state;
    TEACH(SUBMITTED(.more = false));
    TEACH(.kind = TR_CANCELLED, .as.job = {1, TRACE_NO_JOB});
    is(1, TS_SKIPPED, TC_OUTCOME);
    is(2, TS_SKIPPED, TC_OUTCOME);
    is(3, TS_READY, TC_NONE);
    TEACH(.kind = TR_CANCELLED, .as.job = {1, TRACE_NO_JOB});
    is(3, TS_CANCELLED, TC_REQUEST);
    TEACH(.kind = TR_RERUN, .as.job = {1});
    assert_int_equal(flow().stage, TH_MAIN);
    taught(0, 1, TO_EXIT);
    is(1, TS_SKIPPED, TC_OUTCOME);
    is(2, TS_READY, TC_NONE);
}

static void times_of_a_flow(void **state) {
    (void)state;
    TEACH(SUBMITTED(.timeout_ms = 1000, .deadline_ms = T0 + 500));
    REFUSED(.kind = TR_FLOW_DUE, .as.flow_due = {1, true});
    now += 500;
    REFUSED(.kind = TR_ASSIGNED, ATTEMPT(0, 1)); /* nobody has said that it is late */
    TEACH(.kind = TR_FLOW_DUE, .as.flow_due = {1, true});
    assert_true(flow().late);
    TEACH(.kind = TR_ASSIGNED, ATTEMPT(0, 1));
    REFUSED(.kind = TR_FLOW_DUE, .as.flow_due = {1, false});
    now += 500;
    TEACH(.kind = TR_FLOW_DUE, .as.flow_due = {1, false});
    TEACH(.kind = TR_ENDED, ATTEMPT(0, 1, .outcome = TO_STOPPED));
    is(0, TS_CANCELLED, TC_FLOW_TIMEOUT);
    is(2, TS_READY, TC_NONE);
    REFUSED(.kind = TR_FLOW_DUE, .as.flow_due = {1, false});
}

static void finally_waits_for_the_undoing(void **state) {
    (void)state;
    TEACH(SUBMITTED(.undo_failures = true));
    TEACH(.kind = TR_ASSIGNED, ATTEMPT(0, 1));
    TEACH(.kind = TR_ENDED, ATTEMPT(0, 1, .outcome = TO_OK, .fatal = true));
    is(1, TS_READY, TC_NONE); /* nothing has failed */
    taught(1, 1, TO_EXIT);    /* and what fails behind the main jobs undoes nothing */
    taught(3, 1, TO_OK);
    assert_int_equal(flow().unwinding, TZ_NONE);
}

/* ---- the checker ---- */

/* The checker says so with these words. */
#define OBJECTS(words, ...)                                                            \
    do {                                                                               \
        OBJECTION("finale", __VA_ARGS__);                                              \
        if (strstr(check_finding(c), words) == NULL) fail_msg("%s", check_finding(c)); \
    } while (0)

static void begins(void) {
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .on = true, .slots = 8});
    SAY(SUBMITTED(.more = false));
}

static void said(uint32_t o, uint32_t attempt) {
    SAY(.kind = TR_ASSIGNED, ATTEMPT(o, attempt));
    SAY(.kind = TR_ENDED, ATTEMPT(o, attempt, .outcome = TO_OK));
}

static void a_clean_run_is_clean(void **state) {
    (void)state;
    begins();
    said(0, 1);
    said(1, 1);
    said(3, 1);
    SAY(.kind = TR_RERUN, .as.job = {1});
    said(2, 1);
    said(3, 2);
    durable();
    SAY(.kind = TW_SEEN, .as.seen = {lsn, 1, 3, TS_SUCCEEDED});
}

static void finally_beside_a_main_job(void **state) {
    (void)state;
    begins();
    SAY(.kind = TR_ASSIGNED, ATTEMPT(0, 1));
    OBJECTS("begins while job 1/0 runs", .kind = TR_ASSIGNED, ATTEMPT(3, 1));
}

static void a_main_job_behind_finally(void **state) {
    (void)state;
    begins();
    said(3, 1);
    OBJECTS("which follows the main jobs", .kind = TR_ASSIGNED, ATTEMPT(0, 1));
}

static void both_outcomes(void **state) {
    (void)state;
    begins();
    said(0, 1);
    said(1, 1);
    OBJECTS("for the other outcome", .kind = TR_ASSIGNED, ATTEMPT(2, 1));
}

static void finally_twice(void **state) {
    (void)state;
    begins();
    said(0, 1);
    said(3, 1);
    OBJECTS("runs again though it did well", .kind = TR_ASSIGNED, ATTEMPT(3, 2));
}

static void finally_that_was_missed(void **state) {
    (void)state;
    begins();
    SAY(.kind = TR_CANCELLED, .as.job = {1, TRACE_NO_JOB});
    durable();
    OBJECTS("over without having run", .kind = TW_SEEN, .as.seen = {lsn, 1, 3, TS_SKIPPED});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(stages_follow_each_other),      T(a_cancel_calls_neither), T(times_of_a_flow),
        T(finally_waits_for_the_undoing), T(a_clean_run_is_clean),   T(finally_beside_a_main_job),
        T(a_main_job_behind_finally),     T(both_outcomes),          T(finally_twice),
        T(finally_that_was_missed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
