/* nemesis.c: see nemesis.h. */
#include "nemesis.h"

#include "world.h"

/* A fault that comes again and again: after a gap around the mean, `strike` is called and the next gap is drawn. */
struct plague {
    int64_t (*mean_ms)(const struct sim_plan *p);
    void (*strike)(struct world *w);
};

static struct workerhost *any_worker(struct world *w) {
    return &w->workers[rng_below(&w->rng, (uint32_t)w->plan.workers)];
}

/* Often short, often around a lease: shortly before and after its end is where the promises are. */
static int64_t pause_ms(struct world *w) {
    int64_t lease_ms = w->plan.lease_ms;
    if (rng_below(&w->rng, 2)) return 1 + rng_skewed(&w->rng, lease_ms * 3);
    return rng_range(&w->rng, lease_ms / 2, lease_ms * 5 / 2);
}

static void heal_net(void *ctx, uint64_t arg) {
    struct world *w = ctx;
    (void)arg;
    simnet_heal(&w->net);
    WORLD_NOTE(w, 83, 0, 0, "net: whole again");
}

static void strike_partition(struct world *w) {
    simnet_part(&w->net);
    WORLD_NOTE(w, 84, 0, 0, "net: parted");
    equeue_in(&w->queue, pause_ms(w) * 1000, heal_net, w, 0);
}

static void strike_kill(struct world *w) {
    if (rng_below(&w->rng, 4) == 0)
        serverhost_stop(&w->server);
    else
        serverhost_crash(&w->server, CRASH_KILL);
}

static void strike_power(struct world *w) {
    serverhost_crash(&w->server, CRASH_POWER);
}

static void strike_freeze(struct world *w) {
    serverhost_freeze(&w->server, pause_ms(w));
}

static void strike_jump(struct world *w) {
    int64_t most = rng_below(&w->rng, 4) == 0 ? 86400000 : 20000;
    w->wall_jump_ms += rng_range(&w->rng, -most, most);
    if (w->wall_jump_ms > w->wall_jump_most_ms) w->wall_jump_most_ms = w->wall_jump_ms;
    WORLD_NOTE(w, 85, w->wall_jump_ms, 0, "clock: jumps to %+ld ms", (long)w->wall_jump_ms);
}

static void empty_disk(void *ctx, uint64_t arg) {
    struct world *w = ctx;
    (void)arg;
    simdisk_budget_set(w->server.disk, UINT64_MAX);
    WORLD_NOTE(w, 86, 0, 0, "disk: has room again");
}

static void strike_full(struct world *w) {
    simdisk_budget_set(w->server.disk, simdisk_used(w->server.disk) + (uint64_t)rng_skewed(&w->rng, 100000));
    WORLD_NOTE(w, 87, 0, 0, "disk: full");
    equeue_in(&w->queue, pause_ms(w) * 1000, empty_disk, w, 0);
}

static void strike_snapshot(struct world *w) {
    serverhost_compact(&w->server);
}

static void strike_digest(struct world *w) {
    serverhost_compare(&w->server);
}

static void strike_history(struct world *w) {
    serverhost_history(&w->server, (uint64_t)rng_skewed(&w->rng, 200));
}

static void strike_worker_kill(struct world *w) {
    struct workerhost *v = any_worker(w);
    workerhost_kill(v, pause_ms(w), rng_below(&w->rng, 4) == 0);
}

static void strike_worker_drain(struct world *w) {
    workerhost_drain(any_worker(w));
}

static void strike_worker_stop(struct world *w) {
    workerhost_stop(any_worker(w), pause_ms(w));
}

static void strike_machine_stop(struct world *w) {
    workerhost_stop_machine(any_worker(w), pause_ms(w));
}

#define PLAGUE_TABLE(X) \
    X(partition)        \
    X(kill)             \
    X(power)            \
    X(freeze)           \
    X(jump)             \
    X(full)             \
    X(snapshot)         \
    X(digest)           \
    X(history)          \
    X(worker_kill)      \
    X(worker_drain)     \
    X(worker_stop)      \
    X(machine_stop)

#define X(name)                                            \
    static int64_t mean_##name(const struct sim_plan *p) { \
        return p->name##_ms;                               \
    }
PLAGUE_TABLE(X)
#undef X

static const struct plague plagues[] = {
#define X(name) {mean_##name, strike_##name},
    PLAGUE_TABLE(X)
#undef X
};
#define PLAGUE_COUNT (sizeof plagues / sizeof plagues[0])

static void strike(void *ctx, uint64_t which);

static void plan_next(struct world *w, uint64_t which) {
    int64_t mean = plagues[which].mean_ms(&w->plan);
    if (mean == 0) return;
    equeue_in(&w->queue, rng_range(&w->rng, mean / 4, mean * 2) * 1000, strike, w, which);
}

static void strike(void *ctx, uint64_t which) {
    struct world *w = ctx;
    bool goes_on = plagues[which].strike == strike_snapshot || plagues[which].strike == strike_digest ||
                   plagues[which].strike == strike_history;
    if (w->quiet && !goes_on) return;
    plagues[which].strike(w);
    plan_next(w, which);
}

static void disk_chances(struct world *w) {
    const struct sim_plan *p = &w->plan;
    simdisk_chances_set(w->server.disk, &(struct simdisk_chances){
                                            .read_short_ppm = (uint32_t)p->short_ppm,
                                            .write_error_ppm = (uint32_t)p->write_error_ppm,
                                            .write_short_ppm = (uint32_t)p->short_ppm,
                                            .sync_error_ppm = (uint32_t)p->sync_error_ppm,
                                            .slow_ppm = (uint32_t)p->slow_ppm,
                                            .slow_ms_max = 200,
                                        });
}

void nemesis_start(struct world *w) {
    disk_chances(w);
    for (uint64_t i = 0; i < PLAGUE_COUNT; i++) plan_next(w, i);
}

void nemesis_end(struct world *w) {
    plan_calm(&w->plan);
    disk_chances(w);
    simdisk_budget_set(w->server.disk, UINT64_MAX);
    simnet_heal(&w->net);
    simnet_calm(&w->net);
    for (uint32_t i = 0; i < w->plan.workers; i++) workerhost_calm(&w->workers[i]);
}
