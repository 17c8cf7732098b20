/* tool_flow.c: flows as flow files in JSON: submitting, growing, waiting. */
#include "find.h"

#define WAIT_STANDARD_S 30u
#define WAIT_MAX_S 600u   /* a call that takes longer is mostly given up by who made it; it can be made again */
#define PROGRESS_MS 1000u /* how often someone who asked for it hears how far it is */

/* ---- submit, add ---- */

static void say_submitted(struct tool_call *c, const struct wire_submitted *m, const char *status) {
    const struct wire_submitted_flow *flow = tool_call_submitted(c, m);
    if (flow == NULL) return;
    struct json *j = tool_call_result(c);
    tool_call_put_str(j, "status", flow->repeated ? "repeated" : status);
    tool_call_put_text(j, "flow", flow->flow);
    json_key(j, "job_count");
    json_u64(j, flow->job_count);
    tool_call_put_str(j, "next", "`wait` for its end, `show` it, or `logs` of FLOW/JOB");
    tool_call_say(c);
}

static void then_submitted(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    (void)op, (void)count;
    say_submitted(c, parts[0], "submitted");
}

static struct slice params_of(const struct tool_call *c) {
    const struct json_node *n = tool_call_arg(c, "params");
    return n != NULL ? tool_call_raw(c, n) : (struct slice){0};
}

void tool_submit(struct tool_call *c) {
    struct wire_flow *flow = ARENA_NEW(c->arena, struct wire_flow);
    struct wire_submit *m = ARENA_NEW(c->arena, struct wire_submit);
    flow->spec = tool_call_raw(c, tool_call_arg(c, "flow"));
    flow->params = params_of(c);
    flow->key = tool_call_text(c, "key");
    m->flows = (struct tlv_list){flow, 1};
    tool_call_ask(c, WIRE_SUBMIT, m, then_submitted);
}

static void then_added(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    (void)op, (void)count;
    say_submitted(c, parts[0], "added");
}

void tool_add(struct tool_call *c) {
    struct wire_add_jobs *m = ARENA_NEW(c->arena, struct wire_add_jobs);
    m->flow = tool_call_text(c, "flow");
    m->spec = tool_call_raw(c, tool_call_arg(c, "jobs"));
    m->params = params_of(c);
    /* {"jobs": {…}} and the inner object alone mean the same. */
    if (json_tree_get(tool_call_arg(c, "jobs"), SLICE("jobs")) == NULL) {
        struct buf text;
        buf_init(&text, m->spec.len + 16);
        buf_printf(&text, "{\"jobs\":");
        buf_put_slice(&text, m->spec);
        buf_put_u8(&text, '}');
        m->spec = arena_slice(c->arena, buf_slice(&text));
        buf_fini(&text);
    }
    tool_call_ask(c, WIRE_ADD_JOBS, m, then_added);
}

void tool_run_again(struct tool_call *c) {
    struct wire_again *m = ARENA_NEW(c->arena, struct wire_again);
    m->flow = tool_call_text(c, "flow");
    m->params = params_of(c);
    tool_call_ask(c, WIRE_AGAIN, m, then_submitted);
}

/* ---- wait ---- */

struct flow_waiting {
    struct wire_name target;
    struct wire_wait ask;
    struct wire_get get;
    uint64_t left_ms, slice_ms;
};

static void wait_on(struct tool_call *c);

static void say_over(struct tool_call *c, const struct wire_waited *m) {
    const struct wire_job_view *over = m->over.at;
    struct json *j = tool_call_result(c);
    json_key(j, "over");
    json_bool(j, m->over.count > 0);
    if (m->over.count > 0) {
        tool_call_put_job(c, j, &over[0], true);
    } else {
        tool_call_put_text(j, "target", tool_call_text(c, "target"));
        tool_call_put_str(j, "message", "it is not over yet: call wait again, or `why` for what holds a job up");
    }
    tool_call_say(c);
}

static void notify(struct tool_call *c, const struct wire_flow_view *v) {
    const struct wire_amount *states = v->states.at;
    uint64_t done = 0;
    struct buf out;
    struct json j;
    for (uint32_t i = 0; i < v->states.count; i++) {
        static const char *const open[] = {"waiting", "held", "ready", "dispatched", "running", "checking"};
        bool is_open = false;
        for (size_t k = 0; k < sizeof open / sizeof open[0]; k++)
            is_open |= slice_eq(states[i].name, slice_str(open[k]));
        if (!is_open) done += states[i].amount;
    }
    buf_init(&out, 4096);
    json_init(&j, &out);
    json_object(&j);
    tool_call_put_str(&j, "jsonrpc", "2.0");
    tool_call_put_str(&j, "method", "notifications/progress");
    json_key(&j, "params");
    json_object(&j);
    json_key(&j, "progressToken");
    json_raw(&j, c->progress);
    json_key(&j, "progress");
    json_u64(&j, done);
    json_key(&j, "total");
    json_u64(&j, v->job_count);
    json_object_end(&j);
    json_object_end(&j);
    if (!out.full) c->world->notify(c->world->ctx, buf_slice(&out));
    buf_fini(&out);
}

static void then_looked(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    (void)op, (void)count;
    if (op == WIRE_GOT) notify(c, &((const struct wire_got *)parts[0])->flow);
    wait_on(c);
}

/* It comes in frames; the last says whether that was all in time. */
static void then_waited(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    struct flow_waiting *w = c->own;
    const struct wire_waited *m = parts[0];
    (void)op;
    for (uint32_t i = 0; i < count && m->over.count == 0; i++) m = parts[i];
    w->left_ms -= w->slice_ms;
    if (m->over.count > 0 || w->left_ms == 0) {
        say_over(c, m);
        return;
    }
    tool_call_ask(c, WIRE_GET, &w->get, then_looked);
    c->hears_refusals = true;
}

static void wait_on(struct tool_call *c) {
    struct flow_waiting *w = c->own;
    bool tells = c->progress.len > 0 && c->world->notify != NULL;
    w->slice_ms = tells && w->left_ms > PROGRESS_MS ? PROGRESS_MS : w->left_ms;
    w->ask = (struct wire_wait){.targets = {&w->target, 1}, .timeout_ms = (int64_t)w->slice_ms};
    tool_call_ask(c, WIRE_WAIT, &w->ask, then_waited);
}

static void then_target(struct tool_call *c, const struct wire_job_view *v) {
    struct flow_waiting *w = c->own;
    w->target.name = v != NULL ? arena_slice(c->arena, v->job) : tool_call_text(c, "target");
    w->get = (struct wire_get){.target = w->target.name};
    wait_on(c);
}

void tool_wait(struct tool_call *c) {
    struct flow_waiting *w = ARENA_NEW(c->arena, struct flow_waiting);
    uint64_t s = tool_call_number(c, "timeout_s", WAIT_STANDARD_S);
    if (s == 0 || s > WAIT_MAX_S) {
        tool_call_refuse(c, ERR_INVALID, "`timeout_s` is 1 to %u: call wait again for longer", WAIT_MAX_S);
        return;
    }
    w->left_ms = s * 1000;
    c->own = w;
    find_job(c, tool_call_text(c, "target"), then_target);
}
