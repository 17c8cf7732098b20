/* core_scripts.c: see core_scripts.h. */
#include "core_scripts.h"

#include <stdio.h>
#include <stdlib.h>

#include "limit.h"

/* ---- the script ---- */

static void script_flows(struct fixture *r) {
    struct options sets[3] = {fixture_options(), fixture_options(), fixture_options()};
    sets[1].on_upstream = UPSTREAM_SKIP;
    sets[1].gates = GATE_BIT(GATE_POLICY) | GATE_BIT(GATE_OUTPUT);
    sets[2].retries = 0;
    sets[2].run_timeout_ms = 5000;
    const char *jobs[] = {"fetch", "build@1: fetch", "test@2: build", "ship: test"};
    assert_ok(fixture_submit_sets(r, sets, 3, jobs, 4, true));
    const char *more[] = {"tell: ship", "other: 1/fetch"};
    assert_ok(fixture_add(r, 1, &sets[0], more, 2, false));
    assert_ok(fixture_submit(r, &sets[0], (const char *[]){"after: 1/test", "alone"}, 2));
    assert_ok(fixture_submit_key(r, "order-17", 1, 60000));
}

static void script_names(struct fixture *r) {
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, false, NULL));
    assert_ok(fixture_pool(r, "gpu", POOL_DRAINING, true, "cuda"));
    assert_ok(fixture_topic(r, "mail", "default", "gpu"));
    assert_ok(fixture_topic(r, "gone", "default", NULL));
    assert_ok(fixture_topic(r, "gone", NULL, NULL));
    assert_ok(fixture_weight(r, "acme", 3));
    assert_ok(fixture_pause(r, PAUSE_POOL, 0, "gpu", true));
    assert_ok(fixture_pause(r, PAUSE_TENANT, 0, "other", true));
}

static void script_workers(struct fixture *r) {
    struct resource licence = {SLICE("licence"), 2};
    struct label zone = {SLICE("zone"), SLICE("eu")};
    struct worker_info info = {.slots = 2, .cpu_milli = 4000, .labels = {&zone, 1}, .resources = {&licence, 1}};
    assert_ok(fixture_attach_as(r, "w", 1, &info));
    assert_ok(fixture_attach(r, "v", 1, 1));
    assert_ok(fixture_drain(r, "v", true));
}

static void script_first_half(struct fixture *r) {
    script_names(r);
    script_flows(r);
    script_workers(r);
    assert_ok(fixture_started(r, "w", 1, ref_of(1, 0), 1));
    fixture_tick(r, 700);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(fixture_verdict(r, ref_of(1, 1), VERDICT_HOLD, NULL));
}

static void script_second_half(struct fixture *r) {
    assert_ok(fixture_verdict(r, ref_of(1, 1), VERDICT_ALLOW, NULL));
    for (uint64_t flow = 1; flow <= 3; flow++) /* whatever is with w and not the build ends badly once */
        for (uint32_t i = 0; i < fixture_flow(r, flow).job_count; i++) {
            struct job_view job = fixture_job(r, flow, i);
            if (job.state == JOB_DISPATCHED && !(flow == 1 && i == 1))
                assert_ok(fixture_exit(r, fixture_worker_of(r, flow, i), ref_of(flow, i), job.attempt, 9));
        }
    fixture_tick(r, 2600);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 1, OUTCOME_OK));
    assert_ok(fixture_verdict(r, ref_of(1, 1), VERDICT_REDACT, "less"));
    for (int i = 0; i < 40 && fixture_state(r, 1, 2) != JOB_RUNNING; i++) { /* until the test runs */
        for (uint64_t flow = 1; flow <= 3; flow++)
            for (uint32_t k = 0; k < fixture_flow(r, flow).job_count; k++) {
                struct job_view job = fixture_job(r, flow, k);
                if (job.state != JOB_DISPATCHED) continue;
                if (flow == 1 && k == 2)
                    assert_ok(fixture_started(r, "w", 1, ref_of(1, 2), job.attempt));
                else
                    assert_ok(
                        fixture_done(r, fixture_worker_of(r, flow, k), 1, ref_of(flow, k), job.attempt, OUTCOME_OK));
            }
        fixture_tick(r, 100);
    }
    fixture_tick(r, 5000); /* told to stop */
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 2), 1, OUTCOME_STOPPED));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_ok(fixture_retry(r, ref_of(1, 2)));
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 2), 2, OUTCOME_STOPPED));
    assert_ok(fixture_rerun(r, 1));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 2), 3, OUTCOME_REFUSED));
    assert_ok(fixture_discard(r, ref_of(1, 2)));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 2, NULL, true));
    assert_ok(fixture_forget(r, 3));
    fixture_tick(r, 60000); /* the key and both workers are gone */
    fixture_crash(r);
}

/* 5,000 jobs that are cancelled: the one consequence here that has to be continued. */
static void script_long(struct fixture *r) {
    struct options o = fixture_options();
    char(*names)[8] = calloc(5000, sizeof *names);
    struct job_spec *specs = calloc(5000, sizeof *specs);
    for (uint32_t i = 0; i < 5000; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i].name = slice_str(names[i]);
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, specs, 5000, false};
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_cancel(r, ref_of(r->reply.flow.v, UINT32_MAX)));
    free(specs);
    free(names);
}

static void script_core_end(struct fixture *r) {
    script_second_half(r);
    script_long(r);
}

/* A foreach job whose children succeed, leave a result, fail, wait for room and have not begun; a condition. */
static void expand(struct fixture *r, struct job_ref job, uint32_t count) {
    static const uint8_t items[32] = {46};
    struct cmd_verdict c = fixture_answer(r, job, VERDICT_ALLOW);
    c.item_count = count;
    if (count) c.items = slice_of(items, 32);
    assert_ok(fixture_send_verdict(r, &c));
}

static void child_done(struct fixture *r, uint32_t item, enum outcome outcome, const char *result) {
    struct job_ref ref = ref_of(1, FIRST_CHILD_ORDINAL + item);
    struct job_view job;
    assert_true(view_job(engine_state(r->engine), ref, &job));
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = ref,
                                          .attempt = job.attempt,
                                          .outcome = outcome,
                                          .result = slice_str(result)};
    assert_ok(fixture_command(r, &cmd));
}

static void script_expand_begin(struct fixture *r) {
    struct options sets[3] = {fixture_options(), fixture_options(), fixture_options()};
    sets[1].gates = GATE_BIT(GATE_CONDITION) | GATE_BIT(GATE_EXPANSION);
    sets[1].max_parallel = 2;
    sets[1].retries = 0;
    sets[1].allow_percent = 10;
    sets[2].gates = GATE_BIT(GATE_EXPANSION);
    sets[2].fail_fast = true;
    sets[2].retries = 0;
    const char *jobs[] = {"map@1", "sum: map", "none@2", "fast@2", "lost@2"};
    assert_ok(fixture_submit_sets(r, sets, 3, jobs, 5, false));
    assert_ok(fixture_attach(r, "w", 1, 3));
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_ALLOW, NULL));
    expand(r, ref_of(1, 2), 0);
    assert_ok(fixture_verdict(r, ref_of(1, 4), VERDICT_FAIL, NULL));
    expand(r, ref_of(1, 0), 7);
    child_done(r, 0, OUTCOME_EXIT, "");
    child_done(r, 1, OUTCOME_OK, "");
    child_done(r, 2, OUTCOME_OK, "{\"n\":2}");
    assert_ok(fixture_retry(r, ref_of(1, FIRST_CHILD_ORDINAL)));
}

static void script_expand_end(struct fixture *r) {
    child_done(r, 3, OUTCOME_OK, "");
    child_done(r, 0, OUTCOME_EXIT, "");
    for (uint32_t item = 4; item < 7; item++) child_done(r, item, OUTCOME_OK, "");
    expand(r, ref_of(1, 3), 5);
    child_done(r, 8, OUTCOME_EXIT, "");
    child_done(r, 7, OUTCOME_STOPPED, "");
    child_done(r, 9, OUTCOME_OK, "");
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_ok(fixture_rerun(r, 1));
    fixture_crash(r);
}

/* ---- the second script: store, limits, compensations ---- */

static enum err store(struct fixture *r, uint64_t flow, struct cmd_store c) {
    struct command cmd = {.kind = CMD_STORE, .tenant = SLICE("acme")};
    c.flow.v = flow;
    cmd.as.store = c;
    return fixture_command(r, &cmd);
}

static void store_set(struct fixture *r, uint64_t flow, const char *key, const char *value, int64_t ms) {
    struct store_entry e = {slice_str(key), slice_str(value)};
    struct cmd_store c = {.op = STORE_SET, .entries = &e, .entry_count = 1};
    if (ms) c.expires_ms = r->in.wall.ms + ms;
    assert_ok(store(r, flow, c));
}

static enum err limit(struct fixture *r, struct cmd_limit c) {
    struct command cmd = {.kind = CMD_LIMIT};
    c.tenant = SLICE("acme");
    cmd.as.limit = c;
    return fixture_command(r, &cmd);
}

static void store_first_half(struct fixture *r) {
    struct slice members[] = {SLICE("red"), SLICE("green"), SLICE("blue")};
    assert_ok(limit(r, (struct cmd_limit){.kind = LIMIT_KEY, .name = SLICE("db"), .width = 2}));
    assert_ok(limit(r, (struct cmd_limit){.kind = LIMIT_RATE, .name = SLICE("api"), .rate_milli = 1500, .burst = 3}));
    assert_ok(limit(r, (struct cmd_limit){.kind = LIMIT_TENANT, .running = 5, .queued = 900, .bytes = 90000}));
    assert_ok(limit(r, (struct cmd_limit){.kind = LIMIT_KEY, .name = SLICE("gone"), .width = 9}));
    assert_ok(limit(r, (struct cmd_limit){.kind = LIMIT_KEY, .name = SLICE("gone"), .clear = true}));
    uint32_t fatal = 9;
    struct name_item key = {SLICE("db")}, rate = {SLICE("api")};
    struct options sets[3] = {fixture_options(), fixture_options(), fixture_options()};
    sets[0].fatal_exits = (struct tlv_u32s){&fatal, 1};
    sets[2].demand.keys = (struct tlv_list){&key, 1};
    sets[2].demand.rates = (struct tlv_list){&rate, 1};
    const char *jobs[] = {"book~1", "pay~1: book", "ship: pay", "tell: ship"};
    assert_ok(fixture_submit_sets(r, sets, 3, jobs, 4, false));
    const char *limited[] = {"a@2", "b@2", "c@2", "d@2"};
    assert_ok(fixture_submit_sets(r, sets, 3, limited, 4, false));
    store_set(r, 0, "greeting", "hello", 0);
    store_set(r, 0, "soon", "gone", 5000);
    store_set(r, 1, "of the flow", "its own", 0);
    assert_ok(store(r, 0, (struct cmd_store){.op = STORE_INCREASE, .key = SLICE("count"), .number = -7}));
    assert_ok(store(
        r, 0, (struct cmd_store){.op = STORE_ADD, .key = SLICE("colours"), .members = members, .member_count = 3}));
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK)); /* entered */
}

static void store_second_half(struct fixture *r) {
    struct slice green = SLICE("green");
    struct store_entry gone = {SLICE("greeting"), {0}};
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 1, OUTCOME_OK));
    assert_ok(store(
        r, 0, (struct cmd_store){.op = STORE_REMOVE, .key = SLICE("colours"), .members = &green, .member_count = 1}));
    assert_ok(store(
        r, 0, (struct cmd_store){.op = STORE_EXPIRE, .key = SLICE("count"), .expires_ms = r->in.wall.ms + 90000}));
    assert_ok(store(r, 0, (struct cmd_store){.op = STORE_DELETE, .entries = &gone, .entry_count = 1}));
    fixture_tick(r, 6000); /* `soon` is over; tokens have come */
    assert_ok(fixture_exit(r, "w", ref_of(1, 2), 1, 9));
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_COMPENSATING);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 4), 1, OUTCOME_OK));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 5), 1, OUTCOME_OK));
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_DONE);
    fixture_run_all(r, "w", 1);
    assert_ok(limit(r, (struct cmd_limit){.kind = LIMIT_RATE, .name = SLICE("api"), .rate_milli = 10, .burst = 1}));
    assert_ok(fixture_discard(r, ref_of(1, 2)));
    assert_ok(fixture_forget(r, 1)); /* its namespace goes with it */
    fixture_crash(r);
}

/* ---- services and policies ---- */

static void deploy(struct fixture *r, const char *body) {
    static const uint8_t hash[32] = {8};
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[0].kind = JOB_SERVICE;
    sets[0].restart_base_ms = 100;
    struct parent_ref parent = {.name = SLICE("deploy")};
    struct job_spec jobs[2] = {
        {.name = SLICE("deploy"), .body = slice_str(body), .body_hash = slice_of(hash, 32), .service = SLICE("web")},
        {.name = SLICE("after"), .profile = 1, .parents = &parent, .parent_count = 1}};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 2, jobs, 2, false};
    assert_ok(fixture_command(r, &cmd));
}

static struct job_view web_runner(const struct fixture *r) {
    struct service_view v;
    struct job_view job;
    assert_true(view_service(engine_state(r->engine), SLICE("acme"), SLICE("web"), &v));
    assert_true(view_job(engine_state(r->engine), v.runner, &job));
    return job;
}

static void say_health(struct fixture *r, bool healthy) {
    struct job_view job = web_runner(r);
    struct command cmd = {.kind = CMD_HEALTH};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = job.ref, .attempt = job.attempt, .healthy = healthy};
    assert_ok(fixture_command(r, &cmd));
}

static void ask_service(struct fixture *r, enum service_desired desired) {
    struct command cmd = {.kind = CMD_SERVICE, .tenant = SLICE("acme")};
    cmd.as.service = (struct cmd_service){.name = SLICE("web"), .desired = desired};
    assert_ok(fixture_command(r, &cmd));
}

static void policy(struct fixture *r, uint64_t version) {
    struct command cmd = {.kind = CMD_POLICY};
    cmd.as.policy.version = version;
    assert_ok(fixture_command(r, &cmd));
}

static void allow_by(struct fixture *r, struct job_ref job, uint64_t version) {
    struct cmd_verdict c = fixture_answer(r, job, VERDICT_ALLOW);
    c.policy = version;
    assert_ok(fixture_send_verdict(r, &c));
}

/* The first version runs and is told to stop, the second waits behind it; one job's permission has lapsed, another's is
 * being asked for. */
static void service_first_half(struct fixture *r) {
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_POLICY);
    policy(r, 1);
    assert_ok(fixture_submit(r, &o, (const char *[]){"allowed", "asked"}, 2));
    allow_by(r, ref_of(1, 0), 1);
    policy(r, 2);
    deploy(r, "v1");
    assert_ok(fixture_attach(r, "w", 1, 4));
    struct job_view v1 = web_runner(r);
    if (v1.state != JOB_DISPATCHED) fail_msg("v1 is %d", v1.state);
    assert_ok(fixture_started(r, "w", 1, v1.ref, v1.attempt));
    say_health(r, true);
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD); /* revoked when it was its turn */
    struct options external = fixture_options();
    external.kind = JOB_EXTERNAL;
    assert_ok(fixture_submit(r, &external, (const char *[]){"elsewhere"}, 1));
    deploy(r, "v2");
}

static void service_second_half(struct fixture *r) {
    struct job_ref v1 = ref_of(3, 0); /* the deployment is flow 2 */
    assert_ok(fixture_done(r, "w", 1, v1, 1, OUTCOME_STOPPED));
    struct job_view v2 = web_runner(r);
    assert_int_equal(v2.state, JOB_DISPATCHED);
    say_health(r, true);
    assert_ok(fixture_exit(r, "w", v2.ref, v2.attempt, 3)); /* restarts */
    fixture_tick(r, 1000);
    v2 = web_runner(r);
    deploy(r, "v3");
    assert_ok(fixture_done(r, "w", 1, v2.ref, v2.attempt, OUTCOME_STOPPED));
    assert_int_equal(web_runner(r).state, JOB_DISPATCHED);
    fixture_tick(r, 10000);
    ask_service(r, SERVICE_STOPPED); /* back to v2, which is not to run */
    ask_service(r, SERVICE_RUNNING);
    allow_by(r, ref_of(1, 0), 2);
    struct job_view elsewhere = fixture_job(r, 4, 0);
    struct cmd_verdict c = fixture_answer(r, elsewhere.ref, VERDICT_ALLOW);
    c.result = SLICE("{\"n\":1}");
    assert_ok(fixture_send_verdict(r, &c));
    assert_ok(fixture_drain(r, "w", true));
    ask_service(r, SERVICE_REMOVED);
    fixture_crash(r);
}

/* ---- replicas ---- */

static void deploy_replica(struct fixture *r, const char *name, enum update update, bool barrier) {
    static const uint8_t hash[32] = {9};
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[0].kind = JOB_SERVICE;
    sets[0].update = (uint8_t)update;
    sets[1].kind = JOB_BARRIER;
    sets[1].replicas = 2;
    sets[0].replica_of = sets[1].replica_of = SLICE("web");
    struct parent_ref parent = {.name = SLICE("deploy")};
    struct job_spec jobs[2] = {
        {.name = SLICE("deploy"), .body = SLICE("x"), .body_hash = slice_of(hash, 32), .service = slice_str(name)},
        {.name = SLICE("web"), .profile = 1, .parents = &parent, .parent_count = 1}};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, barrier ? 2 : 1, jobs, barrier ? 2 : 1, false};
    assert_ok(fixture_command(r, &cmd));
}

static struct job_view replica_runner(const struct fixture *r, const char *name) {
    struct service_view v;
    struct job_view job;
    assert_true(view_service(engine_state(r->engine), SLICE("acme"), slice_str(name), &v));
    assert_true(view_job(engine_state(r->engine), v.runner, &job));
    return job;
}

static void replica_is_healthy(struct fixture *r, const char *name) {
    struct job_view job = replica_runner(r, name);
    struct command cmd = {.kind = CMD_HEALTH};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = job.ref, .attempt = job.attempt, .healthy = true, .port = 4000};
    assert_ok(fixture_command(r, &cmd));
}

static void scale(struct fixture *r, uint32_t replicas) {
    struct command cmd = {.kind = CMD_SERVICE, .tenant = SLICE("acme")};
    cmd.as.service = (struct cmd_service){.name = SLICE("web"), .replicas = replicas};
    assert_ok(fixture_command(r, &cmd));
}

/* Two versions of web.1 run, and web.3 came by scaling. */
static void replica_first_half(struct fixture *r) {
    assert_ok(fixture_attach(r, "w", 1, 8));
    deploy_replica(r, "web.1", UPDATE_STOP_FIRST, false);
    replica_is_healthy(r, "web.1");
    deploy_replica(r, "web.2", UPDATE_STOP_FIRST, true);
    replica_is_healthy(r, "web.2");
    scale(r, 3);
    replica_is_healthy(r, "web.3");
    deploy_replica(r, "web.1", UPDATE_START_FIRST, true);
    assert_int_equal(replica_runner(r, "web.1").state, JOB_DISPATCHED);
}

static void replica_second_half(struct fixture *r) {
    struct job_view second = replica_runner(r, "web.2"), third = replica_runner(r, "web.3");
    replica_is_healthy(r, "web.1"); /* the old one stops, and the barrier behind removes web.3 */
    assert_ok(fixture_done(r, "w", 1, ref_of(2, 0), 1, OUTCOME_STOPPED));
    assert_ok(fixture_done(r, "w", 1, third.ref, third.attempt, OUTCOME_STOPPED));
    deploy_replica(r, "web.1", UPDATE_START_FIRST, false);
    fixture_tick(r, 1000);
    deploy_replica(r, "web.1", UPDATE_START_FIRST, false); /* waits until the one that it replaces is gone */
    fixture_crash(r);
    assert_ok(fixture_attach(r, "w", 2, 8));
    assert_int_equal(second.ref.ordinal, 0);
}

/* ---- schedules, kept results, flows that leave ---- */

static struct schedule_view nightly(const struct fixture *r) {
    struct schedule_view v;
    assert_true(view_schedule(engine_state(r->engine), SLICE("acme"), SLICE("nightly"), &v));
    return v;
}

static void set_schedule(struct fixture *r, const char *name, enum catch_up catch_up, enum overlap overlap) {
    struct options o = fixture_options();
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("one")};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme")};
    cmd.as.schedule = (struct cmd_schedule){.name = slice_str(name),
                                            .expression = SLICE("every minute"),
                                            .catch_up = catch_up,
                                            .overlap = overlap,
                                            .flow_name = SLICE("night"),
                                            .jobs = {&o, 1, &spec, 1, false}};
    assert_ok(fixture_command(r, &cmd));
}

static void about_schedule(struct fixture *r, enum command_kind kind, const char *name, bool on, const int64_t *slots,
                           uint32_t count) {
    struct command cmd = {.kind = kind, .tenant = SLICE("acme")};
    cmd.as.schedule_name =
        (struct cmd_schedule_name){.name = slice_str(name), .on = on, .slots = slots, .slot_count = count};
    assert_ok(fixture_command(r, &cmd));
}

/* The next three minutes from where the schedule is; then `minutes` go by. */
static void pass_slots(struct fixture *r, int minutes) {
    struct schedule_view v = nightly(r);
    int64_t slots[3];
    for (int i = 0; i < 3; i++) slots[i] = (v.after.ms / 60000 + 1 + i) * 60000;
    struct command cmd = {.kind = CMD_SCHEDULE_SLOTS};
    cmd.as.schedule_slots = (struct cmd_schedule_slots){v.revision, v.after.ms, slots, 3, 0, false, NULL, 0};
    assert_ok(fixture_command(r, &cmd));
    for (int i = 0; i < minutes; i++) fixture_tick(r, 60000);
}

static uint64_t memoised(struct fixture *r, uint8_t key) {
    uint8_t bytes[32];
    memset(bytes, key, sizeof bytes);
    struct options o = fixture_options();
    o.cache_ms = 300000;
    struct job_spec spec = {.name = SLICE("m"), .cache_key = slice_of(bytes, 32)};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &spec, 1, false};
    assert_ok(fixture_command(r, &cmd));
    return r->reply.flow.v;
}

/* 4,200 barriers, over at once; the flow is told to leave and has 104 of them left. */
static void begin_to_leave(struct fixture *r) {
    struct options o = fixture_options();
    o.kind = JOB_BARRIER;
    char(*names)[8] = calloc(4200, sizeof *names);
    struct job_spec *specs = calloc(4200, sizeof *specs);
    for (uint32_t i = 0; i < 4200; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i].name = slice_str(names[i]);
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, specs, 4200, false};
    assert_ok(fixture_command(r, &cmd));
    free(specs);
    free(names);
    cmd = (struct command){.kind = CMD_FORGET, .as.flow = r->reply.flow};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    fixture_flush(r);
}

static void schedule_first_half(struct fixture *r) {
    assert_ok(fixture_attach(r, "w", 1, 1));
    uint64_t source = memoised(r, 1), waits = memoised(r, 2);
    assert_ok(fixture_done(r, "w", 1, ref_of(source, 0), 1, OUTCOME_OK)); /* kept */
    assert_ok(fixture_done(r, "w", 1, ref_of(waits, 0), 1, OUTCOME_OK));
    assert_ok(fixture_detach(r, "w", 1));
    (void)memoised(r, 1); /* given the first result */
    (void)memoised(r, 3); /* waits for one */
    set_schedule(r, "nightly", CATCH_UP_ALL, OVERLAP_QUEUE);
    set_schedule(r, "gone", CATCH_UP_NONE, OVERLAP_SKIP);
    pass_slots(r, 3); /* one runs, two wait */
    assert_int_equal(nightly(r).waiting, 2);
    int64_t past[] = {60000, 120000};
    about_schedule(r, CMD_SCHEDULE_BACKFILL, "nightly", false, past, 2);
    about_schedule(r, CMD_SCHEDULE_PAUSE, "gone", true, NULL, 0);
    begin_to_leave(r);
}

static void schedule_second_half(struct fixture *r) {
    fixture_tick(r, 0);
    about_schedule(r, CMD_SCHEDULE_PAUSE, "gone", false, NULL, 0);
    about_schedule(r, CMD_SCHEDULE_REMOVE, "gone", false, NULL, 0);
    assert_ok(fixture_cancel(r, (struct job_ref){nightly(r).flow, UINT32_MAX})); /* the next one fires */
    set_schedule(r, "nightly", CATCH_UP_LAST, OVERLAP_REPLACE);
    pass_slots(r, 2);
    fixture_tick(r, 300000); /* what is kept is over */
    pass_slots(r, 1);        /* missed ones */
    set_schedule(r, "nightly", CATCH_UP_NONE, OVERLAP_SKIP);
    pass_slots(r, 1);
    struct schedule_view v = nightly(r);
    assert_true(v.fired > 3 && v.missed > 0 && v.skipped > 0);
    struct command cmd = {.kind = CMD_PROJECTED, .as.lsn = engine_lsn(r->engine)};
    assert_ok(fixture_command(r, &cmd));
    fixture_tick(r, 7200000); /* flows leave, because the history has them */
    fixture_crash(r);
}

/* ---- slots with their zone, and a run that a person asks for ---- */

static void set_in_zone(struct fixture *r, const char *zone) {
    struct options o = fixture_options();
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("one")};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme")};
    cmd.as.schedule = (struct cmd_schedule){.name = SLICE("nightly"),
                                            .expression = SLICE("every minute"),
                                            .zone = slice_str(zone),
                                            .catch_up = CATCH_UP_LAST,
                                            .overlap = OVERLAP_QUEUE,
                                            .jobs = {&o, 1, &spec, 1, false}};
    assert_ok(fixture_command(r, &cmd));
}

static void slot_first_half(struct fixture *r) {
    int64_t past = 60000;
    set_in_zone(r, "Europe/Lisbon");
    about_schedule(r, CMD_SCHEDULE_RUN, "nightly", false, &past, 1);
    pass_slots(r, 2); /* they wait for its end */
    assert_int_equal(nightly(r).waiting, 2);
}

static void slot_second_half(struct fixture *r) {
    assert_ok(fixture_cancel(r, (struct job_ref){nightly(r).flow, UINT32_MAX}));
    set_in_zone(r, "");
    assert_ok(fixture_cancel(r, (struct job_ref){nightly(r).flow, UINT32_MAX}));
    fixture_crash(r);
}

/* ---- a calendar of days, and keys of the store that start a schedule ---- */

static void put_key(struct fixture *r, const char *key, const char *value, uint64_t by) {
    struct store_entry e = {slice_str(key), slice_str(value)};
    struct command cmd = {.kind = CMD_STORE, .tenant = SLICE("acme")};
    cmd.as.store = (struct cmd_store){.op = STORE_SET, .entries = &e, .entry_count = 1, .by = {by}};
    assert_ok(fixture_command(r, &cmd));
    fixture_tick(r, 0);
}

static void delete_key(struct fixture *r, const char *key) {
    struct store_entry e = {slice_str(key), {0}};
    struct command cmd = {.kind = CMD_STORE, .tenant = SLICE("acme")};
    cmd.as.store = (struct cmd_store){.op = STORE_DELETE, .entries = &e, .entry_count = 1};
    assert_ok(fixture_command(r, &cmd));
    fixture_tick(r, 0);
}

static void set_on_key(struct fixture *r, const char *name, const char *key, bool prefix, unsigned when,
                       enum overlap overlap) {
    struct options o = fixture_options();
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("one")};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme")};
    cmd.as.schedule = (struct cmd_schedule){.name = slice_str(name),
                                            .expression = SLICE("key"),
                                            .overlap = overlap,
                                            .jobs = {&o, 1, &spec, 1, false},
                                            .key = slice_str(key),
                                            .key_prefix = prefix,
                                            .when = when,
                                            .min_interval_ms = 1000};
    assert_ok(fixture_command(r, &cmd));
}

static void set_with_calendar(struct fixture *r) {
    struct options o = fixture_options();
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("one")};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme")};
    cmd.as.schedule = (struct cmd_schedule){.name = SLICE("nightly"),
                                            .expression = SLICE("every minute"),
                                            .catch_up = CATCH_UP_ALL,
                                            .overlap = OVERLAP_QUEUE,
                                            .jobs = {&o, 1, &spec, 1, false},
                                            .calendar = SLICE("not 2026-12-25")};
    assert_ok(fixture_command(r, &cmd));
}

static void pass_excluded_day(struct fixture *r) {
    struct schedule_view v = nightly(r);
    int64_t first = (v.after.ms / 60000 + 1) * 60000, slots[] = {first + 60000, first + 120000};
    struct cmd_slots_excluded day = {first + 60000, first, 2};
    struct command cmd = {.kind = CMD_SCHEDULE_SLOTS};
    cmd.as.schedule_slots = (struct cmd_schedule_slots){v.revision, v.after.ms, slots, 2, 0, false, &day, 1};
    assert_ok(fixture_command(r, &cmd));
    for (int i = 0; i < 3; i++) fixture_tick(r, 60000);
}

static uint64_t last_of(struct fixture *r, const char *name) {
    struct schedule_view v;
    assert_true(view_schedule(engine_state(r->engine), SLICE("acme"), slice_str(name), &v));
    return v.flow.v;
}

static void cause_first_half(struct fixture *r) {
    set_with_calendar(r);
    pass_excluded_day(r);
    set_on_key(r, "any", "k/", true, KEY_CHANGED, OVERLAP_QUEUE);
    set_on_key(r, "one", "k/a", false, KEY_SET | KEY_DELETED, OVERLAP_SKIP);
    set_on_key(r, "newest", "k/", true, KEY_CHANGED, OVERLAP_REPLACE);
    put_key(r, "k/a", "1", 0);
    put_key(r, "k/b", "1", 0);
    put_key(r, "k/a", "2", last_of(r, "any")); /* by a job of its own flow */
    delete_key(r, "k/a");
    put_key(r, "k/c", "3", 0);
}

static void cause_second_half(struct fixture *r) {
    assert_ok(fixture_cancel(r, (struct job_ref){{last_of(r, "any")}, UINT32_MAX}));
    fixture_tick(r, 1000);
    assert_ok(fixture_cancel(r, (struct job_ref){{last_of(r, "any")}, UINT32_MAX}));
    set_on_key(r, "one", "k", true, KEY_SET, OVERLAP_QUEUE);
    put_key(r, "k/a", "2", last_of(r, "any"));
    about_schedule(r, CMD_SCHEDULE_PAUSE, "newest", true, NULL, 0);
    about_schedule(r, CMD_SCHEDULE_REMOVE, "any", false, NULL, 0);
    put_key(r, "k/d", "4", 0);
    fixture_tick(r, 5000);
    fixture_crash(r);
}

/* ---- checkpoints of the journal ---- */

/* What they say is anything: the core does not look at it. */
static void checkpoint_add(struct fixture *r, uint8_t byte) {
    uint8_t bytes[CHECKPOINT_SIGNATURE_BYTES];
    struct checkpoint last = view_checkpoint(engine_state(r->engine));
    struct command cmd = {.kind = CMD_CHECKPOINT};
    memset(bytes, byte, sizeof bytes);
    cmd.as.checkpoint = (struct cmd_checkpoint){.number = last.number + 1,
                                                .from_lsn = last.upto_lsn + 1,
                                                .upto_lsn = engine_lsn(r->engine),
                                                .chain = slice_of(bytes, CHECKPOINT_HASH_BYTES),
                                                .key = slice_of(bytes + 1, CHECKPOINT_HASH_BYTES),
                                                .signature = slice_of(bytes, sizeof bytes)};
    assert_ok(fixture_command(r, &cmd));
}

static void checkpoint_first_half(struct fixture *r) {
    struct options o = fixture_options();
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b: a"}, 2));
    checkpoint_add(r, 7);
    assert_ok(fixture_attach(r, "w", 1, 1));
    checkpoint_add(r, 8);
}

static void checkpoint_second_half(struct fixture *r) {
    fixture_run_all(r, "w", 1);
    checkpoint_add(r, 9);
}

/* ---- a clock that was wrong ---- */

static void clock_steps(struct fixture *r, int64_t by_ms) {
    r->in.wall.ms += by_ms;
    r->in.step_ms = by_ms;
    fixture_tick(r, 0);
    r->in.step_ms = 0;
}

static void clock_first_half(struct fixture *r) {
    struct options o = fixture_options();
    o.delay_ms = 10000;
    const char *jobs[] = {"a", "b: a"};
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_submit(r, &o, jobs, 2));
    fixture_tick(r, 1000000000);
    assert_ok(fixture_submit(r, &o, jobs, 2));
    fixture_tick(r, 2000);
    clock_steps(r, -900000000);
}

static void clock_second_half(struct fixture *r) {
    struct options o = fixture_options();
    const char *jobs[] = {"a"};
    assert_ok(fixture_submit(r, &o, jobs, 1));
    fixture_tick(r, 5000);
    clock_steps(r, 500000000);
    fixture_tick(r, 20000);
}

/* ---- triggers, ends that are not tried again, flows that undo every failure ---- */

static void trigger_submit(struct fixture *r, enum compensate_on on, const char *const *jobs, uint32_t count) {
    struct options sets[5];
    for (uint32_t i = 0; i < 5; i++) {
        sets[i] = fixture_options();
        sets[i].retries = 2;
        sets[i].retry_on = RETRY_LOST;
    }
    sets[1].trigger = TRIGGER_ONE_SUCCEEDED;
    sets[2].trigger = TRIGGER_NONE_FAILED;
    sets[3].trigger = TRIGGER_ALL_DONE;
    sets[4].gates = GATE_BIT(GATE_CONDITION);
    r->compensate_on = on;
    assert_ok(fixture_submit_sets(r, sets, 5, jobs, count, false));
}

static void trigger_first_half(struct fixture *r) {
    const char *jobs[] = {
        "a", "b", "one@1: a b", "q@4", "none@2: q a", "done@3: none one", "after: one", "two@1: one after"};
    trigger_submit(r, COMPENSATE_FATAL, jobs, 8);
    trigger_submit(r, COMPENSATE_FAILURE, (const char *[]){"x~1", "y: x", "z: y"}, 3);
    assert_ok(fixture_attach(r, "w", 1, 16));
    assert_ok(fixture_verdict(r, ref_of(1, 3), VERDICT_DENY, NULL)); /* its condition does not hold */
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 3));             /* no second attempt */
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 1, OUTCOME_STOPPED));
    assert_ok(fixture_done(r, "w", 1, ref_of(2, 0), 1, OUTCOME_OK));
}

static void trigger_second_half(struct fixture *r) {
    fixture_tick(r, 4000);
    assert_ok(fixture_exit(r, "w", ref_of(1, 1), 2, 4)); /* nobody is left who might succeed */
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 5), 1, OUTCOME_OK));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_ok(fixture_retry(r, ref_of(1, 1)));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 3, OUTCOME_OK));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 2), 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 7), JOB_DISPATCHED);
    assert_ok(fixture_exit(r, "w", ref_of(2, 1), 1, 1)); /* which undoes x */
    assert_ok(fixture_done(r, "w", 1, ref_of(2, 3), 1, OUTCOME_OK));
    assert_int_equal(fixture_flow(r, 2).unwinding, UNWIND_DONE);
    fixture_crash(r);
}

/* ---- flows that keep their file ---- */

static enum err submit_source(struct fixture *r, const struct flow_source *source) {
    struct options o = fixture_options();
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("one")};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit = (struct cmd_submit){.name = SLICE("etl"), .jobs = {&o, 1, &spec, 1, false}, .source = *source};
    return fixture_command(r, &cmd);
}

static void source_first_half(struct fixture *r) {
    uint8_t hash[32];
    for (uint8_t i = 0; i < sizeof hash; i++) hash[i] = i;
    struct flow_source whole = {
        .hash = slice_of(hash, 32), .name = SLICE("etl.yaml"), .bytes = 1234, .params = SLICE("{\"day\":\"mon\"}")};
    assert_ok(submit_source(r, &whole));
    whole.again_of = 1;
    assert_ok(submit_source(r, &whole));
    fixture_tick(r, 1000);
}

static void source_second_half(struct fixture *r) {
    assert_ok(submit_source(r, &(struct flow_source){.name = SLICE("large.yaml"), .bytes = 99999999}));
    assert_ok(submit_source(r, &(struct flow_source){.params = SLICE("{}")}));
    assert_ok(submit_source(r, &(struct flow_source){0}));
    fixture_tick(r, 1000);
}

/* ---- stages, timeouts and deadlines of flows ---- */

static void finale_submit(struct fixture *r, const char *const *jobs, uint32_t count) {
    uint32_t fatal[] = {9};
    struct options sets[5];
    for (uint32_t i = 0; i < 5; i++) {
        sets[i] = fixture_options();
        sets[i].retries = 0;
        sets[i].stage = i < 4 ? (uint8_t)i : FLOW_STAGE_MAIN;
        sets[i].fatal_exits = (struct tlv_u32s){fatal, 1};
    }
    assert_ok(fixture_submit_sets(r, sets, 5, jobs, count, false));
}

static void finale_first_half(struct fixture *r) {
    const char *jobs[] = {"a~4", "b: a", "cheer@1", "tell@2", "clean@3", "sweep@3: clean"};
    struct options late = fixture_options();
    late.stage = FLOW_STAGE_FINALLY;
    finale_submit(r, jobs, 6);
    r->timeout_ms = 5000;
    r->late_after_ms = 2000;
    finale_submit(r, jobs, 6);
    assert_ok(fixture_add(r, 2, &late, (const char *[]){"more"}, 1, false));
    assert_ok(fixture_attach(r, "w", 1, 16));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(fixture_exit(r, "w", ref_of(1, 1), 1, 9)); /* which undoes a */
    fixture_tick(r, 2000);                               /* flow 2 is late */
    assert_true(fixture_flow(r, 2).late);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 6), 1, OUTCOME_OK));
    assert_int_equal(fixture_flow(r, 1).stage, FLOW_STAGE_FAILURE);
}

static void finale_second_half(struct fixture *r) {
    fixture_tick(r, 3000); /* the time of flow 2 is over */
    assert_ok(fixture_done(r, "w", 1, ref_of(2, 0), 1, OUTCOME_STOPPED));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_ok(fixture_rerun(r, 2));
    assert_ok(fixture_cancel(r, ref_of(2, UINT32_MAX)));
    assert_ok(fixture_done(r, "w", 1, ref_of(2, 0), 2, OUTCOME_STOPPED));
    assert_int_equal(fixture_flow(r, 2).stage, FLOW_STAGE_FINALLY);
    assert_ok(fixture_done(r, "w", 1, ref_of(2, 4), 2, OUTCOME_OK));
    fixture_crash(r);
}

/* ---- tokens, login links, ended sessions, and who caused a record ---- */

static enum err ask_identity(struct fixture *r, const struct cmd_identity *what) {
    static const uint8_t address[4] = {10, 0, 0, 1};
    struct command cmd = {.kind = CMD_IDENTITY,
                          .caller = {KIND_PERSON, SLICE("admin000001"), SPOKEN_HTTP, {address, sizeof address}}};
    cmd.as.identity = *what;
    return fixture_command(r, &cmd);
}

static struct rec_token_info identity_token(const char *id, const uint8_t hash[32], uint32_t roles) {
    return (struct rec_token_info){.id = slice_str(id),
                                   .hash = slice_of(hash, 32),
                                   .name = SLICE("ann"),
                                   .tenant = roles == 1 ? SLICE("") : SLICE("acme"),
                                   .roles = roles,
                                   .kind = KIND_PERSON,
                                   .created_ms = 5,
                                   .expires_ms = roles == 1 ? 0 : 4102444800000};
}

static const uint8_t identity_hashes[4][32] = {{1}, {2}, {3}, {4}}, identity_sealed[60] = {7};

static void identity_first_half(struct fixture *r) {
    struct rec_token_info tokens[] = {identity_token("admin000001", identity_hashes[0], 1),
                                      identity_token("viewer00001", identity_hashes[1], 32)};
    struct rec_session over = {SLICE("uid:0"), 17, 4102444800000};
    struct rec_secret secrets[] = {{1, SECRET_DATA_KEY, {identity_sealed, sizeof identity_sealed}},
                                   {2, SECRET_HMAC, {identity_sealed, sizeof identity_sealed}}};
    assert_ok(ask_identity(r, &(struct cmd_identity){.op = IDENTITY_BEGIN,
                                                     .log = 4711,
                                                     .secrets = secrets,
                                                     .secret_count = 2,
                                                     .tokens = tokens,
                                                     .token_count = 2,
                                                     .sessions = &over,
                                                     .session_count = 1}));
    struct rec_token_info third = identity_token("submit00001", identity_hashes[2], 4);
    assert_ok(ask_identity(r, &(struct cmd_identity){.op = IDENTITY_TOKEN_SET, .tokens = &third, .token_count = 1}));
    struct cmd_identity link = {.op = IDENTITY_TICKET_ADD,
                                .hash = slice_of(identity_hashes[0], 32),
                                .who = SLICE("admin000001"),
                                .expires_ms = 4102444800000};
    assert_ok(ask_identity(r, &link));
    link.hash = slice_of(identity_hashes[1], 32);
    assert_ok(ask_identity(r, &link));
}

static void identity_second_half(struct fixture *r) {
    struct rec_session over = {SLICE("viewer00001"), 18, 4102444800000};
    struct rec_secret secret = {3, SECRET_DATA_KEY, {identity_sealed, sizeof identity_sealed}};
    struct rec_token_info again = identity_token("submit00001", identity_hashes[3], 6);
    assert_ok(
        ask_identity(r, &(struct cmd_identity){.op = IDENTITY_TICKET_USE, .hash = slice_of(identity_hashes[0], 32)}));
    assert_ok(ask_identity(r, &(struct cmd_identity){.op = IDENTITY_TOKEN_END, .id = SLICE("viewer00001")}));
    assert_ok(ask_identity(r, &(struct cmd_identity){.op = IDENTITY_TOKEN_SET, .tokens = &again, .token_count = 1}));
    assert_ok(
        ask_identity(r, &(struct cmd_identity){.op = IDENTITY_SESSION_END, .sessions = &over, .session_count = 1}));
    assert_ok(ask_identity(r, &(struct cmd_identity){.op = IDENTITY_SECRETS, .secrets = &secret, .secret_count = 1}));
    fixture_crash(r);
}

const struct core_script core_scripts[CORE_SCRIPTS] = {
    {"core", script_first_half, script_core_end},
    {"store", store_first_half, store_second_half},
    {"expand", script_expand_begin, script_expand_end},
    {"service", service_first_half, service_second_half},
    {"version", service_first_half, service_second_half},
    {"schedule", schedule_first_half, schedule_second_half},
    {"clock", clock_first_half, clock_second_half},
    {"checkpoint", checkpoint_first_half, checkpoint_second_half},
    {"slot", slot_first_half, slot_second_half},
    {"cause", cause_first_half, cause_second_half},
    {"trigger", trigger_first_half, trigger_second_half},
    {"replica", replica_first_half, replica_second_half},
    {"source", source_first_half, source_second_half},
    {"finale", finale_first_half, finale_second_half},
    {"identity", identity_first_half, identity_second_half},
};
