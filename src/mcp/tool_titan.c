/* tool_titan.c: Titan's three ways to submit, as one flow each. A script becomes a job of the same id, run by python3
 * without buffering; `hitl_message` becomes a gate behind the job, on which all that needs the job waits. Parents that
 * are not among the jobs are looked for among those that were submitted before, also when they are over. */
#include <stdio.h>

#include "find.h"
#include "pipeline.h"
#include "spec.h"

#define INLINE_BYTES_MAX 32768u /* of a script: beyond it, a blob */
#define SCRIPT_NAME "script.py"

/* ---- on the way: scripts as blobs, parents elsewhere ---- */

struct sending {
    struct pipeline *p;
    uint32_t script_at; /* the next that may be too long for its job */
    uint32_t step_at, parent_at;
    struct wire_submit submit;
    struct wire_flow flow;
    struct wire_blob_put put;
};

static void advance(struct tool_call *c);

static void then_kept(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    struct sending *s = c->own;
    const struct wire_blob_kept *m = parts[0];
    (void)op, (void)count;
    s->p->steps[s->script_at].script_hash = arena_slice(c->arena, m->hash);
    s->script_at++;
    advance(c);
}

static void then_parent(struct tool_call *c, const struct wire_job_view *v) {
    struct sending *s = c->own;
    struct pipeline_step *step = &s->p->steps[s->step_at];
    struct pipeline_parent *parent = &step->parents[s->parent_at];
    if (v == NULL) {
        tool_call_refuse(c, ERR_UNKNOWN_NAME,
                         "%.*s needs %.*s, which is neither among these jobs nor was submitted before",
                         SLICE_FMT(step->id), SLICE_FMT(parent->id));
        return;
    }
    parent->target = arena_slice(c->arena, v->job);
    advance(c);
}

static bool next_script(struct tool_call *c) {
    struct sending *s = c->own;
    const struct pipeline *p = s->p;
    while (s->script_at < p->step_count && p->steps[s->script_at].script.len <= INLINE_BYTES_MAX) s->script_at++;
    if (s->script_at == p->step_count) return false;
    s->put.data = p->steps[s->script_at].script;
    tool_call_ask(c, WIRE_BLOB_PUT, &s->put, then_kept);
    return true;
}

static bool next_parent(struct tool_call *c) {
    struct sending *s = c->own;
    for (; s->step_at < s->p->step_count; s->step_at++, s->parent_at = 0) {
        const struct pipeline_step *step = &s->p->steps[s->step_at];
        for (; s->parent_at < step->parent_count; s->parent_at++) {
            const struct pipeline_parent *parent = &step->parents[s->parent_at];
            if (parent->is_here || parent->target.len > 0) continue;
            find_job(c, parent->id, then_parent);
            return true;
        }
    }
    return false;
}

/* ---- what is said ---- */

static void then_submitted(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct sending *s = c->own;
    const struct wire_submitted_flow *flow = tool_call_submitted(c, parts[0]);
    const struct pipeline *p = s->p;
    (void)op, (void)count;
    if (flow == NULL) return;
    struct json *j = tool_call_result(c);
    tool_call_put_str(j, "status", "submitted");
    if (p->is_single) {
        tool_call_put_text(j, "job_id", p->steps[0].id);
    } else {
        tool_call_put_text(j, "dag_name", p->name);
        json_key(j, "job_count");
        json_u64(j, p->step_count);
        tool_call_put_text(j, "agent_run_id", p->run_id);
    }
    tool_call_put_str(j, "master_response", "DAG_ACCEPTED");
    tool_call_put_text(j, "flow", flow->flow);
    tool_call_say(c);
}

static void advance(struct tool_call *c) {
    struct sending *s = c->own;
    if (next_script(c) || next_parent(c)) return;
    struct why why = {{0}};
    enum err e = pipeline_flow(s->p, c->arena, &s->flow, &why);
    if (e != ERR_OK) {
        tool_call_refuse(c, e, "%s", why.text);
        return;
    }
    s->submit.flows = (struct tlv_list){&s->flow, 1};
    tool_call_ask(c, WIRE_SUBMIT, &s->submit, then_submitted);
}

static void send(struct tool_call *c, struct pipeline *p) {
    struct sending *s = ARENA_NEW(c->arena, struct sending);
    struct why why = {{0}};
    enum err e = pipeline_link(c, p, &why);
    if (e != ERR_OK) {
        tool_call_refuse(c, e, "%s", why.text);
        return;
    }
    s->p = p;
    c->own = s;
    advance(c);
}

/* Titan's clients make one up when none is given: mcp-NAME-8 digits. */
static struct slice run_id(struct tool_call *c, struct slice name) {
    struct slice given = tool_call_text(c, "agent_run_id");
    uint8_t hash[32];
    if (given.len > 0) return given;
    struct slice seed = tool_call_format(c, "%.*s %lld", SLICE_FMT(name), (long long)c->world->wall_ms);
    c->world->hash(c->world->ctx, seed, hash);
    return tool_call_format(c, "mcp-%.*s-%02x%02x%02x%02x", SLICE_FMT(name), hash[0], hash[1], hash[2], hash[3]);
}

/* ---- the tools ---- */

void tool_submit_job(struct tool_call *c) {
    struct pipeline *p = ARENA_NEW(c->arena, struct pipeline);
    p->steps = ARENA_NEW(c->arena, struct pipeline_step);
    p->step_count = 1;
    p->is_single = true;
    p->name = tool_call_text(c, "job_id");
    p->steps[0] = (struct pipeline_step){.id = p->name,
                                         .script = tool_call_text(c, "script_content"),
                                         .file = SLICE(SCRIPT_NAME),
                                         .args = tool_call_text(c, "args"),
                                         .requirement = tool_call_text(c, "requirement"),
                                         .priority = (int64_t)tool_call_number(c, "priority", 1)};
    send(c, p);
}

/* A list, or a text that has one. */
static const struct json_node *jobs_of(struct tool_call *c) {
    const struct json_node *n = tool_call_arg(c, "jobs_json"), *root = NULL;
    struct why why = {{0}};
    if (n->kind != JSON_TEXT) return n;
    enum err e = json_tree_read(n->text, c->world->limits, c->trees, &root, &why);
    if (e == ERR_OK) return root;
    tool_call_refuse(c, e, "jobs_json: %s", why.text);
    return NULL;
}

void tool_submit_dag(struct tool_call *c) {
    const struct json_node *jobs = jobs_of(c);
    struct pipeline *p = ARENA_NEW(c->arena, struct pipeline);
    struct why why = {{0}};
    if (jobs == NULL) return;
    p->name = tool_call_text(c, "dag_name");
    p->run_id = run_id(c, p->name);
    enum err e = pipeline_read(c, jobs, (struct slice){0}, p, &why);
    if (e != ERR_OK)
        tool_call_refuse(c, e, "%s", why.text);
    else
        send(c, p);
}

/* ---- files ---- */

static void then_flow(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_submitted_flow *flow = tool_call_submitted(c, parts[0]);
    const struct wire_flow *sent = c->own;
    (void)op, (void)count;
    if (flow == NULL) return;
    struct json *j = tool_call_result(c);
    tool_call_put_str(j, "status", "submitted");
    tool_call_put_text(j, "dag_name", sent->name);
    json_key(j, "job_count");
    json_u64(j, flow->job_count);
    tool_call_put_text(j, "flow", flow->flow);
    tool_call_put_str(j, "master_response", "DAG_ACCEPTED");
    tool_call_say(c);
}

struct beside { /* the file that names another */
    struct tool_call *c;
    struct slice path;
};

static enum err file(void *ctx, struct slice path, struct spec_file *ret, struct why *why) {
    struct beside *b = ctx;
    enum err e = b->c->world->file(b->c->world->ctx, path, b->path, b->c->arena, &ret->bytes, why);
    if (e == ERR_OK && ret->bytes.len > INLINE_BYTES_MAX)
        return why_set(why, ERR_LIMIT, "%.*s is longer than %u bytes: use `reeve submit` for it", SLICE_FMT(path),
                       INLINE_BYTES_MAX);
    return e;
}

static void hash(void *ctx, struct slice bytes, uint8_t ret[SPEC_HASH_BYTES]) {
    struct beside *b = ctx;
    b->c->world->hash(b->c->world->ctx, bytes, ret);
}

/* A flow file of ours. */
static void send_flow_file(struct tool_call *c, struct slice path, struct slice text, const struct json_node *root) {
    struct beside b = {c, path};
    struct wire_flow *flow = ARENA_NEW(c->arena, struct wire_flow);
    struct wire_submit *m = ARENA_NEW(c->arena, struct wire_submit);
    struct spec_input in = {.source = {.name = "flow", .text = text, .root = root},
                            .world = {.ctx = &b, .file = file, .hash = hash, .now_ms = c->world->wall_ms}};
    struct why why = {{0}};
    enum err e = spec_read(&in, c->arena, flow, &why);
    if (e != ERR_OK) {
        tool_call_refuse(c, e, "%s", why.text);
        return;
    }
    c->own = flow;
    m->flows = (struct tlv_list){flow, 1};
    tool_call_ask(c, WIRE_SUBMIT, m, then_flow);
}

void tool_submit_yaml(struct tool_call *c) {
    struct slice path = tool_call_text(c, "yaml_path"), text = {0};
    const struct json_node *root = NULL, *jobs, *name;
    struct pipeline *p = ARENA_NEW(c->arena, struct pipeline);
    struct why why = {{0}};
    if (c->world->file == NULL) {
        tool_call_refuse(
            c, ERR_UNSUPPORTED,
            "a file of yours is not on this server's machine: over HTTP send its jobs with submit_dag_pipeline "
            "or submit, or connect by `reeve mcp`, which reads files");
        return;
    }
    enum err e = c->world->file(c->world->ctx, path, (struct slice){0}, c->arena, &text, &why);
    if (e == ERR_OK) e = c->world->yaml(c->world->ctx, text, c->trees, &root, &why);
    if (e == ERR_OK && root->kind != JSON_OBJECT) e = why_set(&why, ERR_INVALID, "expected a mapping with `jobs`");
    if (e != ERR_OK) {
        tool_call_refuse(c, e, "%.*s: %s", SLICE_FMT(path), why.text);
        return;
    }
    jobs = json_tree_get(root, SLICE("jobs"));
    name = json_tree_get(root, SLICE("name"));
    if (jobs != NULL && jobs->kind == JSON_OBJECT) {
        send_flow_file(c, path, text, root);
        return;
    }
    p->name = name != NULL && name->kind == JSON_TEXT ? name->text : SLICE("pipeline");
    p->run_id = run_id(c, p->name);
    e = pipeline_read_file(c, root, path, p, &why);
    if (e != ERR_OK)
        tool_call_refuse(c, e, "%.*s: %s", SLICE_FMT(path), why.text);
    else
        send(c, p);
}
