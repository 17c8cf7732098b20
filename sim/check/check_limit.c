/* check_limit.c: see check_limit.h. What was set is kept with its LSN, so that the limit in force at any earlier record
 * can be looked up; everything else is counted anew each time. */
#include "check_limit.h"

#include <stdlib.h>

#include "panic.h"

struct limit_setting {
    uint64_t lsn;
    int64_t time_ms;
    struct check_bytes tenant, name;
    enum trace_limit_kind kind;
    bool clear;
    uint32_t width, running;
    uint64_t rate_milli, burst;
};

struct passage { /* one assignment of a job with rates */
    uint64_t lsn;
    int64_t time_ms;
    uint64_t flow;
    uint32_t ordinal;
};

struct limit_alive {
    struct check_bytes worker;
    uint64_t incarnation;
    uint64_t flow;
    uint32_t ordinal;
    uint32_t attempt;
    bool was_paused; /* its machine stood still: nobody could kill it in time */
};

struct limit_notes {
    struct limit_setting *settings; /* in the order of LSNs */
    uint32_t setting_count;
    struct passage *passages; /* in the order of LSNs */
    uint32_t passage_count;
    struct limit_alive *alive;
    uint32_t alive_count;
};

void *check_limit_new(void) {
    struct limit_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

static void pop_setting(struct limit_notes *n) {
    struct limit_setting *s = &n->settings[--n->setting_count];
    free(s->tenant.at);
    free(s->name.at);
}

void check_limit_free(void *notes) {
    struct limit_notes *n = notes;
    while (n->setting_count > 0) pop_setting(n);
    for (uint32_t i = 0; i < n->alive_count; i++) free(n->alive[i].worker.at);
    free(n->settings);
    free(n->passages);
    free(n->alive);
    free(n);
}

static struct trace_bytes told(struct check_bytes b) {
    return (struct trace_bytes){b.at, b.len};
}

static void set(struct limit_notes *n, const struct trace_entry *e) {
    const struct trace_limit *r = &e->as.limit;
    n->settings = check_grow(n->settings, n->setting_count, sizeof *n->settings);
    n->settings[n->setting_count++] = (struct limit_setting){
        .lsn = e->lsn,
        .time_ms = e->time_ms,
        .tenant = check_bytes_copy(r->tenant),
        .name = check_bytes_copy(r->name),
        .kind = r->kind,
        .clear = r->clear,
        .width = r->width,
        .running = r->running,
        .rate_milli = r->rate_milli,
        .burst = r->burst,
    };
}

static bool is_of(const struct limit_setting *s, struct check_bytes tenant, enum trace_limit_kind kind,
                  struct check_bytes name) {
    return s->kind == kind && check_bytes_equal(s->tenant, told(tenant)) && check_bytes_equal(s->name, told(name));
}

/* What was in force when the record `lsn` was applied; NULL = nothing was set. */
static const struct limit_setting *in_force(const struct limit_notes *n, uint64_t lsn, struct check_bytes tenant,
                                            enum trace_limit_kind kind, struct check_bytes name) {
    for (uint32_t i = n->setting_count; i > 0; i--) {
        const struct limit_setting *s = &n->settings[i - 1];
        if (s->lsn < lsn && is_of(s, tenant, kind, name)) return s->clear ? NULL : s;
    }
    return NULL;
}

static uint32_t width_at(const struct limit_notes *n, uint64_t lsn, struct check_bytes tenant, struct check_bytes key) {
    const struct limit_setting *s = in_force(n, lsn, tenant, TL_KEY, key);
    return s == NULL ? 1 : s->width;
}

static bool has_name(const struct check_bytes *names, uint32_t count, struct check_bytes name) {
    for (uint32_t i = 0; i < count; i++) {
        if (check_bytes_equal(names[i], told(name))) return true;
    }
    return false;
}

/* ---- by the records ---- */

/* Open attempts of the tenant; with `key` only those that have it. */
static uint32_t open_attempts(const struct check_history *h, struct check_bytes tenant, const struct check_bytes *key) {
    uint32_t open = 0;
    for (uint32_t i = 0; i < h->flow_count; i++) {
        const struct check_flow *f = &h->flows[i];
        if (f->forgotten_lsn != 0 || !check_bytes_equal(f->tenant, told(tenant))) continue;
        const struct check_job *j;
        for (uint32_t k = 0; (j = check_history_at(f, k)) != NULL; k++) {
            const struct check_attempt *a = j->attempt_count > 0 ? &j->attempts[j->attempt_count - 1] : NULL;
            if (a == NULL || a->ended_lsn != 0) continue;
            open += key == NULL || has_name(j->keys, j->key_count, *key);
        }
    }
    return open;
}

/* No window of time may see more assignments than a full bucket and what came in meanwhile. A window begins at an
 * assignment; what was set inside of it changes the inflow, and brings no tokens of its own. */
static bool rate_held(const struct limit_notes *n, const struct check_history *h, const struct trace_entry *e,
                      const struct check_flow *flow, struct check_bytes rate, char *text) {
    const struct limit_setting *now = in_force(n, e->lsn, flow->tenant, TL_RATE, rate);
    if (now == NULL) return true;
    uint64_t count = 1, inflow = 0; /* of the window so far; inflow in millionths */
    int64_t from_ms = e->time_ms;
    uint32_t s = n->setting_count;
    for (uint32_t i = n->passage_count; i > 0; i--) {
        const struct passage *p = &n->passages[i - 1];
        const struct check_flow *of = check_history_flow(h, p->flow);
        const struct check_job *j = check_history_job(h, p->flow, p->ordinal);
        if (j == NULL || !check_bytes_equal(of->tenant, told(flow->tenant))) continue;
        if (!has_name(j->rates, j->rate_count, rate)) continue;
        for (; s > 0 && n->settings[s - 1].lsn > p->lsn; s--) { /* backwards over what was set since */
            const struct limit_setting *set = &n->settings[s - 1];
            if (set->lsn > e->lsn || !is_of(set, flow->tenant, TL_RATE, rate)) continue;
            if (set->clear) return true;
            if (from_ms < set->time_ms) return true; /* the clock was set back: nobody knows how long it was */
            inflow += (uint64_t)(from_ms - set->time_ms) * set->rate_milli;
            from_ms = set->time_ms;
        }
        const struct limit_setting *then = in_force(n, p->lsn, flow->tenant, TL_RATE, rate);
        if (then == NULL) return true; /* it was free before */
        if (from_ms < p->time_ms) return true;
        inflow += (uint64_t)(from_ms - p->time_ms) * then->rate_milli;
        from_ms = p->time_ms;
        count++;
        if (count * 1000000 > then->burst * 1000000 + inflow)
            return check_object(text, "rate %.*s: %llu assignments in %lld ms, burst %llu", (int)rate.len,
                                (const char *)rate.at, (unsigned long long)count, (long long)(e->time_ms - p->time_ms),
                                (unsigned long long)then->burst);
    }
    return true;
}

static bool assigned(struct limit_notes *n, const struct check_history *h, const struct trace_entry *e, char *text) {
    const struct trace_attempt *r = &e->as.attempt;
    const struct check_flow *f = check_history_flow(h, r->flow);
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j == NULL) return true; /* not this checker's objection */
    for (uint32_t i = 0; i < j->key_count; i++) {
        uint32_t open = open_attempts(h, f->tenant, &j->keys[i]) + 1,
                 width = width_at(n, e->lsn, f->tenant, j->keys[i]);
        if (open > width)
            return check_object(text, "key %.*s is %u wide and taken %u times", (int)j->keys[i].len,
                                (const char *)j->keys[i].at, width, open);
    }
    for (uint32_t i = 0; i < j->rate_count; i++) {
        if (!rate_held(n, h, e, f, j->rates[i], text)) return false;
    }
    const struct limit_setting *tenant = in_force(n, e->lsn, f->tenant, TL_TENANT, (struct check_bytes){0});
    uint32_t running = open_attempts(h, f->tenant, NULL) + 1;
    if (tenant != NULL && tenant->running != 0 && running > tenant->running)
        return check_object(text, "tenant %.*s may run %u and runs %u", (int)f->tenant.len, (const char *)f->tenant.at,
                            tenant->running, running);
    if (j->rate_count > 0) {
        n->passages = check_grow(n->passages, n->passage_count, sizeof *n->passages);
        n->passages[n->passage_count++] = (struct passage){e->lsn, e->time_ms, r->flow, r->ordinal};
    }
    return true;
}

/* ---- by the processes ---- */

/* A process that was there before an attempt was assigned still counts against it, unless its own attempt was given up
 * as lost and it is not exclusive, or its whole machine stood still: those may overlap. */
static bool counts(const struct check_history *h, const struct limit_alive *p, const struct check_bytes *key,
                   uint64_t lsn) {
    const struct check_job *j = check_history_job(h, p->flow, p->ordinal);
    const struct check_attempt *a = check_history_attempt(h, p->flow, p->ordinal, p->attempt);
    if (j == NULL || a == NULL || a->assigned_lsn >= lsn || !has_name(j->keys, j->key_count, *key)) return false;
    bool given_up = a->ended_lsn != 0 && a->ended_lsn < lsn && a->outcome == TO_LOST;
    return !given_up || (j->exclusive && !p->was_paused);
}

static bool began(struct limit_notes *n, const struct check_history *h, const struct trace_process *r, char *text) {
    const struct check_flow *f = check_history_flow(h, r->flow);
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    const struct check_attempt *a = check_history_attempt(h, r->flow, r->ordinal, r->attempt);
    for (uint32_t k = 0; j != NULL && a != NULL && k < j->key_count; k++) {
        uint32_t width = width_at(n, a->assigned_lsn, f->tenant, j->keys[k]), there = 1;
        for (uint32_t i = 0; i < n->alive_count; i++) {
            const struct check_flow *of = check_history_flow(h, n->alive[i].flow);
            if (of == NULL || !check_bytes_equal(of->tenant, told(f->tenant))) continue;
            there += counts(h, &n->alive[i], &j->keys[k], a->assigned_lsn);
        }
        if (there > width)
            return check_object(text, "%u processes with key %.*s, which is %u wide", there, (int)j->keys[k].len,
                                (const char *)j->keys[k].at, width);
    }
    n->alive = check_grow(n->alive, n->alive_count, sizeof *n->alive);
    n->alive[n->alive_count++] = (struct limit_alive){
        .worker = check_bytes_copy(r->worker),
        .incarnation = r->incarnation,
        .flow = r->flow,
        .ordinal = r->ordinal,
        .attempt = r->attempt,
    };
    return true;
}

static void gone(struct limit_notes *n, const struct trace_process *r) {
    for (uint32_t i = 0; i < n->alive_count; i++) {
        struct limit_alive *p = &n->alive[i];
        if (p->flow != r->flow || p->ordinal != r->ordinal || p->attempt != r->attempt) continue;
        if (p->incarnation != r->incarnation || !check_bytes_equal(p->worker, r->worker)) continue;
        free(p->worker.at);
        n->alive[i] = n->alive[--n->alive_count];
        return;
    }
}

static void machine(struct limit_notes *n, const struct trace_machine *r) {
    for (uint32_t i = 0; i < n->alive_count; i++) {
        if (check_bytes_equal(n->alive[i].worker, r->worker)) n->alive[i].was_paused = true;
    }
}

static void take_back(struct limit_notes *n, uint64_t head) {
    while (n->setting_count > 0 && n->settings[n->setting_count - 1].lsn > head) pop_setting(n);
    while (n->passage_count > 0 && n->passages[n->passage_count - 1].lsn > head) n->passage_count--;
}

bool check_limit_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct limit_notes *n = notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    switch ((int)e->kind) {
    case TR_LIMIT: set(n, e); return true;
    case TR_ASSIGNED: return assigned(n, h, e, text);
    case TW_PROCESS: return began(n, h, &e->as.process, text);
    case TW_PROCESS_END: gone(n, &e->as.process); return true;
    case TW_MACHINE: machine(n, &e->as.machine); return true;
    case TW_RESTARTED: take_back(n, e->as.restarted.head); return true;
    default: return true;
    }
}
