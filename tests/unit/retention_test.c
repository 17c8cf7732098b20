/* retention_test.c: finished flows leave memory when the history has them, in steps when they are large. */
#include "engine_fixture.h"

#include <stdio.h>

#include "flow.h"
#include "state.h"
#include "view_history.h"

#define LONG_AGO 604800000 /* the standard retention */

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

static struct state_counts counts_of(const struct fixture *r) {
    struct state_counts c;
    view_counts(engine_state(r->engine), engine_live(r->engine), &c);
    return c;
}

static enum err project(struct fixture *r, uint64_t lsn) {
    struct command cmd = {.kind = CMD_PROJECTED, .as.lsn = lsn};
    return fixture_command(r, &cmd);
}

static void project_all(struct fixture *r) {
    assert_int_equal(project(r, engine_lsn(r->engine)), ERR_OK);
}

/* A flow of one job that is over at once. */
static uint64_t finished(struct fixture *r) {
    struct options o;
    options_default(&o);
    o.kind = JOB_BARRIER;
    const char *jobs[] = {"a"};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_OK);
    return r->reply.flow.v;
}

/* A flow of one job that failed. */
static uint64_t failed(struct fixture *r) {
    struct options o;
    options_default(&o);
    o.start_within_ms = 1;
    const char *jobs[] = {"a"};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_OK);
    uint64_t flow = r->reply.flow.v;
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, flow, 0), JOB_FAILED);
    return flow;
}

static bool is_there(const struct fixture *r, uint64_t flow) {
    struct flow_view view;
    return view_flow(engine_state(r->engine), (flow_id){flow}, &view);
}

/* ---- who leaves when ---- */

static void nothing_leaves_without_a_history(void **state) {
    struct fixture *r = *state;
    finished(r);
    fixture_tick(r, 10 * (int64_t)LONG_AGO);
    assert_true(is_there(r, 1));
    assert_int_equal(project(r, engine_lsn(r->engine) + 1), ERR_INVALID); /* it cannot know the future */
    fixture_tick(r, 1);
    assert_true(is_there(r, 1));
}

static void a_flow_leaves_when_its_time_is_over_and_the_history_has_it(void **state) {
    struct fixture *r = *state;
    finished(r);
    uint64_t end = engine_lsn(r->engine);
    fixture_tick(r, 1000);
    finished(r);
    assert_int_equal(project(r, end), ERR_OK);
    assert_int_equal(engine_next_due(r->engine).ms, r->in.wall.ms - 1000 + LONG_AGO);
    fixture_tick(r, LONG_AGO - 1001);
    assert_true(is_there(r, 1));
    fixture_tick(r, 1);
    assert_false(is_there(r, 1));
    fixture_tick(r, LONG_AGO);
    assert_true(is_there(r, 2));                   /* the history is not that far */
    assert_int_equal(project(r, end - 1), ERR_OK); /* and does not go back */
    assert_int_equal(counts_of(r).projected_lsn, end);
    fixture_check_digests(r);
    project_all(r);
    assert_false(is_there(r, 2));
    assert_int_equal(counts_of(r).flows_ended, 0);
    assert_int_equal(engine_next_due(r->engine).ms, TIME_NEVER);
    fixture_check_digests(r);
}

static void when_there_are_many_the_oldest_do_not_wait(void **state) {
    struct fixture *r = *state;
    r->limits.ended_flows_kept = 2;
    fixture_crash(r); /* the limit holds from a start on */
    for (uint32_t i = 0; i < 4; i++) finished(r);
    fixture_tick(r, 1);
    assert_true(is_there(r, 1)); /* the history does not have it */
    project_all(r);
    fixture_tick(r, 1);
    assert_false(is_there(r, 1));
    assert_false(is_there(r, 2));
    assert_true(is_there(r, 3));
    assert_int_equal(engine_next_due(r->engine).ms, r->in.wall.ms - 2 + LONG_AGO);
    fixture_check_digests(r);
}

static void after_a_restart_the_history_must_say_so_again(void **state) {
    struct fixture *r = *state;
    finished(r);
    project_all(r);
    fixture_crash(r);
    fixture_tick(r, LONG_AGO);
    assert_true(is_there(r, 1));
    project_all(r);
    assert_false(is_there(r, 1));
}

static void a_flow_that_runs_again_stays(void **state) {
    struct fixture *r = *state;
    uint64_t flow = failed(r);
    project_all(r);
    struct command rerun = {.kind = CMD_RERUN, .as.flow = {flow}};
    assert_int_equal(fixture_command(r, &rerun), ERR_OK);
    assert_int_equal(counts_of(r).flows_ended, 0);
    fixture_tick(r, 1);
    assert_int_equal(counts_of(r).flows_ended, 1);
    fixture_tick(r, 2 * r->limits.dead_letter_ms);
    assert_true(is_there(r, flow)); /* it ended anew, and the history has not heard of that */
    project_all(r);
    assert_false(is_there(r, flow));
}

static void dead_letters_keep_their_flow(void **state) {
    struct fixture *r = *state;
    uint64_t kept = failed(r), discarded = failed(r);
    project_all(r);
    fixture_tick(r, LONG_AGO);
    assert_true(is_there(r, kept) && is_there(r, discarded));
    struct command cmd = {.kind = CMD_DISCARD, .as.job = {{discarded}, 0}};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    project_all(r);
    fixture_tick(r, LONG_AGO - 1);
    assert_true(is_there(r, discarded)); /* its time counts from the discard */
    fixture_tick(r, 1);
    assert_false(is_there(r, discarded));
    assert_true(is_there(r, kept));
    fixture_check_digests(r);
    fixture_crash(r);
    project_all(r);
    fixture_tick(r, r->limits.dead_letter_ms);
    assert_false(is_there(r, kept));
    assert_int_equal(counts_of(r).dead_letters, 0);
    fixture_check_digests(r);
}

static void a_late_word_counts_as_an_end(void **state) {
    struct fixture *r = *state;
    uint64_t flow = finished(r);
    project_all(r);
    fixture_tick(r, LONG_AGO - 1);
    struct command cmd = {.kind = CMD_VERDICT};
    cmd.as.verdict = (struct cmd_verdict){.job = {{flow}, 0}, .verdict = VERDICT_QUARANTINE};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    fixture_tick(r, LONG_AGO);
    assert_true(is_there(r, flow));
    fixture_check_digests(r);
}

static void a_lagging_history_slows_admission(void **state) {
    struct fixture *r = *state;
    r->limits.ended_flows_max = 3;
    r->limits.retention_ms = 0;
    fixture_crash(r);
    for (int i = 0; i < 3; i++) finished(r);
    struct options o;
    options_default(&o);
    const char *jobs[] = {"a"};
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_BUSY);
    assert_non_null(strstr(r->reply.why.text, "3 finished flows have not left memory (ended_flows_max)"));
    assert_non_null(strstr(r->reply.why.text, "the history is at LSN 0"));
    project_all(r);
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_OK);
}

/* ---- large flows ---- */

#define LARGE 30000u
#define PART 10000u

/* A flow of barriers, over at once. */
static uint64_t large(struct fixture *r) {
    static struct job_spec specs[PART];
    static char names[LARGE][8], body[700]; /* 7 MiB a part */
    struct options o;
    options_default(&o);
    o.kind = JOB_BARRIER;
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    for (uint32_t first = 0; first < LARGE; first += PART) {
        for (uint32_t i = 0; i < PART; i++) {
            int len = snprintf(names[first + i], sizeof names[0], "j%u", first + i);
            specs[i] =
                (struct job_spec){.name = slice_of(names[first + i], (size_t)len), .body = slice_of(body, sizeof body)};
        }
        struct cmd_jobs jobs = {&o, 1, specs, PART, first + PART < LARGE};
        if (first == 0)
            cmd.as.submit.jobs = jobs;
        else
            cmd.as.add = (struct cmd_add){.flow = r->reply.flow, .jobs = jobs};
        assert_int_equal(fixture_command(r, &cmd), ERR_OK);
        cmd = (struct command){.kind = CMD_ADD};
    }
    return r->reply.flow.v;
}

static void forget(struct fixture *r, uint64_t flow) {
    struct command cmd = {.kind = CMD_FORGET, .as.flow = {flow}};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
}

/* One pass, however much is left to do. */
static void pass(struct fixture *r) {
    r->in.wall.ms++;
    engine_begin(r->engine, &r->in);
    engine_finish(r->engine);
    fixture_flush(r);
}

static uint32_t jobs_held(const struct fixture *r) {
    return engine_state(r->engine)->jobs.count;
}

static void a_large_flow_leaves_in_steps_and_out_of_sight(void **state) {
    struct fixture *r = *state;
    uint64_t flow = large(r);
    finished(r);
    assert_int_equal(counts_of(r).jobs, LARGE + 1);
    forget(r, flow);
    assert_true(engine_has_work(r->engine));
    assert_in_range(jobs_held(r), 2, LARGE + 1 - STEP_JOBS_MAX);
    assert_int_equal(counts_of(r).jobs, 1); /* nobody can see the rest */
    assert_int_equal(counts_of(r).flows, 1);
    assert_false(is_there(r, flow));
    flow_id next = {0};
    uint64_t first = view_flow_below(engine_state(r->engine), UINT64_MAX, VIEW_ALL);
    assert_true(first != 0 && first != flow);
    assert_int_equal(view_flow_below(engine_state(r->engine), first, VIEW_ALL), 0);
    for (uint32_t at = 0; (at = view_flow_next(engine_state(r->engine), at, &next)) != 0;) assert_true(next.v != flow);
    assert_true(next.v != 0);
    struct command again = {.kind = CMD_FORGET, .as.flow = {flow}};
    fixture_check_digests(r);
    assert_int_equal(fixture_command(r, &again), ERR_NOT_FOUND);
    fixture_tick(r, 0);
    assert_int_equal(jobs_held(r), 1);
    assert_int_equal(engine_state(r->engine)->flows.count, 1);
    fixture_check_digests(r);
}

static void the_memory_of_a_flow_comes_back_in_steps(void **state) {
    struct fixture *r = *state;
    uint64_t flow = large(r);
    forget(r, flow);
    while (jobs_held(r)) pass(r);
    const struct state *s = engine_state(r->engine);
    uint32_t steps = 0;
    for (; engine_has_work(r->engine); steps++) {
        size_t before = state_bytes(s);
        assert_int_equal(counts_of(r).flows, 0);
        pass(r);
        assert_in_range(before - state_bytes(s), 0, 12 << 20);
        assert_true(steps < 100);
    }
    assert_in_range(steps, 2, 10); /* of 21 MiB */
    assert_int_equal(s->flows.count, 0);
}

/* From the journal cut after each batch, and from a snapshot taken there: the same end. */
static void a_crash_in_the_middle_changes_nothing(void **state) {
    struct fixture *r = *state;
    r->limits.batch_records_max = 1; /* few steps in a batch */
    fixture_crash(r);
    uint64_t flow = large(r);
    forget(r, flow);
    uint32_t before = jobs_held(r), steps = 0;
    assert_true(before > STEP_JOBS_MAX);
    for (; engine_has_work(r->engine); steps++) {
        struct engine *restored = fixture_reload(r);
        assert_digests_equal(r->engine, restored);
        assert_int_equal(engine_state(restored)->jobs.count, jobs_held(r));
        assert_false(view_flow(engine_state(restored), (flow_id){flow}, &(struct flow_view){0}));
        engine_free(restored);
        fixture_crash(r);
        uint32_t held = jobs_held(r);
        pass(r);
        assert_in_range(jobs_held(r), 0, held);
        assert_true(held - jobs_held(r) <= 2 * STEP_JOBS_MAX); /* a batch that is full has two */
        assert_true(steps < 100);
    }
    assert_int_equal(jobs_held(r), 0);
    fixture_check_digests(r);
}

/* A job in another flow still holds an edge to a job of the flow that leaves. */
static void a_parent_may_end_while_its_child_leaves(void **state) {
    struct fixture *r = *state;
    struct options o, gate;
    options_default(&o);
    assert_int_equal(fixture_submit(r, &o, (const char *[]){"parent"}, 1), ERR_OK);
    uint64_t parent = r->reply.flow.v;
    uint64_t flow = large(r);
    options_default(&gate);
    struct parent_ref edge = {.name = SLICE("parent"), .flow = {parent}};
    struct job_spec child = {.name = SLICE("child"), .parents = &edge, .parent_count = 1};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&gate, 1, &child, 1, true};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    uint64_t waits = r->reply.flow.v;
    assert_int_equal(fixture_cancel(r, (struct job_ref){{waits}, UINT32_MAX}), ERR_OK);
    forget(r, flow); /* keeps the sweeps busy: the next one waits its turn */
    forget(r, waits);
    assert_int_equal(fixture_cancel(r, (struct job_ref){{parent}, 0}), ERR_OK);
    fixture_check_digests(r);
    fixture_tick(r, 0);
    assert_int_equal(jobs_held(r), 1);
    fixture_check_digests(r);
}

/* Only the first step: the rest is left for the end of a pass. */
static void begin_to_forget(struct fixture *r, uint64_t flow) {
    struct command cmd = {.kind = CMD_FORGET, .as.flow = {flow}};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    fixture_flush(r);
    assert_false(is_there(r, flow));
    assert_true(jobs_held(r) > 1);
}

/* The edge is still there, the flow of the child is out of sight. */
static void a_parent_ends_before_the_sweep_comes_to_the_edge(void **state) {
    struct fixture *r = *state;
    struct options o[2];
    options_default(&o[0]);
    options_default(&o[1]);
    o[1].kind = JOB_BARRIER;
    assert_int_equal(fixture_submit(r, &o[0], (const char *[]){"parent"}, 1), ERR_OK);
    static struct job_spec specs[5000];
    static char names[5000][8];
    struct parent_ref edge = {.name = SLICE("parent"), .flow = {1}};
    for (uint32_t i = 0; i < 5000; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i] = (struct job_spec){.name = slice_str(names[i]), .profile = i > 0};
    }
    specs[0].parents = &edge;
    specs[0].parent_count = 1;
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 2, specs, 5000, false};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    assert_int_equal(fixture_cancel(r, (struct job_ref){{2}, 0}), ERR_OK);
    begin_to_forget(r, 2);
    assert_int_equal(fixture_cancel(r, (struct job_ref){{1}, 0}), ERR_OK);
    fixture_check_digests(r);
    fixture_tick(r, 0);
    assert_int_equal(jobs_held(r), 1);
}

static void count_flow(void *ctx, flow_id flow) {
    (void)flow;
    ++*(uint32_t *)ctx;
}

static void count_dead(void *ctx, const struct job_view *v) {
    (void)v;
    ++*(uint32_t *)ctx;
}

/* A dead letter and the rest of its flow are in no list while it leaves. */
static void nothing_that_leaves_is_listed(void **state) {
    struct fixture *r = *state;
    struct options o[2];
    options_default(&o[0]);
    options_default(&o[1]);
    o[0].start_within_ms = 1;
    o[1].kind = JOB_BARRIER;
    static struct job_spec specs[5000];
    static char names[5000][8];
    for (uint32_t i = 0; i < 5000; i++) {
        (void)snprintf(names[i], sizeof names[i], "j%u", i);
        specs[i] = (struct job_spec){.name = slice_str(names[i]), .profile = i > 0};
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 2, specs, 5000, false};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    fixture_tick(r, 1);
    failed(r);
    assert_int_equal(counts_of(r).dead_letters, 2);
    begin_to_forget(r, 1);
    uint32_t flows = 0, dead = 0;
    view_each_flow(engine_state(r->engine), count_flow, &flows);
    view_each_dead_letter(engine_state(r->engine), count_dead, &dead);
    assert_int_equal(flows, 1);
    assert_int_equal(dead, 1);
    assert_int_equal(counts_of(r).dead_letters, 1);
}

static void many_leave_in_turns(void **state) {
    struct fixture *r = *state;
    for (int i = 0; i < 1100; i++) finished(r);
    r->in.wall.ms += LONG_AGO + 1;
    r->in.mono.ms += LONG_AGO + 1;
    struct command cmd = {.kind = CMD_PROJECTED, .as.lsn = engine_lsn(r->engine)};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cmd);
    engine_finish(r->engine);
    fixture_flush(r);
    assert_int_equal(counts_of(r).flows, 1100 - 1024);
    fixture_tick(r, 0);
    assert_int_equal(counts_of(r).flows, 0);
}

/* A late word about a job of a flow that had failed already: the time of the last word is restored, too. */
static void a_late_word_about_a_failed_flow_is_restored(void **state) {
    struct fixture *r = *state;
    struct options o[2];
    options_default(&o[0]);
    options_default(&o[1]);
    o[0].kind = JOB_BARRIER;
    o[1].start_within_ms = 1;
    assert_int_equal(fixture_submit_sets(r, o, 2, (const char *[]){"good", "bad@1"}, 2, false), ERR_OK);
    fixture_tick(r, 1);
    int64_t ended = fixture_flow(r, 1).finished.ms;
    fixture_tick(r, 5000);
    struct command cmd = {.kind = CMD_VERDICT};
    cmd.as.verdict = (struct cmd_verdict){.job = {{1}, 0}, .verdict = VERDICT_QUARANTINE};
    assert_int_equal(fixture_command(r, &cmd), ERR_OK);
    assert_int_equal(fixture_flow(r, 1).finished.ms, ended);
    struct engine *restored = fixture_reload(r);
    assert_int_equal(flow_at(engine_state(restored), 1)->settled.ms, ended + 5000);
    engine_free(restored);
}

/* Every part of a large flow comes back in pieces, whichever is the large one. */
static void each_part_is_given_back_in_pieces(void **state) {
    (void)state;
    struct flow f = {.graph = &flow_graph_none};
    arena_init(&f.arena, 256, 1 << 20);
    struct flow_graph *web = flow_graph_own(&f);
    vec_reserve(&web->edges, 1000);
    u32vec_reserve(&f.jobs, 1000);
    lean_reserve(&web->names, 1000, NULL, NULL);
    size_t before = flow_bytes(&f);
    uint32_t steps = 0;
    while (!flow_release_some(&f, 1024)) {
        assert_in_range(before - flow_bytes(&f), 1, 3 * 1024);
        before = flow_bytes(&f);
        assert_true(++steps < 100);
    }
    assert_true(steps > 8);
    assert_in_range(before, 1, 3 * 1024); /* so much was left for the last step */
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(nothing_leaves_without_a_history),
        TEST(a_flow_leaves_when_its_time_is_over_and_the_history_has_it),
        TEST(when_there_are_many_the_oldest_do_not_wait),
        TEST(after_a_restart_the_history_must_say_so_again),
        TEST(a_flow_that_runs_again_stays),
        TEST(dead_letters_keep_their_flow),
        TEST(a_late_word_counts_as_an_end),
        TEST(a_lagging_history_slows_admission),
        TEST(a_large_flow_leaves_in_steps_and_out_of_sight),
        TEST(the_memory_of_a_flow_comes_back_in_steps),
        TEST(a_crash_in_the_middle_changes_nothing),
        TEST(a_parent_may_end_while_its_child_leaves),
        TEST(a_parent_ends_before_the_sweep_comes_to_the_edge),
        TEST(nothing_that_leaves_is_listed),
        TEST(many_leave_in_turns),
        TEST(a_late_word_about_a_failed_flow_is_restored),
        cmocka_unit_test(each_part_is_given_back_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
