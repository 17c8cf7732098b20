/* question_bench.c: what open questions cost a loop that has nothing to do with them. So many jobs stand before an
 * approval with a deadline; then ticks go by in which nothing is due, each with the heartbeat of a worker.
 *
 * Times tell little about so short a thing: tools/question_bench.sh runs this under callgrind, which counts the
 * instructions of the ticks alone, and compares ten questions with a million.
 *
 * Usage: question_bench QUESTIONS [TICKS] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "limit.h"
#include "panic.h"

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#else
#define CALLGRIND_START_INSTRUMENTATION
#define CALLGRIND_STOP_INSTRUMENTATION
#endif

#define PART_JOBS 10000u
#define TICKS 1000u
#define APPROVAL_MS 86400000

struct fixture {
    struct engine *engine;
    struct limits limits;
    struct inputs in;
    uint64_t asked;
};

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void begin(struct fixture *r) {
    r->in.wall.ms++;
    r->in.mono.ms++;
    r->in.random++;
    engine_begin(r->engine, &r->in);
}

static void end(struct fixture *r) {
    struct batch b;
    struct effect effect;
    engine_finish(r->engine);
    if (engine_batch(r->engine, &b)) engine_durable(r->engine, b.last_lsn);
    while (engine_effect(r->engine, &effect)) r->asked += effect.kind == EFFECT_QUESTION;
}

static void command(struct fixture *r, struct command *cmd) {
    begin(r);
    engine_command(r->engine, cmd);
    end(r);
}

static void submit(struct fixture *r, uint32_t count) {
    static char names[PART_JOBS][8];
    static struct job_spec jobs[PART_JOBS];
    static const uint8_t hash[32] = {1};
    struct options o;
    options_default(&o);
    o.gates = GATE_BIT(GATE_APPROVAL);
    o.approval_ms = APPROVAL_MS;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof names[i], "j%u", i);
        jobs[i] = (struct job_spec){.name = slice_str(names[i]), .body_hash = slice_of(hash, 32)};
    }
    struct command cmd = {.kind = CMD_SUBMIT, .tenant = SLICE("acme")};
    cmd.as.submit.jobs = (struct cmd_jobs){&o, 1, jobs, count, false};
    command(r, &cmd);
}

static void tick(struct fixture *r) {
    struct command beat = {.kind = CMD_HEARTBEAT, .token = 1};
    beat.as.worker = (struct cmd_worker){.worker = SLICE("w"), .incarnation = 1, .credit = 4};
    command(r, &beat);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: question_bench QUESTIONS [TICKS]\n");
        return 2;
    }
    uint64_t questions = strtoull(argv[1], NULL, 10);
    uint64_t ticks = argc > 2 ? strtoull(argv[2], NULL, 10) : TICKS;
    struct fixture r = {.in = {{1700000000000}, {1000}, 42, UINT64_MAX}};
    limits_default(&r.limits);
    r.engine = engine_new(0, &r.limits);
    engine_resume(r.engine, 1, SLICE("bench"), &r.in);
    end(&r);
    struct command attach = {.kind = CMD_ATTACH};
    attach.as.attach = (struct cmd_attach){.worker = SLICE("w"), .incarnation = 1, .info = {.slots = 4}};
    command(&r, &attach);
    for (uint64_t left = questions; left > 0;) {
        uint32_t part = left < PART_JOBS ? (uint32_t)left : PART_JOBS;
        submit(&r, part);
        left -= part;
    }
    ENSURE(r.asked == questions);
    tick(&r);
    double start = cpu_now();
    CALLGRIND_START_INSTRUMENTATION;
    for (uint64_t i = 0; i < ticks; i++) tick(&r);
    CALLGRIND_STOP_INSTRUMENTATION;
    double seconds = cpu_now() - start;
    printf("%9llu open questions: %.0f ns a tick, %llu ticks\n", (unsigned long long)questions,
           seconds / (double)ticks * 1e9, (unsigned long long)ticks);
    ENSURE(r.asked == questions);
    engine_free(r.engine);
    return 0;
}
