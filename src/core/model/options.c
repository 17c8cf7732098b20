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

static const char *const upstream_words[UPSTREAM_COUNT] = {"fail", "skip", "run"};

static const struct tlv_field options_fields[] = {
    TLV_FIELD(1, TLV_ENUM, options, kind, .max = JOB_KIND_COUNT, .names = job_kind_words),
    TLV_FIELD(2, TLV_U32, options, priority),
    TLV_FIELD(3, TLV_MSG, options, demand, .sub = &demand_desc),
    TLV_FIELD(4, TLV_U32, options, retries),
    TLV_FIELD(5, TLV_U32, options, backoff_base_ms),
    TLV_FIELD(6, TLV_U32, options, backoff_cap_ms),
    TLV_FIELD(7, TLV_U32, options, backoff_jitter_ms),
    TLV_FIELD(8, TLV_ENUM, options, on_upstream, .max = UPSTREAM_COUNT, .names = upstream_words),
    TLV_FIELD(9, TLV_BOOL, options, exclusive),
    TLV_FIELD(10, TLV_BOOL, options, delay_from_submit),
    TLV_FIELD(11, TLV_I64, options, delay_ms),
    TLV_FIELD(12, TLV_I64, options, not_before_ms),
    TLV_FIELD(13, TLV_I64, options, deadline_ms),
    TLV_FIELD(14, TLV_I64, options, start_within_ms),
    TLV_FIELD(15, TLV_I64, options, dispatch_timeout_ms),
    TLV_FIELD(16, TLV_I64, options, run_timeout_ms),
    TLV_FIELD(17, TLV_TEXT, options, preferred_worker, .max = 255),
    TLV_FIELD(18, TLV_TEXT, options, preferred_pool, .max = 255),
    TLV_FIELD(19, TLV_BOOL, options, affinity),
    TLV_FIELD(20, TLV_I64, options, prefer_ms),
    TLV_FIELD(21, TLV_U8, options, gates),
    TLV_FIELD(22, TLV_I64, options, approval_ms),
    TLV_FIELD(23, TLV_U32, options, quorum),
    TLV_FIELD(24, TLV_BOOL, options, four_eyes),
    TLV_FIELD(25, TLV_BOOL, options, policy_open),
    TLV_FIELD(26, TLV_TEXT, options, approval_role, .max = 255),
    TLV_FIELD(27, TLV_U32S, options, fatal_exits, .max = 256),
    TLV_FIELD(60, TLV_I64, options, cache_ms),
    TLV_FIELD(70, TLV_U32, options, max_parallel),
    TLV_FIELD(71, TLV_BOOL, options, fail_fast),
    TLV_FIELD(72, TLV_U32, options, allow_count),
    TLV_FIELD(73, TLV_U32, options, allow_percent),
    TLV_FIELD(80, TLV_U32, options, restart_base_ms),
    TLV_FIELD(81, TLV_U32, options, restart_cap_ms),
    TLV_FIELD(82, TLV_I64, options, restart_reset_ms),
    TLV_FIELD(83, TLV_I64, options, healthy_within_ms),
    TLV_FIELD(84, TLV_U32, options, stop_within_ms),
    TLV_FIELD(105, TLV_BOOL, options, calls),
    TLV_FIELD(106, TLV_U32, options, poll_ms),
    TLV_FIELD(107, TLV_U32, options, poll_cap_ms),
    TLV_FIELD(108, TLV_U8, options, token_rights),
    TLV_FIELD(109, TLV_U32, options, free_losses),
    TLV_FIELD(0, TLV_RAW, options, raw),
};
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
        .backoff_base_ms = BACKOFF_BASE_MS,
        .backoff_cap_ms = BACKOFF_CAP_MS,
        .backoff_jitter_ms = BACKOFF_JITTER_MS,
        .quorum = 1,
    };
}

const uint8_t gates_in_order[INPUT_GATE_COUNT] = {GATE_CONDITION, GATE_EXPANSION, GATE_RENDER,
                                                  GATE_POLICY,    GATE_APPROVAL,  GATE_EXTERNAL};

bool time_fits(int64_t ms) {
    return ms >= 0 && ms <= TIME_MS_MAX;
}

bool options_fit(const struct options *o) {
    const int64_t times[] = {o->delay_ms,        o->not_before_ms,       o->deadline_ms,
                             o->start_within_ms, o->dispatch_timeout_ms, o->run_timeout_ms,
                             o->prefer_ms,       o->approval_ms,         o->restart_reset_ms,
                             o->healthy_within_ms, o->cache_ms};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        if (!time_fits(times[i])) return false;
    if (o->calls && (o->kind != JOB_EXTERNAL || (o->gates & GATE_BIT(GATE_EXTERNAL)))) return false;
    if (options_expand(o) && (o->max_parallel == 0 || o->allow_percent > 100)) return false;
    return (o->demand.pool.len > 0 || o->demand.topic.len > 0) && o->quorum > 0 && o->quorum <= 64;
}

bool worker_info_fits(const struct worker_info *w) {
    return w->slots > 0;
}
