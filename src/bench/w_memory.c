/* w_memory.c: W10, what a queued job takes of the server's memory beside its spec, and what server and worker take when
 * nothing is to be done. */
#include <stdio.h>
#include <time.h>

#include "lab.h"
#include "load.h"
#include "request.h"

#define JOB_BYTES_TARGET 128.0
#define REST_MS 5000 /* a heartbeat */
#define SETTLE_MS 1500
#define RSS_MB_TARGET 10.0

static void rest(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* ---- queued jobs ---- */

enum queued { QUEUED_IN_FLOWS, QUEUED_ALONE, QUEUED_WITH_KEY };

/* A request with keys is another one each time. */
static enum err queue(struct lab *l, enum queued how, uint64_t batches, struct why *why) {
    const struct workload_settings *with = bench_with(l->bench);
    const struct request_job job = {JOB_NOOP, request_spec()};
    const uint32_t each = with->jobs_per_request;
    struct load_conns load;
    struct buf request;
    uint64_t answers = 0;
    double took = 0;
    enum err e = load_open(&load, l->address, with->connections, l->admin, l->bench->build, why);
    if (e != ERR_OK) return e;
    struct load_plan plan = {.request = &request, .answer = WIRE_SUBMITTED, .flight = with->flight, .answers_max = 1};
    buf_init(&request, REQUEST_BYTES_MAX);
    if (how == QUEUED_IN_FLOWS) request_flow(&request, each, REQUEST_FLAT, &job);
    if (how == QUEUED_ALONE) request_singles(&request, each, 0, &job);
    for (uint64_t i = 0; i < batches && e == ERR_OK; i++) {
        if (how == QUEUED_WITH_KEY) request_singles(&request, each, 1 + i * each, &job);
        e = load_run(&load, &plan, &answers, &took, why);
        bench_progress(l->bench, "batches queued", i + 1, batches);
    }
    buf_fini(&request);
    load_close(&load);
    return e;
}

/* Bytes of a job beside its spec, on a fresh server. */
static enum err memory_once(struct bench *b, enum queued how, double *ret, struct why *why) {
    const uint32_t each = bench_with(b)->jobs_per_request;
    uint64_t batches = bench_size(b, bench_with(b)->jobs / each), jobs = batches * each;
    struct usage before = {0}, after = {0};
    struct lab l;
    enum err e = lab_open(&l, b, why);
    if (e == ERR_OK) e = lab_usage(l.server, &before, why);
    if (e == ERR_OK) e = queue(&l, how, batches, why);
    if (e == ERR_OK) e = lab_usage(l.server, &after, why);
    if (e == ERR_OK) e = lab_check(&l, how == QUEUED_IN_FLOWS ? batches : jobs, 0, why);
    lab_close(&l);
    *ret = (double)(after.rss_bytes - before.rss_bytes) / (double)jobs - REQUEST_SPEC_BYTES;
    return e;
}

static enum err memory_of(struct bench *b, enum queued how, const char *shape, double target, struct why *why) {
    struct series values = {.count = 0};
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < b->rounds && e == ERR_OK; i++) {
        double each = 0;
        e = memory_once(b, how, &each, why);
        series_add(&values, each);
    }
    if (e == ERR_OK)
        figure_report(b, &(struct figure){.shape = shape, .unit = "B", .value = spread_of(&values), .target = target});
    return e;
}

/* ---- at rest ---- */

struct rests {
    struct series rss_mb, wakeups, percent;
};

static void rests_add(struct rests *r, const struct usage *before, const struct usage *after, double seconds) {
    series_add(&r->rss_mb, (double)after->rss_bytes / 1e6);
    series_add(&r->wakeups, (double)(after->wakeups - before->wakeups) / seconds);
    series_add(&r->percent, (after->cpu_seconds - before->cpu_seconds) * 100 / seconds);
}

static void rests_report(const struct rests *r, struct bench *b, const char *rss, const char *wakeups,
                         const char *cpu) {
    figure_report(
        b, &(struct figure){.shape = rss, .unit = "MB", .value = spread_of(&r->rss_mb), .target = RSS_MB_TARGET});
    figure_report(b, &(struct figure){.shape = wakeups, .unit = "/s", .value = spread_of(&r->wakeups)});
    figure_report(b, &(struct figure){.shape = cpu, .unit = "%", .value = spread_of(&r->percent)});
}

static enum err rest_once(struct lab *l, struct rests *server, struct rests *worker, struct why *why) {
    struct usage before[2] = {0}, after[2] = {0};
    long ms = l->bench->quick ? REST_MS / 5 : REST_MS;
    enum err e = lab_usage(l->server, &before[0], why);
    if (e == ERR_OK) e = lab_usage(l->workers[0], &before[1], why);
    if (e == ERR_OK) rest(ms);
    if (e == ERR_OK) e = lab_usage(l->server, &after[0], why);
    if (e == ERR_OK) e = lab_usage(l->workers[0], &after[1], why);
    if (e != ERR_OK) return e;
    rests_add(server, &before[0], &after[0], (double)ms / 1000);
    rests_add(worker, &before[1], &after[1], (double)ms / 1000);
    return ERR_OK;
}

static enum err at_rest(struct bench *b, struct why *why) {
    struct rests server = {0}, worker = {0};
    struct lab l;
    enum err e = lab_open(&l, b, why);
    if (e == ERR_OK) e = lab_worker_start(&l, bench_with(b)->slots, why);
    if (e == ERR_OK) rest(SETTLE_MS); /* the journal seals itself, a segment is prepared */
    for (uint32_t i = 0; i < b->rounds && e == ERR_OK; i++) e = rest_once(&l, &server, &worker, why);
    if (e == ERR_OK) e = lab_check(&l, 0, 0, why);
    lab_close(&l);
    if (e != ERR_OK) return e;
    rests_report(&server, b, "server at rest", "server's wake-ups", "server's time");
    rests_report(&worker, b, "worker at rest", "worker's wake-ups", "worker's time");
    return ERR_OK;
}

enum err w10_memory(struct bench *b, struct why *why) {
    enum err e = memory_of(b, QUEUED_IN_FLOWS, "job in a flow", JOB_BYTES_TARGET, why);
    if (e == ERR_OK) e = memory_of(b, QUEUED_ALONE, "job and its flow", 0, why);
    if (e == ERR_OK) e = memory_of(b, QUEUED_WITH_KEY, "and a key", 0, why);
    return e == ERR_OK ? at_rest(b, why) : e;
}
