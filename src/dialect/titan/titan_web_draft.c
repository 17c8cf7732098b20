/* titan_web_draft.c: drawings of DAGs, as Titan's page keeps them: `titan:draft:NAME` is a key of the store, its value
 * the JSON that the page reads. */
#include <stdlib.h>

#include "http_dialect.h"
#include "json_tree.h"
#include "server_impl.h"
#include "session.h"
#include "titan_web.h"
#include "titan_web_dag.h"

#define NAME_STANDARD "my-pipeline"
#define DRAFTS_PER_PAGE 16u /* a value may be long */

/* ---- keeping ---- */

struct slice titan_draft_key(struct session *n, struct slice name) {
    return titan_page_print(n, TITAN_DRAFT_PREFIX "%.*s", SLICE_FMT(name));
}

/* The time comes first: whoever lists drafts need not read their drawings. */
struct slice titan_draft_value(struct server *s, struct session *n, struct slice nodes, struct slice edges) {
    struct buf *b = &talk_of(n)->text;
    struct json j;
    buf_clear(b);
    json_init(&j, b);
    json_object(&j);
    json_key(&j, "saved_at"), json_i64(&j, s->world.clock->wall(s->world.clock).ms);
    json_key(&j, "nodes"), json_raw(&j, nodes);
    json_key(&j, "edges"), json_raw(&j, edges);
    json_object_end(&j);
    return arena_slice(&talk_of(n)->arena, buf_slice(b));
}

static void saved_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct slice *name = talk_of(n)->page;
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "status"), json_str(&j, "ok");
    json_key(&j, "name"), json_text(&j, *name);
    json_object_end(&j);
    titan_page_say(s, n, 200);
}

static bool list_read(struct slice text, const struct json_node *root, const char *key, struct slice *ret) {
    const struct json_node *n = json_tree_get(root, slice_str(key));
    *ret = SLICE("[]");
    if (n == NULL || n->kind == JSON_NULL) return true;
    *ret = slice_of(text.ptr + n->at, n->end - n->at);
    return n->kind == JSON_ARRAY;
}

void titan_page_draft_save(struct server *s, struct session *n, struct slice word) {
    struct slice text = web_of(n)->in.request.body, nodes, edges, *name = ARENA_NEW(&talk_of(n)->arena, struct slice);
    const struct json_node *root = NULL;
    struct why why = {{0}};
    (void)word;
    talk_of(n)->page = name;
    if (json_tree_read(text, s->limits, &talk_of(n)->arena, &root, &why) != ERR_OK) {
        titan_page_error(s, n, 400, "%s", why.text);
        return;
    }
    const struct json_node *given = json_tree_get(root, SLICE("name"));
    *name = given != NULL && given->kind == JSON_TEXT ? titan_trim(given->text) : SLICE("");
    if (given == NULL || given->kind == JSON_NULL || (given->kind == JSON_TEXT && given->text.len == 0))
        *name = SLICE(NAME_STANDARD);
    if (root->kind != JSON_OBJECT || name->len == 0) {
        titan_page_error(s, n, 400, "name required");
    } else if (!list_read(text, root, "nodes", &nodes) || !list_read(text, root, "edges", &edges)) {
        titan_page_error(s, n, 400, "nodes and edges are lists");
    } else {
        struct wire_kv_entry entry = {titan_draft_key(n, *name), titan_draft_value(s, n, nodes, edges)};
        struct wire_kv_change change = {.op = WIRE_KV_SET, .entries = {&entry, 1}};
        titan_ask(s, n, WIRE_KV_CHANGE, &change, saved_told);
    }
}

/* ---- one ---- */

static void draft_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_kv_items *m = message;
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    if (m->items.count == 0) {
        titan_page_error(s, n, 404, "Not found");
        return;
    }
    struct json j = web_json(s);
    json_raw(&j, ((const struct wire_kv_item *)m->items.at)->value);
    titan_page_say(s, n, 200);
}

void titan_page_draft(struct server *s, struct session *n, struct slice word) {
    struct wire_kv_key key = {titan_draft_key(n, word)};
    struct wire_kv_get get = {.keys = {&key, 1}};
    if (key.text.len > (size_t)s->limits->store_key_bytes_max)
        titan_page_error(s, n, 404, "Not found");
    else
        titan_ask(s, n, WIRE_KV_GET, &get, draft_told);
}

/* ---- all ---- */

struct draft {
    struct slice name;
    uint64_t saved_ms;
    struct draft *next;
};

struct drafts {
    struct draft *first;
    uint32_t count;
};

static void take(struct session *n, struct slice name, const struct wire_kv_item *item) {
    struct drafts *w = talk_of(n)->page;
    struct draft *d = ARENA_NEW(&talk_of(n)->arena, struct draft);
    struct slice before = SLICE("{\"saved_at\":"), value = item->value;
    *d = (struct draft){.name = arena_slice(&talk_of(n)->arena, name), .next = w->first};
    size_t len = before.len;
    while (len < value.len && value.ptr[len] >= '0' && value.ptr[len] <= '9') len++;
    if (value.len > before.len && memcmp(value.ptr, before.ptr, before.len) == 0)
        (void)slice_decimal(slice_of(value.ptr + before.len, len - before.len), &d->saved_ms);
    w->first = d;
    w->count++;
}

static int newest_first(const void *a, const void *b) {
    const struct draft *x = *(struct draft *const *)a, *y = *(struct draft *const *)b;
    return x->saved_ms != y->saved_ms ? (x->saved_ms < y->saved_ms) - (x->saved_ms > y->saved_ms)
                                      : slice_cmp(x->name, y->name);
}

static void done(struct server *s, struct session *n) {
    const struct drafts *w = talk_of(n)->page;
    struct draft **all = ARENA_ARRAY(&talk_of(n)->arena, struct draft *, w->count + 1);
    uint32_t count = 0;
    for (struct draft *d = w->first; d != NULL; d = d->next) all[count++] = d;
    if (count > 0) qsort(all, count, sizeof *all, newest_first);
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "states");
    json_array(&j);
    for (uint32_t i = 0; i < count; i++) {
        json_object(&j);
        json_key(&j, "name"), json_text(&j, all[i]->name);
        json_key(&j, "saved_at"), json_u64(&j, all[i]->saved_ms);
        json_object_end(&j);
    }
    json_array_end(&j);
    json_object_end(&j);
    titan_page_say(s, n, 200);
}

void titan_page_drafts(struct server *s, struct session *n, struct slice word) {
    static const struct titan_walk walk = {TITAN_DRAFT_PREFIX, DRAFTS_PER_PAGE, take, done};
    (void)word;
    talk_of(n)->page = ARENA_NEW(&talk_of(n)->arena, struct drafts);
    titan_page_walk(s, n, &walk);
}
