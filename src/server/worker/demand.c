/* demand.c: see demand.h. */
#include "demand.h"

#include "call.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "transfers.h"
#include "view_demand.h"

#define WATCHERS_MAX 256u     /* a look costs each of them the number of classes times that of workers */
#define UNSENT_MAX (1u << 20) /* who does not take what was told is told no more for now */
#define WATCHER_BYTES_MAX (1u << 20)

struct watcher {
    struct arena birth; /* holds this object */
    conn_id conn;
    uint32_t request;
    bool has_kind;
    struct worker_info kind;
    struct slice tenant;   /* empty = of all */
    struct bytes *told;    /* the last frame, but for what changes all the time */
    struct bytes *waiting; /* the next frame, until what it tells is durable */
    uint64_t waiting_lsn;
};

static void init(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    vec_init(&demands_of(s)->watchers, sizeof(struct watcher *));
}

static struct watcher *watcher_at(const struct server *s, uint32_t i) {
    return *(struct watcher **)vec_at(&demands_of(s)->watchers, i);
}

static void watcher_free(struct watcher *w) {
    bytes_free(w->told);
    bytes_free(w->waiting);
    struct arena birth = w->birth;
    arena_fini(&birth);
}

static void watcher_drop(struct server *s, uint32_t i) {
    struct vec *all = &demands_of(s)->watchers;
    watcher_free(watcher_at(s, i));
    *(struct watcher **)vec_at(all, i) = watcher_at(s, all->count - 1);
    all->count--;
}

static void fini(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 0; i < demands_of(s)->watchers.count; i++) watcher_free(watcher_at(s, i));
    vec_fini(&demands_of(s)->watchers);
}

/* ---- what is told ---- */

struct telling {
    struct server *s;
    struct wire_demands m;
    uint32_t workers_most; /* for which there is room */
};

static void tell_row(void *ctx, const struct demand_view *v) {
    struct telling *t = ctx;
    struct wire_demand_row *rows = t->m.rows.at;
    t->m.ready += v->ready;
    if (v->at_once) t->m.need_milli += ((uint64_t)v->ready * 1000 + v->at_once - 1) / v->at_once;
    if (t->m.since_ms == 0 || v->since.ms < t->m.since_ms) t->m.since_ms = v->since.ms;
    if (t->m.rows.count < WIRE_DEMAND_ROWS_MAX)
        server_view_demand(t->s, v, &rows[t->m.rows.count++]);
    else
        t->m.rows_left++;
}

static void count_worker(void *ctx, const struct demand_worker *w) {
    struct telling *t = ctx;
    (void)w;
    if (t->workers_most < WIRE_DEMAND_WORKERS_MAX) t->workers_most++;
}

static void tell_worker(void *ctx, const struct demand_worker *w) {
    struct telling *t = ctx;
    struct wire_demand_worker *workers = t->m.workers.at;
    if (t->m.workers.count == t->workers_most) return;
    workers[t->m.workers.count++] = (struct wire_demand_worker){w->id, w->slots, w->active, w->draining, w->served};
}

/* In s->frame_arena. */
static struct wire_demands look(struct server *s, const struct watcher *w) {
    struct telling t = {.s = s};
    struct demand_query query = {.kind = w->has_kind ? &w->kind : NULL, .tenant = w->tenant};
    const struct state *state = server_state(s);
    const struct live *live = engine_live(server_shard(s)->engine);
    arena_reset(&s->frame_arena);
    t.m.rows.at = ARENA_ARRAY(&s->frame_arena, struct wire_demand_row, WIRE_DEMAND_ROWS_MAX);
    view_demand(state, live, s->limits, &query, tell_row, &t);
    if (!w->has_kind) return t.m;
    view_demand_workers(state, live, &w->kind, count_worker, &t);
    t.m.workers.at = ARENA_ARRAY(&s->frame_arena, struct wire_demand_worker, t.workers_most + 1);
    view_demand_workers(state, live, &w->kind, tell_worker, &t);
    return t.m;
}

/* Fills s->out with the next frame; false: the watcher knows all this. */
static bool frame_next(struct server *s, struct watcher *w, uint8_t more) {
    struct wire_demands m = look(s, w);
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_DEMANDS, FRAME_ANSWER, w->request, &m);
    if (w->told != NULL && slice_eq(bytes_slice(w->told), buf_slice(&s->out))) return false;
    bytes_free(w->told);
    w->told = bytes_new(buf_slice(&s->out));
    m.lsn = engine_lsn(server_shard(s)->engine);
    m.now_ms = engine_now(server_shard(s)->engine).ms;
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_DEMANDS, FRAME_ANSWER | more, w->request, &m);
    return true;
}

/* ---- watching ---- */

static struct slice own_words(struct arena *a, struct slice text) {
    return text.len > 0 ? arena_slice(a, text) : (struct slice){0};
}

static struct watcher *watcher_new(struct server *s, struct request *r, struct why *why) {
    const struct wire_demand_watch *m = r->message;
    struct arena birth;
    arena_init(&birth, 4096, WATCHER_BYTES_MAX);
    struct watcher *w = ARENA_NEW(&birth, struct watcher);
    w->conn = r->session->conn;
    w->request = r->id;
    w->has_kind = m->kind.slots > 0;
    w->tenant = own_words(&birth, slice_str(r->session->who.tenant));
    if (w->has_kind) {
        /* Decoded once more: the request's own memory ends with it. */
        struct wire_demand_watch own;
        struct bytes *body = request_bytes(r);
        struct frame f = {.opcode = r->op, .body = arena_slice(&birth, bytes_slice(body))};
        bytes_free(body);
        ENSURE(wire_take(&f, &birth, &own, why) == ERR_OK);
        struct worker_info given = req_worker_info(s, &birth, &own.kind);
        given.tenant = own_words(&birth, session_tenant(r->session)); /* as if it attached here */
        if (view_demand_kind(s->limits, &given, &birth, &w->kind, why) != ERR_OK) {
            arena_fini(&birth);
            return NULL;
        }
        w->tenant = w->kind.tenant;
    }
    w->birth = birth;
    return w;
}

HANDLER(demand_watch) {
    const struct wire_demand_watch *m = r->message;
    struct why why = {{0}};
    if (demands_of(s)->watchers.count >= WATCHERS_MAX) {
        session_busy(s, r->session, r->id, "too many clients watch the demand", 1000);
        return;
    }
    struct watcher *w = watcher_new(s, r, &why);
    if (w == NULL) {
        session_error(s, r->session, r->id, ERR_INVALID, why.text);
        return;
    }
    struct call *c = call_open(s, r, 1);
    if (c != NULL) {
        (void)frame_next(s, w, m->once ? 0 : FRAME_MORE);
        call_read(s, r, c, buf_slice(&s->out));
    }
    if (c == NULL || m->once) {
        watcher_free(w);
        return;
    }
    w->waiting_lsn = engine_lsn(server_shard(s)->engine); /* what follows comes behind the first frame */
    *(struct watcher **)vec_push(&demands_of(s)->watchers) = w;
    part_wake(server_shard(s), demands_slot);
}

static void watcher_turn(struct server *s, struct watcher *w) {
    if (w->waiting != NULL || s->world.net->ops->unsent(s->world.net, w->conn) > UNSENT_MAX) {
        demands_of(s)->stale = true;
        return;
    }
    if (!frame_next(s, w, FRAME_MORE)) return;
    bytes_free(w->waiting);
    w->waiting = bytes_new(buf_slice(&s->out));
    w->waiting_lsn = engine_lsn(server_shard(s)->engine);
}

static void watcher_send(struct server *s, struct watcher *w) {
    struct session *n = session_of(s, w->conn);
    if (w->waiting == NULL || engine_durable_lsn(server_shard(s)->engine) < w->waiting_lsn || n == NULL) return;
    session_send_bytes(s, n, bytes_slice(w->waiting));
    bytes_free(w->waiting);
    w->waiting = NULL;
}

static void flush(struct shard *h, void *own) {
    struct demands *d = own;
    struct server *s = h->server;
    part_attend(h, demands_slot, d->watchers.count > 0);
    if (d->watchers.count == 0) return;
    uint64_t lsn = engine_lsn(server_shard(s)->engine);
    /* Who is there and what it reports is in no record, time has no command. */
    if (lsn != d->seen_lsn || server_shard(s)->command_count != d->seen_commands) d->stale = true;
    d->seen_lsn = lsn;
    d->seen_commands = server_shard(s)->command_count;
    if (d->stale && s->now_ms >= d->next_ms) {
        d->stale = false;
        d->next_ms = s->now_ms + DEMAND_MS;
        for (uint32_t i = 0; i < d->watchers.count; i++) watcher_turn(s, watcher_at(s, i));
    }
    for (uint32_t i = 0; i < d->watchers.count; i++) watcher_send(s, watcher_at(s, i));
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct demands *d = own;
    (void)h;
    return d->watchers.count > 0 && d->stale ? d->next_ms : TIME_NEVER;
}

/* ---- ends ---- */

static bool stop(struct shard *h, void *own, conn_id conn, uint32_t request) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 0; i < demands_of(s)->watchers.count; i++) {
        const struct watcher *w = watcher_at(s, i);
        if (w->conn.v != conn.v || w->request != request) continue;
        struct wire_demands m = {.lsn = engine_durable_lsn(server_shard(s)->engine)};
        session_answer(s, session_of(s, conn), request, WIRE_DEMANDS, &m);
        watcher_drop(s, i);
        return true;
    }
    return false;
}

static void conn_gone(struct shard *h, void *own, conn_id conn) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = demands_of(s)->watchers.count; i-- > 0;)
        if (watcher_at(s, i)->conn.v == conn.v) watcher_drop(s, i);
}

const struct server_part demands_part = {.name = "demands",
                                         .scope = PART_OF_SHARD,
                                         .bytes = sizeof(struct demands),
                                         .init = init,
                                         .fini = fini,
                                         .flush = flush,
                                         .next_due = next_due,
                                         .conn_gone = conn_gone,
                                         .stop = stop};
