/* decide_service.c: what people ask of services, and what workers say of them. Deployments are jobs: decide_submit. */
#include "attempt.h"
#include "decide.h"
#include "flow.h"
#include "mutant.h"
#include "panic.h"
#include "registry.h"
#include "replica.h"
#include "rules.h"
#include "service.h"
#include "utf8.h"

/* An administrator, who has no tenant, says whose it is. */
static uint32_t tenant_of(const struct decision *d, const struct command *cmd) {
    const struct cmd_service *c = &cmd->as.service;
    struct slice tenant = cmd->tenant.len ? cmd->tenant : c->tenant;
    if (c->tenant.len != 0 && !slice_eq(c->tenant, tenant)) return 0;
    return tenant_find(d->state, tenant);
}

static void put_desired(struct decision *d, const struct command *cmd, const struct service *v,
                        enum service_desired desired) {
    struct rec_service *rec = &decide_record(d, REC_SERVICE, cmd)->body.as_REC_SERVICE;
    rec->head.tenant = bytes_slice(tenant_at(d->state, v->tenant)->name);
    rec->name = service_name(v);
    rec->desired = (uint8_t)desired;
}

/* Two records of one batch: a service is never left stopped by half a restart. It runs when the worker let it go. */
static enum err decide_restart(struct decision *d, const struct command *cmd, const struct service *v) {
    struct slice name = service_name(v);
    if (v->desired != SERVICE_RUNNING)
        return refuse(d, ERR_STATE, "service %.*s is not running: start it", SLICE_FMT(name));
    if (v->deployer)
        return refuse(d, ERR_STATE, "service %.*s is being deployed: a restart would cancel that", SLICE_FMT(name));
    put_desired(d, cmd, v, SERVICE_STOPPED);
    put_desired(d, cmd, v, SERVICE_RUNNING);
    return ERR_OK;
}

static enum err decide_one(struct decision *d, const struct command *cmd, const struct service *v) {
    const struct cmd_service *c = &cmd->as.service;
    struct slice name = service_name(v);
    if (c->restart) return decide_restart(d, cmd, v);
    if (v->desired == (uint8_t)c->desired) return ERR_OK; /* asked before; repeating it changes nothing */
    if (v->desired == SERVICE_REMOVED)
        return refuse(d, ERR_STATE, "service %.*s is being removed: deploy it again", SLICE_FMT(name));
    if (v->current.flow == 0)
        return refuse(d, ERR_STATE, "service %.*s has no version that was ever healthy", SLICE_FMT(name));
    put_desired(d, cmd, v, c->desired);
    return ERR_OK;
}

/* All replicas or none: what one of them refuses is refused for the set. The highest stops first. */
static enum err decide_set(struct decision *d, const struct command *cmd, uint32_t tenant) {
    const struct cmd_service *c = &cmd->as.service;
    bool known = false;
    for (uint32_t n = REPLICAS_MAX; tenant != 0 && n >= 1; n--) {
        uint32_t index = replica_find(d->state, tenant, c->name, n);
        if (index == 0) continue;
        known = true;
        enum err e = decide_one(d, cmd, service_at(d->state, index));
        if (e != ERR_OK) return e;
    }
    return known ? ERR_OK : refuse(d, ERR_NOT_FOUND, "there is no service %.*s", SLICE_FMT(c->name));
}

/* ---- scaling ---- */

struct set_members { /* of a set, as a change of their number finds them */
    uint32_t count, added;
    uint32_t from; /* the lowest that runs, 0 = none */
};

static enum err look_at_members(struct decision *d, const struct cmd_service *c, uint32_t tenant,
                                struct set_members *ret) {
    const struct state *s = d->state;
    uint8_t *at = arena_alloc(d->arena, c->name.len + REPLICA_SUFFIX_BYTES);
    for (uint32_t n = 1; tenant != 0 && n <= REPLICAS_MAX; n++) {
        uint32_t index = replica_find(s, tenant, c->name, n);
        const struct service *v = index ? service_at(s, index) : NULL;
        ret->count += v != NULL;
        if (v && v->deployer)
            return refuse(d, ERR_STATE, "service %.*s.%u is being deployed: scale %.*s when that is over",
                          SLICE_FMT(c->name), n, SLICE_FMT(c->name));
        if (v && ret->from == 0 && v->desired == SERVICE_RUNNING) ret->from = n;
        if (v || n > c->replicas) continue;
        ret->added++;
        index = service_find(s, tenant, replica_name(c->name, n, at));
        if (index && service_at(s, index)->current.flow)
            return refuse(d, ERR_STATE, "%.*s.%u is a service of its own: remove it before %.*s has so many replicas",
                          SLICE_FMT(c->name), n, SLICE_FMT(c->name));
    }
    return ERR_OK;
}

static enum err check_scale(struct decision *d, const struct cmd_service *c, uint32_t tenant,
                            const struct set_members *m) {
    const struct state *s = d->state;
    bool alone = tenant != 0 && service_find(s, tenant, c->name) != 0;
    if (m->count == 0 && alone)
        return refuse(d, ERR_STATE, "service %.*s has no replicas: deploy it with `replicas`", SLICE_FMT(c->name));
    if (m->count == 0) return refuse(d, ERR_NOT_FOUND, "there is no service %.*s", SLICE_FMT(c->name));
    if (c->replicas > d->limits->replicas_max)
        return refuse(d, ERR_LIMIT, "more than %lld replicas (replicas_max)", (long long)d->limits->replicas_max);
    if (m->added == 0) return ERR_OK;
    if (m->from == 0 || m->from > c->replicas)
        return refuse(d, ERR_STATE, "no replica of %.*s runs that a new one could be a copy of: start it first",
                      SLICE_FMT(c->name));
    if (s->services.count + m->added > d->limits->services_max)
        return refuse(d, ERR_BUSY, "there are %u services already (services_max)", s->services.count);
    if (s->flows.count + m->added > d->limits->flows_max)
        return refuse(d, ERR_BUSY, "there are %u flows already (flows_max)", s->flows.count);
    if (d->in->journal_free_bytes != UINT64_MAX &&
        s->reserved_bytes + (uint64_t)m->added * ATTEMPT_RECORD_BYTES > d->in->journal_free_bytes)
        return refuse(d, ERR_NO_SPACE, "the journal has no room for the records of %u more replicas", m->added);
    return ERR_OK;
}

static enum err decide_scale(struct decision *d, const struct command *cmd, uint32_t tenant) {
    const struct cmd_service *c = &cmd->as.service;
    struct set_members m = {0};
    enum err e = look_at_members(d, c, tenant, &m);
    if (e == ERR_OK) e = check_scale(d, c, tenant, &m);
    if (e != ERR_OK || (m.added == 0 && m.count == c->replicas)) return e; /* it is so already */
    struct rec_scaled *rec = &decide_record(d, REC_SCALED, cmd)->body.as_REC_SCALED;
    rec->head.tenant = bytes_slice(tenant_at(d->state, tenant)->name);
    rec->name = c->name;
    rec->replicas = c->replicas;
    rec->from = m.added ? m.from : 0;
    return ERR_OK;
}

enum err decide_service(struct decision *d, const struct command *cmd) {
    const struct cmd_service *c = &cmd->as.service;
    if ((unsigned)c->desired >= SERVICE_DESIRED_COUNT)
        return refuse(d, ERR_INVALID, "a service is to run, to stop or to be removed");
    enum err e = decide_name(d, c->name, "a service");
    if (e != ERR_OK) return e;
    uint32_t tenant = tenant_of(d, cmd);
    if (c->replicas) return decide_scale(d, cmd, tenant);
    uint32_t index = service_find(d->state, tenant, c->name);
    return index ? decide_one(d, cmd, service_at(d->state, index)) : decide_set(d, cmd, tenant);
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
    const struct health *h = service_version_health(s, v, j->flow);
    bool counts = h != NULL && run_at(s, j->link)->stop == STOP_NONE;
    if (!counts && !MUTANT(old_version_counts)) return ERR_OK;
    struct slice note = utf8_cut(c->note, (size_t)d->limits->reason_bytes_max);
    if (h != NULL && h->healthy == c->healthy && h->port == c->port && slice_eq(bytes_slice(h->note), note)) {
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
