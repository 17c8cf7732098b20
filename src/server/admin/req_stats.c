/* req_stats.c: the numbers of the server: taken when they are asked for, told when what they say is durable. */
#include "blob.h"
#include "blob_gc.h"
#include "call.h"
#include "history_writer.h"
#include "metric.h"
#include "playground.h"
#include "requests.h"
#include "server_impl.h"
#include "subscribers.h"

static void add_worker(void *ctx, const struct worker_view *w) {
    struct sample *x = ctx;
    if (!w->attached) return;
    x->workers_attached++;
    x->slots += w->info->slots;
    x->slots_used += w->active;
}

static void take_stores(struct server *s, struct sample *ret) {
    struct packs_stats blobs, logs;
    struct history_stats past = {0};
    blobs_stats(s->store.blobs, &blobs);
    joblogs_stats(s->store.logs, &logs);
    if (s->world.history != NULL) s->world.history->ops->stats(s->world.history, &past);
    ret->blob_bytes = blobs.file_bytes;
    ret->log_bytes = logs.file_bytes;
    ret->blobs_swept = blob_gc_of(s)->total_dropped;
    ret->history_flows = past.flows;
    ret->history_bytes = past.bytes;
    ret->history_lsn = past.lsn;
    ret->history_lag = history_writer_lag(s);
    struct checkpoint checkpoint = view_checkpoint(server_state(s));
    uint64_t durable = engine_durable_lsn(server_shard(s)->engine);
    ret->audit_unsigned = durable - (checkpoint.upto_lsn < durable ? checkpoint.upto_lsn : durable);
    if (s->is_forwarding) ret->audit_forward_lag = durable - (s->forward_lsn < durable ? s->forward_lsn : durable);
    ret->audit_forward_failing = s->is_forward_bad;
    ret->audit_forward_failures = s->forward_failures;
    ret->history_rebuilding = s->world.history != NULL && past.state != HISTORY_WHOLE;
}

static void take_process(struct server *s, struct sample *ret) {
    const struct wire_recovery *recovery = &playground_of(s)->recovery;
    int64_t apart_ms = shard_clock_apart(server_shard(s));
    ret->clock_apart_s = (uint64_t)(apart_ms < 0 ? -apart_ms : apart_ms) / 1000u;
    ret->clock_steps = server_shard(s)->clock_steps;
    ret->accepting_work = server_unready(s) == NULL;
    ret->followers = subscribers_of(s)->followers.count;
    ret->dropped_events = subscribers_of(s)->dropped;
    ret->recovery_records = recovery->records;
    ret->recovery_adopted = recovery->attempts_adopted;
    ret->recovery_again = recovery->attempts_again;
    ret->recovery_lost = recovery->lost;
}

void sample_take(struct server *s, struct sample *ret) {
    const struct state *state = server_state(s);
    *ret = (struct sample){.lsn = engine_lsn(server_shard(s)->engine),
                           .epoch = server_shard(s)->epoch,
                           .reopens = server_shard(s)->generation - 1,
                           .connections = s->sessions.count,
                           .calls = server_shard(s)->calls.count,
                           .requests = s->request_count,
                           .busy = s->busy_count,
                           .syncs = server_shard(s)->append.sync_count,
                           .room_bytes = shard_room(server_shard(s))};
    view_counts(state, engine_live(server_shard(s)->engine), &ret->counts);
    view_ready_blocks(state, engine_live(server_shard(s)->engine), s->limits, ret->blocks);
    view_each_worker(state, engine_live(server_shard(s)->engine), add_worker, ret);
    memcpy(ret->tally, view_tally(state), sizeof ret->tally);
    memcpy(ret->sync, server_shard(s)->append.sync, sizeof ret->sync);
    for (const struct dialect_ops *const *d = server_dialects; *d != NULL; d++)
        if ((*d)->measure != NULL) (*d)->measure(s, ret);
    take_stores(s, ret);
    take_process(s, ret);
    const uint64_t *now = ret->counts.by_state, *all = ret->tally + TALLY_ENTERED;
    ret->queued = now[JOB_WAITING] + now[JOB_HELD] + now[JOB_READY];
    ret->sagas_open = ret->tally[TALLY_SAGAS] - ret->tally[TALLY_SAGAS_DONE];
    for (uint32_t i = JOB_FAILED; i < JOB_STATE_COUNT; i++) ret->ended_badly += all[i];
}

struct own_workers {
    struct slice tenant;
    uint64_t known, attached, slots, used;
};

static void add_own_worker(void *ctx, const struct worker_view *w) {
    struct own_workers *x = ctx;
    if (w->info->tenant.len > 0 && !slice_eq(w->info->tenant, x->tenant)) return;
    x->known++;
    if (!w->attached) return;
    x->attached++;
    x->slots += w->info->slots;
    x->used += w->active;
}

/* What one tenant may hear: the numbers of its own that are kept anyway. All others are of all tenants together. */
static struct tlv_list stats_of_tenant(struct server *s, struct slice tenant, struct arena *arena) {
    struct own_workers workers = {.tenant = tenant};
    struct limit_view jobs = {0};
    view_each_worker(server_state(s), engine_live(server_shard(s)->engine), add_own_worker, &workers);
    (void)view_limit(server_state(s), tenant, LIMIT_TENANT, SLICE(""), &jobs);
    const struct wire_amount all[] = {
        {SLICE("jobs_open"), jobs.queued},        {SLICE("attempts_open"), jobs.running},
        {SLICE("workers"), workers.known},        {SLICE("workers_attached"), workers.attached},
        {SLICE("slots"), workers.slots},          {SLICE("slots_used"), workers.used},
        {SLICE("epoch"), server_shard(s)->epoch},
    };
    struct wire_amount *list = ARENA_ARRAY(arena, struct wire_amount, sizeof all / sizeof all[0]);
    memcpy(list, all, sizeof all);
    return (struct tlv_list){list, sizeof all / sizeof all[0]};
}

HANDLER(req_stats) {
    struct sample now;
    struct slice tenant = slice_str(r->session->who.tenant);
    struct wire_stats got = {.lsn = engine_lsn(server_shard(s)->engine)};
    if (tenant.len == 0) sample_take(s, &now);
    got.numbers = tenant.len == 0 ? metric_stats(&now, r->arena) : stats_of_tenant(s, tenant, r->arena);
    call_show(s, r, WIRE_NUMBERS, &got);
}

HANDLER(req_metrics) {
    struct sample now;
    struct buf text;
    sample_take(s, &now);
    buf_init(&text, WIRE_METRICS_MAX);
    metric_expose(&now, &text);
    struct wire_metrics got = {.lsn = now.lsn, .text = buf_slice(&text)};
    call_show(s, r, WIRE_EXPOSED, &got);
    buf_fini(&text);
}
