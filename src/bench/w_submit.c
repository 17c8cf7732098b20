/* w_submit.c: W1, W2 (one request in flight on each connection) and W3 (batches of 1,000). */
#include "w_submit.h"

#include "request.h"
#include "w_absolute.h"

#define SECONDS 1.0
#define ANSWER_BYTES 48u /* as long as that of the server */

/* ---- W1, W2 ---- */

enum err submits_open(struct submits *w, const char *dir, struct why *why) {
    buf_init(&w->request, REQUEST_BYTES_MAX);
    request_singles(&w->request, 1, 0, &(struct request_job){JOB_NOOP, request_spec()});
    enum err e = floor_server_start(&w->floor, dir, ANSWER_BYTES, why);
    if (e == ERR_OK) e = load_open(&w->floor_load, w->floor.address, w->connections, NULL, "", why);
    w->has_floor_load = e == ERR_OK;
    return e;
}

void submits_close(struct submits *w) {
    if (w->has_floor_load) load_close(&w->floor_load);
    floor_server_stop(&w->floor);
    buf_fini(&w->request);
}

static enum err rate(struct submits *w, struct load_conns *l, uint64_t *ret_answers, double *ret, struct why *why) {
    struct load_plan plan = {.request = &w->request,
                             .answer = WIRE_SUBMITTED,
                             .flight = w->flight,
                             .seconds = w->bench->quick ? SECONDS / 20 : SECONDS};
    double took = 0;
    enum err e = load_run(l, &plan, ret_answers, &took, why);
    *ret = (double)*ret_answers / took;
    return e;
}

enum err submits_floor(void *ctx, double *ret, struct why *why) {
    struct submits *w = ctx;
    uint64_t answers = 0;
    return rate(w, &w->floor_load, &answers, ret, why);
}

static enum err submits_value(void *ctx, double *ret, struct why *why) {
    struct submits *w = ctx;
    uint64_t answers = 0, before = 0, after = 0;
    enum err e = lab_stat(w->lab, "journal_syncs", &before, why);
    if (e == ERR_OK) e = rate(w, &w->load, &answers, ret, why);
    if (e == ERR_OK) e = lab_stat(w->lab, "journal_syncs", &after, why);
    w->flows += answers;
    w->answers = answers;
    w->syncs = after - before;
    return e;
}

static enum err submits_run(struct bench *b, double target, struct why *why) {
    const struct workload_settings *with = bench_with(b);
    struct lab l;
    struct submits w = {.bench = b, .connections = with->connections, .flight = with->flight, .lab = &l};
    struct spread value = {0};
    double floor = 0;
    enum err e = lab_open(&l, b, why);
    if (e == ERR_OK) e = submits_open(&w, l.dir, why);
    if (e == ERR_OK) e = load_open(&w.load, l.address, with->connections, l.admin, b->build, why);
    if (e == ERR_OK) {
        e = bench_rounds(b, &(struct pairing){submits_floor, submits_value, &w}, &value, &floor, why);
        load_close(&w.load);
    }
    submits_close(&w);
    if (e == ERR_OK) e = lab_check(&l, w.flows, 0, why);
    lab_close(&l);
    if (e == ERR_OK)
        figure_report(b, &(struct figure){.shape = "",
                                          .unit = "/s",
                                          .more_is_better = true,
                                          .value = value,
                                          .floor = floor,
                                          .target = target * floor,
                                          .syncs = w.syncs,
                                          .operations = w.answers});
    return e;
}

enum err w1_submit_one(struct bench *b, struct why *why) {
    return submits_run(b, 0.9, why);
}

enum err w2_submit_many(struct bench *b, struct why *why) {
    return submits_run(b, 0.8, why);
}

/* ---- W3 ---- */

static enum err batches(struct lab *l, struct absolute *w, struct why *why) {
    const struct workload_settings *with = bench_with(l->bench);
    struct load_conns load;
    uint64_t answers = 0;
    enum err e = load_open(&load, l->address, with->connections, l->admin, l->bench->build, why);
    if (e != ERR_OK) return e;
    struct load_plan plan = {.request = &w->request,
                             .answer = WIRE_SUBMITTED,
                             .flight = with->flight,
                             .answers_max = bench_size(l->bench, with->jobs / with->jobs_per_request),
                             .progress = l->bench,
                             .what = "batches"};
    e = load_run(&load, &plan, &answers, &w->seconds, why);
    load_close(&load);
    return e;
}

enum err w3_submit_batches(struct bench *b, struct why *why) {
    uint32_t each = bench_with(b)->jobs_per_request;
    uint64_t count = bench_size(b, bench_with(b)->jobs / each);
    const struct request_job job = {JOB_NOOP, request_spec()};
    struct absolute w = {.run = batches, .jobs = count * each, .flows = count * each};
    absolute_init(&w);
    request_singles(&w.request, each, 0, &job);
    enum err e = absolute_rounds(&w, b, why);
    if (e == ERR_OK) absolute_report_seconds(&w, b, "flows of 1", 0.5);
    w.flows = count;
    request_flow(&w.request, each, REQUEST_FLAT, &job);
    if (e == ERR_OK) e = absolute_rounds(&w, b, why);
    if (e == ERR_OK) absolute_report_seconds(&w, b, "flows of 1,000", 0.5);
    absolute_fini(&w);
    return e;
}
