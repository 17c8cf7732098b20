/* wire_orion.c: the tables behind wire_orion.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_orion.h"

static const char *const what_words[] = {"numbers", "tasks", "dags"};

const uint32_t wire_orion_bounds_ms[WIRE_ORION_BOUNDS] = {5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000};

/* clang-format off */
static const struct tlv_field orion_get_fields[] = {
    TLV_FIELD(1, TLV_ENUM, wire_orion_get, what, .max = WIRE_ORION_WHAT_COUNT, .names = what_words),
};
const struct tlv_desc wire_orion_get_desc = TLV_DESC("orion_get", wire_orion_get, orion_get_fields);

static const struct tlv_field orion_task_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_orion_task, id, .max = WIRE_TEXT_MAX),
    TLV_FIELD(2, TLV_TEXT, wire_orion_task, dag, .max = WIRE_NAME_MAX),
    TLV_FIELD(3, TLV_TEXT, wire_orion_task, payload, .max = WIRE_TEXT_MAX),
    TLV_FIELD(4, TLV_I64, wire_orion_task, priority),
    TLV_FIELD(5, TLV_LIST, wire_orion_task, dependencies, .max = WIRE_COUNT_MAX, .sub = &wire_name_desc),
    TLV_FIELD(6, TLV_TEXT, wire_orion_task, status, .max = WIRE_NAME_MAX),
    TLV_FIELD(7, TLV_U32, wire_orion_task, retry_count),
    TLV_FIELD(8, TLV_U32, wire_orion_task, max_retries),
    TLV_FIELD(9, TLV_I64, wire_orion_task, start_ms),
    TLV_FIELD(10, TLV_I64, wire_orion_task, end_ms),
    TLV_FIELD(11, TLV_BOOL, wire_orion_task, shadowed),
};
const struct tlv_desc wire_orion_task_desc = TLV_DESC("orion_task", wire_orion_task, orion_task_fields);

static const struct tlv_field orion_dag_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_orion_dag, dag, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_LIST, wire_orion_dag, tasks, .max = WIRE_COUNT_MAX, .sub = &wire_name_desc),
    TLV_FIELD(3, TLV_I64, wire_orion_dag, submitted_ms),
};
const struct tlv_desc wire_orion_dag_desc = TLV_DESC("orion_dag", wire_orion_dag, orion_dag_fields);

static const struct tlv_field orion_within_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_orion_within, count),
};
const struct tlv_desc wire_orion_within_desc = TLV_DESC("orion_within", wire_orion_within, orion_within_fields);

static const struct tlv_field orion_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_orion, lsn),
    TLV_FIELD(2, TLV_U64, wire_orion, pending),
    TLV_FIELD(3, TLV_U64, wire_orion, running),
    TLV_FIELD(4, TLV_U64, wire_orion, completed),
    TLV_FIELD(5, TLV_U64, wire_orion, failed),
    TLV_FIELD(6, TLV_U64, wire_orion, retried),
    TLV_FIELD(7, TLV_U64, wire_orion, queue_size),
    TLV_FIELD(8, TLV_U32, wire_orion, slots),
    TLV_FIELD(9, TLV_U32, wire_orion, slots_used),
    TLV_FIELD(10, TLV_U32, wire_orion, clients),
    TLV_FIELD(11, TLV_U64, wire_orion, dropped_events),
    TLV_FIELD(12, TLV_I64, wire_orion, uptime_ms),
    TLV_FIELD(13, TLV_I64, wire_orion, now_ms),
    TLV_FIELD(14, TLV_I64, wire_orion, crashed_ms),
    TLV_FIELD(15, TLV_LIST, wire_orion, tasks, .max = WIRE_ORION_TASKS_MAX, .sub = &wire_orion_task_desc),
    TLV_FIELD(16, TLV_LIST, wire_orion, dags, .max = WIRE_ORION_DAGS_MAX, .sub = &wire_orion_dag_desc),
    TLV_FIELD(17, TLV_BOOL, wire_orion, more),
    TLV_FIELD(18, TLV_U64, wire_orion, took_count),
    TLV_FIELD(19, TLV_U64, wire_orion, took_ms),
    TLV_FIELD(20, TLV_LIST, wire_orion, took_within, .max = WIRE_ORION_BOUNDS, .sub = &wire_orion_within_desc),
};
const struct tlv_desc wire_orion_desc = TLV_DESC("orion", wire_orion, orion_fields);
/* clang-format on */
