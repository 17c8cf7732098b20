/* check_history.c: keeping records, and forgetting those that a crash swallowed. */
#include "check_history.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "panic.h"

bool check_object(char *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, CHECK_TEXT_BYTES, format, args);
    va_end(args);
    return false;
}

void *check_grow(void *array, uint32_t count, size_t elem_bytes) {
    void *grown = realloc(array, ((size_t)count + 1) * elem_bytes);
    REQUIRE(grown != NULL);
    return grown;
}

static void *copy(const void *from, size_t bytes) {
    if (bytes == 0) return NULL;
    void *to = malloc(bytes);
    REQUIRE(to != NULL);
    memcpy(to, from, bytes);
    return to;
}

struct check_bytes check_bytes_copy(struct trace_bytes b) {
    return (struct check_bytes){copy(b.at, b.len), b.len};
}

bool check_bytes_equal(struct check_bytes a, struct trace_bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

/* ---- finding ---- */

struct check_flow *check_history_flow(const struct check_history *h, uint64_t id) {
    for (uint32_t i = h->flow_count; i > 0; i--) { /* the newest are asked for most */
        if (h->flows[i - 1].id == id) return &h->flows[i - 1];
    }
    return NULL;
}

struct check_job *check_history_job(const struct check_history *h, uint64_t flow, uint32_t ordinal) {
    struct check_flow *f = check_history_flow(h, flow);
    if (f == NULL || ordinal < TRACE_FIRST_CHILD) return f != NULL && ordinal < f->job_count ? &f->jobs[ordinal] : NULL;
    for (uint32_t k = 0; k < f->job_count; k++) {
        struct check_job *j = &f->jobs[k];
        if (ordinal >= j->first_child && ordinal - j->first_child < j->child_count)
            return &j->children[ordinal - j->first_child];
    }
    return NULL;
}

struct check_job *check_history_at(const struct check_flow *f, uint32_t position) {
    if (position < f->job_count) return &f->jobs[position];
    position -= f->job_count;
    for (uint32_t k = 0; k < f->job_count; k++) {
        if (position < f->jobs[k].child_count) return &f->jobs[k].children[position];
        position -= f->jobs[k].child_count;
    }
    return NULL;
}

static struct check_attempt *attempt_of(const struct check_job *j, uint32_t attempt) {
    for (uint32_t i = 0; j != NULL && i < j->attempt_count; i++) {
        if (j->attempts[i].attempt == attempt) return &j->attempts[i];
    }
    return NULL;
}

struct check_attempt *check_history_attempt(const struct check_history *h, uint64_t flow, uint32_t ordinal,
                                            uint32_t attempt) {
    return attempt_of(check_history_job(h, flow, ordinal), attempt);
}

const struct check_flow *check_history_key(const struct check_history *h, struct trace_bytes tenant,
                                           struct trace_bytes key, uint64_t lsn) {
    REQUIRE(key.len > 0);
    for (uint32_t i = 0; i < h->flow_count; i++) {
        const struct check_flow *f = &h->flows[i];
        bool alive = f->lsn <= lsn && (f->key_gone_lsn == 0 || f->key_gone_lsn > lsn);
        if (alive && check_bytes_equal(f->key, key) && check_bytes_equal(f->tenant, tenant)) return f;
    }
    return NULL;
}

bool check_history_was_reset(const struct check_flow *f, uint64_t after, uint64_t upto) {
    for (uint32_t i = 0; i < f->reset_count; i++) {
        if (f->resets[i] > after && f->resets[i] <= upto) return true;
    }
    return false;
}

/* ---- records come in ---- */

static struct check_bytes *copy_names(const struct trace_bytes *from, uint32_t count) {
    struct check_bytes *to = calloc((size_t)count + 1, sizeof *to);
    REQUIRE(to != NULL);
    for (uint32_t i = 0; i < count; i++) to[i] = check_bytes_copy(from[i]);
    return to;
}

static void fill_job(struct check_job *j, const struct trace_job *spec, uint64_t lsn, uint32_t undoes) {
    *j = (struct check_job){
        .child_of = TRACE_NO_JOB,
        .lsn = lsn,
        .name = check_bytes_copy(spec->name),
        .has_undo = spec->undo != NULL,
        .undoes = undoes,
        .kind = spec->kind,
        .stage = spec->stage,
        .trigger = spec->on_upstream == TU_RUN ? TT_ALL_DONE : spec->trigger,
        .retries = spec->retries,
        .free_losses = spec->free_losses,
        .gates = spec->gates,
        .exclusive = spec->exclusive,
        .cpu_milli = spec->cpu_milli,
        .gpus = spec->gpus,
        .memory_bytes = spec->memory_bytes,
        .resource_count = spec->resource_count,
        .parents = copy(spec->parents, spec->parent_count * sizeof *spec->parents),
        .parent_count = spec->parent_count,
        .foreign = copy(spec->foreign, spec->foreign_count * sizeof *spec->foreign),
        .foreign_count = spec->foreign_count,
        .cache_key = check_bytes_copy(spec->cache_key),
    };
    j->resources = calloc((size_t)spec->resource_count + 1, sizeof *j->resources);
    REQUIRE(j->resources != NULL);
    for (uint32_t i = 0; i < spec->resource_count; i++) {
        j->resources[i].name = check_bytes_copy(spec->resources[i].name);
        j->resources[i].amount = spec->resources[i].amount;
    }
    j->keys = copy_names(spec->keys, spec->key_count);
    j->key_count = spec->key_count;
    j->rates = copy_names(spec->rates, spec->rate_count);
    j->rate_count = spec->rate_count;
    if (spec->child == NULL) return;
    j->max_parallel = spec->max_parallel;
    j->allow_count = spec->allow_count;
    j->allow_percent = spec->allow_percent;
    j->child = calloc(1, sizeof *j->child);
    REQUIRE(j->child != NULL && spec->child->child == NULL);
    fill_job(j->child, spec->child, lsn, undoes);
}

static void push_job(struct check_flow *f, const struct trace_job *spec, uint64_t lsn, uint32_t undoes) {
    f->jobs = check_grow(f->jobs, f->job_count, sizeof *f->jobs);
    fill_job(&f->jobs[f->job_count++], spec, lsn, undoes);
}

static void expanded(struct check_history *h, const struct trace_entry *e) {
    const struct trace_expanded *r = &e->as.expanded;
    struct check_flow *f = check_history_flow(h, r->flow);
    struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j == NULL || j->child == NULL || j->expanded_lsn != 0) return;
    j->first_child = TRACE_FIRST_CHILD;
    for (uint32_t k = 0; k < f->job_count; k++) j->first_child += f->jobs[k].child_count;
    j->children = calloc((size_t)r->count + 1, sizeof *j->children);
    REQUIRE(j->children != NULL);
    for (uint32_t i = 0; i < r->count; i++) {
        j->children[i] = *j->child;
        j->children[i].lsn = e->lsn;
        j->children[i].child_of = r->ordinal;
    }
    j->child_count = r->count;
    j->expanded_lsn = e->lsn;
}

static void submitted(struct check_history *h, const struct trace_entry *e) {
    const struct trace_jobs *r = &e->as.jobs;
    h->flows = check_grow(h->flows, h->flow_count, sizeof *h->flows);
    struct check_flow *f = &h->flows[h->flow_count++];
    *f = (struct check_flow){
        .id = r->flow,
        .lsn = e->lsn,
        .tenant = check_bytes_copy(r->tenant),
        .key = check_bytes_copy(r->key),
        .key_hash = check_bytes_copy(r->key_hash),
        .source = check_bytes_copy(r->source),
        .key_expires_ms = r->key_expires_ms,
        .first_count = r->job_count,
    };
    for (uint32_t i = 0; i < r->job_count; i++) push_job(f, &r->jobs[i], e->lsn, TRACE_NO_JOB);
}

static void assigned(struct check_history *h, const struct trace_entry *e) {
    const struct trace_attempt *r = &e->as.attempt;
    struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j == NULL) return;
    j->attempts = check_grow(j->attempts, j->attempt_count, sizeof *j->attempts);
    j->attempts[j->attempt_count++] = (struct check_attempt){
        .attempt = r->attempt,
        .worker = check_bytes_copy(r->worker),
        .incarnation = r->incarnation,
        .assigned_lsn = e->lsn,
    };
}

static void ended(struct check_history *h, const struct trace_entry *e) {
    const struct trace_attempt *r = &e->as.attempt;
    struct check_attempt *a = check_history_attempt(h, r->flow, r->ordinal, r->attempt);
    if (a == NULL) return;
    a->ended_lsn = e->lsn;
    a->outcome = r->outcome;
    a->again = r->again_ms != 0;
}

static bool is_behind_main(const struct check_flow *f, uint32_t ordinal) {
    return ordinal < f->job_count && f->jobs[ordinal].stage != TH_MAIN;
}

static void again(struct check_flow *f, uint64_t lsn) {
    f->agains = check_grow(f->agains, f->again_count, sizeof *f->agains);
    f->agains[f->again_count++] = lsn;
}

static void reset(struct check_history *h, const struct trace_entry *e) {
    struct check_flow *f = check_history_flow(h, e->as.job.flow);
    if (f == NULL) return;
    f->resets = check_grow(f->resets, f->reset_count, sizeof *f->resets);
    f->resets[f->reset_count++] = e->lsn;
    if (e->kind == TR_RETRIED && is_behind_main(f, e->as.job.ordinal)) return;
    again(f, e->lsn);
}

static void cancelled(struct check_history *h, const struct trace_entry *e) {
    struct check_flow *f = check_history_flow(h, e->as.job.flow);
    if (f == NULL) return;
    f->cancels = check_grow(f->cancels, f->cancel_count, sizeof *f->cancels);
    f->cancels[f->cancel_count++] = e->lsn;
}

static void added(struct check_history *h, const struct trace_entry *e) {
    struct check_flow *f = check_history_flow(h, e->as.jobs.flow);
    for (uint32_t i = 0; f != NULL && i < e->as.jobs.job_count; i++)
        push_job(f, &e->as.jobs.jobs[i], e->lsn, TRACE_NO_JOB);
}

static void made(struct check_history *h, const struct trace_undo *r) {
    struct check_flow *f = check_history_flow(h, r->flow);
    if (f == NULL || f->job_count != r->ordinal) return;
    bool is_first = true, was_over = false; /* a late fatal verdict makes the first one when all was over */
    for (uint32_t k = 0; k < f->job_count; k++) {
        is_first = is_first && f->jobs[k].undoes == TRACE_NO_JOB;
        was_over = was_over || (f->jobs[k].stage != TH_MAIN && f->jobs[k].attempt_count > 0);
    }
    if (is_first && was_over) {
        again(f, h->lsn);
        f->resets = check_grow(f->resets, f->reset_count, sizeof *f->resets);
        f->resets[f->reset_count++] = h->lsn;
    }
    push_job(f, r->job, h->lsn, r->undoes);
}

static void deployed(struct check_history *h, const struct trace_version *r) {
    h->flows = check_grow(h->flows, h->flow_count, sizeof *h->flows);
    struct check_flow *f = &h->flows[h->flow_count++];
    *f = (struct check_flow){
        .id = r->flow,
        .lsn = h->lsn,
        .tenant = check_bytes_copy(r->tenant),
        .service = check_bytes_copy(r->service),
        .by_flow = r->by_flow,
        .by_ordinal = r->by_ordinal,
    };
    push_job(f, r->runner, h->lsn, TRACE_NO_JOB);
    f->jobs[0].retries = UINT32_MAX; /* it is started again for ever */
}

static void given(struct check_history *h, const struct trace_entry *e) {
    struct check_job *j = check_history_job(h, e->as.memo.flow, e->as.memo.ordinal);
    if (j == NULL) return;
    j->given_lsn = e->lsn;
    j->from_flow = e->as.memo.from_flow;
    j->from_ordinal = e->as.memo.from_ordinal;
}

static void judged(struct check_history *h, const struct trace_entry *e) {
    const struct trace_verdict_on *r = &e->as.verdict;
    struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j != NULL && r->question == 0 && r->gate == TG_EXTERNAL && r->verdict == TV_ALLOW) j->told_lsn = e->lsn;
    if (j != NULL && r->cache_key.len) j->is_rekeyed = true;
}

static void forgotten(struct check_history *h, const struct trace_entry *e) {
    struct check_flow *f = check_history_flow(h, e->as.job.flow);
    if (f != NULL) f->forgotten_lsn = e->lsn;
}

static void key_expired(struct check_history *h, const struct trace_entry *e) {
    for (uint32_t i = 0; i < h->flow_count; i++) {
        struct check_flow *f = &h->flows[i];
        if (f->key_gone_lsn == 0 && f->key.len > 0 && check_bytes_equal(f->key, e->as.key.key) &&
            check_bytes_equal(f->tenant, e->as.key.tenant))
            f->key_gone_lsn = e->lsn;
    }
}

/* ---- records that were lost ---- */

static void attempts_fini(struct check_job *j) {
    for (uint32_t i = 0; i < j->attempt_count; i++) free(j->attempts[i].worker.at);
    free(j->attempts);
}

static void children_fini(struct check_job *j) {
    for (uint32_t i = 0; i < j->child_count; i++) attempts_fini(&j->children[i]);
    free(j->children);
    j->children = NULL;
    j->child_count = j->first_child = 0;
    j->expanded_lsn = 0;
}

static void job_fini(struct check_job *j) {
    attempts_fini(j);
    children_fini(j);
    if (j->child != NULL) job_fini(j->child);
    free(j->child);
    for (uint32_t i = 0; i < j->resource_count; i++) free(j->resources[i].name.at);
    for (uint32_t i = 0; i < j->key_count; i++) free(j->keys[i].at);
    for (uint32_t i = 0; i < j->rate_count; i++) free(j->rates[i].at);
    free(j->keys);
    free(j->rates);
    free(j->cache_key.at);
    free(j->name.at);
    free(j->resources);
    free(j->parents);
    free(j->foreign);
}

static void flow_fini(struct check_flow *f) {
    for (uint32_t i = 0; i < f->job_count; i++) job_fini(&f->jobs[i]);
    free(f->jobs);
    free(f->resets);
    free(f->agains);
    free(f->cancels);
    free(f->tenant.at);
    free(f->key.at);
    free(f->key_hash.at);
    free(f->source.at);
    free(f->service.at);
}

static void job_take_back(struct check_job *j, uint64_t head) {
    if (j->given_lsn > head) j->given_lsn = 0;
    if (j->told_lsn > head) j->told_lsn = 0;
    while (j->attempt_count > 0 && j->attempts[j->attempt_count - 1].assigned_lsn > head)
        free(j->attempts[--j->attempt_count].worker.at);
    for (uint32_t i = 0; i < j->attempt_count; i++) {
        if (j->attempts[i].ended_lsn > head) j->attempts[i].ended_lsn = 0;
    }
    if (j->expanded_lsn > head) children_fini(j);
    for (uint32_t i = 0; i < j->child_count; i++) job_take_back(&j->children[i], head);
}

static void take_back(struct check_history *h, uint64_t head) {
    while (h->flow_count > 0 && h->flows[h->flow_count - 1].lsn > head) flow_fini(&h->flows[--h->flow_count]);
    for (uint32_t i = 0; i < h->flow_count; i++) {
        struct check_flow *f = &h->flows[i];
        if (f->forgotten_lsn > head) f->forgotten_lsn = 0;
        if (f->key_gone_lsn > head) f->key_gone_lsn = 0;
        while (f->reset_count > 0 && f->resets[f->reset_count - 1] > head) f->reset_count--;
        while (f->again_count > 0 && f->agains[f->again_count - 1] > head) f->again_count--;
        while (f->cancel_count > 0 && f->cancels[f->cancel_count - 1] > head) f->cancel_count--;
        while (f->job_count > 0 && f->jobs[f->job_count - 1].lsn > head) job_fini(&f->jobs[--f->job_count]);
        for (uint32_t k = 0; k < f->job_count; k++) job_take_back(&f->jobs[k], head);
    }
}

/* ---- all of it ---- */

void check_history_init(struct check_history *h) {
    *h = (struct check_history){0};
}

void check_history_fini(struct check_history *h) {
    for (uint32_t i = 0; i < h->flow_count; i++) flow_fini(&h->flows[i]);
    free(h->flows);
}

void check_history_entry(struct check_history *h, const struct trace_entry *e) {
    if (trace_is_record(e->kind)) {
        if (e->replayed) return;
        h->lsn = e->lsn;
        h->epoch = e->epoch;
    }
    switch ((int)e->kind) {
    case TR_SUBMITTED: submitted(h, e); break;
    case TR_ADDED: added(h, e); break;
    case TR_RETRIED:
    case TR_RERUN: reset(h, e); break;
    case TR_CANCELLED: cancelled(h, e); break;
    case TR_FORGOTTEN: forgotten(h, e); break;
    case TR_EXPANDED: expanded(h, e); break;
    case TR_ASSIGNED: assigned(h, e); break;
    case TR_ENDED: ended(h, e); break;
    case TR_KEY_EXPIRED: key_expired(h, e); break;
    case TR_MEMO_HIT: given(h, e); break;
    case TR_VERDICT: judged(h, e); break;
    case TW_UNDO: made(h, &e->as.undo); break;
    case TW_VERSION: deployed(h, &e->as.version); break;
    case TW_DURABLE: h->durable_lsn = e->as.durable.lsn; break;
    case TW_RESTARTED:
        take_back(h, e->as.restarted.head);
        h->lsn = h->durable_lsn = e->as.restarted.head;
        h->epoch = e->as.restarted.epoch;
        break;
    default: break; /* everything else is nothing to remember here */
    }
}
