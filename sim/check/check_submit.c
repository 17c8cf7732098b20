/* check_submit.c: acknowledged submits and idempotency keys. */
#include "check_submit.h"

#include <stdlib.h>

#include "panic.h"

struct submit_call {
    uint64_t call;
    struct check_bytes tenant, key, key_hash, source;
    uint32_t job_count;
    uint64_t flow; /* 0 = not acknowledged */
    int64_t decided_ms;
    bool first; /* its answer did not say "repeated" */
};

struct submit_notes {
    struct submit_call *calls; /* submits alone */
    uint32_t count;
};

void *check_submit_new(void) {
    struct submit_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_submit_free(void *notes) {
    struct submit_notes *n = notes;
    for (uint32_t i = 0; i < n->count; i++) {
        free(n->calls[i].tenant.at);
        free(n->calls[i].key.at);
        free(n->calls[i].key_hash.at);
        free(n->calls[i].source.at);
    }
    free(n->calls);
    free(n);
}

static struct trace_bytes view(struct check_bytes b) {
    return (struct trace_bytes){b.at, b.len};
}

static void asked(struct submit_notes *n, const struct trace_asked *a) {
    if (a->ask != TQ_SUBMIT) return;
    n->calls = check_grow(n->calls, n->count, sizeof *n->calls);
    n->calls[n->count++] = (struct submit_call){
        .call = a->call,
        .tenant = check_bytes_copy(a->tenant),
        .key = check_bytes_copy(a->key),
        .key_hash = check_bytes_copy(a->key_hash),
        .source = check_bytes_copy(a->source),
        .job_count = a->job_count,
        .decided_ms = a->decided_ms,
    };
}

static bool recorded(const struct check_history *h, const struct trace_entry *e, char *text) {
    const struct trace_jobs *r = &e->as.jobs;
    if (check_history_flow(h, r->flow) != NULL)
        return check_object(text, "flow %llu was accepted twice", (unsigned long long)r->flow);
    if (r->key.len == 0) return true;
    const struct check_flow *f = check_history_key(h, r->tenant, r->key, e->lsn);
    if (f != NULL)
        return check_object(text, "flow %llu was accepted under the key of flow %llu", (unsigned long long)r->flow,
                            (unsigned long long)f->id);
    return true;
}

static bool accepted(struct submit_notes *n, const struct check_history *h, struct submit_call *c,
                     const struct trace_answered *a, char *text) {
    unsigned long long id = a->flow;
    const struct check_flow *f = check_history_flow(h, a->flow);
    if (f == NULL || f->lsn > a->lsn) return check_object(text, "flow %llu was acknowledged and is not recorded", id);
    if (!check_bytes_equal(f->tenant, view(c->tenant)) || !check_bytes_equal(f->key, view(c->key)))
        return check_object(text, "flow %llu was submitted by someone else", id);
    if (c->key.len > 0 && !check_bytes_equal(f->key_hash, view(c->key_hash)))
        return check_object(text, "flow %llu has the same key and another body", id);
    if (!a->repeated && !check_bytes_equal(f->source, view(c->source)))
        return check_object(text, "flow %llu names another file than it was submitted with", id);
    if (f->first_count != c->job_count || a->job_count != c->job_count)
        return check_object(text, "flow %llu: %u jobs sent, %u recorded, %u acknowledged", id, c->job_count,
                            f->first_count, a->job_count);
    if (c->key.len > 0 && check_history_key(h, view(c->tenant), view(c->key), a->lsn) != f)
        return check_object(text, "a repeat got another answer than the first, flow %llu", id);
    if (a->repeated && c->decided_ms >= f->key_expires_ms)
        return check_object(text, "the key of flow %llu was served after its time", id);
    for (uint32_t i = 0; i < n->count; i++) {
        const struct submit_call *other = &n->calls[i];
        if (other == c || other->flow != a->flow) continue;
        if (c->key.len == 0) return check_object(text, "flow %llu was acknowledged to two submits", id);
        if (other->first && !a->repeated) return check_object(text, "flow %llu was new to two submits", id);
    }
    c->flow = a->flow;
    c->first = !a->repeated;
    return true;
}

static bool in_conflict(const struct check_history *h, const struct submit_call *c, uint64_t lsn, char *text) {
    if (c->key.len == 0) return true;
    const struct check_flow *f = check_history_key(h, view(c->tenant), view(c->key), lsn);
    if (f == NULL) return check_object(text, "a submit was in conflict with nothing");
    if (c->decided_ms >= f->key_expires_ms)
        return check_object(text, "a submit was in conflict with flow %llu, whose key is over",
                            (unsigned long long)f->id);
    if (check_bytes_equal(f->key_hash, view(c->key_hash)))
        return check_object(text, "a repeat of flow %llu was answered as a conflict", (unsigned long long)f->id);
    return true;
}

static bool answered(struct submit_notes *n, const struct check_history *h, const struct trace_answered *a,
                     char *text) {
    for (uint32_t i = n->count; i > 0; i--) {
        struct submit_call *c = &n->calls[i - 1];
        if (c->call != a->call) continue;
        if (a->answer == TN_OK) return accepted(n, h, c, a, text);
        if (a->answer == TN_CONFLICT) return in_conflict(h, c, a->lsn, text);
        return true;
    }
    return true;
}

static bool restarted(const struct submit_notes *n, const struct check_history *h, uint64_t head, char *text) {
    for (uint32_t i = 0; i < n->count; i++) {
        if (n->calls[i].flow == 0) continue;
        const struct check_flow *f = check_history_flow(h, n->calls[i].flow);
        if (f == NULL || f->lsn > head)
            return check_object(text, "flow %llu was acknowledged and is lost", (unsigned long long)n->calls[i].flow);
    }
    return true;
}

static bool key_expired(const struct check_history *h, const struct trace_entry *e, char *text) {
    const struct check_flow *f = check_history_key(h, e->as.key.tenant, e->as.key.key, e->lsn);
    if (f == NULL) return check_object(text, "a key expired that was not alive");
    if (e->time_ms < f->key_expires_ms)
        return check_object(text, "the key of flow %llu expired too early", (unsigned long long)f->id);
    return true;
}

bool check_submit_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct submit_notes *n = notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    switch ((int)e->kind) {
    case TR_SUBMITTED: return recorded(h, e, text);
    case TR_KEY_EXPIRED: return key_expired(h, e, text);
    case TA_ASKED: asked(n, &e->as.asked); return true;
    case TA_ANSWERED: return answered(n, h, &e->as.answered, text);
    case TW_RESTARTED: return restarted(n, h, e->as.restarted.head, text);
    default: return true;
    }
}
