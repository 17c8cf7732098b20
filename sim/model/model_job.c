/* model_job.c: keeping and finding jobs, with copies of everything and searches from one end to the other. */
#include "model_job.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"
#include "model_service.h"
#include "panic.h"

bool model_object(char *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, MODEL_TEXT_BYTES, format, args);
    va_end(args);
    return false;
}

static void *copy(const void *from, size_t bytes) {
    if (bytes == 0) return NULL;
    void *to = malloc(bytes);
    REQUIRE(to != NULL);
    memcpy(to, from, bytes);
    return to;
}

static void *grow(void *array, uint32_t count, size_t elem_bytes) {
    void *grown = realloc(array, (size_t)count * elem_bytes);
    REQUIRE(grown != NULL);
    return grown;
}

struct model_text model_text_copy(struct trace_bytes b) {
    return (struct model_text){copy(b.at, b.len), b.len};
}

struct model_flow *model_flow_find(const struct model *m, uint64_t id) {
    for (uint32_t i = 0; i < m->flow_count; i++) {
        if (m->flows[i].id == id) return &m->flows[i];
    }
    return NULL;
}

struct model_job *model_job_find(const struct model *m, uint64_t flow, uint32_t ordinal) {
    struct model_flow *f = model_flow_find(m, flow);
    if (f == NULL || ordinal < TRACE_FIRST_CHILD) return f != NULL && ordinal < f->job_count ? &f->jobs[ordinal] : NULL;
    for (uint32_t k = 0; k < f->job_count; k++) {
        struct model_job *j = &f->jobs[k];
        if (j->child_count > 0 && ordinal >= j->first_child && ordinal - j->first_child < j->child_count)
            return &j->children[ordinal - j->first_child];
    }
    return NULL;
}

struct model_flow *model_flow_push(struct model *m, uint64_t id, struct trace_bytes submitter,
                                   struct trace_bytes tenant) {
    m->flows = grow(m->flows, m->flow_count + 1, sizeof *m->flows);
    struct model_flow *f = &m->flows[m->flow_count++];
    *f = (struct model_flow){.id = id, .submitter = model_text_copy(submitter), .tenant = model_text_copy(tenant)};
    return f;
}

struct model_key model_key_of(struct trace_bytes b) {
    struct model_key key = {.is = b.len == sizeof key.at};
    if (key.is) memcpy(key.at, b.at, b.len);
    return key;
}

/* Gates every job of its kind stands before, besides those it asks for. */
uint32_t model_job_gates(const struct trace_job *spec) {
    uint32_t gates = spec->gates;
    if (spec->kind == TK_GATE) gates |= TRACE_GATE_BIT(TG_APPROVAL);
    if (spec->kind == TK_EXTERNAL) gates |= TRACE_GATE_BIT(TG_EXTERNAL);
    return gates;
}

void model_job_push(struct model_flow *f, const struct trace_job *spec, int64_t time_ms) {
    f->jobs = grow(f->jobs, f->job_count + 1, sizeof *f->jobs);
    struct model_job *j = &f->jobs[f->job_count++];
    *j = (struct model_job){.spec = *spec, .submit_ms = time_ms, .undoes = TRACE_NO_JOB, .child_of = TRACE_NO_JOB};
    j->spec.name = (struct trace_bytes){0}; /* names decide nothing */
    j->spec.cache_key = (struct trace_bytes){0};
    j->first_key = model_key_of(spec->cache_key);
    j->spec.resources = NULL;
    j->spec.resource_count = 0;
    j->spec.keys = j->spec.rates = NULL;
    j->spec.key_count = j->spec.rate_count = 0;
    j->spec.parents = copy(spec->parents, spec->parent_count * sizeof *spec->parents);
    j->spec.foreign = NULL;
    j->foreign = copy(spec->foreign, spec->foreign_count * sizeof *spec->foreign);
    j->spec.fatal_exits = copy(spec->fatal_exits, spec->fatal_exit_count * sizeof *spec->fatal_exits);
    if (spec->undo != NULL) {
        struct trace_job *undo = copy(spec->undo, sizeof *undo);
        undo->fatal_exits = copy(undo->fatal_exits, undo->fatal_exit_count * sizeof *undo->fatal_exits);
        undo->name = (struct trace_bytes){0};
        undo->keys = undo->rates = NULL;
        undo->key_count = undo->rate_count = 0;
        undo->resources = NULL;
        undo->resource_count = 0;
        j->spec.undo = undo;
    }
    if (spec->child != NULL) {
        struct trace_job *child = copy(spec->child, sizeof *child);
        child->fatal_exits = copy(child->fatal_exits, child->fatal_exit_count * sizeof *child->fatal_exits);
        child->keys = child->rates = NULL;
        child->key_count = child->rate_count = 0;
        child->resources = NULL;
        child->resource_count = 0;
        j->spec.child = child;
    }
    if (spec->replica_of.len > 0)
        j->spec.replica_of =
            (struct trace_bytes){copy(spec->replica_of.at, spec->replica_of.len), spec->replica_of.len};
    if (spec->runner != NULL) {
        j->spec.service = (struct trace_bytes){copy(spec->service.at, spec->service.len), spec->service.len};
        j->spec.runner = model_runner_copy(spec->runner);
    }
    model_job_reset(j, time_ms);
}

/* Ordinals of children go on behind those of the flow's earlier expansions. */
void model_job_expand(struct model_flow *f, struct model_job *j, uint32_t count, int64_t time_ms) {
    REQUIRE(j->children == NULL && j->spec.child != NULL);
    j->first_child = TRACE_FIRST_CHILD;
    for (uint32_t k = 0; k < f->job_count; k++) j->first_child += f->jobs[k].child_count;
    j->child_count = count;
    j->children = calloc((size_t)count + 1, sizeof *j->children);
    REQUIRE(j->children != NULL);
    for (uint32_t i = 0; i < count; i++) {
        j->children[i] = (struct model_job){
            .spec = *j->spec.child, .submit_ms = time_ms, .undoes = TRACE_NO_JOB, .child_of = (uint32_t)(j - f->jobs)};
        model_job_reset(&j->children[i], time_ms);
    }
}

void model_job_reset(struct model_job *j, int64_t time_ms) {
    model_job_votes_clear(j);
    *j = (struct model_job){
        .spec = j->spec,
        .foreign = j->foreign,
        .submit_ms = j->submit_ms,
        .undoes = j->undoes,
        .entered = j->entered,
        .children = j->children,
        .child_count = j->child_count,
        .first_child = j->first_child,
        .child_of = j->child_of,
        .has_begun = j->has_begun,
        .gates_passed = j->children != NULL ? TRACE_GATE_BIT(TG_EXPANSION) : 0, /* it keeps its items */
        .first_key = j->first_key,
        .key = j->first_key,
        .state = TS_WAITING,
        .since_ms = time_ms,
        .attempt = j->attempt,
        .root = TRACE_NO_JOB,
        .gates_asked = model_job_gates(&j->spec),
        .worker = j->worker,
    };
}

int64_t model_job_deadline(const struct model_job *j) {
    int64_t own = j->spec.deadline_ms, outside = j->begun ? j->until_ms : 0;
    if (own == 0) return outside;
    return outside != 0 && outside < own ? outside : own;
}

bool model_job_is_overdue(const struct model *m, const struct model_job *j) {
    if (model_job_deadline(j) == 0 || model_job_deadline(j) > m->time_ms) return false;
    return !trace_is_terminal(j->state) && j->stop == TX_NONE && j->called_off == TC_NONE;
}

bool model_job_has_lapsed(const struct model *m, const struct model_job *j) {
    return (j->gates_passed & TRACE_GATE_BIT(TG_POLICY)) && m->policy > 0 && j->grant < m->policy;
}

bool model_job_has_voted(const struct model_job *j, struct trace_bytes who) {
    for (uint32_t i = 0; i < j->vote_count; i++) {
        if (j->votes[i].len == who.len && memcmp(j->votes[i].at, who.at, who.len) == 0) return true;
    }
    return false;
}

void model_job_vote(struct model_job *j, struct trace_bytes who) {
    REQUIRE(who.len > 0);
    if (model_job_has_voted(j, who)) return;
    j->votes = grow(j->votes, j->vote_count + 1, sizeof *j->votes);
    j->votes[j->vote_count++] = model_text_copy(who);
}

void model_job_votes_clear(struct model_job *j) {
    for (uint32_t i = 0; i < j->vote_count; i++) free(j->votes[i].at);
    free(j->votes);
    j->votes = NULL;
    j->vote_count = 0;
}

bool model_job_is_unstarted(const struct model_job *j) {
    if (j->is_open) return false; /* its children have */
    return j->state == TS_WAITING || j->state == TS_HELD || j->state == TS_READY;
}

bool model_job_is_active(const struct model_job *j) {
    return j->state == TS_DISPATCHED || j->state == TS_RUNNING;
}

bool model_job_is_dead(const struct model_job *j) {
    if (j->state == TS_FAILED) return j->cause != TC_UPSTREAM && j->cause != TC_CHILDREN;
    return j->state == TS_TIMED_OUT || j->state == TS_DENIED || j->state == TS_QUARANTINED;
}

bool model_job_is_dead_letter(const struct model_job *j) {
    return model_job_is_dead(j) && !j->discarded;
}

static void free_array(const void *array) { /* specs hold their copies as pointers to const */
    free((void *)(uintptr_t)array);
}

void model_flows_free(struct model *m) {
    for (uint32_t i = 0; i < m->flow_count; i++) {
        struct model_flow *f = &m->flows[i];
        for (uint32_t k = 0; k < f->job_count; k++) {
            model_job_votes_clear(&f->jobs[k]);
            free_array(f->jobs[k].spec.parents);
            free(f->jobs[k].foreign);
            free_array(f->jobs[k].spec.fatal_exits);
            for (uint32_t c = 0; c < f->jobs[k].child_count; c++) model_job_votes_clear(&f->jobs[k].children[c]);
            free(f->jobs[k].children);
            if (f->jobs[k].spec.child != NULL) free_array(f->jobs[k].spec.child->fatal_exits);
            free_array(f->jobs[k].spec.child);
            if (f->jobs[k].spec.undo != NULL) free_array(f->jobs[k].spec.undo->fatal_exits);
            free_array(f->jobs[k].spec.undo);
            if (f->jobs[k].spec.runner != NULL) {
                free_array(f->jobs[k].spec.service.at);
                model_runner_free(f->jobs[k].spec.runner);
            }
            if (f->jobs[k].spec.replica_of.len > 0) free_array(f->jobs[k].spec.replica_of.at);
            free(f->jobs[k].worker.at);
        }
        free(f->jobs);
        free(f->entered);
        free(f->submitter.at);
        free(f->tenant.at);
        free(f->source.at);
    }
    free(m->flows);
    free(m->made);
}
