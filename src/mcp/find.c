/* find.c: see find.h. Flows that have a job of a name are listed, the newest first; each is then asked for that job,
 * for of flows that have left memory the list is a guess. */
#include "find.h"

#define FLOWS_MOST 16u /* that are looked into */
#define NAMES_MAX 4u

struct find {
    find_then *then;
    struct slice names[NAMES_MAX]; /* that it may have, one after the other */
    uint32_t name_count, name_at;
    struct slice flows[FLOWS_MOST];
    uint32_t flow_count, flow_at;
    struct wire_list list;
    struct wire_get get;
};

struct slice find_id(struct tool_call *c, struct slice id) {
    if (id.len == 0 || slice_begins(id, SLICE(FIND_PREFIX))) return id;
    return tool_call_format(c, FIND_PREFIX "%.*s", SLICE_FMT(id));
}

/* A slash would make it a path, and a control character is in no name. */
static struct slice fit(struct tool_call *c, struct slice id) {
    uint8_t *name = arena_copy(c->arena, id.ptr, id.len);
    for (size_t i = 0; i < id.len; i++)
        if (name[i] < 0x20 || name[i] == 0x7f || name[i] == '/') name[i] = '_';
    return slice_of(name, id.len);
}

struct slice find_name(struct tool_call *c, struct slice id) {
    return id.len == 0 ? id : fit(c, find_id(c, id));
}

static void next_name(struct tool_call *c);

static void found(struct tool_call *c, const struct wire_job_view *v) {
    find_then *then = c->find->then;
    c->find = NULL;
    then(c, v);
}

static bool is_the_job(const struct wire_job_view *v, struct slice target) {
    return slice_eq(v->job, target);
}

static void next_flow(struct tool_call *c);

static void then_got(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    struct find *f = c->find;
    const struct wire_got *m = parts[0];
    bool is_exact = f->name_count > 0; /* what was given as FLOW/JOB may be a beginning of it */
    (void)count;
    if (op == WIRE_GOT && m->jobs.count == 1 && (!is_exact || is_the_job(m->jobs.at, f->get.target)))
        found(c, m->jobs.at);
    else if (!is_exact && tool_call_is_refusal(op) && op == WIRE_BUSY)
        tool_call_pass_on(c, op, parts[0]);
    else if (!is_exact)
        found(c, NULL);
    else
        next_flow(c);
}

static void get(struct tool_call *c, struct slice target) {
    struct find *f = c->find;
    f->get = (struct wire_get){.target = target, .details = true};
    tool_call_ask(c, WIRE_GET, &f->get, then_got);
    c->hears_refusals = true;
}

static void next_flow(struct tool_call *c) {
    struct find *f = c->find;
    if (f->flow_at == f->flow_count) {
        f->name_at++;
        next_name(c);
        return;
    }
    struct slice flow = f->flows[f->flow_at++];
    get(c, tool_call_format(c, "%.*s/%.*s", SLICE_FMT(flow), SLICE_FMT(f->names[f->name_at])));
}

static void then_listed(struct tool_call *c, uint8_t op, const void *const *parts, uint32_t count) {
    const struct wire_listed *m = parts[0];
    const struct wire_flow_view *flows = m->flows.at;
    struct find *f = c->find;
    (void)op, (void)count;
    f->flow_at = f->flow_count = 0;
    for (uint32_t i = 0; i < m->flows.count && i < FLOWS_MOST; i++)
        f->flows[f->flow_count++] = arena_slice(c->arena, flows[i].flow);
    next_flow(c);
}

static void next_name(struct tool_call *c) {
    struct find *f = c->find;
    if (f->name_at == f->name_count) {
        found(c, NULL);
        return;
    }
    f->list = (struct wire_list){.what = WIRE_LIST_FLOWS, .most = FLOWS_MOST, .job = f->names[f->name_at]};
    tool_call_ask(c, WIRE_LIST, &f->list, then_listed);
}

void find_job(struct tool_call *c, struct slice id, find_then *then) {
    struct find *f = ARENA_NEW(c->arena, struct find);
    *f = (struct find){.then = then};
    c->find = f;
    if (id.len > 0 && memchr(id.ptr, '/', id.len) != NULL) {
        get(c, id);
        return;
    }
    if (id.len > 0) f->names[f->name_count++] = find_name(c, id);
    if (id.len > 0 && !slice_begins(id, SLICE(FIND_PREFIX))) f->names[f->name_count++] = fit(c, id);
    next_name(c);
}
