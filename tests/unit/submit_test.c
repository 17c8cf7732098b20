/* submit_test.c: what a submit is held against, and jobs added to a flow that is on its way. */
#include <stdio.h>
#include <stdlib.h>

#include "engine_fixture.h"

#include "limit.h"

static enum err submit_one(struct fixture *r, const struct options *o) {
    const char *jobs[] = {"a"};
    return fixture_submit(r, o, jobs, 1);
}

/* One job as the command has it, for what the rig's text cannot say. */
static enum err submit_spec(struct fixture *r, const struct options *o, const struct job_spec *spec) {
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, spec, 1, false};
    return fixture_command(r, &cmd);
}

static enum err submit_head(struct fixture *r, const struct cmd_submit *head) {
    struct options o = fixture_options();
    struct job_spec spec = {.name = SLICE("a")};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit = *head;
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &spec, 1, false};
    return fixture_command(r, &cmd);
}

/* ---- names and the graph ---- */

static void names_are_checked(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    char longest[130] = "";
    memset(longest, 'x', 129);
    assert_refused(r, submit_spec(r, &o, &(struct job_spec){0}), ERR_INVALID, "must have a name");
    assert_refused(r, submit_spec(r, &o, &(struct job_spec){.name = slice_str(longest)}), ERR_LIMIT, "name_bytes_max");
    assert_refused(r, submit_spec(r, &o, &(struct job_spec){.name = SLICE("a\nb")}), ERR_INVALID, "at byte 1");
    assert_refused(r, submit_spec(r, &o, &(struct job_spec){.name = SLICE("\x7f")}), ERR_INVALID, "at byte 0");
    assert_refused(r, submit_spec(r, &o, &(struct job_spec){.name = SLICE("a"), .profile = 1}), ERR_INVALID, "options");
    struct command cmd = {.kind = CMD_READ, .tenant = slice_str(longest)};
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "caller");
    cmd = (struct command){.kind = CMD_READ, .principal = slice_str(longest)};
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "caller");
    longest[128] = 0;
    assert_ok(submit_spec(r, &o, &(struct job_spec){.name = slice_str(longest)}));
}

static void a_flow_that_is_only_checked_is_judged_and_not_there(void **state) {
    struct fixture *r = *state;
    struct cmd_submit head = {.check = true};
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(submit_head(r, &head));
    assert_int_equal(engine_lsn(r->engine), lsn);
    struct options o = fixture_options();
    struct job_spec bad = {.name = SLICE("a\nb")};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit = (struct cmd_submit){.jobs = {&o, 1, &bad, 1, false}, .check = true};
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "at byte 1");
}

static void graph_is_checked(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    const char *unknown[] = {"a", "b: c"};
    assert_refused(r, fixture_submit(r, &o, unknown, 2), ERR_UNKNOWN_NAME, "job b comes after c, which does not exist");
    const char *twice[] = {"a", "b", "a"};
    assert_refused(r, fixture_submit(r, &o, twice, 3), ERR_DUPLICATE_NAME, "two jobs are named a");
    const char *parent_twice[] = {"a", "b: a a"};
    assert_refused(r, fixture_submit(r, &o, parent_twice, 2), ERR_DUPLICATE_NAME, "job b names a parent twice");
    const char *self[] = {"a: a"};
    assert_refused(r, fixture_submit(r, &o, self, 1), ERR_CYCLE, "a -> a");
    const char *circle[] = {"d: c", "a: d z", "b: a", "z", "c: b"};
    assert_refused(r, fixture_submit(r, &o, circle, 5), ERR_CYCLE, " -> ");
    assert_non_null(strstr(r->reply.why.text, "a -> b -> c -> d -> a") ? "" : strstr(r->reply.why.text, "d -> a -> b"));
    assert_refused(r, fixture_submit(r, &o, NULL, 0), ERR_INVALID, "at least one job");
}

static void a_long_circle_is_cut_not_overrun(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    char text[100][32];
    const char *jobs[100];
    for (int i = 0; i < 100; i++) {
        (void)snprintf(text[i], sizeof text[i], "job-number-%d: job-number-%d", i, (i + 1) % 100);
        jobs[i] = text[i];
    }
    assert_refused(r, fixture_submit(r, &o, jobs, 100), ERR_CYCLE, "dependency cycle");
}

static void parents_are_sorted_by_ordinal(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    char text[40][16], last[400] = "last:";
    const char *jobs[41];
    for (int i = 0; i < 40; i++) {
        (void)snprintf(text[i], sizeof text[i], "j%d", (i * 17) % 40);
        jobs[i] = text[i];
        (void)snprintf(last + strlen(last), sizeof last - strlen(last), " j%d", (i * 7) % 40);
    }
    jobs[40] = last;
    assert_ok(fixture_submit(r, &o, jobs, 41));
    uint32_t parents[64];
    assert_int_equal(view_parents(engine_state(r->engine), ref_of(1, 40), parents, 64), 40);
    for (uint32_t i = 0; i < 40; i++) assert_int_equal(parents[i], i);
    struct job_view view;
    assert_true(view_job_by_name(engine_state(r->engine), (flow_id){1}, SLICE("j39"), &view));
    assert_false(view_job_by_name(engine_state(r->engine), (flow_id){1}, SLICE("j40"), &view));
    assert_false(view_job_by_name(engine_state(r->engine), (flow_id){2}, SLICE("j1"), &view));
    assert_int_equal(view_parents(engine_state(r->engine), ref_of(1, 41), parents, 64), 0);
    assert_int_equal(view_parents(engine_state(r->engine), ref_of(1, 40), parents, 3), 40);
}

/* ---- limits: each one hit once ---- */

static void set_limit(struct fixture *r, const char *name, int64_t value) {
    int64_t *at = limit_by_name(&r->limits, name);
    assert_non_null(at);
    *at = value;
    struct engine *again = fixture_replay(r); /* an engine keeps the limits it was born with */
    engine_free(r->engine);
    r->engine = again;
    r->epoch++;
    engine_resume(r->engine, r->epoch, SLICE("test"), &r->in);
    engine_finish(r->engine);
    fixture_flush(r);
}

static void limits_of_size(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options(), sets[3] = {o, o, o};
    const char *three[] = {"a", "b: a", "c: a b"};
    set_limit(r, "submit_jobs_max", 2);
    assert_refused(r, fixture_submit(r, &o, three, 3), ERR_LIMIT, "submit_jobs_max");
    set_limit(r, "submit_jobs_max", 3);
    set_limit(r, "flow_jobs_max", 2);
    assert_refused(r, fixture_submit(r, &o, three, 3), ERR_LIMIT, "flow_jobs_max");
    set_limit(r, "flow_jobs_max", 3);
    set_limit(r, "jobs_max", 2);
    assert_refused(r, fixture_submit(r, &o, three, 3), ERR_BUSY, "jobs_max");
    set_limit(r, "jobs_max", 100);
    set_limit(r, "submit_profiles_max", 2);
    assert_refused(r, fixture_submit_sets(r, sets, 3, three, 3, false), ERR_LIMIT, "submit_profiles_max");
    set_limit(r, "submit_profiles_max", 3);
    set_limit(r, "profiles_max", 2);
    assert_refused(r, fixture_submit_sets(r, sets, 3, three, 3, false), ERR_BUSY, "profiles_max");
    set_limit(r, "profiles_max", 100);
    set_limit(r, "job_parents_max", 1);
    assert_refused(r, fixture_submit(r, &o, three, 3), ERR_LIMIT, "job_parents_max");
    set_limit(r, "job_parents_max", 2);
    assert_ok(fixture_submit(r, &o, three, 3));
    assert_refused(r, fixture_add(r, 1, &o, (const char *[]){"d"}, 1, false), ERR_LIMIT, "flow_jobs_max");
    set_limit(r, "classes_max", 1);
    assert_refused(r, submit_one(r, &o), ERR_BUSY, "classes_max");
    set_limit(r, "classes_max", 100);
    set_limit(r, "flows_max", 1);
    assert_refused(r, submit_one(r, &o), ERR_BUSY, "flows_max");
    set_limit(r, "flows_max", 5);
    set_limit(r, "flows_tenant_share", 20);
    assert_refused(r, submit_one(r, &o), ERR_BUSY, "flows_tenant_share");
    r->tenant = "third"; /* of whom there is none yet */
    assert_ok(submit_one(r, &o));
    assert_refused(r, submit_one(r, &o), ERR_BUSY, "flows_tenant_share");
    set_limit(r, "flows_tenant_share", 100);
    set_limit(r, "tenants_max", 1);
    r->tenant = "other";
    assert_refused(r, submit_one(r, &o), ERR_LIMIT, "tenants_max");
}

static void limit_of_questions(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_POLICY);
    set_limit(r, "questions_max", 2);
    assert_refused(r, fixture_submit(r, &o, (const char *[]){"a", "b", "c"}, 3), ERR_BUSY, "questions_max");
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b"}, 2));
    assert_refused(r, submit_one(r, &o), ERR_BUSY, "questions_max");
}

static void limits_of_bytes(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    static char body[9000];
    memset(body, 'b', sizeof body);
    struct job_spec spec = {.name = SLICE("a"), .body = slice_of(body, 101)};
    set_limit(r, "job_body_bytes_max", 100);
    assert_refused(r, submit_spec(r, &o, &spec), ERR_LIMIT, "job_body_bytes_max");
    set_limit(r, "job_body_bytes_max", 10000);
    set_limit(r, "submit_bytes_max", 4096);
    spec.body.len = 9000;
    assert_refused(r, submit_spec(r, &o, &spec), ERR_LIMIT, "submit_bytes_max");
    spec.body.len = 1000;
    assert_ok(submit_spec(r, &o, &spec));
    spec.body_hash = SLICE("short");
    assert_refused(r, submit_spec(r, &o, &spec), ERR_INVALID, "32 bytes");
    o.gates = GATE_BIT(GATE_POLICY);
    spec.body_hash = slice_of(NULL, 0);
    assert_refused(r, submit_spec(r, &o, &spec), ERR_INVALID, "no hash of what is to be approved");
    o = fixture_options();
    for (o.kind = JOB_GATE; o.kind <= JOB_EXTERNAL; o.kind = (uint8_t)(o.kind + 2))
        assert_refused(r, submit_spec(r, &o, &spec), ERR_INVALID, "no hash of what is to be approved");
}

/* Options count as well: many sets of long labels once filled a batch beyond its end. */
static void options_count_as_bytes(void **state) {
    struct fixture *r = *state;
    set_limit(r, "batch_bytes_max", 1 << 20);
    set_limit(r, "submit_bytes_max", 100000);
    static char value[129];
    memset(value, 'v', 128);
    struct label labels[64];
    char names[64][8];
    for (int i = 0; i < 64; i++) {
        (void)snprintf(names[i], sizeof names[i], "l%d", i);
        labels[i] = (struct label){slice_str(names[i]), slice_str(value)};
    }
    struct options *sets = calloc(1000, sizeof *sets);
    for (int i = 0; i < 1000; i++) {
        sets[i] = fixture_options();
        sets[i].demand.labels = (struct tlv_list){labels, 64};
    }
    const char *jobs[] = {"a"};
    assert_refused(r, fixture_submit_sets(r, sets, 1000, jobs, 1, false), ERR_LIMIT, "submit_bytes_max");
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 1, false));
    free(sets);
}

static void keys_and_rates_count_as_bytes(void **state) {
    struct fixture *r = *state;
    static char names[8][65];
    struct name_item items[8];
    const char *jobs[] = {"a"};
    struct options o = fixture_options();
    for (int i = 0; i < 8; i++) {
        memset(names[i], 'k', 64);
        names[i][0] = (char)('a' + i);
        items[i].name = slice_str(names[i]);
    }
    set_limit(r, "submit_bytes_max", 1024 + 256 + 256);
    assert_ok(fixture_submit_sets(r, &o, 1, jobs, 1, false));
    o.demand.keys = (struct tlv_list){items, 8};
    assert_refused(r, fixture_submit_sets(r, &o, 1, jobs, 1, false), ERR_LIMIT, "submit_bytes_max");
    o.demand.keys = (struct tlv_list){0};
    o.demand.rates = (struct tlv_list){items, 8};
    assert_refused(r, fixture_submit_sets(r, &o, 1, jobs, 1, false), ERR_LIMIT, "submit_bytes_max");
}

static void limits_of_the_head(void **state) {
    struct fixture *r = *state;
    static char text[300];
    memset(text, 't', sizeof text);
    struct slice long_text = slice_of(text, 129);
    struct label labels[65];
    for (int i = 0; i < 65; i++) labels[i] = (struct label){SLICE("k"), SLICE("v")};
    assert_refused(r, submit_head(r, &(struct cmd_submit){.name = long_text}), ERR_LIMIT, "name_bytes_max");
    assert_refused(r, submit_head(r, &(struct cmd_submit){.trace = slice_of(text, 256)}), ERR_INVALID, "trace");
    assert_refused(r, submit_head(r, &(struct cmd_submit){.labels = labels, .label_count = 65}), ERR_LIMIT,
                   "labels_max");
    labels[0].key = long_text;
    assert_refused(r, submit_head(r, &(struct cmd_submit){.labels = labels, .label_count = 1}), ERR_LIMIT, "label");
    labels[0] = (struct label){SLICE("k"), long_text};
    assert_refused(r, submit_head(r, &(struct cmd_submit){.labels = labels, .label_count = 1}), ERR_LIMIT,
                   "label value");
    r->tenant = "";
    assert_refused(r, submit_head(r, &(struct cmd_submit){0}), ERR_INVALID, "tenant");
    r->tenant = "acme";
    labels[0].value = SLICE("v");
    assert_ok(
        submit_head(r, &(struct cmd_submit){
                           .name = SLICE("nightly"), .trace = SLICE("00-1-2-01"), .labels = labels, .label_count = 1}));
    struct flow_view view = fixture_flow(r, 1);
    assert_true(slice_eq(view.name, SLICE("nightly")));
    assert_true(slice_eq(view.trace, SLICE("00-1-2-01")));
    assert_true(slice_eq(view.tenant, SLICE("acme")));
    assert_true(slice_eq(view.principal, SLICE("tester")));
}

static void what_a_flow_was_made_from_is_kept_and_bounded(void **state) {
    struct fixture *r = *state;
    static char text[70000];
    memset(text, 'p', sizeof text);
    struct flow_source source = {.hash = slice_of(text, 31)};
    assert_refused(r, submit_head(r, &(struct cmd_submit){.source = source}), ERR_INVALID, "32 bytes");
    source = (struct flow_source){.name = slice_of(text, 256)};
    assert_refused(r, submit_head(r, &(struct cmd_submit){.source = source}), ERR_LIMIT, "name of the flow file");
    source = (struct flow_source){.params = slice_of(text, 16385)};
    assert_refused(r, submit_head(r, &(struct cmd_submit){.source = source}), ERR_LIMIT, "params_bytes_max");
    source = (struct flow_source){
        .hash = slice_of(text, 32), .name = SLICE("a.yaml"), .bytes = 9, .params = SLICE("{}"), .again_of = 0};
    assert_ok(submit_head(r, &(struct cmd_submit){.source = source}));
    struct flow_view view = fixture_flow(r, 1);
    assert_true(slice_eq(view.source.hash, slice_of(text, 32)));
    assert_true(slice_eq(view.source.name, SLICE("a.yaml")));
    assert_true(slice_eq(view.source.params, SLICE("{}")));
    assert_int_equal(view.source.bytes, 9);
}

/* ---- options ---- */

static void limits_of_options(void **state) {
    struct fixture *r = *state;
    const int64_t far = r->limits.delay_ms_max + 1;
#define REFUSED(code, word, ...)                          \
    do {                                                  \
        struct options o = fixture_options();             \
        __VA_ARGS__;                                      \
        assert_refused(r, submit_one(r, &o), code, word); \
    } while (0)
    REFUSED(ERR_INVALID, "kind of job", o.kind = JOB_KIND_COUNT);
    REFUSED(ERR_INVALID, "on_upstream", o.on_upstream = UPSTREAM_COUNT);
    REFUSED(ERR_LIMIT, "priority_max", o.priority = 1001);
    REFUSED(ERR_LIMIT, "retries_max", o.retries = 1001);
    REFUSED(ERR_LIMIT, "retries_max", o.retries = UINT32_MAX);
    REFUSED(ERR_LIMIT, "quorum_max", o.quorum = 17);
    REFUSED(ERR_INVALID, "gate", o.gates = GATE_BIT(GATE_SERVICE));
    uint32_t exits[257] = {0};
    REFUSED(ERR_LIMIT, "fatal", o.fatal_exits = ((struct tlv_u32s){exits, 257}));
    REFUSED(ERR_INVALID, "not both", o.demand.topic = SLICE("t"));
    REFUSED(ERR_INVALID, "delay cannot be negative", o.delay_ms = -1);
    REFUSED(ERR_LIMIT, "delay_ms_max", o.delay_ms = far);
    REFUSED(ERR_LIMIT, "start_within", o.start_within_ms = far);
    REFUSED(ERR_LIMIT, "dispatch_timeout", o.dispatch_timeout_ms = far);
    REFUSED(ERR_LIMIT, "run_timeout", o.run_timeout_ms = far);
    REFUSED(ERR_LIMIT, "preference", o.prefer_ms = far);
    REFUSED(ERR_LIMIT, "approval", o.approval_ms = far);
    REFUSED(ERR_INVALID, "not_before", o.not_before_ms = -1);
    REFUSED(ERR_INVALID, "not_before", o.not_before_ms = r->in.wall.ms + far);
    REFUSED(ERR_INVALID, "deadline is out of range", o.deadline_ms = -1);
    REFUSED(ERR_INVALID, "deadline is out of range", o.deadline_ms = r->in.wall.ms + far);
    REFUSED(ERR_INVALID, "already passed", o.deadline_ms = r->in.wall.ms);
    REFUSED(ERR_INVALID, "a worker name", o.preferred_worker = SLICE("\n"));
    REFUSED(ERR_INVALID, "a pool name", o.preferred_pool = SLICE("\n"));
    REFUSED(ERR_INVALID, "a role name", o.approval_role = SLICE("\n"));
    REFUSED(ERR_INVALID, "a pool name", o.demand.pool = SLICE("\n"));
    REFUSED(ERR_INVALID, "a topic name", o.demand.pool = slice_of(NULL, 0), o.demand.topic = SLICE("\n"));
    struct name_item names[33];
    for (int i = 0; i < 33; i++) names[i].name = SLICE("same");
    REFUSED(ERR_LIMIT, "capability", o.demand.capabilities = ((struct tlv_list){names, 33}));
    REFUSED(ERR_DUPLICATE_NAME, "same", o.demand.capabilities = ((struct tlv_list){names, 2}));
    struct label labels[65] = {{SLICE("k"), SLICE("v")}};
    REFUSED(ERR_LIMIT, "label", o.demand.labels = ((struct tlv_list){labels, 65}));
    struct resource resources[17] = {{SLICE("r"), 1}};
    REFUSED(ERR_LIMIT, "resource", o.demand.resources = ((struct tlv_list){resources, 17}));
    REFUSED(ERR_INVALID, "must have a name", o.demand.resources = ((struct tlv_list){resources, 2}));
    static char text[300];
    memset(text, 'v', sizeof text);
    labels[0].value = slice_of(text, 300); /* longer than its record could hold */
    REFUSED(ERR_LIMIT, "value", o.demand.labels = ((struct tlv_list){labels, 1}));
#undef REFUSED
}

static void defaults_are_filled_in(void **state) {
    struct fixture *r = *state;
    struct options o = {.kind = JOB_GATE, .delay_from_submit = true, .delay_ms = 5000, .affinity = true};
    assert_ok(submit_one(r, &o));
    const struct options *kept = fixture_job(r, 1, 0).options;
    assert_true(slice_eq(kept->demand.pool, SLICE("default")));
    assert_int_equal(kept->gates, GATE_BIT(GATE_APPROVAL));
    assert_int_equal(kept->approval_ms, r->limits.approval_ms);
    assert_int_equal(kept->dispatch_timeout_ms, r->limits.dispatch_timeout_ms);
    assert_int_equal(kept->quorum, 1);
    assert_int_equal(kept->prefer_ms, r->limits.lease_ms);
    assert_int_equal(kept->not_before_ms, r->in.wall.ms + 5000);
    assert_false(kept->delay_from_submit);
    o = (struct options){.delay_from_submit = true, .delay_ms = 10, .not_before_ms = r->in.wall.ms + 500};
    assert_ok(submit_one(r, &o));
    assert_int_equal(fixture_job(r, 2, 0).options->not_before_ms, r->in.wall.ms + 500); /* the later one */
    o = (struct options){.delay_from_submit = true};
    assert_ok(submit_one(r, &o));
    assert_int_equal(fixture_job(r, 3, 0).options->not_before_ms, 0);
    o = (struct options){.prefer_ms = 77, .kind = JOB_EXTERNAL};
    assert_ok(submit_one(r, &o));
    assert_int_equal(fixture_job(r, 4, 0).options->prefer_ms, 0); /* nothing to prefer */
    assert_int_equal(fixture_job(r, 4, 0).options->gates, GATE_BIT(GATE_EXTERNAL));
}

/* ---- space ---- */

static void space_is_reserved_and_returned(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 1;
    const char *jobs[] = {"a", "b: a"};
    r->in.journal_free_bytes = 1500;
    assert_refused(r, fixture_submit(r, &o, jobs, 2), ERR_NO_SPACE, "the disk is too full");
    r->in.journal_free_bytes = 1 << 20;
    assert_ok(fixture_submit(r, &o, jobs, 2));
    uint64_t full = fixture_counts(r).reserved_bytes;
    assert_true(full > 0);
    r->in.journal_free_bytes = full + 100; /* what was promised is not promised twice */
    assert_refused(r, fixture_submit(r, &o, jobs, 2), ERR_NO_SPACE, "the disk is too full");
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    assert_true(fixture_counts(r).reserved_bytes < full);
    fixture_tick(r, 3000);
    static char large[1000];
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){
        .worker = SLICE("w"), .incarnation = 1, .job = ref_of(1, 0), .attempt = 2, .result = slice_of(large, 1000)};
    r->in.journal_free_bytes = 500;
    assert_refused(r, fixture_command(r, &cmd), ERR_NO_SPACE, "result"); /* the worker keeps it and tries again */
    cmd.as.attempt.result.len = 100;
    assert_ok(fixture_command(r, &cmd)); /* a small one fits into what its attempt reserved */
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
}

static void every_end_returns_its_space(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    const char *jobs[] = {"a", "b: a", "c: b"};
    assert_ok(fixture_submit(r, &o, jobs, 3));
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
    o.retries = 0;
    assert_ok(fixture_submit(r, &o, jobs, 3));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(2, 0), 1, 1));
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
    assert_ok(fixture_retry(r, ref_of(2, 0)));
    assert_true(fixture_counts(r).reserved_bytes > 0);
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
}

/* ---- adding ---- */

static void jobs_join_a_running_flow(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    const char *first[] = {"a", "b: a"};
    assert_ok(fixture_submit_sets(r, &o, 1, first, 2, true));
    assert_ok(fixture_attach(r, "w", 1, 4));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING); /* more is to come */
    const char *second[] = {"c: a b", "d: c"};
    assert_ok(fixture_add(r, 1, &o, second, 2, false));
    assert_int_equal(r->reply.job_count, 4);
    assert_int_equal(r->reply.flow.v, 1);
    assert_int_equal(fixture_state(r, 1, 2), JOB_DISPATCHED); /* its parents ended before it came */
    const char *bad[] = {"e: nobody"}, *taken[] = {"a"}, *circle[] = {"x: a y", "y: b z x", "z"};
    assert_refused(r, fixture_add(r, 1, &o, circle, 3, false), ERR_CYCLE, "x -> y -> x");
    assert_ok(fixture_add(r, 1, &o, (const char *[]){"n: m a", "m: a"}, 2, true)); /* the parent after its child */
    assert_int_equal(fixture_job(r, 1, 5).parents_open, 1);
    assert_refused(r, fixture_add(r, 1, &o, bad, 1, false), ERR_UNKNOWN_NAME, "nobody");
    assert_refused(r, fixture_add(r, 1, &o, taken, 1, false), ERR_DUPLICATE_NAME, "two jobs are named a");
    assert_ok(fixture_add(r, 1, &o, NULL, 0, false)); /* only says that no more follows */
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    const char *late[] = {"f"};
    assert_refused(r, fixture_add(r, 1, &o, late, 1, false), ERR_STATE, "succeeded");
    assert_refused(r, fixture_add(r, 9, &o, late, 1, false), ERR_NOT_FOUND, "no flow");
    assert_refused(r, fixture_add(r, 0, &o, late, 1, false), ERR_NOT_FOUND, "f?");
    r->tenant = "other";
    assert_refused(r, fixture_add(r, 1, &o, late, 1, false), ERR_NOT_FOUND, "no flow");
}

static void nothing_joins_a_cancelled_flow(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    const char *first[] = {"a"}, *more[] = {"b"};
    assert_ok(fixture_submit_sets(r, &o, 1, first, 1, true));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    assert_int_equal(fixture_flow(r, 1).cancelling, true);
    assert_refused(r, fixture_add(r, 1, &o, more, 1, false), ERR_STATE, "being cancelled");
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_STOPPED));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_CANCELLED);
    assert_refused(r, fixture_add(r, 1, &o, more, 1, false), ERR_STATE, "cancelled");
}

static void a_child_of_a_failed_parent_falls_at_once(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 0;
    const char *first[] = {"a", "b: a"};
    assert_ok(fixture_submit_sets(r, &o, 1, first, 2, true));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    const char *second[] = {"c: b", "d: c"};
    assert_ok(fixture_add(r, 1, &o, second, 2, false));
    assert_int_equal(fixture_state(r, 1, 2), JOB_FAILED);
    assert_int_equal(fixture_state(r, 1, 3), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 3).root, 0); /* all hang on the job that began it */
    assert_int_equal(fixture_job(r, 1, 2).cause, CAUSE_UPSTREAM);
    assert_int_equal(fixture_counts(r).dead_letters, 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
}

static void an_open_flow_without_jobs(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    assert_ok(fixture_submit_sets(r, &o, 0, NULL, 0, true));
    assert_int_equal(fixture_flow(r, 1).job_count, 0);
    fixture_check_digests(r);
    assert_ok(fixture_add(r, 1, &o, NULL, 0, false));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
    assert_ok(fixture_forget(r, 1));
}

static void too_much_at_once_is_refused(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    set_limit(r, "batch_records_max", 1);
    struct command cmd = {.kind = CMD_TENANT, .token = 1};
    cmd.as.tenant_set = (struct cmd_tenant){SLICE("t"), 1};
    engine_begin(r->engine, &r->in);
    for (int i = 0; i < 3; i++) engine_command(r->engine, &cmd);
    assert_true(engine_is_full(r->engine));
    engine_finish(r->engine);
    fixture_flush(r);
    assert_int_equal(r->reply.err, ERR_BUSY);
    assert_false(engine_is_full(r->engine));
    assert_ok(submit_one(r, &o));
}

/* Passes share a batch until it is taken, and with it one time. */
static void two_passes_in_one_batch(void **state) {
    struct fixture *r = *state;
    struct command cmd = {.kind = CMD_TENANT};
    cmd.as.tenant_set = (struct cmd_tenant){SLICE("t"), 1};
    for (int i = 0; i < 2; i++) {
        engine_begin(r->engine, &r->in);
        engine_command(r->engine, &cmd);
        engine_finish(r->engine);
        r->in.wall.ms += 1000;
    }
    struct batch b;
    assert_true(engine_batch(r->engine, &b));
    assert_int_equal(b.last_lsn, b.first_lsn + 1);
    assert_int_equal(b.time.ms, r->in.wall.ms - 2000);
    r->hold = true; /* this batch went past the rig's journal */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(names_are_checked),
        FIXTURE_TEST(a_flow_that_is_only_checked_is_judged_and_not_there),
        FIXTURE_TEST(graph_is_checked),
        FIXTURE_TEST(a_long_circle_is_cut_not_overrun),
        FIXTURE_TEST(parents_are_sorted_by_ordinal),
        FIXTURE_TEST(limits_of_size),
        FIXTURE_TEST(limit_of_questions),
        FIXTURE_TEST(limits_of_bytes),
        FIXTURE_TEST(options_count_as_bytes),
        FIXTURE_TEST(keys_and_rates_count_as_bytes),
        FIXTURE_TEST(limits_of_the_head),
        FIXTURE_TEST(what_a_flow_was_made_from_is_kept_and_bounded),
        FIXTURE_TEST(limits_of_options),
        FIXTURE_TEST(defaults_are_filled_in),
        FIXTURE_TEST(space_is_reserved_and_returned),
        FIXTURE_TEST(every_end_returns_its_space),
        FIXTURE_TEST(jobs_join_a_running_flow),
        FIXTURE_TEST(nothing_joins_a_cancelled_flow),
        FIXTURE_TEST(a_child_of_a_failed_parent_falls_at_once),
        FIXTURE_TEST(an_open_flow_without_jobs),
        FIXTURE_TEST(too_much_at_once_is_refused),
        FIXTURE_TEST(two_passes_in_one_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
