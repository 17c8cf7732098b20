/* model_saga.c: what was entered, in a list that is never shortened; what was undone is looked up among the jobs. */
#include "model_saga.h"

#include <stdlib.h>

#include "model.h"
#include "model_rules.h"
#include "model_stage.h"
#include "panic.h"

void model_saga_entered(struct model_flow *f, uint32_t ordinal) {
    if (f->jobs[ordinal].spec.undo == NULL || f->jobs[ordinal].entered) return;
    f->jobs[ordinal].entered = true;
    f->has_failure_news = true;
    f->entered = realloc(f->entered, (f->entered_count + 1) * sizeof *f->entered);
    REQUIRE(f->entered != NULL);
    f->entered[f->entered_count++] = ordinal;
}

static bool may_have_something_to_undo(const struct model_flow *f) {
    for (uint32_t k = 0; k < f->job_count; k++) {
        const struct model_job *j = &f->jobs[k];
        if (j->spec.undo != NULL && (j->entered || model_job_is_active(j))) return true;
        for (uint32_t i = 0; j->spec.undo != NULL && i < j->child_count; i++) {
            if (model_job_is_active(&j->children[i])) return true;
        }
    }
    return false;
}

void model_saga_unwind(struct model *m, struct model_flow *f) {
    if (f->unwinding != TZ_NONE || !may_have_something_to_undo(f)) return;
    model_stage_again(m, f);
    f->unwinding = TZ_STOPPING;
    f->more = false;
    model_rules_cancel_flow(m, f, TC_SAGA);
}

/* Whatever becomes of jobs behind the main ones, it undoes nothing. */
void model_saga_fatal(struct model *m, struct model_flow *f, const struct model_job *j) {
    if (!model_stage_follows(f, j)) model_saga_unwind(m, f);
}

static bool has_failed(const struct model_flow *f) {
    return f->stage == TH_MAIN && (model_stage_main_has(f, TS_FAILED) || model_stage_main_has(f, TS_TIMED_OUT));
}

/* What is called off in one flow may fail jobs of another, which then looks again. */
static void look_for_failures(struct model *m) {
    for (uint32_t n = 0; n < m->flow_count; n++) {
        struct model_flow *f = &m->flows[n];
        if (!f->has_failure_news) continue;
        f->has_failure_news = false;
        if (!f->undo_failures || f->forgotten || !has_failed(f)) continue;
        model_saga_unwind(m, f);
        look_for_failures(m);
        return;
    }
}

static bool is_undone(const struct model_flow *f, uint32_t ordinal) {
    for (uint32_t k = 0; k < f->job_count; k++) {
        if (f->jobs[k].undoes == ordinal) return true;
    }
    return false;
}

uint32_t model_saga_left(const struct model_flow *f) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < f->entered_count; i++) left += !is_undone(f, f->entered[i]);
    return left;
}

static void make(struct model *m, struct model_flow *f, uint32_t ordinal) {
    struct trace_job spec = *f->jobs[ordinal].spec.undo;
    uint32_t made = f->job_count;
    spec.undo = NULL;
    spec.message_bytes += 1; /* its message says what it undoes: a tag and a number, seven bits to a byte */
    for (uint32_t rest = ordinal + 1; rest > 0; rest >>= 7) spec.message_bytes++;
    model_job_push(f, &spec, m->time_ms);
    f->jobs[made].undoes = ordinal;
    f->unwinding = TZ_COMPENSATING;
    m->made = realloc(m->made, (m->made_count + 1) * sizeof *m->made);
    REQUIRE(m->made != NULL);
    m->made[m->made_count++] = (struct model_made){f->id, made};
    model_rules_judge_new(m, f, made);
}

static void next(struct model *m, struct model_flow *f) {
    for (uint32_t i = f->entered_count; i > 0; i--) {
        if (is_undone(f, f->entered[i - 1])) continue;
        make(m, f, f->entered[i - 1]);
        return;
    }
    f->unwinding = TZ_DONE;
}

void model_saga_go_on(struct model *m) {
    look_for_failures(m);
    for (uint32_t n = 0; n < m->flow_count; n++) {
        struct model_flow *f = &m->flows[n];
        bool under_way = f->unwinding == TZ_STOPPING || f->unwinding == TZ_COMPENSATING;
        if (under_way && !f->forgotten && model_stage_main_over(f)) next(m, f);
    }
}

bool model_made(struct model *m, struct trace_undo *ret) {
    if (m->made_count == 0) return false;
    struct model_made first = m->made[0];
    for (uint32_t i = 1; i < m->made_count; i++) m->made[i - 1] = m->made[i];
    m->made_count--;
    const struct model_job *j = model_job_find(m, first.flow, first.ordinal);
    REQUIRE(j != NULL);
    *ret = (struct trace_undo){first.flow, first.ordinal, j->undoes, &j->spec};
    return true;
}
