/* wire_admin.c: the tables behind wire_admin.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_admin.h"

/* clang-format off */
static const char *const catch_up_words[WIRE_CATCH_UP_COUNT] = {"all", "last", "none"};
static const char *const overlap_words[WIRE_OVERLAP_COUNT] = {"skip", "queue", "replace"};
static const char *const schedule_op_words[WIRE_SCHEDULE_OP_COUNT] = {"remove", "pause", "resume", "backfill"};
static const char *const desired_words[WIRE_DESIRED_COUNT] = {"running", "stopped", "removed", "restart"};
static const char *const pool_state_words[WIRE_POOL_STATE_COUNT] = {"active", "draining", "inactive"};
static const char *const limit_kind_words[WIRE_LIMIT_KIND_COUNT] = {"key", "rate", "tenant"};

const char *const wire_principal_words[WIRE_PRINCIPAL_COUNT] = {"unknown", "person", "service",
                                                                "agent",   "worker", "job"};
static const struct tlv_field token_new_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_token_new, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_token_new, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_LIST, wire_token_new, roles, .max = 64, .sub = &wire_name_desc),
    TLV_FIELD(4, TLV_I64, wire_token_new, expires_ms),
    TLV_FIELD(5, TLV_ENUM, wire_token_new, kind, .max = WIRE_PRINCIPAL_COUNT, .names = wire_principal_words),
};
const struct tlv_desc wire_token_new_desc = TLV_DESC("token_new", wire_token_new, token_new_fields);

static const struct tlv_field token_given_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_token_given, lsn),
    TLV_FIELD(2, TLV_TEXT, wire_token_given, id, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_BYTES, wire_token_given, token, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_token_given_desc = TLV_DESC("token_given", wire_token_given, token_given_fields);
static const struct tlv_field login_link_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_login_link, lsn),
    TLV_FIELD(2, TLV_TEXT, wire_login_link, url, .max = WIRE_TEXT_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_login_link, ticket, .max = WIRE_TEXT_MAX),
    TLV_FIELD(4, TLV_I64, wire_login_link, expires_ms),
};
const struct tlv_desc wire_login_link_desc = TLV_DESC("login_link", wire_login_link, login_link_fields);

static const struct tlv_field login_use_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_login_use, ticket, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_login_use_desc = TLV_DESC("login_use", wire_login_use, login_use_fields);
static const struct tlv_field logout_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_logout, session),
};
const struct tlv_desc wire_logout_desc = TLV_DESC("logout", wire_logout, logout_fields);

static const struct tlv_field token_view_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_token_view, id, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_token_view, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_token_view, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_LIST, wire_token_view, roles, .max = 64, .sub = &wire_name_desc),
    TLV_FIELD(5, TLV_I64, wire_token_view, created_ms),
    TLV_FIELD(6, TLV_I64, wire_token_view, expires_ms),
    TLV_FIELD(7, TLV_I64, wire_token_view, used_ms),
    TLV_FIELD(8, TLV_ENUM, wire_token_view, kind, .max = WIRE_PRINCIPAL_COUNT, .names = wire_principal_words),
};
const struct tlv_desc wire_token_view_desc = TLV_DESC("token_view", wire_token_view, token_view_fields);

static const struct tlv_field token_list_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_token_list, lsn),
    TLV_FIELD(2, TLV_LIST, wire_token_list, tokens, .max = WIRE_COUNT_MAX, .sub = &wire_token_view_desc),
};
const struct tlv_desc wire_token_list_desc = TLV_DESC("token_list", wire_token_list, token_list_fields);

static const struct tlv_field schedule_set_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_schedule_set, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_schedule_set, expression, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_ENUM, wire_schedule_set, catch_up, .max = WIRE_CATCH_UP_COUNT, .names = catch_up_words),
    TLV_FIELD(4, TLV_ENUM, wire_schedule_set, overlap, .max = WIRE_OVERLAP_COUNT, .names = overlap_words),
    TLV_FIELD(5, TLV_BOOL, wire_schedule_set, paused),
    TLV_FIELD(6, TLV_I64, wire_schedule_set, start_ms),
    TLV_FIELD(7, TLV_I64, wire_schedule_set, end_ms),
    TLV_FIELD(8, TLV_MSG, wire_schedule_set, flow, .sub = &wire_flow_desc),
    TLV_FIELD(90, TLV_TEXT, wire_schedule_set, calendar, .max = WIRE_CALENDAR_MAX),
    TLV_FIELD(91, TLV_TEXT, wire_schedule_set, key, .max = WIRE_TEXT_MAX),
    TLV_FIELD(92, TLV_TEXT, wire_schedule_set, when, .max = WIRE_NAME_MAX),
    TLV_FIELD(93, TLV_I64, wire_schedule_set, min_interval_ms),
    TLV_FIELD(94, TLV_BOOL, wire_schedule_set, own_changes),
};
const struct tlv_desc wire_schedule_set_desc = TLV_DESC("schedule_set", wire_schedule_set, schedule_set_fields);

static const struct tlv_field schedule_change_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_schedule_change, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_ENUM, wire_schedule_change, op, .max = WIRE_SCHEDULE_OP_COUNT, .names = schedule_op_words),
    TLV_FIELD(3, TLV_I64, wire_schedule_change, since_ms),
    TLV_FIELD(4, TLV_I64, wire_schedule_change, until_ms),
    TLV_FIELD(5, TLV_TEXT, wire_schedule_change, since, .max = WIRE_NAME_MAX),
    TLV_FIELD(6, TLV_TEXT, wire_schedule_change, until, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_schedule_change_desc = TLV_DESC("schedule_change", wire_schedule_change, schedule_change_fields);

static const struct tlv_field schedule_run_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_schedule_run, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_schedule_run, slot, .max = WIRE_NAME_MAX),
    TLV_FIELD(90, TLV_TEXT, wire_schedule_run, key, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_schedule_run_desc = TLV_DESC("schedule_run", wire_schedule_run, schedule_run_fields);

static const struct tlv_field schedule_ls_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_schedule_ls, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_U32, wire_schedule_ls, most),
    TLV_FIELD(3, TLV_TEXT, wire_schedule_ls, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_U32, wire_schedule_ls, ahead),
    TLV_FIELD(5, TLV_BOOL, wire_schedule_ls, details),
    TLV_FIELD(6, TLV_TEXT, wire_schedule_ls, since, .max = WIRE_NAME_MAX),
    TLV_FIELD(7, TLV_TEXT, wire_schedule_ls, until, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_schedule_ls_desc = TLV_DESC("schedule_ls", wire_schedule_ls, schedule_ls_fields);

static const struct tlv_field moment_fields[] = {
    TLV_FIELD(1, TLV_I64, wire_moment, ms),
    TLV_FIELD(2, TLV_TEXT, wire_moment, text, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_moment_desc = TLV_DESC("moment", wire_moment, moment_fields);

static const struct tlv_field slot_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_slot, what, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_I64, wire_slot, slot_ms),
    TLV_FIELD(3, TLV_TEXT, wire_slot, slot, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_U64, wire_slot, count),
    TLV_FIELD(5, TLV_TEXT, wire_slot, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(6, TLV_TEXT, wire_slot, state, .max = WIRE_NAME_MAX),
    TLV_FIELD(90, TLV_TEXT, wire_slot, text, .max = WIRE_CALENDAR_MAX),
};
const struct tlv_desc wire_slot_desc = TLV_DESC("slot", wire_slot, slot_fields);

static const struct tlv_field schedule_view_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_schedule_view, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_schedule_view, expression, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_ENUM, wire_schedule_view, catch_up, .max = WIRE_CATCH_UP_COUNT, .names = catch_up_words),
    TLV_FIELD(4, TLV_ENUM, wire_schedule_view, overlap, .max = WIRE_OVERLAP_COUNT, .names = overlap_words),
    TLV_FIELD(5, TLV_BOOL, wire_schedule_view, paused),
    TLV_FIELD(6, TLV_I64, wire_schedule_view, next_ms),
    TLV_FIELD(7, TLV_I64, wire_schedule_view, fired_ms),
    TLV_FIELD(8, TLV_TEXT, wire_schedule_view, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(9, TLV_BOOL, wire_schedule_view, running),
    TLV_FIELD(10, TLV_TEXT, wire_schedule_view, code, .max = WIRE_NAME_MAX),
    TLV_FIELD(11, TLV_TEXT, wire_schedule_view, text, .max = WIRE_TEXT_MAX),
    TLV_FIELD(12, TLV_U64, wire_schedule_view, fired),
    TLV_FIELD(13, TLV_U64, wire_schedule_view, missed),
    TLV_FIELD(14, TLV_U64, wire_schedule_view, skipped),
    TLV_FIELD(15, TLV_U32, wire_schedule_view, waiting),
    TLV_FIELD(16, TLV_LIST, wire_schedule_view, ahead, .max = WIRE_AHEAD_MAX, .sub = &wire_moment_desc),
    TLV_FIELD(17, TLV_TEXT, wire_schedule_view, zone, .max = WIRE_NAME_MAX),
    TLV_FIELD(18, TLV_TEXT, wire_schedule_view, principal, .max = WIRE_NAME_MAX),
    TLV_FIELD(19, TLV_TEXT, wire_schedule_view, next, .max = WIRE_NAME_MAX),
    TLV_FIELD(20, TLV_LIST, wire_schedule_view, slots, .max = 64, .sub = &wire_slot_desc),
    TLV_FIELD(21, TLV_LIST, wire_schedule_view, between, .max = WIRE_COUNT_MAX, .sub = &wire_moment_desc),
    TLV_FIELD(90, TLV_TEXT, wire_schedule_view, calendar, .max = WIRE_CALENDAR_MAX),
    TLV_FIELD(91, TLV_U64, wire_schedule_view, excluded),
};
const struct tlv_desc wire_schedule_view_desc = TLV_DESC("schedule_view", wire_schedule_view, schedule_view_fields);

static const struct tlv_field schedule_list_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_schedule_list, lsn),
    TLV_FIELD(2, TLV_BYTES, wire_schedule_list, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(3, TLV_LIST, wire_schedule_list, schedules, .max = WIRE_COUNT_MAX, .sub = &wire_schedule_view_desc),
};
const struct tlv_desc wire_schedule_list_desc = TLV_DESC("schedule_list", wire_schedule_list, schedule_list_fields);

static const struct tlv_field service_set_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_service_set, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_ENUM, wire_service_set, desired, .max = WIRE_DESIRED_COUNT, .names = desired_words),
    TLV_FIELD(3, TLV_U32, wire_service_set, replicas),
};
const struct tlv_desc wire_service_set_desc = TLV_DESC("service_set", wire_service_set, service_set_fields);

static const struct tlv_field service_get_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_service_get, name, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_service_get_desc = TLV_DESC("service_get", wire_service_get, service_get_fields);

static const struct tlv_field service_rollback_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_service_rollback, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_U32, wire_service_rollback, version),
};
const struct tlv_desc wire_service_rollback_desc =
    TLV_DESC("service_rollback", wire_service_rollback, service_rollback_fields);

static const struct tlv_field service_version_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_service_version, version),
    TLV_FIELD(2, TLV_TEXT, wire_service_version, state, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_service_version, by, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_service_version, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(5, TLV_TEXT, wire_service_version, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(6, TLV_I64, wire_service_version, begun_ms),
    TLV_FIELD(7, TLV_I64, wire_service_version, healthy_ms),
    TLV_FIELD(8, TLV_I64, wire_service_version, ended_ms),
    TLV_FIELD(9, TLV_U32, wire_service_version, restarts),
    TLV_FIELD(10, TLV_BOOL, wire_service_version, kept),
};
static const struct tlv_desc service_version_desc =
    TLV_DESC("service_version", wire_service_version, service_version_fields);

static const struct tlv_field service_view_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_service_view, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_service_view, state, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_service_view, job, .max = WIRE_TARGET_MAX),
    TLV_FIELD(4, TLV_BOOL, wire_service_view, healthy),
    TLV_FIELD(5, TLV_U32, wire_service_view, restarts),
    TLV_FIELD(6, TLV_TEXT, wire_service_view, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(7, TLV_I64, wire_service_view, since_ms),
    TLV_FIELD(8, TLV_U32, wire_service_view, version),
    TLV_FIELD(9, TLV_U32, wire_service_view, previous_version),
    TLV_FIELD(10, TLV_BOOL, wire_service_view, deploying),
    TLV_FIELD(11, TLV_U32, wire_service_view, port),
    TLV_FIELD(12, TLV_TEXT, wire_service_view, code, .max = WIRE_NAME_MAX),
    TLV_FIELD(13, TLV_TEXT, wire_service_view, text, .max = WIRE_TEXT_MAX),
    TLV_FIELD(14, TLV_I64, wire_service_view, due_ms),
    TLV_FIELD(15, TLV_U32, wire_service_view, attempt),
    TLV_FIELD(16, TLV_TEXT, wire_service_view, replica_of, .max = WIRE_NAME_MAX),
    TLV_FIELD(17, TLV_U32, wire_service_view, replica),
    TLV_FIELD(18, TLV_TEXT, wire_service_view, update, .max = WIRE_NAME_MAX),
    TLV_FIELD(19, TLV_BOOL, wire_service_view, overlaps),
    TLV_FIELD(20, TLV_BOOL, wire_service_view, previous_healthy),
    TLV_FIELD(21, TLV_U32, wire_service_view, previous_port),
    TLV_FIELD(40, TLV_LIST, wire_service_view, versions, .max = 64, .sub = &service_version_desc),
};
const struct tlv_desc wire_service_view_desc = TLV_DESC("service_view", wire_service_view, service_view_fields);

static const struct tlv_field service_list_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_service_list, lsn),
    TLV_FIELD(2, TLV_BYTES, wire_service_list, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(3, TLV_LIST, wire_service_list, services, .max = WIRE_COUNT_MAX, .sub = &wire_service_view_desc),
};
const struct tlv_desc wire_service_list_desc = TLV_DESC("service_list", wire_service_list, service_list_fields);

static const struct tlv_field page_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_page, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_U32, wire_page, most),
};
const struct tlv_desc wire_page_desc = TLV_DESC("page", wire_page, page_fields);

static const struct tlv_field pool_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_pool, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_ENUM, wire_pool, state, .max = WIRE_POOL_STATE_COUNT, .names = pool_state_words),
    TLV_FIELD(3, TLV_BOOL, wire_pool, refuse_overload),
    TLV_FIELD(4, TLV_LIST, wire_pool, capabilities, .max = 64, .sub = &wire_name_desc),
};
const struct tlv_desc wire_pool_desc = TLV_DESC("pool", wire_pool, pool_fields);

static const struct tlv_field topic_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_topic, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_LIST, wire_topic, pools, .max = 64, .sub = &wire_name_desc),
};
const struct tlv_desc wire_topic_desc = TLV_DESC("topic", wire_topic, topic_fields);

static const struct tlv_field tenant_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_tenant, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_U32, wire_tenant, weight),
};
const struct tlv_desc wire_tenant_desc = TLV_DESC("tenant", wire_tenant, tenant_fields);

static const struct tlv_field limit_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_limit, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_ENUM, wire_limit, kind, .max = WIRE_LIMIT_KIND_COUNT, .names = limit_kind_words),
    TLV_FIELD(3, TLV_TEXT, wire_limit, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_BOOL, wire_limit, clear),
    TLV_FIELD(5, TLV_U32, wire_limit, width),
    TLV_FIELD(6, TLV_U64, wire_limit, rate_milli),
    TLV_FIELD(7, TLV_U64, wire_limit, burst),
    TLV_FIELD(8, TLV_U32, wire_limit, running),
    TLV_FIELD(9, TLV_U64, wire_limit, queued),
    TLV_FIELD(10, TLV_U64, wire_limit, bytes),
};
const struct tlv_desc wire_limit_desc = TLV_DESC("limit", wire_limit, limit_fields);

static const struct tlv_field limit_view_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_limit_view, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_ENUM, wire_limit_view, kind, .max = WIRE_LIMIT_KIND_COUNT, .names = limit_kind_words),
    TLV_FIELD(3, TLV_TEXT, wire_limit_view, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_BOOL, wire_limit_view, set),
    TLV_FIELD(5, TLV_U32, wire_limit_view, width),
    TLV_FIELD(6, TLV_U32, wire_limit_view, taken),
    TLV_FIELD(7, TLV_U64, wire_limit_view, rate_milli),
    TLV_FIELD(8, TLV_U64, wire_limit_view, burst),
    TLV_FIELD(9, TLV_U64, wire_limit_view, level_milli),
    TLV_FIELD(10, TLV_U32, wire_limit_view, running_max),
    TLV_FIELD(11, TLV_U32, wire_limit_view, running),
    TLV_FIELD(12, TLV_U64, wire_limit_view, queued_max),
    TLV_FIELD(13, TLV_U64, wire_limit_view, queued),
    TLV_FIELD(14, TLV_U64, wire_limit_view, bytes_max),
    TLV_FIELD(15, TLV_U64, wire_limit_view, bytes),
};
const struct tlv_desc wire_limit_view_desc = TLV_DESC("limit_view", wire_limit_view, limit_view_fields);

static const struct tlv_field limit_list_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_limit_list, lsn),
    TLV_FIELD(2, TLV_BYTES, wire_limit_list, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(3, TLV_LIST, wire_limit_list, limits, .max = WIRE_COUNT_MAX, .sub = &wire_limit_view_desc),
};
const struct tlv_desc wire_limit_list_desc = TLV_DESC("limit_list", wire_limit_list, limit_list_fields);

static const struct tlv_field drain_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_drain, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_BOOL, wire_drain, undo),
    TLV_FIELD(3, TLV_BOOL, wire_drain, end),
};
const struct tlv_desc wire_drain_desc = TLV_DESC("drain", wire_drain, drain_fields);

/* clang-format on */

static const struct tlv_field audit_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_audit, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_audit, principal, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_audit, kind, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_BOOL, wire_audit, people),
    TLV_FIELD(5, TLV_I64, wire_audit, since_ms),
    TLV_FIELD(6, TLV_I64, wire_audit, until_ms),
    TLV_FIELD(7, TLV_BYTES, wire_audit, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(8, TLV_U32, wire_audit, most),
    TLV_FIELD(9, TLV_TEXT, wire_audit, verb, .max = WIRE_NAME_MAX),
    TLV_FIELD(10, TLV_TEXT, wire_audit, object, .max = WIRE_TARGET_MAX),
    TLV_FIELD(11, TLV_TEXT, wire_audit, tenant, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_audit_desc = TLV_DESC("audit", wire_audit, audit_fields);

static const struct tlv_field audit_record_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_audit_record, lsn),
    TLV_FIELD(2, TLV_I64, wire_audit_record, time_ms),
    TLV_FIELD(3, TLV_TEXT, wire_audit_record, principal, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_TEXT, wire_audit_record, kind, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_TEXT, wire_audit_record, target, .max = WIRE_TARGET_MAX),
    TLV_FIELD(6, TLV_TEXT, wire_audit_record, text, .max = WIRE_TEXT_MAX),
    TLV_FIELD(7, TLV_TEXT, wire_audit_record, verb, .max = WIRE_NAME_MAX),
    TLV_FIELD(8, TLV_TEXT, wire_audit_record, tenant, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_audit_record_desc = TLV_DESC("audit_record", wire_audit_record, audit_record_fields);

static const struct tlv_field audited_fields[] = {
    TLV_FIELD(1, TLV_LIST, wire_audited, records, .max = WIRE_COUNT_MAX, .sub = &wire_audit_record_desc),
    TLV_FIELD(2, TLV_BYTES, wire_audited, cursor, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_audited_desc = TLV_DESC("audited", wire_audited, audited_fields);

static const struct tlv_field checkpoint_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_checkpoint, shard),
    TLV_FIELD(2, TLV_U64, wire_checkpoint, number),
    TLV_FIELD(3, TLV_U64, wire_checkpoint, lsn),
    TLV_FIELD(4, TLV_U64, wire_checkpoint, from_lsn),
    TLV_FIELD(5, TLV_U64, wire_checkpoint, upto_lsn),
    TLV_FIELD(6, TLV_I64, wire_checkpoint, time_ms),
    TLV_FIELD(7, TLV_TEXT, wire_checkpoint, chain, .max = WIRE_NAME_MAX),
    TLV_FIELD(8, TLV_TEXT, wire_checkpoint, key, .max = WIRE_NAME_MAX),
    TLV_FIELD(9, TLV_TEXT, wire_checkpoint, signature, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_checkpoint_desc = TLV_DESC("checkpoint", wire_checkpoint, checkpoint_fields);

static const struct tlv_field audit_verify_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_audit_verify, key, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_audit_verify, since, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_audit_verify_desc = TLV_DESC("audit_verify", wire_audit_verify, audit_verify_fields);

static const struct tlv_field audit_verified_fields[] = {
    TLV_FIELD(1, TLV_BOOL, wire_audit_verified, ok),
    TLV_FIELD(2, TLV_TEXT, wire_audit_verified, text, .max = WIRE_TEXT_MAX),
    TLV_FIELD(3, TLV_U64, wire_audit_verified, from_lsn),
    TLV_FIELD(4, TLV_U64, wire_audit_verified, upto_lsn),
    TLV_FIELD(5, TLV_U64, wire_audit_verified, last_lsn),
    TLV_FIELD(6, TLV_U64, wire_audit_verified, checkpoints),
    TLV_FIELD(7, TLV_U64, wire_audit_verified, keys),
    TLV_FIELD(8, TLV_BOOL, wire_audit_verified, whole),
    TLV_FIELD(9, TLV_MSG, wire_audit_verified, checkpoint, .sub = &wire_checkpoint_desc),
};
const struct tlv_desc wire_audit_verified_desc = TLV_DESC("audit_verified", wire_audit_verified, audit_verified_fields);

#define EXPORT_FIELD(tag_, tlv_, member_, ...) \
    { .tag = (tag_), TLV_AT(tlv_, wire_audit_export, filter.member_), .name = #member_, __VA_ARGS__ }
static const struct tlv_field audit_export_fields[] = {
    EXPORT_FIELD(1, TLV_TEXT, flow, .max = WIRE_TARGET_MAX),
    EXPORT_FIELD(2, TLV_TEXT, principal, .max = WIRE_NAME_MAX),
    EXPORT_FIELD(3, TLV_TEXT, kind, .max = WIRE_NAME_MAX),
    EXPORT_FIELD(4, TLV_BOOL, people),
    EXPORT_FIELD(5, TLV_I64, since_ms),
    EXPORT_FIELD(6, TLV_I64, until_ms),
    EXPORT_FIELD(7, TLV_BYTES, cursor, .max = WIRE_TEXT_MAX),
    EXPORT_FIELD(8, TLV_U32, most),
    EXPORT_FIELD(9, TLV_TEXT, verb, .max = WIRE_NAME_MAX),
    EXPORT_FIELD(10, TLV_TEXT, object, .max = WIRE_TARGET_MAX),
    EXPORT_FIELD(11, TLV_TEXT, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(40, TLV_TEXT, wire_audit_export, format, .max = WIRE_NAME_MAX),
};
const struct tlv_desc wire_audit_export_desc = TLV_DESC("audit_export", wire_audit_export, audit_export_fields);

static const struct tlv_field audit_exported_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_audit_exported, lines, .max = WIRE_LINES_MAX),
    TLV_FIELD(2, TLV_BYTES, wire_audit_exported, cursor, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_audit_exported_desc = TLV_DESC("audit_exported", wire_audit_exported, audit_exported_fields);

static const struct tlv_field worker_start_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_worker_start, slots),
    TLV_FIELD(2, TLV_TEXT, wire_worker_start, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_LIST, wire_worker_start, labels, .max = 64, .sub = &wire_pair_desc),
};
const struct tlv_desc wire_worker_start_desc = TLV_DESC("worker_start", wire_worker_start, worker_start_fields);

static const struct tlv_field worker_started_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_worker_started, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_U32, wire_worker_started, pid),
};
const struct tlv_desc wire_worker_started_desc = TLV_DESC("worker_started", wire_worker_started, worker_started_fields);
