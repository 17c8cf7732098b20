/* limit_test.c: concurrency keys, rates, limits of a tenant, and fair shares beside them. */
#include "engine_fixture.h"

#include <stdio.h>

static int setup(void **state) {
    static struct fixture rig;
    fixture_init(&rig);
    *state = &rig;
    return 0;
}

static int teardown(void **state) {
    fixture_fini(*state);
    return 0;
}

/* ---- asking ---- */

static enum err set_limit(struct fixture *r, struct cmd_limit limit) {
    struct command cmd = {.kind = CMD_LIMIT};
    if (limit.tenant.len == 0) limit.tenant = SLICE("acme");
    cmd.as.limit = limit;
    return fixture_command(r, &cmd);
}

static enum err set_width(struct fixture *r, const char *key, uint32_t width) {
    return set_limit(r, (struct cmd_limit){.kind = LIMIT_KEY, .name = slice_str(key), .width = width});
}

static enum err set_rate(struct fixture *r, const char *name, uint64_t rate_milli, uint64_t burst) {
    struct cmd_limit limit = {.kind = LIMIT_RATE, .name = slice_str(name), .rate_milli = rate_milli, .burst = burst};
    return set_limit(r, limit);
}

/* A flow of `count` jobs without edges; one key and one rate, "" = none. Returns its id, 0 = refused. */
static uint64_t submit(struct fixture *r, const char *tenant, const char *key, const char *rate, uint32_t count) {
    static char names[1000][8];
    static struct job_spec specs[1000];
    assert_true(count <= 1000);
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i] = (struct job_spec){.name = slice_str(names[i]), .body = SLICE("0123456789")};
    }
    struct options o;
    options_default(&o);
    o.retries = 0;
    struct name_item k = {slice_str(key)}, t = {slice_str(rate)};
    if (*key) o.demand.keys = (struct tlv_list){&k, 1};
    if (*rate) o.demand.rates = (struct tlv_list){&t, 1};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, specs, count, false};
    return fixture_command(r, &cmd) == ERR_OK ? r->reply.flow.v : 0;
}

static uint32_t active(const struct fixture *r, uint64_t flow) {
    struct flow_view view;
    assert_true(view_flow(engine_state(r->engine), (flow_id){flow}, &view));
    return view.by_state[JOB_DISPATCHED] + view.by_state[JOB_RUNNING];
}

/* Ends the first open attempt of a flow. */
static void end_one(struct fixture *r, uint64_t flow, enum outcome outcome) {
    struct flow_view view;
    assert_true(view_flow(engine_state(r->engine), (flow_id){flow}, &view));
    for (uint32_t i = 0; i < view.job_count; i++) {
        struct job_view j = fixture_job(r, flow, i);
        if (!job_state_is_active(j.state)) continue;
        assert_int_equal(fixture_done(r, "w1", 1, j.ref, j.attempt, outcome), ERR_OK);
        return;
    }
    fail_msg("nothing is running");
}

static struct why_job why(const struct fixture *r, uint64_t flow, uint32_t ordinal) {
    struct why_job why;
    struct job_ref ref = {{flow}, ordinal};
    assert_true(view_why(engine_state(r->engine), engine_live(r->engine), &r->limits, ref, &why));
    return why;
}

static struct limit_view limit(const struct fixture *r, enum limit_kind kind, const char *name) {
    struct limit_view view;
    assert_true(view_limit(engine_state(r->engine), SLICE("acme"), kind, slice_str(name), &view));
    return view;
}

/* ---- keys ---- */

static void a_key_is_one_wide_unless_set(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    uint64_t f = submit(r, "acme", "db", "", 3);
    assert_int_equal(active(r, f), 1);
    struct why_job w = why(r, f, 1);
    assert_int_equal(w.block, BLOCK_KEY_LIMIT);
    assert_true(slice_eq(w.limit, SLICE("db")));
    end_one(r, f, OUTCOME_OK);
    assert_int_equal(active(r, f), 1);
    end_one(r, f, OUTCOME_EXIT);
    assert_int_equal(active(r, f), 1);
    end_one(r, f, OUTCOME_OK);
    fixture_check_digests(r);
}

static void a_key_belongs_to_its_tenant(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    uint64_t a = submit(r, "acme", "db", "", 2), b = submit(r, "bolt", "db", "", 2);
    assert_int_equal(active(r, a), 1);
    assert_int_equal(active(r, b), 1);
}

static void a_width_changes_while_jobs_run(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    assert_int_equal(set_width(r, "db", 3), ERR_OK);
    uint64_t f = submit(r, "acme", "db", "", 9);
    assert_int_equal(active(r, f), 3);
    assert_int_equal(set_width(r, "db", 1), ERR_OK); /* takes nothing away, lets nothing new pass */
    assert_int_equal(active(r, f), 3);
    end_one(r, f, OUTCOME_OK);
    end_one(r, f, OUTCOME_OK);
    assert_int_equal(active(r, f), 1);
    end_one(r, f, OUTCOME_OK);
    assert_int_equal(active(r, f), 1);
    assert_int_equal(set_width(r, "db", 4), ERR_OK);
    assert_int_equal(active(r, f), 4);
    assert_int_equal(set_width(r, "db", 0), ERR_OK);
    for (int i = 0; i < 4; i++) end_one(r, f, OUTCOME_OK);
    assert_int_equal(active(r, f), 0);
    fixture_check_digests(r);
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_KEY, .name = SLICE("db"), .clear = true}), ERR_OK);
    assert_int_equal(active(r, f), 1);
    fixture_check_digests(r);
}

static void a_job_takes_all_its_keys_or_none(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    uint64_t a = submit(r, "acme", "a", "", 1);
    struct options o;
    options_default(&o);
    struct name_item both[] = {{SLICE("b")}, {SLICE("a")}};
    o.demand.keys = (struct tlv_list){both, 2};
    const char *jobs[] = {"x"};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_OK);
    uint64_t x = r->reply.flow.v, b = submit(r, "acme", "b", "", 1);
    assert_int_equal(active(r, x), 0);
    assert_int_equal(active(r, b), 1); /* what x waits for is not kept from others */
    end_one(r, b, OUTCOME_OK);
    assert_int_equal(active(r, x), 0);
    assert_true(slice_eq(why(r, x, 0).limit, SLICE("a")));
    end_one(r, a, OUTCOME_OK);
    assert_int_equal(active(r, x), 1);
    assert_int_equal(limit(r, LIMIT_KEY, "a").taken, 1);
    assert_int_equal(limit(r, LIMIT_KEY, "b").taken, 1);
}

static void a_key_stays_taken_until_a_stop_is_confirmed(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    uint64_t f = submit(r, "acme", "db", "", 2);
    assert_int_equal(fixture_cancel(r, (struct job_ref){{f}, 0}), ERR_OK);
    assert_int_equal(fixture_state(r, f, 1), JOB_READY);
    assert_int_equal(fixture_done(r, "w1", 1, (struct job_ref){{f}, 0}, 1, OUTCOME_STOPPED), ERR_OK);
    assert_int_equal(fixture_state(r, f, 0), JOB_CANCELLED);
    assert_int_equal(fixture_state(r, f, 1), JOB_DISPATCHED);
}

static void a_lost_attempt_gives_its_key_back(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    uint64_t f = submit(r, "acme", "db", "", 2);
    fixture_tick(r, r->limits.lease_ms);
    assert_int_equal(fixture_state(r, f, 0), JOB_FAILED);
    assert_int_equal(limit(r, LIMIT_KEY, "db").taken, 0);
    fixture_attach(r, "w1", 2, 10);
    assert_int_equal(fixture_state(r, f, 1), JOB_DISPATCHED);
}

static void a_restart_keeps_what_is_taken(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    assert_int_equal(set_width(r, "db", 2), ERR_OK);
    uint64_t f = submit(r, "acme", "db", "", 5);
    fixture_crash(r);
    assert_int_equal(fixture_attach(r, "w1", 1, 10), ERR_OK);
    assert_int_equal(active(r, f), 2);
    assert_int_equal(limit(r, LIMIT_KEY, "db").taken, 2);
    struct engine *loaded = fixture_reload(r);
    struct limit_view view;
    assert_true(view_limit(engine_state(loaded), SLICE("acme"), LIMIT_KEY, SLICE("db"), &view));
    assert_int_equal(view.taken, 2);
    assert_int_equal(view.width, 2);
    assert_true(view_limit(engine_state(loaded), SLICE("acme"), LIMIT_TENANT, SLICE(""), &view));
    assert_int_equal(view.running, 2);
    assert_int_equal(view.queued, 5);
    assert_int_equal(view.bytes, limit(r, LIMIT_TENANT, "").bytes);
    engine_free(loaded);
}

static void an_exhausted_key_blocks_nobody_else(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    uint64_t slow = submit(r, "acme", "db", "", 100), other = submit(r, "acme", "", "", 9);
    assert_int_equal(active(r, slow), 1);
    assert_int_equal(active(r, other), 9);
    for (int i = 0; i < 9; i++) end_one(r, other, OUTCOME_OK);
    assert_int_equal(active(r, slow), 1);
}

/* A class that waits for its key empties, fills again and is served. */
static void what_waits_for_a_key_can_go_away(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    uint64_t a = submit(r, "acme", "db", "", 1), b = submit(r, "acme", "db", "", 2);
    assert_int_equal(active(r, b), 0);
    assert_int_equal(fixture_cancel(r, (struct job_ref){{b}, UINT32_MAX}), ERR_OK);
    assert_int_equal(fixture_state(r, b, 1), JOB_CANCELLED);
    uint64_t c = submit(r, "acme", "db", "", 1);
    assert_int_equal(active(r, c), 0);
    end_one(r, a, OUTCOME_OK);
    assert_int_equal(active(r, c), 1);
    end_one(r, c, OUTCOME_OK);
    fixture_check_digests(r);
}

static void names_nobody_uses_are_forgotten(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    uint64_t f = submit(r, "acme", "db", "api", 1);
    struct state_counts counts;
    view_counts(engine_state(r->engine), engine_live(r->engine), &counts);
    assert_int_equal(counts.limits, 2);
    end_one(r, f, OUTCOME_OK);
    struct command cmd = {.kind = CMD_FORGET, .as.flow = {f}};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    view_counts(engine_state(r->engine), engine_live(r->engine), &counts);
    assert_int_equal(counts.limits, 0);
    assert_int_equal(set_width(r, "db", 2), ERR_OK);
    assert_int_equal(set_rate(r, "api", 1000, 1), ERR_OK);
    fixture_check_digests(r);
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_KEY, .name = SLICE("db"), .clear = true}), ERR_OK);
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_RATE, .name = SLICE("api"), .clear = true}), ERR_OK);
    view_counts(engine_state(r->engine), engine_live(r->engine), &counts);
    assert_int_equal(counts.limits, 0);
    uint64_t lsn = engine_lsn(r->engine); /* clearing what is not set needs no record */
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_KEY, .name = SLICE("db"), .clear = true}), ERR_OK);
    assert_int_equal(engine_lsn(r->engine), lsn);
}

/* ---- rates ---- */

static void a_rate_lets_a_burst_pass_and_then_waits(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 100);
    assert_int_equal(set_rate(r, "api", 2000, 3), ERR_OK); /* two a second */
    uint64_t f = submit(r, "acme", "", "api", 10);
    assert_int_equal(active(r, f), 3);
    struct why_job w = why(r, f, 3);
    assert_int_equal(w.block, BLOCK_RATE_LIMIT);
    assert_true(slice_eq(w.limit, SLICE("api")));
    assert_int_equal(w.until.ms, r->in.wall.ms + 500);
    assert_int_equal(engine_next_due(r->engine).ms, r->in.wall.ms + 500); /* the engine asks to be woken */
    fixture_tick(r, 499);
    assert_int_equal(active(r, f), 3);
    fixture_tick(r, 1);
    assert_int_equal(active(r, f), 4);
    fixture_tick(r, 1100); /* two tokens and a fifth of one */
    assert_int_equal(active(r, f), 6);
    assert_int_equal(limit(r, LIMIT_RATE, "api").level, 200000);
    fixture_tick(r, 400);
    assert_int_equal(active(r, f), 7);
    fixture_check_digests(r);
    r->in.wall.ms += 3600000; /* an hour, and no more than a burst */
    fixture_tick(r, 0);
    assert_int_equal(active(r, f), 10);
    fixture_check_digests(r);
}

static void a_rate_rounds_nothing_away(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 1000);
    assert_int_equal(set_rate(r, "api", 333333, 2), ERR_OK); /* a token in 3 ms and a bit */
    uint64_t f = submit(r, "acme", "", "api", 100);
    int64_t start = r->in.wall.ms;
    for (uint32_t n = 1; n < 40; n++) {
        assert_int_equal(active(r, f), n + 1);
        int64_t due = engine_next_due(r->engine).ms;
        /* looked at every millisecond or once: no token comes early, none is lost */
        for (int64_t ms = n % 2 ? 1 : due - r->in.wall.ms; r->in.wall.ms < due;) {
            assert_int_equal(active(r, f), n + 1);
            fixture_tick(r, ms);
        }
        /* a full bucket loses what overflows, and this one is never full: the n-th comes at n / rate */
        assert_int_equal(r->in.wall.ms - start, ((int64_t)n * 1000000 + 333332) / 333333);
    }
    fixture_check_digests(r);
}

static void a_changed_rate_brings_no_tokens(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 100);
    assert_int_equal(set_rate(r, "api", 1, 5), ERR_OK);
    uint64_t f = submit(r, "acme", "", "api", 50);
    assert_int_equal(active(r, f), 5);
    assert_int_equal(set_rate(r, "api", 1, 20), ERR_OK);
    assert_int_equal(active(r, f), 5);
    assert_int_equal(set_rate(r, "api", 1000, 20), ERR_OK);
    fixture_tick(r, 2000);
    assert_int_equal(active(r, f), 7);
    fixture_crash(r);
    assert_int_equal(fixture_attach(r, "w1", 1, 100), ERR_OK);
    assert_int_equal(active(r, f), 7);
    assert_int_equal(engine_next_due(r->engine).ms <= r->in.wall.ms + 1000, true);
    fixture_tick(r, 1000);
    assert_int_equal(active(r, f), 8);
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_RATE, .name = SLICE("api"), .clear = true}), ERR_OK);
    assert_int_equal(active(r, f), 50);
    fixture_check_digests(r);
}

/* ---- tenants ---- */

static void a_tenant_runs_no_more_than_it_may(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_TENANT, .running = 2}), ERR_OK);
    uint64_t a = submit(r, "acme", "", "", 5), k = submit(r, "acme", "k", "", 5), b = submit(r, "bolt", "", "", 5);
    assert_int_equal(active(r, a) + active(r, k), 2);
    assert_int_equal(active(r, b), 5);
    assert_int_equal(why(r, a, 4).block, BLOCK_TENANT_LIMIT);
    end_one(r, a, OUTCOME_OK);
    assert_int_equal(active(r, a) + active(r, k), 2);
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_TENANT, .clear = true}), ERR_OK);
    assert_int_equal(active(r, a), 4);
    assert_int_equal(active(r, k), 1);
    fixture_check_digests(r);
}

static void a_tenant_queues_no_more_than_it_may(void **state) {
    struct fixture *r = *state;
    fixture_attach(r, "w1", 1, 10);
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_TENANT, .queued = 5}), ERR_OK);
    assert_int_equal(submit(r, "acme", "", "", 6), 0);
    assert_int_equal(r->reply.err, ERR_LIMIT); /* it would never fit */
    uint64_t f = submit(r, "acme", "", "", 3);
    assert_int_not_equal(f, 0);
    assert_int_equal(submit(r, "acme", "", "", 3), 0);
    assert_int_equal(r->reply.err, ERR_BUSY);
    assert_non_null(strstr(r->reply.why.text, "3 unfinished jobs; its limit is 5"));
    assert_int_not_equal(submit(r, "acme", "", "", 2), 0);
    assert_int_equal(limit(r, LIMIT_TENANT, "").queued, 5);
    assert_int_not_equal(submit(r, "bolt", "", "", 30), 0);
    end_one(r, f, OUTCOME_EXIT);
    assert_int_not_equal(submit(r, "acme", "", "", 1), 0);
    struct command retry = {.kind = CMD_RETRY, .as.job = {{f}, 0}}; /* what starts again counts again */
    assert_int_equal(fixture_command(r, &retry), ERR_BUSY);
    end_one(r, f, OUTCOME_OK);
    assert_int_equal(fixture_command(r, &retry), ERR_OK);
    assert_int_equal(limit(r, LIMIT_TENANT, "").queued, 5);
    fixture_check_digests(r);
}

static void a_tenant_queues_no_more_bytes_than_it_may(void **state) {
    struct fixture *r = *state;
    uint64_t f = submit(r, "acme", "", "", 2);
    uint64_t each = limit(r, LIMIT_TENANT, "").bytes / 2; /* names of the same length: messages too */
    assert_int_not_equal(each, 0);
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_TENANT, .bytes = each * 4}), ERR_OK);
    assert_int_not_equal(submit(r, "acme", "", "", 1), 0);
    assert_int_equal(submit(r, "acme", "", "", 2), 0);
    assert_int_equal(r->reply.err, ERR_BUSY);
    assert_int_equal(submit(r, "acme", "", "", 5), 0);
    assert_int_equal(r->reply.err, ERR_LIMIT);
    assert_int_not_equal(submit(r, "acme", "", "", 1), 0);
    assert_int_equal(limit(r, LIMIT_TENANT, "").bytes, each * 4);
    assert_int_equal(fixture_cancel(r, (struct job_ref){{f}, UINT32_MAX}), ERR_OK);
    assert_int_equal(limit(r, LIMIT_TENANT, "").bytes, each * 2);
    struct command rerun = {.kind = CMD_RERUN, .as.flow = {f}};
    assert_int_equal(fixture_command(r, &rerun), ERR_OK);
    assert_int_equal(limit(r, LIMIT_TENANT, "").bytes, each * 4);
    fixture_check_digests(r);
}

/* ---- refusals ---- */

static void a_tenant_sets_its_own_keys_alone(void **state) {
    struct fixture *r = *state;
    struct command cmd = {.kind = CMD_LIMIT, .tenant = SLICE("bolt")};
    cmd.as.limit = (struct cmd_limit){.tenant = SLICE("acme"), .kind = LIMIT_KEY, .name = SLICE("db"), .width = 9};
    assert_int_equal(fixture_command(r, &cmd), ERR_FORBIDDEN);
    cmd.as.limit.tenant = SLICE("bolt");
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    cmd.as.limit = (struct cmd_limit){.tenant = SLICE("bolt"), .kind = LIMIT_TENANT, .running = 100};
    assert_int_equal(fixture_command(r, &cmd), ERR_FORBIDDEN);
}

static void numbers_out_of_range_are_refused(void **state) {
    struct fixture *r = *state;
    assert_int_equal(set_rate(r, "api", 0, 1), ERR_INVALID);
    assert_int_equal(set_rate(r, "api", 1, 0), ERR_INVALID);
    assert_int_equal(set_rate(r, "api", (uint64_t)r->limits.rate_milli_max + 1, 1), ERR_LIMIT);
    assert_int_equal(set_rate(r, "api", 1, (uint64_t)r->limits.rate_burst_max + 1), ERR_LIMIT);
    assert_int_equal(set_width(r, "db", (uint32_t)r->limits.key_width_max + 1), ERR_LIMIT);
    assert_int_equal(set_width(r, "", 1), ERR_INVALID);
    assert_int_equal(set_limit(r, (struct cmd_limit){.kind = LIMIT_KIND_COUNT, .name = SLICE("db")}), ERR_INVALID);
    struct options o;
    options_default(&o);
    struct name_item keys[] = {{SLICE("a")}, {SLICE("b")}, {SLICE("a")}, {SLICE("c")}, {SLICE("d")},
                               {SLICE("e")}, {SLICE("f")}, {SLICE("g")}, {SLICE("h")}};
    const char *jobs[] = {"x"};
    o.demand.keys = (struct tlv_list){keys, 3};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_DUPLICATE_NAME);
    o.demand.keys = (struct tlv_list){keys, 9};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_LIMIT);
    o.demand.keys = (struct tlv_list){keys, 2};
    struct limits few = r->limits;
    few.limit_names_max = 1;
    engine_free(r->engine);
    r->limits = few;
    r->engine = fixture_replay(r);
    fixture_crash(r);
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_BUSY);
    assert_int_equal(set_width(r, "a", 1), ERR_OK);
    assert_int_equal(set_width(r, "b", 1), ERR_BUSY);
}

static void names_out_of_range_are_refused(void **state) {
    struct fixture *r = *state;
    static char name[1000];
    memset(name, 'n', sizeof name);
    struct cmd_limit limit = {
        .tenant = slice_of(name, sizeof name), .kind = LIMIT_KEY, .name = SLICE("db"), .width = 1};
    assert_refused(r, set_limit(r, limit), ERR_LIMIT, "tenant");
    struct limit_view view; /* and nobody has set what cannot be */
    const struct state *s = engine_state(r->engine);
    assert_ok(set_width(r, "db", 2));
    assert_false(view_limit(s, SLICE("acme"), LIMIT_KEY, slice_of(name, sizeof name), &view));
    assert_false(view_limit(s, SLICE("acme"), LIMIT_KEY, SLICE(""), &view));
    struct limits few = r->limits;
    few.tenants_max = 1;
    engine_free(r->engine);
    r->limits = few;
    r->engine = fixture_replay(r);
    fixture_crash(r);
    assert_ok(set_width(r, "db", 3));
    limit = (struct cmd_limit){.tenant = SLICE("bolt"), .kind = LIMIT_KEY, .name = SLICE("db"), .width = 1};
    assert_refused(r, set_limit(r, limit), ERR_LIMIT, "tenants_max");
}

/* Of a flow this large not every message is measured again: all of it counts. */
static void a_large_flow_comes_back_whole_or_not(void **state) {
    struct fixture *r = *state;
    enum { MANY = 5000 };
    static char names[MANY][8];
    static struct job_spec specs[MANY];
    struct options o = fixture_options();
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i] = (struct job_spec){.name = slice_str(names[i])};
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, specs, MANY, false};
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    fixture_tick(r, 1);
    assert_ok(set_limit(r, (struct cmd_limit){.kind = LIMIT_TENANT, .bytes = 1000}));
    assert_refused(r, fixture_rerun(r, 1), ERR_LIMIT, "bytes");
    assert_ok(set_limit(r, (struct cmd_limit){.kind = LIMIT_TENANT, .queued = MANY}));
    assert_ok(fixture_rerun(r, 1));
    fixture_tick(r, 1);
    assert_int_equal(fixture_flow(r, 1).by_state[JOB_READY], MANY);
}

/* A file can hold what decide would never write. */
static void a_record_that_cannot_be_is_refused(void **state) {
    struct fixture *r = *state;
    const struct rec_limit bad[] = {
        {.kind = LIMIT_RATE, .name = SLICE("api"), .burst = 1},
        {.kind = LIMIT_RATE, .name = SLICE("api"), .rate_milli = 1, .burst = UINT64_MAX / 2},
        {.kind = LIMIT_RATE, .name = SLICE("api"), .rate_milli = UINT64_MAX, .burst = 1},
        {.kind = LIMIT_KEY, .width = 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct engine *e = fixture_replay(r);
        struct record record = {.kind = REC_LIMIT, .version = RECORD_VERSION};
        record.body.as_REC_LIMIT = bad[i];
        record.body.as_REC_LIMIT.head.tenant = SLICE("acme");
        struct buf bytes;
        buf_init(&bytes, 4096);
        record_encode(&record, &bytes);
        uint64_t lsn = engine_lsn(e) + 1;
        struct batch b = {.first_lsn = lsn, .last_lsn = lsn, .epoch = r->epoch, .rules = 1, .time = r->in.wall};
        b.records = buf_slice(&bytes);
        assert_int_equal(engine_replay(e, &b, &(struct why){0}), ERR_CORRUPT);
        buf_fini(&bytes);
        engine_free(e);
    }
}

/* ---- shares ---- */

#define TENANTS 3u
static const char *const tenants[TENANTS] = {"one", "two", "five"};
static const uint32_t weights[TENANTS] = {1, 2, 5};

static void set_weights(struct fixture *r) {
    for (uint32_t t = 0; t < TENANTS; t++) {
        struct command cmd = {.kind = CMD_TENANT, .as.tenant_set = {slice_str(tenants[t]), weights[t]}};
        assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    }
}

/* Ends every attempt that began since `*seen` effects and counts it for its tenant. */
static void serve(struct fixture *r, uint32_t *seen, uint64_t served[TENANTS]) {
    uint32_t upto = r->effects.count;
    for (; *seen < upto; (*seen)++) {
        struct effect e = *(struct effect *)vec_at(&r->effects, *seen);
        if (e.kind != EFFECT_ASSIGN) continue;
        struct flow_view flow;
        assert_true(view_flow(engine_state(r->engine), e.as.attempt.job.flow, &flow));
        for (uint32_t t = 0; t < TENANTS; t++) served[t] += slice_eq(flow.tenant, slice_str(tenants[t]));
        uint64_t total = served[0] + served[1] + served[2];
        for (uint32_t t = 0; t < TENANTS && total <= 10000; t++) { /* exact at every instant, not only at the end */
            int64_t off = (int64_t)(served[t] * 8) - (int64_t)(total * weights[t]);
            if (off > 8 || off < -8)
                fail_msg("%s has %lu of %lu", tenants[t], (unsigned long)served[t], (unsigned long)total);
        }
        assert_int_equal(fixture_done(r, "w1", 1, e.as.attempt.job, e.as.attempt.attempt, OUTCOME_OK), ERR_OK);
    }
}

/* `key`: beside its free jobs each tenant has some that a key of its own holds back. */
static void share_10000(struct fixture *r, const char *key, const char *rate) {
    uint32_t seen = 0;
    uint64_t served[TENANTS] = {0};
    set_weights(r);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t t = 0; t < TENANTS; t++) assert_int_not_equal(submit(r, tenants[t], "", "", 1000), 0);
    for (uint32_t t = 0; t < TENANTS && *key; t++) assert_int_not_equal(submit(r, tenants[t], key, rate, 500), 0);
    fixture_attach(r, "w1", 1, 3);
    while (served[0] + served[1] + served[2] < 10000) serve(r, &seen, served);
    assert_in_range(served[0], 1249, 1251 + 3);
    assert_in_range(served[1], 2499, 2501 + 3);
    assert_in_range(served[2], 6249, 6251 + 3);
}

static void shares_are_exact(void **state) {
    share_10000(*state, "", "");
}

/* Jobs that a key holds (and one that passes now and then) leave the shares as they are. */
static void held_classes_leave_shares_exact(void **state) {
    struct fixture *r = *state;
    for (uint32_t t = 0; t < TENANTS; t++) {
        struct cmd_limit shut = {
            .tenant = slice_str(tenants[t]), .kind = LIMIT_KEY, .name = SLICE("db"), .width = t == 1 ? 0 : 1};
        struct cmd_limit slow = {
            .tenant = slice_str(tenants[t]), .kind = LIMIT_RATE, .name = SLICE("api"), .rate_milli = 1, .burst = 400};
        assert_int_equal(set_limit(r, shut), ERR_OK);
        assert_int_equal(set_limit(r, slow), ERR_OK);
    }
    share_10000(r, "db", "api");
}

/* A tenant that a limit held back joins where the others are: it has saved no claim and lost none. */
static void a_tenant_held_back_gains_no_claim(void **state) {
    struct fixture *r = *state;
    uint32_t seen = 0;
    uint64_t before[TENANTS] = {0}, after[TENANTS] = {0};
    set_weights(r);
    struct cmd_limit shut = {.tenant = SLICE("five"), .kind = LIMIT_KEY, .name = SLICE("db"), .width = 0};
    assert_int_equal(set_limit(r, shut), ERR_OK);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t t = 0; t < TENANTS; t++) submit(r, tenants[t], t == 2 ? "db" : "", "", 1000);
    fixture_attach(r, "w1", 1, 1);
    for (int i = 0; i < 900; i++) {
        for (; ((struct effect *)vec_at(&r->effects, seen))->kind != EFFECT_ASSIGN;) seen++;
        struct effect e = *(struct effect *)vec_at(&r->effects, seen++);
        struct flow_view flow;
        assert_true(view_flow(engine_state(r->engine), e.as.attempt.job.flow, &flow));
        for (uint32_t t = 0; t < TENANTS; t++) before[t] += slice_eq(flow.tenant, slice_str(tenants[t]));
        fixture_done(r, "w1", 1, e.as.attempt.job, e.as.attempt.attempt, OUTCOME_OK);
    }
    assert_int_equal(before[2], 0);
    assert_in_range(before[0], 299, 301);
    shut.width = 100;
    assert_int_equal(set_limit(r, shut), ERR_OK);
    for (int i = 0; i < 800; i++) {
        for (; ((struct effect *)vec_at(&r->effects, seen))->kind != EFFECT_ASSIGN;) seen++;
        struct effect e = *(struct effect *)vec_at(&r->effects, seen++);
        struct flow_view flow;
        assert_true(view_flow(engine_state(r->engine), e.as.attempt.job.flow, &flow));
        for (uint32_t t = 0; t < TENANTS; t++) after[t] += slice_eq(flow.tenant, slice_str(tenants[t]));
        fixture_done(r, "w1", 1, e.as.attempt.job, e.as.attempt.attempt, OUTCOME_OK);
    }
    assert_in_range(after[0], 99, 101);
    assert_in_range(after[1], 199, 201);
    assert_in_range(after[2], 498, 501); /* one attempt of the others was open when it came back */
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        T(a_key_is_one_wide_unless_set),
        T(a_key_belongs_to_its_tenant),
        T(a_width_changes_while_jobs_run),
        T(a_job_takes_all_its_keys_or_none),
        T(a_key_stays_taken_until_a_stop_is_confirmed),
        T(a_lost_attempt_gives_its_key_back),
        T(a_restart_keeps_what_is_taken),
        T(an_exhausted_key_blocks_nobody_else),
        T(what_waits_for_a_key_can_go_away),
        T(names_nobody_uses_are_forgotten),
        T(a_rate_lets_a_burst_pass_and_then_waits),
        T(a_rate_rounds_nothing_away),
        T(a_changed_rate_brings_no_tokens),
        T(a_tenant_runs_no_more_than_it_may),
        T(a_tenant_queues_no_more_than_it_may),
        T(a_tenant_queues_no_more_bytes_than_it_may),
        T(a_tenant_sets_its_own_keys_alone),
        T(numbers_out_of_range_are_refused),
        T(names_out_of_range_are_refused),
        T(a_large_flow_comes_back_whole_or_not),
        T(a_record_that_cannot_be_is_refused),
        T(shares_are_exact),
        T(held_classes_leave_shares_exact),
        T(a_tenant_held_back_gains_no_claim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
