/* w_floors.c: W0, the floors by themselves, so that a reader knows the machine. */
#include "floor.h"
#include "lab.h"
#include "load.h"
#include "request.h"
#include "w_submit.h"

#define SECONDS 1.0
#define SPAWNS 2000u
#define APPLIED_FLOWS 200u

static enum err sync_floor(struct bench *b, const char *dir, struct why *why) {
    double v = 0;
    enum err e = floor_sync(dir, b->quick ? SECONDS / 20 : SECONDS, &v, why);
    if (e == ERR_OK) bench_report(b, &(struct figure){.shape = "F", .unit = "/s", .more_is_better = true, .value = v});
    return e;
}

static enum err tcp_floor(struct bench *b, const char *dir, uint32_t connections, const char *name, struct why *why) {
    struct submits w = {.bench = b, .connections = connections};
    double v = 0;
    enum err e = submits_open(&w, dir, why);
    if (e == ERR_OK) e = submits_floor(&w, &v, why);
    submits_close(&w);
    if (e == ERR_OK) bench_report(b, &(struct figure){.shape = name, .unit = "/s", .more_is_better = true, .value = v});
    return e;
}

static enum err spawn_floor(struct bench *b, const char *dir, struct why *why) {
    double v = 0;
    enum err e = floor_spawn(dir, (uint32_t)bench_size(b, SPAWNS), &v, why);
    if (e == ERR_OK) bench_report(b, &(struct figure){.shape = "S", .unit = "/s", .more_is_better = true, .value = v});
    return e;
}

/* Queued jobs, from the journal into the memory of an engine. */
static enum err apply_floor(struct bench *b, struct lab *l, struct why *why) {
    struct load load;
    struct buf request;
    uint64_t flows = bench_size(b, APPLIED_FLOWS), answers = 0;
    double took = 0;
    enum err e = load_open(&load, l->address, 1, l->admin, b->build, why);
    if (e != ERR_OK) return e;
    buf_init(&request, REQUEST_BYTES_MAX);
    request_flow(&request, 1000, REQUEST_FLAT, &(struct request_job){WIRE_JOB_NOOP, request_spec()});
    struct load_plan plan = {.request = &request, .answer = WIRE_SUBMITTED, .flight = 4, .answers_max = flows};
    e = load_run(&load, &plan, &answers, &took, why);
    buf_fini(&request);
    load_close(&load);
    if (e == ERR_OK) e = lab_check(l, flows, 0, why);
    if (e == ERR_OK) e = lab_fold(l, &took, why);
    if (e == ERR_OK)
        bench_report(b, &(struct figure){.shape = "apply", .unit = "us", .value = took * 1e6 / (double)flows / 1000});
    return e;
}

enum err w0_floors(struct bench *b, struct why *why) {
    struct lab l;
    enum err e = lab_open(&l, b, why);
    if (e == ERR_OK) e = sync_floor(b, l.dir, why);
    if (e == ERR_OK) e = tcp_floor(b, l.dir, 1, "T(1)", why);
    if (e == ERR_OK) e = tcp_floor(b, l.dir, 64, "T(64)", why);
    if (e == ERR_OK) e = spawn_floor(b, l.dir, why);
    if (e == ERR_OK) e = apply_floor(b, &l, why);
    lab_close(&l);
    return e;
}
