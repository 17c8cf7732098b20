/* sessionlab.c: see sessionlab.h. The second half, which looks into the server's own structs, is the price of knowing
 * that nothing is left behind. */
#include "sessionlab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth.h"
#include "demand.h"
#include "event_ring.h"
#include "file.h"
#include "flow_events.h"
#include "http_dialect.h"
#include "orion_session.h"
#include "osdigest.h"
#include "panic.h"
#include "ram.h"
#include "resp_session.h"
#include "server_impl.h"
#include "subscribers.h"
#include "titan_session.h"
#include "token_file.h"
#include "transfers.h"

/* Of all connections: so little that a few that do not read have to go. */
#define MEMORY_BYTES ((uint64_t)4 << 20)
#define PRINCIPAL_BYTES ((uint64_t)1 << 20)
/* A pass may add to it after it has looked: streams and events, 1 MiB a connection. */
#define PASS_BYTES ((uint64_t)SESSIONLAB_CONNS << 20)
#define LOOK_BYTES 65536u               /* sent, before the server looks whether they were taken */
#define UNSENT_MAX ((uint64_t)40 << 20) /* inside a pass: 16 MiB beside the largest answer */
#define TAIL_BYTES 16u                  /* more than a secret has */
#define SETTLE_TURNS 400u
#define TOKENS_MAX 40u

/* ---- who there is ---- */

const char *sessionlab_secret(enum sessionlab_tenant t) {
    return t == SESSIONLAB_A ? "SECRET-OF-a" : t == SESSIONLAB_B ? "SECRET-OF-b" : "";
}

static const char *tenant_name(enum sessionlab_tenant t) {
    return t == SESSIONLAB_A ? "a" : t == SESSIONLAB_B ? "b" : "";
}

static bool has(struct slice bytes, const char *text) {
    return text[0] != 0 && bytes.len > 0 && memmem(bytes.ptr, bytes.len, text, strlen(text)) != NULL;
}

/* The secret of someone whose connection this is not. */
static bool has_foreign(enum sessionlab_tenant t, struct slice bytes) {
    if (t == SESSIONLAB_ALL) return false;
    return (t != SESSIONLAB_A && has(bytes, sessionlab_secret(SESSIONLAB_A))) ||
           (t != SESSIONLAB_B && has(bytes, sessionlab_secret(SESSIONLAB_B)));
}

static struct {
    struct simdisk *disk; /* as every lab starts: with the tokens, and nothing else */
    struct sessionlab_token tokens[TOKENS_MAX];
    uint32_t count;
} birth;

static wall_time birth_wall(struct clock *c) {
    (void)c;
    return (wall_time){1700000000000};
}

static uint64_t birth_random(struct clock *c) {
    static uint64_t last = 1;
    (void)c;
    return last = last * 6364136223846793005u + 1442695040888963407u;
}

/* As an earlier version left it: what the server of a lab takes over when it starts. */
static void give_birth(void) {
    static struct minted_token minted[TOKENS_MAX];
    static struct rec_token_info infos[TOKENS_MAX];
    static char names[TOKENS_MAX][32];
    struct clock clock = {.wall = birth_wall, .random = birth_random};
    struct why why = {{0}};
    if (birth.disk != NULL) return;
    birth.disk = simdisk_new(1);
    for (uint32_t t = SESSIONLAB_A; t < SESSIONLAB_TENANT_COUNT; t++) {
        for (uint32_t role = 0; role < ROLE_COUNT; role++) {
            struct sessionlab_token *token = &birth.tokens[birth.count];
            struct minted_token *m = &minted[birth.count];
            auth_mint_plain(&clock, osdigest(), m);
            snprintf(names[birth.count], sizeof names[0], "%s-%s", role_words[role],
                     tenant_name((enum sessionlab_tenant)t));
            infos[birth.count] = (struct rec_token_info){.id = slice_str(m->id),
                                                         .hash = slice_of(m->hash, sizeof m->hash),
                                                         .name = slice_str(names[birth.count]),
                                                         .tenant = slice_str(tenant_name((enum sessionlab_tenant)t)),
                                                         .roles = ROLE_BIT(role),
                                                         .created_ms = birth_wall(NULL).ms};
            token->tenant = (enum sessionlab_tenant)t;
            snprintf(token->text, sizeof token->text, "%s", m->text);
            birth.count++;
        }
    }
    struct token_file file = {.tokens = infos, .token_count = birth.count};
    ENSURE(token_file_save(simdisk_disk(birth.disk), &file, &why) == ERR_OK);
    snprintf(birth.tokens[birth.count++].text, SESSIONLAB_TOKEN_BYTES, "rvj_1.0.1.1.00");
    snprintf(birth.tokens[birth.count++].text, SESSIONLAB_TOKEN_BYTES, "rvc_1.0.q1.ffffffffffff.00");
    birth.count++; /* none */
    ENSURE(birth.count <= TOKENS_MAX);
    simdisk_crash(birth.disk, SIMDISK_KEEP_ALL);
}

uint32_t sessionlab_tokens(const struct sessionlab_token **ret) {
    give_birth();
    *ret = birth.tokens;
    return birth.count;
}

/* ---- clock ---- */

static struct sessionlab *of_clock(struct clock *c) {
    return (struct sessionlab *)(void *)((char *)c - offsetof(struct sessionlab, clock));
}

static wall_time clock_wall(struct clock *c) {
    return (wall_time){1700000000000 + of_clock(c)->now_ms + of_clock(c)->wall_ahead_ms};
}

static mono_time clock_mono(struct clock *c) {
    return (mono_time){1000 + of_clock(c)->now_ms};
}

static uint64_t clock_us(struct clock *c) {
    return (uint64_t)clock_mono(c).ms * 1000;
}

static uint64_t clock_random(struct clock *c) {
    struct sessionlab *l = of_clock(c);
    return l->random = l->random * 6364136223846793005u + 1442695040888963407u;
}

/* ---- what leaves ---- */

static struct sessionlab_conn *conn_of(struct sessionlab *l, conn_id conn) {
    for (uint32_t i = 0; i < SESSIONLAB_CONNS; i++)
        if (conn.v != 0 && l->conns[i].conn.v == conn.v && !l->conns[i].hung_up) return &l->conns[i];
    return NULL;
}

static void note_assigned(struct sessionlab *l, const struct sessionlab_conn *c, const struct wire_assignment *a) {
    struct sessionlab_attempt *kept = &l->attempts[l->attempt_count++ % SESSIONLAB_ATTEMPTS];
    struct flow_view flow;
    ENSURE(view_flow(server_state(l->server), (flow_id){a->attempt.flow}, &flow));
    if (c->tenant != SESSIONLAB_ALL) ENSURE(slice_eq(flow.tenant, slice_str(tenant_name(c->tenant))));
    kept->attempt = a->attempt;
    kept->token.tenant = slice_eq(flow.tenant, SLICE("a"))   ? SESSIONLAB_A
                         : slice_eq(flow.tenant, SLICE("b")) ? SESSIONLAB_B
                                                             : SESSIONLAB_ALL;
    snprintf(kept->token.text, sizeof kept->token.text, "%.*s", SLICE_FMT(a->token));
}

static void read_frame(struct sessionlab *l, const struct sessionlab_conn *c, const struct frame *f) {
    struct arena arena;
    struct why why = {{0}};
    if (l->heard != NULL) l->heard(l->heard_ctx, c->conn, f);
    if (f->opcode != WIRE_ASSIGN && f->opcode != WIRE_CALLBACK_GIVEN) return;
    arena_init(&arena, 4096, (size_t)1 << 28);
    void *message = arena_alloc(&arena, wire_info(f->opcode)->desc->size);
    ENSURE(wire_take(f, &arena, message, &why) == ERR_OK);
    if (f->opcode == WIRE_ASSIGN) {
        const struct wire_assign *m = message;
        const struct wire_assignment *list = m->assignments.at;
        for (uint32_t i = 0; i < m->assignments.count; i++) note_assigned(l, c, &list[i]);
    } else {
        const struct wire_callback_given *m = message;
        l->callback.tenant = c->tenant;
        snprintf(l->callback.text, sizeof l->callback.text, "%.*s", SLICE_FMT(m->token));
    }
    arena_fini(&arena);
}

/* A server says whole frames to who spoke in frames. */
static void read_frames(struct sessionlab *l, struct sessionlab_conn *c) {
    struct slice in = buf_slice(&c->frames);
    struct frame f;
    struct why why = {{0}};
    size_t need = 0;
    while (frame_take(&in, (size_t)1 << 28, &f, &need, &why) == ERR_OK && need == 0) read_frame(l, c, &f);
    size_t left = in.len;
    if (left > 0) memmove(c->frames.at, c->frames.at + (c->frames.len - left), left);
    buf_cut(&c->frames, left);
}

static void keep_tail(struct buf *b) {
    size_t left = b->len < TAIL_BYTES ? b->len : TAIL_BYTES;
    if (left > 0) memmove(b->at, b->at + (b->len - left), left);
    buf_cut(b, left);
}

static void look(struct sessionlab *l, struct sessionlab_conn *c, struct slice bytes) {
    buf_put_slice(&c->tail, bytes);
    ENSURE(!has_foreign(c->tenant, buf_slice(&c->tail)));
    keep_tail(&c->tail);
    bool is_native = c->frames.len > 0 || (c->door == SESSIONLAB_MAIN && bytes.ptr[0] == FRAME_VERSION);
    if (!is_native) return;
    buf_put_slice(&c->frames, bytes);
    read_frames(l, c);
}

static void op_send(struct net *n, conn_id conn, struct slice bytes) {
    struct sessionlab *l = (struct sessionlab *)n;
    struct sessionlab_conn *c = conn_of(l, conn);
    if (c == NULL || bytes.len == 0) return;
    look(l, c, bytes);
    if (c->deaf) c->unsent += bytes.len;
    ENSURE(c->unsent <= UNSENT_MAX);
}

static uint64_t op_unsent(struct net *n, conn_id conn) {
    struct sessionlab_conn *c = conn_of((struct sessionlab *)n, conn);
    if (c == NULL) return 0;
    c->asked |= c->unsent > 0;
    return c->unsent;
}

static void op_pause(struct net *n, conn_id conn, bool on) {
    struct sessionlab_conn *c = conn_of((struct sessionlab *)n, conn);
    if (c != NULL) c->paused = on;
}

static void op_close(struct net *n, conn_id conn) {
    struct sessionlab_conn *c = conn_of((struct sessionlab *)n, conn);
    if (c != NULL) c->hung_up = true;
}

static conn_id op_dial(struct net *n, const char *address, const struct net_handler *handler) {
    (void)address, (void)handler;
    return (conn_id){++((struct sessionlab *)n)->conn_last}; /* nobody is there */
}

static uint32_t op_take_port(struct net *n) {
    (void)n;
    return 20000;
}

static void op_give_port(struct net *n, uint32_t port) {
    (void)n, (void)port;
}

static uint64_t op_listeners(struct net *n, uint32_t port) {
    (void)n, (void)port;
    return 0;
}

static const struct net_ops net_ops = {op_dial,  op_send,      op_unsent,    op_pause,
                                       op_close, op_take_port, op_give_port, op_listeners};

/* ---- the server's guest ---- */

static void guest_resumes(void *ctx, struct engine *e, uint64_t epoch) {
    struct sessionlab *l = ctx;
    (void)epoch;
    struct digest d = engine_digest(e);
    ENSURE(engine_lsn(e) >= l->lsn); /* what was told as durable is there */
    if (l->compares) ENSURE(engine_lsn(e) == l->lsn && d.lo == l->digest[0] && d.hi == l->digest[1]);
    l->compares = false;
}

static void guest_durable(void *ctx, uint64_t lsn) {
    ((struct sessionlab *)ctx)->lsn = lsn;
}

static uint64_t guest_projected(void *ctx) {
    return ((struct sessionlab *)ctx)->lsn;
}

static void guest_batch(void *ctx, const struct batch *b) {
    (void)ctx, (void)b;
}

static void guest_lost(void *ctx) {
    ((struct sessionlab *)ctx)->compares = false;
}

static void guest_turn(void *ctx) {
    (void)ctx;
}

static void guest_asked(void *ctx, conn_id conn, uint32_t request, const struct command *cmd) {
    struct sessionlab *l = ctx;
    (void)conn, (void)request, (void)cmd;
    if (l->server != NULL) l->lsn_before = engine_lsn(server_shard(l->server)->engine);
}

/* The flow that a command names; 0 = none. */
static flow_id flow_of(const struct command *cmd) {
    enum command_kind kind = cmd->kind;
    if (kind == CMD_ADD) return cmd->as.add.flow;
    if (kind == CMD_CANCEL) return cmd->as.cancel.flow;
    if (kind == CMD_PAUSE) return cmd->as.pause.flow;
    if (kind == CMD_RETRY || kind == CMD_DISCARD) return cmd->as.job.flow;
    if (kind == CMD_RERUN) return cmd->as.flow;
    if (kind == CMD_VERDICT) return cmd->as.verdict.job.flow;
    if (kind == CMD_STORE) return cmd->as.store.flow;
    bool of_attempt = kind == CMD_STARTED || kind == CMD_PROGRESS || kind == CMD_HEALTH || kind == CMD_DONE;
    return of_attempt ? cmd->as.attempt.job.flow : (flow_id){0};
}

/* The worker that a command names; empty = none. */
static struct slice worker_of(const struct command *cmd) {
    enum command_kind kind = cmd->kind;
    if (kind == CMD_ATTACH) return cmd->as.attach.worker;
    return kind == CMD_DETACH || kind == CMD_DRAIN ? cmd->as.worker.worker : (struct slice){0};
}

static void guest_decided(void *ctx, conn_id conn, uint32_t request, const struct command *cmd) {
    struct sessionlab *l = ctx;
    const struct sessionlab_conn *c = conn_of(l, conn);
    struct flow_view flow;
    struct worker_view worker;
    (void)request;
    if (c == NULL || engine_lsn(server_shard(l->server)->engine) == l->lsn_before) return;
    if (c->tenant != SESSIONLAB_A && c->tenant != SESSIONLAB_B) return;
    struct slice own = slice_str(tenant_name(c->tenant));
    const struct state *state = server_state(l->server);
    if (view_flow(state, flow_of(cmd), &flow)) ENSURE(slice_eq(flow.tenant, own));
    uint32_t number = view_worker_by_id(state, worker_of(cmd));
    if (number != 0 && view_worker(state, engine_live(server_shard(l->server)->engine), number, &worker))
        ENSURE(slice_eq(worker.info->tenant, own));
}

static void guest_effect(void *ctx, const struct effect *e) {
    (void)ctx, (void)e;
}

/* ---- life ---- */

static void log_nothing(void *ctx, enum server_level level, const char *what, const char *text) {
    (void)ctx, (void)level, (void)what, (void)text;
}

static void start(struct sessionlab *l) {
    static const struct orion_options orion = {.tenant = "a",
                                               .listen = "127.0.0.1:3000",
                                               .origins = "",
                                               .guests = ORION_GUESTS_EVERYONE,
                                               .work_ms_least = 1,
                                               .work_ms_most = 2};
    static const struct titan_options titan = {.tenant = "b",
                                               .listen = "127.0.0.1:9090",
                                               .dead_status = "DEAD",
                                               .gates = true,
                                               .http_listen = "127.0.0.1:5000",
                                               .dag_seconds = 60,
                                               .job_seconds = 60};
    static const struct resp_options resp = {.tenant = "b"};
    static const struct dialect_setting dialects[] = {
        {&orion_dialect, &orion}, {&titan_dialect, &titan}, {&resp_dialect, &resp}, {0}};
    struct why why = {{0}};
    struct server_world world = {.disk = simdisk_disk(l->disk),
                                 .clock = &l->clock,
                                 .hasher = osdigest(),
                                 .net = &l->net,
                                 .log = log_nothing,
                                 .observer = &l->guest,
                                 .history = l->history};
    struct file_options journal = {.segment_bytes = 1 << 18, .reserve_bytes = 1 << 18};
    struct server_options o = {
        .build = "lab", .uid = 1000, .appends_away = true, .without_threads = true, .dialects = dialects};
    limits_default(&o.limits);
    enum err e = l->ram != NULL ? ram_open(l->ram, &world.journal, &why)
                                : file_open(world.disk, &l->clock, &journal, &world.journal, &why);
    ENSURE(e == ERR_OK);
    engine_limits_fit(&o.limits, world.journal->limits.batch_bytes_max);
    o.limits.ended_flows_kept = 4;
    o.limits.retention_ms = 5000;
    o.limits.strangers_max = 4;
    o.limits.vault_reserve_bytes = 0;
    o.limits.connection_memory_bytes_max = (int64_t)MEMORY_BYTES;
    o.limits.principal_memory_bytes_max = (int64_t)PRINCIPAL_BYTES;
    l->server = NULL;
    ENSURE(server_open(&world, &o, &l->server, &why) == ERR_OK);
}

static void lab_init(struct sessionlab *l, struct ram *ram, struct history *history) {
    give_birth();
    *l = (struct sessionlab){.net = {&net_ops}, .random = 7, .ram = ram, .history = history};
    l->clock = (struct clock){clock_wall, clock_mono, clock_random, clock_us};
    l->guest =
        (struct observer){l,           guest_batch,   guest_resumes, guest_lost,    guest_turn,   guest_projected,
                          guest_asked, guest_decided, guest_batch,   guest_durable, guest_effect, guest_effect};
    l->disk = simdisk_clone(birth.disk);
    start(l);
}

void sessionlab_init(struct sessionlab *l) {
    lab_init(l, NULL, NULL);
}

void sessionlab_init_ram(struct sessionlab *l, struct history *history) {
    lab_init(l, ram_new(&(struct ram_options){0}), history);
}

static void conn_free(struct sessionlab_conn *c) {
    buf_fini(&c->written);
    buf_fini(&c->frames);
    buf_fini(&c->tail);
    buf_fini(&c->said);
    *c = (struct sessionlab_conn){0};
}

void sessionlab_abandon(struct sessionlab *l) {
    server_close(l->server);
    for (uint32_t i = 0; i < SESSIONLAB_CONNS; i++) conn_free(&l->conns[i]);
    simdisk_free(l->disk);
    if (l->ram != NULL) ram_free(l->ram);
}

void sessionlab_fini(struct sessionlab *l) {
    sessionlab_rest(l);
    sessionlab_abandon(l);
}

/* ---- peers ---- */

static const struct net_handler *handler_of(struct sessionlab *l, enum sessionlab_door door) {
    switch (door) {
    case SESSIONLAB_RESP: return resp_handler(l->server);
    case SESSIONLAB_TITAN: return titan_handler(l->server);
    case SESSIONLAB_DASH: return titan_web_handler(l->server);
    case SESSIONLAB_ORION: return orion_handler(l->server);
    case SESSIONLAB_MAIN:
    case SESSIONLAB_DOOR_COUNT: break;
    }
    return server_handler(l->server);
}

static enum sessionlab_tenant tenant_of(enum sessionlab_door door, const struct net_peer *peer,
                                        const struct sessionlab_token *token) {
    if (door == SESSIONLAB_RESP || door == SESSIONLAB_TITAN || door == SESSIONLAB_DASH)
        return token == NULL || token->tenant == SESSIONLAB_B ? SESSIONLAB_B : SESSIONLAB_ALL;
    if (door == SESSIONLAB_ORION) return token == NULL || token->tenant == SESSIONLAB_A ? SESSIONLAB_A : SESSIONLAB_ALL;
    if (peer->is_local) return SESSIONLAB_ALL;
    if (slice_eq(peer->certified_tenant, SLICE("a"))) return SESSIONLAB_A;
    return token == NULL ? SESSIONLAB_NOBODY : token->tenant;
}

void sessionlab_open(struct sessionlab *l, uint32_t place, enum sessionlab_door door, const struct net_peer *peer,
                     const struct sessionlab_token *token) {
    sessionlab_close(l, place);
    struct sessionlab_conn *c = &l->conns[place];
    *c = (struct sessionlab_conn){.conn = {++l->conn_last}, .door = door};
    if (token != NULL) c->token = *token;
    c->tenant = tenant_of(door, peer, token != NULL && token->text[0] != 0 ? token : NULL);
    buf_init(&c->written, (size_t)64 << 20);
    buf_init(&c->frames, (size_t)1 << 28);
    buf_init(&c->tail, (size_t)1 << 28);
    buf_init(&c->said, (size_t)1 << 28);
    const struct net_handler *h = handler_of(l, door);
    h->opened(h->ctx, c->conn, peer);
}

void sessionlab_close(struct sessionlab *l, uint32_t place) {
    struct sessionlab_conn *c = &l->conns[place];
    if (c->conn.v != 0 && !c->hung_up) {
        const struct net_handler *h = handler_of(l, c->door);
        h->closed(h->ctx, c->conn, "closed by the peer");
    }
    conn_free(c);
}

void sessionlab_write(struct sessionlab *l, uint32_t place, struct slice bytes) {
    struct sessionlab_conn *c = &l->conns[place];
    if (c->conn.v == 0 || c->hung_up || c->written.len + bytes.len > c->written.max) return;
    buf_put_slice(&c->said, bytes);
    /* a caller of all tenants may read every secret; what it writes may be for either tenant */
    bool is_stolen = has_foreign(c->tenant == SESSIONLAB_ALL ? SESSIONLAB_NOBODY : c->tenant, buf_slice(&c->said));
    buf_cut(&c->said, is_stolen ? c->said.len - bytes.len : c->said.len);
    keep_tail(&c->said);
    if (!is_stolen) buf_put_slice(&c->written, bytes);
}

void sessionlab_read(struct sessionlab *l, uint32_t place, bool on) {
    l->conns[place].deaf = !on;
    if (on) l->conns[place].unsent = 0;
}

/* Exactly as large as what came, so that a read past it is seen. */
static void deliver(struct sessionlab *l, struct sessionlab_conn *c) {
    const struct net_handler *h = handler_of(l, c->door);
    if (c->asked && c->unsent == 0) {
        c->asked = false;
        h->drained(h->ctx, c->conn);
    }
    if (c->hung_up || c->paused || c->written.len == 0) return;
    uint8_t *copy = malloc(c->written.len);
    ENSURE(copy != NULL);
    struct slice bytes = slice_of(copy, c->written.len);
    memcpy(copy, c->written.at, c->written.len);
    buf_clear(&c->written);
    h->received(h->ctx, c->conn, bytes);
    free(copy);
}

/* What the server holds for its connections is what it has charged, account by account, and is within the bound; and
 * what waits in the network for a peer that does not read is among it. */
static void check_memory(struct sessionlab *l) {
    const struct server *s = l->server;
    uint64_t sessions_bytes = 0, accounts_bytes = 0;
    for (uint32_t i = 1; i <= s->sessions.high; i++) {
        const struct session *n = pool_at(&s->sessions, i);
        const struct sessionlab_conn *c = conn_of(l, n->conn);
        if (n->conn.v == 0) continue;
        sessions_bytes += n->charged;
        if (c != NULL) ENSURE(c->unsent <= n->charged + LOOK_BYTES);
    }
    for (uint32_t i = 1; i <= s->budget.accounts.high; i++) {
        const struct account *a = pool_at(&s->budget.accounts, i);
        if (a->key != 0) accounts_bytes += a->bytes;
    }
    ENSURE(s->budget.bytes == sessions_bytes);
    ENSURE(s->budget.bytes == accounts_bytes);
    ENSURE(s->budget.bytes <= MEMORY_BYTES + PASS_BYTES);
}

void sessionlab_pass(struct sessionlab *l) {
    struct why why = {{0}};
    for (uint32_t i = 0; i < SESSIONLAB_CONNS; i++)
        if (l->conns[i].conn.v != 0 && !l->conns[i].hung_up) deliver(l, &l->conns[i]);
    server_pass(l->server);
    ENSURE(server_failed(l->server, &why) == ERR_OK);
    check_memory(l);
}

void sessionlab_step(struct sessionlab *l) {
    (void)server_step(l->server);
}

static bool is_durable(const struct sessionlab *l) {
    const struct shard *h = server_shard(l->server);
    return h->append.state == APPEND_NONE && engine_lsn(h->engine) == engine_durable_lsn(h->engine);
}

static bool is_settled(struct sessionlab *l) {
    struct server *s = l->server;
    return is_durable(l) && !writer_is_busy(server_shard(s)->writer) && shard_is_idle(server_shard(s)) &&
           s->hung_up.count == 0 && server_next(s).ms > clock_mono(&l->clock).ms;
}

void sessionlab_settle(struct sessionlab *l) {
    for (uint32_t i = 0; i < SETTLE_TURNS; i++) {
        sessionlab_pass(l);
        bool worked = server_step(l->server);
        if (!worked && is_settled(l)) return;
        if (!worked) l->now_ms++;
    }
}

/* Nobody hears of it: they find out when they speak. */
static void forget_peers(struct sessionlab *l) {
    for (uint32_t i = 0; i < SESSIONLAB_CONNS; i++) conn_free(&l->conns[i]);
}

void sessionlab_restart(struct sessionlab *l, bool clean) {
    if (clean) {
        sessionlab_settle(l);
        l->compares = is_durable(l);
        struct digest d = engine_digest(server_shard(l->server)->engine);
        l->digest[0] = d.lo;
        l->digest[1] = d.hi;
    } else {
        simdisk_gone(l->disk);
    }
    server_close(l->server);
    l->history = NULL; /* closed with it */
    forget_peers(l);
    simdisk_crash(l->disk, clean ? SIMDISK_KEEP_ALL : SIMDISK_DROP_ALL);
    start(l);
}

/* ---- nothing is left ---- */

static void check_empty(const struct server *s) {
    ENSURE(s->sessions.count == 0);
    ENSURE(s->session_by_conn.count == 0);
    ENSURE(s->session_by_worker.count == 0);
    ENSURE(server_shard(s)->calls.count == 0 && shard_is_idle(server_shard(s)));
    ENSURE(s->hung_up.count == 0);
    ENSURE(webs_of(s)->all.count == 0);
    ENSURE(webs_of(s)->exchanges.count == 0);
    ENSURE(titan_of(s)->talks.count == 0);
    ENSURE(resps_of(s)->all.count == 0);
    ENSURE(transfers_of(s)->uploads.count == 0 && transfers_of(s)->upload_by_number.count == 0);
    ENSURE(transfers_of(s)->downloads.count == 0);
    ENSURE(event_ring_of(s)->waits.count == 0 && event_ring_of(s)->targets.count == 0 &&
           event_ring_of(s)->by_flow.count == 0);
    ENSURE(subscribers_of(s)->followers.count == 0);
    ENSURE(flow_events_of(s)->all.count == 0);
    ENSURE(demands_of(s)->watchers.count == 0);
    ENSURE(orion_stream_of(s)->clients.count == 0 && orion_stream_of(s)->joining.count == 0);
    ENSURE(sessionlab_watches(server_shard(s)->engine) == 0);
}

void sessionlab_rest(struct sessionlab *l) {
    for (uint32_t i = 0; i < SESSIONLAB_CONNS; i++) sessionlab_close(l, i);
    sessionlab_settle(l);
    l->now_ms += 1000; /* what is looked at now and then only */
    sessionlab_settle(l);
    check_empty(l->server);
    sessionlab_restart(l, true);
    sessionlab_settle(l);
}
