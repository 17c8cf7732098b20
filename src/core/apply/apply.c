/* apply.c: one function per record kind: what a record does to the state. See apply.h.
 *
 * Each record goes through the same three steps:
 *
 *      propagate_begin     a fresh budget of steps, events counted from 0
 *      apply_<kind>        what the record says, and no more
 *      propagate_end       what follows from it: children, sweeps, the ends of flows, as far as the budget goes
 *
 * A worked example: ENDED(f7, job 0, attempt 1, ok) of a flow of two jobs, the second after the first.
 *
 *      attempt_end      frees the run: the worker has a slot again, its keys are given back
 *      job_finish       job 0 RUNNING -> SUCCEEDED; flow f7 is touched, its work is [0]
 *      propagate_end    the edge 0 -> 1: job 1 WAITING -> READY, into the queue of its class; no job has to be told
 *                       any more, one job is open: the flow runs on
 *      lsn + 1          the events of both moves carry it, with ordinals 0 and 1
 *
 * Guarantees: the state after a record depends on the state before it, the record and its batch (time, seed, rules),
 * and on nothing else. Records of an older RULES_VERSION do what they always did: flow.rules is asked.
 *
 * Must not: fail, choose, or read a limit; those headers cannot be included here. A record that does not fit is
 * refused by apply_check (check.c) before it comes here, so a REQUIRE that fails is a mistake in decide or in check. */
#include "apply.h"

#include "attempt.h"
#include "clock_set.h"
#include "directory.h"
#include "effects.h"
#include "expand.h"
#include "external.h"
#include "finale.h"
#include "external.h"
#include "flow.h"
#include "flow_lists.h"
#include "job_transition.h"
#include "memo.h"
#include "mutant.h"
#include "panic.h"
#include "propagate.h"
#include "question.h"
#include "quota.h"
#include "registry.h"
#include "replica.h"
#include "rules.h"
#include "saga.h"
#include "schedule.h"
#include "service.h"
#include "store.h"
#include "timer.h"

void apply_batch(struct state *s, wall_time time, uint64_t seed, uint64_t epoch, uint32_t rules) {
    REQUIRE(time.ms >= s->now.ms);
    REQUIRE(epoch >= s->epoch);
    REQUIRE(rules >= 1);
    REQUIRE(rules <= RULES_VERSION);
    REQUIRE(time_fits(time.ms));
    s->rules = rules;
    s->now = time;
    s->seed = seed;
    s->epoch = epoch;
}

static void flow_event(struct state *s, const struct flow *f) {
    struct event event = {.kind = EVENT_FLOW, .job = {{f->id}, NO_ORDINAL}, .flow_state = f->state};
    emit_event(s, &event);
}

static uint32_t the_flow(struct state *s, uint64_t id) {
    uint32_t flow = flow_find(s, (flow_id){id});
    REQUIRE(flow != 0);
    s->flow_recent = flow;
    return flow;
}

static uint32_t the_job(struct state *s, uint64_t flow, uint32_t ordinal) {
    const struct flow *f = flow_at(s, the_flow(s, flow));
    uint32_t job = ordinal < f->jobs.count ? f->jobs.at[ordinal] : expand_find_child(s, f, ordinal);
    REQUIRE(job != 0);
    return job;
}

static uint32_t the_worker(struct state *s, struct slice id) {
    uint32_t worker = worker_find(s, id);
    REQUIRE(worker != 0);
    s->worker_recent = worker;
    return worker;
}

/* ---- flows ---- */

static void judge_new(struct state *s, uint32_t flow, uint32_t first, const struct tlv_list *jobs) {
    const struct rec_job *list = jobs->at;
    REQUIRE(flow_at(s, flow)->jobs.count == first + jobs->count);
    for (uint32_t i = 0; i < jobs->count; i++) job_judge_as(s, flow_at(s, flow)->jobs.at[first + i], &list[i]);
}

/* What a policy put on a job holds for all that it adds or submits. */
static void constrain_new(struct state *s, struct flow *f, uint32_t first, struct slice constraints) {
    if (constraints.len == 0) return;
    struct slice kept = arena_slice(&f->arena, constraints);
    for (uint32_t i = first; i < f->jobs.count; i++) job_extra(s, job_at(s, f->jobs.at[i]))->constraints = kept;
}

static void apply_submitted(struct state *s, const struct rec_submitted *r) {
    REQUIRE(r->head.tenant.len > 0);
    uint32_t tenant = tenant_take(s, r->head.tenant);
    uint32_t flow = flow_new(s, r, tenant);
    flow_add_jobs(s, flow, &r->profiles, &r->jobs);
    constrain_new(s, flow_at(s, flow), 0, r->constraints);
    if (r->key.len && !MUTANT(key_forgotten))
        key_add(s, tenant, r->key, r->key_hash, r->flow, r->jobs.count, (wall_time){r->key_expires_ms});
    if (r->schedule.len) schedule_fired(s, schedule_find(s, tenant, r->schedule, &s->scratch), flow, r);
    flow_event(s, flow_at(s, flow));
    judge_new(s, flow, 0, &r->jobs);
    propagate_touch(s, flow);
}

static void apply_added(struct state *s, const struct rec_added *r) {
    uint32_t flow = the_flow(s, r->flow);
    struct flow *f = flow_at(s, flow);
    REQUIRE(!f->of_service);
    REQUIRE(f->unwinding == UNWIND_NONE);
    REQUIRE(finale_may_grow(s, f));
    uint32_t first = f->jobs.count;
    if (r->has_stages) finale_make(s, flow);
    f->more = r->more;
    flow_add_jobs(s, flow, &r->profiles, &r->jobs);
    constrain_new(s, f, first, r->constraints);
    flow_event(s, f);
    judge_new(s, flow, first, &r->jobs);
    propagate_touch(s, flow);
}

static void apply_cancelled(struct state *s, const struct rec_cancelled *r) {
    uint32_t flow = the_flow(s, r->flow);
    REQUIRE(!flow_at(s, flow)->of_service);
    if (!r->whole) {
        job_cancel(s, the_job(s, r->flow, r->ordinal), r->confirm_ms);
        return;
    }
    struct flow *f = flow_at(s, flow);
    REQUIRE(finale_may_cancel(s, f));
    f->cancelling = true;
    f->more = false;
    finale_cancel(s, flow);
    propagate_sweep(s, flow, SWEEP_CANCEL, 0, r->confirm_ms);
}

static void apply_paused(struct state *s, const struct rec_paused *r) {
    switch ((enum pause_scope)r->scope) {
    case PAUSE_FLOW: {
        uint32_t flow = the_flow(s, r->flow);
        REQUIRE(!flow_at(s, flow)->of_service);
        flow_at(s, flow)->paused = r->on;
        if (!r->on) propagate_sweep(s, flow, SWEEP_RESUME, 0, 0);
        return;
    }
    case PAUSE_POOL:
        pool_entry(s, pool_take(s, r->name))->paused = r->on;
        s->placement++;
        return;
    case PAUSE_TENANT: tenant_at(s, tenant_take(s, r->name))->paused = r->on; return;
    case PAUSE_SCOPE_COUNT: break;
    }
    PANIC("a pause of no scope");
}

static void apply_retried(struct state *s, const struct rec_job_only *r) {
    uint32_t job = the_job(s, r->flow, r->ordinal);
    uint32_t flow = job_at(s, job)->flow;
    REQUIRE(!flow_at(s, flow)->is_working);
    flow_at(s, flow)->cancelling = false;
    REQUIRE(finale_may_retry(s, job_at(s, job)));
    if (!finale_follows(s, job_at(s, job))) finale_again(s, flow);
    if (job_at(s, job)->part == PART_CHILD) {
        expand_retry_child(s, job);
        return;
    }
    job_reset(s, job);
    job_judge(s, job);
    propagate_sweep(s, flow, SWEEP_RETRY, r->ordinal, 0);
}

static void apply_discarded(struct state *s, const struct rec_job_only *r) {
    dead_remove(s, the_job(s, r->flow, r->ordinal));
    propagate_touch(s, the_flow(s, r->flow));
}

static void apply_rerun(struct state *s, const struct rec_flow_only *r) {
    uint32_t flow = the_flow(s, r->flow);
    REQUIRE(flow_at(s, flow)->state != FLOW_RUNNING);
    REQUIRE(!flow_at(s, flow)->is_working);
    flow_at(s, flow)->cancelling = false;
    finale_again(s, flow);
    propagate_sweep(s, flow, SWEEP_RERUN, 0, 0);
}

static void apply_forgotten(struct state *s, const struct rec_forgotten *r) {
    uint32_t flow = the_flow(s, r->flow);
    if (r->history_lsn > s->history_lsn) s->history_lsn = r->history_lsn;
    REQUIRE(!flow_at(s, flow)->is_working);
    store_drop_flow(s, r->flow);
    flow_hide(s, flow);
    propagate_sweep(s, flow, SWEEP_FORGET, 0, 0);
}

/* ---- workers and attempts ---- */

static void worker_event(struct state *s, const struct worker *w, bool gone) {
    struct event event = {.kind = EVENT_WORKER, .worker = w->number, .draining = w->draining, .gone = gone};
    emit_event(s, &event);
}

static void apply_worker(struct state *s, const struct rec_worker *r) {
    REQUIRE(worker_info_fits(&r->info));
    struct worker *w = worker_at(s, worker_apply(s, r, 0));
    if (w->drains_itself) w->draining = w->drains_itself = false;
    worker_event(s, w, false);
}

static void apply_worker_drain(struct state *s, const struct rec_worker_drain *r) {
    struct worker *w = worker_at(s, the_worker(s, r->worker));
    w->draining = r->on;
    w->drains_itself = r->on && r->own;
    s->placement++;
    worker_event(s, w, false);
}

static void apply_worker_gone(struct state *s, const struct rec_worker_gone *r) {
    uint32_t index = the_worker(s, r->worker);
    worker_event(s, worker_at(s, index), true);
    worker_forget(s, index);
}

static void apply_assigned(struct state *s, const struct rec_assigned *r) {
    attempt_assign(s, the_job(s, r->flow, r->ordinal), the_worker(s, r->worker), r->attempt, r->incarnation);
}

static void apply_stopping(struct state *s, const struct rec_stopping *r) {
    attempt_stop(s, the_job(s, r->flow, r->ordinal), r->stop, r->confirm_ms);
}

/* ---- time and verdicts ---- */

static void apply_due(struct state *s, const struct rec_due *r) {
    uint32_t job = the_job(s, r->flow, r->ordinal);
    struct job *j = job_at(s, job);
    switch ((enum due_cause)r->due) {
    case DUE_START: job_advance(s, job); return;
    case DUE_DEADLINE:
        REQUIRE(!job_state_is_active(j->state)); /* an attempt is told to stop, and ends */
        REQUIRE(j->part != PART_ENDING);
        if (j->part == PART_WHOLE) {
            expand_call_off(s, job, CAUSE_DEADLINE, UNWIND_CONFIRM_MS);
            return;
        }
        if (j->state == JOB_HELD || j->state == JOB_CHECKING) question_close(s, j);
        job_finish(s, job, JOB_TIMED_OUT, CAUSE_DEADLINE);
        return;
    case DUE_START_WITHIN:
        REQUIRE(j->state == JOB_READY);
        job_finish(s, job, JOB_FAILED, CAUSE_NO_WORKER);
        return;
    case DUE_COUNT: break;
    }
    PANIC("due for nothing");
}

static void apply_verdict(struct state *s, const struct rec_verdict *r) {
    if (r->question == 0 && r->gate == GATE_EXTERNAL) {
        external_hear(s, the_job(s, r->flow, r->ordinal), r);
        return;
    }
    if (r->question == 0) {
        job_quarantine_late(s, the_job(s, r->flow, r->ordinal));
        if (r->fatal) saga_fail(s, the_job(s, r->flow, r->ordinal));
        return;
    }
    uint32_t question = map_get(&s->question_by_id, r->question);
    REQUIRE(question != 0);
    question_answer(s, question, r);
}

static void apply_revoked(struct state *s, const struct rec_job_only *r) {
    uint32_t job = the_job(s, r->flow, r->ordinal);
    REQUIRE(policy_has_lapsed(s, job_at(s, job)));
    job_move(s, job, JOB_HELD, CAUSE_NONE);
    job_advance(s, job); /* which finds that it must be asked again */
}

static void apply_key_expired(struct state *s, const struct rec_key_expired *r) {
    uint32_t key = key_find(s, tenant_find(s, r->head.tenant), r->key, &s->scratch);
    REQUIRE(key != 0);
    key_forget(s, key);
}

static void apply_tenant(struct state *s, const struct rec_tenant *r) {
    tenant_at(s, tenant_take(s, r->name))->weight = r->weight ? r->weight : 1;
}

static void apply_service(struct state *s, const struct rec_service *r) {
    uint32_t service = service_find(s, tenant_find(s, r->head.tenant), r->name);
    REQUIRE(service != 0);
    service_set(s, service, r->desired);
}

static void apply_scaled(struct state *s, const struct rec_scaled *r) {
    replica_scale(s, tenant_find(s, r->head.tenant), r);
}

static void apply_limit(struct state *s, const struct rec_limit *r) {
    quota_set(s, tenant_take(s, r->head.tenant), r);
}

/* ---- schedules ---- */

static uint32_t the_schedule(struct state *s, struct slice tenant, struct slice name) {
    uint32_t index = schedule_find(s, tenant_find(s, tenant), name, &s->scratch);
    REQUIRE(index != 0);
    return index;
}

static void apply_schedule(struct state *s, const struct rec_schedule *r) {
    schedule_set(s, tenant_take(s, r->head.tenant), r);
}

/* ---- the state as a whole ---- */

static void apply_opened(struct state *s, const struct rec_opened *r) {
    REQUIRE(r->epoch >= s->epoch); /* epochs never fall */
    s->epoch = r->epoch;
}

static void apply_policy(struct state *s, const struct rec_policy *r) {
    REQUIRE(r->version > s->policy);
    s->policy = r->version;
}

/* The record that is being applied has the LSN after the state's. */
static void apply_checkpoint(struct state *s, const struct rec_checkpoint *r) {
    REQUIRE(r->number == s->checkpoint.number + 1);
    REQUIRE(r->upto_lsn <= s->lsn);
    struct checkpoint *c = &s->checkpoint;
    *c = (struct checkpoint){.number = r->number,
                             .lsn = s->lsn + 1,
                             .from_lsn = r->from_lsn,
                             .upto_lsn = r->upto_lsn,
                             .time = s->now};
    memcpy(c->chain, r->chain.ptr, sizeof c->chain);
    memcpy(c->key, r->key.ptr, sizeof c->key);
    memcpy(c->signature, r->signature.ptr, sizeof c->signature);
}

/* ---- dispatch ---- */

void apply(struct state *s, const struct record *r) {
    const union record_body *b = &r->body;
    propagate_begin(s);
    switch (r->kind) {
    case REC_OPENED: apply_opened(s, &b->as_REC_OPENED); break;
    case REC_CLOCK: clock_set_move(s, &b->as_REC_CLOCK); break;
    case REC_SUBMITTED: apply_submitted(s, &b->as_REC_SUBMITTED); break;
    case REC_ADDED: apply_added(s, &b->as_REC_ADDED); break;
    case REC_CANCELLED: apply_cancelled(s, &b->as_REC_CANCELLED); break;
    case REC_PAUSED: apply_paused(s, &b->as_REC_PAUSED); break;
    case REC_RETRIED: apply_retried(s, &b->as_REC_RETRIED); break;
    case REC_DISCARDED: apply_discarded(s, &b->as_REC_DISCARDED); break;
    case REC_RERUN: apply_rerun(s, &b->as_REC_RERUN); break;
    case REC_FORGOTTEN: apply_forgotten(s, &b->as_REC_FORGOTTEN); break;
    case REC_CONTINUED: propagate_continue(s, flow_find_any(s, (flow_id){b->as_REC_CONTINUED.flow})); break;
    case REC_WORKER: apply_worker(s, &b->as_REC_WORKER); break;
    case REC_WORKER_DRAIN: apply_worker_drain(s, &b->as_REC_WORKER_DRAIN); break;
    case REC_WORKER_GONE: apply_worker_gone(s, &b->as_REC_WORKER_GONE); break;
    case REC_ASSIGNED: apply_assigned(s, &b->as_REC_ASSIGNED); break;
    case REC_STARTED: attempt_start(s, the_job(s, b->as_REC_STARTED.flow, b->as_REC_STARTED.ordinal)); break;
    case REC_STOPPING: apply_stopping(s, &b->as_REC_STOPPING); break;
    case REC_ENDED: attempt_end(s, the_job(s, b->as_REC_ENDED.flow, b->as_REC_ENDED.ordinal), &b->as_REC_ENDED); break;
    case REC_DUE: apply_due(s, &b->as_REC_DUE); break;
    case REC_FLOW_DUE: finale_flow_due(s, &b->as_REC_FLOW_DUE); break;
    case REC_VERDICT: apply_verdict(s, &b->as_REC_VERDICT); break;
    case REC_KEY_EXPIRED: apply_key_expired(s, &b->as_REC_KEY_EXPIRED); break;
    case REC_POOL: pool_apply(s, b->as_REC_POOL.raw, &b->as_REC_POOL); break;
    case REC_TOPIC: topic_apply(s, b->as_REC_TOPIC.raw, &b->as_REC_TOPIC); break;
    case REC_TENANT: apply_tenant(s, &b->as_REC_TENANT); break;
    case REC_POLICY: apply_policy(s, &b->as_REC_POLICY); break;
    case REC_REVOKED: apply_revoked(s, &b->as_REC_REVOKED); break;
    case REC_STORE_SET: store_set(s, &b->as_REC_STORE_SET); break;
    case REC_STORE_DELETED: store_delete(s, &b->as_REC_STORE_DELETED); break;
    case REC_STORE_MEMBERS: store_members(s, &b->as_REC_STORE_MEMBERS); break;
    case REC_STORE_EXPIRY: store_expiry(s, &b->as_REC_STORE_EXPIRY); break;
    case REC_STORE_EXPIRED: store_delete(s, &b->as_REC_STORE_EXPIRED); break;
    case REC_LIMIT: apply_limit(s, &b->as_REC_LIMIT); break;
    case REC_SERVICE: apply_service(s, &b->as_REC_SERVICE); break;
    case REC_SCALED: apply_scaled(s, &b->as_REC_SCALED); break;
    case REC_HEALTH:
        service_health(s, the_job(s, b->as_REC_HEALTH.flow, b->as_REC_HEALTH.ordinal), &b->as_REC_HEALTH);
        break;
    case REC_EXPANDED:
        expand_answer(s, the_job(s, b->as_REC_EXPANDED.flow, b->as_REC_EXPANDED.ordinal), &b->as_REC_EXPANDED);
        break;
    case REC_SCHEDULE: apply_schedule(s, &b->as_REC_SCHEDULE); break;
    case REC_SCHEDULE_REMOVED:
        schedule_remove(s, the_schedule(s, b->head.tenant, b->as_REC_SCHEDULE_REMOVED.name));
        break;
    case REC_SCHEDULE_PAUSED:
        schedule_pause(s, the_schedule(s, b->head.tenant, b->as_REC_SCHEDULE_PAUSED.name), &b->as_REC_SCHEDULE_PAUSED);
        break;
    case REC_SCHEDULE_SLOT:
        schedule_slot(s, the_schedule(s, b->head.tenant, b->as_REC_SCHEDULE_SLOT.name), &b->as_REC_SCHEDULE_SLOT);
        break;
    case REC_SCHEDULE_BACKFILL:
        schedule_backfill(s, the_schedule(s, b->head.tenant, b->as_REC_SCHEDULE_BACKFILL.name),
                          &b->as_REC_SCHEDULE_BACKFILL);
        break;
    case REC_MEMO_KEPT:
        memo_keep(s, the_job(s, b->as_REC_MEMO_KEPT.flow, b->as_REC_MEMO_KEPT.ordinal),
                  (wall_time){b->as_REC_MEMO_KEPT.expires_ms});
        break;
    case REC_MEMO_HIT: memo_hit(s, the_job(s, b->as_REC_MEMO_HIT.flow, b->as_REC_MEMO_HIT.ordinal)); break;
    case REC_MEMO_DROPPED:
        memo_drop(s, memo_find(s, tenant_find(s, b->head.tenant), b->as_REC_MEMO_DROPPED.key));
        break;
    case REC_CHECKPOINT: apply_checkpoint(s, &b->as_REC_CHECKPOINT); break;
    case REC_DIRECTORY: directory_begin(s, &b->as_REC_DIRECTORY); break;
    case REC_TOKEN: directory_set_token(s, &b->as_REC_TOKEN.token); break;
    case REC_TOKEN_ENDED: directory_end_token(s, b->as_REC_TOKEN_ENDED.id); break;
    case REC_SESSION_ENDED: directory_end_session(s, &b->as_REC_SESSION_ENDED.session); break;
    case REC_TICKET: directory_add_ticket(s, &b->as_REC_TICKET); break;
    case REC_TICKET_SPENT: directory_spend_ticket(s, b->as_REC_TICKET_SPENT.hash); break;
    case REC_SECRETS: directory_set_secrets(s, &b->as_REC_SECRETS.secrets); break;
    case REC_KIND_END: PANIC("a record of no kind");
    }
    propagate_end(s);
    s->lsn++;
    arena_reset(&s->scratch);
}
