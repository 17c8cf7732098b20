/* decide_tick.c: what happens by time alone. Timers that are facts (delays, deadlines, expiries) come from the heap in
 * the state and are recorded one by one; leases are volatile and come from live.h. */
#include "class.h"
#include "decide.h"
#include "external.h"
#include "finale.h"
#include "flow.h"
#include "job_transition.h"
#include "mutant.h"
#include "panic.h"
#include "question.h"
#include "service.h"
#include "timer.h"

static void record_due(struct decision *d, const struct job *j, enum due_cause due) {
    REQUIRE(!job_state_is_terminal(j->state));
    struct job_ref ref = job_ref_of(d->state, j);
    struct rec_due *rec = &decide_record(d, REC_DUE, NULL)->body.as_REC_DUE;
    rec->flow = ref.flow.v;
    rec->ordinal = ref.ordinal;
    rec->due = (uint8_t)due;
}

static void record_stop(struct decision *d, const struct job *j, enum stop_cause stop) {
    REQUIRE(job_state_is_active(j->state));
    REQUIRE(stop != STOP_NONE);
    struct job_ref ref = job_ref_of(d->state, j);
    struct rec_stopping *rec = &decide_record(d, REC_STOPPING, NULL)->body.as_REC_STOPPING;
    rec->flow = ref.flow.v;
    rec->ordinal = ref.ordinal;
    rec->attempt = j->attempt;
    rec->stop = (uint8_t)stop;
    rec->confirm_ms = (uint32_t)d->limits->stop_confirm_ms;
}

static void put_off(struct state *indices, uint32_t job, int64_t until_ms) {
    timer_set(indices, TIMER_JOB, job, (wall_time){until_ms});
}

/* A stop that the worker never confirmed. */
static void stop_overdue(struct decision *d, struct state *indices, uint32_t job) {
    const struct state *s = d->state;
    const struct job *j = job_at(s, job);
    const struct run *run = run_at(s, j->link);
    REQUIRE(run->stop != STOP_NONE);
    bool may_run = live_worker_get(d->live, s, run->worker).lease_until.ms != TIME_NEVER;
    /* exclusive: never two at once, so only the end of the worker's lease can free it */
    if (job_options(s, j)->exclusive && may_run)
        put_off(indices, job, d->in->wall.ms + d->limits->lease_ms);
    else
        decide_lost(d, j->link, SLICE("its worker did not confirm the stop"));
}

/* Assigned and not started in time. A worker that is away is the lease's business; one that came back a moment ago was
 * sent the job again then. */
static void dispatch_overdue(struct decision *d, struct state *indices, uint32_t job) {
    const struct state *s = d->state;
    const struct job *j = job_at(s, job);
    REQUIRE(j->state == JOB_DISPATCHED);
    struct live_worker w = live_worker_get(d->live, s, run_at(s, j->link)->worker);
    const struct options *o = job_options(s, j);
    int64_t until = w.attached ? w.attached_at.ms + o->dispatch_timeout_ms : d->in->wall.ms + d->limits->lease_ms;
    if (until <= d->in->wall.ms) {
        record_stop(d, j, STOP_DISPATCH_TIMEOUT);
        return;
    }
    int64_t deadline_ms = external_deadline_ms(s, j);
    if (deadline_ms > 0 && deadline_ms < until) until = deadline_ms; /* a deadline waits for nobody */
    ENSURE(until > d->in->wall.ms);                                  /* else this pass would come back to it for ever */
    put_off(indices, job, until);
}

static void job_timer(struct decision *d, struct state *indices, uint32_t job) {
    const struct state *s = d->state;
    const struct job *j = job_at(s, job);
    const struct options *o = job_options(s, j);
    int64_t deadline_ms = external_deadline_ms(s, j);
    bool late = deadline_ms > 0 && deadline_ms <= d->in->wall.ms;
    switch ((enum job_state)j->state) {
    case JOB_WAITING: record_due(d, j, late ? DUE_DEADLINE : DUE_START); return;
    case JOB_HELD:
    case JOB_CHECKING: record_due(d, j, DUE_DEADLINE); return;
    case JOB_READY:
        if (late)
            record_due(d, j, DUE_DEADLINE);
        else if (o->start_within_ms > 0 && j->since.ms + o->start_within_ms <= d->in->wall.ms)
            record_due(d, j, DUE_START_WITHIN);
        else
            ready_drop_preference(indices, job);
        return;
    case JOB_DISPATCHED:
    case JOB_RUNNING:
        if (run_at(s, j->link)->stop != STOP_NONE)
            stop_overdue(d, indices, job);
        else if (late)
            record_stop(d, j, STOP_DEADLINE);
        else if (j->state == JOB_DISPATCHED)
            dispatch_overdue(d, indices, job);
        else
            record_stop(d, j, STOP_RUN_TIMEOUT);
        return;
    case JOB_SUCCEEDED:
    case JOB_FAILED:
    case JOB_TIMED_OUT:
    case JOB_CANCELLED:
    case JOB_DENIED:
    case JOB_QUARANTINED:
    case JOB_SKIPPED:
    case JOB_STATE_COUNT: break;
    }
    PANIC("a job that is over has a timer");
}

/* Nobody answered in time: denied; or the time to ask again has come. */
static void question_timer(struct decision *d, struct state *indices, uint32_t question) {
    const struct state *s = d->state;
    const struct question *q = question_at(s, question);
    if (q->deadline.ms > d->in->wall.ms) {
        decide_ask(d, q);
        timer_set(indices, TIMER_QUESTION, question, q->deadline);
        return;
    }
    struct job_ref ref = job_ref_of(s, job_at(s, q->job));
    struct rec_verdict *rec = &decide_record(d, REC_VERDICT, NULL)->body.as_REC_VERDICT;
    rec->question = q->id;
    rec->flow = ref.flow.v;
    rec->ordinal = ref.ordinal;
    rec->gate = q->gate;
    rec->revision = q->revision;
    rec->hash = question_hash(s, q, d->arena);
    rec->policy = s->policy;
    bool soft = question_is_soft(s, job_at(s, q->job), q->gate);
    rec->verdict = soft ? VERDICT_ALLOW : VERDICT_DENY;
    rec->reason = soft ? SLICE("not answered in time: a compensation runs") : SLICE("not approved in time");
    if (q->gate == GATE_SERVICE) rec->trouble = service_trouble(s, q->job, d->arena);
}

static void key_timer(struct decision *d, uint32_t key) {
    const struct key *k = key_at(d->state, key);
    REQUIRE(k->text != NULL);
    REQUIRE(k->expires.ms <= d->in->wall.ms);
    struct slice text = bytes_slice(k->text);
    struct rec_key_expired *rec = &decide_record(d, REC_KEY_EXPIRED, NULL)->body.as_REC_KEY_EXPIRED;
    rec->head.tenant = bytes_slice(tenant_at(d->state, k->tenant)->name);
    rec->key = slice_of(text.ptr + 4, text.len - 4);
}

/* A flow that settles is looked at again when it has: its timer is set anew then. */
#define SETTLE_MS 1000

static void flow_timer(struct decision *d, struct state *indices, uint32_t finale) {
    const struct state *s = d->state;
    const struct finale *x = finale_at(s, finale);
    const struct flow *f = flow_at(s, x->flow);
    if (flow_is_settling(f)) {
        timer_set(indices, TIMER_FLOW, finale, (wall_time){d->in->wall.ms + SETTLE_MS});
        return;
    }
    REQUIRE(finale_due(s, f).ms <= d->in->wall.ms);
    bool is_late = x->deadline.ms > 0 && !x->late && x->deadline.ms <= d->in->wall.ms;
    struct rec_flow_due *rec = &decide_record(d, REC_FLOW_DUE, NULL)->body.as_REC_FLOW_DUE;
    rec->flow = f->id;
    rec->due = is_late ? FLOW_DUE_DEADLINE : FLOW_DUE_TIMEOUT;
    if (!is_late) rec->confirm_ms = (uint32_t)d->limits->stop_confirm_ms;
}

bool decide_timer(struct decision *d, struct state *indices) {
    REQUIRE(indices == d->state);
    enum timer_kind kind;
    uint32_t index;
    if (!timer_first(indices, d->in->wall, &kind, &index)) return false;
    switch (kind) {
    case TIMER_JOB: job_timer(d, indices, index); break;
    case TIMER_QUESTION: question_timer(d, indices, index); break;
    case TIMER_KEY:
        if (MUTANT(expired_key_served))
            timer_set(indices, TIMER_KEY, index, (wall_time){d->in->wall.ms + 60000});
        else
            key_timer(d, index);
        break;
    case TIMER_ITEM: decide_item_timer(d, indices, index); break;
    /* a token has come: nothing to record, the dispatch of this pass looks again */
    case TIMER_QUOTA:
        timer_set(indices, TIMER_QUOTA, index, (wall_time){TIME_NEVER});
        class_release(indices, index);
        break;
    case TIMER_SCHEDULE: decide_schedule_timer(d, indices, index); break;
    case TIMER_FLOW: flow_timer(d, indices, index); break;
    case TIMER_MEMO:
        if (MUTANT(memo_expired_served))
            timer_set(indices, TIMER_MEMO, index, (wall_time){d->in->wall.ms + 60000});
        else
            decide_memo_timer(d, index);
        break;
    }
    return true;
}

/* ---- leases ---- */

/* How many attempts of one worker end in one step; the rest follows in the next. */
#define LOST_PER_STEP 256

static void lease_over(struct decision *d, struct live_worker *w, uint32_t worker) {
    const struct state *s = d->state;
    const struct worker *known = worker_at(s, worker);
    REQUIRE(w->lease_until.ms <= d->in->mono.ms);
    REQUIRE(known->id != NULL);
    uint32_t lost = 0;
    w->attached = false;
    for (uint32_t r = known->first; r && lost < LOST_PER_STEP; r = run_at(s, r)->next, lost++)
        decide_lost(d, r, SLICE("its worker was lost: no sign of life for a whole lease"));
    if (lost) return; /* the next call finds the rest, or none */
    w->lease_until.ms = TIME_NEVER;
    if (known->info.permanent) return;
    struct rec_worker_gone *rec = &decide_record(d, REC_WORKER_GONE, NULL)->body.as_REC_WORKER_GONE;
    rec->worker = bytes_slice(known->id);
}

bool decide_lease(struct decision *d, struct live *live) {
    REQUIRE(live == d->live);
    if (live->lease_next.ms > d->in->mono.ms) return false;
    mono_time next = {TIME_NEVER};
    for (uint32_t i = 1; i <= d->state->workers.high; i++) {
        if (worker_at(d->state, i)->id == NULL) continue;
        struct live_worker *w = live_worker(live, d->state, i);
        if (w->lease_until.ms <= d->in->mono.ms) {
            lease_over(d, w, i);
            return true;
        }
        if (w->lease_until.ms < next.ms) next = w->lease_until;
    }
    live->lease_next = next;
    return false;
}
