/* titan_web_manifest.c: the manifest by which Titan's SDK tells its dashboard what the master is not told: which jobs
 * are a DAG, which DAGs a run of an agent, and how each can be sent again. It is merged with what came before, entry by
 * entry (titan_web_dag.h): payloads, which may be long, stay in the request, which is kept as a blob; the others are
 * values. Then flows that are in memory are told what they are a run of. */
#include "http_dialect.h"
#include "json_tree.h"
#include "server_impl.h"
#include "session.h"
#include "titan_files.h"
#include "titan_web.h"
#include "titan_web_dag.h"

#define STEP_ENTRIES 256u
#define STEP_BYTES ((size_t)1 << 20)

struct sync {
    const struct json_node *root;
    bool has_payloads;
    struct wire_titan_name *ids; /* jobs that it names a DAG of */
    struct told_job {
        struct slice dag, run;
    } * jobs;
    uint32_t count, at;
    struct slice *flows; /* of each; told, or to be told */
};

/* ---- keys ---- */

struct slice titan_payload_value(struct server *s, struct session *n, struct slice hash, uint64_t bytes,
                                 uint64_t offset, uint64_t length) {
    struct buf *b = &talk_of(n)->text;
    buf_clear(b);
    for (size_t i = 0; i < hash.len; i++) buf_printf(b, "%02x", hash.ptr[i]);
    buf_printf(b, " %llu %lld %llu %llu", (unsigned long long)bytes, (long long)s->world.clock->wall(s->world.clock).ms,
               (unsigned long long)offset, (unsigned long long)length);
    return arena_slice(&talk_of(n)->arena, buf_slice(b));
}

static void entries_next(struct server *s, struct session *n);

static void entries_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)more;
    if (!titan_page_refused(s, n, op, message)) entries_next(s, n);
}

static void entries_next(struct server *s, struct session *n) {
    struct titan_entries *e = talk_of(n)->work;
    struct wire_kv_change change = {.op = WIRE_KV_SET, .entries = {e->at + e->next, 0}};
    size_t bytes = 0;
    while (e->next < e->count && change.entries.count < STEP_ENTRIES && bytes < STEP_BYTES) {
        bytes += e->at[e->next++].value.len;
        change.entries.count++;
    }
    if (change.entries.count == 0)
        e->done(s, n);
    else
        titan_ask(s, n, WIRE_KV_CHANGE, &change, entries_told);
}

void titan_entries_set(struct server *s, struct session *n, const struct titan_entries *e) {
    talk_of(n)->work = arena_copy(&talk_of(n)->arena, e, sizeof *e);
    entries_next(s, n);
}

/* ---- flows ---- */

static void flows_next(struct server *s, struct session *n);

static void flow_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)message;
    (void)more;
    if (op == WIRE_BUSY && titan_page_refused(s, n, op, message)) return;
    flows_next(s, n); /* one that has left memory meanwhile needs to be told nothing */
}

static void flows_next(struct server *s, struct session *n) {
    struct sync *w = talk_of(n)->page;
    while (w->flows != NULL && w->at < w->count && w->flows[w->at].len == 0) w->at++;
    if (w->flows == NULL || w->at == w->count) {
        struct json j = web_json(s);
        json_object(&j);
        json_key(&j, "status"), json_str(&j, "ok");
        json_object_end(&j);
        titan_page_say(s, n, 200);
        return;
    }
    const struct told_job *job = &w->jobs[w->at];
    struct wire_kv_entry entries[2] = {{SLICE(LATE_KEY_DAG), job->dag}, {SLICE(LATE_KEY_RUN), job->run}};
    struct wire_kv_change change = {
        .op = WIRE_KV_SET, .flow = w->flows[w->at++], .entries = {entries, job->run.len > 0 ? 2 : 1}};
    titan_ask(s, n, WIRE_KV_CHANGE, &change, flow_told);
}

static struct slice flow_key(const void *ctx, uint32_t value) {
    return ((const struct sync *)ctx)->flows[value - 1];
}

/* Each flow once, and not again what an earlier manifest has told it. */
static void jobs_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct sync *w = talk_of(n)->page;
    const struct wire_titan *m = message;
    struct index seen;
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    const struct wire_titan_job *jobs = m->jobs.at;
    w->flows = ARENA_ARRAY(&talk_of(n)->arena, struct slice, w->count + 1);
    index_init(&seen);
    for (uint32_t i = 0; i < w->count && i < m->jobs.count; i++) {
        size_t len = 0;
        while (len < jobs[i].target.len && jobs[i].target.ptr[len] != '/') len++;
        struct slice flow = slice_of(jobs[i].target.ptr, len);
        bool known = slice_eq(jobs[i].dag, w->jobs[i].dag) && slice_eq(jobs[i].run, w->jobs[i].run);
        if (len == 0 || known || index_get(&seen, flow, flow_key, w) != 0) continue;
        w->flows[i] = arena_slice(&talk_of(n)->arena, flow);
        index_put(&seen, w->flows[i], i + 1);
    }
    index_fini(&seen);
    flows_next(s, n);
}

static void merged(struct server *s, struct session *n) {
    struct sync *w = talk_of(n)->page;
    struct wire_titan_get get = {.what = WIRE_TITAN_JOBS, .names = {w->ids, w->count}};
    if (w->count == 0)
        flows_next(s, n);
    else
        titan_ask(s, n, WIRE_TITAN_GET, &get, jobs_told);
}

/* ---- entries ---- */

static bool begins(struct slice text, const char *with) {
    return text.len >= strlen(with) && memcmp(text.ptr, with, strlen(with)) == 0;
}

static bool is_payload(const struct json_node *entry) {
    return begins(entry->key, TITAN_ENTRY_DAG) || begins(entry->key, TITAN_ENTRY_JOB);
}

static void merge(struct server *s, struct session *n, struct slice hash, uint64_t bytes) {
    const struct sync *w = talk_of(n)->page;
    struct slice text = web_of(n)->in.request.body;
    struct titan_entries all = {.done = merged};
    all.at = ARENA_ARRAY(&talk_of(n)->arena, struct wire_kv_entry, (size_t)w->root->count + 1);
    for (const struct json_node *e = w->root->first; e != NULL; e = e->next) {
        const char *prefix = is_payload(e) ? TITAN_PAYLOAD_PREFIX : TITAN_MANIFEST_PREFIX;
        all.at[all.count++] =
            (struct wire_kv_entry){titan_page_print(n, "%s%.*s", prefix, SLICE_FMT(e->key)),
                                   is_payload(e) ? titan_payload_value(s, n, hash, bytes, e->at, e->end - e->at)
                                                 : slice_of(text.ptr + e->at, e->end - e->at)};
    }
    titan_entries_set(s, n, &all);
}

static void body_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct wire_blob_kept *m = message;
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    merge(s, n, arena_slice(&talk_of(n)->arena, m->hash), m->bytes);
}

static struct slice text_of(const struct json_node *entry, const char *key) {
    const struct json_node *n = json_tree_get(entry, slice_str(key));
    return n != NULL && n->kind == JSON_TEXT ? n->text : (struct slice){0};
}

/* Which entries there are; false: one of them is none, which was said. */
static bool entries_read(struct server *s, struct session *n, struct sync *w) {
    struct arena *a = &talk_of(n)->arena;
    w->ids = ARENA_ARRAY(a, struct wire_titan_name, w->root->count + 1);
    w->jobs = ARENA_ARRAY(a, struct told_job, w->root->count + 1);
    for (const struct json_node *e = w->root->first; e != NULL; e = e->next) {
        bool is_job = begins(e->key, "DAG-");
        size_t prefix = sizeof TITAN_MANIFEST_PREFIX - 1;
        if (e->key.len == 0 || e->key.len + prefix > (size_t)s->limits->store_key_bytes_max) {
            titan_page_error(s, n, 400, "the name of an entry is empty or too long");
            return false;
        }
        if (e->kind != JSON_OBJECT && !(is_payload(e) && e->kind == JSON_TEXT)) {
            titan_page_error(s, n, 400, "%.*s: an object is expected", SLICE_FMT(e->key));
            return false;
        }
        if (text_of(e, "dag").len > TITAN_TOLD_MAX || text_of(e, "agent_run_id").len > TITAN_TOLD_MAX) {
            titan_page_error(s, n, 400, "%.*s: dag and agent_run_id have at most %u bytes", SLICE_FMT(e->key),
                             TITAN_TOLD_MAX);
            return false;
        }
        w->has_payloads |= is_payload(e);
        if (!is_job || text_of(e, "dag").len == 0 || w->count == WIRE_TITAN_NAMES_MAX) continue;
        w->ids[w->count].id = e->key;
        w->jobs[w->count++] = (struct told_job){text_of(e, "dag"), text_of(e, "agent_run_id")};
    }
    return true;
}

void titan_page_manifest(struct server *s, struct session *n, struct slice word) {
    struct sync *w = ARENA_NEW(&talk_of(n)->arena, struct sync);
    struct slice text = web_of(n)->in.request.body;
    struct why why = {{0}};
    (void)word;
    talk_of(n)->page = w;
    if (json_tree_read(text, s->limits, &talk_of(n)->arena, &w->root, &why) != ERR_OK)
        titan_page_error(s, n, 400, "%s", why.text);
    else if (w->root->kind != JSON_OBJECT)
        titan_page_error(s, n, 400, "a manifest is an object");
    else if (w->root->count == 0)
        titan_page_error(s, n, 400, "Empty payload");
    else if (!entries_read(s, n, w))
        return;
    else if (w->has_payloads)
        titan_keep(s, n, text, body_told);
    else
        merge(s, n, (struct slice){0}, 0);
}
