/* api_answer.c: messages that answer, as JSON for HTTP. See api.h. */
#include "api.h"

#include "event_format.h"
#include "panic.h"

static uint32_t seconds_of(uint32_t ms) {
    return ms / 1000 + (ms % 1000 != 0);
}

struct api_said api_error(struct json *out, enum err e, uint16_t status, struct slice message, const char *field,
                          uint32_t retry_after_ms) {
    struct api_said said = {status != 0 ? status : (uint16_t)err_http_status(e), seconds_of(retry_after_ms)};
    json_object(out);
    json_key(out, "code");
    json_str(out, err_word(e));
    json_key(out, "message");
    json_text(out, message.len > 0 ? message : slice_str(err_meaning(e)));
    if (field != NULL && field[0] != 0) {
        json_key(out, "field");
        json_str(out, field);
    }
    if (said.retry_after_s > 0) {
        json_key(out, "retry_after");
        json_u64(out, said.retry_after_s);
    }
    json_object_end(out);
    return said;
}

enum err api_err_of(struct slice word) {
    return err_find(word, ERR_UNKNOWN);
}

/* The members of the only item, behind those of the message that are not its list. */
static void put_item(const struct wire_json_out *x, const struct tlv_desc *d, const void *message, const char *about) {
    const struct tlv_field *list_field = wire_json_field(d, slice_str(about));
    const struct tlv_field *lsn = wire_json_field(d, SLICE("lsn"));
    REQUIRE(list_field != NULL);
    struct tlv_list list;
    memcpy(&list, (const uint8_t *)message + list_field->offset, sizeof list);
    json_object(x->json);
    if (lsn != NULL) {
        uint64_t v;
        memcpy(&v, (const uint8_t *)message + lsn->offset, sizeof v);
        json_key(x->json, "lsn");
        json_u64(x->json, v);
    }
    const void *item = list.at;
    if (list.count > 0) wire_json_put(x, list_field->sub, &item, 1, NULL);
    json_object_end(x->json);
}

/* Events look as they do in the stream of them. */
static void put_tale(struct json *out, const struct wire_told *m) {
    const struct wire_event *events = m->events.at;
    json_object(out);
    json_key(out, "lsn");
    json_u64(out, m->lsn);
    json_key(out, "events");
    json_array(out);
    for (uint32_t i = 0; i < m->events.count; i++) event_format_put(out, &events[i]);
    json_array_end(out);
    if (m->cursor.len > 0) {
        json_key(out, "cursor");
        json_text(out, m->cursor);
    }
    if (m->gap) {
        json_key(out, "gap");
        json_bool(out, true);
    }
    json_object_end(out);
}

struct api_said api_answer(const struct api_route *route, uint8_t op, const void *const *parts, uint32_t count,
                           const struct wire_json_out *x) {
    const struct tlv_desc *d = wire_info(op)->desc;
    REQUIRE(count > 0);
    if (op == WIRE_ERROR) {
        const struct wire_error *m = parts[0];
        return api_error(x->json, api_err_of(m->code), 0, m->message, NULL, m->retry_after_ms);
    }
    if (op == WIRE_BUSY) {
        const struct wire_busy *m = parts[0];
        return api_error(x->json, ERR_BUSY, 0, m->reason, NULL, m->retry_after_ms);
    }
    struct api_said said = {.status = 200};
    if (op == WIRE_PLAYGROUND) { /* as the supervisor writes it, too */
        wire_playground_json(x->json, parts[0]);
        return said;
    }
    if (op == WIRE_SUBMITTED) {
        const struct wire_submitted *m = parts[0];
        const struct wire_submitted_flow *flow = m->flows.at;
        if (m->flows.count == 1 && flow->code.len > 0)
            return api_error(x->json, api_err_of(flow->code), 0, flow->message, NULL, flow->retry_after_ms);
        bool is_new = m->flows.count != 1 || (!flow->repeated && flow->flow.len > 0);
        said.status = is_new ? 201 : 200; /* one that was only checked has no id */
    }
    if (route->answer == API_ANSWER_TALE) {
        put_tale(x->json, parts[0]);
        return said;
    }
    if (route->answer == API_ANSWER_ITEM) {
        put_item(x, d, parts[0], route->about);
        return said;
    }
    json_object(x->json);
    wire_json_put(x, d, parts, count, route->about);
    json_object_end(x->json);
    return said;
}
