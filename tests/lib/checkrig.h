/* checkrig.h: the checkers of the simulator with a hand-written history: said line by line, and objected to or not. */
#ifndef REEVE_CHECKRIG_H
#define REEVE_CHECKRIG_H

#include "test.h"

#include "check.h"

#define T0 1000000

static struct check *c;
static uint64_t lsn;
static uint64_t epoch;
static int64_t now;

static inline int setup(void **state) {
    (void)state;
    c = check_new();
    lsn = 0;
    epoch = 1;
    now = T0;
    return 0;
}

static inline int teardown(void **state) {
    (void)state;
    check_free(c);
    return 0;
}

/* ---- saying things ---- */

static inline struct trace_bytes bytes(const char *s) {
    return (struct trace_bytes){(const uint8_t *)s, (uint32_t)strlen(s)};
}

static inline bool say(struct trace_entry e) {
    e.time_ms = now;
    if (trace_is_record(e.kind) && !e.replayed) {
        e.lsn = ++lsn;
        e.epoch = epoch;
        if (e.sum == 0) e.sum = lsn * 31;
    }
    return check_entry(c, &e);
}

#define SAY(...)                                                                          \
    do {                                                                                  \
        if (!say((struct trace_entry){__VA_ARGS__})) fail_msg("%s", check_finding(c));    \
    } while (0)
/* The entry is objected to by the named checker. */
#define OBJECTION(who, ...)                                                                       \
    do {                                                                                          \
        assert_false(say((struct trace_entry){__VA_ARGS__}));                                     \
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

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
