/* check_capacity.c: what workers offer against what they were given, by the records. */
#include "check_capacity.h"

#include <stdlib.h>

#include "panic.h"

struct offer { /* one TR_WORKER; the newest of a worker counts */
    uint64_t lsn;
    enum trace_kind kind; /* attached, drained, gone: the state of a worker is its last line of each */
    struct check_bytes worker;
    bool on;
    uint32_t slots, cpu_milli, gpus;
    uint64_t memory_bytes;
    struct check_amount *resources;
    uint32_t resource_count;
    struct check_bytes tenant;
};

struct capacity_notes {
    struct offer *offers; /* in the order of LSNs */
    uint32_t count;
};

void *check_capacity_new(void) {
    struct capacity_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

static void pop(struct capacity_notes *n) {
    struct offer *o = &n->offers[--n->count];
    for (uint32_t i = 0; i < o->resource_count; i++) free(o->resources[i].name.at);
    free(o->resources);
    free(o->worker.at);
    free(o->tenant.at);
}

void check_capacity_free(void *notes) {
    struct capacity_notes *n = notes;
    while (n->count > 0) pop(n);
    free(n->offers);
    free(n);
}

static void said(struct capacity_notes *n, const struct trace_entry *e) {
    const struct trace_worker *r = &e->as.worker;
    n->offers = check_grow(n->offers, n->count, sizeof *n->offers);
    struct offer *o = &n->offers[n->count++];
    *o = (struct offer){
        .lsn = e->lsn,
        .kind = e->kind,
        .worker = check_bytes_copy(r->worker),
        .on = r->on,
        .slots = r->slots,
        .cpu_milli = r->cpu_milli,
        .gpus = r->gpus,
        .memory_bytes = r->memory_bytes,
        .resource_count = r->resource_count,
        .tenant = check_bytes_copy(r->tenant),
    };
    o->resources = calloc((size_t)r->resource_count + 1, sizeof *o->resources);
    REQUIRE(o->resources != NULL);
    for (uint32_t i = 0; i < r->resource_count; i++) {
        o->resources[i].name = check_bytes_copy(r->resources[i].name);
        o->resources[i].amount = r->resources[i].amount;
    }
}

static const struct offer *last_of(const struct capacity_notes *n, struct trace_bytes worker, enum trace_kind kind) {
    for (uint32_t i = n->count; i > 0; i--) {
        const struct offer *o = &n->offers[i - 1];
        if (o->kind == kind && check_bytes_equal(o->worker, worker)) return o;
    }
    return NULL;
}

static uint64_t amount_of(const struct check_amount *list, uint32_t count, struct check_bytes name) {
    struct trace_bytes wanted = {name.at, name.len};
    for (uint32_t i = 0; i < count; i++) {
        if (check_bytes_equal(list[i].name, wanted)) return list[i].amount;
    }
    return 0;
}

struct taken {
    uint64_t slots, cpu_milli, gpus, memory_bytes, named;
};

static void take(struct taken *t, const struct check_job *j, const struct check_amount *named) {
    t->slots++;
    t->cpu_milli += j->cpu_milli;
    t->gpus += j->gpus;
    t->memory_bytes += j->memory_bytes;
    if (named != NULL) t->named += amount_of(j->resources, j->resource_count, named->name);
}

/* What the worker holds, with the job it is about to get. */
static struct taken taken_by(const struct check_history *h, struct trace_bytes worker, const struct check_job *next,
                             const struct check_amount *named) {
    struct taken t = {0};
    take(&t, next, named);
    for (uint32_t i = 0; i < h->flow_count; i++) {
        const struct check_job *j;
        for (uint32_t k = 0; h->flows[i].forgotten_lsn == 0 && (j = check_history_at(&h->flows[i], k)) != NULL; k++) {
            const struct check_attempt *a = j->attempt_count > 0 ? &j->attempts[j->attempt_count - 1] : NULL;
            if (a != NULL && a->ended_lsn == 0 && check_bytes_equal(a->worker, worker)) take(&t, j, named);
        }
    }
    return t;
}

static bool assigned(const struct capacity_notes *n, const struct check_history *h, const struct trace_attempt *r,
                     char *text) {
    const struct offer *o = last_of(n, r->worker, TR_WORKER);
    const struct offer *drain = last_of(n, r->worker, TR_WORKER_DRAIN);
    const struct offer *gone = last_of(n, r->worker, TR_WORKER_GONE);
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j == NULL) return true; /* not this checker's objection */
    if (o == NULL || (gone != NULL && gone->lsn > o->lsn)) return check_object(text, "a job for a worker that is gone");
    if (drain != NULL && drain->on && drain->lsn > o->lsn) return check_object(text, "a job for a worker that drains");
    const struct check_flow *f = check_history_flow(h, r->flow);
    struct trace_bytes tenant = {o->tenant.at, o->tenant.len};
    if (f != NULL && tenant.len > 0 && !check_bytes_equal(f->tenant, tenant))
        return check_object(text, "a job for a worker of another tenant");
    struct taken t = taken_by(h, r->worker, j, NULL);
    if (t.slots > o->slots) return check_object(text, "%llu jobs in %u slots", (unsigned long long)t.slots, o->slots);
    if (t.cpu_milli > o->cpu_milli) return check_object(text, "more processors given away than there are");
    if (t.memory_bytes > o->memory_bytes) return check_object(text, "more memory given away than there is");
    if (t.gpus > o->gpus) return check_object(text, "more GPUs given away than there are");
    for (uint32_t i = 0; i < j->resource_count; i++) {
        struct taken named = taken_by(h, r->worker, j, &j->resources[i]);
        if (named.named > amount_of(o->resources, o->resource_count, j->resources[i].name))
            return check_object(text, "more of a resource given away than there is");
    }
    return true;
}

bool check_capacity_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct capacity_notes *n = notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    switch ((int)e->kind) {
    case TR_WORKER:
    case TR_WORKER_DRAIN:
    case TR_WORKER_GONE: said(n, e); return true;
    case TR_ASSIGNED: return assigned(n, h, &e->as.attempt, text);
    case TW_RESTARTED:
        while (n->count > 0 && n->offers[n->count - 1].lsn > e->as.restarted.head) pop(n);
        return true;
    default: return true;
    }
}
