/* memo_judges_test.c: what the second model and the checker of kept results object to, and what they let pass. */
#include "trace_fixture.h"

#define KEEP_MS 500
#define KEY_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KEY_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

static void submit(uint64_t flow, const char *tenant, const char *key, uint32_t gates) {
    struct trace_job job = {.kind = TK_WORK, .cache_key = bytes(key), .cache_ms = KEEP_MS, .gates = gates};
    TELL(.kind = TR_SUBMITTED, .as.jobs = {.flow = flow, .tenant = bytes(tenant), .jobs = &job, .job_count = 1});
}

#define ATTEMPT(f) .as.attempt = {.flow = (f), .attempt = 1, .worker = bytes("w"), .incarnation = 1}
#define HIT(f, from) .kind = TR_MEMO_HIT, .as.memo = {.flow = (f), .from_flow = (from)}
#define KEPT(f, until) .kind = TR_MEMO_KEPT, .as.memo = {.flow = (f), .expires_ms = (until), .most = 2}
#define DROPPED(key_) .kind = TR_MEMO_DROPPED, .as.memo = {.tenant = bytes("acme"), .key = bytes(key_), .most = 2}
#define QUARANTINE(f)                              \
    .kind = TR_VERDICT, .principal = bytes("ann"), \
    .as.verdict = {.flow = (f), .gate = TG_OUTPUT, .verdict = TV_QUARANTINE, .revision = 1}

static void run(uint64_t flow) {
    TELL(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = 9});
    TELL(.kind = TR_ASSIGNED, ATTEMPT(flow));
    TELL(.kind = TR_ENDED, ATTEMPT(flow));
}

static void keep(uint64_t flow, const char *key) {
    submit(flow, "acme", key, 0);
    run(flow);
    TELL(KEPT(flow, now + KEEP_MS));
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
    TELL(HIT(2, 1));
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
    TELL(HIT(2, 1));
    assert_int_equal(state_of(2), TS_CHECKING);
    TELL(QUARANTINE(2));
    submit(3, "acme", KEY_A, 0);
    REFUSED(HIT(3, 1));
    OBJECTION("memo", HIT(3, 1));
}

static void a_result_whose_time_is_over(void **state) {
    (void)state;
    keep(1, KEY_A);
    submit(2, "acme", KEY_A, 0);
    now += KEEP_MS;
    REFUSED(HIT(2, 1));
    OBJECTION("memo", HIT(2, 1));
}

static void a_result_that_was_quarantined(void **state) {
    (void)state;
    keep(1, KEY_A);
    TELL(QUARANTINE(1));
    submit(2, "acme", KEY_A, 0);
    REFUSED(HIT(2, 1));
    OBJECTION("memo", HIT(2, 1));
}

static void a_result_of_another_tenant(void **state) {
    (void)state;
    keep(1, KEY_A);
    submit(2, "globex", KEY_A, 0);
    REFUSED(HIT(2, 1));
    OBJECTION("memo", HIT(2, 1));
}

static void a_result_with_another_key(void **state) {
    (void)state;
    keep(1, KEY_A);
    submit(2, "acme", KEY_B, 0);
    REFUSED(HIT(2, 1));
    OBJECTION("memo", HIT(2, 1));
}

static void a_result_that_was_never_made(void **state) {
    (void)state;
    submit(1, "acme", KEY_A, 0);
    REFUSED(KEPT(1, now + KEEP_MS));
    submit(2, "acme", KEY_A, 0);
    OBJECTION("memo", HIT(2, 1));
}

static void a_result_that_was_not_kept(void **state) {
    (void)state;
    submit(1, "acme", KEY_A, 0);
    run(1);
    REFUSED(KEPT(1, now + KEEP_MS + 1)); /* for longer than it may */
    submit(2, "acme", KEY_A, 0);
    REFUSED(HIT(2, 1));
    OBJECTION("memo", HIT(2, 1));
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
    TELL(DROPPED(KEY_A));
    TELL(KEPT(3, now + KEEP_MS));
    now += KEEP_MS;
    TELL(DROPPED(KEY_B));
    REFUSED(DROPPED(KEY_B));
}

static void what_a_crash_swallowed_was_not_kept(void **state) {
    (void)state;
    submit(1, "acme", KEY_A, 0);
    run(1);
    uint64_t head = lsn;
    SAY(KEPT(1, now + KEEP_MS));
    restart(head);
    submit(2, "acme", KEY_A, 0);
    OBJECTION("memo", HIT(2, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_result_is_given),
        T(an_output_gate_judges_it),
        T(a_result_whose_time_is_over),
        T(a_result_that_was_quarantined),
        T(a_result_of_another_tenant),
        T(a_result_with_another_key),
        T(a_result_that_was_never_made),
        T(a_result_that_was_not_kept),
        T(only_the_oldest_makes_room),
        T(what_a_crash_swallowed_was_not_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
