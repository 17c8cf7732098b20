/* wire_worker.c: the tables behind wire_worker.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_worker.h"

/* clang-format off */
static const char *const phase_words[WIRE_HELD_COUNT] = {"assigned", "running", "finished"};
static const char *const stop_words[WIRE_STOP_COUNT] = {
    "cancel", "deadline", "run_timeout", "dispatch_timeout", "drop",
};
static const char *const outcome_words[WIRE_OUTCOME_COUNT] = {"ok", "exit", "stopped", "refused"};
static const char *const hit_words[WIRE_HIT_COUNT] = {"none", "memory", "pids", "file_size"};

static const struct tlv_field attempt_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_attempt, shard),
    TLV_FIELD(2, TLV_U64, wire_attempt, flow),
    TLV_FIELD(3, TLV_U32, wire_attempt, ordinal),
    TLV_FIELD(4, TLV_U32, wire_attempt, attempt),
};
const struct tlv_desc wire_attempt_desc = TLV_DESC("attempt", wire_attempt, attempt_fields);

static const struct tlv_field held_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_held, attempt, .sub = &wire_attempt_desc),
    TLV_FIELD(2, TLV_ENUM, wire_held, phase, .max = WIRE_HELD_COUNT, .names = phase_words),
};
const struct tlv_desc wire_held_desc = TLV_DESC("held", wire_held, held_fields);

static const struct tlv_field worker_info_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_worker_info, pool, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_LIST, wire_worker_info, capabilities, .max = 64, .sub = &wire_name_desc),
    TLV_FIELD(3, TLV_LIST, wire_worker_info, labels, .max = 64, .sub = &wire_pair_desc),
    TLV_FIELD(4, TLV_U32, wire_worker_info, slots),
    TLV_FIELD(5, TLV_U32, wire_worker_info, cpu_milli),
    TLV_FIELD(6, TLV_U64, wire_worker_info, memory_bytes),
    TLV_FIELD(7, TLV_U32, wire_worker_info, gpus),
    TLV_FIELD(8, TLV_LIST, wire_worker_info, resources, .max = 16, .sub = &wire_amount_desc),
    TLV_FIELD(9, TLV_BOOL, wire_worker_info, permanent),
    TLV_FIELD(10, TLV_TEXT, wire_worker_info, build, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_worker_info_desc = TLV_DESC("worker_info", wire_worker_info, worker_info_fields);

static const struct tlv_field load_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_load, credit),
    TLV_FIELD(2, TLV_U32, wire_load, cpu_percent),
    TLV_FIELD(3, TLV_U32, wire_load, gpu_percent),
};
const struct tlv_desc wire_load_desc = TLV_DESC("load", wire_load, load_fields);

static const struct tlv_field attach_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_attach, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_U64, wire_attach, incarnation),
    TLV_FIELD(3, TLV_U64, wire_attach, epoch_seen),
    TLV_FIELD(4, TLV_MSG, wire_attach, info, .sub = &wire_worker_info_desc),
    TLV_FIELD(5, TLV_MSG, wire_attach, load, .sub = &wire_load_desc),
    TLV_FIELD(6, TLV_LIST, wire_attach, held, .max = WIRE_COUNT_MAX, .sub = &wire_held_desc),
};
const struct tlv_desc wire_attach_desc = TLV_DESC("attach", wire_attach, attach_fields);

static const struct tlv_field attached_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_attached, lsn),
    TLV_FIELD(2, TLV_U64, wire_attached, epoch),
    TLV_FIELD(3, TLV_U32, wire_attached, lease_ms),
    TLV_FIELD(4, TLV_U32, wire_attached, heartbeat_ms),
};
const struct tlv_desc wire_attached_desc = TLV_DESC("attached", wire_attached, attached_fields);

static const struct tlv_field heartbeat_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_heartbeat, load, .sub = &wire_load_desc),
    TLV_FIELD(2, TLV_U64, wire_heartbeat, sent_ms),
};
const struct tlv_desc wire_heartbeat_desc = TLV_DESC("heartbeat", wire_heartbeat, heartbeat_fields);

static const struct tlv_field lease_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_lease, epoch),
    TLV_FIELD(2, TLV_U32, wire_lease, lease_ms),
    TLV_FIELD(3, TLV_U64, wire_lease, sent_ms),
};
const struct tlv_desc wire_lease_desc = TLV_DESC("lease", wire_lease, lease_fields);

static const struct tlv_field detach_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_detach, reason, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_detach_desc = TLV_DESC("detach", wire_detach, detach_fields);

static const struct tlv_field input_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_input, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_BYTES, wire_input, result, .max = WIRE_BODY_MAX),
    TLV_FIELD(3, TLV_HASH, wire_input, result_hash),
    TLV_FIELD(4, TLV_LIST, wire_input, artifacts, .max = 256, .sub = &wire_kept_desc),
};
const struct tlv_desc wire_input_desc = TLV_DESC("input", wire_input, input_fields);

static const struct tlv_field assignment_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_assignment, attempt, .sub = &wire_attempt_desc),
    TLV_FIELD(2, TLV_U64, wire_assignment, fence),
    TLV_FIELD(3, TLV_TEXT, wire_assignment, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(4, TLV_ENUM, wire_assignment, kind, .max = JOB_KIND_COUNT, .names = job_kind_words),
    TLV_FIELD(5, TLV_BYTES, wire_assignment, body, .max = WIRE_BODY_MAX),
    TLV_FIELD(6, TLV_LIST, wire_assignment, env, .max = 4096, .sub = &wire_pair_desc),
    TLV_FIELD(7, TLV_BYTES, wire_assignment, token, .max = WIRE_TEXT_MAX),
    TLV_FIELD(8, TLV_TEXT, wire_assignment, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(9, TLV_TEXT, wire_assignment, trace, .max = WIRE_NAME_MAX),
    TLV_FIELD(10, TLV_BYTES, wire_assignment, constraints, .max = WIRE_BODY_MAX),
    TLV_FIELD(11, TLV_I64, wire_assignment, run_timeout_ms),
    TLV_FIELD(12, TLV_BOOL, wire_assignment, exclusive),
    TLV_FIELD(13, TLV_LIST, wire_assignment, inputs, .max = 100000, .sub = &wire_input_desc),
    TLV_FIELD(14, TLV_BOOL, wire_assignment, compensation),
    TLV_FIELD(15, TLV_TEXT, wire_assignment, refusal, .max = WIRE_TEXT_MAX),
    TLV_FIELD(26, TLV_U32, wire_assignment, cpu_milli),
    TLV_FIELD(27, TLV_U32, wire_assignment, gpus),
    TLV_FIELD(28, TLV_U64, wire_assignment, memory_bytes),
};
const struct tlv_desc wire_assignment_desc = TLV_DESC("assignment", wire_assignment, assignment_fields);

static const struct tlv_field assign_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_assign, epoch),
    TLV_FIELD(2, TLV_LIST, wire_assign, assignments, .max = 100000, .sub = &wire_assignment_desc),
};
const struct tlv_desc wire_assign_desc = TLV_DESC("assign", wire_assign, assign_fields);

static const struct tlv_field stopped_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_stopped, attempt, .sub = &wire_attempt_desc),
    TLV_FIELD(2, TLV_ENUM, wire_stopped, cause, .max = WIRE_STOP_COUNT, .names = stop_words),
    TLV_FIELD(3, TLV_U32, wire_stopped, grace_ms),
};
const struct tlv_desc wire_stopped_desc = TLV_DESC("stopped", wire_stopped, stopped_fields);

static const struct tlv_field stop_attempts_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_stop_attempts, epoch),
    TLV_FIELD(2, TLV_LIST, wire_stop_attempts, stops, .max = 100000, .sub = &wire_stopped_desc),
};
const struct tlv_desc wire_stop_attempts_desc = TLV_DESC("stop_attempts", wire_stop_attempts, stop_attempts_fields);

static const struct tlv_field attempts_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_attempts, attempts, .max = 100000, .sub = &wire_attempt_desc),
};
const struct tlv_desc wire_attempts_desc = TLV_DESC("attempts", wire_attempts, attempts_fields);

static const struct tlv_field progress_item_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_progress_item, attempt, .sub = &wire_attempt_desc),
    TLV_FIELD(2, TLV_U32, wire_progress_item, percent),
    TLV_FIELD(3, TLV_TEXT, wire_progress_item, text, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_progress_item_desc = TLV_DESC("progress_item", wire_progress_item, progress_item_fields);

static const struct tlv_field progress_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_progress, items, .max = 100000, .sub = &wire_progress_item_desc),
};
const struct tlv_desc wire_progress_desc = TLV_DESC("progress", wire_progress, progress_fields);

static const struct tlv_field health_item_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_health_item, attempt, .sub = &wire_attempt_desc),
    TLV_FIELD(2, TLV_BOOL, wire_health_item, healthy),
    TLV_FIELD(3, TLV_TEXT, wire_health_item, text, .max = WIRE_TEXT_MAX),
    TLV_FIELD(4, TLV_U32, wire_health_item, port),
};
const struct tlv_desc wire_health_item_desc = TLV_DESC("health_item", wire_health_item, health_item_fields);

static const struct tlv_field health_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_health, items, .max = 100000, .sub = &wire_health_item_desc),
};
const struct tlv_desc wire_health_desc = TLV_DESC("health", wire_health, health_fields);

static const struct tlv_field log_batch_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_log_batch, attempt, .sub = &wire_attempt_desc),
    TLV_FIELD(2, TLV_LIST, wire_log_batch, pieces, .max = 100000, .sub = &wire_log_piece_desc),
};
const struct tlv_desc wire_log_batch_desc = TLV_DESC("log_batch", wire_log_batch, log_batch_fields);

static const struct tlv_field log_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_log, batches, .max = 100000, .sub = &wire_log_batch_desc),
};
const struct tlv_desc wire_log_desc = TLV_DESC("log", wire_log, log_fields);

static const struct tlv_field log_mark_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_log_mark, attempt, .sub = &wire_attempt_desc),
    TLV_FIELD(2, TLV_U64, wire_log_mark, offset),
};
const struct tlv_desc wire_log_mark_desc = TLV_DESC("log_mark", wire_log_mark, log_mark_fields);

static const struct tlv_field log_ack_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_log_ack, marks, .max = 100000, .sub = &wire_log_mark_desc),
};
const struct tlv_desc wire_log_ack_desc = TLV_DESC("log_ack", wire_log_ack, log_ack_fields);

static const struct tlv_field end_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_end, attempt, .sub = &wire_attempt_desc),
    TLV_FIELD(2, TLV_ENUM, wire_end, outcome, .max = WIRE_OUTCOME_COUNT, .names = outcome_words),
    TLV_FIELD(3, TLV_U32, wire_end, exit_code),
    TLV_FIELD(4, TLV_U32, wire_end, signal),
    TLV_FIELD(5, TLV_BOOL, wire_end, fatal),
    TLV_FIELD(6, TLV_BYTES, wire_end, result, .max = WIRE_BODY_MAX),
    TLV_FIELD(7, TLV_HASH, wire_end, result_hash),
    TLV_FIELD(8, TLV_U64, wire_end, log_bytes),
    TLV_FIELD(9, TLV_U64, wire_end, log_cut_bytes),
    TLV_FIELD(10, TLV_TEXT, wire_end, reason, .max = WIRE_TEXT_MAX),
    TLV_FIELD(11, TLV_LIST, wire_end, artifacts, .max = 256, .sub = &wire_kept_desc),
    TLV_FIELD(12, TLV_I64, wire_end, started_ms),
    TLV_FIELD(13, TLV_I64, wire_end, ended_ms),
    TLV_FIELD(14, TLV_U64, wire_end, cpu_ms),
    TLV_FIELD(15, TLV_U64, wire_end, memory_bytes_max),
    TLV_FIELD(16, TLV_ENUM, wire_end, hit, .max = WIRE_HIT_COUNT, .names = hit_words),
    TLV_FIELD(17, TLV_U32, wire_end, hit_count),
    TLV_FIELD(18, TLV_U64, wire_end, throttled_ms),
    TLV_FIELD(19, TLV_TEXT, wire_end, unkept, .max = WIRE_NAME_MAX),
    TLV_FIELD(20, TLV_U32, wire_end, retry_after_ms),
    TLV_FIELD(21, TLV_U64, wire_end, ended_ago_ms),
};
const struct tlv_desc wire_end_desc = TLV_DESC("end", wire_end, end_fields);

static const struct tlv_field done_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_done, ends, .max = 100000, .sub = &wire_end_desc),
};
const struct tlv_desc wire_done_desc = TLV_DESC("done", wire_done, done_fields);

static const struct tlv_field end_ack_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_end_ack, attempt, .sub = &wire_attempt_desc),
    TLV_FIELD(2, TLV_TEXT, wire_end_ack, code, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_end_ack, message, .max = WIRE_TEXT_MAX),
    TLV_FIELD(4, TLV_BOOL, wire_end_ack, repeated),
};
const struct tlv_desc wire_end_ack_desc = TLV_DESC("end_ack", wire_end_ack, end_ack_fields);

static const struct tlv_field done_ack_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_done_ack, lsn),
    TLV_FIELD(2, TLV_LIST, wire_done_ack, acks, .max = 100000, .sub = &wire_end_ack_desc),
};
const struct tlv_desc wire_done_ack_desc = TLV_DESC("done_ack", wire_done_ack, done_ack_fields);

/* clang-format on */
