/* decide_people.c: what people and programs ask about flows, jobs, pools and tenants. See decide.h. */
#include "decide.h"
#include "expand.h"
#include "external.h"
#include "finale.h"
#include "flow.h"
#include "hash.h"
#include "mutant.h"
#include "panic.h"
#include "question.h"
#include "registry.h"

static enum err settled_flow(struct decision *d, const struct command *cmd, flow_id id, uint32_t *ret) {
    enum err e = decide_flow(d, cmd, id, ret);
    if (e != ERR_OK) return e;
    if (flow_is_settling(flow_at(d->state, *ret)))
        return refuse(d, ERR_BUSY, "an earlier change of the flow is still being processed: try again");
    return ERR_OK;
}

static enum err check_reason(struct decision *d, struct slice reason) {
    if (reason.len > (size_t)d->limits->reason_bytes_max)
        return refuse(d, ERR_LIMIT, "the reason is longer than %lld bytes (reason_bytes_max)",
                      (long long)d->limits->reason_bytes_max);
    return ERR_OK;
}

/* In the stage that it is in: what follows the main jobs of a cancelled flow is called off by a cancel of its own. */
static bool is_cancelled(const struct state *s, const struct flow *f) {
    if (f->finale == 0) return f->cancelling;
    const struct finale *x = finale_at(s, f->finale);
    return f->cancelling && x->cancelled == x->stage + 1u;
}

enum err decide_cancel(struct decision *d, const struct command *cmd) {
    const struct cmd_cancel *c = &cmd->as.cancel;
    uint32_t index = 0;
    enum err e = check_reason(d, c->reason);
    if (e != ERR_OK) return e;
    if (c->whole) {
        e = settled_flow(d, cmd, c->flow, &index);
        if (e != ERR_OK) return e;
        const struct flow *f = flow_at(d->state, index);
        if (f->state != FLOW_RUNNING)
            return refuse(d, ERR_STATE, "the flow has finished: %s", flow_state_words[f->state]);
        if (!finale_may_cancel(d->state, f)) return decide_not_unwound(d, f, "cancel its compensations one by one");
        if (is_cancelled(d->state, f)) return ERR_OK; /* asked before; repeating it changes nothing */
    } else {
        e = decide_settled_job(d, cmd, (struct job_ref){c->flow, c->ordinal}, &index);
        if (e != ERR_OK) return e;
        const struct job *j = job_at(d->state, index);
        if (job_state_is_terminal(j->state))
            return refuse(d, ERR_STATE, "the job has finished: %s", job_state_word(j->state));
        if (job_state_is_active(j->state) && run_at(d->state, j->link)->stop == STOP_CANCEL) return ERR_OK;
        if (j->part == PART_ENDING && expansion_of(d->state, j)->cause == CAUSE_REQUEST) return ERR_OK;
    }
    struct rec_cancelled *rec = &decide_record(d, REC_CANCELLED, cmd)->body.as_REC_CANCELLED;
    rec->flow = c->flow.v;
    rec->whole = c->whole;
    rec->ordinal = c->whole ? 0 : c->ordinal;
    rec->reason = c->reason;
    rec->confirm_ms = (uint32_t)d->limits->stop_confirm_ms;
    return ERR_OK;
}

enum err decide_pause(struct decision *d, const struct command *cmd) {
    const struct cmd_pause *c = &cmd->as.pause;
    if ((unsigned)c->scope >= PAUSE_SCOPE_COUNT) return refuse(d, ERR_INVALID, "a pause is of a flow, pool or tenant");
    enum err e = ERR_OK;
    if (c->scope == PAUSE_FLOW) {
        uint32_t flow = 0;
        e = settled_flow(d, cmd, c->flow, &flow);
        if (e != ERR_OK) return e;
        if (flow_at(d->state, flow)->paused == c->on) return ERR_OK;
    } else {
        e = decide_name(d, c->name, c->scope == PAUSE_POOL ? "a pool" : "a tenant");
        if (e != ERR_OK) return e;
        uint32_t pool = c->scope == PAUSE_POOL ? pool_find(d->state, c->name) : 0;
        uint32_t tenant = c->scope == PAUSE_TENANT ? tenant_find(d->state, c->name) : 0;
        bool full = c->scope == PAUSE_POOL ? !pool && d->state->pools.count >= (uint64_t)d->limits->pools_max
                                           : !tenant && d->state->tenants.count >= (uint64_t)d->limits->tenants_max;
        if (full) return refuse(d, ERR_LIMIT, "too many names (pools_max, tenants_max)");
    }
    struct rec_paused *rec = &decide_record(d, REC_PAUSED, cmd)->body.as_REC_PAUSED;
    rec->scope = (uint8_t)c->scope;
    rec->flow = c->scope == PAUSE_FLOW ? c->flow.v : 0;
    if (c->scope != PAUSE_FLOW) rec->name = c->name;
    rec->on = c->on;
    return ERR_OK;
}

static enum err dead_job(struct decision *d, const struct command *cmd, enum record_kind kind, bool listed) {
    REQUIRE(kind == REC_RETRIED || kind == REC_DISCARDED);
    uint32_t job = 0;
    enum err e = decide_settled_job(d, cmd, cmd->as.job, &job);
    if (e != ERR_OK) return e;
    const struct job *j = job_at(d->state, job);
    bool dead = job_is_dead_letter(j->state, j->cause);
    if (!dead || (listed && !(j->flags & JOBF_DEAD)))
        return refuse(d, ERR_STATE,
                      "the job is not a dead letter (state: %s): only a failed job can be retried or discarded",
                      job_state_word(j->state));
    if (kind == REC_RETRIED && !finale_may_retry(d->state, j))
        return refuse(d, ERR_STATE, "the flow is in stage %s: retry the job when the flow has ended",
                      flow_stage_words[flow_stage(d->state, flow_at(d->state, j->flow))]);
    if (kind == REC_RETRIED && job_undoes(d->state, j) == 0 && !finale_follows(d->state, j)) {
        e = decide_not_unwound(d, flow_at(d->state, j->flow), "only its compensations can be retried");
        if (e != ERR_OK) return e;
    }
    if (kind == REC_RETRIED && j->part == PART_CHILD) e = decide_retry_child(d, j);
    if (kind == REC_RETRIED && e == ERR_OK) e = decide_room_again(d, flow_at(d->state, j->flow));
    if (e != ERR_OK) return e;
    struct rec_job_only *rec = &decide_record(d, kind, cmd)->body.as_REC_RETRIED;
    rec->flow = cmd->as.job.flow.v;
    rec->ordinal = cmd->as.job.ordinal;
    return ERR_OK;
}

enum err decide_retry(struct decision *d, const struct command *cmd) {
    return dead_job(d, cmd, REC_RETRIED, false);
}

enum err decide_discard(struct decision *d, const struct command *cmd) {
    return dead_job(d, cmd, REC_DISCARDED, true);
}

static enum err finished_flow(struct decision *d, const struct command *cmd, enum record_kind kind) {
    REQUIRE(kind == REC_RERUN || kind == REC_FORGOTTEN);
    uint32_t flow = 0;
    enum err e = settled_flow(d, cmd, cmd->as.flow, &flow);
    if (e != ERR_OK) return e;
    const struct flow *f = flow_at(d->state, flow);
    if (f->state == FLOW_RUNNING) return refuse(d, ERR_STATE, "the flow is still running");
    if (kind == REC_RERUN && f->state == FLOW_SUCCEEDED && finale_main(d->state, f, JOB_SKIPPED) == 0)
        return refuse(d, ERR_STATE, "nothing to rerun: every job of the flow has succeeded");
    if (kind == REC_RERUN) e = decide_not_unwound(d, f, "submit it again");
    if (kind == REC_RERUN && e == ERR_OK) e = decide_room_again(d, f);
    if (e != ERR_OK) return e;
    decide_record(d, kind, cmd)->body.as_REC_RERUN.flow = cmd->as.flow.v;
    return ERR_OK;
}

enum err decide_rerun(struct decision *d, const struct command *cmd) {
    return finished_flow(d, cmd, REC_RERUN);
}

enum err decide_forget(struct decision *d, const struct command *cmd) {
    return finished_flow(d, cmd, REC_FORGOTTEN);
}

/* ---- verdicts ---- */

static bool verdict_fits(enum verdict verdict, enum gate gate) {
    switch (verdict) {
    case VERDICT_ALLOW:
    case VERDICT_DENY:
    case VERDICT_AGAIN: return true;
    case VERDICT_CONSTRAIN: return gate == GATE_POLICY || gate == GATE_OUTPUT;
    case VERDICT_HOLD: return gate == GATE_POLICY;
    case VERDICT_QUARANTINE:
    case VERDICT_REDACT: return gate == GATE_OUTPUT;
    case VERDICT_FAIL: return gate == GATE_CONDITION || gate == GATE_EXPANSION || gate == GATE_RENDER;
    case VERDICT_COUNT: break;
    }
    return false;
}

/* Whose consent counts, and once. */
static enum err check_voter(struct decision *d, const struct command *cmd, const struct question *q) {
    REQUIRE(q->gate == GATE_APPROVAL);
    const struct state *s = d->state;
    const struct job *j = job_at(s, q->job);
    if (job_options(s, j)->four_eyes) {
        struct flow_head head;
        flow_head_get(flow_at(s, j->flow), d->arena, &head);
        if (slice_eq(head.principal, cmd->principal))
            return refuse(d, ERR_FORBIDDEN, "the submitter of the flow cannot approve it (four_eyes)");
    }
    uint64_t voice = hash64(cmd->principal.ptr, cmd->principal.len, 0);
    for (uint32_t i = 0; q->voters && i < q->votes; i++)
        if (q->voters[i] == voice) return refuse(d, ERR_CONFLICT, "%.*s has already voted", SLICE_FMT(cmd->principal));
    return ERR_OK;
}

static enum err refuse_machine(struct decision *d, const struct command *cmd, const struct question *q) {
    struct job_ref ref = job_ref_of(d->state, job_at(d->state, q->job));
    struct slice name = job_name(job_at(d->state, q->job));
    char flow[FLOW_TEXT_BYTES];
    flow_text(d->state->shard, ref.flow, flow);
    return refuse(d, ERR_FORBIDDEN, "only a person can approve, and %.*s is %s: ask one to run `reeve approve %s/%.*s`",
                  SLICE_FMT(cmd->principal), decide_kind_phrase(cmd->caller.kind), flow, SLICE_FMT(name));
}

static enum err check_question(struct decision *d, const struct command *cmd, const struct question *q) {
    const struct cmd_verdict *c = &cmd->as.verdict;
    const struct state *s = d->state;
    uint32_t flow = 0;
    enum err e = decide_flow(d, cmd, job_ref_of(s, job_at(s, q->job)).flow, &flow);
    if (e != ERR_OK) return e;
    if (q->gate == GATE_SERVICE)
        return refuse(d, ERR_INVALID, "whether a service is healthy is its worker's word, not a verdict");
    if (c->revision != q->revision && !MUTANT(verdict_unfenced))
        return refuse(d, ERR_STALE, "the question has changed since (revision %u, not %u): look at it again",
                      q->revision, c->revision);
    if (!slice_eq(c->hash, question_hash(s, q, d->arena)))
        return refuse(d, ERR_STALE, "what is to be approved has changed: look at it again");
    if (c->fatal && q->gate == GATE_CONDITION)
        return refuse(d, ERR_INVALID, "a condition that does not hold is no failure: it cannot be fatal");
    if (c->verdict == VERDICT_HOLD && question_is_soft(s, job_at(s, q->job), q->gate))
        return refuse(d, ERR_INVALID, "a compensation waits for no approval: allow it or deny it");
    if (question_is_of_policy(q->gate) && c->policy < s->policy && !MUTANT(old_policy_heard))
        return refuse(d, ERR_STALE, "the verdict is by version %llu of the policy, in force is %llu",
                      (unsigned long long)c->policy, (unsigned long long)s->policy);
    if ((c->result.len || c->result_hash.len) && (q->gate != GATE_EXTERNAL || c->verdict != VERDICT_ALLOW))
        return refuse(d, ERR_INVALID, "only an external question is answered with a result");
    if (!verdict_fits(c->verdict, q->gate)) return refuse(d, ERR_INVALID, "that verdict does not answer this question");
    if (c->verdict == VERDICT_AGAIN &&
        (c->again_ms < d->in->wall.ms || c->again_ms > d->in->wall.ms + d->limits->delay_ms_max))
        return refuse(d, ERR_INVALID, "the time to ask again is in the past or too far away");
    if (q->gate != GATE_APPROVAL || c->verdict == VERDICT_AGAIN) return ERR_OK;
    if (cmd->principal.len == 0) return refuse(d, ERR_UNAUTHENTICATED, "an approval needs a name");
    if (c->verdict != VERDICT_DENY && cmd->caller.kind > KIND_PERSON && !MUTANT(agent_approves))
        return refuse_machine(d, cmd, q);
    return c->verdict == VERDICT_DENY ? ERR_OK : check_voter(d, cmd, q); /* anyone with the role may say no */
}

static enum err check_payload(struct decision *d, const struct cmd_verdict *c) {
    enum err e = check_reason(d, c->reason);
    if (e != ERR_OK) return e;
    int64_t most = c->verdict == VERDICT_CONSTRAIN ? d->limits->constraints_bytes_max
                   : c->verdict == VERDICT_REDACT  ? d->limits->result_bytes_max
                                                   : d->limits->job_body_bytes_max;
    if (c->payload.len > (size_t)most)
        return refuse(d, ERR_LIMIT, "the payload is longer than %lld bytes", (long long)most);
    if (c->payload_hash.len != 0 && c->payload_hash.len != 32) return refuse(d, ERR_INVALID, "a hash has 32 bytes");
    if (c->result.len > (size_t)d->limits->result_bytes_max)
        return refuse(d, ERR_LIMIT, "a result above %lld bytes must be a blob (result_bytes_max)",
                      (long long)d->limits->result_bytes_max);
    if (c->result_hash.len != 0 && c->result_hash.len != 32) return refuse(d, ERR_INVALID, "a hash has 32 bytes");
    if (c->hash.len != 0 && c->hash.len != 32) return refuse(d, ERR_INVALID, "a hash has 32 bytes");
    if (c->cache_key.len != 0 && c->cache_key.len != 32) return refuse(d, ERR_INVALID, "a cache key has 32 bytes");
    return ERR_OK;
}

static void record_verdict(struct decision *d, const struct command *cmd, struct job_ref ref, enum gate gate) {
    REQUIRE((unsigned)gate < GATE_COUNT);
    const struct cmd_verdict *c = &cmd->as.verdict;
    struct rec_verdict *rec = &decide_record(d, REC_VERDICT, cmd)->body.as_REC_VERDICT;
    rec->question = c->question.v;
    rec->flow = ref.flow.v;
    rec->ordinal = ref.ordinal;
    rec->gate = (uint8_t)gate;
    rec->revision = c->revision;
    rec->hash = c->hash;
    rec->verdict = (uint8_t)c->verdict;
    rec->reason = c->reason;
    rec->payload = c->payload;
    rec->payload_hash = c->payload_hash;
    rec->again_ms = c->verdict == VERDICT_AGAIN ? c->again_ms : 0;
    rec->policy = c->policy;
    rec->fatal = c->fatal;
    rec->result = c->result;
    rec->result_hash = c->result_hash;
    rec->cache_key = c->cache_key;
}

static enum err decide_late_quarantine(struct decision *d, const struct command *cmd) {
    const struct cmd_verdict *c = &cmd->as.verdict;
    uint32_t job = 0;
    enum err e = decide_settled_job(d, cmd, c->job, &job);
    if (e != ERR_OK) return e;
    if (c->verdict != VERDICT_QUARANTINE || c->cache_key.len)
        return refuse(d, ERR_INVALID, "a late verdict can only be a quarantine");
    if (job_at(d->state, job)->state != JOB_SUCCEEDED)
        return refuse(d, ERR_STATE, "only a job that succeeded can be quarantined later");
    const struct job *j = job_at(d->state, job);
    if (c->fatal && !finale_may_unwind(d->state, j))
        return refuse(d, ERR_BUSY, "the flow is in stage %s: say so again when it has ended, or without fatal",
                      flow_stage_words[flow_stage(d->state, flow_at(d->state, j->flow))]);
    record_verdict(d, cmd, c->job, GATE_OUTPUT);
    return ERR_OK;
}

/* About a job that has attempts nobody is asked; whoever was told of it when it was begun says when it is over. */
static enum err decide_word(struct decision *d, const struct command *cmd) {
    const struct cmd_verdict *c = &cmd->as.verdict;
    const struct state *s = d->state;
    uint32_t job = 0;
    enum err e = decide_settled_job(d, cmd, c->job, &job);
    if (e != ERR_OK) return e;
    const struct job *j = job_at(s, job);
    const struct external *x = external_of(s, j);
    if (!job_options(s, j)->calls) return refuse(d, ERR_STATE, "the job is not waiting for completion");
    if (job_state_is_terminal(j->state)) return refuse(d, ERR_STATE, "the job is over: %s", job_state_word(j->state));
    if (x != NULL && x->word != WORD_NONE) return refuse(d, ERR_STATE, "the job was already completed");
    if (!external_may_hear(s, j))
        return refuse(d, ERR_STATE, "the job is not waiting for completion now (state: %s)", job_state_word(j->state));
    uint32_t begun = x != NULL ? x->begun : j->attempt;
    if (c->begun && c->begun != begun)
        return refuse(d, ERR_STALE, "that was about attempt %u, and attempt %u began it anew", c->begun, begun);
    if (c->verdict != VERDICT_ALLOW && c->verdict != VERDICT_DENY)
        return refuse(d, ERR_INVALID, "what is done outside is done, or has failed");
    if (c->verdict == VERDICT_DENY && (c->result.len || c->result_hash.len))
        return refuse(d, ERR_INVALID, "what has failed has no result");
    if (c->fatal) return refuse(d, ERR_INVALID, "a word from outside is not fatal: compensations begin by exit codes");
    if (c->cache_key.len || c->payload.len)
        return refuse(d, ERR_INVALID, "a word from outside has a result, and no more");
    record_verdict(d, cmd, c->job, GATE_EXTERNAL);
    return ERR_OK;
}

/* A spec that was rendered has a key of its own: what it depends on is known only now. */
static enum err check_cache_key(struct decision *d, const struct cmd_verdict *c, const struct question *q) {
    const struct job *j = job_at(d->state, q->job);
    if (q->gate != GATE_RENDER || c->verdict != VERDICT_ALLOW)
        return refuse(d, ERR_INVALID, "a cache key comes with a rendered spec, and nothing else");
    bool has_undo = j->extra && extra_at(d->state, j->extra)->undo_profile;
    return decide_memoised(d, job_name(j), job_options(d->state, j), has_undo);
}

enum err decide_verdict(struct decision *d, const struct command *cmd) {
    const struct cmd_verdict *c = &cmd->as.verdict;
    if ((unsigned)c->verdict >= VERDICT_COUNT) return refuse(d, ERR_INVALID, "there is no such verdict");
    if (c->fatal && c->verdict != VERDICT_DENY && c->verdict != VERDICT_QUARANTINE)
        return refuse(d, ERR_INVALID, "only a deny or a quarantine can be fatal");
    enum err e = check_payload(d, c);
    if (e != ERR_OK) return e;
    if (c->question.v == 0) return c->outside ? decide_word(d, cmd) : decide_late_quarantine(d, cmd);
    uint32_t question = map_get(&d->state->question_by_id, c->question.v);
    if (question == 0) {
        if (c->question.v <= d->state->question_last) return refuse(d, ERR_STALE, "the question is closed");
        return refuse(d, ERR_NOT_FOUND, "there is no such question");
    }
    const struct question *q = question_at(d->state, question);
    e = check_question(d, cmd, q);
    if (e == ERR_OK && c->cache_key.len) e = check_cache_key(d, c, q);
    if (e != ERR_OK) return e;
    if (q->gate == GATE_EXPANSION && c->verdict == VERDICT_ALLOW) return decide_expand(d, cmd, q);
    if (c->item_count || c->items.len) return refuse(d, ERR_INVALID, "items answer an expansion only");
    record_verdict(d, cmd, job_ref_of(d->state, job_at(d->state, q->job)), q->gate);
    return ERR_OK;
}

/* Volatile: taken in by live.c. */
enum err decide_projected(struct decision *d, const struct command *cmd) {
    if (cmd->as.lsn > d->state->lsn)
        return refuse(d, ERR_INVALID, "the history cannot be at LSN %llu: the journal is at %llu",
                      (unsigned long long)cmd->as.lsn, (unsigned long long)d->state->lsn);
    return ERR_OK;
}

/* ---- pools, topics, tenants ---- */

static enum err check_names(struct decision *d, const struct name_item *items, uint32_t count, int64_t most,
                            const char *what) {
    if (count > most) return refuse(d, ERR_LIMIT, "more than %lld entries", (long long)most);
    for (uint32_t i = 0; i < count; i++) {
        enum err e = decide_name(d, items[i].name, what);
        if (e != ERR_OK) return e;
    }
    return ERR_OK;
}

static struct tlv_list copy_names(struct decision *d, const struct name_item *items, uint32_t count) {
    struct name_item *copy = ARENA_ARRAY(d->arena, struct name_item, count ? count : 1);
    for (uint32_t i = 0; i < count; i++) copy[i] = items[i];
    return (struct tlv_list){copy, count};
}

/* As place.c wants them: ascending. */
static struct tlv_list sorted_names(struct decision *d, const struct name_item *items, uint32_t count) {
    struct tlv_list list = copy_names(d, items, count);
    struct name_item *at = list.at;
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && slice_cmp(at[k - 1].name, at[k].name) > 0; k--) {
            struct name_item swap = at[k];
            at[k] = at[k - 1];
            at[k - 1] = swap;
        }
    return list;
}

enum err decide_pool(struct decision *d, const struct command *cmd) {
    const struct cmd_pool *c = &cmd->as.pool;
    enum err e = decide_name(d, c->name, "a pool");
    if (e == ERR_OK)
        e = check_names(d, c->capabilities, c->capability_count, d->limits->capabilities_max, "a capability");
    if (e != ERR_OK) return e;
    if ((unsigned)c->state >= POOL_STATE_COUNT) return refuse(d, ERR_INVALID, "there is no such pool state");
    if (!pool_find(d->state, c->name) && d->state->pools.count >= (uint64_t)d->limits->pools_max)
        return refuse(d, ERR_LIMIT, "there are %u pools already (pools_max)", d->state->pools.count);
    struct rec_pool *rec = &decide_record(d, REC_POOL, cmd)->body.as_REC_POOL;
    rec->name = c->name;
    rec->state = (uint8_t)c->state;
    rec->refuse_overload = c->refuse_overload;
    rec->capabilities = sorted_names(d, c->capabilities, c->capability_count);
    return ERR_OK;
}

enum err decide_topic(struct decision *d, const struct command *cmd) {
    const struct cmd_topic *c = &cmd->as.topic;
    enum err e = decide_name(d, c->name, "a topic");
    if (e == ERR_OK) e = check_names(d, c->pools, c->pool_count, d->limits->topic_pools_max, "a pool");
    if (e != ERR_OK) return e;
    if (!topic_find(d->state, c->name) && d->state->topics.count >= (uint64_t)d->limits->topics_max)
        return refuse(d, ERR_LIMIT, "there are %u topics already (topics_max)", d->state->topics.count);
    struct rec_topic *rec = &decide_record(d, REC_TOPIC, cmd)->body.as_REC_TOPIC;
    rec->name = c->name;
    rec->pools = copy_names(d, c->pools, c->pool_count);
    return ERR_OK;
}

enum err decide_tenant(struct decision *d, const struct command *cmd) {
    const struct cmd_tenant *c = &cmd->as.tenant_set;
    enum err e = decide_name(d, c->name, "a tenant");
    if (e != ERR_OK) return e;
    if (c->weight > 10000) return refuse(d, ERR_INVALID, "a weight is between 1 and 10000");
    if (!tenant_find(d->state, c->name) && d->state->tenants.count >= (uint64_t)d->limits->tenants_max)
        return refuse(d, ERR_LIMIT, "there are %u tenants already (tenants_max)", d->state->tenants.count);
    struct rec_tenant *rec = &decide_record(d, REC_TENANT, cmd)->body.as_REC_TENANT;
    rec->name = c->name;
    rec->weight = c->weight ? c->weight : 1;
    return ERR_OK;
}
