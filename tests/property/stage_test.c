/* stage_test.c: every flow of up to four jobs, each in every stage, with every graph within the stages, every single
 * failing job, and a cancel, against ends and an order computed here by brute force. */
#include <stdio.h>

#include "engine_fixture.h"

#define JOBS_MAX 4u
#define NOBODY UINT32_MAX

struct plan {
    uint32_t count;
    const uint8_t *stages;   /* enum flow_stage of each job */
    const uint32_t *parents; /* bit k of parents[i] = k is a parent of i */
    uint32_t failing;        /* NOBODY = none would */
    bool cancelled;          /* before any job began */
};

/* ---- the independent computation ---- */

/* How the jobs of one stage end that are called. */
static void stage_ends(const struct plan *p, uint8_t stage, enum job_state *ends) {
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->stages[i] != stage) continue;
        ends[i] = i == p->failing ? JOB_FAILED : JOB_SUCCEEDED;
        for (uint32_t k = 0; k < i; k++)
            if ((p->parents[i] >> k & 1) && ends[k] != JOB_SUCCEEDED) ends[i] = JOB_FAILED;
    }
}

static bool has(const struct plan *p, const enum job_state *ends, uint8_t stage, enum job_state state) {
    for (uint32_t i = 0; i < p->count; i++)
        if (p->stages[i] == stage && ends[i] == state) return true;
    return false;
}

static void expected(const struct plan *p, enum job_state *ends) {
    uint8_t called = FLOW_STAGE_SUCCESS;
    stage_ends(p, FLOW_STAGE_MAIN, ends);
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->stages[i] == FLOW_STAGE_MAIN && p->cancelled) ends[i] = JOB_CANCELLED;
        if (p->stages[i] == FLOW_STAGE_SUCCESS || p->stages[i] == FLOW_STAGE_FAILURE) ends[i] = JOB_SKIPPED;
    }
    if (has(p, ends, FLOW_STAGE_MAIN, JOB_FAILED)) called = FLOW_STAGE_FAILURE;
    if (!p->cancelled) stage_ends(p, called, ends);
    stage_ends(p, FLOW_STAGE_FINALLY, ends);
}

/* ---- the engine ---- */

static void submit(struct fixture *r, const struct plan *p) {
    struct options sets[JOB_STAGE_COUNT];
    char text[JOBS_MAX][32];
    const char *jobs[JOBS_MAX];
    for (uint32_t i = 0; i < JOB_STAGE_COUNT; i++) {
        sets[i] = fixture_options();
        sets[i].retries = 0;
        sets[i].stage = (uint8_t)i;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        int len = snprintf(text[i], sizeof text[i], "%c@%u:", 'a' + (int)i, p->stages[i]);
        for (uint32_t k = 0; k < i; k++)
            if (p->parents[i] >> k & 1)
                len += snprintf(text[i] + len, sizeof text[i] - (size_t)len, " %c", 'a' + (int)k);
        jobs[i] = text[i];
    }
    assert_ok(fixture_submit_sets(r, sets, JOB_STAGE_COUNT, jobs, p->count, false));
    if (p->cancelled && fixture_flow(r, r->reply.flow.v).state == FLOW_RUNNING)
        assert_ok(fixture_cancel(r, ref_of(r->reply.flow.v, UINT32_MAX)));
}

/* Whoever is given away comes after all jobs of the stages before. */
static void check_order(const struct fixture *r, const struct plan *p, struct job_ref job) {
    uint8_t own = p->stages[job.ordinal];
    for (uint32_t k = 0; k < p->count; k++) {
        bool before =
            p->stages[k] == FLOW_STAGE_MAIN ? own != FLOW_STAGE_MAIN : p->stages[k] != own && own == FLOW_STAGE_FINALLY;
        if (before) assert_true(job_state_is_terminal(fixture_state(r, job.flow.v, k)));
    }
}

static void run(struct fixture *r, const struct plan *plans) {
    for (uint32_t next = 0; next < r->effects.count; next++) {
        struct effect effect = *(struct effect *)vec_at(&r->effects, next);
        if (effect.kind != EFFECT_ASSIGN) continue;
        struct job_ref job = effect.as.attempt.job;
        const struct plan *p = &plans[job.flow.v - 1];
        check_order(r, p, job);
        enum outcome outcome = job.ordinal == p->failing ? OUTCOME_EXIT : OUTCOME_OK;
        assert_ok(fixture_done(r, "w", 1, job, effect.as.attempt.attempt, outcome));
    }
}

static void check_ends(const struct fixture *r, const struct plan *p, uint64_t flow) {
    enum job_state ends[JOBS_MAX];
    bool failed = false, cancelled = false;
    expected(p, ends);
    for (uint32_t i = 0; i < p->count; i++) {
        failed |= ends[i] == JOB_FAILED;
        cancelled |= ends[i] == JOB_CANCELLED;
        if (fixture_state(r, flow, i) != ends[i])
            fail_msg("job %u of %u in %s, failing %d%s: %s, not %s", i, p->count, flow_stage_words[p->stages[i]],
                     (int)p->failing, p->cancelled ? ", cancelled" : "", job_state_word(fixture_state(r, flow, i)),
                     job_state_word(ends[i]));
    }
    assert_int_equal(fixture_flow(r, flow).state, failed ? FLOW_FAILED : cancelled ? FLOW_CANCELLED : FLOW_SUCCEEDED);
    assert_int_equal(fixture_flow(r, flow).settling, false);
}

static void one_graph(uint32_t count, const uint8_t *stages, const uint32_t *parents) {
    struct fixture rig, *r = &rig;
    struct plan plans[(JOBS_MAX + 1) * 2];
    uint32_t n = 0;
    fixture_init(r);
    for (uint32_t failing = 0; failing <= count; failing++)
        for (uint32_t cancelled = 0; cancelled < 2; cancelled++) {
            plans[n] = (struct plan){count, stages, parents, failing == count ? NOBODY : failing, cancelled};
            bool has_main = has(&plans[n], (enum job_state[JOBS_MAX]){0}, FLOW_STAGE_MAIN, JOB_WAITING);
            if (cancelled && !has_main) continue; /* it would find `finally` under way, and end it */
            submit(r, &plans[n++]);
        }
    assert_ok(fixture_attach(r, "w", 1, 100));
    run(r, plans);
    for (uint32_t i = 0; i < n; i++) check_ends(r, &plans[i], i + 1);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
    fixture_check_digests(r);
    fixture_fini(r);
}

/* Every set of edges within the stages. */
static uint32_t all_edges(uint32_t count, const uint8_t *stages) {
    uint32_t from[JOBS_MAX * JOBS_MAX], to[JOBS_MAX * JOBS_MAX], pairs = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (stages[i] == stages[k]) from[pairs] = k, to[pairs++] = i;
    for (uint32_t bits = 0; bits < 1u << pairs; bits++) {
        uint32_t parents[JOBS_MAX] = {0};
        for (uint32_t e = 0; e < pairs; e++)
            if (bits >> e & 1) parents[to[e]] |= 1u << from[e];
        one_graph(count, stages, parents);
    }
    return 1u << pairs;
}

static void all_small_flows(void **state) {
    (void)state;
    uint32_t graphs = 0;
    for (uint32_t count = 1; count <= JOBS_MAX; count++)
        for (uint32_t word = 0; word < 1u << (2 * count); word++) {
            uint8_t stages[JOBS_MAX];
            for (uint32_t i = 0; i < count; i++) stages[i] = word >> (2 * i) & 3;
            graphs += all_edges(count, stages);
        }
    assert_true(graphs > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_small_flows)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
