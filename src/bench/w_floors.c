/* w_floors.c: W0, the floors by themselves, so that a reader knows the machine. */
#include "floor.h"
#include "lab.h"
#include "load.h"
#include "request.h"
#include "w_submit.h"

#define SECONDS 1.0
#define SPAWNS 2000u
#define APPLIED_FLOWS 200u
#define APPLIED_FLOW_JOBS 1000u

/* One floor, as often as there are rounds. */
struct floor_of {
    struct bench *bench;
    const char *dir;
};

static enum err rounds_of(struct bench *b, enum err (*measure)(void *, double *, struct why *), void *ctx,
                          const char *shape, struct why *why) {
    struct series values = {.count = 0};
    double v = 0;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < b->rounds && e == ERR_OK; i++) {
        e = measure(ctx, &v, why);
        series_add(&values, v);
    }
    if (e == ERR_OK)
        figure_report(
            b, &(struct figure){.shape = shape, .unit = "/s", .more_is_better = true, .value = spread_of(&values)});
    return e;
}

static enum err sync_floor(void *ctx, double *ret, struct why *why) {
    const struct floor_of *f = ctx;
    return floor_sync(f->dir, f->bench->quick ? SECONDS / 20 : SECONDS, ret, why);
}

static enum err spawn_floor(void *ctx, double *ret, struct why *why) {
    const struct floor_of *f = ctx;
    return floor_spawn(f->dir, (uint32_t)bench_size(f->bench, SPAWNS), ret, why);
}

static enum err tcp_floor(struct bench *b, const char *dir, uint32_t connections, const char *name, struct why *why) {
    struct submits w = {.bench = b, .connections = connections, .flight = bench_with(b)->flight};
    enum err e = submits_open(&w, dir, why);
    if (e == ERR_OK) e = rounds_of(b, submits_floor, &w, name, why);
    submits_close(&w);
    return e;
}

/* Queued jobs, from the journal into the memory of an engine. */
static enum err apply_floor(struct bench *b, struct lab *l, struct why *why) {
    struct load_conns load;
    struct buf request;
    uint64_t flows = bench_size(b, APPLIED_FLOWS), answers = 0;
    double took = 0;
    enum err e = load_open(&load, l->address, 1, l->admin, b->build, why);
    if (e != ERR_OK) return e;
    buf_init(&request, REQUEST_BYTES_MAX);
    request_flow(&request, APPLIED_FLOW_JOBS, REQUEST_FLAT, &(struct request_job){JOB_NOOP, request_spec()});
    struct load_plan plan = {.request = &request, .answer = WIRE_SUBMITTED, .flight = 4, .answers_max = flows};
    e = load_run(&load, &plan, &answers, &took, why);
    buf_fini(&request);
    load_close(&load);
    if (e == ERR_OK) e = lab_check(l, flows, 0, why);
    struct series times = {.count = 0};
    for (uint32_t i = 0; i < b->rounds && e == ERR_OK; i++) {
        e = lab_fold(l, &took, why);
        series_add(&times, took * 1e6 / (double)flows / APPLIED_FLOW_JOBS);
    }
    if (e == ERR_OK) figure_report(b, &(struct figure){.shape = "apply", .unit = "us", .value = spread_of(&times)});
    return e;
}

enum err w0_floors(struct bench *b, struct why *why) {
    struct lab l;
    enum err e = lab_open(&l, b, why);
    struct floor_of f = {.bench = b, .dir = l.dir};
    if (e == ERR_OK) e = rounds_of(b, sync_floor, &f, "F", why);
    if (e == ERR_OK) e = tcp_floor(b, l.dir, 1, "T(1)", why);
    if (e == ERR_OK) e = tcp_floor(b, l.dir, bench_with(b)->connections, "T(64)", why);
    if (e == ERR_OK) e = rounds_of(b, spawn_floor, &f, "S", why);
    if (e == ERR_OK) e = apply_floor(b, &l, why);
    lab_close(&l);
    return e;
}
