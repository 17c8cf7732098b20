/* titan_web_job.c: what became of DAGs and jobs, their output and their end, and another worker. */
#include "http_dialect.h"
#include "json_tree.h"
#include "server_impl.h"
#include "session.h"
#include "titan_web.h"

#define PORT_STANDARD 8082

/* ---- output ---- */

static void logs_said(struct server *s, struct session *n, struct slice text) {
    titan_page_text(s, n, text.len > 0 ? text : SLICE("[Titan] No logs found for this ID yet."));
}

void titan_page_logs(struct server *s, struct session *n, struct slice word) {
    titan_page_call(s, n, titan_logs, word, logs_said);
}

/* ---- DAGs ---- */

static void dags_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    struct slice text = ((const struct wire_titan *)message)->text;
    struct json j = web_json(s);
    json_raw(&j, text);
    if (text.len == 0)
        titan_page_error(s, n, 413, "the answer is too large");
    else
        titan_page_say(s, n, 200);
}

void titan_page_dags(struct server *s, struct session *n, struct slice word) {
    struct wire_titan_get get = {.what = WIRE_TITAN_DAGS};
    (void)word;
    titan_ask(s, n, WIRE_TITAN_GET, &get, dags_told);
}

struct dag_cancel {
    struct slice id;
    struct slice *open; /* jobs that are to end */
    uint32_t open_count;
    struct slice *unknown; /* and those that only the manifest knows */
    uint32_t unknown_count;
};

static void ids_put(struct json *j, const char *key, const struct slice *ids, uint32_t count) {
    json_key(j, key);
    json_array(j);
    for (uint32_t i = 0; i < count; i++) json_text(j, ids[i]);
    json_array_end(j);
}

static void dag_cancel_say(struct server *s, struct session *n, uint32_t cancelled) {
    const struct dag_cancel *w = talk_of(n)->page;
    bool failed = cancelled == 0 && w->unknown_count > 0;
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "status"), json_str(&j, failed ? "error" : "ok");
    if (failed) {
        json_key(&j, "message"), json_str(&j, "No jobs cancelled");
        ids_put(&j, "errors", w->unknown, w->unknown_count);
    } else {
        json_key(&j, "dag_id"), json_text(&j, w->id);
        ids_put(&j, "cancelled", w->open, cancelled);
        ids_put(&j, "skipped", w->unknown, w->unknown_count);
    }
    json_object_end(&j);
    titan_page_say(s, n, failed ? 502 : 200);
}

/* Who ended meanwhile is skipped. What the end of another dragged along was cancelled, too. */
static void dag_cancelled_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct dag_cancel *w = talk_of(n)->page;
    const struct wire_accepted *m = message;
    uint32_t kept = 0;
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    const struct wire_result *results = m->results.at;
    for (uint32_t i = 0; i < w->open_count; i++) {
        if (i < m->results.count && results[i].code.len > 0)
            w->unknown[w->unknown_count++] = w->open[i];
        else
            w->open[kept++] = w->open[i];
    }
    dag_cancel_say(s, n, kept);
}

static void dag_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    struct arena *a = &talk_of(n)->arena;
    struct dag_cancel *w = talk_of(n)->page;
    const struct wire_titan *m = message;
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    const struct wire_titan_job *jobs = m->jobs.at;
    struct wire_name *targets = ARENA_ARRAY(a, struct wire_name, m->jobs.count + 1);
    w->open = ARENA_ARRAY(a, struct slice, m->jobs.count + 1);
    w->unknown = ARENA_ARRAY(a, struct slice, m->jobs.count + 1);
    for (uint32_t i = 0; i < m->jobs.count; i++) {
        bool open = slice_eq(jobs[i].status, SLICE("PENDING")) || slice_eq(jobs[i].status, SLICE("RUNNING"));
        if (open) targets[w->open_count].name = jobs[i].target;
        if (open) w->open[w->open_count++] = arena_slice(a, jobs[i].id);
        if (jobs[i].target.len == 0) w->unknown[w->unknown_count++] = arena_slice(a, jobs[i].id);
    }
    struct wire_targets cancel = {.targets = {targets, w->open_count},
                                  .reason = SLICE("cancelled by Titan's dashboard")};
    if (m->jobs.count == 0)
        titan_page_failed(s, n, 404, "message", titan_page_print(n, "DAG '%.*s' not found", SLICE_FMT(w->id)));
    else if (w->open_count == 0)
        dag_cancel_say(s, n, 0);
    else
        titan_ask(s, n, WIRE_CANCEL, &cancel, dag_cancelled_told);
}

void titan_page_dag_cancel(struct server *s, struct session *n, struct slice word) {
    struct dag_cancel *w = ARENA_NEW(&talk_of(n)->arena, struct dag_cancel);
    struct wire_titan_name name = {titan_dag_name(word)};
    struct wire_titan_get get = {.what = WIRE_TITAN_DAG, .names = {&name, 1}};
    w->id = word;
    talk_of(n)->page = w;
    titan_ask(s, n, WIRE_TITAN_GET, &get, dag_told);
}

/* ---- one job ---- */

static void cancel_said(struct server *s, struct session *n, struct slice text) {
    const struct slice *id = talk_of(n)->page;
    if (slice_eq(text, SLICE("NOT_FOUND"))) {
        titan_page_failed(s, n, 404, "message",
                          titan_page_print(n, "Job '%.*s' not found or already finished", SLICE_FMT(*id)));
        return;
    }
    if (!slice_eq(text, SLICE("CANCELLED"))) {
        titan_page_failed(s, n, 502, "message", text);
        return;
    }
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "status"), json_str(&j, "ok");
    json_key(&j, "job_id"), json_text(&j, *id);
    json_key(&j, "result"), json_text(&j, text);
    json_object_end(&j);
    titan_page_say(s, n, 200);
}

void titan_page_job_cancel(struct server *s, struct session *n, struct slice word) {
    talk_of(n)->page = arena_copy(&talk_of(n)->arena, &word, sizeof word);
    titan_page_call(s, n, titan_cancel, word, cancel_said);
}

/* ---- workers ---- */

struct launch {
    int64_t port;
    struct slice capability;
};

static void launched_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct launch *w = talk_of(n)->page;
    const struct wire_worker_started *m = message;
    (void)more;
    if (op == WIRE_ERROR || op == WIRE_BUSY) {
        const struct wire_error *e = message;
        struct slice text = op == WIRE_ERROR ? e->message : ((const struct wire_busy *)message)->reason;
        titan_page_failed(s, n, op == WIRE_ERROR ? (uint16_t)err_http_status(api_err_of(e->code)) : 503, "error", text);
        return;
    }
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "status"), json_str(&j, "ok");
    json_key(&j, "pid"), json_u64(&j, m->pid);
    json_key(&j, "port"), json_i64(&j, w->port);
    json_key(&j, "capability"), json_text(&j, w->capability);
    json_object_end(&j);
    titan_page_say(s, n, 200);
}

static bool capability_read(struct session *n, const struct json_node *given, struct slice *ret) {
    static const char *const known[] = {"GENERAL", "GPU", "HIGH_MEM", "PYTHON"};
    struct slice word = given != NULL && given->kind == JSON_TEXT ? given->text : SLICE("GENERAL");
    if (given != NULL && given->kind != JSON_TEXT) word = SLICE("?");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (http_text_is(word, known[i])) {
            *ret = slice_str(known[i]);
            return true;
        }
    *ret = titan_page_print(n, "Unknown capability: %.*s", SLICE_FMT(word));
    return false;
}

void titan_page_launch(struct server *s, struct session *n, struct slice word) {
    struct launch *w = ARENA_NEW(&talk_of(n)->arena, struct launch);
    const struct json_node *root = NULL;
    struct why why = {{0}};
    (void)word;
    talk_of(n)->page = w;
    w->port = PORT_STANDARD;
    enum err e = json_tree_read(web_of(n)->in.request.body, s->limits, &talk_of(n)->arena, &root, &why);
    if (e == ERR_OK && root->kind != JSON_OBJECT) e = why_set(&why, ERR_INVALID, "an object is expected");
    const struct json_node *port = e == ERR_OK ? json_tree_get(root, SLICE("port")) : NULL;
    bool is_number = port == NULL || (port->kind == JSON_NUMBER && json_number_i64(port->text, &w->port) == ERR_OK) ||
                     (port->kind == JSON_TEXT && titan_number(titan_trim(port->text), &w->port));
    if (e == ERR_OK && (!is_number || w->port < 1 || w->port > 65535))
        e = why_set(&why, ERR_INVALID, "port: a number between 1 and 65535 is expected");
    if (e != ERR_OK) {
        titan_page_failed(s, n, 400, "error", slice_str(why.text));
        return;
    }
    if (!capability_read(n, json_tree_get(root, SLICE("capability")), &w->capability)) {
        titan_page_failed(s, n, 400, "error", w->capability);
        return;
    }
    struct wire_pair labels[2] = {{SLICE("titan.port"), titan_page_print(n, "%lld", (long long)w->port)},
                                  {SLICE("capability"), w->capability}};
    struct wire_worker_start start = {.labels = {labels, 2}};
    titan_ask(s, n, WIRE_WORKER_START, &start, launched_told);
}
