/* flow_retention.c: see flow_retention.h. */
#include "flow_retention.h"

#include "server_impl.h"

#define SWEEP_PER_PASS 1024u
#define SWEEP_EVERY_MS 3600000

void retain_init(struct server *s) {
    s->retain.sweeping = true; /* logs let go before the last stop may be back */
}

void retain_turn(struct server *s) {
    struct command cmd = {.kind = CMD_PROJECTED};
    const struct guest *g = s->world.guest;
    uint64_t durable = engine_durable_lsn(s->engine);
    uint64_t projected = g != NULL ? g->projected(g->ctx) : project_durable(s);
    if (projected < durable) durable = projected;
    if (durable <= s->retain.told_lsn) return;
    cmd.as.lsn = s->retain.told_lsn = durable;
    server_command(s, (conn_id){0}, 0, &cmd);
}

static bool keeps(void *ctx, const struct log_key *key) {
    struct server *s = ctx;
    struct flow_view v;
    struct job_view job;
    bool known = key->shard == s->options.shard && view_flow(server_state(s), (flow_id){key->flow}, &v);
    bool served = known && v.of_service && view_job(server_state(s), (struct job_ref){v.id, key->ordinal}, &job);
    if (served) return key->attempt + RETAIN_SERVICE_LOGS > job.attempt;
    return known || project_keeps_log(s, key->flow);
}

/* Only when the present state is durable: after a crash a flow might be back, and its logs would not. */
void retain_sweep(struct server *s) {
    struct retain *x = &s->retain;
    if (!x->sweeping && s->now_ms >= x->sweep_ms) x->sweeping = true;
    if (!x->sweeping || engine_durable_lsn(s->engine) < engine_lsn(s->engine)) return;
    if (!joblogs_sweep(s->vault.logs, &x->sweep_at, SWEEP_PER_PASS, keeps, s)) return;
    x->sweeping = false;
    x->sweep_at = 0;
    x->sweep_ms = s->now_ms + SWEEP_EVERY_MS;
}

int64_t retain_next(struct server *s) {
    return s->retain.sweeping ? s->now_ms : s->retain.sweep_ms;
}
