/* replica_test.c: every small update of a set ends as the rules say: for each number of replicas before and after, each
 * order of an update, and each replica that may fail to become healthy, the versions that run in the end are those that
 * were reached, the one that failed has its old version back, the others were never touched, and only a deployment that
 * succeeds changes how many there are. After each step live state, replay and snapshot agree. */
#include "engine_fixture.h"

#include <stdio.h>

#include "state.h"

#define REPLICAS 3u
#define HEALTHY_MS 20000

static const char *const names[REPLICAS + 1] = {"", "web.1", "web.2", "web.3"};

static uint64_t deploy(struct fixture *r, const char *body, uint32_t replicas, enum update update, uint32_t at_once) {
    static const uint8_t hash[32] = {1};
    struct options sets[2];
    struct job_spec jobs[REPLICAS + 1] = {{.profile = 0}};
    struct parent_ref all[REPLICAS];
    options_default(&sets[0]);
    options_default(&sets[1]);
    sets[0].kind = JOB_SERVICE;
    sets[0].healthy_within_ms = HEALTHY_MS;
    sets[0].update = (uint8_t)update;
    sets[1].kind = JOB_BARRIER;
    sets[1].replicas = replicas;
    sets[0].replica_of = sets[1].replica_of = SLICE("web");
    for (uint32_t i = 0; i < replicas; i++) {
        all[i] = (struct parent_ref){.name = slice_str(names[i + 1])};
        jobs[i] = (struct job_spec){.name = slice_str(names[i + 1]),
                                    .service = slice_str(names[i + 1]),
                                    .body = slice_str(body),
                                    .body_hash = slice_of(hash, 32),
                                    .parents = i >= at_once ? &all[i - at_once] : NULL,
                                    .parent_count = i >= at_once};
    }
    jobs[replicas] = (struct job_spec){.name = SLICE("web"), .profile = 1, .parents = all, .parent_count = replicas};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = slice_str(r->tenant)};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, 2, jobs, replicas + 1, false};
    assert_ok(fixture_command(r, &cmd));
    return r->reply.flow.v;
}

static bool find(const struct fixture *r, uint32_t number, struct service_view *v, struct job_view *job) {
    return view_service(engine_state(r->engine), SLICE("acme"), slice_str(names[number]), v) && v->runner.flow.v != 0 &&
           view_job(engine_state(r->engine), v->runner, job);
}

/* What workers say next: who was told to stop stops, and of what runs all but `bad` is healthy. False: nothing. */
static bool settle(struct fixture *r, uint32_t bad) {
    for (uint64_t flow = 1; flow < 64; flow++) {
        struct job_view job;
        if (!view_job(engine_state(r->engine), ref_of(flow, 0), &job) || job.stop != STOP_CANCEL) continue;
        assert_ok(fixture_done(r, "w", 1, job.ref, job.attempt, OUTCOME_STOPPED));
        return true;
    }
    for (uint32_t n = 1; n <= REPLICAS; n++) {
        struct service_view v;
        struct job_view job;
        bool is_bad = find(r, n, &v, &job) && n == bad && slice_eq(job.body, SLICE("new"));
        if (!find(r, n, &v, &job) || is_bad || v.healthy || job.state != JOB_DISPATCHED) continue;
        struct command cmd = {.kind = CMD_HEALTH};
        cmd.as.attempt = (struct cmd_attempt){
            .worker = SLICE("w"), .incarnation = 1, .job = job.ref, .attempt = job.attempt, .healthy = true};
        assert_ok(fixture_command(r, &cmd));
        return true;
    }
    return false;
}

static void settle_all(struct fixture *r, uint32_t bad) {
    for (uint32_t passes = 0; passes < 4; passes++) {
        while (settle(r, bad)) fixture_check_digests(r);
        assert_ok(fixture_heartbeat(r, "w", 1, 16, 0, 0));
        fixture_tick(r, HEALTHY_MS / 2); /* twice of it, and what is bad is given up */
    }
}

/* What replica `n` must be: NULL = it is not there. */
static const char *must_be(uint32_t n, uint32_t before, uint32_t after, uint32_t bad, uint32_t at_once) {
    bool fails = bad != 0 && bad <= after;
    /* the job of n is reached unless it stands behind the one that fails */
    bool is_reached = n <= after && !(fails && n > bad && (n - bad) % at_once == 0);
    if (is_reached && !(fails && n == bad)) return "new";
    if (n > after && !fails) return NULL;
    return n <= before ? "old" : NULL;
}

static void one_update(uint32_t before, uint32_t after, uint32_t bad, enum update update, uint32_t at_once) {
    struct fixture rig, *r = &rig;
    struct service_view v;
    struct job_view job;
    fixture_init(r);
    assert_ok(fixture_attach(r, "w", 1, 16));
    (void)deploy(r, "old", before, UPDATE_STOP_FIRST, 1);
    settle_all(r, 0);
    uint64_t flow = deploy(r, "new", after, update, at_once);
    settle_all(r, bad);
    for (uint32_t n = 1; n <= REPLICAS; n++) {
        const char *expected = must_be(n, before, after, bad, at_once);
        bool is_there = find(r, n, &v, &job);
        bool is_right =
            expected ? is_there && v.healthy && !v.deploying && slice_eq(job.body, slice_str(expected)) : !is_there;
        if (!is_right)
            fail_msg("%u to %u, %s, %u at once, %u fails: replica %u is not %s but %.*s", before, after,
                     update_words[update], at_once, bad, n, expected ? expected : "gone", (int)job.body.len,
                     (const char *)job.body.ptr);
    }
    bool fails = bad != 0 && bad <= after;
    assert_int_equal(fixture_state(r, flow, after), fails ? JOB_FAILED : JOB_SUCCEEDED);
    fixture_fini(r);
}

static void every_small_update_ends_as_it_must(void **state) {
    (void)state;
    for (uint32_t before = 1; before <= REPLICAS; before++)
        for (uint32_t after = 1; after <= REPLICAS; after++)
            for (uint32_t bad = 0; bad <= after; bad++)
                for (uint32_t at_once = 1; at_once <= 2; at_once++)
                    for (int update = 0; update < UPDATE_COUNT; update++)
                        one_update(before, after, bad, (enum update)update, at_once);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_small_update_ends_as_it_must)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
