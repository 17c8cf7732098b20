/* note_test.c: what is remembered of attempts: all of it by people's questions, the same after every kind of restart.
 * */
#include "corrupt.h"
#include "engine_fixture.h"

#include <stdio.h>

#include "state.h"
#include "view_history.h"

static struct arena arena;

static uint32_t attempts_of(const struct engine *e, uint64_t flow, struct attempt_view **ret) {
    arena_reset(&arena);
    return view_attempts(engine_state(e), ref_of(flow, 0), &arena, ret);
}

static uint64_t one_job(struct fixture *r, uint32_t retries) {
    struct options o = fixture_options();
    o.retries = retries;
    o.backoff_base_ms = 1;
    o.backoff_cap_ms = 1;
    o.backoff_jitter_ms = 0;
    assert_ok(fixture_submit(r, &o, (const char *const[]){"a"}, 1));
    return r->reply.flow.v;
}

/* Ends the job, and says how long ago that was. */
static void done_ago(struct fixture *r, uint64_t flow, uint32_t attempt, enum outcome outcome, uint64_t ago_ms) {
    struct command done = {.kind = CMD_DONE};
    done.as.attempt = (struct cmd_attempt){.worker = SLICE("w1"),
                                           .incarnation = 1,
                                           .job = ref_of(flow, 0),
                                           .attempt = attempt,
                                           .outcome = outcome,
                                           .exit_code = outcome == OUTCOME_OK ? 0 : 7,
                                           .ended_ago_ms = ago_ms};
    assert_ok(fixture_command(r, &done));
}

/* `ago_ms` as the worker says, `taken_ms` as it counts: between the start and now, live and after every restart. */
static void assert_ended_ago(struct fixture *r, uint64_t ago_ms, int64_t taken_ms, bool starts) {
    struct attempt_view *a;
    uint64_t flow = one_job(r, 0), before = view_tally(engine_state(r->engine))[TALLY_RUN];
    fixture_tick(r, 10);
    if (starts) assert_ok(fixture_started(r, "w1", 1, ref_of(flow, 0), 1));
    fixture_tick(r, 5000);
    assert_ok(fixture_heartbeat(r, "w1", 1, 1, 0, 0));
    done_ago(r, flow, 1, OUTCOME_OK, ago_ms);
    int64_t now = r->in.wall.ms, since = now - 5000 - (starts ? 0 : 10);
    struct engine *engines[] = {r->engine, fixture_replay(r), fixture_reload(r)};
    for (size_t i = 0; i < 3; i++) {
        struct job_view job;
        assert_int_equal(attempts_of(engines[i], flow, &a), 1);
        assert_int_equal(a[0].ended.ms, now - taken_ms);
        assert_true(view_job(engine_state(engines[i]), ref_of(flow, 0), &job));
        assert_int_equal(job.since.ms, now - taken_ms);
        assert_int_equal(view_tally(engine_state(engines[i]))[TALLY_RUN] - before, now - taken_ms - since);
    }
    engine_free(engines[1]);
    engine_free(engines[2]);
    assert_int_equal(fixture_flow(r, flow).finished.ms, now); /* nobody knew it before */
}

static void an_end_is_when_the_worker_says_within_its_attempt(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w1", 1, 1));
    assert_ended_ago(r, 0, 0, true);
    assert_ended_ago(r, 3000, 3000, true);
    assert_ended_ago(r, 5000, 5000, true);
    assert_ended_ago(r, 5001, 5000, true);
    assert_ended_ago(r, UINT64_MAX, 5000, true);
    assert_ended_ago(r, UINT64_MAX, 5010, false); /* the word that it started was lost */
}

/* A retry waits its backoff from the moment that the server hears of the failure. */
static void what_follows_from_a_late_end_counts_from_now(void **state) {
    struct fixture *r = *state;
    struct options o = fixture_options();
    o.retries = 1;
    o.backoff_base_ms = o.backoff_cap_ms = 1000;
    o.backoff_jitter_ms = 0;
    assert_ok(fixture_attach(r, "w1", 1, 1));
    assert_ok(fixture_submit(r, &o, (const char *const[]){"a"}, 1));
    uint64_t flow = r->reply.flow.v;
    assert_ok(fixture_started(r, "w1", 1, ref_of(flow, 0), 1));
    fixture_tick(r, 5000);
    done_ago(r, flow, 1, OUTCOME_EXIT, 4000);
    struct job_view job = fixture_job(r, flow, 0);
    assert_int_equal(job.state, JOB_WAITING);
    assert_int_equal(job.since.ms, r->in.wall.ms);
    assert_int_equal(job.due.ms, r->in.wall.ms + 1000);
}

static void an_attempt_is_remembered_with_its_times_and_its_end(void **state) {
    struct fixture *r = *state;
    struct attempt_view *a;
    assert_ok(fixture_attach(r, "w1", 1, 1));
    uint64_t flow = one_job(r, 3);
    int64_t assigned = r->in.wall.ms;
    assert_int_equal(attempts_of(r->engine, flow, &a), 1);
    assert_true(a[0].is_open);
    assert_true(slice_eq(a[0].worker, SLICE("w1")));
    fixture_tick(r, 10);
    assert_ok(fixture_started(r, "w1", 1, ref_of(flow, 0), 1));
    int64_t started = r->in.wall.ms;
    fixture_tick(r, 20);
    struct command done = {.kind = CMD_DONE};
    done.as.attempt = (struct cmd_attempt){.worker = SLICE("w1"),
                                           .incarnation = 1,
                                           .job = ref_of(flow, 0),
                                           .attempt = 1,
                                           .outcome = OUTCOME_EXIT,
                                           .exit_code = 7,
                                           .signal = 0,
                                           .log_bytes = 99,
                                           .usage = {1500, 64 << 20, 20, HIT_MEMORY, 2, SLICE("cpu: not kept")},
                                           .reason = SLICE("no such table")};
    assert_ok(fixture_command(r, &done));
    int64_t ended = r->in.wall.ms;
    struct engine *engines[] = {r->engine, fixture_replay(r), fixture_reload(r)};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(attempts_of(engines[i], flow, &a), 1);
        assert_false(a[0].is_open);
        assert_int_equal(a[0].attempt, 1);
        assert_int_equal(a[0].outcome, OUTCOME_EXIT);
        assert_int_equal(a[0].exit_code, 7);
        assert_int_equal(a[0].assigned.ms, assigned);
        assert_int_equal(a[0].started.ms, started);
        assert_int_equal(a[0].ended.ms, ended);
        assert_int_equal(a[0].log_bytes, 99);
        assert_true(slice_eq(a[0].worker, SLICE("w1")));
        assert_true(slice_eq(a[0].reason, SLICE("no such table")));
        assert_int_equal(a[0].usage.cpu_ms, 1500);
        assert_int_equal(a[0].usage.memory_bytes_max, 64 << 20);
        assert_int_equal(a[0].usage.throttled_ms, 20);
        assert_int_equal(a[0].usage.hit, HIT_MEMORY);
        assert_int_equal(a[0].usage.hit_count, 2);
        assert_true(slice_eq(a[0].usage.unkept, SLICE("cpu: not kept")));
    }
    engine_free(engines[1]);
    engine_free(engines[2]);
    fixture_tick(r, 5);
    assert_int_equal(attempts_of(r->engine, flow, &a), 2); /* the next one is under way */
    assert_true(a[1].is_open && a[1].attempt == 2);
}

static void an_attempt_that_hit_no_limit_of_ours_is_refused(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w1", 1, 1));
    uint64_t flow = one_job(r, 0);
    struct command done = {.kind = CMD_DONE};
    done.as.attempt = (struct cmd_attempt){.worker = SLICE("w1"),
                                           .incarnation = 1,
                                           .job = ref_of(flow, 0),
                                           .attempt = 1,
                                           .outcome = OUTCOME_EXIT,
                                           .usage.hit = HIT_COUNT};
    assert_refused(r, fixture_command(r, &done), ERR_INVALID, "no such limit");
    done.as.attempt.usage.hit = HIT_COUNT - 1;
    assert_ok(fixture_command(r, &done));
    assert_int_equal(fixture_state(r, flow, 0), JOB_FAILED);
}

static void of_many_attempts_the_last_are_remembered(void **state) {
    struct fixture *r = *state;
    struct attempt_view *a;
    assert_ok(fixture_attach(r, "w1", 1, 1));
    uint64_t flow = one_job(r, 39);
    for (uint32_t i = 1; i <= 40; i++) {
        assert_ok(fixture_exit(r, "w1", ref_of(flow, 0), i, i));
        fixture_check_digests(r);
        fixture_tick(r, 10);
    }
    assert_int_equal(fixture_state(r, flow, 0), JOB_FAILED);
    assert_int_equal(attempts_of(r->engine, flow, &a), 16);
    for (uint32_t i = 0; i < 16; i++) assert_int_equal(a[i].exit_code, 25 + i);
}

static void what_a_worker_said_is_cut_between_two_characters(void **state) {
    struct fixture *r = *state;
    struct attempt_view *a;
    char text[400];
    memset(text, 'x', sizeof text);
    memcpy(text + 255, "\xc3\xa9", 2); /* é over the edge */
    assert_ok(fixture_attach(r, "w1", 1, 1));
    uint64_t flow = one_job(r, 0);
    struct command done = {.kind = CMD_DONE};
    done.as.attempt = (struct cmd_attempt){.worker = SLICE("w1"),
                                           .incarnation = 1,
                                           .job = ref_of(flow, 0),
                                           .attempt = 1,
                                           .outcome = OUTCOME_EXIT,
                                           .exit_code = 1,
                                           .reason = slice_of(text, sizeof text)};
    assert_ok(fixture_command(r, &done));
    assert_int_equal(attempts_of(r->engine, flow, &a), 1);
    assert_int_equal(a[0].reason.len, 255);
}

static void attempts_go_with_their_flow(void **state) {
    struct fixture *r = *state;
    assert_ok(fixture_attach(r, "w1", 1, 1));
    uint64_t flow = one_job(r, 0);
    fixture_run_all(r, "w1", 1);
    assert_int_equal(engine_state(r->engine)->notes.count, 1);
    assert_ok(fixture_forget(r, flow));
    assert_int_equal(engine_state(r->engine)->notes.count, 0);
}

static void note_ended(void *ctx, flow_id flow, uint64_t lsn) {
    struct vec *v = ctx;
    assert_true(v->count == 0 || lsn >= ((uint64_t *)vec_at(v, v->count - 1))[1]);
    uint64_t *pair = vec_push(v);
    pair[0] = flow.v;
    pair[1] = lsn;
}

static void flows_that_ended_since_a_record_come_in_its_order(void **state) {
    struct fixture *r = *state;
    struct vec v;
    vec_init(&v, 16);
    assert_ok(fixture_attach(r, "w1", 1, 1));
    uint64_t good = one_job(r, 0);
    fixture_run_all(r, "w1", 1);
    uint64_t lsn = engine_lsn(r->engine), last = 0;
    uint64_t bad = one_job(r, 0);
    assert_ok(fixture_exit(r, "w1", ref_of(bad, 0), 1, 1));
    uint64_t better = one_job(r, 0);
    fixture_run_all(r, "w1", 1);
    view_each_ended(engine_state(r->engine), 0, note_ended, &v);
    assert_int_equal(v.count, 3);
    assert_int_equal(*(uint64_t *)vec_at(&v, 1), bad);
    v.count = 0;
    view_each_ended(engine_state(r->engine), lsn, note_ended, &v);
    assert_int_equal(v.count, 2);
    assert_true(view_ended(engine_state(r->engine), (flow_id){good}, &last) && last <= lsn);
    assert_ok(fixture_discard(r, ref_of(bad, 0))); /* changed once more: it is the last now */
    v.count = 0;
    view_each_ended(engine_state(r->engine), lsn, note_ended, &v);
    assert_int_equal(*(uint64_t *)vec_at(&v, 1), bad);
    assert_int_equal(*(uint64_t *)vec_at(&v, 0), better);
    uint64_t worst = one_job(r, 0);
    assert_ok(fixture_exit(r, "w1", ref_of(worst, 0), 1, 1));
    v.count = 0;
    view_each_ended(engine_state(r->engine), lsn, note_ended, &v);
    assert_int_equal(v.count, 3);
    assert_int_equal(*(uint64_t *)vec_at(&v, 2), worst);
    vec_fini(&v);
}

#define NOTED(word, ...)                                                    \
    FORGED(r, OBJ_JOBS, snap_jobs, word, struct snap_job *job = o->jobs.at; \
           struct snap_attempt *list = job->attempts.at; (void)list; __VA_ARGS__)

static void notes_that_cannot_be_are_refused(void **state) {
    struct fixture *r = *state;
    struct snap_attempt many[17] = {{0}};
    assert_ok(fixture_attach(r, "w1", 1, 1));
    uint64_t flow = one_job(r, 3);
    assert_ok(fixture_exit(r, "w1", ref_of(flow, 0), 1, 1));
    fixture_tick(r, 10);
    assert_ok(fixture_exit(r, "w1", ref_of(flow, 0), 2, 1));
    NOTED(NULL, (void)0);
    NOTED("attempts that cannot be", job->attempts = ((struct tlv_list){many, 17}));
    NOTED("attempts that cannot be", list[1].attempt = 1);
    NOTED("attempts that cannot be", list[0].attempt = 3);
    NOTED("attempts that cannot be", (list[0].attempt = 2, list[1].attempt = 1));
    FORGED(r, OBJ_FLOW, snap_flow, "attempts that cannot be", o->rules = 1); /* of a time without them */
    NOTED("attempts that cannot be", list[1].attempt = 3);
    NOTED("attempts that cannot be", job->worker = 9);
    NOTED(NULL, job->attempts.count = 1); /* of the last one nothing is known but where it ran */
    NOTED(NULL, (job->attempts.count = 1, job->worker = 0));
}

static void what_is_not_there_has_nothing_to_tell(void **state) {
    struct fixture *r = *state;
    struct attempt_view *a;
    const struct label *labels;
    uint64_t lsn;
    uint64_t flow = one_job(r, 0);
    const struct state *s = engine_state(r->engine);
    assert_int_equal(attempts_of(r->engine, flow + 1, &a), 0);
    assert_int_equal(view_labels(s, (flow_id){flow + 1}, &arena, &labels), 0);
    assert_int_equal(view_labels(s, (flow_id){flow}, &arena, &labels), 0);
    assert_false(view_ended(s, (flow_id){flow + 1}, &lsn));
    assert_false(view_ended(s, (flow_id){flow}, &lsn));
}

static void flows_are_found_downwards_by_number_and_state(void **state) {
    struct fixture *r = *state;
    uint64_t all[24];
    uint32_t count = 0;
    assert_ok(fixture_attach(r, "w1", 1, 1));
    for (uint32_t i = 0; i < 20; i++) {
        one_job(r, 0);
        fixture_run_all(r, "w1", 1);
    }
    for (uint64_t flow = 1; flow <= 20; flow += 2) assert_ok(fixture_forget(r, flow));
    for (uint32_t i = 0; i < 3; i++) one_job(r, 0); /* in the places of others: not in order any more */
    const struct state *s = engine_state(r->engine);
    flow_id walked;
    for (uint32_t at = view_flow_next(s, 0, &walked); at != 0; at = view_flow_next(s, at, &walked)) count++;
    assert_int_equal(count, 13);
    uint64_t at = UINT64_MAX;
    for (count = 0; (at = view_flow_below(s, at, VIEW_ALL)) != 0; count++) all[count] = at;
    assert_int_equal(count, 13);
    for (uint32_t i = 0; i < 13; i++) assert_int_equal(all[i], i < 3 ? 23 - i : 20 - 2 * (i - 3));
    assert_int_equal(view_flow_below(s, 4, VIEW_ALL), 2);
    assert_int_equal(view_flow_below(s, 2, VIEW_ALL), 0);
    /* by state: three have not run */
    assert_int_equal(view_flow_below(s, UINT64_MAX, VIEW_SHELF(FLOW_RUNNING)), 23);
    assert_int_equal(view_flow_below(s, 21, VIEW_SHELF(FLOW_RUNNING)), 0);
    assert_int_equal(view_flow_below(s, UINT64_MAX, VIEW_SHELF(FLOW_SUCCEEDED) | VIEW_SHELF(FLOW_FAILED)), 20);
    assert_int_equal(view_flow_below(s, UINT64_MAX, VIEW_SHELF(FLOW_CANCELLED) | VIEW_KEPT), 0);
    assert_ok(fixture_cancel(r, (struct job_ref){{22}, UINT32_MAX}));
    assert_int_equal(view_flow_below(s, UINT64_MAX, VIEW_SHELF(FLOW_CANCELLED)), 22);
    assert_int_equal(view_flow_below(s, 23, VIEW_SHELF(FLOW_RUNNING)), 21);
    uint64_t lsn = 0;
    assert_true(view_ended(s, (flow_id){20}, &lsn));
    assert_int_equal(view_ended_after(s, lsn - 1, all, 24), 2); /* the last that ran, and the cancelled one */
    assert_int_equal(view_ended_after(s, lsn - 1, all, 1), 2);
    assert_int_equal(view_ended_after(s, 0, all, 24), 11);
}

int main(void) {
    arena_init(&arena, 4096, 1 << 20);
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(an_attempt_is_remembered_with_its_times_and_its_end),
        FIXTURE_TEST(an_end_is_when_the_worker_says_within_its_attempt),
        FIXTURE_TEST(what_follows_from_a_late_end_counts_from_now),
        FIXTURE_TEST(an_attempt_that_hit_no_limit_of_ours_is_refused),
        FIXTURE_TEST(of_many_attempts_the_last_are_remembered),
        FIXTURE_TEST(what_a_worker_said_is_cut_between_two_characters),
        FIXTURE_TEST(attempts_go_with_their_flow),
        FIXTURE_TEST(flows_that_ended_since_a_record_come_in_its_order),
        FIXTURE_TEST(notes_that_cannot_be_are_refused),
        FIXTURE_TEST(what_is_not_there_has_nothing_to_tell),
        FIXTURE_TEST(flows_are_found_downwards_by_number_and_state),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_fini(&arena);
    return failed;
}
