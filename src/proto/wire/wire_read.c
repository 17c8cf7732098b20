/* wire_read.c: the tables behind wire_read.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_read.h"

#include "wire_run.h"

/* clang-format off */
static const char *const what_words[WIRE_LIST_COUNT] = {"flows", "jobs", "dead", "questions", "workers",
                                                        "running", "worker"};

static const struct tlv_field flow_view_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_flow_view, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_flow_view, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_flow_view, state, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_flow_view, principal, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_TEXT, wire_flow_view, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(6, TLV_BOOL, wire_flow_view, paused),
    TLV_FIELD(7, TLV_BOOL, wire_flow_view, more),
    TLV_FIELD(8, TLV_BOOL, wire_flow_view, cancelling),
    TLV_FIELD(9, TLV_TEXT, wire_flow_view, unwinding, .max = WIRE_NAME_MAX),
    TLV_FIELD(10, TLV_I64, wire_flow_view, created_ms),
    TLV_FIELD(11, TLV_I64, wire_flow_view, finished_ms),
    TLV_FIELD(12, TLV_U32, wire_flow_view, job_count),
    TLV_FIELD(13, TLV_LIST, wire_flow_view, states, .max = 64, .sub = &wire_amount_desc),
    TLV_FIELD(14, TLV_LIST, wire_flow_view, labels, .max = 64, .sub = &wire_pair_desc),
    TLV_FIELD(15, TLV_BOOL, wire_flow_view, archived),
    TLV_FIELD(16, TLV_TEXT, wire_flow_view, schedule, .max = WIRE_NAME_MAX),
    TLV_FIELD(17, TLV_I64, wire_flow_view, slot_ms),
    TLV_FIELD(18, TLV_TEXT, wire_flow_view, slot, .max = WIRE_NAME_MAX),
    TLV_FIELD(19, TLV_U32, wire_flow_view, compensations_not_run),
    TLV_FIELD(20, TLV_TEXT, wire_flow_view, not_run_because, .max = WIRE_TEXT_MAX),
    TLV_FIELD(24, TLV_U32, wire_flow_view, upstream_failed),
    TLV_FIELD(30, TLV_BYTES, wire_flow_view, params, .max = WIRE_BODY_MAX, .form = TLV_FORM_JSON),
    TLV_FIELD(31, TLV_TEXT, wire_flow_view, source_name, .max = WIRE_NAME_MAX),
    TLV_FIELD(32, TLV_U64, wire_flow_view, source_bytes),
    TLV_FIELD(33, TLV_HASH, wire_flow_view, source),
    TLV_FIELD(34, TLV_TEXT, wire_flow_view, again_of, .max = WIRE_TARGET_MAX),
    TLV_FIELD(80, TLV_TEXT, wire_flow_view, stage, .max = WIRE_NAME_MAX),
    TLV_FIELD(81, TLV_TEXT, wire_flow_view, called, .max = WIRE_NAME_MAX),
    TLV_FIELD(82, TLV_BOOL, wire_flow_view, timed_out),
    TLV_FIELD(83, TLV_BOOL, wire_flow_view, late),
    TLV_FIELD(84, TLV_I64, wire_flow_view, timeout_at_ms),
    TLV_FIELD(85, TLV_I64, wire_flow_view, deadline_ms),
    TLV_FIELD(90, TLV_TEXT, wire_flow_view, trigger, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_flow_view_desc = TLV_DESC("flow_view", wire_flow_view, flow_view_fields);

static const struct tlv_field attempt_view_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_attempt_view, attempt),
    TLV_FIELD(2, TLV_TEXT, wire_attempt_view, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_attempt_view, outcome, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_U32, wire_attempt_view, exit_code),
    TLV_FIELD(5, TLV_U32, wire_attempt_view, signal),
    TLV_FIELD(6, TLV_I64, wire_attempt_view, assigned_ms),
    TLV_FIELD(7, TLV_I64, wire_attempt_view, started_ms),
    TLV_FIELD(8, TLV_I64, wire_attempt_view, ended_ms),
    TLV_FIELD(9, TLV_U64, wire_attempt_view, log_bytes),
    TLV_FIELD(10, TLV_U64, wire_attempt_view, log_cut_bytes),
    TLV_FIELD(11, TLV_TEXT, wire_attempt_view, reason, .max = WIRE_TEXT_MAX),
    TLV_FIELD(12, TLV_LIST, wire_attempt_view, artifacts, .max = 256, .sub = &wire_kept_desc),
    TLV_FIELD(13, TLV_U64, wire_attempt_view, cpu_ms),
    TLV_FIELD(14, TLV_U64, wire_attempt_view, memory_bytes_max),
    TLV_FIELD(15, TLV_TEXT, wire_attempt_view, hit, .max = WIRE_NAME_MAX),
    TLV_FIELD(16, TLV_U32, wire_attempt_view, hit_count),
    TLV_FIELD(17, TLV_U64, wire_attempt_view, throttled_ms),
    TLV_FIELD(18, TLV_TEXT, wire_attempt_view, unkept, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_attempt_view_desc = TLV_DESC("attempt_view", wire_attempt_view, attempt_view_fields);

static const struct tlv_field job_view_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_job_view, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_job_view, state, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_job_view, cause, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_job_view, kind, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_U32, wire_job_view, attempt),
    TLV_FIELD(6, TLV_U32, wire_job_view, attempts_max),
    TLV_FIELD(7, TLV_I64, wire_job_view, since_ms),
    TLV_FIELD(8, TLV_I64, wire_job_view, due_ms),
    TLV_FIELD(9, TLV_TEXT, wire_job_view, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(10, TLV_TEXT, wire_job_view, pool, .max = WIRE_NAME_MAX),
    TLV_FIELD(11, TLV_U64, wire_job_view, question),
    TLV_FIELD(12, TLV_TEXT, wire_job_view, root, .max = WIRE_TARGET_MAX),
    TLV_FIELD(13, TLV_BOOL, wire_job_view, dead_letter),
    TLV_FIELD(14, TLV_U32, wire_job_view, percent),
    TLV_FIELD(15, TLV_U32, wire_job_view, exit_code),
    TLV_FIELD(16, TLV_U32, wire_job_view, signal),
    TLV_FIELD(17, TLV_TEXT, wire_job_view, reason, .max = WIRE_TEXT_MAX),
    TLV_FIELD(18, TLV_BYTES, wire_job_view, result, .max = WIRE_BODY_MAX, .form = TLV_FORM_JSON),
    TLV_FIELD(19, TLV_HASH, wire_job_view, result_hash),
    TLV_FIELD(20, TLV_LIST, wire_job_view, parents, .max = WIRE_COUNT_MAX, .sub = &wire_name_desc),
    TLV_FIELD(21, TLV_BYTES, wire_job_view, body, .max = WIRE_BODY_MAX, .form = TLV_FORM_MESSAGE, .sub = &wire_run_desc),
    TLV_FIELD(22, TLV_HASH, wire_job_view, body_hash),
    TLV_FIELD(23, TLV_LIST, wire_job_view, attempts, .max = 100000, .sub = &wire_attempt_view_desc),
    TLV_FIELD(24, TLV_LIST, wire_job_view, artifacts, .max = 256, .sub = &wire_kept_desc),
    TLV_FIELD(25, TLV_U32, wire_job_view, items),
    TLV_FIELD(26, TLV_U32, wire_job_view, items_begun),
    TLV_FIELD(27, TLV_U32, wire_job_view, items_open),
    TLV_FIELD(28, TLV_U32, wire_job_view, items_bad),
    TLV_FIELD(40, TLV_I64, wire_job_view, started_ms),
    TLV_FIELD(41, TLV_I64, wire_job_view, ended_ms),
    TLV_FIELD(42, TLV_TEXT, wire_job_view, code, .max = WIRE_NAME_MAX),
    TLV_FIELD(43, TLV_TEXT, wire_job_view, waits_for, .max = WIRE_TEXT_MAX),
    TLV_FIELD(80, TLV_TEXT, wire_job_view, stage, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_job_view_desc = TLV_DESC("job_view", wire_job_view, job_view_fields);

static const struct tlv_field question_view_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_question_view, question),
    TLV_FIELD(2, TLV_U32, wire_question_view, revision),
    TLV_FIELD(3, TLV_TEXT, wire_question_view, gate, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_question_view, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(5, TLV_HASH, wire_question_view, hash),
    TLV_FIELD(6, TLV_I64, wire_question_view, asked_ms),
    TLV_FIELD(7, TLV_I64, wire_question_view, deadline_ms),
    TLV_FIELD(8, TLV_U32, wire_question_view, votes),
    TLV_FIELD(9, TLV_U32, wire_question_view, quorum),
    TLV_FIELD(10, TLV_BOOL, wire_question_view, four_eyes),
    TLV_FIELD(11, TLV_TEXT, wire_question_view, role, .max = WIRE_NAME_MAX),
    TLV_FIELD(12, TLV_BYTES, wire_question_view, body, .max = WIRE_BODY_MAX, .form = TLV_FORM_MESSAGE, .sub = &wire_run_desc),
};
const struct tlv_desc wire_question_view_desc = TLV_DESC("question_view", wire_question_view, question_view_fields);

static const struct tlv_field worker_view_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_worker_view, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_U64, wire_worker_view, incarnation),
    TLV_FIELD(3, TLV_TEXT, wire_worker_view, pool, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_worker_view, build, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_BOOL, wire_worker_view, attached),
    TLV_FIELD(6, TLV_BOOL, wire_worker_view, draining),
    TLV_FIELD(7, TLV_BOOL, wire_worker_view, permanent),
    TLV_FIELD(8, TLV_U32, wire_worker_view, slots),
    TLV_FIELD(9, TLV_U32, wire_worker_view, active),
    TLV_FIELD(10, TLV_U32, wire_worker_view, cpu_percent),
    TLV_FIELD(11, TLV_U32, wire_worker_view, gpu_percent),
    TLV_FIELD(12, TLV_LIST, wire_worker_view, capabilities, .max = 64, .sub = &wire_name_desc),
    TLV_FIELD(13, TLV_LIST, wire_worker_view, labels, .max = 64, .sub = &wire_pair_desc),
    TLV_FIELD(14, TLV_I64, wire_worker_view, seen_ms),
    TLV_FIELD(15, TLV_TEXT, wire_worker_view, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(16, TLV_U32, wire_worker_view, cpu_milli),
    TLV_FIELD(17, TLV_U32, wire_worker_view, cpu_milli_taken),
    TLV_FIELD(18, TLV_U64, wire_worker_view, memory_bytes),
    TLV_FIELD(19, TLV_U64, wire_worker_view, memory_bytes_taken),
    TLV_FIELD(20, TLV_U32, wire_worker_view, gpus),
    TLV_FIELD(21, TLV_U32, wire_worker_view, gpus_taken),
    TLV_FIELD(22, TLV_LIST, wire_worker_view, resources, .max = 64, .sub = &wire_amount_desc),
    TLV_FIELD(23, TLV_LIST, wire_worker_view, resources_taken, .max = 64, .sub = &wire_amount_desc),
};
const struct tlv_desc wire_worker_view_desc = TLV_DESC("worker_view", wire_worker_view, worker_view_fields);

static const struct tlv_field event_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_event, lsn),
    TLV_FIELD(2, TLV_U32, wire_event, ordinal),
    TLV_FIELD(3, TLV_TEXT, wire_event, kind, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_I64, wire_event, time_ms),
    TLV_FIELD(5, TLV_TEXT, wire_event, target, .max = WIRE_TARGET_MAX),
    TLV_FIELD(6, TLV_TEXT, wire_event, from, .max = WIRE_NAME_MAX),
    TLV_FIELD(7, TLV_TEXT, wire_event, to, .max = WIRE_NAME_MAX),
    TLV_FIELD(8, TLV_TEXT, wire_event, cause, .max = WIRE_NAME_MAX),
    TLV_FIELD(9, TLV_U32, wire_event, attempt),
    TLV_FIELD(10, TLV_TEXT, wire_event, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(11, TLV_I64, wire_event, due_ms),
    TLV_FIELD(12, TLV_TEXT, wire_event, schedule, .max = WIRE_NAME_MAX),
    TLV_FIELD(13, TLV_I64, wire_event, slot_ms),
};
const struct tlv_desc wire_event_desc = TLV_DESC("event", wire_event, event_fields);

static const struct tlv_field get_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_get, target, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_BOOL, wire_get, details),
};
const struct tlv_desc wire_get_desc = TLV_DESC("get", wire_get, get_fields);

static const struct tlv_field got_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_got, lsn),
    TLV_FIELD(2, TLV_MSG, wire_got, flow, .sub = &wire_flow_view_desc),
    TLV_FIELD(3, TLV_LIST, wire_got, jobs, .max = WIRE_COUNT_MAX, .sub = &wire_job_view_desc),
};
const struct tlv_desc wire_got_desc = TLV_DESC("got", wire_got, got_fields);

static const struct tlv_field list_fields[] = {
    TLV_FIELD(1, TLV_ENUM, wire_list, what, .max = WIRE_LIST_COUNT, .names = what_words),
    TLV_FIELD(2, TLV_U32, wire_list, most),
    TLV_FIELD(3, TLV_BYTES, wire_list, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_list, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(5, TLV_TEXT, wire_list, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(6, TLV_LIST, wire_list, states, .max = 64, .sub = &wire_name_desc),
    TLV_FIELD(7, TLV_LIST, wire_list, labels, .max = 64, .sub = &wire_pair_desc),
    TLV_FIELD(8, TLV_I64, wire_list, since_ms),
    TLV_FIELD(9, TLV_I64, wire_list, until_ms),
    TLV_FIELD(10, TLV_TEXT, wire_list, text, .max = WIRE_TEXT_MAX),
    TLV_FIELD(12, TLV_BOOL, wire_list, graph),
    TLV_FIELD(13, TLV_TEXT, wire_list, items_of, .max = WIRE_NAME_MAX),
    TLV_FIELD(14, TLV_TEXT, wire_list, job, .max = WIRE_NAME_MAX),
    TLV_FIELD(15, TLV_TEXT, wire_list, label, .max = WIRE_NAME_MAX),
    TLV_FIELD(16, TLV_BOOL, wire_list, newest),
    TLV_FIELD(17, TLV_TEXT, wire_list, schedule, .max = WIRE_NAME_MAX),
    TLV_FIELD(20, TLV_BOOL, wire_list, items),
    TLV_FIELD(21, TLV_BOOL, wire_list, apart),
    TLV_FIELD(22, TLV_BOOL, wire_list, reasons),
};
const struct tlv_desc wire_list_desc = TLV_DESC("list", wire_list, list_fields);

static const struct tlv_field listed_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_listed, lsn),
    TLV_FIELD(2, TLV_BYTES, wire_listed, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(3, TLV_LIST, wire_listed, flows, .max = WIRE_COUNT_MAX, .sub = &wire_flow_view_desc),
    TLV_FIELD(4, TLV_LIST, wire_listed, jobs, .max = WIRE_COUNT_MAX, .sub = &wire_job_view_desc),
    TLV_FIELD(5, TLV_LIST, wire_listed, questions, .max = WIRE_COUNT_MAX, .sub = &wire_question_view_desc),
    TLV_FIELD(6, TLV_LIST, wire_listed, workers, .max = WIRE_COUNT_MAX, .sub = &wire_worker_view_desc),
    TLV_FIELD(7, TLV_BOOL, wire_listed, partial),
};
const struct tlv_desc wire_listed_desc = TLV_DESC("listed", wire_listed, listed_fields);

static const struct tlv_field why_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_why, job, .max = WIRE_TARGET_MAX),
};
const struct tlv_desc wire_why_desc = TLV_DESC("why", wire_why, why_fields);

static const struct tlv_field reason_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_reason, lsn),
    TLV_FIELD(2, TLV_TEXT, wire_reason, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_reason, state, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_reason, code, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_TEXT, wire_reason, text, .max = WIRE_TEXT_MAX),
    TLV_FIELD(6, TLV_U32, wire_reason, parents_open),
    TLV_FIELD(7, TLV_TEXT, wire_reason, parent, .max = WIRE_TARGET_MAX),
    TLV_FIELD(8, TLV_I64, wire_reason, until_ms),
    TLV_FIELD(9, TLV_TEXT, wire_reason, limit, .max = WIRE_NAME_MAX),
    TLV_FIELD(10, TLV_U64, wire_reason, question),
    TLV_FIELD(11, TLV_TEXT, wire_reason, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(12, TLV_TEXT, wire_reason, gate, .max = WIRE_NAME_MAX),
    TLV_FIELD(30, TLV_I64, wire_reason, poll_ms),
};
const struct tlv_desc wire_reason_desc = TLV_DESC("reason", wire_reason, reason_fields);

static const struct tlv_field wait_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_wait, targets, .max = 10000, .sub = &wire_name_desc),
    TLV_FIELD(2, TLV_BOOL, wire_wait, any),
    TLV_FIELD(3, TLV_I64, wire_wait, timeout_ms),
};
const struct tlv_desc wire_wait_desc = TLV_DESC("wait", wire_wait, wait_fields);

static const struct tlv_field waited_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_waited, lsn),
    TLV_FIELD(2, TLV_LIST, wire_waited, over, .max = 10000, .sub = &wire_job_view_desc),
    TLV_FIELD(3, TLV_BOOL, wire_waited, timed_out),
};
const struct tlv_desc wire_waited_desc = TLV_DESC("waited", wire_waited, waited_fields);

static const struct tlv_field subscribe_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_subscribe, after_lsn),
    TLV_FIELD(2, TLV_U32, wire_subscribe, after_ordinal),
    TLV_FIELD(3, TLV_BOOL, wire_subscribe, from_start),
    TLV_FIELD(4, TLV_LIST, wire_subscribe, targets, .max = 10000, .sub = &wire_name_desc),
    TLV_FIELD(5, TLV_BOOL, wire_subscribe, state_first),
};
const struct tlv_desc wire_subscribe_desc = TLV_DESC("subscribe", wire_subscribe, subscribe_fields);

static const struct tlv_field events_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_events, events, .max = WIRE_COUNT_MAX, .sub = &wire_event_desc),
    TLV_FIELD(2, TLV_BOOL, wire_events, gap),
};
const struct tlv_desc wire_events_desc = TLV_DESC("events", wire_events, events_fields);

static const struct tlv_field follow_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_follow, since, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_follow, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_follow, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(4, TLV_LIST, wire_follow, type, .max = 16, .sub = &wire_name_desc),
    TLV_FIELD(5, TLV_BOOL, wire_follow, once),
    TLV_FIELD(6, TLV_LIST, wire_follow, targets, .max = 10000, .sub = &wire_name_desc),
    TLV_FIELD(7, TLV_BOOL, wire_follow, state_first),
};
const struct tlv_desc wire_follow_desc = TLV_DESC("follow", wire_follow, follow_fields);

static const struct tlv_field tale_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_tale, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_tale, since, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_U32, wire_tale, most),
};
const struct tlv_desc wire_tale_desc = TLV_DESC("tale", wire_tale, tale_fields);

static const struct tlv_field told_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_told, lsn),
    TLV_FIELD(2, TLV_LIST, wire_told, events, .max = WIRE_COUNT_MAX, .sub = &wire_event_desc),
    TLV_FIELD(3, TLV_TEXT, wire_told, cursor, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_BOOL, wire_told, gap),
};
const struct tlv_desc wire_told_desc = TLV_DESC("told", wire_told, told_fields);

static const struct tlv_field logs_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_logs, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_U32, wire_logs, attempt),
    TLV_FIELD(3, TLV_U64, wire_logs, offset),
    TLV_FIELD(4, TLV_U64, wire_logs, tail_bytes),
    TLV_FIELD(5, TLV_U64, wire_logs, most),
    TLV_FIELD(6, TLV_BOOL, wire_logs, follow),
    TLV_FIELD(7, TLV_BOOL, wire_logs, now),
    TLV_FIELD(8, TLV_BOOL, wire_logs, marks),
};
const struct tlv_desc wire_logs_desc = TLV_DESC("logs", wire_logs, logs_fields);

static const struct tlv_field log_data_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_log_data, attempt),
    TLV_FIELD(2, TLV_LIST, wire_log_data, pieces, .max = WIRE_COUNT_MAX, .sub = &wire_log_piece_desc),
    TLV_FIELD(3, TLV_U64, wire_log_data, cut_bytes),
    TLV_FIELD(4, TLV_BOOL, wire_log_data, over),
    TLV_FIELD(5, TLV_TEXT, wire_log_data, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(6, TLV_U64, wire_log_data, bytes),
};
const struct tlv_desc wire_log_data_desc = TLV_DESC("log_data", wire_log_data, log_data_fields);

static const struct tlv_field stats_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_stats, lsn),
    TLV_FIELD(2, TLV_LIST, wire_stats, numbers, .max = 10000, .sub = &wire_amount_desc),
};
const struct tlv_desc wire_stats_desc = TLV_DESC("stats", wire_stats, stats_fields);

static const struct tlv_field stats_past_fields[] = {
    TLV_FIELD(1, TLV_I64, wire_stats_past, since_ms),
    TLV_FIELD(2, TLV_U64, wire_stats_past, step_ms),
};
const struct tlv_desc wire_stats_past_desc = TLV_DESC("stats_past", wire_stats_past, stats_past_fields);

static const struct tlv_field sample_fields[] = {
    TLV_FIELD(1, TLV_I64, wire_sample, time_ms),
    TLV_FIELD(2, TLV_LIST, wire_sample, numbers, .max = 100, .sub = &wire_amount_desc),
};
const struct tlv_desc wire_sample_desc = TLV_DESC("sample", wire_sample, sample_fields);

static const struct tlv_field numbers_past_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_numbers_past, lsn),
    TLV_FIELD(2, TLV_LIST, wire_numbers_past, samples, .max = 10000, .sub = &wire_sample_desc),
};
const struct tlv_desc wire_numbers_past_desc = TLV_DESC("numbers_past", wire_numbers_past, numbers_past_fields);

static const struct tlv_field metrics_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_metrics, lsn),
    TLV_FIELD(2, TLV_TEXT, wire_metrics, text, .max = WIRE_METRICS_MAX),
};
const struct tlv_desc wire_metrics_desc = TLV_DESC("metrics", wire_metrics, metrics_fields);

static const struct tlv_field no_fields[1]; /* never looked at, but an address */
const struct tlv_desc wire_empty_desc = {.name = "empty", .size = sizeof(struct wire_empty), .fields = no_fields};
/* clang-format on */
