/* demand_test.c: which jobs wait for room alone, which kind of worker would take them and how many of them, and which
 * workers are of a kind. That random loads are counted right is in tests/property/demand_test.c. */
#include "engine_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "limit.h"
#include "view_demand.h"

#define GIB ((uint64_t)1 << 30)

/* ---- asking ---- */

struct seen {
    uint32_t rows, ready, at_once; /* at_once of the last row */
    bool more;
    enum block block;
    int64_t since_ms;
};

static void see(void *ctx, const struct demand_view *v) {
    struct seen *seen = ctx;
    seen->rows++;
    seen->ready += v->ready;
    seen->at_once = v->at_once;
    seen->more |= v->more;
    seen->block = v->block;
    seen->since_ms = v->since.ms;
}

static struct seen look_for(const struct fixture *r, const struct worker_info *kind, const char *tenant) {
    struct seen seen = {0};
    struct demand_query query = {.kind = kind, .tenant = slice_str(tenant)};
    view_demand(engine_state(r->engine), engine_live(r->engine), &r->limits, &query, see, &seen);
    return seen;
}

static struct seen look(const struct fixture *r) {
    return look_for(r, NULL, "");
}

/* How many jobs there are for workers of the kind. */
static uint32_t ready_for(const struct fixture *r, const struct worker_info *kind) {
    return look_for(r, kind, "").ready;
}

/* ---- bringing about ---- */

static struct worker_info kind_of(const char *pool) {
    return (struct worker_info){.pool = slice_str(pool), .slots = 10};
}

static uint64_t submit(struct fixture *r, const struct options *o, uint32_t count) {
    char(*names)[16] = calloc(count, sizeof *names);
    struct job_spec *specs = calloc(count, sizeof *specs);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i].name = slice_str(names[i]);
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, specs, count, false};
    enum err e = fixture_command(r, &cmd);
    free(specs);
    free(names);
    assert_ok(e);
    return r->reply.flow.v;
}

static void set_limit(struct fixture *r, struct cmd_limit limit) {
    struct command cmd = {.kind = CMD_LIMIT};
    limit.tenant = SLICE("acme");
    cmd.as.limit = limit;
    assert_ok(fixture_command(r, &cmd));
}

static void set_width(struct fixture *r, const char *key, uint32_t width) {
    set_limit(r, (struct cmd_limit){.kind = LIMIT_KEY, .name = slice_str(key), .width = width});
}

static void set_running(struct fixture *r, uint32_t running) {
    set_limit(r, (struct cmd_limit){.kind = LIMIT_TENANT, .running = running});
}

static struct options topic_options(void) {
    struct options o = fixture_options();
    o.demand.pool = slice_of(NULL, 0);
    o.demand.topic = SLICE("t");
    return o;
}

/* ---- what a worker of a kind would take ---- */

static void as_many_fit_as_there_is_of_what_is_scarcest(void **state) {
    struct fixture *r = *state;
    struct resource wanted[] = {{SLICE("licence"), 2}, {SLICE("presence"), 0}};
    struct resource plenty[] = {{SLICE("dongle"), 1}, {SLICE("licence"), 40}, {SLICE("presence"), 1}};
    struct resource scarce[] = {{SLICE("dongle"), 1}, {SLICE("licence"), 13}, {SLICE("presence"), 1}};
    struct options o = fixture_options();
    o.demand.cpu_milli = 1000;
    o.demand.memory_bytes = GIB;
    o.demand.gpus = 1;
    o.demand.resources = (struct tlv_list){wanted, 2};
    (void)submit(r, &o, 1);
    const struct worker_info ample = {.pool = SLICE("default"),
                                      .slots = 10,
                                      .cpu_milli = 20000,
                                      .memory_bytes = 20 * GIB,
                                      .gpus = 20,
                                      .resources = {plenty, 3}};
    assert_int_equal(look_for(r, &ample, "").at_once, 10); /* its slots */
    struct worker_info kind = ample;
    kind.cpu_milli = 3999;
    assert_int_equal(look_for(r, &kind, "").at_once, 3);
    kind = ample;
    kind.memory_bytes = 5 * GIB - 1;
    assert_int_equal(look_for(r, &kind, "").at_once, 4);
    kind = ample;
    kind.gpus = 5;
    assert_int_equal(look_for(r, &kind, "").at_once, 5);
    kind = ample;
    kind.resources = (struct tlv_list){scarce, 3};
    assert_int_equal(look_for(r, &kind, "").at_once, 6);
    kind = ample;
    kind.resources = (struct tlv_list){plenty, 2}; /* it wants none of the third, and yet that it be there */
    assert_int_equal(look_for(r, &kind, "").rows, 0);
}

static void only_its_slots_bound_a_kind_for_jobs_that_want_nothing(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    struct worker_info kind = kind_of("default");
    (void)submit(r, &o, 1);
    assert_int_equal(look_for(r, &kind, "").at_once, 10); /* it has neither processors nor memory to offer */
    assert_int_equal(look(r).at_once, 0);                 /* nobody asked about a kind */
}

static void a_pool_that_is_closed_needs_no_workers(void **state) {
    struct fixture *r = *state;
    struct options o = topic_options();
    struct worker_info closed = kind_of("p"), open = kind_of("q");
    assert_ok(fixture_topic(r, "t", "p", "q"));
    assert_ok(fixture_pool(r, "p", POOL_ACTIVE, false, NULL));
    (void)submit(r, &o, 3);
    assert_int_equal(ready_for(r, &closed), 3);
    assert_ok(fixture_pool(r, "p", POOL_DRAINING, false, NULL));
    assert_int_equal(ready_for(r, &closed), 0);
    assert_int_equal(ready_for(r, &open), 3);
    assert_ok(fixture_pool(r, "p", POOL_ACTIVE, false, NULL));
    assert_ok(fixture_pause(r, PAUSE_POOL, 0, "p", true));
    assert_int_equal(ready_for(r, &closed), 0);
    assert_int_equal(ready_for(r, &open), 3);
}

static void jobs_for_closed_pools_alone_do_not_count(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    (void)submit(r, &o, 3);
    assert_int_equal(look(r).block, BLOCK_NO_WORKERS);
    assert_ok(fixture_pool(r, "default", POOL_INACTIVE, false, NULL));
    assert_int_equal(look(r).rows, 0);
}

static void a_pool_takes_only_what_it_offers(void **state) {
    struct fixture *r = *state;
    struct options plain = fixture_options(), gpu = fixture_options(), tpu = fixture_options();
    struct name_item has_gpu[] = {{SLICE("gpu")}}, has_tpu[] = {{SLICE("tpu")}};
    struct worker_info with_gpu = kind_of("default"), with_tpu = kind_of("default");
    gpu.demand.capabilities = with_gpu.capabilities = (struct tlv_list){has_gpu, 1};
    tpu.demand.capabilities = with_tpu.capabilities = (struct tlv_list){has_tpu, 1};
    (void)submit(r, &plain, 1);
    (void)submit(r, &gpu, 2);
    (void)submit(r, &tpu, 4);
    assert_int_equal(ready_for(r, &with_gpu), 1 + 2);
    assert_int_equal(ready_for(r, &with_tpu), 1 + 4);
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, false, NULL));
    assert_int_equal(ready_for(r, &with_tpu), 1 + 4); /* it has not said what it offers */
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, false, "gpu"));
    assert_int_equal(ready_for(r, &with_gpu), 1 + 2);
    assert_int_equal(ready_for(r, &with_tpu), 1);
}

static void a_job_that_prefers_a_pool_is_for_that_one_at_first(void **state) {
    struct fixture *r = *state;
    struct options o = topic_options();
    struct worker_info fast = kind_of("fast"), slow = kind_of("slow");
    o.preferred_pool = SLICE("fast");
    o.prefer_ms = 3000;
    assert_ok(fixture_topic(r, "t", "slow", "fast"));
    (void)submit(r, &o, 2);
    assert_int_equal(ready_for(r, &fast), 2);
    assert_int_equal(ready_for(r, &slow), 0);
    fixture_tick(r, 3000);
    assert_int_equal(ready_for(r, &fast), 2);
    assert_int_equal(ready_for(r, &slow), 2);
}

/* ---- limits ---- */

static void no_more_count_than_a_rate_has_tokens(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    struct name_item calls[] = {{SLICE("calls")}};
    o.demand.rates = (struct tlv_list){calls, 1};
    (void)submit(r, &o, 9);
    assert_int_equal(look(r).ready, 9); /* a rate that nobody has set */
    set_limit(r, (struct cmd_limit){.kind = LIMIT_RATE, .name = SLICE("calls"), .rate_milli = 1000, .burst = 4});
    assert_int_equal(look(r).ready, 4);
    assert_ok(fixture_attach(r, "w", 1, 3));
    assert_int_equal(look(r).ready, 1); /* three were spent */
    fixture_tick(r, 2000);
    assert_int_equal(look(r).ready, 3); /* two came */
    assert_false(look(r).more);         /* the others wait for tokens, not for room */
}

static void of_two_limits_the_narrower_counts(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    struct name_item keys[] = {{SLICE("a")}, {SLICE("b")}};
    o.demand.keys = (struct tlv_list){keys, 2};
    set_width(r, "a", 2);
    set_width(r, "b", 5);
    (void)submit(r, &o, 9);
    assert_int_equal(look(r).ready, 2);
    set_width(r, "a", 7);
    assert_int_equal(look(r).ready, 5);
    set_running(r, 6);
    assert_int_equal(look(r).ready, 5);
    set_running(r, 3);
    assert_int_equal(look(r).ready, 3);
    set_width(r, "a", 0);
    assert_int_equal(look(r).rows, 0);
}

static void classes_that_share_a_key_share_its_width(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    struct name_item keys[] = {{SLICE("db")}};
    o.demand.keys = (struct tlv_list){keys, 1};
    set_width(r, "db", 3);
    (void)submit(r, &o, 2);
    o.priority = 7;
    (void)submit(r, &o, 2);
    assert_int_equal(look(r).rows, 2);
    assert_int_equal(look(r).ready, 3);
}

static void no_more_count_than_the_tenant_may_run(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    set_running(r, 4);
    (void)submit(r, &o, 3);
    o.priority = 7;
    (void)submit(r, &o, 3);
    r->tenant = "bolt";
    (void)submit(r, &o, 5);
    assert_int_equal(look_for(r, NULL, "acme").ready, 4);
    assert_int_equal(look_for(r, NULL, "bolt").ready, 5); /* its own is not set */
    r->tenant = "acme";
    struct worker_info own = {.slots = 1, .tenant = SLICE("acme")};
    assert_ok(fixture_attach_as(r, "w", 1, &own));
    assert_int_equal(look_for(r, NULL, "acme").ready, 3); /* one runs */
}

/* ---- what waits for something else ---- */

static void only_the_tenant_that_was_asked_about_is_told_of(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    (void)submit(r, &o, 2);
    r->tenant = "bolt";
    (void)submit(r, &o, 3);
    assert_int_equal(look(r).ready, 5);
    assert_int_equal(look_for(r, NULL, "acme").ready, 2);
    assert_int_equal(look_for(r, NULL, "bolt").ready, 3);
    assert_int_equal(look_for(r, NULL, "cord").rows, 0);
}

static void jobs_of_a_paused_tenant_do_not_count(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    (void)submit(r, &o, 2);
    assert_ok(fixture_pause(r, PAUSE_TENANT, 0, "acme", true));
    assert_int_equal(look(r).rows, 0);
    assert_ok(fixture_pause(r, PAUSE_TENANT, 0, "acme", false));
    assert_int_equal(look(r).ready, 2);
}

static void a_job_that_waits_for_a_worker_by_name_does_not_count(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    struct worker_info kind = kind_of("default");
    o.preferred_worker = SLICE("fav");
    o.prefer_ms = 3000;
    (void)submit(r, &o, 2);
    assert_int_equal(look(r).rows, 0);
    assert_int_equal(ready_for(r, &kind), 0);
    fixture_tick(r, 3000);
    assert_int_equal(look(r).ready, 2);
    assert_int_equal(ready_for(r, &kind), 2);
}

/* Its first jobs are called off, the rest will be: no worker must be started for them. */
static void jobs_of_a_flow_that_is_being_cancelled_do_not_count(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t flow = submit(r, &o, STEP_JOBS_MAX + 10);
    struct command cancel = {.kind = CMD_CANCEL, .principal = SLICE("tester")};
    cancel.as.cancel = (struct cmd_cancel){.flow = {flow}, .whole = true};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cancel);
    fixture_flush(r);
    assert_int_equal(fixture_counts(r).by_state[JOB_READY], 10);
    assert_int_equal(look(r).rows, 0);
    (void)submit(r, &o, 3);
    assert_int_equal(look(r).ready, 3);
}

static void jobs_whose_permission_has_lapsed_do_not_count(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    struct command policy = {.kind = CMD_POLICY};
    o.gates = GATE_BIT(GATE_POLICY);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a"}, 1)); /* a policy judges what a job says */
    uint64_t flow = r->reply.flow.v;
    policy.as.policy.version = 1;
    assert_ok(fixture_command(r, &policy));
    struct cmd_verdict allow = fixture_answer(r, ref_of(flow, 0), VERDICT_ALLOW);
    allow.policy = 1;
    assert_ok(fixture_send_verdict(r, &allow));
    assert_int_equal(look(r).ready, 1);
    policy.as.policy.version = 2;
    assert_ok(fixture_command(r, &policy));
    assert_int_equal(fixture_state(r, flow, 0), JOB_READY);
    assert_int_equal(look(r).rows, 0);
}

/* ---- what waits for room ---- */

static void jobs_before_workers_that_are_overloaded_count(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, true, NULL));
    assert_ok(fixture_attach(r, "w", 1, 10));
    assert_ok(fixture_heartbeat(r, "w", 1, 10, 95, 0));
    (void)submit(r, &o, 2);
    struct seen seen = look(r);
    assert_int_equal(seen.ready, 2);
    assert_int_equal(seen.block, BLOCK_OVERLOADED);
}

static void the_one_that_has_been_ready_for_longest_is_told(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    int64_t first = r->in.wall.ms;
    uint64_t flow = submit(r, &o, 1);
    fixture_tick(r, 500);
    (void)submit(r, &o, 1);
    assert_int_equal(look(r).since_ms, first);
    assert_ok(fixture_pause(r, PAUSE_FLOW, flow, NULL, true));
    assert_int_equal(look(r).since_ms, first + 500);
}

static void of_very_many_the_first_are_counted_and_the_rest_announced(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    (void)submit(r, &o, DEMAND_LOOK_MAX);
    assert_int_equal(look(r).ready, DEMAND_LOOK_MAX);
    assert_false(look(r).more);
    (void)submit(r, &o, 1);
    assert_int_equal(look(r).ready, DEMAND_LOOK_MAX);
    assert_true(look(r).more);
    set_running(r, DEMAND_LOOK_MAX);
    assert_false(look(r).more); /* the last one may not run beside the others */
}

/* ---- workers of a kind ---- */

struct workers {
    char ids[64];
    struct demand_worker last;
};

static void see_worker(void *ctx, const struct demand_worker *w) {
    struct workers *seen = ctx;
    size_t len = strlen(seen->ids);
    snprintf(seen->ids + len, sizeof seen->ids - len, "%.*s ", SLICE_FMT(w->id));
    seen->last = *w;
}

static struct workers workers_of(const struct fixture *r, const struct worker_info *kind) {
    struct workers seen = {.ids = ""};
    view_demand_workers(engine_state(r->engine), engine_live(r->engine), kind, see_worker, &seen);
    return seen;
}

static void a_worker_of_a_kind_has_its_pool_tenant_capabilities_and_labels(void **state) {
    struct fixture *r = *state;
    struct name_item gpu[] = {{SLICE("gpu")}}, both[] = {{SLICE("fpu")}, {SLICE("gpu")}};
    struct label here[] = {{SLICE("zone"), SLICE("1")}}, there[] = {{SLICE("zone"), SLICE("2")}};
    const struct worker_info kind = {
        .pool = SLICE("p"), .slots = 4, .tenant = SLICE("acme"), .capabilities = {gpu, 1}, .labels = {here, 1}};
    struct worker_info one = kind;
    assert_ok(fixture_attach_as(r, "same", 1, &one));
    one.slots = 1;
    one.capabilities = (struct tlv_list){both, 2};
    assert_ok(fixture_attach_as(r, "more", 1, &one));
    one.labels = (struct tlv_list){there, 1};
    assert_ok(fixture_attach_as(r, "elsewhere", 1, &one));
    one = kind;
    one.capabilities.count = 0;
    assert_ok(fixture_attach_as(r, "bare", 1, &one));
    one = kind;
    one.tenant = SLICE("bolt");
    assert_ok(fixture_attach_as(r, "bolts", 1, &one));
    one = kind;
    one.pool = SLICE("q");
    assert_ok(fixture_attach_as(r, "other", 1, &one));
    assert_string_equal(workers_of(r, &kind).ids, "same more ");
}

static void a_worker_that_is_away_or_gone_is_none_of_its_kind(void **state) {
    struct fixture *r = *state;
    struct worker_info kind = kind_of("default"), passing = kind, permanent = kind;
    permanent.permanent = true;
    assert_ok(fixture_attach_as(r, "gone", 1, &passing));
    assert_ok(fixture_attach_as(r, "away", 1, &permanent));
    assert_ok(fixture_attach_as(r, "here", 1, &passing));
    assert_string_equal(workers_of(r, &kind).ids, "gone away here ");
    assert_ok(fixture_detach(r, "gone", 1));
    assert_ok(fixture_detach(r, "away", 1));
    assert_string_equal(workers_of(r, &kind).ids, "here ");
    fixture_tick(r, r->limits.lease_ms - 1);
    assert_ok(fixture_heartbeat(r, "here", 1, 10, 0, 0));
    fixture_tick(r, 1);
    struct worker_view v;
    assert_false(view_worker(engine_state(r->engine), engine_live(r->engine), 1, &v)); /* forgotten */
    assert_true(view_worker(engine_state(r->engine), engine_live(r->engine), 2, &v));  /* known also while away */
    assert_string_equal(workers_of(r, &kind).ids, "here ");
}

static void what_a_worker_has_to_do_is_told(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    struct worker_info kind = kind_of("default");
    assert_ok(fixture_attach(r, "w", 1, 5));
    uint64_t served = workers_of(r, &kind).last.served;
    (void)submit(r, &o, 2);
    struct demand_worker w = workers_of(r, &kind).last;
    assert_int_equal(w.slots, 5);
    assert_int_equal(w.active, 2);
    assert_false(w.draining);
    assert_true(w.served != served);
    assert_ok(fixture_drain(r, "w", true));
    assert_true(workers_of(r, &kind).last.draining);
}

/* ---- kinds as people write them ---- */

static void a_kind_is_put_in_order_as_what_workers_say_is(void **state) {
    struct fixture *r = *state;
    struct name_item names[] = {{SLICE("b")}, {SLICE("a")}};
    struct worker_info given = {.slots = 2, .capabilities = {names, 2}}, kind;
    struct arena arena;
    struct why why = {""};
    arena_init(&arena, 4096, (size_t)1 << 20);
    assert_ok(view_demand_kind(&r->limits, &given, &arena, &kind, &why));
    assert_true(slice_eq(kind.pool, SLICE("default")));
    const struct name_item *sorted = kind.capabilities.at;
    assert_true(slice_eq(sorted[0].name, SLICE("a")) && slice_eq(sorted[1].name, SLICE("b")));
    assert_string_equal(why.text, "");
    arena_fini(&arena);
}

static void a_kind_that_no_worker_could_be_of_is_refused_with_the_reason(void **state) {
    struct fixture *r = *state;
    struct worker_info given = {.slots = 0}, kind = {.slots = 77};
    struct arena arena;
    struct why why = {""};
    arena_init(&arena, 4096, (size_t)1 << 20);
    assert_int_equal(view_demand_kind(&r->limits, &given, &arena, &kind, &why), ERR_INVALID);
    assert_string_equal(why.text, "a worker has at least one slot");
    assert_int_equal(kind.slots, 77); /* untouched */
    arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(as_many_fit_as_there_is_of_what_is_scarcest),
        FIXTURE_TEST(only_its_slots_bound_a_kind_for_jobs_that_want_nothing),
        FIXTURE_TEST(a_pool_that_is_closed_needs_no_workers),
        FIXTURE_TEST(jobs_for_closed_pools_alone_do_not_count),
        FIXTURE_TEST(a_pool_takes_only_what_it_offers),
        FIXTURE_TEST(a_job_that_prefers_a_pool_is_for_that_one_at_first),
        FIXTURE_TEST(no_more_count_than_a_rate_has_tokens),
        FIXTURE_TEST(of_two_limits_the_narrower_counts),
        FIXTURE_TEST(classes_that_share_a_key_share_its_width),
        FIXTURE_TEST(no_more_count_than_the_tenant_may_run),
        FIXTURE_TEST(only_the_tenant_that_was_asked_about_is_told_of),
        FIXTURE_TEST(jobs_of_a_paused_tenant_do_not_count),
        FIXTURE_TEST(a_job_that_waits_for_a_worker_by_name_does_not_count),
        FIXTURE_TEST(jobs_of_a_flow_that_is_being_cancelled_do_not_count),
        FIXTURE_TEST(jobs_whose_permission_has_lapsed_do_not_count),
        FIXTURE_TEST(jobs_before_workers_that_are_overloaded_count),
        FIXTURE_TEST(the_one_that_has_been_ready_for_longest_is_told),
        FIXTURE_TEST(of_very_many_the_first_are_counted_and_the_rest_announced),
        FIXTURE_TEST(a_worker_of_a_kind_has_its_pool_tenant_capabilities_and_labels),
        FIXTURE_TEST(a_worker_that_is_away_or_gone_is_none_of_its_kind),
        FIXTURE_TEST(what_a_worker_has_to_do_is_told),
        FIXTURE_TEST(a_kind_is_put_in_order_as_what_workers_say_is),
        FIXTURE_TEST(a_kind_that_no_worker_could_be_of_is_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
