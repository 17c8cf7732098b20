/* tool_plan.c: what a flow would be: whether it is in order, which jobs in which order, who could run them now, and
 * what they would wait for. Nothing is submitted: the server judges it like a submit and does nothing (`check`). */
#include "limit.h"
#include "spec.h"
#include "tool.h"

#define JOBS_SHOWN 100u
#define WORKERS_MAX 1000u
#define POOL_STANDARD "default"

struct flow_plan {
    struct wire_flow flow; /* as it is read */
    struct wire_flow sent;
    struct wire_submit submit;
    struct wire_list list;
    uint32_t *stage; /* of each job: those before it in the longest chain */
    uint32_t stage_count;
};

static void say_invalid(struct tool_call *c, struct slice problem) {
    struct json *j = tool_call_result(c);
    json_key(j, "valid");
    json_bool(j, false);
    tool_call_put_text(j, "problem", problem);
    tool_call_put_str(j, "next", "correct it and plan again; docs/guides/flows.md lists the keys");
    tool_call_say(c);
}

/* Parents come before children in what the reader of flow files gives. */
static void find_stages(struct tool_call *c, struct flow_plan *p) {
    const struct wire_job *jobs = p->flow.part.jobs.at;
    p->stage = ARENA_ARRAY(c->arena, uint32_t, p->flow.part.jobs.count + 1);
    for (uint32_t i = 0; i < p->flow.part.jobs.count; i++) {
        for (uint32_t k = 0; k < jobs[i].parents.count; k++) {
            uint32_t parent = jobs[i].parents.at[k];
            if (parent < i && p->stage[parent] + 1 > p->stage[i]) p->stage[i] = p->stage[parent] + 1;
        }
        if (p->stage[i] + 1 > p->stage_count) p->stage_count = p->stage[i] + 1;
    }
}

/* ---- who could run it ---- */

static bool has_all(const struct tlv_list *wanted, const struct tlv_list *own) {
    const struct wire_name *w = wanted->at, *o = own->at;
    for (uint32_t i = 0; i < wanted->count; i++) {
        bool has = false;
        for (uint32_t k = 0; k < own->count; k++) has |= slice_eq(w[i].name, o[k].name);
        if (!has) return false;
    }
    return true;
}

static bool has_labels(const struct tlv_list *wanted, const struct tlv_list *own) {
    const struct wire_pair *w = wanted->at, *o = own->at;
    for (uint32_t i = 0; i < wanted->count; i++) {
        bool has = false;
        for (uint32_t k = 0; k < own->count; k++)
            has |= slice_eq(w[i].key, o[k].key) && slice_eq(w[i].value, o[k].value);
        if (!has) return false;
    }
    return true;
}

static bool worker_fits(const struct wire_demand *d, const struct wire_worker_view *w) {
    struct slice pool = d->pool.len > 0 ? d->pool : SLICE(POOL_STANDARD);
    if (!w->attached || w->draining) return false;
    return (d->topic.len > 0 || slice_eq(pool, w->pool)) && has_all(&d->capabilities, &w->capabilities) &&
           has_labels(&d->labels, &w->labels);
}

static bool needs_worker(const struct wire_options *o) {
    return job_kind_of(o->kind)->ends != JOB_ENDS_IN_APPLY || o->calls;
}

/* ---- what it says ---- */

static void put_waits(struct tool_call *c, struct json *j, const struct wire_options *o, const struct wire_run *run,
                      uint32_t fit) {
    json_key(j, "waits_for");
    json_array(j);
    if (o->kind == JOB_GATE) json_str(j, "a person who approves it (tool `questions`)");
    if (o->kind == JOB_EXTERNAL) json_str(j, "a word from outside");
    if (run->when.len > 0) json_text(j, tool_call_format(c, "its condition: %.*s", SLICE_FMT(run->when)));
    if (run->foreach.len > 0) json_text(j, tool_call_format(c, "its items: %.*s", SLICE_FMT(run->foreach)));
    if (o->approval_role.len > 0)
        json_text(j, tool_call_format(c, "approval by the role %.*s", SLICE_FMT(o->approval_role)));
    if (o->delay_ms > 0) json_text(j, tool_call_format(c, "%lld ms of delay", (long long)o->delay_ms));
    if (o->not_before_ms > c->world->wall_ms) json_str(j, "its start time");
    if (o->demand.keys.count > 0) json_str(j, "its concurrency keys, while others hold them");
    if (o->demand.rates.count > 0) json_str(j, "its rates");
    if (needs_worker(o) && fit == 0)
        json_str(j, "a worker: none that is attached now has its pool, capabilities and labels");
    json_array_end(j);
}

static void put_job(struct tool_call *c, struct json *j, const struct flow_plan *p, uint32_t at,
                    const struct tlv_list *workers) {
    const struct wire_job *jobs = p->flow.part.jobs.at, *job = &jobs[at];
    const struct wire_options *o = (const struct wire_options *)p->flow.part.options.at + job->options;
    const struct wire_worker_view *list = workers->at;
    const struct wire_name *elsewhere = job->parent_names.at;
    struct wire_run run = {0};
    uint32_t fit = 0;
    if (job->body.len > 0) (void)!tlv_decode(&wire_run_desc, job->body, TLV_SKIP_UNKNOWN, c->arena, &run, NULL);
    for (uint32_t i = 0; i < workers->count; i++) fit += worker_fits(&o->demand, &list[i]);
    json_object(j);
    tool_call_put_text(j, "name", job->name);
    tool_call_put_str(j, "kind", job_kind_words[o->kind]);
    json_key(j, "stage");
    json_u64(j, p->stage[at] + 1);
    json_key(j, "needs");
    json_array(j);
    for (uint32_t i = 0; i < job->parents.count; i++) json_text(j, jobs[job->parents.at[i]].name);
    for (uint32_t i = 0; i < job->parent_names.count; i++) json_text(j, elsewhere[i].name);
    json_array_end(j);
    if (needs_worker(o)) json_key(j, "workers_that_fit"), json_u64(j, fit);
    put_waits(c, j, o, &run, fit);
    json_object_end(j);
}

static void then_workers(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct flow_plan *p = c->own;
    const struct wire_listed *m = parts[0];
    uint32_t jobs = p->flow.part.jobs.count;
    struct json *j = tool_call_result(c);
    (void)op, (void)count;
    json_key(j, "valid");
    json_bool(j, true);
    if (p->flow.name.len > 0) tool_call_put_text(j, "name", p->flow.name);
    json_key(j, "job_count");
    json_u64(j, jobs);
    json_key(j, "stages");
    json_u64(j, p->stage_count);
    json_key(j, "workers_attached");
    uint32_t attached = 0;
    for (uint32_t i = 0; i < m->workers.count; i++)
        attached += ((const struct wire_worker_view *)m->workers.at)[i].attached;
    json_u64(j, attached);
    json_key(j, "jobs");
    json_array(j);
    for (uint32_t i = 0; i < jobs && i < JOBS_SHOWN; i++) put_job(c, j, p, i, &m->workers);
    json_array_end(j);
    if (jobs > JOBS_SHOWN) json_key(j, "jobs_not_shown"), json_u64(j, jobs - JOBS_SHOWN);
    tool_call_put_str(j, "next", "nothing was submitted: `submit` the same flow to run it");
    tool_call_say(c);
}

static void then_checked(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    struct flow_plan *p = c->own;
    const struct wire_submitted *m = parts[0];
    const struct wire_submitted_flow *flow = m->flows.at;
    (void)op, (void)count;
    if (m->flows.count == 1 && flow->code.len > 0) {
        say_invalid(c, flow->message);
        return;
    }
    p->list = (struct wire_list){.what = WIRE_LIST_WORKERS, .most = WORKERS_MAX};
    tool_call_ask(c, WIRE_LIST, &p->list, then_workers);
}

static void hash(void *ctx, struct slice bytes, uint8_t ret[SPEC_HASH_BYTES]) {
    const struct mcp_world *w = ctx;
    w->hash(w->ctx, bytes, ret);
}

static enum err given_read(struct tool_call *c, struct spec_input *in, struct why *why) {
    const struct json_node *params = tool_call_arg(c, "params");
    if (params == NULL) return ERR_OK;
    struct spec_given *list = ARENA_ARRAY(c->arena, struct spec_given, params->count + 1);
    for (const struct json_node *n = params->first; n != NULL; n = n->next) {
        struct slice text = n->kind == JSON_BOOL ? n->truth ? SLICE("true") : SLICE("false") : n->text;
        if (n->kind != JSON_TEXT && n->kind != JSON_NUMBER && n->kind != JSON_BOOL)
            return why_set(why, ERR_INVALID, "params: `%.*s` is not a plain value", SLICE_FMT(n->key));
        list[in->given_count++] = (struct spec_given){n->key, text};
    }
    in->given = list;
    return ERR_OK;
}

enum err tool_flow_input(struct tool_call *c, struct spec_input *ret, struct why *why) {
    struct slice text = tool_call_raw(c, tool_call_arg(c, "flow"));
    struct mcp_world *world = ARENA_NEW(c->arena, struct mcp_world);
    *world = *c->world;
    *ret = (struct spec_input){.source = {.name = "flow", .text = text},
                               .world = {.ctx = world, .hash = hash, .now_ms = c->world->wall_ms},
                               .jobs_max = (uint32_t)c->world->limits->submit_jobs_max};
    enum err e = json_tree_read(text, c->world->limits, c->trees, &ret->source.root, why);
    return e == ERR_OK ? given_read(c, ret, why) : e;
}

void tool_plan(struct tool_call *c) {
    struct flow_plan *p = ARENA_NEW(c->arena, struct flow_plan);
    struct spec_input in;
    struct why why = {{0}};
    enum err e = tool_flow_input(c, &in, &why);
    if (e == ERR_OK) e = spec_read(&in, c->arena, &p->flow, &why);
    if (e != ERR_OK) {
        say_invalid(c, slice_str(why.text));
        return;
    }
    find_stages(c, p);
    c->own = p;
    p->sent = (struct wire_flow){.spec = in.source.text, .check = true};
    if (tool_call_arg(c, "params") != NULL) p->sent.params = tool_call_raw(c, tool_call_arg(c, "params"));
    p->submit.flows = (struct tlv_list){&p->sent, 1};
    tool_call_ask(c, WIRE_SUBMIT, &p->submit, then_checked);
}
