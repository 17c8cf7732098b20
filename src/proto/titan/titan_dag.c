/* titan_dag.c: a DAG as the page of Titan's dashboard sends it: JSON in place of the text of titan_job.h. Its files are
 * named, not sent. A job with a message for a person gets a gate behind it, and its children wait for that one. */
#include <stdio.h>

#include "json_tree.h"
#include "map.h"
#include "titan_http.h"

#define NAME_STANDARD "my-pipeline"
#define WAIT_STANDARD_S 172800

struct dag_reading {
    struct slice text;
    struct arena *arena;
    struct why *why;
    struct titan_dag *dag;
};

static enum err refuse(struct why *why, struct slice job, const char *text) {
    return why_set(why, ERR_INVALID, "job %.*s: %s", (int)(job.len < 128 ? job.len : 128), (const char *)job.ptr, text);
}

/* ---- values: what is null is not there ---- */

static const struct json_node *member(const struct json_node *job, const char *key) {
    const struct json_node *n = json_tree_get(job, slice_str(key));
    return n != NULL && n->kind != JSON_NULL ? n : NULL;
}

static enum err text_of(struct dag_reading *r, const struct json_node *job, const char *key, struct slice *ret) {
    const struct json_node *n = member(job, key);
    if (n == NULL) return ERR_OK;
    if (n->kind != JSON_TEXT) return why_set(r->why, ERR_INVALID, "%s: text is expected", key);
    *ret = n->text;
    return ERR_OK;
}

/* Fields of a form are text until somebody makes numbers of them. */
static enum err number_of(struct dag_reading *r, const struct json_node *job, const char *key, int64_t *ret) {
    const struct json_node *n = member(job, key);
    if (n == NULL || (n->kind == JSON_TEXT && n->text.len == 0)) return ERR_OK;
    if (n->kind == JSON_NUMBER && json_number_i64(n->text, ret) == ERR_OK) return ERR_OK;
    if (n->kind == JSON_TEXT && titan_number(titan_trim(n->text), ret)) return ERR_OK;
    return why_set(r->why, ERR_INVALID, "%s: a whole number is expected", key);
}

static struct slice base_name(struct slice path) {
    size_t from = path.len;
    while (from > 0 && path.ptr[from - 1] != '/' && path.ptr[from - 1] != '\\') from--;
    return from > 0 ? slice_of(path.ptr + from, path.len - from) : path;
}

/* On the wire of Titan a bar would end the field. */
static struct slice without_bars(struct dag_reading *r, struct slice text, const char *instead) {
    if (text.len == 0 || memchr(text.ptr, '|', text.len) == NULL) return text;
    uint8_t *copy = arena_space(r->arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '|')
            copy[len++] = text.ptr[i];
        else if (instead[0] != 0)
            copy[len++] = (uint8_t)instead[0];
    }
    return slice_of(copy, len);
}

/* ---- jobs ---- */

static enum err parents_read(struct dag_reading *r, const struct json_node *job, struct titan_job *ret) {
    const struct json_node *list = member(job, "depends_on");
    if (list == NULL) return ERR_OK;
    if (list->kind != JSON_ARRAY) return refuse(r->why, ret->id, "depends_on: a list of ids is expected");
    ret->parents = ARENA_ARRAY(r->arena, struct titan_parent, list->count + 1);
    for (const struct json_node *n = list->first; n != NULL; n = n->next) {
        if (n->kind != JSON_TEXT || titan_trim(n->text).len == 0)
            return refuse(r->why, ret->id, "depends_on: a list of ids is expected");
        ret->parents[ret->parent_count++] =
            (struct titan_parent){.id = titan_prefixed(titan_trim(n->text), r->arena), .at = TITAN_ELSEWHERE};
    }
    return ERR_OK;
}

static bool is_service(struct slice type) {
    return http_text_is(type, "service") || http_text_is(type, "deploy_payload");
}

static enum err job_read(struct dag_reading *r, const struct json_node *job, struct titan_job *ret) {
    struct slice id = {0}, file = {0}, type = {0}, requirement = {0};
    int64_t port = 0;
    const struct json_node *affinity = member(job, "affinity");
    *ret = (struct titan_job){.priority = 1, .named = true};
    if (job->kind != JSON_OBJECT) return why_set(r->why, ERR_INVALID, "a job is an object");
    enum err e = text_of(r, job, "id", &id);
    if (e == ERR_OK) e = text_of(r, job, "filename", &file);
    if (e == ERR_OK) e = text_of(r, job, "job_type", &type);
    if (e == ERR_OK) e = text_of(r, job, "requirement", &requirement);
    if (e == ERR_OK) e = text_of(r, job, "args", &ret->args);
    if (e == ERR_OK) e = number_of(r, job, "priority", &ret->priority);
    if (e == ERR_OK) e = number_of(r, job, "delay", &ret->delay_ms);
    if (e == ERR_OK) e = number_of(r, job, "port", &port);
    if (e != ERR_OK) return e;
    id = titan_trim(id);
    if (id.len == 0) return why_set(r->why, ERR_INVALID, "a job has no id");
    ret->id = titan_prefixed(id, r->arena);
    ret->kind = is_service(type) ? TITAN_KIND_SERVICE : TITAN_KIND_SCRIPT;
    ret->file = base_name(titan_trim(file));
    if (ret->file.len == 0) return refuse(r->why, id, "the name of its file is missing");
    if (port < 0 || port > 65535) return refuse(r->why, id, "port: a number between 0 and 65535 is expected");
    ret->port = (uint32_t)port;
    ret->args = without_bars(r, ret->args, " ");
    ret->requirement = titan_trim(without_bars(r, requirement, ""));
    if (ret->requirement.len == 0) ret->requirement = SLICE(TITAN_GENERAL);
    ret->affinity = affinity != NULL && affinity->kind == JSON_BOOL && affinity->truth;
    return parents_read(r, job, ret);
}

/* ---- gates ---- */

static enum err gate_read(struct dag_reading *r, const struct json_node *node, const struct titan_job *job,
                          struct titan_job *ret, bool *ret_is) {
    struct slice message = {0}, id = titan_dag_name(job->id);
    int64_t wait = WAIT_STANDARD_S;
    enum err e = text_of(r, node, "hitl_message", &message);
    if (e == ERR_OK) e = number_of(r, node, "max_wait_seconds", &wait);
    *ret_is = e == ERR_OK && message.len > 0;
    if (!*ret_is) return e;
    size_t room = 2 * id.len + message.len + sizeof TITAN_GATE_PREFIX + 32;
    char *gate = arena_alloc(r->arena, room), *args = arena_alloc(r->arena, room);
    snprintf(gate, room, TITAN_GATE_PREFIX "%.*s", SLICE_FMT(id));
    snprintf(args, room, "%s %lld %.*s", gate, (long long)(wait > 0 ? wait : WAIT_STANDARD_S),
             SLICE_FMT(without_bars(r, message, " ")));
    *ret = (struct titan_job){.id = titan_prefixed(slice_str(gate), r->arena),
                              .kind = TITAN_KIND_SCRIPT,
                              .file = SLICE(TITAN_GATE_FILE),
                              .args = slice_str(args),
                              .named = true,
                              .requirement = SLICE(TITAN_GENERAL),
                              .priority = job->priority,
                              .parents = ARENA_NEW(r->arena, struct titan_parent),
                              .parent_count = 1};
    ret->parents[0] = (struct titan_parent){.id = job->id, .at = TITAN_ELSEWHERE};
    r->dag->gates[r->dag->gate_count++] = slice_str(gate);
    return ERR_OK;
}

static struct slice gate_key(const void *ctx, uint32_t value) {
    return ((const struct titan_jobs *)ctx)->at[value - 1].parents[0].id;
}

/* Whoever waits for a job that has a gate waits for the gate; but for the gate itself. */
static void gates_wire(struct titan_jobs *all, const uint8_t *is_gate) {
    struct index by_job;
    index_init(&by_job);
    for (uint32_t i = 0; i < all->count; i++)
        if (is_gate[i] && index_get(&by_job, all->at[i].parents[0].id, gate_key, all) == 0)
            index_put(&by_job, all->at[i].parents[0].id, i + 1);
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = 0; k < all->at[i].parent_count && !is_gate[i]; k++) {
            uint32_t gate = index_get(&by_job, all->at[i].parents[k].id, gate_key, all);
            if (gate != 0) all->at[i].parents[k].id = all->at[gate - 1].id;
        }
    index_fini(&by_job);
}

/* ---- all of it ---- */

static enum err jobs_read(struct dag_reading *r, const struct json_node *list) {
    struct titan_jobs *all = &r->dag->jobs;
    uint8_t *is_gate = arena_alloc(r->arena, 2 * (size_t)list->count + 1);
    all->at = ARENA_ARRAY(r->arena, struct titan_job, 2 * (size_t)list->count + 1);
    r->dag->gates = ARENA_ARRAY(r->arena, struct slice, list->count + 1);
    for (const struct json_node *n = list->first; n != NULL; n = n->next) {
        struct titan_job *job = &all->at[all->count++];
        bool has_gate = false;
        enum err e = job_read(r, n, job);
        if (e == ERR_OK) e = gate_read(r, n, job, &all->at[all->count], &has_gate);
        if (e != ERR_OK) return e;
        is_gate[all->count] = has_gate;
        all->count += has_gate;
    }
    gates_wire(all, is_gate);
    return titan_jobs_link(all, r->arena, r->why);
}

static struct slice raw(const struct dag_reading *r, const struct json_node *n) {
    return n != NULL ? slice_of(r->text.ptr + n->at, n->end - n->at) : (struct slice){0};
}

enum err titan_dag_json(struct slice text, const struct limits *limits, struct arena *arena, struct titan_dag *ret,
                        struct why *why) {
    struct dag_reading r = {text, arena, why, ret};
    const struct json_node *root = NULL;
    *ret = (struct titan_dag){0};
    enum err e = json_tree_read(text, limits, arena, &root, why);
    if (e != ERR_OK) return e;
    const struct json_node *jobs = member(root, "jobs"), *nodes = member(root, "_nodes");
    if (jobs == NULL || jobs->kind != JSON_ARRAY || jobs->count == 0) return why_set(why, ERR_INVALID, "Missing jobs");
    e = text_of(&r, root, "name", &ret->name);
    if (e != ERR_OK) return e;
    ret->name = titan_trim(ret->name);
    if (ret->name.len == 0) ret->name = SLICE(NAME_STANDARD);
    if (nodes != NULL && nodes->kind == JSON_ARRAY && nodes->count > 0) {
        ret->nodes = raw(&r, nodes);
        ret->edges = raw(&r, member(root, "_edges"));
        if (ret->edges.len == 0) ret->edges = SLICE("[]");
    }
    return jobs_read(&r, jobs);
}
