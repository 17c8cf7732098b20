/* req_orion.c: the state in Orion's words: tasks, DAGs and their numbers. Everything is read off the state, so that a
 * restart changes nothing. Flows of this dialect are found once and remembered; each later request looks at newer ones
 * only. */
#include "call.h"
#include "json_read.h"
#include "orion_session.h"
#include "orion_view.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "view_history.h"

/* ---- which flows ---- */

bool orion_is_dag(struct server *s, flow_id flow) {
    const struct label *labels = NULL;
    uint32_t count = view_labels(server_state(s), flow, &s->frame_arena, &labels);
    for (uint32_t i = 0; i < count; i++)
        if (slice_eq(labels[i].key, SLICE("dialect")) && slice_eq(labels[i].value, SLICE("orion"))) return true;
    return false;
}

static void look_at(void *ctx, flow_id id) {
    struct server *s = ctx;
    if (id.v <= orion_dags_of(s)->seen) return;
    orion_dags_of(s)->seen = id.v;
    if (orion_is_dag(s, id)) *(struct orion_dag *)vec_push(&orion_dags_of(s)->flows) = (struct orion_dag){.id = id};
}

static void flows_update(struct server *s) {
    uint64_t last = view_flow_last(server_state(s));
    struct flow_view v;
    uint32_t kept = 0;
    if (orion_dags_of(s)->seen == 0)
        view_each_flow(server_state(s), look_at, s);
    else
        for (uint64_t i = orion_dags_of(s)->seen + 1; i <= last; i++)
            if (view_flow(server_state(s), (flow_id){i}, &v)) look_at(s, (flow_id){i});
    orion_dags_of(s)->seen = last;
    for (uint32_t i = 0; i < orion_dags_of(s)->flows.count; i++) { /* those that have left memory */
        struct orion_dag dag = *(struct orion_dag *)vec_at(&orion_dags_of(s)->flows, i);
        if (view_flow(server_state(s), dag.id, &v)) *(struct orion_dag *)vec_at(&orion_dags_of(s)->flows, kept++) = dag;
    }
    orion_dags_of(s)->flows.count = kept;
}

/* ---- one task ---- */

struct walk {
    struct server *s;
    struct wire_orion *view;
    bool wants_tasks;
    struct wire_orion_task *tasks; /* newest DAG first until it is turned round */
    struct slice dag;
    struct wire_name *names; /* of the tasks of the present DAG; NULL = not wanted */
    uint32_t name_count;
    struct index by_id; /* the newest task of each id: position + 1 */
};

static const char *status_of(enum job_state state) {
    switch (state) {
    case JOB_WAITING:
    case JOB_HELD: return "pending";
    case JOB_READY: return "ready";
    case JOB_DISPATCHED:
    case JOB_RUNNING:
    case JOB_CHECKING: return "running";
    case JOB_SUCCEEDED: return "completed";
    case JOB_FAILED:
    case JOB_TIMED_OUT:
    case JOB_CANCELLED:
    case JOB_DENIED:
    case JOB_QUARANTINED:
    case JOB_SKIPPED: return "failed";
    case JOB_STATE_COUNT: break;
    }
    return "failed";
}

/* As they were sent, which the labels of the body know. */
static void read_labels(struct walk *w, const struct job_view *v, struct wire_orion_task *t) {
    struct wire_run run;
    struct why ignored;
    if (tlv_decode(&wire_run_desc, v->body, TLV_SKIP_UNKNOWN, &w->s->frame_arena, &run, &ignored) != ERR_OK) return;
    const struct wire_pair *pairs = run.labels.at;
    for (uint32_t i = 0; i < run.labels.count; i++) {
        if (slice_eq(pairs[i].key, SLICE(ORION_PAYLOAD_LABEL))) t->payload = pairs[i].value;
        if (slice_eq(pairs[i].key, SLICE(ORION_PRIORITY_LABEL))) (void)!json_number_i64(pairs[i].value, &t->priority);
    }
}

static void read_times(struct server *s, struct arena *arena, const struct job_view *v, struct wire_orion_task *t) {
    struct attempt_view *attempts = NULL;
    uint32_t count = view_attempts(server_state(s), v->ref, arena, &attempts);
    if (count > 0)
        t->start_ms =
            attempts[count - 1].started.ms != 0 ? attempts[count - 1].started.ms : attempts[count - 1].assigned.ms;
    if (job_state_is_terminal(v->state)) t->end_ms = v->since.ms;
}

static struct tlv_list parents_of(struct walk *w, const struct job_view *v) {
    uint32_t *ordinals = ARENA_ARRAY(&w->s->frame_arena, uint32_t, v->parent_count + 1);
    struct wire_name *names = ARENA_ARRAY(&w->s->frame_arena, struct wire_name, v->parent_count + 1);
    uint32_t count = view_parents(server_state(w->s), v->ref, ordinals, v->parent_count);
    struct job_view parent;
    for (uint32_t i = 0; i < count && i < v->parent_count; i++)
        if (view_job(server_state(w->s), (struct job_ref){v->ref.flow, ordinals[i]}, &parent))
            names[i].name = parent.name;
    return (struct tlv_list){names, v->parent_count};
}

static struct slice id_of(const void *ctx, uint32_t value) {
    const struct walk *w = ctx;
    return w->tasks[value - 1].id;
}

uint32_t orion_retries(const struct job_view *v) {
    return v->used < v->options->retries ? v->used : v->options->retries;
}

/* The keys of older tasks are DAG/ID. An id that begins with a DAG's and could be such a key gets its own DAG's before
 * it as well, so that no two keys are alike. */
static bool is_like_a_key(struct server *s, struct slice id) {
    const uint8_t *slash = id.len > 0 ? memchr(id.ptr, '/', id.len) : NULL;
    struct flow_view flow;
    uint32_t shard;
    flow_id dag;
    return slash != NULL && flow_parse(slice_of(id.ptr, (size_t)(slash - id.ptr)), &shard, &dag) &&
           view_flow(server_state(s), dag, &flow);
}

static void one_job(void *ctx, const struct job_view *v) {
    struct walk *w = ctx;
    if (w->names != NULL) w->names[w->name_count++].name = v->name;
    if (!w->wants_tasks || w->view->tasks.count == WIRE_ORION_TASKS_MAX) return;
    struct wire_orion_task *t = &w->tasks[w->view->tasks.count++];
    *t = (struct wire_orion_task){.id = v->name,
                                  .dag = w->dag,
                                  .status = slice_str(status_of(v->state)),
                                  .retry_count = orion_retries(v),
                                  .max_retries = v->options->retries,
                                  .dependencies = parents_of(w, v)};
    read_labels(w, v, t);
    read_times(w->s, &w->s->frame_arena, v, t);
    t->shadowed = is_like_a_key(w->s, t->id) || index_get(&w->by_id, t->id, id_of, w) != 0;
    if (!t->shadowed) index_put(&w->by_id, t->id, w->view->tasks.count);
}

/* ---- numbers ---- */

struct count {
    struct server *s;
    struct orion_dag *dag;
    struct arena arena; /* of one job */
};

static void count_job(void *ctx, const struct job_view *v) {
    struct count *c = ctx;
    struct orion_dag *d = c->dag;
    struct wire_orion_task t = {0};
    arena_reset(&c->arena);
    d->retried += orion_retries(v);
    if (!job_state_is_terminal(v->state)) return;
    read_times(c->s, &c->arena, v, &t);
    if (t.start_ms == 0 || t.end_ms == 0) return;
    int64_t took_ms = t.end_ms > t.start_ms ? t.end_ms - t.start_ms : 0;
    d->took_count++;
    d->took_ms += (uint64_t)took_ms;
    for (uint32_t k = 0; k < WIRE_ORION_BOUNDS; k++) d->within[k] += took_ms <= (int64_t)wire_orion_bounds_ms[k];
}

/* A DAG that is over is counted once, and again when a later record has touched it. */
static void dag_count(struct server *s, struct orion_dag *d, struct wire_orion *view,
                      struct wire_orion_within *within) {
    uint64_t lsn = 0;
    bool is_over = view_ended(server_state(s), d->id, &lsn);
    if (!is_over || d->counted_lsn != lsn) {
        struct count c = {.s = s, .dag = d};
        arena_init(&c.arena, 4096, 1u << 20);
        *d = (struct orion_dag){.id = d->id, .counted_lsn = is_over ? lsn : 0};
        view_each_job(server_state(s), d->id, count_job, &c);
        arena_fini(&c.arena);
    }
    view->retried += d->retried;
    view->took_count += d->took_count;
    view->took_ms += d->took_ms;
    for (uint32_t k = 0; k < WIRE_ORION_BOUNDS; k++) within[k].count += d->within[k];
}

/* ---- all of it ---- */

static void count_states(struct wire_orion *view, const uint32_t *by_state) {
    for (uint32_t i = 0; i < JOB_STATE_COUNT; i++) {
        const char *word = status_of((enum job_state)i);
        uint64_t *to = word[0] == 'p' || i == JOB_READY ? &view->pending
                       : word[0] == 'r'                 ? &view->running
                       : word[0] == 'c'                 ? &view->completed
                                                        : &view->failed;
        *to += by_state[i];
    }
    view->queue_size += by_state[JOB_READY];
}

static void one_flow(struct walk *w, const struct flow_view *flow, struct wire_orion_dag *dag) {
    w->dag = server_view_flow_name(w->s, flow->id);
    w->names = dag != NULL ? ARENA_ARRAY(&w->s->frame_arena, struct wire_name, flow->job_count + 1) : NULL;
    w->name_count = 0;
    view_each_job(server_state(w->s), flow->id, one_job, w);
    if (dag != NULL) *dag = (struct wire_orion_dag){w->dag, {w->names, w->name_count}, flow->created.ms};
}

static void walk_flows(struct walk *w, struct slice tenant, bool wants_dags) {
    struct server *s = w->s;
    uint32_t count = orion_dags_of(s)->flows.count;
    uint64_t jobs = 0;
    struct wire_orion_dag *dags = ARENA_ARRAY(&s->frame_arena, struct wire_orion_dag,
                                              (count < WIRE_ORION_DAGS_MAX ? count : WIRE_ORION_DAGS_MAX) + 1);
    struct wire_orion_within *within = ARENA_ARRAY(&s->frame_arena, struct wire_orion_within, WIRE_ORION_BOUNDS);
    for (uint32_t i = count; i-- > 0;) {
        struct orion_dag *d = vec_at(&orion_dags_of(s)->flows, i);
        struct flow_view flow;
        if (!view_flow(server_state(s), d->id, &flow)) continue;
        if (!slice_eq(flow.tenant, tenant)) continue;
        count_states(w->view, flow.by_state);
        dag_count(s, d, w->view, within);
        if (!w->wants_tasks && !wants_dags) continue;
        jobs += flow.job_count;
        bool room = jobs <= WIRE_ORION_TASKS_MAX && (!wants_dags || w->view->dags.count < WIRE_ORION_DAGS_MAX);
        w->view->more |= !room;
        if (room) one_flow(w, &flow, wants_dags ? &dags[w->view->dags.count++] : NULL);
    }
    w->view->took_within = (struct tlv_list){within, WIRE_ORION_BOUNDS};
    w->view->dags.at = dags;
    w->view->tasks.at = w->tasks;
}

static void one_worker(void *ctx, const struct worker_view *v) {
    struct wire_orion *view = ctx;
    if (!v->attached) return;
    view->slots += v->info->slots;
    view->slots_used += v->active;
}

static void reverse(struct wire_orion_task *tasks, uint32_t from, uint32_t to) {
    for (; from + 1 < to; from++) {
        struct wire_orion_task t = tasks[from];
        tasks[from] = tasks[--to];
        tasks[to] = t;
    }
}

/* DAGs are found newest first, so that the newest are there when there are too many; shown in the order of their
 * coming, each with its tasks as they were sent. */
static void turn_round(struct wire_orion *view) {
    struct wire_orion_task *tasks = view->tasks.at;
    struct wire_orion_dag *dags = view->dags.at;
    uint32_t count = view->tasks.count;
    reverse(tasks, 0, count);
    for (uint32_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && tasks[to].dag.ptr == tasks[from].dag.ptr;) to++;
        reverse(tasks, from, to);
    }
    for (uint32_t i = 0, k = view->dags.count; i + 1 < k; i++) {
        struct wire_orion_dag d = dags[i];
        dags[i] = dags[--k];
        dags[k] = d;
    }
}

/* s->frame_arena holds all of it. */
static void view_make(struct server *s, struct slice tenant, enum wire_orion_what what, struct wire_orion *ret) {
    const struct orion_options *o = orion_of(s)->options;
    struct walk w = {.s = s, .view = ret, .wants_tasks = what == WIRE_ORION_TASKS};
    *ret = (struct wire_orion){.lsn = engine_lsn(server_shard(s)->engine),
                               .uptime_ms = s->now_ms - orion_of(s)->opened_ms,
                               .now_ms = s->world.clock->wall(s->world.clock).ms,
                               .clients = orion_stream_of(s)->clients.count,
                               .dropped_events = orion_of(s)->dropped,
                               .crashed_ms = o != NULL ? o->crashed_ms : 0};
    flows_update(s);
    index_init(&w.by_id);
    if (w.wants_tasks) w.tasks = ARENA_ARRAY(&s->frame_arena, struct wire_orion_task, WIRE_ORION_TASKS_MAX);
    walk_flows(&w, tenant, what == WIRE_ORION_DAGS);
    turn_round(ret);
    index_fini(&w.by_id);
    view_each_worker(server_state(s), engine_live(server_shard(s)->engine), one_worker, ret);
}

void orion_view_numbers(struct server *s, struct slice tenant, struct wire_orion *ret) {
    view_make(s, tenant, WIRE_ORION_NUMBERS, ret);
}

void req_orion(struct server *s, struct request *r) {
    const struct wire_orion_get *m = r->message;
    struct wire_orion view;
    arena_reset(&s->frame_arena);
    view_make(s, slice_str(r->session->who.tenant), (enum wire_orion_what)m->what, &view);
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_ORION, FRAME_ANSWER, r->id, &view);
    call_read(s, r, c, buf_slice(&s->out));
}
