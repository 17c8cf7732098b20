/* check_saga.c: a process says by itself which job it undoes (its body does). What it undoes must have succeeded,
 * nothing else of its flow may run, those that succeeded later must have been undone before, and nothing is undone
 * twice. At the end of a run a flow that began to undo has undone everything. */
#include "check_saga.h"

#include <stdlib.h>

#include "panic.h"

void *check_saga_new(void) {
    void *nothing = calloc(1, 1);
    REQUIRE(nothing != NULL);
    return nothing;
}

void check_saga_free(void *notes) {
    free(notes);
}

#define NAME "job %llu/%u"
#define NAME_OF(f, ordinal) (unsigned long long)(f)->id, (ordinal)

static uint32_t find_named(const struct check_flow *f, struct trace_bytes name) {
    for (uint32_t k = 0; k < f->job_count; k++) {
        if (f->jobs[k].undoes == TRACE_NO_JOB && check_bytes_equal(f->jobs[k].name, name)) return k;
    }
    return TRACE_NO_JOB;
}

/* LSN of its first good end, or the first of its children; 0 = none. */
static uint64_t success(const struct check_job *j) {
    uint64_t first = 0;
    for (uint32_t i = 0; i < j->child_count; i++) {
        uint64_t lsn = success(&j->children[i]);
        if (lsn != 0 && (first == 0 || lsn < first)) first = lsn;
    }
    if (first != 0) return first;
    for (uint32_t i = 0; i < j->attempt_count; i++) {
        if (j->attempts[i].ended_lsn != 0 && j->attempts[i].outcome == TO_OK) return j->attempts[i].ended_lsn;
    }
    return 0;
}

static bool has_open_attempt(const struct check_job *j) {
    for (uint32_t i = 0; i < j->child_count; i++) {
        if (has_open_attempt(&j->children[i])) return true;
    }
    return j->attempt_count > 0 && j->attempts[j->attempt_count - 1].ended_lsn == 0;
}

/* The ordinal of the compensation, TRACE_NO_JOB while there is none. */
static uint32_t undone_by(const struct check_flow *f, uint32_t ordinal) {
    for (uint32_t k = 0; k < f->job_count; k++) {
        if (f->jobs[k].undoes == ordinal) return k;
    }
    return TRACE_NO_JOB;
}

/* Another job of the flow, beside a compensation that begins. */
static bool beside(const struct check_flow *f, uint32_t undone, uint32_t undo, uint32_t other, char *text) {
    const struct check_job *j = &f->jobs[other];
    bool is_undo = j->undoes != TRACE_NO_JOB;
    if (is_undo && j->undoes == undone) return check_object(text, NAME " is undone twice", NAME_OF(f, undone));
    bool retried = is_undo && check_history_was_reset(f, j->lsn, UINT64_MAX);
    if (has_open_attempt(j) && !retried && !check_history_was_reset(f, f->jobs[undo].lsn, UINT64_MAX))
        return check_object(text, NAME " is undone while " NAME " runs", NAME_OF(f, undone), NAME_OF(f, other));
    bool later = j->has_undo && success(j) > success(&f->jobs[undone]);
    if (later && undone_by(f, other) >= undo)
        return check_object(text, NAME " is undone before " NAME ", which succeeded later", NAME_OF(f, undone),
                            NAME_OF(f, other));
    return true;
}

static bool began(const struct check_history *h, const struct trace_process *r, char *text) {
    const struct check_flow *f = check_history_flow(h, r->flow);
    if (f == NULL || r->ordinal >= f->job_count) return true; /* the checker of attempts objects */
    const struct check_job *j = &f->jobs[r->ordinal];
    if (r->undoes.len == 0 && j->undoes == TRACE_NO_JOB) return true;
    uint32_t undone = find_named(f, r->undoes);
    if (undone == TRACE_NO_JOB || undone != j->undoes)
        return check_object(text, NAME " undoes another job than it should", NAME_OF(f, r->ordinal));
    uint64_t lsn = success(&f->jobs[undone]);
    if (lsn == 0 || lsn > h->durable_lsn)
        return check_object(text, NAME " is undone and never succeeded", NAME_OF(f, undone));
    for (uint32_t k = 0; k < f->job_count; k++) {
        if (k != r->ordinal && !beside(f, undone, r->ordinal, k, text)) return false;
    }
    return true;
}

static bool quiet(const struct check_history *h, char *text) {
    for (uint32_t i = 0; i < h->flow_count; i++) {
        const struct check_flow *f = &h->flows[i];
        bool unwound = false;
        for (uint32_t k = 0; k < f->job_count; k++) unwound |= f->jobs[k].undoes != TRACE_NO_JOB;
        for (uint32_t k = 0; unwound && f->forgotten_lsn == 0 && k < f->job_count; k++) {
            const struct check_job *j = &f->jobs[k];
            if (j->has_undo && success(j) != 0 && undone_by(f, k) == TRACE_NO_JOB)
                return check_object(text, NAME " succeeded and was not undone", NAME_OF(f, k));
        }
    }
    return true;
}

bool check_saga_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    (void)notes;
    switch ((int)e->kind) {
    case TW_PROCESS: return began(h, &e->as.process, text);
    case TW_QUIET: return quiet(h, text);
    default: return true;
    }
}
