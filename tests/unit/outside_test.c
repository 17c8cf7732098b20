/* outside_test.c: external jobs that have attempts: what begins, asks, and ends them, and that no crash in between
 * changes anything. */
#include "corrupt.h"

#include "external.h"
#include "limit.h"

static const uint8_t hash[32] = {5};

static struct options outside_options(void) {
    struct options o = fixture_options();
    o.kind = JOB_EXTERNAL;
    o.calls = true;
    o.retries = 1;
    o.backoff_base_ms = 10;
    o.backoff_jitter_ms = 0;
    o.approval_ms = 60000;
    o.poll_ms = 1000;
    o.poll_cap_ms = 4000;
    return o;
}

static void begin(struct fixture *r, const struct options *o) {
    const char *jobs[] = {"a", "b: a"};
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_submit(r, o, jobs, 2));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
}

/* The open attempt ends well, and the job is not over. */
static enum err not_yet(struct fixture *r, uint32_t ordinal) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = ref_of(1, ordinal),
                                          .attempt = fixture_job(r, 1, ordinal).attempt,
                                          .outcome = OUTCOME_OK,
                                          .again = true};
    return fixture_command(r, &cmd);
}

static enum err say(struct fixture *r, uint32_t ordinal, uint32_t begun, enum verdict verdict, const char *result) {
    struct cmd_verdict v = {.job = ref_of(1, ordinal),
                            .outside = true,
                            .begun = begun,
                            .verdict = verdict,
                            .reason = verdict == VERDICT_DENY ? SLICE("it broke") : (struct slice){0},
                            .result = slice_str(result)};
    return fixture_send_verdict(r, &v);
}

static void done(struct fixture *r, uint32_t ordinal) {
    assert_ok(fixture_done(r, "w", 1, ref_of(1, ordinal), fixture_job(r, 1, ordinal).attempt, OUTCOME_OK));
}

/* ---- polls ---- */

static void polls_come_slower_and_slower_and_use_up_nothing(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    static const int64_t waits[] = {1000, 1000, 2000, 4000, 4000, 4000};
    for (uint32_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        assert_ok(not_yet(r, 0));
        assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
        assert_int_equal(fixture_why(r, 1, 0).block, BLOCK_OUTSIDE);
        assert_int_equal(fixture_counts(r).by_state[JOB_DISPATCHED], 0); /* it holds no slot */
        fixture_crash(r);
        assert_ok(fixture_attach(r, "w", 1, 4));
        fixture_tick(r, waits[i] - 1);
        assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
        fixture_tick(r, 1);
        assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
        assert_int_equal(fixture_job(r, 1, 0).used, 0);
        assert_int_equal(fixture_job(r, 1, 0).begun, 1);
    }
    done(r, 0);
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_int_equal(fixture_state(r, 1, 1), JOB_DISPATCHED);
}

static void what_goes_wrong_in_a_row_uses_up_retries(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    assert_ok(not_yet(r, 0));
    fixture_tick(r, 1000);
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 2, 1));
    fixture_tick(r, 20);
    assert_int_equal(fixture_job(r, 1, 0).attempt, 3);
    assert_ok(not_yet(r, 0)); /* it is well again */
    fixture_tick(r, 1000);
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 4, 1));
    fixture_tick(r, 20);
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 5, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_EXIT);
}

static void after_a_poll_that_failed_it_waits_for_its_retry_not_for_others(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    assert_ok(not_yet(r, 0));
    fixture_tick(r, 1000);
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 2, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    struct why_job why = fixture_why(r, 1, 0);
    assert_int_equal(why.block, BLOCK_TIME);
    assert_int_equal(why.until.ms, r->in.wall.ms + 20); /* the backoff, not the end of what was begun */
    assert_int_equal(why.poll.ms, TIME_NEVER);
}

static void the_time_of_an_external_step_runs_from_its_beginning(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    o.approval_ms = 2500;
    begin(r, &o);
    fixture_tick(r, 5000); /* beginning it may take as long as it takes */
    assert_ok(not_yet(r, 0));
    fixture_tick(r, 1000);
    assert_ok(not_yet(r, 0));
    fixture_tick(r, 1000);
    assert_ok(not_yet(r, 0)); /* the next poll would come too late */
    fixture_tick(r, 499);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
    fixture_tick(r, 1);
    assert_int_equal(fixture_state(r, 1, 0), JOB_TIMED_OUT);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_DEADLINE);
}

static void an_attempt_is_stopped_when_the_time_is_up(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    o.approval_ms = 1500;
    begin(r, &o);
    assert_ok(not_yet(r, 0));
    fixture_tick(r, 1000);
    fixture_tick(r, 500);
    assert_int_equal(fixture_job(r, 1, 0).stop, STOP_DEADLINE);
    assert_ok(not_yet(r, 0)); /* whatever it says now */
    assert_int_equal(fixture_state(r, 1, 0), JOB_TIMED_OUT);
}

/* ---- words ---- */

static void a_word_ends_it_between_attempts(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    o.poll_ms = o.poll_cap_ms = 0;
    begin(r, &o);
    assert_ok(not_yet(r, 0));
    fixture_tick(r, 59999); /* nobody asks */
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_int_equal(fixture_job(r, 1, 0).attempt, 1);
    assert_int_equal(say(r, 0, 2, VERDICT_ALLOW, "7"), ERR_STALE);
    assert_ok(say(r, 0, 1, VERDICT_ALLOW, "7"));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_true(slice_eq(fixture_job(r, 1, 0).result, SLICE("7")));
    assert_int_equal(say(r, 0, 1, VERDICT_ALLOW, "8"), ERR_STATE);
    /* the other one, when its turn has come */
    assert_ok(not_yet(r, 1));
    assert_ok(say(r, 1, 0, VERDICT_DENY, ""));
    assert_int_equal(fixture_state(r, 1, 1), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 1).cause, CAUSE_VERDICT);
}

static void a_word_waits_for_the_open_attempt(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    assert_ok(say(r, 0, 1, VERDICT_ALLOW, "7")); /* before we heard that it was begun */
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_int_equal(say(r, 0, 1, VERDICT_DENY, ""), ERR_STATE);
    fixture_check_digests(r);
    fixture_crash(r);
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1)); /* whatever became of the attempt */
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
    assert_true(slice_eq(fixture_job(r, 1, 0).result, SLICE("7")));
}

/* The attempt that began it says so after the outside has said that it is over. */
static void a_word_counts_also_when_the_attempt_says_not_yet(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    assert_ok(say(r, 0, 1, VERDICT_DENY, ""));
    assert_ok(not_yet(r, 0));
    assert_int_equal(fixture_state(r, 1, 0), JOB_FAILED);
    assert_int_equal(fixture_job(r, 1, 0).cause, CAUSE_VERDICT);
    assert_int_equal(fixture_job(r, 1, 0).begun, 0);
}

static void a_cancel_comes_before_a_word(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    assert_ok(say(r, 0, 1, VERDICT_ALLOW, "7"));
    assert_ok(fixture_cancel(r, ref_of(1, 0)));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 1, OUTCOME_STOPPED));
    assert_int_equal(fixture_state(r, 1, 0), JOB_CANCELLED);
}

static void a_word_ends_it_while_it_waits_for_a_worker(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    assert_ok(not_yet(r, 0));
    assert_ok(fixture_drain(r, "w", true));
    fixture_tick(r, 1000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_READY);
    assert_ok(say(r, 0, 1, VERDICT_ALLOW, ""));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

static void begun_anew_it_is_another(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    o.poll_ms = o.poll_cap_ms = 0;
    begin(r, &o);
    assert_ok(not_yet(r, 0));
    assert_ok(say(r, 0, 1, VERDICT_DENY, ""));
    assert_ok(fixture_retry(r, ref_of(1, 0)));
    assert_int_equal(fixture_job(r, 1, 0).begun, 0);
    assert_int_equal(say(r, 0, 1, VERDICT_ALLOW, ""), ERR_STALE); /* the second attempt begins it anew */
    assert_ok(not_yet(r, 0));
    assert_int_equal(say(r, 0, 1, VERDICT_ALLOW, ""), ERR_STALE);
    assert_ok(say(r, 0, 2, VERDICT_ALLOW, ""));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

static void an_output_that_came_by_word_is_judged(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    o.gates = GATE_BIT(GATE_OUTPUT);
    begin(r, &o);
    assert_ok(not_yet(r, 0));
    assert_ok(say(r, 0, 1, VERDICT_ALLOW, "7"));
    assert_int_equal(fixture_state(r, 1, 0), JOB_CHECKING);
    assert_refused(r, say(r, 0, 1, VERDICT_DENY, ""), ERR_STATE, "state: checking");
    assert_ok(fixture_verdict(r, ref_of(1, 0), VERDICT_ALLOW, NULL));
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

/* ---- what is refused ---- */

static void what_makes_no_sense_is_refused(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options(), plain = fixture_options();
    const char *jobs[] = {"a"};
    o.poll_ms = 999;
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_LIMIT);
    o = outside_options();
    o.kind = JOB_COMMAND;
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_INVALID);
    o = outside_options();
    o.gates = GATE_BIT(GATE_EXTERNAL);
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_INVALID);
    o = outside_options();
    o.gates = GATE_BIT(GATE_EXPANSION);
    assert_int_equal(fixture_submit(r, &o, jobs, 1), ERR_INVALID);
    plain.poll_ms = 1000;
    assert_int_equal(fixture_submit(r, &plain, jobs, 1), ERR_INVALID);
    plain.poll_ms = 0;
    plain.poll_cap_ms = 1000;
    assert_refused(r, fixture_submit(r, &plain, jobs, 1), ERR_INVALID, "polls are of external jobs");
    plain.poll_cap_ms = 0;
    begin(r, &plain);
    assert_int_equal(not_yet(r, 0), ERR_INVALID);
    assert_int_equal(say(r, 0, 0, VERDICT_ALLOW, ""), ERR_STATE);
}

static void words_that_make_no_sense_are_refused(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    assert_int_equal(say(r, 1, 0, VERDICT_ALLOW, ""), ERR_STATE); /* nothing was begun */
    assert_ok(not_yet(r, 0));
    assert_int_equal(say(r, 0, 0, VERDICT_AGAIN, ""), ERR_INVALID);
    assert_int_equal(say(r, 0, 0, VERDICT_DENY, "7"), ERR_INVALID);
    struct cmd_verdict v = {.job = ref_of(1, 0), .outside = true, .verdict = VERDICT_DENY, .fatal = true};
    assert_int_equal(fixture_send_verdict(r, &v), ERR_INVALID);
    v = (struct cmd_verdict){.job = ref_of(9, 0), .outside = true};
    assert_int_equal(fixture_send_verdict(r, &v), ERR_NOT_FOUND);
    assert_int_equal(fixture_state(r, 1, 0), JOB_WAITING);
}

static void what_has_failed_has_no_result(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    struct cmd_verdict v = {
        .job = ref_of(1, 0), .outside = true, .verdict = VERDICT_DENY, .result_hash = slice_of(hash, sizeof hash)};
    assert_refused(r, fixture_send_verdict(r, &v), ERR_INVALID, "no result");
    v.verdict = VERDICT_ALLOW; /* what was done may have one, by its hash */
    assert_ok(fixture_send_verdict(r, &v));
    done(r, 0);
    assert_true(slice_eq(fixture_job(r, 1, 0).result_hash, v.result_hash));
}

static void a_word_is_no_answer_to_a_question(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    struct cmd_verdict v = {.job = ref_of(1, 0), .outside = true, .verdict = VERDICT_ALLOW};
    v.payload = SLICE("run this instead");
    assert_refused(r, fixture_send_verdict(r, &v), ERR_INVALID, "a result, and no more");
    v.payload.len = 0;
    v.cache_key = slice_of(hash, sizeof hash);
    assert_refused(r, fixture_send_verdict(r, &v), ERR_INVALID, "a result, and no more");
}

static void a_bad_attempt_cannot_say_not_yet(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    begin(r, &o);
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = ref_of(1, 0),
                                          .attempt = 1,
                                          .outcome = OUTCOME_EXIT,
                                          .exit_code = 1,
                                          .again = true};
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "only a good attempt");
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
}

/* ---- a new policy in between ---- */

static enum err allow_by(struct fixture *r, uint64_t policy) {
    struct cmd_verdict v = fixture_answer(r, ref_of(1, 0), VERDICT_ALLOW);
    v.policy = policy;
    return fixture_send_verdict(r, &v);
}

/* Polls need a permission like every attempt, and a word has to wait for it. */
static void a_word_waits_for_a_new_permission(void **state) {
    struct fixture *r = *state;
    struct options o = outside_options();
    o.gates = GATE_BIT(GATE_POLICY);
    const char *jobs[] = {"a"};
    struct command policy = {.kind = CMD_POLICY};
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_submit(r, &o, jobs, 1));
    assert_refused(r, say(r, 0, 0, VERDICT_ALLOW, ""), ERR_STATE, "state: held"); /* nothing was begun */
    assert_ok(allow_by(r, 0));
    assert_ok(not_yet(r, 0));
    policy.as.policy.version = 1;
    assert_ok(fixture_command(r, &policy));
    fixture_tick(r, 1000);
    assert_int_equal(fixture_state(r, 1, 0), JOB_HELD);
    assert_refused(r, say(r, 0, 1, VERDICT_ALLOW, ""), ERR_STATE, "state: held");
    assert_ok(allow_by(r, 1));
    assert_int_equal(fixture_state(r, 1, 0), JOB_DISPATCHED);
    assert_ok(say(r, 0, 1, VERDICT_ALLOW, ""));
    done(r, 0);
    assert_int_equal(fixture_state(r, 1, 0), JOB_SUCCEEDED);
}

/* ---- files that no engine wrote ---- */

#define WORD .gate = GATE_EXTERNAL, .flow = 1

static void words_in_a_journal_are_about_jobs_that_wait_for_one(void **state) {
    struct fixture *r = *state;
    struct options sets[] = {outside_options(), fixture_options()};
    const char *jobs[] = {"a", "b: a", "c@1", "d"};
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 4, false));
    FITTING(r, REC_VERDICT, WORD, .verdict = VERDICT_ALLOW);
    FITTING(r, REC_VERDICT, WORD, .verdict = VERDICT_DENY);
    MISFIT(r, REC_VERDICT, "not there", WORD, .ordinal = 9, .verdict = VERDICT_ALLOW);
    MISFIT(r, REC_VERDICT, "waits for none", WORD, .ordinal = 1, .verdict = VERDICT_ALLOW); /* nothing was begun */
    MISFIT(r, REC_VERDICT, "waits for none", WORD, .ordinal = 2, .verdict = VERDICT_ALLOW); /* it ends by itself */
    MISFIT(r, REC_VERDICT, "neither yes nor no", WORD, .verdict = VERDICT_AGAIN);
    MISFIT(r, REC_VERDICT, "fatal", WORD, .verdict = VERDICT_DENY, .fatal = true);
    assert_ok(say(r, 0, 1, VERDICT_ALLOW, ""));
    MISFIT(r, REC_VERDICT, "waits for none", WORD, .verdict = VERDICT_ALLOW); /* the first word is the last */
    done(r, 0);
    MISFIT(r, REC_VERDICT, "waits for none", WORD, .verdict = VERDICT_ALLOW); /* it is over */
    assert_ok(not_yet(r, 3));
    FITTING(r, REC_VERDICT, WORD, .ordinal = 3, .verdict = VERDICT_ALLOW);
}

static void not_yet_in_a_journal_is_a_good_end_of_an_external_job(void **state) {
    struct fixture *r = *state;
    struct options sets[] = {outside_options(), fixture_options()};
    const char *jobs[] = {"a", "b@1"};
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(fixture_submit_sets(r, sets, 2, jobs, 2, false));
    int64_t later = r->in.wall.ms + 1000;
    FITTING(r, REC_ENDED, .flow = 1, .attempt = 1, .outcome = OUTCOME_OK, .again_ms = later);
    MISFIT(r, REC_ENDED, "a time that cannot be", .flow = 1, .attempt = 1, .outcome = OUTCOME_OK, .again_ms = -1);
    MISFIT(r, REC_ENDED, "an end that is none", .flow = 1, .attempt = 1, .outcome = OUTCOME_EXIT, .again_ms = later);
    MISFIT(r, REC_ENDED, "an end that is none", .flow = 1, .ordinal = 1, .attempt = 1, .outcome = OUTCOME_OK,
           .again_ms = later);
}

static void only_an_external_job_has_attempts_outside(void **state) {
    struct fixture *r = *state;
    struct options set = outside_options();
    set.demand.pool = SLICE("default");
    struct rec_job job = {.name = SLICE("x")};
#define SUBMITTED .flow = 1, .head.tenant = SLICE("acme"), .profiles = {&set, 1}, .jobs = {&job, 1}
    FITTING(r, REC_SUBMITTED, SUBMITTED);
    set.kind = JOB_COMMAND;
    MISFIT(r, REC_SUBMITTED, "options that cannot be", SUBMITTED);
    set.kind = JOB_EXTERNAL;
    set.gates = GATE_BIT(GATE_EXTERNAL); /* it waits behind its attempts, not before */
    MISFIT(r, REC_SUBMITTED, "options that cannot be", SUBMITTED);
#undef SUBMITTED
}

static void what_was_begun_in_a_snapshot_can_be(void **state) {
    struct fixture *r = *state;
    struct options options = outside_options();
    begin(r, &options);
    assert_ok(not_yet(r, 0));
#define BEGUN(word, ...)                                                                                       \
    FORGED(r, OBJ_JOBS, snap_jobs, word, struct snap_outside *x = &((struct snap_job *)o->jobs.at)[0].outside; \
           __VA_ARGS__)
    BEGUN(NULL, x->polls = 7);
    BEGUN("a time of one, that cannot be", x->until_ms = -1);
    BEGUN("that cannot be", x->begun = 2); /* one attempt there was */
#undef BEGUN
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(polls_come_slower_and_slower_and_use_up_nothing),
        FIXTURE_TEST(what_goes_wrong_in_a_row_uses_up_retries),
        FIXTURE_TEST(after_a_poll_that_failed_it_waits_for_its_retry_not_for_others),
        FIXTURE_TEST(the_time_of_an_external_step_runs_from_its_beginning),
        FIXTURE_TEST(an_attempt_is_stopped_when_the_time_is_up),
        FIXTURE_TEST(a_word_ends_it_between_attempts),
        FIXTURE_TEST(a_word_waits_for_the_open_attempt),
        FIXTURE_TEST(a_word_counts_also_when_the_attempt_says_not_yet),
        FIXTURE_TEST(a_cancel_comes_before_a_word),
        FIXTURE_TEST(a_word_ends_it_while_it_waits_for_a_worker),
        FIXTURE_TEST(begun_anew_it_is_another),
        FIXTURE_TEST(an_output_that_came_by_word_is_judged),
        FIXTURE_TEST(what_makes_no_sense_is_refused),
        FIXTURE_TEST(words_that_make_no_sense_are_refused),
        FIXTURE_TEST(what_has_failed_has_no_result),
        FIXTURE_TEST(a_word_is_no_answer_to_a_question),
        FIXTURE_TEST(a_bad_attempt_cannot_say_not_yet),
        FIXTURE_TEST(a_word_waits_for_a_new_permission),
        FIXTURE_TEST(words_in_a_journal_are_about_jobs_that_wait_for_one),
        FIXTURE_TEST(not_yet_in_a_journal_is_a_good_end_of_an_external_job),
        FIXTURE_TEST(only_an_external_job_has_attempts_outside),
        FIXTURE_TEST(what_was_begun_in_a_snapshot_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
