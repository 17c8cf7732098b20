/* workerhost.c: see workerhost.h. */
#include "workerhost.h"

#include <stdio.h>

#include "panic.h"
#include "world.h"

#define OPENS_MAX 200u
#define REOPEN_US 20000
#define SPOOL_BYTES_MAX (1u << 20)

struct slice worker_name(struct arena *arena, uint32_t node) {
    char text[8];
    int len = snprintf(text, sizeof text, "w%u", node);
    return arena_slice(arena, slice_of(text, (size_t)len));
}

uint32_t worker_node(struct slice name) {
    if (name.len != 2 || name.ptr[0] != 'w') return 0; /* of nobody's whom the world knows */
    return (uint32_t)(name.ptr[1] - '0');
}

/* ---- time ---- */

static int64_t now_us(const struct workerhost *h) {
    return h->w->queue.now_us;
}

static struct workerhost *of_clock(struct clock *c) {
    return (struct workerhost *)(void *)((char *)c - offsetof(struct workerhost, clock));
}

static wall_time clock_wall(struct clock *c) {
    return world_true(of_clock(c)->w); /* each machine has its own; only the server's jumps */
}

static mono_time clock_mono(struct clock *c) {
    return world_mono(of_clock(c)->w);
}

static uint64_t clock_us(struct clock *c) {
    return (uint64_t)clock_mono(c).ms * 1000;
}

static uint64_t clock_random(struct clock *c) {
    return rng_u64(&of_clock(c)->rng);
}

static int64_t awake_us(const struct workerhost *h) {
    return h->stopped_until_us > h->machine_until_us ? h->stopped_until_us : h->machine_until_us;
}

bool workerhost_is_still(const struct workerhost *h) {
    return awake_us(h) > now_us(h);
}

/* ---- passes ---- */

static void pass(void *ctx, uint64_t life);

static void plan_pass(struct workerhost *h, int64_t at_us) {
    if (at_us < now_us(h)) at_us = now_us(h);
    if (h->pass_at_us != 0 && h->pass_at_us <= at_us) return;
    h->pass_at_us = at_us;
    equeue_at(&h->w->queue, at_us, pass, h, h->life);
}

void workerhost_wake(struct workerhost *h) {
    if (h->agent != NULL) plan_pass(h, now_us(h) + rng_range(&h->rng, 0, 200));
}

static void on_wake(void *ctx) {
    workerhost_wake(ctx);
}

static void come_back(void *ctx, uint64_t life) {
    struct workerhost *h = ctx;
    if (h->agent == NULL && life == h->life) workerhost_start(h);
}

/* The process is gone, whatever it was doing. */
static void gone(struct workerhost *h, int64_t away_us, bool power) {
    simproc_die(&h->proc);
    simnet_down(&h->w->net, h->node, !power);
    if (h->agent != NULL) agent_close(h->agent);
    h->agent = NULL;
    if (power)
        simdisk_crash(h->disk, (enum simdisk_crash_policy)rng_below(&h->rng, 4));
    else
        simdisk_kill(h->disk);
    h->stopped_until_us = 0;
    h->pass_at_us = 0;
    h->life++;
    equeue_in(&h->w->queue, away_us, come_back, h, h->life);
}

static void pass(void *ctx, uint64_t life) {
    struct workerhost *h = ctx;
    if (h->agent == NULL || life != h->life || now_us(h) < h->pass_at_us) return;
    if (workerhost_is_still(h)) {
        h->pass_at_us = 0;
        plan_pass(h, awake_us(h));
        return;
    }
    h->pass_at_us = 0;
    agent_pass(h->agent);
    if (agent_is_over(h->agent)) {
        WORLD_NOTE(h->w, h->node, 88, 0, "worker %u: drained", h->node);
        gone(h, rng_range(&h->rng, 1000, h->w->plan.lease_ms * 2000), false);
        return;
    }
    mono_time next = agent_next(h->agent);
    int64_t at_us = next.ms == TIME_NEVER ? INT64_MAX : world_us_of(next.ms);
    if (at_us <= now_us(h)) at_us = now_us(h) + 100;
    if (at_us != INT64_MAX) plan_pass(h, at_us);
}

/* ---- life and death ---- */

static uint32_t cpu_percent(void *ctx) {
    struct workerhost *h = ctx;
    return rng_below(&h->rng, 101);
}

static void log_line(void *ctx, const char *line) {
    struct workerhost *h = ctx;
    WORLD_NOTE(h->w, h->node, 89, 0, "worker %u: %s", h->node, line);
}

static void options_of(const struct workerhost *h, struct agent_options *o) {
    const struct worker_info *info = &h->info;
    *o = (struct agent_options){.server = "server",
                                .token = world_token(h->w, h->name, (const char *)info->tenant.ptr),
                                .name = h->name,
                                .build = "sim",
                                .pool = (const char *)info->pool.ptr,
                                .slots = info->slots,
                                .cpu_milli = info->cpu_milli,
                                .gpus = info->gpus,
                                .memory_bytes = info->memory_bytes,
                                .permanent = info->permanent,
                                .spool_bytes_max = SPOOL_BYTES_MAX,
                                .limits = h->w->plan.limits,
                                .cpu_percent = cpu_percent,
                                .log = log_line};
    union {
        const struct workerhost *from;
        void *to;
    } ctx = {.from = h};
    o->ctx = ctx.to;
    for (uint32_t i = 0; i < info->capabilities.count; i++) o->capabilities[i] = (const char *)h->caps[i].name.ptr;
    for (uint32_t i = 0; i < info->labels.count; i++)
        o->labels[i] = (struct agent_pair){(const char *)h->labels[i].key.ptr, (const char *)h->labels[i].value.ptr};
    if (info->resources.count > 0)
        o->resources[o->resource_count++] =
            (struct agent_amount){(const char *)h->resource.name.ptr, h->resource.amount};
    o->capability_count = info->capabilities.count;
    o->label_count = info->labels.count;
}

void workerhost_start(struct workerhost *h) {
    struct why why = {{0}};
    struct agent_options o;
    REQUIRE(h->agent == NULL);
    h->life++;
    options_of(h, &o);
    struct net *net = simnet_port(&h->w->net, h->node, on_wake, h);
    struct agent_world world = {&h->clock, simdisk_disk(h->disk), &h->space.space, net, &h->proc.proc};
    enum err e = agent_open(&world, &o, &h->agent, &why);
    WORLD_NOTE(h->w, h->node, 80, e, "worker %u: starts: %s %s", h->node, err_word(e), why.text);
    if (e != ERR_OK) {
        h->agent = NULL;
        h->refused_opens++;
        if (e != ERR_IO || h->refused_opens > OPENS_MAX)
            world_red(h->w, "worker", "worker %u does not start: %s: %s", h->node, err_word(e), why.text);
        simdisk_kill(h->disk);
        equeue_in(&h->w->queue, REOPEN_US, come_back, h, h->life);
        return;
    }
    h->refused_opens = 0;
    ENSURE(agent_incarnation(h->agent) > h->incarnation);
    h->incarnation = agent_incarnation(h->agent);
    simnet_up(&h->w->net, h->node);
    plan_pass(h, now_us(h) + 1);
}

void workerhost_kill(struct workerhost *h, int64_t away_ms, bool power) {
    if (h->agent == NULL || h->machine_until_us > now_us(h)) return;
    WORLD_NOTE(h->w, h->node, 81, away_ms, "worker %u: %s for %ld ms", h->node, power ? "loses power" : "is killed",
               (long)away_ms);
    simdisk_gone(h->disk);
    gone(h, away_ms * 1000, power);
}

void workerhost_drain(struct workerhost *h) {
    if (h->agent == NULL || workerhost_is_still(h)) return;
    agent_drain(h->agent);
    workerhost_wake(h);
}

static void wake(void *ctx, uint64_t life) {
    struct workerhost *h = ctx;
    if (h->agent == NULL || life != h->life || workerhost_is_still(h)) return;
    simproc_awake(&h->proc);
    workerhost_wake(h);
}

static void tell_machine(struct workerhost *h, bool paused) {
    struct trace_entry e = {.kind = TW_MACHINE,
                            .as.machine = {{(const uint8_t *)h->name, (uint32_t)strlen(h->name)}, paused}};
    adapter_judge(&h->w->adapter, &e);
}

static void machine_wakes(void *ctx, uint64_t life) {
    struct workerhost *h = ctx;
    if (h->machine_until_us > now_us(h)) return;
    tell_machine(h, false);
    wake(ctx, life);
}

void workerhost_stop(struct workerhost *h, int64_t ms) {
    if (h->agent == NULL || workerhost_is_still(h)) return;
    WORLD_NOTE(h->w, h->node, 82, ms, "worker %u: stands still for %ld ms", h->node, (long)ms);
    h->stopped_until_us = now_us(h) + ms * 1000;
    h->w->net.nodes[h->node].still_until_us = h->stopped_until_us;
    equeue_at(&h->w->queue, h->stopped_until_us, wake, h, h->life);
}

void workerhost_stop_machine(struct workerhost *h, int64_t ms) {
    if (h->agent == NULL || workerhost_is_still(h)) return;
    WORLD_NOTE(h->w, h->node, 82, ms, "worker %u: its machine stands still for %ld ms", h->node, (long)ms);
    h->machine_until_us = now_us(h) + ms * 1000;
    h->w->net.nodes[h->node].still_until_us = h->machine_until_us;
    tell_machine(h, true);
    equeue_at(&h->w->queue, h->machine_until_us, machine_wakes, h, h->life);
}

void workerhost_calm(struct workerhost *h) {
    const struct sim_plan *p = &h->w->plan;
    simdisk_chances_set(h->disk, &(struct simdisk_chances){.read_short_ppm = (uint32_t)p->short_ppm,
                                                           .write_error_ppm = (uint32_t)p->write_error_ppm,
                                                           .write_short_ppm = (uint32_t)p->short_ppm,
                                                           .sync_error_ppm = (uint32_t)p->sync_error_ppm});
}

bool workerhost_is_done(const struct workerhost *h) {
    return h->agent != NULL && agent_held(h->agent) == 0;
}

void workerhost_init(struct workerhost *h, struct world *w, uint32_t node, struct rng rng) {
    static const char first[] = "w%u 1 0\n"; /* as if it had been here once: so its id is known */
    char self[32];
    *h = (struct workerhost){.w = w, .node = node, .rng = rng};
    h->clock = (struct clock){clock_wall, clock_mono, clock_random, clock_us};
    snprintf(h->name, sizeof h->name, "w%u", node);
    h->disk = simdisk_new(rng_u64(&h->rng));
    int len = snprintf(self, sizeof self, first, node);
    simdisk_put(h->disk, "worker", self, (size_t)len);
    simspace_init(&h->space);
    simproc_init(&h->proc, h, rng_fork(&h->rng, 7));
    workerhost_calm(h);
}

void workerhost_fini(struct workerhost *h) {
    simdisk_gone(h->disk);
    if (h->agent != NULL) agent_close(h->agent);
    simproc_fini(&h->proc);
    simspace_fini(&h->space);
    simdisk_free(h->disk);
}
