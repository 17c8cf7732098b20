/* check_end.c: what people were shown of a job, from the first look to the end of the run. */
#include "check_end.h"

#include <stdlib.h>

#include "panic.h"

struct look {
    uint64_t flow;
    uint32_t ordinal;
    bool seen_over; /* in `state`, by a read at `lsn` */
    enum trace_state state;
    uint64_t lsn;
    bool has_reason; /* the server said why it is not over */
};

struct end_notes {
    struct look *looks; /* one per job that was ever looked at */
    uint32_t count;
    uint32_t hint;      /* looks come in the order of jobs */
};

void *check_end_new(void) {
    struct end_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_end_free(void *notes) {
    struct end_notes *n = notes;
    free(n->looks);
    free(n);
}

static struct look *find(struct end_notes *n, uint64_t flow, uint32_t ordinal) {
    for (uint32_t i = 0; i < n->count; i++) {
        uint32_t at = (n->hint + i) % n->count;
        if (n->looks[at].flow != flow || n->looks[at].ordinal != ordinal) continue;
        n->hint = at + 1 < n->count ? at + 1 : 0;
        return &n->looks[at];
    }
    return NULL;
}

static struct look *get(struct end_notes *n, uint64_t flow, uint32_t ordinal) {
    struct look *l = find(n, flow, ordinal);
    if (l != NULL) return l;
    n->looks = check_grow(n->looks, n->count, sizeof *n->looks);
    n->looks[n->count] = (struct look){.flow = flow, .ordinal = ordinal};
    return &n->looks[n->count++];
}

static bool still_true(const struct look *l, const struct check_flow *f, uint64_t lsn) {
    return f != NULL && l->seen_over && !check_history_was_reset(f, l->lsn, lsn);
}

static bool seen(struct end_notes *n, const struct check_history *h, const struct trace_seen *r, char *text) {
    const struct check_flow *f = check_history_flow(h, r->flow);
    struct look *l = get(n, r->flow, r->ordinal);
    bool late = l->state == TS_SUCCEEDED && r->state == TS_QUARANTINED;
    if (l->seen_over && r->lsn < l->lsn) return true; /* an older picture that took longer */
    if (still_true(l, f, r->lsn) && r->state != l->state && !late)
        return check_object(text, "job %llu/%u was over and is in another state", (unsigned long long)r->flow,
                            r->ordinal);
    l->seen_over = trace_is_terminal(r->state);
    l->state = r->state;
    l->lsn = r->lsn;
    l->has_reason = false;
    return true;
}

static bool quiet(struct end_notes *n, const struct check_history *h, char *text) {
    for (uint32_t i = 0; i < h->flow_count; i++) {
        const struct check_flow *f = &h->flows[i];
        if (f->service.len) continue; /* over when the service says so */
        for (uint32_t k = 0; f->forgotten_lsn == 0 && k < f->job_count; k++) {
            const struct look *l = find(n, f->id, k);
            if (l != NULL && (l->has_reason || still_true(l, f, h->lsn))) continue;
            return check_object(text, "job %llu/%u is not over and says not why", (unsigned long long)f->id, k);
        }
    }
    return true;
}

bool check_end_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct end_notes *n = notes;
    switch ((int)e->kind) {
    case TW_SEEN: return seen(n, h, &e->as.seen, text);
    case TW_WHY: get(n, e->as.why.flow, e->as.why.ordinal)->has_reason = e->as.why.has_reason; return true;
    case TW_RESTARTED:
        for (uint32_t i = 0; i < n->count; i++) n->looks[i].has_reason = false;
        return true;
    case TW_QUIET: return quiet(n, h, text);
    default: return true;
    }
}
