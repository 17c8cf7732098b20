/* tool_plan.c: what a flow would be (flow_plan.h). Nothing is submitted: the server judges it like a submit and does
 * nothing (`check`). */
#include "flow_plan.h"
#include "limit.h"
#include "spec.h"
#include "tool.h"

#define JOBS_SHOWN 100u
#define WORKERS_MAX 1000u

struct planning {
    struct wire_flow flow; /* as it is read */
    struct wire_flow sent;
    struct wire_submit submit;
    struct wire_list list;
};

static void say_invalid(struct tool_call *c, struct slice problem) {
    flow_plan_put_invalid(problem, tool_call_result(c));
    tool_call_say(c);
}

static void then_workers(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct planning *p = c->own;
    const struct wire_listed *m = parts[0];
    struct flow_plan plan;
    (void)op, (void)count;
    flow_plan_make(&plan, &p->flow, &m->workers, c->world->wall_ms, c->arena);
    flow_plan_put(&plan, JOBS_SHOWN, tool_call_result(c));
    tool_call_say(c);
}

static void then_checked(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    struct planning *p = c->own;
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
    struct spec_given *list = NULL;
    if (params == NULL) return ERR_OK;
    enum err e = spec_given_read(params, c->arena, &list, &in->given_count, why);
    in->given = list;
    return e;
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
    struct planning *p = ARENA_NEW(c->arena, struct planning);
    struct spec_input in;
    struct why why = {{0}};
    enum err e = tool_flow_input(c, &in, &why);
    if (e == ERR_OK) e = spec_read(&in, c->arena, &p->flow, &why);
    if (e != ERR_OK) {
        say_invalid(c, slice_str(why.text));
        return;
    }
    c->own = p;
    p->sent = (struct wire_flow){.spec = in.source.text, .check = true};
    if (tool_call_arg(c, "params") != NULL) p->sent.params = tool_call_raw(c, tool_call_arg(c, "params"));
    p->submit.flows = (struct tlv_list){&p->sent, 1};
    tool_call_ask(c, WIRE_SUBMIT, &p->submit, then_checked);
}
