/* check.c: apply_check, the guard between bytes from a file and apply. It repeats what decide had to know, coarsely: it
 * must keep apply from panicking, not judge whether the choice was wise. */
#include "apply.h"
#include "attempt.h"
#include "class.h"
#include "directory.h"
#include "expand.h"
#include "external.h"
#include "finale.h"
#include "flow.h"
#include "flow_lists.h"
#include "hash.h"
#include "memo.h"
#include "question.h"
#include "quota.h"
#include "registry.h"
#include "replica.h"
#include "saga.h"
#include "schedule.h"
#include "service.h"
#include "store.h"

static enum err misfit(struct why *why, const char *what) {
    return why_set(why, ERR_CORRUPT, "a record does not fit the state before it: %s", what);
}

#define FITS(fact, what) \
    if (!(fact)) return misfit(why, what)

static enum err check_foreign(const struct state *s, const struct rec_job *job, struct why *why) {
    const struct rec_foreign *list = job->foreign.at;
    for (uint32_t i = 0; i < job->foreign.count; i++) {
        if (list[i].seen != JOB_WAITING) {
            FITS(job_state_is_terminal(list[i].seen), "a parent seen in a state that is no end");
            continue;
        }
        uint32_t parent = job_find(s, (struct job_ref){{list[i].flow}, list[i].ordinal});
        FITS(parent != 0, "an edge from a job that is not there");
        const struct job *p = job_at(s, parent);
        FITS(!job_state_is_terminal(p->state) || (p->flags & JOBF_UNTOLD), "an edge from a job that has ended");
        FITS(!flow_at(s, p->flow)->of_service, "an edge from a service");
    }
    return ERR_OK;
}

static enum err check_undo(const struct rec_job *job, uint32_t profile_count, struct why *why) {
    FITS(job->undoes == 0 && !saga_is_undo_name(job->name), "a compensation from outside");
    FITS(job->undo_profile <= profile_count, "a compensation without options");
    FITS(job->undo_profile == 0 || job->name.len + UNDO_SUFFIX_BYTES <= UNDO_NAME_BYTES_MAX,
         "a name too long for a compensation");
    return ERR_OK;
}

/* Options for children are a foreach job's, and ask nothing before they run. (Without them it gets no items.) */
static enum err check_children(const struct rec_job *job, const struct tlv_list *profiles, struct why *why) {
    if (job->child_profile == 0) return ERR_OK;
    FITS(job->child_profile <= profiles->count, "children without options");
    const struct options *sets = profiles->at;
    struct options own, child;
    struct arena scratch;
    arena_init(&scratch, 512, 1u << 20);
    enum err e = tlv_decode(&options_desc, sets[job->profile].raw, TLV_STRICT, &scratch, &own, why);
    if (e == ERR_OK) e = tlv_decode(&options_desc, sets[job->child_profile - 1].raw, TLV_STRICT, &scratch, &child, why);
    arena_fini(&scratch);
    if (e != ERR_OK) return why_wrap(why, ERR_CORRUPT, "options");
    FITS(options_expand(&own) && job->runner_profile == 0, "children of no foreach job");
    FITS(!(child.gates & ~GATE_BIT(GATE_OUTPUT)), "a question before a child");
    return ERR_OK;
}

/* Sets of options came as bytes; of what a service runs two facts matter here. */
static enum err check_runner(const struct rec_job *job, const struct tlv_list *profiles, struct why *why) {
    FITS((job->runner_profile != 0) == (job->service.len > 0), "a service without options, or options without one");
    if (job->runner_profile == 0) return ERR_OK;
    FITS(job->runner_profile <= profiles->count, "a service without options");
    const struct options *sets = profiles->at;
    struct options own, runner;
    struct arena scratch;
    arena_init(&scratch, 512, 1u << 20);
    enum err e = tlv_decode(&options_desc, sets[job->profile].raw, TLV_STRICT, &scratch, &own, why);
    if (e == ERR_OK)
        e = tlv_decode(&options_desc, sets[job->runner_profile - 1].raw, TLV_STRICT, &scratch, &runner, why);
    arena_fini(&scratch);
    if (e != ERR_OK) return why_wrap(why, ERR_CORRUPT, "options");
    FITS(runner.kind == JOB_SERVICE && runner.gates == 0, "a service that cannot run");
    FITS(own.kind == JOB_SERVICE && job->undo_profile == 0, "a service deployed by another kind of job");
    return ERR_OK;
}

/* They came as bytes. Those that are in use were looked at when they came first. */
static enum err check_options(const struct state *s, uint32_t tenant, const struct tlv_list *profiles,
                              struct why *why) {
    const struct options *sets = profiles->at;
    for (uint32_t i = 0; i < profiles->count; i++) {
        if (profile_is_recent(s, tenant, sets[i].raw)) continue;
        struct options decoded;
        struct arena scratch;
        arena_init(&scratch, 512, 1u << 20);
        enum err e = tlv_decode(&options_desc, sets[i].raw, TLV_STRICT, &scratch, &decoded, why);
        bool fit = e == ERR_OK && options_fit(&decoded);
        arena_fini(&scratch);
        if (e != ERR_OK) return why_wrap(why, ERR_CORRUPT, "options");
        FITS(fit, "options that cannot be");
    }
    return ERR_OK;
}

/* Only the path from a file comes here: decide has found such names by ordering the graph. */
static enum err check_twins(const struct tlv_list *jobs, struct why *why) {
    const struct rec_job *list = jobs->at;
    if (jobs->count < 2) return ERR_OK;
    uint32_t slots = 4, twin = 0;
    while (slots < jobs->count * 2u) slots *= 2;
    struct arena scratch;
    arena_init(&scratch, slots * sizeof(uint32_t) + 64, (size_t)slots * sizeof(uint32_t) + 4096);
    uint32_t *table = ARENA_ARRAY(&scratch, uint32_t, slots); /* open addressing: job + 1 by name */
    for (uint32_t i = 0; twin == 0 && i < jobs->count; i++) {
        uint32_t at = (uint32_t)hash64(list[i].name.ptr, list[i].name.len, 0) & (slots - 1);
        for (; table[at] && !slice_eq(list[table[at] - 1].name, list[i].name); at = (at + 1) & (slots - 1)) {
        }
        twin = table[at];
        table[at] = i + 1;
    }
    arena_fini(&scratch);
    FITS(twin == 0, "a job name used twice");
    return ERR_OK;
}

static enum err check_jobs(const struct state *s, uint32_t first, const struct tlv_list *profiles,
                           const struct tlv_list *jobs, struct why *why) {
    const struct rec_job *list = jobs->at;
    FITS(((uint64_t)first + jobs->count) * 2 < NO_ORDINAL, "too many jobs"); /* each may have a compensation */
    for (uint32_t i = 0; i < jobs->count; i++) {
        FITS(list[i].name.len > 0, "a job without a name");
        FITS(list[i].profile < profiles->count, "a job without options");
        for (uint32_t k = 0; k < list[i].parents.count; k++) {
            FITS(list[i].parents.at[k] < first + i, "a parent that comes after its child");
            FITS(k == 0 || list[i].parents.at[k] > list[i].parents.at[k - 1], "parents out of order");
        }
        enum err e = check_undo(&list[i], profiles->count, why);
        if (e == ERR_OK) e = check_children(&list[i], profiles, why);
        if (e == ERR_OK) e = check_runner(&list[i], profiles, why);
        if (e == ERR_OK) e = check_foreign(s, &list[i], why);
        if (e != ERR_OK) return e;
    }
    return check_twins(jobs, why);
}

/* Names are looked up by hash: two alike in one flow would break the table. */
static enum err check_names(const struct state *s, const struct flow *f, const struct tlv_list *jobs, struct why *why) {
    const struct rec_job *list = jobs->at;
    for (uint32_t i = 0; i < jobs->count; i++)
        FITS(flow_job_by_name(s, f, list[i].name) == NO_ORDINAL, "a job name used twice");
    return ERR_OK;
}

static enum err check_submitted(const struct state *s, const struct rec_submitted *r, struct why *why) {
    FITS(r->flow > s->flow_last && r->flow < INT64_MAX, "a flow number used twice");
    FITS(r->head.tenant.len > 0, "a flow without a tenant");
    FITS(r->key.len == 0 || r->key_hash.len == 32, "a key without a hash");
    FITS(r->source.again_of < r->flow, "a flow that runs again what came after it");
    FITS(time_fits(r->timeout_ms) && time_fits(r->deadline_ms), "a time that cannot be");
    struct arena scratch;
    arena_init(&scratch, 512, 1u << 20);
    bool taken = key_find(s, tenant_find(s, r->head.tenant), r->key, &scratch) != 0;
    arena_fini(&scratch);
    FITS(!taken, "an idempotency key used twice");
    enum err e = check_options(s, tenant_find(s, r->head.tenant), &r->profiles, why);
    if (e == ERR_OK && r->schedule.len) e = schedule_check_fired(s, r, why);
    return e != ERR_OK ? e : check_jobs(s, 0, &r->profiles, &r->jobs, why);
}

static enum err check_added(const struct state *s, const struct rec_added *r, struct why *why) {
    uint32_t flow = flow_find(s, (flow_id){r->flow});
    FITS(flow != 0, "jobs for a flow that is not there");
    FITS(!flow_at(s, flow)->of_service, "jobs for a service");
    FITS(flow_at(s, flow)->unwinding == UNWIND_NONE, "jobs for a flow that unwinds");
    FITS(finale_may_grow(s, flow_at(s, flow)), "jobs for a flow whose main jobs are over");
    enum err e = check_names(s, flow_at(s, flow), &r->jobs, why);
    if (e == ERR_OK) e = check_options(s, flow_at(s, flow)->tenant, &r->profiles, why);
    return e != ERR_OK ? e : check_jobs(s, flow_at(s, flow)->jobs.count, &r->profiles, &r->jobs, why);
}

static enum err check_job_only(const struct state *s, const struct record *r, struct why *why) {
    const struct rec_job_only *b = &r->body.as_REC_RETRIED;
    uint32_t job = job_find(s, (struct job_ref){{b->flow}, b->ordinal});
    FITS(job != 0, "a job that is not there");
    const struct job *j = job_at(s, job);
    FITS(!flow_at(s, j->flow)->of_service, "a service");
    FITS(job_state_is_terminal(j->state) && j->state != JOB_SUCCEEDED, "a job that is not dead");
    FITS(!flow_is_settling(flow_at(s, j->flow)), "a flow that has not settled");
    FITS(r->kind != REC_RETRIED || !saga_calls_off(s, j), "a job of a flow that unwinds");
    FITS(r->kind != REC_RETRIED || finale_may_retry(s, j), "a job whose turn is over");
    if (r->kind == REC_RETRIED && j->part == PART_CHILD) {
        const struct job *whole = expand_whole(s, j);
        FITS(!job_state_is_terminal(whole->state) || whole->cause == CAUSE_CHILDREN, "a child of a job that is over");
    }
    return ERR_OK;
}

static enum err check_flow_only(const struct state *s, const struct record *r, struct why *why) {
    flow_id id = {r->body.as_REC_RERUN.flow};
    uint32_t flow = r->kind == REC_CONTINUED ? flow_find_any(s, id) : flow_find(s, id);
    FITS(flow != 0, "a flow that is not there");
    const struct flow *f = flow_at(s, flow);
    FITS(!f->of_service, "a service");
    if (r->kind == REC_CONTINUED) {
        FITS(f->is_working, "a flow without work");
    } else {
        FITS(f->state != FLOW_RUNNING && !f->is_working, "a flow that has not ended");
        FITS(r->kind != REC_RERUN || f->unwinding == UNWIND_NONE, "a flow that was unwound");
        FITS(r->kind != REC_RERUN || f->finale == 0 || flow_stage(s, f) == FLOW_STAGE_OVER, "a flow that is not over");
    }
    return ERR_OK;
}

/* The job of a record about an attempt, if it has an open one. */
static enum err check_active(const struct state *s, uint64_t flow, uint32_t ordinal, uint32_t attempt,
                             struct why *why) {
    uint32_t job = job_find(s, (struct job_ref){{flow}, ordinal});
    FITS(job != 0, "a job that is not there");
    const struct job *j = job_at(s, job);
    FITS(job_state_is_active(j->state), "an attempt that is not open");
    FITS(run_at(s, j->link)->attempt == attempt, "another attempt than the open one");
    return ERR_OK;
}

static enum err check_ended(const struct state *s, const struct rec_ended *r, struct why *why) {
    enum err e = check_active(s, r->flow, r->ordinal, r->attempt, why);
    if (e != ERR_OK) return e;
    const struct job *j = job_at(s, job_find(s, (struct job_ref){{r->flow}, r->ordinal}));
    FITS(r->ended_ago_ms <= attempt_age_ms(j, s->now), "an end before the start");
    if (r->again_ms == 0) return ERR_OK;
    FITS(time_fits(r->again_ms), "a time that cannot be");
    FITS(job_options(s, j)->calls && r->outcome == OUTCOME_OK, "an end that is none");
    return ERR_OK;
}

static enum err check_assigned(const struct state *s, const struct rec_assigned *r, struct why *why) {
    uint32_t job = job_find(s, (struct job_ref){{r->flow}, r->ordinal});
    FITS(job != 0, "a job that is not there");
    FITS(job_at(s, job)->state == JOB_READY, "a job that is not ready");
    FITS(job_at(s, job)->attempt + 1 == r->attempt, "an attempt out of order");
    FITS(worker_find(s, r->worker) != 0, "a worker that is not there");
    return ERR_OK;
}

static enum err check_due(const struct state *s, const struct rec_due *r, struct why *why) {
    uint32_t job = job_find(s, (struct job_ref){{r->flow}, r->ordinal});
    FITS(job != 0, "a job that is not there");
    const struct job *j = job_at(s, job);
    bool fits = false;
    if (r->due == DUE_START) fits = j->state == JOB_WAITING && j->parents_open == 0;
    if (flow_at(s, j->flow)->of_service) {
        FITS(r->due == DUE_START, "a service has no deadline");
    }
    if (r->due == DUE_START_WITHIN) fits = j->state == JOB_READY;
    if (r->due == DUE_DEADLINE)
        fits = !job_state_is_terminal(j->state) && !job_state_is_active(j->state) && j->part != PART_ENDING;
    FITS(fits, "a job that waits for something else");
    return ERR_OK;
}

static enum err check_flow_due(const struct state *s, const struct rec_flow_due *r, struct why *why) {
    uint32_t flow = flow_find(s, (flow_id){r->flow});
    FITS(flow != 0, "a flow that is not there");
    const struct flow *f = flow_at(s, flow);
    FITS(f->finale != 0 && f->state == FLOW_RUNNING && !f->of_service, "a flow that waits for no time");
    FITS(!f->is_working, "a flow that has not settled");
    if (r->due == FLOW_DUE_TIMEOUT) {
        FITS(finale_may_time_out(s, f), "a flow that cannot run out of time");
    } else {
        const struct finale *x = finale_at(s, f->finale);
        FITS(x->deadline.ms > 0 && !x->late, "a flow that cannot be late");
    }
    return ERR_OK;
}

static enum err check_verdict(const struct state *s, const struct rec_verdict *r, struct why *why) {
    if (r->question == 0 && r->gate == GATE_EXTERNAL) {
        uint32_t job = job_find(s, (struct job_ref){{r->flow}, r->ordinal});
        FITS(job != 0, "a job that is not there");
        FITS(external_may_hear(s, job_at(s, job)), "a word about a job that waits for none");
        FITS(r->verdict == VERDICT_ALLOW || r->verdict == VERDICT_DENY, "a word that says neither yes nor no");
        FITS(!r->fatal, "a word that is fatal");
        return ERR_OK;
    }
    if (r->question == 0) {
        uint32_t job = job_find(s, (struct job_ref){{r->flow}, r->ordinal});
        FITS(job != 0, "a job that is not there");
        FITS(job_at(s, job)->state == JOB_SUCCEEDED, "a job that has not succeeded");
        FITS(!(job_at(s, job)->flags & JOBF_UNTOLD), "a job whose end is not through");
        FITS(r->verdict == VERDICT_QUARANTINE, "a late verdict that is no quarantine");
        FITS(!r->fatal || finale_may_unwind(s, job_at(s, job)), "an unwinding behind the main jobs");
        return ERR_OK;
    }
    uint32_t question = map_get(&s->question_by_id, r->question);
    FITS(question != 0, "a question that is not open");
    FITS(time_fits(r->again_ms), "a time that cannot be");
    bool of_output = question_at(s, question)->gate == GATE_OUTPUT;
    FITS(r->verdict != VERDICT_QUARANTINE || of_output, "a quarantine of no output");
    FITS(r->verdict != VERDICT_HOLD || !of_output, "a hold of an output");
    FITS(r->verdict == VERDICT_DENY || question_at(s, question)->gate != GATE_SERVICE, "a verdict on health");
    FITS(r->verdict != VERDICT_FAIL || !of_output, "an output that could not be evaluated");
    bool passes = r->verdict != VERDICT_DENY && r->verdict != VERDICT_AGAIN && r->verdict != VERDICT_FAIL;
    FITS(!passes || question_at(s, question)->gate != GATE_EXPANSION, "an expansion without items");
    return ERR_OK;
}

static enum err check_expanded(const struct state *s, const struct rec_expanded *r, struct why *why) {
    uint32_t question = map_get(&s->question_by_id, r->question);
    FITS(question != 0, "a question that is not open");
    const struct question *q = question_at(s, question);
    const struct job *j = job_at(s, q->job);
    FITS(q->gate == GATE_EXPANSION && j->extra && extra_at(s, j->extra)->child_profile, "items for no foreach job");
    FITS(q->job == job_find(s, (struct job_ref){{r->flow}, r->ordinal}), "a question about another job");
    const struct flow *f = flow_at(s, j->flow);
    const struct u32vec *all = f->fan ? &fan_at(s, f->fan)->expansions : NULL;
    const struct expansion *last = all ? expansion_at(s, all->at[all->count - 1]) : NULL;
    uint64_t first = last ? (uint64_t)last->first + last->count : FIRST_CHILD_ORDINAL;
    FITS(r->count <= EXPAND_ITEMS_MAX && first + r->count < NO_ORDINAL, "too many items");
    FITS(r->items.len == 32 || r->count == 0, "items that are nowhere");
    return ERR_OK;
}

static enum err check_paused(const struct state *s, const struct rec_paused *r, struct why *why) {
    if (r->scope != PAUSE_FLOW) {
        FITS(r->name.len > 0, "a pause of nothing");
        return ERR_OK;
    }
    uint32_t flow = flow_find(s, (flow_id){r->flow});
    FITS(flow != 0, "a flow that is not there");
    FITS(flow_at(s, flow)->sweep == SWEEP_NONE, "a flow that has not settled");
    FITS(!flow_at(s, flow)->of_service, "a service");
    return ERR_OK;
}

static enum err check_cancelled(const struct state *s, const struct rec_cancelled *r, struct why *why) {
    uint32_t flow = flow_find(s, (flow_id){r->flow});
    FITS(flow != 0, "a flow that is not there");
    FITS(!r->whole || finale_may_cancel(s, flow_at(s, flow)), "a flow that unwinds");
    FITS(!flow_at(s, flow)->of_service, "a service");
    FITS(r->whole || job_find(s, (struct job_ref){{r->flow}, r->ordinal}) != 0, "a job that is not there");
    return ERR_OK;
}

static enum err check_key_expired(const struct state *s, const struct rec_key_expired *r, struct why *why) {
    struct arena scratch;
    arena_init(&scratch, 512, 1u << 20);
    bool known = key_find(s, tenant_find(s, r->head.tenant), r->key, &scratch) != 0;
    arena_fini(&scratch);
    FITS(known, "a key that is not there");
    return ERR_OK;
}

static enum err check_worker_gone(const struct state *s, struct slice id, struct why *why) {
    uint32_t worker = worker_find(s, id);
    FITS(worker != 0, "a worker that is not there");
    FITS(worker_at(s, worker)->active == 0, "a worker that holds attempts");
    return ERR_OK;
}

/* The namespace of a record about the store: somebody's, and there. */
static enum err check_space(const struct state *s, const struct rec_head *head, uint64_t flow, uint32_t *ret,
                            struct why *why) {
    uint32_t known = flow ? flow_find(s, (flow_id){flow}) : 0;
    FITS(flow ? known != 0 : head->tenant.len > 0, "a namespace of nobody");
    *ret = space_find(&s->store, known ? flow_at(s, known)->tenant : tenant_find(s, head->tenant), flow);
    return ERR_OK;
}

static enum err check_store(const struct state *s, const struct record *r, struct why *why) {
    const union record_body *b = &r->body;
    const struct rec_store_set *set = &b->as_REC_STORE_SET;
    const struct rec_store_members *members = &b->as_REC_STORE_MEMBERS;
    const struct rec_store_expiry *expiry = &b->as_REC_STORE_EXPIRY;
    bool of_set = r->kind == REC_STORE_MEMBERS, of_expiry = r->kind == REC_STORE_EXPIRY;
    uint64_t flow = of_set ? members->flow : of_expiry ? expiry->flow : set->flow;
    uint32_t space = 0;
    enum err e = check_space(s, &b->head, flow, &space, why);
    if (e != ERR_OK) return e;
    const struct rec_store_entry *entries = set->entries.at;
    for (uint32_t i = 0; r->kind == REC_STORE_SET && i < set->entries.count; i++) {
        FITS(entries[i].key.len > 0, "a value without a key");
        FITS(entries[i].kind != ITEM_SET, "a set without members");
        FITS(entries[i].expires_ms >= 0, "a time before all times");
    }
    if (!of_set && !of_expiry) return ERR_OK;
    uint32_t item = item_find(&s->store, space, of_set ? members->key : expiry->key);
    FITS(item != 0 || (of_set && members->key.len > 0), "a key that is not there");
    if (of_set) FITS(item == 0 || item_at(&s->store, item)->kind == ITEM_SET, "members of what is no set");
    if (of_expiry) FITS(expiry->expires_ms >= 0, "a time before all times");
    return ERR_OK;
}

static enum err check_limit(const struct rec_limit *r, struct why *why) {
    FITS(r->head.tenant.len > 0, "a limit of no tenant");
    FITS(r->kind == LIMIT_TENANT || r->name.len > 0, "a limit without a name");
    FITS(r->kind != LIMIT_RATE || r->clear || quota_rate_is_sound(r->rate_milli, r->burst), "a rate that cannot be");
    return ERR_OK;
}

static enum err check_health(const struct state *s, const struct rec_health *r, struct why *why) {
    enum err e = check_active(s, r->flow, r->ordinal, r->attempt, why);
    if (e != ERR_OK) return e;
    uint32_t flow = flow_find(s, (flow_id){r->flow});
    FITS(flow_at(s, flow)->of_service, "the health of what is no service");
    return ERR_OK;
}

static enum err check_revoked(const struct state *s, const struct rec_job_only *r, struct why *why) {
    uint32_t job = job_find(s, (struct job_ref){{r->flow}, r->ordinal});
    FITS(job != 0, "a job that is not there");
    FITS(job_at(s, job)->state == JOB_READY, "a job that is not ready");
    FITS(policy_has_lapsed(s, job_at(s, job)), "a permission that holds");
    return ERR_OK;
}

static enum err check_schedule(const struct state *s, const struct rec_schedule *r, struct why *why) {
    FITS(r->head.tenant.len > 0 && r->name.len > 0, "a schedule of nobody, or without a name");
    FITS((r->when & ~KEY_HOW_ALL) == 0, "a schedule that waits for an unknown change");
    FITS(r->min_interval_ms >= 0, "an interval below nothing");
    const struct rec_job *list = r->jobs.at;
    for (uint32_t i = 0; i < r->jobs.count; i++)
        FITS(list[i].foreign.count == 0, "a schedule with parents in other flows");
    enum err e = check_options(s, tenant_find(s, r->head.tenant), &r->profiles, why);
    return e != ERR_OK ? e : check_jobs(s, 0, &r->profiles, &r->jobs, why);
}

static enum err check_memo_kept(const struct state *s, const struct rec_memo_kept *r, struct why *why) {
    uint32_t job = job_find(s, (struct job_ref){{r->flow}, r->ordinal});
    FITS(job != 0 && job_at(s, job)->extra && extra_at(s, job_at(s, job)->extra)->memo, "a job without a cache key");
    FITS(job_at(s, job)->state == JOB_SUCCEEDED, "a job that has not succeeded");
    FITS(memo_job_at(s, extra_at(s, job_at(s, job)->extra)->memo)->from.flow.v == 0, "a result of another job");
    FITS(time_fits(r->expires_ms), "a time that cannot be");
    return ERR_OK;
}

static enum err check_memo_hit(const struct state *s, const struct rec_memo_hit *r, struct why *why) {
    uint32_t job = job_find(s, (struct job_ref){{r->flow}, r->ordinal});
    FITS(job != 0 && job_at(s, job)->extra && extra_at(s, job_at(s, job)->extra)->memo, "a job without a cache key");
    FITS(job_at(s, job)->state == JOB_READY, "a job that is not ready");
    const struct memo *m = memo_at(s, memo_job_at(s, extra_at(s, job_at(s, job)->extra)->memo)->memo);
    FITS(memo_has_entry(m), "a result that is not kept");
    FITS(m->from.flow.v == r->from_flow && m->from.ordinal == r->from_ordinal, "a result of another job");
    return ERR_OK;
}

static enum err check_memo_dropped(const struct state *s, const struct rec_memo_dropped *r, struct why *why) {
    FITS(r->key.len == MEMO_KEY_BYTES, "a result without a key");
    uint32_t memo = memo_find(s, tenant_find(s, r->head.tenant), r->key);
    FITS(memo != 0 && memo_has_entry(memo_at(s, memo)), "a result that is not kept");
    return ERR_OK;
}

static enum err check_clock(const struct state *s, const struct rec_clock *r, struct why *why) {
    FITS(time_fits(r->from_ms) && r->by_ms != 0 && r->by_ms >= -s->now.ms, "a time that cannot be");
    FITS(r->by_ms <= TIME_MS_MAX && time_fits(s->now.ms + r->by_ms), "a time that cannot be");
    FITS(r->from_ms <= (r->by_ms < 0 ? s->now.ms + r->by_ms : s->now.ms), "a clock that moves what is to come alone");
    return ERR_OK;
}

/* Whether the hash is right only a reading of the journal can tell: `reeve audit verify`. */
static enum err check_checkpoint(const struct state *s, const struct rec_checkpoint *r, struct why *why) {
    FITS(r->number == s->checkpoint.number + 1, "a checkpoint out of turn");
    FITS(r->from_lsn > 0 && r->from_lsn <= r->upto_lsn && r->upto_lsn <= s->lsn, "a checkpoint of what is to come");
    FITS(r->number == 1 || r->from_lsn == s->checkpoint.upto_lsn + 1, "a checkpoint with a gap before it");
    FITS(r->chain.len == CHECKPOINT_HASH_BYTES && r->key.len == CHECKPOINT_HASH_BYTES, "a checkpoint without a hash");
    FITS(r->signature.len == CHECKPOINT_SIGNATURE_BYTES, "a checkpoint without a signature");
    return ERR_OK;
}

enum err apply_check(const struct state *s, const struct record *r, struct why *why) {
    const union record_body *b = &r->body;
    switch (r->kind) {
    case REC_OPENED: FITS(b->as_REC_OPENED.epoch >= s->epoch, "an epoch that falls"); return ERR_OK;
    case REC_CLOCK: return check_clock(s, &b->as_REC_CLOCK, why);
    case REC_SUBMITTED: return check_submitted(s, &b->as_REC_SUBMITTED, why);
    case REC_ADDED: return check_added(s, &b->as_REC_ADDED, why);
    case REC_CANCELLED: return check_cancelled(s, &b->as_REC_CANCELLED, why);
    case REC_PAUSED: return check_paused(s, &b->as_REC_PAUSED, why);
    case REC_RETRIED:
    case REC_DISCARDED: return check_job_only(s, r, why);
    case REC_RERUN:
    case REC_FORGOTTEN:
    case REC_CONTINUED: return check_flow_only(s, r, why);
    case REC_WORKER:
        FITS(b->as_REC_WORKER.worker.len > 0, "a worker without an id");
        FITS(worker_info_fits(&b->as_REC_WORKER.info), "a worker without slots");
        return ERR_OK;
    case REC_WORKER_DRAIN:
        FITS(worker_find(s, b->as_REC_WORKER_DRAIN.worker), "a worker that is not there");
        return ERR_OK;
    case REC_WORKER_GONE: return check_worker_gone(s, b->as_REC_WORKER_GONE.worker, why);
    case REC_ASSIGNED: return check_assigned(s, &b->as_REC_ASSIGNED, why);
    case REC_STARTED: {
        const struct rec_attempt *a = &b->as_REC_STARTED;
        enum err e = check_active(s, a->flow, a->ordinal, a->attempt, why);
        if (e != ERR_OK) return e;
        uint32_t job = job_find(s, (struct job_ref){{a->flow}, a->ordinal});
        FITS(job_at(s, job)->state == JOB_DISPATCHED, "a job that runs already");
        return ERR_OK;
    }
    case REC_STOPPING:
        FITS(b->as_REC_STOPPING.stop != STOP_NONE, "a stop for no reason");
        return check_active(s, b->as_REC_STOPPING.flow, b->as_REC_STOPPING.ordinal, b->as_REC_STOPPING.attempt, why);
    case REC_ENDED: return check_ended(s, &b->as_REC_ENDED, why);
    case REC_DUE: return check_due(s, &b->as_REC_DUE, why);
    case REC_FLOW_DUE: return check_flow_due(s, &b->as_REC_FLOW_DUE, why);
    case REC_VERDICT: return check_verdict(s, &b->as_REC_VERDICT, why);
    case REC_KEY_EXPIRED: return check_key_expired(s, &b->as_REC_KEY_EXPIRED, why);
    case REC_POOL: FITS(b->as_REC_POOL.name.len > 0, "a pool without a name"); return ERR_OK;
    case REC_TOPIC: FITS(b->as_REC_TOPIC.name.len > 0, "a topic without a name"); return ERR_OK;
    case REC_TENANT: FITS(b->as_REC_TENANT.name.len > 0, "a tenant without a name"); return ERR_OK;
    case REC_POLICY: FITS(b->as_REC_POLICY.version > s->policy, "a policy that falls back"); return ERR_OK;
    case REC_REVOKED: return check_revoked(s, &b->as_REC_REVOKED, why);
    case REC_STORE_SET:
    case REC_STORE_DELETED:
    case REC_STORE_MEMBERS:
    case REC_STORE_EXPIRY:
    case REC_STORE_EXPIRED: return check_store(s, r, why);
    case REC_LIMIT: return check_limit(&b->as_REC_LIMIT, why);
    case REC_SERVICE:
        FITS(service_find(s, tenant_find(s, b->as_REC_SERVICE.head.tenant), b->as_REC_SERVICE.name),
             "a service that is not there");
        return ERR_OK;
    case REC_SCALED: return replica_check(s, &b->as_REC_SCALED, why);
    case REC_HEALTH: return check_health(s, &b->as_REC_HEALTH, why);
    case REC_EXPANDED: return check_expanded(s, &b->as_REC_EXPANDED, why);
    case REC_SCHEDULE: return check_schedule(s, &b->as_REC_SCHEDULE, why);
    case REC_SCHEDULE_REMOVED: return schedule_check(s, b->head.tenant, b->as_REC_SCHEDULE_REMOVED.name, why);
    case REC_SCHEDULE_PAUSED: return schedule_check(s, b->head.tenant, b->as_REC_SCHEDULE_PAUSED.name, why);
    case REC_SCHEDULE_SLOT: return schedule_check_slot(s, &b->as_REC_SCHEDULE_SLOT, why);
    case REC_SCHEDULE_BACKFILL: return schedule_check(s, b->head.tenant, b->as_REC_SCHEDULE_BACKFILL.name, why);
    case REC_MEMO_KEPT: return check_memo_kept(s, &b->as_REC_MEMO_KEPT, why);
    case REC_MEMO_HIT: return check_memo_hit(s, &b->as_REC_MEMO_HIT, why);
    case REC_MEMO_DROPPED: return check_memo_dropped(s, &b->as_REC_MEMO_DROPPED, why);
    case REC_CHECKPOINT: return check_checkpoint(s, &b->as_REC_CHECKPOINT, why);
    case REC_DIRECTORY:
    case REC_TOKEN:
    case REC_TOKEN_ENDED:
    case REC_SESSION_ENDED:
    case REC_TICKET:
    case REC_TICKET_SPENT:
    case REC_SECRETS: return directory_check(s, r, why);
    case REC_KIND_END: break;
    }
    return misfit(why, "it is of no kind");
}
