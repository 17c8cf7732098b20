/* titan_session.c: frames in, texts out. See titan_session.h. */
#include "titan_session.h"

#include <stdarg.h>
#include <stdio.h>

#include "http_dialect.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "titan_capability.h"
#include "titan_fleet.h"
#include "titan_impl.h"
#include "titan_web.h"

#define TALKS_MAX 100000u
#define ARENA_CHUNK_BYTES 4096u
#define ARENA_BYTES_MAX ((size_t)1 << 30)
#define HEARD_BYTES_MAX ((size_t)256 << 20)
#define IN_BYTES_MAX ((size_t)TITAN_BODY_BYTES_MAX + TITAN_HEADER_BYTES + (1u << 20))
#define WAITING_BYTES_MAX 65536u         /* of frames behind the one that is served; then the peer is not read */
#define KEPT_BYTES_MAX ((size_t)1 << 20) /* of a buffer, after a large frame */

/* ---- life ---- */

static int64_t now_of(const struct server *s) {
    return s->world.clock->mono(s->world.clock).ms;
}

static void deadline(struct server *s, struct titan_talk *t, int64_t at_ms) {
    struct heap *h = &titan_of(s)->deadlines;
    if (at_ms != TIME_NEVER && t->position != 0)
        heap_rekey(h, t->position, at_ms);
    else if (at_ms != TIME_NEVER)
        heap_push(h, at_ms, t->index);
    else if (t->position != 0)
        heap_remove(h, t->position);
}

void titan_be(const struct server *s, struct session *n) {
    n->state = SESSION_OPEN;
    n->who.roles = ROLE_BIT(ROLE_SUBMITTER) | ROLE_BIT(ROLE_VIEWER) | ROLE_BIT(ROLE_OPERATOR);
    snprintf(n->who.name, sizeof n->who.name, "%s", TITAN_PRINCIPAL);
    snprintf(n->who.tenant, sizeof n->who.tenant, "%s", titan_of(s)->options->tenant);
}

struct titan_talk *titan_talk_open(struct server *s, struct session *n) {
    uint32_t index = pool_alloc(&titan_of(s)->talks);
    if (index == 0) {
        session_end(s, n);
        return NULL;
    }
    struct titan_talk *t = pool_at(&titan_of(s)->talks, index);
    t->conn = n->conn;
    t->index = index;
    t->since_ms = now_of(s);
    arena_init(&t->arena, ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    buf_init(&t->heard, HEARD_BYTES_MAX);
    buf_init(&t->later, IN_BYTES_MAX);
    buf_init(&t->text, HEARD_BYTES_MAX);
    return t;
}

struct titan_talk *talk_of(const struct session *n) {
    return n->dialect == &titan_dialect ? n->dialect_state : web_of(n)->own;
}

static void opened(void *ctx, conn_id conn, const struct net_peer *peer) {
    struct session *n = session_open(ctx, conn, peer, &titan_dialect);
    if (n != NULL) (void)session_speak(ctx, n, &titan_dialect);
}

static bool open(struct server *s, struct session *n) {
    struct titan_talk *t = titan_talk_open(s, n);
    if (t == NULL) return false;
    n->dialect_state = t;
    n->in.max = IN_BYTES_MAX;
    titan_be(s, n);
    deadline(s, t, t->since_ms + s->limits->titan_idle_ms);
    return true;
}

void titan_talk_close(struct server *s, struct titan_talk *t) {
    if (t == NULL) return; /* there were too many */
    deadline(s, t, TIME_NEVER);
    arena_fini(&t->arena);
    buf_fini(&t->heard);
    buf_fini(&t->later);
    buf_fini(&t->text);
    pool_free(&titan_of(s)->talks, t->index);
}

static void closed(struct server *s, struct session *n) {
    titan_talk_close(s, n->dialect_state);
}

/* ---- time ---- */

/* Whoever takes some of its answer, however slowly, is waited for. */
static bool takes_answers(struct server *s, struct titan_talk *t) {
    uint64_t unsent = s->world.net->ops->unsent(s->world.net, t->conn), before = t->unsent;
    t->unsent = unsent;
    return unsent > 0 && (before == 0 || unsent < before);
}

int64_t titan_expire(struct server *s) {
    const struct heap_item *top;
    while ((top = heap_top(&titan_of(s)->deadlines)) != NULL && top->key <= s->now_ms) {
        struct titan_talk *t = pool_at(&titan_of(s)->talks, (uint32_t)top->ref);
        if (takes_answers(s, t))
            deadline(s, t, s->now_ms + s->limits->titan_idle_ms);
        else
            session_end(s, session_of(s, t->conn));
    }
    return top != NULL ? top->key : TIME_NEVER;
}

static void wait_for_frame(struct server *s, struct session *n) {
    struct titan_talk *t = talk_of(n);
    int64_t now = now_of(s);
    if (n->in.len == 0) {
        t->since_ms = 0;
        deadline(s, t, now + s->limits->titan_idle_ms);
        return;
    }
    if (t->since_ms == 0) t->since_ms = now;
    deadline(s, t, t->since_ms + s->limits->titan_frame_ms + (int64_t)(n->in.len / 1024));
}

/* ---- frames ---- */

static titan_serve_fn serve_of(uint8_t opcode) {
    static const struct {
        uint8_t opcode;
        titan_serve_fn serve;
    } known[] = {
        {TITAN_SUBMIT_JOB, titan_submit_job},
        {TITAN_SUBMIT_DAG, titan_submit_dag},
        {TITAN_DEPLOY, titan_deploy},
        {TITAN_RUN, titan_run},
        {TITAN_STOP, titan_stop},
        {TITAN_STATS, titan_stats},
        {TITAN_STATS_JSON, titan_stats_json},
        {TITAN_CLEAN_STATS, titan_clean_stats},
        {TITAN_KILL_WORKER, titan_kill_worker},
        {TITAN_GET_LOGS, titan_logs},
        {TITAN_UPLOAD_ASSET, titan_upload},
        {TITAN_FETCH_ASSET, titan_fetch},
        {TITAN_GET_JOB_STATUS, titan_status},
        {TITAN_CANCEL_JOB, titan_cancel},
        {TITAN_DEPLOY_SCRIPT, titan_deploy_script},
        {TITAN_KV_SET, titan_kv_set},
        {TITAN_KV_GET, titan_kv_get},
        {TITAN_KV_SADD, titan_kv_sadd},
        {TITAN_KV_SMEMBERS, titan_kv_smembers},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].opcode == opcode) return known[i].serve;
    return NULL;
}

static void serve(struct server *s, struct session *n, const struct titan_frame *f) {
    titan_serve_fn fn = serve_of(f->opcode);
    if (fn != NULL)
        fn(s, n, f->body);
    else if (f->opcode == TITAN_REGISTER || f->opcode == TITAN_UNREGISTER_SERVICE || f->opcode == TITAN_JOB_COMPLETE ||
             f->opcode == TITAN_LOG_STREAM || f->opcode == TITAN_LOG_BATCH)
        titan_fleet_frame(s, n, f);
    else
        titan_sayf(s, n, "UNKNOWN_OPCODE: %d", (int8_t)f->opcode);
}

/* Serves frames until one has to be waited for, or the next one has not come. */
static void frames_serve(struct server *s, struct session *n) {
    struct titan_talk *t = talk_of(n);
    while (!t->busy) {
        struct slice in = buf_slice(&n->in);
        struct titan_frame f;
        struct why why;
        size_t need = 0;
        /* As Titan does: whoever speaks another version, or too long, hears nothing. */
        if (in.len > 0 && titan_take(&in, TITAN_BODY_BYTES_MAX, &f, &need, &why) != ERR_OK) {
            server_log(s, SERVER_WARN, "refused", "%s: %s", n->address, why.text);
            session_end(s, n);
            return;
        }
        if (n->in.len == 0 && t->has_served && !t->keeps) { /* as Titan does: clients may read to the end */
            session_end(s, n);
            return;
        }
        if (n->in.len == 0 || need != 0) {
            wait_for_frame(s, n);
            return;
        }
        t->busy = true;
        t->opcode = f.opcode;
        t->frame_bytes = TITAN_HEADER_BYTES + f.body.len;
        deadline(s, t, TIME_NEVER);
        serve(s, n, &f);
    }
}

static void received(struct server *s, struct session *n, struct slice bytes) {
    struct titan_talk *t = talk_of(n);
    if (t->busy) { /* what is served lies in `in`, which must not move */
        buf_put_slice(&t->later, bytes);
        if (t->later.len > WAITING_BYTES_MAX && !n->paused) session_pause(s, n, true);
        return;
    }
    buf_put_slice(&n->in, bytes);
    frames_serve(s, n);
}

/* ---- messages ---- */

void titan_ask(struct server *s, struct session *n, uint8_t op, const void *message, titan_told_fn then) {
    struct titan_talk *t = talk_of(n);
    struct why why = {{0}};
    REQUIRE(t->busy);
    if (tlv_check(wire_info(op)->desc, message, &why) != ERR_OK) {
        titan_sayf(s, n, "ERROR: %s", why.text);
        return;
    }
    t->request = t->request == UINT32_MAX ? 1 : t->request + 1; /* 0 would ask for no answer */
    t->told = then;
    buf_clear(&titan_of(s)->out);
    tlv_encode(wire_info(op)->desc, message, &titan_of(s)->out);
    session_enqueue(s, n, op, t->request, buf_slice(&titan_of(s)->out));
    if (titan_of(s)->out.slots > KEPT_BYTES_MAX) {
        size_t max = titan_of(s)->out.max;
        buf_fini(&titan_of(s)->out);
        buf_init(&titan_of(s)->out, max);
    }
}

/* Whoever sends to us may be in the middle of something: it is looked at when the pass is over. */
static void get_ready(struct server *s, struct session *n) {
    struct titan_talk *t = talk_of(n);
    if (t->ready) return;
    t->ready = true;
    *(conn_id *)vec_push(&titan_of(s)->ready) = n->conn;
}

void titan_heard(struct server *s, struct session *n, struct slice frames) {
    buf_put_slice(&talk_of(n)->heard, frames);
    get_ready(s, n);
}

void titan_tell(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
                const void *message) {
    wire_put(&talk_of(n)->heard, op, flags, request, message);
    get_ready(s, n);
}

static void told(struct server *s, struct session *n, const struct frame *f) {
    struct titan_talk *t = talk_of(n);
    struct why why = {{0}};
    if (f->opcode == WIRE_GOODBYE && n->dialect != &titan_dialect) web_goodbye(s, n);
    if (!t->busy || f->request != t->request) return; /* of a frame that was answered */
    void *message = arena_alloc(&s->arena, wire_info(f->opcode)->desc->size);
    enum err e = wire_take(f, &s->arena, message, &why);
    if (e != ERR_OK)
        titan_sayf(s, n, "SERVER_ERROR: %s", why.text);
    else
        t->told(s, n, f->opcode, message, (f->flags & FRAME_MORE) != 0);
}

/* The answers that are there; more may come meanwhile, behind them. */
static void heard_serve(struct server *s, struct session *n) {
    struct titan_talk *t = talk_of(n);
    struct buf heard = t->heard;
    struct slice left = buf_slice(&heard);
    conn_id conn = n->conn;
    buf_init(&t->heard, HEARD_BYTES_MAX);
    t->ready = false;
    while (left.len > 0 && session_of(s, conn) == n) {
        struct frame f;
        struct why why;
        size_t need = 0;
        enum err e = frame_take(&left, HEARD_BYTES_MAX, &f, &need, &why);
        ENSURE(e == ERR_OK && need == 0);
        arena_reset(&s->arena);
        told(s, n, &f);
    }
    buf_fini(&heard);
    if (session_of(s, conn) == n && !t->busy && n->dialect == &titan_dialect) frames_serve(s, n);
}

void titan_step(struct server *s) {
    uint32_t count = titan_of(s)->ready.count; /* who is entered meanwhile waits for the next pass */
    for (uint32_t i = 0; i < count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(&titan_of(s)->ready, i));
        if (n != NULL) heard_serve(s, n);
    }
    uint32_t left = titan_of(s)->ready.count - count;
    if (left > 0) memmove(titan_of(s)->ready.at, vec_at(&titan_of(s)->ready, count), left * sizeof(conn_id));
    titan_of(s)->ready.count = left;
}

/* ---- answers ---- */

static void frame_drop(struct session *n) {
    struct titan_talk *t = talk_of(n);
    size_t left = n->in.len - t->frame_bytes;
    if (left > 0) memmove(n->in.at, n->in.at + t->frame_bytes, left);
    buf_cut(&n->in, left);
    if (n->in.slots > KEPT_BYTES_MAX && left == 0) {
        buf_fini(&n->in);
        buf_init(&n->in, IN_BYTES_MAX);
    }
    buf_put_slice(&n->in, buf_slice(&t->later));
    buf_fini(&t->later);
    buf_init(&t->later, IN_BYTES_MAX);
}

void titan_talk_reset(struct titan_talk *t) {
    arena_reset(&t->arena);
    buf_fini(&t->text);
    buf_init(&t->text, HEARD_BYTES_MAX);
    t->busy = false;
    t->has_served = true;
    t->work = t->page = NULL;
    t->told = NULL;
    t->said = NULL;
    t->since_ms = 0;
}

static void finish(struct server *s, struct session *n) {
    frame_drop(n);
    titan_talk_reset(talk_of(n));
    if (n->in.len > 0) talk_of(n)->keeps = true;
    budget_charge(s, n);
    if (n->paused) session_pause(s, n, false);
}

void titan_say(struct server *s, struct session *n, struct slice text) {
    struct buf out;
    REQUIRE(talk_of(n)->busy);
    if (talk_of(n)->said != NULL) {
        talk_of(n)->said(s, n, text);
        return;
    }
    buf_init(&out, TITAN_HEADER_BYTES + text.len);
    titan_reply_put(&out, text);
    session_send_raw(s, n, buf_slice(&out));
    buf_fini(&out);
    finish(s, n);
}

void titan_sayf(struct server *s, struct session *n, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    ENSURE(len >= 0);
    char *text = arena_alloc(&talk_of(n)->arena, (size_t)len + 1); /* which lives until it was said */
    va_start(args, format);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    titan_say(s, n, slice_of(text, (size_t)len));
}

bool titan_refused(struct server *s, struct session *n, uint8_t op, const void *message) {
    if (op == WIRE_ERROR)
        titan_sayf(s, n, "ERROR: %.*s", SLICE_FMT(((const struct wire_error *)message)->message));
    else if (op == WIRE_BUSY)
        titan_sayf(s, n, "ERROR: %.*s", SLICE_FMT(((const struct wire_busy *)message)->reason));
    return op == WIRE_ERROR || op == WIRE_BUSY;
}

bool titan_cut(struct slice *in, struct slice *ret) {
    const uint8_t *bar = in->len > 0 ? memchr(in->ptr, '|', in->len) : NULL;
    if (bar == NULL) return false;
    *ret = slice_of(in->ptr, (size_t)(bar - in->ptr));
    *in = slice_of(bar + 1, in->len - ret->len - 1);
    return true;
}

/* ---- all of them ---- */

static void moved(void *ctx, uint64_t ref, uint32_t position) {
    const struct titan *all = ctx;
    ((struct titan_talk *)pool_at(&all->talks, (uint32_t)ref))->position = position;
}

void titan_init(struct server *s) {
    struct titan *all = titan_of(s);
    all->options = dialect_options(s, &titan_dialect);
    all->handler = s->handler;
    all->handler.opened = opened;
    pool_init(&all->talks, sizeof(struct titan_talk), TALKS_MAX);
    heap_init(&all->deadlines, moved, all);
    vec_init(&titan_of(s)->ready, sizeof(conn_id));
    buf_init(&all->out, HEARD_BYTES_MAX);
    titan_web_init(s);
}

void titan_fini(struct server *s) {
    struct titan *all = titan_of(s);
    pool_fini(&all->talks);
    heap_fini(&all->deadlines);
    vec_fini(&titan_of(s)->ready);
    buf_fini(&all->out);
}

/* ---- the dialect ---- */

uint64_t titan_memory_bytes(const struct titan_talk *t) {
    return t->heard.slots + t->later.slots + t->text.slots;
}

static uint64_t memory_bytes(const struct session *n) {
    return titan_memory_bytes(n->dialect_state);
}

/* As Titan does: whoever is refused hears nothing. */
static void refuse(struct server *s, struct session *n, uint32_t request, enum err e, const char *text) {
    (void)s, (void)n, (void)request, (void)e, (void)text;
}

const struct request_row titan_own_row = {.roles = CAN_LOOK | CAN_OPERATE, .names = NAMES_NOTHING, .serve = req_titan};

const struct dialect_ops titan_dialect = {.name = "TITAN_PROTO v1",
                                          .spoken = SPOKEN_TITAN,
                                          .open = open,
                                          .closed = closed,
                                          .received = received,
                                          .decode = request_decode,
                                          .tell = titan_tell,
                                          .frames = titan_heard,
                                          .refuse = refuse,
                                          .memory_bytes = memory_bytes,
                                          .capabilities = titan_capabilities,
                                          .own_op = WIRE_TITAN_GET,
                                          .own_row = &titan_own_row};
