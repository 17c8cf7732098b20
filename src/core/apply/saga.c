/* saga.c: compensations: entered, called for, run. See saga.h.
 *
 *      flow.unwinding
 *        NONE           nothing has called for compensations
 *        DUE            a failure has; the cascades of that record come first
 *        STOPPING       a sweep calls off all jobs that are not over
 *        COMPENSATING   all jobs are over; the entered compensations run, one at a time
 *        DONE           the list is empty
 *
 * A worked example: reserve, charge and ship run one after the other; each but ship names a compensation.
 *
 *      ENDED reserve ok          entered [reserve]
 *      ENDED charge ok           entered [reserve charge]
 *      ENDED ship exit, fatal    ship FAILED; the flow unwinds: DUE, then STOPPING; nothing else is open
 *                                COMPENSATING: job charge~undo is made and READY       entered [reserve]
 *      ENDED charge~undo ok      job reserve~undo is made and READY                    entered []
 *      ENDED reserve~undo exit   it is a dead letter; the unwinding goes on            DONE, the flow is FAILED
 *
 * A compensation is entered when an attempt ends well, before its output is judged and also while the flow unwinds: the
 * effects are real, whatever becomes of the job. The journal bytes of its attempts are reserved by the job until it is
 * entered, by the flow until its job is made, and then by that job.
 *
 * Guarantees: each compensation runs once, last entered first, one at a time, after all jobs of the flow are over. The
 * next step follows from `unwinding` and `entered`, which are facts: a crash between any two records loses nothing.
 *
 * Must not: begin while a cascade of the same record is under way; it would call off jobs that the cascade ends. */
#include "saga.h"

#include "class.h"
#include "effects.h"
#include "expand.h"
#include "finale.h"
#include "flow.h"
#include "job_transition.h"
#include "mutant.h"
#include "panic.h"
#include "propagate.h"
#include "rules.h"

void saga_name(struct state *s, struct job *j, uint32_t undo_profile) {
    REQUIRE(undo_profile != 0);
    struct extra *x = job_extra(s, j);
    REQUIRE(x->undo_profile == 0);
    x->undo_profile = undo_profile;
    profile_ref(s, undo_profile);
}

uint64_t saga_undo_bytes(const struct state *s, const struct job *j) {
    uint32_t profile = j->extra ? extra_at(s, j->extra)->undo_profile : 0;
    return profile ? (profile_at(s, profile)->options.retries + 1ull) * ATTEMPT_RECORD_BYTES : 0;
}

void saga_restore(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(f->graph->undo_bytes == 0);
    for (uint32_t i = 0; i < f->graph->entered.count; i++) {
        const struct job *j = job_at(s, f->jobs.at[f->graph->entered.at[i]]);
        uint64_t bytes = saga_undo_bytes(s, j);
        flow_graph_own(f)->undo_bytes += bytes;
        /* jobs that stand in their state by now took the room along, as if nothing had been entered */
        bool stands = !job_state_is_terminal(j->state) && j->state != JOB_READY && !job_state_is_active(j->state);
        if (!stands) continue;
        REQUIRE(s->reserved_bytes >= bytes);
        s->reserved_bytes -= bytes;
    }
    if (f->state == FLOW_RUNNING) s->reserved_bytes += f->graph->undo_bytes;
}

void saga_reserve(struct state *s, const struct flow *f, enum flow_state to) {
    REQUIRE(to != (enum flow_state)f->state);
    if (to == FLOW_RUNNING) {
        s->reserved_bytes += f->graph->undo_bytes;
    } else if (f->state == FLOW_RUNNING) {
        REQUIRE(s->reserved_bytes >= f->graph->undo_bytes);
        s->reserved_bytes -= f->graph->undo_bytes;
    }
}

/* Each once: a job that is tried again and succeeds again keeps its first place. The room in the journal goes over from
 * the job to the flow. */
void saga_enter(struct state *s, struct job *j) {
    if (j->part == PART_CHILD) j = expand_whole(s, j); /* one compensation for all children */
    struct extra *x = j->extra ? extra_at(s, j->extra) : NULL;
    if (x == NULL || x->undo_profile == 0 || x->entered) return;
    REQUIRE(x->undoes == 0);
    struct flow *f = flow_at(s, j->flow);
    if (MUTANT(compensation_lost) && f->unwinding != UNWIND_NONE) return;
    uint64_t bytes = saga_undo_bytes(s, j);
    x->entered = true;
    tally_add(s, f, TALLY_UNDOS, 1);
    struct flow_graph *web = flow_graph_own(f);
    u32vec_push(&web->entered, j->ordinal);
    web->undo_bytes += bytes;
    if (f->state != FLOW_RUNNING) s->reserved_bytes -= bytes;
    if (!MUTANT(late_success_kept)) saga_failed(s, j->flow);
}

static void unwind(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    enum flow_stage stage = flow_stage(s, f);
    if (f->unwinding != UNWIND_NONE) return;
    if (stage != FLOW_STAGE_MAIN && stage != FLOW_STAGE_OVER) return; /* nobody may ask for it now */
    if (f->graph->entered.count == 0 && f->graph->undo_active == 0)
        return; /* nothing to undo, now or when the open attempts end */
    f->unwinding = UNWIND_DUE;
    finale_again(s, flow);
    tally_add(s, f, TALLY_SAGAS, 1);
    f->more = false;
    propagate_touch(s, flow);
}

void saga_fail(struct state *s, uint32_t job) {
    const struct job *j = job_at(s, job);
    REQUIRE(job_state_is_terminal(j->state));
    if (job_is_dead_letter(j->state, j->cause) && !finale_follows(s, j)) unwind(s, j->flow);
}

void saga_failed(struct state *s, uint32_t flow) {
    const struct flow *f = flow_at(s, flow);
    if (f->compensate_on != COMPENSATE_FAILURE || MUTANT(failure_not_compensated)) return;
    if (flow_stage(s, f) != FLOW_STAGE_MAIN) return;
    if (finale_main(s, f, JOB_FAILED) > 0 || finale_main(s, f, JOB_TIMED_OUT) > 0) unwind(s, flow);
}

void saga_timed_out(struct state *s, uint32_t flow) {
    if (flow_at(s, flow)->compensate_on == COMPENSATE_FAILURE) unwind(s, flow);
}

void saga_stop(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(f->unwinding == UNWIND_DUE);
    f->unwinding = UNWIND_STOPPING;
    propagate_sweep(s, flow, SWEEP_UNWIND, 0, UNWIND_CONFIRM_MS);
}

/* ---- compensations ---- */

static struct slice undo_name(struct state *s, struct slice name) {
    REQUIRE(name.len + UNDO_SUFFIX_BYTES <= UNDO_NAME_BYTES_MAX);
    uint8_t *at = arena_alloc(&s->scratch, name.len + UNDO_SUFFIX_BYTES);
    memcpy(at, name.ptr, name.len);
    memcpy(at + name.len, UNDO_SUFFIX, UNDO_SUFFIX_BYTES);
    return slice_of(at, name.len + UNDO_SUFFIX_BYTES);
}

/* A job like any other from here on; only its name, its message and its options tell. */
static void compensate(struct state *s, uint32_t flow, uint32_t ordinal) {
    struct flow *f = flow_at(s, flow);
    REQUIRE(ordinal < f->jobs.count);
    const struct job *undone = job_at(s, f->jobs.at[ordinal]);
    REQUIRE(undone->extra != 0);
    REQUIRE(extra_at(s, undone->extra)->undo_profile != 0);
    struct rec_job spec;
    job_record(undone, &s->scratch, &spec);
    struct rec_job undo = {
        .name = undo_name(s, spec.name), .body = spec.undo_body, .body_hash = spec.undo_hash, .undoes = ordinal + 1};
    uint32_t index = flow_make_job(s, flow, extra_at(s, undone->extra)->undo_profile, &undo);
    job_extra(s, job_at(s, index))->undoes = ordinal + 1;
    tally_add(s, f, TALLY_COMPENSATIONS, 1);
    struct event event = {.kind = EVENT_FLOW, .job = {{f->id}, NO_ORDINAL}, .flow_state = FLOW_RUNNING};
    emit_event(s, &event);
    job_judge_as(s, index, &undo);
}

static uint32_t take_entered(const struct state *s, struct flow *f) {
    struct flow_graph *web = flow_graph_own(f);
    REQUIRE(web->entered.count > 0);
    uint32_t at = MUTANT(compensation_order) ? 0 : web->entered.count - 1;
    uint32_t ordinal = web->entered.at[at];
    if (MUTANT(compensation_twice) && f->unwinding == UNWIND_STOPPING) return ordinal;
    for (uint32_t i = at + 1; i < web->entered.count; i++) web->entered.at[i - 1] = web->entered.at[i];
    web->entered.count--;
    uint64_t bytes = saga_undo_bytes(s, job_at(s, f->jobs.at[ordinal]));
    REQUIRE(web->undo_bytes >= bytes);
    web->undo_bytes -= bytes;
    return ordinal;
}

void saga_next(struct state *s, uint32_t flow) {
    struct flow *f = flow_at(s, flow);
    if (f->unwinding != UNWIND_STOPPING && f->unwinding != UNWIND_COMPENSATING) return;
    if (finale_main_open(s, f)) return;
    if (f->graph->entered.count == 0) {
        f->unwinding = UNWIND_DONE;
        tally_add(s, f, TALLY_SAGAS_DONE, 1);
        return;
    }
    uint64_t before = f->graph->undo_bytes;
    uint32_t ordinal = take_entered(s, f);
    f->unwinding = UNWIND_COMPENSATING;
    uint64_t bytes = before - f->graph->undo_bytes;
    REQUIRE(f->state != FLOW_RUNNING || s->reserved_bytes >= bytes);
    if (f->state == FLOW_RUNNING) s->reserved_bytes -= bytes; /* the new job has its own */
    compensate(s, flow, ordinal);
}
