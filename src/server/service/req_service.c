/* req_service.c: what people ask about services. Deployments are jobs: req_flow.c. */
#include <stdio.h>

#include "call.h"
#include "panic.h"
#include "record.h"
#include "requests.h"
#include "server_impl.h"
#include "server_view.h"
#include "service_version.h"
#include "session.h"
#include "target.h"

#define PAGE_MAX 1000u
#define TEXT_BYTES 80u

HANDLER(req_service_set) {
    const struct wire_service_set *m = r->message;
    struct command cmd = {.kind = CMD_SERVICE};
    cmd.as.service.name = m->name;
    cmd.as.service.restart = m->desired == WIRE_DESIRED_RESTART;
    if (!cmd.as.service.restart) cmd.as.service.desired = (enum service_desired)m->desired;
    if (r->session->who.tenant[0] == 0) cmd.tenant = SLICE(TENANT_STANDARD);
    struct call *c = call_open(s, r, 1);
    if (c != NULL) call_command(s, r, c, 0, &cmd);
}

/* ---- versions ---- */

static enum err find_service(struct server *s, const struct request *r, struct slice name, struct service_view *ret,
                             struct why *why) {
    if (target_service(s, r->session, name, ret)) return ERR_OK;
    return why_set(why, ERR_NOT_FOUND, "there is no service %.*s", SLICE_FMT(name));
}

/* The one of that number; without one, the last that was healthy before the current one. NULL = there is none. */
static const struct service_version *version_of(const struct service_view *v, uint32_t number) {
    const struct service_version *found = NULL;
    for (uint32_t i = 0; i < v->version_count; i++) {
        const struct service_version *one = &v->versions[i];
        bool is_before = one->state == VERSION_RETIRED && one->healthy_ms != 0;
        if (number == 0 ? is_before : one->number == number) found = one;
    }
    return found;
}

static enum err version_check(const struct service_view *v, const struct service_version *found, uint32_t number,
                              struct why *why) {
    if (found == NULL && number == 0)
        return why_set(why, ERR_STATE, "service %.*s has no earlier version that was healthy", SLICE_FMT(v->name));
    if (found == NULL && v->version_count == 0)
        return why_set(why, ERR_NOT_FOUND, "service %.*s remembers no versions: they were deployed before it did",
                       SLICE_FMT(v->name));
    if (found == NULL)
        return why_set(why, ERR_NOT_FOUND, "service %.*s has no version %u; it remembers %u to %u", SLICE_FMT(v->name),
                       number, v->versions[0].number, v->versions[v->version_count - 1].number);
    if (found->number == v->version)
        return why_set(why, ERR_STATE, "version %u of service %.*s is the current one: restart it, or choose another",
                       found->number, SLICE_FMT(v->name));
    if (found->spec == NULL)
        return why_set(why, ERR_STATE,
                       "version %u of service %.*s was deployed by a job in a sandbox and is not kept: deploy its file "
                       "again",
                       found->number, SLICE_FMT(v->name));
    return ERR_OK;
}

/* It was read when it was recorded, or loaded. */
static void spec_read(const struct service_version *v, struct arena *arena, struct rec_submitted *ret) {
    enum err e = tlv_decode(record_desc(REC_SUBMITTED), bytes_slice(v->spec), TLV_STRICT, arena, ret, NULL);
    ENSURE(e == ERR_OK);
}

static enum err rollback_read(struct server *s, const struct request *r, struct command *ret, struct why *why) {
    const struct wire_service_rollback *m = r->message;
    struct rec_submitted kept;
    struct service_view v;
    if (r->session->job.job.flow.v != 0) /* the bounds of a job hold while its attempt does; a service stays */
        return why_set(why, ERR_FORBIDDEN, "a job's token cannot roll services back: use the token of a submitter");
    enum err e = find_service(s, r, m->name, &v, why);
    if (e != ERR_OK) return e;
    const struct service_version *found = version_of(&v, m->version);
    e = version_check(&v, found, m->version, why);
    if (e != ERR_OK) return e;
    spec_read(found, r->arena, &kept);
    struct label *label = ARENA_NEW(r->arena, struct label);
    char text[16];
    snprintf(text, sizeof text, "%u", found->number);
    *label = (struct label){SLICE("rollback"), arena_slice(r->arena, slice_str(text))};
    e = req_flow_kept(s, r, &kept, ret, why);
    ret->as.submit.labels = label;
    ret->as.submit.label_count = 1;
    return e;
}

HANDLER(req_service_rollback) {
    struct command cmd;
    struct why why = {{0}};
    enum err e = rollback_read(s, r, &cmd, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    struct call *c = call_open(s, r, 1);
    if (c != NULL) call_command(s, r, c, 0, &cmd);
}

/* ---- looking ---- */

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

static struct tlv_list show_versions(struct server *s, const struct service_view *v) {
    struct wire_service_version *list = ARENA_ARRAY(&s->frame_arena, struct wire_service_version, v->version_count + 1);
    for (uint32_t i = 0; i < v->version_count; i++) {
        const struct service_version *one = &v->versions[v->version_count - 1 - i];
        struct job_view job;
        struct rec_submitted spec = {0};
        bool runs = view_job(server_state(s), (struct job_ref){{one->flow}, 0}, &job);
        if (one->spec != NULL) spec_read(one, &s->frame_arena, &spec);
        list[i] = (struct wire_service_version){.version = one->number,
                                                .state = slice_str(version_state_words[one->state]),
                                                .by = spec.head.principal,
                                                .flow = server_view_flow_name(s, one->deployer.flow),
                                                .begun_ms = one->begun_ms,
                                                .healthy_ms = one->healthy_ms,
                                                .ended_ms = one->ended_ms,
                                                .restarts = one->restarts,
                                                .kept = one->spec != NULL};
        if (runs) list[i].job = server_view_job_name(s, &job);
        if (runs && one->ended_ms == 0 && job.attempt > 0) list[i].restarts = job.attempt - 1;
    }
    return (struct tlv_list){list, v->version_count};
}

HANDLER(req_service_get) {
    const struct wire_service_get *m = r->message;
    struct service_view v;
    struct why why = {{0}};
    struct wire_service_view shown;
    enum err e = find_service(s, r, m->name, &v, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    arena_reset(&s->frame_arena);
    show_service(s, &v, &shown);
    shown.versions = show_versions(s, &v);
    struct wire_service_list got = {.lsn = engine_lsn(server_shard(s)->engine), .services = {&shown, 1}};
    call_show(s, r, WIRE_SERVICE_LIST, &got);
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
