/* req_dead.c: dead letters, many at once: those that are named, or those that fit what is asked for, oldest first and a
 * bounded number of them; the answer says when there are more. */
#include <stdio.h>

#include "call.h"
#include "history_request.h"
#include "requests.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "target.h"

#define DEAD_MAX 1000u     /* in one request: each is a command, and a pass must not take long */
#define LOOKED_MAX 100000u /* dead letters looked at for one request */

struct chosen {
    struct job_ref job;
    struct slice name;
    enum err err;
    struct why why;
};

static bool fits(struct server *s, const struct session *n, const struct wire_dead *m, flow_id flow,
                 const struct job_view *v) {
    const struct wire_name *states = m->states.at;
    struct flow_view owner;
    bool state = m->states.count == 0;
    for (uint32_t i = 0; i < m->states.count; i++)
        state |= slice_eq(states[i].name, slice_str(job_state_word(v->state)));
    if (!state || !slice_begins(v->name, m->name) || (flow.v != 0 && v->ref.flow.v != flow.v)) return false;
    if ((m->since_ms != 0 && v->since.ms < m->since_ms) || (m->until_ms != 0 && v->since.ms >= m->until_ms))
        return false;
    if (n->who.tenant[0] == 0) return true;
    return view_flow(server_state(s), v->ref.flow, &owner) && slice_eq(owner.tenant, slice_str(n->who.tenant));
}

static uint32_t choose(struct server *s, const struct request *r, flow_id flow, struct chosen *to, bool *ret_more) {
    uint32_t count = 0, looked = 0, at = 0;
    struct job_view v;
    while ((at = view_dead_next(server_state(s), at, false, &v)) != 0) {
        if (looked++ == LOOKED_MAX) *ret_more = true;
        if (*ret_more) break;
        if (!fits(s, r->session, r->message, flow, &v)) continue;
        if (count == DEAD_MAX)
            *ret_more = true;
        else
            to[count++] = (struct chosen){.job = v.ref, .name = server_view_job_name(s, &v)};
    }
    return count;
}

/* Those that the request names. */
static uint32_t name_them(struct server *s, const struct request *r, struct chosen *to) {
    const struct wire_dead *m = r->message;
    const struct wire_name *names = m->targets.at;
    for (uint32_t i = 0; i < m->targets.count; i++) {
        struct target t = {0};
        to[i] = (struct chosen){.name = names[i].name};
        to[i].err = target_find(s, r->session, names[i].name, &t, &to[i].why);
        if (to[i].err == ERR_OK && t.whole)
            to[i].err = why_set(&to[i].why, ERR_INVALID, "this is a flow: name one of its jobs, like FLOW/JOB");
        to[i].err = history_request_explain(s, r->session, names[i].name, to[i].err, &to[i].why);
        to[i].job = t.job;
    }
    return m->targets.count;
}

/* What chooses is said: nobody retries everything by leaving out a word. */
static enum err check(const struct wire_dead *m, struct why *why) {
    bool filters = m->flow.len > 0 || m->name.len > 0 || m->states.count > 0 || m->since_ms != 0 || m->until_ms != 0;
    if (m->targets.count > DEAD_MAX) return why_set(why, ERR_LIMIT, "at most %u at once", DEAD_MAX);
    if (m->targets.count > 0 && (filters || m->all))
        return why_set(why, ERR_INVALID, "give targets or a filter, not both");
    if (m->targets.count == 0 && !filters && !m->all)
        return why_set(why, ERR_INVALID, "nothing to act on: give targets, a filter, or all: true");
    return ERR_OK;
}

HANDLER(req_dead) {
    const struct wire_dead *m = r->message;
    struct why why = {{0}};
    flow_id flow = {0};
    bool more = false;
    enum err e = check(m, &why);
    if (e == ERR_OK && m->flow.len > 0) e = target_flow(s, r->session, m->flow, &flow, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    arena_reset(&s->frame_arena);
    struct chosen *all = ARENA_ARRAY(r->arena, struct chosen, DEAD_MAX);
    uint32_t count = m->targets.count > 0 ? name_them(s, r, all) : choose(s, r, flow, all, &more);
    if (count == 0) { /* nothing fits, and that is well */
        struct wire_accepted none = {.lsn = engine_lsn(server_shard(s)->engine)};
        buf_clear(&s->out);
        wire_put(&s->out, WIRE_ACCEPTED, FRAME_ANSWER, r->id, &none);
        struct call *read = call_open(s, r, 1);
        if (read != NULL) call_read(s, r, read, buf_slice(&s->out));
        return;
    }
    struct call *c = call_open(s, r, count);
    if (c == NULL) return;
    c->more = more;
    c->is_list = true;
    for (uint32_t i = 0; i < count; i++) c->parts[i].target = arena_slice(&c->arena, all[i].name);
    for (uint32_t i = 0; i < count; i++) {
        struct command cmd = {.kind = r->op == WIRE_DEAD_RETRY ? CMD_RETRY : CMD_DISCARD, .as.job = all[i].job};
        if (all[i].err == ERR_OK)
            call_command(s, r, c, i, &cmd);
        else
            call_refuse(s, r, c, i, all[i].err, all[i].why.text);
    }
}
