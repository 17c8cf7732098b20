/* choose_test.c: which worker gets which job. */
#include <stdio.h>

#include "engine_fixture.h"

static uint64_t submit(struct fixture *r, const struct options *o) {
    const char *jobs[] = {"a"};
    assert_ok(fixture_submit(r, o, jobs, 1));
    return r->reply.flow.v;
}

static void attach(struct fixture *r, const char *id, const struct worker_info *info) {
    struct worker_info full = *info;
    if (full.slots == 0) full.slots = 2;
    assert_ok(fixture_attach_as(r, id, 1, &full));
}

#define assert_on(r, flow, worker) assert_string_equal(fixture_worker_of(r, flow, 0), worker)

/* ---- what a job asks for ---- */

static void a_job_runs_in_its_pool_only(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.demand.pool = SLICE("gpu");
    attach(r, "plain", &(struct worker_info){0});
    uint64_t flow = submit(r, &o);
    assert_on(r, flow, "");
    attach(r, "big", &(struct worker_info){.pool = SLICE("gpu")});
    assert_on(r, flow, "big");
}

static void a_topic_leads_to_its_pools(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.demand.pool = slice_of(NULL, 0);
    o.demand.topic = SLICE("mail");
    attach(r, "one", &(struct worker_info){.pool = SLICE("p1"), .slots = 1});
    attach(r, "two", &(struct worker_info){.pool = SLICE("p2"), .slots = 1});
    uint64_t first = submit(r, &o);
    assert_int_equal(fixture_why(r, first, 0).block, BLOCK_NO_POOL_MAPPING);
    assert_ok(fixture_topic(r, "mail", "p2", NULL));
    assert_on(r, first, "two");
    uint64_t second = submit(r, &o);
    assert_on(r, second, "");
    assert_ok(fixture_topic(r, "mail", "p2", "p1")); /* changed: replaces */
    assert_on(r, second, "one");
    fixture_check_digests(r);
    assert_ok(fixture_topic(r, "mail", NULL, NULL)); /* removed */
    assert_ok(fixture_topic(r, "never", NULL, NULL));
    assert_int_equal(fixture_why(r, submit(r, &o), 0).block, BLOCK_NO_POOL_MAPPING);
}

static void capabilities_and_labels(void **state) {
    struct fixture *r = *state;
    struct name_item wants[] = {{SLICE("cuda")}, {SLICE("avx")}}, has_one[] = {{SLICE("avx")}},
                     has_all[] = {{SLICE("zfs")}, {SLICE("cuda")}, {SLICE("avx")}, {SLICE("bzip")}};
    struct label zone[] = {{SLICE("zone"), SLICE("eu")}}, other_zone[] = {{SLICE("zone"), SLICE("us")}},
                 more[] = {{SLICE("zone"), SLICE("eu")}, {SLICE("disk"), SLICE("ssd")}},
                 unlike[] = {{SLICE("area"), SLICE("eu")}};
    struct options o = fixture_options();
    o.demand.capabilities = (struct tlv_list){wants, 2};
    o.demand.labels = (struct tlv_list){zone, 1};
    uint64_t flow = submit(r, &o);
    attach(r, "none", &(struct worker_info){0});
    attach(r, "some", &(struct worker_info){.capabilities = {has_one, 1}, .labels = {more, 2}});
    attach(r, "elsewhere", &(struct worker_info){.capabilities = {has_all, 4}, .labels = {other_zone, 1}});
    attach(r, "unlabelled", &(struct worker_info){.capabilities = {has_all, 4}, .labels = {unlike, 1}});
    assert_on(r, flow, "");
    assert_int_equal(fixture_why(r, flow, 0).block, BLOCK_CAPABILITY);
    attach(r, "right", &(struct worker_info){.capabilities = {has_all, 4}, .labels = {more, 2}});
    assert_on(r, flow, "right");
}

static bool nearest(const struct fixture *r, uint64_t flow, struct nearest_view *ret) {
    return view_nearest(engine_state(r->engine), engine_live(r->engine), &r->limits, ref_of(flow, 0), ret);
}

/* The one that lacks the fewest things, and of those the first that came; sizes are told as they are offered. */
static void the_nearest_worker_and_what_it_lacks(void **state) {
    struct fixture *r = *state;
    struct name_item wants[] = {{SLICE("cuda")}};
    struct label zone[] = {{SLICE("zone"), SLICE("eu")}};
    struct resource disk[] = {{SLICE("disk"), 3}};
    struct nearest_view v;
    struct worker_view w;
    struct options o = fixture_options();
    o.demand.capabilities = (struct tlv_list){wants, 1};
    o.demand.labels = (struct tlv_list){zone, 1};
    o.demand.resources = (struct tlv_list){disk, 1};
    o.demand.cpu_milli = 2500;
    o.demand.memory_bytes = 900;
    o.demand.gpus = 1;
    uint64_t flow = submit(r, &o);
    assert_false(nearest(r, flow, &v)); /* nobody is there */
    attach(r, "none", &(struct worker_info){0});
    attach(r, "away", &(struct worker_info){.pool = SLICE("other"), .labels = {zone, 1}, .gpus = 1});
    assert_true(nearest(r, flow, &v));
    assert_int_equal(v.count, 6); /* more than are told one by one */
    assert_int_equal(v.lacks[0].kind, LACK_CAPABILITY);
    assert_int_equal(v.lacks[1].kind, LACK_LABEL);
    assert_int_equal(v.lacks[2].wanted, 2500);
    struct worker_info near = {.capabilities = {wants, 1}, .labels = {zone, 1}, .resources = {disk, 1}};
    near.cpu_milli = 2500;
    near.memory_bytes = 64;
    near.gpus = 1;
    attach(r, "near", &near);
    attach(r, "equal", &near);
    assert_true(nearest(r, flow, &v));
    assert_int_equal(v.count, 1);
    assert_int_equal(v.lacks[0].kind, LACK_MEMORY);
    assert_int_equal(v.lacks[0].wanted, 900);
    assert_int_equal(v.lacks[0].offered, 64);
    assert_true(view_worker(engine_state(r->engine), NULL, v.worker, &w));
    assert_true(slice_eq(w.id, SLICE("near")));
    near.memory_bytes = 1000;
    attach(r, "right", &near);
    assert_on(r, flow, "right");
    assert_false(nearest(r, flow, &v)); /* it waits for nobody any more */
}

/* Most workers are of another pool, and all of them idle: the least busy of those that fit is found behind them, by two
 * classes in one round as well. */
static void few_of_many_fit(void **state) {
    enum { OTHERS = 12, OURS = 3, SLOTS = 4, FLOWS = OURS * SLOTS };
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t flows[FLOWS];
    uint32_t given[OURS] = {0};
    char name[8];
    for (uint32_t i = 0; i < OTHERS; i++) {
        snprintf(name, sizeof name, "x%u", i % 100);
        attach(r, name, &(struct worker_info){.pool = SLICE("other"), .slots = 9});
    }
    for (uint32_t i = 0; i < OURS; i++) {
        snprintf(name, sizeof name, "d%u", i % 10);
        attach(r, name, &(struct worker_info){.slots = SLOTS});
    }
    for (uint32_t i = 0; i < OURS; i++) flows[i] = submit(r, &o);
    assert_ok(fixture_pool(r, "default", POOL_INACTIVE, false, NULL));
    for (uint32_t i = OURS; i < FLOWS; i++) {
        o.priority = i % 2 + 1; /* a class each */
        flows[i] = submit(r, &o);
        assert_on(r, flows[i], "");
    }
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, false, NULL));
    for (uint32_t i = 0; i < FLOWS; i++) {
        const char *worker = fixture_worker_of(r, flows[i], 0);
        assert_int_equal(worker[0], 'd');
        given[worker[1] - '0']++;
        for (uint32_t d = 0; d < OURS && i == OURS - 1; d++) assert_int_equal(given[d], 1);
    }
    for (uint32_t d = 0; d < OURS; d++) assert_int_equal(given[d], SLOTS);
    fixture_check_digests(r);
}

static void a_pool_may_say_what_it_offers(void **state) {
    struct fixture *r = *state;
    struct name_item cuda[] = {{SLICE("cuda")}};
    struct options o = fixture_options();
    o.demand.capabilities = (struct tlv_list){cuda, 1};
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, false, "avx"));
    attach(r, "w", &(struct worker_info){.capabilities = {cuda, 1}});
    uint64_t flow = submit(r, &o);
    assert_int_equal(fixture_why(r, flow, 0).block, BLOCK_CAPABILITY);
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, false, "cuda"));
    assert_on(r, flow, "w");
}

static void a_worker_serves_one_tenant(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    attach(r, "other", &(struct worker_info){.tenant = SLICE("globex"), .slots = 5});
    uint64_t flow = submit(r, &o);
    assert_on(r, flow, "");
    assert_int_equal(fixture_why(r, flow, 0).block, BLOCK_TENANT_WORKERS);
    fixture_check_digests(r);
    attach(r, "own", &(struct worker_info){.tenant = SLICE("acme"), .slots = 1});
    assert_on(r, flow, "own");
    uint64_t more = submit(r, &o);
    assert_int_equal(fixture_why(r, more, 0).block, BLOCK_CAPACITY); /* its own one is full, the other stays idle */
    r->tenant = "globex";
    assert_on(r, submit(r, &o), "other");
    r->tenant = "acme";
    attach(r, "any", &(struct worker_info){0});
    assert_on(r, more, "any");
    /* nobody comes into the jobs of another tenant under a worker's name */
    struct worker_info thief = {.tenant = SLICE("globex"), .slots = 1};
    assert_int_equal(fixture_attach_as(r, "own", 2, &thief), ERR_INVALID);
    assert_int_equal(fixture_attach_as(r, "own", 0, &thief), ERR_INVALID); /* nor learns which incarnation it is in */
    assert_on(r, flow, "own");
    assert_ok(fixture_attach_as(r, "own", 2, &(struct worker_info){.tenant = SLICE("acme"), .slots = 1}));
    struct slice name;
    uint32_t tenants = 0;
    for (uint32_t at = 0; (at = view_tenant_next(engine_state(r->engine), at, &name)) != 0; tenants++)
        assert_true(slice_eq(name, SLICE("acme")) || slice_eq(name, SLICE("globex")));
    assert_int_equal(tenants, 2);
}

static void resources_are_counted(void **state) {
    struct fixture *r = *state;
    struct resource offered[] = {{SLICE("licence"), 3}, {SLICE("tape"), 9}}, wanted[] = {{SLICE("licence"), 2}};
    struct worker_info info = {
        .slots = 10, .cpu_milli = 4000, .memory_bytes = 1000, .gpus = 2, .resources = {offered, 2}};
    attach(r, "w", &info);
    const struct {
        struct demand demand;
        uint32_t fit; /* how many fit at once */
    } cases[] = {{{.cpu_milli = 1500}, 2},
                 {{.memory_bytes = 400}, 2},
                 {{.gpus = 1}, 2},
                 {{.resources = {wanted, 1}}, 1},
                 {{.cpu_milli = 1}, 10},
                 {{.cpu_milli = 5000}, 0},
                 {{.memory_bytes = 1001}, 0},
                 {{.gpus = 3}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options o = fixture_options();
        o.demand = cases[i].demand;
        uint64_t before = r->jobs_assigned, flows[12];
        for (int k = 0; k < 12; k++) flows[k] = submit(r, &o);
        assert_int_equal(r->jobs_assigned - before, cases[i].fit);
        fixture_check_digests(r);
        for (int k = 0; k < 12; k++) {
            if (fixture_state(r, flows[k], 0) != JOB_READY) continue;
            assert_int_equal(fixture_why(r, flows[k], 0).block, cases[i].fit ? BLOCK_CAPACITY : BLOCK_CAPABILITY);
            assert_ok(fixture_cancel(r, ref_of(flows[k], 0)));
        }
        fixture_run_all(r, "w", 1); /* everything is given back */
    }
    /* one that is not offered at all; and counters that follow a worker which comes back with other things */
    struct resource unknown[] = {{SLICE("moon"), 1}};
    struct options o = fixture_options();
    o.demand.resources = (struct tlv_list){unknown, 1};
    uint64_t moon = submit(r, &o);
    assert_int_equal(fixture_why(r, moon, 0).block, BLOCK_CAPABILITY);
    o.demand.resources = (struct tlv_list){wanted, 1};
    uint64_t running = submit(r, &o);
    assert_on(r, running, "w");
    struct held_attempt held = {ref_of(running, 0), 1, HELD_RUNNING};
    struct resource after[] = {{SLICE("aaa"), 1}, {SLICE("licence"), 3}};
    struct command cmd = {.kind = CMD_ATTACH};
    cmd.as.attach = (struct cmd_attach){.worker = SLICE("w"),
                                        .incarnation = 1,
                                        .info = {.slots = 4, .resources = {after, 2}},
                                        .held = &held,
                                        .held_count = 1};
    assert_ok(fixture_command(r, &cmd));
    assert_on(r, submit(r, &o), ""); /* two of three licences are still taken */
    cmd.as.attach.info.resources.count = 1;
    assert_ok(
        fixture_command(r, &cmd)); /* came back without the licence: giving back what is not counted is harmless */
    assert_ok(fixture_done(r, "w", 1, ref_of(running, 0), 1, OUTCOME_OK));
}

/* ---- load ---- */

static void the_least_loaded_wins(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    attach(r, "a", &(struct worker_info){.slots = 10});
    attach(r, "b", &(struct worker_info){.slots = 10});
    assert_ok(fixture_heartbeat(r, "a", 1, 10, 30, 0));
    assert_ok(fixture_heartbeat(r, "b", 1, 10, 20, 0));
    assert_on(r, submit(r, &o), "b"); /* 0.3 against 0.2 */
    assert_on(r, submit(r, &o), "a"); /* 0.3 against 0.3, and b was served last */
    assert_on(r, submit(r, &o), "b"); /* 0.4 against 0.3 */
}

static void ties_go_to_the_one_served_longest_ago(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    attach(r, "a", &(struct worker_info){.slots = 10});
    attach(r, "b", &(struct worker_info){.slots = 10});
    attach(r, "c", &(struct worker_info){.slots = 10});
    const char *order[6];
    static char names[6][8];
    for (int i = 0; i < 6; i++) {
        uint64_t flow = submit(r, &o);
        (void)snprintf(names[i], sizeof names[i], "%s", fixture_worker_of(r, flow, 0));
        order[i] = names[i];
        assert_ok(fixture_done(r, names[i], 1, ref_of(flow, 0), 1, OUTCOME_OK));
    }
    for (int i = 0; i < 3; i++) assert_string_equal(order[i], order[i + 3]);
    assert_string_not_equal(order[0], order[1]);
    assert_string_not_equal(order[1], order[2]);
}

static void gpu_load_counts(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    attach(r, "a", &(struct worker_info){.slots = 10});
    attach(r, "b", &(struct worker_info){.slots = 10});
    assert_ok(fixture_heartbeat(r, "a", 1, 10, 0, 50));
    for (int i = 0; i < 5; i++) assert_on(r, submit(r, &o), "b");
}

/* Overload comes before load: any that is not overloaded is preferred. */
static void overload_is_a_preference(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    attach(r, "hot", &(struct worker_info){.slots = 10});
    attach(r, "busy", &(struct worker_info){.slots = 10});
    assert_ok(fixture_heartbeat(r, "hot", 1, 10, 90, 0));
    for (int i = 0; i < 9; i++) assert_on(r, submit(r, &o), "busy"); /* even at 0.8 + nothing against 0.9 */
    assert_on(r, submit(r, &o), "hot"); /* both overloaded now: 0.9 against 0.9, hot was never served */
    assert_ok(fixture_heartbeat(r, "hot", 1, 10, 0, 95));
    assert_on(r, submit(r, &o), "busy"); /* 0.9 against 0.1 + 0.95 */
}

static void a_pool_may_refuse_overload(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    assert_ok(fixture_pool(r, "default", POOL_ACTIVE, true, NULL));
    attach(r, "w", &(struct worker_info){.slots = 10});
    assert_ok(fixture_heartbeat(r, "w", 1, 10, 95, 0));
    uint64_t flow = submit(r, &o);
    assert_on(r, flow, "");
    assert_int_equal(fixture_why(r, flow, 0).block, BLOCK_OVERLOADED);
    assert_ok(fixture_heartbeat(r, "w", 1, 10, 50, 0));
    assert_on(r, flow, "w");
    for (int i = 0; i < 8; i++) (void)submit(r, &o);
    assert_on(r, submit(r, &o), ""); /* nine of ten slots */
}

/* ---- preferences ---- */

static void a_preferred_worker_is_waited_for(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.preferred_worker = SLICE("fav");
    o.prefer_ms = 3000;
    attach(r, "w", &(struct worker_info){0});
    uint64_t flow = submit(r, &o);
    assert_on(r, flow, "");
    struct why_job why = fixture_why(r, flow, 0);
    assert_int_equal(why.block, BLOCK_PREFERENCE);
    assert_int_equal(why.until.ms, r->in.wall.ms + 3000);
    fixture_check_digests(r);
    fixture_tick(r, 2999);
    assert_on(r, flow, "");
    fixture_tick(r, 1);
    assert_on(r, flow, "w"); /* the time is over: anyone */
    uint64_t second = submit(r, &o);
    attach(r, "fav", &(struct worker_info){0});
    assert_on(r, second, "fav");
}

static void a_preferred_pool(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.demand.pool = slice_of(NULL, 0);
    o.demand.topic = SLICE("t");
    o.preferred_pool = SLICE("fast");
    o.prefer_ms = 3000;
    assert_ok(fixture_topic(r, "t", "slow", "fast"));
    attach(r, "s", &(struct worker_info){.pool = SLICE("slow")});
    uint64_t flow = submit(r, &o);
    assert_on(r, flow, "");
    attach(r, "f", &(struct worker_info){.pool = SLICE("fast"), .slots = 1});
    assert_on(r, flow, "f");
    flow = submit(r, &o);
    assert_on(r, flow, "");
    fixture_tick(r, 3000);
    assert_on(r, flow, "s");
}

static void affinity_follows_the_parent(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[1].affinity = true;
    sets[1].prefer_ms = 5000;
    sets[1].preferred_pool = SLICE("default");
    attach(r, "w1", &(struct worker_info){.slots = 1});
    attach(r, "w2", &(struct worker_info){.slots = 1});
    const char *jobs[] = {"a", "b", "child@1: a b", "alone@1"};
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 4, false));
    char second[16];
    (void)snprintf(second, sizeof second, "%s", fixture_worker_of(r, 1, 1));
    char first[16];
    (void)snprintf(first, sizeof first, "%s", fixture_worker_of(r, 1, 0));
    assert_ok(fixture_cancel(r, ref_of(1, 3))); /* no parents: it would take any slot */
    assert_ok(fixture_done(r, second, 1, ref_of(1, 1), 1, OUTCOME_OK));
    assert_ok(fixture_done(r, first, 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_string_equal(fixture_worker_of(r, 1, 2), second); /* that of the parent with the highest ordinal */
}

static void affinity_to_a_worker_that_is_gone(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[1].affinity = true;
    sets[1].delay_ms = 60000;
    attach(r, "w1", &(struct worker_info){0});
    const char *jobs[] = {"a", "child@1: a"};
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 2, false));
    assert_ok(fixture_done(r, "w1", 1, ref_of(1, 0), 1, OUTCOME_OK));
    fixture_tick(r, 59000); /* w1 is gone */
    attach(r, "w2", &(struct worker_info){0});
    fixture_tick(r, 1000);
    assert_string_equal(fixture_worker_of(r, 1, 1), "w2");
}

static void affinity_to_a_parent_without_a_worker(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[0].kind = JOB_BARRIER;
    sets[1].affinity = true;
    attach(r, "w", &(struct worker_info){0});
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"a", "b@1: a"}, 2, false));
    assert_string_equal(fixture_worker_of(r, 1, 1), "w");
}

/* A worker that came back with less than its jobs have taken gets nothing until they end. */
static void less_than_is_taken(void **state) {
    struct fixture *r = *state;
    struct resource offered[] = {{SLICE("licence"), 3}}, wanted[] = {{SLICE("licence"), 1}};
    struct options o = fixture_options();
    o.demand.resources = (struct tlv_list){wanted, 1};
    o.demand.cpu_milli = 100;
    attach(r, "w", &(struct worker_info){.slots = 5, .cpu_milli = 300, .resources = {offered, 1}});
    struct held_attempt held[3];
    for (uint32_t i = 0; i < 3; i++) held[i] = (struct held_attempt){ref_of(submit(r, &o), 0), 1, HELD_RUNNING};
    struct command cmd = {.kind = CMD_ATTACH};
    offered[0].amount = 2;
    cmd.as.attach = (struct cmd_attach){.worker = SLICE("w"),
                                        .incarnation = 1,
                                        .info = {.slots = 5, .cpu_milli = 300, .resources = {offered, 1}},
                                        .held = held,
                                        .held_count = 3};
    assert_ok(fixture_command(r, &cmd));
    o.demand.cpu_milli = 0;
    assert_on(r, submit(r, &o), "");
    cmd.as.attach.info.cpu_milli = 200;
    assert_ok(fixture_command(r, &cmd));
    o.demand = (struct demand){.cpu_milli = 100};
    assert_on(r, submit(r, &o), "");
}

static void names_around_the_wanted_one(void **state) {
    struct fixture *r = *state;
    struct name_item want[] = {{SLICE("m")}}, around[] = {{SLICE("a")}, {SLICE("z")}}, below[] = {{SLICE("a")}};
    struct label zone[] = {{SLICE("m"), SLICE("1")}}, near[] = {{SLICE("a"), SLICE("1")}, {SLICE("z"), SLICE("1")}};
    struct options o = fixture_options();
    o.demand.capabilities = (struct tlv_list){want, 1};
    attach(r, "w", &(struct worker_info){.capabilities = {around, 2}});
    attach(r, "v", &(struct worker_info){.capabilities = {below, 1}});
    assert_on(r, submit(r, &o), "");
    o = fixture_options();
    o.demand.labels = (struct tlv_list){zone, 1};
    attach(r, "u", &(struct worker_info){.labels = {near, 2}});
    assert_on(r, submit(r, &o), "");
}

/* A full batch ends the round; the next pass goes on. */
static void a_round_ends_with_the_batch(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    for (int i = 0; i < 10; i++) (void)submit(r, &o);
    r->limits.batch_records_max = 3;
    fixture_crash(r);
    attach(r, "w", &(struct worker_info){.slots = 10});
    assert_in_range(fixture_counts(r).by_state[JOB_DISPATCHED], 1, 4);
    for (int i = 0; i < 5; i++) fixture_tick(r, 0);
    assert_int_equal(fixture_counts(r).by_state[JOB_DISPATCHED], 10);
}

/* ---- order ---- */

static void a_higher_priority_goes_first(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t flows[4];
    const uint32_t priority[] = {0, 1, 2, 1};
    for (int i = 0; i < 4; i++) {
        o.priority = priority[i];
        flows[i] = submit(r, &o);
    }
    attach(r, "w", &(struct worker_info){.slots = 1});
    const int order[] = {2, 1, 3, 0};
    for (int i = 0; i < 4; i++) {
        assert_on(r, flows[order[i]], "w");
        assert_ok(fixture_done(r, "w", 1, ref_of(flows[order[i]], 0), 1, OUTCOME_OK));
    }
}

/* A class that nobody can serve blocks no other. */
static void an_impossible_class_blocks_nobody(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.priority = 9;
    o.demand.gpus = 64;
    uint64_t never = submit(r, &o);
    o = fixture_options();
    uint64_t flow = submit(r, &o);
    attach(r, "w", &(struct worker_info){0});
    assert_on(r, flow, "w");
    assert_on(r, never, "");
}

static void first_come_within_a_tenant(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t flows[5];
    for (int i = 0; i < 5; i++) {
        o.demand.cpu_milli = (uint32_t)(5 - i); /* five classes, in the wrong order of anything but time */
        flows[i] = submit(r, &o);
        fixture_tick(r, 1);
    }
    attach(r, "w", &(struct worker_info){.slots = 1, .cpu_milli = 100});
    for (int i = 0; i < 5; i++) {
        assert_on(r, flows[i], "w");
        assert_ok(fixture_done(r, "w", 1, ref_of(flows[i], 0), 1, OUTCOME_OK));
    }
}

/* ---- fair shares ---- */

struct tally {
    uint32_t given[3];
};

static const char *const tenants[] = {"one", "two", "five"};
static const uint32_t weights[] = {1, 2, 5};

static void fill(struct fixture *r, uint32_t each) {
    struct options o = fixture_options();
    for (uint32_t i = 0; i < each; i++)
        for (int t = 0; t < 3; t++) {
            r->tenant = tenants[t];
            (void)submit(r, &o);
        }
}

/* Runs one job after the other and holds what everyone got against their share: exact to one job after each whole round
 * (8 jobs, the sum of the weights), and to two within a round. */
static void weighted_shares_are_exact(void **state) {
    struct fixture *r = *state;
    for (int t = 0; t < 3; t++) assert_ok(fixture_weight(r, tenants[t], weights[t]));
    fill(r, 120);
    attach(r, "w", &(struct worker_info){.slots = 1});
    struct tally tally = {{0}};
    for (uint32_t n = 1; n <= 160; n++) {
        const struct effect *assigned = NULL;
        for (uint32_t i = 0; i < r->effects.count; i++) {
            const struct effect *e = vec_at(&r->effects, i);
            if (e->kind == EFFECT_ASSIGN) assigned = e;
        }
        assert_non_null(assigned);
        struct job_ref job = assigned->as.attempt.job;
        struct slice tenant = fixture_flow(r, job.flow.v).tenant;
        for (int t = 0; t < 3; t++) tally.given[t] += slice_eq(tenant, slice_str(tenants[t]));
        for (int t = 0; t < 3; t++) { /* |given - n * weight / 8| */
            int64_t off = (int64_t)tally.given[t] * 8 - (int64_t)n * weights[t], most = n % 8 == 0 ? 8 : 16;
            if (off > most || off < -most) fail_msg("after %u: %s got %u", n, tenants[t], tally.given[t]);
        }
        r->effects.count = 0;
        assert_ok(fixture_done(r, "w", 1, job, 1, OUTCOME_OK));
    }
}

/* Who was idle cannot save up a claim: it joins where the others are. */
static void idleness_is_not_saved_up(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    attach(r, "w", &(struct worker_info){.slots = 1});
    r->tenant = "busy";
    uint64_t last = 0;
    for (int i = 0; i < 20; i++) last = submit(r, &o);
    for (uint64_t f = 1; f <= 10; f++) assert_ok(fixture_done(r, "w", 1, ref_of(f, 0), 1, OUTCOME_OK));
    r->tenant = "late";
    for (int i = 0; i < 10; i++) (void)submit(r, &o);
    uint32_t late = 0;
    for (int n = 0; n < 10; n++) {
        uint64_t running = 0;
        for (uint64_t f = 1; f <= last + 10; f++)
            if (fixture_state(r, f, 0) == JOB_DISPATCHED) running = f;
        late += running > last;
        assert_ok(fixture_done(r, "w", 1, ref_of(running, 0), 1, OUTCOME_OK));
    }
    assert_in_range(late, 4, 6);
}

static void many_classes_many_workers(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    for (uint32_t i = 0; i < 200; i++) {
        o.demand.cpu_milli = i % 13;
        o.priority = i % 5;
        (void)submit(r, &o);
    }
    for (int i = 0; i < 20; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "w%d", i);
        attach(r, id, &(struct worker_info){.slots = 10, .cpu_milli = 1000});
    }
    assert_int_equal(fixture_counts(r).by_state[JOB_READY], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_job_runs_in_its_pool_only),
        FIXTURE_TEST(a_topic_leads_to_its_pools),
        FIXTURE_TEST(capabilities_and_labels),
        FIXTURE_TEST(the_nearest_worker_and_what_it_lacks),
        FIXTURE_TEST(few_of_many_fit),
        FIXTURE_TEST(a_pool_may_say_what_it_offers),
        FIXTURE_TEST(a_worker_serves_one_tenant),
        FIXTURE_TEST(resources_are_counted),
        FIXTURE_TEST(the_least_loaded_wins),
        FIXTURE_TEST(ties_go_to_the_one_served_longest_ago),
        FIXTURE_TEST(gpu_load_counts),
        FIXTURE_TEST(overload_is_a_preference),
        FIXTURE_TEST(a_pool_may_refuse_overload),
        FIXTURE_TEST(a_preferred_worker_is_waited_for),
        FIXTURE_TEST(a_preferred_pool),
        FIXTURE_TEST(affinity_follows_the_parent),
        FIXTURE_TEST(affinity_to_a_worker_that_is_gone),
        FIXTURE_TEST(affinity_to_a_parent_without_a_worker),
        FIXTURE_TEST(less_than_is_taken),
        FIXTURE_TEST(names_around_the_wanted_one),
        FIXTURE_TEST(a_round_ends_with_the_batch),
        FIXTURE_TEST(a_higher_priority_goes_first),
        FIXTURE_TEST(an_impossible_class_blocks_nobody),
        FIXTURE_TEST(first_come_within_a_tenant),
        FIXTURE_TEST(weighted_shares_are_exact),
        FIXTURE_TEST(idleness_is_not_saved_up),
        FIXTURE_TEST(many_classes_many_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
