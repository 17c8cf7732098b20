/* check_graph.c: the order of a graph, held against the moments at which real processes begin.
 *
 * A necessary condition alone, told from records without knowing the rules of states: a job that does not survive the
 * failure of a parent may begin only when every parent that runs on a worker has a durable good end, and every parent
 * that runs nowhere (barrier, gate) stands itself behind parents of which that is true. A job that needs one success
 * may begin when this is true of one parent. One that minds no skipped parents may begin beside those that never ran. A
 * job that survives everything may begin when no parent has only an open attempt. */
#include "check_graph.h"

#include <stdlib.h>

#include "panic.h"

void *check_graph_new(void) {
    void *nothing = calloc(1, 1);
    REQUIRE(nothing != NULL);
    return nothing;
}

void check_graph_free(void *notes) {
    free(notes);
}

static bool has_good_end(const struct check_history *h, const struct check_job *j) {
    if (j->given_lsn != 0 && j->given_lsn <= h->durable_lsn) return true;
    if (j->told_lsn != 0 && j->told_lsn <= h->durable_lsn) return true;
    for (uint32_t i = 0; i < j->attempt_count; i++) {
        const struct check_attempt *a = &j->attempts[i];
        if (a->ended_lsn != 0 && a->ended_lsn <= h->durable_lsn && a->outcome == TO_OK && !a->again) return true;
    }
    return false;
}

/* Of a foreach job: as many of its children as it needs. */
static bool has_ended_well(const struct check_history *h, const struct check_job *j) {
    if (j->child == NULL) return has_good_end(h, j);
    uint64_t bad = 0;
    for (uint32_t i = 0; i < j->child_count; i++) bad += !has_good_end(h, &j->children[i]);
    uint64_t share = (uint64_t)j->child_count * j->allow_percent;
    bool tolerated = j->allow_percent > 0 ? bad * 100 <= share : bad <= j->allow_count;
    return j->expanded_lsn != 0 && j->expanded_lsn <= h->durable_lsn && tolerated;
}

/* A child past its parents stays so when one of them is tried again: then nothing is known any more. */
static bool has_only_an_open_attempt(const struct check_flow *f, const struct check_job *j, uint64_t child_lsn) {
    if (check_history_was_reset(f, 0, child_lsn)) return false;
    return j->attempt_count == 1 && j->attempts[0].ended_lsn == 0 && j->attempts[0].assigned_lsn < child_lsn;
}

/* It ran, and not to a good end: then it was not skipped. */
static bool ran_in_vain(const struct check_history *h, const struct check_flow *f, const struct check_job *j,
                        uint64_t child_lsn) {
    if (j->attempt_count == 0 || check_history_was_reset(f, 0, child_lsn)) return false;
    return !has_ended_well(h, j);
}

static bool foreign_ended_well(const struct check_history *h, const struct trace_foreign *p) {
    const struct check_job *parent = check_history_job(h, p->flow, p->ordinal);
    if (p->seen != TS_WAITING) return p->seen == TS_SUCCEEDED;
    return parent == NULL || parent->kind != TK_WORK || has_ended_well(h, parent);
}

static uint32_t obstacle(const struct check_history *h, const struct check_flow *f, uint32_t ordinal, uint64_t lsn,
                         bool *done);

/* True when the parent stands in the way of a job that needs its success. */
static bool stands(const struct check_history *h, const struct check_flow *f, uint32_t p, uint64_t lsn, bool *done) {
    if (f->jobs[p].kind == TK_WORK) return !has_ended_well(h, &f->jobs[p]);
    if (!done[p] && obstacle(h, f, p, lsn, done) != TRACE_NO_JOB) return true;
    done[p] = true;
    return false;
}

static bool has_one_success(const struct check_history *h, const struct check_flow *f, const struct check_job *j,
                            uint64_t lsn, bool *done) {
    for (uint32_t i = 0; i < j->parent_count; i++) {
        if (!stands(h, f, j->parents[i], lsn, done)) return true;
    }
    for (uint32_t i = 0; i < j->foreign_count; i++) {
        if (foreign_ended_well(h, &j->foreign[i])) return true;
    }
    return j->parent_count + j->foreign_count == 0;
}

/* What stands in the way of a job: the ordinal of a parent in its flow, or TRACE_NO_JOB. `done` marks barriers that
 * were looked at. Ordinals of parents are below the job's own, so the way up is finite. */
static uint32_t obstacle(const struct check_history *h, const struct check_flow *f, uint32_t ordinal, uint64_t lsn,
                         bool *done) {
    const struct check_job *j = &f->jobs[ordinal];
    for (uint32_t i = 0; i < j->parent_count; i++) {
        uint32_t p = j->parents[i];
        if (p >= ordinal) return p;
        switch (j->trigger) {
        case TT_ALL_SUCCEEDED:
            if (stands(h, f, p, lsn, done)) return p;
            break;
        case TT_NONE_FAILED:
            if (ran_in_vain(h, f, &f->jobs[p], lsn)) return p;
            break;
        case TT_ALL_DONE:
            if (has_only_an_open_attempt(f, &f->jobs[p], lsn)) return p;
            break;
        case TT_ONE_SUCCEEDED: return has_one_success(h, f, j, lsn, done) ? TRACE_NO_JOB : p;
        case TT_COUNT: return p;
        }
    }
    return TRACE_NO_JOB;
}

/* Foreign parents count by what was seen; those that were open then, by their records. */
static bool foreign_obstacle(const struct check_history *h, const struct check_job *j) {
    for (uint32_t i = 0; i < j->foreign_count; i++) {
        const struct trace_foreign *p = &j->foreign[i];
        bool may_skip = j->trigger == TT_NONE_FAILED && (p->seen == TS_SKIPPED || p->seen == TS_WAITING);
        if (j->trigger == TT_ALL_DONE || j->trigger == TT_ONE_SUCCEEDED || may_skip) continue;
        if (!foreign_ended_well(h, p)) return true;
    }
    return false;
}

bool check_graph_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    (void)notes;
    if (e->kind != TW_PROCESS) return true;
    const struct trace_process *r = &e->as.process;
    const struct check_flow *f = check_history_flow(h, r->flow);
    const struct check_job *j = check_history_job(h, r->flow, r->ordinal);
    if (f == NULL || j == NULL) return true;                                   /* the checker of attempts objects */
    uint32_t ordinal = j->child_of != TRACE_NO_JOB ? j->child_of : r->ordinal; /* a child waits for the same */
    bool *done = calloc((size_t)f->job_count + 1, sizeof *done);
    REQUIRE(done != NULL);
    const struct check_attempt *a = check_history_attempt(h, r->flow, r->ordinal, r->attempt);
    uint32_t parent = obstacle(h, f, ordinal, a ? a->assigned_lsn : h->lsn, done);
    free(done);
    if (parent != TRACE_NO_JOB)
        return check_object(text, "job %llu/%u began before job %u had ended well", (unsigned long long)r->flow,
                            r->ordinal, parent);
    if (foreign_obstacle(h, &f->jobs[ordinal]))
        return check_object(text, "job %llu/%u began before a job of another flow had ended well",
                            (unsigned long long)r->flow, r->ordinal);
    return true;
}
