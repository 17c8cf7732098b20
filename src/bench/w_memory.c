/* w_memory.c: W10, what a queued job takes of the server's memory beside its spec, and what server and worker take when
 * nothing is to be done. */
#include <stdio.h>
#include <time.h>

#include "lab.h"
#include "load.h"
#include "request.h"

#define JOBS 1000000u
#define BATCH_JOBS 1000u
#define BATCHES_FLIGHT 8u
#define JOB_BYTES_TARGET 128.0
#define REST_MS 10000 /* two heartbeats */
#define SETTLE_MS 1500
#define RSS_MB_TARGET 10.0

static void rest(long ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* ---- queued jobs ---- */

enum queued { QUEUED_IN_FLOWS, QUEUED_ALONE, QUEUED_WITH_KEY };

static enum err queue_batch(struct load *load, struct buf *request, uint64_t count, struct why *why) {
    struct load_plan plan = {
        .request = request, .answer = WIRE_SUBMITTED, .flight = BATCHES_FLIGHT, .answers_max = count};
    uint64_t answers = 0;
    double took = 0;
    return load_run(load, &plan, &answers, &took, why);
}

/* A request with keys is another one each time. */
static enum err queue(struct lab *l, enum queued how, uint64_t batches, struct why *why) {
    const struct request_job job = {WIRE_JOB_NOOP, request_spec()};
    struct load load;
    struct buf request;
    enum err e = load_open(&load, l->address, 1, l->admin, l->bench->build, why);
    if (e != ERR_OK) return e;
    buf_init(&request, REQUEST_BYTES_MAX);
    if (how == QUEUED_IN_FLOWS) request_flow(&request, BATCH_JOBS, REQUEST_FLAT, &job);
    if (how == QUEUED_ALONE) request_singles(&request, BATCH_JOBS, 0, &job);
    for (uint64_t i = 0; i < batches && e == ERR_OK; i++) {
        if (how == QUEUED_WITH_KEY) request_singles(&request, BATCH_JOBS, 1 + i * BATCH_JOBS, &job);
        e = queue_batch(&load, &request, 1, why);
        bench_progress(l->bench, "batches queued", i + 1, batches);
    }
    buf_fini(&request);
    load_close(&load);
    return e;
}

static enum err memory_of(struct bench *b, enum queued how, const char *shape, double target, struct why *why) {
    uint64_t batches = bench_size(b, JOBS / BATCH_JOBS), jobs = batches * BATCH_JOBS;
    struct usage before = {0}, after = {0};
    struct lab l;
    enum err e = lab_open(&l, b, why);
    if (e == ERR_OK) e = lab_usage(l.server, &before, why);
    if (e == ERR_OK) e = queue(&l, how, batches, why);
    if (e == ERR_OK) e = lab_usage(l.server, &after, why);
    if (e == ERR_OK) e = lab_check(&l, how == QUEUED_IN_FLOWS ? batches : jobs, 0, why);
    lab_close(&l);
    if (e != ERR_OK) return e;
    double each = (double)(after.rss_bytes - before.rss_bytes) / (double)jobs - REQUEST_SPEC_BYTES;
    bench_report(b, &(struct figure){.shape = shape, .unit = "B", .value = each, .target = target});
    return ERR_OK;
}

/* ---- at rest ---- */

static void rest_report(struct bench *b, const char *rss, const char *wakeups, const char *cpu,
                        const struct usage *before, const struct usage *after, double seconds) {
    bench_report(b, &(struct figure){
                        .shape = rss, .unit = "MB", .value = (double)after->rss_bytes / 1e6, .target = RSS_MB_TARGET});
    bench_report(b, &(struct figure){
                        .shape = wakeups, .unit = "/s", .value = (double)(after->wakeups - before->wakeups) / seconds});
    bench_report(b, &(struct figure){.shape = cpu,
                                     .unit = "%",
                                     .value = (after->cpu_seconds - before->cpu_seconds) * 100 / seconds});
}

static enum err at_rest(struct bench *b, struct why *why) {
    struct usage before[2] = {0}, after[2] = {0};
    struct lab l;
    long ms = b->quick ? REST_MS / 10 : REST_MS;
    enum err e = lab_open(&l, b, why);
    if (e == ERR_OK) e = lab_worker_start(&l, 0, why);
    if (e == ERR_OK) rest(SETTLE_MS); /* the journal seals itself, a segment is prepared */
    if (e == ERR_OK) e = lab_usage(l.server, &before[0], why);
    if (e == ERR_OK) e = lab_usage(l.workers[0], &before[1], why);
    if (e == ERR_OK) rest(ms);
    if (e == ERR_OK) e = lab_usage(l.server, &after[0], why);
    if (e == ERR_OK) e = lab_usage(l.workers[0], &after[1], why);
    if (e == ERR_OK) e = lab_check(&l, 0, 0, why);
    lab_close(&l);
    if (e != ERR_OK) return e;
    double seconds = (double)ms / 1000;
    rest_report(b, "server at rest", "server's wake-ups", "server's time", &before[0], &after[0], seconds);
    rest_report(b, "worker at rest", "worker's wake-ups", "worker's time", &before[1], &after[1], seconds);
    return ERR_OK;
}

enum err w10_memory(struct bench *b, struct why *why) {
    enum err e = memory_of(b, QUEUED_IN_FLOWS, "job in a flow", JOB_BYTES_TARGET, why);
    if (e == ERR_OK) e = memory_of(b, QUEUED_ALONE, "job and its flow", 0, why);
    if (e == ERR_OK) e = memory_of(b, QUEUED_WITH_KEY, "and a key", 0, why);
    return e == ERR_OK ? at_rest(b, why) : e;
}
