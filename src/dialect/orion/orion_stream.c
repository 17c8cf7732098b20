/* orion_stream.c: see orion_stream.h. */
#include "orion_stream.h"

#include "http_dialect.h"
#include "orion_event.h"
#include "orion_session.h"
#include "orion_view.h"
#include "playground.h"
#include "server_impl.h"
#include "session.h"
#include "view_history.h"

#define TICK_MS 1000
#define PING_MS 20000
#define UNSENT_MAX (1u << 20) /* with more than this a client is let go */
#define CLIENTS_MAX 1000u
#define RECOVERED_MS 60000 /* how long after it a recovery is news: Orion's front end comes back after 3 s */
#define TASKS_MAX 10000u   /* named in one message */

struct orion_stream *orion_stream_of(const struct server *s) {
    return shard_part(server_shard(s), orion_stream_slot);
}

void orion_stream_init(struct orion_stream *o) {
    vec_init(&o->clients, sizeof(conn_id));
    vec_init(&o->joining, sizeof(conn_id));
    vec_init(&o->killed, sizeof(uint32_t));
}

void orion_stream_fini(struct orion_stream *o) {
    vec_fini(&o->clients);
    vec_fini(&o->joining);
    vec_fini(&o->killed);
}

void orion_stream_forget(struct server *s, conn_id conn) {
    struct vec *all = &orion_stream_of(s)->clients;
    for (uint32_t i = 0; i < all->count; i++)
        if (((conn_id *)vec_at(all, i))->v == conn.v) {
            *(conn_id *)vec_at(all, i) = *(conn_id *)vec_at(all, all->count - 1);
            all->count--;
            return;
        }
}

/* ---- sending ---- */

static void message_make(struct server *s, const struct orion_event *e) {
    struct json j;
    buf_clear(&webs_of(s)->json);
    json_init(&j, &webs_of(s)->json);
    orion_event_put(&j, e);
    buf_clear(&webs_of(s)->out);
    websocket_head_put(&webs_of(s)->out, WEBSOCKET_TEXT, webs_of(s)->json.len);
    buf_put_slice(&webs_of(s)->out, buf_slice(&webs_of(s)->json));
}

static void send_to(struct server *s, struct session *n) {
    if (!web_is_stream(web_of(n))) return;
    uint64_t unsent = s->world.net->ops->unsent(s->world.net, n->conn);
    if (unsent == 0) web_of(n)->untaken = 0;
    web_of(n)->untaken++;
    if (unsent <= UNSENT_MAX) {
        session_send_raw(s, n, buf_slice(&webs_of(s)->out));
        return;
    }
    orion_of(s)->dropped += web_of(n)->untaken;
    web_of(n)->stream = WEB_STREAM_SSE; /* a close frame would wait behind what it does not take */
    web_stream_end(s, n, WEBSOCKET_POLICY, "");
}

/* To those of a tenant; to all without one. */
static void broadcast(struct server *s, struct slice tenant, const struct orion_event *e) {
    const struct vec *all = &orion_stream_of(s)->clients;
    message_make(s, e);
    for (uint32_t i = 0; i < all->count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(all, i));
        if (n != NULL && (tenant.len == 0 || slice_eq(tenant, slice_str(n->who.tenant)))) send_to(s, n);
    }
}

/* ---- slots ---- */

static bool is_same(struct job_ref a, struct job_ref b) {
    return a.flow.v == b.flow.v && a.ordinal == b.ordinal;
}

/* The number of the slot that it has, or now gets; 0 = all are taken. */
static uint32_t slot_of(struct orion_stream *o, struct job_ref job) {
    uint32_t free = 0;
    for (uint32_t i = 0; i < ORION_SLOTS; i++) {
        if (is_same(o->slots[i], job)) return i + 1;
        if (free == 0 && o->slots[i].flow.v == 0) free = i + 1;
    }
    if (free != 0) o->slots[free - 1] = job;
    return free;
}

static uint32_t slot_leave(struct orion_stream *o, struct job_ref job) {
    uint32_t slot = slot_of(o, job);
    if (slot != 0) o->slots[slot - 1] = (struct job_ref){0};
    return slot;
}

static void slot_taken(void *ctx, const struct job_view *job) {
    struct server *s = ctx;
    arena_reset(&s->frame_arena);
    if (orion_is_dag(s, job->ref.flow)) (void)slot_of(orion_stream_of(s), job->ref);
}

static void slots_of_worker(void *ctx, const struct worker_view *w) {
    view_each_run(server_state(ctx), w->number, slot_taken, ctx);
}

/* While nobody listens slots are not followed; for the first that comes they are what is running now, also what was
 * begun before this server was. */
static void slots_begin(struct server *s) {
    memset(orion_stream_of(s)->slots, 0, sizeof orion_stream_of(s)->slots);
    view_each_worker(server_state(s), engine_live(server_shard(s)->engine), slots_of_worker, s);
}

/* ---- cascades ---- */

/* One message for all that a failure took with it, when the last of them is known. */
static void cascade_flush(struct server *s) {
    struct orion_stream *o = orion_stream_of(s);
    struct flow_view flow;
    struct job_view job;
    uint32_t count = 0;
    if (o->root.flow.v == 0) return;
    arena_reset(&s->frame_arena);
    struct slice *ids = ARENA_ARRAY(&s->frame_arena, struct slice, o->killed.count + 1);
    if (view_job(server_state(s), o->root, &job)) ids[count++] = job.name;
    for (uint32_t i = 0; i < o->killed.count; i++)
        if (view_job(server_state(s), (struct job_ref){o->root.flow, *(uint32_t *)vec_at(&o->killed, i)}, &job))
            ids[count++] = job.name;
    struct orion_event e = {.type = ORION_EVENT_CASCADE, .tasks = ids, .task_count = count, .time_ms = o->root_ms};
    if (count > 0) e.task = ids[0];
    if (view_flow(server_state(s), o->root.flow, &flow)) broadcast(s, flow.tenant, &e);
    o->root = (struct job_ref){0};
    o->killed.count = 0;
}

static void cascade_add(struct server *s, const struct event *v, const struct job_view *job) {
    struct orion_stream *o = orion_stream_of(s);
    struct job_ref root = {v->job.flow, job->root != UINT32_MAX ? job->root : v->job.ordinal};
    if (!is_same(o->root, root) || o->killed.count == TASKS_MAX) cascade_flush(s);
    o->root = root;
    o->root_ms = v->time.ms;
    if (v->job.ordinal != root.ordinal) *(uint32_t *)vec_push(&o->killed) = v->job.ordinal;
}

/* ---- what happens ---- */

static void task_ended(struct server *s, const struct event *v, const struct job_view *job, struct orion_event *e) {
    struct attempt_view *attempts = NULL;
    uint32_t count = view_attempts(server_state(s), v->job, &s->frame_arena, &attempts);
    e->worker = slot_leave(orion_stream_of(s), v->job);
    if (e->type == ORION_EVENT_COMPLETED) {
        const struct attempt_view *last = count > 0 ? &attempts[count - 1] : NULL;
        e->has_duration = true;
        int64_t began_ms = last == NULL ? 0 : last->started.ms != 0 ? last->started.ms : last->assigned.ms;
        if (last != NULL) e->duration_ms = (last->is_open ? v->time.ms : last->ended.ms) - began_ms;
        return;
    }
    e->has_retry = true;
    e->retry = orion_retries(job);
    e->max_retry = job->options->retries;
}

static bool was_active(const struct event *v) {
    return v->from == JOB_DISPATCHED || v->from == JOB_RUNNING || v->from == JOB_CHECKING;
}

static void task_moved(struct server *s, const struct flow_view *flow, const struct event *v) {
    struct job_view job;
    if (!view_job(server_state(s), v->job, &job)) return;
    struct orion_event e = {.task = job.name, .time_ms = v->time.ms};
    bool ended = job_state_is_terminal(v->to);
    bool dragged = ended && (v->cause == CAUSE_UPSTREAM || v->to == JOB_CANCELLED || v->to == JOB_SKIPPED);
    if (dragged) {
        if (was_active(v)) (void)slot_leave(orion_stream_of(s), v->job);
        cascade_add(s, v, &job);
        return;
    }
    cascade_flush(s);
    if (v->to == JOB_WAITING && v->cause == CAUSE_LOST && v->attempt <= job.options->free_losses) {
        (void)slot_leave(orion_stream_of(s), v->job); /* put back, and no retry: Orion says nothing either */
        return;
    }
    if (v->to == JOB_DISPATCHED) {
        e.type = ORION_EVENT_STARTED;
        e.worker = slot_of(orion_stream_of(s), v->job);
    } else if (v->to == JOB_SUCCEEDED || ended || (was_active(v) && (v->to == JOB_WAITING || v->to == JOB_READY))) {
        e.type = v->to == JOB_SUCCEEDED ? ORION_EVENT_COMPLETED : ended ? ORION_EVENT_FAILED : ORION_EVENT_RETRY;
        task_ended(s, v, &job, &e);
    } else {
        return; /* Orion has no word for it */
    }
    broadcast(s, flow->tenant, &e);
}

struct names {
    struct slice *at;
    uint32_t count, max;
};

static void one_name(void *ctx, const struct job_view *job) {
    struct names *n = ctx;
    if (n->count < n->max) n->at[n->count++] = job->name;
}

static void dag_came(struct server *s, const struct flow_view *flow, const struct event *v) {
    uint32_t max = flow->job_count < TASKS_MAX ? flow->job_count : TASKS_MAX;
    struct names names = {ARENA_ARRAY(&s->frame_arena, struct slice, max + 1), 0, max};
    view_each_job(server_state(s), flow->id, one_name, &names);
    struct orion_event e = {
        .type = ORION_EVENT_SUBMITTED, .tasks = names.at, .task_count = names.count, .time_ms = v->time.ms};
    broadcast(s, flow->tenant, &e);
}

void orion_stream_event(struct server *s, const struct effect *effect) {
    const struct event *v = &effect->as.event;
    struct flow_view flow;
    if (orion_stream_of(s)->clients.count == 0 || (v->kind != EVENT_FLOW && v->kind != EVENT_JOB)) return;
    if (!view_flow(server_state(s), v->job.flow, &flow)) return;
    arena_reset(&s->frame_arena);
    if (!orion_is_dag(s, flow.id)) return;
    if (v->kind == EVENT_JOB)
        task_moved(s, &flow, v);
    else if (v->flow_state == FLOW_RUNNING && v->time.ms == flow.created.ms)
        dag_came(s, &flow, v); /* its first; a flow that runs again was submitted before */
}

/* ---- coming ---- */

static void tell_recovery(struct server *s, struct session *n) {
    const struct playground *p = playground_of(s);
    int64_t now = s->world.clock->wall(s->world.clock).ms;
    struct wire_orion view = {0};
    if (p->kill_switch == NULL || !p->kill_switch->killed || now > p->since_ms + RECOVERED_MS) return;
    arena_reset(&s->frame_arena);
    orion_view_numbers(s, slice_str(n->who.tenant), &view);
    struct orion_event e = {.type = ORION_EVENT_RECOVER,
                            .metadata = {{"completed_recovered", view.completed},
                                         {"failed_recovered", view.failed},
                                         {"orphans_requeued", p->recovery.attempts_again}},
                            .time_ms = p->since_ms};
    message_make(s, &e);
    send_to(s, n);
}

void orion_stream_begin(struct server *s, struct session *n) {
    struct orion_stream *o = orion_stream_of(s);
    if (!web_stream_check(s, n)) return;
    if (web_of(n)->stream != WEB_STREAM_SOCKET) {
        web_of(n)->stream = WEB_STREAM_NONE;
        web_say_error(s, n, ERR_INVALID, 426, "this is a WebSocket: upgrade", NULL, NULL);
        return;
    }
    if (o->clients.count >= CLIENTS_MAX) {
        web_of(n)->stream = WEB_STREAM_NONE;
        web_say_error(s, n, ERR_BUSY, 503, "too many clients", NULL, NULL);
        return;
    }
    web_of(n)->busy = true;
    *(conn_id *)vec_push(&o->joining) = n->conn;
    part_wake(server_shard(s), orion_stream_slot);
}

/* When the bytes of the request are off the buffer: what follows them is of the stream. */
static void join(struct server *s) {
    struct orion_stream *o = orion_stream_of(s);
    for (uint32_t i = 0; i < o->joining.count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(&o->joining, i));
        if (n == NULL || web_of(n)->ending) continue;
        if (o->clients.count == 0) {
            o->tick_ms = o->ping_ms = s->now_ms;
            slots_begin(s);
        }
        *(conn_id *)vec_push(&o->clients) = n->conn;
        web_stream_begin(s, n);
        tell_recovery(s, n);
    }
    o->joining.count = 0;
}

/* ---- time ---- */

static void numbers_make(struct server *s, struct slice tenant) {
    struct wire_orion v;
    arena_reset(&s->frame_arena);
    orion_view_numbers(s, tenant, &v);
    struct orion_event e = {.type = ORION_EVENT_METRICS,
                            .metadata = {{"pending", v.pending},
                                         {"running", v.running},
                                         {"completed", v.completed},
                                         {"failed", v.failed},
                                         {"retried", v.retried},
                                         {"queue_size", v.queue_size},
                                         {"dropped_events", v.dropped_events}},
                            .time_ms = s->world.clock->wall(s->world.clock).ms};
    message_make(s, &e);
}

/* Mostly all are of one tenant, and get the same bytes. */
static void tell_numbers(struct server *s) {
    const struct vec *all = &orion_stream_of(s)->clients;
    const struct session *before = NULL;
    for (uint32_t i = 0; i < all->count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(all, i));
        if (n == NULL) continue;
        if (before == NULL || strcmp(before->who.tenant, n->who.tenant) != 0) numbers_make(s, slice_str(n->who.tenant));
        before = n;
        send_to(s, n);
    }
}

static void tell_crash(struct server *s) {
    struct orion_stream *o = orion_stream_of(s);
    struct orion_event e = {.type = ORION_EVENT_CRASH, .time_ms = s->world.clock->wall(s->world.clock).ms};
    if (!playground_of(s)->kill_wanted || o->crash_told) return;
    o->crash_told = true;
    broadcast(s, (struct slice){0}, &e);
    for (uint32_t i = 0; i < o->clients.count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(&o->clients, i));
        if (n != NULL) web_stream_last_word(s, n, WEBSOCKET_GOING_AWAY, "scheduler crashed");
    }
}

void orion_stream_step(struct server *s) {
    struct orion_stream *o = orion_stream_of(s);
    join(s);
    if (o->clients.count == 0) return;
    cascade_flush(s);
    tell_crash(s);
    /* What is not durable yet is not told. */
    if (s->now_ms >= o->tick_ms && engine_durable_lsn(server_shard(s)->engine) == engine_lsn(server_shard(s)->engine)) {
        o->tick_ms = s->now_ms + TICK_MS;
        tell_numbers(s);
    }
    if (s->now_ms < o->ping_ms) return;
    o->ping_ms = s->now_ms + PING_MS;
    for (uint32_t i = 0; i < o->clients.count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(&o->clients, i));
        if (n != NULL) web_stream_ping(s, n, PING_MS);
    }
}

int64_t orion_stream_next(const struct server *s) {
    const struct orion_stream *o = orion_stream_of(s);
    return o->clients.count > 0 ? o->tick_ms : TIME_NEVER;
}
