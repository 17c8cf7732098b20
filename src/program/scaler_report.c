/* scaler_report.c: see scaler_report.h. */
#include "scaler_report.h"

#include <stdio.h>

#include "json.h"

static void put_names(struct json *j, const char *key, const struct tlv_list *names) {
    const struct wire_name *list = names->at;
    json_key(j, key);
    json_array(j);
    for (uint32_t i = 0; i < names->count; i++) json_text(j, list[i].name);
    json_array_end(j);
}

/* Names of labels are the user's and need not end with a zero where they end. */
static void put_labels(struct json *j, const struct tlv_list *labels) {
    const struct wire_pair *list = labels->at;
    json_key(j, "labels");
    json_object(j);
    for (uint32_t i = 0; i < labels->count; i++) {
        char key[WIRE_NAME_MAX + 1];
        snprintf(key, sizeof key, "%.*s", SLICE_FMT(list[i].key));
        json_key(j, key);
        json_text(j, list[i].value);
    }
    json_object_end(j);
}

static void put_kind(struct json *j, const struct scaler_options *o) {
    const struct wire_worker_info *kind = &o->worker.info;
    const char *tenant = o->worker.options->agent.tenant;
    json_key(j, "pool");
    json_text(j, kind->pool.len > 0 ? kind->pool : SLICE("default"));
    if (tenant != NULL) {
        json_key(j, "tenant");
        json_str(j, tenant);
    }
    put_names(j, "capabilities", &kind->capabilities);
    put_labels(j, &kind->labels);
    json_key(j, "slots");
    json_u64(j, kind->slots);
}

static void put_number(struct json *j, const char *key, uint64_t n) {
    json_key(j, key);
    json_u64(j, n);
}

void scaler_report_make(const struct fleet *f, const struct scaler_options *o, int64_t now_ms, struct buf *out) {
    struct plan_counts c = plan_count(f->workers, f->count);
    struct json j;
    json_init(&j, out);
    json_object(&j);
    json_key(&j, "action");
    json_str(&j, c.starting > 0 ? "up" : "down");
    put_kind(&j, o);
    put_number(&j, "ready", f->ready);
    put_number(&j, "oldest_ms", f->ready > 0 ? (uint64_t)(f->waited_ms + now_ms - f->told_ms) : 0);
    put_number(&j, "workers", c.up);
    put_number(&j, "wanted", fleet_wanted(f));
    put_number(&j, "min", f->plan.limits.min);
    put_number(&j, "max", f->plan.limits.max);
    json_key(&j, "end");
    json_array(&j);
    for (uint32_t i = 0; i < f->count; i++)
        if (fleet_may_end(f, i)) json_str(&j, f->places[i].id);
    json_array_end(&j);
    json_object_end(&j);
    buf_put(out, "\n", 1);
}
