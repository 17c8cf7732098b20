/* graph_test.c: every graph of up to five jobs, with every single failing job and every rule, against ends computed
 * here by brute force; and large random ones. Seeds are printed; REEVE_SEED repeats one. */
#include <stdio.h>
#include <stdlib.h>

#include "engine_fixture.h"

#define SMALL_MAX 5u
#define NOBODY UINT32_MAX

struct rule {
    enum trigger trigger;
    enum on_upstream otherwise;
};

static const struct rule rules[] = {
    {TRIGGER_ALL_SUCCEEDED, UPSTREAM_FAIL}, {TRIGGER_ALL_SUCCEEDED, UPSTREAM_SKIP},
    {TRIGGER_ALL_SUCCEEDED, UPSTREAM_RUN},  {TRIGGER_NONE_FAILED, UPSTREAM_FAIL},
    {TRIGGER_NONE_FAILED, UPSTREAM_SKIP},   {TRIGGER_ONE_SUCCEEDED, UPSTREAM_FAIL},
    {TRIGGER_ONE_SUCCEEDED, UPSTREAM_SKIP}, {TRIGGER_ALL_DONE, UPSTREAM_FAIL},
};
#define RULES (sizeof rules / sizeof rules[0])

/* ---- the independent computation ---- */

struct plan {
    uint32_t count;
    const uint32_t *parents; /* count rows: bit k of parents[i] = k is a parent of i; small graphs */
    uint32_t failing;        /* NOBODY = all would succeed */
    struct rule rule;
};

/* How the parents of a job ended. */
struct heard {
    bool any, succeeded, failed, skipped;
};

static void hear(struct heard *h, enum job_state end) {
    h->any = true;
    h->succeeded |= end == JOB_SUCCEEDED;
    h->failed |= end == JOB_FAILED;
    h->skipped |= end == JOB_SKIPPED;
}

static bool expected_to_run(struct rule rule, const struct heard *h) {
    if (rule.otherwise == UPSTREAM_RUN || rule.trigger == TRIGGER_ALL_DONE) return true;
    if (rule.trigger == TRIGGER_ONE_SUCCEEDED) return h->succeeded || !h->any;
    if (rule.trigger == TRIGGER_NONE_FAILED) return !h->failed;
    return !h->failed && !h->skipped;
}

/* From the rules alone: a job whose trigger comes runs, any other ends as its rule says. */
static enum job_state expected_end(const struct plan *p, const enum job_state *ends, uint32_t job) {
    struct heard h = {0};
    for (uint32_t k = 0; k < job; k++)
        if (p->parents[job] >> k & 1) hear(&h, ends[k]);
    if (expected_to_run(p->rule, &h)) return job == p->failing ? JOB_FAILED : JOB_SUCCEEDED;
    return h.failed && p->rule.otherwise == UPSTREAM_FAIL ? JOB_FAILED : JOB_SKIPPED;
}

/* Whom a job that did not run blames: there is one failure in all, but a job that needs one success stands for itself,
 * and its children blame the first of their parents. */
static uint32_t expected_root(const struct plan *p, uint32_t job) {
    if (p->rule.trigger != TRIGGER_ONE_SUCCEEDED) return p->failing;
    uint32_t first = 0;
    while (!(p->parents[job] >> first & 1)) first++;
    return first;
}

/* ---- the engine ---- */

static uint64_t submit(struct fixture *r, const struct plan *p) {
    struct options o = fixture_options();
    o.retries = 0;
    o.on_upstream = (uint8_t)p->rule.otherwise;
    o.trigger = (uint8_t)p->rule.trigger;
    char text[SMALL_MAX][32];
    const char *jobs[SMALL_MAX];
    for (uint32_t i = 0; i < p->count; i++) {
        int len = snprintf(text[i], sizeof text[i], "%c:", 'a' + (int)i);
        for (uint32_t k = 0; k < i; k++)
            if (p->parents[i] >> k & 1)
                len += snprintf(text[i] + len, sizeof text[i] - (size_t)len, " %c", 'a' + (int)k);
        jobs[i] = text[i];
    }
    assert_ok(fixture_submit(r, &o, jobs, p->count));
    return r->reply.flow.v;
}

/* A job is given away only after all its parents have ended, or one of them well. */
static void check_order(const struct fixture *r, const struct plan *p, struct job_ref job) {
    uint32_t open = 0, good = 0;
    for (uint32_t k = 0; k < job.ordinal; k++) {
        if (!(p->parents[job.ordinal] >> k & 1)) continue;
        enum job_state state = fixture_state(r, job.flow.v, k);
        open += !job_state_is_terminal(state);
        good += state == JOB_SUCCEEDED;
    }
    assert_true(open == 0 || (p->rule.trigger == TRIGGER_ONE_SUCCEEDED && good > 0));
}

/* Ends every attempt as the plan of its flow says, oldest first. */
static void run(struct fixture *r, const struct plan *plans, uint64_t first_flow) {
    for (uint32_t next = 0; next < r->effects.count; next++) {
        struct effect effect = *(struct effect *)vec_at(&r->effects, next);
        if (effect.kind != EFFECT_ASSIGN) continue;
        struct job_ref job = effect.as.attempt.job;
        const struct plan *p = &plans[job.flow.v - first_flow];
        check_order(r, p, job);
        enum outcome outcome = job.ordinal == p->failing ? OUTCOME_EXIT : OUTCOME_OK;
        assert_ok(fixture_done(r, "w", 1, job, effect.as.attempt.attempt, outcome));
    }
}

static void check_ends(const struct fixture *r, const struct plan *p, uint64_t flow) {
    enum job_state ends[SMALL_MAX];
    uint32_t failed = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        ends[i] = expected_end(p, ends, i);
        failed += ends[i] == JOB_FAILED;
        struct job_view job = fixture_job(r, flow, i);
        if (job.state != ends[i])
            fail_msg("job %u of %u, failing %u, %s, else %s: %s, not %s", i, p->count, p->failing,
                     trigger_words[p->rule.trigger], on_upstream_words[p->rule.otherwise], job_state_word(job.state),
                     job_state_word(ends[i]));
        bool ran = job.attempt > 0;
        assert_int_equal(ran, ends[i] == JOB_SUCCEEDED || i == p->failing);
        if (!ran) assert_int_equal(job.root, expected_root(p, i));
    }
    assert_int_equal(fixture_flow(r, flow).state, failed ? FLOW_FAILED : FLOW_SUCCEEDED);
}

static void one_graph(uint32_t count, const uint32_t *parents) {
    struct fixture rig, *r = &rig;
    struct plan plans[(SMALL_MAX + 1) * RULES];
    uint32_t n = 0;
    fixture_init(r);
    assert_ok(fixture_attach(r, "w", 1, 100));
    for (uint32_t failing = 0; failing <= count; failing++)
        for (uint32_t rule = 0; rule < RULES; rule++) {
            plans[n] = (struct plan){count, parents, failing == count ? NOBODY : failing, rules[rule]};
            assert_int_equal(submit(r, &plans[n]), n + 1);
            n++;
        }
    run(r, plans, 1);
    for (uint32_t i = 0; i < n; i++) check_ends(r, &plans[i], i + 1);
    assert_int_equal(fixture_counts(r).reserved_bytes, 0);
    fixture_check_digests(r);
    fixture_fini(r);
}

static void all_small_graphs(void **state) {
    (void)state;
    uint32_t graphs = 0;
    for (uint32_t count = 1; count <= SMALL_MAX; count++) {
        uint32_t edges = count * (count - 1) / 2;
        for (uint32_t bits = 0; bits < 1u << edges; bits++) {
            uint32_t parents[SMALL_MAX], rest = bits;
            for (uint32_t i = 0; i < count; i++) {
                parents[i] = rest & ((1u << i) - 1);
                rest >>= i;
            }
            one_graph(count, parents);
            graphs++;
        }
    }
    assert_int_equal(graphs, 1 + 2 + 8 + 64 + 1024);
}

/* ---- large ones ---- */

struct large {
    uint32_t count;
    uint32_t (*parents)[8];
    uint32_t *parent_count;
    bool *fails;
    uint8_t *rule;
    enum job_state *ends;
};

static void large_make(struct large *g, struct test_random *random, uint32_t count) {
    *g = (struct large){.count = count,
                        .parents = calloc(count, sizeof *g->parents),
                        .parent_count = calloc(count, sizeof *g->parent_count),
                        .fails = calloc(count, sizeof *g->fails),
                        .rule = calloc(count, sizeof *g->rule),
                        .ends = calloc(count, sizeof *g->ends)};
    uint64_t near = 1 + test_random_below(random, count);
    for (uint32_t i = 0; i < count; i++) {
        g->fails[i] = test_random_below(random, 50) == 0;
        g->rule[i] = (uint8_t)test_random_below(random, RULES);
        uint64_t wanted = test_random_below(random, 5);
        for (uint64_t k = 0; k < wanted && i > 0; k++) {
            uint64_t span = near < i ? near : i;
            uint32_t parent = i - 1 - (uint32_t)test_random_below(random, span);
            bool twice = false;
            for (uint32_t q = 0; q < g->parent_count[i]; q++) twice |= g->parents[i][q] == parent;
            if (!twice) g->parents[i][g->parent_count[i]++] = parent;
        }
    }
}

static void large_free(struct large *g) {
    free(g->parents);
    free(g->parent_count);
    free(g->fails);
    free(g->rule);
    free(g->ends);
}

/* With several failures the order decides which parent is heard first; a job's end depends on it only between FAILED
 * and SKIPPED. So: whether it runs is computed, and of those that do not the end must be one a parent explains. */
static void large_check(const struct fixture *r, struct large *g) {
    for (uint32_t i = 0; i < g->count; i++) {
        struct heard h = {0};
        struct rule rule = rules[g->rule[i]];
        for (uint32_t k = 0; k < g->parent_count[i]; k++) hear(&h, g->ends[g->parents[i][k]]);
        bool runs = expected_to_run(rule, &h);
        enum job_state end = fixture_state(r, 1, i);
        g->ends[i] = end;
        if (runs) {
            assert_int_equal(end, g->fails[i] ? JOB_FAILED : JOB_SUCCEEDED);
        } else {
            bool may_fail = h.failed && rule.otherwise == UPSTREAM_FAIL;
            bool may_skip = h.skipped || (h.failed && rule.otherwise == UPSTREAM_SKIP);
            assert_true((end == JOB_FAILED && may_fail) || (end == JOB_SKIPPED && may_skip));
        }
        assert_int_equal(fixture_job(r, 1, i).attempt > 0, runs);
    }
}

static void submit_large(struct fixture *r, const struct large *g) {
    struct options sets[RULES];
    char(*names)[16] = calloc(g->count, sizeof *names);
    struct job_spec *specs = calloc(g->count, sizeof *specs);
    struct parent_ref(*parents)[8] = calloc(g->count, sizeof *parents);
    for (uint32_t i = 0; i < RULES; i++) {
        sets[i] = fixture_options();
        sets[i].retries = 0;
        sets[i].on_upstream = (uint8_t)rules[i].otherwise;
        sets[i].trigger = (uint8_t)rules[i].trigger;
    }
    for (uint32_t i = 0; i < g->count; i++) (void)snprintf(names[i], sizeof names[i], "job%u", i);
    for (uint32_t i = 0; i < g->count; i++) {
        for (uint32_t k = 0; k < g->parent_count[i]; k++) parents[i][k].name = slice_str(names[g->parents[i][k]]);
        specs[i] = (struct job_spec){.name = slice_str(names[i]),
                                     .profile = g->rule[i],
                                     .parents = parents[i],
                                     .parent_count = g->parent_count[i]};
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){sets, RULES, specs, g->count, false};
    assert_ok(fixture_command(r, &cmd));
    free(names);
    free(specs);
    free(parents);
}

static void large_run(struct fixture *r, const struct large *g) {
    for (uint32_t next = 0; next < r->effects.count; next++) {
        struct effect effect = *(struct effect *)vec_at(&r->effects, next);
        if (effect.kind != EFFECT_ASSIGN) continue;
        struct job_ref job = effect.as.attempt.job;
        uint32_t open = 0, good = 0;
        for (uint32_t k = 0; k < g->parent_count[job.ordinal]; k++) {
            enum job_state state = fixture_state(r, 1, g->parents[job.ordinal][k]);
            open += !job_state_is_terminal(state);
            good += state == JOB_SUCCEEDED;
        }
        assert_true(open == 0 || (rules[g->rule[job.ordinal]].trigger == TRIGGER_ONE_SUCCEEDED && good > 0));
        assert_ok(fixture_done(r, "w", 1, job, 1, g->fails[job.ordinal] ? OUTCOME_EXIT : OUTCOME_OK));
        if (next % 1000 == 999) fixture_check_digests(r);
    }
}

static void random_large_graphs(void **state) {
    (void)state;
    const char *wanted = getenv("REEVE_SEED");
    uint64_t from = wanted ? strtoull(wanted, NULL, 10) : 1, to = wanted ? from : 12;
    for (uint64_t seed = from; seed <= to; seed++) {
        struct test_random random = {seed};
        uint32_t count = (uint32_t)(seed % 6 == 0 ? 10000 : 100 + test_random_below(&random, 2000));
        print_message("# seed %llu: %u jobs\n", (unsigned long long)seed, count);
        struct large g;
        struct fixture rig, *r = &rig;
        large_make(&g, &random, count);
        fixture_init(r);
        submit_large(r, &g);
        assert_ok(fixture_attach(r, "w", 1, 1 + (uint32_t)test_random_below(&random, 100)));
        large_run(r, &g);
        assert_true(fixture_flow(r, 1).state != FLOW_RUNNING);
        large_check(r, &g);
        fixture_check_digests(r);
        fixture_fini(r);
        large_free(&g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_small_graphs), cmocka_unit_test(random_large_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
