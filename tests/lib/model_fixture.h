/* model_fixture.h: the second model, what is taught to it, and what it is then asked; for tests/unit/model_test.c. */
#ifndef REEVE_MODEL_FIXTURE_H
#define REEVE_MODEL_FIXTURE_H

#include "trace_fixture.h"

#define SECOND 1000

/* ---- teaching ---- */

#define JOB(o) .as.job = {.flow = 1, .ordinal = (o)}
#define ATTEMPT(o, n, ...) .as.attempt = {.flow = 1, .ordinal = (o), .attempt = (n), __VA_ARGS__}
#define PARENTS(...) .parents = (const uint32_t[]){__VA_ARGS__}, \
                     .parent_count = sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define PLAIN .kind = TK_WORK
#define SUBMIT(...) SUBMIT_AS(1, __VA_ARGS__)
#define SUBMIT_AS(id, ...)                                                                          \
    do {                                                                                            \
        const struct trace_job jobs_[] = {__VA_ARGS__};                                             \
        TEACH(.kind = TR_SUBMITTED, .principal = bytes("ann"),                                      \
              .as.jobs = {.flow = (id), .jobs = jobs_, .job_count = sizeof jobs_ / sizeof *jobs_}); \
    } while (0)

static void assign(uint32_t o, uint32_t n) {
    TEACH(.kind = TR_ASSIGNED, ATTEMPT(o, n));
}
static void start(uint32_t o, uint32_t n) {
    assign(o, n);
    TEACH(.kind = TR_STARTED, ATTEMPT(o, n));
}
static void finish(uint32_t o, uint32_t n, enum trace_outcome outcome) {
    TEACH(.kind = TR_ENDED, ATTEMPT(o, n, .outcome = outcome, .exit_code = outcome == TO_EXIT ? 3 : 0));
}
static void run(uint32_t o, enum trace_outcome outcome) {
    struct trace_job_state j;
    assert_true(model_job(m, 1, o, &j));
    start(o, j.attempt + 1);
    finish(o, j.attempt + 1, outcome);
}
static void stop(uint32_t o, uint32_t n, enum trace_stop why) {
    TEACH(.kind = TR_STOPPING, ATTEMPT(o, n, .stop = why));
}
static void due(uint32_t o, enum trace_due what) {
    TEACH(.kind = TR_DUE, .as.due = {.flow = 1, .ordinal = o, .due = what});
}
static struct trace_entry verdict_of(const char *who, uint32_t o, enum trace_gate g, enum trace_verdict v) {
    return (struct trace_entry){
        .kind = TR_VERDICT,
        .principal = bytes(who),
        .as.verdict = {.flow = 1, .ordinal = o, .gate = g, .verdict = v, .revision = 1},
    };
}
static void verdict(const char *who, uint32_t o, enum trace_gate g, enum trace_verdict v) {
    if (!teach(verdict_of(who, o, g, v))) fail_msg("%s", text);
}
static void cancel(uint32_t o) {
    TEACH(.kind = TR_CANCELLED, JOB(o));
}

/* ---- asking ---- */

static struct trace_job_state get(uint32_t o) {
    struct trace_job_state j;
    assert_true(model_job(m, 1, o, &j));
    return j;
}
static void flow_is(enum trace_flow_state s) {
    struct trace_flow_now f;
    assert_true(model_flow(m, 1, &f));
    assert_int_equal(f.state, s);
}

#endif
