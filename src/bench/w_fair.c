/* w_fair.c: W11: one tenant has 100,000 jobs queued; another asks for one now and then and has slots free. How long
 * does the second wait?
 *
 * The design speaks of one a second; here it asks as soon as the last one is over and PAUSE_MS have passed, which is
 * harder and gives a hundred times as many waits to take the worst from. What is measured is more than the wait: from
 * the submit to the event of the end. */
#include <stdlib.h>
#include <time.h>

#include "lab.h"
#include "panic.h"
#include "request.h"
#include "w_wait.h"

#define FLOW_JOBS 1000u
#define TRIPS 300u
#define PAUSE_MS 10
#define WAITS_MAX 4096u
#define TARGET_MS 5.0

struct waits {
    double at[WAITS_MAX];
    uint32_t count;
};

static int by_length(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of a hundred waits one is longer. */
static double waits_p99(struct waits *w) {
    REQUIRE(w->count > 0);
    qsort(w->at, w->count, sizeof w->at[0], by_length);
    return w->at[(w->count * 99 + 99) / 100 - 1];
}

static enum err one_wait(struct client *c, struct waits *w, struct why *why) {
    nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000000L}, NULL);
    double start = bench_now();
    enum err e = wait_trip(c, why);
    if (e == ERR_OK && w->count < WAITS_MAX) w->at[w->count++] = (bench_now() - start) * 1e3;
    return e;
}

struct fairness {
    struct lab lab;
    struct client other;                         /* of the tenant that wants little */
    struct waits queued;                         /* while nobody works for the first tenant */
    struct waits drained;                        /* while its queue is worked off */
    uint64_t flows, trips, syncs, syncs_drained; /* of one round */
};

/* The first tenant is the standard one; the other has a worker and a client of its own. */
static enum err meet(struct fairness *f, struct why *why) {
    struct lab *l = &f->lab;
    char worker[LAB_TOKEN_MAX], submitter[LAB_TOKEN_MAX];
    enum err e = lab_token(l, "other", "worker", worker, why);
    if (e == ERR_OK) e = lab_token(l, "other", "submitter", submitter, why);
    if (e == ERR_OK) e = lab_worker_start_as(l, worker, 0, why);
    struct client_place where = {.server = l->address, .token = submitter, .build = l->bench->build};
    if (e == ERR_OK) e = client_open(&f->other, &where, why);
    return e == ERR_OK ? wait_subscribe(&f->other, why) : e;
}

static enum err queue_up(struct fairness *f, const struct buf *request, struct why *why) {
    char id[WAIT_ID_BYTES];
    enum err e = ERR_OK;
    for (uint64_t i = 0; i < f->flows && e == ERR_OK; i++) e = wait_submit(&f->lab, request, id, why);
    return e;
}

/* Until the last job of the first tenant is over. */
static enum err beside_work(struct fairness *f, struct why *why) {
    uint64_t over = 0, all = f->flows * FLOW_JOBS;
    enum err e = lab_worker_start(&f->lab, bench_with(f->lab.bench)->slots, why);
    while (e == ERR_OK && over < all + f->trips) {
        e = one_wait(&f->other, &f->drained, why);
        if (e == ERR_OK) f->trips++;
        if (e == ERR_OK) e = lab_stat(&f->lab, "jobs_succeeded", &over, why);
    }
    return e;
}

static enum err one_round(struct fairness *f, const struct buf *request, struct why *why) {
    uint64_t before = 0, after = 0;
    f->trips = 0;
    enum err e = queue_up(f, request, why);
    if (e == ERR_OK) e = lab_stat(&f->lab, "journal_syncs", &before, why);
    for (uint64_t i = 0; i < bench_size(f->lab.bench, TRIPS) && e == ERR_OK; i++) {
        e = one_wait(&f->other, &f->queued, why);
        if (e == ERR_OK) f->trips++;
    }
    if (e == ERR_OK) e = lab_stat(&f->lab, "journal_syncs", &after, why);
    f->syncs = after - before;
    if (e == ERR_OK) e = beside_work(f, why);
    if (e == ERR_OK) e = lab_stat(&f->lab, "journal_syncs", &before, why);
    f->syncs_drained = before - after;
    return e;
}

/* p99 of each round, in ms. */
struct fair_series {
    struct series queued, drained;
};

static enum err rounds_of(struct bench *b, struct fairness *f, const struct buf *request, struct fair_series *ret,
                          struct why *why) {
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < b->rounds && e == ERR_OK; i++) {
        f->other.fd = -1;
        f->queued.count = f->drained.count = 0;
        bench_progress(b, "rounds", i, b->rounds);
        e = lab_open(&f->lab, b, why);
        if (e == ERR_OK) e = meet(f, why);
        if (e == ERR_OK) e = one_round(f, request, why);
        if (f->other.fd >= 0) client_close(&f->other);
        if (e == ERR_OK) e = lab_check(&f->lab, f->flows + f->trips, f->flows * FLOW_JOBS + f->trips, why);
        lab_close(&f->lab);
        if (e != ERR_OK) return e;
        series_add(&ret->queued, waits_p99(&f->queued));
        series_add(&ret->drained, waits_p99(&f->drained));
    }
    return e;
}

enum err w11_fair(struct bench *b, struct why *why) {
    static struct fairness f;
    const struct request_job noop = {.kind = JOB_NOOP};
    struct fair_series p99 = {0};
    struct buf request;
    f = (struct fairness){.flows = bench_size(b, bench_with(b)->jobs / FLOW_JOBS)};
    buf_init(&request, REQUEST_BYTES_MAX);
    request_flow(&request, FLOW_JOBS, REQUEST_FLAT, &noop);
    enum err e = rounds_of(b, &f, &request, &p99, why);
    buf_fini(&request);
    if (e != ERR_OK) return e;
    struct figure shown = {.shape = "p99, others queued", .unit = "ms", .target = TARGET_MS, .syncs = f.syncs};
    shown.value = spread_of(&p99.queued);
    figure_report(b, &shown);
    shown.shape = "p99, others are run";
    shown.value = spread_of(&p99.drained);
    shown.target = 0;
    shown.syncs = f.syncs_drained;
    figure_report(b, &shown);
    return ERR_OK;
}
