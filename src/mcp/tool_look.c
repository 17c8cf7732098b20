/* tool_look.c: looking: flows and jobs, reasons, workers, what happened. Lists are short unless more is asked for, and
 * tell where to go on. */
#include "find.h"
#include "json_tree.h"

#define PAGE_STANDARD 20u
#define PAGE_MAX 200u

static uint32_t page_of(const struct tool_call *c) {
    uint64_t most = tool_call_number(c, "most", PAGE_STANDARD);
    return most == 0 ? PAGE_STANDARD : most > PAGE_MAX ? PAGE_MAX : (uint32_t)most;
}

static void put_number(struct json *j, const char *key, uint64_t v) {
    if (v == 0) return;
    json_key(j, key);
    json_u64(j, v);
}

static void put_some(struct json *j, const char *key, struct slice text) {
    if (text.len > 0) tool_call_put_text(j, key, text);
}

static void put_names(struct json *j, const char *key, const struct tlv_list *list) {
    const struct wire_name *names = list->at;
    if (list->count == 0) return;
    json_key(j, key);
    json_array(j);
    for (uint32_t i = 0; i < list->count; i++) json_text(j, names[i].name);
    json_array_end(j);
}

static void put_pairs(struct json *j, const char *key, const struct tlv_list *list) {
    const struct wire_pair *pairs = list->at;
    if (list->count == 0) return;
    json_key(j, key);
    json_object(j);
    for (uint32_t i = 0; i < list->count; i++) {
        json_key_slice(j, pairs[i].key);
        json_text(j, pairs[i].value);
    }
    json_object_end(j);
}

/* ---- flows and jobs ---- */

static void put_flow(struct json *j, const struct wire_flow_view *v) {
    const struct wire_amount *states = v->states.at;
    tool_call_put_text(j, "flow", v->flow);
    put_some(j, "name", v->name);
    tool_call_put_text(j, "state", v->state);
    put_some(j, "submitted_by", v->principal);
    tool_call_put_time(j, "created", v->created_ms);
    tool_call_put_time(j, "finished", v->finished_ms);
    put_number(j, "job_count", v->job_count);
    json_key(j, "jobs_by_state");
    json_object(j);
    for (uint32_t i = 0; i < v->states.count; i++) {
        bool is_failed = slice_eq(states[i].name, SLICE("failed"));
        uint64_t amount = states[i].amount - (is_failed ? v->upstream_failed : 0);
        if (amount == 0) continue;
        json_key_slice(j, states[i].name);
        json_u64(j, amount);
    }
    put_number(j, WIRE_UPSTREAM_FAILED, v->upstream_failed);
    json_object_end(j);
    put_pairs(j, "labels", &v->labels);
    put_some(j, "schedule", v->schedule);
    put_some(j, "slot", v->slot);
    put_some(j, "file", v->source_name);
    if (v->params.len > 0) json_key(j, "params"), json_raw(j, v->params);
    put_some(j, "again_of", v->again_of);
    if (v->paused) json_key(j, "paused"), json_bool(j, true);
}

/* A result is JSON that a job wrote: as it is when it is short, else its beginning as a text. */
static void put_result(struct tool_call *c, struct json *j, struct slice result) {
    const struct json_node *root;
    struct why why;
    if (result.len == 0) return;
    if (result.len > TOOL_CALL_TEXT_BYTES ||
        json_tree_read(result, c->world->limits, c->trees, &root, &why) != ERR_OK) {
        tool_call_put_text(j, "result_begins", result);
        put_number(j, "result_bytes", result.len);
        return;
    }
    json_key(j, "result");
    json_raw(j, result);
}

static void put_attempts(struct json *j, const struct tlv_list *list) {
    const struct wire_attempt_view *attempts = list->at;
    if (list->count == 0) return;
    json_key(j, "attempts");
    json_array(j);
    for (uint32_t i = list->count > 10 ? list->count - 10 : 0; i < list->count; i++) {
        json_object(j);
        put_number(j, "attempt", attempts[i].attempt);
        put_some(j, "worker", attempts[i].worker);
        put_some(j, "outcome", attempts[i].outcome);
        put_number(j, "exit_code", attempts[i].exit_code);
        put_number(j, "signal", attempts[i].signal);
        put_some(j, "reason", attempts[i].reason);
        put_number(j, "log_bytes", attempts[i].log_bytes);
        tool_call_put_time(j, "started", attempts[i].started_ms);
        tool_call_put_time(j, "ended", attempts[i].ended_ms);
        json_object_end(j);
    }
    json_array_end(j);
}

void tool_call_put_job(struct tool_call *c, struct json *j, const struct wire_job_view *v, bool details) {
    tool_call_put_text(j, "job", v->job);
    tool_call_put_text(j, "state", v->state);
    put_some(j, "cause", v->cause);
    put_some(j, "kind", v->kind);
    put_some(j, "reason", v->reason);
    put_number(j, "attempt", v->attempt);
    put_some(j, "worker", v->worker);
    put_number(j, "exit_code", v->exit_code);
    put_number(j, "signal", v->signal);
    put_number(j, "percent", v->percent);
    put_number(j, "question", v->question);
    put_some(j, "because_of", v->root);
    put_some(j, "why", v->waits_for);
    put_number(j, "items", v->items);
    put_number(j, "items_open", v->items_open);
    put_number(j, "items_failed", v->items_bad);
    tool_call_put_time(j, "since", v->since_ms);
    put_names(j, "needs", &v->parents);
    if (!details) return;
    put_attempts(j, &v->attempts);
    put_result(c, j, v->result);
}

static void put_jobs(struct tool_call *c, struct json *j, const struct tlv_list *list) {
    const struct wire_job_view *jobs = list->at;
    json_key(j, "jobs");
    json_array(j);
    for (uint32_t i = 0; i < list->count; i++) {
        json_object(j);
        tool_call_put_job(c, j, &jobs[i], false);
        json_object_end(j);
    }
    json_array_end(j);
}

static void then_listed(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_listed *m = parts[0];
    const struct wire_flow_view *flows = m->flows.at;
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    if (tool_call_arg(c, "flow") != NULL || tool_call_flag(c, "dead")) {
        put_jobs(c, j, &m->jobs);
    } else {
        json_key(j, "flows");
        json_array(j);
        for (uint32_t i = 0; i < m->flows.count; i++) {
            json_object(j);
            put_flow(j, &flows[i]);
            json_object_end(j);
        }
        json_array_end(j);
    }
    if (m->cursor.len > 0) {
        tool_call_put_text(j, "cursor", m->cursor);
        tool_call_put_str(j, "more", "call list again with this cursor, and the same filters");
    }
    tool_call_say(c);
}

void tool_list(struct tool_call *c) {
    struct wire_list *m = ARENA_NEW(c->arena, struct wire_list);
    bool of_flow = tool_call_arg(c, "flow") != NULL, dead = tool_call_flag(c, "dead");
    *m = (struct wire_list){.what = dead      ? WIRE_LIST_DEAD
                                    : of_flow ? WIRE_LIST_JOBS
                                              : WIRE_LIST_FLOWS,
                            .most = page_of(c),
                            .cursor = tool_call_text(c, "cursor"),
                            .flow = tool_call_text(c, "flow"),
                            .name = tool_call_text(c, "name"),
                            .states = tool_call_names(c, "states"),
                            .labels = tool_call_pairs(c, "labels"),
                            .text = tool_call_text(c, "text"),
                            .schedule = tool_call_text(c, "schedule"),
                            .graph = of_flow && !dead,
                            .newest = dead,
                            .items_of = tool_call_text(c, "items_of"),
                            .reasons = true,
                            .apart = true};
    m->items = m->states.count > 0;
    tool_call_ask(c, WIRE_LIST, m, then_listed);
}

/* ---- one of them ---- */

static void then_shown_jobs(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_listed *m = parts[0];
    (void)op, (void)count;
    put_jobs(c, &c->json, &m->jobs); /* behind what was said about the flow */
    if (m->cursor.len > 0) tool_call_put_str(&c->json, "more", "call list with this flow for all of its jobs");
    tool_call_say(c);
}

static void then_shown(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_got *m = parts[0];
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    put_flow(j, &m->flow);
    struct wire_list *list = ARENA_NEW(c->arena, struct wire_list);
    *list = (struct wire_list){.what = WIRE_LIST_JOBS,
                               .flow = arena_slice(c->arena, m->flow.flow),
                               .most = PAGE_STANDARD,
                               .graph = true,
                               .reasons = true};
    tool_call_ask(c, WIRE_LIST, list, then_shown_jobs);
}

static void then_shown_job(struct tool_call *c, const struct wire_job_view *v) {
    if (v == NULL) {
        tool_call_refuse(c, ERR_NOT_FOUND, "there is no %.*s: `list` shows flows, and with `flow` its jobs",
                         SLICE_FMT(tool_call_text(c, "target")));
        return;
    }
    struct json *j = tool_call_result(c);
    tool_call_put_job(c, j, v, true);
    tool_call_say(c);
}

static void then_flow_or_job(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    if (op == WIRE_GOT && ((const struct wire_got *)parts[0])->jobs.count == 0)
        then_shown(c, op, parts, count);
    else
        find_job(c, tool_call_text(c, "target"), then_shown_job);
}

void tool_show(struct tool_call *c) {
    struct wire_get *m = ARENA_NEW(c->arena, struct wire_get);
    struct slice target = tool_call_text(c, "target");
    if (target.len > 0 && memchr(target.ptr, '/', target.len) != NULL) {
        find_job(c, target, then_shown_job);
        return;
    }
    m->target = target;
    tool_call_ask(c, WIRE_GET, m, then_flow_or_job);
    c->hears_refusals = true;
}

/* ---- why ---- */

static void then_reason(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_reason *m = parts[0];
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    tool_call_put_text(j, "job", m->job);
    tool_call_put_text(j, "state", m->state);
    put_some(j, "code", m->code);
    put_some(j, "reason", m->text);
    put_some(j, "parent", m->parent);
    put_number(j, "parents_open", m->parents_open);
    put_some(j, "limit", m->limit);
    put_some(j, "worker", m->worker);
    put_number(j, "question", m->question);
    if (m->question != 0) tool_call_put_str(j, "next", "`questions` shows what is asked, `approve` answers it");
    tool_call_put_time(j, "until", m->until_ms);
    tool_call_say(c);
}

static void then_why(struct tool_call *c, const struct wire_job_view *v) {
    struct wire_why *m = ARENA_NEW(c->arena, struct wire_why);
    if (v == NULL) {
        tool_call_refuse(c, ERR_NOT_FOUND, "there is no job %.*s: `list` with `flow` shows the jobs of a flow",
                         SLICE_FMT(tool_call_text(c, "job")));
        return;
    }
    m->job = arena_slice(c->arena, v->job);
    tool_call_ask(c, WIRE_WHY, m, then_reason);
}

void tool_why(struct tool_call *c) {
    find_job(c, tool_call_text(c, "job"), then_why);
}

/* ---- workers ---- */

static void then_workers(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_listed *m = parts[0];
    const struct wire_worker_view *list = m->workers.at;
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    json_key(j, "workers");
    json_array(j);
    for (uint32_t i = 0; i < m->workers.count; i++) {
        json_object(j);
        tool_call_put_text(j, "worker", list[i].worker);
        tool_call_put_text(j, "pool", list[i].pool);
        json_key(j, "attached");
        json_bool(j, list[i].attached);
        if (list[i].draining) json_key(j, "draining"), json_bool(j, true);
        json_key(j, "slots");
        json_u64(j, list[i].slots);
        json_key(j, "active");
        json_u64(j, list[i].active);
        put_number(j, "cpu_percent", list[i].cpu_percent);
        put_names(j, "capabilities", &list[i].capabilities);
        put_pairs(j, "labels", &list[i].labels);
        json_object_end(j);
    }
    json_array_end(j);
    put_some(j, "cursor", m->cursor);
    tool_call_say(c);
}

void tool_workers(struct tool_call *c) {
    struct wire_list *m = ARENA_NEW(c->arena, struct wire_list);
    *m = (struct wire_list){.what = WIRE_LIST_WORKERS, .most = page_of(c), .cursor = tool_call_text(c, "cursor")};
    tool_call_ask(c, WIRE_LIST, m, then_workers);
}

/* ---- events ---- */

static void then_told(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_told *m = parts[0];
    const struct wire_event *list = m->events.at;
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    json_key(j, "events");
    json_array(j);
    for (uint32_t i = 0; i < m->events.count; i++) {
        json_object(j);
        tool_call_put_time(j, "time", list[i].time_ms);
        tool_call_put_text(j, "target", list[i].target);
        put_some(j, "from", list[i].from);
        put_some(j, "to", list[i].to);
        put_some(j, "cause", list[i].cause);
        put_number(j, "attempt", list[i].attempt);
        put_some(j, "worker", list[i].worker);
        json_object_end(j);
    }
    json_array_end(j);
    if (m->cursor.len > 0) {
        tool_call_put_text(j, "since", m->cursor);
        tool_call_put_str(j, "more", "call events again with this `since`");
    }
    tool_call_say(c);
}

void tool_events(struct tool_call *c) {
    struct wire_tale *m = ARENA_NEW(c->arena, struct wire_tale);
    *m = (struct wire_tale){.flow = tool_call_text(c, "flow"), .since = tool_call_text(c, "since"), .most = page_of(c)};
    tool_call_ask(c, WIRE_TALE, m, then_told);
}
