/* deploy_log.c: see deploy_log.h. */
#include "deploy_log.h"

#include "server_impl.h"
#include "transfers.h"

struct deployed { /* a version, and the job that deploys it */
    flow_id version;
    struct job_ref job;
};

void deploy_log_init(struct server *s) {
    vec_init(&transfers_of(s)->deployed, sizeof(struct deployed));
}

void deploy_log_fini(struct server *s) {
    vec_fini(&transfers_of(s)->deployed);
}

static struct deployed *find(struct server *s, flow_id version) {
    for (uint32_t i = 0; i < transfers_of(s)->deployed.count; i++) {
        struct deployed *d = vec_at(&transfers_of(s)->deployed, i);
        if (d->version.v == version.v) return d;
    }
    return NULL;
}

/* Also lets go of versions that are no more, so the list is never longer than there are services. */
static void remember(struct server *s, flow_id version, struct job_ref job) {
    struct vec *all = &transfers_of(s)->deployed;
    struct flow_view ignored;
    for (uint32_t i = 0; i < all->count;) {
        struct deployed *d = vec_at(all, i);
        if (d->version.v != version.v && view_flow(server_state(s), d->version, &ignored))
            i++;
        else
            *d = *(struct deployed *)vec_at(all, --all->count);
    }
    *(struct deployed *)vec_push(all) = (struct deployed){version, job};
}

void deploy_log_assigned(struct server *s, flow_id flow) {
    struct flow_view f;
    struct service_view v;
    if (!view_has_services(server_state(s))) return; /* asked for each attempt, and most servers have none */
    if (!view_is_of_service(server_state(s), flow) || !view_flow(server_state(s), flow, &f)) return;
    if (!view_service(server_state(s), f.tenant, f.name, &v)) return;
    if (v.deploying && v.runner.flow.v == flow.v && find(s, flow) == NULL) remember(s, flow, v.deployer);
}

bool deploy_log_key(struct server *s, flow_id flow, struct log_key *ret) {
    struct job_view job;
    deploy_log_assigned(s, flow); /* before this server started, perhaps */
    const struct deployed *d = find(s, flow);
    if (d == NULL || !view_job(server_state(s), d->job, &job) || job.state == JOB_SUCCEEDED) return false;
    *ret = (struct log_key){.flow = d->job.flow.v, .shard = s->options.shard, .ordinal = d->job.ordinal};
    return true;
}
