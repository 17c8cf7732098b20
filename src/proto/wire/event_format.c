/* event_format.c: see event_format.h. */
#include "event_format.h"

static void put_text(struct json *j, const char *key, struct slice text) {
    if (text.len == 0) return;
    json_key(j, key);
    json_text(j, text);
}

static void put_number(struct json *j, const char *key, int64_t value) {
    if (value == 0) return;
    json_key(j, key);
    json_i64(j, value);
}

static void put_position(struct json *j, struct position at) {
    char room[POSITION_TEXT_BYTES];
    json_key(j, "position");
    json_text(j, position_text(at, room));
}

static void begin(struct json *j, struct buf *out, const char *type) {
    json_init(j, out);
    json_object(j);
    json_key(j, "type");
    json_str(j, type);
}

void event_format_put(struct json *j, const struct wire_event *e) {
    json_object(j);
    put_text(j, "type", e->kind);
    put_position(j, (struct position){e->lsn, e->ordinal});
    put_number(j, "time_ms", e->time_ms);
    put_text(j, "target", e->target);
    put_text(j, "from", e->from);
    put_text(j, "to", e->to);
    put_text(j, "cause", e->cause);
    put_number(j, "attempt", e->attempt);
    put_text(j, "worker", e->worker);
    put_number(j, "due_ms", e->due_ms);
    json_object_end(j);
}

static void event(struct buf *out, const struct wire_event *e) {
    struct json j;
    json_init(&j, out);
    event_format_put(&j, e);
}

static void hello(struct buf *out, struct position at, int64_t time_ms) {
    struct json j;
    begin(&j, out, "hello");
    put_position(&j, at);
    put_number(&j, "server_time_ms", time_ms);
    json_object_end(&j);
}

static void gap(struct buf *out, struct position at, uint64_t records) {
    struct json j;
    begin(&j, out, "gap");
    put_position(&j, at);
    json_key(&j, "dropped");
    json_u64(&j, records);
    json_object_end(&j);
}

static void metrics(struct buf *out, int64_t time_ms, const struct wire_amount *numbers, uint32_t count) {
    struct json j;
    begin(&j, out, "metrics");
    put_number(&j, "time_ms", time_ms);
    json_key(&j, "numbers");
    json_object(&j);
    for (uint32_t i = 0; i < count; i++) {
        json_key_slice(&j, numbers[i].name);
        json_u64(&j, numbers[i].amount);
    }
    json_object_end(&j);
    json_object_end(&j);
}

const struct event_wording event_format_wording = {"reeve", event, hello, gap, metrics};
