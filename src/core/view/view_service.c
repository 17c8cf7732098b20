/* view_service.c: reading services, and the one reason why one is not running. See view.h. */
#include "flow.h"
#include "live.h"
#include "panic.h"
#include "registry.h"
#include "service.h"
#include "view.h"

static const struct job *runner_of(const struct state *s, uint32_t flow) {
    REQUIRE(flow_at(s, flow)->jobs.count == 1);
    return job_at(s, flow_at(s, flow)->jobs.at[SERVICE_RUNNER]);
}

static void fill(const struct state *s, const struct service *v, struct service_view *ret) {
    REQUIRE(v->key != NULL);
    *ret = (struct service_view){.tenant = bytes_slice(tenant_at(s, v->tenant)->name),
                                 .name = service_name(v),
                                 .desired = v->desired,
                                 .version = v->current.number,
                                 .previous_version = v->previous.number,
                                 .deploying = v->deployer != 0,
                                 .healthy = v->healthy,
                                 .since = v->since,
                                 .port = v->port,
                                 .note = bytes_slice(v->note),
                                 .due = {TIME_NEVER},
                                 .versions = (const struct service_version *)(const void *)v->versions.at,
                                 .version_count = v->versions.count};
    if (v->deployer) ret->deployer = job_ref_of(s, job_at(s, v->deployer));
    if (v->current.flow == 0) return;
    const struct job *runner = runner_of(s, v->current.flow);
    ret->runner = job_ref_of(s, runner);
    ret->restarts = runner->used;
    if (runner->state == JOB_WAITING && runner->parents_open == 0) ret->due = runner->due;
}

bool view_service(const struct state *s, struct slice tenant, struct slice name, struct service_view *ret) {
    uint32_t index = service_find(s, tenant_find(s, tenant), name);
    if (index == 0) return false;
    fill(s, service_at(s, index), ret);
    return true;
}

void view_each_service(const struct state *s, view_service_fn each, void *ctx) {
    for (uint32_t i = 1; i <= s->services.high; i++) {
        if (service_at(s, i)->key == NULL) continue;
        struct service_view view;
        fill(s, service_at(s, i), &view);
        each(ctx, &view);
    }
}

uint32_t view_service_next(const struct state *s, uint32_t at, struct service_view *ret) {
    for (uint32_t i = at + 1; i <= s->services.high; i++) {
        if (service_at(s, i)->key == NULL) continue;
        fill(s, service_at(s, i), ret);
        return i;
    }
    return 0;
}

struct slice view_trouble(const struct state *s, struct job_ref deployer, struct arena *arena) {
    uint32_t job = job_find(s, deployer);
    if (job == 0 || job_at(s, job)->state != JOB_HELD) return (struct slice){0};
    const struct question *q = question_at(s, job_at(s, job)->link);
    return q->gate == GATE_SERVICE ? service_trouble(s, job, arena) : (struct slice){0};
}

/* A version whose process is being stopped, or 0. */
static uint32_t stopping_version(const struct state *s, const struct service *v) {
    const uint32_t versions[] = {v->retiring, v->previous.flow, v->current.flow};
    for (uint32_t i = 0; i < 3; i++) {
        if (versions[i] == 0 || !job_state_is_active(runner_of(s, versions[i])->state)) continue;
        if (run_at(s, runner_of(s, versions[i])->link)->stop != STOP_NONE) return versions[i];
    }
    return 0;
}

bool view_why_service(const struct state *s, const struct live *l, const struct limits *limits, struct slice tenant,
                      struct slice name, struct why_job *ret) {
    uint32_t index = service_find(s, tenant_find(s, tenant), name);
    if (index == 0) return false;
    const struct service *v = service_at(s, index);
    uint32_t stopping = stopping_version(s, v);
    uint32_t flow = stopping ? stopping : v->current.flow;
    *ret = (struct why_job){.block = BLOCK_STOPPED, .until = {TIME_NEVER}};
    if (!stopping && v->desired != SERVICE_RUNNING) return true;
    if (flow == 0) return true;
    (void)view_why(s, l, limits, job_ref_of(s, runner_of(s, flow)), ret);
    if (ret->block == BLOCK_NOTHING && !v->healthy) ret->block = BLOCK_HEALTH;
    return true;
}
