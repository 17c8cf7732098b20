/* w_processes.c: W6, real processes, with everything a job gets: session, environment, workspace, captured output. */
#include "floor.h"
#include "lab.h"
#include "request.h"
#include "w_wait.h"

struct processes {
    struct lab *lab;
    struct buf request;
    uint32_t count;
    uint64_t flows, syncs;
};

static enum err spawn_floor(void *ctx, double *ret, struct why *why) {
    struct processes *w = ctx;
    return floor_spawn(w->lab->dir, w->count, ret, why);
}

static enum err spawn_value(void *ctx, double *ret, struct why *why) {
    struct processes *w = ctx;
    uint64_t before = 0, after = 0;
    enum err e = lab_stat(w->lab, "journal_syncs", &before, why);
    double start = bench_now();
    if (e == ERR_OK) e = wait_submitted(w->lab, &w->request, why);
    *ret = w->count / (bench_now() - start);
    if (e == ERR_OK) e = lab_stat(w->lab, "journal_syncs", &after, why);
    w->syncs = after - before;
    w->flows++;
    return e;
}

static void request_make(struct processes *w) {
    struct buf body;
    struct wire_arg argv[] = {{SLICE("/bin/true")}};
    struct wire_run run = {.argv = {argv, 1}};
    buf_init(&body, 4096);
    tlv_encode(&wire_run_desc, &run, &body);
    buf_init(&w->request, REQUEST_BYTES_MAX);
    request_flow(&w->request, w->count, REQUEST_FLAT, &(struct request_job){JOB_COMMAND, buf_slice(&body)});
    buf_fini(&body);
}

enum err w6_processes(struct bench *b, struct why *why) {
    struct lab l;
    struct processes w = {.lab = &l, .count = (uint32_t)bench_size(b, bench_with(b)->jobs)};
    struct spread value = {0};
    double floor = 0;
    request_make(&w);
    enum err e = lab_open(&l, b, why);
    if (e == ERR_OK) e = lab_worker_start(&l, bench_with(b)->slots, why);
    if (e == ERR_OK) e = bench_rounds(b, &(struct pairing){spawn_floor, spawn_value, &w}, &value, &floor, why);
    if (e == ERR_OK) e = lab_check(&l, w.flows, w.flows * w.count, why);
    lab_close(&l);
    buf_fini(&w.request);
    if (e == ERR_OK)
        figure_report(b, &(struct figure){.shape = "",
                                          .unit = "/s",
                                          .more_is_better = true,
                                          .value = value,
                                          .floor = floor,
                                          .target = 0.9 * floor,
                                          .syncs = w.syncs,
                                          .operations = w.count});
    return e;
}
