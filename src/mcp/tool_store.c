/* tool_store.c: the shared store, files by name, and whether the server is there. Keys are those of Titan's store: what
 * an agent calls `k` is `user:k` for everyone else. */
#include <stdio.h>

#include "hex.h"
#include "tool.h"

#define USER_PREFIX "user:"
#define FILE_PREFIX "titan:file:"

/* ---- is it there ---- */

static void then_pong(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    struct json *j = tool_call_result(c);
    const char *place = c->world->place != NULL ? c->world->place : "";
    const char *colon = strrchr(place, ':');
    (void)op, (void)parts, (void)count;
    tool_call_put_str(j, "status", "ok");
    if (strncmp(place, "unix:", 5) == 0 || colon == NULL) {
        tool_call_put_str(j, "host", place);
    } else {
        tool_call_put_text(j, "host", slice_of(place, (size_t)(colon - place)));
        tool_call_put_str(j, "port", colon + 1);
    }
    tool_call_put_str(j, "message", "the server answers");
    tool_call_say(c);
}

void tool_ping(struct tool_call *c) {
    static const struct wire_ping ping = {.number = 1};
    tool_call_ask(c, WIRE_PING, &ping, then_pong);
}

/* ---- keys ---- */

static struct slice user_key(struct tool_call *c) {
    return tool_call_format(c, USER_PREFIX "%.*s", SLICE_FMT(tool_call_text(c, "key")));
}

static void put_value(struct json *j, const struct wire_kv_items *m) {
    const struct wire_kv_item *item = m->items.at;
    json_key(j, "value");
    if (m->items.count == 0)
        json_null(j);
    else if (slice_eq(item->kind, SLICE("number")))
        json_i64(j, item->number);
    else if (slice_eq(item->kind, SLICE("set")))
        json_str(j, "");
    else
        json_text(j, item->value);
    if (m->items.count > 0 && !slice_eq(item->kind, SLICE("text"))) tool_call_put_text(j, "kind", item->kind);
}

static void then_items(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    tool_call_put_text(j, "key", tool_call_text(c, "key"));
    put_value(j, parts[0]);
    tool_call_say(c);
}

void tool_store_get(struct tool_call *c) {
    struct wire_kv_key *key = ARENA_NEW(c->arena, struct wire_kv_key);
    struct wire_kv_get *m = ARENA_NEW(c->arena, struct wire_kv_get);
    key->text = user_key(c);
    m->keys = (struct tlv_list){key, 1};
    tool_call_ask(c, WIRE_KV_GET, m, then_items);
}

static void then_put(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_kv_changed *m = parts[0];
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    tool_call_put_str(j, "status", "ok");
    tool_call_put_text(j, "key", tool_call_text(c, "key"));
    tool_call_put_str(j, "master_response", "OK");
    json_key(j, "version");
    json_u64(j, m->version);
    tool_call_say(c);
}

static void set(struct tool_call *c, struct slice key, struct slice value, tool_call_then *then) {
    struct wire_kv_entry *entry = ARENA_NEW(c->arena, struct wire_kv_entry);
    struct wire_kv_change *m = ARENA_NEW(c->arena, struct wire_kv_change);
    *entry = (struct wire_kv_entry){key, value};
    *m = (struct wire_kv_change){.op = WIRE_KV_SET, .entries = {entry, 1}};
    tool_call_ask(c, WIRE_KV_CHANGE, m, then);
}

void tool_store_put(struct tool_call *c) {
    set(c, user_key(c), tool_call_text(c, "value"), then_put);
}

/* ---- files by name ---- */

static void then_named(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct slice *hash = c->own;
    struct json *j = tool_call_result(c);
    (void)op, (void)parts, (void)count;
    tool_call_put_str(j, "status", "deployed");
    tool_call_put_text(j, "script_name", tool_call_text(c, "script_name"));
    tool_call_put_text(j, "hash", *hash);
    tool_call_put_str(j, "master_response", "DEPLOY_SUCCESS");
    tool_call_say(c);
}

static void then_kept(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_blob_kept *m = parts[0];
    char hex[65] = "";
    (void)op, (void)count;
    if (m->hash.len <= 32) hex_write(m->hash, hex);
    c->own = ARENA_NEW(c->arena, struct slice);
    *(struct slice *)c->own = arena_slice(c->arena, slice_str(hex));
    set(c, tool_call_format(c, FILE_PREFIX "%.*s", SLICE_FMT(tool_call_text(c, "script_name"))),
        tool_call_format(c, "%s %llu %lld", hex, (unsigned long long)m->bytes, (long long)c->world->wall_ms),
        then_named);
}

/* Names as Titan's folder has them: no path, and a script of Python. */
void tool_deploy_script(struct tool_call *c) {
    struct slice name = tool_call_text(c, "script_name"), text = tool_call_text(c, "script_content");
    bool is_python = name.len > 3 && memcmp(name.ptr + name.len - 3, ".py", 3) == 0;
    if (!is_python || memchr(name.ptr, '/', name.len) != NULL || name.ptr[0] == '.') {
        tool_call_refuse(c, ERR_INVALID, "script_name is the name of a Python file without a path, like train.py");
        return;
    }
    if (text.len == 0) {
        tool_call_refuse(c, ERR_INVALID, "script_content is empty: send the text of the script");
        return;
    }
    struct wire_blob_put *m = ARENA_NEW(c->arena, struct wire_blob_put);
    m->data = text;
    tool_call_ask(c, WIRE_BLOB_PUT, m, then_kept);
}
