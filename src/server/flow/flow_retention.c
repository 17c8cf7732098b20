/* flow_retention.c: see flow_retention.h. */
#include "flow_retention.h"

#include "history_writer.h"
#include "server_impl.h"

#define SWEEP_PER_PASS 1024u
#define SWEEP_EVERY_MS 3600000

static void init(struct shard *h, void *own) {
    struct flow_retention *x = own;
    (void)h;
    x->sweeping = true; /* logs let go before the last stop may be back */
}

static void step(struct shard *h, void *own) {
    struct flow_retention *x = own;
    struct server *s = h->server;
    struct command cmd = {.kind = CMD_PROJECTED};
    const struct observer *g = s->world.observer;
    uint64_t durable = engine_durable_lsn(server_shard(s)->engine);
    uint64_t projected = g != NULL ? g->projected(g->ctx) : history_writer_durable(s);
    if (projected < durable) durable = projected;
    if (durable <= x->told_lsn) return;
    cmd.as.lsn = x->told_lsn = durable;
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
static void flush(struct shard *h, void *own) {
    struct flow_retention *x = own;
    struct server *s = h->server;
    if (!x->sweeping && s->now_ms >= x->sweep_ms) x->sweeping = true;
    if (!x->sweeping || engine_durable_lsn(server_shard(s)->engine) < engine_lsn(server_shard(s)->engine)) return;
    if (!joblogs_sweep(s->store.logs, &x->sweep_at, SWEEP_PER_PASS, keeps, s)) return;
    x->sweeping = false;
    x->sweep_at = 0;
    x->sweep_ms = s->now_ms + SWEEP_EVERY_MS;
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct flow_retention *x = own;
    return x->sweeping ? h->server->now_ms : x->sweep_ms;
}

const struct server_part flow_retention_part = {.name = "flow_retention",
                                                .scope = PART_OF_SHARD,
                                                .bytes = sizeof(struct flow_retention),
                                                .wakes = PART_WAKES_WITH_STATE | PART_WAKES_WITH_FDS,
                                                .init = init,
                                                .step = step,
                                                .flush = flush,
                                                .next_due = next_due};
