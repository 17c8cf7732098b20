/* sim_workload.c: see sim_workload.h. */
#include "sim_workload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "panic.h"
#include "simproc.h"
#include "simzones.h"
#include "wire_run.h"
#include "world.h"

#define PROFILES_MAX 4u

const struct slice workload_tenants[WORKLOAD_TENANTS] = {
    {(const uint8_t *)"acme", 4},
    {(const uint8_t *)"bolt", 4},
};
const struct slice workload_pools[2] = {
    {(const uint8_t *)"default", 7},
    {(const uint8_t *)"gpu", 3},
};
const struct slice workload_topics[2] = {
    {(const uint8_t *)"mail", 4},
    {(const uint8_t *)"news", 4},
};
const struct slice workload_keys[WORKLOAD_KEYS] = {
    {(const uint8_t *)"db", 2},
    {(const uint8_t *)"disk", 4},
    {(const uint8_t *)"licence", 7},
};
const struct slice workload_rates[WORKLOAD_RATES] = {
    {(const uint8_t *)"api", 3},
    {(const uint8_t *)"mail", 4},
};
const struct slice workload_services[WORKLOAD_SERVICES] = {
    {(const uint8_t *)"api", 3},
    {(const uint8_t *)"queue", 5},
    {(const uint8_t *)"web", 3},
};
/* One of them is a service without replicas as well: each takes the place of the other. */
const struct slice workload_sets[WORKLOAD_SETS] = {
    {(const uint8_t *)"pool", 4},
    {(const uint8_t *)"web", 3},
};
static const struct slice capabilities[WORKER_CAPS_MAX] = {
    {(const uint8_t *)"docker", 6},
    {(const uint8_t *)"fast", 4},
    {(const uint8_t *)"sql", 3},
};

static struct slice text(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

static struct slice text(struct arena *arena, const char *format, ...) {
    char line[96];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    ENSURE(len > 0 && (size_t)len < sizeof line);
    return arena_slice(arena, slice_of(line, (size_t)len));
}

/* Names of jobs: `series` is 0 for those of the submit, else the number of an addition. */
static struct slice job_name(struct arena *arena, uint32_t series, uint32_t i) {
    return series == 0 ? text(arena, "j%u", i) : text(arena, "a%x.%u", series, i);
}

struct slice workload_hash(struct arena *arena, uint64_t what) {
    uint64_t words[4];
    for (uint32_t i = 0; i < 4; i++) words[i] = hash_mix(what + i * 0x9e3779b97f4a7c15ULL);
    return arena_slice(arena, slice_of(words, sizeof words));
}

/* ---- workers ---- */

void workload_worker(struct workerhost *v, struct rng *r) {
    uint32_t pair = (v->node - 1) / WORKLOAD_TENANTS; /* of one kind there is a worker for each tenant */
    bool all = pair == 0;
    struct worker_info *info = &v->info;
    uint32_t caps = 0;
    for (uint32_t i = 0; i < WORKER_CAPS_MAX; i++) {
        if (all || rng_below(r, 2)) v->caps[caps++].name = capabilities[i];
    }
    v->labels[0] = (struct label){SLICE("os"), SLICE("linux")};
    v->labels[1] = (struct label){SLICE("zone"), all || rng_below(r, 2) ? SLICE("a") : SLICE("b")};
    v->resource = (struct resource){SLICE("disk"), 10};
    *info = (struct worker_info){
        .pool = workload_pools[pair == 1],
        .tenant = workload_tenants[(v->node - 1) % WORKLOAD_TENANTS],
        .capabilities = {v->caps, caps},
        .labels = {v->labels, 2},
        .slots = (uint32_t)rng_range(r, 1, 6),
        .cpu_milli = 4000,
        .memory_bytes = 8u << 20,
        .gpus = 2,
        .resources = {&v->resource, all || rng_below(r, 2) ? 1 : 0},
        .permanent = rng_below(r, 2),
        .build = SLICE("sim"),
    };
}

/* ---- options ---- */

uint32_t workload_tenant(struct slice name) {
    return slice_eq(name, workload_tenants[1]);
}

/* Asks for a part of what one worker of the tenant has, so that at least that one can take the job. */
static void draw_demand(struct world *w, struct rng *r, struct arena *arena, uint32_t tenant, struct demand *d) {
    uint32_t pairs = (uint32_t)w->plan.workers / WORKLOAD_TENANTS;
    const struct workerhost *v = &w->workers[rng_below(r, pairs) * WORKLOAD_TENANTS + tenant];
    const struct worker_info *info = &v->info;
    if (rng_below(r, 5) == 0 && slice_eq(info->pool, workload_pools[0]))
        d->topic = workload_topics[rng_below(r, 2)];
    else
        d->pool = info->pool;
    if (rng_below(r, 4) == 0 && info->capabilities.count > 0) {
        struct name_item *item = ARENA_NEW(arena, struct name_item);
        *item = v->caps[rng_below(r, info->capabilities.count)];
        d->capabilities = (struct tlv_list){item, 1};
    }
    if (rng_below(r, 4) == 0) {
        struct label *label = ARENA_NEW(arena, struct label);
        *label = v->labels[rng_below(r, 2)];
        d->labels = (struct tlv_list){label, 1};
    }
    if (rng_below(r, 4) == 0) d->cpu_milli = (uint32_t)rng_range(r, 1, info->cpu_milli);
    if (rng_below(r, 4) == 0) d->memory_bytes = (uint64_t)rng_range(r, 1, (int64_t)info->memory_bytes);
    if (rng_below(r, 8) == 0) d->gpus = 1 + rng_below(r, info->gpus);
    if (rng_below(r, 6) == 0 && info->resources.count > 0) {
        struct resource *resource = ARENA_NEW(arena, struct resource);
        *resource = (struct resource){SLICE("disk"), (uint64_t)rng_range(r, 1, 10)};
        d->resources = (struct tlv_list){resource, 1};
    }
}

static void draw_times(struct world *w, struct rng *r, struct options *o) {
    int64_t wall = world_true(w).ms;
    o->backoff_base_ms = (uint32_t)rng_range(r, 1, 300);
    o->backoff_cap_ms = (uint32_t)rng_range(r, o->backoff_base_ms, 2000);
    o->backoff_jitter_ms = (uint32_t)rng_range(r, 0, 100);
    if (rng_below(r, 6) == 0) o->delay_ms = rng_range(r, 1, 1500);
    if (rng_below(r, 6) == 0) o->delay_from_submit = true;
    if (rng_below(r, 10) == 0) o->not_before_ms = wall + rng_range(r, -1000, 3000);
    if (rng_below(r, 10) == 0) o->deadline_ms = wall + rng_range(r, 100, 20000);
    if (rng_below(r, 10) == 0) o->start_within_ms = rng_range(r, 50, 8000);
    if (rng_below(r, 5) == 0) o->dispatch_timeout_ms = rng_range(r, 100, 3000);
    if (rng_below(r, 5) == 0) o->run_timeout_ms = rng_range(r, 20, 2000);
}

static void draw_gates(struct rng *r, struct options *o) {
    const uint32_t gates = GATE_OUTPUT + 1; /* foreach jobs are drawn apart */
    if (rng_below(r, 4) == 0) o->gates = (uint8_t)(1u << rng_below(r, gates));
    if (rng_below(r, 20) == 0) o->gates |= (uint8_t)(1u << rng_below(r, gates));
    if (o->kind == JOB_GATE) o->gates |= GATE_BIT(GATE_APPROVAL);
    if (o->kind == JOB_EXTERNAL) o->gates |= GATE_BIT(GATE_EXTERNAL);
    if (rng_below(r, 4) == 0) o->approval_ms = rng_range(r, 1000, 10000);
    if (o->gates & GATE_BIT(GATE_APPROVAL)) o->quorum = rng_below(r, 4);
    o->four_eyes = rng_below(r, 4) == 0;
    o->policy_open = rng_below(r, 2);
}

/* Keys and rates come from a stream of their own: without them a seed draws what it always drew. */
static void draw_keys(struct world *w, const struct rng *r, struct arena *arena, struct demand *d) {
    struct rng from = *r;
    struct rng own = rng_fork(&from, 40);
    if (!rng_chance(&own, PERCENT(w->plan.keys))) return;
    struct name_item *keys = ARENA_ARRAY(arena, struct name_item, WORKLOAD_KEYS);
    struct name_item *rate = ARENA_NEW(arena, struct name_item);
    uint32_t count = 0;
    for (uint32_t i = 0; i < WORKLOAD_KEYS; i++) {
        if (rng_below(&own, 3) == 0) keys[count++].name = workload_keys[i];
    }
    d->keys = (struct tlv_list){keys, count};
    rate->name = workload_rates[rng_below(&own, WORKLOAD_RATES)];
    d->rates = (struct tlv_list){rate, rng_below(&own, 2)};
}

void workload_limit(struct rng *r, struct cmd_limit *c) {
    static const enum limit_kind kinds[] = {LIMIT_KEY, LIMIT_KEY, LIMIT_RATE, LIMIT_RATE, LIMIT_TENANT};
    *c = (struct cmd_limit){
        .tenant = workload_tenants[rng_below(r, WORKLOAD_TENANTS)],
        .kind = kinds[rng_below(r, 5)],
        .clear = rng_below(r, 6) == 0,
        .width = rng_below(r, 5),
        .rate_milli = (uint64_t)rng_range(r, 200, 8000),
        .burst = 1 + rng_below(r, 3),
        .running = rng_below(r, 5),
        .queued = rng_below(r, 2) * (uint64_t)rng_range(r, 1, 100),
        .bytes = rng_below(r, 2) * (uint64_t)rng_range(r, 100, 10000),
    };
    if (c->kind == LIMIT_KEY) c->name = workload_keys[rng_below(r, WORKLOAD_KEYS)];
    if (c->kind == LIMIT_RATE) c->name = workload_rates[rng_below(r, WORKLOAD_RATES)];
}

/* When a job starts, and what is tried again. From a stream of its own, like keys. */
static void draw_trigger(struct world *w, const struct rng *r, struct options *o) {
    struct rng from = *r;
    struct rng own = rng_fork(&from, 130);
    if (!rng_chance(&own, PERCENT(w->plan.triggers))) return;
    if (rng_below(&own, 2)) o->retry_on = (uint8_t)rng_below(&own, RETRY_ALL + 1);
    o->trigger = (uint8_t)rng_below(&own, TRIGGER_COUNT);
    if (o->on_upstream == UPSTREAM_RUN && o->trigger != TRIGGER_ALL_DONE) o->on_upstream = UPSTREAM_FAIL;
}

static void draw_options(struct world *w, struct rng *r, struct arena *arena, uint32_t tenant, struct options *o) {
    static const uint8_t kinds[] = {JOB_COMMAND, JOB_COMMAND, JOB_COMMAND, JOB_SCRIPT, JOB_NOOP,    JOB_SLEEP,
                                    JOB_COMMAND, JOB_COMMAND, JOB_BARRIER, JOB_GATE,   JOB_EXTERNAL};
    options_default(o);
    o->kind = kinds[rng_below(r, rng_below(r, 3) ? 4 : sizeof kinds)];
    o->priority = rng_below(r, 4);
    o->retries = rng_below(r, 3) ? rng_below(r, 6) : 0;
    o->free_losses = o->priority == 3 ? 1 + o->retries % 4 : 0; /* not drawn: seeds keep their histories */
    o->on_upstream = (uint8_t)(rng_below(r, 2) ? UPSTREAM_FAIL : rng_below(r, UPSTREAM_COUNT));
    o->exclusive = rng_below(r, 3) == 0;
    o->affinity = rng_below(r, 6) == 0;
    o->prefer_ms = rng_range(r, 0, 2000);
    if (rng_below(r, 8) == 0) o->preferred_worker = worker_name(arena, 1 + rng_below(r, PLAN_WORKERS_MAX));
    if (rng_below(r, 8) == 0) o->preferred_pool = workload_pools[rng_below(r, 2)];
    if (rng_below(r, 6) == 0) {
        uint32_t *fatal = ARENA_NEW(arena, uint32_t);
        *fatal = 1;
        o->fatal_exits = (struct tlv_u32s){fatal, 1};
    }
    draw_demand(w, r, arena, tenant, &o->demand);
    draw_keys(w, r, arena, &o->demand);
    draw_trigger(w, r, o);
    draw_times(w, r, o);
    draw_gates(r, o);
}

/* What a worker is to run, as a `run` message: processes read the last argument; see simproc.h. */
static struct slice encode_run(struct arena *arena, const char *orders, struct wire_run *run) {
    struct wire_arg arg = {slice_str(orders)};
    struct buf out;
    const char *ms = strstr(orders, "ms=");
    run->argv = (struct tlv_list){&arg, 1};
    run->script = SLICE("#!sim\n");
    run->sleep_ms = ms != NULL ? 1 + strtol(ms + 3, NULL, 10) : 1;
    buf_init(&out, 4096);
    tlv_encode(&wire_run_desc, run, &out);
    ENSURE(!out.full);
    struct slice ret = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return ret;
}

static struct slice outside_body(struct arena *arena, const char *begin, const char *poll) {
    struct wire_arg args[2] = {{slice_str(begin != NULL ? begin : "")}, {slice_str(poll != NULL ? poll : "")}};
    struct wire_step steps[2] = {{.argv = {&args[0], 1}}, {.argv = {&args[1], 1}}};
    struct wire_run run = {.submit = {&steps[0], begin != NULL}, .poll = {&steps[1], poll != NULL}};
    struct buf out;
    buf_init(&out, 4096);
    tlv_encode(&wire_run_desc, &run, &out);
    ENSURE(!out.full);
    struct slice ret = arena_slice(arena, buf_slice(&out));
    buf_fini(&out);
    return ret;
}

static struct slice run_body(struct arena *arena, const char *orders, const char *when, const char *items) {
    struct wire_run run = {.when = slice_str(when), .foreach = slice_str(items)};
    return encode_run(arena, orders, &run);
}

/* The same of a service, which its worker looks after: often enough that its health comes and goes in a short run. */
static struct slice service_body(struct rng *r, struct arena *arena, const char *orders) {
    struct wire_arg probe = {SLICE(SIMPROC_PROBE)};
    struct wire_run run = {.port_auto = rng_below(r, 2)};
    run.health = (struct wire_probe){.kind = WIRE_PROBE_COMMAND,
                                     .argv = {&probe, 1},
                                     .interval_ms = (uint32_t)rng_range(r, 20, 1000),
                                     .timeout_ms = (uint32_t)rng_range(r, 20, 200),
                                     .threshold = (uint32_t)rng_range(r, 1, 4),
                                     .grace_ms = (uint32_t)rng_range(r, 1, 2000)};
    return encode_run(arena, orders, &run);
}

static struct slice body(struct arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

static struct slice body(struct arena *arena, const char *format, ...) {
    char line[96];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    ENSURE(len > 0 && (size_t)len < sizeof line);
    return run_body(arena, line, "", "");
}

static struct slice draw_body(struct rng *r, struct arena *arena) {
    /* some outlive a lease: only then an attempt can be lost and still go on */
    uint32_t ms = (uint32_t)(rng_below(r, 6) == 0 ? rng_range(r, 300, 6000) : rng_skewed(r, 400));
    uint32_t exit_code = rng_below(r, 8) == 0 ? 1 + rng_below(r, 2) : 0;
    uint32_t flaky = rng_below(r, 4) == 0 ? rng_below(r, 4) : 0;
    /* asked for only by jobs with these gates; from a stream of its own */
    static const char *const whens[] = {"1 < 2", "1 < 2", "1 < 2", "2 < 1", "nil + 1"};
    struct rng from = *r, own = rng_fork(&from, 48);
    char orders[64], items[16];
    snprintf(orders, sizeof orders, "ms=%u exit=%u flaky=%u", ms, exit_code, flaky);
    snprintf(items, sizeof items, rng_below(&own, 20) ? "%u" : "%u + nil", (uint32_t)rng_skewed(&own, 12));
    return run_body(arena, orders, whens[rng_below(&own, 5)], items);
}

/* ---- graphs ---- */

enum shape { SHAPE_SINGLE, SHAPE_CHAIN, SHAPE_FAN, SHAPE_DIAMOND, SHAPE_LAYERS, SHAPE_RANDOM, SHAPE_COUNT };

/* Parents of job `i` of `count`, as positions below i; at most `max`. */
static uint32_t draw_parents(struct rng *r, enum shape shape, uint32_t i, uint32_t count, uint32_t *ret, uint32_t max) {
    uint32_t n = 0;
    if (i == 0) return 0;
    switch (shape) {
    case SHAPE_SINGLE: break;
    case SHAPE_CHAIN: ret[n++] = i - 1; break;
    case SHAPE_FAN: ret[n++] = 0; break;
    case SHAPE_DIAMOND:
        if (i < count - 1)
            ret[n++] = 0;
        else
            for (uint32_t p = 1; p < i && n < max; p++) ret[n++] = p;
        break;
    case SHAPE_LAYERS: {
        uint32_t width = 4, layer = i / width;
        for (uint32_t p = 0; layer > 0 && p < width && n < max; p++) {
            if (rng_below(r, 2)) ret[n++] = (layer - 1) * width + p;
        }
        break;
    }
    case SHAPE_RANDOM:
        for (uint32_t p = 0; p < i && n < max; p++) {
            if (rng_below(r, i + 1) < 2) ret[n++] = p;
        }
        break;
    case SHAPE_COUNT: PANIC("no shape");
    }
    return n;
}

static uint32_t foreign_parents(struct world *w, struct rng *r, struct arena *arena, struct parent_ref *ret) {
    if (w->flows.count == 0 || rng_below(r, 12) != 0) return 0;
    const struct known_flow *flow = vec_at(&w->flows, rng_below(r, w->flows.count));
    *ret = (struct parent_ref){.name = job_name(arena, 0, 0), .flow = flow->id, .shard = 1};
    if (flow->forgotten && rng_below(r, 2)) {
        ret->has_seen = true;
        ret->seen = flow->first;
    }
    return 1;
}

#define PARENTS_MAX 64u

static void draw_job(struct world *w, struct rng *r, struct arena *arena, struct job_spec *job, enum shape shape,
                     uint32_t i, uint32_t count, uint32_t series, uint32_t profiles) {
    uint32_t positions[PARENTS_MAX];
    uint32_t n = draw_parents(r, shape, i, count, positions, PARENTS_MAX);
    struct parent_ref *parents = ARENA_ARRAY(arena, struct parent_ref, n + 1);
    for (uint32_t p = 0; p < n; p++) parents[p].name = job_name(arena, series, positions[p]);
    n += foreign_parents(w, r, arena, &parents[n]);
    *job = (struct job_spec){
        .name = job_name(arena, series, i),
        .profile = rng_below(r, profiles),
        .parents = parents,
        .parent_count = n,
        .body = draw_body(r, arena),
        .body_hash = workload_hash(arena, rng_u64(r)),
    };
}

/* The order in which jobs are named means nothing. */
static void shuffle(struct rng *r, struct cmd_jobs *jobs, struct job_spec *specs) {
    for (uint32_t i = jobs->job_count; i > 1; i--) {
        uint32_t k = rng_below(r, i);
        struct job_spec moved = specs[i - 1];
        specs[i - 1] = specs[k];
        specs[k] = moved;
    }
}

/* Graphs that must be refused: a name that is used twice or refers to nothing, and a circle. */
static void spoil(struct rng *r, struct arena *arena, const struct cmd_jobs *jobs, struct job_spec *specs) {
    struct job_spec *last = &specs[jobs->job_count - 1];
    struct parent_ref *parent = ARENA_NEW(arena, struct parent_ref);
    switch (rng_below(r, 3)) {
    case 0: parent->name = SLICE("nobody"); break;
    case 1: parent->name = last->name; break;
    default: specs[0].name = last->name; return;
    }
    specs[0].parents = parent;
    specs[0].parent_count = 1;
}

static bool runs_on_a_worker(const struct options *o) {
    return job_kind_of(o->kind)->ends != JOB_ENDS_IN_APPLY;
}

/* Half of the external jobs, and some others in place of a command, have attempts: one that begins something, and
 * perhaps others that ask how it is. From a stream of its own. */
static void draw_outside(const struct rng *r, struct arena *arena, struct options *options, uint32_t profiles,
                         struct job_spec *specs, uint32_t count) {
    struct rng from = *r, own = rng_fork(&from, 0x0075);
    for (uint32_t i = 0; i < profiles; i++) {
        struct options *o = &options[i];
        bool may = o->kind == JOB_COMMAND && !options_expand(o) && rng_below(&own, 10) == 0;
        if (!may && (o->kind != JOB_EXTERNAL || rng_below(&own, 2))) continue;
        o->kind = JOB_EXTERNAL;
        o->calls = true;
        o->gates &= (uint8_t)~GATE_BIT(GATE_EXTERNAL);
        o->approval_ms = rng_range(&own, 1000, 15000);
        if (rng_below(&own, 4)) o->poll_ms = (uint32_t)rng_range(&own, 1000, 2000);
        if (o->poll_ms) o->poll_cap_ms = rng_below(&own, 2) * (uint32_t)rng_range(&own, 1000, 5000);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct options *o = &options[specs[i].profile];
        if (!o->calls) continue;
        char begin[64], poll[64];
        snprintf(begin, sizeof begin, "ms=%u exit=%u flaky=%u", (uint32_t)rng_skewed(&own, 400),
                 rng_below(&own, 8) == 0, rng_below(&own, 4) ? 0 : 1 + rng_below(&own, 2));
        snprintf(poll, sizeof poll, "ms=%u exit=%u later=%u", (uint32_t)rng_skewed(&own, 400), rng_below(&own, 4) == 0,
                 1 + rng_below(&own, 5));
        specs[i].body = outside_body(arena, rng_below(&own, 5) || !o->poll_ms ? begin : NULL, o->poll_ms ? poll : NULL);
    }
}

/* Some flows undo what they did when they fail fatally, and fail fatally more often than others. */
static void draw_undo(struct rng *r, struct arena *arena, struct options *options, uint32_t profiles,
                      struct job_spec *specs, uint32_t count) {
    if (rng_below(r, 3) != 0) return;
    for (uint32_t i = 0; i < profiles; i++) {
        uint32_t *fatal = ARENA_ARRAY(arena, uint32_t, 2);
        fatal[0] = 1;
        fatal[1] = 2;
        options[i].fatal_exits = (struct tlv_u32s){fatal, 1 + rng_below(r, 2)};
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = rng_below(r, profiles);
        if (rng_below(r, 4) == 0) continue;
        if (!runs_on_a_worker(&options[from]) || !runs_on_a_worker(&options[specs[i].profile])) continue;
        uint32_t ms = (uint32_t)rng_skewed(r, 300), exit_code = rng_below(r, 8) == 0 ? 1 + rng_below(r, 3) : 0;
        specs[i].undo_profile = from + 1;
        specs[i].undo_body = body(arena, "ms=%u exit=%u undo=%.*s", ms, exit_code, SLICE_FMT(specs[i].name));
        specs[i].undo_hash = workload_hash(arena, rng_u64(r));
    }
}

/* Some sets become those of foreach jobs, drawn from a stream of their own. */
static void draw_foreach(const struct world *w, const struct rng *r, struct options *options, uint32_t profiles) {
    struct rng from = *r;
    struct rng own = rng_fork(&from, 46);
    for (uint32_t i = 0; i < profiles; i++) {
        struct options *o = &options[i];
        if (!rng_chance(&own, PERCENT(w->plan.foreach)) || !runs_on_a_worker(o)) continue;
        o->gates |= GATE_BIT(GATE_EXPANSION);
        o->max_parallel = rng_below(&own, 5);
        o->fail_fast = rng_below(&own, 3) == 0;
        if (rng_below(&own, 3) == 0)
            o->allow_count = 1 + rng_below(&own, 3);
        else if (rng_below(&own, 3) == 0)
            o->allow_percent = 1 + rng_below(&own, 100);
    }
}

/* A key says that jobs have the same result: few keys, so that they meet. From a stream of its own. */
struct slice workload_cache_key(struct arena *arena, struct rng *r) {
    return workload_hash(arena, 0xcac4e + rng_below(r, 6));
}

static void draw_memos(const struct world *w, struct rng *r, struct arena *arena, struct options *options,
                       uint32_t profiles, struct job_spec *specs, uint32_t count) {
    for (uint32_t i = 0; i < profiles; i++) {
        if (w->plan.memos && rng_below(r, 2)) options[i].cache_ms = rng_range(r, 100, 8000);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint8_t kind = options[specs[i].profile].kind;
        bool fits = (kind == JOB_COMMAND || kind == JOB_SCRIPT) && specs[i].undo_profile == 0;
        if (!rng_chance(r, PERCENT(w->plan.memos)) || !fits) continue;
        specs[i].cache_key = workload_cache_key(arena, r);
    }
}

static void draw_jobs(struct world *w, struct rng *r, struct arena *arena, uint32_t tenant, struct cmd_jobs *jobs,
                      uint32_t count, uint32_t series) {
    enum shape shape = (enum shape)rng_below(r, SHAPE_COUNT);
    uint32_t profiles = 1 + rng_below(r, PROFILES_MAX);
    struct options *options = ARENA_ARRAY(arena, struct options, profiles);
    struct job_spec *specs = ARENA_ARRAY(arena, struct job_spec, count);
    for (uint32_t i = 0; i < profiles; i++) draw_options(w, r, arena, tenant, &options[i]);
    draw_foreach(w, r, options, profiles);
    for (uint32_t i = 0; i < count; i++) draw_job(w, r, arena, &specs[i], shape, i, count, series, profiles);
    draw_outside(r, arena, options, profiles, specs, count);
    struct rng undo = rng_fork(r, 0x5a6a);
    draw_undo(&undo, arena, options, profiles, specs, count);
    struct rng from = *r, memos = rng_fork(&from, 0x3e30); /* a seed without them draws what it always drew */
    draw_memos(w, &memos, arena, options, profiles, specs, count);
    *jobs = (struct cmd_jobs){.profiles = options, .profile_count = profiles, .jobs = specs, .job_count = count};
    if (rng_below(r, 4) == 0) shuffle(r, jobs, specs);
    if (!w->quiet && rng_below(r, 40) == 0) spoil(r, arena, jobs, specs);
}

static void draw_service_options(struct world *w, struct rng *r, struct arena *arena, struct options *o) {
    options_default(o);
    o->kind = JOB_SERVICE;
    o->priority = rng_below(r, 4);
    o->exclusive = rng_below(r, 3) == 0;
    o->backoff_jitter_ms = (uint32_t)rng_range(r, 0, 100);
    o->restart_base_ms = (uint32_t)rng_range(r, 10, 300);
    o->restart_cap_ms = (uint32_t)rng_range(r, o->restart_base_ms, 1500);
    o->restart_reset_ms = rng_range(r, 100, 2000);
    o->healthy_within_ms = rng_range(r, 300, 8000);
    if (rng_below(r, 4) == 0) o->gates = GATE_BIT(rng_below(r, 2) ? GATE_POLICY : GATE_APPROVAL);
    if (rng_below(r, 6) == 0) o->deadline_ms = world_true(w).ms + rng_range(r, 500, 10000);
    o->demand.pool = workload_pools[0];
    draw_keys(w, r, arena, &o->demand);
}

static struct slice draw_replica_body(struct rng *r, struct arena *arena) {
    uint32_t ms = rng_below(r, 4) ? 1800000 : (uint32_t)rng_range(r, 20, 3000);
    uint32_t health = rng_below(r, 6) ? (uint32_t)rng_range(r, 1, 500) : 0;
    char orders[64];
    snprintf(orders, sizeof orders, "ms=%u exit=%u health=%u", ms, rng_below(r, 2), health);
    return service_body(r, arena, orders);
}

/* The flow deploys a set: a job for each replica, one behind the other or two at a time, and a barrier behind all. */
static uint32_t draw_set(struct world *w, struct rng *r, struct arena *arena, struct cmd_jobs *jobs) {
    uint32_t replicas = 1 + rng_below(r, WORKLOAD_REPLICAS), at_once = 1 + rng_below(r, 2);
    struct options *sets = ARENA_ARRAY(arena, struct options, 2);
    struct job_spec *specs = ARENA_ARRAY(arena, struct job_spec, replicas + 1);
    struct parent_ref *all = ARENA_ARRAY(arena, struct parent_ref, replicas);
    struct slice set = workload_sets[rng_below(r, WORKLOAD_SETS)], body = draw_replica_body(r, arena);
    draw_service_options(w, r, arena, &sets[0]);
    sets[0].gates = 0;
    sets[0].replica_of = set;
    sets[0].update = !sets[0].exclusive && rng_below(r, 2) ? UPDATE_START_FIRST : UPDATE_STOP_FIRST;
    options_default(&sets[1]);
    sets[1].kind = JOB_BARRIER;
    sets[1].replica_of = set;
    sets[1].replicas = replicas;
    for (uint32_t i = 0; i < replicas; i++) {
        all[i].name = specs[i].name = text(arena, "%.*s.%u", SLICE_FMT(set), i + 1);
        specs[i].service = specs[i].name;
        specs[i].body = body;
        specs[i].body_hash = workload_hash(arena, i);
        if (i < at_once) continue;
        specs[i].parents = &all[i - at_once];
        specs[i].parent_count = 1;
    }
    specs[replicas] = (struct job_spec){.name = set, .profile = 1, .parents = all, .parent_count = replicas};
    *jobs = (struct cmd_jobs){.profiles = sets, .profile_count = 2, .jobs = specs, .job_count = replicas + 1};
    return replicas + 1;
}

/* One job of the flow deploys a service. Such a flow waits for no other: what one record makes must be one version. */
static void draw_service(struct world *w, const struct rng *from, struct arena *arena, struct cmd_jobs *jobs) {
    struct rng copy = *from;
    struct rng r = rng_fork(&copy, 0x5e7);
    if (!rng_chance(&r, PERCENT(w->plan.services))) return;
    struct options *sets = ARENA_ARRAY(arena, struct options, jobs->profile_count + 1);
    struct job_spec *specs = ARENA_ARRAY(arena, struct job_spec, jobs->job_count);
    memcpy(sets, jobs->profiles, jobs->profile_count * sizeof *sets);
    memcpy(specs, jobs->jobs, jobs->job_count * sizeof *specs);
    draw_service_options(w, &r, arena, &sets[jobs->profile_count]);
    for (uint32_t i = 0; i < jobs->job_count; i++) {
        uint32_t count = specs[i].parent_count;
        while (count > 0 && specs[i].parents[count - 1].flow.v != 0) count--;
        specs[i].parent_count = count;
    }
    struct job_spec *deploys = &specs[rng_below(&r, jobs->job_count)];
    bool crashes = rng_below(&r, 3) == 0;
    uint32_t ms = crashes ? (uint32_t)rng_range(&r, 20, 3000) : 1800000;
    uint32_t health = rng_below(&r, 4) ? (uint32_t)rng_range(&r, 1, 500) : 0;
    deploys->profile = jobs->profile_count;
    deploys->service = workload_services[rng_below(&r, WORKLOAD_SERVICES)];
    deploys->undo_profile = 0;
    deploys->undo_body = deploys->undo_hash = slice_of(NULL, 0);
    char orders[64];
    snprintf(orders, sizeof orders, "ms=%u exit=%u health=%u", ms, rng_below(&r, 2), health);
    deploys->body = service_body(&r, arena, orders);
    struct rng first = rng_fork(&copy, 0x57a7);
    if (rng_chance(&first, PERCENT(w->plan.replicas)) && !sets[jobs->profile_count].exclusive)
        sets[jobs->profile_count].update = UPDATE_START_FIRST;
    jobs->profiles = sets;
    jobs->profile_count++;
    jobs->jobs = specs;
}

static void draw_submit(struct rng *r, struct msg *m) {
    struct cmd_submit *s = &m->cmd.as.submit;
    m->cmd.kind = CMD_SUBMIT;
    s->name = SLICE("flow");
    s->key_hash = workload_hash(&m->arena, rng_u64(r));
    if (rng_below(r, 3) > 0) s->key = text(&m->arena, "key-%u-%u", m->node, (uint32_t)(rng_u64(r) >> 40));
    if (rng_below(r, 10) == 0) s->key_ms = rng_range(r, 20, 2000);
    if (rng_below(r, 10) == 0) s->trace = SLICE("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
}

/* Flows that undo every failure come with triggers: neither is in a seed without them. */
static void draw_compensate_on(struct world *w, const struct rng *r, struct cmd_submit *c) {
    struct rng from = *r;
    struct rng own = rng_fork(&from, 131);
    if (rng_chance(&own, PERCENT(w->plan.triggers)) && rng_below(&own, 2)) c->compensate_on = COMPENSATE_FAILURE;
}

/* Jobs behind the main ones, mostly plain: they are promised to run. From a stream of its own. */
static uint32_t draw_stages(struct world *w, const struct rng *from, struct msg *m, uint32_t count) {
    struct rng copy = *from;
    struct rng r = rng_fork(&copy, 0xf17a1e);
    struct cmd_submit *s = &m->cmd.as.submit;
    struct cmd_jobs *jobs = &s->jobs;
    if (!rng_chance(&r, PERCENT(w->plan.stages))) return 0;
    if (rng_below(&r, 4) == 0) s->timeout_ms = rng_range(&r, 50, 6000);
    if (rng_below(&r, 4) == 0) s->late_after_ms = rng_range(&r, 50, 6000);
    uint32_t more = rng_below(&r, 6);
    if (more > w->jobs_left - count) more = w->jobs_left - count;
    struct options *sets = ARENA_ARRAY(&m->arena, struct options, jobs->profile_count + JOB_STAGE_COUNT);
    struct job_spec *specs = ARENA_ARRAY(&m->arena, struct job_spec, jobs->job_count + more);
    memcpy(sets, jobs->profiles, jobs->profile_count * sizeof *sets);
    memcpy(specs, jobs->jobs, jobs->job_count * sizeof *specs);
    for (uint32_t i = FLOW_STAGE_SUCCESS; i < JOB_STAGE_COUNT; i++) {
        struct options *o = &sets[jobs->profile_count + i - 1];
        options_default(o);
        o->stage = (uint8_t)i;
        o->retries = rng_below(&r, 4);
        o->demand.pool = workload_pools[0];
        o->backoff_jitter_ms = (uint32_t)rng_range(&r, 0, 100);
        o->exclusive = rng_below(&r, 4) == 0;
        if (rng_below(&r, 6) == 0) o->kind = JOB_BARRIER;
        if (rng_below(&r, 6) == 0) o->run_timeout_ms = rng_range(&r, 20, 2000);
        if (rng_below(&r, 8) == 0) o->gates = GATE_BIT(rng_below(&r, 2) ? GATE_POLICY : GATE_OUTPUT);
        draw_trigger(w, &r, o);
    }
    uint32_t last[JOB_STAGE_COUNT] = {0}; /* 1 + the newest of the stage */
    for (uint32_t i = 0; i < more; i++) {
        uint32_t stage = 1 + rng_below(&r, JOB_STAGE_COUNT - 1);
        struct parent_ref *parent = ARENA_NEW(&m->arena, struct parent_ref);
        bool needs = last[stage] > 0 && rng_below(&r, 2);
        if (needs) parent->name = text(&m->arena, "h%u", last[stage] - 1);
        specs[jobs->job_count + i] = (struct job_spec){.name = text(&m->arena, "h%u", i),
                                                       .profile = jobs->profile_count + stage - 1,
                                                       .parents = parent,
                                                       .parent_count = needs,
                                                       .body = draw_body(&r, &m->arena),
                                                       .body_hash = workload_hash(&m->arena, rng_u64(&r))};
        last[stage] = i + 1;
    }
    jobs->profiles = sets;
    jobs->profile_count += JOB_STAGE_COUNT - 1;
    jobs->jobs = specs;
    jobs->job_count += more;
    return more;
}

/* A file of few that there are: mostly it was stored before. What is in it follows from its name (simwire.h). */
static struct flow_source draw_source(struct world *w, const struct rng *r, struct arena *arena) {
    struct rng from = *r;
    struct rng own = rng_fork(&from, 0xf11e);
    if (!rng_chance(&own, PERCENT(w->plan.sources))) return (struct flow_source){0};
    return (struct flow_source){.name = text(arena, "f%u.json", rng_below(&own, 12)),
                                .params = rng_below(&own, 2) ? SLICE("{\"n\":1}") : (struct slice){0}};
}

uint32_t workload_submit(struct world *w, struct rng *r, struct msg *m) {
    uint32_t most = (uint32_t)w->plan.flow_jobs;
    if (most > w->jobs_left) most = w->jobs_left;
    REQUIRE(most > 0);
    uint32_t count = 1 + (uint32_t)rng_skewed(r, most - 1);
    draw_submit(r, m);
    struct rng before = *r;
    draw_jobs(w, r, &m->arena, workload_tenant(m->cmd.tenant), &m->cmd.as.submit.jobs, count, 0);
    if (w->plan.services) draw_service(w, &before, &m->arena, &m->cmd.as.submit.jobs);
    struct rng from = before, sets = rng_fork(&from, 0x5e75);
    if (rng_chance(&sets, PERCENT(w->plan.replicas / 4)) && w->jobs_left > WORKLOAD_REPLICAS)
        count = draw_set(w, &sets, &m->arena, &m->cmd.as.submit.jobs);
    draw_compensate_on(w, &before, &m->cmd.as.submit);
    if (w->plan.stages) count += draw_stages(w, &before, m, count);
    m->cmd.as.submit.source = draw_source(w, &before, &m->arena);
    m->cmd.as.submit.jobs.more = rng_below(r, 8) == 0;
    return count;
}

uint32_t workload_add(struct world *w, struct rng *r, struct msg *m, flow_id flow, uint32_t tenant, bool more) {
    uint32_t series = 1u | (uint32_t)(rng_u64(r) >> 40);
    m->cmd.kind = CMD_ADD;
    m->cmd.as.add.flow = flow;
    uint32_t count = 1 + rng_below(r, 5);
    draw_jobs(w, r, &m->arena, tenant, &m->cmd.as.add.jobs, count, series);
    m->cmd.as.add.jobs.more = more;
    return count;
}

/* One root and more children than one step may visit: they end in apply, by success or by cascade. */
uint32_t workload_large(struct world *w, struct rng *r, struct msg *m) {
    uint32_t count = STEP_JOBS_MAX + 200 + rng_below(r, 1000);
    struct cmd_jobs *jobs = &m->cmd.as.submit.jobs;
    draw_submit(r, m);
    struct options *options = ARENA_ARRAY(&m->arena, struct options, 2);
    struct job_spec *specs = ARENA_ARRAY(&m->arena, struct job_spec, count);
    struct parent_ref *root = ARENA_NEW(&m->arena, struct parent_ref);
    options_default(&options[0]);
    options_default(&options[1]);
    options[0].retries = 0;
    options[0].demand.pool = options[1].demand.pool = workload_pools[0];
    options[1].kind = JOB_BARRIER;
    options[1].on_upstream = (uint8_t)rng_below(r, UPSTREAM_COUNT);
    draw_trigger(w, r, &options[1]);
    root->name = job_name(&m->arena, 0, 0);
    bool fails = rng_below(r, 2);
    for (uint32_t i = 0; i < count; i++) {
        specs[i] = (struct job_spec){
            .name = job_name(&m->arena, 0, i),
            .profile = i > 0,
            .parents = root,
            .parent_count = i > 0,
            .body = body(&m->arena, "ms=200 exit=%d", fails),
        };
    }
    *jobs = (struct cmd_jobs){.profiles = options, .profile_count = 2, .jobs = specs, .job_count = count};
    return count;
}

struct slice workload_schedule_name(struct arena *arena, uint32_t n) {
    return text(arena, "s%u", n);
}

/* One of the keys that clients change (simstore.c), from numbers that were drawn for something else. */
static void draw_cause(struct cmd_schedule *s) {
    int64_t n = s->end_ms / 5;
    s->key = n % 3 ? SLICE("a/1") : SLICE("a");
    if (n % 3 == 1) s->key = SLICE("n");
    s->key_prefix = n % 2;
    s->when = n % 7 ? KEY_CHANGED | KEY_DELETED : KEY_SET;
    s->min_interval_ms = n % 4 && n % 4 < 3 ? 2000 : 0;
    s->expression = SLICE("");
}

/* A flow made every second needs jobs that end: no gates, no places that few workers have. */
void workload_schedule(struct world *w, struct rng *r, struct msg *m) {
    int64_t now_ms = w->server.last_ms;
    struct cmd_schedule *s = &m->cmd.as.schedule;
    m->cmd.kind = CMD_SCHEDULE;
    uint32_t count = 1 + rng_below(r, 3);
    struct options *options = ARENA_NEW(&m->arena, struct options);
    struct job_spec *specs = ARENA_ARRAY(&m->arena, struct job_spec, count);
    struct parent_ref *root = ARENA_NEW(&m->arena, struct parent_ref);
    options_default(options);
    options->demand.pool = workload_pools[0];
    options->retries = rng_below(r, 3);
    options->delay_ms = rng_below(r, 4) == 0 ? rng_range(r, 0, 500) : 0;
    options->delay_from_submit = rng_below(r, 2);
    options->exclusive = rng_below(r, 4) == 0;
    root->name = job_name(&m->arena, 0, 0);
    for (uint32_t i = 0; i < count; i++)
        specs[i] = (struct job_spec){
            .name = job_name(&m->arena, 0, i), .parents = root, .parent_count = i > 0, .body = draw_body(r, &m->arena)};
    *s = (struct cmd_schedule){
        .name = workload_schedule_name(&m->arena, rng_below(r, WORKLOAD_SCHEDULES)),
        .catch_up = (enum catch_up)rng_below(r, CATCH_UP_COUNT),
        .overlap = (enum overlap)rng_below(r, OVERLAP_COUNT),
        .paused = rng_below(r, 8) == 0,
        .start_ms = rng_below(r, 4) ? 0 : now_ms + rng_range(r, 0, 2000),
        .end_ms = now_ms + rng_range(r, 2000, 25000),
        .jobs = {.profiles = options, .profile_count = 1, .jobs = specs, .job_count = count},
    };
    if (s->end_ms < s->start_ms) s->end_ms = s->start_ms;
    s->source = draw_source(w, r, &m->arena);
    /* few different expressions, so that some are set again unchanged */
    uint32_t seconds = 1u << rng_below(r, 3);
    s->expression =
        text(&m->arena, "every %us; from 2023-11-14T22:13:20Z%s", seconds, seconds == 2 ? "; zone " SIM_ZONE : "");
    /* no draw of its own: streams stay what they were */
    if (s->end_ms % 5 == 0) {
        draw_cause(s);
        return;
    }
    if (seconds == 2 || s->end_ms % 3 != 0) return;
    s->expression = text(&m->arena, "every %us; from 2023-11-14T22:13:20Z; zone " SIM_ZONE_MIDNIGHT, seconds);
    s->calendar = s->end_ms % 2 ? SLICE("not 2025-10-09 the first day") : SLICE("not 2025-10-10");
}
