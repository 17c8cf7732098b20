/* service_test.c: deployments, health, restarts, stops, moves and the way back to the version before. */
#include "engine_fixture.h"

#include <stdio.h>

#include "rules.h"
#include "service_version.h"
#include "state.h"

#define BASE_MS 3000 /* service_restart_ms */
#define CAP_MS 30000
#define RESET_MS 60000
#define HEALTHY_MS 300000

static struct options service_options(void) {
    struct options o;
    options_default(&o);
    o.kind = JOB_SERVICE;
    o.backoff_jitter_ms = 0;
    return o;
}

/* A flow of two jobs, "deploy" and "after" behind it; returns its id. */
static uint64_t deploy_with(struct fixture *r, const char *name, const char *body, const struct options *service) {
    struct options sets[2] = {*service};
    options_default(&sets[1]);
    sets[1].kind = JOB_BARRIER;
    struct parent_ref parent = {.name = SLICE("deploy")};
    static const uint8_t hash[32] = {1};
    struct job_spec jobs[2] = {
        {.name = SLICE("deploy"), .body = slice_str(body), .body_hash = slice_of(hash, 32), .service = slice_str(name)},
        {.name = SLICE("after"), .profile = 1, .parents = &parent, .parent_count = 1}};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 2, jobs, 2, false};
    return fixture_command(r, &cmd) == ERR_OK ? r->reply.flow.v : 0;
}

static uint64_t deploy(struct fixture *r, const char *body) {
    struct options o = service_options();
    return deploy_with(r, "web", body, &o);
}

static enum err ask(struct fixture *r, enum service_desired desired) {
    struct command cmd = {.kind = CMD_SERVICE, .tenant = slice_str(r->tenant)};
    cmd.as.service = (struct cmd_service){.name = SLICE("web"), .desired = desired};
    return fixture_command(r, &cmd);
}

static bool find_web(const struct fixture *r, struct service_view *ret) {
    return view_service(engine_state(r->engine), SLICE("acme"), SLICE("web"), ret);
}

static struct service_view web(const struct fixture *r) {
    struct service_view v;
    assert_true(find_web(r, &v));
    return v;
}

static struct why_job why_web(const struct fixture *r) {
    struct why_job why;
    assert_true(view_why_service(engine_state(r->engine), engine_live(r->engine), &r->limits, SLICE("acme"),
                                 SLICE("web"), &why));
    return why;
}

static struct job_view job_of(const struct fixture *r, struct job_ref ref) {
    struct job_view job;
    assert_true(view_job(engine_state(r->engine), ref, &job));
    return job;
}

static struct job_view runner(const struct fixture *r) {
    return job_of(r, web(r).runner);
}

static enum err say(struct fixture *r, const char *worker, struct job_ref job, uint32_t attempt, bool healthy) {
    struct command cmd = {.kind = CMD_HEALTH};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = slice_str(worker), .incarnation = 1, .job = job, .attempt = attempt, .healthy = healthy};
    return fixture_command(r, &cmd);
}

/* The open attempt of what runs, on worker "w". */
static void become_healthy(struct fixture *r) {
    struct job_view job = runner(r);
    assert_int_equal(job.state, JOB_DISPATCHED);
    assert_ok(fixture_started(r, "w", 1, job.ref, job.attempt));
    assert_ok(say(r, "w", job.ref, job.attempt, true));
}

static void end(struct fixture *r, enum outcome outcome) {
    struct job_view job = runner(r);
    assert_ok(fixture_done(r, "w", 1, job.ref, job.attempt, outcome));
}

/* Time goes by, and the worker is heard of. */
static void pass_time(struct fixture *r, int64_t ms) {
    for (; ms > 0; ms -= 10000) {
        assert_ok(fixture_heartbeat(r, "w", 1, 4, 0, 0));
        fixture_tick(r, ms < 10000 ? ms : 10000);
    }
}

static void setup_healthy(struct fixture *r, uint64_t *ret_flow) {
    assert_ok(fixture_attach(r, "w", 1, 4));
    uint64_t flow = deploy(r, "v1");
    assert_true(flow != 0);
    become_healthy(r);
    assert_int_equal(fixture_state(r, flow, 0), JOB_SUCCEEDED);
    if (ret_flow) *ret_flow = flow;
}

/* ---- deployments ---- */

static void a_deployment_succeeds_when_its_service_is_healthy(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 4));
    uint64_t flow = deploy(r, "v1");
    struct job_view job = runner(r);
    assert_int_equal(fixture_state(r, flow, 0), JOB_HELD);
    assert_int_equal(fixture_why(r, flow, 0).block, BLOCK_HEALTH);
    assert_int_equal(job.state, JOB_DISPATCHED);
    assert_true(slice_eq(job.body, SLICE("v1")));
    assert_ok(fixture_started(r, "w", 1, job.ref, job.attempt));
    assert_int_equal(why_web(r).block, BLOCK_HEALTH);
    assert_int_equal(fixture_state(r, flow, 1), JOB_WAITING);
    assert_ok(say(r, "w", job.ref, job.attempt, true));
    assert_int_equal(fixture_state(r, flow, 0), JOB_SUCCEEDED);
    assert_int_equal(fixture_state(r, flow, 1), JOB_SUCCEEDED); /* what waited for it to be healthy */
    assert_int_equal(fixture_flow(r, flow).state, FLOW_SUCCEEDED);
    assert_true(web(r).healthy && !web(r).deploying);
    assert_int_equal(web(r).version, 1);
    assert_int_equal(why_web(r).block, BLOCK_NOTHING);
    assert_int_equal(fixture_counts(r).services, 1);
}

static void a_word_of_health_tells_that_it_started(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 4));
    uint64_t flow = deploy(r, "v1");
    struct job_view job = runner(r);
    assert_ok(say(r, "w", job.ref, job.attempt, true)); /* STARTED was lost */
    assert_int_equal(runner(r).state, JOB_RUNNING);
    assert_int_equal(fixture_state(r, flow, 0), JOB_SUCCEEDED);
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(say(r, "w", job.ref, job.attempt, true)); /* the same word twice */
    assert_true(r->reply.repeated);
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(say(r, "w", job.ref, job.attempt, false));
    assert_false(web(r).healthy);
    assert_int_equal(fixture_state(r, flow, 0), JOB_SUCCEEDED);
}

static void a_new_version_waits_until_the_old_one_has_stopped(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view old = runner(r);
    uint64_t flow = deploy(r, "v2");
    struct job_view new = runner(r);
    assert_int_equal(job_of(r, old.ref).stop, STOP_CANCEL);
    assert_int_equal(new.state, JOB_WAITING);
    assert_int_equal(fixture_why(r, new.ref.flow.v, 0).block, BLOCK_VERSION);
    assert_int_equal(why_web(r).block, BLOCK_STOPPING);
    assert_ok(fixture_done(r, "w", 1, old.ref, old.attempt, OUTCOME_STOPPED));
    assert_int_equal(runner(r).state, JOB_DISPATCHED);
    assert_true(slice_eq(runner(r).body, SLICE("v2")));
    become_healthy(r);
    assert_int_equal(fixture_state(r, flow, 0), JOB_SUCCEEDED);
    assert_int_equal(web(r).version, 2);
    struct job_view gone;
    assert_false(view_job(engine_state(r->engine), old.ref, &gone)); /* nothing is kept of what nobody comes back to */
}

static void the_health_of_the_old_version_does_not_count(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view old = runner(r);
    uint64_t flow = deploy(r, "v2");
    assert_ok(say(r, "w", old.ref, old.attempt, false)); /* it has not heard of its end yet */
    assert_ok(say(r, "w", old.ref, old.attempt, true));
    assert_int_equal(fixture_state(r, flow, 0), JOB_HELD);
    assert_false(web(r).healthy);
}

static void a_version_that_is_not_healthy_in_time_gives_way_to_the_one_before(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view old = runner(r);
    uint64_t flow = deploy(r, "v2");
    assert_ok(fixture_done(r, "w", 1, old.ref, old.attempt, OUTCOME_STOPPED));
    struct job_view new = runner(r);
    assert_ok(fixture_started(r, "w", 1, new.ref, new.attempt));
    assert_int_equal(web(r).previous_version, 1);
    pass_time(r, HEALTHY_MS - 1);
    assert_int_equal(fixture_state(r, flow, 0), JOB_HELD);
    pass_time(r, 1);
    struct job_view failed = fixture_job(r, flow, 0);
    assert_int_equal(failed.state, JOB_FAILED);
    assert_int_equal(failed.cause, CAUSE_UNHEALTHY);
    assert_true(failed.dead_letter);
    assert_int_equal(fixture_state(r, flow, 1), JOB_FAILED);
    assert_int_equal(web(r).version, 1);
    assert_int_equal(runner(r).state, JOB_CANCELLED); /* until the failed one has stopped */
    assert_int_equal(why_web(r).block, BLOCK_STOPPING);
    assert_ok(fixture_done(r, "w", 1, new.ref, new.attempt, OUTCOME_STOPPED));
    assert_true(slice_eq(runner(r).body, SLICE("v1")));
    assert_int_equal(runner(r).attempt, 2);
    become_healthy(r);
    assert_true(web(r).healthy);
}

static void a_first_version_that_fails_leaves_nothing(void **state) {
    struct fixture *r = *state;
    uint64_t flow = deploy(r, "v1"); /* and no worker */
    fixture_tick(r, HEALTHY_MS);
    assert_int_equal(fixture_job(r, flow, 0).cause, CAUSE_UNHEALTHY);
    assert_int_equal(fixture_counts(r).services, 0);
    assert_int_equal(fixture_counts(r).flows, 1);
    struct service_view v;
    assert_false(find_web(r, &v));
    assert_ok(fixture_retry(r, ref_of(flow, 0))); /* a dead letter like any other: it deploys again */
    assert_int_equal(fixture_state(r, flow, 0), JOB_HELD);
    assert_ok(fixture_attach(r, "w", 1, 4));
    become_healthy(r);
    assert_int_equal(fixture_state(r, flow, 0), JOB_SUCCEEDED);
}

static void the_newest_deployment_wins(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view v1 = runner(r);
    uint64_t second = deploy(r, "v2");
    assert_ok(fixture_done(r, "w", 1, v1.ref, v1.attempt, OUTCOME_STOPPED));
    struct job_view v2 = runner(r);
    uint64_t third = deploy(r, "v3");
    assert_int_equal(fixture_job(r, second, 0).cause, CAUSE_REPLACED);
    assert_int_equal(runner(r).state, JOB_WAITING);
    uint64_t fourth = deploy(r, "v4"); /* v3 never began */
    assert_int_equal(fixture_job(r, third, 0).cause, CAUSE_REPLACED);
    assert_int_equal(fixture_counts(r).flows, 4 + 3); /* v1, v2 that stops, v4 */
    assert_ok(fixture_done(r, "w", 1, v2.ref, v2.attempt, OUTCOME_STOPPED));
    assert_true(slice_eq(runner(r).body, SLICE("v4")));
    pass_time(r, HEALTHY_MS);
    assert_int_equal(fixture_job(r, fourth, 0).cause, CAUSE_UNHEALTHY);
    assert_int_equal(web(r).version, 1); /* the last that was healthy */
}

static void a_deployment_that_is_called_off_is_undone(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view old = runner(r);
    uint64_t flow = deploy(r, "v2");
    assert_ok(fixture_cancel(r, ref_of(flow, UINT32_MAX)));
    assert_int_equal(fixture_state(r, flow, 0), JOB_CANCELLED);
    assert_int_equal(web(r).version, 1);
    assert_int_equal(job_of(r, old.ref).stop, STOP_CANCEL); /* that cannot be taken back: it stops, then runs again */
    assert_ok(fixture_done(r, "w", 1, old.ref, old.attempt, OUTCOME_STOPPED));
    assert_int_equal(runner(r).ref.flow.v, old.ref.flow.v);
    assert_int_equal(runner(r).attempt, 2);
}

/* A person says no to "asks", which takes "work" along, so "done" is undone; "deploy" comes next either way. */
static uint64_t submit_called_off(struct fixture *r) {
    enum { DEPLOYS, ASKS, WORKS };
    struct options sets[] = {service_options(), fixture_options(), fixture_options()};
    sets[DEPLOYS].on_upstream = UPSTREAM_RUN;
    sets[ASKS].gates = GATE_BIT(GATE_APPROVAL);
    struct parent_ref asks = {.name = SLICE("asks")};
    static const uint8_t hash[32] = {1};
    struct job_spec jobs[] = {
        {.name = SLICE("done"), .profile = WORKS, .undo_profile = WORKS + 1, .undo_body = SLICE("undo")},
        {.name = SLICE("asks"), .body_hash = slice_of(hash, 32), .profile = ASKS},
        {.name = SLICE("deploy"), .body = SLICE("v2"), .service = SLICE("web"), .parents = &asks, .parent_count = 1},
        {.name = SLICE("work"), .profile = WORKS, .parents = &asks, .parent_count = 1}};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 3, jobs, 4, false};
    cmd.as.submit.compensate_on = COMPENSATE_FAILURE;
    assert_ok(fixture_command(r, &cmd));
    return r->reply.flow.v;
}

static void a_deployment_that_its_own_record_calls_off_never_begins(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct service_view before = web(r);
    uint64_t flow = submit_called_off(r);
    assert_ok(fixture_done(r, "w", 1, ref_of(flow, 0), 1, OUTCOME_OK));
    fixture_tick(r, 1000);
    assert_ok(fixture_verdict(r, ref_of(flow, 1), VERDICT_DENY, NULL));
    assert_int_equal(fixture_job(r, flow, 3).cause, CAUSE_UPSTREAM); /* it failed, so the flow unwinds */
    assert_int_equal(fixture_job(r, flow, 2).cause, CAUSE_SAGA);
    struct service_view now = web(r);
    assert_int_equal(now.version, before.version);
    assert_int_equal(now.runner.flow.v, before.runner.flow.v);
    assert_int_equal(runner(r).stop, STOP_NONE); /* what runs well is not stopped for it */
    assert_true(now.healthy && !now.deploying);
    assert_int_equal(now.since.ms, before.since.ms);
    fixture_check_digests(r);
}

static void a_deadline_of_the_deploying_job_ends_it(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 4));
    struct options o = service_options();
    o.deadline_ms = r->in.wall.ms + 5000;
    uint64_t flow = deploy_with(r, "web", "v1", &o);
    struct job_view job = runner(r);
    fixture_tick(r, 5000);
    assert_int_equal(fixture_state(r, flow, 0), JOB_TIMED_OUT);
    assert_int_equal(job_of(r, job.ref).stop, STOP_CANCEL);
    assert_ok(fixture_done(r, "w", 1, job.ref, job.attempt, OUTCOME_STOPPED));
    assert_int_equal(fixture_counts(r).services, 0);
}

static void questions_come_before_the_deployment(void **state) {
    struct fixture *r = *state;
    static const uint8_t hash[32] = {1};
    assert_ok(fixture_attach(r, "w", 1, 4));
    struct options o = service_options();
    o.gates = GATE_BIT(GATE_POLICY);
    struct job_spec job = {
        .name = SLICE("deploy"), .body = SLICE("v1"), .body_hash = slice_of(hash, 32), .service = SLICE("web")};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &job, 1, false};
    assert_ok(fixture_command(r, &cmd));
    uint64_t flow = r->reply.flow.v;
    assert_int_equal(fixture_counts(r).services, 0);
    assert_ok(fixture_verdict(r, ref_of(flow, 0), VERDICT_CONSTRAIN, "read-only"));
    assert_int_equal(runner(r).state, JOB_DISPATCHED);
    assert_true(slice_eq(runner(r).constraints, SLICE("read-only"))); /* what was asked about is what runs */
    assert_refused(r, fixture_verdict(r, ref_of(flow, 0), VERDICT_ALLOW, NULL), ERR_INVALID, "its worker's word");
}

/* ---- restarts ---- */

static void restarts_wait_longer_each_time(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    int64_t wait = BASE_MS;
    for (uint32_t i = 1; i < 8; i++) {
        end(r, i % 2 ? OUTCOME_OK : OUTCOME_EXIT); /* a service is never done */
        assert_int_equal(runner(r).state, JOB_WAITING);
        assert_int_equal(web(r).due.ms, r->in.wall.ms + wait);
        assert_int_equal(why_web(r).block, BLOCK_TIME);
        pass_time(r, wait - 1);
        assert_int_equal(runner(r).state, JOB_WAITING);
        pass_time(r, 1);
        assert_int_equal(runner(r).attempt, i + 1);
        wait = wait * 2 < CAP_MS ? wait * 2 : CAP_MS;
    }
    assert_int_equal(wait, CAP_MS);
}

static void healthy_long_enough_restarts_count_anew(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    end(r, OUTCOME_EXIT);
    pass_time(r, BASE_MS);
    become_healthy(r);
    pass_time(r, RESET_MS - 1);
    end(r, OUTCOME_EXIT); /* a moment too early */
    assert_int_equal(web(r).restarts, 2);
    pass_time(r, 2 * BASE_MS);
    become_healthy(r);
    pass_time(r, RESET_MS);
    end(r, OUTCOME_EXIT);
    assert_int_equal(web(r).restarts, 1);
    assert_int_equal(web(r).due.ms, r->in.wall.ms + BASE_MS);
}

static void a_lost_worker_costs_no_wait(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    assert_ok(fixture_attach(r, "v", 1, 4));
    fixture_tick(r, 20000);
    assert_ok(fixture_heartbeat(r, "v", 1, 4, 0, 0));
    fixture_tick(r, 10000);
    assert_string_equal(fixture_worker_of(r, web(r).runner.flow.v, 0), "v");
    assert_int_equal(web(r).restarts, 0);
    assert_false(web(r).healthy);
}

static void an_exclusive_service_waits_for_the_lease(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 4));
    struct options o = service_options();
    o.exclusive = true;
    o.stop_within_ms = 1000;
    assert_true(deploy_with(r, "web", "v1", &o) != 0);
    become_healthy(r);
    struct job_view old = runner(r);
    assert_true(deploy_with(r, "web", "v2", &o) != 0);
    pass_time(r, 15000);
    assert_int_equal(runner(r).state, JOB_WAITING); /* the worker lives and has not confirmed: it may still run */
    assert_int_equal(job_of(r, old.ref).stop, STOP_CANCEL);
    assert_ok(fixture_attach(r, "v", 1, 4));
    fixture_tick(r, 20000);
    assert_ok(fixture_heartbeat(r, "v", 1, 4, 0, 0));
    fixture_tick(r, 10001);
    assert_string_equal(fixture_worker_of(r, web(r).runner.flow.v, 0), "v");
}

/* ---- stop, start, remove, drain ---- */

static void a_stopped_service_stays_stopped(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view job = runner(r);
    assert_ok(ask(r, SERVICE_STOPPED));
    assert_int_equal(why_web(r).block, BLOCK_STOPPING);
    assert_int_equal(runner(r).state, JOB_RUNNING); /* until the worker says so */
    assert_ok(fixture_done(r, "w", 1, job.ref, job.attempt, OUTCOME_EXIT));
    assert_int_equal(runner(r).state, JOB_CANCELLED);
    assert_int_equal(why_web(r).block, BLOCK_STOPPED);
    pass_time(r, 100000);
    assert_int_equal(runner(r).attempt, 1);
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(ask(r, SERVICE_STOPPED)); /* asked before */
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(ask(r, SERVICE_RUNNING));
    assert_int_equal(runner(r).attempt, 2);
    become_healthy(r);
}

static void a_stop_between_two_attempts_cancels_the_restart(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    end(r, OUTCOME_EXIT);
    assert_ok(ask(r, SERVICE_STOPPED));
    pass_time(r, 100000);
    assert_int_equal(runner(r).state, JOB_CANCELLED);
    assert_int_equal(runner(r).attempt, 1);
}

static void a_start_before_the_stop_is_confirmed_starts_afterwards(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    assert_ok(ask(r, SERVICE_STOPPED));
    assert_ok(ask(r, SERVICE_RUNNING));
    assert_int_equal(runner(r).attempt, 1);
    end(r, OUTCOME_STOPPED);
    assert_int_equal(runner(r).attempt, 2);
}

static void a_stop_ends_the_deployment(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view v1 = runner(r);
    uint64_t flow = deploy(r, "v2");
    assert_ok(ask(r, SERVICE_STOPPED));
    assert_int_equal(fixture_state(r, flow, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, flow, 0).cause, CAUSE_REQUEST);
    assert_int_equal(web(r).version, 1);
    assert_ok(fixture_done(r, "w", 1, v1.ref, v1.attempt, OUTCOME_STOPPED));
    assert_int_equal(runner(r).state, JOB_CANCELLED);
    assert_true(deploy(r, "v3") != 0); /* deploying is starting */
    assert_int_equal(web(r).desired, SERVICE_RUNNING);
    assert_true(slice_eq(runner(r).body, SLICE("v3")));
}

static void a_removed_service_is_forgotten_when_it_has_stopped(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view job = runner(r);
    assert_ok(ask(r, SERVICE_REMOVED));
    assert_int_equal(fixture_counts(r).services, 1);
    assert_refused(r, ask(r, SERVICE_RUNNING), ERR_STATE, "being removed");
    assert_int_equal(why_web(r).block, BLOCK_STOPPING);
    assert_ok(fixture_done(r, "w", 1, job.ref, job.attempt, OUTCOME_STOPPED));
    assert_int_equal(fixture_counts(r).services, 0);
    assert_int_equal(fixture_counts(r).flows, 1);
    assert_refused(r, ask(r, SERVICE_RUNNING), ERR_NOT_FOUND, "no service web");
}

static void a_service_leaves_a_worker_that_drains(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    assert_ok(fixture_attach(r, "v", 1, 4));
    struct job_view job = runner(r);
    assert_ok(fixture_drain(r, "w", true));
    assert_int_equal(runner(r).stop, STOP_MOVE);
    assert_int_equal(why_web(r).block, BLOCK_STOPPING);
    assert_ok(fixture_done(r, "w", 1, job.ref, job.attempt, OUTCOME_STOPPED));
    assert_string_equal(fixture_worker_of(r, job.ref.flow.v, 0), "v");
    assert_int_equal(web(r).restarts, 0); /* nobody's fault */
}

static void a_stop_overrules_a_move(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    assert_ok(fixture_drain(r, "w", true));
    assert_ok(ask(r, SERVICE_STOPPED));
    end(r, OUTCOME_STOPPED);
    assert_int_equal(runner(r).state, JOB_CANCELLED);
}

/* ---- crashes, refusals ---- */

static void a_crash_at_every_step_changes_nothing(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    fixture_crash(r);
    assert_true(web(r).healthy);
    struct held_attempt held = {web(r).runner, 1, HELD_RUNNING};
    assert_ok(fixture_attach_holding(r, "w", 1, &held, 1));
    uint64_t flow = deploy(r, "v2");
    fixture_crash(r);
    uint32_t before = r->effects.count;
    assert_ok(fixture_attach_holding(r, "w", 1, &held, 1));
    assert_int_equal(fixture_effects(r, before, EFFECT_STOP), 1); /* the stop is told again */
    assert_ok(fixture_done(r, "w", 1, held.job, 1, OUTCOME_STOPPED));
    fixture_crash(r);
    before = r->effects.count;
    assert_ok(fixture_attach_holding(r, "w", 1, NULL, 0));
    assert_int_equal(fixture_effects(r, before, EFFECT_ASSIGN), 1);
    fixture_crash(r);
    assert_ok(fixture_attach_holding(r, "w", 1, NULL, 0));
    pass_time(r, HEALTHY_MS);
    assert_int_equal(fixture_job(r, flow, 0).cause, CAUSE_UNHEALTHY); /* the clock is a fact */
    fixture_check_digests(r);
    fixture_crash(r);
    assert_int_equal(web(r).version, 1);
}

static void versions_answer_to_their_service_alone(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    uint64_t flow = web(r).runner.flow.v;
    assert_true(fixture_flow(r, flow).of_service);
    assert_refused(r, fixture_cancel(r, ref_of(flow, 0)), ERR_STATE, "version of service web");
    assert_refused(r, fixture_pause(r, PAUSE_FLOW, flow, "", true), ERR_STATE, "version of service web");
    assert_refused(r, fixture_forget(r, flow), ERR_STATE, "version of service web");
    struct options o;
    options_default(&o);
    assert_refused(r, fixture_add(r, flow, &o, (const char *const[]){"x"}, 1, false), ERR_STATE,
                   "version of service web");
    char parent[32];
    snprintf(parent, sizeof parent, "x: %llu/web", (unsigned long long)flow);
    assert_refused(r, fixture_submit(r, &o, (const char *const[]){parent}, 1), ERR_NOT_FOUND, "does not exist");
}

static void senseless_services_are_refused(void **state) {
    struct fixture *r = *state;
    struct options o = service_options();
    assert_refused(r, (deploy_with(r, "", "v1", &o), r->reply.err), ERR_INVALID, "must have a name");
    o.kind = JOB_COMMAND;
    assert_refused(r, (deploy_with(r, "web", "v1", &o), r->reply.err), ERR_INVALID, "not of that kind");
    o = service_options();
    o.gates = GATE_BIT(GATE_SERVICE);
    assert_refused(r, (deploy_with(r, "web", "v1", &o), r->reply.err), ERR_INVALID, "no such gate");
    o = service_options();
    o.healthy_within_ms = -1;
    assert_refused(r, (deploy_with(r, "web", "v1", &o), r->reply.err), ERR_INVALID, "time to become healthy");
    assert_refused(r, ask(r, SERVICE_STOPPED), ERR_NOT_FOUND, "no service");
    assert_refused(r, ask(r, SERVICE_DESIRED_COUNT), ERR_INVALID, "to run, to stop");
    struct options plain;
    options_default(&plain);
    plain.kind = JOB_COMMAND;
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_submit(r, &plain, (const char *const[]){"a"}, 1));
    uint64_t flow = r->reply.flow.v;
    assert_refused(r, say(r, "w", ref_of(flow, 0), 1, true), ERR_INVALID, "not that of a service");
    assert_refused(r, say(r, "w", ref_of(flow, 0), 2, true), ERR_STALE, "is not open");
}

static void a_service_belongs_to_its_tenant(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    r->tenant = "other";
    assert_refused(r, ask(r, SERVICE_STOPPED), ERR_NOT_FOUND, "no service web");
    assert_true(deploy(r, "theirs") != 0);
    assert_int_equal(fixture_counts(r).services, 2);
    r->limits.services_max = 2;
    struct command admin = {.kind = CMD_SERVICE};
    admin.as.service = (struct cmd_service){SLICE("acme"), SLICE("web"), SERVICE_STOPPED, false};
    assert_ok(fixture_command(r, &admin));
    assert_int_equal(web(r).desired, SERVICE_STOPPED);
}

/* ---- restarts on request, and what a worker says beside health ---- */

static enum err restart(struct fixture *r) {
    struct command cmd = {.kind = CMD_SERVICE, .tenant = slice_str(r->tenant)};
    cmd.as.service = (struct cmd_service){.name = SLICE("web"), .restart = true};
    return fixture_command(r, &cmd);
}

static void a_restart_stops_and_starts_it(void **state) {
    struct fixture *r = *state;
    assert_refused(r, restart(r), ERR_NOT_FOUND, "no service web");
    setup_healthy(r, NULL);
    uint32_t before = r->effects.count;
    assert_ok(restart(r));
    assert_int_equal(fixture_effects(r, before, EFFECT_STOP), 1);
    assert_int_equal(web(r).desired, SERVICE_RUNNING);
    fixture_crash(r); /* half of it is never there */
    struct held_attempt held = {web(r).runner, 1, HELD_RUNNING};
    assert_ok(fixture_attach_holding(r, "w", 1, &held, 1));
    end(r, OUTCOME_STOPPED);
    assert_int_equal(runner(r).attempt, 2); /* at once, without a wait */
    become_healthy(r);
    end(r, OUTCOME_EXIT);
    assert_int_equal(runner(r).state, JOB_WAITING); /* it would wait */
    assert_ok(restart(r));
    assert_int_equal(runner(r).attempt, 3);
    fixture_check_digests(r);
}

static void a_restart_of_what_does_not_run_is_refused(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    assert_ok(ask(r, SERVICE_STOPPED));
    assert_refused(r, restart(r), ERR_STATE, "is not running");
    assert_ok(ask(r, SERVICE_RUNNING));
    end(r, OUTCOME_STOPPED);
    become_healthy(r);
    assert_true(deploy(r, "v2") != 0);
    assert_refused(r, restart(r), ERR_STATE, "is being deployed");
}

static enum err remark(struct fixture *r, bool healthy, uint32_t port, const char *note) {
    struct job_view job = runner(r);
    struct command cmd = {.kind = CMD_HEALTH};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = job.ref,
                                          .attempt = job.attempt,
                                          .healthy = healthy,
                                          .port = port,
                                          .note = slice_str(note)};
    return fixture_command(r, &cmd);
}

static void where_it_listens_and_why_it_is_not_well_are_facts(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_true(deploy(r, "v1") != 0);
    wall_time since = web(r).since;
    fixture_tick(r, 10);
    uint32_t before = r->effects.count;
    assert_ok(remark(r, false, 8080, "connection refused"));
    assert_int_equal(fixture_effects(r, before, EFFECT_EVENT), 1); /* that it started; its health has not changed */
    assert_int_equal(web(r).port, 8080);
    assert_true(slice_eq(web(r).note, SLICE("connection refused")));
    assert_int_equal(web(r).since.ms, since.ms);
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(remark(r, false, 8080, "connection refused"));
    assert_int_equal(engine_lsn(r->engine), lsn); /* said before */
    fixture_crash(r);
    struct held_attempt held = {web(r).runner, 1, HELD_RUNNING};
    assert_ok(fixture_attach_holding(r, "w", 1, &held, 1));
    assert_int_equal(web(r).port, 8080);
    assert_true(slice_eq(web(r).note, SLICE("connection refused")));
    fixture_check_digests(r);
    assert_ok(remark(r, true, 8080, ""));
    assert_true(web(r).healthy && web(r).note.len == 0);
    end(r, OUTCOME_EXIT);
    assert_int_equal(web(r).port, 0); /* nobody listens there any more */
}

/* A worker may tell long stories, and the facts have room for so much: in the journal, in a snapshot. */
static void a_long_remark_is_cut_between_two_characters(void **state) {
    struct fixture *r = *state;
    char text[2000];
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_true(deploy(r, "v1") != 0);
    uint32_t most = (uint32_t)r->limits.reason_bytes_max;
    memset(text, 'x', sizeof text);
    memcpy(text + most - 1, "\xc3\xa9", 3); /* é over the edge */
    assert_ok(remark(r, false, 0, text));
    assert_int_equal(web(r).note.len, most - 1);
    fixture_check_digests(r);
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(remark(r, false, 0, text));
    assert_int_equal(engine_lsn(r->engine), lsn); /* said before: the part that is kept counts */
}

/* ---- corners ---- */

static void count_service(void *ctx, const struct service_view *v) {
    (void)v;
    ++*(uint32_t *)ctx;
}

static void count_question(void *ctx, const struct question_view *v) {
    (void)v;
    ++*(uint32_t *)ctx;
}

/* The first version was given up, and its worker has not stopped it yet. */
static void a_service_without_a_version_is_nearly_gone(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 4));
    uint64_t flow = deploy(r, "v1");
    struct job_view job = runner(r);
    uint32_t questions = 0, services = 0;
    view_each_question(engine_state(r->engine), count_question, &questions);
    assert_int_equal(questions, 0); /* nobody is asked */
    assert_ok(fixture_cancel(r, ref_of(flow, 0)));
    assert_int_equal(web(r).version, 0);
    assert_int_equal(web(r).runner.flow.v, 0);
    assert_int_equal(why_web(r).block, BLOCK_STOPPING);
    assert_refused(r, ask(r, SERVICE_STOPPED), ERR_STATE, "was ever healthy");
    view_each_service(engine_state(r->engine), count_service, &services);
    assert_int_equal(services, 1);
    assert_ok(fixture_done(r, "w", 1, job.ref, job.attempt, OUTCOME_STOPPED));
    services = 0;
    view_each_service(engine_state(r->engine), count_service, &services);
    assert_int_equal(services, 0);
    assert_false(view_why_service(engine_state(r->engine), engine_live(r->engine), &r->limits, SLICE("acme"),
                                  SLICE("web"), &(struct why_job){0}));
}

static void a_removal_ends_the_first_deployment(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 4));
    uint64_t flow = deploy(r, "v1");
    struct job_view job = runner(r);
    assert_ok(ask(r, SERVICE_REMOVED));
    assert_int_equal(fixture_state(r, flow, 0), JOB_FAILED);
    assert_ok(fixture_done(r, "w", 1, job.ref, job.attempt, OUTCOME_STOPPED));
    assert_int_equal(fixture_counts(r).services, 0);
    assert_ok(fixture_forget(r, flow)); /* the flow that deployed leaves like any other */
    assert_int_equal(fixture_counts(r).flows, 0);
    assert_int_equal(engine_state(r->engine)->profiles.count, 0);
}

static void words_of_one_that_is_stopped_do_not_count(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view job = runner(r);
    assert_ok(ask(r, SERVICE_STOPPED));
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(say(r, "w", job.ref, job.attempt, false));
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(fixture_drain(r, "w", true)); /* and it need not be told to move */
    assert_int_equal(engine_lsn(r->engine), lsn + 1);
    assert_int_equal(job_of(r, job.ref).stop, STOP_CANCEL);
}

static void what_was_rendered_is_what_runs(void **state) {
    struct fixture *r = *state;
    static const uint8_t rendered[32] = {2};
    struct options o = service_options();
    o.gates = GATE_BIT(GATE_RENDER);
    uint64_t flow = deploy_with(r, "web", "v${x}", &o);
    struct cmd_verdict c = fixture_answer(r, ref_of(flow, 0), VERDICT_ALLOW);
    c.payload = SLICE("v7");
    c.payload_hash = slice_of(rendered, 32);
    assert_ok(fixture_send_verdict(r, &c));
    assert_true(slice_eq(runner(r).body, SLICE("v7")));
    fixture_check_digests(r);
}

/* Beyond a thousand restarts in a row nobody counts. */
static void restarts_are_counted_up_to_a_thousand(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 4));
    struct options o = service_options();
    o.restart_base_ms = o.restart_cap_ms = 1;
    assert_true(deploy_with(r, "web", "v1", &o) != 0);
    for (uint32_t i = 0; i < 1002; i++) {
        end(r, OUTCOME_EXIT);
        if (i % 500 == 0) assert_ok(fixture_heartbeat(r, "w", 1, 4, 0, 0));
        fixture_tick(r, 1);
    }
    assert_int_equal(runner(r).state, JOB_DISPATCHED);
    assert_int_equal(web(r).restarts, 1000);
}

static void services_have_limits(void **state) {
    struct fixture *r = *state;
    r->limits.services_max = 1;
    fixture_crash(r);
    struct options o = service_options();
    assert_ok(fixture_submit_sets(r, (struct options[]){fixture_options()}, 1, (const char *[]){"a"}, 1, true));
    struct job_spec job = {.name = SLICE("deploy"), .body = SLICE("v1"), .service = SLICE("web")};
    struct command cmd = {.kind = CMD_ADD, .tenant = SLICE("acme")};
    cmd.as.add = (struct cmd_add){.flow = {1}, .jobs = {&o, 1, &job, 1, false}};
    assert_ok(fixture_command(r, &cmd)); /* a job that is added later may deploy as well */
    assert_refused(r, (deploy_with(r, "other", "v1", &o), r->reply.err), ERR_BUSY, "services_max");
    assert_true(deploy_with(r, "web", "v2", &o) != 0); /* one that is there needs no room */
}

/* ---- versions that are remembered ---- */

static const struct service_version *version(const struct fixture *r, uint32_t number) {
    struct service_view v = web(r);
    for (uint32_t i = 0; i < v.version_count; i++)
        if (v.versions[i].number == number) return &v.versions[i];
    fail_msg("version %u is not remembered", number);
    return NULL;
}

/* What would deploy it once more. */
static void spec_of(const struct service_version *v, struct arena *arena, struct rec_submitted *ret) {
    struct why why;
    assert_non_null(v->spec);
    assert_ok(tlv_decode(record_desc(REC_SUBMITTED), bytes_slice(v->spec), TLV_STRICT, arena, ret, &why));
}

/* The version that runs stops for the one that is deployed, and that one becomes healthy. */
static uint64_t deploy_healthy(struct fixture *r, const char *body) {
    struct job_view old = runner(r);
    uint64_t flow = deploy(r, body);
    assert_true(flow != 0);
    assert_ok(fixture_done(r, "w", 1, old.ref, old.attempt, OUTCOME_STOPPED));
    become_healthy(r);
    return flow;
}

static void a_service_remembers_what_became_of_its_versions(void **state) {
    struct fixture *r = *state;
    uint64_t first;
    setup_healthy(r, &first);
    assert_int_equal(version(r, 1)->state, VERSION_CURRENT);
    assert_int_equal(version(r, 1)->deployer.flow.v, first);
    assert_true(version(r, 1)->healthy_ms >= version(r, 1)->begun_ms);
    end(r, OUTCOME_EXIT); /* and it is started again */
    pass_time(r, 10000);
    become_healthy(r);
    uint64_t second = deploy_healthy(r, "v2");
    assert_int_equal(version(r, 1)->state, VERSION_RETIRED);
    assert_int_equal(version(r, 1)->restarts, 1);
    assert_true(version(r, 1)->ended_ms >= version(r, 1)->healthy_ms + 10000);
    assert_int_equal(version(r, 2)->state, VERSION_CURRENT);
    assert_int_equal(version(r, 2)->deployer.flow.v, second);
    struct job_view two = runner(r);
    assert_true(deploy(r, "v3") != 0);
    assert_int_equal(version(r, 3)->state, VERSION_DEPLOYING);
    assert_ok(fixture_done(r, "w", 1, two.ref, two.attempt, OUTCOME_STOPPED));
    pass_time(r, HEALTHY_MS);
    assert_int_equal(version(r, 3)->state, VERSION_FAILED);
    assert_true(version(r, 3)->healthy_ms == 0 && version(r, 3)->ended_ms != 0);
    assert_int_equal(version(r, 2)->state, VERSION_CURRENT); /* it is back */
    assert_int_equal(version(r, 2)->ended_ms, 0);
}

static void the_oldest_versions_are_forgotten(void **state) {
    struct fixture *r = *state;
    char body[16];
    setup_healthy(r, NULL);
    for (uint32_t i = 2; i <= SERVICE_VERSIONS + 3; i++) {
        snprintf(body, sizeof body, "v%u", i);
        (void)deploy_healthy(r, body);
    }
    fixture_crash(r);
    struct service_view v = web(r);
    assert_int_equal(v.version_count, SERVICE_VERSIONS);
    for (uint32_t i = 0; i < v.version_count; i++) assert_int_equal(v.versions[i].number, 4 + i);
}

static void a_version_keeps_what_deploys_it_once_more(void **state) {
    struct fixture *r = *state;
    struct rec_submitted spec;
    setup_healthy(r, NULL);
    fixture_crash(r);
    spec_of(version(r, 1), &r->kept, &spec);
    const struct rec_job *job = spec.jobs.at;
    const struct options *options = spec.profiles.at;
    assert_int_equal(spec.jobs.count, 1); /* without what stood behind it */
    assert_true(slice_eq(job->service, SLICE("web")) && slice_eq(job->body, SLICE("v1")));
    assert_int_equal(options->kind, JOB_SERVICE);
    assert_int_equal(options->restart_base_ms, BASE_MS); /* settings of today do not change it */
}

/* When a job of a flow started is over; what runs is the same. */
static void a_version_keeps_nothing_of_its_place_in_a_flow(void **state) {
    struct fixture *r = *state;
    struct options o = service_options();
    struct rec_submitted spec;
    o.delay_ms = 1000;
    o.trigger = TRIGGER_ALL_DONE;
    o.priority = 7;
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_true(deploy_with(r, "web", "v1", &o) != 0);
    pass_time(r, 1000);
    become_healthy(r);
    spec_of(version(r, 1), &r->kept, &spec);
    const struct options *kept = spec.profiles.at;
    assert_int_equal(kept->delay_ms, 0);
    assert_int_equal(kept->trigger, TRIGGER_ALL_SUCCEEDED);
    assert_int_equal(kept->priority, 7);
}

static void a_removed_version_is_retired(void **state) {
    struct fixture *r = *state;
    setup_healthy(r, NULL);
    struct job_view job = runner(r);
    assert_ok(ask(r, SERVICE_REMOVED));
    assert_int_equal(version(r, 1)->state, VERSION_RETIRED); /* its worker still has it */
    assert_ok(fixture_done(r, "w", 1, job.ref, job.attempt, OUTCOME_STOPPED));
    struct service_view gone;
    assert_false(find_web(r, &gone));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_deployment_succeeds_when_its_service_is_healthy),
        FIXTURE_TEST(a_word_of_health_tells_that_it_started),
        FIXTURE_TEST(a_new_version_waits_until_the_old_one_has_stopped),
        FIXTURE_TEST(the_health_of_the_old_version_does_not_count),
        FIXTURE_TEST(a_version_that_is_not_healthy_in_time_gives_way_to_the_one_before),
        FIXTURE_TEST(a_first_version_that_fails_leaves_nothing),
        FIXTURE_TEST(the_newest_deployment_wins),
        FIXTURE_TEST(a_deployment_that_is_called_off_is_undone),
        FIXTURE_TEST(a_deployment_that_its_own_record_calls_off_never_begins),
        FIXTURE_TEST(a_deadline_of_the_deploying_job_ends_it),
        FIXTURE_TEST(questions_come_before_the_deployment),
        FIXTURE_TEST(restarts_wait_longer_each_time),
        FIXTURE_TEST(healthy_long_enough_restarts_count_anew),
        FIXTURE_TEST(a_lost_worker_costs_no_wait),
        FIXTURE_TEST(an_exclusive_service_waits_for_the_lease),
        FIXTURE_TEST(a_stopped_service_stays_stopped),
        FIXTURE_TEST(a_stop_between_two_attempts_cancels_the_restart),
        FIXTURE_TEST(a_start_before_the_stop_is_confirmed_starts_afterwards),
        FIXTURE_TEST(a_stop_ends_the_deployment),
        FIXTURE_TEST(a_removed_service_is_forgotten_when_it_has_stopped),
        FIXTURE_TEST(a_service_leaves_a_worker_that_drains),
        FIXTURE_TEST(a_stop_overrules_a_move),
        FIXTURE_TEST(a_crash_at_every_step_changes_nothing),
        FIXTURE_TEST(versions_answer_to_their_service_alone),
        FIXTURE_TEST(senseless_services_are_refused),
        FIXTURE_TEST(a_service_belongs_to_its_tenant),
        FIXTURE_TEST(a_restart_stops_and_starts_it),
        FIXTURE_TEST(a_restart_of_what_does_not_run_is_refused),
        FIXTURE_TEST(where_it_listens_and_why_it_is_not_well_are_facts),
        FIXTURE_TEST(a_long_remark_is_cut_between_two_characters),
        FIXTURE_TEST(a_service_without_a_version_is_nearly_gone),
        FIXTURE_TEST(a_removal_ends_the_first_deployment),
        FIXTURE_TEST(words_of_one_that_is_stopped_do_not_count),
        FIXTURE_TEST(what_was_rendered_is_what_runs),
        FIXTURE_TEST(restarts_are_counted_up_to_a_thousand),
        FIXTURE_TEST(services_have_limits),
        FIXTURE_TEST(a_service_remembers_what_became_of_its_versions),
        FIXTURE_TEST(the_oldest_versions_are_forgotten),
        FIXTURE_TEST(a_version_keeps_what_deploys_it_once_more),
        FIXTURE_TEST(a_version_keeps_nothing_of_its_place_in_a_flow),
        FIXTURE_TEST(a_removed_version_is_retired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
