/* adder_test.c: jobs that a job adds to its own flow get what it has itself, and no more. */
#include "engine_fixture.h"

/* Job 1/0, priority 5, is running on a worker with an attempt of this fence. */
static uint64_t running(struct fixture *r, struct options *o, bool more) {
    uint32_t from = r->effects.count;
    const char *jobs[] = {"agent"};
    o->priority = 5;
    assert_ok(fixture_submit_sets(r, o, 1, jobs, 1, more));
    if (o->gates != 0) assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_CONSTRAIN, "read-only"));
    struct worker_info info = {.pool = o->demand.pool, .slots = 1};
    assert_ok(fixture_attach_as(r, "w", 1, &info));
    for (uint32_t i = from; i < r->effects.count; i++) {
        const struct effect *e = vec_at(&r->effects, i);
        if (e->kind == EFFECT_ASSIGN) return e->as.attempt.fence;
    }
    fail_msg("nothing was assigned");
    return 0;
}

static enum err add(struct fixture *r, uint64_t flow, const char *name, const struct options *o, uint64_t fence) {
    struct command cmd = {.kind = CMD_ADD, .tenant = slice_str(r->tenant)};
    struct job_spec spec = {.name = slice_str(name), .body = SLICE("body")};
    cmd.as.add =
        (struct cmd_add){.flow = {flow}, .jobs = {o, 1, &spec, 1, false}, .adder = ref_of(1, 0), .fence = fence};
    return fixture_command(r, &cmd);
}

static void the_priority_is_a_ceiling(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t fence = running(r, &o, false);
    o.priority = 9;
    assert_ok(add(r, 1, "higher", &o, fence));
    o.priority = 2;
    assert_ok(add(r, 1, "lower", &o, fence));
    assert_int_equal(fixture_job(r, 1, 1).options->priority, 5);
    assert_int_equal(fixture_job(r, 1, 2).options->priority, 2);
    o.priority = 9;
    assert_ok(fixture_add(r, 1, &o, (const char *const[]){"by-someone-else"}, 1, false));
    assert_int_equal(fixture_job(r, 1, 3).options->priority, 9);
}

static void pools_are_those_of_the_adder(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options(), none = fixture_options();
    o.demand.pool = SLICE("gpu");
    uint64_t fence = running(r, &o, false);
    none.demand.pool = none.demand.topic = slice_of(NULL, 0);
    assert_ok(add(r, 1, "silent", &none, fence));
    assert_true(slice_eq(fixture_job(r, 1, 1).options->demand.pool, SLICE("gpu")));
    assert_ok(add(r, 1, "same", &o, fence));
    o.demand.pool = SLICE("cpu");
    assert_refused(r, add(r, 1, "other", &o, fence), ERR_FORBIDDEN, "its own pools only");
    o.demand.pool = slice_of(NULL, 0);
    o.demand.topic = SLICE("train");
    assert_refused(r, add(r, 1, "topic", &o, fence), ERR_FORBIDDEN, "train");
    o.demand.pool = SLICE("gpu"); /* both: the topic may lead elsewhere */
    assert_refused(r, add(r, 1, "both", &o, fence), ERR_FORBIDDEN, "gpu");
}

static void a_topic_stands_for_its_pools(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    assert_ok(fixture_topic(r, "train", "gpu", "default"));
    o.demand.pool = slice_of(NULL, 0);
    o.demand.topic = SLICE("train");
    uint64_t fence = running(r, &o, false);
    assert_ok(add(r, 1, "same", &o, fence));
    o.demand.topic = slice_of(NULL, 0);
    o.demand.pool = SLICE("gpu");
    assert_ok(add(r, 1, "one-of-them", &o, fence));
    o.demand.pool = SLICE("cpu");
    assert_refused(r, add(r, 1, "other", &o, fence), ERR_FORBIDDEN, "cpu");
}

static void constraints_are_handed_on(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_POLICY);
    uint64_t fence = running(r, &o, false);
    o.gates = 0;
    assert_ok(add(r, 1, "child", &o, fence));
    assert_true(slice_eq(fixture_job(r, 1, 1).constraints, SLICE("read-only")));
    fixture_check_digests(r);
    fixture_crash(r);
    assert_true(slice_eq(fixture_job(r, 1, 1).constraints, SLICE("read-only")));
    assert_ok(fixture_add(r, 1, &o, (const char *const[]){"by-someone-else"}, 1, false));
    assert_int_equal(fixture_job(r, 1, 2).constraints.len, 0);
}

static void children_of_a_foreach_job_hand_on_its_constraints(void **state) {
    struct fixture *r = *state;
    static const uint8_t items[32] = {1};
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_POLICY) | GATE_BIT(GATE_EXPANSION);
    assert_ok(fixture_submit(r, &o, (const char *const[]){"map"}, 1));
    struct cmd_verdict expand = fixture_answer(r, ref_of(1, 0), VERDICT_ALLOW);
    expand.item_count = 2;
    expand.items = slice_of(items, 32);
    assert_ok(fixture_send_verdict(r, &expand));
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_CONSTRAIN, "read-only"));
    assert_ok(fixture_attach(r, "w", 1, 1));
    const struct effect *e = vec_at(&r->effects, r->effects.count - 1);
    for (uint32_t i = 0; i < r->effects.count && e->kind != EFFECT_ASSIGN; i++) e = vec_at(&r->effects, i);
    assert_int_equal(e->kind, EFFECT_ASSIGN);
    struct command cmd = {.kind = CMD_ADD, .tenant = slice_str(r->tenant)};
    struct job_spec spec = {.name = SLICE("more"), .body = SLICE("body")};
    o.gates = 0;
    cmd.as.add = (struct cmd_add){
        .flow = {1}, .jobs = {&o, 1, &spec, 1, false}, .adder = e->as.attempt.job, .fence = e->as.attempt.fence};
    assert_ok(fixture_command(r, &cmd));
    struct job_view more;
    assert_true(view_job_by_name(engine_state(r->engine), (flow_id){1}, SLICE("more"), &more));
    assert_true(slice_eq(more.constraints, SLICE("read-only")));
}

static void only_while_its_attempt_is_open(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t fence = running(r, &o, true);
    assert_refused(r, add(r, 1, "early", &o, fence + 1), ERR_STATE, "is over");
    assert_ok(add(r, 1, "child", &o, fence));
    assert_true(fixture_flow(r, 1).more); /* what its submitter still sends is not the job's to say */
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_refused(r, add(r, 1, "late", &o, fence), ERR_STATE, "is over");
}

static void only_its_own_flow_and_no_services(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    uint64_t fence = running(r, &o, false);
    assert_ok(fixture_submit(r, &o, (const char *const[]){"a"}, 1));
    assert_refused(r, add(r, 2, "child", &o, fence), ERR_FORBIDDEN, "its own flow only");
    o.kind = JOB_SERVICE;
    assert_refused(r, add(r, 1, "child", &o, fence), ERR_FORBIDDEN, "services");
}

static enum err submit_by(struct fixture *r, const struct options *o, uint64_t fence) {
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("body")};
    cmd.as.submit = (struct cmd_submit){.jobs = {o, 1, &spec, 1, false}, .adder = ref_of(1, 0), .fence = fence};
    return fixture_command(r, &cmd);
}

static void a_new_flow_needs_the_right_to_submit(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.token_rights = TOKEN_READ;
    uint64_t fence = running(r, &o, false);
    assert_refused(r, submit_by(r, &o, fence), ERR_FORBIDDEN, "may not submit");
    o.token_rights = TOKEN_SUBMIT;
    assert_refused(r, add(r, 1, "child", &o, fence), ERR_FORBIDDEN, "more rights than its own");
    o.token_rights = 4;
    assert_refused(r, fixture_submit(r, &o, (const char *const[]){"a"}, 1), ERR_INVALID, "no such right");
}

static void a_new_flow_is_bound_as_what_is_added(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_POLICY);
    o.token_rights = TOKEN_SUBMIT;
    uint64_t fence = running(r, &o, false);
    o.gates = 0;
    o.priority = 9;
    assert_ok(submit_by(r, &o, fence));
    assert_int_equal(fixture_job(r, 2, 0).options->priority, 5);
    assert_int_equal(fixture_job(r, 2, 0).options->token_rights, TOKEN_READ | TOKEN_SUBMIT);
    assert_true(slice_eq(fixture_job(r, 2, 0).constraints, SLICE("read-only")));
    assert_ok(add(r, 2, "child", &o, fence)); /* another flow of the tenant is as its own */
    fixture_check_digests(r);
    fixture_crash(r);
    assert_true(slice_eq(fixture_job(r, 2, 0).constraints, SLICE("read-only")));
    o.demand.pool = SLICE("cpu");
    assert_refused(r, submit_by(r, &o, fence), ERR_FORBIDDEN, "its own pools only");
    assert_refused(r, submit_by(r, &o, fence + 1), ERR_STATE, "is over");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(the_priority_is_a_ceiling),
        FIXTURE_TEST(pools_are_those_of_the_adder),
        FIXTURE_TEST(a_topic_stands_for_its_pools),
        FIXTURE_TEST(constraints_are_handed_on),
        FIXTURE_TEST(children_of_a_foreach_job_hand_on_its_constraints),
        FIXTURE_TEST(only_while_its_attempt_is_open),
        FIXTURE_TEST(only_its_own_flow_and_no_services),
        FIXTURE_TEST(a_new_flow_needs_the_right_to_submit),
        FIXTURE_TEST(a_new_flow_is_bound_as_what_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
