/* titan_web_again.c: DAGs that are run again: all of one, or one job of it without what it waited for. What is run is
 * what was kept when it was sent, or when its manifest came (titan_web_dag.h). */
#include "json_tree.h"
#include "server_impl.h"
#include "session.h"
#include "titan_files.h"
#include "titan_web.h"
#include "titan_web_dag.h"

static void no_payload(struct server *s, struct session *n) {
    const struct titan_sending *w = talk_of(n)->page;
    titan_page_error(s, n, 404, "No stored payload for '%.*s': submit it again by the SDK or the constructor",
                     SLICE_FMT(w->job.len > 0 ? w->job : w->name));
}

/* Only one of them is run again, and waits for nothing. */
static bool job_pick(struct titan_sending *w) {
    for (uint32_t i = 0; i < w->dag.jobs.count; i++)
        if (slice_eq(w->dag.jobs.at[i].id, w->job)) {
            w->dag.jobs = (struct titan_jobs){&w->dag.jobs.at[i], 1};
            w->dag.jobs.at->parent_count = 0;
            return true;
        }
    return false;
}

static void run_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct titan_sending *w = talk_of(n)->page;
    const struct wire_kv_items *m = message;
    const struct json_node *root = NULL;
    struct why why = {{0}};
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    const struct wire_kv_item *item = m->items.at;
    if (m->items.count > 0 && json_tree_read(arena_slice(&talk_of(n)->arena, item->value), s->limits,
                                             &talk_of(n)->arena, &root, &why) == ERR_OK) {
        const struct json_node *run = json_tree_get(root, SLICE("agent_run_id"));
        if (run != NULL && run->kind == JSON_TEXT) w->run = run->text;
    }
    titan_send(s, n);
}

static void text_read(struct server *s, struct session *n) {
    struct titan_sending *w = talk_of(n)->page;
    struct arena *a = &talk_of(n)->arena;
    const struct json_node *root = NULL;
    struct why why = {{0}};
    struct slice text = slice_of(w->text, (size_t)w->len);
    enum err e = json_tree_read(text, s->limits, a, &root, &why);
    const struct json_node *payload = e == ERR_OK ? json_tree_get(root, SLICE("dag_payload")) : NULL;
    if (e == ERR_OK && root->kind == JSON_TEXT) payload = root;
    if (payload != NULL && payload->kind == JSON_TEXT)
        e = titan_dag_read(payload->text, a, &w->dag.jobs, &why);
    else if (e == ERR_OK)
        e = titan_dag_json(text, s->limits, a, &w->dag, &why);
    if (e != ERR_OK) {
        titan_page_error(s, n, 400, "what is stored cannot be read: %s", why.text);
        return;
    }
    if (w->job.len > 0 && !job_pick(w)) {
        no_payload(s, n);
        return;
    }
    struct wire_kv_key key = {titan_page_print(n, TITAN_MANIFEST_PREFIX "%.*s", SLICE_FMT(w->dag.jobs.at->id))};
    struct wire_kv_get get = {.keys = {&key, 1}};
    titan_ask(s, n, WIRE_KV_GET, &get, run_told);
}

static void piece_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct titan_sending *w = talk_of(n)->page;
    const struct wire_blob_data *m = message;
    if (titan_page_refused(s, n, op, message)) return;
    if (w->len + m->data.len <= w->room && m->data.len > 0) memcpy(w->text + w->len, m->data.ptr, m->data.len);
    w->len += m->data.len;
    if (more) return;
    if (w->len == w->room)
        text_read(s, n);
    else
        titan_page_error(s, n, 500, "what is stored is not whole");
}

/* HASH BYTES MS OFFSET LENGTH */
static bool place_read(struct session *n, struct slice value, struct wire_blob_get *ret) {
    uint64_t numbers[4] = {0};
    if (!titan_file_hash(value, &talk_of(n)->arena, &ret->hash)) return false;
    struct slice rest = slice_of(value.ptr + 2 * DIGEST_BYTES, value.len - 2 * DIGEST_BYTES);
    for (uint32_t i = 0; i < 4; i++) {
        size_t len = 1;
        while (len < rest.len && rest.ptr[len] != ' ') len++;
        if (len < 2 || rest.len < 2 || !slice_decimal(slice_of(rest.ptr + 1, len - 1), &numbers[i])) return false;
        rest = slice_of(rest.ptr + len, rest.len - len);
    }
    ret->offset = numbers[2];
    ret->most = numbers[3];
    return ret->most > 0 && ret->most <= numbers[0];
}

static void payload_get(struct server *s, struct session *n, struct slice value) {
    struct titan_sending *w = talk_of(n)->page;
    struct wire_blob_get get = {0};
    if (!place_read(n, value, &get) || get.most > (uint64_t)s->limits->http_body_bytes_max) {
        no_payload(s, n);
        return;
    }
    w->room = get.most;
    w->text = arena_space(&talk_of(n)->arena, (size_t)w->room + 1);
    titan_ask(s, n, WIRE_BLOB_GET, &get, piece_told);
}

static void dag_payload_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_kv_items *m = message;
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    if (m->items.count == 0)
        no_payload(s, n);
    else
        payload_get(s, n, ((const struct wire_kv_item *)m->items.at)->value);
}

static void dag_payload_ask(struct server *s, struct session *n) {
    const struct titan_sending *w = talk_of(n)->page;
    struct wire_kv_key key = {titan_page_print(n, TITAN_PAYLOAD_PREFIX TITAN_ENTRY_DAG "%.*s", SLICE_FMT(w->name))};
    struct wire_kv_get get = {.keys = {&key, 1}};
    if (key.text.len > (size_t)s->limits->store_key_bytes_max)
        no_payload(s, n);
    else
        titan_ask(s, n, WIRE_KV_GET, &get, dag_payload_told);
}

void titan_page_redeploy(struct server *s, struct session *n, struct slice word) {
    struct titan_sending *w = ARENA_NEW(&talk_of(n)->arena, struct titan_sending);
    talk_of(n)->page = w;
    w->word = word;
    w->name = titan_dag_name(word);
    dag_payload_ask(s, n);
}

/* The job's own payload, or that of its DAG, which the manifest names. */
static void job_payload_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct titan_sending *w = talk_of(n)->page;
    struct arena *a = &talk_of(n)->arena;
    const struct wire_kv_items *m = message;
    const struct json_node *root = NULL, *dag = NULL;
    struct slice payload = {0};
    struct why why = {{0}};
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    const struct wire_kv_item *items = m->items.at;
    for (uint32_t i = 0; i < m->items.count; i++) {
        struct slice prefix = SLICE(TITAN_PAYLOAD_PREFIX);
        if (slice_begins(items[i].key, prefix))
            payload = arena_slice(a, items[i].value);
        else if (json_tree_read(arena_slice(a, items[i].value), s->limits, a, &root, &why) == ERR_OK)
            dag = json_tree_get(root, SLICE("dag"));
    }
    w->name = dag != NULL && dag->kind == JSON_TEXT && dag->text.len > 0 ? dag->text : titan_dag_name(w->job);
    if (payload.len > 0)
        payload_get(s, n, payload);
    else if (dag != NULL)
        dag_payload_ask(s, n);
    else
        no_payload(s, n);
}

void titan_page_replay(struct server *s, struct session *n, struct slice word) {
    struct titan_sending *w = ARENA_NEW(&talk_of(n)->arena, struct titan_sending);
    talk_of(n)->page = w;
    w->word = word;
    w->job = titan_prefixed(word, &talk_of(n)->arena);
    struct wire_kv_key keys[2] = {{titan_page_print(n, TITAN_PAYLOAD_PREFIX TITAN_ENTRY_JOB "%.*s", SLICE_FMT(w->job))},
                                  {titan_page_print(n, TITAN_MANIFEST_PREFIX "%.*s", SLICE_FMT(w->job))}};
    struct wire_kv_get get = {.keys = {keys, 2}};
    if (keys[0].text.len > (size_t)s->limits->store_key_bytes_max)
        no_payload(s, n);
    else
        titan_ask(s, n, WIRE_KV_GET, &get, job_payload_told);
}
