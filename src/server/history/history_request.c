/* history_request.c: see history_request.h. */
#include "history_request.h"

#include <stdio.h>

#include "call.h"
#include "flow_row.h"
#include "items.h"
#include "job_token.h"
#include "reason_view.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "state_view.h"
#include "target.h"
#include "transfers.h"

#define WAITS_MAX 1000u
#define CURSOR_PART 1024u /* a cursor in the jobs of an old flow: its part times this, and the place in it */

extern const uint8_t history_request_slot;
extern const uint8_t history_writer_slot;

static struct pool *history_requests_of(const struct server *s) {
    return shard_part(server_shard(s), history_request_slot);
}

static void init(struct shard *h, void *own) {
    (void)h;
    pool_init(own, sizeof(struct history_request_wait), WAITS_MAX);
}

static void wait_free(struct server *s, uint32_t index) {
    struct history_request_wait *w = pool_at(history_requests_of(s), index);
    bytes_free(w->body);
    arena_fini(&w->arena);
    pool_free(history_requests_of(s), index);
}

static bool is_idle(const struct shard *h, const void *own) {
    const struct pool *all = own;
    (void)h;
    return all->count == 0;
}

static void fini(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 1; i <= history_requests_of(s)->high; i++)
        if (((struct history_request_wait *)pool_at(history_requests_of(s), i))->conn.v != 0) wait_free(s, i);
    pool_fini(history_requests_of(s));
}

struct history_request_wait *history_request_ask(struct server *s, struct request *r, const struct history_query *q,
                                                 history_request_fn then) {
    uint32_t index = pool_alloc(history_requests_of(s));
    part_wake(server_shard(s), history_writer_slot); /* which hands the question over, and takes the answer */
    struct history_query query = *q;
    query.token = index;
    if (index == 0 || !s->world.history->ops->ask(s->world.history, &query)) {
        if (index != 0) pool_free(history_requests_of(s), index);
        session_busy(s, r->session, r->id, "too many requests to the history", 1000);
        return NULL;
    }
    struct history_request_wait *w = pool_at(history_requests_of(s), index);
    w->conn = r->session->conn;
    w->request = r->id;
    w->op = r->op;
    w->body = request_bytes(r);
    w->then = then;
    arena_init(&w->arena, 4096, (size_t)1 << 28);
    return w;
}

void history_request_answered(void *ctx, const struct history_answer *a) {
    struct server *s = ctx;
    struct history_request_wait *w = pool_at(history_requests_of(s), (uint32_t)a->token);
    struct session *n = session_of(s, w->conn);
    struct why why = {{0}};
    if (n != NULL && n->state == SESSION_OPEN) {
        struct frame f = {.opcode = w->op, .request = w->request, .body = bytes_slice(w->body)};
        arena_reset(&s->arena);
        arena_reset(&s->frame_arena);
        struct request r = {.session = n,
                            .op = w->op,
                            .id = w->request,
                            .body = f.body,
                            .message = arena_alloc(&s->arena, wire_info(w->op)->desc->size),
                            .arena = &s->arena};
        enum err e = wire_take(&f, &s->arena, (void *)(uintptr_t)r.message, &why); /* it was taken once already */
        if (e == ERR_OK) e = a->err != ERR_OK ? why_set(&why, a->err, "%s", a->why.text) : ERR_OK;
        if (e == ERR_OK)
            w->then(s, &r, w, a);
        else
            call_fail(s, &r, e, why.text);
    }
    wait_free(s, (uint32_t)a->token);
}

bool history_request_is_partial(struct server *s) {
    struct history_stats now;
    s->world.history->ops->stats(s->world.history, &now);
    return now.state != HISTORY_WHOLE;
}

/* ---- one flow ---- */

struct old_job {
    struct wire_job_view view;
    uint32_t ordinal;
};

struct old_flow {
    struct wire_flow_view view;
    struct wire_got *parts; /* as many as the answer has */
    uint32_t part_count;
};

static struct slice flow_text_of(struct slice target) {
    const uint8_t *slash = target.len > 0 ? memchr(target.ptr, '/', target.len) : NULL;
    return slice_of(target.ptr, slash != NULL ? (size_t)(slash - target.ptr) : target.len);
}

static struct slice job_text_of(struct slice target) {
    struct slice flow = flow_text_of(target);
    return flow.len == target.len ? (struct slice){0} : slice_of(target.ptr + flow.len + 1, target.len - flow.len - 1);
}

static enum err missing(struct server *s, struct slice target, struct why *why) {
    return why_set(why, ERR_NOT_FOUND, "there is no flow %.*s%s", SLICE_FMT(flow_text_of(target)),
                   history_request_is_partial(s) ? " (the history is being rebuilt: older flows may still be missing)"
                                                 : "");
}

static enum err decode(struct server *s, const struct history_answer *a, struct slice target, struct old_flow *ret,
                       struct why *why) {
    if (a->count == 0) return missing(s, target, why);
    if (a->count > 1)
        return why_set(why, ERR_INVALID, "several flows begin with %.*s: type more of the id",
                       SLICE_FMT(flow_text_of(target)));
    enum err e = tlv_decode(&wire_flow_view_desc, a->found[0].head, TLV_SKIP_UNKNOWN, &s->frame_arena, &ret->view, why);
    ret->parts = ARENA_ARRAY(&s->frame_arena, struct wire_got, a->part_count + 1);
    ret->part_count = a->part_count;
    for (uint32_t i = 0; e == ERR_OK && i < a->part_count; i++)
        e = tlv_decode(&wire_got_desc, a->parts[i], TLV_SKIP_UNKNOWN, &s->frame_arena, &ret->parts[i], why);
    return e == ERR_OK ? e : why_wrap(why, e, "history");
}

/* The job by its name, or by a beginning that fits no other; a flow of one job will do without. */
static enum err find_job(const struct old_flow *f, struct slice target, struct old_job *ret, struct why *why) {
    struct slice name = job_text_of(target);
    uint32_t ordinal = 0, fits = 0;
    for (uint32_t p = 0; p < f->part_count; p++) {
        const struct wire_job_view *jobs = f->parts[p].jobs.at;
        for (uint32_t i = 0; i < f->parts[p].jobs.count; i++, ordinal++) {
            struct slice own = job_text_of(jobs[i].job);
            if (own.len < name.len || (name.len > 0 && memcmp(own.ptr, name.ptr, name.len) != 0)) continue;
            if (fits++ == 0 || own.len == name.len) *ret = (struct old_job){jobs[i], ordinal};
            if (own.len == name.len && name.len > 0) return ERR_OK;
        }
    }
    if (fits == 1) return ERR_OK;
    if (fits == 0)
        return why_set(why, ERR_NOT_FOUND, "flow %.*s has no job %.*s", SLICE_FMT(flow_text_of(target)),
                       SLICE_FMT(name));
    if (name.len == 0)
        return why_set(why, ERR_INVALID, "%.*s is a flow of %u jobs: name one of them, like %.*s/NAME",
                       SLICE_FMT(target), fits, SLICE_FMT(target));
    return why_set(why, ERR_INVALID, "%u jobs begin with %.*s: type more of the name", fits, SLICE_FMT(name));
}

static void answer_out(struct server *s, struct request *r) {
    struct call *c = call_open(s, r, 1);
    if (c != NULL) call_read(s, r, c, buf_slice(&s->out));
}

/* As `get` tells the jobs of a flow that is in memory. */
static void leave_details_out(struct wire_got *part, bool graph) {
    struct wire_job_view *jobs = part->jobs.at;
    for (uint32_t i = 0; i < part->jobs.count; i++) {
        if (graph) {
            state_view_strip_node(&jobs[i]);
            continue;
        }
        jobs[i].parents = jobs[i].attempts = jobs[i].artifacts = (struct tlv_list){0};
        jobs[i].body = jobs[i].body_hash = (struct slice){0};
    }
}

static void then_get(struct server *s, struct request *r, struct history_request_wait *w,
                     const struct history_answer *a) {
    const struct wire_get *m = r->message;
    struct old_flow f;
    struct old_job job;
    struct why why = {{0}};
    (void)w;
    bool whole = job_text_of(m->target).len == 0;
    enum err e = decode(s, a, m->target, &f, &why);
    if (e == ERR_OK && !whole) e = find_job(&f, m->target, &job, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    struct wire_got one = {.jobs = {&job.view, 1}}, none = {0};
    struct wire_got *parts = whole ? f.parts : &one;
    uint32_t count = whole ? f.part_count : 1;
    if (whole && (!m->details || count == 0)) parts = &none, count = 1;
    buf_clear(&s->out);
    for (uint32_t i = 0; i < count; i++) {
        if (whole) leave_details_out(&parts[i], false);
        parts[i].lsn = engine_lsn(server_shard(s)->engine);
        parts[i].flow = i == 0 ? f.view : (struct wire_flow_view){0};
        wire_put(&s->out, WIRE_GOT, FRAME_ANSWER | (i + 1 < count ? FRAME_MORE : 0), r->id, &parts[i]);
    }
    if (s->out.full)
        call_fail(s, r, ERR_LIMIT, "the flow is too large for one answer: list its jobs");
    else
        answer_out(s, r);
}

static void then_why(struct server *s, struct request *r, struct history_request_wait *w,
                     const struct history_answer *a) {
    const struct wire_why *m = r->message;
    struct old_flow f;
    struct old_job job;
    struct why why = {{0}};
    (void)w;
    enum err e = decode(s, a, m->job, &f, &why);
    if (e == ERR_OK) e = find_job(&f, m->job, &job, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    struct wire_reason got = {.lsn = engine_lsn(server_shard(s)->engine),
                              .job = job.view.job,
                              .state = job.view.state,
                              .code = slice_str(block_word(BLOCK_NOTHING)),
                              .text = reason_view_end(s, &job.view),
                              .parent = job.view.root};
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_REASON, FRAME_ANSWER, r->id, &got);
    answer_out(s, r);
}

static void then_logs(struct server *s, struct request *r, struct history_request_wait *w,
                      const struct history_answer *a) {
    const struct wire_logs *m = r->message;
    struct old_flow f;
    struct old_job job;
    struct why why = {{0}};
    (void)w;
    enum err e = decode(s, a, m->job, &f, &why);
    if (e == ERR_OK) e = find_job(&f, m->job, &job, &why);
    if (e == ERR_OK && m->attempt > job.view.attempt)
        e = why_set(&why, ERR_NOT_FOUND, "the job has only %u attempts", job.view.attempt);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    transfer_log_of(s, r, (struct job_ref){{a->found[0].flow}, job.ordinal},
                    m->attempt != 0 ? m->attempt : job.view.attempt);
}

static void then_wait(struct server *s, struct request *r, struct history_request_wait *w,
                      const struct history_answer *a) {
    const struct wire_wait *m = r->message;
    struct slice target = ((const struct wire_name *)m->targets.at)[0].name;
    struct old_flow f;
    struct old_job job = {0};
    struct why why = {{0}};
    (void)w;
    enum err e = decode(s, a, target, &f, &why);
    if (e == ERR_OK && job_text_of(target).len > 0) e = find_job(&f, target, &job, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    struct wire_job_view over = job.view;
    if (job_text_of(target).len == 0) over = (struct wire_job_view){.job = f.view.flow, .state = f.view.state};
    struct wire_waited got = {.lsn = engine_lsn(server_shard(s)->engine), .over = {&over, 1}};
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_WAITED, FRAME_ANSWER, r->id, &got);
    answer_out(s, r);
}

/* ---- the jobs of one flow, page by page ---- */

static bool job_is_wanted(const struct wire_list *m, const struct wire_job_view *v) {
    const struct wire_name *states = m->states.at;
    struct slice name = job_text_of(v->job);
    bool fits = m->states.count == 0, is_upstream = wire_is_upstream_failed(v);
    for (uint32_t i = 0; i < m->states.count; i++) {
        fits |= slice_eq(states[i].name, v->state) && !(is_upstream && m->apart);
        fits |= slice_eq(states[i].name, SLICE(WIRE_UPSTREAM_FAILED)) && is_upstream;
    }
    return fits && name.len >= m->name.len && (m->name.len == 0 || memcmp(name.ptr, m->name.ptr, m->name.len) == 0);
}

/* The answer has the part of the cursor and the next one: a page ends with the part, or when it is full. */
static void then_jobs(struct server *s, struct request *r, struct history_request_wait *w,
                      const struct history_answer *a) {
    const struct wire_list *m = r->message;
    struct old_flow f;
    struct why why = {{0}};
    uint64_t cursor = 0;
    char text[24];
    (void)w;
    enum err e = decode(s, a, m->flow, &f, &why);
    if (e != ERR_OK || !slice_decimal(m->cursor, &cursor)) {
        call_fail(s, r, e != ERR_OK ? e : ERR_INVALID,
                  e != ERR_OK ? why.text : "invalid cursor: it does not come from this server");
        return;
    }
    uint32_t most = m->most == 0 || m->most > FLOW_ROW_PART_JOBS ? FLOW_ROW_PART_JOBS : m->most, count = 0;
    uint64_t part = cursor / CURSOR_PART, at = cursor % CURSOR_PART;
    struct wire_job_view *list = ARENA_ARRAY(&s->frame_arena, struct wire_job_view, most);
    struct wire_listed got = {.lsn = engine_lsn(server_shard(s)->engine)};
    if (f.part_count > 0 && m->items_of.len == 0) { /* the history has no items */
        const struct wire_job_view *jobs = f.parts[0].jobs.at;
        leave_details_out(&f.parts[0], m->graph);
        for (; at < f.parts[0].jobs.count && count < most; at++)
            if (job_is_wanted(m, &jobs[at])) list[count++] = jobs[at];
        bool ended = at == f.parts[0].jobs.count;
        if (!ended || f.part_count > 1) {
            uint64_t next = ended ? (part + 1) * CURSOR_PART : part * CURSOR_PART + at;
            snprintf(text, sizeof text, "%llu", (unsigned long long)next);
            got.cursor = slice_str(text);
        }
    }
    got.jobs = (struct tlv_list){list, count};
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_LISTED, FRAME_ANSWER, r->id, &got);
    answer_out(s, r);
}

/* ---- who is sent here ---- */

static history_request_fn then_of(uint8_t op) {
    switch (op) {
    case WIRE_GET: return then_get;
    case WIRE_WHY: return then_why;
    case WIRE_LOGS: return then_logs;
    case WIRE_WAIT: return then_wait;
    case WIRE_LIST: return then_jobs;
    default: return NULL;
    }
}

/* Of a flow that runs, memory knows every job: the history would only say that it has no such flow. */
static bool is_running(struct server *s, const struct session *n, struct slice flow) {
    struct flow_view v;
    struct why ignored;
    flow_id id;
    return target_flow(s, n, flow, &id, &ignored) == ERR_OK && view_flow(server_state(s), id, &v) &&
           v.state == FLOW_RUNNING;
}

bool history_request_look(struct server *s, struct request *r, struct slice target) {
    if (is_running(s, r->session, flow_text_of(target))) return false;
    uint64_t first = 0, last = 0, cursor = 0;
    history_request_fn then = then_of(r->op);
    if (s->world.history == NULL || then == NULL) return false;
    if (job_token_is_confined(r->session)) return false; /* it sees its own flow only, and that one is running */
    if (!target_numbers(s, flow_text_of(target), &first, &last)) return false;
    struct history_query q = {.from = first,
                              .before = last + 1,
                              .most = 2,
                              .parts = r->op != WIRE_GET || ((const struct wire_get *)r->message)->details ||
                                       job_text_of(target).len > 0,
                              .tenant = slice_str(r->session->who.tenant)};
    if (r->op == WIRE_LIST) {
        (void)slice_decimal(((const struct wire_list *)r->message)->cursor, &cursor);
        q.part_first = (uint32_t)(cursor / CURSOR_PART);
        q.part_count = 2;
    }
    (void)history_request_ask(s, r, &q, then);
    return true;
}

enum err history_request_explain(struct server *s, const struct session *n, struct slice target, enum err e,
                                 struct why *why) {
    uint64_t first = 0, last = 0;
    struct slice flow = flow_text_of(target);
    if (e != ERR_NOT_FOUND || !target_numbers(s, flow, &first, &last)) return e;
    if (first != last || first == 0) return e;
    struct flow_view v;
    bool is_there = view_flow(server_state(s), (flow_id){first}, &v);
    bool is_own = n->job.job.flow.v == 0 || n->job.job.flow.v == first;
    if (is_there && is_own && slice_eq(v.tenant, slice_str(n->who.tenant))) return e; /* it is about a job of it */
    /* Whose an old flow was is not known here, so a token of one tenant hears the same of all that it cannot change. */
    if (n->who.tenant[0] != 0)
        return why_set(
            why, ERR_NOT_FOUND,
            "there is no flow %.*s that can be changed: it never existed, or it has finished and left memory",
            SLICE_FMT(flow));
    if (is_there || first > view_flow_last(server_state(s))) return e;
    return why_set(
        why, ERR_STATE,
        "flow %.*s has finished and left memory: it can be viewed, but no longer changed; submit it again instead",
        SLICE_FMT(flow));
}

const struct server_part history_request_part = {.name = "history_request",
                                                 .scope = PART_OF_SHARD,
                                                 .bytes = sizeof(struct pool),
                                                 .init = init,
                                                 .fini = fini,
                                                 .is_idle = is_idle};
