/* cascade_test.c: consequences over more jobs than one step may visit: continued record by record, and at every step
 * the same live, replayed, and restored from a snapshot taken in the middle. */
#include <stdio.h>
#include <stdlib.h>

#include "engine_fixture.h"

#define FAN 9000u

/* One root and FAN children, in one submit. `kind` is the option set of the children. */
static void submit_fan(struct fixture *r, const struct options *root, const struct options *child) {
    struct options sets[2] = {*root, *child};
    char(*names)[16] = calloc(FAN + 1, sizeof *names);
    struct job_spec *specs = calloc(FAN + 1, sizeof *specs);
    struct parent_ref parent = {.name = SLICE("root")};
    specs[0] = (struct job_spec){.name = SLICE("root")};
    for (uint32_t i = 1; i <= FAN; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i] = (struct job_spec){.name = slice_str(names[i]), .profile = 1, .parents = &parent, .parent_count = 1};
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 2, specs, FAN + 1, false};
    assert_ok(fixture_command(r, &cmd));
    free(specs);
    free(names);
}

/* FAN jobs that depend on nothing. */
static void submit_loose(struct fixture *r, const struct options *o) {
    char(*names)[16] = calloc(FAN, sizeof *names);
    struct job_spec *specs = calloc(FAN, sizeof *specs);
    for (uint32_t i = 0; i < FAN; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i].name = slice_str(names[i]);
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, specs, FAN, false};
    assert_ok(fixture_command(r, &cmd));
    free(specs);
    free(names);
}

static uint32_t count(const struct fixture *r, uint64_t flow, enum job_state state) {
    return fixture_flow(r, flow).by_state[state];
}

/* One command without the rest of its pass: the engine is left in the middle of the consequence. */
static void command_only(struct fixture *r, struct command *cmd) {
    cmd->token = ++r->token;
    cmd->principal = SLICE("tester");
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, cmd);
    fixture_flush(r);
    assert_int_equal(r->reply.err, ERR_OK);
    assert_true(engine_has_work(r->engine));
}

static void expect_busy(struct fixture *r, uint64_t flow) {
    struct command cancel = {.kind = CMD_CANCEL}, retry = {.kind = CMD_RETRY};
    cancel.as.cancel = (struct cmd_cancel){.flow = {flow}, .whole = true};
    retry.as.job = ref_of(flow, 0);
    struct command *both[] = {&cancel, &retry};
    for (int i = 0; i < 2; i++) {
        both[i]->token = ++r->token;
        engine_begin(r->engine, &r->in);
        engine_command(r->engine, both[i]);
        fixture_flush(r);
        assert_int_equal(r->reply.err, ERR_BUSY);
    }
}

static void one_pass(struct fixture *r) {
    engine_begin(r->engine, &r->in);
    engine_finish(r->engine);
    fixture_flush(r);
}

/* Goes on until nothing is left, one record per batch, with a crash at the beginning, in the middle and at the end;
 * every state on the way is checked. */
static void settle(struct fixture *r) {
    int64_t records_max = r->limits.batch_records_max;
    r->limits.batch_records_max = 0; /* below what anyone may set: a batch is full with its first record */
    fixture_crash(r);
    for (uint32_t steps = 0; engine_has_work(r->engine); steps++) {
        fixture_check_digests(r);
        if (steps == 1) fixture_crash(r);
        uint64_t lsn = engine_lsn(r->engine);
        one_pass(r);
        assert_true(engine_lsn(r->engine) <= lsn + 1);
        assert_true(steps < 100);
    }
    fixture_check_digests(r);
    r->limits.batch_records_max = records_max;
    fixture_crash(r);
    fixture_check_digests(r);
}

static struct command done(uint64_t flow, uint32_t exit_code, uint32_t attempt) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = ref_of(flow, 0),
                                          .attempt = attempt,
                                          .outcome = exit_code ? OUTCOME_EXIT : OUTCOME_OK,
                                          .exit_code = exit_code};
    return cmd;
}

static void fan_that_fails(struct fixture *r) {
    struct options o = fixture_options();
    o.retries = 0;
    submit_fan(r, &o, &o);
    assert_ok(fixture_attach(r, "w", 1, 1));
    struct command cmd = done(1, 1, 1);
    command_only(r, &cmd);
}

static void a_failure_reaches_all_children_in_steps(void **state) {
    struct fixture *r = *state;
    fan_that_fails(r);
    assert_int_equal(count(r, 1, JOB_FAILED), 1 + 4096);
    assert_true(fixture_flow(r, 1).settling);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING);
    expect_busy(r, 1);
    settle(r);
    assert_int_equal(count(r, 1, JOB_FAILED), FAN + 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_FAILED);
    assert_int_equal(fixture_counts(r).dead_letters, 1);
}

/* Those that failed because of another are told from the one that did it, also after a restart and in a second run. */
static void what_failed_because_of_another_is_counted(void **state) {
    struct fixture *r = *state;
    fan_that_fails(r);
    assert_int_equal(fixture_flow(r, 1).upstream_failed, 4096);
    settle(r);
    assert_int_equal(fixture_flow(r, 1).upstream_failed, FAN);
    fixture_crash(r);
    assert_int_equal(fixture_flow(r, 1).upstream_failed, FAN);
    struct engine *loaded = fixture_reload(r);
    struct flow_view seen;
    assert_true(view_flow(engine_state(loaded), (flow_id){1}, &seen));
    assert_int_equal(seen.upstream_failed, FAN);
    engine_free(loaded);
    struct command cmd = {.kind = CMD_RETRY};
    cmd.as.job = ref_of(1, 0);
    command_only(r, &cmd);
    settle(r);
    assert_int_equal(fixture_flow(r, 1).upstream_failed, 0);
}

/* A crash after each single record of the consequence: a restored engine goes on where the dead one stopped. */
static void failure_with_a_crash_after_every_step(void **state) {
    struct fixture *r = *state;
    fan_that_fails(r);
    r->limits.batch_records_max = 1;
    for (int i = 0; i < 6 && engine_has_work(r->engine); i++) fixture_crash(r);
    assert_int_equal(count(r, 1, JOB_FAILED), FAN + 1);
}

static void a_retry_resets_all_children_in_steps(void **state) {
    struct fixture *r = *state;
    fan_that_fails(r);
    settle(r);
    struct command cmd = {.kind = CMD_RETRY};
    cmd.as.job = ref_of(1, 0);
    command_only(r, &cmd);
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_SETTLING); /* ready, and for a moment not to be given away */
    expect_busy(r, 1);
    settle(r);
    assert_int_equal(count(r, 1, JOB_WAITING), FAN);
    assert_ok(fixture_attach(r, "w", 1, 1));
    cmd = done(1, 0, 2);
    command_only(r, &cmd);
    assert_int_equal(count(r, 1, JOB_READY), 4096);
    settle(r);
    assert_int_equal(count(r, 1, JOB_READY) + count(r, 1, JOB_DISPATCHED), FAN);
}

static void a_rerun_resets_all_children_in_steps(void **state) {
    struct fixture *r = *state;
    fan_that_fails(r);
    settle(r);
    struct command cmd = {.kind = CMD_RERUN};
    cmd.as.flow.v = 1;
    command_only(r, &cmd);
    settle(r);
    assert_int_equal(count(r, 1, JOB_WAITING), FAN);
    assert_int_equal(count(r, 1, JOB_READY) + count(r, 1, JOB_DISPATCHED), 1);
}

static void a_cancel_ends_all_jobs_in_steps(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    submit_fan(r, &o, &o);
    struct command cmd = {.kind = CMD_CANCEL};
    cmd.as.cancel = (struct cmd_cancel){.flow = {1}, .whole = true};
    command_only(r, &cmd);
    assert_int_equal(count(r, 1, JOB_CANCELLED), 4096);
    settle(r);
    assert_int_equal(count(r, 1, JOB_CANCELLED), FAN + 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_CANCELLED);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
}

static void cancel_of_running_jobs(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    submit_loose(r, &o);
    assert_ok(fixture_attach(r, "w", 1, 9000));
    assert_int_equal(count(r, 1, JOB_DISPATCHED), FAN);
    struct command cmd = {.kind = CMD_CANCEL};
    cmd.as.cancel = (struct cmd_cancel){.flow = {1}, .whole = true};
    command_only(r, &cmd);
    settle(r);
    fixture_tick(r, r->limits.lease_ms);
    assert_int_equal(count(r, 1, JOB_CANCELLED), FAN);
}

static void a_resume_readies_all_jobs_in_steps(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    submit_loose(r, &o);
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    assert_ok(fixture_attach(r, "w", 1, 1));
    struct command cmd = {.kind = CMD_PAUSE};
    cmd.as.pause = (struct cmd_pause){.scope = PAUSE_FLOW, .flow = {1}, .on = false};
    command_only(r, &cmd);
    assert_int_equal(fixture_why(r, 1, FAN - 1).block, BLOCK_SETTLING);
    settle(r);
    assert_int_equal(count(r, 1, JOB_READY) + count(r, 1, JOB_DISPATCHED), FAN);
}

/* What others send while a consequence is under way is served between its steps. */
static void others_go_on_meanwhile(void **state) {
    struct fixture *r = *state;
    fan_that_fails(r);
    struct options o = fixture_options();
    assert_ok(fixture_submit(r, &o, (const char *[]){"quick"}, 1));
    assert_int_equal(fixture_state(r, 2, 0), JOB_DISPATCHED);
    settle(r);
}

/* Jobs end while a sweep is under way: a retry of the root, and a second root that ends in the middle. */
static void an_end_in_the_middle_of_a_sweep(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 0;
    submit_fan(r, &o, &o);
    assert_ok(fixture_submit(r, &o, (const char *[]){"other", "child: other 1/root"}, 2));
    assert_ok(fixture_attach(r, "w", 1, 2));
    struct command cmd = done(1, 1, 1);
    command_only(r, &cmd);
    fixture_check_digests(r);
    assert_ok(fixture_exit(r, "w", ref_of(2, 0), 1, 1));
    settle(r);
    assert_int_equal(fixture_flow(r, 2).state, FLOW_FAILED);
    cmd = (struct command){.kind = CMD_RERUN};
    cmd.as.flow.v = 1;
    command_only(r, &cmd);
    assert_ok(fixture_rerun(r, 2));
    settle(r);
}

/* Two long consequences at once take turns, oldest first, also after a restart. */
static void two_at_once(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    submit_fan(r, &o, &o);
    submit_fan(r, &o, &o);
    struct command cmd = {.kind = CMD_CANCEL};
    for (uint64_t f = 2; f >= 1; f--) {
        cmd.as.cancel = (struct cmd_cancel){.flow = {f}, .whole = true};
        command_only(r, &cmd);
    }
    fixture_check_digests(r);
    fixture_crash(r);
    settle(r);
    assert_int_equal(fixture_counts(r).by_state[JOB_CANCELLED], 2 * (FAN + 1));
}

/* A fan whose children have children: breadth first, cut inside the second level. */
static void a_step_may_end_inside_the_second_level(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 0;
    submit_fan(r, &o, &o);
    char(*names)[32] = calloc(3000, sizeof *names);
    const char **jobs = calloc(3000, sizeof *jobs);
    for (uint32_t i = 0; i < 3000; i++) {
        (void)snprintf(names[i], sizeof names[i], "k%u: j%u j%u", i, i + 1, i + 4000);
        jobs[i] = names[i];
    }
    assert_ok(fixture_add(r, 1, &o, jobs, 3000, false));
    free(names);
    free(jobs);
    assert_ok(fixture_attach(r, "w", 1, 1));
    struct command cmd = done(1, 1, 1);
    command_only(r, &cmd);
    settle(r);
    assert_int_equal(count(r, 1, JOB_FAILED), FAN + 1 + 3000);
}

/* Jobs added while their parent has ended and has yet to tell its children. */
static void added_below_a_parent_that_is_still_telling(void **state) {
    struct fixture *r = *state;
    fan_that_fails(r);
    struct options o = fixture_options();
    struct parent_ref parents[] = {{.name = SLICE("root")}, {.name = SLICE("j9000")}};
    struct job_spec spec = {.name = SLICE("late"), .parents = parents, .parent_count = 2};
    struct command cmd = {.kind = CMD_ADD, .tenant = SLICE("acme")};
    cmd.as.add = (struct cmd_add){.flow = {1}, .jobs = {&o, 1, &spec, 1, false}};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    fixture_flush(r);
    assert_int_equal(fixture_state(r, 1, FAN + 1), JOB_FAILED); /* its end is known: nothing to wait for */
    /* and one in another flow: the parent is over, but counts as open until it has told everyone */
    parents[0].flow.v = 1;
    struct command submit = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    spec.parent_count = 1;
    submit.as.submit.jobs = (struct cmd_jobs){&o, 1, &spec, 1, false};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &submit);
    fixture_flush(r);
    assert_int_equal(fixture_state(r, 2, 0), JOB_WAITING);
    settle(r);
    assert_int_equal(fixture_state(r, 1, FAN + 1), JOB_FAILED);
    assert_int_equal(fixture_state(r, 2, 0), JOB_FAILED);
}

/* Three flows resume at once: more steps than one pass has. Nothing is given away of the one that is not through. */
static void dispatch_waits_for_a_sweep(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    for (uint64_t f = 1; f <= 3; f++) {
        submit_loose(r, &o);
        assert_ok(fixture_pause(r, PAUSE_FLOW, f, NULL, true));
    }
    engine_begin(r->engine, &r->in);
    struct command attach = {.kind = CMD_ATTACH};
    attach.as.attach = (struct cmd_attach){.worker = SLICE("w"), .incarnation = 1, .info = {.slots = 1}};
    engine_command(r->engine, &attach);
    for (uint64_t f = 3; f >= 1; f--) {
        struct command cmd = {.kind = CMD_PAUSE};
        cmd.as.pause = (struct cmd_pause){.scope = PAUSE_FLOW, .flow = {f}, .on = false};
        engine_command(r->engine, &cmd);
    }
    engine_finish(r->engine);
    fixture_flush(r);
    assert_true(fixture_flow(r, 1).settling);
    assert_int_equal(count(r, 1, JOB_DISPATCHED), 0);
    fixture_tick(r, 0);
    assert_int_equal(count(r, 1, JOB_DISPATCHED), 1);
}

static void a_flow_without_jobs_can_be_cancelled(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    assert_ok(fixture_submit_sets(r, &o, 1, NULL, 0, true));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_RUNNING);
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    assert_int_not_equal(fixture_flow(r, 1).state, FLOW_RUNNING); /* none of its jobs ended badly */
    assert_false(fixture_flow(r, 1).settling);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_failure_reaches_all_children_in_steps),
        FIXTURE_TEST(what_failed_because_of_another_is_counted),
        FIXTURE_TEST(failure_with_a_crash_after_every_step),
        FIXTURE_TEST(a_retry_resets_all_children_in_steps),
        FIXTURE_TEST(a_rerun_resets_all_children_in_steps),
        FIXTURE_TEST(a_cancel_ends_all_jobs_in_steps),
        FIXTURE_TEST(cancel_of_running_jobs),
        FIXTURE_TEST(a_resume_readies_all_jobs_in_steps),
        FIXTURE_TEST(others_go_on_meanwhile),
        FIXTURE_TEST(an_end_in_the_middle_of_a_sweep),
        FIXTURE_TEST(two_at_once),
        FIXTURE_TEST(a_step_may_end_inside_the_second_level),
        FIXTURE_TEST(added_below_a_parent_that_is_still_telling),
        FIXTURE_TEST(dispatch_waits_for_a_sweep),
        FIXTURE_TEST(a_flow_without_jobs_can_be_cancelled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
