/* expand_test.c: conditions, and foreach jobs with their children: how they begin and end, how many at once, what bad
 * ends are tolerated, and what people may do to them. */
#include "corrupt.h"

#include "state.h"

static const uint8_t items[32] = {3};

enum { PLAIN, EACH, SET_COUNT };

static void init_sets(struct options sets[SET_COUNT]) {
    for (uint32_t i = 0; i < SET_COUNT; i++) {
        sets[i] = fixture_options();
        sets[i].retries = 0;
        sets[i].backoff_jitter_ms = 0;
    }
    sets[EACH].gates = GATE_BIT(GATE_EXPANSION);
}

static enum err expand(struct fixture *r, struct job_ref job, uint32_t count) {
    struct cmd_verdict c = fixture_answer(r, job, VERDICT_ALLOW);
    c.item_count = count;
    if (count) c.items = slice_of(items, 32);
    return fixture_send_verdict(r, &c);
}

/* "a" → "map" over `count` items → "sum"; a worker with `slots`. */
static void submit(struct fixture *r, const struct options sets[SET_COUNT], uint32_t count, uint32_t slots) {
    const char *jobs[] = {"map@1", "sum: map"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, 2, false));
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
    assert_ok(expand(r, ref_of(1, 0), count));
    if (slots) assert_ok(fixture_attach(r, "w", 1, slots));
}

static void submit_plain(struct fixture *r, uint32_t count, uint32_t slots) {
    struct options sets[SET_COUNT];
    init_sets(sets);
    submit(r, sets, count, slots);
}

static uint32_t child(uint32_t item) {
    return FIRST_CHILD_ORDINAL + item;
}

static struct job_view job(const struct fixture *r, uint32_t ordinal) {
    struct job_view view;
    assert_true(view_job(engine_state(r->engine), ref_of(1, ordinal), &view));
    return view;
}

static enum job_state state_of(const struct fixture *r, uint32_t item) {
    return job(r, child(item)).state;
}

static enum err ends(struct fixture *r, uint32_t item, enum outcome outcome) {
    return fixture_done(r, "w", 1, ref_of(1, child(item)), job(r, child(item)).attempt, outcome);
}

static struct expansion_view whole(const struct fixture *r) {
    struct expansion_view x;
    assert_true(view_expansion(engine_state(r->engine), ref_of(1, 0), &x));
    return x;
}

static uint32_t count_states(const struct fixture *r, uint32_t count, enum job_state state) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) n += state_of(r, i) == state;
    return n;
}

/* ---- conditions ---- */

static void a_condition_decides(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_CONDITION);
    const char *jobs[] = {"a", "b: a"};
    for (uint64_t flow = 1; flow <= 3; flow++) assert_ok(fixture_submit(r, &o, jobs, 2));
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_ALLOW, NULL));
    assert_ok(fixture_verdict(r, ref_of(2, 0), VERDICT_DENY, NULL));
    struct cmd_verdict error = fixture_answer(r, ref_of(3, 0), VERDICT_FAIL);
    error.reason = SLICE("there is no output called size");
    assert_ok(fixture_send_verdict(r, &error));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    assert_int_equal(fixture_state(r, 2, 0), JOB_SKIPPED);
    assert_int_equal(fixture_state(r, 2, 1), JOB_SKIPPED);
    assert_int_equal(fixture_state(r, 3, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 3, 0).cause, CAUSE_VERDICT);
    assert_true(fixture_job(r, 3, 0).dead_letter);
    assert_int_equal(fixture_state(r, 3, 1), JOB_FAILED);
    assert_ok(fixture_retry(r, ref_of(3, 0)));
    assert_int_equal(fixture_state(r, 3, 0), JOB_HELD);
}

/* ---- the way through ---- */

static void children_run_and_the_fan_in_follows(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 3, 8);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_CHILDREN);
    assert_int_equal(count_states(r, 3, JOB_DISPATCHED), 3);
    struct job_view second = job(r, child(1));
    assert_int_equal(second.item, 1);
    assert_int_equal(second.whole, 0);
    assert_true(slice_eq(second.items, slice_of(items, 32)));
    assert_true(slice_eq(second.body, SLICE("body")));
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
        fixture_check_digests(r);
        assert_ok(ends(r, i, OUTCOME_OK));
    }
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_int_equal(fixture_state(r, 1, 1), JOB_DISPATCHED);
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_ok(fixture_forget(r, 1));
    assert_int_equal(fixture_counts(r).jobs, 0);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
}

static void no_items_succeed_at_once(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 0, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_int_equal(fixture_state(r, 1, 1), JOB_DISPATCHED);
}

static void no_more_than_max_parallel(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].max_parallel = 2;
    submit(r, sets, 5, 8);
    assert_int_equal(count_states(r, 5, JOB_DISPATCHED), 2);
    assert_int_equal(state_of(r, 2), JOB_WAITING);
    assert_int_equal(fixture_why(r, 1, child(2)).block, BLOCK_PARALLEL);
    assert_int_equal(fixture_why(r, 1, child(2)).parent.ordinal, 0);
    assert_int_equal(fixture_counts(r).jobs, 4);
    assert_ok(ends(r, 1, OUTCOME_OK));
    assert_int_equal(state_of(r, 2), JOB_DISPATCHED);
    assert_int_equal(state_of(r, 3), JOB_WAITING);
    assert_int_equal(fixture_counts(r).jobs, 4);
}

static void children_have_names(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 12, 1);
    struct job_view view;
    const struct state *s = engine_state(r->engine);
    assert_true(view_job_by_name(s, (flow_id){1}, SLICE("map[11]"), &view));
    assert_int_equal(view.ref.ordinal, child(11));
    assert_int_equal(view.item, 11);
    const char *wrong[] = {"map[12]", "map[]", "map[1", "[1]", "sum[0]", "map[99999999999999999999]", "]", "map[x]"};
    for (uint32_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(view_job_by_name(s, (flow_id){1}, slice_str(wrong[i]), &view));
    struct options o = fixture_options();
    const char *taken[] = {"x[7]"};
    assert_refused(r, fixture_submit(r, &o, taken, 1), ERR_INVALID, "that of a child");
}

static void children_retry_by_themselves(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].retries = 1;
    sets[EACH].max_parallel = 1;
    submit(r, sets, 2, 8);
    assert_ok(ends(r, 0, OUTCOME_EXIT));
    assert_int_equal(state_of(r, 0), JOB_WAITING);
    assert_int_equal(state_of(r, 1), JOB_WAITING); /* the first is under way between its attempts, too */
    assert_int_equal(fixture_why(r, 1, child(0)).block, BLOCK_TIME);
    fixture_tick(r, 60000);
    assert_ok(fixture_attach(r, "w", 2, 8));
    assert_int_equal(state_of(r, 0), JOB_DISPATCHED);
    assert_int_equal(job(r, child(0)).attempt, 2);
    assert_ok(fixture_done(r, "w", 2, ref_of(1, child(0)), 2, OUTCOME_OK));
    assert_int_equal(state_of(r, 1), JOB_DISPATCHED);
}

/* A child that went smoothly gives its struct back; what was said of it is still known. */
static void a_done_child_leaves_and_is_remembered(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 2, 1);
    uint64_t jobs = fixture_counts(r).jobs;
    assert_ok(ends(r, 0, OUTCOME_OK));
    assert_int_equal(fixture_counts(r).jobs, jobs - 1);
    assert_int_equal(state_of(r, 0), JOB_SUCCEEDED);
    assert_int_equal(job(r, child(0)).attempt, 1);
    assert_int_equal(fixture_why(r, 1, child(0)).block, BLOCK_NOTHING);
    assert_ok(ends(r, 0, OUTCOME_OK)); /* the same word twice */
    assert_true(r->reply.repeated);
    assert_int_equal(fixture_done(r, "w", 1, ref_of(1, child(0)), 2, OUTCOME_OK), ERR_STALE);
    assert_refused(r, fixture_cancel(r, ref_of(1, child(0))), ERR_STATE, "left nothing");
    assert_refused(r, fixture_cancel(r, ref_of(1, child(2))), ERR_NOT_FOUND, "no job number");
}

static void a_result_is_kept(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 2, 1);
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = ref_of(1, child(0)), .attempt = 1, .result = SLICE("{\"n\":1}")};
    assert_ok(fixture_command(r, &cmd));
    assert_true(slice_eq(job(r, child(0)).result, SLICE("{\"n\":1}")));
    fixture_crash(r);
    assert_true(slice_eq(job(r, child(0)).result, SLICE("{\"n\":1}")));
}

static void an_evaluation_that_fails(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    const char *jobs[] = {"map@1", "sum: map"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, 2, false));
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_FAIL, NULL));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_state(r, 1, 1), JOB_FAILED);
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
    assert_ok(expand(r, ref_of(1, 0), 1));
    assert_int_equal(state_of(r, 0), JOB_READY);
}

static void what_is_asked_first(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].gates |= GATE_BIT(GATE_CONDITION) | GATE_BIT(GATE_APPROVAL) | GATE_BIT(GATE_OUTPUT);
    const char *jobs[] = {"map@1", "sum: map"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, 2, false));
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_ALLOW, NULL));
    assert_refused(r, fixture_verdict(r, ref_of(1, 0), VERDICT_HOLD, NULL), ERR_INVALID, "does not answer");
    assert_ok(expand(r, ref_of(1, 0), 2));
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD); /* once for all children */
    assert_int_equal(state_of(r, 0), JOB_WAITING);
    fixture_check_digests(r);
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_ALLOW, NULL));
    assert_int_equal(count_states(r, 2, JOB_DISPATCHED), 2);
    assert_ok(ends(r, 0, OUTCOME_OK));
    assert_ok(ends(r, 1, OUTCOME_OK));
    assert_int_equal(count_states(r, 2, JOB_CHECKING), 2);
    assert_ok(fixture_verdict(r, ref_of(1, child(1)), VERDICT_ALLOW, NULL));
    assert_ok(fixture_verdict(r, ref_of(1, child(0)), VERDICT_QUARANTINE, NULL));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
}

/* ---- bad ends ---- */

static void a_bad_child_fails_the_rest_ends_first(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 3, 1);
    assert_ok(ends(r, 0, OUTCOME_EXIT));
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_ok(ends(r, 1, OUTCOME_OK));
    assert_ok(ends(r, 2, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_CHILDREN);
    assert_false(fixture_job(r, 1, 0).dead_letter);
    assert_true(job(r, child(0)).dead_letter);
    assert_int_equal(fixture_state(r, 1, 1), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 1).root, 0);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_int_equal(fixture_counts(r).dead_letters, 1);
}

static void fail_fast_calls_the_rest_off(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].fail_fast = true;
    sets[EACH].max_parallel = 3;
    submit(r, sets, 6, 2);
    assert_ok(ends(r, 0, OUTCOME_EXIT));
    assert_int_equal(job(r, child(1)).stop, STOP_CANCEL);
    assert_int_equal(state_of(r, 2), JOB_CANCELLED);
    assert_int_equal(job(r, child(2)).cause, CAUSE_UPSTREAM);
    assert_int_equal(state_of(r, 5), JOB_CANCELLED); /* never began */
    assert_int_equal(job(r, child(5)).cause, CAUSE_UPSTREAM);
    assert_int_equal(job(r, child(5)).root, 0);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_CHILDREN);
    fixture_check_digests(r);
    assert_ok(ends(r, 1, OUTCOME_STOPPED));
    assert_int_equal(job(r, child(1)).cause, CAUSE_UPSTREAM);
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
    /* one retry brings back all that was called off because of it */
    assert_ok(fixture_retry(r, ref_of(1, child(0))));
    assert_int_equal(count_states(r, 6, JOB_WAITING) + count_states(r, 6, JOB_READY), 4);
    for (uint32_t i = 0; i < 6; i++) {
        fixture_check_digests(r);
        assert_ok(ends(r, i, OUTCOME_OK));
    }
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

static void a_number_is_tolerated(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].allow_count = 2;
    sets[EACH].fail_fast = true;
    submit(r, sets, 4, 1);
    assert_ok(ends(r, 0, OUTCOME_EXIT));
    assert_ok(ends(r, 1, OUTCOME_EXIT));
    assert_ok(ends(r, 2, OUTCOME_OK));
    assert_ok(ends(r, 3, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_int_equal(fixture_counts(r).dead_letters, 2);
    assert_refused(r, fixture_retry(r, ref_of(1, child(0))), ERR_STATE, "without it");
    assert_ok(fixture_discard(r, ref_of(1, child(0))));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

static void a_share_is_rounded_down(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].allow_percent = 30; /* of 9: 2 */
    submit(r, sets, 9, 9);
    assert_int_equal(whole(r).allowed, 2);
    for (uint32_t i = 0; i < 9; i++) assert_ok(ends(r, i, i < 3 ? OUTCOME_EXIT : OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_ok(fixture_retry(r, ref_of(1, child(1))));
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(fixture_state(r, 1, 1), JOB_WAITING);
    assert_ok(ends(r, 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_int_equal(fixture_state(r, 1, 1), JOB_DISPATCHED);
}

/* ---- people ---- */

static void a_retried_child_waits_for_room(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].max_parallel = 1;
    submit(r, sets, 3, 4);
    assert_ok(ends(r, 0, OUTCOME_EXIT));
    assert_int_equal(state_of(r, 1), JOB_DISPATCHED);
    assert_ok(fixture_retry(r, ref_of(1, child(0))));
    assert_int_equal(state_of(r, 0), JOB_WAITING);
    assert_int_equal(fixture_why(r, 1, child(0)).block, BLOCK_PARALLEL);
    fixture_crash(r);
    assert_ok(fixture_attach_holding(r, "w", 1, &(struct held_attempt){ref_of(1, child(1)), 1, HELD_ASSIGNED}, 1));
    assert_ok(ends(r, 1, OUTCOME_OK));
    assert_int_equal(state_of(r, 0), JOB_DISPATCHED); /* before the third, which never began */
    assert_int_equal(job(r, child(0)).attempt, 2);
    assert_int_equal(state_of(r, 2), JOB_WAITING);
}

static void cancelling_the_foreach_job(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].max_parallel = 3;
    submit(r, sets, 5, 2);
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(state_of(r, 2), JOB_CANCELLED);
    assert_int_equal(state_of(r, 4), JOB_CANCELLED);
    assert_int_equal(job(r, child(4)).cause, CAUSE_REQUEST);
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(ends(r, 0, OUTCOME_OK)); /* too late to count for the whole */
    assert_ok(ends(r, 1, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
    assert_int_equal(fixture_state(r, 1, 1), JOB_CANCELLED);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_CANCELLED);
    /* a rerun does the four that were not done */
    assert_ok(fixture_rerun(r, 1));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

static void cancelling_the_flow(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 4, 2);
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING);
    assert_ok(ends(r, 0, OUTCOME_STOPPED));
    assert_ok(ends(r, 1, OUTCOME_STOPPED));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_CANCELLED);
    assert_ok(fixture_forget(r, 1));
    assert_int_equal(fixture_counts(r).jobs, 0);
}

static void cancelling_one_child(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 2, 1);
    assert_refused(r, fixture_cancel(r, ref_of(1, child(2))), ERR_NOT_FOUND, "no job");
    assert_ok(fixture_cancel(r, ref_of(1, child(1)))); /* ready, without a slot */
    assert_int_equal(state_of(r, 1), JOB_CANCELLED);
    assert_ok(ends(r, 0, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
}

static void a_rerun_keeps_the_good_children(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].max_parallel = 2;
    submit(r, sets, 6, 6);
    for (uint32_t i = 0; i < 6; i++) assert_ok(ends(r, i, i % 2 ? OUTCOME_OK : OUTCOME_EXIT));
    fixture_tick(r, 0);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    uint64_t assigned = r->jobs_assigned;
    assert_ok(fixture_rerun(r, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(count_states(r, 6, JOB_DISPATCHED), 2);
    assert_int_equal(state_of(r, 4), JOB_WAITING);
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_int_equal(r->jobs_assigned - assigned, 4); /* three children and the sum */
}

static void a_pause_holds_children(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 3, 0);
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_int_equal(count_states(r, 3, JOB_READY), 3);
    assert_int_equal(fixture_why(r, 1, child(0)).block, BLOCK_PAUSED);
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, false));
    assert_int_equal(count_states(r, 3, JOB_DISPATCHED), 1);
}

static void a_deadline_is_for_all(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].deadline_ms = r->in.wall.ms + 1000;
    sets[EACH].max_parallel = 2;
    submit(r, sets, 4, 1);
    fixture_tick(r, 1000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(state_of(r, 1), JOB_CANCELLED);
    assert_int_equal(state_of(r, 3), JOB_CANCELLED);
    assert_ok(ends(r, 0, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 0), JOB_TIMED_OUT);
    assert_int_equal(fixture_counts(r).dead_letters, 1);
    assert_refused(r, fixture_retry(r, ref_of(1, child(0))), ERR_STATE, "not a dead letter");
}

static void a_compensation_is_one_for_all(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    uint32_t fatal = 9;
    init_sets(sets);
    sets[EACH].fatal_exits = (struct tlv_u32s){&fatal, 1};
    const char *jobs[] = {"map@1~0", "sum: map"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, 2, false));
    assert_ok(expand(r, ref_of(1, 0), 4));
    assert_ok(fixture_attach(r, "w", 1, 3));
    assert_ok(ends(r, 1, OUTCOME_OK));
    assert_int_equal(fixture_flow(r, 1).undo_count, 1);
    assert_ok(ends(r, 2, OUTCOME_OK));
    assert_int_equal(fixture_flow(r, 1).undo_count, 1);
    fixture_check_digests(r);
    assert_ok(fixture_exit(r, "w", ref_of(1, child(0)), 1, 9));
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_STOPPING);
    assert_ok(ends(r, 3, OUTCOME_STOPPED));
    assert_int_equal(job(r, child(3)).cause, CAUSE_SAGA);
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_COMPENSATING);
    fixture_check_digests(r);
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_DONE);
    assert_int_equal(fixture_flow(r, 1).job_count, 3);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
}

/* ---- limits ---- */

static void what_is_refused(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    const char *jobs[] = {"map@1"};
    init_sets(sets);
    sets[PLAIN].max_parallel = 1;
    assert_refused(r, fixture_submit_sets(r, sets, 2, jobs, 1, false), ERR_INVALID, "are of foreach");
    init_sets(sets);
    sets[EACH].kind = JOB_BARRIER;
    assert_refused(r, fixture_submit_sets(r, sets, 2, jobs, 1, false), ERR_INVALID, "run on a worker");
    init_sets(sets);
    sets[EACH].max_parallel = (uint32_t)r->limits.foreach_parallel_max + 1;
    assert_refused(r, fixture_submit_sets(r, sets, 2, jobs, 1, false), ERR_LIMIT, "foreach_parallel_max");
    init_sets(sets);
    sets[EACH].allow_percent = 101;
    assert_refused(r, fixture_submit_sets(r, sets, 2, jobs, 1, false), ERR_INVALID, "100 %");
    sets[EACH].allow_percent = 5;
    sets[EACH].allow_count = 5;
    assert_refused(r, fixture_submit_sets(r, sets, 2, jobs, 1, false), ERR_INVALID, "not both");
    init_sets(sets);
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 1, false));
    assert_refused(r, expand(r, ref_of(1, 0), 1000001), ERR_LIMIT, "foreach_items_max");
    struct cmd_verdict c = fixture_answer(r, ref_of(1, 0), VERDICT_ALLOW);
    c.item_count = 1;
    assert_refused(r, fixture_send_verdict(r, &c), ERR_INVALID, "hash of their blob");
    r->in.journal_free_bytes = 1000 * 256;
    assert_refused(r, expand(r, ref_of(1, 0), 1000), ERR_NO_SPACE, "no room");
    assert_ok(expand(r, ref_of(1, 0), 999));
    assert_int_equal(fixture_counts(r).reserved_bytes, 1000 * 256);
}

static void children_count_as_queued(void **state) {
    struct fixture *r = *state;
    struct command cmd = {.kind = CMD_LIMIT};
    cmd.as.limit = (struct cmd_limit){.tenant = SLICE("acme"), .kind = LIMIT_TENANT, .queued = 12};
    assert_ok(fixture_command(r, &cmd));
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].max_parallel = 2;
    const char *jobs[] = {"map@1", "sum: map"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, 2, false));
    assert_refused(r, expand(r, ref_of(1, 0), 13), ERR_LIMIT, "at once");
    assert_refused(r, expand(r, ref_of(1, 0), 11), ERR_BUSY, "its limit is 12");
    assert_ok(expand(r, ref_of(1, 0), 10));
    struct limit_view limit;
    assert_true(view_limit(engine_state(r->engine), SLICE("acme"), LIMIT_TENANT, SLICE(""), &limit));
    assert_int_equal(limit.queued, 12);
    assert_ok(fixture_attach(r, "w", 1, 4));
    fixture_run_all(r, "w", 1);
    assert_true(view_limit(engine_state(r->engine), SLICE("acme"), LIMIT_TENANT, SLICE(""), &limit));
    assert_int_equal(limit.queued, 0);
}

/* ---- what a file may say ---- */

static void expansions_that_do_not_fit(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[PLAIN].gates = GATE_BIT(GATE_CONDITION);
    const char *jobs[] = {"map@1", "if"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, 2, false));
    const struct slice hash = slice_of(items, 32);
    MISFIT(r, REC_EXPANDED, "not open", .flow = 1, .question = 9, .count = 1, .items = hash);
    MISFIT(r, REC_EXPANDED, "no foreach", .flow = 1, .question = 2, .ordinal = 1, .count = 1, .items = hash);
    MISFIT(r, REC_EXPANDED, "another job", .flow = 1, .question = 1, .ordinal = 1, .count = 1, .items = hash);
    MISFIT(r, REC_EXPANDED, "too many", .flow = 1, .question = 1, .count = EXPAND_ITEMS_MAX + 1, .items = hash);
    MISFIT(r, REC_EXPANDED, "nowhere", .flow = 1, .question = 1, .count = 1);
    MISFIT(r, REC_VERDICT, "without items", .flow = 1, .question = 1, .gate = GATE_EXPANSION);
    assert_ok(expand(r, ref_of(1, 0), 2));
    MISFIT(r, REC_DUE, "waits for something", .flow = 1, .ordinal = 0, .due = DUE_START);
    MISFIT(r, REC_EXPANDED, "not open", .flow = 1, .question = 1, .count = 1, .items = hash);
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(ends(r, 0, OUTCOME_EXIT));
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    MISFIT(r, REC_DUE, "waits for something", .flow = 1, .ordinal = 0, .due = DUE_DEADLINE);
    assert_ok(ends(r, 1, OUTCOME_STOPPED));
    MISFIT(r, REC_RETRIED, "that is over", .flow = 1, .ordinal = child(0));
    MISFIT(r, REC_RETRIED, "not there", .flow = 1, .ordinal = child(2));
}

static void foreach_jobs_that_do_not_fit(void **state) {
    struct fixture *r = *state;
    struct options sets[3];
    init_sets(sets);
    sets[EACH].max_parallel = 1;
    sets[2] = sets[EACH];
    sets[2].gates = 0;
    struct rec_job job = {.name = SLICE("map"), .profile = EACH, .child_profile = 3};
    struct tlv_list jobs = {&job, 1}, profiles = {sets, 3};
    const struct slice tenant = SLICE("acme");
    struct record fits = {
        .kind = REC_SUBMITTED,
        .version = RECORD_VERSION,
        .body.as_REC_SUBMITTED = {.head.tenant = tenant, .flow = 1, .jobs = jobs, .profiles = profiles}};
    struct why why = {""};
    assert_ok(corrupt_replay(r, &fits, &why));
#define MISFIT_JOBS(word) \
    MISFIT(r, REC_SUBMITTED, word, .head.tenant = tenant, .flow = 1, .jobs = jobs, .profiles = profiles)
    job.child_profile = 4;
    MISFIT_JOBS("without options");
    job.child_profile = 2;
    MISFIT_JOBS("before a child");
    job = (struct rec_job){.name = SLICE("map"), .profile = PLAIN, .child_profile = 3};
    MISFIT_JOBS("no foreach job");
    job.profile = EACH;
    sets[EACH].max_parallel = 0;
    MISFIT_JOBS("cannot be");
}

#define CHILD(o, i) (((struct snap_child *)(o)->children.at)[i])

/* Of four children the first waits to begin again, the second runs, the others have not begun. */
static void snapshots_that_do_not_fit(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].max_parallel = 1;
    submit(r, sets, 4, 4);
    assert_ok(ends(r, 0, OUTCOME_EXIT));
    assert_ok(fixture_retry(r, ref_of(1, child(0))));
    SOUND(r, OBJ_END, snap_end, (void)o);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "no foreach", o->job = 1);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "no job", o->job = 7);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "more children", o->next = o->count + 1);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "more children", o->count = EXPAND_ITEMS_MAX + 1);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "out of order", o->first++);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "no ordinal", o->first = 5);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "pass over", o->pass = 99);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "pass over", o->pass = SWEEP_FORGET);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "no reason", o->cause = CAUSE_EXIT);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "under way", o->is_open = false);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "nobody looks", o->again = o->next);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "more children than there are", o->made++);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "more children than the foreach has", o->made--);
    FORGED(r, OBJ_JOBS, snap_jobs, "none yet", ((struct snap_job *)o->jobs.at)[0].gates = 0);
    FORGED(r, OBJ_JOBS, snap_jobs, "no foreach", ((struct snap_job *)o->jobs.at)[0].child_profile = 0);
    FORGED(r, OBJ_JOBS, snap_jobs, "children without options", ((struct snap_job *)o->jobs.at)[0].child_profile = 9);
    FORGED(r, OBJ_JOBS, snap_jobs, "and does not", ((struct snap_job *)o->jobs.at)[0].parents_open = 0);
    FORGED(r, OBJ_CHILDREN, snap_children, "twice", CHILD(o, 1).item = CHILD(o, 0).item);
    FORGED(r, OBJ_CHILDREN, snap_children, "another foreach", o->job = 1);
    FORGED(r, OBJ_CHILDREN, snap_children, "not begun", CHILD(o, 1).item = 3);
    FORGED(r, OBJ_CHILDREN, snap_children, "cannot be", CHILD(o, 1).job.state = JOB_HELD);
    FORGED(r, OBJ_CHILDREN, snap_children, "attempts that cannot be", CHILD(o, 0).job.worker = 77);
    FORGED(r, OBJ_CHILDREN, snap_children, "with parents", CHILD(o, 0).job.parents_open = 2);
    FORGED(r, OBJ_CHILDREN, snap_children, "part in the graph", CHILD(o, 0).job.flags = JOBF_UNTOLD);
    FORGED(r, OBJ_CHILDREN, snap_children, "that lives", CHILD(o, 1).job.flags = JOBF_DEAD);
    FORGED(r, OBJ_CHILDREN, snap_children, "without its attempt", CHILD(o, 0).job.state = JOB_RUNNING,
           CHILD(o, 0).job.parents_open = 0);
}

/* Nobody would call off what comes back to a foreach job that is over for no reason. */
static void a_snapshot_of_one_that_is_over(void **state) {
    struct fixture *r = *state;
    submit_plain(r, 2, 1);
    assert_ok(ends(r, 0, OUTCOME_EXIT));
    assert_ok(ends(r, 1, OUTCOME_EXIT));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    SOUND(r, OBJ_EXPANSION, snap_expansion, o->pass = SWEEP_RERUN, o->cause = CAUSE_UPSTREAM);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "after all is over", o->pass = SWEEP_RERUN);
    FORGED(r, OBJ_EXPANSION, snap_expansion, "after all is over", o->pass = SWEEP_RESUME, o->cause = CAUSE_UPSTREAM);
}

/* ---- many ---- */

/* In the middle of a long consequence: a copy made now, fed with what follows, must end where the engine does. */
static void through_the_middle(struct fixture *r) {
    assert_true(fixture_flow(r, 1).settling);
    assert_int_equal(fixture_why(r, 1, child(39999)).block, BLOCK_SETTLING);
    fixture_check_digests(r);
    assert_int_equal(fixture_cancel(r, ref_of(1, 0)), ERR_BUSY);
    fixture_tick(r, 0);
    assert_false(fixture_flow(r, 1).settling);
    fixture_check_digests(r);
}

/* More children at once than one pass may begin, more to call off, and more to bring back. */
static void long_consequences_take_steps(void **state) {
    struct fixture *r = *state;
    enum { MANY = 40000 };
    struct options sets[SET_COUNT];
    init_sets(sets);
    r->limits.foreach_parallel_max = MANY;
    fixture_crash(r); /* limits are taken over at birth */
    const char *jobs[] = {"map@1", "sum: map"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, 2, false));
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(expand(r, ref_of(1, 0), MANY));
    assert_int_equal(engine_lsn(r->engine) - lsn, 1); /* what continues it comes in passes of its own */
    through_the_middle(r);
    assert_int_equal(engine_lsn(r->engine) - lsn, 10);
    assert_int_equal(whole(r).under_way, MANY);
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(state_of(r, 0), JOB_CANCELLED);
    assert_int_equal(state_of(r, MANY - 1), JOB_READY);
    fixture_check_digests(r);
    fixture_tick(r, 0);
    fixture_check_digests(r);
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
    assert_ok(fixture_rerun(r, 1));
    assert_int_equal(state_of(r, MANY - 1), JOB_CANCELLED);
    fixture_check_digests(r);
    fixture_tick(r, 0);
    fixture_check_digests(r);
    assert_int_equal(whole(r).under_way, MANY);
    assert_ok(fixture_attach(r, "w", 1, 100));
    assert_int_equal(count_states(r, MANY, JOB_DISPATCHED), 100);
}

/* A waiting child is a number: memory does not grow with them. */
static void waiting_children_cost_nothing(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[EACH].max_parallel = 4;
    const char *jobs[] = {"map@1"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, 1, false));
    uint64_t before = fixture_counts(r).bytes;
    assert_ok(expand(r, ref_of(1, 0), 1000000));
    assert_true(fixture_counts(r).bytes - before < 1000000);
    assert_int_equal(fixture_why(r, 1, child(999999)).block, BLOCK_PARALLEL);
}

/* One expansion behind the other: ordinals go on, names lead to the right one. */
static void several_foreach_jobs_in_a_flow(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    const char *jobs[] = {"a@1", "b@1", "none@1", "c@1", "end: a b none c"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, jobs, 5, false));
    assert_ok(expand(r, ref_of(1, 3), 2));
    assert_ok(expand(r, ref_of(1, 2), 0));
    assert_ok(expand(r, ref_of(1, 0), 3));
    assert_ok(expand(r, ref_of(1, 1), 1));
    struct job_view view;
    assert_true(view_job_by_name(engine_state(r->engine), (flow_id){1}, SLICE("a[2]"), &view));
    assert_int_equal(view.ref.ordinal, child(4));
    assert_true(view_job_by_name(engine_state(r->engine), (flow_id){1}, SLICE("b[0]"), &view));
    assert_int_equal(view.ref.ordinal, child(5));
    fixture_check_digests(r);
    assert_ok(fixture_attach(r, "w", 1, 3));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

/* A phase is one barrier between the jobs before and those behind it, not an edge for each pair. */
static void a_phase_is_a_barrier(void **state) {
    struct fixture *r = *state;
    struct options sets[SET_COUNT];
    init_sets(sets);
    sets[1] = fixture_options();
    sets[1].kind = JOB_BARRIER;
    const char *flow[] = {"a", "b", "p@1: a b", "c: p", "d: p"};
    assert_ok(fixture_submit_sets(r, sets, SET_COUNT, flow, 5, false));
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 3), JOB_WAITING);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 2), JOB_SUCCEEDED);
    assert_int_equal(fixture_state(r, 1, 3), JOB_DISPATCHED);
    assert_int_equal(fixture_state(r, 1, 4), JOB_DISPATCHED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_condition_decides),
        FIXTURE_TEST(children_run_and_the_fan_in_follows),
        FIXTURE_TEST(no_items_succeed_at_once),
        FIXTURE_TEST(no_more_than_max_parallel),
        FIXTURE_TEST(children_have_names),
        FIXTURE_TEST(children_retry_by_themselves),
        FIXTURE_TEST(a_done_child_leaves_and_is_remembered),
        FIXTURE_TEST(a_result_is_kept),
        FIXTURE_TEST(an_evaluation_that_fails),
        FIXTURE_TEST(what_is_asked_first),
        FIXTURE_TEST(a_bad_child_fails_the_rest_ends_first),
        FIXTURE_TEST(fail_fast_calls_the_rest_off),
        FIXTURE_TEST(a_number_is_tolerated),
        FIXTURE_TEST(a_share_is_rounded_down),
        FIXTURE_TEST(a_retried_child_waits_for_room),
        FIXTURE_TEST(cancelling_the_foreach_job),
        FIXTURE_TEST(cancelling_the_flow),
        FIXTURE_TEST(cancelling_one_child),
        FIXTURE_TEST(a_rerun_keeps_the_good_children),
        FIXTURE_TEST(a_pause_holds_children),
        FIXTURE_TEST(a_deadline_is_for_all),
        FIXTURE_TEST(a_compensation_is_one_for_all),
        FIXTURE_TEST(what_is_refused),
        FIXTURE_TEST(children_count_as_queued),
        FIXTURE_TEST(expansions_that_do_not_fit),
        FIXTURE_TEST(foreach_jobs_that_do_not_fit),
        FIXTURE_TEST(snapshots_that_do_not_fit),
        FIXTURE_TEST(a_snapshot_of_one_that_is_over),
        FIXTURE_TEST(long_consequences_take_steps),
        FIXTURE_TEST(waiting_children_cost_nothing),
        FIXTURE_TEST(several_foreach_jobs_in_a_flow),
        FIXTURE_TEST(a_phase_is_a_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
