/* wire_bench.c: what it costs to put a message on the wire and to take it off. Nanoseconds of processor time for each
 * thing in the batch, the best of several passes. The floor is a copy of the same bytes.
 *
 * Usage: wire_bench [--quick] */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench_time.h"
#include "panic.h"
#include "wire.h"

#define ITEMS 1000u
#define FRAME_MAX ((size_t)16 << 20)

struct sample {
    const char *name;
    enum wire_op op;
    const void *message;
};

static double put_once(const struct sample *s, struct buf *out) {
    double start = bench_cpu();
    buf_clear(out);
    wire_put(out, s->op, 0, 1, s->message);
    return bench_cpu() - start;
}

static double take_once(const struct sample *s, struct slice in, struct arena *arena) {
    double start = bench_cpu();
    struct frame frame;
    size_t need;
    struct why why;
    ENSURE(frame_take(&in, FRAME_MAX, &frame, &need, &why) == ERR_OK && need == 0);
    void *message = arena_alloc(arena, wire_info((uint8_t)s->op)->desc->size);
    ENSURE(wire_take(&frame, arena, message, &why) == ERR_OK);
    arena_reset(arena);
    return bench_cpu() - start;
}

static double copy_once(struct slice in, uint8_t *into) {
    double start = bench_cpu();
    memcpy(into, in.ptr, in.len);
    __asm__ volatile("" : : "r"(into) : "memory");
    return bench_cpu() - start;
}

static void keep_least(double *least, double took) {
    if (took < *least) *least = took;
}

static void measure(const struct sample *s, int passes) {
    struct buf out, copy;
    struct arena arena;
    buf_init(&out, FRAME_MAX);
    buf_init(&copy, FRAME_MAX);
    arena_init(&arena, 65536, (size_t)1 << 28);
    double put = 1e9, taken = 1e9, floor = 1e9;
    for (int i = 0; i < passes; i++) {
        keep_least(&put, put_once(s, &out));
        keep_least(&taken, take_once(s, buf_slice(&out), &arena));
        if (copy.len == 0) (void)buf_space(&copy, out.len);
        keep_least(&floor, copy_once(buf_slice(&out), copy.at));
    }
    double ns = 1e9 / ITEMS;
    printf("%-20s %6.1f B each  put %6.1f ns  take %6.1f ns  copy %5.1f ns  (each of %u)\n", s->name,
           (double)out.len / ITEMS, put * ns, taken * ns, floor * ns, ITEMS);
    buf_fini(&out);
    buf_fini(&copy);
    arena_fini(&arena);
}

/* ---- what is measured ---- */

static uint8_t body[200];
static char names[ITEMS][16];

static void submit_one_flow(int passes) {
    static struct wire_job jobs[ITEMS];
    static uint32_t parents[ITEMS];
    struct wire_options options = {.kind = JOB_NOOP, .demand.pool = SLICE("default")};
    for (uint32_t i = 0; i < ITEMS; i++) {
        parents[i] = i ? i - 1 : 0;
        jobs[i] = (struct wire_job){.name = slice_str(names[i]), .body = slice_of(body, sizeof body)};
        jobs[i].parents = (struct tlv_u32s){&parents[i], i ? 1 : 0};
    }
    struct wire_flow flow = {.name = SLICE("chain"), .part = {{&options, 1}, {jobs, ITEMS}, false}};
    measure(&(struct sample){"jobs of one flow", WIRE_SUBMIT, &(struct wire_submit){{&flow, 1}}}, passes);
}

static void submit_many_flows(int passes) {
    static struct wire_flow flows[ITEMS];
    static struct wire_job job;
    static struct wire_options options = {.kind = JOB_NOOP};
    job = (struct wire_job){.name = SLICE("main"), .body = slice_of(body, sizeof body)};
    for (uint32_t i = 0; i < ITEMS; i++)
        flows[i] = (struct wire_flow){.key = slice_str(names[i]), .part = {{&options, 1}, {&job, 1}, false}};
    measure(&(struct sample){"flows of one job", WIRE_SUBMIT, &(struct wire_submit){{flows, ITEMS}}}, passes);
}

static void assign_many(int passes) {
    static struct wire_assignment all[ITEMS];
    for (uint32_t i = 0; i < ITEMS; i++)
        all[i] = (struct wire_assignment){.attempt = {0, 1000 + i, i, 1},
                                          .fence = 100000 + i,
                                          .job = slice_str(names[i]),
                                          .kind = JOB_NOOP,
                                          .body = slice_of(body, sizeof body)};
    measure(&(struct sample){"assignments", WIRE_ASSIGN, &(struct wire_assign){7, {all, ITEMS}}}, passes);
}

static void done_many(int passes) {
    static struct wire_end all[ITEMS];
    for (uint32_t i = 0; i < ITEMS; i++) all[i] = (struct wire_end){.attempt = {0, 1000 + i, i, 1}};
    measure(&(struct sample){"ends", WIRE_DONE, &(struct wire_done){{all, ITEMS}}}, passes);
}

int main(int argc, char **argv) {
    int passes = argc > 1 && strcmp(argv[1], "--quick") == 0 ? 20 : 500;
    for (uint32_t i = 0; i < ITEMS; i++) (void)snprintf(names[i], sizeof names[i], "job-%u", i);
    memset(body, 'x', sizeof body);
    submit_one_flow(passes);
    submit_many_flows(passes);
    assign_many(passes);
    done_many(passes);
    return 0;
}
