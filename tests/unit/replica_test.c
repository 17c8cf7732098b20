/* replica_test.c: versions that start before the old one stops, sets of replicas, and how many of them there are. */
#include "engine_fixture.h"

#include <stdio.h>

#include "state.h"

#define HEALTHY_MS 300000
#define SET_MAX 8u

static struct options service_options(enum update update) {
    struct options o;
    options_default(&o);
    o.kind = JOB_SERVICE;
    o.backoff_jitter_ms = 0;
    o.update = (uint8_t)update;
    return o;
}

static enum err deploy_as(struct fixture *r, const char *name, const char *body, const struct options *o) {
    static const uint8_t hash[32] = {1};
    struct job_spec job = {
        .name = SLICE("deploy"), .body = slice_str(body), .body_hash = slice_of(hash, 32), .service = slice_str(name)};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, &job, 1, false};
    return fixture_command(r, &cmd);
}

static uint64_t deploy(struct fixture *r, const char *body, enum update update) {
    struct options o = service_options(update);
    assert_ok(deploy_as(r, "web", body, &o));
    return r->reply.flow.v;
}

/* A job for each replica, one behind the other, and the barrier behind all of them: its ordinal is `replicas`. */
static uint64_t deploy_set(struct fixture *r, const char *body, uint32_t replicas) {
    static const uint8_t hash[32] = {1};
    static const char *const names[SET_MAX] = {"web.1", "web.2", "web.3", "web.4", "web.5", "web.6", "web.7", "web.8"};
    struct options sets[2] = {service_options(UPDATE_STOP_FIRST)};
    struct job_spec jobs[SET_MAX + 1] = {{.profile = 0}};
    struct parent_ref all[SET_MAX];
    options_default(&sets[1]);
    sets[0].replica_of = sets[1].replica_of = SLICE("web");
    sets[1].kind = JOB_BARRIER;
    sets[1].replicas = replicas;
    for (uint32_t i = 0; i < replicas; i++) {
        all[i] = (struct parent_ref){.name = slice_str(names[i])};
        jobs[i] = (struct job_spec){.name = slice_str(names[i]),
                                    .service = slice_str(names[i]),
                                    .body = slice_str(body),
                                    .body_hash = slice_of(hash, 32),
                                    .parents = i > 0 ? &all[i - 1] : NULL,
                                    .parent_count = i > 0};
    }
    jobs[replicas] = (struct job_spec){.name = SLICE("web"), .profile = 1, .parents = all, .parent_count = replicas};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 2, jobs, replicas + 1, false};
    assert_ok(fixture_command(r, &cmd));
    return r->reply.flow.v;
}

static enum err tell(struct fixture *r, const char *name, enum service_desired desired, bool restart) {
    struct command cmd = {.kind = CMD_SERVICE, .tenant = slice_str(r->tenant)};
    cmd.as.service = (struct cmd_service){.name = slice_str(name), .desired = desired, .restart = restart};
    return fixture_command(r, &cmd);
}

static enum err scale(struct fixture *r, const char *name, uint32_t replicas) {
    struct command cmd = {.kind = CMD_SERVICE, .tenant = slice_str(r->tenant)};
    cmd.as.service = (struct cmd_service){.name = slice_str(name), .replicas = replicas};
    return fixture_command(r, &cmd);
}

static bool find(const struct fixture *r, const char *name, struct service_view *ret) {
    return view_service(engine_state(r->engine), SLICE("acme"), slice_str(name), ret);
}

static struct service_view service(const struct fixture *r, const char *name) {
    struct service_view v;
    assert_true(find(r, name, &v));
    return v;
}

static bool is_there(const struct fixture *r, const char *name) {
    struct service_view v;
    return find(r, name, &v);
}

static struct job_view job_of(const struct fixture *r, struct job_ref ref) {
    struct job_view job;
    assert_true(view_job(engine_state(r->engine), ref, &job));
    return job;
}

static struct job_view runner(const struct fixture *r, const char *name) {
    return job_of(r, service(r, name).runner);
}

static enum err say(struct fixture *r, struct job_ref job, uint32_t attempt, bool healthy) {
    struct command cmd = {.kind = CMD_HEALTH};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = job, .attempt = attempt, .healthy = healthy, .port = 4000};
    return fixture_command(r, &cmd);
}

static void become_healthy(struct fixture *r, const char *name) {
    struct job_view job = runner(r, name);
    assert_int_equal(job.state, JOB_DISPATCHED);
    assert_ok(say(r, job.ref, job.attempt, true));
}

static void stopped(struct fixture *r, struct job_ref ref) {
    struct job_view job = job_of(r, ref);
    assert_int_equal(job.stop, STOP_CANCEL);
    assert_ok(fixture_done(r, "w", 1, ref, job.attempt, OUTCOME_STOPPED));
}

static void pass_time(struct fixture *r, int64_t ms) {
    for (; ms > 0; ms -= 10000) {
        assert_ok(fixture_heartbeat(r, "w", 1, 16, 0, 0));
        fixture_tick(r, ms < 10000 ? ms : 10000);
    }
}

static void setup_healthy(struct fixture *r) {
    assert_ok(fixture_attach(r, "w", 1, 16));
    (void)deploy(r, "v1", UPDATE_STOP_FIRST);
    become_healthy(r, "web");
}

static void setup_set(struct fixture *r, uint32_t replicas) {
    char name[16];
    assert_ok(fixture_attach(r, "w", 1, 16));
    uint64_t flow = deploy_set(r, "v1", replicas);
    for (uint32_t n = 1; n <= replicas; n++) {
        assert_int_equal(fixture_state(r, flow, n - 1), JOB_HELD);
        snprintf(name, sizeof name, "web.%u", n);
        become_healthy(r, name);
    }
    assert_int_equal(fixture_state(r, flow, replicas), JOB_SUCCEEDED);
}

/* ---- update: start_first ---- */

static void the_old_version_runs_until_the_new_one_is_healthy(void **state) {
    struct fixture *r = *state;
    setup_healthy(r);
    struct job_ref old = runner(r, "web").ref;
    uint64_t flow = deploy(r, "v2", UPDATE_START_FIRST);
    struct job_view new = runner(r, "web");
    assert_int_equal(job_of(r, old).stop, STOP_NONE);
    assert_int_equal(new.state, JOB_DISPATCHED); /* beside it */
    assert_true(service(r, "web").overlaps && service(r, "web").previous_healthy);
    assert_false(service(r, "web").healthy);
    fixture_check_digests(r);
    assert_ok(say(r, new.ref, new.attempt, true));
    assert_int_equal(fixture_state(r, flow, 0), JOB_SUCCEEDED);
    assert_int_equal(job_of(r, old).stop, STOP_CANCEL);
    assert_true(service(r, "web").healthy && !service(r, "web").overlaps);
    fixture_check_digests(r);
    stopped(r, old);
    assert_int_equal(runner(r, "web").stop, STOP_NONE);
    assert_int_equal(fixture_counts(r).flows, 3); /* two that deployed, one version */
}

static void the_old_version_is_not_touched_when_the_new_one_is_never_healthy(void **state) {
    struct fixture *r = *state;
    setup_healthy(r);
    struct service_view before = service(r, "web");
    uint64_t flow = deploy(r, "v2", UPDATE_START_FIRST);
    struct job_ref new = runner(r, "web").ref;
    pass_time(r, HEALTHY_MS);
    assert_int_equal(fixture_job(r, flow, 0).cause, CAUSE_UNHEALTHY);
    struct service_view now = service(r, "web");
    assert_int_equal(now.runner.flow.v, before.runner.flow.v);
    assert_true(now.healthy); /* it has been all the time: its worker has nothing to say */
    assert_int_equal(now.since.ms, before.since.ms);
    assert_int_equal(now.port, 4000);
    assert_int_equal(runner(r, "web").attempt, 1);
    assert_int_equal(runner(r, "web").stop, STOP_NONE);
    stopped(r, new);
    assert_int_equal(fixture_counts(r).services, 1);
    fixture_check_digests(r);
}

static void the_health_of_the_old_version_is_kept_meanwhile(void **state) {
    struct fixture *r = *state;
    setup_healthy(r);
    struct job_view old = runner(r, "web");
    uint64_t flow = deploy(r, "v2", UPDATE_START_FIRST);
    assert_ok(say(r, old.ref, old.attempt, false));
    assert_false(service(r, "web").previous_healthy);
    assert_ok(say(r, old.ref, old.attempt, true)); /* and does not make the new one a good one */
    assert_int_equal(fixture_state(r, flow, 0), JOB_HELD);
    assert_ok(fixture_done(r, "w", 1, old.ref, old.attempt, OUTCOME_EXIT)); /* it is started again beside the new one */
    pass_time(r, 3000);
    assert_int_equal(job_of(r, old.ref).state, JOB_DISPATCHED);
    assert_false(service(r, "web").previous_healthy);
    fixture_check_digests(r);
}

static void two_versions_at_most_run_at_once(void **state) {
    struct fixture *r = *state;
    setup_healthy(r);
    struct job_ref v1 = runner(r, "web").ref;
    (void)deploy(r, "v2", UPDATE_START_FIRST);
    struct job_ref v2 = runner(r, "web").ref;
    uint64_t third = deploy(r, "v3", UPDATE_START_FIRST);
    assert_int_equal(runner(r, "web").state, JOB_WAITING); /* v2 is on its way out */
    assert_int_equal(job_of(r, v1).stop, STOP_NONE);
    stopped(r, v2);
    assert_int_equal(runner(r, "web").state, JOB_DISPATCHED);
    become_healthy(r, "web");
    assert_int_equal(fixture_state(r, third, 0), JOB_SUCCEEDED);
    stopped(r, v1);
    fixture_check_digests(r);
}

static void a_removed_service_waits_for_both_versions(void **state) {
    struct fixture *r = *state;
    setup_healthy(r);
    struct job_ref v1 = runner(r, "web").ref;
    uint64_t flow = deploy(r, "v2", UPDATE_START_FIRST);
    struct job_ref v2 = runner(r, "web").ref;
    assert_ok(tell(r, "web", SERVICE_REMOVED, false));
    assert_int_equal(fixture_job(r, flow, 0).cause, CAUSE_REQUEST);
    fixture_check_digests(r); /* two that are on their way out */
    (void)deploy(r, "v3", UPDATE_START_FIRST);
    assert_int_equal(runner(r, "web").state, JOB_WAITING);
    stopped(r, v1);
    assert_int_equal(runner(r, "web").state, JOB_WAITING);
    fixture_check_digests(r);
    stopped(r, v2);
    assert_int_equal(runner(r, "web").state, JOB_DISPATCHED);
}

static void a_newer_version_that_stops_first_stops_the_old_one(void **state) {
    struct fixture *r = *state;
    setup_healthy(r);
    struct job_ref v1 = runner(r, "web").ref;
    (void)deploy(r, "v2", UPDATE_START_FIRST);
    struct job_ref v2 = runner(r, "web").ref;
    (void)deploy(r, "v3", UPDATE_STOP_FIRST);
    assert_int_equal(job_of(r, v1).stop, STOP_CANCEL);
    stopped(r, v2);
    assert_int_equal(runner(r, "web").state, JOB_WAITING);
    stopped(r, v1);
    assert_int_equal(runner(r, "web").state, JOB_DISPATCHED);
    fixture_check_digests(r);
}

static void a_version_that_is_to_be_alone_is_stopped_first(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 16));
    struct options o = service_options(UPDATE_STOP_FIRST);
    o.exclusive = true;
    assert_ok(deploy_as(r, "web", "v1", &o));
    become_healthy(r, "web");
    struct job_ref old = runner(r, "web").ref;
    (void)deploy(r, "v2", UPDATE_START_FIRST);
    assert_int_equal(job_of(r, old).stop, STOP_CANCEL);
    assert_int_equal(runner(r, "web").state, JOB_WAITING);
    o.update = UPDATE_START_FIRST;
    assert_refused(r, deploy_as(r, "web", "v3", &o), ERR_INVALID, "`exclusive: true` forbids");
}

static void a_stopped_service_has_nothing_to_keep(void **state) {
    struct fixture *r = *state;
    setup_healthy(r);
    struct job_ref old = runner(r, "web").ref;
    assert_ok(tell(r, "web", SERVICE_STOPPED, false));
    stopped(r, old);
    (void)deploy(r, "v2", UPDATE_START_FIRST);
    assert_false(service(r, "web").overlaps);
    assert_int_equal(job_of(r, old).state, JOB_CANCELLED);
    become_healthy(r, "web");
    assert_int_equal(fixture_counts(r).flows, 3);
}

/* ---- sets ---- */

static void replicas_are_deployed_one_after_the_other(void **state) {
    struct fixture *r = *state;
    setup_set(r, 3);
    struct job_ref first = runner(r, "web.1").ref, second = runner(r, "web.2").ref;
    uint64_t flow = deploy_set(r, "v2", 3);
    assert_int_equal(job_of(r, first).stop, STOP_CANCEL);
    assert_int_equal(job_of(r, second).stop, STOP_NONE); /* its turn has not come */
    stopped(r, first);
    become_healthy(r, "web.1");
    stopped(r, second);
    struct job_ref failed = runner(r, "web.2").ref;
    pass_time(r, HEALTHY_MS);
    assert_int_equal(fixture_job(r, flow, 1).cause, CAUSE_UNHEALTHY);
    assert_int_equal(fixture_job(r, flow, 2).cause, CAUSE_UPSTREAM);
    assert_int_equal(fixture_job(r, flow, 3).cause, CAUSE_UPSTREAM);
    stopped(r, failed);
    assert_true(slice_eq(runner(r, "web.1").body, SLICE("v2"))); /* it is healthy: it stays */
    assert_true(slice_eq(runner(r, "web.2").body, SLICE("v1"))); /* rolled back */
    assert_true(slice_eq(runner(r, "web.3").body, SLICE("v1"))); /* never touched */
    assert_int_equal(service(r, "web.3").version, 1);
}

static void the_highest_replicas_go_when_a_deployment_has_fewer(void **state) {
    struct fixture *r = *state;
    static const char *const names[] = {"web.1", "web.2", "web.3", "web.4"};
    struct job_ref old[4];
    setup_set(r, 4);
    for (uint32_t i = 0; i < 4; i++) old[i] = runner(r, names[i]).ref;
    uint64_t flow = deploy_set(r, "v2", 2);
    stopped(r, old[0]);
    become_healthy(r, "web.1");
    stopped(r, old[1]);
    assert_int_equal(job_of(r, old[3]).stop, STOP_NONE); /* until the others are there */
    become_healthy(r, "web.2");
    assert_int_equal(fixture_state(r, flow, 2), JOB_SUCCEEDED);
    stopped(r, old[3]);
    stopped(r, old[2]);
    assert_false(is_there(r, "web.3") || is_there(r, "web.4"));
    assert_true(is_there(r, "web.1") && is_there(r, "web.2"));
    fixture_check_digests(r);
}

static void a_set_takes_the_place_of_a_service_without_replicas_and_back(void **state) {
    struct fixture *r = *state;
    setup_healthy(r);
    struct job_ref alone = runner(r, "web").ref;
    (void)deploy_set(r, "v2", 2);
    become_healthy(r, "web.1");
    assert_int_equal(job_of(r, alone).stop, STOP_NONE);
    become_healthy(r, "web.2");
    stopped(r, alone);
    assert_false(is_there(r, "web"));
    struct job_ref first = runner(r, "web.1").ref, second = runner(r, "web.2").ref;
    (void)deploy(r, "v3", UPDATE_STOP_FIRST);
    assert_int_equal(job_of(r, first).stop, STOP_NONE);
    become_healthy(r, "web");
    stopped(r, first);
    stopped(r, second);
    assert_int_equal(fixture_counts(r).services, 1);
}

static void a_set_is_scaled(void **state) {
    struct fixture *r = *state;
    setup_set(r, 2);
    assert_ok(scale(r, "web", 4));
    assert_int_equal(runner(r, "web.4").state, JOB_DISPATCHED);
    assert_true(slice_eq(runner(r, "web.4").body, SLICE("v1")));
    assert_int_equal(service(r, "web.4").replica, 4);
    assert_true(slice_eq(service(r, "web.4").replica_of, SLICE("web")));
    assert_false(service(r, "web.4").deploying);
    become_healthy(r, "web.3");
    become_healthy(r, "web.4");
    fixture_check_digests(r);
    struct job_ref third = runner(r, "web.3").ref, fourth = runner(r, "web.4").ref;
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(scale(r, "web", 4)); /* it is so */
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(scale(r, "web", 3));
    assert_int_equal(job_of(r, third).stop, STOP_NONE);
    stopped(r, fourth);
    assert_false(is_there(r, "web.4"));
    struct job_ref second = runner(r, "web.2").ref;
    assert_ok(scale(r, "web", 1));
    stopped(r, third);
    stopped(r, second);
    assert_int_equal(fixture_counts(r).services, 1);
    assert_true(is_there(r, "web.1"));
}

static void a_replica_comes_back_while_it_is_being_removed(void **state) {
    struct fixture *r = *state;
    setup_set(r, 2);
    struct job_ref second = runner(r, "web.2").ref;
    assert_ok(scale(r, "web", 1));
    assert_ok(scale(r, "web", 2));
    assert_int_equal(runner(r, "web.2").state, JOB_WAITING); /* behind the old one */
    stopped(r, second);
    assert_int_equal(runner(r, "web.2").state, JOB_DISPATCHED);
    fixture_check_digests(r);
}

static void what_cannot_be_scaled_says_so(void **state) {
    struct fixture *r = *state;
    assert_refused(r, scale(r, "web", 2), ERR_NOT_FOUND, "there is no service web");
    setup_set(r, 2);
    assert_refused(r, scale(r, "web", 101), ERR_LIMIT, "replicas_max");
    struct options o = service_options(UPDATE_STOP_FIRST);
    assert_ok(deploy_as(r, "web.3", "own", &o));
    become_healthy(r, "web.3");
    assert_refused(r, scale(r, "web", 3), ERR_STATE, "web.3 is a service of its own");
    assert_refused(r, scale(r, "web.3", 3), ERR_STATE, "web.3 has no replicas");
    assert_ok(tell(r, "web.3", SERVICE_REMOVED, false));
    assert_ok(tell(r, "web", SERVICE_STOPPED, false));
    assert_refused(r, scale(r, "web", 3), ERR_STATE, "start it first");
    (void)deploy_set(r, "v2", 2);
    assert_refused(r, scale(r, "web", 3), ERR_STATE, "web.1 is being deployed");
}

static void the_verbs_act_on_the_set(void **state) {
    struct fixture *r = *state;
    setup_set(r, 2);
    struct job_ref first = runner(r, "web.1").ref, second = runner(r, "web.2").ref;
    assert_ok(tell(r, "web", SERVICE_STOPPED, false));
    stopped(r, first);
    stopped(r, second);
    assert_refused(r, tell(r, "web", SERVICE_RUNNING, true), ERR_STATE, "is not running: start it");
    assert_ok(tell(r, "web.2", SERVICE_RUNNING, false)); /* one of them */
    assert_int_equal(runner(r, "web.1").state, JOB_CANCELLED);
    assert_int_equal(runner(r, "web.2").state, JOB_DISPATCHED);
    assert_ok(tell(r, "web", SERVICE_RUNNING, false));
    become_healthy(r, "web.1");
    become_healthy(r, "web.2");
    assert_ok(tell(r, "web", SERVICE_RUNNING, true));
    stopped(r, first);
    stopped(r, second);
    assert_int_equal(runner(r, "web.1").attempt, 3);
    assert_ok(tell(r, "web", SERVICE_REMOVED, false));
    stopped(r, first);
    stopped(r, second);
    assert_int_equal(fixture_counts(r).services, 0);
    assert_refused(r, tell(r, "web", SERVICE_STOPPED, false), ERR_NOT_FOUND, "there is no service web");
}

static void what_is_no_replica_says_so(void **state) {
    struct fixture *r = *state;
    struct options o = service_options(UPDATE_STOP_FIRST);
    o.replica_of = SLICE("web");
    assert_refused(r, deploy_as(r, "web", "v1", &o), ERR_INVALID, "web is no replica of web");
    assert_refused(r, deploy_as(r, "web.0", "v1", &o), ERR_INVALID, "web.0 is no replica");
    assert_refused(r, deploy_as(r, "web.01", "v1", &o), ERR_INVALID, "web.01 is no replica");
    assert_refused(r, deploy_as(r, "web.257", "v1", &o), ERR_INVALID, "web.1 to web.256");
    o.replicas = 2;
    assert_refused(r, deploy_as(r, "web.1", "v1", &o), ERR_INVALID, "one job for each");
    o.kind = JOB_BARRIER;
    o.replicas = 101;
    assert_refused(r, deploy_as(r, "", "v1", &o), ERR_LIMIT, "replicas_max");
    o.replicas = 2;
    o.replica_of = SLICE("");
    assert_refused(r, deploy_as(r, "", "v1", &o), ERR_INVALID, "both `replica_of` and `replicas`");
    options_default(&o);
    o.update = UPDATE_START_FIRST;
    assert_refused(r, deploy_as(r, "", "v1", &o), ERR_INVALID, "`update` is of services");
}

/* ---- placement ---- */

static void replicas_are_spread_over_workers(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "a", 1, 8));
    assert_ok(fixture_attach(r, "b", 1, 2)); /* the less loaded is always `a` */
    struct options o = service_options(UPDATE_STOP_FIRST);
    o.replica_of = SLICE("web");
    assert_ok(deploy_as(r, "web.1", "v1", &o));
    assert_ok(deploy_as(r, "web.2", "v1", &o));
    assert_ok(deploy_as(r, "web.3", "v1", &o));
    assert_ok(deploy_as(r, "web.4", "v1", &o));
    assert_ok(deploy_as(r, "web.5", "v1", &o)); /* `b` is full: a preference, not a demand */
    uint32_t first = runner(r, "web.1").worker, on_first = 0;
    static const char *const names[] = {"web.1", "web.2", "web.3", "web.4"};
    for (uint32_t i = 0; i < 4; i++) on_first += runner(r, names[i]).worker == first;
    assert_int_equal(on_first, 2);
    assert_int_equal(runner(r, "web.5").state, JOB_DISPATCHED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(the_old_version_runs_until_the_new_one_is_healthy),
        FIXTURE_TEST(the_old_version_is_not_touched_when_the_new_one_is_never_healthy),
        FIXTURE_TEST(the_health_of_the_old_version_is_kept_meanwhile),
        FIXTURE_TEST(two_versions_at_most_run_at_once),
        FIXTURE_TEST(a_removed_service_waits_for_both_versions),
        FIXTURE_TEST(a_newer_version_that_stops_first_stops_the_old_one),
        FIXTURE_TEST(a_version_that_is_to_be_alone_is_stopped_first),
        FIXTURE_TEST(a_stopped_service_has_nothing_to_keep),
        FIXTURE_TEST(replicas_are_deployed_one_after_the_other),
        FIXTURE_TEST(the_highest_replicas_go_when_a_deployment_has_fewer),
        FIXTURE_TEST(a_set_takes_the_place_of_a_service_without_replicas_and_back),
        FIXTURE_TEST(a_set_is_scaled),
        FIXTURE_TEST(a_replica_comes_back_while_it_is_being_removed),
        FIXTURE_TEST(what_cannot_be_scaled_says_so),
        FIXTURE_TEST(the_verbs_act_on_the_set),
        FIXTURE_TEST(what_is_no_replica_says_so),
        FIXTURE_TEST(replicas_are_spread_over_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
