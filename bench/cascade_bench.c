/* cascade_bench.c: one failure drags a million jobs down, and someone else wants a word meanwhile. Every pass of the
 * cascade also has another tenant's submit of one job; prints how long such a pass holds the loop: the longest, the one
 * in a thousand, the mean. Floor: the same submit without a cascade. Needs no disk; timed by the processor time of the
 * thread, effects included.
 *
 *   wide      1 -> N      all children of one job
 *   layers    N / 100 layers of 100, each job needs two of the layer before
 *   cancel    the same wide flow, cancelled by hand
 *
 * Usage: cascade_bench [--jobs N]     default: 1,000,000 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "limit.h"
#include "panic.h"
#include "vec.h"
#include "view.h"

#define PART 10000u
#define LAYER 100u
#define TARGET_MS 1.0

static double cpu_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct fixture {
    struct engine *engine;
    struct inputs in;
    struct job_ref assigned;
    uint64_t flow;
};

static void effects(struct fixture *r) {
    struct batch b;
    struct effect x;
    if (engine_batch(r->engine, &b)) engine_durable(r->engine, b.last_lsn);
    while (engine_effect(r->engine, &x)) {
        if (x.kind == EFFECT_ASSIGN) r->assigned = x.as.attempt.job;
        if (x.kind != EFFECT_ANSWER) continue;
        if (x.as.answer.reply->err != ERR_OK) {
            fprintf(stderr, "cascade_bench: %s\n", x.as.answer.reply->why.text);
            exit(1);
        }
        if (x.as.answer.token == 1) r->flow = x.as.answer.reply->flow.v;
    }
}

static double pass(struct fixture *r, const struct command *cmd) {
    r->in.wall.ms++;
    double start = cpu_ms();
    engine_begin(r->engine, &r->in);
    if (cmd) engine_command(r->engine, cmd);
    engine_finish(r->engine);
    effects(r);
    return cpu_ms() - start;
}

/* The submit of somebody who has nothing to do with the cascade. */
static double other_pass(struct fixture *r) {
    struct options o;
    options_default(&o);
    o.kind = JOB_NOOP;
    o.demand.pool = SLICE("elsewhere");
    struct job_spec one = {.name = SLICE("one"), .body = SLICE("body")};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("other"), .token = 2};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &one, 1, false};
    return pass(r, &cmd);
}

static void submit(struct fixture *r, uint32_t job_count, bool layered) {
    static char names[PART][12], parents[PART][2][12];
    static struct job_spec specs[PART];
    static struct parent_ref edges[PART][2];
    struct options o;
    options_default(&o);
    o.kind = JOB_NOOP;
    o.retries = 0;
    for (uint32_t first = 0; first < job_count; first += PART) {
        uint32_t count = job_count - first < PART ? job_count - first : PART;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t n = first + i, layer = n ? (n - 1) / LAYER : 0;
            uint32_t needs[2] = {layered && layer ? 1 + (layer - 1) * LAYER + n % LAYER : 0,
                                 layered && layer ? 1 + (layer - 1) * LAYER + (n * 7 + 3) % LAYER : 0};
            int len = snprintf(names[i], sizeof names[i], "j%u", n);
            for (int k = 0; k < 2; k++) {
                int parent_len = snprintf(parents[i][k], sizeof parents[i][k], "j%u", needs[k]);
                edges[i][k] = (struct parent_ref){.name = slice_of(parents[i][k], (size_t)parent_len)};
            }
            specs[i] = (struct job_spec){.name = slice_of(names[i], (size_t)len),
                                         .body = SLICE("body"),
                                         .parents = edges[i],
                                         .parent_count = n == 0 ? 0 : needs[0] == needs[1] ? 1 : 2};
        }
        struct cmd_jobs jobs = {&o, 1, specs, count, first + count < job_count};
        struct command cmd = {.kind = first ? CMD_ADD : CMD_SUBMIT, .tenant = SLICE("acme"), .token = first ? 3 : 1};
        if (first)
            cmd.as.add = (struct cmd_add){.flow = {r->flow}, .jobs = jobs};
        else
            cmd.as.submit.jobs = jobs;
        pass(r, &cmd);
    }
    while (engine_has_work(r->engine)) pass(r, NULL);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool bench(const char *what, uint32_t job_count, bool layered, bool cancel) {
    struct limits limits;
    limits_default(&limits);
    struct fixture r = {.in = {{1700000000000}, {1000}, 42, UINT64_MAX}, .engine = engine_new(0, &limits)};
    engine_resume(r.engine, 1, SLICE("bench"), &r.in);
    engine_finish(r.engine);
    effects(&r);
    submit(&r, job_count, layered);
    struct command attach = {.kind = CMD_ATTACH};
    attach.as.attach = (struct cmd_attach){.worker = SLICE("w"), .incarnation = 1, .info = {.slots = 1}};
    pass(&r, &attach);
    double floor = 0;
    for (int i = 0; i < 1000; i++) floor += other_pass(&r) / 1000;

    struct command begin = {.kind = cancel ? CMD_CANCEL : CMD_DONE, .token = 4};
    if (cancel) {
        begin.tenant = SLICE("acme");
        begin.as.cancel = (struct cmd_cancel){.flow = {r.flow}, .whole = true};
    } else {
        begin.as.attempt = (struct cmd_attempt){.worker = SLICE("w"),
                                                .incarnation = 1,
                                                .job = r.assigned,
                                                .attempt = 1,
                                                .outcome = OUTCOME_EXIT,
                                                .exit_code = 1};
    }
    struct vec turns;
    vec_init(&turns, sizeof(double));
    *(double *)vec_push(&turns) = pass(&r, &begin);
    while (engine_has_work(r.engine)) *(double *)vec_push(&turns) = other_pass(&r);
    struct flow_view flow;
    REQUIRE(view_flow(engine_state(r.engine), (flow_id){r.flow}, &flow));
    REQUIRE(cancel ? flow.by_state[JOB_CANCELLED] >= job_count - 1 : flow.by_state[JOB_FAILED] == job_count);
    double sum = 0;
    double *at = (double *)(void *)turns.at;
    for (uint32_t i = 0; i < turns.count; i++) sum += at[i];
    qsort(at, turns.count, sizeof *at, by_size);
    double longest = at[turns.count - 1];
    printf("%-8s %9u jobs  longest pass %.3f ms   (target < %.0f ms)   99.9 %% %.3f ms, mean %.3f ms, %u passes; "
           "floor: the submit alone %.4f ms\n",
           what, job_count, longest, TARGET_MS, at[turns.count - 1 - turns.count / 1000], sum / turns.count,
           turns.count, floor);
    vec_fini(&turns);
    engine_free(r.engine);
    return longest < TARGET_MS;
}

int main(int argc, char **argv) {
    uint32_t job_count = argc == 3 && strcmp(argv[1], "--jobs") == 0 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000u;
    bool met = bench("wide", job_count, false, false);
    met &= bench("layers", job_count, true, false);
    met &= bench("cancel", job_count, false, true);
    return met ? 0 : 1;
}
