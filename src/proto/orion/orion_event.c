/* orion_event.c: see orion_event.h. */
#include "orion_event.h"

#include <stdio.h>

const char *const orion_event_words[] = {
#define X(event, type, text) type,
    ORION_EVENT_TABLE(X)
#undef X
};

static void put_number(struct json *j, const char *key, uint64_t v) {
    json_key(j, key);
    json_u64(j, v);
}

static void put_metadata(struct json *j, const struct orion_event *e) {
    char text[24];
    if (e->metadata[0].key == NULL) return;
    json_key(j, "metadata");
    json_object(j);
    for (uint32_t i = 0; i < ORION_METADATA_MAX && e->metadata[i].key != NULL; i++) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)e->metadata[i].value);
        json_key(j, e->metadata[i].key);
        json_str(j, text);
    }
    json_object_end(j);
}

void orion_event_put(struct json *j, const struct orion_event *e) {
    char time_text[ORION_TIME_BYTES];
    json_object(j);
    json_key(j, "type");
    json_str(j, orion_event_words[e->type]);
    if (e->task.len > 0) {
        json_key(j, "task_id");
        json_text(j, e->task);
    }
    if (e->task_count > 0) {
        json_key(j, "dag_tasks");
        json_array(j);
        for (uint32_t i = 0; i < e->task_count; i++) json_text(j, e->tasks[i]);
        json_array_end(j);
    }
    if (e->worker > 0) put_number(j, "worker_id", e->worker);
    if (e->has_duration) put_number(j, "duration_ms", (uint64_t)(e->duration_ms > 0 ? e->duration_ms : 0));
    if (e->has_retry) {
        put_number(j, "retry", e->retry);
        put_number(j, "max_retry", e->max_retry);
    }
    put_metadata(j, e);
    json_key(j, "timestamp");
    json_str(j, orion_time(e->time_ms, time_text));
    json_object_end(j);
}
