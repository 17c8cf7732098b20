/* req_service.c: what people ask about services. Deployments are jobs: req_flow.c. */
#include <stdio.h>

#include "call.h"
#include "requests.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"

#define PAGE_MAX 1000u
#define TEXT_BYTES 80u

HANDLER(req_service_set) {
    const struct wire_service_set *m = r->message;
    struct command cmd = {.kind = CMD_SERVICE};
    cmd.as.service.name = m->name;
    cmd.as.service.replicas = m->replicas;
    cmd.as.service.restart = m->desired == WIRE_DESIRED_RESTART;
    if (!cmd.as.service.restart) cmd.as.service.desired = (enum service_desired)m->desired;
    if (r->session->who.tenant[0] == 0) cmd.tenant = SLICE(TENANT_STANDARD);
    struct call *c = call_open(s, r, 1);
    if (c != NULL) call_command(s, r, c, 0, &cmd);
}

struct service_page {
    struct server *s;
    const struct session *n;
    struct wire_service_view *list;
    uint32_t count, most;
    uint64_t skip, next;
};

/* How its last attempt ended, when nothing runs. */
static struct slice end_text(struct server *s, const struct wire_job_view *v) {
    char text[TEXT_BYTES];
    if (v->reason.len > 0) return v->reason;
    if (v->signal != 0)
        snprintf(text, sizeof text, "it was killed by signal %u", v->signal);
    else
        snprintf(text, sizeof text, "it ended with exit code %u", v->exit_code);
    return arena_slice(&s->frame_arena, slice_str(text));
}

/* The one reason why it is not healthy; what its worker or its last end says about that is better than our words. */
static void show_trouble(struct server *s, const struct service_view *v, const struct job_view *job,
                         struct wire_service_view *w) {
    struct why_job why;
    struct wire_job_view shown;
    if (!view_why_service(server_state(s), engine_live(server_shard(s)->engine), s->limits, v->tenant, v->name, &why))
        return;
    w->code = slice_str(block_word(why.block));
    w->text = v->note.len > 0              ? v->note
              : why.block == BLOCK_HEALTH  ? SLICE("running, but not healthy yet")
              : why.block == BLOCK_STOPPED ? SLICE("stopped by request")
                                           : slice_str(block_text(why.block));
    if (job == NULL || why.block != BLOCK_TIME || job->attempt == 0) return;
    server_view_job(s, job, false, &shown);
    w->text = end_text(s, &shown);
}

static void show_service(struct server *s, const struct service_view *v, struct wire_service_view *w) {
    struct job_view job;
    struct worker_view worker;
    *w = (struct wire_service_view){.name = v->name,
                                    .state = slice_str(service_desired_words[v->desired]),
                                    .healthy = v->healthy,
                                    .since_ms = v->since.ms == TIME_NEVER ? 0 : v->since.ms,
                                    .version = v->version,
                                    .previous_version = v->previous_version,
                                    .deploying = v->deploying,
                                    .port = v->port,
                                    .replica_of = v->replica_of,
                                    .replica = v->replica,
                                    .update = slice_str(update_words[v->update]),
                                    .overlaps = v->overlaps,
                                    .previous_healthy = v->previous_healthy,
                                    .previous_port = v->previous_port,
                                    .due_ms = v->due.ms == TIME_NEVER ? 0 : v->due.ms};
    bool runs = v->runner.flow.v != 0 && view_job(server_state(s), v->runner, &job);
    if (!v->healthy) show_trouble(s, v, runs ? &job : NULL, w);
    if (!runs) return;
    w->job = server_view_job_name(s, &job);
    w->attempt = job.attempt;
    w->restarts = job.attempt > 0 ? job.attempt - 1 : 0;
    bool has_worker = job_state_is_active(job.state) && view_worker(server_state(s), NULL, job.worker, &worker);
    if (has_worker) w->worker = worker.id;
}

static void one_service(void *ctx, const struct service_view *v) {
    struct service_page *p = ctx;
    if (p->n->who.tenant[0] != 0 && !slice_eq(v->tenant, slice_str(p->n->who.tenant))) return;
    uint64_t at = p->next++;
    if (at >= p->skip && p->count < p->most) show_service(p->s, v, &p->list[p->count++]);
}

HANDLER(req_service_ls) {
    const struct wire_page *m = r->message;
    struct service_page p = {.s = s, .n = r->session, .most = m->most == 0 || m->most > PAGE_MAX ? PAGE_MAX : m->most};
    char cursor[24];
    if (!slice_decimal(m->cursor, &p.skip)) {
        call_fail(s, r, ERR_INVALID, "invalid cursor: it does not come from this server");
        return;
    }
    arena_reset(&s->frame_arena);
    p.list = ARENA_ARRAY(&s->frame_arena, struct wire_service_view, p.most);
    view_each_service(server_state(s), one_service, &p);
    struct wire_service_list got = {.lsn = engine_lsn(server_shard(s)->engine), .services = {p.list, p.count}};
    snprintf(cursor, sizeof cursor, "%llu", (unsigned long long)(p.skip + p.count));
    if (p.next > p.skip + p.count) got.cursor = slice_str(cursor);
    call_show(s, r, WIRE_SERVICE_LIST, &got);
}
