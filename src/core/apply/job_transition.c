/* job_transition.c: every move of a job from one state to another. Part of apply: it makes no choice and cannot fail.
 *
 * A move is one call of job_move_linked. The table of job.c says whether it is allowed; around the change of `state`
 * two functions keep everything that depends on the state in step:
 *
 *      leave(from)                     state = to                      enter(to)
 *        counters of flow and shard      since, cause, link              counters
 *        ready queue, dead letters                                       ready queue, question about a kept result
 *                                                                        timer
 *
 * `link` belongs to the state: the queue (class) of a READY job, the run of a DISPATCHED or RUNNING one, the question
 * of a HELD or CHECKING one, 0 for all others. A run goes along from DISPATCHED to RUNNING; everything else is taken
 * off before the move.
 *
 * A worked example: b comes after a, and a has one retry.
 *
 *      SUBMITTED   job_judge(a): no open parent, job_advance: no delay, no question      a WAITING -> READY
 *                  job_judge(b): one open parent, parents_open 1                         b WAITING
 *      ASSIGNED    attempt_assign: a run is made and linked                              a READY -> DISPATCHED
 *      STARTED                                                                           a DISPATCHED -> RUNNING
 *      ENDED exit  the run is freed, job_spend: 1 of 1 retries used, due in 2 s          a RUNNING -> WAITING
 *      DUE         job_advance: its time has come                                        a WAITING -> READY
 *      …           the second attempt, likewise
 *      ENDED ok    job_finish: a is put on its flow's list of work                       a RUNNING -> SUCCEEDED
 *                  propagate.c visits the edge a -> b: job_parent_ended, parents_open 0  b WAITING -> READY
 *
 * Had the second attempt failed as well, a would be FAILED and a dead letter, and the same visit of the edge would have
 * ended b: drag_down, FAILED with the cause `upstream` and a as its root.
 *
 * Guarantees: the counters by state, the ready queues, the timers, the dead-letter list and the bytes reserved in the
 * journal follow from the states of all jobs at every record. A job that ends has its flow looked at before the record
 * is through (propagate_push).
 *
 * Must not: look at a limit, a clock or a worker's session; walk over more than the edges of one job. */
#include "job_transition.h"

#include "attempt.h"
#include "class.h"
#include "effects.h"
#include "expand.h"
#include "finale.h"
#include "flow.h"
#include "flow_lists.h"
#include "memo.h"
#include "mutant.h"
#include "panic.h"
#include "propagate.h"
#include "question.h"
#include "quota.h"
#include "replica.h"
#include "saga.h"
#include "service.h"
#include "timer.h"

/* Journal bytes that the attempts still open to a job may need. */
static uint64_t reserve_of(const struct state *s, const struct job *j) {
    if (job_state_is_terminal(j->state)) return 0;
    uint32_t retries = job_options(s, j)->retries;
    uint64_t left = retries + 1u > j->used ? retries + 1u - j->used : 1u;
    bool entered = j->extra && extra_at(s, j->extra)->entered; /* then the flow keeps the room for it */
    return left * ATTEMPT_RECORD_BYTES + (entered ? 0 : saga_undo_bytes(s, j));
}

/* It may yet enter its compensation, though it be told to stop. */
static bool has_undo_under_way(const struct state *s, const struct job *j) {
    if (!job_state_is_active(j->state)) return false;
    if (j->part == PART_CHILD) j = expand_whole(s, j);
    return j->extra && extra_at(s, j->extra)->undo_profile;
}

void dead_push(struct state *s, uint32_t index) {
    struct job *j = job_at(s, index);
    REQUIRE(job_state_is_terminal(j->state));
    REQUIRE(!(j->flags & JOBF_DEAD));
    REQUIRE(j->next == 0);
    REQUIRE(j->prev == 0);
    j->flags |= JOBF_DEAD;
    j->prev = s->dead_tail;
    if (s->dead_tail)
        job_at(s, s->dead_tail)->next = index;
    else
        s->dead_head = index;
    s->dead_tail = index;
    s->dead_count++;
    flow_at(s, j->flow)->dead_count++;
    ended_dead_moved(s, j->flow);
}

void dead_remove(struct state *s, uint32_t index) {
    uint32_t flow = job_at(s, index)->flow;
    if (!(job_at(s, index)->flags & JOBF_DEAD)) return;
    dead_unlink(s, index);
    REQUIRE(flow_at(s, flow)->dead_count > 0);
    REQUIRE(s->dead_count > 0);
    flow_at(s, flow)->dead_count--;
    s->dead_count--;
    ended_dead_moved(s, flow);
}

void dead_unlink(struct state *s, uint32_t index) {
    struct job *j = job_at(s, index);
    if (!(j->flags & JOBF_DEAD)) return;
    REQUIRE(s->dead_head != 0);
    if (j->prev)
        job_at(s, j->prev)->next = j->next;
    else
        s->dead_head = j->next;
    if (j->next)
        job_at(s, j->next)->prev = j->prev;
    else
        s->dead_tail = j->prev;
    j->next = j->prev = 0;
    j->flags &= (uint8_t)~JOBF_DEAD;
    ENSURE((s->dead_head == 0) == (s->dead_tail == 0));
}

static void enter(struct state *s, uint32_t index, const struct job *j) {
    struct flow *f = flow_at(s, j->flow);
    if (j->part != PART_CHILD) {
        f->by_state[j->state]++;
        if (f->finale) finale_count(s, f, j, 1);
    }
    if (has_undo_under_way(s, j)) flow_graph_own(f)->undo_active++;
    s->by_state[j->state]++;
    if (j->state == JOB_READY) {
        ready_push(s, index);
        if (j->extra) memo_ask(s, index);
    }
    job_set_timer(s, index);
}

/* Counted where such a job ends, is reset or is loaded: enter() and leave() are the way of every job. */
static void count_upstream_failed(struct state *s, const struct job *j, int sign) {
    if (j->state != JOB_FAILED || j->cause != CAUSE_UPSTREAM || j->part == PART_CHILD) return;
    struct flow *f = flow_at(s, j->flow);
    REQUIRE(sign > 0 || f->upstream_failed > 0);
    f->upstream_failed += (uint32_t)sign;
}

void job_enter(struct state *s, uint32_t index) {
    const struct job *j = job_at(s, index);
    REQUIRE(j->flow != 0);
    s->reserved_bytes += reserve_of(s, j);
    enter(s, index, j);
}

void job_enter_loaded(struct state *s, uint32_t index) {
    job_enter(s, index);
    count_upstream_failed(s, job_at(s, index), 1);
}

static void leave(struct state *s, uint32_t index, const struct job *j) {
    struct flow *f = flow_at(s, j->flow);
    REQUIRE(s->by_state[j->state] > 0);
    if (j->part != PART_CHILD) {
        REQUIRE(f->by_state[j->state] > 0);
        if (f->finale) finale_count(s, f, j, -1);
        f->by_state[j->state]--;
    }
    if (has_undo_under_way(s, j)) {
        REQUIRE(f->graph->undo_active > 0);
        flow_graph_own(f)->undo_active--;
    }
    s->by_state[j->state]--;
    if (j->extra) memo_unask(s, j);
    if (j->state == JOB_READY)
        ready_remove(s, index);
    else if (j->flags & JOBF_DEAD)
        dead_remove(s, index);
}

/* A job that has not ended is queued and keeps room in the journal. `sign` is 1 or -1. */
static void count_open(struct state *s, const struct job *j, int sign) {
    uint64_t reserve = reserve_of(s, j);
    REQUIRE(sign > 0 || s->reserved_bytes >= reserve);
    s->reserved_bytes += (uint64_t)(int64_t)sign * reserve;
    quota_count_job(s, j, sign);
}

/* What its attempts may need of the journal follows from how many of them are used up. */
static void set_used(struct state *s, struct job *j, uint16_t used) {
    uint64_t reserve = reserve_of(s, j);
    REQUIRE(s->reserved_bytes >= reserve);
    s->reserved_bytes -= reserve;
    j->used = used;
    s->reserved_bytes += reserve_of(s, j);
}

void job_spend(struct state *s, struct job *j) {
    set_used(s, j, (uint16_t)(j->used + 1u));
}

void job_forgive(struct state *s, struct job *j) {
    set_used(s, j, 0);
}

void job_move(struct state *s, uint32_t index, enum job_state to, enum job_cause cause) {
    const struct job *j = job_at(s, index);
    job_move_linked(s, index, to, cause, j->state == JOB_READY ? 0 : j->link);
}

void job_move_linked(struct state *s, uint32_t index, enum job_state to, enum job_cause cause, uint32_t link) {
    struct job *j = job_at(s, index);
    enum job_state from = j->state;
    REQUIRE(job_may_move(from, to));
    REQUIRE((link != 0) == job_state_is_active(to)); /* a run goes along; a question is opened in its state */
    bool is_end = job_state_is_terminal(to) && !job_state_is_terminal(from);
    bool is_return = job_state_is_terminal(from) && !job_state_is_terminal(to);
    /* An attempt was over before anybody heard of it. All that follows from its end happens now. */
    wall_time over = {s->now.ms - (job_state_is_active(from) ? s->ended_ago_ms : 0)};
    tally_move(s, j, to, cause, over);
    if (is_end) count_open(s, j, -1);
    leave(s, index, j);
    j->link = link;
    j->state = (uint8_t)to;
    j->cause = (uint8_t)cause;
    j->since = is_end ? over : s->now;
    enter(s, index, j);
    if (is_return) count_open(s, j, 1);
    if (job_is_dead_letter(to, cause)) dead_push(s, index);
    if (s->effects == NULL) { /* nobody listens; the position counts all the same */
        s->event_ordinal++;
        return;
    }
    struct event event = {.kind = EVENT_JOB,
                          .job = job_ref_of(s, j),
                          .from = from,
                          .to = to,
                          .cause = cause,
                          .attempt = j->attempt,
                          .due_ms = to == JOB_WAITING ? j->due.ms : 0};
    emit_event(s, &event);
}

void job_finish(struct state *s, uint32_t index, enum job_state to, enum job_cause cause) {
    REQUIRE(job_state_is_terminal(to));
    struct job *j = job_at(s, index);
    job_move(s, index, to, cause);
    if (to == JOB_SUCCEEDED && j->extra) memo_succeeded(s, index);
    if (MUTANT(forget_cascade) && to == JOB_FAILED) return;
    if (j->part == PART_CHILD) {
        expand_child_ended(s, index);
        return;
    }
    if (expansion_of(s, j)) expand_job_ended(s, index);
    propagate_push(s, j);
    if (to == JOB_FAILED || to == JOB_TIMED_OUT) saga_failed(s, j->flow);
}

void job_succeed(struct state *s, uint32_t index, struct slice result, struct slice result_hash) {
    struct job *j = job_at(s, index);
    REQUIRE(j->link == 0 || j->state == JOB_READY); /* its attempt or question is gone */
    REQUIRE(result_hash.len == 0 || result_hash.len == 32);
    if (result.len || result_hash.len) {
        struct arena *arena = &flow_at(s, j->flow)->arena;
        struct extra *x = job_extra(s, j);
        x->result = arena_slice(arena, result);
        x->result_hash = arena_slice(arena, result_hash);
    }
    if (job_options(s, j)->gates & GATE_BIT(GATE_OUTPUT)) {
        job_move(s, index, JOB_CHECKING, CAUSE_NONE);
        question_open(s, index, GATE_OUTPUT);
    } else {
        job_finish(s, index, JOB_SUCCEEDED, CAUSE_NONE);
    }
}

/* The first question a job still has to pass, or GATE_COUNT. */
static enum gate next_gate(const struct state *s, const struct job *j) {
    uint32_t wanted = job_options(s, j)->gates;
    if (j->flags & JOBF_APPROVE) wanted |= GATE_BIT(GATE_APPROVAL);
    wanted &= ~(uint32_t)j->gates;
    if (wanted == 0) return GATE_COUNT;
    for (uint32_t i = 0; i < INPUT_GATE_COUNT; i++)
        if (wanted & GATE_BIT(gates_in_order[i])) return (enum gate)gates_in_order[i];
    return GATE_COUNT;
}

static bool ends_in_apply(const struct options *o) {
    return job_kind_of(o->kind)->ends == JOB_ENDS_IN_APPLY && !o->calls;
}

void job_advance(struct state *s, uint32_t index) {
    struct job *j = job_at(s, index);
    const struct options *o = job_options(s, j);
    REQUIRE(j->state == JOB_WAITING || (j->state == JOB_HELD && j->link == 0));
    REQUIRE(j->parents_open == 0);
    if (!(j->flags & JOBF_TIMED)) {
        wall_time from = o->delay_from_submit ? flow_at(s, j->flow)->created : s->now;
        int64_t due = from.ms + o->delay_ms;
        j->due.ms = due > o->not_before_ms ? due : o->not_before_ms;
        j->flags |= JOBF_TIMED;
    }
    if (j->due.ms > s->now.ms) {
        ENSURE(j->state == JOB_WAITING); /* nothing that has come to its questions waits for its time again */
        job_set_timer(s, index);
        return;
    }
    if (policy_has_lapsed(s, j)) policy_lapse(s, j);
    enum gate gate = next_gate(s, j);
    if (gate != GATE_COUNT) {
        if (j->state == JOB_WAITING) job_move(s, index, JOB_HELD, CAUSE_NONE);
        question_open(s, index, gate);
    } else if (options_expand(o)) {
        expand_begin(s, index);
    } else if (o->kind == JOB_SERVICE && service_is_deployed_by(s, j)) {
        service_deploy(s, index);
    } else if (ends_in_apply(o)) {
        if (o->replicas) replica_trim(s, flow_at(s, j->flow)->tenant, o->replica_of, o->replicas);
        job_finish(s, index, JOB_SUCCEEDED, CAUSE_NONE);
    } else {
        job_move(s, index, JOB_READY, CAUSE_NONE);
    }
}

/* What becomes of a job when a parent ended that way: WAITING = the edge is satisfied. */
static enum job_state upstream_end(const struct options *o, enum job_state parent) {
    enum trigger trigger = options_trigger(o);
    if (parent == JOB_SUCCEEDED || trigger == TRIGGER_ALL_DONE) return JOB_WAITING;
    if (parent == JOB_SKIPPED && trigger == TRIGGER_NONE_FAILED && !MUTANT(skip_counts_as_failure)) return JOB_WAITING;
    if (parent == JOB_CANCELLED) return JOB_CANCELLED;
    if (parent == JOB_SKIPPED || o->on_upstream == UPSTREAM_SKIP) return JOB_SKIPPED;
    return JOB_FAILED;
}

static bool has_not_started(const struct job *j) {
    if (j->part == PART_WHOLE || j->part == PART_ENDING) return false; /* its children have */
    return j->state == JOB_WAITING || j->state == JOB_HELD || j->state == JOB_READY;
}

static void drag_down(struct state *s, uint32_t index, enum job_state to, uint32_t root) {
    struct job *j = job_at(s, index);
    REQUIRE(job_state_is_terminal(to));
    REQUIRE(!job_state_is_active(j->state));
    if (j->state == JOB_HELD) question_close(s, j);
    j->root = root;
    job_finish(s, index, to, CAUSE_UPSTREAM);
    count_upstream_failed(s, job_at(s, index), 1);
}

/* How a parent in another flow ended, or WAITING while it is open. */
static enum job_state foreign_state(const struct state *s, const struct job *j, const struct rec_foreign *parent) {
    if (parent->seen != JOB_WAITING) return parent->seen;
    const struct flow *f = flow_at(s, j->flow);
    for (uint32_t i = 0; i < f->graph->seen.count; i++) {
        const struct foreign_seen *seen = vec_at(&f->graph->seen, i);
        if (seen->child == j->ordinal && seen->parent_flow == parent->flow && seen->parent_ordinal == parent->ordinal)
            return seen->state;
    }
    return JOB_WAITING;
}

/* A parent in the same flow that is open, or that ended well for this job and has yet to tell it so. */
static bool is_awaited(const struct job *parent) {
    if (!job_state_is_terminal(parent->state)) return true;
    return (parent->flags & JOBF_UNTOLD) && !(parent->flags & JOBF_LATE);
}

uint32_t job_root_of(const struct state *s, const struct job *j) {
    bool is_own = j->root == NO_ORDINAL || options_trigger(job_options(s, j)) == TRIGGER_ONE_SUCCEEDED;
    return is_own ? j->ordinal : j->root;
}

/* The parents of a job, looked at all at once. */
struct parents {
    uint32_t open, awaited, succeeded;
    enum job_state end; /* what the first that ended badly makes of the job; WAITING: none did */
    uint32_t root;      /* to blame for that */
};

static void note_bad(struct parents *p, const struct options *o, enum job_state ended, uint32_t root) {
    if (p->end != JOB_WAITING) return;
    p->end = upstream_end(o, ended);
    p->root = root;
}

static struct parents look_at_parents(const struct state *s, const struct job *j, const struct rec_job *rec) {
    const struct options *o = job_options(s, j);
    const struct flow *f = flow_at(s, j->flow);
    const struct rec_foreign *foreign = rec->foreign.at;
    struct parents p = {.end = JOB_WAITING};
    for (uint32_t i = 0; i < rec->parents.count; i++) {
        REQUIRE(rec->parents.at[i] < j->ordinal);
        const struct job *parent = job_at(s, f->jobs.at[rec->parents.at[i]]);
        bool ended = job_state_is_terminal(parent->state);
        p.open += !ended;
        p.awaited += is_awaited(parent);
        p.succeeded += parent->state == JOB_SUCCEEDED;
        if (ended) note_bad(&p, o, parent->state, job_root_of(s, parent));
    }
    for (uint32_t i = 0; i < rec->foreign.count; i++) {
        enum job_state state = foreign_state(s, j, &foreign[i]);
        p.open += state == JOB_WAITING;
        p.awaited += state == JOB_WAITING;
        p.succeeded += state == JOB_SUCCEEDED;
        if (state != JOB_WAITING) note_bad(&p, o, state, NO_ORDINAL);
    }
    ENSURE(p.awaited >= p.open);
    return p;
}

static struct parents parents_of(struct state *s, const struct job *j) {
    struct rec_job rec;
    job_record(j, &s->scratch, &rec);
    return look_at_parents(s, j, &rec);
}

/* One success is enough, whichever is the first; the job ends when no parent is left that may bring it, or when the
 * only one that did is quarantined before the job has started. Its parents are looked at once per life: when the count
 * says that all have told it. */
static void one_parent_ended(struct state *s, uint32_t index, enum job_state parent, bool late, uint32_t root) {
    struct job *j = job_at(s, index);
    if (late) {
        if (parents_of(s, j).succeeded == 0) drag_down(s, index, upstream_end(job_options(s, j), parent), root);
        return;
    }
    if (j->state != JOB_WAITING || j->parents_open == 0 || finale_holds(s, j)) return;
    if (parent != JOB_SUCCEEDED && --j->parents_open > 0) return;
    job_judge(s, index);
}

void job_parent_ended(struct state *s, uint32_t index, enum job_state parent, bool late, uint32_t root) {
    struct job *j = job_at(s, index);
    REQUIRE(job_state_is_terminal(parent));
    if (!has_not_started(j)) return;
    const struct options *o = job_options(s, j);
    if (options_trigger(o) == TRIGGER_ONE_SUCCEEDED && !MUTANT(first_failure_counts)) {
        one_parent_ended(s, index, parent, late, root);
        return;
    }
    enum job_state end = upstream_end(o, parent);
    if (end != JOB_WAITING) {
        drag_down(s, index, end, root);
        return;
    }
    /* a job that is past its parents stays so, whatever a retried one does */
    if (late || j->state != JOB_WAITING || j->parents_open == 0 || finale_holds(s, j)) return;
    if (MUTANT(double_unlock)) j->parents_open = 1;
    if (--j->parents_open == 0) job_advance(s, index);
}

void job_judge(struct state *s, uint32_t index) {
    struct rec_job rec;
    job_record(job_at(s, index), &s->scratch, &rec);
    job_judge_as(s, index, &rec);
}

void job_judge_as(struct state *s, uint32_t index, const struct rec_job *rec) {
    struct job *j = job_at(s, index);
    REQUIRE(j->state == JOB_WAITING);
    if (finale_holds(s, j)) { /* its parents are looked at when its stage begins */
        j->parents_open = 1;
        return;
    }
    struct parents p = look_at_parents(s, j, rec);
    bool needs_one = options_trigger(job_options(s, j)) == TRIGGER_ONE_SUCCEEDED;
    if (p.end != JOB_WAITING && (!needs_one || p.open + p.succeeded == 0)) {
        drag_down(s, index, p.end, p.root);
        return;
    }
    j->parents_open = needs_one && p.succeeded > 0 ? 0 : p.awaited;
    if (j->parents_open == 0) job_advance(s, index);
}

bool job_comes_back(struct state *s, uint32_t index, uint32_t retried) {
    const struct job *j = job_at(s, index);
    if (!job_state_is_terminal(j->state) || j->cause != CAUSE_UPSTREAM) return false;
    if (j->root == retried) return true;
    if (options_trigger(job_options(s, j)) == TRIGGER_ONE_SUCCEEDED) {
        struct parents p = parents_of(s, j);
        return p.open + p.succeeded > 0;
    }
    if (j->root == NO_ORDINAL) return false;
    const struct flow *f = flow_at(s, j->flow);
    REQUIRE(j->root < j->ordinal);
    const struct job *root = job_at(s, f->jobs.at[j->root]);
    bool is_bad = job_state_is_terminal(root->state) && root->state != JOB_SUCCEEDED;
    return !is_bad && options_trigger(job_options(s, root)) == TRIGGER_ONE_SUCCEEDED;
}

void job_cancel(struct state *s, uint32_t index, uint32_t confirm_ms) {
    struct job *j = job_at(s, index);
    uint8_t sweep = flow_at(s, j->flow)->sweep;
    enum job_cause cause = sweep == SWEEP_UNWIND    ? CAUSE_SAGA
                           : sweep == SWEEP_TIMEOUT ? CAUSE_FLOW_TIMEOUT
                                                    : CAUSE_REQUEST;
    if (j->part == PART_WHOLE || j->part == PART_ENDING) {
        expand_call_off(s, index, cause, confirm_ms);
        return;
    }
    switch ((enum job_state)j->state) {
    case JOB_HELD:
    case JOB_CHECKING:
        question_close(s, j);
        job_finish(s, index, JOB_CANCELLED, cause);
        break;
    case JOB_WAITING:
    case JOB_READY: job_finish(s, index, JOB_CANCELLED, cause); break;
    case JOB_DISPATCHED:
    case JOB_RUNNING: attempt_stop(s, index, STOP_CANCEL, confirm_ms); break;
    case JOB_SUCCEEDED:
    case JOB_FAILED:
    case JOB_TIMED_OUT:
    case JOB_CANCELLED:
    case JOB_DENIED:
    case JOB_QUARANTINED:
    case JOB_SKIPPED:
    case JOB_STATE_COUNT: break;
    }
}

void job_reset(struct state *s, uint32_t index) {
    struct job *j = job_at(s, index);
    REQUIRE(job_state_is_terminal(j->state));
    REQUIRE(j->state != JOB_SUCCEEDED || finale_follows(s, j));
    REQUIRE(!(j->flags & JOBF_UNTOLD));
    REQUIRE(j->link == 0);
    REQUIRE(j->part == PART_NONE || j->part == PART_CHILD); /* a foreach job that is over waits for no children */
    count_upstream_failed(s, j, -1);
    j->used = 0;
    j->gates = 0;
    j->root = NO_ORDINAL;
    j->due.ms = 0;
    j->flags &= (uint8_t) ~(JOBF_TIMED | JOBF_APPROVE | JOBF_PREFER_OVER | JOBF_LATE);
    if (j->extra) { /* what the attempts left; compensation and children are of the job */
        struct extra *x = extra_at(s, j->extra);
        *x = (struct extra){.child_profile = x->child_profile,
                            .expansion = x->expansion,
                            .undo_profile = x->undo_profile,
                            .undoes = x->undoes,
                            .runner_profile = x->runner_profile,
                            .entered = x->entered,
                            .memo = x->memo};
        memo_reset(s, index);
        bool of_the_job = x->undo_profile || x->undoes || x->runner_profile || x->child_profile || x->memo;
        if (!of_the_job) {
            pool_free(&s->extras, j->extra);
            j->extra = 0;
        }
    }
    job_move(s, index, JOB_WAITING, CAUSE_NONE);
    if (expansion_of(s, j)) { /* it keeps its items, and the children that did well */
        j->gates = GATE_BIT(GATE_EXPANSION);
        expand_reopen(s, index);
    }
}

void job_quarantine_late(struct state *s, uint32_t index) {
    struct job *j = job_at(s, index);
    REQUIRE(j->state == JOB_SUCCEEDED);
    REQUIRE(!(j->flags & JOBF_UNTOLD));
    j->flags |= JOBF_LATE;
    memo_taint(s, j);
    job_finish(s, index, JOB_QUARANTINED, CAUSE_VERDICT);
}
