/* orion_defects_test.c: recovery defects found in another scheduler, each turned into a test of ours. Here are those of
 * the engine (1, 5, 6, 7, 10 of the list); those of its log are in tests/crash, its data race in tests/stress. */
#include "engine_fixture.h"

/* 1. A crash between the last failure of a root and the records of its cascade left dependents pending for ever. Here
 * the cascade is part of the failure: a journal cut after any record has both or neither. */
static void a_cascade_cannot_be_cut_off(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 1;
    const char *jobs[] = {"root", "b: root", "c: root", "d: b c"};
    assert_ok(fixture_submit(r, &o, jobs, 4));
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    fixture_tick(r, 2500);
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 2, 1));
    for (uint32_t cut = 1; cut <= r->batches.count; cut++) {
        struct engine *e = engine_new(0, &r->limits);
        struct why why;
        for (uint32_t i = 0; i < cut; i++) {
            struct batch b = *(const struct batch *)vec_at(&r->batches, i);
            b.records.ptr = r->journal.at + (uintptr_t)b.records.ptr;
            assert_int_equal(engine_replay(e, &b, &why), ERR_OK);
        }
        struct flow_view flow;
        struct job_view job;
        if (view_flow(engine_state(e), (flow_id){1}, &flow)) {
            bool failed = view_job(engine_state(e), ref_of(1, 0), &job) && job.state == JOB_FAILED;
            assert_int_equal(flow.by_state[JOB_FAILED], failed ? 4 : 0);
            assert_int_equal(flow.state, failed ? FLOW_FAILED : FLOW_RUNNING);
        }
        engine_free(e);
    }
    fixture_crash(r);
    assert_int_equal(fixture_flow(r, 1).by_state[JOB_FAILED], 4);
}

/* 5. Keys, the list of flows and the counter of flows were lost on restart: the same key was accepted again. */
static void keys_and_numbers_survive_a_restart(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_submit_key(r, "order-17", 1, 0));
    assert_ok(fixture_submit_key(r, "order-18", 1, 0));
    for (int i = 0; i < 3; i++) {
        fixture_crash(r);
        assert_ok(fixture_submit_key(r, "order-17", 1, 0));
        assert_int_equal(r->reply.flow.v, 1);
        assert_true(r->reply.repeated);
    }
    assert_ok(fixture_submit_key(r, "order-19", 1, 0));
    assert_int_equal(r->reply.flow.v, 3);
    assert_int_equal(fixture_counts(r).flows, 3);
}

/* 6. The same key sent several times at once: one was accepted, the others got an error, and all were logged. */
static void the_same_key_at_once_is_one_flow(void **state) {
    struct fixture *r = *state;
    static const uint8_t hash[32] = {1};
    struct options o = fixture_options();
    struct job_spec spec = {.name = SLICE("a")};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.key = SLICE("order-17");
    cmd.as.submit.key_hash = slice_of(hash, 32);
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &spec, 1, false};
    r->hold = true; /* all of them before the first is durable */
    engine_begin(r->engine, &r->in);
    uint64_t lsn = engine_lsn(r->engine);
    for (uint64_t token = 1; token <= 4; token++) {
        cmd.token = token;
        engine_command(r->engine, &cmd);
    }
    assert_int_equal(engine_lsn(r->engine), lsn + 1); /* one record */
    engine_finish(r->engine);
    struct batch b;
    assert_true(engine_batch(r->engine, &b));
    struct effect effect;
    assert_false(engine_effect(r->engine, &effect)); /* nobody is told before it is durable, repeats neither */
    engine_durable(r->engine, b.last_lsn);
    uint32_t answers = 0;
    while (engine_effect(r->engine, &effect)) {
        if (effect.kind != EFFECT_ANSWER) continue;
        answers++;
        assert_int_equal(effect.as.answer.reply->err, ERR_OK);
        assert_int_equal(effect.as.answer.reply->flow.v, 1);
        assert_int_equal(effect.as.answer.reply->job_count, 1);
    }
    assert_int_equal(answers, 4);
    assert_int_equal(fixture_counts(r).flows, 1);
}

/* 7. Behind back-pressure the answer got lost while the job was accepted. Here the refusal comes at once, and what was
 * refused has left nothing. */
static void back_pressure_is_an_answer(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    r->limits.jobs_max = 3;
    fixture_crash(r);
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b", "c"}, 3));
    struct digest before = engine_digest(r->engine);
    assert_refused(r, fixture_submit(r, &o, (const char *[]){"d"}, 1), ERR_BUSY, "jobs_max");
    assert_int_equal(r->answered, r->token); /* answered in the very pass it came in */
    assert_true(err_is_retryable(ERR_BUSY));
    r->in.journal_free_bytes = 100;
    assert_refused(r, fixture_submit(r, &o, (const char *[]){"d"}, 1), ERR_BUSY, "jobs_max");
    struct digest after = engine_digest(r->engine);
    assert_int_equal(before.lo, after.lo);
    assert_int_equal(before.hi, after.hi);
    /* work that was accepted is finished all the same, on a full disk too */
    assert_ok(fixture_attach(r, "w", 1, 3));
    fixture_run_all(r, "w", 1);
    assert_int_equal(fixture_flow(r, 1).state, FLOW_SUCCEEDED);
}

/* 10. Start and end times, attempts and workers were not durable. */
static void times_attempts_and_workers_are_durable(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    assert_ok(fixture_submit(r, &o, (const char *[]){"a", "b: a"}, 2));
    int64_t created = r->in.wall.ms;
    fixture_tick(r, 100);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_exit(r, "w", ref_of(1, 0), 1, 1));
    int64_t due = fixture_job(r, 1, 0).due.ms;
    fixture_tick(r, 2500);
    assert_ok(fixture_started(r, "w", 1, ref_of(1, 0), 2));
    int64_t started = r->in.wall.ms;
    fixture_crash(r);
    struct job_view job = fixture_job(r, 1, 0);
    assert_int_equal(job.since.ms, started);
    assert_int_equal(job.due.ms, due);
    assert_int_equal(job.attempt, 2);
    assert_int_equal(job.used, 1);
    assert_int_equal(job.worker, 1);
    fixture_tick(r, 50);
    assert_ok(fixture_attach(r, "w", 1, 1));
    assert_ok(fixture_done(r, "w", 1, ref_of(1, 0), 2, OUTCOME_OK));
    fixture_run_all(r, "w", 1);
    int64_t finished = r->in.wall.ms;
    fixture_tick(r, 1000);
    fixture_crash(r);
    assert_int_equal(fixture_flow(r, 1).created.ms, created);
    assert_int_equal(fixture_flow(r, 1).finished.ms, finished);
    assert_int_equal(fixture_job(r, 1, 0).since.ms, finished);
    assert_int_equal(fixture_job(r, 1, 1).attempt, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_cascade_cannot_be_cut_off),
        FIXTURE_TEST(keys_and_numbers_survive_a_restart),
        FIXTURE_TEST(the_same_key_at_once_is_one_flow),
        FIXTURE_TEST(back_pressure_is_an_answer),
        FIXTURE_TEST(times_attempts_and_workers_are_durable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
