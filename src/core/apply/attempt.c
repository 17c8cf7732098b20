/* attempt.c: see attempt.h. */
#include "attempt.h"

#include "attempt_notes.h"
#include "effects.h"
#include "expand.h"
#include "external.h"
#include "flow.h"
#include "hash.h"
#include "job_transition.h"
#include "mutant.h"
#include "panic.h"
#include "quota.h"
#include "saga.h"
#include "service.h"
#include "timer.h"

static uint64_t *taken_of(struct worker *w, struct slice name) {
    const struct resource *offered = w->info.resources.at;
    for (uint32_t i = 0; i < w->info.resources.count; i++)
        if (slice_eq(offered[i].name, name)) return &w->resources[i];
    return NULL; /* the worker came back without it */
}

/* `sign` is 1 or -1; unsigned wrap-around makes both the same sum. */
static void account(struct state *s, const struct run *run, int sign) {
    struct worker *w = worker_at(s, run->worker);
    const struct demand *d = &job_options(s, job_at(s, run->job))->demand;
    w->active += (uint32_t)sign;
    w->cpu_milli += (uint32_t)sign * d->cpu_milli;
    w->gpus += (uint32_t)sign * d->gpus;
    w->memory_bytes += (uint64_t)(int64_t)sign * d->memory_bytes;
    const struct resource *wanted = d->resources.at;
    for (uint32_t i = 0; i < d->resources.count; i++) {
        uint64_t *taken = taken_of(w, wanted[i].name);
        if (taken) *taken += (uint64_t)(int64_t)sign * wanted[i].amount;
    }
    quota_count_run(s, job_at(s, run->job), sign);
}

void run_attach(struct state *s, uint32_t index) {
    struct run *run = run_at(s, index);
    struct worker *w = worker_at(s, run->worker);
    REQUIRE(w->last == 0 || run_at(s, w->last)->fence < run->fence); /* the list is by fence */
    run->next = 0;
    run->prev = w->last;
    if (w->last)
        run_at(s, w->last)->next = index;
    else
        w->first = index;
    w->last = index;
    account(s, run, 1);
}

static void run_free(struct state *s, uint32_t index) {
    struct run *run = run_at(s, index);
    struct worker *w = worker_at(s, run->worker);
    if (run->prev)
        run_at(s, run->prev)->next = run->next;
    else
        w->first = run->next;
    if (run->next)
        run_at(s, run->next)->prev = run->prev;
    else
        w->last = run->prev;
    REQUIRE(w->active > 0);
    account(s, run, -1);
    ENSURE((w->active == 0) == (w->first == 0));
    pool_free(&s->runs, index);
}

struct attempt_effect attempt_effect_of(const struct state *s, const struct job *j) {
    const struct run *run = run_at(s, j->link);
    return (struct attempt_effect){.worker = worker_at(s, run->worker)->number,
                                   .incarnation = run->incarnation,
                                   .job = job_ref_of(s, j),
                                   .attempt = run->attempt,
                                   .fence = run->fence,
                                   .stop = run->stop};
}

void attempt_assign(struct state *s, uint32_t job, uint32_t worker, uint32_t attempt, uint64_t incarnation) {
    struct job *j = job_at(s, job);
    REQUIRE(j->state == JOB_READY);
    REQUIRE(attempt == j->attempt + 1);
    uint32_t index = pool_alloc(&s->runs);
    ENSURE(index != 0);
    *run_at(s, index) =
        (struct run){.job = job, .worker = worker, .attempt = attempt, .fence = s->lsn + 1, .incarnation = incarnation};
    run_attach(s, index);
    quota_spend(s, j);
    j->attempt = attempt;
    if (flow_at(s, j->flow)->rules >= NOTE_RULES) run_at(s, index)->assigned = s->now;
    note_open(s, j, attempt, worker_at(s, worker)->number);
    job_move_linked(s, job, JOB_DISPATCHED, CAUSE_NONE, index);
    struct attempt_effect effect = attempt_effect_of(s, j);
    emit_attempt(s, EFFECT_ASSIGN, &effect);
}

/* The open attempt of a job: both point at each other. */
static struct run *open_run(struct state *s, uint32_t job) {
    const struct job *j = job_at(s, job);
    REQUIRE(job_state_is_active(j->state));
    REQUIRE(j->link != 0);
    struct run *run = run_at(s, j->link);
    ENSURE(run->job == job);
    return run;
}

void attempt_start(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    REQUIRE(j->state == JOB_DISPATCHED);
    struct run *run = open_run(s, job);
    if (flow_at(s, j->flow)->rules >= NOTE_RULES) run->started = s->now;
    job_move(s, job, JOB_RUNNING, CAUSE_NONE);
}

void attempt_stop(struct state *s, uint32_t job, enum stop_cause cause, uint32_t confirm_ms) {
    struct job *j = job_at(s, job);
    REQUIRE(cause != STOP_NONE);
    REQUIRE((unsigned)cause < STOP_COUNT);
    struct run *run = open_run(s, job);
    if (run->stop != STOP_NONE && cause != STOP_CANCEL) return;
    run->stop = (uint8_t)cause;
    run->confirm.ms = s->now.ms + confirm_ms;
    job_set_timer(s, job);
    struct attempt_effect effect = attempt_effect_of(s, j);
    emit_attempt(s, EFFECT_STOP, &effect);
}

int64_t doubled_ms(int64_t base_ms, int64_t cap_ms, uint32_t times) {
    REQUIRE(base_ms >= 0);
    REQUIRE(cap_ms >= 0);
    int64_t delay = base_ms;
    for (uint32_t i = 0; i < times && delay < cap_ms; i++) delay *= 2;
    return delay < cap_ms ? delay : cap_ms;
}

static int64_t jitter_ms(const struct options *o, uint64_t seed, struct job_ref ref) {
    if (o->backoff_jitter_ms == 0) return 0;
    uint64_t drawn = hash_mix(seed ^ hash_mix(ref.flow.v ^ hash_mix(ref.ordinal)));
    return (int64_t)(drawn % o->backoff_jitter_ms);
}

int64_t backoff_ms(const struct options *o, uint32_t used, uint64_t seed, struct job_ref ref) {
    return doubled_ms(o->backoff_base_ms, o->backoff_cap_ms, used) + jitter_ms(o, seed, ref);
}

int64_t restart_ms(const struct options *o, uint32_t used, uint64_t seed, struct job_ref ref) {
    REQUIRE(used > 0);
    return doubled_ms(o->restart_base_ms, o->restart_cap_ms, used - 1) + jitter_ms(o, seed, ref);
}

/* ---- the end of an attempt ---- */

enum end { END_SUCCESS, END_CANCELLED, END_DEADLINE, END_FAILURE };

/* What an attempt's end counts as; the reason it was stopped for comes before the way it ended. */
static enum end judge(enum stop_cause stop, enum outcome outcome) {
    if (stop == STOP_CANCEL) return END_CANCELLED;
    if (stop == STOP_DEADLINE) return END_DEADLINE;
    return outcome == OUTCOME_OK ? END_SUCCESS : END_FAILURE;
}

enum job_cause attempt_cause(enum stop_cause stop, enum outcome outcome) {
    if (stop == STOP_RUN_TIMEOUT) return CAUSE_RUN_TIMEOUT;
    if (stop == STOP_DISPATCH_TIMEOUT) return CAUSE_DISPATCH;
    switch (outcome) {
    case OUTCOME_EXIT: return CAUSE_EXIT;
    case OUTCOME_REFUSED: return CAUSE_REJECTED;
    case OUTCOME_LOST:
    case OUTCOME_STOPPED: return CAUSE_LOST;
    case OUTCOME_OK:
    case OUTCOME_COUNT: break;
    }
    PANIC("a failure of no kind");
}

/* As if the attempt had not been: no retry is spent, and nothing is waited for. What is asked before it starts is asked
 * again as after any attempt. */
static void go_on_after_loss(struct state *s, uint32_t job) {
    struct job *j = job_at(s, job);
    j->due = s->now;
    j->flags |= JOBF_TIMED;
    j->flags &= (uint8_t)~JOBF_PREFER_OVER;
    job_move(s, job, JOB_WAITING, CAUSE_LOST);
    job_advance(s, job);
}

/* The job lets this end be tried again. An attempt that was refused, or that no worker began in time, is no end of the
 * job's own. */
static bool is_retried(const struct options *o, enum job_cause cause) {
    uint8_t end = cause == CAUSE_LOST          ? RETRY_LOST
                  : cause == CAUSE_RUN_TIMEOUT ? RETRY_TIMEOUT
                  : cause == CAUSE_EXIT        ? RETRY_EXIT
                                               : 0;
    return o->retry_on == 0 || end == 0 || (o->retry_on & end) || MUTANT(retry_on_ignored);
}

static void fail(struct state *s, uint32_t job, enum job_cause cause, bool fatal, int64_t retry_after_ms) {
    struct job *j = job_at(s, job);
    const struct options *o = job_options(s, j);
    uint32_t budget = o->retries + (MUTANT(retry_past_budget) ? 1u : 0u);
    job_spend(s, j);
    if (fatal || j->used > budget || !is_retried(o, cause)) {
        job_finish(s, job, cause == CAUSE_RUN_TIMEOUT ? JOB_TIMED_OUT : JOB_FAILED, cause);
        if (fatal) saga_fail(s, job);
        return;
    }
    int64_t wait_ms = backoff_ms(o, j->used, s->seed, job_ref_of(s, j));
    j->due.ms = s->now.ms + (wait_ms > retry_after_ms ? wait_ms : retry_after_ms);
    j->flags |= JOBF_TIMED;
    j->flags &= (uint8_t)~JOBF_PREFER_OVER;
    job_move(s, job, JOB_WAITING, cause);
}

static bool is_fatal_exit(const struct options *o, const struct rec_ended *rec) {
    if (rec->outcome != OUTCOME_EXIT) return false;
    for (uint32_t i = 0; i < o->fatal_exits.count; i++)
        if (o->fatal_exits.at[i] == rec->exit_code) return true;
    return false;
}

static enum job_cause stop_cause(const struct state *s, struct job *j, bool by_saga) {
    if (by_saga) return CAUSE_SAGA;
    if (j->part == PART_CHILD) return expand_stop_cause(s, j);
    bool is_timeout = finale_timed_out(s, flow_at(s, j->flow)) && !finale_follows(s, j);
    return is_timeout ? CAUSE_FLOW_TIMEOUT : CAUSE_REQUEST;
}

/* Those of the last attempt, however it ended: what a failure left is what people look for. */
static void keep_artifacts(struct state *s, struct job *j, struct slice artifacts) {
    if (artifacts.len)
        job_extra(s, j)->artifacts = arena_slice(&flow_at(s, j->flow)->arena, artifacts);
    else if (j->extra)
        extra_at(s, j->extra)->artifacts = slice_of(NULL, 0);
}

void attempt_end(struct state *s, uint32_t job, const struct rec_ended *rec) {
    struct job *j = job_at(s, job);
    struct run *run = open_run(s, job);
    REQUIRE(run->attempt == rec->attempt || MUTANT(stale_attempt));
    REQUIRE((unsigned)rec->outcome < OUTCOME_COUNT);
    REQUIRE(rec->again_ms == 0 || rec->outcome == OUTCOME_OK);
    bool called_off = saga_calls_off(s, j); /* also before the sweep has come to it */
    enum stop_cause stop = called_off ? STOP_CANCEL : run->stop;
    REQUIRE(rec->ended_ago_ms <= attempt_age_ms(j, s->now));
    s->ended_ago_ms = (int64_t)rec->ended_ago_ms;
    note_close(s, j, run, stop, rec);
    run_free(s, j->link);
    j->link = 0;
    if (rec->outcome != OUTCOME_LOST) j->done_attempt = rec->attempt;
    if (rec->outcome == OUTCOME_OK) saga_enter(s, j); /* whatever becomes of the job, its effects are real */
    if (flow_at(s, j->flow)->of_service) {
        service_attempt_over(s, job, stop, rec->outcome);
        return;
    }
    keep_artifacts(s, j, rec->artifacts.raw);
    enum end end = judge(stop, rec->outcome);
    bool is_own = end == END_SUCCESS || end == END_FAILURE;
    if (is_own && job_options(s, j)->calls && external_ended(s, job, rec)) return;
    switch (end) {
    case END_CANCELLED: job_finish(s, job, JOB_CANCELLED, stop_cause(s, j, called_off)); break;
    case END_DEADLINE: job_finish(s, job, JOB_TIMED_OUT, CAUSE_DEADLINE); break;
    case END_SUCCESS: job_succeed(s, job, rec->result, rec->result_hash); break;
    case END_FAILURE: {
        /* the exit code of an attempt that was stopped is the stop's, not the job's */
        bool fatal = rec->fatal || (stop == STOP_NONE && is_fatal_exit(job_options(s, j), rec));
        enum job_cause cause = attempt_cause(stop, rec->outcome);
        const struct options *o = job_options(s, j);
        bool is_free = cause == CAUSE_LOST && !fatal && rec->attempt <= o->free_losses;
        if (is_free && (is_retried(o, cause) || MUTANT(free_loss_despite_retry_on)))
            go_on_after_loss(s, job);
        else
            fail(s, job, cause, fatal, rec->retry_after_ms);
        break;
    }
    }
}
