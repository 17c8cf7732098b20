/* orion.c: paths and answers. See orion.h. */
#include "orion.h"

#include <stdio.h>
#include <time.h>

/* ---- paths ---- */

static const struct {
    enum orion_call call;
    enum http_verb verb;
    const char *path;
} table[] = {
#define X(call, verb, path, text) {call, HTTP_VERB_##verb, path},
    ORION_TABLE(X)
#undef X
};

enum orion_call orion_find(const struct http_request *r, bool *ret_fits) {
    enum http_verb verb = r->verb == HTTP_VERB_HEAD ? HTTP_VERB_GET : r->verb;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (slice_eq(r->path, slice_str(table[i].path))) {
            *ret_fits = table[i].verb == verb;
            return table[i].call;
        }
    *ret_fits = false;
    return ORION_NOTHING;
}

const char *orion_verb(enum orion_call call) {
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].call == call) return table[i].verb == HTTP_VERB_GET ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
    return "OPTIONS";
}

void orion_cors_put(struct buf *out, struct slice origin) {
    buf_printf(out,
               "Access-Control-Allow-Origin: %.*s\r\n"
               "Vary: Origin\r\n"
               "Access-Control-Allow-Methods: GET, POST, OPTIONS\r\n"
               "Access-Control-Allow-Headers: Content-Type, Idempotency-Key, X-Orion-Admin-Token, Authorization\r\n",
               SLICE_FMT(origin));
}

/* ---- small parts ---- */

const char *orion_time(int64_t wall_ms, char ret[ORION_TIME_BYTES]) {
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm t;
    if (wall_ms <= 0 || gmtime_r(&seconds, &t) == NULL) {
        snprintf(ret, ORION_TIME_BYTES, "0001-01-01T00:00:00Z");
        return ret;
    }
    size_t len = strftime(ret, ORION_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &t);
    snprintf(ret + len, ORION_TIME_BYTES - len, ".%03dZ", (int)(wall_ms % 1000));
    return ret;
}

static void put_text(struct json *j, const char *key, struct slice text) {
    json_key(j, key);
    json_text(j, text);
}

static void put_number(struct json *j, const char *key, uint64_t v) {
    json_key(j, key);
    json_u64(j, v);
}

static void put_time(struct json *j, const char *key, int64_t wall_ms) {
    char text[ORION_TIME_BYTES];
    json_key(j, key);
    json_str(j, orion_time(wall_ms, text));
}

static void put_names(struct json *j, const char *key, const struct tlv_list *names) {
    const struct wire_name *list = names->at;
    json_key(j, key);
    json_array(j);
    for (uint32_t i = 0; i < names->count; i++) json_text(j, list[i].name);
    json_array_end(j);
}

static void put_numbers(struct json *j, const struct wire_orion *v) {
    put_number(j, "pending", v->pending);
    put_number(j, "running", v->running);
    put_number(j, "completed", v->completed);
    put_number(j, "failed", v->failed);
    put_number(j, "retried", v->retried);
}

/* ---- answers ---- */

void orion_error(struct json *j, struct slice text) {
    json_object(j);
    put_text(j, "error", text);
    json_object_end(j);
}

void orion_status(struct json *j, const char *word) {
    json_object(j);
    put_text(j, "status", slice_str(word));
    json_object_end(j);
}

void orion_accepted(struct json *j, struct slice dag, uint32_t count) {
    json_object(j);
    put_text(j, "dag_id", dag);
    put_number(j, "ingested", count);
    put_text(j, "status", SLICE("accepted"));
    json_object_end(j);
}

void orion_numbers(struct json *j, const struct wire_orion *v) {
    json_object(j);
    put_numbers(j, v);
    json_object_end(j);
}

void orion_live(struct json *j, const struct wire_orion *v) {
    json_object(j);
    put_numbers(j, v);
    put_number(j, "queue_size", v->queue_size);
    put_number(j, "ws_clients", v->clients);
    put_number(j, "uptime_seconds", (uint64_t)(v->uptime_ms / 1000));
    put_number(j, "workers", v->slots);
    put_number(j, "dropped_events", v->dropped_events);
    json_object_end(j);
}

/* Ids are unique in a DAG. The newest task of an id has the plain key, as who sent it expects; older ones have their
 * DAG's before it, so that none is missing. */
static void put_task(struct json *j, const struct wire_orion_task *t) {
    char key[WIRE_TARGET_MAX + WIRE_NAME_MAX];
    struct slice id = t->id;
    if (t->shadowed) {
        snprintf(key, sizeof key, "%.*s/%.*s", SLICE_FMT(t->dag), SLICE_FMT(t->id));
        id = slice_str(key);
    }
    json_key_slice(j, id);
    json_object(j);
    put_text(j, "id", id);
    put_text(j, "dag_id", t->dag);
    put_text(j, "payload", t->payload);
    json_key(j, "priority");
    json_i64(j, t->priority);
    put_names(j, "dependencies", &t->dependencies);
    put_text(j, "status", t->status);
    put_number(j, "retry_count", t->retry_count);
    put_number(j, "max_retries", t->max_retries);
    put_time(j, "start_time", t->start_ms);
    put_time(j, "end_time", t->end_ms);
    json_object_end(j);
}

void orion_state(struct json *j, const struct wire_orion *v) {
    const struct wire_orion_task *tasks = v->tasks.at;
    json_object(j);
    json_key(j, "tasks");
    json_object(j);
    for (uint32_t i = 0; i < v->tasks.count; i++) put_task(j, &tasks[i]);
    json_object_end(j);
    json_key(j, "scheduler_running");
    json_bool(j, true);
    put_number(j, "queue_size", v->queue_size);
    put_number(j, "dropped_events", v->dropped_events);
    json_key(j, "metrics");
    orion_numbers(j, v);
    put_time(j, "server_time", v->now_ms);
    if (v->more) {
        json_key(j, "truncated");
        json_bool(j, true);
    }
    json_object_end(j);
}

void orion_offline(struct json *j, int64_t now_ms) {
    const struct wire_orion none = {0};
    json_object(j);
    json_key(j, "tasks");
    json_object(j);
    json_object_end(j);
    json_key(j, "scheduler_running");
    json_bool(j, false);
    put_number(j, "queue_size", 0);
    put_number(j, "dropped_events", 0);
    json_key(j, "metrics");
    orion_numbers(j, &none);
    put_time(j, "server_time", now_ms);
    json_object_end(j);
}

void orion_dags(struct json *j, const struct wire_orion *v) {
    const struct wire_orion_dag *dags = v->dags.at;
    json_object(j);
    put_number(j, "count", v->dags.count);
    json_key(j, "dags");
    json_array(j);
    for (uint32_t i = 0; i < v->dags.count; i++) {
        json_object(j);
        put_text(j, "id", dags[i].dag);
        put_names(j, "task_ids", &dags[i].tasks);
        put_number(j, "task_count", dags[i].tasks.count);
        put_time(j, "submitted_at", dags[i].submitted_ms);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

void orion_admin(struct json *j, bool running, int64_t crashed_ms) {
    json_object(j);
    json_key(j, "running");
    json_bool(j, running);
    if (crashed_ms > 0) put_time(j, "last_crash", crashed_ms);
    json_object_end(j);
}

void orion_crashed(struct json *j, int64_t now_ms) {
    json_object(j);
    put_text(j, "status", SLICE("crashed"));
    put_time(j, "crash_time", now_ms);
    json_object_end(j);
}

void orion_recovered(struct json *j, int64_t now_ms, int64_t downtime_ms) {
    json_object(j);
    put_text(j, "status", SLICE("recovered"));
    put_time(j, "recovery_time", now_ms);
    put_number(j, "downtime_ms", (uint64_t)downtime_ms);
    json_object_end(j);
}

/* ---- metrics ---- */

static void put_metric(struct buf *out, const char *name, const char *type, const char *help, uint64_t v) {
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n%s %llu\n", name, help, name, type, name, (unsigned long long)v);
}

/* Of the last attempt of each task that is over. */
static void put_latency(struct buf *out, const struct wire_orion *v) {
    const char *name = "task_execution_latency_seconds";
    const struct wire_orion_within *within = v->took_within.at;
    buf_printf(out, "# HELP %s from the start of a task's last attempt to its end\n# TYPE %s histogram\n", name, name);
    for (uint32_t k = 0; k < v->took_within.count && k < WIRE_ORION_BOUNDS; k++)
        buf_printf(out, "%s_bucket{le=\"%g\"} %llu\n", name, wire_orion_bounds_ms[k] / 1000.,
                   (unsigned long long)within[k].count);
    unsigned long long count = v->took_count;
    buf_printf(out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.3f\n%s_count %llu\n", name, count, name,
               (double)v->took_ms / 1000, name, count);
}

void orion_metrics(struct buf *out, const struct wire_orion *v) {
    uint64_t all = v->pending + v->running + v->completed + v->failed;
    put_metric(out, "total_tasks_ingested", "counter", "tasks that were accepted", all);
    put_metric(out, "tasks_completed_total", "counter", "tasks that succeeded", v->completed);
    put_metric(out, "tasks_failed_total", "counter", "tasks that failed for good, those dragged down included",
               v->failed);
    put_metric(out, "tasks_retried_total", "counter", "failures of tasks that were tried again", v->retried);
    put_metric(out, "current_queue_size", "gauge", "tasks that are ready and wait for a slot", v->queue_size);
    put_metric(out, "active_workers", "gauge", "slots that run something", v->slots_used);
    put_latency(out, v);
}
