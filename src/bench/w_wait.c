/* w_wait.c: see w_wait.h. */
#include "w_wait.h"

#include <stdio.h>

#include "request.h"

enum err wait_submit(struct lab *l, const struct buf *request, char ret_id[WAIT_ID_BYTES], struct why *why) {
    struct frame f;
    struct slice in = buf_slice(request);
    size_t need = 0;
    struct wire_submit m;
    struct client_frame got;
    client_forget(&l->client);
    enum err e = frame_take(&in, REQUEST_BYTES_MAX, &f, &need, why);
    if (e == ERR_OK) e = wire_take(&f, &l->client.arena, &m, why);
    if (e == ERR_OK) e = client_ask(&l->client, WIRE_SUBMIT, &m, &got, why);
    if (e != ERR_OK) return e;
    const struct wire_submitted *s = got.message;
    const struct wire_submitted_flow *flow = s->flows.at;
    if (got.op != WIRE_SUBMITTED || s->flows.count != 1 || flow->flow.len == 0)
        return why_set(why, ERR_UNKNOWN, "the flow was refused");
    snprintf(ret_id, WAIT_ID_BYTES, "%.*s", SLICE_FMT(flow->flow));
    return ERR_OK;
}

static enum err all_succeeded(const struct wire_waited *w, struct why *why) {
    const struct wire_job_view *ended = w->over.at;
    for (uint32_t i = 0; i < w->over.count; i++)
        if (!slice_eq(ended[i].state, SLICE("succeeded")))
            return why_set(why, ERR_UNKNOWN, "a flow ended as %.*s", SLICE_FMT(ended[i].state));
    return ERR_OK;
}

enum err wait_flows(struct lab *l, char (*ids)[WAIT_ID_BYTES], uint32_t count, struct why *why) {
    struct client *c = &l->client;
    client_forget(c);
    struct wire_name *names = ARENA_ARRAY(&c->arena, struct wire_name, count);
    for (uint32_t i = 0; i < count; i++) names[i].name = slice_str(ids[i]);
    struct wire_wait m = {.targets = {names, count}};
    struct client_frame got = {0};
    uint32_t request = 0, over = 0;
    enum err e = client_send(c, WIRE_WAIT, &m, &request, why);
    do {
        if (e == ERR_OK) e = client_answer(c, request, &got, why);
        if (e == ERR_OK) e = all_succeeded(got.message, why);
        if (e != ERR_OK) return e;
        over += ((const struct wire_waited *)got.message)->over.count;
        bench_progress(l->bench, "flows over", over, count);
    } while (got.flags & FRAME_MORE);
    return ERR_OK;
}

enum err wait_submitted(struct lab *l, const struct buf *request, struct why *why) {
    char id[1][WAIT_ID_BYTES];
    enum err e = wait_submit(l, request, id[0], why);
    return e == ERR_OK ? wait_flows(l, id, 1, why) : e;
}

enum err wait_subscribe(struct client *c, struct why *why) {
    struct wire_follow m = {0};
    uint32_t request = 0;
    return client_send(c, WIRE_FOLLOW, &m, &request, why);
}

static bool has_success(const struct wire_events *m) {
    const struct wire_event *events = m->events.at;
    for (uint32_t i = 0; i < m->events.count; i++)
        if (slice_eq(events[i].kind, SLICE("job")) && slice_eq(events[i].to, SLICE("succeeded"))) return true;
    return false;
}

enum err wait_trip(struct client *c, struct why *why) {
    struct wire_options options = {.kind = JOB_NOOP};
    struct wire_job job = {.name = SLICE("main")};
    struct wire_flow flow = {.name = SLICE("bench"), .part = {{&options, 1}, {&job, 1}, false}};
    struct wire_submit m = {{&flow, 1}};
    struct client_frame got;
    uint32_t request = 0;
    client_forget(c);
    enum err e = client_send(c, WIRE_SUBMIT, &m, &request, why);
    while (e == ERR_OK) {
        e = client_next(c, -1, &got, why);
        if (e == ERR_OK) e = client_refusal(&got, why);
        if (e == ERR_OK && got.op == WIRE_EVENTS && has_success(got.message)) return ERR_OK;
    }
    return e;
}
