/* flow_retention.c: see flow_retention.h. */
#include "flow_retention.h"

#include "server_impl.h"

#define SWEEP_PER_PASS 1024u
#define SWEEP_EVERY_MS 3600000

void flow_retention_init(struct server *s) {
    s->flow_retention.sweeping = true; /* logs let go before the last stop may be back */
}

void flow_retention_step(struct server *s) {
    struct command cmd = {.kind = CMD_PROJECTED};
    const struct observer *g = s->world.observer;
    uint64_t durable = engine_durable_lsn(s->engine);
    uint64_t projected = g != NULL ? g->projected(g->ctx) : history_writer_durable(s);
    if (projected < durable) durable = projected;
    if (durable <= s->flow_retention.told_lsn) return;
    cmd.as.lsn = s->flow_retention.told_lsn = durable;
    server_command(s, (conn_id){0}, 0, &cmd);
}

static bool keeps(void *ctx, const struct log_key *key) {
    struct server *s = ctx;
    struct flow_view v;
    struct job_view job;
    bool known = key->shard == s->options.shard && view_flow(server_state(s), (flow_id){key->flow}, &v);
    bool served = known && v.of_service && view_job(server_state(s), (struct job_ref){v.id, key->ordinal}, &job);
    if (served) return key->attempt + FLOW_RETENTION_SERVICE_LOGS > job.attempt;
    return known || history_writer_keeps_log(s, key->flow);
}

/* Only when the present state is durable: after a crash a flow might be back, and its logs would not. */
void flow_retention_sweep(struct server *s) {
    struct flow_retention *x = &s->flow_retention;
    if (!x->sweeping && s->now_ms >= x->sweep_ms) x->sweeping = true;
    if (!x->sweeping || engine_durable_lsn(s->engine) < engine_lsn(s->engine)) return;
    if (!joblogs_sweep(s->store.logs, &x->sweep_at, SWEEP_PER_PASS, keeps, s)) return;
    x->sweeping = false;
    x->sweep_at = 0;
    x->sweep_ms = s->now_ms + SWEEP_EVERY_MS;
}

int64_t flow_retention_next(struct server *s) {
    return s->flow_retention.sweeping ? s->now_ms : s->flow_retention.sweep_ms;
}
