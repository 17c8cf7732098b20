/* foreach_test.c: foreach jobs where two things happen to them at once: called off twice, quarantined late, several
 * of them busy in one flow, and what is refused. expand_test.c has the way through. */
#include <stdio.h>
#include <stdlib.h>

#include "engine_fixture.h"

#include "expand.h"
#include "state.h"

#define MANY 20000u

static const uint8_t items[32] = {3};

/* Sets: 0 plain, 1 a foreach job; no retries. */
static void init_sets(struct options sets[2]) {
    for (uint32_t i = 0; i < 2; i++) {
        sets[i] = fixture_options();
        sets[i].retries = 0;
    }
    sets[1].gates = GATE_BIT(GATE_EXPANSION);
}

static enum err expand(struct fixture *r, uint32_t ordinal, uint32_t count) {
    struct cmd_verdict c = fixture_answer(r, ref_of(1, ordinal), VERDICT_ALLOW);
    c.item_count = count;
    if (count) c.items = slice_of(items, 32);
    return fixture_send_verdict(r, &c);
}

/* Flow 1: "map" over `count` items with these options, "b" beside it; a worker. */
static void submit(struct fixture *r, const struct options *each, uint32_t count, uint32_t slots) {
    struct options sets[2];
    init_sets(sets);
    sets[1] = *each;
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"map@1", "b"}, 2, true));
    if (slots) assert_ok(fixture_attach(r, "w", 1, slots));
    assert_ok(expand(r, 0, count));
}

static struct options each_options(void) {
    struct options sets[2];
    init_sets(sets);
    return sets[1];
}

static uint32_t child(uint32_t item) {
    return FIRST_CHILD_ORDINAL + item;
}

static struct job_view look(const struct fixture *r, uint32_t item) {
    struct job_view view;
    assert_true(view_job(engine_state(r->engine), ref_of(1, child(item)), &view));
    return view;
}

static enum err ends(struct fixture *r, uint32_t item, enum outcome outcome) {
    return fixture_done(r, "w", 1, ref_of(1, child(item)), look(r, item).attempt, outcome);
}

static enum err ends_with_result(struct fixture *r, uint32_t item) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = ref_of(1, child(item)),
                                          .attempt = look(r, item).attempt,
                                          .result = SLICE("{}")};
    return fixture_command(r, &cmd);
}

static enum err quarantine(struct fixture *r, uint32_t item) {
    struct command cmd = {.kind = CMD_VERDICT};
    cmd.as.verdict = (struct cmd_verdict){.job = ref_of(1, child(item)), .verdict = VERDICT_QUARANTINE};
    return fixture_command(r, &cmd);
}

/* ---- reasons to call off ---- */

static void a_request_outweighs_other_reasons(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.fail_fast = true;
    submit(r, &each, 3, 4);
    assert_ok(ends(r, 0, OUTCOME_EXIT)); /* hopeless: the others are stopped */
    assert_refused(r, fixture_retry(r, ref_of(1, child(0))), ERR_STATE, "being called off");
    assert_ok(ends(r, 1, OUTCOME_EXIT)); /* badly, too: it has been called off already */
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(fixture_cancel(r, ref_of(1, 0))); /* asked before */
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_ok(ends(r, 2, OUTCOME_STOPPED));
    assert_int_equal(look(r, 2).cause, CAUSE_REQUEST);
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
    assert_refused(r, fixture_retry(r, ref_of(1, child(0))), ERR_STATE, "start that one again");
}

static void an_unwinding_outweighs_all_reasons(void **state) {
    struct fixture *r = *state;
    uint32_t fatal = 9;
    struct options sets[2];
    init_sets(sets);
    sets[0].fatal_exits = (struct tlv_u32s){&fatal, 1};
    sets[1].max_parallel = 2;
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"map@1", "b", "done~0"}, 3, true));
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 2), 1, OUTCOME_OK));
    assert_ok(expand(r, 0, 4));
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_ok(ends(r, 0, OUTCOME_STOPPED));
    assert_int_equal(look(r, 0).cause, CAUSE_REQUEST);
    assert_ok(fixture_exit(r, "w", ref_of(1, 1), 1, 9));
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_STOPPING);
    assert_ok(fixture_cancel(r, ref_of(1, 0))); /* takes nothing away from it */
    fixture_check_digests(r);
    assert_ok(ends(r, 1, OUTCOME_STOPPED));
    assert_int_equal(look(r, 1).cause, CAUSE_SAGA);
    assert_int_equal(look(r, 3).cause, CAUSE_SAGA);
    assert_int_equal(fixture_flow(r, 1).unwinding, UNWIND_COMPENSATING);
}

static void one_child_can_be_stopped(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    submit(r, &each, 2, 4);
    assert_ok(fixture_cancel(r, ref_of(1, child(0))));
    assert_ok(ends(r, 0, OUTCOME_STOPPED));
    assert_int_equal(look(r, 0).state, JOB_CANCELLED);
    assert_int_equal(look(r, 0).cause, CAUSE_REQUEST);
    assert_ok(ends(r, 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
}

/* A child whose output is being looked at is called off like one that waits. */
static void called_off_while_its_output_is_judged(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.gates |= GATE_BIT(GATE_OUTPUT);
    r->limits.questions_max = 3;
    fixture_crash(r);
    struct options sets[2];
    init_sets(sets);
    sets[1] = each;
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"map@1", "b"}, 2, true));
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_refused(r, expand(r, 0, 3), ERR_BUSY, "questions_max");
    assert_ok(expand(r, 0, 2));
    assert_ok(ends(r, 0, OUTCOME_OK));
    assert_int_equal(look(r, 0).state, JOB_CHECKING);
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_int_equal(look(r, 0).state, JOB_CANCELLED);
    assert_int_equal(fixture_counts(r).questions, 0);
    assert_ok(ends(r, 1, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
}

/* ---- late words ---- */

static void a_good_child_is_quarantined_later(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.fail_fast = true;
    submit(r, &each, 3, 4);
    assert_ok(ends_with_result(r, 0));
    assert_ok(ends_with_result(r, 1));
    assert_ok(quarantine(r, 1)); /* it counts as a bad end: the last one is called off */
    assert_int_equal(look(r, 1).state, JOB_QUARANTINED);
    assert_int_equal(look(r, 2).stop, STOP_CANCEL);
    fixture_check_digests(r);
    assert_ok(ends(r, 2, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_ok(quarantine(r, 0)); /* long after its foreach job is over */
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_counts(r).dead_letters, 2);
    fixture_run_all(r, "w", 1);
    assert_ok(fixture_add(r, 1, &(struct options){.quorum = 1}, NULL, 0, false));
    assert_ok(fixture_forget(r, 1)); /* with what they left */
    assert_int_equal(fixture_counts(r).jobs, 0);
    assert_int_equal(engine_state(r->engine)->extras.count, 0);
}

/* ---- children that begin again ---- */

/* One at a time: of seven children the first, third and fifth failed and are wanted again, in any order. */
static void those_that_begin_again_keep_their_order(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.max_parallel = 1;
    submit(r, &each, 7, 4);
    for (uint32_t i = 0; i < 6; i++) assert_ok(i % 2 ? ends(r, i, OUTCOME_OK) : ends(r, i, OUTCOME_EXIT));
    assert_int_equal(look(r, 6).state, JOB_DISPATCHED);
    assert_ok(fixture_retry(r, ref_of(1, child(2))));
    assert_ok(fixture_retry(r, ref_of(1, child(4)))); /* behind it */
    assert_ok(fixture_retry(r, ref_of(1, child(0)))); /* before it */
    fixture_check_digests(r);
    assert_ok(fixture_cancel(r, ref_of(1, child(4)))); /* no longer wanted */
    assert_int_equal(look(r, 4).state, JOB_CANCELLED);
    assert_ok(ends(r, 6, OUTCOME_EXIT));
    assert_int_equal(look(r, 0).state, JOB_DISPATCHED);
    assert_ok(ends(r, 0, OUTCOME_OK));
    assert_int_equal(look(r, 2).state, JOB_DISPATCHED);
    assert_ok(fixture_retry(r, ref_of(1, child(6))));
    assert_ok(ends(r, 2, OUTCOME_EXIT)); /* looked at and over: the next is sought behind it */
    assert_int_equal(look(r, 6).state, JOB_DISPATCHED);
}

/* One that has ended badly stands between those that wait to begin again. */
static void one_that_does_not_wait_is_passed_over(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.max_parallel = 1;
    submit(r, &each, 4, 4);
    for (uint32_t i = 0; i < 3; i++) assert_ok(ends(r, i, OUTCOME_EXIT));
    assert_ok(fixture_retry(r, ref_of(1, child(0))));
    assert_ok(fixture_retry(r, ref_of(1, child(2))));
    assert_ok(ends(r, 3, OUTCOME_OK));
    assert_ok(ends(r, 0, OUTCOME_OK));
    assert_int_equal(look(r, 2).state, JOB_DISPATCHED);
    assert_int_equal(look(r, 1).state, JOB_FAILED);
}

/* ---- pauses ---- */

static void a_flow_is_resumed_with_children_in_every_state(void **state) {
    struct fixture *r = *state;
    struct options sets[2];
    init_sets(sets);
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"map@1", "other@1"}, 2, true));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(expand(r, 1, 1));
    assert_ok(ends(r, 0, OUTCOME_OK)); /* nothing is left of the children of the other */
    assert_ok(expand(r, 0, 3));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, false)); /* one runs through both */
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    assert_ok(ends(r, 1, OUTCOME_OK));
    fixture_tick(r, 10); /* the round meets the others and sets them aside */
    assert_ok(fixture_detach(r, "w", 1));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, false));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true)); /* nobody to meet them: they stay in their queue */
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, false));
    fixture_check_digests(r);
    assert_ok(fixture_attach(r, "w", 1, 1));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

/* The resume of a large flow is under way when a child fails and the rest is called off. */
static void called_off_in_the_middle_of_a_resume(void **state) {
    struct fixture *r = *state;
    struct options sets[3];
    init_sets(sets);
    sets[1].fail_fast = true;
    sets[2] = sets[0];
    sets[2].demand.pool = SLICE("nowhere");
    char(*names)[12] = calloc(5001, sizeof *names);
    const char **jobs = calloc(5001, sizeof *jobs);
    for (uint32_t i = 0; i < 5001; i++) {
        (void)snprintf(names[i], sizeof names[i], i < 5000 ? "j%u@2" : "map@1", i);
        jobs[i] = names[i];
    }
    assert_ok(fixture_submit_sets(r, sets, 3, jobs, 5001, true));
    free(names);
    free(jobs);
    assert_ok(fixture_attach(r, "w", 1, 2));
    assert_ok(expand(r, 5000, 3));
    assert_ok(fixture_pause(r, PAUSE_FLOW, 1, NULL, true));
    struct command resume = {.kind = CMD_PAUSE}, done = {.kind = CMD_DONE};
    resume.as.pause = (struct cmd_pause){.scope = PAUSE_FLOW, .flow = {1}};
    done.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                           .incarnation = 1,
                                           .job = ref_of(1, child(0)),
                                           .attempt = 1,
                                           .outcome = OUTCOME_EXIT,
                                           .exit_code = 1};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &resume);
    engine_command(r->engine, &done);
    fixture_flush(r);
    fixture_check_digests(r);
    fixture_tick(r, 0);
    assert_int_equal(look(r, 2).state, JOB_CANCELLED);
    assert_ok(ends(r, 1, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 5000), JOB_FAILED);
}

/* Nothing is left of the children of a foreach job that starts again. */
static void a_foreach_job_starts_again_with_nothing_to_do(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    submit(r, &each, 2, 4);
    for (uint32_t i = 0; i < 2; i++) assert_ok(ends(r, i, OUTCOME_OK));
    struct command cmd = {.kind = CMD_VERDICT};
    cmd.as.verdict = (struct cmd_verdict){.job = ref_of(1, 0), .verdict = VERDICT_QUARANTINE};
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(fixture_state(r, 1, 0), JOB_QUARANTINED);
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED); /* its children did well */
}

/* Its parent is quarantined while children run: it has begun, and goes on. */
static void a_late_word_about_a_parent(void **state) {
    struct fixture *r = *state;
    for (uint64_t flow = 1; flow <= 2; flow++) {
        struct options sets[2];
        init_sets(sets);
        assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"a", "map@1: a"}, 2, false));
        if (flow == 1) assert_ok(fixture_attach(r, "w", 1, 8));
        assert_ok(fixture_done(r, "w", 1, ref_of(flow, 0), 1, OUTCOME_OK));
        struct cmd_verdict c = fixture_answer(r, ref_of(flow, 1), VERDICT_ALLOW);
        c.item_count = 1;
        c.items = slice_of(items, 32);
        assert_ok(fixture_send_verdict(r, &c));
        if (flow == 2) assert_ok(fixture_cancel(r, ref_of(flow, 1))); /* on its way out */
        struct command cmd = {.kind = CMD_VERDICT};
        cmd.as.verdict = (struct cmd_verdict){.job = ref_of(flow, 0), .verdict = VERDICT_QUARANTINE};
        assert_ok(fixture_command(r, &cmd));
        assert_int_equal(fixture_state(r, flow, 1), JOB_WAITING);
        assert_ok(fixture_done(r, "w", 1, ref_of(flow, child(0)), 1, flow == 1 ? OUTCOME_OK : OUTCOME_STOPPED));
        assert_int_equal(fixture_state(r, flow, 1), flow == 1 ? JOB_SUCCEEDED : JOB_CANCELLED);
    }
}

/* ---- tried again in vain ---- */

/* Flow 1: "a", which succeeds, and "map" behind it over `count` items with these options. */
static void submit_behind(struct fixture *r, const struct options *each, uint32_t count) {
    struct options sets[2];
    init_sets(sets);
    sets[1] = *each;
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"a", "map@1: a"}, 2, false));
    assert_ok(fixture_attach(r, "w", 1, 8));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_OK));
    assert_ok(expand(r, 1, count));
    while (fixture_flow(r, 1).settling) fixture_tick(r, 0);
}

/* From now on the foreach job cannot begin again. */
static void quarantine_parent(struct fixture *r) {
    struct command cmd = {.kind = CMD_VERDICT};
    cmd.as.verdict = (struct cmd_verdict){.job = ref_of(1, 0), .verdict = VERDICT_QUARANTINE};
    assert_ok(fixture_command(r, &cmd));
}

static void assert_called_off(const struct fixture *r, uint32_t item) {
    assert_int_equal(look(r, item).state, JOB_CANCELLED);
    assert_int_equal(look(r, item).cause, CAUSE_UPSTREAM);
    assert_int_equal(look(r, item).root, 1);
    assert_int_equal(look(r, item).used, 0);
}

/* Its children come back with it, and are called off with it, in one record. */
static void a_foreach_job_ends_as_soon_as_it_is_reset(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.deadline_ms = r->in.wall.ms + 1000;
    submit_behind(r, &each, 3);
    assert_ok(ends(r, 0, OUTCOME_EXIT));
    assert_ok(ends(r, 1, OUTCOME_OK));
    fixture_tick(r, 1000);
    assert_ok(ends(r, 2, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 1), JOB_TIMED_OUT);
    assert_int_equal(look(r, 0).used, 1);
    quarantine_parent(r);
    assert_ok(fixture_retry(r, ref_of(1, 1)));
    assert_int_equal(fixture_state(r, 1, 1), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 1).cause, CAUSE_UPSTREAM);
    assert_called_off(r, 0);
    assert_int_equal(look(r, 1).state, JOB_SUCCEEDED);
    assert_called_off(r, 2);
    assert_int_equal(fixture_counts(r).dead_letters, 1); /* the one that was quarantined */
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
}

/* The same by a retry of one child: what was called off because of it comes back, too. */
static void a_child_is_retried_and_its_foreach_job_ends(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.fail_fast = true;
    each.retries = 1;
    each.retry_on = RETRY_LOST;
    submit_behind(r, &each, 2);
    assert_ok(ends(r, 0, OUTCOME_REFUSED)); /* never began, so it is tried again */
    assert_ok(ends(r, 1, OUTCOME_EXIT));
    assert_int_equal(fixture_job(r, 1, 1).cause, CAUSE_CHILDREN);
    assert_int_equal(look(r, 0).state, JOB_CANCELLED); /* while it waited to be tried again */
    assert_int_equal(look(r, 0).used, 1);
    quarantine_parent(r);
    assert_ok(fixture_retry(r, ref_of(1, child(1))));
    assert_int_equal(fixture_job(r, 1, 1).cause, CAUSE_UPSTREAM);
    assert_called_off(r, 0);
    assert_called_off(r, 1);
}

/* In several steps: between two of them the foreach job is over, and some of its children have yet to come back. */
static void many_children_come_back_in_vain(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.deadline_ms = r->in.wall.ms + 1000;
    each.max_parallel = MANY;
    r->limits.foreach_parallel_max = MANY;
    fixture_crash(r);
    submit_behind(r, &each, MANY);
    for (uint32_t i = 0; i < 8; i++) assert_ok(ends(r, i, OUTCOME_EXIT));
    fixture_tick(r, 1000);
    while (fixture_flow(r, 1).settling) fixture_tick(r, 0);
    for (uint32_t i = 8; i < 16; i++) assert_ok(ends(r, i, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 1), JOB_TIMED_OUT);
    quarantine_parent(r);
    assert_ok(fixture_retry(r, ref_of(1, 1)));
    assert_int_equal(fixture_state(r, 1, 1), JOB_FAILED);
    assert_true(fixture_flow(r, 1).settling);
    while (fixture_flow(r, 1).settling) {
        fixture_check_digests(r);
        fixture_tick(r, 0);
    }
    for (uint32_t i = 0; i < MANY; i += MANY / 8 - 1) assert_called_off(r, i);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
}

/* ---- many ---- */

static void nothing_begins_while_children_are_called_off(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.max_parallel = MANY * 2;
    r->limits.foreach_parallel_max = MANY * 2;
    fixture_crash(r);
    submit(r, &each, MANY * 2, 4);
    assert_int_equal(look(r, 0).state, JOB_DISPATCHED); /* while others have yet to begin */
    fixture_tick(r, 0);
    assert_false(fixture_flow(r, 1).settling);
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_true(fixture_flow(r, 1).settling);
    assert_ok(fixture_attach(r, "v", 1, 4)); /* only ready children of the flow are there to give */
    assert_int_equal(engine_state(r->engine)->runs.count, 4);
    for (int i = 0; i < 5; i++) fixture_tick(r, 0);
    assert_int_equal(engine_state(r->engine)->runs.count, 4);
    assert_int_equal(look(r, MANY).state, JOB_CANCELLED);
}

/* Three foreach jobs of a flow. The first is called off, the last begins, both in many steps; then the one between them
 * gets something to do, and its place is between them. */
static void several_are_busy_at_once(void **state) {
    struct fixture *r = *state;
    r->limits.foreach_parallel_max = MANY * 2;
    fixture_crash(r);
    struct options sets[3];
    init_sets(sets);
    sets[1].max_parallel = MANY * 2;
    sets[2] = sets[1];
    sets[2].max_parallel = 1;
    sets[2].priority = 2;
    assert_ok(fixture_submit_sets(r, sets, 3, (const char *[]){"left@1", "between@2", "right@1"}, 3, false));
    const uint32_t next = MANY * 2; /* the first child of the second */
    assert_ok(expand(r, 0, MANY * 2));
    for (int i = 0; i < 3; i++) fixture_tick(r, 0);
    assert_ok(expand(r, 1, 3));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_int_equal(look(r, next).state, JOB_DISPATCHED); /* by its priority */
    struct command answer = {.kind = CMD_VERDICT}, done = {.kind = CMD_DONE}, cancel = {.kind = CMD_CANCEL};
    answer.as.verdict = fixture_answer(r, ref_of(1, 2), VERDICT_ALLOW);
    answer.as.verdict.item_count = MANY;
    answer.as.verdict.items = slice_of(items, 32);
    done.as.attempt =
        (struct cmd_attempt){.worker = SLICE("w"), .incarnation = 1, .job = ref_of(1, child(next)), .attempt = 1};
    cancel.as.cancel = (struct cmd_cancel){.flow = {1}};
    engine_begin(r->engine, &r->in);
    engine_command(r->engine, &cancel);
    engine_command(r->engine, &answer);
    engine_command(r->engine, &done);
    fixture_flush(r);
    fixture_check_digests(r);
    for (int i = 0; engine_has_work(r->engine); i++) {
        assert_true(i < 100);
        engine_begin(r->engine, &r->in);
        engine_finish(r->engine);
        fixture_flush(r);
        if (i > 0) continue;
        fixture_check_digests(r);                               /* a copy that was restored goes on in the same order */
        assert_int_equal(look(r, next + 1).state, JOB_WAITING); /* it is not its turn */
    }
    fixture_check_digests(r);
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
    assert_int_equal(look(r, next + 1).state, JOB_DISPATCHED);
    struct expansion_view x;
    assert_true(view_expansion(engine_state(r->engine), ref_of(1, 2), &x));
    assert_int_equal(x.under_way, MANY);
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    for (int i = 0; i < 6; i++) fixture_tick(r, 0);
    assert_ok(ends(r, next + 1, OUTCOME_STOPPED));
    assert_ok(fixture_forget(r, 1));
    for (int i = 0; i < 8; i++) fixture_tick(r, 0);
    assert_int_equal(fixture_counts(r).jobs, 0);
}

/* ---- limits, names, words ---- */

static void children_need_room(void **state) {
    struct fixture *r = *state;
    r->limits.jobs_max = 4;
    fixture_crash(r);
    struct options sets[2];
    init_sets(sets);
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"map@1", "b"}, 2, true));
    assert_refused(r, expand(r, 0, 3), ERR_BUSY, "jobs_max");
    struct cmd_verdict c = fixture_answer(r, ref_of(1, 0), VERDICT_DENY);
    c.item_count = 1;
    assert_refused(r, fixture_send_verdict(r, &c), ERR_INVALID, "items answer an expansion only");
    c.item_count = 0;
    c.items = slice_of(items, 32);
    assert_refused(r, fixture_send_verdict(r, &c), ERR_INVALID, "items answer an expansion only");
    assert_ok(expand(r, 0, 2));
}

static void a_rerun_needs_room_for_children(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.max_parallel = 2;
    submit(r, &each, 6, 4);
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 1), 1, OUTCOME_OK));
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    for (uint32_t i = 0; i < 2; i++) assert_ok(ends(r, i, OUTCOME_STOPPED));
    assert_ok(fixture_add(r, 1, &(struct options){.quorum = 1}, NULL, 0, false));
    assert_int_equal(fixture_flow(r, 1).state, FLOW_CANCELLED);
    struct command cmd = {.kind = CMD_LIMIT};
    cmd.as.limit = (struct cmd_limit){.tenant = SLICE("acme"), .kind = LIMIT_TENANT, .queued = 6};
    assert_ok(fixture_command(r, &cmd));
    assert_int_equal(fixture_rerun(r, 1), ERR_LIMIT); /* the job, two that were stopped and four that never began */
    cmd.as.limit.queued = 7;
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_rerun(r, 1));
    assert_int_equal(look(r, 0).state, JOB_DISPATCHED);
    fixture_run_all(r, "w", 1);
    struct command late = {.kind = CMD_VERDICT};
    late.as.verdict = (struct cmd_verdict){.job = ref_of(1, 1), .verdict = VERDICT_QUARANTINE};
    assert_ok(fixture_command(r, &late));
    cmd.as.limit.queued = 1;
    assert_ok(fixture_command(r, &cmd));
    assert_ok(fixture_rerun(r, 1)); /* children that did well take no room */
}

static void only_jobs_that_run_on_a_worker_have_children(void **state) {
    struct fixture *r = *state;
    static const uint8_t hash[32] = {1};
    const uint8_t kinds[] = {JOB_GATE, JOB_BARRIER, JOB_EXTERNAL, JOB_SERVICE};
    for (uint32_t i = 0; i < 4; i++) {
        struct options each = each_options();
        each.kind = kinds[i];
        struct job_spec spec = {.name = SLICE("map"), .body_hash = slice_of(hash, 32)};
        if (kinds[i] == JOB_SERVICE) spec.service = SLICE("web");
        struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
        cmd.as.submit.jobs = (struct cmd_jobs){&each, 1, &spec, 1, false};
        assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "run on a worker");
    }
}

static void children_without_a_struct_answer_in_words(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.max_parallel = 1;
    submit(r, &each, 3, 4);
    assert_ok(ends(r, 0, OUTCOME_OK));
    assert_refused(r, fixture_retry(r, ref_of(1, child(0))), ERR_STATE, "left nothing behind");
    assert_refused(r, fixture_retry(r, ref_of(1, child(2))), ERR_STATE, "has not begun");
    assert_refused(r, fixture_retry(r, ref_of(1, child(3))), ERR_NOT_FOUND, "no job number");
    assert_refused(r, fixture_retry(r, ref_of(1, 77)), ERR_NOT_FOUND, "no job number");
    assert_int_equal(fixture_done(r, "w", 1, ref_of(1, child(2)), 1, OUTCOME_OK), ERR_STALE); /* of one not begun */
    assert_ok(fixture_done(r, "w", 1, ref_of(1, child(0)), 1, OUTCOME_OK));
    assert_true(r->reply.repeated);
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_ok(ends(r, 1, OUTCOME_STOPPED));
    assert_refused(r, fixture_retry(r, ref_of(1, child(2))), ERR_STATE, "never began");
    struct expansion_view x;
    assert_true(view_expansion(engine_state(r->engine), ref_of(1, 0), &x));
    assert_false(view_expansion(engine_state(r->engine), ref_of(1, 1), &x));
    assert_false(view_expansion(engine_state(r->engine), ref_of(1, 77), &x));
    assert_false(view_expansion(engine_state(r->engine), ref_of(1, child(1)), &x));
}

/* Its items are known, and a person has yet to say yes. */
static void children_wait_for_the_questions_of_their_job(void **state) {
    struct fixture *r = *state;
    struct options each = each_options();
    each.gates |= GATE_BIT(GATE_APPROVAL);
    submit(r, &each, 2, 4);
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
    assert_int_equal(fixture_why(r, 1, child(0)).block, BLOCK_PARENTS);
    assert_int_equal(fixture_why(r, 1, child(0)).parent.ordinal, 0);
    fixture_check_digests(r);
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_ALLOW, NULL));
    assert_int_equal(look(r, 0).state, JOB_DISPATCHED);
}

static void names_that_look_like_those_of_children(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    struct job_view view;
    const struct {
        const char *name;
        bool refused;
    } names[] = {{"x[7]", true}, {"[7]", true},   {"x[]", false},  {"7777]", false}, {"x-7]", false},
                 {"x]", false},  {"x(7]", false}, {"xx7]", false}, {"]", false}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *jobs[] = {names[i].name};
        assert_int_equal(fixture_submit(r, &o, jobs, 1), names[i].refused ? ERR_INVALID : ERR_OK);
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(view_job_by_name(engine_state(r->engine), (flow_id){1}, slice_str(names[i].name), &view),
                         strcmp(names[i].name, "x[]") == 0);
    assert_false(view_job_by_name(engine_state(r->engine), (flow_id){1}, SLICE("[77]"), &view));
}

/* ---- snapshots ---- */

static enum err fail_later(void *ctx, struct slice piece, struct why *why) {
    uint32_t *left = ctx;
    (void)piece;
    return (*left)-- > 0 ? ERR_OK : why_set(why, ERR_IO, "the disk is gone");
}

/* Two flows with foreach jobs, a hole and one without; a writer that fails at each object. */
static void a_failing_writer_ends_it(void **state) {
    struct fixture *r = *state;
    struct options sets[2];
    init_sets(sets);
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"map@1", "also@1"}, 2, false));
    assert_ok(expand(r, 0, 3));
    assert_ok(expand(r, 1, 3));
    assert_ok(fixture_submit(r, &sets[0], (const char *[]){"gone"}, 1));
    assert_ok(fixture_submit_sets(r, sets, 2, (const char *[]){"map@1"}, 1, false));
    struct cmd_verdict c = fixture_answer(r, ref_of(3, 0), VERDICT_ALLOW);
    c.item_count = 2;
    c.items = slice_of(items, 32);
    assert_ok(fixture_send_verdict(r, &c));
    assert_ok(fixture_submit(r, &sets[0], (const char *[]){"plain"}, 1));
    assert_ok(fixture_cancel(r, ref_of(2, UINT32_MAX)));
    assert_ok(fixture_forget(r, 2));
    struct why why;
    for (uint32_t good = 0;; good++) {
        uint32_t left = good;
        assert_true(good < 100);
        if (engine_snapshot(r->engine, fail_later, &left, &why) == ERR_OK) return;
        assert_int_equal(left, UINT32_MAX); /* nothing is written after the failure */
    }
}

/* What children leave is written in several objects. */
static void large_results_of_children(void **state) {
    struct fixture *r = *state;
    static char result[60000];
    memset(result, 'r', sizeof result);
    struct options each = each_options();
    submit(r, &each, 40, 41);
    for (uint32_t i = 0; i < 40; i++) {
        struct command cmd = {.kind = CMD_DONE};
        cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                              .incarnation = 1,
                                              .job = ref_of(1, child(i)),
                                              .attempt = 1,
                                              .result = slice_of(result, i < 36 ? sizeof result : 0)};
        assert_ok(fixture_command(r, &cmd));
    }
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    fixture_check_digests(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_request_outweighs_other_reasons),
        FIXTURE_TEST(an_unwinding_outweighs_all_reasons),
        FIXTURE_TEST(one_child_can_be_stopped),
        FIXTURE_TEST(called_off_while_its_output_is_judged),
        FIXTURE_TEST(a_good_child_is_quarantined_later),
        FIXTURE_TEST(those_that_begin_again_keep_their_order),
        FIXTURE_TEST(one_that_does_not_wait_is_passed_over),
        FIXTURE_TEST(a_flow_is_resumed_with_children_in_every_state),
        FIXTURE_TEST(called_off_in_the_middle_of_a_resume),
        FIXTURE_TEST(a_foreach_job_starts_again_with_nothing_to_do),
        FIXTURE_TEST(a_late_word_about_a_parent),
        FIXTURE_TEST(a_foreach_job_ends_as_soon_as_it_is_reset),
        FIXTURE_TEST(a_child_is_retried_and_its_foreach_job_ends),
        FIXTURE_TEST(many_children_come_back_in_vain),
        FIXTURE_TEST(nothing_begins_while_children_are_called_off),
        FIXTURE_TEST(several_are_busy_at_once),
        FIXTURE_TEST(children_need_room),
        FIXTURE_TEST(a_rerun_needs_room_for_children),
        FIXTURE_TEST(only_jobs_that_run_on_a_worker_have_children),
        FIXTURE_TEST(children_without_a_struct_answer_in_words),
        FIXTURE_TEST(children_wait_for_the_questions_of_their_job),
        FIXTURE_TEST(names_that_look_like_those_of_children),
        FIXTURE_TEST(a_failing_writer_ends_it),
        FIXTURE_TEST(large_results_of_children),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
