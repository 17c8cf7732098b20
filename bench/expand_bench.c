/* expand_bench.c: one foreach job over many no-ops, through the core: submit, expansion, assignment and completion of
 * every child, in memory. Two workers with 1,000 slots each; what was assigned in a pass is completed in the next.
 *
 *   child     processor time per child, beside its floor of the same run: as many jobs of one flow, submitted as such
 *   waiting   bytes of memory per child that has not begun, the flow and its one child under way included; and of a
 *             job that waits for a worker
 *   ended     bytes that are left when all children but one have ended
 *
 * Timed by the processor time of the thread.
 *
 * Usage: expand_bench [--quick] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "limit.h"
#include "panic.h"
#include "vec.h"
#include "view.h"

#define WORKERS 2u
#define SLOTS 1000u
#define PART_JOBS 10000u

static const struct slice worker_ids[WORKERS] = {SLICE("w1"), SLICE("w2")};

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct fixture {
    struct engine *engine;
    struct limits limits;
    struct inputs in;
    struct vec open; /* of struct attempt_effect: to be completed in the next pass */
    question_id question;
    enum err answer;
};

static void begin(struct fixture *r) {
    r->in.wall.ms++;
    r->in.mono.ms++;
    r->in.random = r->in.random * 6364136223846793005ULL + 1442695040888963407ULL;
    engine_begin(r->engine, &r->in);
}

static void end(struct fixture *r) {
    struct batch b;
    struct effect effect;
    engine_finish(r->engine);
    if (engine_batch(r->engine, &b)) engine_durable(r->engine, b.last_lsn);
    while (engine_effect(r->engine, &effect)) {
        if (effect.kind == EFFECT_ASSIGN) *(struct attempt_effect *)vec_push(&r->open) = effect.as.attempt;
        if (effect.kind == EFFECT_QUESTION) r->question = effect.as.question.question;
        if (effect.kind == EFFECT_ANSWER) r->answer = effect.as.answer.reply->err;
    }
}

static void command(struct fixture *r, struct command *cmd) {
    begin(r);
    cmd->token = 1;
    engine_command(r->engine, cmd);
    end(r);
    REQUIRE(r->answer == ERR_OK);
}

static void fixture_init(struct fixture *r) {
    *r = (struct fixture){.in = {{1700000000000}, {0}, 1, UINT64_MAX}};
    limits_default(&r->limits);
    r->limits.lease_ms = 3600000;
    r->engine = engine_new(0, &r->limits);
    vec_init(&r->open, sizeof(struct attempt_effect));
    engine_resume(r->engine, 1, SLICE("bench"), &r->in);
    end(r);
}

static void fixture_fini(struct fixture *r) {
    engine_free(r->engine);
    vec_fini(&r->open);
}

static uint64_t memory(const struct fixture *r) {
    struct state_counts counts;
    view_counts(engine_state(r->engine), NULL, &counts);
    return counts.bytes;
}

static struct options noop(void) {
    struct options o;
    options_default(&o);
    o.kind = JOB_NOOP;
    return o;
}

/* One flow of `count` jobs, in parts. */
static void submit_jobs(struct fixture *r, uint32_t count) {
    struct options o = noop();
    char(*names)[12] = calloc(PART_JOBS, sizeof *names);
    struct job_spec *jobs = calloc(PART_JOBS, sizeof *jobs);
    for (uint32_t from = 0; from < count; from += PART_JOBS) {
        uint32_t part = count - from < PART_JOBS ? count - from : PART_JOBS;
        for (uint32_t i = 0; i < part; i++) {
            int len = snprintf(names[i], sizeof names[i], "job%u", from + i);
            jobs[i].name = slice_of(names[i], (size_t)len);
        }
        struct cmd_jobs body = {&o, 1, jobs, part, from + part < count};
        struct command cmd = {.kind = from ? CMD_ADD : CMD_SUBMIT, .tenant = SLICE("acme")};
        if (from)
            cmd.as.add = (struct cmd_add){.flow = {1}, .jobs = body};
        else
            cmd.as.submit.jobs = body;
        command(r, &cmd);
    }
    free(jobs);
    free(names);
}

static void expand(struct fixture *r, uint32_t count, uint32_t max_parallel) {
    static const uint8_t hash[32] = {7};
    struct options o = noop();
    o.gates = GATE_BIT(GATE_EXPANSION);
    o.max_parallel = max_parallel;
    struct job_spec job = {.name = SLICE("map"), .body_hash = slice_of(hash, 32)};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, &job, 1, false};
    command(r, &cmd);
    struct command verdict = {.kind = CMD_VERDICT, .principal = SLICE("evaluator")};
    verdict.as.verdict = (struct cmd_verdict){.question = r->question,
                                              .revision = 1,
                                              .hash = slice_of(hash, 32),
                                              .verdict = VERDICT_ALLOW,
                                              .items = slice_of(hash, 32),
                                              .item_count = count};
    command(r, &verdict);
}

static void attach(struct fixture *r) {
    for (uint32_t i = 0; i < WORKERS; i++) {
        struct command cmd = {.kind = CMD_ATTACH};
        cmd.as.attach = (struct cmd_attach){.worker = worker_ids[i], .incarnation = 1, .info = {.slots = SLOTS}};
        command(r, &cmd);
    }
}

static void done(struct fixture *r, const struct attempt_effect *a) {
    struct worker_view worker;
    ENSURE(view_worker(engine_state(r->engine), NULL, a->worker, &worker));
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt = (struct cmd_attempt){.worker = worker.id, .incarnation = 1, .job = a->job, .attempt = a->attempt};
    engine_command(r->engine, &cmd);
}

/* Completes jobs until `count` are done, pass by pass. */
static void drain(struct fixture *r, uint32_t count) {
    struct vec batch;
    vec_init(&batch, sizeof(struct attempt_effect));
    for (uint32_t completed = 0; completed < count;) {
        struct vec swap = batch;
        batch = r->open;
        r->open = swap;
        r->open.count = 0;
        REQUIRE(batch.count > 0);
        uint32_t next = 0;
        begin(r);
        for (; next < batch.count && completed < count; next++, completed++) done(r, vec_at(&batch, next));
        end(r);
        for (; next < batch.count; next++)
            *(struct attempt_effect *)vec_push(&r->open) = *(struct attempt_effect *)vec_at(&batch, next);
    }
    vec_fini(&batch);
}

static void check_over(const struct fixture *r) {
    struct flow_view flow;
    ENSURE(view_flow(engine_state(r->engine), (flow_id){1}, &flow));
    ENSURE(flow.state == FLOW_SUCCEEDED);
}

static double time_jobs(uint32_t count, double *ret_bytes) {
    struct fixture r;
    fixture_init(&r);
    uint64_t before = memory(&r);
    double start = cpu_now();
    submit_jobs(&r, count);
    *ret_bytes = (double)(memory(&r) - before) / count;
    attach(&r);
    drain(&r, count);
    double seconds = cpu_now() - start;
    check_over(&r);
    fixture_fini(&r);
    return seconds / count * 1e6;
}

/* Beside a small one, which has taken the first chunks of memory that any flow takes. */
static double waiting_bytes(uint32_t count) {
    struct fixture r;
    fixture_init(&r);
    expand(&r, 2, 1);
    uint64_t before = memory(&r);
    expand(&r, count, 1);
    double bytes = (double)(memory(&r) - before) / count;
    fixture_fini(&r);
    return bytes;
}

static double time_children(uint32_t count, double *ret_left) {
    struct fixture r;
    fixture_init(&r);
    uint64_t before = memory(&r);
    double start = cpu_now();
    expand(&r, count, 0);
    attach(&r);
    drain(&r, count - 1);
    *ret_left = (double)(memory(&r) - before);
    drain(&r, 1);
    double seconds = cpu_now() - start;
    check_over(&r);
    fixture_fini(&r);
    return seconds / count * 1e6;
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    for (uint32_t count = 10000; count <= (quick ? 100000u : 1000000u); count *= 10) {
        double left, job_bytes, child_bytes = waiting_bytes(count);
        double child_us = time_children(count, &left);
        double job_us = time_jobs(count, &job_bytes);
        printf("expand   %7u children   child %5.2f us (floor, a job: %5.2f)   waiting %7.2f B (floor %6.1f)   "
               "ended, all together %8.0f B\n",
               count, child_us, job_us, child_bytes, job_bytes, left);
        fflush(stdout);
    }
    return 0;
}
