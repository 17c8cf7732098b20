/* options.c: the tables behind options.h. Tags are part of the journal format: never reuse one. */
#include "options.h"

static const struct tlv_field name_item_fields[] = {
    TLV_FIELD(1, TLV_TEXT, name_item, name, .max = 255),
};
const struct tlv_desc name_item_desc = TLV_DESC("name_item", name_item, name_item_fields);

static const struct tlv_field label_fields[] = {
    TLV_FIELD(1, TLV_TEXT, label, key, .max = 255),
    TLV_FIELD(2, TLV_TEXT, label, value, .max = 255),
};
const struct tlv_desc label_desc = TLV_DESC("label", label, label_fields);

static const struct tlv_field resource_fields[] = {
    TLV_FIELD(1, TLV_TEXT, resource, name, .max = 255),
    TLV_FIELD(2, TLV_U64, resource, amount),
};
const struct tlv_desc resource_desc = TLV_DESC("resource", resource, resource_fields);

static const struct tlv_field demand_fields[] = {
    TLV_FIELD(1, TLV_TEXT, demand, pool, .max = 255),
    TLV_FIELD(2, TLV_TEXT, demand, topic, .max = 255),
    TLV_FIELD(3, TLV_LIST, demand, capabilities, .max = 64, .sub = &name_item_desc),
    TLV_FIELD(4, TLV_LIST, demand, labels, .max = 64, .sub = &label_desc),
    TLV_FIELD(5, TLV_U32, demand, cpu_milli),
    TLV_FIELD(6, TLV_U64, demand, memory_bytes),
    TLV_FIELD(7, TLV_U32, demand, gpus),
    TLV_FIELD(8, TLV_LIST, demand, resources, .max = 16, .sub = &resource_desc),
    TLV_FIELD(40, TLV_LIST, demand, keys, .max = 16, .sub = &name_item_desc),
    TLV_FIELD(41, TLV_LIST, demand, rates, .max = 16, .sub = &name_item_desc),
    TLV_FIELD(0, TLV_RAW, demand, raw),
};
const struct tlv_desc demand_desc = TLV_DESC("demand", demand, demand_fields);

/* clang-format off */
static const struct tlv_field options_fields[] = {
    TLV_FIELD(1, TLV_ENUM, options, kind, .max = JOB_KIND_COUNT, .names = job_kind_words),
    TLV_FIELD(2, TLV_U32, options, priority),
    TLV_FIELD(3, TLV_MSG, options, demand, .sub = &demand_desc),
    TLV_FIELD(4, TLV_U32, options, retries),
#define X(name, type, journal, wire, standard, wait, text) JOB_OPTION_FIELD_##type(journal, options, name),
    JOB_OPTION_TABLE(X)
#undef X
    TLV_FIELD(0, TLV_RAW, options, raw),
};
/* clang-format on */
const struct tlv_desc options_desc = TLV_DESC("options", options, options_fields);

static const struct tlv_field worker_info_fields[] = {
    TLV_FIELD(1, TLV_TEXT, worker_info, pool, .max = 255),
    TLV_FIELD(2, TLV_LIST, worker_info, capabilities, .max = 64, .sub = &name_item_desc),
    TLV_FIELD(3, TLV_LIST, worker_info, labels, .max = 64, .sub = &label_desc),
    TLV_FIELD(4, TLV_U32, worker_info, slots),
    TLV_FIELD(5, TLV_U32, worker_info, cpu_milli),
    TLV_FIELD(6, TLV_U64, worker_info, memory_bytes),
    TLV_FIELD(7, TLV_U32, worker_info, gpus),
    TLV_FIELD(8, TLV_LIST, worker_info, resources, .max = 16, .sub = &resource_desc),
    TLV_FIELD(9, TLV_BOOL, worker_info, permanent),
    TLV_FIELD(10, TLV_TEXT, worker_info, build, .max = 255),
    TLV_FIELD(11, TLV_TEXT, worker_info, tenant, .max = 255),
};
const struct tlv_desc worker_info_desc = TLV_DESC("worker_info", worker_info, worker_info_fields);

void options_default(struct options *o) {
    *o = (struct options){
        .kind = JOB_COMMAND,
        .priority = PRIORITY_NORMAL,
        .demand = {.pool = SLICE(DEFAULT_POOL)},
        .retries = RETRIES_STANDARD,
    };
#define X(name, type, journal, wire, standard, wait, text) o->name = JOB_OPTION_OR_##type(o->name, standard);
    JOB_OPTION_TABLE(X)
#undef X
}

const uint8_t gates_in_order[INPUT_GATE_COUNT] = {GATE_CONDITION, GATE_EXPANSION, GATE_RENDER,
                                                  GATE_POLICY,    GATE_APPROVAL,  GATE_EXTERNAL};

bool time_fits(int64_t ms) {
    return ms >= 0 && ms <= TIME_MS_MAX;
}

/* All 64-bit options are times. */
bool options_fit(const struct options *o) {
#define X(name, type, journal, wire, standard, wait, text) \
    if (!time_fits(_Generic(o->name, int64_t : o->name, default : 0))) return false;
    JOB_OPTION_TABLE(X)
#undef X
    if (o->calls && (o->kind != JOB_EXTERNAL || (o->gates & GATE_BIT(GATE_EXTERNAL)))) return false;
    if (options_expand(o) && (o->max_parallel == 0 || o->allow_percent > 100)) return false;
    return (o->demand.pool.len > 0 || o->demand.topic.len > 0) && o->quorum > 0 && o->quorum <= 64;
}

bool worker_info_fits(const struct worker_info *w) {
    return w->slots > 0;
}
