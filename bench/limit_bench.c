/* limit_bench.c: what limits cost an assignment. Jobs wait behind 1, 10 or 1,000 concurrency keys, one attempt open for
 * each; attempts end and the next begin, in memory. The floor is the same run without keys, with as many slots as there
 * were keys, so that as many attempts are open.
 *
 *   together  all open attempts end in one pass: a round for as many assignments as there are keys
 *   alone     each ends in a pass of its own: a round for one assignment, the worst case
 *
 * Neither may grow with the number of jobs that wait. Timed by the processor time of the thread.
 *
 * Usage: limit_bench [--quick] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "limit.h"
#include "panic.h"
#include "vec.h"

#define PART_JOBS 10000u

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct fixture {
    struct engine *engine;
    struct limits limits;
    struct inputs in;
    struct vec open; /* of struct attempt_effect */
    uint64_t assigned;
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
        if (effect.kind != EFFECT_ASSIGN) continue;
        *(struct attempt_effect *)vec_push(&r->open) = effect.as.attempt;
        r->assigned++;
    }
}

static void command(struct fixture *r, struct command *cmd) {
    begin(r);
    engine_command(r->engine, cmd);
    end(r);
}

static void attach(struct fixture *r, uint32_t slots) {
    struct command cmd = {.kind = CMD_ATTACH};
    cmd.as.attach = (struct cmd_attach){.worker = SLICE("w1"), .incarnation = 1, .info = {.slots = slots}};
    command(r, &cmd);
}

/* `count` jobs behind the key of that number, or behind none. */
static void submit(struct fixture *r, uint32_t key, uint32_t count, bool has_key) {
    char(*names)[12] = calloc(count, sizeof *names);
    struct job_spec *jobs = calloc(count, sizeof *jobs);
    for (uint32_t i = 0; i < count; i++) {
        int len = snprintf(names[i], sizeof names[i], "job%u", i);
        jobs[i].name = slice_of(names[i], (size_t)len);
    }
    char text[16];
    int len = snprintf(text, sizeof text, "key%u", key);
    struct name_item item = {slice_of(text, (size_t)len)};
    struct options o;
    options_default(&o);
    o.kind = JOB_NOOP;
    if (has_key) o.demand.keys = (struct tlv_list){&item, 1};
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, jobs, count, false};
    command(r, &cmd);
    free(jobs);
    free(names);
}

static void done(struct fixture *r, const struct attempt_effect *a) {
    struct command cmd = {.kind = CMD_DONE};
    cmd.as.attempt =
        (struct cmd_attempt){.worker = SLICE("w1"), .incarnation = 1, .job = a->job, .attempt = a->attempt};
    engine_command(r->engine, &cmd);
}

/* Processor time per assignment, over about `wanted` of them. */
static double serve(struct fixture *r, uint64_t wanted, bool together) {
    r->assigned = 0;
    uint32_t next = 0;
    double start = cpu_now();
    while (r->assigned < wanted) {
        uint32_t upto = together ? r->open.count : next + 1;
        REQUIRE(next < r->open.count);
        begin(r);
        for (; next < upto; next++) {
            struct attempt_effect a = *(struct attempt_effect *)vec_at(&r->open, next);
            done(r, &a);
        }
        end(r);
    }
    return (cpu_now() - start) / (double)r->assigned;
}

static double run(uint32_t keys, uint32_t waiting, bool has_keys, bool together) {
    struct fixture r = {.in = {{1700000000000}, {0}, 1, UINT64_MAX}};
    limits_default(&r.limits);
    r.limits.lease_ms = 3600000;
    r.engine = engine_new(0, &r.limits);
    vec_init(&r.open, sizeof(struct attempt_effect));
    engine_resume(r.engine, 1, SLICE("bench"), &r.in);
    end(&r);
    uint32_t each = waiting / keys;
    for (uint32_t k = 0; k < keys; k++)
        for (uint32_t left = each; left;) {
            uint32_t part = left < PART_JOBS ? left : PART_JOBS;
            submit(&r, k, part, has_keys);
            left -= part;
        }
    attach(&r, has_keys ? 2 * keys : keys);
    REQUIRE(r.open.count == keys);
    double each_s = serve(&r, waiting < 10000 ? waiting / 2 : 5000, together);
    engine_free(r.engine);
    vec_fini(&r.open);
    return each_s * 1e6;
}

int main(int argc, char **argv) {
    bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    uint32_t most = quick ? 100000 : 1000000;
    for (uint32_t keys = 1; keys <= 1000; keys = keys == 1 ? 10 : keys * 100)
        for (uint32_t waiting = 10000; waiting <= most; waiting *= 10) {
            printf("limit    %4u keys %8u waiting   together %6.2f us (floor %6.2f)   alone %6.2f us (floor %6.2f)\n",
                   keys, waiting, run(keys, waiting, true, true), run(keys, waiting, false, true),
                   run(keys, waiting, true, false), run(keys, waiting, false, false));
            fflush(stdout);
        }
    return 0;
}
