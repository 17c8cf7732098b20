/* w_restart.c: W9, a million queued jobs, kill -9, and the time until the restarted server has given the first of them
 * away. There is no snapshot (compaction is off: the only setting that any workload changes), and the files are in
 * memory (warm). We are the worker: one that dials every millisecond,
 * so that what is measured is the server and not the patience of a worker. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "lab.h"
#include "load.h"
#include "request.h"

#define PATIENCE_SECONDS 120.0

static enum err queue(struct lab *l, struct buf *request, uint64_t batches, struct why *why) {
    const struct workload_settings *with = bench_with(l->bench);
    struct load_conns load;
    uint64_t answers = 0;
    double took = 0;
    enum err e = load_open(&load, l->address, with->connections, l->admin, l->bench->build, why);
    if (e != ERR_OK) return e;
    struct load_plan plan = {.request = request,
                             .answer = WIRE_SUBMITTED,
                             .flight = with->flight,
                             .answers_max = batches,
                             .progress = l->bench,
                             .what = "batches queued"};
    e = load_run(&load, &plan, &answers, &took, why);
    load_close(&load);
    return e;
}

/* ---- the worker ---- */

static enum err attach(struct client *c, uint64_t incarnation, uint32_t slots, struct why *why) {
    struct wire_attach m = {.worker = SLICE("bench-worker"),
                            .incarnation = incarnation,
                            .info = {.slots = slots},
                            .load = {.credit = slots}};
    struct client_frame f;
    enum err e = client_ask(c, WIRE_ATTACH, &m, &f, why);
    while (e == ERR_OK) {
        e = client_next(c, -1, &f, why);
        if (e == ERR_OK) e = client_refusal(&f, why);
        if (f.op == WIRE_ASSIGN) return e;
    }
    return e;
}

static enum err first_dispatch(struct lab *l, uint64_t incarnation, struct why *why) {
    const struct timespec ms = {0, 1000000};
    struct client_place where = {.data = l->data, .server = l->address, .token = l->worker, .build = l->bench->build};
    double start = bench_now();
    struct client c;
    enum err e;
    while ((e = client_open(&c, &where, why)) == ERR_UNKNOWN) {
        enum err alive = lab_is_alive(l, why);
        if (alive != ERR_OK || bench_now() - start > PATIENCE_SECONDS) return e;
        nanosleep(&ms, NULL);
    }
    if (e != ERR_OK) return e;
    e = attach(&c, incarnation, bench_with(l->bench)->slots, why);
    client_close(&c);
    return e;
}

static enum err restarts(struct lab *l, struct series *times, struct why *why) {
    uint32_t rounds = l->bench->rounds;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < rounds && e == ERR_OK; i++) {
        bench_progress(l->bench, "restarts", i, rounds);
        lab_server_kill(l);
        double start = bench_now();
        e = lab_server_start(l, why);
        if (e == ERR_OK) e = first_dispatch(l, i + 1, why);
        series_add(times, bench_now() - start);
    }
    return e;
}

static enum err shape_run(struct bench *b, struct buf *request, uint64_t batches, uint64_t flows, const char *shape,
                          struct why *why) {
    struct lab l;
    struct series times = {.count = 0};
    double floor = 0;
    uint64_t syncs = 0;
    enum err e = lab_open_uncompacted(&l, b, why);
    if (e == ERR_OK) e = queue(&l, request, batches, why);
    if (e == ERR_OK) e = restarts(&l, &times, why);
    if (e == ERR_OK) e = lab_connect(&l, why);
    if (e == ERR_OK) e = lab_stat(&l, "journal_syncs", &syncs, why); /* of the last start */
    if (e == ERR_OK) e = lab_check(&l, flows, times.count - 1, why); /* each worker but the last lost its one attempt */
    if (e == ERR_OK) e = lab_fold(&l, &floor, why);
    lab_close(&l);
    if (e == ERR_OK)
        figure_report(
            b,
            &(struct figure){
                .shape = shape, .unit = "s", .value = spread_of(&times), .floor = floor, .target = 1, .syncs = syncs});
    return e;
}

enum err w9_restart(struct bench *b, struct why *why) {
    const struct request_job job = {JOB_NOOP, request_spec()};
    uint32_t each = bench_with(b)->jobs_per_request;
    uint64_t batches = bench_size(b, bench_with(b)->jobs / each);
    struct buf request;
    buf_init(&request, REQUEST_BYTES_MAX);
    request_singles(&request, each, 0, &job);
    enum err e = shape_run(b, &request, batches, batches * each, "1,000,000 x 1", why);
    request_flow(&request, each, REQUEST_FLAT, &job);
    if (e == ERR_OK) e = shape_run(b, &request, batches, batches, "1,000 x 1,000", why);
    buf_fini(&request);
    return e;
}
