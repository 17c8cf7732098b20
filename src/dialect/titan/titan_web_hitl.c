/* titan_web_hitl.c: people decide, by the keys of the store that Titan's gates look at: the set `titan:hitl:queue`, and
 * of each gate its status, its message and since when it waits. */
#include "http_dialect.h"
#include "server_impl.h"
#include "session.h"
#include "titan_web.h"

#define USER "user:" /* before keys of Titan's clients (titan_store.c) */
#define HITL "titan:hitl:"
#define PAGE 250u /* gates, each with three keys */

struct pending {
    struct slice *gates; /* of this page */
    uint32_t count;
    struct slice after;
    struct json json; /* into the text of the talk */
};

/* ---- what waits ---- */

static void pending_ask(struct server *s, struct session *n, struct slice after);

static struct slice key_of(struct session *n, const char *what, struct slice gate) {
    return titan_page_print(n, USER HITL "%s:%.*s", what, SLICE_FMT(gate));
}

static const struct wire_kv_item *item_of(const struct wire_kv_items *m, struct slice key) {
    const struct wire_kv_item *items = m->items.at;
    for (uint32_t i = 0; i < m->items.count; i++)
        if (slice_eq(items[i].key, key)) return &items[i];
    return NULL;
}

static void gate_put(struct session *n, const struct wire_kv_items *m, struct slice gate) {
    struct pending *w = talk_of(n)->page;
    const struct wire_kv_item *status = item_of(m, key_of(n, "status", gate));
    const struct wire_kv_item *text = item_of(m, key_of(n, "message", gate)), *ts = item_of(m, key_of(n, "ts", gate));
    uint64_t at = 0;
    if (status == NULL || !slice_eq(status->value, SLICE("WAITING"))) return;
    if (ts != NULL && slice_eq(ts->kind, SLICE("number")))
        at = ts->number > 0 ? (uint64_t)ts->number : 0;
    else if (ts != NULL)
        (void)slice_decimal(ts->value, &at); /* what is no number is 0, as there */
    json_object(&w->json);
    json_key(&w->json, "job_id"), json_text(&w->json, gate);
    json_key(&w->json, "message");
    json_text(&w->json, text != NULL && text->value.len > 0 ? text->value : SLICE("Awaiting approval"));
    json_key(&w->json, "ts"), json_u64(&w->json, at);
    json_object_end(&w->json);
}

static void gates_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct pending *w = talk_of(n)->page;
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    for (uint32_t i = 0; i < w->count; i++) gate_put(n, message, w->gates[i]);
    if (w->after.len > 0) {
        pending_ask(s, n, w->after);
        return;
    }
    json_array_end(&w->json);
    struct json j = web_json(s);
    json_raw(&j, buf_slice(&talk_of(n)->text));
    titan_page_say(s, n, 200);
}

static void queue_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct pending *w = talk_of(n)->page;
    struct arena *a = &talk_of(n)->arena;
    const struct wire_kv_items *m = message;
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    const struct wire_kv_key *members = m->members.at;
    struct wire_kv_key *keys = ARENA_ARRAY(a, struct wire_kv_key, 3 * (size_t)m->members.count + 1);
    w->gates = ARENA_ARRAY(a, struct slice, m->members.count + 1);
    w->after = arena_slice(a, m->after);
    w->count = 0;
    for (uint32_t i = 0; i < m->members.count; i++) {
        struct slice gate = arena_slice(a, members[i].text);
        if (gate.len + sizeof USER HITL "message:" > (size_t)s->limits->store_key_bytes_max) continue;
        keys[3 * w->count].text = key_of(n, "status", gate);
        keys[3 * w->count + 1].text = key_of(n, "message", gate);
        keys[3 * w->count + 2].text = key_of(n, "ts", gate);
        w->gates[w->count++] = gate;
    }
    struct wire_kv_get get = {.keys = {keys, 3 * w->count}};
    if (w->count == 0) {
        static const struct wire_kv_items none = {0};
        gates_told(s, n, WIRE_KV_ITEMS, &none, false);
    } else {
        titan_ask(s, n, WIRE_KV_GET, &get, gates_told);
    }
}

static void pending_ask(struct server *s, struct session *n, struct slice after) {
    struct wire_kv_key queue = {SLICE(USER HITL "queue")};
    struct wire_kv_get get = {.keys = {&queue, 1}, .members = true, .after = after, .most = PAGE};
    titan_ask(s, n, WIRE_KV_GET, &get, queue_told);
}

void titan_page_pending(struct server *s, struct session *n, struct slice word) {
    struct pending *w = ARENA_NEW(&talk_of(n)->arena, struct pending);
    (void)word;
    talk_of(n)->page = w;
    json_init(&w->json, &talk_of(n)->text);
    json_array(&w->json);
    pending_ask(s, n, (struct slice){0});
}

/* ---- decisions ---- */

struct decision {
    struct slice gate;
    const char *word;
};

static void decided_said(struct server *s, struct session *n, struct slice text) {
    const struct decision *w = talk_of(n)->page;
    if (!slice_eq(text, SLICE("OK"))) {
        titan_page_failed(s, n, 502, "message", titan_page_reason(text));
        return;
    }
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "status"), json_str(&j, "ok");
    json_key(&j, "job_id"), json_text(&j, w->gate);
    json_key(&j, "decision"), json_str(&j, w->word);
    json_object_end(&j);
    titan_page_say(s, n, 200);
}

/* As the frame that Titan's clients decide by: whoever looks at what such a frame sets sees both. */
static void decide(struct server *s, struct session *n, struct slice gate, const char *word) {
    struct decision *w = ARENA_NEW(&talk_of(n)->arena, struct decision);
    *w = (struct decision){gate, word};
    talk_of(n)->page = w;
    if (memchr(slice_data(gate), '|', gate.len) != NULL) {
        titan_page_failed(s, n, 400, "message", SLICE("the id of a gate has no bar in it"));
        return;
    }
    titan_page_call(s, n, titan_kv_set, titan_page_print(n, HITL "status:%.*s|%s", SLICE_FMT(gate), word),
                    decided_said);
}

void titan_page_approve(struct server *s, struct session *n, struct slice word) {
    decide(s, n, word, "APPROVED");
}

void titan_page_reject(struct server *s, struct session *n, struct slice word) {
    decide(s, n, word, "REJECTED");
}
