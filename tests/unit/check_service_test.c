/* check_service_test.c: the checkers of services and of the policy see runs that break their promises, and must object;
 * and some that do not. */
#include "trace_fixture.h"

#define VERSION(id)                                                                          \
    .kind = TW_VERSION, .as.version = {.flow = (id),                                         \
                                       .tenant = bytes("t"),                                 \
                                       .service = bytes("web"),                              \
                                       .runner = &(const struct trace_job){.kind = TK_WORK}, \
                                       .by_flow = 1}
#define OF(id, o, n) \
    .as.attempt = {.flow = (id), .ordinal = (o), .attempt = (n), .worker = bytes("w"), .incarnation = 1}
#define HEALTH(id, n) .kind = TR_HEALTH, .as.health = {.flow = (id), .attempt = (n), .healthy = true}
#define SAID(id, n) .kind = TA_ASKED, .as.asked = {.ask = TQ_HEALTH, .flow = (id), .attempt = (n), .healthy = true}
#define STOPPED .kind = TR_SERVICE, .as.service = {bytes("t"), bytes("web"), TY_STOPPED}
#define SUCCEEDED .kind = TW_SEEN, .as.seen = {.lsn = lsn, .flow = 1, .state = TS_SUCCEEDED}
#define CHILD \
    .kind = TW_PROCESS, .as.process = {.flow = 1, .ordinal = 1, .attempt = 1, .worker = bytes("w"), .incarnation = 1}

/* Job 0 of flow 1 deploys version 2, whose first attempt is given to w; job 1 waits for it. */
static void deploy(void) {
    const uint32_t parent = 0;
    const struct trace_job jobs[] = {{.kind = TK_SERVICE}, {.kind = TK_WORK, .parents = &parent, .parent_count = 1}};
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = 4});
    SAY(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .tenant = bytes("t"), .jobs = jobs, .job_count = 2});
    SAY(VERSION(2));
    SAY(.kind = TR_ASSIGNED, OF(2, 0, 1));
    durable();
}

static void a_service_that_becomes_healthy(void **state) {
    (void)state;
    deploy();
    SAY(SAID(2, 1));
    SAY(HEALTH(2, 1));
    durable();
    SAY(SUCCEEDED);
    SAY(.kind = TR_ENDED, OF(2, 0, 1));
    SAY(.kind = TR_ASSIGNED, OF(2, 0, 2)); /* as often as it takes */
    SAY(.kind = TR_ASSIGNED, OF(1, 1, 1));
    durable();
    SAY(CHILD);
}

static void deployed_without_health(void **state) {
    (void)state;
    deploy();
    OBJECTION("service", SUCCEEDED);
}

static void child_of_a_deployment_without_health(void **state) {
    (void)state;
    deploy();
    SAY(.kind = TR_ASSIGNED, OF(1, 1, 1));
    durable();
    OBJECTION("service", CHILD);
}

static void health_that_nobody_said(void **state) {
    (void)state;
    deploy();
    SAY(SAID(2, 2));
    OBJECTION("service", HEALTH(2, 1));
}

static void health_of_another_version(void **state) {
    (void)state;
    deploy();
    SAY(.kind = TW_VERSION, .as.version = {.flow = 3,
                                           .tenant = bytes("t"),
                                           .service = bytes("web"),
                                           .runner = &(const struct trace_job){.kind = TK_WORK},
                                           .by_flow = 7});
    SAY(SAID(3, 1));
    SAY(HEALTH(3, 1));
    durable();
    OBJECTION("service", SUCCEEDED);
}

static void two_versions_at_once(void **state) {
    (void)state;
    deploy();
    SAY(VERSION(3));
    OBJECTION("service", .kind = TR_ASSIGNED, OF(3, 0, 1));
}

/* Version 2 is healthy, and version 3, which starts first, is deployed by flow 7. */
static void deploy_beside(void) {
    static const struct trace_job runner = {.kind = TK_WORK, .start_first = true};
    deploy();
    SAY(SAID(2, 1));
    SAY(HEALTH(2, 1));
    SAY(.kind = TW_VERSION,
        .as.version = {.flow = 3, .tenant = bytes("t"), .service = bytes("web"), .runner = &runner, .by_flow = 7});
    SAY(.kind = TR_ASSIGNED, OF(3, 0, 1));
}

static void a_version_that_starts_first_runs_beside_the_old_one(void **state) {
    (void)state;
    deploy_beside();
    SAY(.kind = TR_ENDED, OF(2, 0, 1));
    SAY(.kind = TR_ASSIGNED, OF(2, 0, 2)); /* either is started again */
    SAY(.kind = TR_ENDED, OF(3, 0, 1));
    SAY(.kind = TR_ASSIGNED, OF(3, 0, 2));
}

static void an_old_version_that_starts_again_beside_a_healthy_one(void **state) {
    (void)state;
    deploy_beside();
    SAY(SAID(3, 1));
    SAY(HEALTH(3, 1));
    SAY(.kind = TR_ENDED, OF(2, 0, 1));
    OBJECTION("service", .kind = TR_ASSIGNED, OF(2, 0, 2));
}

static void three_versions_at_once(void **state) {
    (void)state;
    static const struct trace_job runner = {.kind = TK_WORK, .start_first = true};
    deploy_beside();
    SAY(.kind = TW_VERSION,
        .as.version = {.flow = 4, .tenant = bytes("t"), .service = bytes("web"), .runner = &runner, .by_flow = 8});
    OBJECTION("service", .kind = TR_ASSIGNED, OF(4, 0, 1));
}

static void a_version_beside_one_that_is_to_be_alone(void **state) {
    (void)state;
    static const struct trace_job alone = {.kind = TK_WORK, .exclusive = true};
    static const struct trace_job runner = {.kind = TK_WORK, .start_first = true};
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = 4});
    SAY(.kind = TW_VERSION,
        .as.version = {.flow = 2, .tenant = bytes("t"), .service = bytes("web"), .runner = &alone, .by_flow = 1});
    SAY(.kind = TR_ASSIGNED, OF(2, 0, 1));
    SAY(.kind = TW_VERSION,
        .as.version = {.flow = 3, .tenant = bytes("t"), .service = bytes("web"), .runner = &runner, .by_flow = 7});
    OBJECTION("service", .kind = TR_ASSIGNED, OF(3, 0, 1));
}

static void a_replica_that_was_scaled_away(void **state) {
    (void)state;
    static const struct trace_job runner = {.kind = TK_WORK, .replica_of = {(const uint8_t *)"web", 3}};
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = 4});
    SAY(.kind = TW_VERSION,
        .as.version = {.flow = 2, .tenant = bytes("t"), .service = bytes("web.1"), .runner = &runner, .by_flow = 1});
    SAY(.kind = TW_VERSION,
        .as.version = {.flow = 3, .tenant = bytes("t"), .service = bytes("web.2"), .runner = &runner, .by_flow = 1});
    SAY(.kind = TR_SCALED, .as.scaled = {bytes("t"), bytes("web"), 1, 0});
    SAY(.kind = TR_ASSIGNED, OF(2, 0, 1));
    OBJECTION("service", .kind = TR_ASSIGNED, OF(3, 0, 1));
}

static void stopped_and_started_again(void **state) {
    (void)state;
    deploy();
    SAY(STOPPED);
    SAY(.kind = TR_ENDED, OF(2, 0, 1));
    OBJECTION("service", .kind = TR_ASSIGNED, OF(2, 0, 2));
}

static void a_stop_that_was_lost_is_none(void **state) {
    (void)state;
    deploy();
    uint64_t head = lsn;
    SAY(STOPPED);
    restart(head);
    SAY(.kind = TR_ENDED, OF(2, 0, 1));
    SAY(.kind = TR_ASSIGNED, OF(2, 0, 2));
}

/* ---- the policy ---- */

#define POLICY(n) .kind = TR_POLICY, .as.policy.version = (n)
#define ALLOWED(n) .kind = TR_VERDICT, .as.verdict = {.flow = 1, .gate = TG_POLICY, .verdict = TV_ALLOW, .policy = (n)}

static void ask_policy(void) {
    const struct trace_job job = {.kind = TK_WORK, .gates = TRACE_GATE_BIT(TG_POLICY)};
    SAY(.kind = TR_WORKER, .as.worker = {.worker = bytes("w"), .incarnation = 1, .slots = 4});
    SAY(.kind = TR_SUBMITTED, .as.jobs = {.flow = 1, .tenant = bytes("t"), .jobs = &job, .job_count = 1});
}

static void a_permission_in_force(void **state) {
    (void)state;
    ask_policy();
    SAY(POLICY(1));
    SAY(ALLOWED(1));
    SAY(.kind = TR_ASSIGNED, OF(1, 0, 1));
    SAY(POLICY(2)); /* too late for what has begun */
}

static void a_permission_of_before(void **state) {
    (void)state;
    ask_policy();
    SAY(POLICY(1));
    SAY(ALLOWED(1));
    SAY(POLICY(2));
    assert_false(say((struct trace_entry){.kind = TR_ASSIGNED, OF(1, 0, 1)}));
    assert_memory_equal(check_finding(c), "policy: ", 8);
}

static void a_change_that_was_lost_is_none(void **state) {
    (void)state;
    ask_policy();
    SAY(POLICY(1));
    SAY(ALLOWED(1));
    uint64_t head = lsn;
    SAY(POLICY(2));
    restart(head);
    SAY(.kind = TR_ASSIGNED, OF(1, 0, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_service_that_becomes_healthy),
        T(deployed_without_health),
        T(child_of_a_deployment_without_health),
        T(health_that_nobody_said),
        T(health_of_another_version),
        T(two_versions_at_once),
        T(stopped_and_started_again),
        T(a_stop_that_was_lost_is_none),
        T(a_permission_in_force),
        T(a_permission_of_before),
        T(a_change_that_was_lost_is_none),
        T(a_version_that_starts_first_runs_beside_the_old_one),
        T(an_old_version_that_starts_again_beside_a_healthy_one),
        T(three_versions_at_once),
        T(a_version_beside_one_that_is_to_be_alone),
        T(a_replica_that_was_scaled_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
