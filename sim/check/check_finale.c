/* check_finale.c: `on_success`, `on_failure` and `finally`, by the attempts alone.
 *
 * A *round* of a flow is what lies between two records that begin its main jobs again. In one round no job behind the
 * main ones begins while an attempt of a main job or of a compensation is open, and none of those begins afterwards;
 * of on_success and on_failure one has attempts at most; what succeeded does not run again. A `finally` job that is
 * seen to be over without an attempt in this round was missed, unless it had a question to pass or others to wait for,
 * or somebody cancelled it: a flow that is cancelled once still runs it. */
#include "check_finale.h"

#include <stdlib.h>

#include "panic.h"

void *check_finale_new(void) {
    void *nothing = calloc(1, 1);
    REQUIRE(nothing != NULL);
    return nothing;
}

void check_finale_free(void *notes) {
    free(notes);
}

#define NAME "job %llu/%u"
#define NAME_OF(f, ordinal) (unsigned long long)(f)->id, (ordinal)

static uint64_t round_begin(const struct check_flow *f) {
    return f->again_count > 0 ? f->agains[f->again_count - 1] : f->lsn;
}

static const struct check_attempt *last_in(const struct check_job *j, uint64_t from) {
    const struct check_attempt *a = j->attempt_count > 0 ? &j->attempts[j->attempt_count - 1] : NULL;
    return a != NULL && a->assigned_lsn > from ? a : NULL;
}

static bool has_open_attempt(const struct check_job *j) {
    for (uint32_t i = 0; i < j->child_count; i++) {
        if (has_open_attempt(&j->children[i])) return true;
    }
    return j->attempt_count > 0 && j->attempts[j->attempt_count - 1].ended_lsn == 0;
}

static enum trace_stage other_outcome(enum trace_stage stage) {
    return stage == TH_SUCCESS ? TH_FAILURE : stage == TH_FAILURE ? TH_SUCCESS : TH_COUNT;
}

/* A job behind the main ones is given away. */
static bool follower_assigned(const struct check_flow *f, uint32_t ordinal, char *text) {
    const struct check_job *own = &f->jobs[ordinal];
    const struct check_attempt *before = last_in(own, round_begin(f));
    bool asks = (own->gates & TRACE_GATE_BIT(TG_OUTPUT)) != 0;
    bool retried = before != NULL && check_history_was_reset(f, before->assigned_lsn, UINT64_MAX);
    if (before != NULL && !retried && before->ended_lsn != 0 && before->outcome == TO_OK && !before->again && !asks)
        return check_object(text, NAME " runs again though it did well", NAME_OF(f, ordinal));
    for (uint32_t k = 0; k < f->job_count; k++) {
        const struct check_job *j = &f->jobs[k];
        if (j->stage == TH_MAIN && has_open_attempt(j))
            return check_object(text, NAME " begins while " NAME " runs", NAME_OF(f, ordinal), NAME_OF(f, k));
        if (j->stage == other_outcome(own->stage) && last_in(j, round_begin(f)) != NULL)
            return check_object(text, NAME " begins and " NAME " had, for the other outcome", NAME_OF(f, ordinal),
                                NAME_OF(f, k));
    }
    return true;
}

static bool main_assigned(const struct check_flow *f, uint32_t ordinal, char *text) {
    for (uint32_t k = 0; k < f->job_count; k++) {
        const struct check_job *j = &f->jobs[k];
        if (j->stage != TH_MAIN && last_in(j, round_begin(f)) != NULL)
            return check_object(text, NAME " begins behind " NAME ", which follows the main jobs", NAME_OF(f, ordinal),
                                NAME_OF(f, k));
    }
    return true;
}

static bool assigned(const struct check_history *h, const struct trace_attempt *r, char *text) {
    const struct check_flow *f = check_history_flow(h, r->flow);
    if (f == NULL) return true;
    if (r->ordinal >= f->job_count || f->jobs[r->ordinal].stage == TH_MAIN) return main_assigned(f, r->ordinal, text);
    return follower_assigned(f, r->ordinal, text);
}

/* More than one cancel may have been about this job. */
static bool was_cancelled(const struct check_flow *f) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->cancel_count; i++) count += f->cancels[i] > round_begin(f);
    return count > 1;
}

static bool seen(const struct check_history *h, const struct trace_seen *r, char *text) {
    const struct check_flow *f = check_history_flow(h, r->flow);
    if (f == NULL || r->ordinal >= f->job_count || r->lsn < round_begin(f)) return true;
    const struct check_job *j = &f->jobs[r->ordinal];
    if (j->stage != TH_FINALLY || !trace_is_terminal(r->state) || last_in(j, round_begin(f)) != NULL) return true;
    bool may_be_over = j->kind != TK_WORK || j->gates != 0 || j->parent_count > 0 || was_cancelled(f);
    if (may_be_over || (r->state == TS_CANCELLED && f->cancel_count > 0)) return true;
    return check_object(text, NAME " is finally, and over without having run", NAME_OF(f, r->ordinal));
}

bool check_finale_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text) {
    (void)notes;
    if (trace_is_record(e->kind) && e->replayed) return true;
    switch ((int)e->kind) {
    case TR_ASSIGNED: return assigned(h, &e->as.attempt, text);
    case TW_SEEN: return seen(h, &e->as.seen, text);
    default: return true;
    }
}
