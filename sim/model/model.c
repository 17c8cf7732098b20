/* model.c: one function per kind of record: is it possible now, and what does it change? */
#include "model.h"

#include <stdlib.h>
#include <string.h>

#include "model_cause.h"
#include "model_identity.h"
#include "model_job.h"
#include "model_limit.h"
#include "model_memo.h"
#include "model_rules.h"
#include "model_saga.h"
#include "model_schedule.h"
#include "model_service.h"
#include "model_stage.h"
#include "panic.h"

struct model *model_new(void) {
    struct model *m = calloc(1, sizeof *m);
    REQUIRE(m != NULL);
    return m;
}

void model_free(struct model *m) {
    if (m == NULL) return;
    model_flows_free(m);
    model_limits_free(m);
    model_identity_free(m);
    model_services_free(m);
    model_schedules_free(m);
    model_values_free(m);
    model_memos_free(m);
    free(m);
}

/* ---- flows grow ---- */

static bool jobs_are_sound(const struct model *m, const struct trace_jobs *r, uint32_t first, char *text) {
    for (uint32_t i = 0; i < r->job_count; i++) {
        for (uint32_t k = 0; k < r->jobs[i].parent_count; k++) {
            if (r->jobs[i].parents[k] >= first + i)
                return model_object(text, "job %u of flow %llu has parent %u, which is not below it", first + i,
                                    (unsigned long long)r->flow, r->jobs[i].parents[k]);
        }
        for (uint32_t k = 0; k < r->jobs[i].foreign_count; k++) {
            const struct trace_foreign *p = &r->jobs[i].foreign[k];
            const struct model_job *parent = model_job_find(m, p->flow, p->ordinal);
            /* "Still open" is no lie about a job that a long consequence has not reached yet. */
            if (parent == NULL ? p->seen == TS_WAITING : p->seen != TS_WAITING && p->seen != parent->state)
                return model_object(text, "flow %llu saw job %llu/%u as %s, it is %s", (unsigned long long)r->flow,
                                    (unsigned long long)p->flow, p->ordinal, model_state_word(p->seen),
                                    parent == NULL ? "not known" : model_state_word(parent->state));
        }
    }
    return true;
}

/* A parent that the engine saw open may be over here already, where consequences need no time. */
static void look_again(const struct model *m, struct model_job *j) {
    for (uint32_t i = 0; i < j->spec.foreign_count; i++) {
        const struct model_job *parent = model_job_find(m, j->foreign[i].flow, j->foreign[i].ordinal);
        if (parent != NULL && trace_is_terminal(parent->state)) j->foreign[i].seen = parent->state;
    }
}

static void take_jobs(struct model *m, struct model_flow *f, const struct trace_jobs *r) {
    uint32_t first = f->job_count;
    for (uint32_t i = 0; i < r->job_count; i++) {
        model_job_push(f, &r->jobs[i], m->time_ms);
        look_again(m, &f->jobs[first + i]);
    }
    f->more = r->more;
    model_stage_born(m, f, r);
    model_rules_judge_new(m, f, first);
}

static bool has_room(const struct model *m, struct trace_bytes tenant, const struct trace_jobs *r) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < r->job_count; i++) bytes += r->jobs[i].message_bytes;
    return model_limit_has_room(m, tenant, r->job_count, bytes);
}

static bool submitted(struct model *m, const struct trace_entry *e, char *text) {
    const struct trace_jobs *r = &e->as.jobs;
    if (model_flow_find(m, r->flow) != NULL)
        return model_object(text, "flow %llu submitted twice", (unsigned long long)r->flow);
    if (!jobs_are_sound(m, r, 0, text)) return false;
    if (!has_room(m, r->tenant, r)) return model_object(text, "submitted though its tenant has too much queued");
    if (r->schedule.len && !model_schedule_may_fire(m, r, text)) return false;
    if (r->schedule.len) model_schedule_fired(m, r);
    struct model_flow *f = model_flow_push(m, r->flow, e->principal, r->tenant);
    f->undo_failures = r->undo_failures;
    f->source = model_text_copy(r->source);
    take_jobs(m, f, r);
    return true;
}

static bool added(struct model *m, struct model_flow *f, const struct trace_entry *e, char *text) {
    const struct trace_jobs *r = &e->as.jobs;
    if (f->cancelled) return model_object(text, "jobs added to flow %llu after its cancel", (unsigned long long)f->id);
    if (f->unwinding != TZ_NONE)
        return model_object(text, "jobs added to flow %llu, which unwinds", (unsigned long long)f->id);
    if (model_rules_flow_state(f) != TF_RUNNING)
        return model_object(text, "jobs added to flow %llu, which is over", (unsigned long long)f->id);
    if (f->stage != TH_MAIN || f->timed_out)
        return model_object(text, "jobs added to flow %llu, whose main jobs are over", (unsigned long long)f->id);
    if (!jobs_are_sound(m, r, f->job_count, text)) return false;
    if (!has_room(m, (struct trace_bytes){f->tenant.at, f->tenant.len}, r))
        return model_object(text, "added though its tenant has too much queued");
    take_jobs(m, f, r);
    return true;
}

/* ---- people intervene ---- */

static bool job_cancelled(struct model *m, struct model_flow *f, struct model_job *j) {
    if (j->is_open) {
        model_rules_call_off(m, f, j, TC_REQUEST);
    } else if (model_job_is_active(j)) {
        j->stop = TX_CANCEL;
    } else if (!trace_is_terminal(j->state)) {
        model_rules_end(m, f, j, TS_CANCELLED, TC_REQUEST);
    }
    return true;
}

static bool flow_cancelled(struct model *m, struct model_flow *f, char *text) {
    if (f->unwinding != TZ_NONE && f->stage == TH_MAIN)
        return model_object(text, "cancel of flow %llu, which unwinds", (unsigned long long)f->id);
    f->cancelled = true;
    f->more = false;
    model_rules_cancel_flow(m, f, TC_REQUEST);
    return true;
}

/* Its foreach job comes back with it, and those that this one dragged down; not the other bad children. */
static bool child_retried(struct model *m, struct model_flow *f, struct model_job *j, char *text) {
    struct model_job *whole = &f->jobs[j->child_of];
    bool over = trace_is_terminal(whole->state);
    if (over && whole->cause != TC_CHILDREN) return model_object(text, "retry of a child whose foreach job is over");
    f->cancelled = false;
    model_job_reset(j, m->time_ms);
    for (uint32_t i = 0; over && i < whole->child_count; i++) {
        struct model_job *other = &whole->children[i];
        bool called_off = trace_is_terminal(other->state) && other->root == j->child_of;
        if (called_off) model_job_reset(other, m->time_ms);
    }
    if (over) model_rules_retry(m, f, j->child_of, false);
    model_rules_go_on(m, f, whole);
    return true;
}

static bool retried(struct model *m, struct model_flow *f, struct model_job *j, char *text) {
    if (!model_job_is_dead(j)) return model_object(text, "retry of a job that is %s", model_state_word(j->state));
    if (!model_stage_may_retry(f, j)) return model_object(text, "retry of a job whose stage is over, or others run");
    if (f->unwinding != TZ_NONE && j->undoes == TRACE_NO_JOB && !model_stage_follows(f, j))
        return model_object(text, "retry of a job whose flow unwinds or did");
    if (j->child_of != TRACE_NO_JOB) return child_retried(m, f, j, text);
    model_rules_retry(m, f, (uint32_t)(j - f->jobs), true);
    return true;
}

static bool rerun(struct model *m, struct model_flow *f, char *text) {
    if (model_rules_flow_state(f) == TF_RUNNING)
        return model_object(text, "rerun of flow %llu, which is not over", (unsigned long long)f->id);
    if (f->unwinding != TZ_NONE)
        return model_object(text, "rerun of flow %llu, which unwound", (unsigned long long)f->id);
    model_rules_rerun(m, f);
    return true;
}

static bool discarded(struct model_job *j, char *text) {
    if (!model_job_is_dead_letter(j)) return model_object(text, "discard of a job that is no dead letter");
    j->discarded = true;
    return true;
}

/* What the engine forgets by itself is in the history, and was over for long enough. */
static bool may_leave(const struct model *m, const struct model_flow *f, const struct trace_ref *r, char *text) {
    int64_t end_ms = 0;
    bool dead = false;
    for (uint32_t i = 0; i < f->job_count; i++) {
        dead |= model_job_is_dead_letter(&f->jobs[i]);
        if (f->jobs[i].since_ms > end_ms) end_ms = f->jobs[i].since_ms;
    }
    if (f->touched_lsn > r->projected_lsn)
        return model_object(text, "flow %llu forgotten, the history is at %llu and has not seen %llu",
                            (unsigned long long)f->id, (unsigned long long)r->projected_lsn,
                            (unsigned long long)f->touched_lsn);
    if (m->time_ms < end_ms + (dead ? r->dead_keep_ms : r->keep_ms))
        return model_object(text, "flow %llu forgotten %lld ms after its end%s", (unsigned long long)f->id,
                            (long long)(m->time_ms - end_ms), dead ? ", with a dead letter" : "");
    return true;
}

static bool forgotten(const struct model *m, struct model_flow *f, const struct trace_entry *e, char *text) {
    if (model_rules_flow_state(f) == TF_RUNNING)
        return model_object(text, "flow %llu forgotten before its end", (unsigned long long)f->id);
    if (e->principal.len == 0 && e->as.job.projected_lsn && !may_leave(m, f, &e->as.job, text)) return false;
    f->forgotten = true;
    return true;
}

/* ---- attempts ---- */

static bool assigned(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_attempt *r,
                     char *text) {
    if (j->state != TS_READY) return model_object(text, "assigned while %s", model_state_word(j->state));
    if (r->attempt != j->attempt + 1)
        return model_object(text, "attempt %u follows attempt %u", r->attempt, j->attempt);
    if (f->paused) return model_object(text, "assigned while its flow is paused");
    if (model_job_has_lapsed(m, j)) return model_object(text, "assigned by permission of an earlier policy");
    if (!f->stepped && model_job_is_overdue(m, j)) return model_object(text, "assigned after its deadline");
    if (!f->stepped && model_stage_is_overdue(m, f))
        return model_object(text, "assigned, and nobody said that the time of its flow has come");
    if (model_stage_holds(f, j)) return model_object(text, "assigned before its stage");
    if (!f->stepped && model_memo_for(m, f, j))
        return model_object(text, "assigned while a result with its key is kept");
    j->attempt++;
    if (f->of_service) {
        free(j->worker.at);
        j->worker = model_text_copy(r->worker);
    }
    model_rules_move(m, j, TS_DISPATCHED);
    return true;
}

static bool started(struct model *m, struct model_job *j, const struct trace_attempt *r, char *text) {
    if (j->state != TS_DISPATCHED) return model_object(text, "started while %s", model_state_word(j->state));
    if (r->attempt != j->attempt) return model_object(text, "attempt %u started, %u is open", r->attempt, j->attempt);
    model_rules_move(m, j, TS_RUNNING);
    return true;
}

/* A stop that settles more replaces one that settles less, never the other way round. */
static int stop_rank(enum trace_stop stop) {
    return stop == TX_CANCEL ? 3 : stop == TX_DEADLINE ? 2 : stop == TX_NONE ? 0 : 1;
}

static bool stopping(struct model_job *j, const struct trace_attempt *r, bool is_service, char *text) {
    if (!model_job_is_active(j)) return model_object(text, "stopped while %s", model_state_word(j->state));
    if (r->stop == TX_MOVE && !is_service) return model_object(text, "moved, and is no service");
    if (r->attempt != j->attempt) return model_object(text, "attempt %u stopped, %u is open", r->attempt, j->attempt);
    if (stop_rank(r->stop) > stop_rank(j->stop)) j->stop = r->stop;
    return true;
}

static int64_t backoff_ms(const struct trace_job *spec, uint32_t used) {
    int64_t wait = spec->backoff_base_ms;
    for (uint32_t i = 0; i < used && wait < spec->backoff_cap_ms; i++) wait *= 2;
    return wait < spec->backoff_cap_ms ? wait : spec->backoff_cap_ms;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool may_try_again(const struct trace_job *spec, enum trace_cause cause) {
    if (spec->retry_on == 0) return true;
    if (cause == TC_LOST) return spec->retry_on & TRACE_RETRY_LOST;
    if (cause == TC_RUN_TIMEOUT) return spec->retry_on & TRACE_RETRY_TIMEOUT;
    return cause != TC_EXIT || (spec->retry_on & TRACE_RETRY_EXIT);
}

static void attempt_failed(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_attempt *r,
                           bool fatal, enum trace_state state, enum trace_cause cause) {
    j->used++;
    if (fatal || j->used > j->spec.retries || !may_try_again(&j->spec, cause)) {
        model_rules_end(m, f, j, state, cause);
        if (fatal) model_saga_fatal(m, f, j);
        return;
    }
    j->stop = TX_NONE;
    j->waits_for_time = true;
    int64_t wait_ms = backoff_ms(&j->spec, j->used);
    int64_t jitter_ms = j->spec.backoff_jitter_ms > 0 ? j->spec.backoff_jitter_ms - 1 : 0;
    j->due_least_ms = m->time_ms + later(wait_ms, r->retry_after_ms);
    j->due_most_ms = m->time_ms + later(wait_ms + jitter_ms, r->retry_after_ms);
    model_rules_move(m, j, TS_WAITING);
}

static void attempt_succeeded(struct model *m, struct model_flow *f, struct model_job *j) {
    if (j->gates_asked & TRACE_GATE_BIT(TG_OUTPUT)) {
        j->stop = TX_NONE;
        model_rules_ask(j, TG_OUTPUT);
        model_rules_move(m, j, TS_CHECKING);
    } else {
        model_rules_end(m, f, j, TS_SUCCEEDED, TC_NONE);
    }
}

/* A result that is kept: as if an attempt had brought it. */
static bool hit(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_memo *r, char *text) {
    if (j->state != TS_READY) return model_object(text, "given a result while %s", model_state_word(j->state));
    if (!f->stepped && model_job_is_overdue(m, j)) return model_object(text, "given a result after its deadline");
    const struct model_memo *memo = model_memo_for(m, f, j);
    if (memo == NULL) return model_object(text, "given a result that is not kept");
    uint64_t flow;
    uint32_t ordinal;
    model_memo_from(memo, &flow, &ordinal);
    if (flow != r->from_flow || ordinal != r->from_ordinal)
        return model_object(text, "given the result of another job than the one that is kept");
    j->from_flow = flow;
    j->from_ordinal = ordinal;
    attempt_succeeded(m, f, j);
    return true;
}

static bool is_fatal_exit(const struct trace_job *spec, uint32_t code) {
    for (uint32_t i = 0; i < spec->fatal_exit_count; i++) {
        if (spec->fatal_exits[i] == code) return true;
    }
    return false;
}

/* ---- what is done outside ---- */

/* Nothing is open outside any more, so the time that it had does not end a job whose output is being judged. */
static void told(struct model *m, struct model_flow *f, struct model_job *j, uint8_t word) {
    j->begun = 0;
    if (word == 1)
        attempt_succeeded(m, f, j);
    else
        model_rules_end(m, f, j, TS_FAILED, TC_VERDICT);
}

/* "Not yet" costs no retry: what goes wrong in a row counts. */
static bool not_yet(struct model *m, struct model_job *j, const struct trace_attempt *r, char *text) {
    int64_t wait = j->spec.poll_ms;
    if (!j->spec.calls || r->outcome != TO_OK) return model_object(text, "an end that is none");
    for (uint32_t i = 0; i < j->polls && wait < j->spec.poll_cap_ms; i++) wait *= 2;
    if (wait > j->spec.poll_cap_ms) wait = j->spec.poll_cap_ms;
    if (j->begun == 0) {
        j->begun = r->attempt;
        j->until_ms = m->time_ms + j->spec.approval_ms;
    } else {
        j->polls++;
    }
    int64_t due = j->spec.poll_ms != 0 && m->time_ms + wait < j->until_ms ? m->time_ms + wait : j->until_ms;
    if (r->again_ms != due)
        return model_object(text, "asked again at %lld, not %lld", (long long)r->again_ms, (long long)due);
    j->used = 0;
    j->stop = TX_NONE;
    j->waits_for_time = true;
    j->due_least_ms = j->due_most_ms = due;
    model_rules_move(m, j, TS_WAITING);
    return true;
}

/* The first word counts, at once or when the open attempt has ended. */
static bool word(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_verdict_on *r,
                 char *text) {
    if (!j->spec.calls || trace_is_terminal(j->state)) return model_object(text, "a word that nobody waits for");
    if (j->word != 0) return model_object(text, "a second word");
    if (r->verdict != TV_ALLOW && r->verdict != TV_DENY) return model_object(text, "a word that is neither yes nor no");
    if (!model_job_is_active(j) && (j->begun == 0 || (j->state != TS_WAITING && j->state != TS_READY)))
        return model_object(text, "a word before anything was begun");
    j->word = r->verdict == TV_ALLOW ? 1 : 2;
    if (!model_job_is_active(j)) told(m, f, j, j->word);
    return true;
}

static void end_unstopped(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_attempt *r) {
    bool fatal = r->fatal || (r->outcome == TO_EXIT && is_fatal_exit(&j->spec, r->exit_code));
    switch (r->outcome) {
    case TO_OK: attempt_succeeded(m, f, j); return;
    case TO_EXIT: attempt_failed(m, f, j, r, fatal, TS_FAILED, TC_EXIT); return;
    case TO_LOST:
    case TO_STOPPED:
        if (!fatal && r->attempt <= j->spec.free_losses &&
            may_try_again(&j->spec, TC_LOST)) { /* not its fault: it goes on where it was */
            j->waits_for_time = true;
            model_rules_move(m, j, TS_WAITING);
            model_rules_time_passed(m, f, j);
            return;
        }
        attempt_failed(m, f, j, r, fatal, TS_FAILED, TC_LOST);
        return;
    case TO_REFUSED: attempt_failed(m, f, j, r, fatal, TS_FAILED, TC_REJECTED); return;
    case TO_COUNT: break;
    }
    PANIC("no such outcome");
}

static bool end_taken(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_attempt *r,
                      char *text) {
    if (!model_job_is_active(j)) return model_object(text, "ended while %s", model_state_word(j->state));
    if (r->attempt != j->attempt) return model_object(text, "attempt %u ended, %u is open", r->attempt, j->attempt);
    if (f->of_service) {
        model_service_ended(m, f, j, r->outcome);
        return true;
    }
    bool ok = r->outcome == TO_OK;
    if (ok) model_saga_entered(f, j->child_of != TRACE_NO_JOB ? j->child_of : r->ordinal);
    bool settled = j->stop == TX_CANCEL || j->stop == TX_DEADLINE;
    if (!settled && j->word != 0) {
        told(m, f, j, j->word);
        return true;
    }
    if (!settled && r->again_ms != 0) return not_yet(m, j, r, text);
    switch (j->stop) {
    case TX_NONE: end_unstopped(m, f, j, r); return true;
    case TX_CANCEL:
        if (f->unwinding != TZ_NONE && j->undoes == TRACE_NO_JOB && !model_stage_follows(f, j))
            model_rules_end(m, f, j, TS_CANCELLED, TC_SAGA);
        else if (j->child_of != TRACE_NO_JOB)
            model_rules_end_called_off(m, f, j);
        else if (f->timed_out && !model_stage_follows(f, j))
            model_rules_end(m, f, j, TS_CANCELLED, TC_FLOW_TIMEOUT);
        else
            model_rules_end(m, f, j, TS_CANCELLED, TC_REQUEST);
        return true;
    case TX_DEADLINE: model_rules_end(m, f, j, TS_TIMED_OUT, TC_DEADLINE); return true;
    case TX_RUN_TIMEOUT:
        if (ok)
            attempt_succeeded(m, f, j);
        else
            attempt_failed(m, f, j, r, r->fatal, TS_TIMED_OUT, TC_RUN_TIMEOUT);
        return true;
    case TX_DISPATCH_TIMEOUT:
        if (ok)
            attempt_succeeded(m, f, j);
        else
            attempt_failed(m, f, j, r, r->fatal, TS_FAILED, TC_DISPATCH);
        return true;
    case TX_MOVE:
    case TX_COUNT: break;
    }
    PANIC("no such stop cause");
}

/* Its own time is that of the worker; all that follows from it counts from the record. */
static bool ended(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_attempt *r,
                  char *text) {
    int64_t at_ms = m->time_ms - r->ended_ago_ms;
    if (at_ms > m->time_ms || at_ms < j->since_ms)
        return model_object(text, "ended before it began, or later than now");
    if (!end_taken(m, f, j, r, text)) return false;
    if (trace_is_terminal(j->state)) j->since_ms = at_ms;
    return true;
}

/* ---- time ---- */

static bool due(struct model *m, struct model_flow *f, struct model_job *j, enum trace_due what, char *text) {
    switch (what) {
    case TD_START:
        if (j->state != TS_WAITING || !j->waits_for_time)
            return model_object(text, "due to start, but waits for no time");
        if (m->time_ms < j->due_least_ms)
            return model_object(text, "due to start %lld ms too early", (long long)(j->due_least_ms - m->time_ms));
        model_rules_time_passed(m, f, j);
        return true;
    case TD_DEADLINE:
        if (!model_job_is_unstarted(j) && !j->is_open && j->state != TS_CHECKING)
            return model_object(text, "deadline passed while %s", model_state_word(j->state));
        if (model_job_deadline(j) == 0 || m->time_ms < model_job_deadline(j))
            return model_object(text, "its deadline has not come");
        if (j->is_open)
            model_rules_call_off(m, f, j, TC_DEADLINE);
        else
            model_rules_end(m, f, j, TS_TIMED_OUT, TC_DEADLINE);
        return true;
    case TD_START_WITHIN:
        if (j->state != TS_READY)
            return model_object(text, "out of time for a worker while %s", model_state_word(j->state));
        if (j->spec.start_within_ms == 0 || (!f->stepped && m->time_ms < j->since_ms + j->spec.start_within_ms))
            return model_object(text, "out of time for a worker too early");
        model_rules_end(m, f, j, TS_FAILED, TC_NO_WORKER);
        return true;
    case TD_COUNT: break;
    }
    PANIC("no such due cause");
}

/* ---- questions ---- */

static bool same_text(struct model_text a, struct trace_bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static bool denied(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_entry *e) {
    enum trace_cause cause = e->principal.len == 0 ? TC_NO_VERDICT : TC_VERDICT;
    bool soft = j->gate == TG_POLICY && j->undoes != TRACE_NO_JOB;
    enum trace_state state = j->gate == TG_CONDITION || soft ? TS_SKIPPED : TS_DENIED;
    model_rules_end(m, f, j, state, cause);
    if (e->as.verdict.fatal && state == TS_DENIED) model_saga_fatal(m, f, j);
    return true;
}

static bool approved(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_entry *e,
                     char *text) {
    if (e->principal.len == 0) return model_object(text, "approved by nobody");
    if (j->spec.four_eyes && same_text(f->submitter, e->principal))
        return model_object(text, "approved by its submitter");
    if (!model_identity_may_approve(e->as.verdict.by))
        return model_object(text, "approved by somebody who is no person");
    model_job_vote(j, e->principal);
    if (j->vote_count >= (j->spec.quorum > 0 ? j->spec.quorum : 1)) model_rules_gate_passed(m, f, j);
    return true;
}

static bool ask_again(struct model_job *j) {
    j->revision++;
    model_job_votes_clear(j);
    return true;
}

/* The policy had its time to say something about a compensation. */
static bool may_go_unanswered(const struct model *m, const struct model_flow *f, const struct model_job *j) {
    if (j->undoes == TRACE_NO_JOB || j->gate != TG_POLICY) return false;
    return f->stepped || m->time_ms >= j->since_ms + j->spec.approval_ms;
}

static bool could_not_be_evaluated(struct model *m, struct model_flow *f, struct model_job *j, char *text) {
    if (j->gate != TG_CONDITION && j->gate != TG_EXPANSION && j->gate != TG_RENDER)
        return model_object(text, "nothing is evaluated for the %s gate", model_gate_word(j->gate));
    model_rules_end(m, f, j, TS_FAILED, TC_VERDICT);
    return true;
}

static bool revoked(struct model *m, struct model_flow *f, struct model_job *j, char *text) {
    if (j->state != TS_READY) return model_object(text, "revoked while %s", model_state_word(j->state));
    if (!model_job_has_lapsed(m, j)) return model_object(text, "revoked, and its permission holds");
    model_rules_time_passed(m, f, j);
    return true;
}

static bool input_verdict(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_entry *e,
                          char *text) {
    switch (e->as.verdict.verdict) {
    case TV_ALLOW:
    case TV_CONSTRAIN:
        if (j->gate == TG_EXPANSION) return model_object(text, "a yes without items");
        if (j->gate == TG_APPROVAL) return approved(m, f, j, e, text);
        if (e->principal.len == 0 && !may_go_unanswered(m, f, j)) return model_object(text, "nobody said yes");
        if (j->gate == TG_POLICY) j->grant = m->policy ? e->as.verdict.policy : 0;
        if (j->gate == TG_RENDER && e->as.verdict.cache_key.len) j->key = model_key_of(e->as.verdict.cache_key);
        model_rules_gate_passed(m, f, j);
        return true;
    case TV_DENY: return denied(m, f, j, e);
    case TV_AGAIN: return ask_again(j);
    case TV_HOLD:
        if (j->undoes != TRACE_NO_JOB) return model_object(text, "a compensation held for approval");
        if (j->gate != TG_POLICY)
            return model_object(text, "held for approval by the %s gate", model_gate_word(j->gate));
        j->gates_asked |= TRACE_GATE_BIT(TG_APPROVAL);
        j->grant = m->policy ? e->as.verdict.policy : 0;
        model_rules_gate_passed(m, f, j);
        return true;
    case TV_FAIL: return could_not_be_evaluated(m, f, j, text);
    case TV_QUARANTINE:
    case TV_REDACT: return model_object(text, "a verdict for outputs on the %s gate", model_gate_word(j->gate));
    case TV_COUNT: break;
    }
    PANIC("no such verdict");
}

static bool output_verdict(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_entry *e,
                           char *text) {
    enum trace_cause cause = e->principal.len == 0 ? TC_NO_VERDICT : TC_VERDICT;
    switch (e->as.verdict.verdict) {
    case TV_ALLOW:
    case TV_CONSTRAIN:
    case TV_REDACT: model_rules_end(m, f, j, TS_SUCCEEDED, TC_NONE); return true;
    case TV_DENY:
    case TV_QUARANTINE:
        model_memo_taint(m, f, j);
        model_rules_end(m, f, j, e->as.verdict.verdict == TV_DENY ? TS_DENIED : TS_QUARANTINED, cause);
        if (e->as.verdict.fatal) model_saga_fatal(m, f, j);
        return true;
    case TV_AGAIN: return ask_again(j);
    case TV_HOLD: return model_object(text, "an output held for approval");
    case TV_FAIL: return model_object(text, "an output that could not be evaluated");
    case TV_COUNT: break;
    }
    PANIC("no such verdict");
}

static bool verdict(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_entry *e,
                    char *text) {
    const struct trace_verdict_on *r = &e->as.verdict;
    if (j->state == TS_SUCCEEDED && r->gate == TG_OUTPUT && r->verdict == TV_QUARANTINE) {
        model_memo_taint(m, f, j);
        bool unwinds = r->fatal && !model_stage_follows(f, j) && f->unwinding == TZ_NONE;
        bool is_busy = f->stage != TH_MAIN && (f->stage != TH_OVER || model_rules_flow_state(f) == TF_RUNNING);
        if (unwinds && is_busy) return model_object(text, "a fatal verdict while what follows the main jobs runs");
        model_rules_end(m, f, j, TS_QUARANTINED, TC_VERDICT);
        if (r->fatal) model_saga_fatal(m, f, j);
        return true;
    }
    if (j->spec.calls && r->gate == TG_EXTERNAL) return word(m, f, j, r, text);
    if (!j->has_question) return model_object(text, "a verdict, but no question is open");
    if (r->gate != j->gate)
        return model_object(text, "a verdict on %s, the open question is %s", model_gate_word(r->gate),
                            model_gate_word(j->gate));
    if (r->revision != j->revision)
        return model_object(text, "a verdict on revision %u, the question is at %u", r->revision, j->revision);
    if ((j->gate == TG_POLICY || j->gate == TG_OUTPUT) && r->policy < m->policy)
        return model_object(text, "a verdict by an earlier version of the policy");
    if (j->gate == TG_SERVICE)
        return r->verdict == TV_DENY ? model_service_unhealthy(m, f, j, e->principal.len == 0, text)
                                     : model_object(text, "a verdict on the health of a service");
    return j->gate == TG_OUTPUT ? output_verdict(m, f, j, e, text) : input_verdict(m, f, j, e, text);
}

static bool expanded(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_expanded *r,
                     char *text) {
    if (!j->has_question || j->gate != TG_EXPANSION) return model_object(text, "items that nobody asked for");
    if (r->revision != j->revision)
        return model_object(text, "items for revision %u, the question is at %u", r->revision, j->revision);
    if (!model_limit_has_room(m, (struct trace_bytes){f->tenant.at, f->tenant.len}, r->count, 0))
        return model_object(text, "expanded though its tenant has too much queued");
    model_job_expand(f, j, r->count, m->time_ms);
    model_rules_gate_passed(m, f, j);
    return true;
}

/* ---- all of it ---- */

static bool about_flow(struct model *m, struct model_flow *f, const struct trace_entry *e, char *text) {
    switch ((int)e->kind) {
    case TR_ADDED: return added(m, f, e, text);
    case TR_CANCELLED: return flow_cancelled(m, f, text);
    case TR_PAUSED: f->paused = e->as.pause.on; return true;
    case TR_RERUN: return rerun(m, f, text);
    case TR_FORGOTTEN: return forgotten(m, f, e, text);
    case TR_CONTINUED: f->stepped = true; return true;
    case TR_FLOW_DUE: return model_stage_due(m, f, &e->as.flow_due, text);
    default: PANIC("not a record about a flow");
    }
}

static bool about_job(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_entry *e,
                      char *text) {
    switch ((int)e->kind) {
    case TR_CANCELLED: return job_cancelled(m, f, j);
    case TR_RETRIED: return retried(m, f, j, text);
    case TR_DISCARDED: return discarded(j, text);
    case TR_ASSIGNED: return assigned(m, f, j, &e->as.attempt, text);
    case TR_STARTED: return started(m, j, &e->as.attempt, text);
    case TR_STOPPING: return stopping(j, &e->as.attempt, f->of_service, text);
    case TR_ENDED: return ended(m, f, j, &e->as.attempt, text);
    case TR_DUE: return due(m, f, j, e->as.due.due, text);
    case TR_VERDICT: return verdict(m, f, j, e, text);
    case TR_REVOKED: return revoked(m, f, j, text);
    case TR_HEALTH: return model_service_health(m, f, j, &e->as.health, text);
    case TR_EXPANDED: return expanded(m, f, j, &e->as.expanded, text);
    case TR_MEMO_KEPT: return model_memo_kept(m, f, j, &e->as.memo, text);
    case TR_MEMO_HIT: return hit(m, f, j, &e->as.memo, text);
    default: PANIC("not a record about a job");
    }
}

/* Which flow and which job a record is about. False for a record that is about neither. */
static bool subject(const struct trace_entry *e, uint64_t *ret_flow, uint32_t *ret_ordinal) {
    *ret_ordinal = TRACE_NO_JOB;
    switch (e->kind) {
    case TR_ADDED: *ret_flow = e->as.jobs.flow; return true;
    case TR_CANCELLED:
    case TR_RETRIED:
    case TR_REVOKED:
    case TR_DISCARDED:
        *ret_flow = e->as.job.flow;
        *ret_ordinal = e->as.job.ordinal;
        return true;
    case TR_RERUN:
    case TR_FORGOTTEN:
    case TR_CONTINUED: *ret_flow = e->as.job.flow; return true;
    case TR_PAUSED: *ret_flow = e->as.pause.flow; return e->as.pause.of_flow;
    case TR_FLOW_DUE: *ret_flow = e->as.flow_due.flow; return true;
    case TR_ASSIGNED:
    case TR_STARTED:
    case TR_STOPPING:
    case TR_ENDED:
        *ret_flow = e->as.attempt.flow;
        *ret_ordinal = e->as.attempt.ordinal;
        return true;
    case TR_DUE:
        *ret_flow = e->as.due.flow;
        *ret_ordinal = e->as.due.ordinal;
        return true;
    case TR_VERDICT:
        *ret_flow = e->as.verdict.flow;
        *ret_ordinal = e->as.verdict.ordinal;
        return true;
    case TR_EXPANDED:
        *ret_flow = e->as.expanded.flow;
        *ret_ordinal = e->as.expanded.ordinal;
        return true;
    case TR_HEALTH:
        *ret_flow = e->as.health.flow;
        *ret_ordinal = e->as.health.ordinal;
        return true;
    case TR_MEMO_KEPT:
    case TR_MEMO_HIT:
        *ret_flow = e->as.memo.flow;
        *ret_ordinal = e->as.memo.ordinal;
        return true;
    case TR_POLICY:
    case TR_CHECKPOINT:
    case TR_SERVICE:
    case TR_SCALED:
    case TW_VERSION:
    case TR_MEMO_DROPPED:
    case TR_CLOCK:
    case TR_IDENTITY:
    case TR_OPENED:
    case TR_SUBMITTED:
    case TR_WORKER:
    case TR_WORKER_DRAIN:
    case TR_WORKER_GONE:
    case TR_SCHEDULE:
    case TR_SCHEDULE_REMOVED:
    case TR_SCHEDULE_PAUSED:
    case TR_SCHEDULE_SLOT:
    case TR_SCHEDULE_BACKFILL:
    case TR_KEY_EXPIRED:
    case TR_STORE:
    case TR_LIMIT:
    case TR_OTHER:
    case TR_END:
    case TA_ASKED:
    case TA_ANSWERED:
    case TA_STORE:
    case TA_STORE_ANSWER:
    case TW_DURABLE:
    case TW_RELEASED:
    case TW_SEEN:
    case TW_CRASHED:
    case TW_RESTARTED:
    case TW_PROCESS:
    case TW_PROCESS_END:
    case TW_MACHINE:
    case TW_WHY:
    case TW_UNDO:
    case TW_CHANGED:
    case TW_TOLD:
    case TW_QUIET:
    case TRACE_KIND_COUNT: return false;
    }
    PANIC("no such kind of entry");
}

/* What may be said of a version of a service; everything else is said of the service. */
static bool is_of_attempt(enum trace_kind kind) {
    return kind == TR_ASSIGNED || kind == TR_STARTED || kind == TR_STOPPING || kind == TR_ENDED || kind == TR_DUE ||
           kind == TR_HEALTH;
}

/* Checkpoints are numbered and cover the journal without a gap; none covers itself or what follows it. */
static bool checkpoint(struct model *m, const struct trace_entry *e, char *text) {
    const struct trace_checkpoint *c = &e->as.checkpoint;
    if (c->number != m->checkpoint + 1) return model_object(text, "a checkpoint out of turn");
    if (m->checkpoint != 0 && c->from_lsn != m->checkpoint_upto + 1)
        return model_object(text, "a checkpoint with a gap before it");
    if (c->from_lsn == 0 || c->upto_lsn < c->from_lsn || c->upto_lsn >= e->lsn)
        return model_object(text, "a checkpoint of what was not written yet");
    m->checkpoint = c->number;
    m->checkpoint_upto = c->upto_lsn;
    return true;
}

static bool apply(struct model *m, const struct trace_entry *e, char *text) {
    uint64_t id;
    uint32_t ordinal;
    if (e->kind == TR_SUBMITTED) return submitted(m, e, text);
    if (e->kind == TR_LIMIT) model_limit_set(m, &e->as.limit);
    if (e->kind == TR_POLICY) {
        if (e->as.policy.version <= m->policy) return model_object(text, "the policy falls back");
        m->policy = e->as.policy.version;
    }
    if (e->kind == TR_CHECKPOINT) return checkpoint(m, e, text);
    if (e->kind == TR_SERVICE) return model_service_set(m, &e->as.service, text);
    if (e->kind == TR_SCALED) return model_replica_scaled(m, &e->as.scaled, text);
    if (e->kind == TR_WORKER_DRAIN) model_service_drain(m, e->as.worker.worker, e->as.worker.on, e->as.worker.own);
    if (e->kind == TR_WORKER_GONE) model_service_drain(m, e->as.worker.worker, false, false);
    if (e->kind == TR_WORKER) model_service_attach(m, e->as.worker.worker);
    if (e->kind == TR_STORE) model_schedule_changes(m, &e->as.change);
    if (e->kind >= TR_SCHEDULE && e->kind <= TR_SCHEDULE_BACKFILL) return model_schedule_record(m, e, text);
    if (e->kind == TR_IDENTITY) return model_identity_record(m, &e->as.identity, text);
    if (e->kind == TR_CLOCK) return model_clock(m, &e->as.clock, text);
    if (e->kind == TR_MEMO_DROPPED) return model_memo_dropped(m, &e->as.memo, text);
    if (!subject(e, &id, &ordinal)) return true;
    struct model_flow *f = model_flow_find(m, id);
    if (f != NULL && f->forgotten && e->kind == TR_CONTINUED) return true; /* a large one leaves in steps */
    if (f == NULL || f->forgotten) return model_object(text, "flow %llu is not known", (unsigned long long)id);
    if (f->of_service && !is_of_attempt(e->kind))
        return model_object(text, "flow %llu is of a service", (unsigned long long)id);
    bool needs_job = e->kind != TR_CANCELLED && e->kind != TR_ADDED && e->kind != TR_RERUN && e->kind != TR_FORGOTTEN &&
                     e->kind != TR_CONTINUED && e->kind != TR_PAUSED && e->kind != TR_FLOW_DUE;
    if (e->kind != TR_PAUSED && e->kind != TR_FORGOTTEN && e->kind != TR_MEMO_KEPT) f->touched_lsn = e->lsn;
    if (ordinal == TRACE_NO_JOB && !needs_job) return about_flow(m, f, e, text);
    struct model_job *j = model_job_find(m, id, ordinal);
    if (j == NULL) return model_object(text, "flow %llu has no job %u", (unsigned long long)id, ordinal);
    char reason[MODEL_TEXT_BYTES] = "";
    if (about_job(m, f, j, e, reason)) return true;
    return model_object(text, "job %llu/%u: %.240s", (unsigned long long)id, ordinal, reason);
}

bool model_apply(struct model *m, const struct trace_entry *e, char text[MODEL_TEXT_BYTES]) {
    if (!trace_is_record(e->kind)) return true;
    if (e->lsn != m->lsn + 1)
        return model_object(text, "record %llu follows record %llu", (unsigned long long)e->lsn,
                            (unsigned long long)m->lsn);
    if (e->time_ms < m->time_ms) return model_object(text, "time falls at record %llu", (unsigned long long)e->lsn);
    int64_t before_ms = m->time_ms;
    m->time_ms = e->time_ms;
    char reason[MODEL_TEXT_BYTES] = "";
    if (!apply(m, e, reason)) {
        m->time_ms = before_ms;
        return model_object(text, "record %llu: %.280s", (unsigned long long)e->lsn, reason);
    }
    do { /* a job that is replaced may, by its end, let others deploy or unwind its flow */
        do {
            model_saga_go_on(m);
        } while (model_stage_go_on(m));
    } while (model_service_deploy(m));
    model_service_go_on(m);
    m->lsn = e->lsn;
    return true;
}
