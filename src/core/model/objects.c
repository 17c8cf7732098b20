/* objects.c: the tables behind objects.h. */
#include "objects.h"

#include "job.h"
#include "options.h"
#include "record.h"
#include "rules.h"
#include "state.h"
#include "tally.h"

#define TEXT_MAX 255
#define MESSAGE_MAX (1u << 24)

/* clang-format off */
static const struct tlv_field header_fields[] = {
    TLV_FIELD(1, TLV_U32, snap_header, shard),
    TLV_FIELD(2, TLV_U64, snap_header, epoch),
    TLV_FIELD(3, TLV_U64, snap_header, lsn),
    TLV_FIELD(4, TLV_I64, snap_header, now_ms),
    TLV_FIELD(5, TLV_U64, snap_header, flow_last),
    TLV_FIELD(6, TLV_U64, snap_header, question_last),
    TLV_FIELD(7, TLV_U32, snap_header, worker_last),
    TLV_FIELD(90, TLV_U64, snap_header, policy),
    TLV_FIELD(91, TLV_U64, snap_header, history_lsn),
};
static const struct tlv_field tenant_fields[] = {
    TLV_FIELD(1, TLV_TEXT, snap_tenant, name, .max = TEXT_MAX),
    TLV_FIELD(2, TLV_U32, snap_tenant, weight),
    TLV_FIELD(3, TLV_BOOL, snap_tenant, paused),
};
static const struct tlv_field pool_fields[] = {
    TLV_FIELD(1, TLV_TEXT, snap_pool, name, .max = TEXT_MAX),
    TLV_FIELD(2, TLV_BYTES, snap_pool, record, .max = MESSAGE_MAX),
    TLV_FIELD(3, TLV_BOOL, snap_pool, paused),
};
static const struct tlv_field topic_fields[] = {
    TLV_FIELD(1, TLV_BYTES, snap_topic, record, .max = MESSAGE_MAX),
};
static const struct tlv_field worker_fields[] = {
    TLV_FIELD(1, TLV_U32, snap_worker, number),
    TLV_FIELD(2, TLV_BYTES, snap_worker, record, .max = MESSAGE_MAX),
    TLV_FIELD(3, TLV_BOOL, snap_worker, draining),
    TLV_FIELD(4, TLV_BOOL, snap_worker, drains_itself),
};
static const struct tlv_field foreign_fields[] = {
    TLV_FIELD(1, TLV_U32, snap_foreign, parent),
    TLV_FIELD(2, TLV_U64, snap_foreign, child_flow),
    TLV_FIELD(3, TLV_U32, snap_foreign, child_ordinal),
};
static const struct tlv_desc foreign_desc = TLV_DESC("foreign", snap_foreign, foreign_fields);
static const struct tlv_field seen_fields[] = {
    TLV_FIELD(1, TLV_U32, snap_seen, child),
    TLV_FIELD(2, TLV_U64, snap_seen, parent_flow),
    TLV_FIELD(3, TLV_U32, snap_seen, parent_ordinal),
    TLV_FIELD(4, TLV_ENUM, snap_seen, state, .max = JOB_STATE_COUNT, .names = job_state_words),
};
static const struct tlv_desc seen_desc = TLV_DESC("seen", snap_seen, seen_fields);
static const struct tlv_field flow_fields[] = {
    TLV_FIELD(1, TLV_U64, snap_flow, id),
    TLV_FIELD(2, TLV_TEXT, snap_flow, tenant, .max = TEXT_MAX),
    TLV_FIELD(3, TLV_U32, snap_flow, rules),
    TLV_FIELD(4, TLV_U8, snap_flow, state),
    TLV_FIELD(5, TLV_BOOL, snap_flow, paused),
    TLV_FIELD(6, TLV_BOOL, snap_flow, more),
    TLV_FIELD(7, TLV_BOOL, snap_flow, cancelling),
    TLV_FIELD(8, TLV_U8, snap_flow, sweep),
    TLV_FIELD(9, TLV_U32, snap_flow, sweep_next),
    TLV_FIELD(10, TLV_U32, snap_flow, sweep_root),
    TLV_FIELD(11, TLV_U32, snap_flow, sweep_confirm_ms),
    TLV_FIELD(12, TLV_U32S, snap_flow, work),
    TLV_FIELD(13, TLV_U32, snap_flow, work_edge),
    TLV_FIELD(14, TLV_I64, snap_flow, created_ms),
    TLV_FIELD(15, TLV_I64, snap_flow, finished_ms),
    TLV_FIELD(16, TLV_BYTES, snap_flow, head, .max = MESSAGE_MAX),
    TLV_FIELD(17, TLV_LIST, snap_flow, foreign, .sub = &foreign_desc),
    TLV_FIELD(18, TLV_LIST, snap_flow, seen, .sub = &seen_desc),
    TLV_FIELD(19, TLV_U32, snap_flow, job_count),
    TLV_FIELD(20, TLV_ENUM, snap_flow, unwinding, .max = UNWIND_COUNT, .names = unwinding_words),
    TLV_FIELD(21, TLV_U32S, snap_flow, entered),
    TLV_FIELD(22, TLV_ENUM, snap_flow, compensate_on, .max = COMPENSATE_COUNT, .names = compensate_on_words),
    TLV_FIELD(80, TLV_BOOL, snap_flow, has_finale),
    TLV_FIELD(81, TLV_I64, snap_flow, timeout_ms),
    TLV_FIELD(82, TLV_I64, snap_flow, began_ms),
    TLV_FIELD(83, TLV_I64, snap_flow, deadline_ms),
    TLV_FIELD(84, TLV_ENUM, snap_flow, stage, .max = FLOW_STAGE_COUNT, .names = flow_stage_words),
    TLV_FIELD(85, TLV_ENUM, snap_flow, called, .max = FLOW_STAGE_FINALLY, .names = flow_stage_words),
    TLV_FIELD(86, TLV_U8, snap_flow, cancelled),
    TLV_FIELD(87, TLV_BOOL, snap_flow, timed_out),
    TLV_FIELD(88, TLV_BOOL, snap_flow, late),
    TLV_FIELD(89, TLV_BOOL, snap_flow, is_again),
};
static const struct tlv_field profile_fields[] = {
    TLV_FIELD(1, TLV_BYTES, snap_profile, options, .max = MESSAGE_MAX),
};
static const struct tlv_desc profile_desc = TLV_DESC("profile", snap_profile, profile_fields);
static const struct tlv_field attempt_fields[] = {
    TLV_FIELD(1, TLV_U32, snap_attempt, attempt),
    TLV_FIELD(2, TLV_U32, snap_attempt, worker),
    TLV_FIELD(3, TLV_TEXT, snap_attempt, worker_id, .max = TEXT_MAX),
    TLV_FIELD(4, TLV_ENUM, snap_attempt, outcome, .max = OUTCOME_COUNT, .names = outcome_words),
    TLV_FIELD(5, TLV_ENUM, snap_attempt, stop, .max = STOP_COUNT, .names = stop_words),
    TLV_FIELD(6, TLV_U32, snap_attempt, exit_code),
    TLV_FIELD(7, TLV_U32, snap_attempt, signal),
    TLV_FIELD(8, TLV_I64, snap_attempt, assigned_ms),
    TLV_FIELD(9, TLV_I64, snap_attempt, started_ms),
    TLV_FIELD(10, TLV_I64, snap_attempt, ended_ms),
    TLV_FIELD(11, TLV_U64, snap_attempt, log_bytes),
    TLV_FIELD(12, TLV_U64, snap_attempt, log_cut_bytes),
    TLV_FIELD(13, TLV_TEXT, snap_attempt, reason, .max = 4096),
    TLV_FIELD(24, TLV_MSG, snap_attempt, usage, .sub = &rec_usage_desc),
};
const struct tlv_desc snap_attempt_desc = TLV_DESC("attempt", snap_attempt, attempt_fields);
static const char *const word_words[] = {"none", "done", "failed"};
static const struct tlv_field outside_fields[] = {
    TLV_FIELD(1, TLV_U32, snap_outside, begun),
    TLV_FIELD(2, TLV_U32, snap_outside, polls),
    TLV_FIELD(3, TLV_I64, snap_outside, until_ms),
    TLV_FIELD(4, TLV_ENUM, snap_outside, word, .max = WORD_COUNT, .names = word_words),
    TLV_FIELD(5, TLV_BYTES, snap_outside, result, .max = MESSAGE_MAX),
    TLV_FIELD(6, TLV_HASH, snap_outside, result_hash),
    TLV_FIELD(7, TLV_TEXT, snap_outside, reason, .max = 4096),
};
static const struct tlv_desc external_desc = TLV_DESC("outside", snap_outside, outside_fields);
static const struct tlv_field job_fields[] = {
    TLV_FIELD(1, TLV_BYTES, snap_job, text, .max = MESSAGE_MAX),
    TLV_FIELD(2, TLV_U32, snap_job, profile),
    TLV_FIELD(3, TLV_ENUM, snap_job, state, .max = JOB_STATE_COUNT, .names = job_state_words),
    TLV_FIELD(4, TLV_ENUM, snap_job, cause, .max = JOB_CAUSE_COUNT, .names = job_cause_words),
    TLV_FIELD(5, TLV_U8, snap_job, flags),
    TLV_FIELD(6, TLV_U8, snap_job, gates),
    TLV_FIELD(7, TLV_U32, snap_job, attempt),
    TLV_FIELD(8, TLV_U32, snap_job, done_attempt),
    TLV_FIELD(9, TLV_U32, snap_job, used),
    TLV_FIELD(10, TLV_U32, snap_job, worker),
    TLV_FIELD(11, TLV_U32, snap_job, root),
    TLV_FIELD(12, TLV_I64, snap_job, since_ms),
    TLV_FIELD(13, TLV_I64, snap_job, due_ms),
    TLV_FIELD(14, TLV_U32, snap_job, parents_open),
    TLV_FIELD(15, TLV_BYTES, snap_job, result, .max = MESSAGE_MAX),
    TLV_FIELD(16, TLV_HASH, snap_job, result_hash),
    TLV_FIELD(17, TLV_BYTES, snap_job, constraints, .max = MESSAGE_MAX),
    TLV_FIELD(18, TLV_BYTES, snap_job, body, .max = MESSAGE_MAX),
    TLV_FIELD(19, TLV_HASH, snap_job, body_hash),
    TLV_FIELD(20, TLV_U32, snap_job, undo_profile),
    TLV_FIELD(60, TLV_HASH, snap_job, cache_key),
    TLV_FIELD(61, TLV_U64, snap_job, from_flow),
    TLV_FIELD(62, TLV_U32, snap_job, from_ordinal),
    TLV_FIELD(70, TLV_U32, snap_job, child_profile),
    TLV_FIELD(80, TLV_U32, snap_job, runner_profile),
    TLV_FIELD(90, TLV_U64, snap_job, policy),
    TLV_FIELD(100, TLV_BYTES, snap_job, artifacts, .max = MESSAGE_MAX),
    TLV_FIELD(110, TLV_LIST, snap_job, attempts, .max = 64, .sub = &snap_attempt_desc),
    TLV_FIELD(131, TLV_MSG, snap_job, outside, .sub = &external_desc),
};
static const struct tlv_desc job_desc = TLV_DESC("job", snap_job, job_fields);
static const struct tlv_field jobs_fields[] = {
    TLV_FIELD(1, TLV_U64, snap_jobs, flow),
    TLV_FIELD(2, TLV_LIST, snap_jobs, profiles, .sub = &profile_desc),
    TLV_FIELD(3, TLV_LIST, snap_jobs, jobs, .sub = &job_desc),
};
static const struct tlv_field run_fields[] = {
    TLV_FIELD(1, TLV_U64, snap_run, flow),
    TLV_FIELD(2, TLV_U32, snap_run, ordinal),
    TLV_FIELD(3, TLV_U32, snap_run, attempt),
    TLV_FIELD(4, TLV_U32, snap_run, worker),
    TLV_FIELD(5, TLV_U64, snap_run, incarnation),
    TLV_FIELD(6, TLV_U64, snap_run, fence),
    TLV_FIELD(7, TLV_U8, snap_run, stop),
    TLV_FIELD(8, TLV_I64, snap_run, confirm_ms),
    TLV_FIELD(9, TLV_I64, snap_run, assigned_ms),
    TLV_FIELD(10, TLV_I64, snap_run, started_ms),
};
static const struct tlv_field question_fields[] = {
    TLV_FIELD(1, TLV_U64, snap_question, id),
    TLV_FIELD(2, TLV_U64, snap_question, flow),
    TLV_FIELD(3, TLV_U32, snap_question, ordinal),
    TLV_FIELD(4, TLV_U32, snap_question, revision),
    TLV_FIELD(5, TLV_ENUM, snap_question, gate, .max = GATE_COUNT),
    TLV_FIELD(6, TLV_I64, snap_question, asked_ms),
    TLV_FIELD(7, TLV_I64, snap_question, deadline_ms),
    TLV_FIELD(8, TLV_I64, snap_question, again_ms),
    TLV_FIELD(9, TLV_U32, snap_question, votes),
    TLV_FIELD(10, TLV_BYTES, snap_question, voters, .max = 1024),
};
static const struct tlv_field key_fields[] = {
    TLV_FIELD(1, TLV_TEXT, snap_key, tenant, .max = TEXT_MAX),
    TLV_FIELD(2, TLV_TEXT, snap_key, key, .max = TEXT_MAX),
    TLV_FIELD(3, TLV_HASH, snap_key, hash),
    TLV_FIELD(4, TLV_U64, snap_key, flow),
    TLV_FIELD(5, TLV_U32, snap_key, job_count),
    TLV_FIELD(6, TLV_I64, snap_key, expires_ms),
};
static const struct tlv_field item_fields[] = {
    TLV_FIELD(1, TLV_TEXT, snap_item, tenant, .max = TEXT_MAX),
    TLV_FIELD(2, TLV_U64, snap_item, flow),
    TLV_FIELD(3, TLV_BYTES, snap_item, key, .max = STORE_KEY_BYTES_MAX),
    TLV_FIELD(4, TLV_ENUM, snap_item, kind, .max = ITEM_KIND_COUNT, .names = item_kind_words),
    TLV_FIELD(5, TLV_BYTES, snap_item, value, .max = STORE_VALUE_BYTES_MAX),
    TLV_FIELD(6, TLV_I64, snap_item, number),
    TLV_FIELD(7, TLV_U64, snap_item, version),
    TLV_FIELD(8, TLV_I64, snap_item, expires_ms),
    TLV_FIELD(9, TLV_U32, snap_item, members),
};
static const struct tlv_field members_fields[] = {
    TLV_FIELD(1, TLV_LIST, snap_members, members, .max = 4096, .sub = &rec_store_item_desc),
};
static const struct tlv_field note_fields[] = {
    TLV_FIELD(1, TLV_I64, snap_note, first_ms),
    TLV_FIELD(2, TLV_I64, snap_note, slot_ms),
    TLV_FIELD(3, TLV_U64, snap_note, count),
    TLV_FIELD(4, TLV_U64, snap_note, flow),
    TLV_FIELD(5, TLV_ENUM, snap_note, what, .max = SLOT_END_COUNT, .names = slot_end_words),
    TLV_FIELD(6, TLV_U8, snap_note, flow_state),
};
static const struct tlv_desc note_desc = TLV_DESC("note", snap_note, note_fields);
static const struct tlv_field waiting_fields[] = {
    TLV_FIELD(1, TLV_I64, snap_waiting, slot_ms),
    TLV_FIELD(2, TLV_U8, snap_waiting, fire),
    TLV_FIELD(3, TLV_BOOL, snap_waiting, replaces),
};
static const struct tlv_desc waiting_desc = TLV_DESC("waiting", snap_waiting, waiting_fields);
static const struct tlv_field change_fields[] = {
    TLV_FIELD(1, TLV_BYTES, snap_change, key, .max = STORE_KEY_BYTES_MAX),
    TLV_FIELD(2, TLV_U8, snap_change, how),
    TLV_FIELD(3, TLV_U64, snap_change, version),
    TLV_FIELD(4, TLV_U32, snap_change, count),
    TLV_FIELD(5, TLV_I64, snap_change, changed_ms),
};
static const struct tlv_desc change_desc = TLV_DESC("change", snap_change, change_fields);
static const struct tlv_field schedule_fields[] = {
    TLV_FIELD(1, TLV_BYTES, snap_schedule, record, .max = MESSAGE_MAX),
    TLV_FIELD(2, TLV_U64, snap_schedule, revision),
    TLV_FIELD(3, TLV_BOOL, snap_schedule, paused),
    TLV_FIELD(4, TLV_I64, snap_schedule, after_ms),
    TLV_FIELD(5, TLV_I64, snap_schedule, fired_ms),
    TLV_FIELD(6, TLV_U64, snap_schedule, flow),
    TLV_FIELD(7, TLV_U64, snap_schedule, fired),
    TLV_FIELD(8, TLV_U64, snap_schedule, missed),
    TLV_FIELD(9, TLV_U64, snap_schedule, skipped),
    TLV_FIELD(10, TLV_LIST, snap_schedule, waiting, .max = 100000, .sub = &waiting_desc),
    TLV_FIELD(11, TLV_LIST, snap_schedule, notes, .max = 64, .sub = &note_desc),
    TLV_FIELD(90, TLV_U64, snap_schedule, excluded),
    TLV_FIELD(91, TLV_LIST, snap_schedule, changes, .max = CAUSE_KEYS_MAX, .sub = &change_desc),
    TLV_FIELD(92, TLV_I64, snap_schedule, started_ms),
};
static const struct tlv_field memo_fields[] = {
    TLV_FIELD(1, TLV_TEXT, snap_memo, tenant, .max = TEXT_MAX),
    TLV_FIELD(2, TLV_HASH, snap_memo, key),
    TLV_FIELD(3, TLV_U64, snap_memo, flow),
    TLV_FIELD(4, TLV_U32, snap_memo, ordinal),
    TLV_FIELD(5, TLV_I64, snap_memo, expires_ms),
    TLV_FIELD(6, TLV_BYTES, snap_memo, result, .max = MESSAGE_MAX),
    TLV_FIELD(7, TLV_HASH, snap_memo, result_hash),
    TLV_FIELD(8, TLV_BYTES, snap_memo, artifacts, .max = MESSAGE_MAX),
};
static const struct tlv_field expansion_fields[] = {
    TLV_FIELD(1, TLV_U64, snap_expansion, flow),
    TLV_FIELD(2, TLV_U32, snap_expansion, job),
    TLV_FIELD(3, TLV_U32, snap_expansion, first),
    TLV_FIELD(4, TLV_U32, snap_expansion, count),
    TLV_FIELD(5, TLV_U32, snap_expansion, next),
    TLV_FIELD(6, TLV_HASH, snap_expansion, items),
    TLV_FIELD(7, TLV_ENUM, snap_expansion, cause, .max = JOB_CAUSE_COUNT, .names = job_cause_words),
    TLV_FIELD(8, TLV_U8, snap_expansion, pass),
    TLV_FIELD(9, TLV_U32, snap_expansion, pass_next),
    TLV_FIELD(10, TLV_U32, snap_expansion, confirm_ms),
    TLV_FIELD(11, TLV_U32, snap_expansion, again),
    TLV_FIELD(12, TLV_BOOL, snap_expansion, is_open),
    TLV_FIELD(13, TLV_U32, snap_expansion, made),
};
static const struct tlv_field child_fields[] = {
    TLV_FIELD(1, TLV_U32, snap_child, item),
    TLV_FIELD(2, TLV_MSG, snap_child, job, .sub = &job_desc),
};
static const struct tlv_desc child_desc = TLV_DESC("child", snap_child, child_fields);
static const struct tlv_field children_fields[] = {
    TLV_FIELD(1, TLV_U64, snap_children, flow),
    TLV_FIELD(2, TLV_U32, snap_children, job),
    TLV_FIELD(3, TLV_LIST, snap_children, children, .sub = &child_desc),
};
static const struct tlv_field end_fields[] = {
    TLV_FIELD(1, TLV_U64, snap_end, objects),
    TLV_FIELD(2, TLV_U64, snap_end, digest_lo),
    TLV_FIELD(3, TLV_U64, snap_end, digest_hi),
};
static const struct tlv_field limit_fields[] = {
    TLV_FIELD(1, TLV_TEXT, snap_limit, tenant, .max = TEXT_MAX),
    TLV_FIELD(2, TLV_ENUM, snap_limit, kind, .max = LIMIT_KIND_COUNT, .names = limit_kind_words),
    TLV_FIELD(3, TLV_TEXT, snap_limit, name, .max = TEXT_MAX),
    TLV_FIELD(4, TLV_U32, snap_limit, width),
    TLV_FIELD(5, TLV_U64, snap_limit, rate_milli),
    TLV_FIELD(6, TLV_U64, snap_limit, burst),
    TLV_FIELD(7, TLV_U64, snap_limit, level),
    TLV_FIELD(8, TLV_I64, snap_limit, filled_ms),
    TLV_FIELD(9, TLV_U32, snap_limit, running),
    TLV_FIELD(10, TLV_U64, snap_limit, queued),
    TLV_FIELD(11, TLV_U64, snap_limit, bytes),
};

const char *const version_state_words[VERSION_STATE_COUNT] = {"deploying", "current", "retired", "failed"};

static const struct tlv_field version_fields[] = {
    TLV_FIELD(1, TLV_U32, snap_version, number),
    TLV_FIELD(2, TLV_ENUM, snap_version, state, .max = VERSION_STATE_COUNT, .names = version_state_words),
    TLV_FIELD(3, TLV_U32, snap_version, restarts),
    TLV_FIELD(4, TLV_U64, snap_version, flow),
    TLV_FIELD(5, TLV_U64, snap_version, deployer),
    TLV_FIELD(6, TLV_U32, snap_version, deployer_ordinal),
    TLV_FIELD(7, TLV_I64, snap_version, begun_ms),
    TLV_FIELD(8, TLV_I64, snap_version, healthy_ms),
    TLV_FIELD(9, TLV_I64, snap_version, ended_ms),
    TLV_FIELD(10, TLV_BYTES, snap_version, spec, .max = MESSAGE_MAX),
};
static const struct tlv_desc version_desc = TLV_DESC("version", snap_version, version_fields);
static const struct tlv_field service_fields[] = {
    TLV_FIELD(1, TLV_TEXT, snap_service, tenant, .max = TEXT_MAX),
    TLV_FIELD(2, TLV_TEXT, snap_service, name, .max = TEXT_MAX),
    TLV_FIELD(3, TLV_ENUM, snap_service, desired, .max = SERVICE_DESIRED_COUNT, .names = service_desired_words),
    TLV_FIELD(4, TLV_BOOL, snap_service, healthy),
    TLV_FIELD(5, TLV_I64, snap_service, since_ms),
    TLV_FIELD(6, TLV_U32, snap_service, version_last),
    TLV_FIELD(7, TLV_U64, snap_service, current),
    TLV_FIELD(8, TLV_U64, snap_service, previous),
    TLV_FIELD(9, TLV_U64, snap_service, retiring),
    TLV_FIELD(10, TLV_U32, snap_service, current_number),
    TLV_FIELD(11, TLV_U32, snap_service, previous_number),
    TLV_FIELD(12, TLV_U64, snap_service, deployer),
    TLV_FIELD(13, TLV_U32, snap_service, deployer_ordinal),
    TLV_FIELD(14, TLV_U32, snap_service, port),
    TLV_FIELD(15, TLV_TEXT, snap_service, note, .max = 4096),
    TLV_FIELD(16, TLV_BOOL, snap_service, overlaps),
    TLV_FIELD(17, TLV_BOOL, snap_service, previous_healthy),
    TLV_FIELD(18, TLV_I64, snap_service, previous_since_ms),
    TLV_FIELD(19, TLV_U32, snap_service, previous_port),
    TLV_FIELD(20, TLV_TEXT, snap_service, previous_note, .max = 4096),
    TLV_FIELD(21, TLV_U64, snap_service, retiring_too),
    TLV_FIELD(40, TLV_LIST, snap_service, versions, .max = SERVICE_VERSIONS, .sub = &version_desc),
};

static const struct tlv_field count_fields[] = {
    TLV_FIELD(1, TLV_U32, snap_count, what),
    TLV_FIELD(2, TLV_U64, snap_count, n),
};
static const struct tlv_desc count_desc = TLV_DESC("count", snap_count, count_fields);
static const struct tlv_field tally_fields[] = {
    TLV_FIELD(1, TLV_LIST, snap_tally, counts, .max = TALLY_COUNT, .sub = &count_desc),
};

static const struct tlv_field checkpoint_fields[] = {
    TLV_FIELD(1, TLV_U64, snap_checkpoint, number),
    TLV_FIELD(2, TLV_U64, snap_checkpoint, lsn),
    TLV_FIELD(3, TLV_U64, snap_checkpoint, from_lsn),
    TLV_FIELD(4, TLV_U64, snap_checkpoint, upto_lsn),
    TLV_FIELD(5, TLV_I64, snap_checkpoint, time_ms),
    TLV_FIELD(6, TLV_HASH, snap_checkpoint, chain),
    TLV_FIELD(7, TLV_HASH, snap_checkpoint, key),
    TLV_FIELD(8, TLV_BYTES, snap_checkpoint, signature, .max = CHECKPOINT_SIGNATURE_BYTES),
};

static const struct tlv_field directory_fields[] = {
    TLV_FIELD(1, TLV_U64, snap_directory, log),
    TLV_FIELD(2, TLV_LIST, snap_directory, secrets, .max = 64, .sub = &rec_secret_desc),
};
static const struct tlv_field token_fields[] = {
    TLV_FIELD(1, TLV_BYTES, snap_token, record, .max = MESSAGE_MAX, .form = TLV_FORM_SECRET),
};
static const struct tlv_field session_fields[] = {
    TLV_FIELD(1, TLV_TEXT, snap_session, who, .max = DIRECTORY_WHO_BYTES - 1),
    TLV_FIELD(2, TLV_U64, snap_session, number),
    TLV_FIELD(3, TLV_I64, snap_session, expires_ms),
};
static const struct tlv_field ticket_fields[] = {
    TLV_FIELD(1, TLV_HASH, snap_ticket, hash, .form = TLV_FORM_SECRET),
    TLV_FIELD(2, TLV_TEXT, snap_ticket, who, .max = DIRECTORY_WHO_BYTES - 1),
    TLV_FIELD(3, TLV_I64, snap_ticket, expires_ms),
};

static const struct tlv_desc descs[OBJ_KIND_END] = {
    [OBJ_HEADER] = TLV_DESC("header", snap_header, header_fields),
    [OBJ_TENANT] = TLV_DESC("tenant", snap_tenant, tenant_fields),
    [OBJ_POOL] = TLV_DESC("pool", snap_pool, pool_fields),
    [OBJ_TOPIC] = TLV_DESC("topic", snap_topic, topic_fields),
    [OBJ_WORKER] = TLV_DESC("worker", snap_worker, worker_fields),
    [OBJ_FLOW] = TLV_DESC("flow", snap_flow, flow_fields),
    [OBJ_JOBS] = TLV_DESC("jobs", snap_jobs, jobs_fields),
    [OBJ_RUN] = TLV_DESC("run", snap_run, run_fields),
    [OBJ_QUESTION] = TLV_DESC("question", snap_question, question_fields),
    [OBJ_KEY] = TLV_DESC("key", snap_key, key_fields),
    [OBJ_SCHEDULE] = TLV_DESC("schedule", snap_schedule, schedule_fields),
    [OBJ_MEMO] = TLV_DESC("memo", snap_memo, memo_fields),
    [OBJ_END] = TLV_DESC("end", snap_end, end_fields),
    [OBJ_ITEM] = TLV_DESC("item", snap_item, item_fields),
    [OBJ_MEMBERS] = TLV_DESC("members", snap_members, members_fields),
    [OBJ_LIMIT] = TLV_DESC("limit", snap_limit, limit_fields),
    [OBJ_EXPANSION] = TLV_DESC("expansion", snap_expansion, expansion_fields),
    [OBJ_CHILDREN] = TLV_DESC("children", snap_children, children_fields),
    [OBJ_SERVICE] = TLV_DESC("service", snap_service, service_fields),
    [OBJ_TALLY] = TLV_DESC("tally", snap_tally, tally_fields),
    [OBJ_CHECKPOINT] = TLV_DESC("checkpoint", snap_checkpoint, checkpoint_fields),
    [OBJ_DIRECTORY] = TLV_DESC("directory", snap_directory, directory_fields),
    [OBJ_TOKEN] = TLV_DESC("token", snap_token, token_fields),
    [OBJ_SESSION] = TLV_DESC("session", snap_session, session_fields),
    [OBJ_TICKET] = TLV_DESC("ticket", snap_ticket, ticket_fields),
};
/* clang-format on */

const struct tlv_desc *object_desc(enum object_kind kind) {
    return (unsigned)kind < OBJ_KIND_END && descs[kind].fields ? &descs[kind] : NULL;
}
