/* tool_service.c: services: how they are, which versions they had, and back to one of these. */
#include "tool.h"

#define PAGE 100u

static void put_some(struct json *j, const char *key, struct slice text) {
    if (text.len > 0) tool_call_put_text(j, key, text);
}

static void put_number(struct json *j, const char *key, uint64_t number) {
    json_key(j, key);
    json_u64(j, number);
}

static void put_version(struct json *j, const struct wire_service_version *v) {
    json_object(j);
    put_number(j, "version", v->version);
    tool_call_put_text(j, "state", v->state);
    put_some(j, "by", v->by);
    tool_call_put_text(j, "flow", v->flow);
    tool_call_put_time(j, "deployed", v->begun_ms);
    tool_call_put_time(j, "healthy", v->healthy_ms);
    tool_call_put_time(j, "ended", v->ended_ms);
    put_number(j, "restarts", v->restarts);
    json_object_end(j);
}

static void put_service(struct json *j, const struct wire_service_view *v) {
    const struct wire_service_version *versions = v->versions.at;
    json_object(j);
    tool_call_put_text(j, "service", v->name);
    tool_call_put_text(j, "wanted", v->state);
    json_key(j, "healthy");
    json_bool(j, v->healthy);
    put_some(j, "reason", v->text);
    put_number(j, "version", v->version);
    if (v->deploying) json_key(j, "deploying"), json_bool(j, true);
    put_number(j, "restarts", v->restarts);
    tool_call_put_time(j, "since", v->since_ms);
    put_some(j, "worker", v->worker);
    if (v->port != 0) put_number(j, "port", v->port);
    put_some(j, "job", v->job);
    if (v->versions.count > 0) json_key(j, "versions"), json_array(j);
    for (uint32_t i = 0; i < v->versions.count; i++) put_version(j, &versions[i]);
    if (v->versions.count > 0) json_array_end(j);
    json_object_end(j);
}

static void then_services(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_service_list *m = parts[0];
    const struct wire_service_view *list = m->services.at;
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    json_key(j, "services");
    json_array(j);
    for (uint32_t i = 0; i < m->services.count; i++) put_service(j, &list[i]);
    json_array_end(j);
    if (m->cursor.len > 0) tool_call_put_text(j, "cursor", m->cursor);
    tool_call_say(c);
}

void tool_services(struct tool_call *c) {
    if (tool_call_arg(c, "name") != NULL) {
        struct wire_service_get *one = ARENA_NEW(c->arena, struct wire_service_get);
        one->name = tool_call_text(c, "name");
        tool_call_ask(c, WIRE_SERVICE_GET, one, then_services);
        return;
    }
    struct wire_page *m = ARENA_NEW(c->arena, struct wire_page);
    *m = (struct wire_page){.cursor = tool_call_text(c, "cursor"), .most = PAGE};
    tool_call_ask(c, WIRE_SERVICE_LS, m, then_services);
}

static void then_rollback(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_submitted_flow *flow = tool_call_submitted(c, parts[0]);
    const struct wire_service_rollback *m = c->own;
    (void)op, (void)count;
    if (flow == NULL) return;
    struct json *j = tool_call_result(c);
    tool_call_put_str(j, "status", "submitted");
    tool_call_put_text(j, "service", m->name);
    tool_call_put_text(j, "flow", flow->flow);
    tool_call_say(c);
}

void tool_rollback(struct tool_call *c) {
    struct wire_service_rollback *m = ARENA_NEW(c->arena, struct wire_service_rollback);
    uint64_t version = tool_call_number(c, "version", 0);
    *m = (struct wire_service_rollback){tool_call_text(c, "service"),
                                        version > UINT32_MAX ? UINT32_MAX : (uint32_t)version};
    c->own = m;
    tool_call_ask(c, WIRE_SERVICE_ROLLBACK, m, then_rollback);
}
