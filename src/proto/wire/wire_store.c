/* wire_store.c: the tables behind wire_store.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_store.h"

/* clang-format off */
static const char *const op_words[WIRE_KV_OP_COUNT] = {
    "set", "delete", "increase", "add", "remove", "expire", "publish",
};
static const char *const if_words[WIRE_KV_IF_COUNT] = {"always", "if_absent", "if_present", "if_version", "if_value"};

static const struct tlv_field blob_begin_fields[] = {
    TLV_FIELD(1, TLV_HASH, wire_blob_begin, hash),
    TLV_FIELD(2, TLV_U64, wire_blob_begin, bytes),
};
const struct tlv_desc wire_blob_begin_desc = TLV_DESC("blob_begin", wire_blob_begin, blob_begin_fields);

static const struct tlv_field blob_part_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_blob_part, upload),
    TLV_FIELD(2, TLV_U64, wire_blob_part, offset),
    TLV_FIELD(3, TLV_BYTES, wire_blob_part, data),
};
const struct tlv_desc wire_blob_part_desc = TLV_DESC("blob_part", wire_blob_part, blob_part_fields);

static const struct tlv_field blob_end_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_blob_end, upload),
    TLV_FIELD(2, TLV_HASH, wire_blob_end, hash),
};
const struct tlv_desc wire_blob_end_desc = TLV_DESC("blob_end", wire_blob_end, blob_end_fields);

static const struct tlv_field blob_state_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_blob_state, upload),
    TLV_FIELD(2, TLV_U64, wire_blob_state, offset),
    TLV_FIELD(3, TLV_BOOL, wire_blob_state, stored),
    TLV_FIELD(4, TLV_HASH, wire_blob_state, hash),
};
const struct tlv_desc wire_blob_state_desc = TLV_DESC("blob_state", wire_blob_state, blob_state_fields);

static const struct tlv_field blob_put_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_blob_put, data, .max = WIRE_BODY_MAX),
};
const struct tlv_desc wire_blob_put_desc = TLV_DESC("blob_put", wire_blob_put, blob_put_fields);

static const struct tlv_field blob_kept_fields[] = {
    TLV_FIELD(1, TLV_HASH, wire_blob_kept, hash),
    TLV_FIELD(2, TLV_U64, wire_blob_kept, bytes),
};
const struct tlv_desc wire_blob_kept_desc = TLV_DESC("blob_kept", wire_blob_kept, blob_kept_fields);

static const struct tlv_field blob_get_fields[] = {
    TLV_FIELD(1, TLV_HASH, wire_blob_get, hash),
    TLV_FIELD(2, TLV_U64, wire_blob_get, offset),
    TLV_FIELD(3, TLV_U64, wire_blob_get, most),
};
const struct tlv_desc wire_blob_get_desc = TLV_DESC("blob_get", wire_blob_get, blob_get_fields);

static const struct tlv_field blob_data_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_blob_data, offset),
    TLV_FIELD(2, TLV_U64, wire_blob_data, bytes),
    TLV_FIELD(3, TLV_BYTES, wire_blob_data, data),
};
const struct tlv_desc wire_blob_data_desc = TLV_DESC("blob_data", wire_blob_data, blob_data_fields);

static const struct tlv_field blob_ls_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_blob_ls, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_U32, wire_blob_ls, most),
};
const struct tlv_desc wire_blob_ls_desc = TLV_DESC("blob_ls", wire_blob_ls, blob_ls_fields);

static const struct tlv_field blob_view_fields[] = {
    TLV_FIELD(1, TLV_HASH, wire_blob_view, hash),
    TLV_FIELD(2, TLV_U64, wire_blob_view, bytes),
    TLV_FIELD(3, TLV_I64, wire_blob_view, stored_ms),
    TLV_FIELD(4, TLV_U32, wire_blob_view, uses),
    TLV_FIELD(5, TLV_TEXT, wire_blob_view, kept_as, .max = WIRE_TEXT_MAX),
};
const struct tlv_desc wire_blob_view_desc = TLV_DESC("blob_view", wire_blob_view, blob_view_fields);

static const struct tlv_field blob_list_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_blob_list, cursor, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_LIST, wire_blob_list, blobs, .max = WIRE_COUNT_MAX, .sub = &wire_blob_view_desc),
};
const struct tlv_desc wire_blob_list_desc = TLV_DESC("blob_list", wire_blob_list, blob_list_fields);

static const struct tlv_field kv_entry_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_kv_entry, key, .max = WIRE_KEY_MAX),
    TLV_FIELD(2, TLV_BYTES, wire_kv_entry, value, .max = WIRE_ITEM_MAX),
};
const struct tlv_desc wire_kv_entry_desc = TLV_DESC("kv_entry", wire_kv_entry, kv_entry_fields);

static const struct tlv_field kv_key_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_kv_key, text, .max = WIRE_KEY_MAX),
};
const struct tlv_desc wire_kv_key_desc = TLV_DESC("kv_key", wire_kv_key, kv_key_fields);

static const struct tlv_field kv_change_fields[] = {
    TLV_FIELD(1, TLV_ENUM, wire_kv_change, op, .max = WIRE_KV_OP_COUNT, .names = op_words),
    TLV_FIELD(2, TLV_TEXT, wire_kv_change, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(3, TLV_LIST, wire_kv_change, entries, .max = 4096, .sub = &wire_kv_entry_desc),
    TLV_FIELD(4, TLV_ENUM, wire_kv_change, condition, .max = WIRE_KV_IF_COUNT, .names = if_words),
    TLV_FIELD(5, TLV_U64, wire_kv_change, version),
    TLV_FIELD(6, TLV_BYTES, wire_kv_change, key, .max = WIRE_KEY_MAX),
    TLV_FIELD(7, TLV_BYTES, wire_kv_change, value, .max = WIRE_ITEM_MAX),
    TLV_FIELD(8, TLV_I64, wire_kv_change, number),
    TLV_FIELD(9, TLV_LIST, wire_kv_change, members, .max = 4096, .sub = &wire_kv_key_desc),
    TLV_FIELD(10, TLV_I64, wire_kv_change, expires_ms),
    TLV_FIELD(11, TLV_BOOL, wire_kv_change, keep_expiry),
};
const struct tlv_desc wire_kv_change_desc = TLV_DESC("kv_change", wire_kv_change, kv_change_fields);

static const struct tlv_field kv_changed_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_kv_changed, lsn),
    TLV_FIELD(2, TLV_I64, wire_kv_changed, number),
    TLV_FIELD(3, TLV_U64, wire_kv_changed, version),
};
const struct tlv_desc wire_kv_changed_desc = TLV_DESC("kv_changed", wire_kv_changed, kv_changed_fields);

static const struct tlv_field kv_get_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_kv_get, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_LIST, wire_kv_get, keys, .max = 4096, .sub = &wire_kv_key_desc),
    TLV_FIELD(3, TLV_BYTES, wire_kv_get, prefix, .max = WIRE_KEY_MAX),
    TLV_FIELD(4, TLV_BYTES, wire_kv_get, after, .max = WIRE_KEY_MAX),
    TLV_FIELD(5, TLV_U32, wire_kv_get, most),
    TLV_FIELD(6, TLV_BOOL, wire_kv_get, members),
};
const struct tlv_desc wire_kv_get_desc = TLV_DESC("kv_get", wire_kv_get, kv_get_fields);

static const struct tlv_field kv_item_fields[] = {
    TLV_FIELD(1, TLV_BYTES, wire_kv_item, key, .max = WIRE_KEY_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_kv_item, kind, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_BYTES, wire_kv_item, value, .max = WIRE_ITEM_MAX),
    TLV_FIELD(4, TLV_I64, wire_kv_item, number),
    TLV_FIELD(5, TLV_U64, wire_kv_item, version),
    TLV_FIELD(6, TLV_I64, wire_kv_item, expires_ms),
};
const struct tlv_desc wire_kv_item_desc = TLV_DESC("kv_item", wire_kv_item, kv_item_fields);

static const struct tlv_field kv_items_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_kv_items, lsn),
    TLV_FIELD(2, TLV_LIST, wire_kv_items, items, .max = WIRE_COUNT_MAX, .sub = &wire_kv_item_desc),
    TLV_FIELD(3, TLV_LIST, wire_kv_items, members, .max = WIRE_COUNT_MAX, .sub = &wire_kv_key_desc),
    TLV_FIELD(4, TLV_BYTES, wire_kv_items, after, .max = WIRE_KEY_MAX),
};
const struct tlv_desc wire_kv_items_desc = TLV_DESC("kv_items", wire_kv_items, kv_items_fields);

static const struct tlv_field kv_watch_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_kv_watch, flow, .max = WIRE_TARGET_MAX),
    TLV_FIELD(2, TLV_BYTES, wire_kv_watch, key, .max = WIRE_KEY_MAX),
    TLV_FIELD(3, TLV_BOOL, wire_kv_watch, prefix),
    TLV_FIELD(4, TLV_BOOL, wire_kv_watch, channel),
};
const struct tlv_desc wire_kv_watch_desc = TLV_DESC("kv_watch", wire_kv_watch, kv_watch_fields);

static const struct tlv_field kv_event_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_kv_event, lsn),
    TLV_FIELD(2, TLV_BYTES, wire_kv_event, key, .max = WIRE_KEY_MAX),
    TLV_FIELD(3, TLV_U64, wire_kv_event, version),
    TLV_FIELD(4, TLV_BYTES, wire_kv_event, body, .max = WIRE_BODY_MAX),
    TLV_FIELD(5, TLV_BOOL, wire_kv_event, gap),
};
const struct tlv_desc wire_kv_event_desc = TLV_DESC("kv_event", wire_kv_event, kv_event_fields);

/* clang-format on */
