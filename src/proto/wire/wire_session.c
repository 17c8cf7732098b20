/* wire_session.c: the tables behind wire_session.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_session.h"

/* clang-format off */
static const struct tlv_field name_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_name, name, .max = WIRE_TARGET_MAX),
};
const struct tlv_desc wire_name_desc = TLV_DESC("name", wire_name, name_fields);

static const struct tlv_field pair_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_pair, key, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_pair, value, .max = WIRE_VALUE_MAX),
};
const struct tlv_desc wire_pair_desc = TLV_DESC("pair", wire_pair, pair_fields);

static const struct tlv_field amount_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_amount, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_U64, wire_amount, amount),
};
const struct tlv_desc wire_amount_desc = TLV_DESC("amount", wire_amount, amount_fields);

static const struct tlv_field result_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_result, target, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_result, code, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_result, message, .max = WIRE_TEXT_MAX),
    TLV_FIELD(4, TLV_BOOL, wire_result, repeated),
};
const struct tlv_desc wire_result_desc = TLV_DESC("result", wire_result, result_fields);

static const struct tlv_field kept_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_kept, name, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_HASH, wire_kept, hash),
    TLV_FIELD(3, TLV_U64, wire_kept, bytes),
};
const struct tlv_desc wire_kept_desc = TLV_DESC("kept", wire_kept, kept_fields);

const char *const wire_stream_words[WIRE_STREAM_COUNT] = {"out", "err", "note"};

static const struct tlv_field log_piece_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_log_piece, offset),
    TLV_FIELD(2, TLV_ENUM, wire_log_piece, stream, .max = WIRE_STREAM_COUNT, .names = wire_stream_words),
    TLV_FIELD(3, TLV_I64, wire_log_piece, time_ms),
    TLV_FIELD(4, TLV_BYTES, wire_log_piece, data, .max = WIRE_BODY_MAX),
};
const struct tlv_desc wire_log_piece_desc = TLV_DESC("log_piece", wire_log_piece, log_piece_fields);

static const char *const peer_words[WIRE_PEER_COUNT] = {"client", "worker"};

static const struct tlv_field hello_fields[] = {
    TLV_FIELD(1, TLV_U8, wire_hello, version_min),
    TLV_FIELD(2, TLV_U8, wire_hello, version_max),
    TLV_FIELD(3, TLV_ENUM, wire_hello, peer, .max = WIRE_PEER_COUNT, .names = peer_words),
    TLV_FIELD(4, TLV_TEXT, wire_hello, build, .max = WIRE_NAME_MAX),
    TLV_FIELD(5, TLV_BYTES, wire_hello, token, .max = WIRE_TOKEN_MAX),
    TLV_FIELD(6, TLV_TEXT, wire_hello, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(7, TLV_BOOL, wire_hello, agent),
};
const struct tlv_desc wire_hello_desc = TLV_DESC("hello", wire_hello, hello_fields);

static const struct tlv_field welcome_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_welcome, lsn),
    TLV_FIELD(2, TLV_U8, wire_welcome, version),
    TLV_FIELD(3, TLV_TEXT, wire_welcome, build, .max = WIRE_NAME_MAX),
    TLV_FIELD(4, TLV_U64, wire_welcome, epoch),
    TLV_FIELD(5, TLV_U32, wire_welcome, shard),
    TLV_FIELD(6, TLV_TEXT, wire_welcome, principal, .max = WIRE_NAME_MAX),
    TLV_FIELD(7, TLV_TEXT, wire_welcome, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(8, TLV_LIST, wire_welcome, roles, .max = 64, .sub = &wire_name_desc),
    TLV_FIELD(9, TLV_I64, wire_welcome, now_ms),
    TLV_FIELD(10, TLV_U32, wire_welcome, frame_bytes_max),
    TLV_FIELD(11, TLV_U32, wire_welcome, lease_ms),
    TLV_FIELD(12, TLV_U32, wire_welcome, heartbeat_ms),
};
const struct tlv_desc wire_welcome_desc = TLV_DESC("welcome", wire_welcome, welcome_fields);

static const struct tlv_field error_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_error, lsn),
    TLV_FIELD(2, TLV_TEXT, wire_error, code, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_error, message, .max = WIRE_TEXT_MAX),
    TLV_FIELD(4, TLV_U32, wire_error, retry_after_ms),
    TLV_FIELD(5, TLV_U64, wire_error, version),
};
const struct tlv_desc wire_error_desc = TLV_DESC("error", wire_error, error_fields);

static const struct tlv_field busy_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_busy, retry_after_ms),
    TLV_FIELD(2, TLV_TEXT, wire_busy, reason, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_busy_desc = TLV_DESC("busy", wire_busy, busy_fields);

static const struct tlv_field accepted_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_accepted, lsn),
    TLV_FIELD(2, TLV_BOOL, wire_accepted, repeated),
    TLV_FIELD(3, TLV_LIST, wire_accepted, results, .max = WIRE_COUNT_MAX, .sub = &wire_result_desc),
    TLV_FIELD(4, TLV_BOOL, wire_accepted, more),
};
const struct tlv_desc wire_accepted_desc = TLV_DESC("accepted", wire_accepted, accepted_fields);

static const struct tlv_field ping_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_ping, number),
};
const struct tlv_desc wire_ping_desc = TLV_DESC("ping", wire_ping, ping_fields);

static const struct tlv_field goodbye_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_goodbye, reason, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_U32, wire_goodbye, retry_after_ms),
};
const struct tlv_desc wire_goodbye_desc = TLV_DESC("goodbye", wire_goodbye, goodbye_fields);

static const struct tlv_field stop_fields[] = {
    TLV_FIELD(1, TLV_U32, wire_stop, request),
};
const struct tlv_desc wire_stop_desc = TLV_DESC("stop", wire_stop, stop_fields);
/* clang-format on */
