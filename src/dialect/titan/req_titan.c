/* req_titan.c: what Titan's protocol asks about the state: jobs by their ids, workers by their ports, statistics. */
#include <stdio.h>
#include <stdlib.h>

#include "call.h"
#include "late_labels.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "titan_view.h"
#include "view_history.h"

const char *titan_status_word(const struct server *s, const struct job_view *job) {
    switch (job->state) {
    case JOB_HELD: return job->options->kind == JOB_GATE ? "RUNNING" : "PENDING"; /* there, a script would run */
    case JOB_WAITING:
    case JOB_READY: return "PENDING";
    case JOB_DISPATCHED:
    case JOB_RUNNING:
    case JOB_CHECKING: return "RUNNING";
    case JOB_SUCCEEDED: return "COMPLETED";
    case JOB_FAILED:
        if (job->cause == CAUSE_UPSTREAM) return "CANCELLED";
        return titan_of(s)->options->dead_status;
    case JOB_TIMED_OUT:
    case JOB_DENIED:
    case JOB_QUARANTINED: return titan_of(s)->options->dead_status;
    case JOB_CANCELLED:
    case JOB_SKIPPED: return "CANCELLED";
    case JOB_STATE_COUNT: break;
    }
    return "NULL";
}

static struct slice tenant_of(const struct server *s) {
    return slice_str(titan_of(s)->options->tenant);
}

static struct slice told_of(struct server *s, flow_id flow, const char *key) {
    struct slice told = late_label(server_state(s), flow, key);
    return told.len <= WIRE_TITAN_ID_MAX ? arena_slice(&s->frame_arena, told) : (struct slice){0};
}

/* What a gate has to say: no worker runs it, and it has no log. */
static struct slice gate_note(struct server *s, const struct job_view *job, const char *status) {
    struct wire_run run;
    struct why ignored;
    struct attempt_view *notes = NULL;
    struct buf b;
    if (job->state == JOB_WAITING ||
        tlv_decode(&wire_run_desc, job->body, TLV_SKIP_UNKNOWN, &s->frame_arena, &run, &ignored) != ERR_OK)
        return (struct slice){0};
    uint32_t count = view_attempts(server_state(s), job->ref, &s->frame_arena, &notes);
    struct slice reason = count > 0 ? notes[count - 1].reason : (struct slice){0};
    bool no_answer = job->cause == CAUSE_NO_VERDICT;
    buf_init(&b, WIRE_TITAN_NOTE_MAX);
    buf_printf(&b, "%.*s\n%s", SLICE_FMT(run.message),
               job->state == JOB_HELD        ? "waits for a decision"
               : job->state == JOB_SUCCEEDED ? "approved"
               : no_answer                   ? "nobody decided in time"
               : job->state == JOB_DENIED    ? "rejected"
                                             : status);
    if (reason.len > 0 && !no_answer) buf_printf(&b, ": %.*s", SLICE_FMT(reason));
    struct slice text = arena_slice(&s->frame_arena, buf_slice(&b));
    buf_fini(&b);
    return text;
}

static void one_job(struct server *s, struct slice id, struct wire_titan_job *ret) {
    struct titan_entry entry;
    struct job_view job;
    *ret = (struct wire_titan_job){.id = id, .status = SLICE("NULL")};
    if (!titan_book_find(s, id, &entry) || !view_job(server_state(s), entry.job, &job)) return;
    *ret = (struct wire_titan_job){.id = arena_slice(&s->frame_arena, bytes_slice(entry.id)),
                                   .target = server_view_job_name(s, &job),
                                   .status = slice_str(titan_status_word(s, &job)),
                                   .attempts = job.attempt,
                                   .dag = told_of(s, entry.job.flow, LATE_KEY_DAG),
                                   .run = told_of(s, entry.job.flow, LATE_KEY_RUN)};
    ret->log = ret->target;
    bool has_failed = job_state_is_terminal(job.state) && job.state != JOB_SUCCEEDED;
    if (job.options->kind == JOB_GATE) ret->note = gate_note(s, &job, titan_status_word(s, &job));
    struct service_view service;
    if (job.options->kind != JOB_SERVICE || !view_service(server_state(s), tenant_of(s), job.name, &service)) return;
    if (service.desired == SERVICE_RUNNING) ret->service = job.name;
    if (has_failed) return; /* what runs is another version; the output of its own is the job's (deploy_log.h) */
    if (service.runner.flow.v == 0 || !view_job(server_state(s), service.runner, &job)) return;
    ret->log = server_view_job_name(s, &job);
    ret->attempts = job.attempt;
}

static void jobs_of(struct server *s, const struct wire_titan_get *m, struct wire_titan *ret) {
    const struct wire_titan_name *names = m->names.at;
    struct wire_titan_job *jobs = ARENA_ARRAY(&s->frame_arena, struct wire_titan_job, m->names.count + 1);
    for (uint32_t i = 0; i < m->names.count; i++) one_job(s, names[i].id, &jobs[i]);
    ret->jobs = (struct tlv_list){jobs, m->names.count};
}

static void dag_of(struct server *s, const struct wire_titan_get *m, struct wire_titan *ret) {
    const struct wire_titan_name *name = m->names.at;
    struct slice *ids = NULL;
    uint32_t count = m->names.count > 0 ? titan_dag_ids(s, name->id, &ids) : 0;
    struct wire_titan_job *jobs = ARENA_ARRAY(&s->frame_arena, struct wire_titan_job, count + 1);
    for (uint32_t i = 0; i < count; i++) one_job(s, ids[i], &jobs[i]);
    ret->jobs = (struct tlv_list){jobs, count};
}

/* ---- workers ---- */

struct by_port {
    struct server *s;
    uint32_t port;
    struct wire_titan *ret;
};

static void one_worker(void *ctx, const struct worker_view *w) {
    struct by_port *p = ctx;
    if (!w->attached || !titan_serves(p->s, w) || titan_port_of(w) != p->port) return;
    p->ret->worker = w->id;
    p->ret->services = titan_services_on(p->s, w->number);
    p->ret->text = w->info->permanent ? SLICE("permanent") : SLICE("");
}

static void worker_of(struct server *s, const struct wire_titan_get *m, struct wire_titan *ret) {
    const struct wire_titan_name *name = m->names.at;
    char text[16];
    if (m->names.count == 0 || name->id.len >= sizeof text) return;
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(name->id));
    struct by_port p = {s, (uint32_t)strtoul(text, NULL, 10), ret};
    view_each_worker(server_state(s), engine_live(server_shard(s)->engine), one_worker, &p);
}

void req_titan(struct server *s, struct request *r) {
    const struct wire_titan_get *m = r->message;
    struct wire_titan got = {.lsn = engine_lsn(server_shard(s)->engine)};
    if (titan_of(s)->options == NULL) {
        call_fail(s, r, ERR_STATE, "this server has no listener for Titan's protocol");
        return;
    }
    arena_reset(&s->frame_arena);
    switch ((enum wire_titan_what)m->what) {
    case WIRE_TITAN_JOBS: jobs_of(s, m, &got); break;
    case WIRE_TITAN_WORKER: worker_of(s, m, &got); break;
    case WIRE_TITAN_STATS: got.text = titan_stats_text(s); break;
    case WIRE_TITAN_STATS_JSON: got.text = titan_stats_as_json(s); break;
    case WIRE_TITAN_SERVICES: got.text = titan_service_ids(s); break;
    case WIRE_TITAN_DAGS: got.text = titan_dags_as_json(s); break;
    case WIRE_TITAN_DAG: dag_of(s, m, &got); break;
    case WIRE_TITAN_WHAT_COUNT: break;
    }
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_TITAN, FRAME_ANSWER, r->id, &got);
    call_read(s, r, c, buf_slice(&s->out));
}
