/* decide_service.c: what people ask of services, and what workers say of them. Deployments are jobs: decide_submit. */
#include "attempt.h"
#include "decide.h"
#include "flow.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "service.h"
#include "utf8.h"

static enum err find_service(struct decision *d, const struct command *cmd, uint32_t *ret) {
    const struct cmd_service *c = &cmd->as.service;
    /* an administrator, who has no tenant, says whose it is */
    struct slice tenant = cmd->tenant.len ? cmd->tenant : c->tenant;
    uint32_t index = 0;
    if (c->tenant.len == 0 || slice_eq(c->tenant, tenant))
        index = service_find(d->state, tenant_find(d->state, tenant), c->name);
    if (index == 0) return refuse(d, ERR_NOT_FOUND, "there is no service %.*s", SLICE_FMT(c->name));
    *ret = index;
    return ERR_OK;
}

static void put_desired(struct decision *d, const struct command *cmd, const struct service *v,
                        enum service_desired desired) {
    struct rec_service *rec = &decide_record(d, REC_SERVICE, cmd)->body.as_REC_SERVICE;
    rec->head.tenant = bytes_slice(tenant_at(d->state, v->tenant)->name);
    rec->name = cmd->as.service.name;
    rec->desired = (uint8_t)desired;
}

/* Two records of one batch: a service is never left stopped by half a restart. It runs when the worker let it go. */
static enum err decide_restart(struct decision *d, const struct command *cmd, const struct service *v) {
    struct slice name = cmd->as.service.name;
    if (v->desired != SERVICE_RUNNING)
        return refuse(d, ERR_STATE, "service %.*s is not running: start it", SLICE_FMT(name));
    if (v->deployer)
        return refuse(d, ERR_STATE, "service %.*s is being deployed: a restart would cancel that", SLICE_FMT(name));
    put_desired(d, cmd, v, SERVICE_STOPPED);
    put_desired(d, cmd, v, SERVICE_RUNNING);
    return ERR_OK;
}

enum err decide_service(struct decision *d, const struct command *cmd) {
    const struct cmd_service *c = &cmd->as.service;
    uint32_t index = 0;
    if ((unsigned)c->desired >= SERVICE_DESIRED_COUNT)
        return refuse(d, ERR_INVALID, "a service is to run, to stop or to be removed");
    enum err e = decide_name(d, c->name, "a service");
    if (e == ERR_OK) e = find_service(d, cmd, &index);
    if (e != ERR_OK) return e;
    const struct service *v = service_at(d->state, index);
    if (c->restart) return decide_restart(d, cmd, v);
    if (v->desired == (uint8_t)c->desired) return ERR_OK; /* asked before; repeating it changes nothing */
    if (v->desired == SERVICE_REMOVED)
        return refuse(d, ERR_STATE, "service %.*s is being removed: deploy it again", SLICE_FMT(c->name));
    if (v->current.flow == 0)
        return refuse(d, ERR_STATE, "service %.*s has no version that was ever healthy", SLICE_FMT(c->name));
    put_desired(d, cmd, v, c->desired);
    return ERR_OK;
}

enum err decide_health(struct decision *d, const struct command *cmd) {
    const struct cmd_attempt *c = &cmd->as.attempt;
    const struct state *s = d->state;
    uint32_t job = 0;
    enum err e = decide_fenced_job(d, c, false, &job);
    if (e != ERR_OK) return e;
    const struct job *j = job_at(s, job);
    uint32_t index = service_of_flow(s, flow_at(s, j->flow));
    if (index == 0) return refuse(d, ERR_INVALID, "the attempt is not that of a service");
    const struct service *v = service_at(s, index);
    /* a version on its way out may say what it likes */
    bool counts = v->current.flow == j->flow && run_at(s, j->link)->stop == STOP_NONE;
    if (!counts && !MUTANT(old_version_counts)) return ERR_OK;
    struct slice note = utf8_cut(c->note, (size_t)d->limits->reason_bytes_max);
    bool is_same = v->healthy == c->healthy && v->port == c->port && slice_eq(bytes_slice(v->note), note);
    if (v->current.flow == j->flow && is_same) {
        d->reply->repeated = true;
        return ERR_OK;
    }
    if (j->state == JOB_DISPATCHED) decide_has_started(d, c->job, c->attempt); /* that word was lost */
    struct rec_health *rec = &decide_record(d, REC_HEALTH, NULL)->body.as_REC_HEALTH;
    rec->flow = c->job.flow.v;
    rec->ordinal = c->job.ordinal;
    rec->attempt = c->attempt;
    rec->healthy = c->healthy;
    rec->port = c->port;
    rec->note = note;
    return ERR_OK;
}

/* Services that a worker which drains has: they are stopped there and start elsewhere. */
void decide_move_services(struct decision *d, uint32_t worker) {
    REQUIRE(worker != 0);
    const struct state *s = d->state;
    if (MUTANT(drain_ignored)) return;
    for (uint32_t r = worker_at(s, worker)->first; r; r = run_at(s, r)->next) {
        const struct job *j = job_at(s, run_at(s, r)->job);
        if (!flow_at(s, j->flow)->of_service || run_at(s, r)->stop != STOP_NONE) continue;
        struct job_ref ref = job_ref_of(s, j);
        struct rec_stopping *rec = &decide_record(d, REC_STOPPING, NULL)->body.as_REC_STOPPING;
        rec->flow = ref.flow.v;
        rec->ordinal = ref.ordinal;
        rec->attempt = j->attempt;
        rec->stop = STOP_MOVE;
        rec->confirm_ms = job_options(s, j)->stop_within_ms;
    }
}
