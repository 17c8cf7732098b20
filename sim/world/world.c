/* world.c: see world.h. */
#include "world.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "nemesis.h"
#include "osdigest.h"
#include "panic.h"
#include "sim_workload.h"
#include "token_file.h"

#define WALL_START_MS 1760000000000
#define MONO_START_MS 5000
#define LIVENESS_MS 900000 /* after the last fault everything must be over in this (virtual) time */
#define LOOK_US 500000

/* ---- telling ---- */

void world_note(struct world *w, const char *format, ...) {
    char *line = w->lines[w->line_count++ % NOTE_LINES];
    int at = snprintf(line, NOTE_BYTES, "%10.3f  ", (double)w->queue.now_us / 1000.0);
    va_list args;
    va_start(args, format);
    vsnprintf(line + at, NOTE_BYTES - (size_t)at, format, args);
    va_end(args);
    if (w->loud) puts(line);
}

/* Silent worlds say nothing: the seed is run again by someone who listens. */
void world_red(struct world *w, const char *check, const char *format, ...) {
    if (!w->text) _Exit(1);
    uint64_t from = w->line_count > NOTE_LINES ? w->line_count - NOTE_LINES : 0;
    printf("\nRED seed %" PRIu64 "\n", w->plan.seed);
    for (uint64_t i = from; !w->loud && i < w->line_count; i++) printf("  %s\n", w->lines[i % NOTE_LINES]);
    struct sim_plan plan; /* as it was before the faults ended */
    plan_draw(&plan, w->plan.seed);
    printf("  ");
    plan_print(&plan, stdout);
    printf("  at virtual time %.3f ms, %s\n", (double)w->queue.now_us / 1000.0,
           w->quiet ? "after the faults" : "among the faults");
    printf("RED seed %" PRIu64 ": %s: ", w->plan.seed, check);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n  again: make sim SEED=%" PRIu64 "\n", w->plan.seed);
    fflush(stdout);
    _Exit(1);
}

int64_t world_now_ms(const struct world *w) {
    return w->queue.now_us / 1000;
}

wall_time world_wall(const struct world *w) {
    return (wall_time){w->wall_start_ms + w->queue.now_us / 1000 + w->wall_jump_ms};
}

wall_time world_true(const struct world *w) {
    return (wall_time){w->wall_start_ms + w->queue.now_us / 1000};
}

struct known_flow *world_flow(struct world *w, flow_id id) {
    for (uint32_t i = 0; i < w->flows.count; i++) {
        struct known_flow *flow = vec_at(&w->flows, i);
        if (flow->id.v == id.v) return flow;
    }
    return NULL;
}

mono_time world_mono(const struct world *w) {
    return (mono_time){w->queue.now_us / 1000 + MONO_START_MS};
}

int64_t world_us_of(int64_t mono_ms) {
    return (mono_ms - MONO_START_MS) * 1000;
}

static struct simclient *client_at(struct world *w, uint32_t node) {
    uint32_t workers = (uint32_t)w->plan.workers, last = workers + (uint32_t)w->plan.clients + 1;
    return node > workers && node <= last ? &w->clients[node - workers - 1] : NULL;
}

static uint32_t hostile_count(const struct world *w) {
    return w->plan.hostile_ms != 0 ? HOSTILE_COUNT : 0;
}

struct slice world_tenant(const struct world *w, uint32_t node) {
    if (node >= 1 && node <= w->plan.workers) return workload_tenants[(node - 1) % WORKLOAD_TENANTS];
    bool is_hostile = node < w->node_count && node >= w->node_count - hostile_count(w);
    return is_hostile ? SLICE(HOSTILE_TENANT) : SLICE("");
}

struct peer_pending *world_pending(struct world *w, uint32_t node, conn_id conn, uint32_t request) {
    struct simclient *c = client_at(w, node);
    return c != NULL && request != 0 ? simclient_pending(c, conn, request) : NULL;
}

void world_answer(struct world *w, struct msg *m) {
    struct simclient *c = client_at(w, m->node);
    if (c != NULL) simclient_receive(c, m);
}

/* ---- who may come in ---- */

const char *world_token(const struct world *w, const char *principal, const char *tenant) {
    for (uint32_t i = 0; i < w->tokens.count; i++) {
        const struct world_bearer *b = vec_at(&w->tokens, i);
        if (strcmp(b->principal, principal) == 0 && strcmp(b->tenant, tenant) == 0) return b->token;
    }
    PANIC("nobody of that name");
}

/* Those who may come in, as an earlier version kept them: the first start takes them over into the journal. */
struct admission {
    struct arena arena;
    struct vec tokens; /* struct rec_token_info */
};

static void admit(struct world *w, struct admission *x, const char *principal, const char *tenant, uint32_t role) {
    struct minted_token *t = ARENA_NEW(&x->arena, struct minted_token);
    struct world_bearer *b = vec_push(&w->tokens);
    snprintf(b->principal, sizeof b->principal, "%s", principal);
    snprintf(b->tenant, sizeof b->tenant, "%s", tenant);
    auth_mint_plain(&w->server.clock, osdigest(), t);
    snprintf(b->token, sizeof b->token, "%s", t->text);
    *(struct rec_token_info *)vec_push(&x->tokens) =
        (struct rec_token_info){.id = slice_str(t->id),
                                .hash = slice_of(t->hash, sizeof t->hash),
                                .name = arena_slice(&x->arena, slice_str(principal)),
                                .tenant = arena_slice(&x->arena, slice_str(tenant)),
                                .roles = ROLE_BIT(role),
                                .created_ms = world_true(w).ms};
}

/* Before the first start of the server, as an administrator would have done. */
static void admit_all(struct world *w) {
    struct admission x;
    struct why why;
    char name[16], tenant[16];
    arena_init(&x.arena, 4096, 1u << 24);
    vec_init(&x.tokens, sizeof(struct rec_token_info));
    for (uint32_t node = 1; node < w->node_count - hostile_count(w); node++) {
        bool worker = node <= w->plan.workers;
        snprintf(name, sizeof name, "%c%u", worker ? 'w' : 'c', node);
        snprintf(tenant, sizeof tenant, "%.*s", SLICE_FMT(workload_tenants[(node - 1) % WORKLOAD_TENANTS]));
        admit(w, &x, name, worker ? tenant : "", worker ? ROLE_WORKER : ROLE_ADMIN);
        for (uint32_t t = 0; !worker && t < WORKLOAD_TENANTS; t++) {
            snprintf(tenant, sizeof tenant, "%.*s", SLICE_FMT(workload_tenants[t]));
            admit(w, &x, name, tenant, ROLE_ADMIN);
        }
    }
    for (uint32_t i = 1; i <= CLIENT_PEOPLE; i++) {
        snprintf(name, sizeof name, "p%u", i);
        admit(w, &x, name, "", ROLE_ADMIN);
    }
    if (hostile_count(w) > 0) {
        admit(w, &x, HOSTILE_WORKER, HOSTILE_TENANT, ROLE_WORKER);
        admit(w, &x, HOSTILE_OPERATOR, HOSTILE_TENANT, ROLE_OPERATOR);
        admit(w, &x, HOSTILE_VIEWER, HOSTILE_TENANT, ROLE_VIEWER);
    }
    struct token_file file = {.tokens = (void *)x.tokens.at, .token_count = x.tokens.count};
    ENSURE(token_file_save(simdisk_disk(w->server.disk), &file, &why) == ERR_OK);
    vec_fini(&x.tokens);
    arena_fini(&x.arena);
    simdisk_kill(w->server.disk);
}

/* ---- birth and death ---- */

struct world *world_new(uint64_t seed, enum world_voice voice) {
    struct world *w = calloc(1, sizeof *w);
    ENSURE(w != NULL);
    plan_draw(&w->plan, seed);
    rng_init(&w->rng, seed ^ 0x5eed);
    equeue_init(&w->queue);
    vec_init(&w->flows, sizeof(struct known_flow));
    w->text = voice != WORLD_SILENT;
    w->loud = voice == WORLD_LOUD;
    w->wall_start_ms = WALL_START_MS;
    w->jobs_left = (uint32_t)w->plan.jobs;
    uint32_t workers = (uint32_t)w->plan.workers, clients = (uint32_t)w->plan.clients;
    uint32_t hostiles = hostile_count(w);
    w->node_count = 1 + workers + clients + 1 + hostiles;
    ENSURE(w->node_count <= NET_NODES_MAX);
    adapter_init(&w->adapter, w);
    simnet_init(&w->net, w, rng_fork(&w->rng, 1));
    vec_init(&w->tokens, sizeof(struct world_bearer));
    serverhost_init(&w->server, w, rng_fork(&w->rng, 2));
    admit_all(w);
    for (uint32_t i = 0; i < workers; i++) {
        workerhost_init(&w->workers[i], w, 1 + i, rng_fork(&w->rng, 100 + i));
        workload_worker(&w->workers[i], &w->workers[i].rng);
    }
    for (uint32_t i = 0; i <= clients; i++) {
        simclient_init(&w->clients[i], w, 1 + workers + i, i == clients, rng_fork(&w->rng, 200 + i));
    }
    for (uint32_t i = 0; i < hostiles; i++)
        hostile_init(&w->hostiles[i], w, w->node_count - hostiles + i, i == 0, rng_fork(&w->rng, 300 + i));
    return w;
}

void world_free(struct world *w) {
    for (uint32_t i = 0; i < w->plan.workers; i++) workerhost_fini(&w->workers[i]);
    for (uint32_t i = 0; i <= w->plan.clients; i++) simclient_fini(&w->clients[i]);
    for (uint32_t i = 0; i < hostile_count(w); i++) hostile_fini(&w->hostiles[i]);
    serverhost_fini(&w->server);
    adapter_fini(&w->adapter);
    simnet_fini(&w->net);
    simmsg_fini(&w->msgs);
    vec_fini(&w->tokens);
    equeue_fini(&w->queue);
    vec_fini(&w->flows);
    free(w);
}

/* ---- the end of a run ---- */

struct open_jobs {
    struct world *w;
    uint32_t count;
    bool print;
};

static void count_open(void *ctx, const struct job_view *job) {
    struct open_jobs *open = ctx;
    if (job_state_is_terminal(job->state)) return;
    open->count++;
    if (!open->print || open->count > 20) return;
    const struct engine *e = open->w->server.engine;
    struct why_job why = {0};
    bool known = view_why(engine_state(e), engine_live(e), &open->w->plan.limits, job->ref, &why);
    printf("  open: %" PRIu64 "/%u is %s, attempt %u: %s\n", job->ref.flow.v, job->ref.ordinal,
           job_state_word(job->state), job->attempt, known ? block_word(why.block) : "unknown to view_why");
}

static void count_flow(void *ctx, flow_id id) {
    struct open_jobs *open = ctx;
    const struct state *state = engine_state(open->w->server.engine);
    struct flow_view flow;
    if (!view_flow(state, id, &flow) || flow.state != FLOW_RUNNING) return;
    uint32_t before = open->count;
    view_each_job(state, id, count_open, open);
    if (open->count == before) { /* running without a running job */
        open->count++;
        if (open->print) printf("  open: flow %" PRIu64 " more=%d settling=%d\n", id.v, flow.more, flow.settling);
    }
}

static uint32_t open_jobs(struct world *w, bool print) {
    struct open_jobs open = {.w = w, .print = print};
    view_each_flow(engine_state(w->server.engine), count_flow, &open);
    return open.count;
}

static void count_schedule(void *ctx, const struct schedule_view *schedule) {
    struct open_jobs *open = ctx;
    const struct engine *e = open->w->server.engine;
    struct why_schedule why = {0};
    bool known = view_why_schedule(engine_state(e), engine_live(e), &open->w->plan.limits, schedule->revision, &why);
    if (known && why.block == SCHEDULE_BLOCK_OVER) return;
    open->count++;
    if (open->print)
        printf("  open: schedule %.*s after %" PRId64 ": %s\n", SLICE_FMT(schedule->name), schedule->after.ms,
               known ? schedule_block_word(why.block) : "unknown to view_why_schedule");
}

static uint32_t open_schedules(struct world *w, bool print) {
    struct open_jobs open = {.w = w, .print = print};
    view_each_schedule(engine_state(w->server.engine), count_schedule, &open);
    return open.count;
}

static bool is_over(struct world *w) {
    if (!serverhost_is_still(&w->server) || engine_has_work(w->server.engine)) return false;
    for (uint32_t i = 0; i < w->plan.clients; i++) {
        if (w->clients[i].asking) return false;
    }
    for (uint32_t i = 0; i < w->plan.workers; i++) {
        if (!workerhost_is_done(&w->workers[i])) return false;
    }
    return open_jobs(w, false) == 0 && open_schedules(w, false) == 0;
}

static void run_until(struct world *w, int64_t until_us) {
    while (w->queue.count > 0 && w->queue.heap[0].at_us <= until_us) equeue_step(&w->queue);
    if (w->queue.now_us < until_us) w->queue.now_us = until_us;
}

static void report_stuck(struct world *w) {
    if (w->server.server == NULL) world_red(w, "liveness", "the server does not come up");
    open_jobs(w, w->text);
    open_schedules(w, w->text);
    for (uint32_t i = 0; i < w->plan.workers; i++) {
        const struct workerhost *v = &w->workers[i];
        if (w->text && !workerhost_is_done(v))
            printf("  worker %u: up=%d holds %u\n", v->node, v->agent != NULL, v->agent ? agent_held(v->agent) : 0);
    }
    for (uint32_t i = 0; i < w->plan.clients; i++) {
        if (w->text && w->clients[i].asking) printf("  client %u still waits for an answer\n", w->clients[i].node);
    }
    world_red(w, "liveness", "not over %d s after the last fault", LIVENESS_MS / 1000);
}

/* The clock ends at the latest it ever said: moments that clients named come to pass. Batches far behind it would keep
 * `not_before` jobs waiting for days: an operator who sets a clock restarts the server, and so does the world. */
static void settle_clock(struct world *w) {
    w->wall_jump_ms = w->wall_jump_most_ms;
    if (w->server.server != NULL && world_wall(w).ms - w->server.last_ms > 5000)
        serverhost_crash(&w->server, CRASH_KILL);
}

void world_run(struct world *w, struct world_result *ret) {
    nemesis_start(w);
    serverhost_start(&w->server);
    for (uint32_t i = 0; i < w->plan.workers; i++) workerhost_start(&w->workers[i]);
    for (uint32_t i = 0; i <= w->plan.clients; i++) simclient_start(&w->clients[i]);
    for (uint32_t i = 0; i < hostile_count(w); i++) hostile_start(&w->hostiles[i]);
    run_until(w, w->plan.faulty_ms * 1000);
    w->quiet = true;
    WORLD_NOTE(w, 90, 0, 0, "world: the faults are over");
    nemesis_end(w);
    settle_clock(w);
    int64_t until = w->queue.now_us + (int64_t)LIVENESS_MS * 1000;
    do {
        run_until(w, w->queue.now_us + LOOK_US);
        if (w->queue.now_us > until) report_stuck(w);
    } while (!is_over(w));
    WORLD_NOTE(w, 91, 0, 0, "world: everything is over");
    adapter_quiet(&w->adapter, w->server.engine);
    serverhost_compare(&w->server);
    *ret = (struct world_result){
        .hash = w->hash,
        .digest = engine_digest(w->server.engine),
        .events = w->events,
        .records = w->server.durable_lsn,
        .crashes = w->server.crash_count,
        .virtual_ms = world_now_ms(w),
    };
}
