/* model_rules.c: the rules, one function each, nothing remembered that can be looked up.
 *
 * How an end travels: jobs that have just ended form a wave. For each of them, in order, every job of every flow is
 * looked at; those that name it as a parent are judged, and those that end thereby join the wave behind the others.
 * A flow whose turn it is goes on until none of its jobs is left in the wave; then comes the flow that joined next.
 * The wave is finite: a job joins it when it ends, and it cannot end twice in one record. */
#include "model_rules.h"

#include <stdlib.h>

#include "model_service.h"
#include "model_stage.h"
#include "panic.h"

struct model_ended { /* by numbers, since nothing here may hold a pointer across a growing array */
    uint64_t flow;
    uint32_t ordinal;
    bool late; /* it had succeeded before */
};

struct wave {
    struct model_ended *at;
    uint32_t count;
};

static void wave_push(struct wave *w, uint64_t flow, uint32_t ordinal, bool late) {
    w->at = realloc(w->at, (w->count + 1) * sizeof *w->at);
    REQUIRE(w->at != NULL);
    w->at[w->count++] = (struct model_ended){flow, ordinal, late};
}

static bool wave_has(const struct wave *w, uint64_t flow, uint32_t ordinal) {
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->at[i].flow == flow && w->at[i].ordinal == ordinal) return true;
    }
    return false;
}

/* The oldest of the flow whose turn it is, else the oldest of all. */
static struct model_ended wave_pop(struct wave *w, uint64_t flow) {
    uint32_t i = 0;
    while (i < w->count && w->at[i].flow != flow) i++;
    if (i == w->count) i = 0;
    struct model_ended first = w->at[i];
    w->count--;
    for (; i < w->count; i++) w->at[i] = w->at[i + 1];
    return first;
}

static uint32_t ordinal_of(const struct model_flow *f, const struct model_job *j) {
    return (uint32_t)(j - f->jobs);
}

void model_rules_move(struct model *m, struct model_job *j, enum trace_state state) {
    if (j->state != state) j->since_ms = m->time_ms;
    j->state = state;
}

static void child_ended(struct model *m, struct model_flow *f, struct model_job *whole, bool badly, struct wave *w);
static void call_children_off(struct model *m, struct model_flow *f, struct model_job *whole, struct wave *w);

static void end(struct model *m, struct model_flow *f, struct model_job *j, enum trace_state state,
                enum trace_cause cause, uint32_t root, struct wave *w) {
    REQUIRE(trace_is_terminal(state));
    bool late = trace_is_terminal(j->state);
    REQUIRE(!late || state == TS_QUARANTINED);
    model_rules_move(m, j, state);
    j->cause = cause;
    j->root = root;
    j->stop = TX_NONE;
    j->has_question = false;
    j->waits_for_time = false;
    j->discarded = false;
    if (j->child_of != TRACE_NO_JOB) {
        child_ended(m, f, &f->jobs[j->child_of], state != TS_SUCCEEDED, w);
        return;
    }
    wave_push(w, f->id, ordinal_of(f, j), late);
    if (state == TS_FAILED || state == TS_TIMED_OUT) f->has_failure_news = true;
    j->is_open = false;
    if (state == TS_SUCCEEDED || j->children == NULL) return;
    if (j->called_off == TC_NONE) j->called_off = cause == TC_REQUEST || cause == TC_SAGA ? cause : TC_UPSTREAM;
    call_children_off(m, f, j, w);
}

/* ---- children of a foreach job ---- */

static void go_on_to_gates(struct model *m, struct model_flow *f, struct model_job *j, struct wave *w);

static void end_called_off(struct model *m, struct model_flow *f, struct model_job *child, struct wave *w) {
    enum trace_cause why = f->jobs[child->child_of].called_off;
    bool asked_for = why == TC_NONE || why == TC_REQUEST; /* of all, or of this one */
    if (asked_for || why == TC_SAGA)
        end(m, f, child, TS_CANCELLED, asked_for ? TC_REQUEST : TC_SAGA, TRACE_NO_JOB, w);
    else
        end(m, f, child, TS_CANCELLED, TC_UPSTREAM, child->child_of, w);
}

static void call_children_off(struct model *m, struct model_flow *f, struct model_job *whole, struct wave *w) {
    for (uint32_t i = 0; i < whole->child_count; i++) {
        struct model_job *child = &whole->children[i];
        if (model_job_is_active(child))
            child->stop = TX_CANCEL;
        else if (!trace_is_terminal(child->state))
            end_called_off(m, f, child, w);
    }
}

static uint32_t under_way(const struct model_job *whole) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < whole->child_count; i++)
        count += !trace_is_terminal(whole->children[i].state) && whole->children[i].past_parents;
    return count;
}

static uint32_t ended_badly(const struct model_job *whole) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < whole->child_count; i++)
        count += trace_is_terminal(whole->children[i].state) && whole->children[i].state != TS_SUCCEEDED;
    return count;
}

/* The one that waits for its turn and has the lowest index; NULL = none does. */
static struct model_job *next_child(const struct model_job *whole) {
    for (uint32_t i = 0; i < whole->child_count; i++) {
        if (whole->children[i].state == TS_WAITING && !whole->children[i].past_parents) return &whole->children[i];
    }
    return NULL;
}

/* More bad ends than it tolerates: a number, or so many of a hundred. */
static bool has_failed(const struct model_job *whole) {
    uint64_t bad = ended_badly(whole);
    if (whole->spec.allow_percent > 0) return bad * 100 > (uint64_t)whole->child_count * whole->spec.allow_percent;
    return bad > whole->spec.allow_count;
}

static void end_whole(struct model *m, struct model_flow *f, struct model_job *whole, struct wave *w) {
    enum trace_cause why = whole->called_off;
    if (why == TC_REQUEST || why == TC_SAGA || why == TC_FLOW_TIMEOUT)
        end(m, f, whole, TS_CANCELLED, why, TRACE_NO_JOB, w);
    else if (why == TC_DEADLINE)
        end(m, f, whole, TS_TIMED_OUT, why, TRACE_NO_JOB, w);
    else if (why == TC_CHILDREN || has_failed(whole))
        end(m, f, whole, TS_FAILED, TC_CHILDREN, TRACE_NO_JOB, w);
    else
        end(m, f, whole, TS_SUCCEEDED, TC_NONE, TRACE_NO_JOB, w);
}

static void go_on(struct model *m, struct model_flow *f, struct model_job *whole, struct wave *w) {
    if (!whole->is_open) return;
    struct model_job *child = next_child(whole);
    if (whole->called_off == TC_NONE && child != NULL) {
        if (under_way(whole) >= whole->spec.max_parallel) return;
        child->past_parents = child->has_begun = true;
        go_on_to_gates(m, f, child, w);
        go_on(m, f, whole, w);
    } else if (under_way(whole) == 0) {
        end_whole(m, f, whole, w);
    }
}

static void child_ended(struct model *m, struct model_flow *f, struct model_job *whole, bool badly, struct wave *w) {
    if (badly && whole->is_open && whole->called_off == TC_NONE && whole->spec.fail_fast && has_failed(whole)) {
        whole->called_off = TC_CHILDREN;
        call_children_off(m, f, whole, w);
    }
    go_on(m, f, whole, w);
}

static void begin_children(struct model *m, struct model_flow *f, struct model_job *whole, struct wave *w) {
    whole->has_question = false;
    whole->is_open = true;
    whole->called_off = TC_NONE;
    model_rules_move(m, whole, TS_WAITING);
    go_on(m, f, whole, w);
}

static void call_off(struct model *m, struct model_flow *f, struct model_job *whole, enum trace_cause cause,
                     struct wave *w) {
    bool is_word = cause == TC_SAGA || cause == TC_REQUEST;
    bool stays = whole->called_off == TC_SAGA || (whole->called_off != TC_NONE && !is_word);
    for (uint32_t i = 0; i < whole->child_count && !stays && whole->called_off != TC_NONE; i++) {
        struct model_job *child = &whole->children[i];
        if (child->has_begun || child->state != TS_CANCELLED) continue;
        child->cause = cause; /* of those that never began the last word counts */
        child->root = TRACE_NO_JOB;
    }
    if (!stays) whole->called_off = cause;
    call_children_off(m, f, whole, w);
    go_on(m, f, whole, w);
}

/* ---- the way to READY ---- */

void model_rules_ask(struct model_job *j, enum trace_gate gate) {
    model_job_votes_clear(j);
    j->has_question = true;
    j->gate = gate;
    j->revision = 1;
}

static void go_on_to_gates(struct model *m, struct model_flow *f, struct model_job *j, struct wave *w) {
    j->waits_for_time = false;
    static const enum trace_gate order[] = {TG_CONDITION, TG_EXPANSION, TG_RENDER, TG_POLICY, TG_APPROVAL, TG_EXTERNAL};
    if (model_job_has_lapsed(m, j)) {
        j->gates_passed &= ~(TRACE_GATE_BIT(TG_POLICY) | TRACE_GATE_BIT(TG_APPROVAL));
        j->gates_asked = model_job_gates(&j->spec);
    }
    uint32_t left = j->gates_asked & ~j->gates_passed;
    for (uint32_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        if ((left & TRACE_GATE_BIT(order[i])) == 0) continue;
        model_rules_ask(j, order[i]);
        model_rules_move(m, j, TS_HELD);
        return;
    }
    j->has_question = false;
    if (j->spec.child != NULL) {
        begin_children(m, f, j, w);
    } else if (j->spec.kind == TK_SERVICE) {
        model_rules_ask(j, TG_SERVICE);
        model_rules_move(m, j, TS_HELD);
        model_service_deploys(m, f->id, ordinal_of(f, j));
    } else if (j->spec.kind == TK_WORK) {
        model_rules_move(m, j, TS_READY);
    } else {
        if (j->spec.replicas > 0) model_replica_trim(m, f->tenant, j->spec.replica_of, j->spec.replicas);
        end(m, f, j, TS_SUCCEEDED, TC_NONE, TRACE_NO_JOB, w);
    }
}

static void go_on_to_time(struct model *m, struct model_flow *f, struct model_job *j, struct wave *w) {
    j->past_parents = true;
    int64_t due = (j->spec.delay_from_submit ? j->submit_ms : m->time_ms) + j->spec.delay_ms;
    if (due < j->spec.not_before_ms) due = j->spec.not_before_ms;
    if (due > m->time_ms) {
        j->waits_for_time = true;
        j->due_least_ms = j->due_most_ms = due;
        return;
    }
    go_on_to_gates(m, f, j, w);
}

/* ---- parents ---- */

enum model_edge { EDGE_OPEN, EDGE_SATISFIED, EDGE_FATAL };

static enum trace_trigger trigger_of(const struct trace_job *spec) {
    return spec->on_upstream == TU_RUN ? TT_ALL_DONE : spec->trigger;
}

/* What a parent in this state does to a job, and the state the job ends in when it does not survive. */
static enum model_edge edge_of(enum trace_state parent, const struct trace_job *spec, enum trace_state *ret_end) {
    enum trace_trigger trigger = trigger_of(spec);
    if (!trace_is_terminal(parent)) return EDGE_OPEN;
    if (parent == TS_SUCCEEDED || trigger == TT_ALL_DONE) return EDGE_SATISFIED;
    if (parent == TS_SKIPPED && trigger == TT_NONE_FAILED) return EDGE_SATISFIED;
    if (parent == TS_CANCELLED) {
        *ret_end = TS_CANCELLED;
    } else if (spec->on_upstream == TU_SKIP || parent == TS_SKIPPED) {
        *ret_end = TS_SKIPPED;
    } else {
        *ret_end = TS_FAILED;
    }
    return EDGE_FATAL;
}

uint32_t model_rules_parents_open(const struct model_flow *f, const struct model_job *j) {
    uint32_t open = 0;
    for (uint32_t i = 0; i < j->spec.parent_count; i++) {
        if (!trace_is_terminal(f->jobs[j->spec.parents[i]].state)) open++;
    }
    for (uint32_t i = 0; i < j->spec.foreign_count; i++) {
        if (!trace_is_terminal(j->foreign[i].seen)) open++;
    }
    return open;
}

static bool needs_one(const struct model_job *j) {
    return trigger_of(&j->spec) == TT_ONE_SUCCEEDED;
}

static uint32_t root_of(const struct model_flow *f, uint32_t parent) {
    const struct model_job *j = &f->jobs[parent];
    return j->root != TRACE_NO_JOB && !needs_one(j) ? j->root : parent;
}

static bool all_satisfied(const struct model_flow *f, const struct model_job *j) {
    enum trace_state unused;
    for (uint32_t i = 0; i < j->spec.parent_count; i++) {
        enum trace_state s = f->jobs[j->spec.parents[i]].state;
        if (edge_of(s, &j->spec, &unused) != EDGE_SATISFIED) return false;
    }
    for (uint32_t i = 0; i < j->spec.foreign_count; i++) {
        enum trace_state s = j->foreign[i].seen;
        if (edge_of(s, &j->spec, &unused) != EDGE_SATISFIED) return false;
    }
    return true;
}

static bool one_satisfied(const struct model_flow *f, const struct model_job *j) {
    for (uint32_t i = 0; i < j->spec.parent_count; i++) {
        if (f->jobs[j->spec.parents[i]].state == TS_SUCCEEDED) return true;
    }
    for (uint32_t i = 0; i < j->spec.foreign_count; i++) {
        if (j->foreign[i].seen == TS_SUCCEEDED) return true;
    }
    return j->spec.parent_count + j->spec.foreign_count == 0;
}

static void unlock(struct model *m, struct model_flow *f, struct model_job *j, struct wave *w) {
    if (j->state != TS_WAITING || j->past_parents || model_stage_holds(f, j)) return;
    if (needs_one(j) ? one_satisfied(f, j) : all_satisfied(f, j)) go_on_to_time(m, f, j, w);
}

/* True when nothing has become of the job yet that the first parent that ended badly could end. */
static bool may_still_begin(const struct model_flow *f, const struct model_job *j) {
    return needs_one(j) && (model_rules_parents_open(f, j) > 0 || one_satisfied(f, j));
}

/* A job without a past: the first parent that ended badly decides, those of its own flow first. */
static void judge(struct model *m, struct model_flow *f, struct model_job *j, struct wave *w) {
    enum trace_state bad;
    if (model_stage_holds(f, j)) return; /* looked at when its stage begins */
    bool goes_on = may_still_begin(f, j);
    for (uint32_t i = 0; i < j->spec.parent_count && !goes_on; i++) {
        uint32_t parent = j->spec.parents[i];
        REQUIRE(parent < ordinal_of(f, j));
        if (edge_of(f->jobs[parent].state, &j->spec, &bad) != EDGE_FATAL) continue;
        end(m, f, j, bad, TC_UPSTREAM, root_of(f, parent), w);
        return;
    }
    for (uint32_t i = 0; i < j->spec.foreign_count && !goes_on; i++) {
        if (edge_of(j->foreign[i].seen, &j->spec, &bad) != EDGE_FATAL) continue;
        end(m, f, j, bad, TC_UPSTREAM, TRACE_NO_JOB, w);
        return;
    }
    unlock(m, f, j, w);
}

/* ---- how an end travels ---- */

static bool names_own_parent(const struct model_job *j, uint32_t ordinal) {
    for (uint32_t i = 0; i < j->spec.parent_count; i++) {
        if (j->spec.parents[i] == ordinal) return true;
    }
    return false;
}

/* True when the job waited for that one; it now knows how it ended. The first end counts: what the parent does after a
 * retry, or a late verdict on it, does not reach other flows any more, just as it does not when it was seen ended. */
static bool learns_foreign_end(struct model_job *j, uint64_t flow, uint32_t ordinal, enum trace_state state) {
    bool learnt = false;
    for (uint32_t i = 0; i < j->spec.foreign_count; i++) {
        struct trace_foreign *p = &j->foreign[i];
        if (p->seen != TS_WAITING || p->flow != flow || p->ordinal != ordinal) continue;
        p->seen = state;
        learnt = true;
    }
    return learnt;
}

/* A parent that has not ended, or whose end is still under way to the job. */
static bool has_more_to_hear(const struct model_flow *f, const struct model_job *j, const struct wave *w) {
    for (uint32_t i = 0; i < j->spec.parent_count; i++) {
        if (wave_has(w, f->id, j->spec.parents[i])) return true;
    }
    return model_rules_parents_open(f, j) > 0;
}

static void reach(struct model *m, struct model_flow *f, struct model_job *j, enum trace_state parent, bool late,
                  uint32_t root, struct wave *w) {
    enum trace_state bad;
    if (!model_job_is_unstarted(j)) return;
    enum model_edge edge = edge_of(parent, &j->spec, &bad);
    if (needs_one(j) && edge == EDGE_FATAL && late) {
        if (!one_satisfied(f, j)) end(m, f, j, bad, TC_UPSTREAM, root, w);
    } else if (needs_one(j) && edge == EDGE_FATAL) {
        if (j->state == TS_WAITING && !j->past_parents && !has_more_to_hear(f, j, w)) judge(m, f, j, w);
    } else if (edge == EDGE_FATAL) {
        end(m, f, j, bad, TC_UPSTREAM, root, w);
    } else if (edge == EDGE_SATISFIED) {
        unlock(m, f, j, w);
    }
}

static void travel(struct model *m, struct wave *w) {
    struct model_ended from = {0};
    while (w->count > 0) {
        from = wave_pop(w, from.flow);
        struct model_flow *own = model_flow_find(m, from.flow);
        enum trace_state state = own->jobs[from.ordinal].state;
        for (uint32_t k = 0; k < own->job_count; k++) {
            if (names_own_parent(&own->jobs[k], from.ordinal))
                reach(m, own, &own->jobs[k], state, from.late, root_of(own, from.ordinal), w);
        }
        for (uint32_t n = 0; n < m->flow_count; n++) {
            struct model_flow *f = &m->flows[n];
            for (uint32_t k = 0; f != own && !f->forgotten && k < f->job_count; k++) {
                if (learns_foreign_end(&f->jobs[k], from.flow, from.ordinal, state))
                    reach(m, f, &f->jobs[k], state, false, TRACE_NO_JOB, w);
            }
        }
    }
    free(w->at);
    *w = (struct wave){0};
}

/* ---- what records ask for ---- */

void model_rules_judge_new(struct model *m, struct model_flow *f, uint32_t first) {
    struct wave w = {0};
    for (uint32_t k = first; k < f->job_count; k++) judge(m, f, &f->jobs[k], &w);
    travel(m, &w);
}

static bool ended_badly_for(const struct model_job *j) {
    return trace_is_terminal(j->state) && j->state != TS_SUCCEEDED;
}

/* Parents stand before their children, so what became of them is known. */
static bool comes_back(const struct model_flow *f, const struct model_job *j, uint32_t retried) {
    if (!ended_badly_for(j) || j->cause != TC_UPSTREAM) return false;
    if (j->root == retried) return true;
    if (needs_one(j)) return may_still_begin(f, j);
    if (j->root == TRACE_NO_JOB) return false;
    const struct model_job *root = &f->jobs[j->root];
    return needs_one(root) && !ended_badly_for(root);
}

static void reset(struct model *m, struct model_flow *f, struct model_job *j, struct wave *w) {
    for (uint32_t i = 0; i < j->child_count; i++) {
        if (ended_badly_for(&j->children[i])) model_job_reset(&j->children[i], m->time_ms);
    }
    model_job_reset(j, m->time_ms);
    judge(m, f, j, w);
}

void model_rules_begin_stage(struct model *m, struct model_flow *f) {
    struct wave w = {0};
    for (uint32_t k = 0; k < f->job_count; k++) {
        struct model_job *j = &f->jobs[k];
        bool waits = model_stage_follows(f, j) && j->state == TS_WAITING && !model_stage_holds(f, j);
        if (!waits) continue;
        if (j->spec.stage == TH_FINALLY || j->spec.stage == f->called)
            judge(m, f, j, &w);
        else
            end(m, f, j, TS_SKIPPED, TC_OUTCOME, TRACE_NO_JOB, &w);
    }
    travel(m, &w);
}

void model_rules_retry(struct model *m, struct model_flow *f, uint32_t ordinal, bool with_children) {
    struct wave w = {0};
    f->cancelled = false; /* what is tried again is no longer called off */
    if (!model_stage_follows(f, &f->jobs[ordinal])) model_stage_again(m, f);
    for (uint32_t k = 0; k < f->job_count; k++) {
        struct model_job *j = &f->jobs[k];
        if (k == ordinal && !with_children) {
            model_job_reset(j, m->time_ms);
            judge(m, f, j, &w);
        } else if (k == ordinal || comes_back(f, j, ordinal)) {
            reset(m, f, j, &w);
        }
    }
    travel(m, &w);
}

void model_rules_rerun(struct model *m, struct model_flow *f) {
    struct wave w = {0};
    f->cancelled = false;
    model_stage_again(m, f);
    for (uint32_t k = 0; k < f->job_count; k++) {
        if (ended_badly_for(&f->jobs[k])) reset(m, f, &f->jobs[k], &w);
    }
    travel(m, &w);
}

void model_rules_time_passed(struct model *m, struct model_flow *f, struct model_job *j) {
    struct wave w = {0};
    go_on_to_gates(m, f, j, &w);
    travel(m, &w);
}

void model_rules_gate_passed(struct model *m, struct model_flow *f, struct model_job *j) {
    struct wave w = {0};
    REQUIRE(j->has_question);
    j->gates_passed |= TRACE_GATE_BIT(j->gate);
    go_on_to_gates(m, f, j, &w);
    travel(m, &w);
}

void model_rules_end(struct model *m, struct model_flow *f, struct model_job *j, enum trace_state state,
                     enum trace_cause cause) {
    struct wave w = {0};
    end(m, f, j, state, cause, TRACE_NO_JOB, &w);
    travel(m, &w);
}

void model_rules_cancel_flow(struct model *m, struct model_flow *f, enum trace_cause cause) {
    struct wave w = {0};
    for (uint32_t k = 0; k < f->job_count; k++) {
        struct model_job *j = &f->jobs[k];
        if (model_stage_holds(f, j)) continue; /* it has its turn all the same */
        if (j->is_open) {
            call_off(m, f, j, cause, &w);
        } else if (model_job_is_active(j)) {
            j->stop = TX_CANCEL;
        } else if (!trace_is_terminal(j->state)) {
            end(m, f, j, TS_CANCELLED, cause, TRACE_NO_JOB, &w);
        }
    }
    travel(m, &w);
}

void model_rules_call_off(struct model *m, struct model_flow *f, struct model_job *whole, enum trace_cause cause) {
    struct wave w = {0};
    REQUIRE(whole->is_open);
    call_off(m, f, whole, cause, &w);
    travel(m, &w);
}

void model_rules_end_called_off(struct model *m, struct model_flow *f, struct model_job *child) {
    struct wave w = {0};
    end_called_off(m, f, child, &w);
    travel(m, &w);
}

void model_rules_go_on(struct model *m, struct model_flow *f, struct model_job *whole) {
    struct wave w = {0};
    go_on(m, f, whole, &w);
    travel(m, &w);
}

enum trace_flow_state model_rules_flow_state(const struct model_flow *f) {
    bool failed = false, cancelled = false;
    if (f->more) return TF_RUNNING;
    for (uint32_t k = 0; k < f->job_count; k++) {
        enum trace_state s = f->jobs[k].state;
        if (!trace_is_terminal(s)) return TF_RUNNING;
        if (s == TS_FAILED || s == TS_TIMED_OUT || s == TS_DENIED || s == TS_QUARANTINED) failed = true;
        if (s == TS_CANCELLED) cancelled = true;
    }
    if (f->unwinding != TZ_NONE || f->timed_out) failed = true;
    return failed ? TF_FAILED : cancelled ? TF_CANCELLED : TF_SUCCEEDED;
}
