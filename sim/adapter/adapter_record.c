/* adapter_record.c: see adapter_record.h. */
#include "adapter_record.h"

#include <stdio.h>

#include "civil.h"
#include "hash.h"
#include "panic.h"
#include "record.h"
#include "simzones.h"

static struct trace_bytes bytes(struct slice s) {
    return (struct trace_bytes){s.ptr, (uint32_t)s.len};
}

/* ---- words ---- */

enum trace_state adapter_state(enum job_state s) {
    static const enum trace_state words[] = {
        [JOB_WAITING] = TS_WAITING,       [JOB_HELD] = TS_HELD,       [JOB_READY] = TS_READY,
        [JOB_DISPATCHED] = TS_DISPATCHED, [JOB_RUNNING] = TS_RUNNING, [JOB_CHECKING] = TS_CHECKING,
        [JOB_SUCCEEDED] = TS_SUCCEEDED,   [JOB_FAILED] = TS_FAILED,   [JOB_TIMED_OUT] = TS_TIMED_OUT,
        [JOB_CANCELLED] = TS_CANCELLED,   [JOB_DENIED] = TS_DENIED,   [JOB_QUARANTINED] = TS_QUARANTINED,
        [JOB_SKIPPED] = TS_SKIPPED,
    };
    REQUIRE(s < JOB_STATE_COUNT);
    return words[s];
}

enum trace_cause adapter_cause(enum job_cause c) {
    static const enum trace_cause words[] = {
        [CAUSE_NONE] = TC_NONE,
        [CAUSE_EXIT] = TC_EXIT,
        [CAUSE_LOST] = TC_LOST,
        [CAUSE_UPSTREAM] = TC_UPSTREAM,
        [CAUSE_NO_WORKER] = TC_NO_WORKER,
        [CAUSE_REJECTED] = TC_REJECTED,
        [CAUSE_DISPATCH] = TC_DISPATCH,
        [CAUSE_RUN_TIMEOUT] = TC_RUN_TIMEOUT,
        [CAUSE_DEADLINE] = TC_DEADLINE,
        [CAUSE_VERDICT] = TC_VERDICT,
        [CAUSE_NO_VERDICT] = TC_NO_VERDICT,
        [CAUSE_REQUEST] = TC_REQUEST,
        [CAUSE_SAGA] = TC_SAGA,
        [CAUSE_UNHEALTHY] = TC_UNHEALTHY,
        [CAUSE_REPLACED] = TC_REPLACED,
        [CAUSE_CHILDREN] = TC_CHILDREN,
        [CAUSE_FLOW_TIMEOUT] = TC_FLOW_TIMEOUT,
        [CAUSE_OUTCOME] = TC_OUTCOME,
    };
    REQUIRE(c < JOB_CAUSE_COUNT);
    return words[c];
}

enum trace_gate adapter_gate(enum gate g) {
    static const enum trace_gate words[] = {
        [GATE_CONDITION] = TG_CONDITION, [GATE_RENDER] = TG_RENDER,       [GATE_POLICY] = TG_POLICY,
        [GATE_APPROVAL] = TG_APPROVAL,   [GATE_EXTERNAL] = TG_EXTERNAL,   [GATE_OUTPUT] = TG_OUTPUT,
        [GATE_SERVICE] = TG_SERVICE,     [GATE_EXPANSION] = TG_EXPANSION,
    };
    REQUIRE(g < GATE_COUNT);
    return words[g];
}

enum trace_stop adapter_stop(enum stop_cause s) {
    static const enum trace_stop words[] = {
        [STOP_NONE] = TX_NONE,
        [STOP_CANCEL] = TX_CANCEL,
        [STOP_DEADLINE] = TX_DEADLINE,
        [STOP_RUN_TIMEOUT] = TX_RUN_TIMEOUT,
        [STOP_DISPATCH_TIMEOUT] = TX_DISPATCH_TIMEOUT,
        [STOP_MOVE] = TX_MOVE,
    };
    REQUIRE(s < STOP_COUNT);
    return words[s];
}

enum trace_outcome adapter_outcome(enum outcome o) {
    static const enum trace_outcome words[] = {
        [OUTCOME_OK] = TO_OK,           [OUTCOME_EXIT] = TO_EXIT,       [OUTCOME_LOST] = TO_LOST,
        [OUTCOME_STOPPED] = TO_STOPPED, [OUTCOME_REFUSED] = TO_REFUSED,
    };
    REQUIRE(o < OUTCOME_COUNT);
    return words[o];
}

enum trace_flow_state adapter_flow_state(enum flow_state s) {
    static const enum trace_flow_state words[] = {
        [FLOW_RUNNING] = TF_RUNNING,
        [FLOW_SUCCEEDED] = TF_SUCCEEDED,
        [FLOW_FAILED] = TF_FAILED,
        [FLOW_CANCELLED] = TF_CANCELLED,
    };
    REQUIRE(s < FLOW_STATE_COUNT);
    return words[s];
}

enum trace_unwinding adapter_unwinding(enum unwinding u) {
    static const enum trace_unwinding words[] = {
        [UNWIND_NONE] = TZ_NONE,         [UNWIND_DUE] = TZ_STOPPING,
        [UNWIND_STOPPING] = TZ_STOPPING, [UNWIND_COMPENSATING] = TZ_COMPENSATING,
        [UNWIND_DONE] = TZ_DONE,
    };
    REQUIRE(u < UNWIND_COUNT);
    return words[u];
}

enum trace_desired adapter_desired(enum service_desired d) {
    static const enum trace_desired words[] = {
        [SERVICE_RUNNING] = TY_RUNNING, [SERVICE_STOPPED] = TY_STOPPED, [SERVICE_REMOVED] = TY_REMOVED};
    REQUIRE(d < SERVICE_DESIRED_COUNT);
    return words[d];
}

static enum trace_verdict verdict(enum verdict v) {
    static const enum trace_verdict words[] = {
        [VERDICT_ALLOW] = TV_ALLOW,   [VERDICT_DENY] = TV_DENY,   [VERDICT_CONSTRAIN] = TV_CONSTRAIN,
        [VERDICT_HOLD] = TV_HOLD,     [VERDICT_AGAIN] = TV_AGAIN, [VERDICT_QUARANTINE] = TV_QUARANTINE,
        [VERDICT_REDACT] = TV_REDACT, [VERDICT_FAIL] = TV_FAIL,
    };
    REQUIRE(v < VERDICT_COUNT);
    return words[v];
}

static enum trace_job_kind job_kind(uint8_t kind, bool calls) {
    if (calls) return TK_WORK;
    if (kind == JOB_GATE) return TK_GATE;
    if (kind == JOB_BARRIER) return TK_BARRIER;
    if (kind == JOB_EXTERNAL) return TK_EXTERNAL;
    return TK_WORK;
}

static enum trace_upstream upstream(uint8_t u) {
    if (u == UPSTREAM_SKIP) return TU_SKIP;
    return u == UPSTREAM_RUN ? TU_RUN : TU_FAIL;
}

static enum trace_trigger trigger(uint8_t t) {
    static const enum trace_trigger words[] = {[TRIGGER_ALL_SUCCEEDED] = TT_ALL_SUCCEEDED,
                                               [TRIGGER_NONE_FAILED] = TT_NONE_FAILED,
                                               [TRIGGER_ONE_SUCCEEDED] = TT_ONE_SUCCEEDED,
                                               [TRIGGER_ALL_DONE] = TT_ALL_DONE};
    REQUIRE(t < TRIGGER_COUNT);
    return words[t];
}

enum trace_stage adapter_stage(enum flow_stage stage) {
    static const enum trace_stage words[] = {[FLOW_STAGE_MAIN] = TH_MAIN,
                                             [FLOW_STAGE_SUCCESS] = TH_SUCCESS,
                                             [FLOW_STAGE_FAILURE] = TH_FAILURE,
                                             [FLOW_STAGE_FINALLY] = TH_FINALLY,
                                             [FLOW_STAGE_OVER] = TH_OVER};
    REQUIRE(stage < FLOW_STAGE_COUNT);
    return words[stage];
}

static enum trace_due due(uint8_t d) {
    if (d == DUE_DEADLINE) return TD_DEADLINE;
    return d == DUE_START_WITHIN ? TD_START_WITHIN : TD_START;
}

/* ---- jobs ---- */

static struct trace_amount *amounts(struct arena *arena, const struct tlv_list *list) {
    struct trace_amount *ret = ARENA_ARRAY(arena, struct trace_amount, list->count + 1);
    const struct resource *from = list->at;
    for (uint32_t i = 0; i < list->count; i++) ret[i] = (struct trace_amount){bytes(from[i].name), from[i].amount};
    return ret;
}

static const struct trace_bytes *names(struct arena *arena, const struct tlv_list *list) {
    struct trace_bytes *ret = ARENA_ARRAY(arena, struct trace_bytes, list->count + 1);
    const struct name_item *from = list->at;
    for (uint32_t i = 0; i < list->count; i++) ret[i] = bytes(from[i].name);
    return ret;
}

static void job_options(struct arena *arena, const struct options *o, struct trace_job *ret) {
    ret->kind = job_kind(o->kind, o->calls);
    ret->calls = o->calls;
    ret->poll_ms = o->poll_ms;
    ret->poll_cap_ms = o->poll_cap_ms;
    ret->priority = o->priority;
    ret->retries = o->retries;
    ret->free_losses = o->free_losses;
    if (o->retry_on & RETRY_LOST) ret->retry_on |= TRACE_RETRY_LOST;
    if (o->retry_on & RETRY_TIMEOUT) ret->retry_on |= TRACE_RETRY_TIMEOUT;
    if (o->retry_on & RETRY_EXIT) ret->retry_on |= TRACE_RETRY_EXIT;
    ret->backoff_base_ms = o->backoff_base_ms;
    ret->backoff_cap_ms = o->backoff_cap_ms;
    ret->backoff_jitter_ms = o->backoff_jitter_ms;
    ret->on_upstream = upstream(o->on_upstream);
    ret->trigger = trigger(o->trigger);
    ret->stage = adapter_stage((enum flow_stage)o->stage);
    ret->exclusive = o->exclusive;
    ret->delay_from_submit = o->delay_from_submit;
    ret->delay_ms = o->delay_ms;
    ret->not_before_ms = o->not_before_ms;
    ret->deadline_ms = o->deadline_ms;
    ret->start_within_ms = o->start_within_ms;
    ret->dispatch_timeout_ms = o->dispatch_timeout_ms;
    ret->run_timeout_ms = o->run_timeout_ms;
    for (int g = 0; g < (int)GATE_COUNT; g++) {
        if (o->gates & GATE_BIT(g)) ret->gates |= TRACE_GATE_BIT(adapter_gate((enum gate)g));
    }
    ret->approval_ms = o->approval_ms;
    ret->quorum = o->quorum;
    ret->four_eyes = o->four_eyes;
    ret->policy_open = o->policy_open;
    ret->fatal_exits = o->fatal_exits.at;
    ret->fatal_exit_count = o->fatal_exits.count;
    ret->cpu_milli = o->demand.cpu_milli;
    ret->memory_bytes = o->demand.memory_bytes;
    ret->gpus = o->demand.gpus;
    ret->resources = amounts(arena, &o->demand.resources);
    ret->resource_count = o->demand.resources.count;
    ret->keys = names(arena, &o->demand.keys);
    ret->key_count = o->demand.keys.count;
    ret->rates = names(arena, &o->demand.rates);
    ret->rate_count = o->demand.rates.count;
    ret->cache_ms = o->cache_ms;
    ret->max_parallel = o->max_parallel;
    ret->fail_fast = o->fail_fast;
    ret->allow_count = o->allow_count;
    ret->allow_percent = o->allow_percent;
    ret->restart_base_ms = o->restart_base_ms;
    ret->restart_cap_ms = o->restart_cap_ms;
    ret->restart_reset_ms = o->restart_reset_ms;
    ret->healthy_within_ms = o->healthy_within_ms;
    ret->start_first = o->update == UPDATE_START_FIRST;
    ret->replica_of = bytes(o->replica_of);
    ret->replicas = o->replicas;
}

/* How long the message of the job is that runs a version. */
static uint32_t runner_message_bytes(const struct rec_job *job) {
    struct rec_job runner = {.name = job->service, .body = job->body, .body_hash = job->body_hash};
    struct buf message;
    buf_init(&message, (size_t)1 << 22);
    tlv_encode(&rec_job_desc, &runner, &message);
    REQUIRE(!message.full);
    uint32_t bytes_count = (uint32_t)message.len;
    buf_fini(&message);
    return bytes_count;
}

/* How long the message of a compensation is, but for the number of the job it undoes. */
static uint32_t undo_message_bytes(const struct rec_job *job) {
    struct rec_job undo = {.name = job->name, .body = job->undo_body, .body_hash = job->undo_hash};
    struct buf message;
    buf_init(&message, (size_t)1 << 22);
    tlv_encode(&rec_job_desc, &undo, &message);
    REQUIRE(!message.full && job->name.len + 5 < 128); /* the suffix of the name leaves its length one byte */
    uint32_t bytes_count = (uint32_t)message.len + 5;
    buf_fini(&message);
    return bytes_count;
}

static const struct trace_job *jobs(struct arena *arena, const struct tlv_list *list, const struct tlv_list *profiles) {
    struct trace_job *ret = ARENA_ARRAY(arena, struct trace_job, list->count + 1);
    const struct rec_job *from = list->at;
    const struct options *options = profiles->at;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct rec_foreign *foreign = from[i].foreign.at;
        struct trace_foreign *others = ARENA_ARRAY(arena, struct trace_foreign, from[i].foreign.count + 1);
        for (uint32_t k = 0; k < from[i].foreign.count; k++) {
            others[k] = (struct trace_foreign){foreign[k].flow, foreign[k].ordinal,
                                               adapter_state((enum job_state)foreign[k].seen)};
        }
        ret[i] = (struct trace_job){
            .name = bytes(from[i].name),
            .parents = from[i].parents.at,
            .parent_count = from[i].parents.count,
            .foreign = others,
            .foreign_count = from[i].foreign.count,
            .message_bytes = (uint32_t)from[i].raw.len,
            .cache_key = bytes(from[i].cache_key),
        };
        REQUIRE(from[i].profile < profiles->count);
        job_options(arena, &options[from[i].profile], &ret[i]);
        if (from[i].child_profile) {
            struct trace_job *child = ARENA_NEW(arena, struct trace_job);
            job_options(arena, &options[from[i].child_profile - 1], child);
            ret[i].child = child;
        }
        if (from[i].runner_profile) {
            REQUIRE(from[i].runner_profile <= profiles->count);
            struct trace_job *runner = ARENA_NEW(arena, struct trace_job);
            job_options(arena, &options[from[i].runner_profile - 1], runner);
            runner->message_bytes = runner_message_bytes(&from[i]);
            ret[i].kind = TK_SERVICE;
            ret[i].service = bytes(from[i].service);
            ret[i].runner = runner;
        }
        if (from[i].undo_profile == 0) continue;
        REQUIRE(from[i].undo_profile <= profiles->count);
        struct trace_job *undo = ARENA_NEW(arena, struct trace_job);
        job_options(arena, &options[from[i].undo_profile - 1], undo);
        undo->message_bytes = undo_message_bytes(&from[i]);
        ret[i].undo = undo;
    }
    return ret;
}

/* ---- records ---- */

static void scaled(const struct rec_scaled *r, struct trace_entry *e) {
    e->as.scaled = (struct trace_scaled){bytes(r->head.tenant), bytes(r->name), r->replicas, r->from};
}

static void submitted(struct arena *arena, const struct rec_submitted *r, struct trace_entry *e) {
    e->as.jobs = (struct trace_jobs){
        .flow = r->flow,
        .tenant = bytes(r->head.tenant),
        .key = bytes(r->key),
        .key_hash = bytes(r->key_hash),
        .key_expires_ms = r->key_expires_ms,
        .more = r->more,
        .undo_failures = r->compensate_on == COMPENSATE_FAILURE,
        .timeout_ms = r->timeout_ms,
        .deadline_ms = r->deadline_ms,
        .jobs = jobs(arena, &r->jobs, &r->profiles),
        .job_count = r->jobs.count,
        .schedule = bytes(r->schedule),
        .slot_ms = r->slot_ms,
        .fire = (enum trace_fire)r->fire,
        .zone = bytes(r->zone),
        .cause = bytes(r->cause.key),
        .cause_count = r->cause.count,
        .source = bytes(r->source.hash),
        .source_name = bytes(r->source.name),
    };
}

/* Of all that a calendar knows clients use "every Ns" from a certain moment: easy to work out a second time. */
static int64_t every_ms(struct slice expression) {
    char text[96] = "";
    long every = 0;
    ENSURE(expression.len < sizeof text);
    memcpy(text, expression.ptr, expression.len);
    ENSURE(sscanf(text, "every %lds; from 2023-11-14T22:13:20Z", &every) == 1 && every > 0);
    return every * 1000;
}

/* The day that a calendar leaves out, in the only zone in which clients have one. */
static void day_of_calendar(struct slice calendar, struct trace_schedule *ret) {
    char text[64] = "";
    int year = 0;
    unsigned month = 0, day = 0;
    if (calendar.len == 0) return;
    ENSURE(calendar.len < sizeof text);
    memcpy(text, calendar.ptr, calendar.len);
    ENSURE(sscanf(text, "not %d-%u-%u", &year, &month, &day) == 3);
    ret->day_from_ms = (civil_days(year, month, day) * CIVIL_DAY - SIM_MIDNIGHT_OFFSET) * 1000;
    ret->day_until_ms = ret->day_from_ms + CIVIL_DAY * 1000;
}

static void schedule(const struct rec_schedule *r, struct trace_entry *e) {
    e->as.schedule = (struct trace_schedule){
        .tenant = bytes(r->head.tenant),
        .name = bytes(r->name),
        .every_ms = r->when == 0 ? every_ms(r->expression) : 0,
        .when = r->when, /* the bits are the same */
        .key = bytes(r->key),
        .key_prefix = r->key_prefix,
        .min_interval_ms = r->min_interval_ms,
        .anchor_ms = 1700000000000,
        .start_ms = r->start_ms,
        .end_ms = r->end_ms,
        .after_ms = r->after_ms,
        .catch_up = (enum trace_catch_up)r->catch_up,
        .overlap = (enum trace_overlap)r->overlap,
        .paused = r->paused,
        .zone = bytes(r->zone),
        .source = bytes(r->source.hash),
        .source_name = bytes(r->source.name),
    };
    day_of_calendar(r->calendar, &e->as.schedule);
}

/* ---- keys of the store ---- */

_Static_assert(TRACE_KEY_SET == KEY_SET && TRACE_KEY_CHANGED == KEY_CHANGED && TRACE_KEY_DELETED == KEY_DELETED,
               "said in the same bits");

static const struct trace_bytes *texts(struct arena *arena, const struct tlv_list *list) {
    const struct rec_store_item *from = list->at;
    struct trace_bytes *ret = ARENA_ARRAY(arena, struct trace_bytes, list->count + 1);
    for (uint32_t i = 0; i < list->count; i++) ret[i] = bytes(from[i].text);
    return ret;
}

static void store_set(struct arena *arena, const struct rec_store_set *r, struct trace_entry *e) {
    const struct rec_store_entry *from = r->entries.at;
    struct trace_bytes *keys = ARENA_ARRAY(arena, struct trace_bytes, r->entries.count + 1);
    struct trace_bytes *values = ARENA_ARRAY(arena, struct trace_bytes, r->entries.count + 1);
    for (uint32_t i = 0; i < r->entries.count; i++) {
        char *text = arena_alloc(arena, from[i].value.len + 32);
        int len = from[i].kind == ITEM_NUMBER
                      ? snprintf(text, 32, "n%lld", (long long)from[i].number)
                      : snprintf(text, from[i].value.len + 32, "t%.*s", SLICE_FMT(from[i].value));
        keys[i] = bytes(from[i].key);
        values[i] = bytes(slice_of(text, (size_t)len));
    }
    e->as.change = (struct trace_change){.tenant = bytes(r->head.tenant),
                                         .flow = r->flow,
                                         .what = TCHANGE_SET,
                                         .keys = keys,
                                         .values = values,
                                         .count = r->entries.count};
}

static void store_gone(struct arena *arena, const struct rec_store_keys *r, struct trace_entry *e) {
    e->as.change = (struct trace_change){.tenant = bytes(r->head.tenant),
                                         .flow = r->flow,
                                         .what = TCHANGE_GONE,
                                         .keys = texts(arena, &r->keys),
                                         .count = r->keys.count};
}

static void store_members(struct arena *arena, const struct rec_store_members *r, struct trace_entry *e) {
    struct trace_bytes *key = ARENA_NEW(arena, struct trace_bytes);
    *key = bytes(r->key);
    e->as.change = (struct trace_change){.tenant = bytes(r->head.tenant),
                                         .flow = r->flow,
                                         .what = TCHANGE_MEMBERS,
                                         .keys = key,
                                         .count = 1,
                                         .added = texts(arena, &r->added),
                                         .removed = texts(arena, &r->removed),
                                         .added_count = r->added.count,
                                         .removed_count = r->removed.count};
}

static enum trace_slot_end slot_end(uint8_t what) {
    switch ((enum slot_end)what) {
    case SLOT_MISSED: return TSLOT_MISSED;
    case SLOT_OVERLAP: return TSLOT_OVERLAP;
    case SLOT_FULL: return TSLOT_FULL;
    case SLOT_QUEUED: return TSLOT_QUEUED;
    case SLOT_REPLACES: return TSLOT_REPLACES;
    case SLOT_EXCLUDED: return TSLOT_EXCLUDED;
    case SLOT_FIRED:
    case SLOT_PAUSED:
    case SLOT_END_COUNT: break;
    }
    return TSLOT_COUNT;
}

static void slot(const struct rec_schedule_slot *r, struct trace_entry *e) {
    e->as.slot = (struct trace_slot){.tenant = bytes(r->head.tenant),
                                     .name = bytes(r->name),
                                     .what = slot_end(r->what),
                                     .slot_ms = r->slot_ms,
                                     .count = r->count};
}

static void backfill(struct arena *arena, const struct rec_schedule_backfill *r, struct trace_entry *e) {
    const struct rec_slot *from = r->slots.at;
    int64_t *slots = ARENA_ARRAY(arena, int64_t, r->slots.count + 1);
    for (uint32_t i = 0; i < r->slots.count; i++) slots[i] = from[i].slot_ms;
    e->as.slot = (struct trace_slot){
        .tenant = bytes(r->head.tenant), .name = bytes(r->name), .slots = slots, .slot_count = r->slots.count};
}

static void worker(struct arena *arena, const struct rec_worker *r, struct trace_entry *e) {
    e->as.worker = (struct trace_worker){
        .worker = bytes(r->worker),
        .incarnation = r->incarnation,
        .on = true,
        .slots = r->info.slots,
        .cpu_milli = r->info.cpu_milli,
        .memory_bytes = r->info.memory_bytes,
        .gpus = r->info.gpus,
        .resources = amounts(arena, &r->info.resources),
        .resource_count = r->info.resources.count,
        .tenant = bytes(r->info.tenant),
    };
}

static void ended(const struct rec_ended *r, struct trace_entry *e) {
    e->as.attempt = (struct trace_attempt){
        .flow = r->flow,
        .ordinal = r->ordinal,
        .attempt = r->attempt,
        .outcome = adapter_outcome((enum outcome)r->outcome),
        .exit_code = r->exit_code,
        .fatal = r->fatal,
        .again_ms = r->again_ms,
        .retry_after_ms = r->retry_after_ms,
        .ended_ago_ms = (int64_t)r->ended_ago_ms,
    };
}

static void assigned(const struct rec_assigned *r, struct trace_entry *e) {
    e->as.attempt = (struct trace_attempt){
        .flow = r->flow,
        .ordinal = r->ordinal,
        .attempt = r->attempt,
        .worker = bytes(r->worker),
        .incarnation = r->incarnation,
        .fence = e->lsn,
    };
}

static void answered(const struct rec_verdict *r, struct trace_entry *e) {
    e->as.verdict = (struct trace_verdict_on){
        .flow = r->flow,
        .ordinal = r->ordinal,
        .gate = adapter_gate((enum gate)r->gate),
        .question = r->question,
        .revision = r->revision,
        .verdict = verdict((enum verdict)r->verdict),
        .again_ms = r->again_ms,
        .fatal = r->fatal,
        .policy = r->policy,
        .cache_key = bytes(r->cache_key),
    };
}

static void flow_due(const struct rec_flow_due *r, struct trace_entry *e) {
    e->as.flow_due = (struct trace_flow_due){r->flow, r->due == FLOW_DUE_DEADLINE};
}

static void expanded(const struct rec_expanded *r, struct trace_entry *e) {
    e->as.expanded = (struct trace_expanded){
        .flow = r->flow, .ordinal = r->ordinal, .question = r->question, .revision = r->revision, .count = r->count};
}

static void limited(const struct rec_limit *r, struct trace_entry *e) {
    static const enum trace_limit_kind kinds[] = {
        [LIMIT_KEY] = TL_KEY, [LIMIT_RATE] = TL_RATE, [LIMIT_TENANT] = TL_TENANT};
    e->as.limit = (struct trace_limit){
        .tenant = bytes(r->head.tenant),
        .kind = kinds[r->kind],
        .name = bytes(r->name),
        .clear = r->clear,
        .width = r->width,
        .rate_milli = r->rate_milli,
        .burst = r->burst,
        .running = r->running,
        .queued = r->queued,
        .bytes = r->bytes,
    };
}

static void memo(const struct record *r, struct trace_entry *e) {
    const union record_body *b = &r->body;
    if (r->kind == REC_MEMO_KEPT)
        e->as.memo = (struct trace_memo){.flow = b->as_REC_MEMO_KEPT.flow,
                                         .ordinal = b->as_REC_MEMO_KEPT.ordinal,
                                         .expires_ms = b->as_REC_MEMO_KEPT.expires_ms};
    else if (r->kind == REC_MEMO_HIT)
        e->as.memo = (struct trace_memo){.flow = b->as_REC_MEMO_HIT.flow,
                                         .ordinal = b->as_REC_MEMO_HIT.ordinal,
                                         .from_flow = b->as_REC_MEMO_HIT.from_flow,
                                         .from_ordinal = b->as_REC_MEMO_HIT.from_ordinal};
    else
        e->as.memo = (struct trace_memo){.tenant = bytes(b->head.tenant), .key = bytes(b->as_REC_MEMO_DROPPED.key)};
}

static void checkpoint(const struct rec_checkpoint *r, struct trace_entry *e) {
    e->as.checkpoint = (struct trace_checkpoint){r->number, r->from_lsn, r->upto_lsn};
}

static enum trace_kind kind_of(enum record_kind kind) {
    switch (kind) {
    case REC_OPENED: return TR_OPENED;
    case REC_CLOCK: return TR_CLOCK;
    case REC_SUBMITTED: return TR_SUBMITTED;
    case REC_ADDED: return TR_ADDED;
    case REC_CANCELLED: return TR_CANCELLED;
    case REC_PAUSED: return TR_PAUSED;
    case REC_RETRIED: return TR_RETRIED;
    case REC_DISCARDED: return TR_DISCARDED;
    case REC_RERUN: return TR_RERUN;
    case REC_FORGOTTEN: return TR_FORGOTTEN;
    case REC_CONTINUED: return TR_CONTINUED;
    case REC_WORKER: return TR_WORKER;
    case REC_WORKER_DRAIN: return TR_WORKER_DRAIN;
    case REC_WORKER_GONE: return TR_WORKER_GONE;
    case REC_ASSIGNED: return TR_ASSIGNED;
    case REC_STARTED: return TR_STARTED;
    case REC_STOPPING: return TR_STOPPING;
    case REC_ENDED: return TR_ENDED;
    case REC_DUE: return TR_DUE;
    case REC_FLOW_DUE: return TR_FLOW_DUE;
    case REC_VERDICT: return TR_VERDICT;
    case REC_KEY_EXPIRED: return TR_KEY_EXPIRED;
    case REC_STORE_SET:
    case REC_STORE_DELETED:
    case REC_STORE_MEMBERS:
    case REC_STORE_EXPIRY:
    case REC_STORE_EXPIRED: return TR_STORE;
    case REC_LIMIT: return TR_LIMIT;
    case REC_POLICY: return TR_POLICY;
    case REC_REVOKED: return TR_REVOKED;
    case REC_SERVICE: return TR_SERVICE;
    case REC_SCALED: return TR_SCALED;
    case REC_HEALTH: return TR_HEALTH;
    case REC_EXPANDED: return TR_EXPANDED;
    case REC_SCHEDULE: return TR_SCHEDULE;
    case REC_SCHEDULE_REMOVED: return TR_SCHEDULE_REMOVED;
    case REC_SCHEDULE_PAUSED: return TR_SCHEDULE_PAUSED;
    case REC_SCHEDULE_SLOT: return TR_SCHEDULE_SLOT;
    case REC_SCHEDULE_BACKFILL: return TR_SCHEDULE_BACKFILL;
    case REC_MEMO_KEPT: return TR_MEMO_KEPT;
    case REC_MEMO_HIT: return TR_MEMO_HIT;
    case REC_MEMO_DROPPED: return TR_MEMO_DROPPED;
    case REC_CHECKPOINT: return TR_CHECKPOINT;
    case REC_DIRECTORY:
    case REC_TOKEN:
    case REC_TOKEN_ENDED:
    case REC_SESSION_ENDED:
    case REC_TICKET:
    case REC_TICKET_SPENT:
    case REC_SECRETS: return TR_IDENTITY;
    case REC_POOL:
    case REC_TOPIC:
    case REC_TENANT:
    case REC_KIND_END: break;
    }
    return TR_OTHER;
}

static void stopping(const struct rec_stopping *r, struct trace_entry *e) {
    e->as.attempt = (struct trace_attempt){.flow = r->flow,
                                           .ordinal = r->ordinal,
                                           .attempt = r->attempt,
                                           .stop = adapter_stop((enum stop_cause)r->stop)};
}

static void schedule_paused(const struct rec_schedule_paused *r, struct trace_entry *e) {
    e->as.slot = (struct trace_slot){
        .tenant = bytes(r->head.tenant), .name = bytes(r->name), .on = r->on, .slot_ms = r->after_ms};
}

static struct trace_identity token(const struct rec_token_info *t) {
    return (struct trace_identity){.what = TID_TOKEN,
                                   .id = bytes(t->id),
                                   .hash = bytes(t->hash),
                                   .is_admin = (t->roles & 1) != 0 && t->tenant.len == 0 && t->expires_ms == 0};
}

static void begins(struct arena *arena, const struct rec_directory *r, struct trace_identity *ret) {
    struct trace_identity *first = ARENA_ARRAY(arena, struct trace_identity, r->tokens.count + 1);
    const struct rec_token_info *tokens = r->tokens.at;
    for (uint32_t i = 0; i < r->tokens.count; i++) first[i] = token(&tokens[i]);
    *ret = (struct trace_identity){.what = TID_BEGINS, .first = first, .first_count = r->tokens.count};
}

static void identity(struct arena *arena, const struct record *r, struct trace_identity *ret) {
    const union record_body *b = &r->body;
    *ret = (struct trace_identity){.what = r->kind == REC_SECRETS ? TID_SECRETS : TID_SESSION_ENDED};
    if (r->kind == REC_DIRECTORY) begins(arena, &b->as_REC_DIRECTORY, ret);
    if (r->kind == REC_TOKEN) *ret = token(&b->as_REC_TOKEN.token);
    if (r->kind == REC_TOKEN_ENDED)
        *ret = (struct trace_identity){.what = TID_TOKEN_ENDED, .id = bytes(b->as_REC_TOKEN_ENDED.id)};
    if (r->kind == REC_TICKET)
        *ret = (struct trace_identity){.what = TID_LINK,
                                       .hash = bytes(b->as_REC_TICKET.hash),
                                       .instead = bytes(b->as_REC_TICKET.instead),
                                       .expires_ms = b->as_REC_TICKET.expires_ms};
    if (r->kind == REC_TICKET_SPENT)
        *ret = (struct trace_identity){.what = TID_LINK_SPENT, .hash = bytes(b->as_REC_TICKET_SPENT.hash)};
}

static enum trace_principal principal_kind(uint8_t kind) {
    static const enum trace_principal words[] = {
        [KIND_UNKNOWN] = TP_UNKNOWN, [KIND_PERSON] = TP_PERSON, [KIND_SERVICE] = TP_SERVICE,
        [KIND_AGENT] = TP_AGENT,     [KIND_WORKER] = TP_WORKER, [KIND_JOB] = TP_JOB};
    REQUIRE(kind < KIND_COUNT);
    return words[kind];
}

static struct trace_ref job_of(const struct rec_job_only *r) {
    return (struct trace_ref){.flow = r->flow, .ordinal = r->ordinal};
}

static void body(struct arena *arena, const struct record *r, struct trace_entry *e) {
    const union record_body *b = &r->body;
    switch (r->kind) {
    case REC_OPENED: e->as.opened.epoch = b->as_REC_OPENED.epoch; break;
    case REC_SUBMITTED: submitted(arena, &b->as_REC_SUBMITTED, e); break;
    case REC_ADDED:
        e->as.jobs = (struct trace_jobs){
            .flow = b->as_REC_ADDED.flow,
            .more = b->as_REC_ADDED.more,
            .jobs = jobs(arena, &b->as_REC_ADDED.jobs, &b->as_REC_ADDED.profiles),
            .job_count = b->as_REC_ADDED.jobs.count,
        };
        break;
    case REC_CLOCK: e->as.clock = (struct trace_clock){b->as_REC_CLOCK.from_ms, b->as_REC_CLOCK.by_ms}; break;
    case REC_CANCELLED:
        e->as.job.flow = b->as_REC_CANCELLED.flow;
        e->as.job.ordinal = b->as_REC_CANCELLED.whole ? TRACE_NO_JOB : b->as_REC_CANCELLED.ordinal;
        break;
    case REC_PAUSED:
        e->as.pause = (struct trace_pause){b->as_REC_PAUSED.scope == PAUSE_FLOW, b->as_REC_PAUSED.flow,
                                           bytes(b->as_REC_PAUSED.name), b->as_REC_PAUSED.on};
        break;
    case REC_RETRIED: e->as.job = job_of(&b->as_REC_RETRIED); break;
    case REC_DISCARDED: e->as.job = job_of(&b->as_REC_DISCARDED); break;
    case REC_RERUN: e->as.job.flow = b->as_REC_RERUN.flow; break;
    case REC_FORGOTTEN: e->as.job.flow = b->as_REC_FORGOTTEN.flow; break;
    case REC_CONTINUED: e->as.job.flow = b->as_REC_CONTINUED.flow; break;
    case REC_WORKER: worker(arena, &b->as_REC_WORKER, e); break;
    case REC_WORKER_DRAIN:
        e->as.worker.worker = bytes(b->as_REC_WORKER_DRAIN.worker);
        e->as.worker.on = b->as_REC_WORKER_DRAIN.on;
        e->as.worker.own = b->as_REC_WORKER_DRAIN.own;
        break;
    case REC_WORKER_GONE: e->as.worker.worker = bytes(b->as_REC_WORKER_GONE.worker); break;
    case REC_ASSIGNED: assigned(&b->as_REC_ASSIGNED, e); break;
    case REC_STARTED:
        e->as.attempt = (struct trace_attempt){
            .flow = b->as_REC_STARTED.flow, .ordinal = b->as_REC_STARTED.ordinal, .attempt = b->as_REC_STARTED.attempt};
        break;
    case REC_STOPPING: stopping(&b->as_REC_STOPPING, e); break;
    case REC_ENDED: ended(&b->as_REC_ENDED, e); break;
    case REC_DUE:
        e->as.due = (struct trace_due_of){b->as_REC_DUE.flow, b->as_REC_DUE.ordinal, due(b->as_REC_DUE.due)};
        break;
    case REC_FLOW_DUE: flow_due(&b->as_REC_FLOW_DUE, e); break;
    case REC_VERDICT:
        answered(&b->as_REC_VERDICT, e);
        e->as.verdict.by = principal_kind(b->head.caller.kind);
        break;
    case REC_KEY_EXPIRED:
        e->as.key = (struct trace_key){bytes(b->as_REC_KEY_EXPIRED.head.tenant), bytes(b->as_REC_KEY_EXPIRED.key)};
        break;
    case REC_STORE_SET: store_set(arena, &b->as_REC_STORE_SET, e); break;
    case REC_STORE_DELETED: store_gone(arena, &b->as_REC_STORE_DELETED, e); break;
    case REC_STORE_MEMBERS: store_members(arena, &b->as_REC_STORE_MEMBERS, e); break;
    case REC_STORE_EXPIRY: e->as.change.what = TCHANGE_NONE; break;
    case REC_STORE_EXPIRED: store_gone(arena, &b->as_REC_STORE_EXPIRED, e); break;
    case REC_LIMIT: limited(&b->as_REC_LIMIT, e); break;
    case REC_POLICY: e->as.policy.version = b->as_REC_POLICY.version; break;
    case REC_REVOKED: e->as.job = job_of(&b->as_REC_REVOKED); break;
    case REC_SERVICE:
        e->as.service = (struct trace_service){bytes(b->as_REC_SERVICE.head.tenant), bytes(b->as_REC_SERVICE.name),
                                               adapter_desired((enum service_desired)b->as_REC_SERVICE.desired)};
        break;
    case REC_SCALED: scaled(&b->as_REC_SCALED, e); break;
    case REC_HEALTH:
        e->as.health = (struct trace_health){b->as_REC_HEALTH.flow, b->as_REC_HEALTH.ordinal, b->as_REC_HEALTH.attempt,
                                             b->as_REC_HEALTH.healthy};
        break;
    case REC_EXPANDED: expanded(&b->as_REC_EXPANDED, e); break;
    case REC_SCHEDULE: schedule(&b->as_REC_SCHEDULE, e); break;
    case REC_SCHEDULE_REMOVED:
        e->as.slot.tenant = bytes(b->head.tenant);
        e->as.slot.name = bytes(b->as_REC_SCHEDULE_REMOVED.name);
        break;
    case REC_SCHEDULE_PAUSED: schedule_paused(&b->as_REC_SCHEDULE_PAUSED, e); break;
    case REC_SCHEDULE_SLOT: slot(&b->as_REC_SCHEDULE_SLOT, e); break;
    case REC_SCHEDULE_BACKFILL: backfill(arena, &b->as_REC_SCHEDULE_BACKFILL, e); break;
    case REC_MEMO_KEPT:
    case REC_MEMO_HIT:
    case REC_MEMO_DROPPED: memo(r, e); break;
    case REC_CHECKPOINT: checkpoint(&b->as_REC_CHECKPOINT, e); break;
    case REC_DIRECTORY:
    case REC_TOKEN:
    case REC_TOKEN_ENDED:
    case REC_SESSION_ENDED:
    case REC_TICKET:
    case REC_TICKET_SPENT:
    case REC_SECRETS: identity(arena, r, &e->as.identity); break;
    case REC_POOL:
    case REC_TOPIC:
    case REC_TENANT:
    case REC_KIND_END: break;
    }
}

const char *adapter_record(struct cursor *c, struct arena *arena, struct trace_entry *ret) {
    static struct why why; /* its text is returned */
    struct record r;
    const uint8_t *from = c->at;
    if (record_decode(c, arena, &r, &why) != ERR_OK) return why.text;
    ret->kind = kind_of(r.kind);
    ret->sum = hash64(from, (size_t)(c->at - from), 1) | 1u;
    ret->principal = bytes(r.body.head.principal);
    body(arena, &r, ret);
    return NULL;
}
