/* check_expand.c: a job whose condition does not hold does not run; a foreach job gets its items once; no more of its
 * children run at once than may; one that did well does not run again. That those who depend on it wait for all of them
 * is the business of check_graph. */
#include "check_expand.h"

#include <stdlib.h>

#include "panic.h"

struct refusal { /* a condition that does not hold */
    uint64_t flow;
    uint32_t ordinal;
    uint64_t lsn;
};

struct expand_notes {
    struct refusal *refusals;
    uint32_t count;
};

#define NAME "job %llu/%u"
#define NAME_OF(r) (unsigned long long)(r)->flow, (r)->ordinal

void *check_expand_new(void) {
    struct expand_notes *n = calloc(1, sizeof *n);
    REQUIRE(n != NULL);
    return n;
}

void check_expand_free(void *notes) {
    struct expand_notes *n = notes;
    free(n->refusals);
    free(n);
}

static void answered(struct expand_notes *n, const struct trace_entry *e) {
    const struct trace_verdict_on *r = &e->as.verdict;
    if (r->gate != TG_CONDITION || r->verdict != TV_DENY) return;
    n->refusals = check_grow(n->refusals, n->count, sizeof *n->refusals);
    n->refusals[n->count++] = (struct refusal){r->flow, r->ordinal, e->lsn};
}

/* Was refused, and nobody started it again since. */
static bool is_refused(const struct expand_notes *n, const struct check_flow *f, uint32_t ordinal) {
    for (uint32_t i = 0; i < n->count; i++) {
        const struct refusal *r = &n->refusals[i];
        if (r->flow == f->id && r->ordinal == ordinal && !check_history_was_reset(f, r->lsn, UINT64_MAX)) return true;
    }
    return false;
}

static bool is_open(const struct check_job *j) {
    return j->attempt_count > 0 && j->attempts[j->attempt_count - 1].ended_lsn == 0;
}

static bool did_well(const struct check_flow *f, const struct check_job *j) {
    for (uint32_t i = 0; i < j->attempt_count; i++) {
        const struct check_attempt *a = &j->attempts[i];
        bool ok = a->ended_lsn != 0 && a->outcome == TO_OK;
        if (ok && !check_history_was_reset(f, a->ended_lsn, UINT64_MAX)) return true;
    }
    return false;
}

static bool assigned(const struct expand_notes *n, const struct check_history *h, const struct trace_attempt *r,
                     char *text) {
    const struct check_flow *f = check_history_flow(h, r->flow);
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j == NULL) return true; /* not this checker's objection */
    bool is_child = j->child_of != TRACE_NO_JOB;
    if (j->child != NULL) return check_object(text, NAME " is a foreach job and runs itself", NAME_OF(r));
    if (is_refused(n, f, is_child ? j->child_of : r->ordinal))
        return check_object(text, NAME " runs though its condition does not hold", NAME_OF(r));
    if (!is_child) return true;
    const struct check_job *whole = &f->jobs[j->child_of];
    uint32_t open = 1;
    for (uint32_t i = 0; i < whole->child_count; i++) open += is_open(&whole->children[i]);
    if (open > whole->max_parallel)
        return check_object(text, NAME " is one of %u children that run, %u may", NAME_OF(r), open,
                            whole->max_parallel);
    if (did_well(f, j)) return check_object(text, NAME " did well and runs again", NAME_OF(r));
    return true;
}

static bool expanded(const struct check_history *h, const struct trace_expanded *r, char *text) {
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (j == NULL || j->child == NULL) return check_object(text, NAME " is no foreach job and got items", NAME_OF(r));
    if (j->expanded_lsn != 0) return check_object(text, NAME " got items twice", NAME_OF(r));
    return true;
}

bool check_expand_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    struct expand_notes *n = notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    switch ((int)e->kind) {
    case TR_VERDICT: answered(n, e); return true;
    case TR_EXPANDED: return expanded(h, &e->as.expanded, text);
    case TR_ASSIGNED: return assigned(n, h, &e->as.attempt, text);
    case TW_RESTARTED:
        while (n->count > 0 && n->refusals[n->count - 1].lsn > e->as.restarted.head) n->count--;
        return true;
    default: return true;
    }
}
