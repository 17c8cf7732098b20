/* model_stage.c: main jobs, then those for what they came to, then `finally`. Nothing is counted: whether a job is over
 * is looked up. */
#include "model_stage.h"

#include "model_rules.h"
#include "model_saga.h"
#include "panic.h"

void model_stage_born(struct model *m, struct model_flow *f, const struct trace_jobs *r) {
    bool had = f->has_stages;
    for (uint32_t i = 0; i < r->job_count; i++) f->has_stages |= r->jobs[i].stage != TH_MAIN;
    f->has_stages |= r->timeout_ms != 0 || r->deadline_ms != 0;
    if (had || !f->has_stages) return;
    f->timeout_ms = r->timeout_ms;
    f->deadline_ms = r->deadline_ms;
    f->began_ms = m->time_ms;
}

bool model_stage_follows(const struct model_flow *f, const struct model_job *j) {
    return f->has_stages && j->child_of == TRACE_NO_JOB && j->spec.stage != TH_MAIN;
}

static int place(enum trace_stage stage) {
    return stage == TH_MAIN ? 0 : stage == TH_FINALLY ? 2 : stage == TH_OVER ? 3 : 1;
}

bool model_stage_holds(const struct model_flow *f, const struct model_job *j) {
    return model_stage_follows(f, j) && place(j->spec.stage) > place(f->stage);
}

bool model_stage_main_over(const struct model_flow *f) {
    for (uint32_t k = 0; k < f->job_count; k++) {
        if (!model_stage_follows(f, &f->jobs[k]) && !trace_is_terminal(f->jobs[k].state)) return false;
    }
    return true;
}

bool model_stage_main_has(const struct model_flow *f, enum trace_state state) {
    for (uint32_t k = 0; k < f->job_count; k++) {
        if (!model_stage_follows(f, &f->jobs[k]) && f->jobs[k].state == state) return true;
    }
    return false;
}

bool model_stage_may_retry(const struct model_flow *f, const struct model_job *j) {
    if (!f->has_stages) return true;
    if (model_stage_follows(f, j)) return f->stage == TH_OVER || f->stage == j->spec.stage;
    if (f->stage == TH_MAIN) return !f->timed_out;
    return f->stage == TH_OVER && model_rules_flow_state(f) != TF_RUNNING;
}

void model_stage_again(struct model *m, struct model_flow *f) {
    if (!f->has_stages || f->stage == TH_MAIN) return;
    REQUIRE(f->stage == TH_OVER);
    f->stage = f->called = TH_MAIN;
    f->timed_out = false;
    f->began_ms = m->time_ms;
    for (uint32_t k = 0; k < f->job_count; k++) {
        if (model_stage_follows(f, &f->jobs[k])) model_job_reset(&f->jobs[k], m->time_ms);
    }
}

/* ---- from stage to stage ---- */

static enum trace_stage called_by(const struct model_flow *f) {
    bool failed = f->unwinding != TZ_NONE || f->timed_out || model_stage_main_has(f, TS_FAILED) ||
                  model_stage_main_has(f, TS_TIMED_OUT) || model_stage_main_has(f, TS_DENIED) ||
                  model_stage_main_has(f, TS_QUARANTINED);
    if (f->cancelled) return TH_MAIN;
    if (failed) return TH_FAILURE;
    return model_stage_main_has(f, TS_CANCELLED) ? TH_MAIN : TH_SUCCESS;
}

static bool is_through(const struct model_flow *f) {
    if (f->stage == TH_MAIN)
        return !f->more && (f->unwinding == TZ_NONE || f->unwinding == TZ_DONE) && model_stage_main_over(f);
    for (uint32_t k = 0; k < f->job_count; k++) {
        const struct model_job *j = &f->jobs[k];
        if (model_stage_follows(f, j) && j->spec.stage == f->stage && !trace_is_terminal(j->state)) return false;
    }
    return true;
}

static void leave(struct model_flow *f) {
    enum trace_stage from = f->stage;
    if (from == TH_MAIN) f->called = called_by(f);
    f->stage = from == TH_FINALLY ? TH_OVER : from == TH_MAIN && f->called != TH_MAIN ? f->called : TH_FINALLY;
}

bool model_stage_go_on(struct model *m) {
    bool any = false;
    for (uint32_t n = 0; n < m->flow_count; n++) {
        struct model_flow *f = &m->flows[n];
        enum trace_stage before = f->stage;
        if (!f->has_stages || f->forgotten) continue;
        while (f->stage != TH_OVER && is_through(f)) leave(f);
        if (f->stage == before) continue;
        model_rules_begin_stage(m, f);
        any = true;
    }
    return any;
}

/* ---- times ---- */

static bool may_time_out(const struct model_flow *f) {
    bool ends = f->cancelled || f->unwinding != TZ_NONE || f->timed_out;
    return f->timeout_ms > 0 && f->stage == TH_MAIN && !ends && model_rules_flow_state(f) == TF_RUNNING;
}

bool model_stage_is_overdue(const struct model *m, const struct model_flow *f) {
    bool late = f->deadline_ms > 0 && !f->late && m->time_ms >= f->deadline_ms;
    return late || (may_time_out(f) && m->time_ms >= f->began_ms + f->timeout_ms);
}

bool model_stage_due(struct model *m, struct model_flow *f, const struct trace_flow_due *r, char *text) {
    if (model_rules_flow_state(f) != TF_RUNNING) return model_object(text, "the time of a flow that is over");
    if (r->is_deadline) {
        if (f->deadline_ms == 0 || f->late || m->time_ms < f->deadline_ms)
            return model_object(text, "late, and it has no deadline, or that has not come, or was told before");
        f->late = true;
        return true;
    }
    if (!may_time_out(f)) return model_object(text, "timed out, and cannot be");
    if (m->time_ms < f->began_ms + f->timeout_ms) return model_object(text, "timed out too early");
    f->timed_out = true;
    f->more = false;
    if (f->undo_failures) model_saga_unwind(m, f);
    if (f->unwinding == TZ_NONE) model_rules_cancel_flow(m, f, TC_FLOW_TIMEOUT);
    return true;
}
