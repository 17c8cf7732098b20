/* w_run.c: no-ops through workers: W4 (one at a time), W5 (a queue is drained), W7 (graphs), W8 (a chain). */
#include "floor.h"
#include "lab.h"
#include "panic.h"
#include "request.h"
#include "w_absolute.h"
#include "w_wait.h"

#define SECONDS 1.0
#define OVERHEAD_US 150.0 /* that the targets allow beside the syncs */
#define DRAIN_FLOWS_MAX 500u
#define DRAIN_FLOW_JOBS 1000u

static const struct request_job noop = {.kind = JOB_NOOP};

static enum err workers_start(struct lab *l, struct why *why) {
    const struct workload_settings *with = bench_with(l->bench);
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < with->workers && e == ERR_OK; i++) e = lab_worker_start(l, with->slots, why);
    return e;
}

/* ---- W4, W8: compared with the sync ---- */

struct stepping {
    struct lab *lab;
    struct buf request;
    uint64_t syncs;
    uint64_t flows;
    double syncs_each;  /* of one step, at least */
    struct series bare; /* H, in microseconds */
    uint64_t jobs;      /* of the flow, or round trips */
};

static enum err step_floor(void *ctx, double *ret, struct why *why) {
    struct stepping *w = ctx;
    double rate = 0;
    enum err e = floor_sync(w->lab->dir, w->lab->bench->quick ? SECONDS / 20 : SECONDS, &rate, why);
    *ret = w->syncs_each * 1e6 / rate;
    return e;
}

static enum err chain_value(void *ctx, double *ret, struct why *why) {
    struct stepping *w = ctx;
    uint64_t before = 0, after = 0;
    enum err e = lab_stat(w->lab, "journal_syncs", &before, why);
    double start = bench_now();
    if (e == ERR_OK) e = wait_submitted(w->lab, &w->request, why);
    *ret = (bench_now() - start) * 1e6 / (double)w->jobs;
    if (e == ERR_OK) e = lab_stat(w->lab, "journal_syncs", &after, why);
    w->syncs = after - before;
    w->flows++;
    return e;
}

static enum err trips_value(void *ctx, double *ret, struct why *why) {
    struct stepping *w = ctx;
    struct client *c = &w->lab->client;
    uint64_t count = w->jobs, before = 0, after = 0;
    enum err e = lab_stat(w->lab, "journal_syncs", &before, why);
    double start = bench_now();
    for (uint64_t i = 0; i < count && e == ERR_OK; i++) {
        e = wait_trip(c, why);
    }
    *ret = (bench_now() - start) * 1e6 / (double)count;
    if (e == ERR_OK) e = lab_stat(w->lab, "journal_syncs", &after, why);
    w->syncs = after - before;
    w->flows += count;
    double bare = 0;
    if (e == ERR_OK) e = floor_hops(w->lab->dir, w->lab->bench->quick ? SECONDS / 20 : SECONDS, &bare, why);
    series_add(&w->bare, bare * 1e6);
    return e;
}

static void stepping_report(struct bench *b, const struct stepping *w, struct spread value, double floor) {
    figure_report(b, &(struct figure){.shape = "",
                                      .unit = "us",
                                      .value = value,
                                      .floor = floor,
                                      .target = floor + OVERHEAD_US,
                                      .syncs = w->syncs,
                                      .operations = w->jobs});
}

enum err w4_round_trip(struct bench *b, struct why *why) {
    struct lab l;
    struct stepping w = {.lab = &l, .syncs_each = 2, .jobs = bench_size(b, bench_with(b)->jobs)};
    struct spread value = {0};
    double floor = 0;
    enum err e = lab_open(&l, b, why);
    if (e == ERR_OK) e = workers_start(&l, why);
    if (e == ERR_OK) e = wait_subscribe(&l.client, why);
    if (e == ERR_OK) e = bench_rounds(b, &(struct pairing){step_floor, trips_value, &w}, &value, &floor, why);
    if (e == ERR_OK) e = lab_check(&l, w.flows, w.flows, why);
    lab_close(&l);
    if (e != ERR_OK) return e;
    stepping_report(b, &w, value, floor);
    figure_report(
        b, &(struct figure){.shape = "the same hops, bare", .unit = "us", .value = spread_of(&w.bare), .floor = floor});
    return ERR_OK;
}

enum err w8_chain(struct bench *b, struct why *why) {
    struct lab l;
    struct stepping w = {.lab = &l, .syncs_each = 1, .jobs = bench_size(b, bench_with(b)->jobs)};
    struct spread value = {0};
    double floor = 0;
    buf_init(&w.request, REQUEST_BYTES_MAX);
    request_flow(&w.request, (uint32_t)w.jobs, REQUEST_CHAIN, &noop);
    enum err e = lab_open(&l, b, why);
    if (e == ERR_OK) e = workers_start(&l, why);
    if (e == ERR_OK) e = bench_rounds(b, &(struct pairing){step_floor, chain_value, &w}, &value, &floor, why);
    if (e == ERR_OK) e = lab_check(&l, w.flows, w.flows * w.jobs, why);
    lab_close(&l);
    buf_fini(&w.request);
    if (e == ERR_OK) stepping_report(b, &w, value, floor);
    return e;
}

/* ---- W7: graphs ---- */

static enum err graph(struct lab *l, struct absolute *w, struct why *why) {
    enum err e = workers_start(l, why);
    if (e == ERR_OK) e = lab_stat(l, "journal_syncs", &w->syncs_before, why);
    double start = bench_now();
    if (e == ERR_OK) e = wait_submitted(l, &w->request, why);
    w->seconds = bench_now() - start;
    return e;
}

enum err w7_graphs(struct bench *b, struct why *why) {
    uint64_t jobs = bench_size(b, bench_with(b)->jobs);
    struct absolute w = {.run = graph, .jobs = jobs, .flows = 1, .ends = jobs};
    absolute_init(&w);
    request_flow(&w.request, (uint32_t)jobs, REQUEST_FAN, &noop);
    enum err e = absolute_rounds(&w, b, why);
    if (e == ERR_OK) absolute_report_each(&w, b, "1, 9,998, 1", 10);
    request_flow(&w.request, (uint32_t)jobs, REQUEST_LAYERS, &noop);
    if (e == ERR_OK) e = absolute_rounds(&w, b, why);
    if (e == ERR_OK) absolute_report_each(&w, b, "100 layers of 100", 10);
    absolute_fini(&w);
    return e;
}

/* ---- W5: a queue is drained ---- */

/* A paused tenant starts nothing, so that all is queued and both workers are there when the clock starts. */
static enum err pause_tenant(struct lab *l, enum wire_op op, struct why *why) {
    struct wire_pause m = {.scope = WIRE_SCOPE_TENANT, .name = SLICE("default")};
    struct client_frame got;
    return client_ask(&l->client, op, &m, &got, why);
}

static enum err drain(struct lab *l, struct absolute *w, struct why *why) {
    static char flows[DRAIN_FLOWS_MAX][WAIT_ID_BYTES];
    uint64_t early = 0;
    enum err e = pause_tenant(l, WIRE_PAUSE, why);
    if (e == ERR_OK) e = workers_start(l, why);
    REQUIRE(w->flows <= DRAIN_FLOWS_MAX);
    for (uint32_t i = 0; i < w->flows && e == ERR_OK; i++) {
        e = wait_submit(l, &w->request, flows[i], why);
        bench_progress(l->bench, "flows queued", i + 1, w->flows);
    }
    if (e == ERR_OK) e = lab_stat(l, "jobs_succeeded", &early, why);
    if (e == ERR_OK && early != 0) e = why_set(why, ERR_UNKNOWN, "jobs ran while the tenant was paused");
    if (e == ERR_OK) e = lab_stat(l, "journal_syncs", &w->syncs_before, why);
    double start = bench_now();
    if (e == ERR_OK) e = pause_tenant(l, WIRE_RESUME, why);
    if (e == ERR_OK) e = wait_flows(l, flows, (uint32_t)w->flows, why);
    w->seconds = bench_now() - start;
    return e;
}

enum err w5_drain(struct bench *b, struct why *why) {
    uint64_t flows = bench_size(b, bench_with(b)->jobs / DRAIN_FLOW_JOBS);
    struct absolute w = {.run = drain, .jobs = flows * DRAIN_FLOW_JOBS, .flows = flows};
    w.ends = w.jobs;
    absolute_init(&w);
    request_flow(&w.request, DRAIN_FLOW_JOBS, REQUEST_FLAT, &noop);
    enum err e = absolute_rounds(&w, b, why);
    if (e == ERR_OK) absolute_report_rate(&w, b, "", 200000);
    absolute_fini(&w);
    return e;
}
