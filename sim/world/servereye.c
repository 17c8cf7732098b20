/* servereye.c: what the simulator sees inside the server, as its guest, and what it hears leave on the network. Tells
 * the judges, and answers for the parts of a server that are not there yet. Part of serverhost.h. */
#include "panic.h"
#include "part.h"
#include "serverhost.h"
#include "simstore.h"
#include "simwire.h"
#include "wire.h"
#include "world.h"

#define CALLS_MAX 1000000u

struct server_call { /* a command on its way through the engine */
    uint64_t token;  /* first: never 0 while in use */
    uint64_t number; /* unique in a run */
    uint64_t lsn;    /* of the state after it was decided: nothing older may be shown */
    uint32_t node;
    struct msg *ask; /* came by the back door */
    enum command_kind kind;
    struct log_owed log; /* of an end */
};

/* The words of workers are answered for when they leave the server; those of clients when they arrive. */
static bool is_worker(const struct serverhost *h, uint32_t node) {
    return node >= 1 && node <= h->w->plan.workers;
}

/* ---- calls ---- */

static void call_free(struct serverhost *h, struct server_call *call) {
    simmsg_unref(&h->w->msgs, call->ask);
    pool_free(&h->calls, map_del(&h->call_by_token, call->token));
}

static void calls_forget(struct serverhost *h) {
    for (uint32_t i = 1; i <= h->calls.high; i++) {
        struct server_call *call = pool_at(&h->calls, i);
        if (call->token != 0) call_free(h, call);
    }
}

/* ---- recovery ---- */

static void replayed(void *ctx, const struct batch *b) {
    struct serverhost *h = ctx;
    const char *wrong = simlog_recovered(&h->log, b);
    if (wrong)
        world_red(h->w, "journal", "%s (LSN %lu..%lu)", wrong, (unsigned long)b->first_lsn, (unsigned long)b->last_lsn);
    adapter_batch(&h->w->adapter, b, true);
}

/* What the journal settled about the batch that was lost. */
static void check_settled(struct serverhost *h, uint64_t head) {
    bool must_be_there = h->struck == RAM_UNKNOWN_KEPT || h->struck == RAM_UNKNOWN_LATE;
    if (!h->is_reopening || !h->log.has_pending) return;
    h->is_reopening = false;
    if (must_be_there != (head >= h->log.pending.last_lsn))
        world_red(h->w, "reopen", "the batch of LSN %lu..%lu (fault %d), the journal ends at %lu",
                  (unsigned long)h->log.pending.first_lsn, (unsigned long)h->log.pending.last_lsn, (int)h->struck,
                  (unsigned long)head);
}

static void resumes(void *ctx, struct engine *e, uint64_t epoch) {
    struct serverhost *h = ctx;
    uint64_t head = engine_lsn(e);
    WORLD_NOTE(h->w, head, epoch, 0, "server: recovered up to %lu, epoch %lu", (unsigned long)head,
               (unsigned long)epoch);
    if (epoch <= h->epoch)
        world_red(h->w, "epoch", "it was %lu, and is %lu", (unsigned long)h->epoch, (unsigned long)epoch);
    if (head < h->durable_lsn)
        world_red(h->w, "lost", "LSN %lu was durable, the journal ends at %lu", (unsigned long)h->durable_lsn,
                  (unsigned long)head);
    check_settled(h, head);
    h->engine = e;
    h->epoch = epoch;
    h->durable_lsn = head;
    simlog_resumed(&h->log, head);
    proofeye_look(&h->proof, h->w, &h->log);
    adapter_restarted(&h->w->adapter, epoch, head);
    for (uint32_t i = 0; i < NET_NODES_MAX; i++) h->heard_ms[i] = world_mono(h->w).ms;
    memset(h->lapsed, 0, sizeof h->lapsed);
    memset(h->attached, 0, sizeof h->attached);
    ledger_restarted(&h->ledger);
}

/* For everybody outside as if it had crashed: what was not durable may be there afterwards or not, and nobody who waits
 * for an answer gets one. */
static void lost(void *ctx) {
    struct serverhost *h = ctx;
    WORLD_NOTE(h->w, 80, h->durable_lsn, 0, "server: has lost its shard, durable %lu", (unsigned long)h->durable_lsn);
    adapter_crashed(&h->w->adapter);
    calls_forget(h);
    h->is_reopening = true;
    h->engine = NULL;
    h->appending = false;
    h->projected_lsn = 0;
}

/* ---- commands ---- */

/* What the ledger must know to judge: when a worker was last heard, and what it says it holds. */
static void note_worker(struct serverhost *h, uint32_t node, const struct command *cmd) {
    uint32_t gone = cmd->kind == CMD_DETACH ? worker_node(cmd->as.worker.worker) : 0;
    if (gone != 0) h->attached[gone] = false;
    if (!is_worker(h, node)) return;
    bool attaches = cmd->kind == CMD_ATTACH && cmd->as.attach.incarnation >= h->incarnations[node];
    bool present = h->attached[node] && cmd->as.worker.incarnation == h->incarnations[node];
    bool beats = cmd->kind == CMD_HEARTBEAT && present;
    if (attaches) {
        h->incarnations[node] = cmd->as.attach.incarnation;
        h->attached[node] = true;
        ledger_attached(&h->ledger, node, &cmd->as.attach);
    }
    if (!attaches && !beats) return;
    int64_t now_ms = world_mono(h->w).ms;
    if (now_ms - h->heard_ms[node] >= h->w->plan.limits.lease_ms) h->lapsed[node] = true;
    h->heard_ms[node] = now_ms;
}

static struct server_call *call_new(struct serverhost *h, uint32_t node, const struct command *cmd) {
    uint32_t index = pool_alloc(&h->calls);
    ENSURE(index != 0);
    struct server_call *call = pool_at(&h->calls, index);
    *call = (struct server_call){.token = cmd->token, .number = ++h->call_last, .node = node, .kind = cmd->kind};
    const struct cmd_attempt *a = &cmd->as.attempt;
    if (cmd->kind == CMD_DONE) call->log = (struct log_owed){a->job, a->attempt, a->log_bytes};
    ENSURE(map_get(&h->call_by_token, cmd->token) == 0);
    map_put(&h->call_by_token, cmd->token, index);
    return call;
}

static struct server_call *call_of(struct serverhost *h, uint64_t token) {
    uint32_t index = token ? map_get(&h->call_by_token, token) : 0;
    return index ? pool_at(&h->calls, index) : NULL;
}

static uint32_t node_of(struct serverhost *h, conn_id conn) {
    return conn.v ? simnet_node_of(&h->w->net, conn) : NET_SERVER;
}

/* ---- whose it is ---- */

static struct trace_bytes bytes_of(struct slice s) {
    return (struct trace_bytes){s.ptr, (uint32_t)s.len};
}

static void touched(struct serverhost *h, enum trace_kind kind, uint32_t node, struct slice of, flow_id flow) {
    struct trace_entry e = {.kind = kind};
    e.as.touch = (struct trace_touch){bytes_of(world_tenant(h->w, node)), bytes_of(of), flow.v};
    if (e.as.touch.by.len > 0) adapter_judge(&h->w->adapter, &e);
}

static void touched_flow(struct serverhost *h, enum trace_kind kind, uint32_t node, flow_id id) {
    struct flow_view flow;
    if (id.v != 0 && view_flow(engine_state(h->engine), id, &flow)) touched(h, kind, node, flow.tenant, id);
}

static void touched_worker(struct serverhost *h, uint32_t node, struct slice id) {
    struct worker_view v;
    uint32_t number = view_worker_by_id(engine_state(h->engine), id);
    if (number != 0 && view_worker(engine_state(h->engine), engine_live(h->engine), number, &v))
        touched(h, TW_CHANGED, node, v.info->tenant, (flow_id){0});
}

/* A command that changed something: of whom was that? */
static void judge_change(struct serverhost *h, uint32_t node, const struct command *cmd) {
    enum command_kind kind = cmd->kind;
    if (engine_lsn(h->engine) == h->lsn_before) return;
    if (kind == CMD_STARTED || kind == CMD_PROGRESS || kind == CMD_HEALTH || kind == CMD_DONE)
        touched_flow(h, TW_CHANGED, node, cmd->as.attempt.job.flow);
    if (kind == CMD_CANCEL) touched_flow(h, TW_CHANGED, node, cmd->as.cancel.flow);
    if (kind == CMD_PAUSE) touched_flow(h, TW_CHANGED, node, cmd->as.pause.flow);
    if (kind == CMD_RETRY || kind == CMD_DISCARD) touched_flow(h, TW_CHANGED, node, cmd->as.job.flow);
    if (kind == CMD_RERUN) touched_flow(h, TW_CHANGED, node, cmd->as.flow);
    if (kind == CMD_VERDICT) touched_flow(h, TW_CHANGED, node, cmd->as.verdict.job.flow);
    if (kind == CMD_ATTACH) touched_worker(h, node, cmd->as.attach.worker);
    if (kind == CMD_DETACH || kind == CMD_DRAIN) touched_worker(h, node, cmd->as.worker.worker);
}

static void judge_assign(struct serverhost *h, conn_id conn, const struct frame *f) {
    struct wire_assign m;
    struct why why;
    struct arena arena;
    arena_init(&arena, 4096, (size_t)64 << 20);
    if (wire_take(f, &arena, &m, &why) != ERR_OK) world_red(h->w, "frame", "an assignment that nobody reads");
    const struct wire_assignment *list = m.assignments.at;
    for (uint32_t i = 0; i < m.assignments.count; i++)
        touched_flow(h, TW_TOLD, node_of(h, conn), (flow_id){list[i].attempt.flow});
    arena_fini(&arena);
}

static void asked(void *ctx, conn_id conn, uint32_t request, const struct command *cmd) {
    struct serverhost *h = ctx;
    uint32_t node = node_of(h, conn);
    if (h->doomed) return;
    uint64_t number = 0;
    if (cmd->token != 0 && !part_is_token(cmd->token)) number = call_new(h, node, cmd)->number;
    struct peer_pending *p = world_pending(h->w, node, conn, request);
    if (p) p->call = number;
    WORLD_NOTE(h->w, node, cmd->kind, number, "server: node %u asks %d (call %lu)", node, (int)cmd->kind,
               (unsigned long)number);
    adapter_asked(&h->w->adapter, number, cmd, engine_now(h->engine));
    h->lsn_before = engine_lsn(h->engine);
}

static void decided(void *ctx, conn_id conn, uint32_t request, const struct command *cmd) {
    struct serverhost *h = ctx;
    uint32_t node = node_of(h, conn);
    if (h->doomed) return;
    struct server_call *call = call_of(h, cmd->token);
    if (call) call->lsn = engine_lsn(h->engine);
    if (cmd->kind == CMD_PROJECTED && cmd->as.lsn > h->projected_lsn) h->projected_lsn = cmd->as.lsn;
    if (call) simstore_decided(h, call->number, world_pending(h->w, node, conn, request), cmd, h->lsn_before);
    note_worker(h, node, cmd);
    judge_change(h, node, cmd);
}

/* ---- the back door ---- */

static void turn(void *ctx) {
    struct serverhost *h = ctx;
    h->last_ms = engine_now(h->engine).ms;
    for (uint32_t i = 0; i < h->inbox.count; i++) {
        struct msg *m = *(struct msg **)vec_at(&h->inbox, i);
        struct command cmd = m->cmd;
        cmd.token = m->node != NET_SERVER ? OBSERVER_TOKEN | (h->call_last + 1) : 0;
        if (!h->doomed) {
            asked(h, (conn_id){0}, 0, &cmd);
            engine_command(h->engine, &cmd);
            decided(h, (conn_id){0}, 0, &cmd);
            struct server_call *call = call_of(h, cmd.token);
            if (call) call->ask = simmsg_ref(m);
            if (call) call->node = m->node;
        }
        simmsg_unref(&h->w->msgs, m);
    }
    h->inbox.count = 0;
}

static uint64_t projected(void *ctx) {
    return ((struct serverhost *)ctx)->history_lsn;
}

static void arrives(void *ctx, uint64_t arg) {
    struct world *w = ctx;
    struct msg *m = (struct msg *)(uintptr_t)arg;
    world_answer(w, m);
    simmsg_unref(&w->msgs, m);
}

static void answer_inside(struct serverhost *h, const struct server_call *call, const struct reply *reply) {
    struct msg *m = simmsg_new(&h->w->msgs, call->ask->node);
    m->asked = call->kind;
    m->request = call->ask->request;
    m->call = call->number;
    m->lsn = call->lsn;
    m->reply = *reply;
    equeue_in(&h->w->queue, rng_range(&h->rng, 10, h->w->plan.net_us), arrives, h->w, (uint64_t)(uintptr_t)m);
}

/* ---- records ---- */

static void appends(void *ctx, const struct batch *b) {
    struct serverhost *h = ctx;
    if (h->doomed) return;
    ENSURE(b->first_lsn == h->durable_lsn + 1);
    h->appending = true;
    adapter_batch(&h->w->adapter, b, false);
    memset(h->lapsed, 0, sizeof h->lapsed);
    simlog_begin(&h->log, b);
}

static void durable(void *ctx, uint64_t lsn) {
    struct serverhost *h = ctx;
    if (h->doomed) return;
    h->appending = false;
    h->durable_lsn = lsn;
    WORLD_NOTE(h->w, lsn, 70, 0, "journal: durable up to %lu", (unsigned long)lsn);
    simlog_commit(&h->log);
    proofeye_look(&h->proof, h->w, &h->log);
    adapter_durable(&h->w->adapter, lsn);
}

/* ---- effects ---- */

static void check_answer(struct serverhost *h, const struct effect *e) {
    if (part_is_token(e->as.answer.token)) return; /* to itself */
    struct server_call *call = call_of(h, e->as.answer.token);
    const struct reply *reply = e->as.answer.reply;
    if (call == NULL)
        world_red(h->w, "answer", "token %lu is answered, nobody waits", (unsigned long)e->as.answer.token);
    if (call->lsn > h->durable_lsn)
        world_red(h->w, "early_answer", "call %lu was decided at LSN %lu, durable is %lu", (unsigned long)call->number,
                  (unsigned long)call->lsn, (unsigned long)h->durable_lsn);
    WORLD_NOTE(h->w, call->node, reply->err, reply->flow.v, "server: answers call %lu of node %u: %s %s",
               (unsigned long)call->number, call->node, err_word(reply->err), reply->why.text);
    if (is_worker(h, call->node)) {
        struct msg m = {.call = call->number, .lsn = call->lsn, .asked = call->kind, .reply = *reply};
        adapter_answered(&h->w->adapter, &m);
        if (call->log.bytes > 0 && reply->err == ERR_OK) *(struct log_owed *)vec_push(&h->logs) = call->log;
    } else if (call->ask) {
        answer_inside(h, call, reply);
    }
    call_free(h, call);
}

static void note_attempt(struct serverhost *h, const struct effect *e) {
    const struct attempt_effect *a = &e->as.attempt;
    static const char *const words[] = {[EFFECT_ASSIGN] = "assigns", [EFFECT_STOP] = "stops", [EFFECT_DROP] = "drops"};
    WORLD_NOTE(h->w, a->worker * 8 + e->kind, a->job.flow.v, a->attempt, "server: %s %lu/%u#%u at worker number %u",
               words[e->kind], (unsigned long)a->job.flow.v, a->job.ordinal, a->attempt, a->worker);
    ledger_sent(&h->ledger, a->job, a->attempt);
}

static void note_event(struct serverhost *h, const struct effect *e) {
    const struct event *v = &e->as.event;
    if (v->kind != EVENT_JOB) return;
    WORLD_NOTE(h->w, v->job.flow.v, v->job.ordinal, v->to, "event: %lu/%u %s -> %s (%s)#%u",
               (unsigned long)v->job.flow.v, v->job.ordinal, job_state_word(v->from), job_state_word(v->to),
               job_cause_word(v->cause), v->attempt);
}

static void maybe_die(struct serverhost *h, const struct effect *e) {
    if (e->kind == EFFECT_EVENT || !rng_chance(&h->rng, (uint32_t)h->w->plan.effect_crash_ppm / 2)) return;
    serverhost_doom(h, rng_below(&h->rng, 2) ? CRASH_KILL : CRASH_POWER);
}

static void leaves(void *ctx, const struct effect *e) {
    struct serverhost *h = ctx;
    if (!h->doomed) maybe_die(h, e);
    if (h->doomed) return;
    if (e->lsn > h->durable_lsn)
        world_red(h->w, "early_effect", "effect %d of LSN %lu leaves, durable is %lu", (int)e->kind,
                  (unsigned long)e->lsn, (unsigned long)h->durable_lsn);
    adapter_released(&h->w->adapter, e, h->epoch);
    switch (e->kind) {
    case EFFECT_ANSWER: check_answer(h, e); break;
    case EFFECT_EVENT: note_event(h, e); break;
    case EFFECT_ASSIGN:
    case EFFECT_STOP:
    case EFFECT_DROP: note_attempt(h, e); break;
    case EFFECT_QUESTION:
        WORLD_NOTE(h->w, e->as.question.question.v, e->as.question.revision, e->as.question.gate,
                   "server: asks question %lu.%u (gate %d)", (unsigned long)e->as.question.question.v,
                   e->as.question.revision, (int)e->as.question.gate);
        break;
    case EFFECT_CHANGED:
    case EFFECT_PUBLISHED: simstore_released(h, e); break;
    case EFFECT_SLOTS_WANTED:
    case EFFECT_TOKEN_ENDED: break;
    }
}

static void left(void *ctx, const struct effect *e) {
    struct serverhost *h = ctx;
    if (!h->doomed) maybe_die(h, e);
}

/* ---- the tap: whatever leaves on a connection shows nothing that is not durable ---- */

static struct serverhost *of_tap(struct net *n) {
    return (struct serverhost *)(void *)((char *)n - offsetof(struct serverhost, tap));
}

static void tap_send(struct net *n, conn_id c, struct slice bytes) {
    struct serverhost *h = of_tap(n);
    struct slice left_over = bytes;
    while (!h->doomed && left_over.len > 0) { /* a server sends whole frames */
        struct frame f;
        struct why why;
        size_t need = 0;
        enum err e = frame_take(&left_over, bytes.len, &f, &need, &why);
        if (e != ERR_OK || need != 0) world_red(h->w, "frame", "the server sends what is no whole frame");
        if (f.opcode == WIRE_ASSIGN) judge_assign(h, c, &f);
        uint64_t lsn = simwire_lsn(&f);
        if (lsn > h->durable_lsn)
            world_red(h->w, "early_answer", "a frame `%s` of LSN %lu leaves, durable is %lu", wire_word(f.opcode),
                      (unsigned long)lsn, (unsigned long)h->durable_lsn);
    }
    h->net->ops->send(h->net, c, bytes);
}

static conn_id tap_dial(struct net *n, const char *address, const struct net_handler *handler) {
    struct serverhost *h = of_tap(n);
    return h->net->ops->dial(h->net, address, handler);
}

static uint64_t tap_unsent(struct net *n, conn_id c) {
    struct serverhost *h = of_tap(n);
    return h->net->ops->unsent(h->net, c);
}

static void tap_pause(struct net *n, conn_id c, bool on) {
    struct serverhost *h = of_tap(n);
    h->net->ops->pause(h->net, c, on);
}

static void tap_close(struct net *n, conn_id c) {
    struct serverhost *h = of_tap(n);
    h->net->ops->close(h->net, c);
}

/* ---- life ---- */

void servereye_init(struct serverhost *h) {
    static const struct net_ops tap_ops = {tap_dial, tap_send, tap_unsent, tap_pause, tap_close, NULL, NULL, NULL};
    h->tap.ops = &tap_ops;
    h->guest =
        (struct observer){h, replayed, resumes, lost, turn, projected, asked, decided, appends, durable, leaves, left};
    vec_init(&h->inbox, sizeof(struct msg *));
    vec_init(&h->logs, sizeof(struct log_owed));
    pool_init(&h->calls, sizeof(struct server_call), CALLS_MAX);
    map_init(&h->call_by_token);
}

void servereye_forget(struct serverhost *h) {
    calls_forget(h);
    for (uint32_t i = 0; i < h->inbox.count; i++) simmsg_unref(&h->w->msgs, *(struct msg **)vec_at(&h->inbox, i));
    h->inbox.count = 0;
}
