/* check_service.c: see check_service.h. */
#include "check_service.h"

#include <stdlib.h>
#include <string.h>

#include "panic.h"

struct wish { /* what a service was meant to do from this record on */
    uint64_t lsn;
    struct check_bytes tenant, name;
    enum trace_desired desired;
};

struct service_word { /* about the health of an attempt: said by a worker, or recorded */
    uint64_t lsn;     /* recorded; 0 = said */
    uint64_t flow;
    uint32_t attempt;
    bool healthy;
};

struct made_version { /* what is asked of it beside its attempts */
    uint64_t lsn;
    uint64_t flow;
    bool starts_first, exclusive;
    bool in_set;
};

struct service_notes {
    struct made_version *versions;
    uint32_t version_count;
    struct wish *wishes;
    uint32_t wish_count;
    struct service_word *words;
    uint32_t word_count;
};

void *check_service_new(void) {
    struct service_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_service_free(void *notes) {
    struct service_notes *n = notes;
    for (uint32_t i = 0; i < n->wish_count; i++) {
        free(n->wishes[i].tenant.at);
        free(n->wishes[i].name.at);
    }
    free(n->wishes);
    free(n->words);
    free(n->versions);
    free(n);
}

static void wish(struct service_notes *n, uint64_t lsn, struct trace_bytes tenant, struct trace_bytes name,
                 enum trace_desired desired) {
    n->wishes = check_grow(n->wishes, n->wish_count, sizeof *n->wishes);
    n->wishes[n->wish_count++] = (struct wish){lsn, check_bytes_copy(tenant), check_bytes_copy(name), desired};
}

static void note_word(struct service_notes *n, struct service_word word) {
    n->words = check_grow(n->words, n->word_count, sizeof *n->words);
    n->words[n->word_count++] = word;
}

static struct trace_bytes bytes_of(struct check_bytes b) {
    return (struct trace_bytes){b.at, b.len};
}

static bool is_meant_to_run(const struct service_notes *n, const struct check_flow *f) {
    for (uint32_t i = n->wish_count; i > 0; i--) {
        const struct wish *w = &n->wishes[i - 1];
        if (check_bytes_equal(w->tenant, bytes_of(f->tenant)) && check_bytes_equal(w->name, bytes_of(f->service)))
            return w->desired == TY_RUNNING;
    }
    return false;
}

static void version_made(struct service_notes *n, const struct check_history *h, const struct trace_version *r) {
    wish(n, h->lsn, r->tenant, r->service, TY_RUNNING);
    n->versions = check_grow(n->versions, n->version_count, sizeof *n->versions);
    n->versions[n->version_count++] = (struct made_version){h->lsn, r->flow, r->runner->start_first,
                                                            r->runner->exclusive, r->runner->replica_of.len > 0};
}

static const struct made_version *version_of(const struct service_notes *n, uint64_t flow) {
    for (uint32_t i = n->version_count; i > 0; i--) {
        if (n->versions[i - 1].flow == flow) return &n->versions[i - 1];
    }
    return NULL;
}

static bool is_recorded_healthy(const struct service_notes *n, uint64_t flow) {
    for (uint32_t i = 0; i < n->word_count; i++) {
        if (n->words[i].lsn != 0 && n->words[i].flow == flow && n->words[i].healthy) return true;
    }
    return false;
}

/* Two versions may run at once while the newer, which starts first, has not been healthy: then either may be started
 * again. From then on only the newer one is, until the older is gone. */
static bool may_run_beside(const struct service_notes *n, uint64_t starts, uint64_t runs) {
    const struct made_version *newer = version_of(n, starts > runs ? starts : runs);
    const struct made_version *older = version_of(n, starts > runs ? runs : starts);
    if (newer == NULL || older == NULL || !newer->starts_first || older->exclusive) return false;
    return starts == newer->flow || !is_recorded_healthy(n, newer->flow);
}

/* Replicas above the number that a set was scaled to are to go. */
static void scaled(struct service_notes *n, const struct check_history *h, const struct trace_entry *e) {
    const struct trace_scaled *r = &e->as.scaled;
    for (uint32_t i = 0; i < h->flow_count; i++) {
        const struct check_flow *f = &h->flows[i];
        const struct made_version *made = f->service.len > 0 ? version_of(n, f->id) : NULL;
        uint32_t number = 0;
        if (made == NULL || !made->in_set || !check_bytes_equal(f->tenant, r->tenant)) continue;
        if (f->service.len <= r->name.len + 1 || memcmp(f->service.at, r->name.at, r->name.len) != 0) continue;
        for (uint32_t k = r->name.len + 1; k < f->service.len; k++)
            number = number * 10 + (uint32_t)(f->service.at[k] - '0');
        if (f->service.at[r->name.len] == '.' && number > r->replicas)
            wish(n, e->lsn, r->tenant, bytes_of(f->service), TY_REMOVED);
    }
}

static bool assigned(const struct service_notes *n, const struct check_history *h, const struct trace_attempt *r,
                     char *text) {
    const struct check_flow *f = check_history_flow(h, r->flow);
    if (f == NULL || f->service.len == 0) return true;
    if (!is_meant_to_run(n, f))
        return check_object(text, "service %.*s is started and should not run", (int)f->service.len,
                            (const char *)f->service.at);
    uint32_t beside = 0;
    for (uint32_t i = 0; i < h->flow_count; i++) {
        const struct check_flow *o = &h->flows[i];
        if (o->service.len == 0 || !check_bytes_equal(o->service, bytes_of(f->service))) continue;
        if (!check_bytes_equal(o->tenant, bytes_of(f->tenant))) continue;
        const struct check_job *j = &o->jobs[0];
        if (j->attempt_count == 0 || j->attempts[j->attempt_count - 1].ended_lsn != 0) continue;
        if (o->id == f->id || ++beside > 1 || !may_run_beside(n, f->id, o->id))
            return check_object(text, "service %.*s is started while version %llu of it runs", (int)f->service.len,
                                (const char *)f->service.at, (unsigned long long)o->id);
    }
    return true;
}

/* A worker must have said so, about this attempt. */
static bool recorded(struct service_notes *n, const struct trace_entry *e, char *text) {
    const struct trace_health *r = &e->as.health;
    for (uint32_t i = 0; i < n->word_count; i++) {
        const struct service_word *w = &n->words[i];
        if (w->lsn != 0 || w->flow != r->flow || w->attempt != r->attempt || w->healthy != r->healthy) continue;
        note_word(n, (struct service_word){e->lsn, r->flow, r->attempt, r->healthy});
        return true;
    }
    return check_object(text, "the health of %llu#%u was recorded and nobody said it", (unsigned long long)r->flow,
                        r->attempt);
}

/* Whether some version that the job deployed was recorded as healthy, up to `lsn`. */
static bool was_healthy(const struct service_notes *n, const struct check_history *h, uint64_t flow, uint32_t ordinal,
                        uint64_t lsn) {
    for (uint32_t i = 0; i < n->word_count; i++) {
        const struct service_word *w = &n->words[i];
        if (w->lsn == 0 || w->lsn > lsn || !w->healthy) continue;
        const struct check_flow *f = check_history_flow(h, w->flow);
        if (f != NULL && f->by_flow == flow && f->by_ordinal == ordinal) return true;
    }
    return false;
}

static bool seen(const struct service_notes *n, const struct check_history *h, const struct trace_seen *r, char *text) {
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j == NULL || j->kind != TK_SERVICE || r->state != TS_SUCCEEDED) return true;
    if (was_healthy(n, h, r->flow, r->ordinal, r->lsn)) return true;
    return check_object(text, "job %llu/%u has succeeded and what it deployed was never healthy",
                        (unsigned long long)r->flow, r->ordinal);
}

/* What waits for a deployment waits for health. */
static bool began(const struct service_notes *n, const struct check_history *h, const struct trace_process *r,
                  char *text) {
    const struct check_flow *f = check_history_flow(h, r->flow);
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    for (uint32_t i = 0; j != NULL && j->trigger == TT_ALL_SUCCEEDED && i < j->parent_count; i++) {
        uint32_t parent = j->parents[i];
        if (f->jobs[parent].kind != TK_SERVICE || was_healthy(n, h, r->flow, parent, h->durable_lsn)) continue;
        return check_object(text, "job %llu/%u began before what job %u deployed was healthy",
                            (unsigned long long)r->flow, r->ordinal, parent);
    }
    return true;
}

static void take_back(struct service_notes *n, uint64_t head) {
    uint32_t kept = 0;
    while (n->wish_count > 0 && n->wishes[n->wish_count - 1].lsn > head) {
        free(n->wishes[--n->wish_count].tenant.at);
        free(n->wishes[n->wish_count].name.at);
    }
    while (n->version_count > 0 && n->versions[n->version_count - 1].lsn > head) n->version_count--;
    for (uint32_t i = 0; i < n->word_count; i++) {
        if (n->words[i].lsn <= head) n->words[kept++] = n->words[i];
    }
    n->word_count = kept;
}

bool check_service_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct service_notes *n = notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    switch ((int)e->kind) {
    case TR_SERVICE: wish(n, e->lsn, e->as.service.tenant, e->as.service.name, e->as.service.desired); return true;
    case TR_SCALED: scaled(n, h, e); return true;
    case TW_VERSION: version_made(n, h, &e->as.version); return true;
    case TR_ASSIGNED: return assigned(n, h, &e->as.attempt, text);
    case TR_HEALTH: return recorded(n, e, text);
    case TA_ASKED:
        if (e->as.asked.ask == TQ_HEALTH)
            note_word(n, (struct service_word){0, e->as.asked.flow, e->as.asked.attempt, e->as.asked.healthy});
        return true;
    case TW_SEEN: return seen(n, h, &e->as.seen, text);
    case TW_PROCESS: return began(n, h, &e->as.process, text);
    case TW_RESTARTED: take_back(n, e->as.restarted.head); return true;
    default: return true;
    }
}
