/* memo_test.c: results that are used again: who is given one, for how long, and what ends it. */
#include <stdio.h>
#include <stdlib.h>

#include "engine_fixture.h"

#include "state.h"

#define KEEP_MS 60000

/* Submits one job with the key of 32 such bytes (0 = none); returns the flow. */
static uint64_t submit_with(struct fixture *r, uint8_t key, const struct options *o) {
    uint8_t bytes[32], hash[32] = {7};
    memset(bytes, key, sizeof bytes);
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("run"), .body_hash = slice_of(hash, 32)};
    if (key) spec.cache_key = slice_of(bytes, 32);
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant), .principal = SLICE("tester")};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, &spec, 1, false};
    assert_ok(fixture_command(r, &cmd));
    return r->reply.flow.v;
}

static struct options options_of(uint8_t gates) {
    struct options o = fixture_options();
    o.cache_ms = KEEP_MS;
    o.gates = gates;
    return o;
}

static uint64_t submit(struct fixture *r, uint8_t key) {
    struct options o = options_of(0);
    return submit_with(r, key, &o);
}

static void done(struct fixture *r, uint64_t flow, const char *result) {
    static const uint8_t hash[32] = {9};
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = ref_of(flow, 0),
                                          .attempt = fixture_job(r, flow, 0).attempt,
                                          .result = slice_str(result),
                                          .result_hash = slice_of(hash, 32)};
    assert_ok(fixture_command(r, &cmd));
}

/* A job with the key runs and leaves its result. */
static uint64_t keep(struct fixture *r, uint8_t key, const char *result) {
    uint64_t flow = submit(r, key);
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_int_equal(fixture_state(r, flow, 0), JOB_DISPATCHED);
    done(r, flow, result);
    assert_ok(fixture_detach(r, "w", 1));
    return flow;
}

static void assert_given(const struct fixture *r, uint64_t flow, uint64_t from, const char *result) {
    struct job_view j = fixture_job(r, flow, 0);
    assert_int_equal(j.state, JOB_SUCCEEDED);
    assert_int_equal(j.from.flow.v, from);
    assert_int_equal(j.attempt, 0);
    assert_true(slice_eq(j.result, slice_str(result)));
    assert_int_equal(j.result_hash.len, 32);
    assert_int_equal(j.result_hash.ptr[0], 9);
}

static void assert_ready(const struct fixture *r, uint64_t flow) {
    assert_int_equal(fixture_state(r, flow, 0), JOB_READY);
}

static void quarantine(struct fixture *r, uint64_t flow) {
    struct command cmd = {.kind = CMD_VERDICT};
    cmd.as.verdict = (struct cmd_verdict){.job = ref_of(flow, 0), .verdict = VERDICT_QUARANTINE};
    assert_ok(fixture_command(r, &cmd));
}

/* ---- hits ---- */

static void a_second_job_is_given_the_result_without_a_worker(void **state) {
    struct fixture *r = *state;
    uint64_t source = keep(r, 1, "{\"rows\": 42}");
    assert_int_equal(fixture_counts(r).memos, 1);
    uint64_t other = submit(r, 2), plain = submit(r, 0), hit = submit(r, 1);
    assert_given(r, hit, source, "{\"rows\": 42}");
    assert_ready(r, other);
    assert_ready(r, plain);
    assert_int_equal(fixture_job(r, source, 0).from.flow.v, 0);
    assert_int_equal(fixture_flow(r, hit).state, FLOW_SUCCEEDED);
    fixture_check_digests(r);
    uint64_t again = submit(r, 1);
    assert_given(r, again, source, "{\"rows\": 42}"); /* the one that ran, not the one that was given it */
}

static void children_of_a_hit_go_on(void **state) {
    struct fixture *r = *state;
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
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(fixture_state(r, r->reply.flow.v, 1), JOB_SUCCEEDED);
    assert_int_equal(fixture_state(r, r->reply.flow.v, 2), JOB_READY);
}

static void jobs_that_wait_are_given_what_another_leaves(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 1));
    uint64_t first = submit(r, 1), second = submit(r, 1), third = submit(r, 1);
    assert_ready(r, second);
    fixture_check_digests(r);
    done(r, first, "x");
    assert_given(r, second, first, "x");
    assert_given(r, third, first, "x");
}

static void results_are_of_one_tenant(void **state) {
    struct fixture *r = *state;
    keep(r, 1, "x");
    r->tenant = "globex";
    assert_ready(r, submit(r, 1));
}

static void a_hit_outlives_the_flow_and_the_process(void **state) {
    struct fixture *r = *state;
    uint64_t source = keep(r, 1, "x");
    assert_ok(fixture_forget(r, source));
    fixture_check_digests(r);
    fixture_crash(r);
    assert_given(r, submit(r, 1), source, "x");
    struct engine *restored = fixture_reload(r);
    struct state_counts counts;
    view_counts(engine_state(restored), NULL, &counts);
    assert_int_equal(counts.memos, 1);
    engine_free(restored);
}

static void a_failure_is_not_kept(void **state) {
    struct fixture *r = *state;
    struct options o = options_of(0);
    o.retries = 0;
    uint64_t flow = submit_with(r, 1, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(flow, 0), 1, 1));
    assert_int_equal(fixture_counts(r).memos, 0);
}

static void a_job_that_waits_for_a_word_is_given_nothing_before(void **state) {
    struct fixture *r = *state;
    uint64_t source = keep(r, 1, "x");
    struct options o = options_of(GATE_BIT(GATE_APPROVAL));
    uint64_t flow = submit_with(r, 1, &o);
    assert_int_equal(fixture_state(r, flow, 0), JOB_HELD);
    assert_ok(fixture_verdict(r, ref_of(flow, 0), VERDICT_ALLOW, NULL));
    assert_given(r, flow, source, "x");
}

static void a_rendered_spec_has_a_key_of_its_own(void **state) {
    struct fixture *r = *state;
    uint64_t source = keep(r, 1, "x");
    struct options o = options_of(GATE_BIT(GATE_RENDER));
    uint64_t flow = submit_with(r, 2, &o);
    struct cmd_verdict answer = fixture_answer(r, ref_of(flow, 0), VERDICT_ALLOW);
    uint8_t key[32];
    memset(key, 1, 32);
    answer.cache_key = slice_of(key, 31);
    assert_refused(r, fixture_send_verdict(r, &answer), ERR_INVALID, "32 bytes");
    answer.cache_key = slice_of(key, 32);
    assert_ok(fixture_send_verdict(r, &answer));
    assert_given(r, flow, source, "x");
    quarantine(r, flow);
    fixture_check_digests(r);
    assert_ok(fixture_retry(r, ref_of(flow, 0))); /* to be rendered anew: by its first key until then */
    assert_int_equal(fixture_job(r, flow, 0).cache_key.ptr[0], 2);
    assert_int_equal(fixture_job(r, flow, 0).from.flow.v, 0);
}

/* ---- ends ---- */

static void a_result_is_used_until_its_time_is_over(void **state) {
    struct fixture *r = *state;
    uint64_t source = keep(r, 1, "x");
    int64_t kept_ms = r->in.wall.ms; /* not later than this */
    r->in.wall.ms = kept_ms + KEEP_MS - 1 - (kept_ms - fixture_job(r, source, 0).since.ms);
    assert_given(r, submit(r, 1), source, "x");
    r->in.wall.ms++;
    assert_ready(r, submit(r, 1)); /* in the same pass, before the tick */
    assert_int_equal(fixture_counts(r).memos, 0);
}

static void the_tick_drops_what_is_over(void **state) {
    struct fixture *r = *state;
    keep(r, 1, "x");
    assert_true(engine_next_due(r->engine).ms <= r->in.wall.ms + KEEP_MS);
    fixture_tick(r, KEEP_MS);
    assert_int_equal(fixture_counts(r).memos, 0);
}

static void a_quarantined_result_is_given_to_nobody(void **state) {
    struct fixture *r = *state;
    uint64_t source = keep(r, 1, "x"), hit = submit(r, 1);
    quarantine(r, source);
    assert_int_equal(fixture_counts(r).memos, 0);
    assert_ready(r, submit(r, 1));
    assert_int_equal(fixture_state(r, hit, 0), JOB_SUCCEEDED); /* its own output, judged by itself */
}

static void quarantine_of_a_hit_ends_the_entry_too(void **state) {
    struct fixture *r = *state;
    keep(r, 1, "x");
    quarantine(r, submit(r, 1));
    assert_int_equal(fixture_counts(r).memos, 0);
}

static void a_hit_is_judged_by_the_output_gate_of_its_job(void **state) {
    struct fixture *r = *state;
    uint64_t source = keep(r, 1, "x");
    struct options o = options_of(GATE_BIT(GATE_OUTPUT));
    uint64_t good = submit_with(r, 1, &o), bad = submit_with(r, 1, &o);
    assert_int_equal(fixture_state(r, good, 0), JOB_CHECKING);
    fixture_check_digests(r);
    assert_ok(fixture_verdict(r, ref_of(good, 0), VERDICT_ALLOW, NULL));
    assert_given(r, good, source, "x");
    assert_int_equal(fixture_counts(r).memos, 1);
    assert_ok(fixture_verdict(r, ref_of(bad, 0), VERDICT_QUARANTINE, NULL));
    assert_int_equal(fixture_counts(r).memos, 0);
}

static void an_unjudged_result_is_not_kept(void **state) {
    struct fixture *r = *state;
    struct options o = options_of(GATE_BIT(GATE_OUTPUT));
    uint64_t flow = submit_with(r, 1, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    done(r, flow, "x");
    assert_int_equal(fixture_counts(r).memos, 0);
    assert_ok(fixture_verdict(r, ref_of(flow, 0), VERDICT_REDACT, "y"));
    assert_int_equal(fixture_counts(r).memos, 1);
    uint64_t hit = submit(r, 1);
    assert_true(slice_eq(fixture_job(r, hit, 0).result, SLICE("y")));
}

/* ---- limits ---- */

static void the_oldest_make_room(void **state) {
    struct fixture *r = *state;
    r->limits.memo_tenant_max = 2;
    fixture_crash(r);
    for (uint8_t key = 1; key <= 3; key++) keep(r, key, "x");
    assert_int_equal(fixture_counts(r).memos, 2);
    assert_ready(r, submit(r, 1));
    assert_int_equal(fixture_state(r, submit(r, 2), 0), JOB_SUCCEEDED);
    fixture_crash(r); /* the order is kept */
    keep(r, 4, "x");
    assert_ready(r, submit(r, 2));
    assert_int_equal(fixture_state(r, submit(r, 3), 0), JOB_SUCCEEDED);
}

static void bytes_are_limited_too(void **state) {
    struct fixture *r = *state;
    static char large[600];
    memset(large, 'x', sizeof large - 1);
    r->limits.memo_tenant_bytes_max = 700;
    fixture_crash(r);
    for (uint8_t key = 1; key <= 4; key++) keep(r, key, "x");
    assert_int_equal(fixture_counts(r).memos, 4);
    keep(r, 5, large); /* could not be kept alone: nothing makes room for it */
    assert_int_equal(fixture_counts(r).memos, 4);
    keep(r, 6, "xx");
    assert_int_equal(fixture_counts(r).memos, 4);
    assert_ready(r, submit(r, 1));
}

static void no_room_at_all_keeps_nothing(void **state) {
    struct fixture *r = *state;
    r->limits.memo_tenant_max = 0;
    fixture_crash(r);
    keep(r, 1, "x");
    assert_int_equal(fixture_counts(r).memos, 0);
}

static void what_cannot_be_used_again_is_refused(void **state) {
    struct fixture *r = *state;
    uint8_t key[32] = {1};
    struct options o[2] = {options_of(0), options_of(0)};
    struct job_spec spec = {.name = SLICE("a"), .cache_key = slice_of(key, 31)};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 2, &spec, 1, false};
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "32 bytes");
    spec.cache_key.len = 32;
    spec.undo_profile = 2;
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "cache key and a compensation");
    spec.undo_profile = 0;
    o[0].kind = JOB_BARRIER;
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "leaves no result");
    o[0].kind = JOB_COMMAND;
    o[0].cache_ms = -1;
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "kept result");
}

static void nothing_is_left_of_keys_that_are_gone(void **state) {
    struct fixture *r = *state;
    uint64_t source = keep(r, 1, "x"), hit = submit(r, 1), waits = submit(r, 2);
    assert_ok(fixture_cancel(r, ref_of(waits, 0)));
    assert_ok(fixture_forget(r, source));
    assert_ok(fixture_forget(r, hit));
    assert_ok(fixture_forget(r, waits));
    fixture_tick(r, KEEP_MS);
    const struct state *s = engine_state(r->engine);
    assert_int_equal(s->memos.count, 0);
    assert_int_equal(s->memo_jobs.count, 0);
    assert_int_equal(s->asking.head, 0);
    assert_int_equal(s->extras.count, 0);
}

/* ---- several at once ---- */

static void command_done(struct fixture *r, uint64_t flow, const char *result) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = ref_of(flow, 0), .attempt = 1, .result = slice_str(result)};
    engine_command(r->engine, &cmd);
}

static void two_results_come_in_one_pass(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 2));
    uint64_t one = submit(r, 1), two = submit(r, 2), waits_one = submit(r, 1), waits_two = submit(r, 2);
    engine_begin(r->engine, &r->in);
    command_done(r, one, "x");
    command_done(r, two, "y");
    engine_finish(r->engine);
    fixture_flush(r);
    assert_int_equal(fixture_job(r, waits_one, 0).from.flow.v, one);
    assert_int_equal(fixture_job(r, waits_two, 0).from.flow.v, two);
}

/* Two ran with one key at the same time: the result of the later is the one that is kept. */
static void the_later_result_takes_the_place_of_the_earlier(void **state) {
    struct fixture *r = *state;
    r->limits.memo_tenant_bytes_max = 3 * 256;
    fixture_crash(r);
    assert_ok(fixture_attach(r, "w", 1, 8));
    uint64_t first = submit(r, 1), second = submit(r, 1), other = submit(r, 2);
    done(r, first, "x");
    done(r, other, "y");
    assert_int_equal(fixture_counts(r).memos, 2);
    quarantine(r, other); /* what it left goes with it */
    assert_int_equal(fixture_counts(r).memos, 1);
    uint64_t again = submit(r, 2);
    done(r, again, "y");
    static char large[600];
    memset(large, 'l', sizeof large - 1);
    done(r, second, large); /* needs the room of both: its own place and that of the other */
    assert_int_equal(fixture_counts(r).memos, 1);
    quarantine(r, first); /* the entry is no longer its own */
    assert_int_equal(fixture_counts(r).memos, 1);
    uint64_t hit = submit(r, 1);
    assert_int_equal(fixture_job(r, hit, 0).from.flow.v, second);
    fixture_check_digests(r);
    fixture_tick(r, KEEP_MS);
    assert_int_equal(fixture_counts(r).memos, 0);
    quarantine(r, second); /* nothing is left to take away */
}

/* In one flow: another job of it has left the result. */
static void a_twin_in_the_same_flow(void **state) {
    struct fixture *r = *state;
    uint8_t key[32] = {1};
    struct options o = options_of(0);
    struct job_spec specs[] = {{.name = SLICE("a"), .cache_key = slice_of(key, 32)},
                               {.name = SLICE("b"), .cache_key = slice_of(key, 32)}};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, specs, 2, false};
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 1, OUTCOME_OK));
    struct command verdict = {.kind = CMD_VERDICT};
    verdict.as.verdict = (struct cmd_verdict){.job = ref_of(1, 0), .verdict = VERDICT_QUARANTINE};
    assert_ok(fixture_command(r, &verdict));
    assert_int_equal(fixture_counts(r).memos, 1);
    verdict.as.verdict.job.ordinal = 1;
    assert_ok(fixture_command(r, &verdict));
    assert_int_equal(fixture_counts(r).memos, 0);
}

/* With a lower limit hundreds would have to go for one; they leave when their time is over. */
static void too_many_in_the_way_keep_their_places(void **state) {
    struct fixture *r = *state;
    struct options o = options_of(0);
    o.kind = JOB_NOOP;
    static struct job_spec specs[600];
    static uint8_t keys[601][32];
    static char names[600][8];
    for (uint32_t i = 0; i < 600; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        memcpy(keys[i], &i, 4);
        keys[i][31] = 7;
        specs[i] = (struct job_spec){.name = slice_str(names[i]), .cache_key = slice_of(keys[i], 32)};
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, specs, 600, false};
    assert_ok(fixture_attach(r, "w", 1, 600));
    assert_ok(fixture_command(r, &cmd));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_counts(r).memos, 600);
    r->limits.memo_tenant_max = 10;
    fixture_crash(r);
    assert_ok(fixture_attach(r, "w", 2, 600));
    uint64_t flow = submit(r, 99);
    assert_ok(fixture_done(r, "w", 2, ref_of(flow, 0), 1, OUTCOME_OK));
    assert_int_equal(fixture_counts(r).memos, 600);
}

/* ---- asking when other things go on ---- */

#define BIG 5000u

/* A flow of many jobs without a worker, the last with a key. */
static struct command big_flow(const struct options *o, uint32_t count, bool all_keyed) {
    static struct job_spec specs[BIG];
    static char names[BIG][8];
    static const uint8_t key[32] = {42};
    for (uint32_t i = 0; i < count; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i] = (struct job_spec){.name = slice_str(names[i])};
        if (all_keyed || i + 1 == count) specs[i].cache_key = slice_of(key, 32);
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, specs, count, false};
    return cmd;
}

static void many_ask_in_turns(void **state) {
    struct fixture *r = *state;
    struct options o = options_of(0);
    struct command cmd = big_flow(&o, BIG, true);
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    engine_finish(r->engine);
    fixture_flush(r);
    assert_true(engine_has_work(r->engine));
    assert_int_not_equal(engine_state(r->engine)->asking.head, 0);
    fixture_tick(r, 0);
    assert_int_equal(engine_state(r->engine)->asking.head, 0);
}

/* Of five flows that are called off at once the last has yet to be gone through: its job is given nothing meanwhile. */
static void a_flow_that_settles_is_given_nothing(void **state) {
    struct fixture *r = *state;
    struct options o = options_of(0);
    struct command cmd = big_flow(&o, BIG, false);
    for (uint64_t flow = 1; flow <= 4; flow++) assert_ok(fixture_command(r, &cmd));
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    struct command cancel = {.kind = CMD_CANCEL};
    for (uint64_t flow = 1; flow <= 5; flow++) {
        cancel.as.cancel = (struct cmd_cancel){.flow = {flow}, .whole = true};
        engine_command(r->engine, &cancel);
    }
    engine_finish(r->engine);
    fixture_flush(r);
    assert_int_equal(fixture_state(r, 5, BIG - 1), JOB_READY);
    assert_int_not_equal(engine_state(r->engine)->asking.head, 0);
    fixture_tick(r, 0);
    assert_int_equal(fixture_state(r, 5, BIG - 1), JOB_CANCELLED);
    assert_int_equal(engine_state(r->engine)->asking.head, 0);
}

/* Its time is over and nobody has said so yet: so many others are over, too. */
static void a_job_that_is_late_is_given_nothing(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 1));
    uint64_t source = submit(r, 1);
    struct options o = options_of(0);
    o.deadline_ms = r->in.wall.ms + 1000;
    struct command cmd = big_flow(&o, BIG, false);
    assert_ok(fixture_command(r, &cmd));
    o.deadline_ms = r->in.wall.ms + 1001;
    uint64_t late = submit_with(r, 1, &o);
    o.deadline_ms = r->in.wall.ms + 50000;
    uint64_t early = submit_with(r, 1, &o);
    r->in.wall.ms += 1001;
    r->in.mono.ms += 1001;
    engine_begin(r->engine, &r->in);
    command_done(r, source, "x");
    engine_finish(r->engine);
    fixture_flush(r);
    assert_int_equal(fixture_state(r, late, 0), JOB_READY);
    assert_int_equal(fixture_job(r, early, 0).from.flow.v, source);
    fixture_tick(r, 0);
    assert_int_equal(fixture_state(r, late, 0), JOB_TIMED_OUT);
}

/* It has succeeded and its flow is on its way out before anyone looked at what it left. */
static void nothing_is_kept_of_a_flow_that_leaves(void **state) {
    struct fixture *r = *state;
    struct options o[2] = {options_of(0), options_of(0)};
    o[1].kind = JOB_BARRIER;
    struct command cmd = big_flow(o, BIG, false);
    struct job_spec *specs = calloc(BIG, sizeof *specs);
    for (uint32_t i = 0; i < BIG; i++) {
        specs[i] = cmd.as.submit.jobs.jobs[i];
        specs[i].profile = i > 0;
        specs[i].cache_key = i ? slice_of(NULL, 0) : cmd.as.submit.jobs.jobs[BIG - 1].cache_key;
    }
    cmd.as.submit.jobs = (struct cmd_jobs){o, 2, specs, BIG, false};
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_command(r, &cmd));
    free(specs);
    struct command forget = {.kind = CMD_FORGET, .as.flow = {1}};
    for (uint64_t flow = 2; flow <= 5; flow++) { /* others that leave before it */
        struct options barrier = o[1];
        struct command other = big_flow(&barrier, BIG - 1, false);
        for (uint32_t i = 0; i < BIG - 1; i++) assert_int_equal(other.as.submit.jobs.jobs[i].profile, 0);
        ((struct job_spec *)(uintptr_t)other.as.submit.jobs.jobs)[BIG - 2].cache_key.len = 0;
        assert_ok(fixture_command(r, &other));
    }
    engine_begin(r->engine, &r->in);
    for (uint64_t flow = 2; flow <= 5; flow++) {
        forget.as.flow.v = flow;
        engine_command(r->engine, &forget);
    }
    command_done(r, 1, "x");
    forget.as.flow.v = 1;
    engine_command(r->engine, &forget);
    engine_finish(r->engine);
    fixture_flush(r);
    assert_int_equal(fixture_counts(r).memos, 0);
    for (int i = 0; i < 4; i++) fixture_tick(r, 0);
    assert_int_equal(fixture_counts(r).jobs, 0);
}

/* ---- keys and words ---- */

static void count_memo(void *ctx, const struct memo_view *v) {
    assert_true(slice_eq(v->tenant, SLICE("acme")));
    ++*(uint32_t *)ctx;
}

static void a_key_that_came_with_the_rendered_spec_goes_with_it(void **state) {
    struct fixture *r = *state;
    struct options o = options_of(GATE_BIT(GATE_RENDER));
    o.retries = 0;
    uint64_t flow = submit_with(r, 0, &o);
    uint8_t key[32] = {5};
    struct cmd_verdict answer = fixture_answer(r, ref_of(flow, 0), VERDICT_AGAIN);
    answer.again_ms = r->in.wall.ms + 1;
    answer.cache_key = slice_of(key, 32);
    assert_refused(r, fixture_send_verdict(r, &answer), ERR_INVALID, "with a rendered spec");
    answer.verdict = VERDICT_ALLOW;
    assert_ok(fixture_send_verdict(r, &answer));
    assert_int_equal(fixture_job(r, flow, 0).cache_key.len, 32);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(flow, 0), 1, 1));
    assert_ok(fixture_retry(r, ref_of(flow, 0)));
    assert_int_equal(fixture_job(r, flow, 0).cache_key.len, 0); /* it never had one of its own */
    uint64_t plain = submit(r, 3);
    assert_ok(fixture_cancel(r, ref_of(plain, 0)));
    if (fixture_state(r, plain, 0) != JOB_CANCELLED)
        assert_ok(fixture_done(r, "w", 1, ref_of(plain, 0), 1, OUTCOME_STOPPED));
    assert_ok(fixture_rerun(r, plain));
    assert_int_equal(fixture_job(r, plain, 0).cache_key.len, 32); /* this one had */
    uint32_t count = 0;
    view_each_memo(engine_state(r->engine), count_memo, &count);
    assert_int_equal(count, 0);
    keep(r, 9, "x");
    view_each_memo(engine_state(r->engine), count_memo, &count);
    assert_int_equal(count, 1);
    struct memo_view memo;
    for (uint32_t at = 0; (at = view_memo_next(engine_state(r->engine), at, &memo)) != 0; count++)
        assert_true(slice_eq(memo.result, SLICE("x")));
    assert_int_equal(count, 2);
    uint64_t last = keep(r, 8, "y");
    assert_ok(fixture_forget(r, last));
    fixture_tick(r, KEEP_MS + 1);
    assert_int_equal(view_memo_next(engine_state(r->engine), 0, &memo), 0); /* only holes are left */
}

static void keys_that_come_too_late_are_refused(void **state) {
    struct fixture *r = *state;
    uint8_t key[32] = {5};
    struct options o = options_of(GATE_BIT(GATE_POLICY));
    uint64_t asked = submit_with(r, 0, &o);
    struct cmd_verdict answer = fixture_answer(r, ref_of(asked, 0), VERDICT_ALLOW);
    answer.cache_key = slice_of(key, 32);
    assert_refused(r, fixture_send_verdict(r, &answer), ERR_INVALID, "with a rendered spec");
    uint64_t flow = keep(r, 1, "x");
    struct cmd_verdict late = {.job = ref_of(flow, 0), .verdict = VERDICT_QUARANTINE, .cache_key = slice_of(key, 32)};
    assert_refused(r, fixture_send_verdict(r, &late), ERR_INVALID, "only be a quarantine");
    static const uint8_t hash[32] = {7};
    struct options sets[2] = {options_of(GATE_BIT(GATE_RENDER)), options_of(0)};
    for (uint32_t undo = 0; undo < 3; undo++) { /* with a compensation, with constraints, with nothing */
        struct job_spec spec = {.name = SLICE("a"), .body_hash = slice_of(hash, 32), .undo_profile = undo == 0 ? 2 : 0};
        struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
        if (undo == 1) spec.cache_key = slice_of(key, 32);
        cmd.as.submit.jobs = (struct cmd_jobs){sets, 2, &spec, 1, false};
        assert_ok(fixture_command(r, &cmd));
        answer = fixture_answer(r, ref_of(r->reply.flow.v, 0), VERDICT_ALLOW);
        answer.cache_key = slice_of(key, 32);
        if (undo == 0)
            assert_refused(r, fixture_send_verdict(r, &answer), ERR_INVALID, "cannot have both");
        else
            assert_ok(fixture_send_verdict(r, &answer));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_second_job_is_given_the_result_without_a_worker),
        FIXTURE_TEST(children_of_a_hit_go_on),
        FIXTURE_TEST(jobs_that_wait_are_given_what_another_leaves),
        FIXTURE_TEST(results_are_of_one_tenant),
        FIXTURE_TEST(a_hit_outlives_the_flow_and_the_process),
        FIXTURE_TEST(a_failure_is_not_kept),
        FIXTURE_TEST(a_job_that_waits_for_a_word_is_given_nothing_before),
        FIXTURE_TEST(a_rendered_spec_has_a_key_of_its_own),
        FIXTURE_TEST(a_result_is_used_until_its_time_is_over),
        FIXTURE_TEST(the_tick_drops_what_is_over),
        FIXTURE_TEST(a_quarantined_result_is_given_to_nobody),
        FIXTURE_TEST(quarantine_of_a_hit_ends_the_entry_too),
        FIXTURE_TEST(a_hit_is_judged_by_the_output_gate_of_its_job),
        FIXTURE_TEST(an_unjudged_result_is_not_kept),
        FIXTURE_TEST(the_oldest_make_room),
        FIXTURE_TEST(bytes_are_limited_too),
        FIXTURE_TEST(no_room_at_all_keeps_nothing),
        FIXTURE_TEST(what_cannot_be_used_again_is_refused),
        FIXTURE_TEST(nothing_is_left_of_keys_that_are_gone),
        FIXTURE_TEST(two_results_come_in_one_pass),
        FIXTURE_TEST(the_later_result_takes_the_place_of_the_earlier),
        FIXTURE_TEST(a_twin_in_the_same_flow),
        FIXTURE_TEST(too_many_in_the_way_keep_their_places),
        FIXTURE_TEST(many_ask_in_turns),
        FIXTURE_TEST(a_flow_that_settles_is_given_nothing),
        FIXTURE_TEST(a_job_that_is_late_is_given_nothing),
        FIXTURE_TEST(nothing_is_kept_of_a_flow_that_leaves),
        FIXTURE_TEST(a_key_that_came_with_the_rendered_spec_goes_with_it),
        FIXTURE_TEST(keys_that_come_too_late_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
