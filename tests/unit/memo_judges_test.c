/* memo_judges_test.c: what the second model and the checker of kept results object to, and what they let pass. */
#include "test.h"

#include "check.h"
#include "model.h"

#define T0 1000000
#define KEEP_MS 500
#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static struct model *m;
static struct check *c;
static uint64_t lsn, epoch;
static int64_t now;
static char text[MODEL_TEXT_BYTES];

static int setup(void **state) {
    (void)state;
    m = model_new();
    c = check_new();
    lsn = 0;
    epoch = 1;
    now = T0;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    model_free(m);
    check_free(c);
    return 0;
}

static struct trace_bytes bytes(const char *s) {
    return (struct trace_bytes){(const uint8_t *)s, (uint32_t)strlen(s)};
}

static struct trace_entry dated(struct trace_entry e) {
    e.lsn = lsn + 1;
    e.time_ms = now;
    e.epoch = epoch;
    e.sum = e.lsn;
    return e;
}

/* Both let it pass. */
static void say(struct trace_entry e) {
    e = dated(e);
    if (!model_apply(m, &e, text)) fail_msg("%s", text);
    if (!check_entry(c, &e)) fail_msg("%s", check_finding(c));
    lsn++;
}
#define SAY(...) say((struct trace_entry){__VA_ARGS__})

/* The model objects. */
#define REFUSED(...)                                                      \
    do {                                                                  \
        struct trace_entry e_ = dated((struct trace_entry){__VA_ARGS__}); \
        assert_false(model_apply(m, &e_, text));                          \
    } while (0)
/* The checker objects, whatever the model says. */
#define OBJECTION(...)                                                    \
    do {                                                                  \
        struct trace_entry e_ = dated((struct trace_entry){__VA_ARGS__}); \
        assert_false(check_entry(c, &e_));                                \
        assert_int_equal(strncmp(check_finding(c), "memo: ", 6), 0);      \
    } while (0)

static void submit(uint64_t flow, const char *tenant, const char *key, uint32_t gates) {
    struct trace_job job = {.kind = TK_WORK, .cache_key = bytes(key), .cache_ms = KEEP_MS, .gates = gates};
    SAY(.kind = TR_SUBMITTED, .as.jobs = {.flow = flow, .tenant = bytes(tenant), .jobs = &job, .job_count = 1});
}

#define ATTEMPT(f) .as.attempt = {.flow = (f), .attempt = 1, .worker = bytes("w"), .incarnation = 1}
#define HIT(f, from) .kind = TR_MEMO_HIT, .as.memo = {.flow = (f), .from_flow = (from)}
#define KEPT(f, until) .kind = TR_MEMO_KEPT, .as.memo = {.flow = (f), .expires_ms = (until), .most = 2}
#define DROPPED(key_) .kind = TR_MEMO_DROPPED, .as.memo = {.tenant = bytes("acme"), .key = bytes(key_), .most = 2}
#define QUARANTINE(f)                              \
    .kind = TR_VERDICT, .principal = bytes("ann"), \
    .as.verdict = {.flow = (f), .gate = TG_OUTPUT, .verdict = TV_QUARANTINE, .revision = 1}

static void run(uint64_t flow) {
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = 9});
    SAY(.kind = TR_ASSIGNED, ATTEMPT(flow));
    SAY(.kind = TR_ENDED, ATTEMPT(flow));
}

static void keep(uint64_t flow, const char *key) {
    submit(flow, "acme", key, 0);
    run(flow);
    SAY(KEPT(flow, now + KEEP_MS));
}

static enum trace_state state_of(uint64_t flow) {
    struct trace_job_state j;
    assert_true(model_job(m, flow, 0, &j));
    return j.state;
}

static void a_result_is_given(void **state) {
    (void)state;
    keep(1, KEY_A);
    submit(2, "acme", KEY_A, 0);
    REFUSED(.kind = TR_ASSIGNED, ATTEMPT(2)); /* it needs no worker */
    now += KEEP_MS - 1;
    REFUSED(HIT(2, 2));
    SAY(HIT(2, 1));
    assert_int_equal(state_of(2), TS_SUCCEEDED);
    REFUSED(KEPT(2, now + KEEP_MS)); /* not its own */
    struct trace_memo kept = {.from_flow = 1, .tenant = bytes("acme"), .key = bytes(KEY_A), .expires_ms = T0 + KEEP_MS};
    assert_true(model_compare_memos(m, &kept, 1, text));
    kept.expires_ms++;
    assert_false(model_compare_memos(m, &kept, 1, text));
    assert_false(model_compare_memos(m, &kept, 0, text));
}

static void an_output_gate_judges_it(void **state) {
    (void)state;
    keep(1, KEY_A);
    submit(2, "acme", KEY_A, TRACE_GATE_BIT(TG_OUTPUT));
    SAY(HIT(2, 1));
    assert_int_equal(state_of(2), TS_CHECKING);
    SAY(QUARANTINE(2));
    submit(3, "acme", KEY_A, 0);
    REFUSED(HIT(3, 1));
    OBJECTION(HIT(3, 1));
}

static void its_time_is_over(void **state) {
    (void)state;
    keep(1, KEY_A);
    submit(2, "acme", KEY_A, 0);
    now += KEEP_MS;
    REFUSED(HIT(2, 1));
    OBJECTION(HIT(2, 1));
}

static void it_was_quarantined(void **state) {
    (void)state;
    keep(1, KEY_A);
    SAY(QUARANTINE(1));
    submit(2, "acme", KEY_A, 0);
    REFUSED(HIT(2, 1));
    OBJECTION(HIT(2, 1));
}

static void it_is_of_another_tenant(void **state) {
    (void)state;
    keep(1, KEY_A);
    submit(2, "globex", KEY_A, 0);
    REFUSED(HIT(2, 1));
    OBJECTION(HIT(2, 1));
}

static void it_has_another_key(void **state) {
    (void)state;
    keep(1, KEY_A);
    submit(2, "acme", KEY_B, 0);
    REFUSED(HIT(2, 1));
    OBJECTION(HIT(2, 1));
}

static void it_was_never_made(void **state) {
    (void)state;
    submit(1, "acme", KEY_A, 0);
    REFUSED(KEPT(1, now + KEEP_MS));
    submit(2, "acme", KEY_A, 0);
    OBJECTION(HIT(2, 1));
}

static void it_was_not_kept(void **state) {
    (void)state;
    submit(1, "acme", KEY_A, 0);
    run(1);
    REFUSED(KEPT(1, now + KEEP_MS + 1)); /* for longer than it may */
    submit(2, "acme", KEY_A, 0);
    REFUSED(HIT(2, 1));
    OBJECTION(HIT(2, 1));
}

static void only_the_oldest_makes_room(void **state) {
    (void)state;
    keep(1, KEY_A);
    REFUSED(DROPPED(KEY_A)); /* there is room */
    keep(2, KEY_B);
    submit(3, "acme", "cccccccccccccccccccccccccccccccc", 0);
    run(3);
    REFUSED(KEPT(3, now + KEEP_MS));
    REFUSED(DROPPED(KEY_B));
    SAY(DROPPED(KEY_A));
    SAY(KEPT(3, now + KEEP_MS));
    now += KEEP_MS;
    SAY(DROPPED(KEY_B));
    REFUSED(DROPPED(KEY_B));
}

static void what_a_crash_swallowed_was_not_kept(void **state) {
    (void)state;
    submit(1, "acme", KEY_A, 0);
    run(1);
    uint64_t head = lsn;
    struct trace_entry kept = dated((struct trace_entry){KEPT(1, now + KEEP_MS)});
    assert_true(check_entry(c, &kept));
    assert_true(check_entry(c, &(struct trace_entry){.kind = TW_CRASHED}));
    assert_true(check_entry(c, &(struct trace_entry){.kind = TW_RESTARTED, .as.restarted = {++epoch, head}}));
    submit(2, "acme", KEY_A, 0);
    OBJECTION(HIT(2, 1));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_result_is_given),          TEST(an_output_gate_judges_it),
        TEST(its_time_is_over),           TEST(it_was_quarantined),
        TEST(it_is_of_another_tenant),    TEST(it_has_another_key),
        TEST(it_was_never_made),          TEST(it_was_not_kept),
        TEST(only_the_oldest_makes_room), TEST(what_a_crash_swallowed_was_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
