/* retention_bench.c: a large flow leaves memory. Prints how long the record itself and the longest pass after it hold
 * the loop, beside the mean pass; floor: a pass that has nothing to do. Needs no disk.
 *
 * Usage: retention_bench [--jobs N]     default: 2,000,000, the most one flow may have */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"
#include "limit.h"
#include "panic.h"
#include "state.h"

#define PART 10000u
#define SPEC_BYTES 200

static double cpu_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void flush(struct engine *e) {
    struct batch b;
    struct effect x;
    if (engine_batch(e, &b)) engine_durable(e, b.last_lsn);
    while (engine_effect(e, &x))
        if (x.kind == EFFECT_ANSWER && x.as.answer.reply->err != ERR_OK) {
            fprintf(stderr, "retention_bench: %s\n", x.as.answer.reply->why.text);
            exit(1);
        }
}

/* One pass with one command, or none; how long it took without the journal's part. */
static double pass(struct engine *e, struct inputs *in, const struct command *cmd) {
    in->wall.ms++;
    double start = cpu_ms();
    engine_begin(e, in);
    if (cmd) engine_command(e, cmd);
    engine_finish(e);
    double took = cpu_ms() - start;
    flush(e);
    return took;
}

/* Barriers: over at once, so that nothing but leaving is measured. Each has a parent, for the memory of edges. */
static void submit(struct engine *e, struct inputs *in, uint32_t job_count) {
    static char names[PART][12], parents[PART][12], body[SPEC_BYTES];
    static struct job_spec specs[PART];
    static struct parent_ref edges[PART];
    struct options o;
    options_default(&o);
    o.kind = JOB_BARRIER;
    memset(body, 'x', sizeof body);
    for (uint32_t first = 0; first < job_count; first += PART) {
        uint32_t count = job_count - first < PART ? job_count - first : PART;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t n = first + i;
            int len = snprintf(names[i], sizeof names[i], "j%u", n);
            int parent_len = snprintf(parents[i], sizeof parents[i], "j%u", n ? n - 1 : 0);
            edges[i] = (struct parent_ref){.name = slice_of(parents[i], (size_t)parent_len)};
            specs[i] = (struct job_spec){.name = slice_of(names[i], (size_t)len),
                                         .body = slice_of(body, sizeof body),
                                         .parents = &edges[i],
                                         .parent_count = n > 0};
        }
        struct cmd_jobs jobs = {&o, 1, specs, count, first + count < job_count};
        struct command cmd = {.kind = first ? CMD_ADD : CMD_SUBMIT, .tenant = SLICE("acme"), .token = 1};
        if (first)
            cmd.as.add = (struct cmd_add){.flow = {1}, .jobs = jobs};
        else
            cmd.as.submit.jobs = jobs;
        pass(e, in, &cmd);
    }
    while (engine_has_work(e)) pass(e, in, NULL);
}

int main(int argc, char **argv) {
    uint32_t job_count = argc == 3 && strcmp(argv[1], "--jobs") == 0 ? (uint32_t)strtoul(argv[2], NULL, 10) : 2000000u;
    struct limits limits;
    limits_default(&limits);
    struct inputs in = {{1700000000000}, {1000}, 42, UINT64_MAX, false, 0};
    struct engine *e = engine_new(0, &limits);
    engine_resume(e, 1, SLICE("bench"), &in);
    engine_finish(e);
    flush(e);
    submit(e, &in, job_count);
    double idle = pass(e, &in, NULL);
    size_t held = state_bytes(engine_state(e));
    struct command forget = {.kind = CMD_FORGET, .tenant = SLICE("acme"), .token = 1, .as.flow = {1}};
    double first = pass(e, &in, &forget), longest = 0, sum = first, longest_at = 0;
    uint32_t passes = 1;
    for (; engine_has_work(e); passes++) {
        double took = pass(e, &in, NULL);
        sum += took;
        if (took > longest) {
            longest = took;
            longest_at = passes;
        }
    }
    REQUIRE(engine_state(e)->jobs.count == 0);
    printf("leaving   a flow of %u jobs, %zu MiB: first pass %.2f ms, longest %.2f ms (pass %.0f of %u), mean %.2f ms, "
           "idle pass %.3f ms\n",
           job_count, (held - state_bytes(engine_state(e))) >> 20, first, longest, longest_at, passes, sum / passes,
           idle);
    engine_free(e);
    return 0;
}
