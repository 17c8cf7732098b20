/* wire_demand.c: the tables behind wire_demand.h. Tags are format: a new field takes a new one, at the end. */
#include "wire_demand.h"

/* clang-format off */
static const struct tlv_field demand_watch_fields[] = {
    TLV_FIELD(1, TLV_MSG, wire_demand_watch, kind, .sub = &wire_worker_info_desc),
    TLV_FIELD(2, TLV_BOOL, wire_demand_watch, once),
};
const struct tlv_desc wire_demand_watch_desc = TLV_DESC("demand_watch", wire_demand_watch, demand_watch_fields);

static const struct tlv_field demand_row_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_demand_row, tenant, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_MSG, wire_demand_row, demand, .sub = &wire_demand_desc),
    TLV_FIELD(3, TLV_I64, wire_demand_row, priority),
    TLV_FIELD(4, TLV_U32, wire_demand_row, ready),
    TLV_FIELD(5, TLV_BOOL, wire_demand_row, more),
    TLV_FIELD(6, TLV_I64, wire_demand_row, since_ms),
    TLV_FIELD(7, TLV_TEXT, wire_demand_row, code, .max = WIRE_NAME_MAX),
    TLV_FIELD(8, TLV_U32, wire_demand_row, at_once),
};
const struct tlv_desc wire_demand_row_desc = TLV_DESC("demand_row", wire_demand_row, demand_row_fields);

static const struct tlv_field demand_worker_fields[] = {
    TLV_FIELD(1, TLV_TEXT, wire_demand_worker, worker, .max = WIRE_NAME_MAX),
    TLV_FIELD(2, TLV_U32, wire_demand_worker, slots),
    TLV_FIELD(3, TLV_U32, wire_demand_worker, active),
    TLV_FIELD(4, TLV_BOOL, wire_demand_worker, draining),
    TLV_FIELD(5, TLV_U64, wire_demand_worker, served),
};
const struct tlv_desc wire_demand_worker_desc = TLV_DESC("demand_worker", wire_demand_worker, demand_worker_fields);

static const struct tlv_field demands_fields[] = {
    TLV_FIELD(1, TLV_U64, wire_demands, lsn),
    TLV_FIELD(2, TLV_I64, wire_demands, now_ms),
    TLV_FIELD(3, TLV_U64, wire_demands, ready),
    TLV_FIELD(4, TLV_I64, wire_demands, since_ms),
    TLV_FIELD(5, TLV_U64, wire_demands, need_milli),
    TLV_FIELD(6, TLV_LIST, wire_demands, rows, .max = WIRE_DEMAND_ROWS_MAX, .sub = &wire_demand_row_desc),
    TLV_FIELD(7, TLV_U32, wire_demands, rows_left),
    TLV_FIELD(8, TLV_LIST, wire_demands, workers, .max = WIRE_DEMAND_WORKERS_MAX, .sub = &wire_demand_worker_desc),
};
const struct tlv_desc wire_demands_desc = TLV_DESC("demands", wire_demands, demands_fields);

/* clang-format on */
