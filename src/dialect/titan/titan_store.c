/* titan_store.c: the shared store by Titan's protocol. Its key `k` is the key `user:k` of the tenant, as there. */
#include "server_impl.h"
#include "session.h"
#include "titan_impl.h"

#define KEY_PREFIX "user:"
#define MEMBERS_BYTES_MAX ((size_t)TITAN_BODY_BYTES_MAX)

static struct slice key_of(struct session *n, struct slice name) {
    size_t prefix = sizeof KEY_PREFIX - 1;
    uint8_t *key = arena_space(&talk_of(n)->arena, prefix + name.len + 1);
    memcpy(key, KEY_PREFIX, prefix);
    if (name.len > 0) memcpy(key + prefix, name.ptr, name.len);
    return slice_of(key, prefix + name.len);
}

/* ---- values ---- */

static void set_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)more;
    if (!titan_refused(s, n, op, message)) titan_say(s, n, SLICE("OK"));
}

void titan_kv_set(struct server *s, struct session *n, struct slice body) {
    struct slice name;
    if (!titan_cut(&body, &name)) {
        titan_say(s, n, SLICE("ERROR: Invalid Format"));
        return;
    }
    struct wire_kv_entry entry = {key_of(n, name), body};
    struct wire_kv_change change = {.op = WIRE_KV_SET, .entries = {&entry, 1}};
    titan_ask(s, n, WIRE_KV_CHANGE, &change, set_told);
}

static void get_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_kv_items *m = message;
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    const struct wire_kv_item *item = m->items.at;
    if (m->items.count == 0 || slice_eq(item->kind, SLICE("set")))
        titan_say(s, n, SLICE("NULL"));
    else if (slice_eq(item->kind, SLICE("number")))
        titan_sayf(s, n, "%lld", (long long)item->number);
    else
        titan_say(s, n, item->value);
}

void titan_kv_get(struct server *s, struct session *n, struct slice body) {
    struct wire_kv_key key = {key_of(n, body)};
    struct wire_kv_get get = {.keys = {&key, 1}};
    titan_ask(s, n, WIRE_KV_GET, &get, get_told);
}

/* ---- sets ---- */

static void sadd_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    titan_say(s, n, ((const struct wire_kv_changed *)message)->number > 0 ? SLICE("1") : SLICE("0"));
}

void titan_kv_sadd(struct server *s, struct session *n, struct slice body) {
    struct slice name;
    if (!titan_cut(&body, &name)) {
        titan_say(s, n, SLICE("ERROR: Invalid Format"));
        return;
    }
    struct wire_kv_key member = {body};
    struct wire_kv_change change = {.op = WIRE_KV_ADD, .key = key_of(n, name), .members = {&member, 1}};
    titan_ask(s, n, WIRE_KV_CHANGE, &change, sadd_told);
}

struct members {
    struct slice key;
    uint64_t count; /* so far */
};

static void members_ask(struct server *s, struct session *n, struct slice after);

static void members_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_kv_items *m = message;
    struct members *w = talk_of(n)->work;
    const struct wire_kv_key *members = m->members.at;
    struct buf *text = &talk_of(n)->text;
    (void)more;
    if (titan_refused(s, n, op, message)) return;
    text->max = MEMBERS_BYTES_MAX;
    for (uint32_t i = 0; i < m->members.count; i++) {
        if (w->count++ > 0) buf_put_u8(text, ',');
        buf_put_slice(text, members[i].text);
    }
    if (text->full)
        titan_say(s, n, SLICE("ERROR: the set has too many members for one answer"));
    else if (m->after.len > 0)
        members_ask(s, n, m->after);
    else
        titan_say(s, n, buf_slice(text));
}

static void members_ask(struct server *s, struct session *n, struct slice after) {
    struct members *w = talk_of(n)->work;
    struct wire_kv_key key = {w->key};
    struct wire_kv_get get = {.keys = {&key, 1}, .members = true, .after = after, .most = 1000};
    titan_ask(s, n, WIRE_KV_GET, &get, members_told);
}

void titan_kv_smembers(struct server *s, struct session *n, struct slice body) {
    struct members *w = ARENA_NEW(&talk_of(n)->arena, struct members);
    w->key = key_of(n, body);
    talk_of(n)->work = w;
    members_ask(s, n, (struct slice){0});
}
