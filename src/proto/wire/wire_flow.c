/* wire_flow.c: the tables behind wire_flow.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_flow.h"

#include "wire_run.h"

/* clang-format off */
static const char *const scope_words[WIRE_SCOPE_COUNT] = {"flow", "pool", "tenant"};
static const char *const verdict_words[2 * WIRE_VERDICT_COUNT] = {
    "approve", "reject", "constrain", "hold", "again", "quarantine", "redact", "fail",
    [WIRE_VERDICT_COUNT] = "allow", "deny", /* their old words */
};

static const struct tlv_field demand_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_demand, pool, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_demand, topic, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_LIST, wire_demand, capabilities, .max = 64, .sub = &wire_name_desc),
    TLV_FIELD(4, TLV_LIST, wire_demand, labels, .max = 64, .sub = &wire_pair_desc),
    TLV_FIELD(5, TLV_U32, wire_demand, cpu_milli),
    TLV_FIELD(6, TLV_U64, wire_demand, memory_bytes),
    TLV_FIELD(7, TLV_U32, wire_demand, gpus),
    TLV_FIELD(8, TLV_LIST, wire_demand, resources, .max = 16, .sub = &wire_amount_desc),
    TLV_FIELD(9, TLV_LIST, wire_demand, keys, .max = 16, .sub = &wire_name_desc),
    TLV_FIELD(10, TLV_LIST, wire_demand, rates, .max = 16, .sub = &wire_name_desc),
};
const struct tlv_desc wire_demand_desc = TLV_DESC("demand", wire_demand, demand_fields);

static const struct tlv_field options_fields[] = {
    TLV_FIELD(1, TLV_ENUM, wire_options, kind, .max = JOB_KIND_COUNT, .names = job_kind_words),
    TLV_FIELD(2, TLV_I64, wire_options, priority),
    TLV_FIELD(3, TLV_MSG, wire_options, demand, .sub = &wire_demand_desc),
    TLV_FIELD(4, TLV_U32, wire_options, attempts_max),
#define X(name, type, journal, wire, standard, wait, text) JOB_OPTION_FIELD_##type(wire, wire_options, name),
    JOB_OPTION_TABLE_OF_WIRE(X)
#undef X
    TLV_FIELD(0, TLV_RAW, wire_options, raw),
};
const struct tlv_desc wire_options_desc = TLV_DESC("options", wire_options, options_fields);

static const struct tlv_field job_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_job, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_U32, wire_job, options),
    TLV_FIELD(3, TLV_U32S, wire_job, parents, .max = WIRE_COUNT_MAX),
    TLV_FIELD(4, TLV_LIST, wire_job, parent_names, .max = WIRE_COUNT_MAX, .sub = &wire_name_desc),
    TLV_FIELD(5, TLV_BYTES, wire_job, body, .max = WIRE_BODY_MAX, .form = TLV_FORM_MESSAGE, .sub = &wire_run_desc),
    TLV_FIELD(6, TLV_U32, wire_job, undo_options),
    TLV_FIELD(7, TLV_BYTES, wire_job, undo_body, .max = WIRE_BODY_MAX, .form = TLV_FORM_MESSAGE, .sub = &wire_run_desc),
    TLV_FIELD(8, TLV_U32, wire_job, child_options),
    TLV_FIELD(9, TLV_TEXT, wire_job, service, .max = WIRE_NAME_MAX),
    TLV_FIELD(10, TLV_HASH, wire_job, cache_key),
};
const struct tlv_desc wire_job_desc = TLV_DESC("job", wire_job, job_fields);

static const struct tlv_field jobs_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_jobs, options, .max = 10000, .sub = &wire_options_desc),
    TLV_FIELD(2, TLV_LIST, wire_jobs, jobs, .max = WIRE_COUNT_MAX, .sub = &wire_job_desc),
    TLV_FIELD(3, TLV_BOOL, wire_jobs, more),
};
const struct tlv_desc wire_jobs_desc = TLV_DESC("jobs", wire_jobs, jobs_fields);

static const struct tlv_field source_file_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_source_file, path, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_BYTES, wire_source_file, bytes, .max = WIRE_BODY_MAX),
    TLV_FIELD(3, TLV_HASH, wire_source_file, hash),
};
static const struct tlv_desc wire_source_file_desc = TLV_DESC("source_file", wire_source_file, source_file_fields);

static const struct tlv_field source_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_source, text, .max = WIRE_SOURCE_MAX),
    TLV_FIELD(2, TLV_BYTES, wire_source, spec, .max = WIRE_SOURCE_MAX, .form = TLV_FORM_JSON),
    TLV_FIELD(3, TLV_LIST, wire_source, files, .max = 10000, .sub = &wire_source_file_desc),
};
const struct tlv_desc wire_source_desc = TLV_DESC("source", wire_source, source_fields);

static const struct tlv_field flow_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_flow, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_flow, key, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_I64, wire_flow, key_ms),
    TLV_FIELD(4, TLV_TEXT, wire_flow, trace, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_LIST, wire_flow, labels, .max = 64, .sub = &wire_pair_desc),
    TLV_FIELD(6, TLV_MSG, wire_flow, part, .sub = &wire_jobs_desc),
    TLV_FIELD(7, TLV_BYTES, wire_flow, spec, .form = TLV_FORM_JSON),
    TLV_FIELD(8, TLV_BYTES, wire_flow, params, .max = WIRE_BODY_MAX, .form = TLV_FORM_JSON),
    TLV_FIELD(9, TLV_BOOL, wire_flow, check),
    TLV_FIELD(10, TLV_ENUM, wire_flow, compensate_on, .max = COMPENSATE_COUNT, .names = compensate_on_words),
    TLV_FIELD(20, TLV_MSG, wire_flow, source, .sub = &wire_source_desc),
    TLV_FIELD(21, TLV_TEXT, wire_flow, source_name, .max = WIRE_NAME_MAX),
    TLV_FIELD(80, TLV_I64, wire_flow, timeout_ms),
    TLV_FIELD(81, TLV_I64, wire_flow, deadline_ms),
    TLV_FIELD(82, TLV_I64, wire_flow, late_after_ms),
};
const struct tlv_desc wire_flow_desc = TLV_DESC("flow", wire_flow, flow_fields);

static const struct tlv_field again_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_again, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_BYTES, wire_again, params, .max = WIRE_BODY_MAX, .form = TLV_FORM_JSON),
    TLV_FIELD(3, TLV_BOOL, wire_again, check),
};
const struct tlv_desc wire_again_desc = TLV_DESC("again", wire_again, again_fields);

static const struct tlv_field source_get_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_source_get, flow, .max = WIRE_TARGET_MAX),
};
const struct tlv_desc wire_source_get_desc = TLV_DESC("source_get", wire_source_get, source_get_fields);

static const struct tlv_field source_got_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_source_got, lsn),
    TLV_FIELD(2, TLV_TEXT, wire_source_got, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_source_got, text, .max = WIRE_SOURCE_MAX),
    TLV_FIELD(4, TLV_BYTES, wire_source_got, params, .max = WIRE_BODY_MAX, .form = TLV_FORM_JSON),
};
const struct tlv_desc wire_source_got_desc = TLV_DESC("source_got", wire_source_got, source_got_fields);

static const struct tlv_field submit_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_submit, flows, .max = WIRE_FLOWS_MAX, .sub = &wire_flow_desc),
};
const struct tlv_desc wire_submit_desc = TLV_DESC("submit", wire_submit, submit_fields);

static const struct tlv_field submitted_flow_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_submitted_flow, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_U32, wire_submitted_flow, job_count),
    TLV_FIELD(3, TLV_BOOL, wire_submitted_flow, repeated),
    TLV_FIELD(4, TLV_TEXT, wire_submitted_flow, code, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_TEXT, wire_submitted_flow, message, .max = WIRE_TEXT_MAX),
    TLV_FIELD(6, TLV_U32, wire_submitted_flow, retry_after_ms),
};
const struct tlv_desc wire_submitted_flow_desc = TLV_DESC("submitted_flow", wire_submitted_flow, submitted_flow_fields);

static const struct tlv_field submitted_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_submitted, lsn),
    TLV_FIELD(2, TLV_LIST, wire_submitted, flows, .max = WIRE_COUNT_MAX, .sub = &wire_submitted_flow_desc),
};
const struct tlv_desc wire_submitted_desc = TLV_DESC("submitted", wire_submitted, submitted_fields);

static const struct tlv_field add_jobs_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_add_jobs, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_MSG, wire_add_jobs, part, .sub = &wire_jobs_desc),
    TLV_FIELD(3, TLV_BYTES, wire_add_jobs, spec, .form = TLV_FORM_JSON),
    TLV_FIELD(4, TLV_BYTES, wire_add_jobs, params, .max = WIRE_BODY_MAX, .form = TLV_FORM_JSON),
};
const struct tlv_desc wire_add_jobs_desc = TLV_DESC("add_jobs", wire_add_jobs, add_jobs_fields);

static const struct tlv_field targets_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_targets, targets, .max = 10000, .sub = &wire_name_desc),
    TLV_FIELD(2, TLV_TEXT, wire_targets, reason, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_targets_desc = TLV_DESC("targets", wire_targets, targets_fields);

static const struct tlv_field dead_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_dead, targets, .max = 10000, .sub = &wire_name_desc),
    TLV_FIELD(2, TLV_BOOL, wire_dead, all),
    TLV_FIELD(3, TLV_TEXT, wire_dead, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_dead, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_LIST, wire_dead, states, .max = 64, .sub = &wire_name_desc),
    TLV_FIELD(6, TLV_I64, wire_dead, since_ms),
    TLV_FIELD(7, TLV_I64, wire_dead, until_ms),
};
const struct tlv_desc wire_dead_desc = TLV_DESC("dead", wire_dead, dead_fields);

static const struct tlv_field pause_fields[] = {
    TLV_FIELD(1, TLV_ENUM, wire_pause, scope, .max = WIRE_SCOPE_COUNT, .names = scope_words),
    TLV_FIELD(2, TLV_TEXT, wire_pause, name, .max = WIRE_TARGET_MAX),
};
const struct tlv_desc wire_pause_desc = TLV_DESC("pause", wire_pause, pause_fields);

static const struct tlv_field verdict_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_verdict, question),
    TLV_FIELD(2, TLV_TEXT, wire_verdict, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(3, TLV_U32, wire_verdict, revision),
    TLV_FIELD(4, TLV_HASH, wire_verdict, hash),
    TLV_FIELD(5, TLV_ENUM, wire_verdict, verdict, .max = WIRE_VERDICT_COUNT, .names = verdict_words,
              .form = TLV_FORM_RENAMED),
    TLV_FIELD(6, TLV_TEXT, wire_verdict, reason, .max = WIRE_TEXT_MAX),
    TLV_FIELD(7, TLV_BYTES, wire_verdict, payload, .max = WIRE_BODY_MAX),
    TLV_FIELD(8, TLV_I64, wire_verdict, again_ms),
    TLV_FIELD(9, TLV_U64, wire_verdict, policy),
    TLV_FIELD(10, TLV_BOOL, wire_verdict, fatal),
    TLV_FIELD(11, TLV_HASH, wire_verdict, items),
    TLV_FIELD(12, TLV_U32, wire_verdict, item_count),
};
const struct tlv_desc wire_verdict_desc = TLV_DESC("verdict", wire_verdict, verdict_fields);

static const struct tlv_field complete_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_complete, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_BOOL, wire_complete, failed),
    TLV_FIELD(3, TLV_BYTES, wire_complete, output, .max = WIRE_BODY_MAX, .form = TLV_FORM_JSON),
    TLV_FIELD(4, TLV_TEXT, wire_complete, reason, .max = WIRE_TEXT_MAX),
    TLV_FIELD(5, TLV_TEXT, wire_complete, token, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_complete_desc = TLV_DESC("complete", wire_complete, complete_fields);

static const struct tlv_field callback_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_callback, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_I64, wire_callback, for_ms),
};
const struct tlv_desc wire_callback_desc = TLV_DESC("callback", wire_callback, callback_fields);

static const struct tlv_field callback_given_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_callback_given, lsn),
    TLV_FIELD(2, TLV_TEXT, wire_callback_given, token, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_callback_given, url, .max = WIRE_TEXT_MAX),
    TLV_FIELD(4, TLV_I64, wire_callback_given, expires_ms),
};
const struct tlv_desc wire_callback_given_desc = TLV_DESC("callback_given", wire_callback_given, callback_given_fields);
/* clang-format on */
