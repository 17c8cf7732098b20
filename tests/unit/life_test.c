/* life_test.c: cascades rule by rule, cancel, pause, dead letters, rerun: what people do to flows, pools and
 * tenants. */
#include "engine_fixture.h"

#define FLOW_OF(f) ref_of(f, UINT32_MAX)

static void submit_chain(struct fixture *r, uint32_t retries) {
    struct options o = fixture_options();
    o.retries = retries;
    const char *jobs[] = {"a", "b: a", "c: b"};
    assert_ok(fixture_submit(r, &o, jobs, 3));
}

/* ---- when a retry comes ---- */

static int64_t wait_after(struct fixture *r, uint64_t flow, uint32_t attempt, uint32_t retry_after_ms) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = ref_of(flow, 0),
                                          .attempt = attempt,
                                          .outcome = OUTCOME_EXIT,
                                          .exit_code = 75,
                                          .retry_after_ms = retry_after_ms};
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(fixture_state(r, flow, 0), JOB_WAITING);
    int64_t wait_ms = fixture_why(r, flow, 0).until.ms - r->in.wall.ms;
    fixture_tick(r, wait_ms - 1);
    assert_int_equal(fixture_state(r, flow, 0), JOB_WAITING);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, flow, 0), JOB_DISPATCHED);
    return wait_ms;
}

static void a_retry_waits_for_its_backoff_and_as_long_as_it_was_told(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 10;
    o.backoff_base_ms = o.backoff_cap_ms = 100;
    o.backoff_jitter_ms = 0;
    r->limits.retry_after_ms_max = 3000;
    fixture_crash(r); /* limits count from a start on */
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_submit(r, &o, (const char *const[]){"a"}, 1));
    assert_int_equal(wait_after(r, 1, 1, 0), 100);
    assert_int_equal(wait_after(r, 1, 2, 99), 100);
    assert_int_equal(wait_after(r, 1, 3, 2000), 2000);
    assert_int_equal(wait_after(r, 1, 4, UINT32_MAX), 3000);
    r->limits.retry_after_ms_max = 0;
    fixture_crash(r);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_int_equal(wait_after(r, 1, 5, 2000), 100);
}

/* ---- on_upstream against every end of a parent ---- */

/* Brings job 0 of a fresh two-job flow to the wanted end. */
static void end_parent(struct fixture *r, uint64_t flow, enum job_state end) {
    struct job_ref parent = ref_of(flow, 0);
    switch (end) {
    case JOB_SUCCEEDED: assert_ok(fixture_done(r, "w", 1, parent, 1, OUTCOME_OK)); break;
    case JOB_FAILED: assert_ok(fixture_exit(r, "w", parent, 1, 1)); break;
    case JOB_TIMED_OUT:
        fixture_tick(r, 100);
        assert_ok(fixture_done(r, "w", 1, parent, 1, OUTCOME_STOPPED));
        break;
    case JOB_CANCELLED:
        assert_ok(fixture_cancel(r, parent));
        assert_ok(fixture_done(r, "w", 1, parent, 1, OUTCOME_STOPPED));
        break;
    case JOB_DENIED: assert_ok(fixture_verdict(r, parent, VERDICT_DENY, NULL)); break;
    case JOB_SKIPPED: assert_ok(fixture_verdict(r, parent, VERDICT_DENY, NULL)); break;
    case JOB_QUARANTINED:
        assert_ok(fixture_done(r, "w", 1, parent, 1, OUTCOME_OK));
        assert_ok(fixture_verdict(r, parent, VERDICT_QUARANTINE, NULL));
        break;
    case JOB_WAITING:
    case JOB_HELD:
    case JOB_READY:
    case JOB_DISPATCHED:
    case JOB_RUNNING:
    case JOB_CHECKING:
    case JOB_STATE_COUNT: fail();
    }
    assert_int_equal(fixture_state(r, flow, 0), end);
}

static void every_end_against_every_rule(void **state) {
    struct fixture *r = *state;
    const enum job_state go = JOB_DISPATCHED;
    const enum job_state table[][4] = {
        /* parent           fail            skip            run */
        {JOB_SUCCEEDED, go, go, go},
        {JOB_FAILED, JOB_FAILED, JOB_SKIPPED, go},
        {JOB_TIMED_OUT, JOB_FAILED, JOB_SKIPPED, go},
        {JOB_CANCELLED, JOB_CANCELLED, JOB_CANCELLED, go},
        {JOB_DENIED, JOB_FAILED, JOB_SKIPPED, go},
        {JOB_QUARANTINED, JOB_FAILED, JOB_SKIPPED, go},
        {JOB_SKIPPED, JOB_SKIPPED, JOB_SKIPPED, go},
    };
    assert_ok(fixture_attach(r, "w", 1, 100));
    uint64_t flow = 0;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        for (uint32_t rule = 0; rule < UPSTREAM_COUNT; rule++) {
            struct options sets[2] = {fixture_options(), fixture_options()};
            enum job_state end = table[i][0];
            sets[0].retries = 0;
            if (end == JOB_TIMED_OUT) sets[0].deadline_ms = r->in.wall.ms + 100;
            if (end == JOB_DENIED) sets[0].gates = GATE_BIT(GATE_POLICY);
            if (end == JOB_SKIPPED) sets[0].gates = GATE_BIT(GATE_CONDITION);
            if (end == JOB_QUARANTINED) sets[0].gates = GATE_BIT(GATE_OUTPUT);
            sets[1].on_upstream = (uint8_t)rule;
            const char *jobs[] = {"a", "b@1: a", "c@1: b"};
            assert_ok(fixture_submit_sets(r, sets, 2, jobs, 3, false));
            end_parent(r, ++flow, end);
            if (fixture_state(r, flow, 1) != table[i][1 + rule])
                fail_msg("%s, rule %u: %s", job_state_word(end), rule, job_state_word(fixture_state(r, flow, 1)));
            if (table[i][1 + rule] == go) continue;
            assert_int_equal(fixture_state(r, flow, 2), table[i][1 + rule]); /* the rule goes on below */
            assert_int_equal(fixture_job(r, flow, 1).cause, CAUSE_UPSTREAM);
            assert_int_equal(fixture_job(r, flow, 2).root, 0);
            assert_false(fixture_job(r, flow, 2).dead_letter);
        }
}

static void ends_of_flows(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 10));
    submit_chain(r, 0);
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_int_equal(fixture_flow(r, 1).finished.ms, r->in.wall.ms);
    submit_chain(r, 0);
    assert_ok(fixture_exit(r, "w", ref_of(2, 0), 1, 1));
    assert_int_equal(fixture_flow(r, 2).state, FLOW_FAILED);
    submit_chain(r, 0);
    assert_ok(fixture_cancel(r, ref_of(3, 1)));
    assert_ok(fixture_done(r, "w", 1, ref_of(3, 0), 1, OUTCOME_OK));
    assert_int_equal(fixture_flow(r, 3).state, FLOW_CANCELLED);
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_CONDITION);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(fixture_verdict(r, ref_of(4, 0), VERDICT_DENY, NULL));
    assert_int_equal(fixture_flow(r, 4).state, FLOW_SUCCEEDED); /* nothing to do is no failure */
}

/* ---- cancel ---- */

static void cancel_of_a_job(void **state) {
    struct fixture *r = *state;
    submit_chain(r, 3);
    assert_ok(fixture_cancel(r, ref_of(1, 1)));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    assert_int_equal(fixture_state(r, 1, 1), JOB_CANCELLED);
    assert_int_equal(fixture_job(r, 1, 1).cause, CAUSE_REQUEST);
    assert_int_equal(fixture_state(r, 1, 2), JOB_CANCELLED); /* descendants follow */
    assert_refused(r, fixture_cancel(r, ref_of(1, 1)), ERR_STATE, "cancelled");
    assert_refused(r, fixture_cancel(r, ref_of(1, 7)), ERR_NOT_FOUND, "no job number 7");
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_CANCELLED);
    assert_refused(r, fixture_cancel(r, FLOW_OF(1)), ERR_STATE, "the flow has finished");
    assert_refused(r, fixture_cancel(r, FLOW_OF(4)), ERR_NOT_FOUND, "no flow");
}

/* The slot stays taken until the worker confirms; then it is cancelled however it ended. */
static void cancel_of_a_running_flow(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    const char *jobs[] = {"a", "b", "c: a", "d", "e: d"};
    assert_ok(fixture_submit(r, &o, jobs, 5));
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_started(r, "w", 1, ref_of(1, 0), 1));
    uint32_t from = r->effects.count;
    assert_ok(fixture_cancel(r, FLOW_OF(1)));
    assert_int_equal(fixture_effects(r, from, EFFECT_STOP), 2);
    assert_int_equal(fixture_flow(r, 1).by_state[JOB_CANCELLED], 3);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING);
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(fixture_cancel(r, FLOW_OF(1))); /* asked before */
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 1, OUTCOME_EXIT));
    assert_int_equal(fixture_flow(r, 1).by_state[JOB_CANCELLED], 5);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_CANCELLED);
}

static void cancel_needs_a_short_reason(void **state) {
    struct fixture *r = *state;
    static char text[1025];
    submit_chain(r, 3);
    struct command cmd = {.kind = CMD_CANCEL};
    cmd.as.cancel = (struct cmd_cancel){.flow = {1}, .whole = true, .reason = slice_of(text, 1025)};
    assert_refused(r, fixture_command(r, &cmd), ERR_LIMIT, "reason_bytes_max");
}

static void other_tenants_see_nothing(void **state) {
    struct fixture *r = *state;
    submit_chain(r, 3);
    struct command cmd = {.kind = CMD_CANCEL, .tenant = SLICE("other")};
    cmd.as.cancel = (struct cmd_cancel){.flow = {1}, .whole = true};
    assert_refused(r, fixture_command(r, &cmd), ERR_NOT_FOUND, "no flow");
    cmd.tenant = SLICE("acme");
    assert_ok(fixture_command(r, &cmd));
}

/* ---- pause ---- */

static void pause_of_a_flow_parks_its_jobs(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.start_within_ms = 60000;
    const char *jobs[] = {"a", "b", "c: a", "d"};
    assert_ok(fixture_submit(r, &o, jobs, 4));
    assert_ok(fixture_submit(r, &o, jobs, 4));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true)); /* no change, no record */
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(fixture_attach(r, "w", 1, 10));
    assert_int_equal(fixture_flow(r, 1).by_state[JOB_READY], 3); /* tried and set aside */
    assert_int_equal(fixture_flow(r, 2).by_state[JOB_DISPATCHED], 3);
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_PAUSED);
    fixture_check_digests(r);
    assert_ok(fixture_cancel(r, ref_of(1, 1))); /* out of the middle of those set aside */
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, false));
    assert_int_equal(fixture_flow(r, 1).by_state[JOB_DISPATCHED], 2);
    assert_refused(r, fixture_pause(r, PAUSE_FLOW, 9, NULL, true), ERR_NOT_FOUND, "no flow");
    fixture_run_all(r, "w", 1);
}

static void parked_jobs_keep_their_clocks(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.start_within_ms = 10000;
    o.preferred_worker = SLICE("fav");
    o.prefer_ms = 1000;
    const char *jobs[] = {"a", "b"};
    assert_ok(fixture_submit(r, &o, jobs, 2));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    assert_ok(fixture_attach(r, "fav", 1, 1));
    fixture_tick(r, 5000);
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, false)); /* the preference ran out meanwhile */
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 0);
    assert_int_equal(fixture_counts(r).by_state[JOB_DISPATCHED], 2);
    assert_ok(fixture_submit(r, &o, jobs, 2));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 2, NULL, true));
    for (uint32_t i = 0; i < 2; i++)
        assert_ok(fixture_done(r, fixture_worker_of(r, 1, i), 1, ref_of(1, i), 1, OUTCOME_OK));
    fixture_tick(r, 10000);
    assert_int_equal(fixture_state(r, 2, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 2, 0).cause, CAUSE_NO_WORKER);
}

static void pause_of_a_pool(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_pause(r, PAUSE_POOL, 0, "default", true));
    submit_chain(r, 3);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_PAUSED);
    fixture_check_digests(r);
    assert_ok(fixture_pause(r, PAUSE_POOL, 0, "default", false));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
}

static void pause_of_a_tenant(void **state) {
    struct fixture *r = *state;
    submit_chain(r, 3);
    assert_ok(fixture_pause(r, PAUSE_TENANT, 0, "acme", true));
    r->tenant = "other";
    submit_chain(r, 3);
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_PAUSED);
    assert_int_equal(fixture_state(r, 2, 0), JOB_DISPATCHED);
    fixture_crash(r);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_pause(r, PAUSE_TENANT, 0, "acme", false));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
}

static void pause_is_checked(void **state) {
    struct fixture *r = *state;
    submit_chain(r, 3);
    assert_refused(r, fixture_pause(r, PAUSE_SCOPE_COUNT, 1, NULL, true), ERR_INVALID, "a flow, pool or tenant");
    assert_refused(r, fixture_pause(r, PAUSE_POOL, 0, "", true), ERR_INVALID, "a pool");
    assert_refused(r, fixture_pause(r, PAUSE_TENANT, 0, "", true), ERR_INVALID, "a tenant");
    r->limits.pools_max = 1;
    r->limits.tenants_max = 1;
    r->limits.topics_max = 1;
    fixture_crash(r);
    assert_ok(fixture_pause(r, PAUSE_POOL, 0, "p", true));
    assert_refused(r, fixture_pause(r, PAUSE_POOL, 0, "q", true), ERR_LIMIT, "pools_max");
    assert_refused(r, fixture_pause(r, PAUSE_TENANT, 0, "t", true), ERR_LIMIT, "tenants_max");
    assert_ok(fixture_pause(r, PAUSE_TENANT, 0, "acme", true)); /* no new name */
    assert_refused(r, fixture_pool(r, "q", POOL_ACTIVE, false, NULL), ERR_LIMIT, "pools_max");
    assert_ok(fixture_pool(r, "p", POOL_ACTIVE, false, NULL));
    assert_ok(fixture_topic(r, "t", "p", NULL));
    assert_refused(r, fixture_topic(r, "u", "p", NULL), ERR_LIMIT, "topics_max");
    assert_ok(fixture_topic(r, "t", "p", "q"));
    assert_refused(r, fixture_weight(r, "new", 1), ERR_LIMIT, "tenants_max");
    assert_ok(fixture_weight(r, "acme", 0)); /* no weight means 1 */
    assert_refused(r, fixture_weight(r, "acme", 10001), ERR_INVALID, "weight");
}

static void pools_and_topics_are_checked(void **state) {
    struct fixture *r = *state;
    struct name_item many[65];
    for (int i = 0; i < 65; i++) many[i].name = SLICE("x");
    assert_refused(r, fixture_pool(r, "", POOL_ACTIVE, false, NULL), ERR_INVALID, "name");
    assert_refused(r, fixture_pool(r, "p", POOL_STATE_COUNT, false, NULL), ERR_INVALID, "pool state");
    assert_refused(r, fixture_pool(r, "p", POOL_ACTIVE, false, "\n"), ERR_INVALID, "capability");
    struct command cmd = {.kind = CMD_POOL};
    cmd.as.pool = (struct cmd_pool){.name = SLICE("p"), .capabilities = many, .capability_count = 65};
    assert_refused(r, fixture_command(r, &cmd), ERR_LIMIT, "entries");
    assert_refused(r, fixture_topic(r, "", "p", NULL), ERR_INVALID, "name");
    assert_refused(r, fixture_topic(r, "t", "\n", NULL), ERR_INVALID, "pool");
    cmd = (struct command){.kind = CMD_TOPIC};
    cmd.as.topic = (struct cmd_topic){SLICE("t"), many, 17};
    assert_refused(r, fixture_command(r, &cmd), ERR_LIMIT, "entries");
    assert_refused(r, fixture_weight(r, "", 1), ERR_INVALID, "name");
    /* any order will do: the engine sorts */
    struct name_item names[] = {{SLICE("c")}, {SLICE("a")}, {SLICE("b")}};
    cmd = (struct command){.kind = CMD_POOL};
    cmd.as.pool = (struct cmd_pool){.name = SLICE("default"), .capabilities = names, .capability_count = 3};
    assert_ok(fixture_command(r, &cmd));
    struct options o = fixture_options();
    struct name_item wanted[] = {{SLICE("b")}, {SLICE("a")}};
    o.demand.capabilities = (struct tlv_list){wanted, 2};
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    struct worker_info info = {.slots = 1, .capabilities = {names, 3}};
    assert_ok(fixture_attach_as(r, "w", 1, &info));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
}

/* ---- dead letters ---- */

static void note_dead(void *ctx, const struct job_view *job) {
    uint32_t *count = ctx;
    assert_true(job->dead_letter);
    (*count)++;
}

static uint32_t dead_letters(const struct fixture *r) {
    uint32_t count = 0;
    view_each_dead_letter(engine_state(r->engine), note_dead, &count);
    assert_int_equal(count, fixture_counts(r).dead_letters);
    return count;
}

static void retry_brings_back_what_fell_with_it(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 0;
    const char *jobs[] = {"a", "b: a", "c: b", "x", "y: x a"};
    assert_ok(fixture_submit(r, &o, jobs, 5));
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(1, 3), 1, 1));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_int_equal(dead_letters(r), 2);
    fixture_check_digests(r);
    uint64_t finished = fixture_flow(r, 1).by_state[JOB_FAILED];
    assert_int_equal(finished, 5);
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING);
    assert_int_equal(dead_letters(r), 1);
    assert_int_equal(fixture_job(r, 1, 0).used, 0);
    assert_int_equal(fixture_job(r, 1, 0).attempt, 2); /* numbers go on */
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED); /* x is still dead, and y with it */
}

static void retry_and_discard_are_for_dead_letters(void **state) {
    struct fixture *r = *state;
    submit_chain(r, 0);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_refused(r, fixture_retry(r, ref_of(1, 0)), ERR_STATE, "not a dead letter (state: dispatched)");
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    assert_refused(r, fixture_retry(r, ref_of(1, 1)), ERR_STATE, "not a dead letter"); /* hangs on its root */
    assert_refused(r, fixture_discard(r, ref_of(1, 9)), ERR_NOT_FOUND, "no job number");
    assert_ok(fixture_discard(r, ref_of(1, 0)));
    assert_int_equal(dead_letters(r), 0);
    assert_refused(r, fixture_discard(r, ref_of(1, 0)), ERR_STATE, "not a dead letter");
    assert_ok(fixture_retry(r, ref_of(1, 0))); /* put away, not forgotten */
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

static void the_list_survives_and_shrinks_anywhere(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 10));
    for (uint64_t f = 1; f <= 5; f++) {
        submit_chain(r, 0);
        assert_ok(fixture_exit(r, "w", ref_of(f, 0), 1, 1));
    }
    assert_int_equal(dead_letters(r), 5);
    assert_ok(fixture_discard(r, ref_of(3, 0)));
    assert_ok(fixture_discard(r, ref_of(1, 0)));
    assert_ok(fixture_discard(r, ref_of(5, 0)));
    fixture_crash(r);
    assert_int_equal(dead_letters(r), 2);
    assert_ok(fixture_forget(r, 2)); /* a flow that leaves takes its letters along */
    assert_int_equal(dead_letters(r), 1);
}

static void a_retry_of_one_of_two_culprits(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 0;
    const char *jobs[] = {"a", "b", "c: a b"};
    assert_ok(fixture_submit(r, &o, jobs, 3));
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(1, 1), 1, 1));
    assert_int_equal(fixture_job(r, 1, 2).root, 0);
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    assert_int_equal(fixture_state(r, 1, 2), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 2).root, 1); /* now it hangs on the other */
    assert_ok(fixture_retry(r, ref_of(1, 1)));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

/* A child that runs whatever happens and is past its parents stays so when one of them starts again. */
static void a_retried_parent_and_children_past_it(void **state) {
    struct fixture *r = *state;
    struct options sets[3] = {fixture_options(), fixture_options(), fixture_options()};
    sets[0].retries = 0;
    sets[1].on_upstream = sets[2].on_upstream = UPSTREAM_RUN;
    sets[1].demand.pool = SLICE("nowhere");
    sets[2].delay_ms = 100000;
    const char *jobs[] = {"a", "ready@1: a", "later@2: a", "held@1: a", "strict: a"};
    assert_ok(fixture_submit_sets(r, sets, 3, jobs, 5, false));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    assert_int_equal(fixture_state(r, 1, 1), JOB_READY);
    assert_int_equal(fixture_state(r, 1, 2), JOB_WAITING);
    assert_int_equal(fixture_state(r, 1, 4), JOB_FAILED);
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    assert_int_equal(fixture_state(r, 1, 1), JOB_READY);
    assert_int_equal(fixture_job(r, 1, 2).parents_open, 0);
    assert_int_equal(fixture_job(r, 1, 4).parents_open, 1);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 2, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 2), JOB_WAITING);
    assert_int_equal(fixture_state(r, 1, 4), JOB_DISPATCHED);
}

/* A job that fell by something else than the root keeps lying. */
static void a_retry_leaves_other_victims(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 0;
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b", "c: a", "d: b", "e: c"}, 5));
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_cancel(r, ref_of(1, 2))); /* c and with it e */
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(1, 1), 1, 1));
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    assert_int_equal(fixture_state(r, 1, 2), JOB_CANCELLED);
    assert_int_equal(fixture_state(r, 1, 3), JOB_FAILED);
    assert_int_equal(fixture_state(r, 1, 4), JOB_CANCELLED);
}

/* ---- rerun and forget ---- */

static void rerun_keeps_good_results(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 0;
    const char *jobs[] = {"a", "b: a", "c: b"};
    assert_ok(fixture_submit(r, &o, jobs, 3));
    assert_refused(r, fixture_rerun(r, 1), ERR_STATE, "still running");
    assert_refused(r, fixture_forget(r, 1), ERR_STATE, "still running");
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(fixture_exit(r, "w", ref_of(1, 1), 1, 1));
    assert_ok(fixture_rerun(r, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_int_equal(fixture_job(r, 1, 0).attempt, 1); /* not done again */
    assert_int_equal(fixture_state(r, 1, 1), JOB_DISPATCHED);
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_refused(r, fixture_rerun(r, 1), ERR_STATE, "every job of the flow has succeeded");
    assert_refused(r, fixture_rerun(r, 4), ERR_NOT_FOUND, "no flow");
}

static void rerun_of_a_cancelled_flow(void **state) {
    struct fixture *r = *state;
    submit_chain(r, 3);
    assert_ok(fixture_cancel(r, FLOW_OF(1)));
    assert_ok(fixture_rerun(r, 1));
    assert_false(fixture_flow(r, 1).cancelling);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

static void rerun_of_skipped_jobs(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_CONDITION);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_DENY, NULL));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_ok(fixture_rerun(r, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD); /* asked anew */
}

static void rerun_forgets_what_a_run_left(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_POLICY) | GATE_BIT(GATE_OUTPUT);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_CONSTRAIN, "less"));
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = ref_of(1, 0), .attempt = 1, .result = SLICE("r")};
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_QUARANTINE, NULL));
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    assert_int_equal(fixture_job(r, 1, 0).result.len, 0);
    assert_int_equal(fixture_job(r, 1, 0).constraints.len, 0);
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
}

static void forgetting_frees_everything(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.preferred_worker = SLICE("w");
    assert_ok(fixture_attach(r, "w", 1, 50));
    for (int i = 0; i < 50; i++) {
        o.demand.cpu_milli = 0;
        o.priority = (uint32_t)i;
        assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b: a"}, 2));
    }
    fixture_run_all(r, "w", 1);
    for (uint64_t f = 1; f <= 50; f++) assert_ok(fixture_forget(r, f));
    struct state_counts counts = fixture_counts(r);
    assert_int_equal(counts.flows, 0);
    assert_int_equal(counts.jobs, 0);
    assert_int_equal(counts.reserved_bytes, 0);
    assert_refused(r, fixture_forget(r, 1), ERR_NOT_FOUND, "no flow");
    struct flow_view view;
    struct job_view job;
    struct why_job why;
    assert_false(view_flow(engine_state(r->engine), (flow_id){1}, &view));
    assert_false(view_job(engine_state(r->engine), ref_of(1, 0), &job));
    assert_false(view_why(engine_state(r->engine), engine_live(r->engine), &r->limits, ref_of(1, 0), &why));
    submit_chain(r, 3); /* numbers go on, places are used again */
    assert_int_equal(r->reply.flow.v, 51);
}

/* ---- views ---- */

static void note_flow(void *ctx, flow_id id) {
    uint64_t *last = ctx;
    assert_true(id.v > *last);
    *last = id.v;
}
static void note_job(void *ctx, const struct job_view *job) {
    uint32_t *next = ctx;
    assert_int_equal(job->ref.ordinal, (*next)++);
}
static void note_worker(void *ctx, const struct worker_view *w) {
    *(uint32_t *)ctx += w->info->slots;
}

static void flows_are_listed_in_order(void **state) {
    struct fixture *r = *state;
    for (int i = 0; i < 9; i++) submit_chain(r, 3);
    assert_ok(fixture_cancel(r, FLOW_OF(4)));
    assert_ok(fixture_forget(r, 4));
    submit_chain(r, 3);
    uint64_t last = 0;
    view_each_flow(engine_state(r->engine), note_flow, &last);
    assert_int_equal(last, 10);
    uint32_t next = 0, slots = 0;
    view_each_job(engine_state(r->engine), (flow_id){10}, note_job, &next);
    assert_int_equal(next, 3);
    view_each_job(engine_state(r->engine), (flow_id){4}, note_job, &next);
    assert_ok(fixture_cancel(r, FLOW_OF(2)));
    assert_ok(fixture_forget(r, 2)); /* a hole that nobody has filled */
    last = 0;
    view_each_flow(engine_state(r->engine), note_flow, &last);
    assert_int_equal(last, 10);
    assert_ok(fixture_attach(r, "v", 1, 3));
    assert_ok(fixture_attach(r, "w", 1, 2));
    fixture_tick(r, r->limits.lease_ms - 1);
    assert_ok(fixture_heartbeat(r, "w", 1, 2, 0, 0));
    fixture_tick(r, 1);
    view_each_worker(engine_state(r->engine), engine_live(r->engine), note_worker, &slots);
    assert_int_equal(slots, 2);
    slots = 0;
    assert_ok(fixture_attach(r, "x", 1, 5));
    view_each_worker(engine_state(r->engine), engine_live(r->engine), note_worker, &slots);
    assert_int_equal(slots, 7);
    assert_int_equal(fixture_counts(r).flows_running, 8);
    view_counts(engine_state(r->engine), NULL, &(struct state_counts){0}); /* a state without an engine around it */
}

static void a_read_changes_nothing(void **state) {
    struct fixture *r = *state;
    uint64_t lsn = engine_lsn(r->engine);
    struct command cmd = {.kind = CMD_READ};
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(engine_lsn(r->engine), lsn);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_retry_waits_for_its_backoff_and_as_long_as_it_was_told),
        FIXTURE_TEST(every_end_against_every_rule),
        FIXTURE_TEST(ends_of_flows),
        FIXTURE_TEST(cancel_of_a_job),
        FIXTURE_TEST(cancel_of_a_running_flow),
        FIXTURE_TEST(cancel_needs_a_short_reason),
        FIXTURE_TEST(other_tenants_see_nothing),
        FIXTURE_TEST(pause_of_a_flow_parks_its_jobs),
        FIXTURE_TEST(parked_jobs_keep_their_clocks),
        FIXTURE_TEST(pause_of_a_pool),
        FIXTURE_TEST(pause_of_a_tenant),
        FIXTURE_TEST(pause_is_checked),
        FIXTURE_TEST(pools_and_topics_are_checked),
        FIXTURE_TEST(retry_brings_back_what_fell_with_it),
        FIXTURE_TEST(retry_and_discard_are_for_dead_letters),
        FIXTURE_TEST(the_list_survives_and_shrinks_anywhere),
        FIXTURE_TEST(a_retry_of_one_of_two_culprits),
        FIXTURE_TEST(a_retried_parent_and_children_past_it),
        FIXTURE_TEST(a_retry_leaves_other_victims),
        FIXTURE_TEST(rerun_keeps_good_results),
        FIXTURE_TEST(rerun_of_a_cancelled_flow),
        FIXTURE_TEST(rerun_of_skipped_jobs),
        FIXTURE_TEST(rerun_forgets_what_a_run_left),
        FIXTURE_TEST(forgetting_frees_everything),
        FIXTURE_TEST(flows_are_listed_in_order),
        FIXTURE_TEST(a_read_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
