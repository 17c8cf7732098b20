/* tool_schedule.c: flows that are submitted by the clock: which there are, setting one, changing it. */
#include "limit.h"
#include "spec.h"
#include "spec_value.h"
#include "tool.h"

#define PAGE_STANDARD 20u
#define PAGE_MAX 200u
#define AHEAD 3u /* slots to come that are told of each */

/* ---- which ---- */

static void put_moments(struct json *j, const struct tlv_list *list) {
    const struct wire_moment *moments = list->at;
    char text[TOOL_CALL_TIME_BYTES];
    json_key(j, "next");
    json_array(j);
    for (uint32_t i = 0; i < list->count; i++)
        moments[i].text.len > 0 ? json_text(j, moments[i].text) : json_str(j, tool_call_time(moments[i].ms, text));
    json_array_end(j);
}

static void put_schedule(struct json *j, const struct wire_schedule_view *v) {
    json_object(j);
    tool_call_put_text(j, "schedule", v->name);
    tool_call_put_text(j, "when", v->expression);
    json_key(j, "paused");
    json_bool(j, v->paused);
    put_moments(j, &v->ahead);
    if (v->text.len > 0) tool_call_put_text(j, "reason", v->text);
    tool_call_put_time(j, "last", v->fired_ms);
    if (v->flow.len > 0) tool_call_put_text(j, "last_flow", v->flow);
    json_key(j, "fired");
    json_u64(j, v->fired);
    json_key(j, "left_out");
    json_u64(j, v->missed + v->skipped);
    json_object_end(j);
}

static void then_schedules(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_schedule_list *m = parts[0];
    const struct wire_schedule_view *list = m->schedules.at;
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    json_key(j, "schedules");
    json_array(j);
    for (uint32_t i = 0; i < m->schedules.count; i++) put_schedule(j, &list[i]);
    json_array_end(j);
    if (m->cursor.len > 0) tool_call_put_text(j, "cursor", m->cursor);
    tool_call_say(c);
}

static void ask_schedules(struct tool_call *c, struct slice name) {
    struct wire_schedule_ls *m = ARENA_NEW(c->arena, struct wire_schedule_ls);
    uint64_t most = tool_call_number(c, "most", PAGE_STANDARD);
    *m = (struct wire_schedule_ls){.name = name,
                                   .ahead = AHEAD,
                                   .most = (uint32_t)(most == 0 || most > PAGE_MAX ? PAGE_MAX : most),
                                   .cursor = tool_call_text(c, "cursor")};
    tool_call_ask(c, WIRE_SCHEDULE_LS, m, then_schedules);
}

void tool_schedules(struct tool_call *c) {
    ask_schedules(c, tool_call_text(c, "name"));
}

/* ---- setting one ---- */

static void then_set(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_schedule_set *m = c->own;
    (void)op, (void)parts, (void)count;
    ask_schedules(c, m->name); /* its next slots are the answer */
}

void tool_schedule(struct tool_call *c) {
    struct wire_schedule_set *m = ARENA_NEW(c->arena, struct wire_schedule_set);
    struct spec_schedule schedule;
    struct spec_input in;
    struct wire_flow flow;
    struct why why = {{0}};
    enum err e = tool_flow_input(c, &in, &why);
    in.has_slot = true;
    if (e == ERR_OK) e = spec_read_scheduled(&in, c->arena, &flow, &schedule, &why);
    if (e == ERR_OK && schedule.cron.len + schedule.every.len + schedule.at.len + schedule.on_key.len == 0)
        e = why_set(&why, ERR_INVALID,
                    "the flow has no `schedule`: add one, like {\"cron\": \"0 6 * * *\"} or {\"on\": \"uploads/*\"}");
    if (e == ERR_OK && schedule.name.len == 0)
        e = why_set(&why, ERR_INVALID, "the schedule needs a name: `name` of the flow");
    if (e == ERR_OK) e = spec_schedule_message(&schedule, c->arena, m, &why);
    if (e != ERR_OK) {
        tool_call_refuse(c, e, "%s", why.text);
        return;
    }
    m->flow = (struct wire_flow){.spec = in.source.text};
    if (tool_call_arg(c, "params") != NULL) m->flow.params = tool_call_raw(c, tool_call_arg(c, "params"));
    c->own = m;
    tool_call_ask(c, WIRE_SCHEDULE_SET, m, then_set);
}

/* ---- changing one ---- */

static const struct {
    const char *word, *status;
} changes[WIRE_SCHEDULE_OP_COUNT] = {[WIRE_SCHEDULE_REMOVE] = {"remove", "removed"},
                                     [WIRE_SCHEDULE_PAUSE] = {"pause", "paused"},
                                     [WIRE_SCHEDULE_RESUME] = {"resume", "resumed"},
                                     [WIRE_SCHEDULE_BACKFILL] = {"backfill", "backfill started"}};

static void then_changed(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_schedule_change *m = c->own;
    struct json *j = tool_call_result(c);
    (void)op, (void)parts, (void)count;
    tool_call_put_str(j, "status", changes[m->op].status);
    tool_call_put_text(j, "schedule", m->name);
    tool_call_say(c);
}

static bool moment_read(const struct tool_call *c, const char *name, int64_t *ret) {
    return tool_call_arg(c, name) == NULL || spec_time(tool_call_text(c, name), ret);
}

void tool_schedule_change(struct tool_call *c) {
    struct wire_schedule_change *m = ARENA_NEW(c->arena, struct wire_schedule_change);
    struct slice word = tool_call_text(c, "action");
    while (m->op < WIRE_SCHEDULE_OP_COUNT && !slice_eq(word, slice_str(changes[m->op].word))) m->op++;
    m->name = tool_call_text(c, "name");
    c->own = m;
    if (m->op == WIRE_SCHEDULE_OP_COUNT)
        tool_call_refuse(c, ERR_INVALID, "`action` is pause, resume, remove or backfill");
    else if (!moment_read(c, "since", &m->since_ms) || !moment_read(c, "until", &m->until_ms))
        tool_call_refuse(c, ERR_INVALID, "`since` and `until` are times like 2026-03-01T08:00:00Z");
    else
        tool_call_ask(c, WIRE_SCHEDULE_CHANGE, m, then_changed);
}

/* ---- running one ---- */

static void then_run(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_submitted_flow *flow = tool_call_submitted(c, parts[0]);
    (void)op, (void)count;
    if (flow == NULL) return;
    struct json *j = tool_call_result(c);
    tool_call_put_str(j, "status", "submitted");
    tool_call_put_text(j, "flow", flow->flow);
    tool_call_say(c);
}

void tool_schedule_run(struct tool_call *c) {
    struct wire_schedule_run *m = ARENA_NEW(c->arena, struct wire_schedule_run);
    *m = (struct wire_schedule_run){
        .name = tool_call_text(c, "schedule"), .slot = tool_call_text(c, "slot"), .key = tool_call_text(c, "key")};
    tool_call_ask(c, WIRE_SCHEDULE_RUN, m, then_run);
}
