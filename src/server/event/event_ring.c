/* event_ring.c: see event_ring.h. */
#include "event_ring.h"

#include "call.h"
#include "history_request.h"
#include "panic.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "target.h"

#define WAITS_MAX 1000000u

struct wait {
    conn_id conn; /* first */
    uint32_t request;
    uint32_t left;
    uint32_t first; /* wait_target */
    uint64_t since_lsn;
    int64_t until_ms; /* monotonic; TIME_NEVER */
    bool any;
};

struct wait_target {
    uint64_t flow; /* first: never 0 */
    uint32_t wait;
    uint32_t ordinal;
    bool whole;
    struct bytes *text;            /* as the client named it */
    uint32_t next_flow, prev_flow; /* of the same flow */
    uint32_t next_own;             /* of the same wait */
};

static void init(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    struct event_ring *f = event_ring_of(s);
    f->ring = arena_space(&h->birth, sizeof(struct effect) * EVENT_RING_SIZE); /* it takes memory as events come */
    f->first = f->next = 1;
    f->before_lsn = engine_lsn(server_shard(s)->engine);
    f->before_ordinal = UINT32_MAX;
    pool_init(&f->waits, sizeof(struct wait), WAITS_MAX);
    pool_init(&f->targets, sizeof(struct wait_target), WAITS_MAX * 4);
    map_init(&f->by_flow);
    vec_init(&f->others, sizeof(uint32_t));
}

static void fini(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    struct event_ring *f = event_ring_of(s);
    for (uint32_t i = 1; i <= f->targets.high; i++) {
        struct wait_target *t = pool_at(&f->targets, i);
        if (t->flow != 0) bytes_free(t->text);
    }
    pool_fini(&f->waits);
    pool_fini(&f->targets);
    map_fini(&f->by_flow);
    vec_fini(&f->others);
}

/* ---- waits ---- */

static void target_unlink(struct event_ring *f, uint32_t index) {
    struct wait_target *t = pool_at(&f->targets, index);
    if (t->prev_flow != 0)
        ((struct wait_target *)pool_at(&f->targets, t->prev_flow))->next_flow = t->next_flow;
    else if (t->next_flow != 0)
        map_put(&f->by_flow, t->flow, t->next_flow);
    else
        map_del(&f->by_flow, t->flow);
    if (t->next_flow != 0) ((struct wait_target *)pool_at(&f->targets, t->next_flow))->prev_flow = t->prev_flow;
}

static void target_free(struct event_ring *f, uint32_t index) {
    struct wait_target *t = pool_at(&f->targets, index);
    struct wait *w = pool_at(&f->waits, t->wait);
    uint32_t *link = &w->first;
    while (*link != index) link = &((struct wait_target *)pool_at(&f->targets, *link))->next_own;
    *link = t->next_own;
    w->left--;
    target_unlink(f, index);
    bytes_free(t->text);
    pool_free(&f->targets, index);
}

static void wait_free(struct event_ring *f, uint32_t wait) {
    struct wait *w = pool_at(&f->waits, wait);
    while (w->first != 0) target_free(f, w->first);
    pool_free(&f->waits, wait);
}

static uint32_t target_add(struct event_ring *f, uint32_t wait, const struct target *t, struct slice text) {
    uint32_t index = pool_alloc(&f->targets);
    if (index == 0) return 0;
    struct wait_target *x = pool_at(&f->targets, index);
    struct wait *w = pool_at(&f->waits, wait);
    *x = (struct wait_target){.flow = t->job.flow.v,
                              .wait = wait,
                              .ordinal = t->job.ordinal,
                              .whole = t->whole,
                              .text = bytes_new(text),
                              .next_flow = map_get(&f->by_flow, t->job.flow.v),
                              .next_own = w->first};
    if (x->next_flow != 0) ((struct wait_target *)pool_at(&f->targets, x->next_flow))->prev_flow = index;
    map_put(&f->by_flow, x->flow, index);
    w->first = index;
    w->left++;
    return index;
}

/* Of a flow that is over: what else became of it. */
static struct slice flow_words(struct server *s, const struct flow_view *flow) {
    struct buf text;
    buf_init(&text, 256);
    if (flow->timed_out) buf_put_slice(&text, SLICE(", its time was over (timeout)"));
    if (flow->late) buf_put_slice(&text, SLICE(", late"));
    if (flow->called != FLOW_STAGE_MAIN && flow->ran[flow->called - 1] > 0)
        buf_printf(&text, ", %s ran", flow_stage_words[flow->called]);
    if (flow->ran[FLOW_STAGE_FINALLY - 1] > 0) buf_put_slice(&text, SLICE(", finally ran"));
    struct slice words = text.len > 2 ? slice_of(text.at + 2, text.len - 2) : (struct slice){0};
    words = arena_slice(&s->frame_arena, words);
    buf_fini(&text);
    return words;
}

/* What is told of something that is over, now. False: it is not over. */
static bool show_over(struct server *s, const struct target *t, struct wire_job_view *ret) {
    struct flow_view flow;
    struct job_view job;
    if (t->whole) {
        if (!view_flow(server_state(s), t->job.flow, &flow) || flow.state == FLOW_RUNNING) return false;
        *ret = (struct wire_job_view){.job = server_view_flow_name(s, flow.id),
                                      .state = slice_str(flow_state_words[flow.state]),
                                      .reason = flow_words(s, &flow)};
        return true;
    }
    if (!view_job(server_state(s), t->job, &job) || !job_state_is_terminal(job.state)) return false;
    server_view_job(s, &job, false, ret);
    return true;
}

struct wait_plan {
    struct target *targets;
    struct wire_job_view *over;
    bool *is_over;
    uint32_t count, over_count;
};

static bool wait_plan(struct server *s, struct request *r, const struct wire_wait *m, struct wait_plan *p) {
    const struct wire_name *names = m->targets.at;
    struct why why = {{0}};
    p->count = m->targets.count;
    p->targets = ARENA_ARRAY(r->arena, struct target, p->count + 1);
    p->is_over = ARENA_ARRAY(r->arena, bool, p->count + 1);
    p->over = ARENA_ARRAY(r->arena, struct wire_job_view, p->count + 1);
    if (p->count == 0) {
        call_fail(s, r, ERR_INVALID, "name the flows or jobs to wait for");
        return false;
    }
    for (uint32_t i = 0; i < p->count; i++) {
        enum err e = target_find(s, r->session, names[i].name, &p->targets[i], &why);
        if (e == ERR_NOT_FOUND && p->count == 1 && history_request_look(s, r, names[i].name)) return false;
        if (e != ERR_OK) {
            e = history_request_explain(s, r->session, names[i].name, e, &why);
            call_fail(s, r, e, why.text);
            return false;
        }
        p->is_over[i] = show_over(s, &p->targets[i], &p->over[p->over_count]);
        p->over_count += p->is_over[i];
    }
    return true;
}

HANDLER(event_ring_wait) {
    const struct wire_wait *m = r->message;
    struct event_ring *f = event_ring_of(s);
    struct wait_plan p = {0};
    if (!wait_plan(s, r, m, &p)) return;
    bool ends = p.over_count == p.count || (m->any && p.over_count > 0);
    uint32_t index = ends ? 0 : pool_alloc(&f->waits);
    if (!ends && index == 0) {
        session_busy(s, r->session, r->id, "too many clients are waiting", 1000);
        return;
    }
    struct call *c = call_open(s, r, 1);
    if (c == NULL) {
        if (index != 0) pool_free(&f->waits, index);
        return;
    }
    if (!ends) {
        part_wake(server_shard(s), event_ring_slot); /* its time may be the next one */
        struct wait *w = pool_at(&f->waits, index);
        *w = (struct wait){.conn = r->session->conn,
                           .request = r->id,
                           .since_lsn = engine_lsn(server_shard(s)->engine),
                           .any = m->any};
        w->until_ms = m->timeout_ms > 0 && m->timeout_ms < TIME_NEVER / 2 ? s->now_ms + m->timeout_ms : TIME_NEVER;
        const struct wire_name *names = m->targets.at;
        for (uint32_t i = 0; i < p.count; i++)
            if (!p.is_over[i]) ENSURE(target_add(f, index, &p.targets[i], names[i].name) != 0);
        if (w->until_ms != TIME_NEVER) *(uint32_t *)vec_push(&f->others) = index;
    }
    struct wire_waited got = {.lsn = engine_lsn(server_shard(s)->engine), .over = {p.over, p.over_count}};
    buf_clear(&s->out);
    if (ends || p.over_count > 0) wire_put(&s->out, WIRE_WAITED, FRAME_ANSWER | (ends ? 0 : FRAME_MORE), r->id, &got);
    call_read(s, r, c, buf_slice(&s->out));
}

static bool is_awaited(const struct event_ring *f, const struct wait_target *t, const struct effect *e) {
    const struct wait *w = pool_at(&f->waits, t->wait);
    const struct event *v = &e->as.event;
    if (e->lsn <= w->since_lsn) return false; /* it was so when the wait began, and is no longer */
    if (t->whole) return v->kind == EVENT_FLOW && v->flow_state != FLOW_RUNNING;
    return v->kind == EVENT_JOB && v->job.ordinal == t->ordinal && job_state_is_terminal(v->to);
}

static void wait_hears(struct server *s, uint32_t index, const struct effect *e) {
    struct event_ring *f = event_ring_of(s);
    struct wait_target *t = pool_at(&f->targets, index);
    struct wait *w = pool_at(&f->waits, t->wait);
    const struct event *v = &e->as.event;
    struct wire_job_view over = {.job = bytes_slice(t->text)};
    struct job_view job;
    arena_reset(&s->frame_arena);
    if (!t->whole && view_job(server_state(s), v->job, &job)) server_view_job(s, &job, false, &over);
    if (t->whole) {
        struct flow_view flow;
        over.job = server_view_flow_name(s, v->job.flow);
        if (view_flow(server_state(s), v->job.flow, &flow)) over.reason = flow_words(s, &flow);
    }
    over.state = slice_str(t->whole ? flow_state_words[v->flow_state] : job_state_word(v->to));
    bool ends = w->any || w->left == 1;
    struct wire_waited m = {.lsn = e->lsn, .over = {&over, 1}};
    struct session *n = session_of(s, w->conn);
    if (n != NULL) session_send(s, n, WIRE_WAITED, FRAME_ANSWER | (ends ? 0 : FRAME_MORE), w->request, &m);
    uint32_t wait = t->wait;
    target_free(f, index);
    if (ends) wait_free(f, wait);
}

static void expire(struct server *s) {
    struct event_ring *f = event_ring_of(s);
    uint32_t kept = 0;
    f->next_ms = TIME_NEVER;
    for (uint32_t i = 0; i < f->others.count; i++) {
        uint32_t index = *(uint32_t *)vec_at(&f->others, i);
        struct wait *w = pool_at(&f->waits, index);
        if (w->conn.v == 0 || w->until_ms == TIME_NEVER) continue; /* over, or the place of another */
        if (w->until_ms <= s->now_ms) {
            struct wire_waited m = {.lsn = engine_durable_lsn(server_shard(s)->engine), .timed_out = true};
            struct session *n = session_of(s, w->conn);
            if (n != NULL) session_answer(s, n, w->request, WIRE_WAITED, &m);
            wait_free(f, index);
            continue;
        }
        if (w->until_ms < f->next_ms) f->next_ms = w->until_ms;
        *(uint32_t *)vec_at(&f->others, kept++) = index;
    }
    f->others.count = kept;
}

/* ---- events ---- */

static void put(struct shard *h, void *own, const struct effect *e) {
    struct event_ring *f = own;
    struct server *s = h->server;
    if (f->next - f->first == EVENT_RING_SIZE) { /* the oldest makes room */
        f->before_lsn = f->ring[f->first % EVENT_RING_SIZE].lsn;
        f->before_ordinal = f->ring[f->first % EVENT_RING_SIZE].ordinal;
        f->first++;
    }
    f->ring[f->next % EVENT_RING_SIZE] = *e;
    f->next++;
    if (e->as.event.kind == EVENT_WORKER) return;
    /* Answering one frees it, and perhaps its neighbours too, so the search begins anew each time. */
    for (uint32_t t = map_get(&f->by_flow, e->as.event.job.flow.v); t != 0;) {
        const struct wait_target *x = pool_at(&f->targets, t);
        if (!is_awaited(f, x, e)) {
            t = x->next_flow;
            continue;
        }
        wait_hears(s, t, e);
        t = map_get(&f->by_flow, e->as.event.job.flow.v);
    }
}

/* ---- ends ---- */

static bool stop(struct shard *h, void *own, conn_id conn, uint32_t request) {
    (void)own;
    struct server *s = h->server;
    struct event_ring *f = event_ring_of(s);
    struct session *n = session_of(s, conn);
    for (uint32_t i = 1; i <= f->waits.high; i++) {
        const struct wait *w = pool_at(&f->waits, i);
        if (w->conn.v != conn.v || w->request != request) continue;
        struct wire_waited m = {.lsn = engine_durable_lsn(server_shard(s)->engine)};
        session_answer(s, n, request, WIRE_WAITED, &m);
        wait_free(f, i);
        return true;
    }
    return false;
}

static void conn_gone(struct shard *h, void *own, conn_id conn) {
    struct event_ring *f = own;
    (void)h;
    for (uint32_t i = 1; f->waits.count > 0 && i <= f->waits.high; i++)
        if (((struct wait *)pool_at(&f->waits, i))->conn.v == conn.v) wait_free(f, i);
}

static void flush(struct shard *h, void *own) {
    (void)own;
    expire(h->server);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct event_ring *f = own;
    (void)h;
    return f->next_ms;
}

const struct server_part event_ring_part = {.name = "event_ring",
                                            .scope = PART_OF_SHARD,
                                            .bytes = sizeof(struct event_ring),
                                            .effects = EFFECT_BIT(EFFECT_EVENT),
                                            .init = init,
                                            .fini = fini,
                                            .flush = flush,
                                            .next_due = next_due,
                                            .effect = put,
                                            .conn_gone = conn_gone,
                                            .stop = stop};
