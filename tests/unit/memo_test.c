/* memo_test.c: results that are used again: who is given one, for how long, and what ends it. */
#include "rig.h"

#include "state.h"

#define KEEP_MS 60000

/* Submits one job with the key of 32 such bytes (0 = none); returns the flow. */
static uint64_t submit_with(struct rig *r, uint8_t key, const struct options *o) {
    uint8_t bytes[32], hash[32] = {7};
    memset(bytes, key, sizeof bytes);
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("run"), .body_hash = slice_of(hash, 32)};
    if (key) spec.cache_key = slice_of(bytes, 32);
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant), .principal = SLICE("tester")};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, &spec, 1, false};
    assert_ok(rig_command(r, &cmd));
    return r->reply.flow.v;
}

static struct options options_of(uint8_t gates) {
    struct options o = rig_options();
    o.cache_ms = KEEP_MS;
    o.gates = gates;
    return o;
}

static uint64_t submit(struct rig *r, uint8_t key) {
    struct options o = options_of(0);
    return submit_with(r, key, &o);
}

static void done(struct rig *r, uint64_t flow, const char *result) {
    static const uint8_t hash[32] = {9};
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = ref_of(flow, 0),
                                          .attempt = rig_job(r, flow, 0).attempt,
                                          .result = slice_str(result),
                                          .result_hash = slice_of(hash, 32)};
    assert_ok(rig_command(r, &cmd));
}

/* A job with the key runs and leaves its result. */
static uint64_t keep(struct rig *r, uint8_t key, const char *result) {
    uint64_t flow = submit(r, key);
    assert_ok(rig_attach(r, "w", 1, 4));
    assert_int_equal(rig_state(r, flow, 0), JOB_DISPATCHED);
    done(r, flow, result);
    assert_ok(rig_detach(r, "w", 1));
    return flow;
}

static void assert_given(const struct rig *r, uint64_t flow, uint64_t from, const char *result) {
    struct job_view j = rig_job(r, flow, 0);
    assert_int_equal(j.state, JOB_SUCCEEDED);
    assert_int_equal(j.from.flow.v, from);
    assert_int_equal(j.attempt, 0);
    assert_true(slice_eq(j.result, slice_str(result)));
    assert_int_equal(j.result_hash.len, 32);
    assert_int_equal(j.result_hash.ptr[0], 9);
}

static void assert_ready(const struct rig *r, uint64_t flow) {
    assert_int_equal(rig_state(r, flow, 0), JOB_READY);
}

static void quarantine(struct rig *r, uint64_t flow) {
    struct command cmd = {.kind = CMD_VERDICT};
    cmd.as.verdict = (struct cmd_verdict){.job = ref_of(flow, 0), .verdict = VERDICT_QUARANTINE};
    assert_ok(rig_command(r, &cmd));
}

/* ---- hits ---- */

static void a_second_job_is_given_the_result_without_a_worker(void **state) {
    struct rig *r = *state;
    uint64_t source = keep(r, 1, "{\"rows\": 42}");
    assert_int_equal(rig_counts(r).memos, 1);
    uint64_t other = submit(r, 2), plain = submit(r, 0), hit = submit(r, 1);
    assert_given(r, hit, source, "{\"rows\": 42}");
    assert_ready(r, other);
    assert_ready(r, plain);
    assert_int_equal(rig_job(r, source, 0).from.flow.v, 0);
    assert_int_equal(rig_flow(r, hit).state, FLOW_SUCCEEDED);
    rig_check_digests(r);
    uint64_t again = submit(r, 1);
    assert_given(r, again, source, "{\"rows\": 42}"); /* the one that ran, not the one that was given it */
}

static void children_of_a_hit_go_on(void **state) {
    struct rig *r = *state;
    keep(r, 1, "x");
    uint8_t key[32];
    memset(key, 1, 32);
    struct options o = options_of(0);
    struct parent_ref parent = {.name = SLICE("a")};
    struct job_spec specs[] = {
        {.name = SLICE("a"), .cache_key = slice_of(key, 32)},
        {.name = SLICE("b"), .cache_key = slice_of(key, 32), .parents = &parent, .parent_count = 1},
        {.name = SLICE("c"), .parents = &parent, .parent_count = 1}};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, specs, 3, false};
    assert_ok(rig_command(r, &cmd));
    assert_int_equal(rig_state(r, r->reply.flow.v, 1), JOB_SUCCEEDED);
    assert_int_equal(rig_state(r, r->reply.flow.v, 2), JOB_READY);
}

static void jobs_that_wait_are_given_what_another_leaves(void **state) {
    struct rig *r = *state;
    assert_ok(rig_attach(r, "w", 1, 1));
    uint64_t first = submit(r, 1), second = submit(r, 1), third = submit(r, 1);
    assert_ready(r, second);
    rig_check_digests(r);
    done(r, first, "x");
    assert_given(r, second, first, "x");
    assert_given(r, third, first, "x");
}

static void results_are_of_one_tenant(void **state) {
    struct rig *r = *state;
    keep(r, 1, "x");
    r->tenant = "globex";
    assert_ready(r, submit(r, 1));
}

static void a_hit_outlives_the_flow_and_the_process(void **state) {
    struct rig *r = *state;
    uint64_t source = keep(r, 1, "x");
    assert_ok(rig_forget(r, source));
    rig_check_digests(r);
    rig_crash(r);
    assert_given(r, submit(r, 1), source, "x");
    struct engine *restored = rig_reload(r);
    struct state_counts counts;
    view_counts(engine_state(restored), NULL, &counts);
    assert_int_equal(counts.memos, 1);
    engine_free(restored);
}

static void a_failure_is_not_kept(void **state) {
    struct rig *r = *state;
    struct options o = options_of(0);
    o.retries = 0;
    uint64_t flow = submit_with(r, 1, &o);
    assert_ok(rig_attach(r, "w", 1, 1));
    assert_ok(rig_exit(r, "w", ref_of(flow, 0), 1, 1));
    assert_int_equal(rig_counts(r).memos, 0);
}

static void a_job_that_waits_for_a_word_is_given_nothing_before(void **state) {
    struct rig *r = *state;
    uint64_t source = keep(r, 1, "x");
    struct options o = options_of(GATE_BIT(GATE_APPROVAL));
    uint64_t flow = submit_with(r, 1, &o);
    assert_int_equal(rig_state(r, flow, 0), JOB_HELD);
    assert_ok(rig_verdict(r, ref_of(flow, 0), VERDICT_ALLOW, NULL));
    assert_given(r, flow, source, "x");
}

static void a_rendered_spec_has_a_key_of_its_own(void **state) {
    struct rig *r = *state;
    uint64_t source = keep(r, 1, "x");
    struct options o = options_of(GATE_BIT(GATE_RENDER));
    uint64_t flow = submit_with(r, 2, &o);
    struct cmd_verdict answer = rig_answer(r, ref_of(flow, 0), VERDICT_ALLOW);
    uint8_t key[32];
    memset(key, 1, 32);
    answer.cache_key = slice_of(key, 31);
    assert_refused(r, rig_send_verdict(r, &answer), ERR_INVALID, "32 bytes");
    answer.cache_key = slice_of(key, 32);
    assert_ok(rig_send_verdict(r, &answer));
    assert_given(r, flow, source, "x");
    quarantine(r, flow);
    rig_check_digests(r);
    assert_ok(rig_retry(r, ref_of(flow, 0))); /* to be rendered anew: by its first key until then */
    assert_int_equal(rig_job(r, flow, 0).cache_key.ptr[0], 2);
    assert_int_equal(rig_job(r, flow, 0).from.flow.v, 0);
}

/* ---- ends ---- */

static void a_result_is_used_until_its_time_is_over(void **state) {
    struct rig *r = *state;
    uint64_t source = keep(r, 1, "x");
    int64_t kept_ms = r->in.wall.ms; /* not later than this */
    r->in.wall.ms = kept_ms + KEEP_MS - 1 - (kept_ms - rig_job(r, source, 0).since.ms);
    assert_given(r, submit(r, 1), source, "x");
    r->in.wall.ms++;
    assert_ready(r, submit(r, 1)); /* in the same pass, before the tick */
    assert_int_equal(rig_counts(r).memos, 0);
}

static void the_tick_drops_what_is_over(void **state) {
    struct rig *r = *state;
    keep(r, 1, "x");
    assert_true(engine_next_due(r->engine).ms <= r->in.wall.ms + KEEP_MS);
    rig_tick(r, KEEP_MS);
    assert_int_equal(rig_counts(r).memos, 0);
}

static void a_quarantined_result_is_given_to_nobody(void **state) {
    struct rig *r = *state;
    uint64_t source = keep(r, 1, "x"), hit = submit(r, 1);
    quarantine(r, source);
    assert_int_equal(rig_counts(r).memos, 0);
    assert_ready(r, submit(r, 1));
    assert_int_equal(rig_state(r, hit, 0), JOB_SUCCEEDED); /* its own output, judged by itself */
}

static void quarantine_of_a_hit_ends_the_entry_too(void **state) {
    struct rig *r = *state;
    keep(r, 1, "x");
    quarantine(r, submit(r, 1));
    assert_int_equal(rig_counts(r).memos, 0);
}

static void a_hit_is_judged_by_the_output_gate_of_its_job(void **state) {
    struct rig *r = *state;
    uint64_t source = keep(r, 1, "x");
    struct options o = options_of(GATE_BIT(GATE_OUTPUT));
    uint64_t good = submit_with(r, 1, &o), bad = submit_with(r, 1, &o);
    assert_int_equal(rig_state(r, good, 0), JOB_CHECKING);
    rig_check_digests(r);
    assert_ok(rig_verdict(r, ref_of(good, 0), VERDICT_ALLOW, NULL));
    assert_given(r, good, source, "x");
    assert_int_equal(rig_counts(r).memos, 1);
    assert_ok(rig_verdict(r, ref_of(bad, 0), VERDICT_QUARANTINE, NULL));
    assert_int_equal(rig_counts(r).memos, 0);
}

static void an_unjudged_result_is_not_kept(void **state) {
    struct rig *r = *state;
    struct options o = options_of(GATE_BIT(GATE_OUTPUT));
    uint64_t flow = submit_with(r, 1, &o);
    assert_ok(rig_attach(r, "w", 1, 1));
    done(r, flow, "x");
    assert_int_equal(rig_counts(r).memos, 0);
    assert_ok(rig_verdict(r, ref_of(flow, 0), VERDICT_REDACT, "y"));
    assert_int_equal(rig_counts(r).memos, 1);
    uint64_t hit = submit(r, 1);
    assert_true(slice_eq(rig_job(r, hit, 0).result, SLICE("y")));
}

/* ---- limits ---- */

static void the_oldest_make_room(void **state) {
    struct rig *r = *state;
    r->limits.memo_tenant_max = 2;
    rig_crash(r);
    for (uint8_t key = 1; key <= 3; key++) keep(r, key, "x");
    assert_int_equal(rig_counts(r).memos, 2);
    assert_ready(r, submit(r, 1));
    assert_int_equal(rig_state(r, submit(r, 2), 0), JOB_SUCCEEDED);
    rig_crash(r); /* the order is kept */
    keep(r, 4, "x");
    assert_ready(r, submit(r, 2));
    assert_int_equal(rig_state(r, submit(r, 3), 0), JOB_SUCCEEDED);
}

static void bytes_are_limited_too(void **state) {
    struct rig *r = *state;
    static char large[600];
    memset(large, 'x', sizeof large - 1);
    r->limits.memo_tenant_bytes_max = 700;
    rig_crash(r);
    for (uint8_t key = 1; key <= 4; key++) keep(r, key, "x");
    assert_int_equal(rig_counts(r).memos, 4);
    keep(r, 5, large); /* could not be kept alone: nothing makes room for it */
    assert_int_equal(rig_counts(r).memos, 4);
    keep(r, 6, "xx");
    assert_int_equal(rig_counts(r).memos, 4);
    assert_ready(r, submit(r, 1));
}

static void no_room_at_all_keeps_nothing(void **state) {
    struct rig *r = *state;
    r->limits.memo_tenant_max = 0;
    rig_crash(r);
    keep(r, 1, "x");
    assert_int_equal(rig_counts(r).memos, 0);
}

static void what_cannot_be_used_again_is_refused(void **state) {
    struct rig *r = *state;
    uint8_t key[32] = {1};
    struct options o[2] = {options_of(0), options_of(0)};
    struct job_spec spec = {.name = SLICE("a"), .cache_key = slice_of(key, 31)};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 2, &spec, 1, false};
    assert_refused(r, rig_command(r, &cmd), ERR_INVALID, "32 bytes");
    spec.cache_key.len = 32;
    spec.undo_profile = 2;
    assert_refused(r, rig_command(r, &cmd), ERR_INVALID, "cache key and a compensation");
    spec.undo_profile = 0;
    o[0].kind = JOB_BARRIER;
    assert_refused(r, rig_command(r, &cmd), ERR_INVALID, "leaves no result");
    o[0].kind = JOB_COMMAND;
    o[0].cache_ms = -1;
    assert_refused(r, rig_command(r, &cmd), ERR_INVALID, "kept result");
}

static void nothing_is_left_of_keys_that_are_gone(void **state) {
    struct rig *r = *state;
    uint64_t source = keep(r, 1, "x"), hit = submit(r, 1), waits = submit(r, 2);
    assert_ok(rig_cancel(r, ref_of(waits, 0)));
    assert_ok(rig_forget(r, source));
    assert_ok(rig_forget(r, hit));
    assert_ok(rig_forget(r, waits));
    rig_tick(r, KEEP_MS);
    const struct state *s = engine_state(r->engine);
    assert_int_equal(s->memos.count, 0);
    assert_int_equal(s->memo_jobs.count, 0);
    assert_int_equal(s->asking.head, 0);
    assert_int_equal(s->extras.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_second_job_is_given_the_result_without_a_worker),
        RIG_TEST(children_of_a_hit_go_on),
        RIG_TEST(jobs_that_wait_are_given_what_another_leaves),
        RIG_TEST(results_are_of_one_tenant),
        RIG_TEST(a_hit_outlives_the_flow_and_the_process),
        RIG_TEST(a_failure_is_not_kept),
        RIG_TEST(a_job_that_waits_for_a_word_is_given_nothing_before),
        RIG_TEST(a_rendered_spec_has_a_key_of_its_own),
        RIG_TEST(a_result_is_used_until_its_time_is_over),
        RIG_TEST(the_tick_drops_what_is_over),
        RIG_TEST(a_quarantined_result_is_given_to_nobody),
        RIG_TEST(quarantine_of_a_hit_ends_the_entry_too),
        RIG_TEST(a_hit_is_judged_by_the_output_gate_of_its_job),
        RIG_TEST(an_unjudged_result_is_not_kept),
        RIG_TEST(the_oldest_make_room),
        RIG_TEST(bytes_are_limited_too),
        RIG_TEST(no_room_at_all_keeps_nothing),
        RIG_TEST(what_cannot_be_used_again_is_refused),
        RIG_TEST(nothing_is_left_of_keys_that_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
