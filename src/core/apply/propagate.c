/* propagate.c: the consequences of a record, in bounded steps. See propagate.h for what they are.
 *
 * A flow that has something to do is on one of two lists, linked by flow.working:
 *
 *      fresh     flows that the present record touched; empty before and after every record
 *      working   flows whose budget ran out; REC_CONTINUED takes the first of them back to `fresh`
 *
 * The cursor of a cascade is in the flow, as facts: `work` has the ordinals of jobs that ended and have not told all
 * their children, oldest first; `work_head` is the first of them, `work_edge` counts the edges of it that are done.
 *
 * A worked example: a fails; b and c come after a, d after both.
 *
 *           a            record ENDED(a)                 work: [a]
 *          / \           edge a -> b: b FAILED           work: [a b]
 *         b   c          edge a -> c: c FAILED           work: [b c]     a has told all: UNTOLD is cleared
 *          \ /           edge b -> d: d FAILED           work: [c]       d has no children: nothing to tell
 *           d            edge c -> d: d has ended        work: []        the flow is over: check_end
 *
 * That is a breadth-first walk: each edge is visited once, in O(edges). The `budget` falls by one with every edge. If
 * it were 2, the record would end after the second edge with work [b c], the flow would be settling, and
 * the next pass would write CONTINUED. A snapshot taken in between has the same cursor, so a restart goes on there.
 *
 * A sweep is the other kind of cursor: one pass over all jobs of a flow by ordinal (`sweep`, `sweep_next`), for cancel,
 * rerun, retry, resume, unwinding and forgetting.
 *
 * Order inside a record: sweep, children of foreach jobs, cascade; then, flow by flow, compensations, what follows the
 * main jobs and the end of the flow; then the flows that a failure unwinds, when no cascade of the record is left in
 * any flow; last the deployments, when nothing unwinds. What an unwinding or a deployment leads to comes in the same
 * order.
 *
 * Guarantees: a child hears of the end of each parent exactly once; a record takes at most STEP_JOBS_MAX steps; live
 * and replay visit in the same order, because the order follows from facts alone.
 *
 * Must not: recurse. A cascade over a million jobs uses the stack of one. */
#include "propagate.h"

#include <string.h>

#include "class.h"
#include "effects.h"
#include "expand.h"
#include "finale.h"
#include "flow.h"
#include "flow_lists.h"
#include "job_transition.h"
#include "mutant.h"
#include "panic.h"
#include "rules.h"
#include "saga.h"
#include "schedule.h"
#include "service.h"

static bool has_work(const struct state *s, const struct flow *f) {
    if (flow_is_leaving(f)) return f->jobs.count > 0;
    return f->graph->work_head < f->graph->work.count || f->sweep != SWEEP_NONE || expand_has_work(s, f);
}

void propagate_touch(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    if (f->is_working) return;
    REQUIRE(f->id != 0);
    REQUIRE((s->fresh_head == 0) == (s->fresh_tail == 0));
    f->is_working = true;
    f->working = 0;
    if (s->fresh_tail)
        flow_at(s, s->fresh_tail)->working = flow;
    else
        s->fresh_head = flow;
    s->fresh_tail = flow;
}

/* A flow that is cancelled or unwinds reaches its own jobs by the sweep, but for those behind the main ones. */
static bool is_swept(const struct state *s, const struct flow *f, const struct job *j) {
    return (f->cancelling || f->unwinding >= UNWIND_STOPPING) && !finale_follows(s, j);
}

/* What was told makes room at the front before the list grows: a copy of millions would hold everyone up. */
static void use_room_again(struct flow_graph *w) {
    if (w->work.count < w->work.slots || w->work_head == 0 || w->work_head < w->work.count / 2) return;
    w->work.count -= w->work_head;
    memmove(w->work.at, w->work.at + w->work_head, w->work.count * sizeof *w->work.at);
    w->work_head = 0;
}

void propagate_push(struct state *s, struct job *j) {
    struct flow *f = flow_at(s, j->flow);
    REQUIRE(job_state_is_terminal(j->state));
    REQUIRE(j->part != PART_CHILD); /* it has no edges: expand_child_ended hears of its end */
    bool tell = (j->last_child != 0 && !is_swept(s, f, j) && j->cause != CAUSE_SAGA) || (j->flags & JOBF_FOREIGN);
    if (tell) {
        j->flags |= JOBF_UNTOLD;
        struct flow_graph *web = flow_graph_own(f);
        use_room_again(web);
        u32vec_push(&web->work, j->ordinal);
    }
    propagate_touch(s, j->flow);
    ENSURE(f->is_working);
}

void propagate_sweep(struct state *s, uint32_t flow, enum sweep sweep, uint32_t root, uint32_t confirm_ms) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(f->sweep == SWEEP_NONE || sweep == SWEEP_CANCEL);
    REQUIRE(sweep != SWEEP_NONE);
    REQUIRE((unsigned)sweep < SWEEP_COUNT);
    REQUIRE(!flow_is_leaving(f));
    f->sweep = (uint8_t)sweep;
    f->sweep_next = 0;
    f->sweep_root = root;
    f->sweep_confirm_ms = confirm_ms;
    propagate_touch(s, flow);
}

/* ---- telling children ---- */

static void tell_foreign(struct state *s, const struct flow *f, const struct job *parent,
                         const struct foreign_edge *edge) {
    REQUIRE(edge->parent == parent->ordinal);
    uint32_t child_flow = flow_find(s, (flow_id){edge->child_flow});
    if (child_flow == 0) return; /* it is leaving, and its sweep has not come to the edge yet */
    struct flow *other = flow_at(s, child_flow);
    ENSURE(edge->child_ordinal < other->jobs.count);
    struct foreign_seen *seen = vec_push(&flow_graph_own(other)->seen);
    *seen = (struct foreign_seen){edge->child_ordinal, parent->ordinal, f->id, parent->state};
    job_parent_ended(s, other->jobs.at[edge->child_ordinal], parent->state, false, NO_ORDINAL);
}

/* All at once: a job has at most job_foreign_children_max of them. */
static void tell_all_foreign(struct state *s, uint32_t flow, struct job *parent) {
    struct flow *f = flow_at(s, flow);
    struct vec *foreign = &flow_graph_own(f)->foreign;
    uint32_t kept = 0, count = foreign->count;
    for (uint32_t i = 0; i < count; i++) {
        struct foreign_edge edge = *(struct foreign_edge *)vec_at(foreign, i);
        if (edge.parent == parent->ordinal)
            tell_foreign(s, f, parent, &edge);
        else
            *(struct foreign_edge *)vec_at(foreign, kept++) = edge;
    }
    ENSURE(foreign->count == count); /* nobody adds edges while jobs end */
    foreign->count = kept;
    parent->flags &= (uint8_t)~JOBF_FOREIGN;
}

static void finish_telling(struct state *s, uint32_t flow, struct job *parent) {
    struct flow *f = flow_at(s, flow);
    if (parent->flags & JOBF_FOREIGN) tell_all_foreign(s, flow, parent);
    parent->flags &= (uint8_t) ~(JOBF_UNTOLD | JOBF_LATE);
    struct flow_graph *web = flow_graph_own(f);
    REQUIRE(web->work.at[web->work_head] == parent->ordinal);
    web->work_head++;
    web->work_edge = 0;
    web->work_at = 0;
    if (web->work_head == web->work.count) web->work.count = web->work_head = 0;
}

/* Visits one edge of the oldest job in `work`. */
static void tell_next(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    struct flow_graph *web = flow_graph_own(f);
    REQUIRE(web->work_head < web->work.count);
    struct job *parent = job_at(s, f->jobs.at[web->work.at[web->work_head]]);
    REQUIRE(parent->flags & JOBF_UNTOLD);
    if (parent->last_child == 0 || is_swept(s, f, parent)) {
        finish_telling(s, flow, parent);
        return;
    }
    if (web->work_at == 0) web->work_at = ((struct edge *)vec_at(&web->edges, parent->last_child - 1))->next;
    struct edge edge = *(struct edge *)vec_at(&web->edges, web->work_at - 1);
    ENSURE(edge.child > parent->ordinal); /* ordinals are a topological order */
    ENSURE(edge.child < f->jobs.count);
    ENSURE(edge.next != 0);
    bool was_last = web->work_at == parent->last_child;
    web->work_edge++;
    web->work_at = edge.next;
    job_parent_ended(s, f->jobs.at[edge.child], parent->state, parent->flags & JOBF_LATE, job_root_of(s, parent));
    if (was_last) finish_telling(s, flow, parent);
}

/* ---- sweeps ---- */

static void sweep_job(struct state *s, struct flow *f, uint32_t index) {
    struct job *j = job_at(s, index);
    bool ended_badly = job_state_is_terminal(j->state) && j->state != JOB_SUCCEEDED;
    if (finale_holds(s, j)) {
        finale_keep(s, index);
        return;
    }
    switch ((enum sweep)f->sweep) {
    case SWEEP_STAGE: finale_begin(s, index); break;
    case SWEEP_CANCEL:
    case SWEEP_TIMEOUT:
    case SWEEP_UNWIND: job_cancel(s, index, f->sweep_confirm_ms); break;
    case SWEEP_RETRY:
        /* a job that still waits for its parents waits anew for those that start again */
        if (j->state == JOB_WAITING && j->parents_open > 0 && j->part == PART_NONE) job_judge(s, index);
        if (!ended_badly || !job_comes_back(s, index, f->sweep_root)) break;
        job_reset(s, index);
        job_judge(s, index);
        break;
    case SWEEP_RERUN:
        if (!ended_badly) break;
        job_reset(s, index);
        job_judge(s, index);
        break;
    case SWEEP_RESUME:
        if (j->state == JOB_READY && (j->flags & JOBF_PARKED)) ready_unpark(s, index);
        if (j->part != PART_NONE) expand_resume(s, index);
        break;
    case SWEEP_FORGET:
    case SWEEP_NONE:
    case SWEEP_COUNT: PANIC("a sweep of no kind");
    }
}

static void sweep_next(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(f->sweep != SWEEP_NONE);
    if (flow_is_leaving(f)) {
        flow_shed_job(s, flow);
        return;
    }
    if (f->sweep_next < f->jobs.count) sweep_job(s, f, f->jobs.at[f->sweep_next++]);
    if (f->sweep_next < f->jobs.count) return;
    if (f->finale) finale_at(s, f->finale)->is_again = false;
    f->sweep = SWEEP_NONE;
    f->sweep_next = 0;
    f->sweep_root = 0;
    f->sweep_confirm_ms = 0;
}

/* ---- the end of a flow ---- */

static enum flow_state end_state(const struct state *s, const struct flow *f) {
    if (f->unwinding != UNWIND_NONE || finale_timed_out(s, f)) return FLOW_FAILED;
    if (f->by_state[JOB_FAILED] || f->by_state[JOB_TIMED_OUT] || f->by_state[JOB_DENIED] ||
        f->by_state[JOB_QUARANTINED])
        return FLOW_FAILED;
    return f->by_state[JOB_CANCELLED] ? FLOW_CANCELLED : FLOW_SUCCEEDED;
}

static void count_end(struct state *s, const struct flow *f) {
    static const enum tally ends[FLOW_STATE_COUNT] = {[FLOW_SUCCEEDED] = TALLY_FLOWS_SUCCEEDED,
                                                      [FLOW_FAILED] = TALLY_FLOWS_FAILED,
                                                      [FLOW_CANCELLED] = TALLY_FLOWS_CANCELLED};
    if (f->state == FLOW_RUNNING || f->of_service) return;
    tally_add(s, f, ends[f->state], 1);
    tally_time(s, f, TALLY_FLOW, f->finished.ms - f->created.ms);
}

static void check_end(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(!flow_is_leaving(f));
    enum flow_state state = f->more || flow_open_jobs(f) ? FLOW_RUNNING : end_state(s, f);
    /* a version of a service leaves when the service says so */
    bool may_leave = state != FLOW_RUNNING && !f->of_service;
    if (may_leave) ended_enter(s, flow); /* also when it is over as before: the history has to hear of it */
    if (state == (enum flow_state)f->state) return;
    saga_reserve(s, f, state);
    f->state = (uint8_t)state;
    flow_shelve(s, f);
    f->finished = state == FLOW_RUNNING ? (wall_time){0} : s->now;
    count_end(s, f);
    struct event event = {.kind = EVENT_FLOW, .job = {{f->id}, NO_ORDINAL}, .flow_state = state};
    emit_event(s, &event);
    if (f->schedule) schedule_flow_moved(s, f->schedule, state);
    if (state == FLOW_RUNNING) ended_leave(s, flow);
    ENSURE(f->state != FLOW_RUNNING || f->ended == ENDED_NO);
    ENSURE(f->flow_list != FLOW_LIST_NONE);
}

/* ---- around a record ---- */

void propagate_begin(struct state *s) {
    s->budget = STEP_JOBS_MAX;
    s->event_ordinal = 0;
    s->ended_ago_ms = 0;
    REQUIRE(s->fresh_head == 0);
    REQUIRE(s->deploying.count == 0);
}

static void wait_for_continue(struct state *s, uint32_t flow) {
    REQUIRE(flow_at(s, flow)->is_working);
    REQUIRE((s->working_head == 0) == (s->working_tail == 0));
    flow_at(s, flow)->working = 0;
    if (s->working_tail)
        flow_at(s, s->working_tail)->working = flow;
    else
        s->working_head = flow;
    s->working_tail = flow;
}

/* The sweep first: it counts a parent that has yet to tell its children as open, so what ends meanwhile can wait. No
 * sweep begins while a cascade is under way (decide answers "busy"). */
static void propagate_on(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    for (; s->budget > 0 && has_work(s, f); s->budget--) {
        if (f->sweep != SWEEP_NONE)
            sweep_next(s, flow);
        else if (expand_has_work(s, f))
            expand_step(s, flow);
        else
            tell_next(s, flow);
    }
}

/* A flow has no cascade and no sweep left. */
static void settled(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(f->is_working);
    if (flow_is_leaving(f)) {
        f->is_working = false;
        flow_free(s, flow);
        return;
    }
    if (f->unwinding == UNWIND_DUE) {
        f->working = s->unwind_head;
        s->unwind_head = flow;
        return;
    }
    f->is_working = false;
    if (MUTANT(finally_before_undo)) finale_next(s, flow);
    saga_next(s, flow);
    finale_next(s, flow);
    check_end(s, flow);
    finale_set_timer(s, f);
    if (f->of_service) service_settled(s, flow); /* which may forget it */
}

static void propagate_through(struct state *s) {
    while (s->fresh_head) {
        uint32_t flow = s->fresh_head;
        struct flow *f = flow_at(s, flow);
        propagate_on(s, flow); /* may put more flows on the list */
        s->fresh_head = f->working;
        if (s->fresh_head == 0) s->fresh_tail = 0;
        f->working = 0;
        if (has_work(s, f)) {
            wait_for_continue(s, flow);
        } else {
            settled(s, flow);
        }
    }
}

static void unwind_next(struct state *s) {
    uint32_t flow = s->unwind_head;
    struct flow *f = flow_at(s, flow);
    s->unwind_head = f->working;
    if (s->budget == 0) {
        wait_for_continue(s, flow);
        return;
    }
    saga_stop(s, flow);
    f->is_working = false;
    propagate_touch(s, flow);
}

/* All cascades of the record, in whichever flow, come before what a failure calls off, and that before deployments. */
void propagate_end(struct state *s) {
    uint32_t begun = 0;
    propagate_through(s);
    while (s->unwind_head || begun < s->deploying.count) {
        if (s->unwind_head)
            unwind_next(s);
        else
            service_begin(s, s->deploying.at[begun++]);
        propagate_through(s);
    }
    s->deploying.count = 0;
    ENSURE(s->budget <= STEP_JOBS_MAX); /* it never fell below nothing */
}

void propagate_continue(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(f->is_working);
    REQUIRE(s->working_head != 0);
    uint32_t before = 0;
    for (uint32_t i = s->working_head; i != flow; i = flow_at(s, i)->working) {
        REQUIRE(i != 0);
        before = i;
    }
    if (before)
        flow_at(s, before)->working = f->working;
    else
        s->working_head = f->working;
    if (s->working_tail == flow) s->working_tail = before;
    f->is_working = false;
    propagate_touch(s, flow);
}

void propagate_restore(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(!f->is_working);
    if (!has_work(s, f) && f->unwinding != UNWIND_DUE) return;
    if (f->graph->work_edge) {
        struct flow_graph *web = flow_graph_own(f);
        const struct job *parent = job_at(s, f->jobs.at[web->work.at[web->work_head]]);
        ENSURE(parent->last_child != 0);
        web->work_at = ((struct edge *)vec_at(&web->edges, parent->last_child - 1))->next;
        for (uint32_t i = 0; i < web->work_edge; i++)
            web->work_at = ((struct edge *)vec_at(&web->edges, web->work_at - 1))->next;
    }
    f->is_working = true;
    wait_for_continue(s, flow);
}
