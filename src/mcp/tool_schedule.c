/* tool_schedule.c: looking at schedules, and a run of one that somebody asks for. */
#include "tool.h"

#define AHEAD_STANDARD 3u
#define PAGE_STANDARD 20u
#define PAGE_MAX 200u

static void put_moments(struct json *j, const char *key, const struct tlv_list *moments) {
    const struct wire_moment *list = moments->at;
    json_key(j, key);
    json_array(j);
    for (uint32_t i = 0; i < moments->count; i++) json_text(j, list[i].text);
    json_array_end(j);
}

static void put_slots(struct json *j, const struct tlv_list *slots) {
    const struct wire_slot *list = slots->at;
    json_key(j, "last_slots");
    json_array(j);
    for (uint32_t i = 0; i < slots->count; i++) {
        json_object(j);
        tool_call_put_text(j, "slot", list[i].slot);
        tool_call_put_text(j, "what", list[i].what);
        json_key(j, "count");
        json_u64(j, list[i].count);
        if (list[i].flow.len > 0) tool_call_put_text(j, "flow", list[i].flow);
        if (list[i].state.len > 0) tool_call_put_text(j, "state", list[i].state);
        json_object_end(j);
    }
    json_array_end(j);
}

static void put_schedule(struct json *j, const struct wire_schedule_view *v) {
    json_object(j);
    tool_call_put_text(j, "schedule", v->name);
    tool_call_put_text(j, "when", v->expression);
    tool_call_put_text(j, "zone", v->zone.len > 0 ? v->zone : SLICE("UTC"));
    tool_call_put_text(j, "by", v->principal);
    tool_call_put_text(j, "state", v->code);
    tool_call_put_text(j, "reason", v->text);
    if (v->flow.len > 0) tool_call_put_text(j, "last_flow", v->flow);
    put_slots(j, &v->slots);
    put_moments(j, "next_slots", &v->ahead);
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

void tool_schedules(struct tool_call *c) {
    struct wire_schedule_ls *m = ARENA_NEW(c->arena, struct wire_schedule_ls);
    uint64_t ahead = tool_call_number(c, "ahead", AHEAD_STANDARD), most = tool_call_number(c, "most", PAGE_STANDARD);
    *m = (struct wire_schedule_ls){.name = tool_call_text(c, "schedule"),
                                   .cursor = tool_call_text(c, "cursor"),
                                   .most = most == 0 || most > PAGE_MAX ? PAGE_MAX : (uint32_t)most,
                                   .ahead = ahead > WIRE_AHEAD_MAX ? WIRE_AHEAD_MAX : (uint32_t)ahead,
                                   .details = true};
    tool_call_ask(c, WIRE_SCHEDULE_LS, m, then_schedules);
}

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
    *m = (struct wire_schedule_run){tool_call_text(c, "schedule"), tool_call_text(c, "slot")};
    tool_call_ask(c, WIRE_SCHEDULE_RUN, m, then_run);
}
