/* time_test.c: everything that happens because time goes by: delays, deadlines, timeouts, backoff, unconfirmed
 * stops. */
#include "engine_fixture.h"

#include "attempt.h"

static void submit(struct fixture *r, const struct options *o) {
    const char *jobs[] = {"a"};
    assert_ok(fixture_submit(r, o, jobs, 1));
}

static const struct job_ref first = {{1}, 0};

/* ---- before the start ---- */

static void delay_counts_from_readiness(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[1].delay_ms = 10000;
    const char *jobs[] = {"a", "b@1: a"};
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 2, false));
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 7000);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 1), JOB_WAITING);
    assert_int_equal(fixture_job(r, 1, 1).due.ms, r->in.wall.ms + 10000);
    fixture_check_digests(r);
    fixture_tick(r, 9999);
    assert_int_equal(fixture_state(r, 1, 1), JOB_WAITING);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 1), JOB_DISPATCHED);
}

static void delay_from_submit_counts_from_there(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[1].delay_ms = 10000;
    sets[1].delay_from_submit = true;
    const char *jobs[] = {"a", "b@1: a"};
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 2, false));
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 7000);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    fixture_tick(r, 2999);
    assert_int_equal(fixture_state(r, 1, 1), JOB_WAITING);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 1), JOB_DISPATCHED);
}

static void the_later_of_delay_and_not_before(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.not_before_ms = r->in.wall.ms + 500;
    submit(r, &o);
    o.delay_ms = 2000;
    submit(r, &o);
    fixture_tick(r, 499);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(engine_next_due(r->engine).ms, r->in.wall.ms + 1);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    fixture_tick(r, 1499);
    assert_int_equal(fixture_state(r, 2, 0), JOB_WAITING);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 2, 0), JOB_READY);
}

static void a_job_that_does_not_start_in_time_fails(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.start_within_ms = 5000;
    submit(r, &o);
    assert_int_equal(fixture_why(r, 1, 0).until.ms, r->in.wall.ms + 5000);
    fixture_tick(r, 4999);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_NO_WORKER);
    assert_int_equal(fixture_job(r, 1, 0).used, 0); /* burns no attempt */
}

/* A deadline far away does not disturb the other clocks. */
static void clocks_before_the_deadline(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.deadline_ms = r->in.wall.ms + 1000000;
    o.delay_ms = 1000;
    o.preferred_worker = SLICE("z");
    o.prefer_ms = 1000;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 1000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    fixture_tick(r, 1000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
}

/* More timers at once than one pass serves: the rest follows in the next. */
static void many_timers_at_once(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.delay_ms = 1000;
    for (int i = 0; i < 5000; i++) submit(r, &o);
    r->in.wall.ms += 1000;
    r->in.mono.ms += 1000;
    engine_begin(r->engine, &r->in);
    engine_finish(r->engine);
    fixture_flush(r);
    assert_int_equal(fixture_counts(r).by_state[JOB_READY], 4096);
    fixture_tick(r, 0);
    assert_int_equal(fixture_counts(r).by_state[JOB_READY], 5000);
}

/* ---- the deadline, in every state ---- */

static void deadline_of(struct fixture *r, struct options *o) {
    o->deadline_ms = r->in.wall.ms + 1000;
    submit(r, o);
}

static void expect_timed_out(struct fixture *r) {
    assert_int_equal(fixture_state(r, 1, 0), JOB_TIMED_OUT);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_DEADLINE);
    assert_int_equal(fixture_counts(r).dead_letters, 1);
}

static void deadline_while_waiting(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.delay_ms = 5000;
    deadline_of(r, &o);
    fixture_tick(r, 999);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    fixture_tick(r, 1);
    expect_timed_out(r);
}

static void deadline_while_ready(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.start_within_ms = 1000;
    deadline_of(r, &o);
    fixture_tick(r, 1000);
    expect_timed_out(r);
}

static void deadline_while_held(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_APPROVAL);
    deadline_of(r, &o);
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
    fixture_tick(r, 1000);
    expect_timed_out(r);
    assert_int_equal(fixture_counts(r).questions, 0);
}

static void deadline_while_checking(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_OUTPUT);
    deadline_of(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_done(r, "w", 1, first, 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_CHECKING);
    fixture_tick(r, 1000);
    expect_timed_out(r);
}

/* A running one is told to stop; however it then ends, it is too late. */
static void deadline_while_running(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    deadline_of(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_started(r, "w", 1, first, 1));
    uint32_t from = r->effects.count;
    fixture_tick(r, 1000);
    assert_int_equal(fixture_effects(r, from, EFFECT_STOP), 1);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_DEADLINE);
    assert_ok(fixture_done(r, "w", 1, first, 1, OUTCOME_OK));
    expect_timed_out(r);
}

static void deadline_while_dispatched(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    deadline_of(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 1000);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_DEADLINE);
    assert_ok(fixture_done(r, "w", 1, first, 1, OUTCOME_STOPPED));
    expect_timed_out(r);
}

/* ---- timeouts of an attempt ---- */

static void an_attempt_that_does_not_start_is_stopped(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.dispatch_timeout_ms = 2000;
    o.retries = 1;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 1999);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_NONE);
    fixture_tick(r, 1);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_DISPATCH_TIMEOUT);
    assert_ok(fixture_done(r, "w", 1, first, 1, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_DISPATCH);
    fixture_tick(r, 2500);
    fixture_tick(r, 2000);
    assert_ok(fixture_done(r, "w", 1, first, 2, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_DISPATCH);
}

/* Time that the worker was away does not count: it gets the job anew when it comes back. */
static void dispatch_timeout_waits_for_the_worker(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.dispatch_timeout_ms = 2000;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_detach(r, "w", 1));
    fixture_tick(r, 2000);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_NONE);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, r->limits.lease_ms - 1); /* put off by a lease while it was away */
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_NONE);
    assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
    fixture_tick(r, 1);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_DISPATCH_TIMEOUT);
}

static void dispatch_timeout_counts_from_the_last_attach(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.dispatch_timeout_ms = 2000;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 1500);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 500);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_NONE);
    fixture_tick(r, 1500);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_DISPATCH_TIMEOUT);
}

/* The worker is away and its lease is long: a deadline does not wait for either. */
static void deadline_of_a_dispatched_job_whose_worker_is_away(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.dispatch_timeout_ms = 1000;
    o.deadline_ms = r->in.wall.ms + 3000;
    submit(r, &o);
    o.deadline_ms = r->in.wall.ms + 1000000;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_detach(r, "w", 1));
    fixture_tick(r, 1000); /* the dispatch timeout is put off */
    fixture_tick(r, 2000);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_DEADLINE);
    assert_int_equal(fixture_job(r, 2, 0).stop, STOP_NONE);
}

static void an_attempt_that_runs_too_long_is_stopped(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.run_timeout_ms = 3000;
    o.retries = 1;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 1000);
    assert_ok(fixture_started(r, "w", 1, first, 1));
    fixture_tick(r, 2999);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_NONE);
    fixture_tick(r, 1);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_RUN_TIMEOUT);
    assert_ok(fixture_done(r, "w", 1, first, 1, OUTCOME_STOPPED));
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_RUN_TIMEOUT);
    fixture_tick(r, 2500);
    assert_ok(fixture_started(r, "w", 1, first, 2));
    fixture_tick(r, 3000);
    assert_ok(fixture_done(r, "w", 1, first, 2, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 0), JOB_TIMED_OUT);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_RUN_TIMEOUT);
}

/* It ended well before the stop reached it: that is what counts. */
static void a_result_beats_the_run_timeout(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.run_timeout_ms = 3000;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_started(r, "w", 1, first, 1));
    fixture_tick(r, 3000);
    assert_ok(fixture_done(r, "w", 1, first, 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

/* ---- stops that nobody confirms ---- */

static void keep_alive(struct fixture *r, int64_t ms) {
    for (; ms > 0; ms -= 10000) {
        fixture_tick(r, ms < 10000 ? ms : 10000);
        assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
    }
}

static void unconfirmed_stop_counts_as_lost(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.run_timeout_ms = 1000;
    o.retries = 0;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_started(r, "w", 1, first, 1));
    fixture_tick(r, 1000);
    keep_alive(r, r->limits.stop_confirm_ms - 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_RUNNING);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_TIMED_OUT);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_RUN_TIMEOUT);
    assert_int_equal(fixture_done(r, "w", 1, first, 1, OUTCOME_STOPPED), ERR_STALE);
}

/* Never two at once: only the end of its worker's lease can free an exclusive job. */
static void unconfirmed_stop_of_an_exclusive_job(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.exclusive = true;
    o.run_timeout_ms = 1000;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_started(r, "w", 1, first, 1));
    fixture_tick(r, 1000);
    keep_alive(r, 3 * r->limits.stop_confirm_ms);
    assert_int_equal(fixture_state(r, 1, 0), JOB_RUNNING);
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_STOPPING);
    fixture_tick(r, r->limits.lease_ms);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
}

static void a_second_stop_changes_nothing_but_a_cancel_does(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.run_timeout_ms = 1000;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_started(r, "w", 1, first, 1));
    fixture_tick(r, 1000);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_RUN_TIMEOUT);
    assert_ok(fixture_cancel(r, first));
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_CANCEL);
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(fixture_cancel(r, first)); /* repeating it changes nothing */
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(fixture_done(r, "w", 1, first, 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_REQUEST);
}

/* ---- retries ---- */

static void backoff_doubles_up_to_its_cap(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 7;
    o.backoff_jitter_ms = 0;
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    const int64_t waits[] = {2000, 4000, 8000, 16000, 30000, 30000, 30000};
    for (uint32_t k = 1; k <= 7; k++) {
        assert_ok(fixture_exit(r, "w", first, k, 1));
        assert_int_equal(fixture_job(r, 1, 0).due.ms - r->in.wall.ms, waits[k - 1]);
        fixture_crash(r); /* the due time survives a restart */
        assert_ok(fixture_attach(r, "w", 1, 1));
        fixture_tick(r, waits[k - 1] - 1);
        assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
        assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
        fixture_tick(r, 1);
        assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    }
    assert_ok(fixture_exit(r, "w", first, 8, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).used, 8);
}

static void jitter_stays_in_its_range(void **state) {
    (void)state;
    struct options o = fixture_options();
    int64_t least = INT64_MAX, most = 0;
    for (uint64_t seed = 0; seed < 5000; seed++) {
        int64_t ms = backoff_ms(&o, 1, seed, ref_of(1, 0));
        assert_in_range(ms, 2000, 2499);
        least = ms < least ? ms : least;
        most = ms > most ? ms : most;
        assert_int_equal(ms, backoff_ms(&o, 1, seed, ref_of(1, 0)));
    }
    assert_int_equal(least, 2000);
    assert_int_equal(most, 2499);
    assert_int_not_equal(backoff_ms(&o, 1, 1, ref_of(1, 0)), backoff_ms(&o, 1, 1, ref_of(1, 1)));
    o.backoff_base_ms = 50000; /* a base above the cap is the cap */
    o.backoff_jitter_ms = 0;
    assert_int_equal(backoff_ms(&o, 1, 1, ref_of(1, 0)), 30000);
    o.backoff_base_ms = 0;
    assert_int_equal(backoff_ms(&o, 5, 1, ref_of(1, 0)), 0);
}

static void fatal_exits_are_final(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint32_t codes[] = {3, 70};
    o.fatal_exits = (struct tlv_u32s){codes, 2};
    submit(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", first, 1, 4));
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    fixture_tick(r, 2500);
    assert_ok(fixture_exit(r, "w", first, 2, 70));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_EXIT);
}

static void each_way_to_fail_has_its_cause(void **state) {
    struct fixture *r = *state;
    const struct {
        enum outcome outcome;
        enum job_cause cause;
    } ways[] = {{OUTCOME_EXIT, CAUSE_EXIT}, {OUTCOME_REFUSED, CAUSE_REJECTED}, {OUTCOME_STOPPED, CAUSE_LOST}};
    struct options o = fixture_options();
    o.retries = 0;
    assert_ok(fixture_attach(r, "w", 1, 1));
    for (uint32_t i = 0; i < 3; i++) {
        submit(r, &o);
        assert_ok(fixture_done(r, "w", 1, ref_of(i + 1, 0), 1, ways[i].outcome));
        assert_int_equal(fixture_state(r, i + 1, 0), JOB_FAILED);
        assert_int_equal(fixture_job(r, i + 1, 0).cause, ways[i].cause);
    }
}

/* ---- a clock that was wrong ---- */

#define FALSE_MS (400 * INT64_C(86400000))

static void step(struct fixture *r, int64_t by_ms) {
    r->in.wall.ms += by_ms;
    r->in.step_ms = by_ms;
    engine_begin(r->engine, &r->in);
    engine_finish(r->engine);
    fixture_flush(r);
    r->in.step_ms = 0;
    fixture_check_digests(r);
}

static void what_waits_keeps_its_wait_when_the_clock_is_set_back(void **state) {
    struct fixture *r = *state;
    struct options delayed = fixture_options(), timed = fixture_options();
    delayed.delay_ms = 10000;
    timed.run_timeout_ms = 20000;
    fixture_tick(r, FALSE_MS); /* a start with a clock that is ahead */
    submit(r, &delayed);
    submit(r, &timed);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_started(r, "w", 1, ref_of(2, 0), 1));
    fixture_tick(r, 4000);
    int64_t right = r->in.wall.ms - FALSE_MS;
    step(r, -FALSE_MS);
    assert_int_equal(fixture_flow(r, 1).created.ms, right - 4000);
    assert_int_equal(fixture_job(r, 1, 0).due.ms, right + 6000);
    fixture_tick(r, 5999);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    fixture_tick(r, 9999);
    assert_int_equal(fixture_effects(r, 0, EFFECT_STOP), 0);
    fixture_tick(r, 1);
    assert_int_equal(fixture_effects(r, 0, EFFECT_STOP), 1);
    submit(r, &delayed);
    assert_int_equal(fixture_flow(r, 3).created.ms, right + 16000);
}

static void a_start_with_a_journal_ahead_sets_the_clock_back(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.delay_ms = 10000;
    fixture_tick(r, FALSE_MS);
    submit(r, &o);
    r->in.wall.ms -= FALSE_MS;
    r->in.step_ms = -FALSE_MS;
    fixture_crash(r);
    r->in.step_ms = 0;
    assert_int_equal(fixture_job(r, 1, 0).due.ms, r->in.wall.ms + 10000);
    fixture_crash(r); /* and once is enough */
    fixture_tick(r, 10000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
}

static void a_clock_set_forward_ends_no_wait(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.delay_ms = 10000;
    submit(r, &o);
    int64_t created = fixture_flow(r, 1).created.ms;
    step(r, FALSE_MS);
    assert_int_equal(fixture_flow(r, 1).created.ms, created);
    fixture_tick(r, 9999);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(delay_counts_from_readiness),
        FIXTURE_TEST(delay_from_submit_counts_from_there),
        FIXTURE_TEST(the_later_of_delay_and_not_before),
        FIXTURE_TEST(a_job_that_does_not_start_in_time_fails),
        FIXTURE_TEST(clocks_before_the_deadline),
        FIXTURE_TEST(many_timers_at_once),
        FIXTURE_TEST(deadline_while_waiting),
        FIXTURE_TEST(deadline_while_ready),
        FIXTURE_TEST(deadline_while_held),
        FIXTURE_TEST(deadline_while_checking),
        FIXTURE_TEST(deadline_while_running),
        FIXTURE_TEST(deadline_while_dispatched),
        FIXTURE_TEST(an_attempt_that_does_not_start_is_stopped),
        FIXTURE_TEST(dispatch_timeout_waits_for_the_worker),
        FIXTURE_TEST(dispatch_timeout_counts_from_the_last_attach),
        FIXTURE_TEST(deadline_of_a_dispatched_job_whose_worker_is_away),
        FIXTURE_TEST(an_attempt_that_runs_too_long_is_stopped),
        FIXTURE_TEST(a_result_beats_the_run_timeout),
        FIXTURE_TEST(unconfirmed_stop_counts_as_lost),
        FIXTURE_TEST(unconfirmed_stop_of_an_exclusive_job),
        FIXTURE_TEST(a_second_stop_changes_nothing_but_a_cancel_does),
        FIXTURE_TEST(backoff_doubles_up_to_its_cap),
        FIXTURE_TEST(jitter_stays_in_its_range),
        FIXTURE_TEST(fatal_exits_are_final),
        FIXTURE_TEST(each_way_to_fail_has_its_cause),
        FIXTURE_TEST(what_waits_keeps_its_wait_when_the_clock_is_set_back),
        FIXTURE_TEST(a_start_with_a_journal_ahead_sets_the_clock_back),
        FIXTURE_TEST(a_clock_set_forward_ends_no_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
