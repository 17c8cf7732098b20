/* model_compare.c: holding the model against what an engine says. Looks at every flow and every job of both sides. */
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "model_job.h"
#include "model_rules.h"
#include "model_saga.h"
#include "model_stage.h"
#include "panic.h"

static const char *const state_words[TS_COUNT] = {
    "waiting",   "held",   "ready",     "dispatched", "running", "checking",    "succeeded",
    "failed",    "timed_out", "cancelled", "denied",     "quarantined", "skipped",
};
static const char *const cause_words[TC_COUNT] = {
    "none",     "exit",        "lost",     "upstream", "no_worker",  "rejected",
    "dispatch", "run_timeout", "deadline", "verdict",  "no_verdict", "request", "saga", "unhealthy", "replaced",
    "children", "flow_timeout", "outcome",
};
static const char *const gate_words[TG_COUNT] = {"condition", "render", "policy",  "approval",
                                                 "external",  "output", "service", "expansion"};
static const char *const flow_words[TF_COUNT] = {"running", "succeeded", "failed", "cancelled"};

const char *model_state_word(enum trace_state s) {
    REQUIRE(s < TS_COUNT);
    return state_words[s];
}

const char *model_cause_word(enum trace_cause c) {
    REQUIRE(c < TC_COUNT);
    return cause_words[c];
}

const char *model_gate_word(enum trace_gate g) {
    REQUIRE(g < TG_COUNT);
    return gate_words[g];
}

/* ---- what the model says ---- */

static bool waits_for_parents(const struct model_job *j) {
    return j->state == TS_WAITING && !j->past_parents && j->child_of == TRACE_NO_JOB;
}

static uint32_t ordinal_of(const struct model_flow *f, const struct model_job *j) {
    if (j->child_of == TRACE_NO_JOB) return (uint32_t)(j - f->jobs);
    return f->jobs[j->child_of].first_child + (uint32_t)(j - f->jobs[j->child_of].children);
}

/* Of a child that waits for its turn, and of one that did well without a second attempt, nobody knows since when. */
static bool has_no_times(const struct model_job *j) {
    if (j->child_of == TRACE_NO_JOB) return false;
    bool plain = j->state == TS_SUCCEEDED && j->attempt == 1;
    return plain || !j->past_parents;
}

static struct trace_job_state tell(const struct model_flow *f, const struct model_job *j) {
    return (struct trace_job_state){
        .flow = f->id,
        .ordinal = ordinal_of(f, j),
        .state = j->state,
        .cause = j->cause,
        .attempt = j->attempt,
        .used = j->used,
        .due_ms = j->waits_for_time ? j->due_least_ms : 0,
        .since_ms = j->since_ms,
        .parents_open = model_stage_holds(f, j) && j->state == TS_WAITING ? 1
                        : waits_for_parents(j) ? model_rules_parents_open(f, j) + j->behind
                                               : 0,
        .root = j->root,
        .stop = j->stop,
        .dead_letter = model_job_is_dead_letter(j),
        .has_question = j->has_question,
        .gate = j->has_question ? j->gate : TG_CONDITION,
        .revision = j->has_question ? j->revision : 0,
        .undoes = j->undoes == TRACE_NO_JOB ? 0 : j->undoes + 1,
        .from_flow = j->from_flow,
        .from_ordinal = j->from_ordinal,
    };
}

bool model_job(const struct model *m, uint64_t flow, uint32_t ordinal, struct trace_job_state *ret) {
    const struct model_flow *f = model_flow_find(m, flow);
    const struct model_job *j = model_job_find(m, flow, ordinal);
    if (f == NULL || f->forgotten || j == NULL) return false;
    *ret = tell(f, j);
    return true;
}

bool model_flow(const struct model *m, uint64_t flow, struct trace_flow_now *ret) {
    const struct model_flow *f = model_flow_find(m, flow);
    if (f == NULL || f->forgotten) return false;
    *ret = (struct trace_flow_now){
        .flow = flow,
        .state = model_rules_flow_state(f),
        .more = f->more,
        .job_count = f->job_count,
        .unwinding = f->unwinding,
        .undo_count = model_saga_left(f),
        .stage = f->stage,
        .called = f->called,
        .timed_out = f->timed_out,
        .late = f->late,
    };
    return true;
}

/* ---- flows that cannot be compared now, or not to the millisecond ---- */

/* Spreads marks from flows to the flows that wait for them, until nothing changes. */
static void spread(const struct model *m, bool *marks) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (uint32_t n = 0; n < m->flow_count; n++) {
            const struct model_flow *f = &m->flows[n];
            for (uint32_t k = 0; !marks[n] && k < f->job_count; k++) {
                for (uint32_t i = 0; i < f->jobs[k].spec.foreign_count; i++) {
                    const struct model_flow *from = model_flow_find(m, f->jobs[k].foreign[i].flow);
                    if (from == NULL || !marks[from - m->flows] || marks[n]) continue;
                    marks[n] = true;
                    changed = true;
                }
            }
        }
    }
}

static bool *marks_new(const struct model *m) {
    bool *marks = calloc(m->flow_count + 1, sizeof *marks);
    REQUIRE(marks != NULL);
    return marks;
}

static bool *unsettled(const struct model *m, const struct trace_flow_now *flows, uint32_t flow_count) {
    bool *marks = marks_new(m);
    for (uint32_t i = 0; i < flow_count; i++) {
        const struct model_flow *f = model_flow_find(m, flows[i].flow);
        if (f != NULL && flows[i].settling) marks[f - m->flows] = true;
    }
    spread(m, marks);
    return marks;
}

static bool *stepped(const struct model *m) {
    bool *marks = marks_new(m);
    for (uint32_t n = 0; n < m->flow_count; n++) marks[n] = m->flows[n].stepped;
    spread(m, marks);
    return marks;
}

/* ---- one flow, one job ---- */

static bool same_flow(const struct model_flow *f, const struct trace_flow_now *now, char *text) {
    unsigned long long id = f->id;
    enum trace_flow_state state = model_rules_flow_state(f);
    if (now->job_count != f->job_count)
        return model_object(text, "flow %llu has %u jobs, must have %u", id, now->job_count, f->job_count);
    if (now->state != state)
        return model_object(text, "flow %llu is %s, must be %s", id, flow_words[now->state], flow_words[state]);
    if (now->unwinding != f->unwinding)
        return model_object(text, "flow %llu: unwinding is %d, must be %d", id, (int)now->unwinding, (int)f->unwinding);
    if (now->undo_count != model_saga_left(f))
        return model_object(text, "flow %llu has %u things to undo, must have %u", id, now->undo_count,
                            model_saga_left(f));
    if (now->stage != f->stage || now->called != f->called)
        return model_object(text, "flow %llu is in stage %d (%d was called), must be in %d (%d)", id, (int)now->stage,
                            (int)now->called, (int)f->stage, (int)f->called);
    if (now->timed_out != f->timed_out || now->late != f->late)
        return model_object(text, "flow %llu: timed out is %d and late %d, must be %d and %d", id, now->timed_out,
                            now->late, f->timed_out, f->late);
    bool own_file = now->source.len == f->source.len &&
                    (f->source.len == 0 || memcmp(now->source.at, f->source.at, f->source.len) == 0);
    if (!own_file) return model_object(text, "flow %llu shows another file than its own", id);
    if (now->more != f->more) return model_object(text, "flow %llu: more is %d, must be %d", id, now->more, f->more);
    return true;
}

static bool same_times(const struct model_job *j, const struct trace_job_state *now, bool loose, char *text) {
    if (has_no_times(j)) return true;
    if (j->waits_for_time) {
        bool early = now->due_ms < j->due_least_ms;
        bool late = !loose && now->due_ms > j->due_most_ms;
        if (early || late)
            return model_object(text, "due at %lld, must be in %lld..%lld", (long long)now->due_ms,
                                (long long)j->due_least_ms, (long long)j->due_most_ms);
    }
    if (!loose && now->since_ms != j->since_ms)
        return model_object(text, "%s since %lld, must be since %lld", model_state_word(j->state),
                            (long long)now->since_ms, (long long)j->since_ms);
    return true;
}

static bool same_question(const struct model_job *j, const struct trace_job_state *now, char *text) {
    if (now->has_question != j->has_question)
        return model_object(text, "has %s question, must have %s", now->has_question ? "a" : "no",
                            j->has_question ? "one" : "none");
    if (!j->has_question) return true;
    if (now->gate != j->gate)
        return model_object(text, "asks for %s, must ask for %s", model_gate_word(now->gate), model_gate_word(j->gate));
    if (now->revision != j->revision)
        return model_object(text, "question at revision %u, must be %u", now->revision, j->revision);
    return true;
}

static bool same_job(const struct model_flow *f, const struct model_job *j, const struct trace_job_state *now,
                     bool loose, char *text) {
    struct trace_job_state must = tell(f, j);
    if (now->state != must.state)
        return model_object(text, "is %s (%s), must be %s (%s)", model_state_word(now->state),
                            model_cause_word(now->cause), model_state_word(must.state), model_cause_word(must.cause));
    if (trace_is_terminal(must.state) && now->cause != must.cause)
        return model_object(text, "is %s by %s, must be by %s", model_state_word(must.state),
                            model_cause_word(now->cause), model_cause_word(must.cause));
    if (now->attempt != must.attempt) return model_object(text, "attempt %u, must be %u", now->attempt, must.attempt);
    if (now->used != must.used) return model_object(text, "used %u, must be %u", now->used, must.used);
    if (now->stop != must.stop) return model_object(text, "stop cause %d, must be %d", now->stop, must.stop);
    if (now->dead_letter != must.dead_letter)
        return model_object(text, "dead letter %d, must be %d", now->dead_letter, must.dead_letter);
    if (now->undoes != must.undoes)
        return model_object(text, "undoes %u - 1, must undo %u - 1", now->undoes, must.undoes);
    if (now->from_flow != must.from_flow || now->from_ordinal != must.from_ordinal)
        return model_object(text, "has the result of %llu/%u, must have that of %llu/%u",
                            (unsigned long long)now->from_flow, now->from_ordinal, (unsigned long long)must.from_flow,
                            must.from_ordinal);
    if (now->root != must.root) return model_object(text, "root %u, must be %u", now->root, must.root);
    if (waits_for_parents(j) && now->parents_open != must.parents_open)
        return model_object(text, "waits for %u parents, must wait for %u", now->parents_open, must.parents_open);
    return same_question(j, now, text) && same_times(j, now, loose, text);
}

/* ---- everything ---- */

static const struct trace_flow_now *flow_told(const struct trace_flow_now *flows, uint32_t count, uint64_t id) {
    for (uint32_t i = 0; i < count; i++) {
        if (flows[i].flow == id) return &flows[i];
    }
    return NULL;
}

static bool same_flows(const struct model *m, const struct trace_flow_now *flows, uint32_t flow_count,
                       const bool *skip, char *text) {
    for (uint32_t i = 0; i < flow_count; i++) {
        const struct model_flow *f = model_flow_find(m, flows[i].flow);
        if (f == NULL || f->forgotten)
            return model_object(text, "flow %llu should not be there", (unsigned long long)flows[i].flow);
    }
    for (uint32_t n = 0; n < m->flow_count; n++) {
        const struct model_flow *f = &m->flows[n];
        const struct trace_flow_now *now = flow_told(flows, flow_count, f->id);
        if (f->forgotten) continue;
        if (now == NULL) return model_object(text, "flow %llu is missing", (unsigned long long)f->id);
        if (!skip[n] && !same_flow(f, now, text)) return false;
    }
    return true;
}

static bool same_jobs(const struct model *m, const struct trace_job_state *jobs, uint32_t job_count, const bool *skip,
                      const bool *loose, char *text) {
    uint64_t told = 0, must = 0;
    for (uint32_t i = 0; i < job_count; i++) {
        const struct model_flow *f = model_flow_find(m, jobs[i].flow);
        char what[MODEL_TEXT_BYTES];
        const struct model_job *j = model_job_find(m, jobs[i].flow, jobs[i].ordinal);
        if (f == NULL || f->forgotten || j == NULL)
            return model_object(text, "job %llu/%u should not be there", (unsigned long long)jobs[i].flow,
                                jobs[i].ordinal);
        if (skip[f - m->flows]) continue;
        told++;
        if (!same_job(f, j, &jobs[i], loose[f - m->flows], what))
            return model_object(text, "after record %llu: job %llu/%u %.200s", (unsigned long long)m->lsn,
                                (unsigned long long)f->id, jobs[i].ordinal, what);
        if (!loose[f - m->flows] && model_job_is_overdue(m, j))
            return model_object(text, "after record %llu: job %llu/%u goes on after its deadline",
                                (unsigned long long)m->lsn, (unsigned long long)f->id, jobs[i].ordinal);
    }
    for (uint32_t n = 0; n < m->flow_count; n++) {
        if (skip[n] || m->flows[n].forgotten) continue;
        must += m->flows[n].job_count;
        for (uint32_t k = 0; k < m->flows[n].job_count; k++) must += m->flows[n].jobs[k].child_count;
    }
    if (told != must)
        return model_object(text, "%llu jobs told, must be %llu", (unsigned long long)told, (unsigned long long)must);
    return true;
}

bool model_compare(const struct model *m, const struct trace_flow_now *flows, uint32_t flow_count,
                   const struct trace_job_state *jobs, uint32_t job_count, char text[MODEL_TEXT_BYTES]) {
    bool *skip = unsettled(m, flows, flow_count);
    bool *loose = stepped(m);
    bool same = same_flows(m, flows, flow_count, skip, text) && same_jobs(m, jobs, job_count, skip, loose, text);
    free(skip);
    free(loose);
    return same;
}
