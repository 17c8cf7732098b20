/* plan.c: see plan.h. */
#include "sim_plan.h"

#include <inttypes.h>

#include "rng.h"

#define RAM_STREAM 0xda600u

static int64_t maybe(struct rng *r, uint32_t percent, int64_t least, int64_t most) {
    bool on = rng_chance(r, PERCENT(percent));
    int64_t value = rng_range(r, least, most); /* drawn in any case: a coin moves no other draw */
    return on ? value : 0;
}

static void draw_size(struct sim_plan *p, struct rng *r) {
    p->workers = 2 * rng_range(r, 1, PLAN_WORKERS_MAX / 2); /* some for each tenant */
    p->clients = rng_range(r, 1, PLAN_CLIENTS_MAX);
    p->jobs = rng_range(r, 10, 150);
    p->flow_jobs = rng_range(r, 1, 40);
    p->faulty_ms = rng_range(r, 2000, 20000);
    p->large = rng_below(r, 50) == 0;
    if (rng_below(r, 20) == 0) {
        p->jobs = 600;
        p->flow_jobs = 300;
    }
    p->meddle = rng_range(r, 10, 70);
}

static void draw_net(struct sim_plan *p, struct rng *r) {
    p->net_us = rng_range(r, 50, 5000);
    p->drop_ppm = maybe(r, 50, 200, 20000);
    p->late_ppm = maybe(r, 50, 1000, 30000);
    p->late_ms = rng_range(r, 10, 3 * p->lease_ms);
    p->partition_ms = maybe(r, 40, 1000, 8000);
}

static void draw_server(struct sim_plan *p, struct rng *r) {
    p->kill_ms = maybe(r, 50, 500, 6000);
    p->power_ms = maybe(r, 50, 500, 6000);
    p->effect_crash_ppm = maybe(r, 50, 200, 8000);
    p->append_crash_ppm = maybe(r, 40, 1000, 20000);
    p->freeze_ms = maybe(r, 25, 1000, 8000);
    p->jump_ms = maybe(r, 30, 500, 6000);
    p->append_us = rng_range(r, 50, 8000);
    p->slow_ppm = maybe(r, 30, 1000, 30000);
    p->short_ppm = maybe(r, 40, 1000, 100000);
    p->write_error_ppm = maybe(r, 15, 100, 2000);
    p->sync_error_ppm = maybe(r, 25, 200, 8000);
    p->full_ms = maybe(r, 20, 1000, 8000);
    p->segment_kib = 256 << rng_below(r, 3);
    if (p->full_ms != 0) p->segment_kib = 256; /* it is the next segment that finds no room */
    if (p->large) p->segment_kib = 4096;
    p->snapshot_ms = maybe(r, 70, 200, 5000);
    p->digest_ms = rng_range(r, 1000, 8000);
}

static void draw_workers(struct sim_plan *p, struct rng *r) {
    p->worker_kill_ms = maybe(r, 50, 500, 8000);
    p->worker_stop_ms = maybe(r, 35, 500, 8000);
    p->machine_stop_ms = maybe(r, 10, 2000, 10000);
    p->worker_drain_ms = maybe(r, 30, 1000, 10000);
}

static void draw_limits(struct sim_plan *p, struct rng *r) {
    struct limits *l = &p->limits;
    limits_default(l);
    l->batch_bytes_max = 1 << 20;
    l->submit_bytes_max = 1 << 19;
    l->lease_ms = p->lease_ms;
    l->heartbeat_ms = p->lease_ms / rng_range(r, 3, 8);
    l->dispatch_timeout_ms = rng_range(r, 200, 4000);
    l->kill_grace_ms = rng_range(r, 0, 200);
    l->stop_confirm_ms = rng_range(r, 1000, 5000);
    l->approval_ms = rng_range(r, 1000, 60000);
    l->policy_retry_ms = rng_range(r, 100, 2000);
    l->idempotency_ms = rng_chance(r, PERCENT(30)) ? rng_range(r, 1000, 10000) : 86400000;
    l->overload_slots_percent = rng_chance(r, PERCENT(70)) ? 90 : 50;
    l->vault_reserve_bytes = 0;
    l->pack_bytes = 1 << rng_range(r, 16, 20);
}

/* From a stream of its own: half of all seeds stay what they were before there were schedules and a history. */
static void draw_schedules(struct sim_plan *p) {
    struct rng r;
    struct limits *l = &p->limits;
    rng_init(&r, p->seed ^ 0x5c4edu);
    p->schedules = maybe(&r, 50, 5, 40);
    p->history_ms = p->schedules ? maybe(&r, 60, 100, 2000) : 0;
    l->retention_ms = rng_range(&r, 0, 3000);
    l->dead_letter_ms = rng_range(&r, 3000, 30000);
    l->schedule_catch_up_max = rng_range(&r, 0, 5);
    l->schedule_waiting_max = rng_range(&r, 1, 6);
    l->schedule_slots_max = rng_range(&r, 6, 40);
    l->schedule_late_ms = rng_range(&r, 100, 3000);
    l->schedule_retry_ms = rng_range(&r, 20, 1000);
}

static void draw_memos(struct sim_plan *p) {
    struct rng r;
    rng_init(&r, p->seed ^ 0x3e30u);
    p->memos = maybe(&r, 50, 10, 90);
    p->limits.memo_ms = rng_range(&r, 500, 10000);
    p->limits.memo_tenant_max = rng_chance(&r, PERCENT(50)) ? rng_range(&r, 0, 5) : 100;
}

static void draw_replicas(struct sim_plan *p) {
    struct rng r;
    rng_init(&r, p->seed ^ 0x7e911ca5u);
    p->replicas = p->services ? maybe(&r, 50, 20, 80) : 0;
}

static void draw_triggers(struct sim_plan *p) {
    struct rng r;
    rng_init(&r, p->seed ^ 0x74716765u);
    p->triggers = maybe(&r, 40, 10, 80);
}

static void draw_stages(struct sim_plan *p) {
    struct rng r;
    rng_init(&r, p->seed ^ 0xf17a1eu);
    p->stages = maybe(&r, 40, 10, 80);
}

/* A flow waits for its file, so a seed without them stays what it was. Blobs that nothing names leave soon then. */
static void draw_sources(struct sim_plan *p) {
    struct rng r;
    rng_init(&r, p->seed ^ 0xf11eu);
    p->sources = maybe(&r, 30, 10, 80);
    if (p->sources == 0) return;
    p->limits.blob_sweep_ms = rng_range(&r, 50, 1000);
    p->limits.blob_grace_ms = rng_range(&r, 500, 2000);
}

static void draw_checkpoints(struct sim_plan *p) {
    struct rng r;
    rng_init(&r, p->seed ^ 0xc4ecu);
    p->checkpoint_ms = maybe(&r, 30, 50, 2000);
}

/* The others: three of four seeds stay what they were before anybody meant harm. */
static void draw_hostile(struct sim_plan *p) {
    struct rng r;
    rng_init(&r, p->seed ^ 0x405711eu);
    p->hostile_ms = maybe(&r, 25, 5, 300);
}

/* A quarter of the seeds; of those that were red once, none: the number was chosen so. */
static void draw_journal(struct sim_plan *p) {
    struct rng r;
    rng_init(&r, p->seed ^ RAM_STREAM);
    p->ram = maybe(&r, 25, 1, 1);
    p->lost_ppm = rng_range(&r, 500, 20000);
    if (!p->ram) p->lost_ppm = 0;
}

void plan_draw(struct sim_plan *p, uint64_t seed) {
    struct rng r;
    rng_init(&r, seed);
    *p = (struct sim_plan){.seed = seed};
    p->lease_ms = rng_range(&r, 300, 3000);
    draw_size(p, &r);
    draw_net(p, &r);
    draw_server(p, &r);
    draw_workers(p, &r);
    draw_limits(p, &r);
    rng_init(&r, seed ^ 0x570e); /* its own stream: older seeds keep their meaning */
    p->store = maybe(&r, 60, 10, 90);
    p->keys = maybe(&r, 60, 10, 80);
    p->services = maybe(&r, 50, 10, 70);
    p->policy_ms = maybe(&r, 50, 300, 5000);
    rng_init(&r, seed ^ 0xf0e);
    p->foreach = maybe(&r, 60, 5, 60);
    draw_schedules(p);
    draw_triggers(p);
    draw_stages(p);
    draw_replicas(p);
    draw_memos(p);
    draw_sources(p);
    draw_checkpoints(p);
    draw_hostile(p);
    draw_journal(p);
}

void plan_calm(struct sim_plan *p) {
    p->drop_ppm = p->late_ppm = p->partition_ms = 0;
    p->kill_ms = p->power_ms = p->effect_crash_ppm = p->append_crash_ppm = p->freeze_ms = p->jump_ms = 0;
    p->slow_ppm = p->short_ppm = p->write_error_ppm = p->sync_error_ppm = p->full_ms = 0;
    p->worker_kill_ms = p->worker_stop_ms = p->machine_stop_ms = p->worker_drain_ms = 0;
    p->meddle = p->lost_ppm = 0;
}

void plan_print(const struct sim_plan *p, FILE *to) {
    fprintf(to, "plan: seed=%" PRIu64, p->seed);
#define X(name, text) \
    if (p->name != 0) fprintf(to, " %s=%" PRId64, #name, p->name);
    PLAN_TABLE(X)
#undef X
    fprintf(to, "\n");
}
