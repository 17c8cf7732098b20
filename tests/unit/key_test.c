/* key_test.c: idempotency keys: the same request twice is one flow, for as long as the key lives. */
#include "engine_fixture.h"

static void a_repeat_gets_the_first_answer(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_submit_key(r, "k", 1, 0));
    assert_int_equal(r->reply.flow.v, 1);
    assert_false(r->reply.repeated);
    uint64_t lsn = engine_lsn(r->engine);
    for (int i = 0; i < 3; i++) {
        assert_ok(fixture_submit_key(r, "k", 1, 0));
        assert_int_equal(r->reply.flow.v, 1);
        assert_int_equal(r->reply.job_count, 1);
        assert_true(r->reply.repeated);
    }
    assert_int_equal(engine_lsn(r->engine), lsn);
    assert_int_equal(fixture_counts(r).flows, 1);
}

static void another_body_is_a_conflict(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_submit_key(r, "k", 1, 0));
    assert_refused(r, fixture_submit_key(r, "k", 2, 0), ERR_CONFLICT, "different flow");
}

static void keys_belong_to_a_tenant(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_submit_key(r, "k", 1, 0));
    r->tenant = "other";
    assert_ok(fixture_submit_key(r, "k", 2, 0));
    assert_int_equal(r->reply.flow.v, 2);
    r->tenant = "acme";
    assert_ok(fixture_submit_key(r, "k", 1, 0));
    assert_int_equal(r->reply.flow.v, 1);
}

static void a_key_survives_a_crash_and_a_snapshot(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_submit_key(r, "k", 1, 0));
    fixture_crash(r);
    assert_ok(fixture_submit_key(r, "k", 1, 0));
    assert_true(r->reply.repeated);
    /* an engine from a snapshot alone answers the same */
    struct engine *restored = fixture_reload(r);
    engine_free(r->engine);
    r->engine = restored;
    r->epoch++;
    engine_resume(r->engine, r->epoch, SLICE("test"), &r->in);
    engine_finish(r->engine);
    fixture_flush(r);
    assert_ok(fixture_submit_key(r, "k", 1, 0));
    assert_true(r->reply.repeated);
    assert_int_equal(r->reply.flow.v, 1);
    assert_refused(r, fixture_submit_key(r, "k", 2, 0), ERR_CONFLICT, "different flow");
}

static void a_key_outlives_its_flow(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_submit_key(r, "k", 1, 0));
    assert_ok(fixture_cancel(r, ref_of(1, UINT32_MAX)));
    assert_ok(fixture_forget(r, 1));
    assert_ok(fixture_submit_key(r, "k", 1, 0));
    assert_int_equal(r->reply.flow.v, 1);
    assert_true(r->reply.repeated);
}

static void a_key_expires(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_submit_key(r, "k", 1, 5000));
    assert_ok(fixture_submit_key(r, "l", 1, 0)); /* the standard time */
    fixture_tick(r, 4999);
    assert_ok(fixture_submit_key(r, "k", 1, 5000));
    assert_true(r->reply.repeated);
    fixture_tick(r, 1);
    assert_int_equal(fixture_counts(r).keys, 1);
    assert_ok(fixture_submit_key(r, "k", 2, 5000));
    assert_int_equal(r->reply.flow.v, 3);
    fixture_tick(r, r->limits.idempotency_ms);
    assert_int_equal(fixture_counts(r).keys, 0);
}

/* A pass decides commands before it looks at the clock: an expired key must not answer all the same. */
static void a_key_that_expired_in_this_very_pass(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_submit_key(r, "k", 1, 5000));
    r->in.wall.ms += 5000;
    r->in.mono.ms += 5000;
    assert_ok(fixture_submit_key(r, "k", 2, 5000));
    assert_int_equal(r->reply.flow.v, 2);
    assert_false(r->reply.repeated);
    assert_int_equal(fixture_counts(r).keys, 1);
    fixture_check_digests(r);
    r->in.wall.ms += 5000;
    r->in.mono.ms += 5000;
    /* and a refusal after that leaves no record behind */
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    static const uint8_t hash[32] = {1};
    cmd.as.submit.key = SLICE("k");
    cmd.as.submit.key_hash = slice_of(hash, 32);
    engine_begin(r->engine, &r->in);
    uint64_t lsn = engine_lsn(r->engine);
    engine_command(r->engine, &cmd);
    assert_int_equal(engine_lsn(r->engine), lsn);
    engine_finish(r->engine);
    fixture_flush(r);
}

static void keys_are_checked(void **state) {
    struct fixture *r = *state;
    char text[257];
    memset(text, 'k', 256);
    text[256] = 0;
    assert_refused(r, fixture_submit_key(r, text, 1, 0), ERR_LIMIT, "key_bytes_max");
    text[255] = 0;
    assert_ok(fixture_submit_key(r, text, 1, 0)); /* a key may be longer than a name */
    assert_refused(r, fixture_submit_key(r, "a\nb", 1, 0), ERR_INVALID, "control character");
    assert_refused(r, fixture_submit_key(r, "k", 1, -1), ERR_INVALID, "out of range");
    assert_refused(r, fixture_submit_key(r, "k", 1, r->limits.delay_ms_max + 1), ERR_INVALID, "out of range");
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.key = SLICE("k");
    cmd.as.submit.key_hash = SLICE("short");
    assert_refused(r, fixture_command(r, &cmd), ERR_INVALID, "needs a hash");
    r->limits.idempotency_keys_max = 1;
    fixture_crash(r);
    assert_refused(r, fixture_submit_key(r, "k", 1, 0), ERR_BUSY, "idempotency_keys_max");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_repeat_gets_the_first_answer),
        FIXTURE_TEST(another_body_is_a_conflict),
        FIXTURE_TEST(keys_belong_to_a_tenant),
        FIXTURE_TEST(a_key_survives_a_crash_and_a_snapshot),
        FIXTURE_TEST(a_key_outlives_its_flow),
        FIXTURE_TEST(a_key_expires),
        FIXTURE_TEST(a_key_that_expired_in_this_very_pass),
        FIXTURE_TEST(keys_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
