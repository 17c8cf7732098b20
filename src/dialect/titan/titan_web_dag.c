/* titan_web_dag.c: DAGs that the page of Titan's dashboard sends. What it sent is kept, so that it can be run again
 * (titan_web_again.c). */
#include "titan_web_dag.h"

#include "http_dialect.h"
#include "server_impl.h"
#include "session.h"
#include "titan_files.h"
#include "titan_submit.h"
#include "titan_web.h"

#define CLEARED "CLEARED" /* status of a gate that waits for a new decision */
#define GATE_STATUS "user:titan:hitl:status:"

/* ---- the end ---- */

static void say_response(struct server *s, struct session *n, bool ok, struct slice text) {
    struct json j = web_json(s);
    json_object(&j);
    json_key(&j, "status"), json_str(&j, ok ? "ok" : "error");
    json_key(&j, "response"), json_text(&j, text);
    json_object_end(&j);
    titan_page_say(s, n, ok ? 200 : 502);
}

static void kept_done(struct server *s, struct session *n) {
    say_response(s, n, true, SLICE("DAG_ACCEPTED"));
}

static struct slice entry_of(struct server *s, struct session *n, const struct titan_job *job) {
    const struct titan_sending *w = talk_of(n)->page;
    struct buf *b = &talk_of(n)->text;
    struct json j;
    buf_clear(b);
    json_init(&j, b);
    json_object(&j);
    json_key(&j, "dag"), json_text(&j, w->name);
    json_key(&j, "deps");
    json_array(&j);
    for (uint32_t i = 0; i < job->parent_count; i++) json_text(&j, job->parents[i].id);
    json_array_end(&j);
    json_key(&j, "run_ts"), json_i64(&j, s->world.clock->wall(s->world.clock).ms);
    json_key(&j, "filename"), json_text(&j, job->file);
    json_key(&j, "requirement"), json_text(&j, job->requirement);
    json_object_end(&j);
    return arena_slice(&talk_of(n)->arena, buf_slice(b));
}

/* The request itself is what a redeploy reads. */
static void body_told(struct server *s, struct session *n, uint8_t op, const void *message, bool more) {
    const struct titan_sending *w = talk_of(n)->page;
    const struct wire_blob_kept *m = message;
    struct titan_entries all = {.done = kept_done};
    (void)more;
    if (titan_page_refused(s, n, op, message)) return;
    all.at = ARENA_ARRAY(&talk_of(n)->arena, struct wire_kv_entry, (size_t)w->dag.jobs.count + 3);
    all.at[all.count++] =
        (struct wire_kv_entry){titan_page_print(n, TITAN_PAYLOAD_PREFIX TITAN_ENTRY_DAG "%.*s", SLICE_FMT(w->name)),
                               titan_payload_value(s, n, m->hash, m->bytes, 0, m->bytes)};
    if (w->dag.nodes.len > 0)
        all.at[all.count++] =
            (struct wire_kv_entry){titan_draft_key(n, w->name), titan_draft_value(s, n, w->dag.nodes, w->dag.edges)};
    for (uint32_t i = 0; i < w->dag.jobs.count; i++) {
        const struct titan_job *job = &w->dag.jobs.at[i];
        all.at[all.count++] = (struct wire_kv_entry){
            titan_page_print(n, TITAN_MANIFEST_PREFIX "%.*s", SLICE_FMT(job->id)), entry_of(s, n, job)};
    }
    titan_entries_set(s, n, &all);
}

static void submitted_said(struct server *s, struct session *n, struct slice text) {
    const struct titan_sending *w = talk_of(n)->page;
    struct slice reason = titan_page_reason(text), no_file = SLICE(TITAN_NO_FILE);
    bool lacks_file = reason.len > no_file.len && memcmp(reason.ptr, no_file.ptr, no_file.len) == 0;
    if (lacks_file)
        titan_page_error(s, n, 400, "%.*s", SLICE_FMT(reason));
    else if (!slice_eq(text, SLICE("DAG_ACCEPTED")) || !w->is_new)
        say_response(s, n, slice_eq(text, SLICE("DAG_ACCEPTED")), text);
    else
        titan_keep(s, n, web_of(n)->in.request.body, body_told);
}

static void submit(struct server *s, struct session *n) {
    struct titan_sending *w = talk_of(n)->page;
    struct titan_about about = {.name = w->name};
    struct wire_pair *labels = ARENA_ARRAY(&talk_of(n)->arena, struct wire_pair, 3);
    labels[about.label_count++] = (struct wire_pair){SLICE(TITAN_DAG_LABEL), w->name};
    if (w->job.len > 0) labels[about.label_count++] = (struct wire_pair){SLICE(TITAN_REPLAY_LABEL), SLICE("true")};
    if (w->run.len > 0) labels[about.label_count++] = (struct wire_pair){SLICE("agent_run_id"), w->run};
    about.labels = labels;
    talk_of(n)->said = submitted_said;
    titan_submit_jobs(s, n, w->dag.jobs, &about);
}

/* ---- gates: a decision of an earlier run is none for this one ---- */

static bool is_gate(struct slice id) {
    struct slice name = titan_dag_name(id), prefix = SLICE(TITAN_GATE_PREFIX);
    return name.len > prefix.len && memcmp(name.ptr, prefix.ptr, prefix.len) == 0;
}

void titan_send(struct server *s, struct session *n) {
    const struct titan_sending *w = talk_of(n)->page;
    struct titan_entries all = {.done = submit};
    all.at = ARENA_ARRAY(&talk_of(n)->arena, struct wire_kv_entry, (size_t)w->dag.jobs.count + 1);
    for (uint32_t i = 0; i < w->dag.jobs.count; i++) {
        struct slice id = w->dag.jobs.at[i].id;
        if (is_gate(id))
            all.at[all.count++] = (struct wire_kv_entry){
                titan_page_print(n, GATE_STATUS "%.*s", SLICE_FMT(titan_dag_name(id))), SLICE(CLEARED)};
    }
    titan_entries_set(s, n, &all);
}

/* ---- a new one ---- */

void titan_page_submit(struct server *s, struct session *n, struct slice word) {
    struct titan_sending *w = ARENA_NEW(&talk_of(n)->arena, struct titan_sending);
    struct why why = {{0}};
    talk_of(n)->page = w;
    w->word = word;
    w->is_new = true;
    if (titan_dag_json(web_of(n)->in.request.body, s->limits, &talk_of(n)->arena, &w->dag, &why) != ERR_OK) {
        titan_page_error(s, n, 400, "%s", why.text);
        return;
    }
    w->name = w->dag.name;
    if (w->name.len > (size_t)s->limits->name_bytes_max)
        titan_page_error(s, n, 400, "name: at most %lld bytes (name_bytes_max)", (long long)s->limits->name_bytes_max);
    else
        titan_send(s, n);
}
