/* record.c: the tables behind record.h, and the frame around each record. Kinds and tags are part of the journal
 * format: a field may be added with a new tag, never changed, reordered or removed. */
#include "record.h"

#include "job.h"
#include "json.h"
#include "panic.h"
#include "rules.h"

#define NAME_MAX_BYTES 255
#define TEXT_MAX_BYTES 4096
#define BODY_MAX_BYTES 1048576
#define COUNT_MAX 1000000

/* clang-format off */
#define HEAD_FIELD(tag_, type_, member_) \
    { .tag = (tag_), TLV_AT(TLV_TEXT, type_, head.member_), .max = NAME_MAX_BYTES, .name = #member_ }
#define HEAD(type) HEAD_FIELD(1, type, principal), HEAD_FIELD(2, type, tenant), HEAD_FIELD(3, type, trace)
#define HEAD_CALLER(type_) \
    { .tag = 200, TLV_AT(TLV_MSG, type_, head.caller), .name = "caller", .sub = &caller_desc }

const char *const principal_kind_words[KIND_COUNT] = {"unknown", "person", "service", "agent", "worker", "job"};
const char *const spoken_words[SPOKEN_COUNT] = {"inside", "native", "http", "mcp", "resp", "orion", "titan"};
static const struct tlv_field caller_fields[] = {
    TLV_FIELD(1, TLV_ENUM, rec_caller, kind, .max = KIND_COUNT, .names = principal_kind_words),
    TLV_FIELD(2, TLV_TEXT, rec_caller, token, .max = TOKEN_ID_BYTES - 1),
    TLV_FIELD(3, TLV_ENUM, rec_caller, dialect, .max = SPOKEN_COUNT, .names = spoken_words),
    TLV_FIELD(4, TLV_BYTES, rec_caller, address, .max = 16, .form = TLV_FORM_ADDRESS),
};
static const struct tlv_desc caller_desc = TLV_DESC("caller", rec_caller, caller_fields);

static const struct tlv_field opened_fields[] = {
    HEAD(rec_opened),
    TLV_FIELD(4, TLV_U64, rec_opened, epoch),
    TLV_FIELD(5, TLV_TEXT, rec_opened, build, .max = NAME_MAX_BYTES),
    HEAD_CALLER(rec_opened),
};

static const struct tlv_field clock_fields[] = {
    HEAD(rec_clock),
    TLV_FIELD(4, TLV_I64, rec_clock, from_ms),
    TLV_FIELD(5, TLV_I64, rec_clock, by_ms),
    HEAD_CALLER(rec_clock),
};

static const struct tlv_field foreign_fields[] = {
    TLV_FIELD(1, TLV_U64, rec_foreign, flow),
    TLV_FIELD(2, TLV_U32, rec_foreign, shard),
    TLV_FIELD(3, TLV_U32, rec_foreign, ordinal),
    TLV_FIELD(4, TLV_ENUM, rec_foreign, seen, .max = JOB_STATE_COUNT, .names = job_state_words),
};
static const struct tlv_desc foreign_desc = TLV_DESC("foreign", rec_foreign, foreign_fields);

static const struct tlv_field job_fields[] = {
    TLV_FIELD(1, TLV_TEXT, rec_job, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(2, TLV_U32, rec_job, profile),
    TLV_FIELD(3, TLV_U32S, rec_job, parents, .max = COUNT_MAX),
    TLV_FIELD(4, TLV_LIST, rec_job, foreign, .max = 1024, .sub = &foreign_desc),
    TLV_FIELD(5, TLV_BYTES, rec_job, body, .max = BODY_MAX_BYTES),
    TLV_FIELD(6, TLV_HASH, rec_job, body_hash),
    TLV_FIELD(50, TLV_BYTES, rec_job, undo_body, .max = BODY_MAX_BYTES),
    TLV_FIELD(51, TLV_U32, rec_job, undo_profile),
    TLV_FIELD(52, TLV_U32, rec_job, undoes),
    TLV_FIELD(53, TLV_HASH, rec_job, undo_hash),
    TLV_FIELD(60, TLV_HASH, rec_job, cache_key),
    TLV_FIELD(70, TLV_U32, rec_job, child_profile),
    TLV_FIELD(80, TLV_TEXT, rec_job, service, .max = NAME_MAX_BYTES),
    TLV_FIELD(81, TLV_U32, rec_job, runner_profile),
    TLV_FIELD(0, TLV_RAW, rec_job, raw),
};
const struct tlv_desc rec_job_desc = TLV_DESC("job", rec_job, job_fields);

static const char *const fire_words[FIRE_COUNT] = {"slot", "waited", "backfill", "asked", "key"};
static const struct tlv_field submitted_fields[] = {
    HEAD(rec_submitted),
    TLV_FIELD(4, TLV_U64, rec_submitted, flow),
    TLV_FIELD(5, TLV_TEXT, rec_submitted, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(6, TLV_TEXT, rec_submitted, key, .max = NAME_MAX_BYTES),
    TLV_FIELD(7, TLV_HASH, rec_submitted, key_hash),
    TLV_FIELD(8, TLV_I64, rec_submitted, key_expires_ms),
    TLV_FIELD(9, TLV_LIST, rec_submitted, labels, .max = 64, .sub = &label_desc),
    TLV_FIELD(10, TLV_BOOL, rec_submitted, more),
    TLV_FIELD(11, TLV_LIST, rec_submitted, profiles, .max = 10000, .sub = &options_desc, .lazy = true),
    TLV_FIELD(12, TLV_LIST, rec_submitted, jobs, .max = COUNT_MAX, .sub = &rec_job_desc),
    TLV_FIELD(60, TLV_TEXT, rec_submitted, schedule, .max = NAME_MAX_BYTES),
    TLV_FIELD(61, TLV_I64, rec_submitted, slot_ms),
    TLV_FIELD(62, TLV_ENUM, rec_submitted, fire, .max = FIRE_COUNT, .names = fire_words),
    TLV_FIELD(63, TLV_BYTES, rec_submitted, constraints, .max = BODY_MAX_BYTES),
    TLV_FIELD(64, TLV_TEXT, rec_submitted, zone, .max = NAME_MAX_BYTES),
    TLV_FIELD(65, TLV_ENUM, rec_submitted, compensate_on, .max = COMPENSATE_COUNT, .names = compensate_on_words),
    SOURCE_FIELDS(rec_submitted),
    TLV_FIELD(80, TLV_I64, rec_submitted, timeout_ms),
    TLV_FIELD(81, TLV_I64, rec_submitted, deadline_ms),
    TLV_FIELD(82, TLV_BOOL, rec_submitted, has_stages),
    CAUSE_FIELDS(rec_submitted),
    HEAD_CALLER(rec_submitted),
    TLV_FIELD(0, TLV_RAW, rec_submitted, raw),
};

static const struct tlv_field added_fields[] = {
    HEAD(rec_added),
    TLV_FIELD(4, TLV_U64, rec_added, flow),
    TLV_FIELD(10, TLV_BOOL, rec_added, more),
    TLV_FIELD(11, TLV_LIST, rec_added, profiles, .max = 10000, .sub = &options_desc, .lazy = true),
    TLV_FIELD(12, TLV_LIST, rec_added, jobs, .max = COUNT_MAX, .sub = &rec_job_desc),
    TLV_FIELD(13, TLV_BYTES, rec_added, constraints, .max = BODY_MAX_BYTES),
    TLV_FIELD(82, TLV_BOOL, rec_added, has_stages),
    HEAD_CALLER(rec_added),
};

static const struct tlv_field cancelled_fields[] = {
    HEAD(rec_cancelled),
    TLV_FIELD(4, TLV_U64, rec_cancelled, flow),
    TLV_FIELD(5, TLV_BOOL, rec_cancelled, whole),
    TLV_FIELD(6, TLV_U32, rec_cancelled, ordinal),
    TLV_FIELD(7, TLV_TEXT, rec_cancelled, reason, .max = TEXT_MAX_BYTES),
    TLV_FIELD(8, TLV_U32, rec_cancelled, confirm_ms),
    HEAD_CALLER(rec_cancelled),
};

static const char *const scope_words[PAUSE_SCOPE_COUNT] = {"flow", "pool", "tenant"};
static const struct tlv_field paused_fields[] = {
    HEAD(rec_paused),
    TLV_FIELD(4, TLV_U64, rec_paused, flow),
    TLV_FIELD(5, TLV_ENUM, rec_paused, scope, .max = PAUSE_SCOPE_COUNT, .names = scope_words),
    TLV_FIELD(6, TLV_TEXT, rec_paused, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(7, TLV_BOOL, rec_paused, on),
    HEAD_CALLER(rec_paused),
};

static const struct tlv_field job_only_fields[] = {
    HEAD(rec_job_only),
    TLV_FIELD(4, TLV_U64, rec_job_only, flow),
    TLV_FIELD(5, TLV_U32, rec_job_only, ordinal),
    HEAD_CALLER(rec_job_only),
};

static const struct tlv_field flow_only_fields[] = {
    HEAD(rec_flow_only),
    TLV_FIELD(4, TLV_U64, rec_flow_only, flow),
    HEAD_CALLER(rec_flow_only),
};

static const struct tlv_field forgotten_fields[] = {
    HEAD(rec_forgotten),
    TLV_FIELD(4, TLV_U64, rec_forgotten, flow),
    TLV_FIELD(5, TLV_U64, rec_forgotten, history_lsn),
    HEAD_CALLER(rec_forgotten),
};

static const struct tlv_field worker_fields[] = {
    HEAD(rec_worker),
    TLV_FIELD(4, TLV_TEXT, rec_worker, worker, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_U64, rec_worker, incarnation),
    TLV_FIELD(6, TLV_MSG, rec_worker, info, .sub = &worker_info_desc),
    HEAD_CALLER(rec_worker),
    TLV_FIELD(0, TLV_RAW, rec_worker, raw),
};

static const struct tlv_field worker_drain_fields[] = {
    HEAD(rec_worker_drain),
    TLV_FIELD(4, TLV_TEXT, rec_worker_drain, worker, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_BOOL, rec_worker_drain, on),
    TLV_FIELD(6, TLV_BOOL, rec_worker_drain, own),
    HEAD_CALLER(rec_worker_drain),
};

static const struct tlv_field worker_gone_fields[] = {
    HEAD(rec_worker_gone),
    TLV_FIELD(4, TLV_TEXT, rec_worker_gone, worker, .max = NAME_MAX_BYTES),
    HEAD_CALLER(rec_worker_gone),
};

static const struct tlv_field assigned_fields[] = {
    HEAD(rec_assigned),
    TLV_FIELD(4, TLV_U64, rec_assigned, flow),
    TLV_FIELD(5, TLV_U32, rec_assigned, ordinal),
    TLV_FIELD(6, TLV_U32, rec_assigned, attempt),
    TLV_FIELD(7, TLV_TEXT, rec_assigned, worker, .max = NAME_MAX_BYTES),
    TLV_FIELD(8, TLV_U64, rec_assigned, incarnation),
    HEAD_CALLER(rec_assigned),
};

static const struct tlv_field attempt_fields[] = {
    HEAD(rec_attempt),
    TLV_FIELD(4, TLV_U64, rec_attempt, flow),
    TLV_FIELD(5, TLV_U32, rec_attempt, ordinal),
    TLV_FIELD(6, TLV_U32, rec_attempt, attempt),
    HEAD_CALLER(rec_attempt),
};

const char *const stop_words[STOP_COUNT] = {"none", "cancel", "deadline", "run_timeout", "dispatch_timeout",
                                                "move"};
static const struct tlv_field stopping_fields[] = {
    HEAD(rec_stopping),
    TLV_FIELD(4, TLV_U64, rec_stopping, flow),
    TLV_FIELD(5, TLV_U32, rec_stopping, ordinal),
    TLV_FIELD(6, TLV_U32, rec_stopping, attempt),
    TLV_FIELD(7, TLV_ENUM, rec_stopping, stop, .max = STOP_COUNT, .names = stop_words),
    TLV_FIELD(8, TLV_U32, rec_stopping, confirm_ms),
    HEAD_CALLER(rec_stopping),
};

static const struct tlv_field artifact_fields[] = {
    TLV_FIELD(1, TLV_TEXT, rec_artifact, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(2, TLV_HASH, rec_artifact, hash),
    TLV_FIELD(3, TLV_U64, rec_artifact, bytes),
};
static const struct tlv_desc artifact_desc = TLV_DESC("artifact", rec_artifact, artifact_fields);
static const struct tlv_field artifacts_fields[] = {
    TLV_FIELD(1, TLV_LIST, rec_artifacts, files, .max = ARTIFACTS_MAX, .sub = &artifact_desc),
    TLV_FIELD(0, TLV_RAW, rec_artifacts, raw),
};
const struct tlv_desc rec_artifacts_desc = TLV_DESC("artifacts", rec_artifacts, artifacts_fields);

const char *const outcome_words[OUTCOME_COUNT] = {"ok", "exit", "lost", "stopped", "refused"};
const char *const hit_words[HIT_COUNT] = {"none", "memory", "pids", "file_size"};
static const struct tlv_field usage_fields[] = {
    TLV_FIELD(1, TLV_U64, rec_usage, cpu_ms),
    TLV_FIELD(2, TLV_U64, rec_usage, memory_bytes_max),
    TLV_FIELD(3, TLV_U64, rec_usage, throttled_ms),
    TLV_FIELD(4, TLV_ENUM, rec_usage, hit, .max = HIT_COUNT, .names = hit_words),
    TLV_FIELD(5, TLV_U32, rec_usage, hit_count),
    TLV_FIELD(6, TLV_TEXT, rec_usage, unkept, .max = UNKEPT_BYTES_MAX),
};
const struct tlv_desc rec_usage_desc = TLV_DESC("usage", rec_usage, usage_fields);

static const struct tlv_field ended_fields[] = {
    HEAD(rec_ended),
    TLV_FIELD(4, TLV_U64, rec_ended, flow),
    TLV_FIELD(5, TLV_U32, rec_ended, ordinal),
    TLV_FIELD(6, TLV_U32, rec_ended, attempt),
    TLV_FIELD(7, TLV_ENUM, rec_ended, outcome, .max = OUTCOME_COUNT, .names = outcome_words),
    TLV_FIELD(8, TLV_U32, rec_ended, exit_code),
    TLV_FIELD(9, TLV_U32, rec_ended, signal),
    TLV_FIELD(10, TLV_BOOL, rec_ended, fatal),
    TLV_FIELD(11, TLV_BYTES, rec_ended, result, .max = 65536),
    TLV_FIELD(12, TLV_HASH, rec_ended, result_hash),
    TLV_FIELD(13, TLV_U64, rec_ended, log_bytes),
    TLV_FIELD(14, TLV_U64, rec_ended, log_cut_bytes),
    TLV_FIELD(15, TLV_TEXT, rec_ended, reason, .max = TEXT_MAX_BYTES),
    TLV_FIELD(100, TLV_MSG, rec_ended, artifacts, .sub = &rec_artifacts_desc),
    TLV_FIELD(110, TLV_MSG, rec_ended, usage, .sub = &rec_usage_desc),
    TLV_FIELD(125, TLV_I64, rec_ended, again_ms),
    TLV_FIELD(126, TLV_U32, rec_ended, retry_after_ms),
    TLV_FIELD(127, TLV_U64, rec_ended, ended_ago_ms),
    HEAD_CALLER(rec_ended),
};

const char *const flow_due_words[FLOW_DUE_COUNT] = {"timeout", "deadline"};
static const struct tlv_field flow_due_fields[] = {
    HEAD(rec_flow_due),
    TLV_FIELD(4, TLV_U64, rec_flow_due, flow),
    TLV_FIELD(5, TLV_ENUM, rec_flow_due, due, .max = FLOW_DUE_COUNT, .names = flow_due_words),
    TLV_FIELD(6, TLV_U32, rec_flow_due, confirm_ms),
};

static const char *const due_words[DUE_COUNT] = {"start", "deadline", "start_within"};
static const struct tlv_field due_fields[] = {
    HEAD(rec_due),
    TLV_FIELD(4, TLV_U64, rec_due, flow),
    TLV_FIELD(5, TLV_U32, rec_due, ordinal),
    TLV_FIELD(6, TLV_ENUM, rec_due, due, .max = DUE_COUNT, .names = due_words),
    HEAD_CALLER(rec_due),
};

static const char *const verdict_words[VERDICT_COUNT] = {"allow", "deny", "constrain", "hold", "again", "quarantine",
                                                         "redact", "fail"};
const char *const gate_words[GATE_COUNT] = {"condition", "render", "policy",  "approval",
                                                   "external",  "output", "service", "expansion"};
static const struct tlv_field verdict_fields[] = {
    HEAD(rec_verdict),
    TLV_FIELD(4, TLV_U64, rec_verdict, flow),
    TLV_FIELD(5, TLV_U32, rec_verdict, ordinal),
    TLV_FIELD(6, TLV_U64, rec_verdict, question),
    TLV_FIELD(7, TLV_U32, rec_verdict, revision),
    TLV_FIELD(8, TLV_ENUM, rec_verdict, gate, .max = GATE_COUNT, .names = gate_words),
    TLV_FIELD(9, TLV_HASH, rec_verdict, hash),
    TLV_FIELD(10, TLV_ENUM, rec_verdict, verdict, .max = VERDICT_COUNT, .names = verdict_words),
    TLV_FIELD(11, TLV_TEXT, rec_verdict, reason, .max = TEXT_MAX_BYTES),
    TLV_FIELD(12, TLV_BYTES, rec_verdict, payload, .max = BODY_MAX_BYTES),
    TLV_FIELD(13, TLV_HASH, rec_verdict, payload_hash),
    TLV_FIELD(14, TLV_I64, rec_verdict, again_ms),
    TLV_FIELD(15, TLV_U64, rec_verdict, policy),
    TLV_FIELD(16, TLV_BOOL, rec_verdict, fatal),
    TLV_FIELD(60, TLV_HASH, rec_verdict, cache_key),
    TLV_FIELD(90, TLV_BYTES, rec_verdict, result, .max = 65536),
    TLV_FIELD(91, TLV_HASH, rec_verdict, result_hash),
    TLV_FIELD(92, TLV_TEXT, rec_verdict, trouble, .max = TEXT_MAX_BYTES),
    HEAD_CALLER(rec_verdict),
};

static const struct tlv_field policy_fields[] = {
    HEAD(rec_policy),
    TLV_FIELD(4, TLV_U64, rec_policy, version),
    HEAD_CALLER(rec_policy),
};

static const struct tlv_field key_expired_fields[] = {
    HEAD(rec_key_expired),
    TLV_FIELD(4, TLV_TEXT, rec_key_expired, key, .max = NAME_MAX_BYTES),
    HEAD_CALLER(rec_key_expired),
};

static const char *const pool_state_words[POOL_STATE_COUNT] = {"active", "draining", "inactive"};
static const struct tlv_field pool_fields[] = {
    HEAD(rec_pool),
    TLV_FIELD(4, TLV_TEXT, rec_pool, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_ENUM, rec_pool, state, .max = POOL_STATE_COUNT, .names = pool_state_words),
    TLV_FIELD(6, TLV_BOOL, rec_pool, refuse_overload),
    TLV_FIELD(7, TLV_LIST, rec_pool, capabilities, .max = 64, .sub = &name_item_desc),
    HEAD_CALLER(rec_pool),
    TLV_FIELD(0, TLV_RAW, rec_pool, raw),
};

static const struct tlv_field topic_fields[] = {
    HEAD(rec_topic),
    TLV_FIELD(4, TLV_TEXT, rec_topic, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_LIST, rec_topic, pools, .max = 64, .sub = &name_item_desc),
    HEAD_CALLER(rec_topic),
    TLV_FIELD(0, TLV_RAW, rec_topic, raw),
};

static const struct tlv_field tenant_fields[] = {
    HEAD(rec_tenant),
    TLV_FIELD(4, TLV_TEXT, rec_tenant, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_U32, rec_tenant, weight),
    HEAD_CALLER(rec_tenant),
};

const char *const item_kind_words[ITEM_KIND_COUNT] = {"text", "number", "set"};
static const struct tlv_field store_entry_fields[] = {
    TLV_FIELD(1, TLV_BYTES, rec_store_entry, key, .max = STORE_KEY_BYTES_MAX),
    TLV_FIELD(2, TLV_ENUM, rec_store_entry, kind, .max = ITEM_KIND_COUNT, .names = item_kind_words),
    TLV_FIELD(3, TLV_BYTES, rec_store_entry, value, .max = STORE_VALUE_BYTES_MAX),
    TLV_FIELD(4, TLV_I64, rec_store_entry, number),
    TLV_FIELD(5, TLV_I64, rec_store_entry, expires_ms),
};
static const struct tlv_desc store_entry_desc = TLV_DESC("store_entry", rec_store_entry, store_entry_fields);

static const struct tlv_field store_item_fields[] = {
    TLV_FIELD(1, TLV_BYTES, rec_store_item, text, .max = STORE_KEY_BYTES_MAX),
};
const struct tlv_desc rec_store_item_desc = TLV_DESC("store_item", rec_store_item, store_item_fields);

static const struct tlv_field store_set_fields[] = {
    HEAD(rec_store_set),
    TLV_FIELD(4, TLV_U64, rec_store_set, flow),
    TLV_FIELD(5, TLV_LIST, rec_store_set, entries, .max = STEP_JOBS_MAX, .sub = &store_entry_desc),
    TLV_FIELD(90, TLV_U64, rec_store_set, by),
    HEAD_CALLER(rec_store_set),
};

static const struct tlv_field store_keys_fields[] = {
    HEAD(rec_store_keys),
    TLV_FIELD(4, TLV_U64, rec_store_keys, flow),
    TLV_FIELD(5, TLV_LIST, rec_store_keys, keys, .max = STEP_JOBS_MAX, .sub = &rec_store_item_desc),
    TLV_FIELD(90, TLV_U64, rec_store_keys, by),
    HEAD_CALLER(rec_store_keys),
};

static const struct tlv_field store_members_fields[] = {
    HEAD(rec_store_members),
    TLV_FIELD(4, TLV_U64, rec_store_members, flow),
    TLV_FIELD(5, TLV_BYTES, rec_store_members, key, .max = STORE_KEY_BYTES_MAX),
    TLV_FIELD(6, TLV_LIST, rec_store_members, added, .max = STEP_JOBS_MAX, .sub = &rec_store_item_desc),
    TLV_FIELD(7, TLV_LIST, rec_store_members, removed, .max = STEP_JOBS_MAX, .sub = &rec_store_item_desc),
    TLV_FIELD(90, TLV_U64, rec_store_members, by),
    HEAD_CALLER(rec_store_members),
};

static const struct tlv_field store_expiry_fields[] = {
    HEAD(rec_store_expiry),
    TLV_FIELD(4, TLV_U64, rec_store_expiry, flow),
    TLV_FIELD(5, TLV_BYTES, rec_store_expiry, key, .max = STORE_KEY_BYTES_MAX),
    TLV_FIELD(6, TLV_I64, rec_store_expiry, expires_ms),
    HEAD_CALLER(rec_store_expiry),
};

const char *const limit_kind_words[LIMIT_KIND_COUNT] = {"key", "rate", "tenant"};
static const struct tlv_field limit_fields[] = {
    HEAD(rec_limit),
    TLV_FIELD(4, TLV_ENUM, rec_limit, kind, .max = LIMIT_KIND_COUNT, .names = limit_kind_words),
    TLV_FIELD(5, TLV_TEXT, rec_limit, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(6, TLV_BOOL, rec_limit, clear),
    TLV_FIELD(7, TLV_U32, rec_limit, width),
    TLV_FIELD(8, TLV_U64, rec_limit, rate_milli),
    TLV_FIELD(9, TLV_U64, rec_limit, burst),
    TLV_FIELD(10, TLV_U32, rec_limit, running),
    TLV_FIELD(11, TLV_U64, rec_limit, queued),
    TLV_FIELD(12, TLV_U64, rec_limit, bytes),
    HEAD_CALLER(rec_limit),
};

static const char *const catch_up_words[CATCH_UP_COUNT] = {"all", "last", "none"};
static const char *const overlap_words[OVERLAP_COUNT] = {"skip", "queue", "replace"};
static const struct tlv_field schedule_fields[] = {
    HEAD(rec_schedule),
    TLV_FIELD(4, TLV_TEXT, rec_schedule, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_TEXT, rec_schedule, expression, .max = TEXT_MAX_BYTES),
    TLV_FIELD(6, TLV_ENUM, rec_schedule, catch_up, .max = CATCH_UP_COUNT, .names = catch_up_words),
    TLV_FIELD(7, TLV_ENUM, rec_schedule, overlap, .max = OVERLAP_COUNT, .names = overlap_words),
    TLV_FIELD(8, TLV_BOOL, rec_schedule, paused),
    TLV_FIELD(9, TLV_I64, rec_schedule, start_ms),
    TLV_FIELD(10, TLV_I64, rec_schedule, end_ms),
    TLV_FIELD(11, TLV_I64, rec_schedule, after_ms),
    TLV_FIELD(12, TLV_TEXT, rec_schedule, flow_name, .max = NAME_MAX_BYTES),
    TLV_FIELD(13, TLV_LIST, rec_schedule, labels, .max = 64, .sub = &label_desc),
    TLV_FIELD(14, TLV_LIST, rec_schedule, profiles, .max = 10000, .sub = &options_desc),
    TLV_FIELD(15, TLV_LIST, rec_schedule, jobs, .max = COUNT_MAX, .sub = &rec_job_desc),
    TLV_FIELD(16, TLV_TEXT, rec_schedule, zone, .max = NAME_MAX_BYTES),
    TLV_FIELD(17, TLV_ENUM, rec_schedule, compensate_on, .max = COMPENSATE_COUNT, .names = compensate_on_words),
    SOURCE_FIELDS(rec_schedule),
    TLV_FIELD(80, TLV_I64, rec_schedule, timeout_ms),
    TLV_FIELD(81, TLV_I64, rec_schedule, late_after_ms),
    TLV_FIELD(82, TLV_BOOL, rec_schedule, has_stages),
    TLV_FIELD(90, TLV_TEXT, rec_schedule, calendar, .max = BODY_MAX_BYTES),
    TLV_FIELD(91, TLV_U8, rec_schedule, when),
    TLV_FIELD(92, TLV_BYTES, rec_schedule, key, .max = STORE_KEY_BYTES_MAX),
    TLV_FIELD(93, TLV_BOOL, rec_schedule, key_prefix),
    TLV_FIELD(94, TLV_BOOL, rec_schedule, own_changes),
    TLV_FIELD(95, TLV_I64, rec_schedule, min_interval_ms),
    HEAD_CALLER(rec_schedule),
    TLV_FIELD(0, TLV_RAW, rec_schedule, raw),
};

static const struct tlv_field schedule_name_fields[] = {
    HEAD(rec_schedule_name),
    TLV_FIELD(4, TLV_TEXT, rec_schedule_name, name, .max = NAME_MAX_BYTES),
    HEAD_CALLER(rec_schedule_name),
};

static const struct tlv_field schedule_paused_fields[] = {
    HEAD(rec_schedule_paused),
    TLV_FIELD(4, TLV_TEXT, rec_schedule_paused, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_BOOL, rec_schedule_paused, on),
    TLV_FIELD(6, TLV_I64, rec_schedule_paused, after_ms),
    HEAD_CALLER(rec_schedule_paused),
};

const char *key_how_word(unsigned how) {
    return how & KEY_DELETED ? "deleted" : how & KEY_CHANGED ? "changed" : how & KEY_SET ? "set" : "";
}

const char *const slot_end_words[SLOT_END_COUNT] = {"fired", "missed", "overlap", "full", "queued", "replaces",
                                                    "paused", "excluded"};
static const struct tlv_field schedule_slot_fields[] = {
    HEAD(rec_schedule_slot),
    TLV_FIELD(4, TLV_TEXT, rec_schedule_slot, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_ENUM, rec_schedule_slot, what, .max = SLOT_END_COUNT, .names = slot_end_words),
    TLV_FIELD(6, TLV_I64, rec_schedule_slot, first_ms),
    TLV_FIELD(7, TLV_I64, rec_schedule_slot, slot_ms),
    TLV_FIELD(8, TLV_U64, rec_schedule_slot, count),
    HEAD_CALLER(rec_schedule_slot),
};

static const struct tlv_field slot_fields[] = {
    TLV_FIELD(1, TLV_I64, rec_slot, slot_ms),
};
static const struct tlv_desc slot_desc = TLV_DESC("slot", rec_slot, slot_fields);
static const struct tlv_field schedule_backfill_fields[] = {
    HEAD(rec_schedule_backfill),
    TLV_FIELD(4, TLV_TEXT, rec_schedule_backfill, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_LIST, rec_schedule_backfill, slots, .max = 10000, .sub = &slot_desc),
    HEAD_CALLER(rec_schedule_backfill),
};

static const struct tlv_field memo_kept_fields[] = {
    HEAD(rec_memo_kept),
    TLV_FIELD(4, TLV_U64, rec_memo_kept, flow),
    TLV_FIELD(5, TLV_U32, rec_memo_kept, ordinal),
    TLV_FIELD(6, TLV_I64, rec_memo_kept, expires_ms),
    HEAD_CALLER(rec_memo_kept),
};
static const struct tlv_field memo_hit_fields[] = {
    HEAD(rec_memo_hit),
    TLV_FIELD(4, TLV_U64, rec_memo_hit, flow),
    TLV_FIELD(5, TLV_U32, rec_memo_hit, ordinal),
    TLV_FIELD(6, TLV_U64, rec_memo_hit, from_flow),
    TLV_FIELD(7, TLV_U32, rec_memo_hit, from_ordinal),
    HEAD_CALLER(rec_memo_hit),
};
static const struct tlv_field memo_dropped_fields[] = {
    HEAD(rec_memo_dropped),
    TLV_FIELD(4, TLV_HASH, rec_memo_dropped, key),
    HEAD_CALLER(rec_memo_dropped),
};

const char *const service_desired_words[SERVICE_DESIRED_COUNT] = {"running", "stopped", "removed"};
static const struct tlv_field service_fields[] = {
    HEAD(rec_service),
    TLV_FIELD(4, TLV_TEXT, rec_service, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_ENUM, rec_service, desired, .max = SERVICE_DESIRED_COUNT, .names = service_desired_words),
    HEAD_CALLER(rec_service),
};

static const struct tlv_field scaled_fields[] = {
    HEAD(rec_scaled),
    TLV_FIELD(4, TLV_TEXT, rec_scaled, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_U32, rec_scaled, replicas),
    TLV_FIELD(6, TLV_U32, rec_scaled, from),
};

static const struct tlv_field health_fields[] = {
    HEAD(rec_health),
    TLV_FIELD(4, TLV_U64, rec_health, flow),
    TLV_FIELD(5, TLV_U32, rec_health, ordinal),
    TLV_FIELD(6, TLV_U32, rec_health, attempt),
    TLV_FIELD(7, TLV_BOOL, rec_health, healthy),
    TLV_FIELD(8, TLV_U32, rec_health, port),
    TLV_FIELD(9, TLV_TEXT, rec_health, note, .max = TEXT_MAX_BYTES),
    HEAD_CALLER(rec_health),
};

static const struct tlv_field expanded_fields[] = {
    HEAD(rec_expanded),
    TLV_FIELD(4, TLV_U64, rec_expanded, flow),
    TLV_FIELD(5, TLV_U32, rec_expanded, ordinal),
    TLV_FIELD(6, TLV_U64, rec_expanded, question),
    TLV_FIELD(7, TLV_U32, rec_expanded, revision),
    TLV_FIELD(8, TLV_HASH, rec_expanded, hash),
    TLV_FIELD(9, TLV_HASH, rec_expanded, items),
    TLV_FIELD(10, TLV_U32, rec_expanded, count),
    HEAD_CALLER(rec_expanded),
};

static const char *const secret_kind_words[SECRET_KIND_COUNT] = {"data_key", "hmac"};
static const struct tlv_field secret_fields[] = {
    TLV_FIELD(1, TLV_U64, rec_secret, number),
    TLV_FIELD(2, TLV_ENUM, rec_secret, kind, .max = SECRET_KIND_COUNT, .names = secret_kind_words),
    TLV_FIELD(3, TLV_BYTES, rec_secret, sealed, .max = SECRET_BYTES_MAX, .form = TLV_FORM_SECRET),
};
const struct tlv_desc rec_secret_desc = TLV_DESC("secret", rec_secret, secret_fields);

static const struct tlv_field token_info_fields[] = {
    TLV_FIELD(1, TLV_TEXT, rec_token_info, id, .max = TOKEN_ID_BYTES - 1),
    TLV_FIELD(2, TLV_HASH, rec_token_info, hash, .form = TLV_FORM_SECRET),
    TLV_FIELD(3, TLV_TEXT, rec_token_info, name, .max = NAME_MAX_BYTES),
    TLV_FIELD(4, TLV_TEXT, rec_token_info, tenant, .max = NAME_MAX_BYTES),
    TLV_FIELD(5, TLV_U32, rec_token_info, roles),
    TLV_FIELD(6, TLV_ENUM, rec_token_info, kind, .max = KIND_COUNT, .names = principal_kind_words),
    TLV_FIELD(7, TLV_I64, rec_token_info, created_ms),
    TLV_FIELD(8, TLV_I64, rec_token_info, expires_ms),
    TLV_FIELD(0, TLV_RAW, rec_token_info, raw),
};
const struct tlv_desc rec_token_info_desc = TLV_DESC("token_info", rec_token_info, token_info_fields);

static const struct tlv_field session_fields[] = {
    TLV_FIELD(1, TLV_TEXT, rec_session, who, .max = DIRECTORY_WHO_BYTES - 1),
    TLV_FIELD(2, TLV_U64, rec_session, number),
    TLV_FIELD(3, TLV_I64, rec_session, expires_ms),
};
static const struct tlv_desc session_desc = TLV_DESC("session", rec_session, session_fields);

static const struct tlv_field directory_fields[] = {
    HEAD(rec_directory),
    TLV_FIELD(4, TLV_U64, rec_directory, log),
    TLV_FIELD(5, TLV_LIST, rec_directory, secrets, .max = 64, .sub = &rec_secret_desc),
    TLV_FIELD(6, TLV_LIST, rec_directory, tokens, .max = COUNT_MAX, .sub = &rec_token_info_desc),
    TLV_FIELD(7, TLV_LIST, rec_directory, ended, .max = COUNT_MAX, .sub = &session_desc),
    HEAD_CALLER(rec_directory),
};
static const struct tlv_field token_fields[] = {
    HEAD(rec_token),
    TLV_FIELD(4, TLV_MSG, rec_token, token, .sub = &rec_token_info_desc),
    HEAD_CALLER(rec_token),
};
static const struct tlv_field token_ended_fields[] = {
    HEAD(rec_token_ended),
    TLV_FIELD(4, TLV_TEXT, rec_token_ended, id, .max = TOKEN_ID_BYTES - 1),
    HEAD_CALLER(rec_token_ended),
};
static const struct tlv_field session_ended_fields[] = {
    HEAD(rec_session_ended),
    TLV_FIELD(4, TLV_MSG, rec_session_ended, session, .sub = &session_desc),
    HEAD_CALLER(rec_session_ended),
};
static const struct tlv_field ticket_fields[] = {
    HEAD(rec_ticket),
    TLV_FIELD(4, TLV_HASH, rec_ticket, hash, .form = TLV_FORM_SECRET),
    TLV_FIELD(5, TLV_TEXT, rec_ticket, who, .max = DIRECTORY_WHO_BYTES - 1),
    TLV_FIELD(6, TLV_I64, rec_ticket, expires_ms),
    TLV_FIELD(7, TLV_HASH, rec_ticket, instead, .form = TLV_FORM_SECRET),
    HEAD_CALLER(rec_ticket),
};
static const struct tlv_field ticket_spent_fields[] = {
    HEAD(rec_ticket_spent),
    TLV_FIELD(4, TLV_HASH, rec_ticket_spent, hash, .form = TLV_FORM_SECRET),
    HEAD_CALLER(rec_ticket_spent),
};
static const struct tlv_field secrets_fields[] = {
    HEAD(rec_secrets),
    TLV_FIELD(4, TLV_LIST, rec_secrets, secrets, .max = 64, .sub = &rec_secret_desc),
    HEAD_CALLER(rec_secrets),
};

static const struct tlv_field checkpoint_fields[] = {
    HEAD(rec_checkpoint),
    TLV_FIELD(4, TLV_U64, rec_checkpoint, number),
    TLV_FIELD(5, TLV_U64, rec_checkpoint, from_lsn),
    TLV_FIELD(6, TLV_U64, rec_checkpoint, upto_lsn),
    TLV_FIELD(7, TLV_HASH, rec_checkpoint, chain),
    TLV_FIELD(8, TLV_HASH, rec_checkpoint, key),
    TLV_FIELD(9, TLV_BYTES, rec_checkpoint, signature, .max = CHECKPOINT_SIGNATURE_BYTES),
};

#define DESC(type, fields) TLV_DESC(#type, type, fields)
static const struct tlv_desc rec_opened_desc = DESC(rec_opened, opened_fields);
static const struct tlv_desc rec_clock_desc = DESC(rec_clock, clock_fields);
static const struct tlv_desc rec_submitted_desc = DESC(rec_submitted, submitted_fields);
static const struct tlv_desc rec_added_desc = DESC(rec_added, added_fields);
static const struct tlv_desc rec_cancelled_desc = DESC(rec_cancelled, cancelled_fields);
static const struct tlv_desc rec_paused_desc = DESC(rec_paused, paused_fields);
static const struct tlv_desc rec_job_only_desc = DESC(rec_job_only, job_only_fields);
static const struct tlv_desc rec_forgotten_desc = DESC(rec_forgotten, forgotten_fields);
static const struct tlv_desc rec_flow_only_desc = DESC(rec_flow_only, flow_only_fields);
static const struct tlv_desc rec_flow_due_desc = DESC(rec_flow_due, flow_due_fields);
static const struct tlv_desc rec_worker_desc = DESC(rec_worker, worker_fields);
static const struct tlv_desc rec_worker_drain_desc = DESC(rec_worker_drain, worker_drain_fields);
static const struct tlv_desc rec_worker_gone_desc = DESC(rec_worker_gone, worker_gone_fields);
static const struct tlv_desc rec_assigned_desc = DESC(rec_assigned, assigned_fields);
static const struct tlv_desc rec_attempt_desc = DESC(rec_attempt, attempt_fields);
static const struct tlv_desc rec_stopping_desc = DESC(rec_stopping, stopping_fields);
static const struct tlv_desc rec_ended_desc = DESC(rec_ended, ended_fields);
static const struct tlv_desc rec_due_desc = DESC(rec_due, due_fields);
static const struct tlv_desc rec_verdict_desc = DESC(rec_verdict, verdict_fields);
static const struct tlv_desc rec_key_expired_desc = DESC(rec_key_expired, key_expired_fields);
static const struct tlv_desc rec_pool_desc = DESC(rec_pool, pool_fields);
static const struct tlv_desc rec_topic_desc = DESC(rec_topic, topic_fields);
static const struct tlv_desc rec_tenant_desc = DESC(rec_tenant, tenant_fields);
static const struct tlv_desc rec_store_set_desc = DESC(rec_store_set, store_set_fields);
static const struct tlv_desc rec_store_keys_desc = DESC(rec_store_keys, store_keys_fields);
static const struct tlv_desc rec_store_members_desc = DESC(rec_store_members, store_members_fields);
static const struct tlv_desc rec_store_expiry_desc = DESC(rec_store_expiry, store_expiry_fields);
static const struct tlv_desc rec_limit_desc = DESC(rec_limit, limit_fields);
static const struct tlv_desc rec_schedule_desc = DESC(rec_schedule, schedule_fields);
static const struct tlv_desc rec_schedule_name_desc = DESC(rec_schedule_name, schedule_name_fields);
static const struct tlv_desc rec_schedule_paused_desc = DESC(rec_schedule_paused, schedule_paused_fields);
static const struct tlv_desc rec_schedule_slot_desc = DESC(rec_schedule_slot, schedule_slot_fields);
static const struct tlv_desc rec_schedule_backfill_desc = DESC(rec_schedule_backfill, schedule_backfill_fields);
static const struct tlv_desc rec_memo_kept_desc = DESC(rec_memo_kept, memo_kept_fields);
static const struct tlv_desc rec_memo_hit_desc = DESC(rec_memo_hit, memo_hit_fields);
static const struct tlv_desc rec_memo_dropped_desc = DESC(rec_memo_dropped, memo_dropped_fields);
static const struct tlv_desc rec_policy_desc = DESC(rec_policy, policy_fields);
static const struct tlv_desc rec_service_desc = DESC(rec_service, service_fields);
static const struct tlv_desc rec_scaled_desc = DESC(rec_scaled, scaled_fields);
static const struct tlv_desc rec_health_desc = DESC(rec_health, health_fields);
static const struct tlv_desc rec_expanded_desc = DESC(rec_expanded, expanded_fields);
static const struct tlv_desc rec_checkpoint_desc = DESC(rec_checkpoint, checkpoint_fields);
static const struct tlv_desc rec_directory_desc = DESC(rec_directory, directory_fields);
static const struct tlv_desc rec_token_desc = DESC(rec_token, token_fields);
static const struct tlv_desc rec_token_ended_desc = DESC(rec_token_ended, token_ended_fields);
static const struct tlv_desc rec_session_ended_desc = DESC(rec_session_ended, session_ended_fields);
static const struct tlv_desc rec_ticket_desc = DESC(rec_ticket, ticket_fields);
static const struct tlv_desc rec_ticket_spent_desc = DESC(rec_ticket_spent, ticket_spent_fields);
static const struct tlv_desc rec_secrets_desc = DESC(rec_secrets, secrets_fields);
/* clang-format on */

static const struct tlv_desc *const desc_by_kind[REC_KIND_END] = {
#define X(kind, number, type, word, text) [kind] = &type##_desc,
    RECORD_TABLE(X)
#undef X
};

static const char *const word_by_kind[REC_KIND_END] = {
#define X(kind, number, type, word, text) [kind] = word,
    RECORD_TABLE(X)
#undef X
};

const struct tlv_desc *record_desc(enum record_kind kind) {
    return (unsigned)kind < REC_KIND_END ? desc_by_kind[kind] : NULL;
}

const char *record_word(enum record_kind kind) {
    return (unsigned)kind < REC_KIND_END && word_by_kind[kind] ? word_by_kind[kind] : "unknown";
}

/* The length stands before the message but is known after it: room for a one-byte length is left first, and the
 * message is moved up when it needs more. Most records are short, the long ones are memmove'd once. */
void record_encode(const struct record *r, struct buf *out) {
    const struct tlv_desc *desc = record_desc(r->kind);
    REQUIRE(desc != NULL);
    buf_put_varint(out, (uint64_t)r->kind);
    buf_put_varint(out, r->version);
    size_t length_at = out->len;
    buf_put_u8(out, 0);
    size_t message_at = out->len;
    tlv_encode(desc, &r->body, out);
    if (out->full) return;
    uint8_t length[10];
    size_t length_bytes = 0;
    uint64_t rest = out->len - message_at;
    size_t message_bytes = out->len - message_at;
    do {
        uint8_t low = (uint8_t)(rest & 0x7f);
        rest >>= 7;
        length[length_bytes++] = (uint8_t)(low | (rest ? 0x80u : 0u));
    } while (rest);
    ENSURE(length_bytes <= sizeof length);
    if (length_bytes > 1) {
        if (buf_space(out, length_bytes - 1) == NULL) return;
        memmove(out->at + length_at + length_bytes, out->at + message_at, message_bytes);
    }
    memcpy(out->at + length_at, length, length_bytes);
}

static enum err decode(struct cursor *c, struct arena *arena, enum tlv_mode mode, struct record *ret, struct why *why) {
    uint64_t kind = cursor_varint(c);
    uint64_t version = cursor_varint(c);
    struct slice message = cursor_str(c);
    if (c->bad) return why_set(why, ERR_CORRUPT, "a record is cut short");
    if (kind >= REC_KIND_END || desc_by_kind[kind] == NULL)
        return why_set(why, ERR_UNSUPPORTED, "record kind %llu is not known", (unsigned long long)kind);
    if (version != RECORD_VERSION)
        return why_set(why, ERR_UNSUPPORTED, "record %s of version %llu is not known", word_by_kind[kind],
                       (unsigned long long)version);
    ret->kind = (enum record_kind)kind;
    ret->version = (uint32_t)version;
    enum err e = tlv_decode(desc_by_kind[kind], message, mode, arena, &ret->body, why);
    return e == ERR_OK ? ERR_OK : why_wrap(why, e, "record %s", word_by_kind[kind]);
}

enum err record_decode(struct cursor *c, struct arena *arena, struct record *ret, struct why *why) {
    return decode(c, arena, TLV_STRICT, ret, why);
}

enum err record_outline(struct cursor *c, struct arena *arena, struct record *ret, struct why *why) {
    return decode(c, arena, TLV_LAZY, ret, why);
}

bool record_pass(struct cursor *c, enum record_kind *ret_kind, struct slice *ret_message) {
    uint64_t kind = cursor_varint(c);
    (void)cursor_varint(c); /* version */
    *ret_message = cursor_str(c);
    *ret_kind = (enum record_kind)kind;
    return !c->bad;
}

void record_json(const struct record *r, struct json *out) {
    REQUIRE(record_desc(r->kind) != NULL);
    json_key(out, "kind");
    json_str(out, record_word(r->kind));
    tlv_json(record_desc(r->kind), &r->body, out);
}

/* Whoever reads them later takes for granted that they can be read. */
bool rec_artifacts_fit(struct slice bytes) {
    struct rec_artifacts list;
    struct why why;
    struct arena arena;
    if (bytes.len == 0) return true;
    arena_init(&arena, 4096, (size_t)1 << 20);
    enum err e = tlv_decode(&rec_artifacts_desc, bytes, TLV_STRICT, &arena, &list, &why);
    arena_fini(&arena);
    return e == ERR_OK;
}
