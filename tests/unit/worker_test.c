/* worker_test.c: sessions, incarnations, leases, and the fence around every attempt. */
#include <stdio.h>
#include <stdlib.h>

#include "engine_fixture.h"

static void submit(struct fixture *r, uint32_t retries, uint32_t count) {
    struct options o = fixture_options();
    o.retries = retries;
    const char *jobs[] = {"a", "b", "c", "d"};
    assert_ok(fixture_submit(r, &o, jobs, count));
}

static struct worker_view worker(const struct fixture *r, const char *id) {
    struct worker_view view;
    uint32_t number = view_worker_by_id(engine_state(r->engine), slice_str(id));
    assert_true(view_worker(engine_state(r->engine), engine_live(r->engine), number, &view));
    return view;
}

/* ---- attach ---- */

static void attach_is_checked(void **state) {
    struct fixture *r = *state;
    struct worker_info info = {.slots = 1};
    assert_refused(r, fixture_attach(r, "", 1, 1), ERR_INVALID, "name");
    assert_refused(r, fixture_attach(r, "w", 1, 0), ERR_INVALID, "at least one slot");
    assert_refused(r, fixture_attach(r, "w", 1, 10001), ERR_LIMIT, "worker_slots_max");
    info.pool = SLICE("\n");
    assert_refused(r, fixture_attach_as(r, "w", 1, &info), ERR_INVALID, "a pool");
    info = (struct worker_info){.slots = 1, .build = SLICE("\n")};
    assert_refused(r, fixture_attach_as(r, "w", 1, &info), ERR_INVALID, "a build");
    struct name_item names[33] = {{SLICE("x")}, {SLICE("x")}};
    info = (struct worker_info){.slots = 1, .capabilities = {names, 2}};
    assert_refused(r, fixture_attach_as(r, "w", 1, &info), ERR_DUPLICATE_NAME, "x is named twice");
    info.capabilities.count = 33;
    assert_refused(r, fixture_attach_as(r, "w", 1, &info), ERR_LIMIT, "capability");
    struct label labels[65] = {{SLICE("k"), SLICE("v")}};
    info = (struct worker_info){.slots = 1, .labels = {labels, 65}};
    assert_refused(r, fixture_attach_as(r, "w", 1, &info), ERR_LIMIT, "label");
    static char text[300];
    memset(text, 'v', sizeof text);
    labels[0].value = slice_of(text, 300); /* longer than its record could hold */
    info.labels.count = 1;
    assert_refused(r, fixture_attach_as(r, "w", 1, &info), ERR_LIMIT, "value");
    struct resource resources[17] = {{SLICE("r"), 1}};
    info = (struct worker_info){.slots = 1, .resources = {resources, 17}};
    assert_refused(r, fixture_attach_as(r, "w", 1, &info), ERR_LIMIT, "resource");
    struct held_attempt held = {0};
    r->limits.workers_max = 1;
    r->limits.worker_slots_max = 4;
    fixture_crash(r);
    assert_refused(r, fixture_attach_holding(r, "w", 1, &held, 9), ERR_LIMIT, "holds too many");
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_refused(r, fixture_attach(r, "v", 1, 4), ERR_BUSY, "workers_max");
    assert_ok(fixture_attach(r, "w", 2, 4)); /* one that is known is no new one */
}

static void answers_carry_lease_and_epoch(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_int_equal(r->reply.lease_ms, r->limits.lease_ms);
    assert_int_equal(r->reply.epoch, 1);
    assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
    assert_int_equal(r->reply.lease_ms, r->limits.lease_ms);
    fixture_crash(r);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_int_equal(r->reply.epoch, 2);
}

static void an_earlier_incarnation_is_refused(void **state) {
    struct fixture *r = *state;
    submit(r, 3, 2);
    assert_ok(fixture_attach(r, "w", 5, 2));
    uint32_t number = worker(r, "w").number;
    uint64_t stale = fixture_counts(r).stale_refused;
    assert_refused(r, fixture_attach(r, "w", 4, 2), ERR_STALE, "later incarnation");
    assert_refused(r, fixture_heartbeat(r, "w", 4, 2, 0, 0), ERR_STALE, "another incarnation");
    assert_refused(r, fixture_detach(r, "w", 6), ERR_STALE, "another incarnation");
    assert_int_equal(fixture_counts(r).stale_refused, stale + 3);
    assert_refused(r, fixture_heartbeat(r, "nobody", 1, 2, 0, 0), ERR_NOT_FOUND, "attach first");
    assert_ok(fixture_attach(r, "w", 6, 2)); /* restarted: what it had is lost with it */
    assert_int_equal(worker(r, "w").number, number);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_LOST);
    assert_int_equal(fixture_state(r, 1, 1), JOB_WAITING);
    assert_int_equal(worker(r, "w").active, 0);
}

/* Bounded by the number of the attempt: a job that kills its workers does not go round for ever. */
static void a_loss_may_cost_nothing(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    const char *jobs[] = {"a", "b: a"};
    o.retries = 0;
    o.free_losses = (uint32_t)r->limits.retries_max + 1;
    assert_refused(r, fixture_submit(r, &o, jobs, 2), ERR_LIMIT, "retries_max");
    o.free_losses = 3;
    assert_ok(fixture_submit(r, &o, jobs, 2));
    assert_ok(fixture_attach(r, "w", 1, 1));
    for (uint64_t incarnation = 2; incarnation <= 4; incarnation++) {
        assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
        assert_int_equal(fixture_job(r, 1, 0).attempt, incarnation - 1);
        if (incarnation == 3) fixture_crash(r);
        assert_ok(fixture_attach(r, "w", incarnation, 1)); /* ready, and given away, at once */
        assert_int_equal(fixture_job(r, 1, 0).used, 0);
    }
    assert_int_equal(fixture_job(r, 1, 0).attempt, 4);
    assert_ok(fixture_attach(r, "w", 5, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_LOST);
    assert_int_equal(fixture_state(r, 1, 1), JOB_FAILED);
}

static void an_exit_costs_a_retry_whatever_losses_do(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    const char *jobs[] = {"a"};
    o.retries = 0;
    o.free_losses = 3;
    assert_ok(fixture_submit(r, &o, jobs, 1));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_attach(r, "w", 2, 1));
    assert_ok(fixture_done(r, "w", 2, ref_of(1, 0), 2, OUTCOME_EXIT));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_EXIT);
}

static void a_new_incarnation_delivers_old_results(void **state) {
    struct fixture *r = *state;
    submit(r, 0, 2);
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_started(r, "w", 1, ref_of(1, 0), 1));
    struct held_attempt held[] = {{ref_of(1, 0), 1, HELD_FINISHED}, {ref_of(1, 1), 1, HELD_RUNNING}};
    uint32_t from = r->effects.count;
    assert_ok(fixture_attach_holding(r, "w", 2, held, 2));
    assert_int_equal(fixture_effects(r, from, EFFECT_DROP), 1); /* no process outlives its worker */
    assert_int_equal(fixture_state(r, 1, 0), JOB_RUNNING);
    assert_int_equal(fixture_state(r, 1, 1), JOB_FAILED);
    assert_int_equal(fixture_started(r, "w", 2, ref_of(1, 0), 1), ERR_STALE); /* only a result may come later */
    assert_ok(fixture_done(r, "w", 2, ref_of(1, 0), 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

static void a_worker_keeps_the_attempts_that_are_its_own(void **state) {
    struct fixture *r = *state;
    submit(r, 3, 4);
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_started(r, "w", 1, ref_of(1, 1), 1));
    assert_ok(fixture_cancel(r, ref_of(1, 2)));
    fixture_crash(r);
    struct held_attempt held[] = {{ref_of(1, 0), 1, HELD_RUNNING},   /* we never heard that it started */
                                  {ref_of(1, 1), 1, HELD_RUNNING},   /* we did */
                                  {ref_of(1, 2), 1, HELD_ASSIGNED},  /* to be stopped */
                                  {ref_of(1, 0), 1, HELD_RUNNING},   /* said twice */
                                  {ref_of(1, 3), 7, HELD_RUNNING},   /* another attempt than ours */
                                  {ref_of(9, 0), 1, HELD_RUNNING},   /* a job we do not know */
                                  {ref_of(9, 0), 1, HELD_FINISHED}}; /* it will be told when it reports */
    uint32_t from = r->effects.count;
    assert_ok(fixture_attach_holding(r, "w", 1, held, 7));
    assert_int_equal(fixture_state(r, 1, 0), JOB_RUNNING);
    assert_int_equal(fixture_state(r, 1, 1), JOB_RUNNING);
    assert_int_equal(fixture_effects(r, from, EFFECT_STOP), 1);
    assert_int_equal(fixture_effects(r, from, EFFECT_DROP), 2);
    assert_int_equal(fixture_effects(r, from, EFFECT_ASSIGN), 1); /* d is sent again, under its old number */
    assert_int_equal(fixture_job(r, 1, 3).attempt, 1);
    /* what it lacks and should stop is told again */
    from = r->effects.count;
    assert_ok(fixture_attach_holding(r, "w", 1, held, 2));
    assert_int_equal(fixture_effects(r, from, EFFECT_STOP), 1);
    /* a result that is on its way need not be stopped; what another worker has is not its own, nor what has ended */
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(fixture_attach(r, "v", 1, 1));
    struct held_attempt others[] = {
        {ref_of(1, 2), 1, HELD_FINISHED}, {ref_of(1, 0), 1, HELD_RUNNING}, {ref_of(1, 1), 1, HELD_RUNNING}};
    from = r->effects.count;
    assert_ok(fixture_attach_holding(r, "w", 1, others, 2));
    assert_int_equal(fixture_effects(r, from, EFFECT_STOP), 0);
    assert_int_equal(fixture_effects(r, from, EFFECT_DROP), 1);
    from = r->effects.count;
    assert_ok(fixture_attach_holding(r, "v", 1, others + 2, 1));
    assert_int_equal(fixture_effects(r, from, EFFECT_DROP), 1);
}

static void a_new_worker_that_holds_something(void **state) {
    struct fixture *r = *state;
    submit(r, 3, 1);
    struct held_attempt held = {ref_of(1, 0), 1, HELD_RUNNING};
    uint32_t from = r->effects.count;
    assert_ok(fixture_attach_holding(r, "new", 1, &held, 1));
    assert_int_equal(fixture_effects(r, from, EFFECT_DROP), 1);
    for (uint32_t i = from; i < r->effects.count; i++) {
        const struct effect *e = vec_at(&r->effects, i);
        if (e->kind == EFFECT_DROP) assert_int_equal(e->as.attempt.worker, worker(r, "new").number);
    }
}

static void resume_derives_what_was_not_sent(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_POLICY);
    submit(r, 3, 2);
    assert_ok(fixture_submit(r, &o, (const char *[]){"q"}, 1));
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_cancel(r, ref_of(1, 1)));
    fixture_crash(r);
    assert_int_equal(fixture_effects(r, 0, EFFECT_ASSIGN), 1);
    assert_int_equal(fixture_effects(r, 0, EFFECT_STOP), 1);
    assert_int_equal(fixture_effects(r, 0, EFFECT_QUESTION), 1);
    assert_ok(fixture_heartbeat(r, "w", 1, 4, 0, 0) == ERR_STATE ? ERR_OK : ERR_UNKNOWN); /* no session: attach first */
}

/* ---- leases ---- */

static void a_lease_ends_in_steps(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 0;
    char text[600][8];
    const char *jobs[600];
    for (int i = 0; i < 600; i++) {
        (void)snprintf(text[i], sizeof text[i], "j%d", i);
        jobs[i] = text[i];
    }
    assert_ok(fixture_submit(r, &o, jobs, 600));
    assert_ok(fixture_attach(r, "w", 1, 600));
    assert_int_equal(worker(r, "w").active, 600);
    assert_int_equal(engine_next_lease(r->engine).ms, r->in.mono.ms + r->limits.lease_ms);
    fixture_tick(r, r->limits.lease_ms - 1);
    assert_int_equal(fixture_counts(r).by_state[JOB_DISPATCHED], 600);
    fixture_tick(r, 1);
    assert_int_equal(fixture_counts(r).by_state[JOB_FAILED], 600);
    assert_int_equal(fixture_counts(r).workers, 0); /* gone with its last attempt */
    assert_int_equal(engine_next_lease(r->engine).ms, TIME_NEVER);
}

/* Workers and questions that are gone leave holes; a restart goes past them. */
static void a_restart_after_some_are_gone(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_POLICY);
    for (int i = 0; i < 3; i++) assert_ok(fixture_submit(r, &o, (const char *[]){"q"}, 1));
    assert_ok(fixture_verdict(r, ref_of(2, 0), VERDICT_DENY, NULL));
    assert_ok(fixture_attach(r, "v", 1, 1));
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, r->limits.lease_ms - 1);
    assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
    fixture_tick(r, 1);
    assert_int_equal(fixture_counts(r).workers, 1);
    fixture_crash(r);
    assert_int_equal(fixture_effects(r, 0, EFFECT_QUESTION), 2);
    fixture_tick(r, r->limits.lease_ms);
    assert_int_equal(fixture_counts(r).workers, 0);
    /* a state without sessions around it */
    assert_ok(fixture_attach(r, "u", 1, 1));
    struct engine *e = fixture_replay(r);
    struct worker_view view;
    assert_true(view_worker(engine_state(e), engine_live(e), worker(r, "u").number, &view));
    assert_false(view.attached);
    assert_true(view_worker(engine_state(e), NULL, worker(r, "u").number, &view));
    engine_free(e);
}

static void a_permanent_worker_stays_known(void **state) {
    struct fixture *r = *state;
    struct worker_info info = {.slots = 1, .permanent = true};
    assert_ok(fixture_attach_as(r, "p", 1, &info));
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, r->limits.lease_ms);
    assert_int_equal(fixture_counts(r).workers, 1);
    assert_false(worker(r, "p").attached);
    submit(r, 3, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_NO_WORKERS);
    assert_ok(fixture_attach_as(r, "p", 1, &info));
    assert_string_equal(fixture_worker_of(r, 1, 0), "p");
}

/* The word of any one worker keeps only that one. */
static void a_heartbeat_renews_its_own_lease(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "v", 1, 1));
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, 20000);
    assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
    fixture_tick(r, 10000);
    assert_int_equal(view_worker_by_id(engine_state(r->engine), SLICE("v")), 0);
    assert_true(worker(r, "w").attached);
}

static void a_restart_gives_everyone_a_full_lease(void **state) {
    struct fixture *r = *state;
    submit(r, 3, 1);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_tick(r, r->limits.lease_ms - 1);
    fixture_crash(r);
    fixture_tick(r, r->limits.lease_ms - 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
}

/* A number is never used again, also when the place of the worker in memory is. */
static void numbers_are_not_reused(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 1));
    uint32_t first = worker(r, "w").number;
    fixture_tick(r, r->limits.lease_ms);
    assert_ok(fixture_attach(r, "w", 2, 1));
    assert_true(worker(r, "w").number > first);
    struct worker_view view;
    assert_false(view_worker(engine_state(r->engine), engine_live(r->engine), first, &view));
    assert_false(view_worker(engine_state(r->engine), engine_live(r->engine), 0, &view));
}

/* ---- drain and detach ---- */

static void a_drained_worker_gets_nothing_new(void **state) {
    struct fixture *r = *state;
    assert_refused(r, fixture_drain(r, "w", true), ERR_NOT_FOUND, "there is no worker");
    assert_ok(fixture_attach(r, "w", 1, 2));
    submit(r, 3, 1);
    assert_ok(fixture_drain(r, "w", true));
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(fixture_drain(r, "w", true)); /* no change, no record */
    assert_int_equal(engine_lsn(r->engine), lsn);
    submit(r, 3, 1);
    assert_int_equal(fixture_state(r, 2, 0), JOB_READY);             /* takes nothing new */
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK)); /* and ends what it has */
    fixture_check_digests(r);
    assert_ok(fixture_attach(r, "w", 1, 2)); /* attaching anew does not end the drain */
    assert_int_equal(fixture_state(r, 2, 0), JOB_READY);
    assert_ok(fixture_drain(r, "w", false));
    assert_int_equal(fixture_state(r, 2, 0), JOB_DISPATCHED);
}

/* It may have been killed in the middle of its own drain: started again, it works. */
static void a_drain_of_its_own_ends_when_it_attaches_anew(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_drain_itself(r, "w"));
    submit(r, 3, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    fixture_check_digests(r);
    assert_ok(fixture_attach(r, "w", 2, 2));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_ok(fixture_drain_itself(r, "w"));
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(fixture_drain_itself(r, "w")); /* said again: nothing to record */
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(fixture_drain(r, "w", true)); /* but an operator's outlives it */
    fixture_check_digests(r);
    assert_ok(fixture_attach(r, "w", 3, 2));
    submit(r, 3, 1);
    assert_int_equal(fixture_state(r, 2, 0), JOB_READY);
}

static void detached_workers_get_nothing_and_lose_nothing(void **state) {
    struct fixture *r = *state;
    submit(r, 3, 1);
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(fixture_detach(r, "w", 1));
    submit(r, 3, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_int_equal(fixture_state(r, 2, 0), JOB_READY);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK)); /* a result counts, session or not */
}

static void credit_bounds_what_it_gets(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
    submit(r, 3, 4);
    assert_int_equal(fixture_counts(r).by_state[JOB_DISPATCHED], 1);
    assert_ok(fixture_heartbeat(r, "w", 1, 0, 0, 0));
    assert_int_equal(fixture_counts(r).by_state[JOB_DISPATCHED], 1);
    assert_ok(fixture_heartbeat(r, "w", 1, 99, 0, 0)); /* slots bound it as well */
    assert_int_equal(fixture_counts(r).by_state[JOB_DISPATCHED], 4);
}

/* ---- the fence ---- */

static void stale_messages_are_refused_and_counted(void **state) {
    struct fixture *r = *state;
    submit(r, 3, 1);
    assert_ok(fixture_attach(r, "w", 2, 1));
    assert_ok(fixture_attach(r, "v", 1, 1));
    const struct job_ref job = ref_of(1, 0);
    uint64_t stale = fixture_counts(r).stale_refused;
    assert_refused(r, fixture_done(r, "w", 2, ref_of(9, 0), 1, OUTCOME_OK), ERR_STALE, "not this worker's");
    assert_refused(r, fixture_done(r, "w", 2, ref_of(1, 5), 1, OUTCOME_OK), ERR_STALE, "not this worker's");
    assert_refused(r, fixture_done(r, "w", 2, job, 2, OUTCOME_OK), ERR_STALE, "attempt 2");
    assert_refused(r, fixture_done(r, "v", 1, job, 1, OUTCOME_OK), ERR_STALE, "not this worker's");
    assert_refused(r, fixture_done(r, "w", 1, job, 1, OUTCOME_OK), ERR_STALE, "not this worker's");
    assert_refused(r, fixture_started(r, "w", 3, job, 1), ERR_STALE, "not this worker's");
    assert_int_equal(fixture_counts(r).stale_refused, stale + 6);
    assert_ok(fixture_done(r, "w", 2, job, 1, OUTCOME_OK));
    assert_refused(r, fixture_started(r, "w", 2, job, 1), ERR_STALE, "not this worker's");
    assert_ok(
        fixture_done(r, "w", 2, job, 1, OUTCOME_EXIT)); /* repeated: the same acknowledgement, the first word counts */
    assert_true(r->reply.repeated);
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_refused(r, fixture_done(r, "w", 2, job, 0, OUTCOME_OK), ERR_STALE, "not this worker's");
    submit(r, 3, 2);
    assert_refused(r, fixture_done(r, "w", 2, ref_of(2, 0), 0, OUTCOME_OK), ERR_STALE, "attempt 0");
}

static void started_twice_and_progress(void **state) {
    struct fixture *r = *state;
    submit(r, 3, 1);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_started(r, "w", 1, ref_of(1, 0), 1));
    assert_false(r->reply.repeated);
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(fixture_started(r, "w", 1, ref_of(1, 0), 1));
    assert_true(r->reply.repeated);
    struct command cmd = {.kind = CMD_PROGRESS};
    cmd.as.attempt =
        (struct cmd_attempt){.worker = SLICE("w"), .incarnation = 1, .job = ref_of(1, 0), .attempt = 1, .percent = 100};
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(engine_lsn(r->engine), lsn);
    cmd.as.attempt.percent = 101;
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "between 0 and 100");
    cmd.as.attempt.percent = 1;
    cmd.as.attempt.attempt = 2;
    assert_refused(r, fixture_command(r, &cmd), ERR_STALE, "attempt 2");
}

static void results_are_checked(void **state) {
    struct fixture *r = *state;
    submit(r, 3, 1);
    assert_ok(fixture_attach(r, "w", 1, 1));
    static char large[70000];
    struct cmd_attempt good = {.worker = SLICE("w"), .incarnation = 1, .job = ref_of(1, 0), .attempt = 1};
    struct command cmd = {.kind = CMD_DONE};
#define SEND(...) (cmd.as.attempt = good, __VA_ARGS__, fixture_command(r, &cmd))
    assert_refused(r, SEND(cmd.as.attempt.outcome = OUTCOME_COUNT), ERR_INVALID, "does not end that way");
    assert_refused(r, SEND(cmd.as.attempt.outcome = OUTCOME_LOST), ERR_INVALID, "does not end that way");
    assert_refused(r, SEND(cmd.as.attempt.result = slice_of(large, 65537)), ERR_LIMIT, "result_bytes_max");
    assert_refused(r, SEND(cmd.as.attempt.result_hash = SLICE("x")), ERR_INVALID, "32 bytes");
    assert_refused(r, SEND(cmd.as.attempt.reason = slice_of(large, 1025)), ERR_LIMIT, "reason_bytes_max");
    assert_ok(SEND(cmd.as.attempt.result = SLICE("{\"n\":1}"), cmd.as.attempt.result_hash = slice_of(large, 32)));
#undef SEND
    struct job_view job = fixture_job(r, 1, 0);
    assert_true(slice_eq(job.result, SLICE("{\"n\":1}")));
    assert_int_equal(job.result_hash.len, 32);
    submit(r, 3, 1); /* a large result is a hash alone */
    good.job = ref_of(2, 0);
    cmd.as.attempt = good;
    cmd.as.attempt.result_hash = slice_of(large, 32);
    r->in.journal_free_bytes = 1 << 20;
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(fixture_job(r, 2, 0).result_hash.len, 32);
    submit(r, 3, 1);
    good.job = ref_of(3, 0);
    cmd.as.attempt = good;
    cmd.as.attempt.result = slice_of(large, 4000); /* there is room for it */
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_forget(r, 3));
}

static void effects_of_old_attempts_are_dropped(void **state) {
    struct fixture *r = *state;
    submit(r, 3, 1);
    assert_ok(fixture_attach(r, "w", 1, 1));
    struct attempt_effect old = {0};
    for (uint32_t i = 0; i < r->effects.count; i++) {
        const struct effect *e = vec_at(&r->effects, i);
        if (e->kind == EFFECT_ASSIGN) old = e->as.attempt;
    }
    struct job_view job;
    assert_true(view_attempt(engine_state(r->engine), &old, &job));
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    assert_false(view_attempt(engine_state(r->engine), &old, &job));
    fixture_tick(r, 2500);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_false(view_attempt(engine_state(r->engine), &old, &job)); /* the fence has moved on */
    old.job.flow.v = 77;
    assert_false(view_attempt(engine_state(r->engine), &old, &job));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(attach_is_checked),
        FIXTURE_TEST(answers_carry_lease_and_epoch),
        FIXTURE_TEST(an_earlier_incarnation_is_refused),
        FIXTURE_TEST(a_loss_may_cost_nothing),
        FIXTURE_TEST(an_exit_costs_a_retry_whatever_losses_do),
        FIXTURE_TEST(a_new_incarnation_delivers_old_results),
        FIXTURE_TEST(a_worker_keeps_the_attempts_that_are_its_own),
        FIXTURE_TEST(a_new_worker_that_holds_something),
        FIXTURE_TEST(resume_derives_what_was_not_sent),
        FIXTURE_TEST(a_lease_ends_in_steps),
        FIXTURE_TEST(a_restart_after_some_are_gone),
        FIXTURE_TEST(a_permanent_worker_stays_known),
        FIXTURE_TEST(a_heartbeat_renews_its_own_lease),
        FIXTURE_TEST(a_restart_gives_everyone_a_full_lease),
        FIXTURE_TEST(numbers_are_not_reused),
        FIXTURE_TEST(a_drained_worker_gets_nothing_new),
        FIXTURE_TEST(a_drain_of_its_own_ends_when_it_attaches_anew),
        FIXTURE_TEST(detached_workers_get_nothing_and_lose_nothing),
        FIXTURE_TEST(credit_bounds_what_it_gets),
        FIXTURE_TEST(stale_messages_are_refused_and_counted),
        FIXTURE_TEST(started_twice_and_progress),
        FIXTURE_TEST(results_are_checked),
        FIXTURE_TEST(effects_of_old_attempts_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
