/* policy_test.c: the policy changes while jobs wait for its word, or have it; and what other systems answer. */
#include "engine_fixture.h"

#include <stdio.h>

static const struct job_ref job = {{1}, 0};

static enum err change_policy(struct fixture *r, uint64_t version) {
    struct command cmd = {.kind = CMD_POLICY};
    cmd.as.policy.version = version;
    return fixture_command(r, &cmd);
}

static enum err answer(struct fixture *r, enum verdict verdict, uint64_t policy) {
    struct cmd_verdict c = fixture_answer(r, job, verdict);
    c.policy = policy;
    if (verdict == VERDICT_CONSTRAIN) c.payload = SLICE("read-only");
    return fixture_send_verdict(r, &c);
}

static struct question_view question(const struct fixture *r) {
    struct question_view q;
    assert_true(view_question(engine_state(r->engine), fixture_job(r, 1, 0).question, &q));
    return q;
}

static void submit(struct fixture *r, uint8_t gates, uint32_t retries) {
    struct options o = fixture_options();
    o.gates = gates;
    o.retries = retries;
    const char *jobs[] = {"a"};
    assert_ok(fixture_submit(r, &o, jobs, 1));
}

static void the_version_rises(void **state) {
    struct fixture *r = *state;
    assert_ok(change_policy(r, 3));
    assert_int_equal(fixture_counts(r).policy, 3);
    uint64_t lsn = engine_lsn(r->engine);
    assert_ok(change_policy(r, 3)); /* told twice */
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_refused(r, change_policy(r, 2), ERR_STALE, "version 3");
    struct command cmd = {.kind = CMD_POLICY, .tenant = SLICE("acme")};
    cmd.as.policy.version = 4;
    assert_refused(r, fixture_command(r, &cmd), ERR_FORBIDDEN, "all tenants");
}

static void open_questions_are_asked_again(void **state) {
    struct fixture *r = *state;
    submit(r, GATE_BIT(GATE_POLICY), 0);
    uint32_t before = r->effects.count;
    assert_ok(change_policy(r, 1));
    fixture_tick(r, 0);
    assert_int_equal(fixture_effects(r, before, EFFECT_QUESTION), 1);
    assert_false(engine_has_work(r->engine));
    assert_refused(r, answer(r, VERDICT_ALLOW, 0), ERR_STALE, "in force is 1");
    assert_refused(r, answer(r, VERDICT_DENY, 0), ERR_STALE, "in force is 1");
    assert_ok(answer(r, VERDICT_ALLOW, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
}

static void a_question_that_sleeps_is_asked_at_its_time(void **state) {
    struct fixture *r = *state;
    submit(r, GATE_BIT(GATE_POLICY), 0);
    struct cmd_verdict later = fixture_answer(r, job, VERDICT_AGAIN);
    later.again_ms = r->in.wall.ms + 5000;
    assert_ok(fixture_send_verdict(r, &later));
    uint32_t before = r->effects.count;
    assert_ok(change_policy(r, 1));
    fixture_tick(r, 0);
    assert_int_equal(fixture_effects(r, before, EFFECT_QUESTION), 0);
    fixture_tick(r, 5000);
    assert_int_equal(fixture_effects(r, before, EFFECT_QUESTION), 1);
}

static void many_questions_are_asked_in_steps(void **state) {
    struct fixture *r = *state;
    static char names[STEP_JOBS_MAX + 10][8];
    static const char *jobs[STEP_JOBS_MAX + 10];
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_POLICY);
    for (uint32_t i = 0; i < STEP_JOBS_MAX + 10; i++) {
        snprintf(names[i], sizeof names[i], "j%u", i);
        jobs[i] = names[i];
    }
    assert_ok(fixture_submit(r, &o, jobs, STEP_JOBS_MAX + 10));
    uint32_t before = r->effects.count;
    assert_ok(change_policy(r, 1));
    assert_true(engine_has_work(r->engine));
    assert_int_equal(fixture_effects(r, before, EFFECT_QUESTION), STEP_JOBS_MAX);
    fixture_tick(r, 0);
    assert_int_equal(fixture_effects(r, before, EFFECT_QUESTION), STEP_JOBS_MAX + 10);
    assert_false(engine_has_work(r->engine));
}

static void a_permission_that_was_not_used_is_revoked(void **state) {
    struct fixture *r = *state;
    submit(r, GATE_BIT(GATE_POLICY), 0);
    assert_ok(change_policy(r, 1));
    assert_ok(answer(r, VERDICT_CONSTRAIN, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY); /* and no worker */
    assert_ok(change_policy(r, 2));
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD); /* when it was its turn */
    assert_int_equal(question(r).gate, GATE_POLICY);
    assert_int_equal(fixture_job(r, 1, 0).constraints.len, 0);
    fixture_check_digests(r);
    assert_ok(answer(r, VERDICT_ALLOW, 2));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_ok(change_policy(r, 3)); /* used: it goes on */
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_ok(fixture_done(r, "w", 1, job, 1, OUTCOME_OK));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

static void a_permission_of_before_all_versions_is_revoked_too(void **state) {
    struct fixture *r = *state;
    submit(r, GATE_BIT(GATE_POLICY), 0);
    assert_ok(answer(r, VERDICT_ALLOW, 7)); /* nobody has told the engine of versions yet */
    assert_ok(change_policy(r, 7));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
}

static void why_says_that_it_will_be_asked_again(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_pause(r, PAUSE_TENANT, 0, "acme", true));
    submit(r, GATE_BIT(GATE_POLICY), 0);
    assert_ok(answer(r, VERDICT_ALLOW, 1));
    assert_ok(change_policy(r, 2));
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_PAUSED);
    assert_ok(fixture_detach(r, "w", 1));
    assert_ok(fixture_pause(r, PAUSE_TENANT, 0, "acme", false));
    assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_POLICY);
}

static void a_retry_is_asked_about_anew(void **state) {
    struct fixture *r = *state;
    submit(r, GATE_BIT(GATE_POLICY), 3);
    assert_ok(change_policy(r, 1));
    assert_ok(answer(r, VERDICT_ALLOW, 1));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", job, 1, 1));
    assert_ok(change_policy(r, 2));
    assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
    fixture_tick(r, 5000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
    assert_ok(answer(r, VERDICT_ALLOW, 2));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_ok(fixture_exit(r, "w", job, 2, 1));
    assert_ok(fixture_heartbeat(r, "w", 1, 1, 0, 0));
    fixture_tick(r, 10000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED); /* the same policy: what it said holds */
}

static void an_approval_goes_with_the_policy_that_asked_for_it(void **state) {
    struct fixture *r = *state;
    submit(r, GATE_BIT(GATE_POLICY), 0);
    assert_ok(change_policy(r, 1));
    assert_ok(answer(r, VERDICT_HOLD, 1));
    assert_int_equal(question(r).gate, GATE_APPROVAL);
    assert_ok(change_policy(r, 2));
    assert_ok(fixture_verdict(r, job, VERDICT_ALLOW, NULL)); /* a person, who speaks for no version */
    assert_int_equal(question(r).gate, GATE_POLICY);
    assert_ok(answer(r, VERDICT_ALLOW, 2)); /* the new rules need no person */
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
}

static void outputs_are_judged_by_the_policy_in_force(void **state) {
    struct fixture *r = *state;
    submit(r, GATE_BIT(GATE_OUTPUT), 0);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_done(r, "w", 1, job, 1, OUTCOME_OK));
    assert_ok(change_policy(r, 5));
    assert_refused(r, answer(r, VERDICT_QUARANTINE, 4), ERR_STALE, "in force is 5");
    assert_ok(answer(r, VERDICT_ALLOW, 5));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

static void a_crash_asks_again(void **state) {
    struct fixture *r = *state;
    submit(r, GATE_BIT(GATE_POLICY), 0);
    assert_ok(change_policy(r, 1));
    fixture_crash(r);
    assert_int_equal(fixture_effects(r, 0, EFFECT_QUESTION), 1); /* of the new process */
    assert_refused(r, answer(r, VERDICT_ALLOW, 0), ERR_STALE, "in force is 1");
    assert_ok(answer(r, VERDICT_ALLOW, 1));
    fixture_crash(r);
    assert_ok(change_policy(r, 2));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
}

/* ---- external ---- */

static void another_system_gives_a_result(void **state) {
    struct fixture *r = *state;
    struct options sets[2] = {fixture_options(), fixture_options()};
    sets[0].kind = JOB_EXTERNAL;
    const char *jobs[] = {"a@0", "b@1: a"};
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 2, false));
    assert_int_equal(question(r).gate, GATE_EXTERNAL);
    struct cmd_verdict poll = fixture_answer(r, job, VERDICT_AGAIN); /* not yet: look again in a second */
    poll.again_ms = r->in.wall.ms + 1000;
    assert_ok(fixture_send_verdict(r, &poll));
    uint32_t before = r->effects.count;
    fixture_tick(r, 1000);
    assert_int_equal(fixture_effects(r, before, EFFECT_QUESTION), 1);
    struct cmd_verdict done = fixture_answer(r, job, VERDICT_DENY);
    done.result = SLICE("{\"build\":7}");
    assert_refused(r, fixture_send_verdict(r, &done), ERR_INVALID, "only an external question");
    done.result = slice_of(NULL, 0);
    static const uint8_t hash[32] = {4};
    done.result_hash = slice_of(hash, 32); /* nor with the name of one */
    assert_refused(r, fixture_send_verdict(r, &done), ERR_INVALID, "only an external question");
    done.verdict = VERDICT_ALLOW;
    done.result = SLICE("{\"build\":7}");
    done.result_hash = slice_of(NULL, 0);
    assert_ok(fixture_send_verdict(r, &done));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_true(slice_eq(fixture_job(r, 1, 0).result, SLICE("{\"build\":7}")));
    assert_int_equal(fixture_state(r, 1, 1), JOB_READY);
}

static void results_have_limits(void **state) {
    struct fixture *r = *state;
    static char large[70000];
    struct options o = fixture_options();
    o.kind = JOB_EXTERNAL;
    const char *jobs[] = {"a"};
    assert_ok(fixture_submit(r, &o, jobs, 1));
    struct cmd_verdict done = fixture_answer(r, job, VERDICT_ALLOW);
    done.result = slice_of(large, sizeof large);
    assert_refused(r, fixture_send_verdict(r, &done), ERR_LIMIT, "result_bytes_max");
    done.result = slice_of(NULL, 0);
    done.result_hash = SLICE("short");
    assert_refused(r, fixture_send_verdict(r, &done), ERR_INVALID, "32 bytes");
    static const uint8_t hash[32] = {4};
    done.result_hash = slice_of(hash, 32); /* a large one, by name */
    assert_ok(fixture_send_verdict(r, &done));
    assert_int_equal(fixture_job(r, 1, 0).result_hash.len, 32);
    o.kind = JOB_COMMAND;
    o.gates = GATE_BIT(GATE_POLICY);
    assert_ok(fixture_submit(r, &o, jobs, 1));
    done = fixture_answer(r, ref_of(2, 0), VERDICT_ALLOW);
    done.result = SLICE("{}");
    assert_refused(r, fixture_send_verdict(r, &done), ERR_INVALID, "only an external question");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(the_version_rises),
        FIXTURE_TEST(open_questions_are_asked_again),
        FIXTURE_TEST(a_question_that_sleeps_is_asked_at_its_time),
        FIXTURE_TEST(many_questions_are_asked_in_steps),
        FIXTURE_TEST(a_permission_that_was_not_used_is_revoked),
        FIXTURE_TEST(a_permission_of_before_all_versions_is_revoked_too),
        FIXTURE_TEST(why_says_that_it_will_be_asked_again),
        FIXTURE_TEST(a_retry_is_asked_about_anew),
        FIXTURE_TEST(an_approval_goes_with_the_policy_that_asked_for_it),
        FIXTURE_TEST(outputs_are_judged_by_the_policy_in_force),
        FIXTURE_TEST(a_crash_asks_again),
        FIXTURE_TEST(another_system_gives_a_result),
        FIXTURE_TEST(results_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
