/* trace_fixture.h: the second model and the checkers of the simulator with a hand-written history. A line is taught to
 * the model, said to the checkers, or told to both; the model refuses it, or a checker objects to it, or it passes. */
#ifndef REEVE_TRACE_FIXTURE_H
#define REEVE_TRACE_FIXTURE_H

#include "test.h"

#include "check.h"
#include "model.h"

#define T0 1000000

static struct model *m;
static struct check *c;
static uint64_t lsn;
static uint64_t epoch;
static int64_t now;
static char text[MODEL_TEXT_BYTES];

static inline int setup(void **state) {
    (void)state;
    m = model_new();
    c = check_new();
    lsn = 0;
    epoch = 1;
    now = T0;
    text[0] = '\0';
    return 0;
}

static inline int teardown(void **state) {
    (void)state;
    model_free(m);
    check_free(c);
    return 0;
}

static inline struct trace_bytes bytes(const char *s) {
    return (struct trace_bytes){(const uint8_t *)s, (uint32_t)strlen(s)};
}

/* ---- the model ---- */

static inline bool teach(struct trace_entry e) {
    e.lsn = lsn + 1;
    e.time_ms = now;
    e.epoch = epoch;
    bool ok = model_apply(m, &e, text);
    if (ok) lsn++;
    return ok;
}

#define TEACH(...)                                                           \
    do {                                                                     \
        if (!teach((struct trace_entry){__VA_ARGS__})) fail_msg("%s", text); \
    } while (0)
#define REFUSED(...) assert_false(teach((struct trace_entry){__VA_ARGS__}))

static inline void is_in(uint64_t flow, uint32_t o, enum trace_state s, enum trace_cause cause) {
    struct trace_job_state j;
    assert_true(model_job(m, flow, o, &j));
    if (j.state != s || j.cause != cause)
        fail_msg("job %u is %s (%s), should be %s (%s)", o, model_state_word(j.state), model_cause_word(j.cause),
                 model_state_word(s), model_cause_word(cause));
}
static inline void is(uint32_t o, enum trace_state s, enum trace_cause cause) {
    is_in(1, o, s, cause);
}

/* ---- the checkers ---- */

static inline bool say(struct trace_entry e) {
    e.time_ms = now;
    if (trace_is_record(e.kind) && !e.replayed) {
        e.lsn = ++lsn;
        e.epoch = epoch;
        if (e.sum == 0) e.sum = lsn * 31;
    }
    return check_entry(c, &e);
}

#define SAY(...)                                                                       \
    do {                                                                               \
        if (!say((struct trace_entry){__VA_ARGS__})) fail_msg("%s", check_finding(c)); \
    } while (0)
/* The entry is objected to by the named checker. */
#define OBJECTION(who, ...)                                                                             \
    do {                                                                                                \
        assert_false(say((struct trace_entry){__VA_ARGS__}));                                           \
        if (strncmp(check_finding(c), who ": ", sizeof who + 1) != 0) fail_msg("%s", check_finding(c)); \
    } while (0)

static inline void durable(void) {
    SAY(.kind = TW_DURABLE, .as.durable.lsn = lsn);
}

static inline void restart(uint64_t head) {
    SAY(.kind = TW_CRASHED);
    epoch++;
    SAY(.kind = TW_RESTARTED, .as.restarted = {.epoch = epoch, .head = head});
    lsn = head;
}

/* ---- both: a record that each of them lets pass ---- */

static inline void tell(struct trace_entry e) {
    if (!teach(e)) fail_msg("%s", text);
    lsn--; /* counted again by what follows */
    if (!say(e)) fail_msg("%s", check_finding(c));
}
#define TELL(...) tell((struct trace_entry){__VA_ARGS__})

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
