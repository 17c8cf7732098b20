/* foreign_test.c: parents in other flows: open, ended, gone from memory, of others; and which flow leaves first. */
#include "engine_fixture.h"

#include "state.h"

static void submit(struct fixture *r, const char *a, const char *b) {
    struct options o = fixture_options();
    o.retries = 0;
    const char *jobs[] = {a, b};
    assert_ok(fixture_submit(r, &o, jobs, b ? 2 : 1));
}

static enum err submit_parent(struct fixture *r, const struct parent_ref *parents, uint32_t count) {
    struct options o = fixture_options();
    struct job_spec spec = {.name = SLICE("child"), .parents = parents, .parent_count = count};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &spec, 1, false};
    return fixture_command(r, &cmd);
}

static void an_open_parent_is_waited_for(void **state) {
    struct fixture *r = *state;
    submit(r, "a", "b: a");
    submit(r, "x: 1/b", "y: x 1/a");
    assert_int_equal(fixture_state(r, 2, 0), JOB_WAITING);
    assert_int_equal(fixture_job(r, 2, 1).parents_open, 2);
    fixture_check_digests(r);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 2).state, FLOW_SUCCEEDED);
}

static void the_failure_of_a_foreign_parent_arrives(void **state) {
    struct fixture *r = *state;
    submit(r, "a", NULL);
    submit(r, "x: 1/a", "y: x");
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    assert_int_equal(fixture_state(r, 2, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 2, 0).root, UINT32_MAX); /* the one to blame is in another flow */
    assert_int_equal(fixture_job(r, 2, 1).root, 0);
    assert_int_equal(fixture_flow(r, 2).state, FLOW_FAILED);
    fixture_check_digests(r);
    /* what was seen is not forgotten: a rerun of the child alone falls again */
    assert_ok(fixture_rerun(r, 2));
    assert_int_equal(fixture_flow(r, 2).state, FLOW_FAILED);
}

static void an_ended_parent_is_recorded_as_seen(void **state) {
    struct fixture *r = *state;
    submit(r, "a", NULL);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_run_all(r, "w", 1);
    submit(r, "x: 1/a", NULL);
    assert_int_equal(fixture_state(r, 2, 0), JOB_DISPATCHED);
    assert_ok(fixture_exit(r, "w", ref_of(2, 0), 1, 1));
    submit(r, "y: 2/x", NULL);
    assert_int_equal(fixture_state(r, 3, 0), JOB_FAILED);
}

static void a_parent_that_left_memory(void **state) {
    struct fixture *r = *state;
    submit(r, "a", NULL);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_run_all(r, "w", 1);
    assert_ok(fixture_forget(r, 1));
    struct parent_ref p = {.name = SLICE("a"), .flow = {1}};
    assert_refused(r, submit_parent(r, &p, 1), ERR_NOT_FOUND, "does not exist: a");
    p.has_seen = true;
    p.seen = JOB_RUNNING; /* history knows ends only */
    assert_refused(r, submit_parent(r, &p, 1), ERR_NOT_FOUND, "does not exist: a");
    p.seen = JOB_SUCCEEDED;
    assert_ok(submit_parent(r, &p, 1));
    assert_int_equal(fixture_state(r, 2, 0), JOB_DISPATCHED);
    p.seen = JOB_CANCELLED;
    assert_ok(submit_parent(r, &p, 1));
    assert_int_equal(fixture_state(r, 3, 0), JOB_CANCELLED);
    p.shard = 4; /* another shard is always told by history */
    p.seen = JOB_SUCCEEDED;
    assert_ok(submit_parent(r, &p, 1));
}

static void names_and_tenants(void **state) {
    struct fixture *r = *state;
    submit(r, "a", NULL);
    struct parent_ref p[2] = {{.name = SLICE("b"), .flow = {1}}, {.name = SLICE("a"), .flow = {1}}};
    assert_refused(r, submit_parent(r, p, 1), ERR_UNKNOWN_NAME, "does not exist: b");
    p[0].name = SLICE("a");
    assert_refused(r, submit_parent(r, p, 2), ERR_DUPLICATE_NAME, "names a parent twice");
    p[0].flow.v = 7;
    assert_refused(r, submit_parent(r, p, 1), ERR_NOT_FOUND, "does not exist");
    p[0] = p[1];
    r->tenant = "other";
    p[0].has_seen = true; /* a claim about a flow that is here and of someone else counts for nothing */
    p[0].seen = JOB_SUCCEEDED;
    assert_refused(r, submit_parent(r, p, 1), ERR_NOT_FOUND, "does not exist: a");
}

static void foreign_parents_and_children_have_limits(void **state) {
    struct fixture *r = *state;
    fixture_fini(r);
    fixture_init(r);
    r->limits.job_foreign_parents_max = 1;
    r->limits.job_foreign_children_max = 2;
    fixture_crash(r);
    submit(r, "a", "b");
    struct parent_ref p[2] = {{.name = SLICE("a"), .flow = {1}}, {.name = SLICE("b"), .flow = {1}}};
    assert_refused(r, submit_parent(r, p, 2), ERR_LIMIT, "job_foreign_parents_max");
    assert_ok(submit_parent(r, p, 1));
    assert_ok(submit_parent(r, p, 1));
    assert_refused(r, submit_parent(r, p, 1), ERR_LIMIT, "job_foreign_children_max");
    assert_ok(submit_parent(r, p + 1, 1));
}

/* The same number in another shard is another flow. */
static void a_shard_is_part_of_the_name(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    const char *first[] = {"a"};
    assert_ok(fixture_submit_sets(r, &o, 1, first, 1, true));
    struct parent_ref p = {.name = SLICE("a"), .flow = {1}, .shard = 3, .has_seen = true, .seen = JOB_FAILED};
    struct job_spec spec = {.name = SLICE("b"), .parents = &p, .parent_count = 1};
    struct command cmd = {.kind = CMD_ADD, .tenant = SLICE("acme")};
    cmd.as.add = (struct cmd_add){.flow = {1}, .jobs = {&o, 1, &spec, 1, true}};
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(fixture_state(r, 1, 1), JOB_FAILED);
    p = (struct parent_ref){.name = SLICE("a"), .flow = {1}}; /* its own flow by number is its own flow */
    spec.name = SLICE("c");
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(fixture_job(r, 1, 2).parent_count, 1);
}

/* An administrator has no tenant: jobs are added in the name of the flow's. */
static void an_administrator_adds_for_the_tenant(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    submit(r, "a", NULL);
    assert_ok(fixture_submit_sets(r, &o, 1, (const char *[]){"b"}, 1, true));
    r->tenant = "";
    assert_ok(fixture_add(r, 2, &o, (const char *[]){"c: 1/a"}, 1, false));
    assert_int_equal(fixture_job(r, 2, 1).parents_open, 1);
}

static void the_child_flow_leaves_first(void **state) {
    struct fixture *r = *state;
    submit(r, "a", "b");
    submit(r, "x: 1/a", "y: 1/a 1/b");
    submit(r, "z: 1/a", NULL);
    assert_ok(fixture_cancel(r, ref_of(2, UINT32_MAX)));
    assert_ok(fixture_forget(r, 2));
    fixture_check_digests(r);
    const struct state *s = engine_state(r->engine);
    assert_true(job_at(s, job_find(s, ref_of(1, 0)))->flags & JOBF_FOREIGN);  /* z is left */
    assert_false(job_at(s, job_find(s, ref_of(1, 1)))->flags & JOBF_FOREIGN); /* nobody is */
    assert_ok(fixture_attach(r, "w", 1, 3));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 3).state, FLOW_SUCCEEDED);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

static void the_parent_flow_leaves_first(void **state) {
    struct fixture *r = *state;
    submit(r, "a", NULL);
    submit(r, "x: 1/a", "y");
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(fixture_forget(r, 1));
    fixture_check_digests(r);
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 2).state, FLOW_SUCCEEDED);
    assert_ok(fixture_forget(r, 2));
    assert_int_equal(fixture_counts(r).jobs, 0);
}

/* A cancelled flow tells its children elsewhere, though its own jobs hear of it by the sweep. */
static void cancel_reaches_other_flows(void **state) {
    struct fixture *r = *state;
    submit(r, "a", "b: a");
    submit(r, "x: 1/b 1/a", NULL);
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    assert_int_equal(fixture_state(r, 2, 0), JOB_CANCELLED);
    assert_int_equal(fixture_flow(r, 2).state, FLOW_CANCELLED);
}

static void why_names_no_job_of_another_flow(void **state) {
    struct fixture *r = *state;
    submit(r, "a", NULL);
    submit(r, "x: 1/a", NULL);
    struct why_job why = fixture_why(r, 2, 0);
    assert_int_equal(why.block, BLOCK_PARENTS);
    assert_int_equal(why.parents_open, 1);
    assert_int_equal(why.parent.ordinal, UINT32_MAX);
}

/* Several parents elsewhere, some alike in one number: each is its own, also when the child is judged anew. */
static void many_parents_elsewhere(void **state) {
    struct fixture *r = *state;
    submit(r, "a", "b");
    submit(r, "a", "b");
    submit(r, "x: 1/a 1/b 2/a", "y: 2/b");
    assert_int_equal(fixture_job(r, 3, 0).parents_open, 3);
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(fixture_done(r, "w", 1, ref_of(2, 1), 1, OUTCOME_OK));
    assert_ok(fixture_exit(r, "w", ref_of(3, 1), 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(2, 0), 1, 1));
    assert_int_equal(fixture_state(r, 3, 0), JOB_FAILED);
    assert_ok(fixture_rerun(r, 3)); /* y has seen its parent succeed, x one of its own fail */
    assert_int_equal(fixture_state(r, 3, 0), JOB_FAILED);
    assert_int_equal(fixture_state(r, 3, 1), JOB_DISPATCHED);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 1, OUTCOME_OK));
    struct parent_ref p[3] = {{.name = SLICE("a"), .flow = {1}},
                              {.name = SLICE("b"), .flow = {1}},
                              {.name = SLICE("a"), .flow = {1}, .shard = 5, .has_seen = true, .seen = JOB_SUCCEEDED}};
    assert_ok(submit_parent(r, p, 3));
    fixture_run_all(r, "w", 1);
    assert_ok(fixture_forget(r, 4)); /* its parents were over when it came */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(an_open_parent_is_waited_for),
        FIXTURE_TEST(the_failure_of_a_foreign_parent_arrives),
        FIXTURE_TEST(an_ended_parent_is_recorded_as_seen),
        FIXTURE_TEST(a_parent_that_left_memory),
        FIXTURE_TEST(names_and_tenants),
        FIXTURE_TEST(foreign_parents_and_children_have_limits),
        FIXTURE_TEST(a_shard_is_part_of_the_name),
        FIXTURE_TEST(an_administrator_adds_for_the_tenant),
        FIXTURE_TEST(the_child_flow_leaves_first),
        FIXTURE_TEST(the_parent_flow_leaves_first),
        FIXTURE_TEST(cancel_reaches_other_flows),
        FIXTURE_TEST(why_names_no_job_of_another_flow),
        FIXTURE_TEST(many_parents_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
