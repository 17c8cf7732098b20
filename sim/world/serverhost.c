/* serverhost.c: see serverhost.h. What it sees as the server's guest is in servereye.c, the comparison of states in
 * servercheck.c. */
#include "serverhost.h"

#include "compact.h"
#include "file.h"
#include "osdigest.h"
#include "panic.h"
#include "simsigner.h"
#include "simzones.h"
#include "world.h"

#define RESTART_US_MIN 1000
#define OPENS_MAX 200u /* starts in a row that a faulty disk may spoil */
#define REOPEN_US 20000
#define STOP_US_MAX 3000000
#define PASS_US_MIN 100

static void pass(void *ctx, uint64_t generation);
static void step(void *ctx, uint64_t generation);

/* ---- time ---- */

static struct serverhost *of_clock(struct clock *c) {
    return (struct serverhost *)(void *)((char *)c - offsetof(struct serverhost, clock));
}

static wall_time clock_wall(struct clock *c) {
    return world_wall(of_clock(c)->w);
}

static mono_time clock_mono(struct clock *c) {
    return world_mono(of_clock(c)->w);
}

static uint64_t clock_us(struct clock *c) {
    return (uint64_t)clock_mono(c).ms * 1000;
}

static uint64_t clock_random(struct clock *c) {
    return rng_u64(&of_clock(c)->clock_rng);
}

static int64_t now_us(const struct serverhost *h) {
    return h->w->queue.now_us;
}

static int64_t still_us(const struct serverhost *h) {
    return h->w->net.nodes[NET_SERVER].still_until_us;
}

/* A server that did not run for a good part of a lease owes every worker a full one from here on. But a lease that had
 * ended by then may have been judged: that record is in the open batch, and is told of when the batch is. */
static void thaw(struct serverhost *h) {
    if (h->frozen_us == 0 || still_us(h) > now_us(h)) return;
    int64_t stopped_ms = world_mono(h->w).ms - (now_us(h) / 1000 - h->frozen_us / 1000);
    if (now_us(h) - h->frozen_us > h->w->plan.limits.lease_ms * 500 + 1000) {
        for (uint32_t i = 0; i < NET_NODES_MAX; i++) {
            if (stopped_ms - h->heard_ms[i] >= h->w->plan.limits.lease_ms) h->lapsed[i] = true;
            h->heard_ms[i] = world_mono(h->w).ms;
        }
    }
    h->frozen_us = 0;
}

static bool is_frozen(struct serverhost *h, event_fn again, uint64_t generation) {
    if (still_us(h) <= now_us(h)) return false;
    equeue_at(&h->w->queue, still_us(h), again, h, generation);
    return true;
}

/* ---- passes ---- */

static void plan_pass(struct serverhost *h, int64_t at_us) {
    if (at_us < now_us(h)) at_us = now_us(h);
    if (h->pass_at_us != 0 && h->pass_at_us <= at_us) return;
    h->pass_at_us = at_us;
    equeue_at(&h->w->queue, at_us, pass, h, h->generation);
}

static void on_wake(void *ctx) {
    struct serverhost *h = ctx;
    if (h->server != NULL) plan_pass(h, now_us(h) + rng_range(&h->rng, 0, 500));
}

static void plan_step(struct serverhost *h) {
    if (h->step_planned) return;
    h->step_planned = true;
    equeue_in(&h->w->queue, rng_range(&h->rng, 10, h->w->plan.append_us), step, h, h->generation);
}

/* The power may fail inside any of the next disk calls. */
static bool arm(struct serverhost *h, uint32_t ppm, uint32_t calls) {
    bool armed = rng_chance(&h->rng, ppm);
    if (armed) simdisk_arm(h->disk, SIMDISK_ANY, SIMDISK_POWER, rng_below(&h->rng, calls));
    h->power_doubt |= armed;
    return armed;
}

/* One of the next appends may lose the server its journal. */
static void arm_journal(struct serverhost *h) {
    if (h->ram == NULL) return;
    if (!ram_is_armed(h->ram)) h->struck = h->armed;
    if (rng_chance(&h->rng, (uint32_t)h->w->plan.lost_ppm)) simram_arm(h->ram, &h->rng, &h->armed);
}

static void disarm(struct serverhost *h) {
    simdisk_arm(h->disk, SIMDISK_ANY, SIMDISK_FINE, 0);
}

static void compaction(struct serverhost *h);

/* After each call into the server: it may have died of it, or have something for its threads to do. */
static void after(struct serverhost *h) {
    struct why why = {{0}};
    disarm(h);
    if (h->doomed) {
        serverhost_crash(h, h->doom);
        return;
    }
    /* A journal in files would have met it, and stopped the server. */
    if (h->ram != NULL && simdisk_is_dark(h->disk)) {
        serverhost_crash(h, CRASH_POWER);
        return;
    }
    enum err failed = server_failed(h->server, &why);
    if (failed != ERR_OK) {
        WORLD_NOTE(h->w, 78, failed, 0, "server: stops itself: %s: %s", err_word(failed), why.text);
        if (failed != ERR_IO) world_red(h->w, "failed", "%s: %s", err_word(failed), why.text);
        serverhost_crash(h, CRASH_KILL);
        return;
    }
    compaction(h);
    int64_t slow_us = (int64_t)simdisk_slow_ms_take(h->disk) * 1000;
    if (slow_us > 0) h->w->net.nodes[NET_SERVER].still_until_us = now_us(h) + slow_us; /* it waits for its disk */
}

static void end_stop(struct serverhost *h);

static void pass(void *ctx, uint64_t generation) {
    struct serverhost *h = ctx;
    if (h->server == NULL || generation != h->generation || now_us(h) < h->pass_at_us) return;
    if (is_frozen(h, pass, generation)) return;
    h->pass_at_us = 0;
    thaw(h);
    (void)arm(h, (uint32_t)h->w->plan.append_crash_ppm, 8);
    arm_journal(h);
    server_pass(h->server);
    after(h);
    if (h->server == NULL) return;
    plan_step(h);
    if (h->stop_by_us != 0 && (server_is_drained(h->server) || now_us(h) >= h->stop_by_us)) {
        end_stop(h);
        return;
    }
    mono_time next = server_next(h->server);
    int64_t at_us = world_us_of(next.ms);
    plan_pass(h, at_us <= now_us(h) ? now_us(h) + PASS_US_MIN : at_us);
}

/* What the server's threads do: the append that was handed over, the next segment, blobs and logs. */
static void step(void *ctx, uint64_t generation) {
    struct serverhost *h = ctx;
    if (h->server == NULL || generation != h->generation) return;
    if (is_frozen(h, step, generation)) return;
    h->step_planned = false;
    (void)arm(h, (uint32_t)h->w->plan.append_crash_ppm, 8);
    bool worked = server_step(h->server);
    after(h);
    if (h->server == NULL || !worked) return;
    plan_step(h);
    plan_pass(h, now_us(h) + rng_range(&h->rng, 0, 100));
}

void serverhost_freeze(struct serverhost *h, int64_t ms) {
    if (h->server == NULL) return;
    if (h->frozen_us == 0) h->frozen_us = now_us(h);
    WORLD_NOTE(h->w, 77, ms, 0, "server: stands still for %ld ms", (long)ms);
    h->w->net.nodes[NET_SERVER].still_until_us = now_us(h) + ms * 1000;
}

/* ---- the back door ---- */

static void arrives(void *ctx, uint64_t arg) {
    struct serverhost *h = ctx;
    struct msg *m = (struct msg *)(uintptr_t)arg;
    if (h->server == NULL) {
        simmsg_unref(&h->w->msgs, m);
        return;
    }
    *(struct msg **)vec_push(&h->inbox) = m;
    on_wake(h);
}

void serverhost_door(struct serverhost *h, struct msg *m) {
    if (rng_chance(&h->rng, (uint32_t)h->w->plan.drop_ppm)) return; /* it did not come to it */
    equeue_in(&h->w->queue, rng_range(&h->rng, 10, h->w->plan.net_us), arrives, h, (uint64_t)(uintptr_t)simmsg_ref(m));
}

void serverhost_history(struct serverhost *h, uint64_t lag) {
    if (h->server == NULL || h->durable_lsn < h->history_lsn + lag) return;
    h->history_lsn = h->durable_lsn - lag;
    on_wake(h);
}

/* ---- compaction ---- */

static void started(void *ctx) {
    struct serverhost *h = ctx;
    (void)h; /* the child is a later event */
}

void serverhost_compact(struct serverhost *h) {
    if (h->server == NULL || h->compacting || still_us(h) > now_us(h)) return;
    h->compacting = true;
    server_compact(h->server, started, h);
    plan_step(h);
}

static void fold(void *ctx, uint64_t generation) {
    struct serverhost *h = ctx;
    struct why why = {{0}};
    struct compact_options o = {.now = world_wall(h->w)};
    struct compact_report report = {0};
    if (h->server == NULL || generation != h->generation) return;
    (void)arm(h, (uint32_t)h->w->plan.append_crash_ppm * 10, 20);
    enum err e = h->ram != NULL ? simram_fold(h->ram, h->durable_lsn, &report.lsn, &why)
                                : compact_run(simdisk_disk(h->disk), &o, &report, &why);
    WORLD_NOTE(h->w, report.lsn, report.batch_count, e, "server: compacted to %lu (from %lu), %s %s",
               (unsigned long)report.lsn, (unsigned long)report.snapshot_lsn, err_word(e), why.text);
    if (e == ERR_CORRUPT) world_red(h->w, "corrupt", "compaction: %s", why.text);
    h->compacting = false;
    server_compacted(h->server, e == ERR_OK);
    disarm(h);
    plan_step(h);
}

static void compaction(struct serverhost *h) {
    if (h->compacting && server_compact_started(h->server))
        equeue_in(&h->w->queue, rng_range(&h->rng, 100, 50000), fold, h, h->generation);
}

/* ---- life and death ---- */

bool serverhost_is_still(const struct serverhost *h) {
    return h->server != NULL && h->engine != NULL && !h->appending && engine_lsn(h->engine) == h->durable_lsn;
}

void serverhost_doom(struct serverhost *h, enum host_crash kind) {
    if (h->doomed) return;
    h->doomed = true;
    h->doom = kind;
    simdisk_gone(h->disk);
    if (h->ram != NULL) simram_gone(h->ram);
    h->w->net.nodes[NET_SERVER].up = false;
}

static void take_apart(struct serverhost *h) {
    server_close(h->server);
    servereye_forget(h);
    h->server = NULL;
    h->engine = NULL;
    h->doomed = h->step_planned = h->appending = h->compacting = h->is_reopening = false;
    h->pass_at_us = h->stop_by_us = h->frozen_us = 0;
    h->generation++;
}

static void restart(void *ctx, uint64_t generation) {
    struct serverhost *h = ctx;
    if (h->server == NULL && generation == h->generation) serverhost_start(h);
}

void serverhost_crash(struct serverhost *h, enum host_crash kind) {
    if (h->server == NULL) return;
    if (h->power_doubt) kind = CRASH_POWER;
    WORLD_NOTE(h->w, kind, h->durable_lsn, h->generation, "server: dies (%s), durable %lu, applied %lu",
               kind == CRASH_KILL ? "kill -9" : "power cut", (unsigned long)h->durable_lsn,
               h->engine != NULL ? (unsigned long)engine_lsn(h->engine) : 0);
    adapter_crashed(&h->w->adapter);
    h->crash_count++;
    h->power_doubt = false;
    serverhost_doom(h, kind);
    simnet_down(&h->w->net, NET_SERVER, kind == CRASH_KILL);
    take_apart(h);
    if (kind == CRASH_KILL)
        simdisk_kill(h->disk);
    else
        simdisk_crash(h->disk, (enum simdisk_crash_policy)rng_below(&h->rng, 4));
    int64_t away_us = RESTART_US_MIN + rng_skewed(&h->rng, h->w->plan.lease_ms * 3000);
    if (h->w->quiet) away_us = RESTART_US_MIN;
    equeue_in(&h->w->queue, away_us, restart, h, h->generation);
}

void serverhost_stop(struct serverhost *h) {
    if (h->server == NULL || h->stop_by_us != 0) return;
    WORLD_NOTE(h->w, 92, h->durable_lsn, 0, "server: is asked to stop");
    h->stop_by_us = now_us(h) + STOP_US_MAX;
    server_drain(h->server);
    on_wake(h);
}

/* Everything asked is answered, or it took too long: it closes its files by itself. */
static void end_stop(struct serverhost *h) {
    WORLD_NOTE(h->w, 93, h->durable_lsn, 0, "server: stops");
    adapter_crashed(&h->w->adapter);
    simnet_down(&h->w->net, NET_SERVER, true);
    take_apart(h);
    simdisk_kill(h->disk);
    equeue_in(&h->w->queue, RESTART_US_MIN + rng_skewed(&h->rng, h->w->plan.lease_ms * 1000), restart, h,
              h->generation);
}

/* A start may be spoilt by a full or failing disk, but never by what a crash left behind. */
static void refused(struct serverhost *h, enum err err, const struct why *why) {
    WORLD_NOTE(h->w, 79, err, h->refused_opens, "server: does not start: %s: %s", err_word(err), why->text);
    bool excused = err == ERR_IO || err == ERR_NO_SPACE;
    if (err == ERR_IO || h->w->quiet) h->refused_opens++; /* a full disk may stay full for long */
    if (!excused || h->refused_opens > OPENS_MAX)
        world_red(h->w, "recovery", "refused: %s: %s", err_word(err), why->text);
    h->server = NULL;
    h->engine = NULL;
    servereye_forget(h);
    if (h->power_doubt)
        simdisk_crash(h->disk, (enum simdisk_crash_policy)rng_below(&h->rng, 4));
    else
        simdisk_kill(h->disk);
    h->power_doubt = h->doomed = false;
    equeue_in(&h->w->queue, REOPEN_US, restart, h, h->generation);
}

static void log_line(void *ctx, enum server_level level, const char *what, const char *text) {
    struct serverhost *h = ctx;
    WORLD_NOTE(h->w, 76, level, 0, "server: %s: %s", what, text);
}

void serverhost_start(struct serverhost *h) {
    struct why why = {{0}};
    const struct sim_plan *p = &h->w->plan;
    h->generation++;
    struct server_world world = {.disk = simdisk_disk(h->disk),
                                 .clock = &h->clock,
                                 .hasher = osdigest(),
                                 .signer = simsigner(),
                                 .checker = &simsigner_checker,
                                 .net = &h->tap,
                                 .zones = simzones(),
                                 .log = log_line,
                                 .log_ctx = h,
                                 .observer = &h->guest};
    struct file_options journal = {.segment_bytes = (uint64_t)p->segment_kib * 1024,
                                   .reserve_bytes = (uint64_t)p->segment_kib * 1024};
    struct server_options o = {.limits = p->limits,
                               .shard = 1,
                               .build = "sim",
                               .checkpoint_ms = p->checkpoint_ms,
                               .appends_away = rng_below(&h->rng, 2),
                               .without_threads = true};
    (void)arm(h, (uint32_t)p->append_crash_ppm * 10, 60);
    h->projected_lsn = 0;
    struct server *server = NULL;
    enum err e = h->ram != NULL ? ram_open(h->ram, &world.journal, &why)
                                : file_open(world.disk, &h->clock, &journal, &world.journal, &why);
    if (e == ERR_OK) e = server_open(&world, &o, &server, &why);
    disarm(h);
    if (e != ERR_OK) {
        refused(h, e, &why);
        return;
    }
    h->server = server;
    h->refused_opens = 0;
    struct simnode *node = &h->w->net.nodes[NET_SERVER];
    node->acceptor = *server_handler(server);
    node->still_until_us = 0;
    simnet_up(&h->w->net, NET_SERVER);
    serverhost_check_logs(h);
    serverhost_check_sources(h);
    after(h);
    if (h->server == NULL) return;
    plan_step(h);
    plan_pass(h, now_us(h) + 1);
}

void serverhost_init(struct serverhost *h, struct world *w, struct rng rng) {
    *h = (struct serverhost){.w = w, .rng = rng};
    rng_init(&h->clock_rng, w->plan.seed ^ 0x10e47177u);
    h->disk = simdisk_new(rng_u64(&h->rng));
    if (w->plan.ram) h->ram = ram_new(&(struct ram_options){0});
    h->clock = (struct clock){clock_wall, clock_mono, clock_random, clock_us};
    h->net = simnet_port(&w->net, NET_SERVER, on_wake, h);
    simlog_init(&h->log);
    ledger_init(&h->ledger, h);
    servereye_init(h);
}

void serverhost_fini(struct serverhost *h) {
    if (h->server != NULL) {
        serverhost_doom(h, CRASH_KILL);
        take_apart(h);
    }
    servereye_forget(h);
    vec_fini(&h->inbox);
    vec_fini(&h->logs);
    pool_fini(&h->calls);
    map_fini(&h->call_by_token);
    simlog_fini(&h->log);
    ledger_fini(&h->ledger);
    simdisk_free(h->disk);
    if (h->ram != NULL) ram_free(h->ram);
}
