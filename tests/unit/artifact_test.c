/* artifact_test.c: files that attempts leave, as facts: in the state, in snapshots, and with results that are kept. */
#include "engine_fixture.h"

#include "state.h"

static const uint8_t hash[32] = {3};

static uint64_t submit(struct fixture *r, const struct options *o, bool cached) {
    static const uint8_t key[32] = {5}, body_hash[32] = {7};
    struct job_spec spec = {.name = SLICE("a"), .body = SLICE("run"), .body_hash = slice_of(body_hash, 32)};
    if (cached) spec.cache_key = slice_of(key, 32);
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant), .principal = SLICE("tester")};
    cmd.as.submit.jobs = (struct cmd_jobs){o, 1, &spec, 1, false};
    assert_ok(fixture_command(r, &cmd));
    return r->reply.flow.v;
}

static enum err end(struct fixture *r, uint64_t flow, enum outcome outcome, const struct rec_artifact *files,
                    uint32_t count) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                          .incarnation = 1,
                                          .job = ref_of(flow, 0),
                                          .attempt = fixture_job(r, flow, 0).attempt,
                                          .outcome = outcome,
                                          .artifacts = {(void *)(uintptr_t)files, count}};
    return fixture_command(r, &cmd);
}

/* The names of what the job left, one after the other. */
static void assert_left(const struct fixture *r, uint64_t flow, const char *names) {
    struct arena arena;
    char text[256] = "";
    size_t len = 0;
    arena_init(&arena, 4096, 1 << 20);
    struct tlv_list files = view_artifacts(fixture_job(r, flow, 0).artifacts, &arena);
    for (uint32_t i = 0; i < files.count; i++) {
        const struct rec_artifact *f = (const struct rec_artifact *)files.at + i;
        memcpy(text + len, f->name.ptr, f->name.len);
        len += f->name.len;
        text[len++] = ' ';
        assert_int_equal(f->hash.len, 32);
        assert_int_equal(f->bytes, 10 + i);
    }
    assert_string_equal(text, names);
    arena_fini(&arena);
}

static const struct rec_artifact two[] = {{SLICE("x"), {hash, 32}, 10}, {SLICE("y"), {hash, 32}, 11}};

static void a_job_has_what_its_last_attempt_left(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 1;
    o.backoff_base_ms = o.backoff_cap_ms = 1;
    uint64_t flow = submit(r, &o, false);
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(end(r, flow, OUTCOME_EXIT, two, 2));
    assert_left(r, flow, "x y ");
    fixture_check_digests(r);
    fixture_tick(r, 1000);
    assert_int_equal(fixture_state(r, flow, 0), JOB_DISPATCHED);
    assert_ok(end(r, flow, OUTCOME_OK, two, 1));
    assert_left(r, flow, "x ");
    fixture_crash(r);
    assert_left(r, flow, "x ");
    struct fixture from_snapshot = *r;
    from_snapshot.engine = fixture_reload(r);
    assert_left(&from_snapshot, flow, "x ");
    engine_free(from_snapshot.engine);
}

static void count_bytes(void *ctx, const struct memo_view *memo) {
    *(uint64_t *)ctx += memo->artifacts.len;
}

static void a_result_that_is_used_again_comes_with_its_files(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.cache_ms = 60000;
    uint64_t flow = submit(r, &o, true);
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(end(r, flow, OUTCOME_OK, two, 2));
    uint64_t hit = submit(r, &o, true);
    assert_int_equal(fixture_state(r, hit, 0), JOB_SUCCEEDED);
    assert_int_equal(fixture_job(r, hit, 0).from.flow.v, flow);
    assert_left(r, hit, "x y ");
    struct engine *from_snapshot = fixture_reload(r);
    uint64_t bytes = 0;
    view_each_memo(engine_state(from_snapshot), count_bytes, &bytes);
    assert_int_equal(bytes, fixture_job(r, flow, 0).artifacts.len);
    engine_free(from_snapshot);
    fixture_check_digests(r);
}

static void an_output_that_was_redacted_has_no_files(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.gates = GATE_BIT(GATE_OUTPUT);
    uint64_t flow = submit(r, &o, false);
    assert_ok(fixture_attach(r, "w", 1, 4));
    assert_ok(end(r, flow, OUTCOME_OK, two, 2));
    assert_int_equal(fixture_state(r, flow, 0), JOB_CHECKING);
    assert_left(r, flow, "x y ");
    assert_ok(fixture_verdict(r, ref_of(flow, 0), VERDICT_REDACT, "{}"));
    assert_left(r, flow, "");
}

static void what_is_no_artifact_is_refused(void **state) {
    struct fixture *r = *state;
    static struct rec_artifact many[ARTIFACTS_MAX + 1];
    struct options o = fixture_options();
    struct rec_artifact nameless = {.hash = {hash, 32}}, unhashed = {.name = SLICE("x")};
    uint64_t flow = submit(r, &o, false);
    assert_ok(fixture_attach(r, "w", 1, 4));
    for (uint32_t i = 0; i <= ARTIFACTS_MAX; i++) many[i] = two[0];
    assert_refused(r, end(r, flow, OUTCOME_OK, &nameless, 1), ERR_INVALID, "name of an artifact");
    static char long_name[256];
    memset(long_name, 'n', sizeof long_name);
    struct rec_artifact wordy = {.name = slice_of(long_name, sizeof long_name), .hash = {hash, 32}};
    assert_refused(r, end(r, flow, OUTCOME_OK, &wordy, 1), ERR_INVALID, "1 to 255 bytes");
    assert_refused(r, end(r, flow, OUTCOME_OK, &unhashed, 1), ERR_INVALID, "hash of a blob");
    assert_refused(r, end(r, flow, OUTCOME_OK, many, ARTIFACTS_MAX + 1), ERR_LIMIT, "at most 256");
    assert_ok(end(r, flow, OUTCOME_OK, many, ARTIFACTS_MAX));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_job_has_what_its_last_attempt_left),
        FIXTURE_TEST(a_result_that_is_used_again_comes_with_its_files),
        FIXTURE_TEST(an_output_that_was_redacted_has_no_files),
        FIXTURE_TEST(what_is_no_artifact_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
