/* model_fixture.h: the second model, what is said to it, and what it is then asked; for tests/unit/model_test.c. */
#ifndef REEVE_MODEL_FIXTURE_H
#define REEVE_MODEL_FIXTURE_H

#include <stdio.h>
#include <string.h>

#include "model.h"
#include "test.h"

#define SECOND 1000
#define T0 1000000

static struct model *m;
static uint64_t lsn;
static int64_t now;
static char text[MODEL_TEXT_BYTES];

static int setup(void **state) {
    (void)state;
    m = model_new();
    lsn = 0;
    now = T0;
    text[0] = '\0';
    return 0;
}

static int teardown(void **state) {
    (void)state;
    model_free(m);
    return 0;
}

/* ---- saying things ---- */

static struct trace_bytes bytes(const char *s) {
    return (struct trace_bytes){(const uint8_t *)s, (uint32_t)strlen(s)};
}

static bool say(struct trace_entry e) {
    e.lsn = lsn + 1;
    e.time_ms = now;
    bool ok = model_apply(m, &e, text);
    if (ok) lsn++;
    return ok;
}

#define SAY(...)                                                \
    do {                                                        \
        if (!say((struct trace_entry){__VA_ARGS__})) fail_msg("%s", text); \
    } while (0)
#define REFUSED(...) assert_false(say((struct trace_entry){__VA_ARGS__}))

#define JOB(o) .as.job = {.flow = 1, .ordinal = (o)}
#define ATTEMPT(o, n, ...) .as.attempt = {.flow = 1, .ordinal = (o), .attempt = (n), __VA_ARGS__}
#define PARENTS(...) .parents = (const uint32_t[]){__VA_ARGS__}, \
                     .parent_count = sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)
#define PLAIN .kind = TK_WORK
#define SUBMIT(...) SUBMIT_AS(1, __VA_ARGS__)
#define SUBMIT_AS(id, ...)                                                                       \
    do {                                                                                         \
        const struct trace_job jobs_[] = {__VA_ARGS__};                                          \
        SAY(.kind = TR_SUBMITTED, .principal = bytes("ann"),                                     \
            .as.jobs = {.flow = (id), .jobs = jobs_, .job_count = sizeof jobs_ / sizeof *jobs_}); \
    } while (0)

static void assign(uint32_t o, uint32_t n) {
    SAY(.kind = TR_ASSIGNED, ATTEMPT(o, n));
}
static void start(uint32_t o, uint32_t n) {
    assign(o, n);
    SAY(.kind = TR_STARTED, ATTEMPT(o, n));
}
static void finish(uint32_t o, uint32_t n, enum trace_outcome outcome) {
    SAY(.kind = TR_ENDED, ATTEMPT(o, n, .outcome = outcome, .exit_code = outcome == TO_EXIT ? 3 : 0));
}
static void run(uint32_t o, enum trace_outcome outcome) {
    struct trace_job_state j;
    assert_true(model_job(m, 1, o, &j));
    start(o, j.attempt + 1);
    finish(o, j.attempt + 1, outcome);
}
static void stop(uint32_t o, uint32_t n, enum trace_stop why) {
    SAY(.kind = TR_STOPPING, ATTEMPT(o, n, .stop = why));
}
static void due(uint32_t o, enum trace_due what) {
    SAY(.kind = TR_DUE, .as.due = {.flow = 1, .ordinal = o, .due = what});
}
static struct trace_entry verdict_of(const char *who, uint32_t o, enum trace_gate g, enum trace_verdict v) {
    return (struct trace_entry){
        .kind = TR_VERDICT,
        .principal = bytes(who),
        .as.verdict = {.flow = 1, .ordinal = o, .gate = g, .verdict = v, .revision = 1},
    };
}
static void verdict(const char *who, uint32_t o, enum trace_gate g, enum trace_verdict v) {
    if (!say(verdict_of(who, o, g, v))) fail_msg("%s", text);
}
static void cancel(uint32_t o) {
    SAY(.kind = TR_CANCELLED, JOB(o));
}

/* ---- hearing things ---- */

static void is_in(uint64_t flow, uint32_t o, enum trace_state s, enum trace_cause c) {
    struct trace_job_state j;
    assert_true(model_job(m, flow, o, &j));
    if (j.state != s || j.cause != c)
        fail_msg("job %u is %s (%s), should be %s (%s)", o, model_state_word(j.state), model_cause_word(j.cause),
                 model_state_word(s), model_cause_word(c));
}
static void is(uint32_t o, enum trace_state s, enum trace_cause c) {
    is_in(1, o, s, c);
}
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
