/* titan_stats.c: STATS and STATS_JSON of Titan's protocol, byte by byte as its clients read them. All jobs of the
 * dialect that are in memory are looked at, newest HISTORY_MAX of them shown: Titan's dashboard knows what became of a
 * job from here alone. */
#include <stdio.h>
#include <stdlib.h>

#include "json.h"
#include "titan_view.h"
#include "view_history.h"

#define HISTORY_MAX 20000u
#define TEXT_BYTES_MAX ((size_t)WIRE_TITAN_STATS_MAX)
#define WORKERS_MAX 10000u
#define PORT_FIRST 40000u /* above what people choose for Titan's workers and their services */
#define PORT_COUNT 20000u

/* ---- workers ---- */

static const struct slice *label_of(const struct worker_view *w, const char *key) {
    const struct label *labels = w->info->labels.at;
    for (uint32_t i = 0; i < w->info->labels.count; i++)
        if (slice_eq(labels[i].key, slice_str(key))) return &labels[i].value;
    return NULL;
}

uint32_t titan_port_of(const struct worker_view *w) {
    const struct slice *said = label_of(w, "titan.port");
    char text[8] = "";
    if (said != NULL && said->len < sizeof text) {
        snprintf(text, sizeof text, "%.*s", SLICE_FMT(*said));
        return (uint32_t)strtoul(text, NULL, 10);
    }
    return PORT_FIRST + w->number % PORT_COUNT;
}

bool titan_serves(const struct server *s, const struct worker_view *w) {
    return w->info->tenant.len == 0 || slice_eq(w->info->tenant, slice_str(titan_of(s)->options->tenant));
}

struct slice titan_skills_of(struct server *s, const struct worker_view *w) {
    const struct slice *said = label_of(w, "capability");
    if (said == NULL) return SLICE("[GENERAL]");
    char *text = arena_alloc(&s->frame_arena, 2 * said->len + 3);
    size_t len = 0;
    text[len++] = '[';
    for (size_t i = 0; i < said->len; i++) {
        text[len++] = (char)said->ptr[i];
        if (said->ptr[i] == ',') text[len++] = ' ';
    }
    text[len++] = ']';
    return slice_of(text, len);
}

/* ---- what there is to tell ---- */

struct run {
    struct slice id;
    const char *status;
    int64_t took_ms, ended_ms; /* 0 = it has not */
    uint32_t worker;
    bool is_gate; /* which keeps no worker busy */
};

struct node {
    struct worker_view view;
    struct slice active; /* of the job that it was given last */
};

struct service {
    struct slice id;
    uint32_t worker;
};

struct stats {
    struct server *s;
    struct node *nodes;
    uint32_t node_count;
    struct run *runs; /* oldest first */
    uint32_t run_count;
    struct service *services;
    uint32_t service_count, service_slots;
    uint32_t ready, delayed, blocked, dead;
    int64_t now_ms;
};

static void one_worker(void *ctx, const struct worker_view *w) {
    struct stats *t = ctx;
    if (!w->attached || !titan_serves(t->s, w) || t->node_count == WORKERS_MAX) return;
    t->nodes[t->node_count++] = (struct node){.view = *w};
}

static void count_service(void *ctx, const struct service_view *v) {
    struct stats *t = ctx;
    (void)v;
    t->service_slots++;
}

static void one_service(void *ctx, const struct service_view *v) {
    struct stats *t = ctx;
    struct job_view job;
    if (!slice_eq(v->tenant, slice_str(titan_of(t->s)->options->tenant)) || v->runner.flow.v == 0) return;
    if (!view_job(server_state(t->s), v->runner, &job) || !job_state_is_active(job.state)) return;
    struct slice id = titan_id_of(t->s, &job);
    t->services[t->service_count++] = (struct service){id.len > 0 ? id : v->name, job.worker};
}

static void services_read(struct stats *t) {
    view_each_service(server_state(t->s), count_service, t);
    t->services = ARENA_ARRAY(&t->s->frame_arena, struct service, t->service_slots + 1);
    view_each_service(server_state(t->s), one_service, t);
}

static void count_state(struct stats *t, const struct job_view *job) {
    if (job->state == JOB_READY)
        t->ready++;
    else if (job->state == JOB_WAITING && job->parents_open > 0)
        t->blocked++;
    else if (job->state == JOB_WAITING || (job->state == JOB_HELD && job->options->kind != JOB_GATE))
        t->delayed++;
    if (job->dead_letter) t->dead++;
}

static void run_read(struct stats *t, struct slice id, const struct job_view *job) {
    struct attempt_view *attempts = NULL;
    uint32_t count = view_attempts(server_state(t->s), job->ref, &t->s->frame_arena, &attempts);
    if (count == 0) return;
    const struct attempt_view *last = &attempts[count - 1];
    int64_t from = last->started.ms != 0 ? last->started.ms : last->assigned.ms;
    bool over = job_state_is_terminal(job->state);
    int64_t until = over && last->ended.ms != 0 ? last->ended.ms : over ? job->since.ms : t->now_ms;
    t->runs[t->run_count++] = (struct run){.id = id,
                                           .status = titan_status_word(t->s, job),
                                           .took_ms = until > from ? until - from : 0,
                                           .ended_ms = over ? until : 0,
                                           .worker = job->worker};
}

/* No worker runs a gate, but Titan's dashboard knows of jobs by workers alone: it is shown with the one that had a
 * parent of it, or else with the first. */
static void gate_read(struct stats *t, struct slice id, const struct job_view *gate) {
    uint32_t *parents = ARENA_ARRAY(&t->s->frame_arena, uint32_t, gate->parent_count + 1);
    uint32_t count = view_parents(server_state(t->s), gate->ref, parents, gate->parent_count);
    struct job_view parent;
    struct flow_view flow;
    if (t->node_count == 0 || !view_flow(server_state(t->s), gate->ref.flow, &flow)) return;
    struct run run = {.id = id, .status = titan_status_word(t->s, gate), .is_gate = true};
    int64_t from = flow.created.ms;
    for (uint32_t i = 0; i < count; i++) {
        if (!view_job(server_state(t->s), (struct job_ref){gate->ref.flow, parents[i]}, &parent)) continue;
        if (parent.since.ms > from) from = parent.since.ms;
        for (uint32_t k = 0; k < t->node_count; k++)
            if (t->nodes[k].view.number == parent.worker) run.worker = parent.worker;
    }
    if (run.worker == 0) run.worker = t->nodes[0].view.number;
    bool over = job_state_is_terminal(gate->state);
    int64_t until = over ? gate->since.ms : t->now_ms;
    run.took_ms = until > from ? until - from : 0;
    run.ended_ms = over ? until : 0;
    t->runs[t->run_count++] = run;
}

static void jobs_read(struct stats *t) {
    const struct vec *entries = &titan_book_of(t->s)->entries;
    struct job_view job;
    titan_book_update(t->s);
    t->runs = ARENA_ARRAY(&t->s->frame_arena, struct run, HISTORY_MAX + 1);
    for (uint32_t i = 0; i < entries->count; i++) {
        const struct titan_entry *e = vec_at(entries, i);
        if (!view_job(server_state(t->s), e->job, &job)) continue;
        count_state(t, &job);
        bool is_over = job_state_is_terminal(job.state), is_new = i + HISTORY_MAX >= entries->count;
        bool has_run = is_over || job_state_is_active(job.state);
        bool was_asked =
            job.options->kind == JOB_GATE && (job.state == JOB_HELD || (is_over && job.cause != CAUSE_UPSTREAM));
        if (was_asked && is_new)
            gate_read(t, bytes_slice(e->id), &job);
        else if (has_run && job.worker != 0 && is_new)
            run_read(t, bytes_slice(e->id), &job);
    }
}

static void stats_read(struct server *s, struct stats *t) {
    *t = (struct stats){.s = s, .now_ms = engine_now(server_shard(s)->engine).ms};
    t->nodes = ARENA_ARRAY(&s->frame_arena, struct node, WORKERS_MAX);
    view_each_worker(server_state(s), engine_live(server_shard(s)->engine), one_worker, t);
    services_read(t);
    jobs_read(t);
    for (uint32_t i = 0; i < t->node_count; i++)
        for (uint32_t k = 0; k < t->run_count; k++)
            if (t->runs[k].worker == t->nodes[i].view.number && t->runs[k].ended_ms == 0 && !t->runs[k].is_gate)
                t->nodes[i].active = t->runs[k].id;
}

/* ---- as text ---- */

static void node_text(struct buf *b, struct stats *t, const struct node *n) {
    uint32_t slots = n->view.info->slots;
    struct slice skills = titan_skills_of(t->s, &n->view);
    char load[48];
    snprintf(load, sizeof load, "%u/%u (%u%%)", n->view.active, slots, slots > 0 ? n->view.active * 100 / slots : 0);
    buf_printf(b, " \u2022 [%u] Load: %-12s | Skills: %.*s\n", titan_port_of(&n->view), load, SLICE_FMT(skills));
    for (uint32_t i = 0; i < t->service_count; i++)
        if (t->services[i].worker == n->view.number)
            buf_printf(b, "    \u2514\u2500\u2500 [SVC] Service ID: %.*s\n", SLICE_FMT(t->services[i].id));
}

static struct slice keep(struct server *s, struct buf *b) {
    struct slice text = arena_slice(&s->frame_arena, buf_slice(b));
    buf_fini(b);
    return text;
}

struct slice titan_stats_text(struct server *s) {
    struct stats t;
    struct buf b;
    stats_read(s, &t);
    buf_init(&b, TEXT_BYTES_MAX);
    buf_printf(&b,
               "\n--- TITAN SYSTEM MONITOR ---\nActive Workers:    %u\nExecution Queue:   %u jobs\n"
               "Delayed (Time):    %u jobs\nBlocked (DAG):     %u jobs\nDead Letter (DLQ): %u jobs\n"
               "-------------------------------\n",
               t.node_count, t.ready, t.delayed, t.blocked, t.dead);
    buf_put_slice(&b, t.node_count > 0 ? SLICE("Worker Status:\n") : SLICE("[INFO] No workers currently connected.\n"));
    for (uint32_t i = 0; i < t.node_count; i++) node_text(&b, &t, &t.nodes[i]);
    return keep(s, &b);
}

/* ---- as JSON ---- */

static void text_put(struct buf *b, struct slice text) {
    struct json j;
    json_init(&j, b);
    json_text(&j, text);
}

static void history_put(struct buf *b, const struct stats *t, const struct node *n) {
    const char *comma = "";
    for (uint32_t pass = 0; pass < 2; pass++) /* those that run come first */
        for (uint32_t i = 0; i < t->run_count; i++) {
            const struct run *r = &t->runs[i];
            if (r->worker != n->view.number || (r->ended_ms != 0) != (pass == 1)) continue;
            buf_printf(b, "%s{\"id\": ", comma);
            text_put(b, r->id);
            buf_printf(b, ", \"status\": \"%s\", \"time\": \"%lldms\"", r->status, (long long)r->took_ms);
            if (pass == 1) buf_printf(b, ", \"completed_at\": %lld", (long long)r->ended_ms);
            buf_put_u8(b, '}');
            comma = ",";
        }
}

static void node_json(struct buf *b, struct stats *t, const struct node *n) {
    const char *comma = "";
    buf_printf(b, "{\"port\": %u,\"capabilities\": ", titan_port_of(&n->view));
    text_put(b, titan_skills_of(t->s, &n->view));
    buf_printf(b, ",\"load\": \"%u/%u\",\"active_job\": ", n->view.active, n->view.info->slots);
    if (n->active.len > 0)
        text_put(b, n->active);
    else
        buf_put_slice(b, SLICE("null"));
    buf_put_slice(b, SLICE(", \"history\": ["));
    history_put(b, t, n);
    buf_put_slice(b, SLICE("],\"services\": ["));
    for (uint32_t i = 0; i < t->service_count; i++) {
        if (t->services[i].worker != n->view.number) continue;
        buf_printf(b, "%s", comma);
        text_put(b, t->services[i].id);
        comma = ",";
    }
    buf_put_slice(b, SLICE("]}"));
}

struct slice titan_stats_as_json(struct server *s) {
    struct stats t;
    struct buf b;
    stats_read(s, &t);
    buf_init(&b, TEXT_BYTES_MAX);
    buf_printf(&b, "{\"active_workers\": %u,\"queue_size\": %u,\"workers\": [", t.node_count, t.ready);
    for (uint32_t i = 0; i < t.node_count; i++) {
        if (i > 0) buf_put_u8(&b, ',');
        node_json(&b, &t, &t.nodes[i]);
    }
    buf_put_slice(&b, SLICE("]}"));
    return keep(s, &b);
}

/* ---- services ---- */

struct slice titan_service_ids(struct server *s) {
    struct stats t = {.s = s};
    struct buf b;
    services_read(&t);
    buf_init(&b, TEXT_BYTES_MAX);
    buf_put_u8(&b, '[');
    for (uint32_t i = 0; i < t.service_count; i++)
        buf_printf(&b, "%s%.*s", i > 0 ? ", " : "", SLICE_FMT(t.services[i].id));
    buf_put_u8(&b, ']');
    return keep(s, &b);
}

uint32_t titan_services_on(struct server *s, uint32_t worker) {
    struct stats t = {.s = s};
    uint32_t count = 0;
    services_read(&t);
    for (uint32_t i = 0; i < t.service_count; i++) count += t.services[i].worker == worker;
    return count;
}
