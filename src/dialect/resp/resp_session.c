/* resp_session.c: see resp_session.h. The life of a connection that speaks RESP: bytes in, replies out. */
#include "resp_session.h"

#include <stdio.h>

#include "panic.h"
#include "resp_impl.h"
#include "server_impl.h"
#include "session.h"

#define ARGS_MAX 65536u
#define STRANGER_ARGS_MAX 10u
#define STRANGER_BYTES_MAX 16384u    /* what one who has not said who he is may make us hold */
#define TURN_COMMANDS_MAX 1024u      /* of one connection in one pass: others want their turn */
#define TURN_US 500                  /* the same, in time */
#define PASS_US 4000                 /* for all of them in one pass */
#define PASS_BYTES (1u << 20)        /* of answers, the same: to send them takes time, too */
#define HELD_MAX ((size_t)2 << 20)   /* replies that wait, before the connection has to */
#define REPLY_MAX ((size_t)32 << 20) /* with those before it that wait: HELD_MAX at most */
#define IN_KEPT (256u << 10)         /* a buffer larger than this is given back when it is empty */
#define QUEUE_MAX ((size_t)16 << 20)
#define PAUSE_BYTES (1u << 20)

extern const uint8_t resp_slot;

static void opened(void *ctx, conn_id conn, const struct net_peer *peer) {
    struct session *n = session_open(ctx, conn, peer, &resp_dialect);
    if (n != NULL) (void)session_speak(ctx, n, &resp_dialect);
}

void resp_init(struct server *s) {
    resps_of(s)->options = dialect_options(s, &resp_dialect);
    resps_of(s)->handler = s->handler;
    resps_of(s)->handler.opened = opened;
    resps_of(s)->opened_ms = s->world.clock->mono(s->world.clock).ms;
    /* Not a number that a server before this one gave away. */
    resps_of(s)->bookmark_last = ((uint64_t)s->world.clock->wall(s->world.clock).ms & UINT32_MAX) << 16;
    buf_init(&resps_of(s)->made, REPLY_MAX);
    pool_init(&resps_of(s)->all, sizeof(struct resp), UINT32_MAX - 1u);
    vec_init(&resps_of(s)->ready, sizeof(conn_id));
    vec_init(&resps_of(s)->serving, sizeof(conn_id));
    vec_init(&resps_of(s)->holding, sizeof(conn_id));
}

void resp_fini(struct server *s) {
    for (uint32_t i = 0; resps_of(s)->bookmarks != NULL && i < RESP_BOOKMARKS; i++)
        bytes_free(resps_of(s)->bookmarks[i].where);
    buf_fini(&resps_of(s)->made);
    pool_fini(&resps_of(s)->all);
    vec_fini(&resps_of(s)->ready);
    vec_fini(&resps_of(s)->serving);
    vec_fini(&resps_of(s)->holding);
}

static bool open(struct server *s, struct session *n) {
    uint32_t index = pool_alloc(&resps_of(s)->all);
    part_wake(server_shard(s), resp_slot);
    ENSURE(index != 0);
    struct resp *p = pool_at(&resps_of(s)->all, index);
    p->conn = n->conn;
    p->index = index;
    p->version = 2;
    resp_in_init(&p->in);
    buf_init(&p->held, REPLY_MAX);
    buf_init(&p->queue, QUEUE_MAX);
    vec_init(&p->marks, sizeof(struct resp_mark));
    vec_init(&p->watched, sizeof(struct resp_watched));
    vec_init(&p->subs, sizeof(struct resp_sub));
    n->dialect_state = p;
    resp_welcome(s, n);
    return true;
}

static void closed(struct server *s, struct session *n) {
    struct resp *p = resp_of(n);
    resp_multi_end(p);
    resp_channels_end(p);
    resp_in_fini(&p->in);
    buf_fini(&p->held);
    buf_fini(&p->queue);
    vec_fini(&p->marks);
    vec_fini(&p->watched);
    vec_fini(&p->subs);
    pool_free(&resps_of(s)->all, p->index);
    n->dialect_state = NULL;
}

/* ---- in ---- */

static void get_ready(struct server *s, struct session *n) {
    if (resp_of(n)->is_ready || resp_of(n)->ending) return;
    resp_of(n)->is_ready = true;
    *(conn_id *)vec_push(&resps_of(s)->ready) = n->conn;
}

static void received(struct server *s, struct session *n, struct slice bytes) {
    resp_of(n)->has_spoken = true;
    if (resp_of(n)->ending) return;
    buf_put_slice(&n->in, bytes);
    if (n->in.full) {
        session_refuse(s, n, 0, ERR_LIMIT, "the command is too long");
        return;
    }
    get_ready(s, n);
}

static void drained(struct server *s, struct session *n, bool resumes) {
    if (resumes && n->in.len > 0) get_ready(s, n);
}

static void refuse(struct server *s, struct session *n, uint32_t request, enum err e, const char *text) {
    struct buf line;
    (void)request, (void)e;
    if (!resp_of(n)->has_spoken) return; /* it would take this for the reply to its first command */
    buf_init(&line, 1024);
    struct resp_out o = {&line, resp_of(n)->version};
    resp_errorf(&o, "ERR %s", text);
    session_send_raw(s, n, buf_slice(&line));
    buf_fini(&line);
}

bool resp_waits(const struct server *s) {
    return resps_of(s)->ready.count > 0 && server_shard(s)->append.state != APPEND_FULL;
}

/* ---- out ---- */

bool resp_has_connections(const struct server *s) {
    return resps_of(s)->all.count > 0;
}

bool resp_is_quiet(const struct server *s) {
    return resps_of(s)->holding.count == 0;
}

/* What was just said tells of the present state. Whatever is in the batch that is being filled becomes durable at
 * once, so that there are two marks at most: of the batch that is away, and of this one. */
static void hold(struct server *s, struct session *n) {
    struct resp *p = resp_of(n);
    struct resp_mark *last = p->marks.count > 0 ? vec_at(&p->marks, p->marks.count - 1) : NULL;
    uint64_t lsn = engine_lsn(server_shard(s)->engine);
    bool together = last != NULL && (last->lsn == lsn || last->lsn > server_shard(s)->append.batch.last_lsn);
    if ((last != NULL ? last->end : 0) == p->held.len && !p->ending) return; /* nothing was said */
    if (!together) last = vec_push(&p->marks);
    *last = (struct resp_mark){lsn, p->held.len};
    if (p->is_holding) return;
    p->is_holding = true;
    *(conn_id *)vec_push(&resps_of(s)->holding) = n->conn;
}

void resp_flush(struct server *s, struct session *n) {
    struct resp *p = resp_of(n);
    uint64_t durable = engine_durable_lsn(server_shard(s)->engine);
    size_t end = 0;
    uint32_t gone = 0;
    for (; gone < p->marks.count; gone++) {
        const struct resp_mark *m = vec_at(&p->marks, gone);
        if (m->lsn > durable) break;
        end = m->end;
    }
    if (gone == 0) return;
    session_send_raw(s, n, slice_of(p->held.at, end));
    size_t left = p->held.len - end;
    if (left > 0) memmove(p->held.at, p->held.at + end, left);
    buf_cut(&p->held, left);
    p->marks.count -= gone;
    if (p->marks.count > 0) memmove(p->marks.at, vec_at(&p->marks, gone), p->marks.count * sizeof(struct resp_mark));
    for (uint32_t i = 0; i < p->marks.count; i++) ((struct resp_mark *)vec_at(&p->marks, i))->end -= end;
    if (left == 0 && p->held.slots > IN_KEPT) {
        buf_fini(&p->held);
        buf_init(&p->held, REPLY_MAX);
    }
    budget_charge(s, n);
    if (p->stalled && p->held.len < HELD_MAX) get_ready(s, n);
}

void resp_step(struct server *s) {
    struct vec *holding = &resps_of(s)->holding;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < holding->count; i++) {
        conn_id conn = *(conn_id *)vec_at(holding, i);
        struct session *n = session_of(s, conn);
        if (n == NULL) continue;
        resp_flush(s, n);
        resp_of(n)->is_holding = resp_of(n)->marks.count > 0;
        if (resp_of(n)->is_holding)
            *(conn_id *)vec_at(holding, kept++) = conn;
        else if (resp_of(n)->ending)
            session_end(s, n);
    }
    holding->count = kept;
}

/* ---- serving ---- */

static void cut_in(struct session *n, size_t used) {
    size_t left = n->in.len - used;
    if (left > 0 && used > 0) memmove(n->in.at, n->in.at + used, left);
    buf_cut(&n->in, left);
    if (left > 0 || n->in.slots <= IN_KEPT) return;
    size_t max = n->in.max;
    buf_fini(&n->in);
    buf_init(&n->in, max);
}

static void hang_up(struct resp_ask *x, const char *text) {
    resp_error(&x->out, text);
    x->p->ending = true;
}

/* Pages of browsers can be made to send HTTP to any port of this machine: none of it may be taken for commands. */
static bool is_http(struct slice word) {
    return resp_is(word, "post") || resp_is(word, "host:");
}

enum served { SERVED, SERVED_NOT, SERVED_LATER }; /* not: there is no whole command; later: not in this batch */

/* One command off the front of what has come, *ret_used bytes of it. */
static enum served serve_one(struct resp_ask *x, struct slice in, size_t *ret_used) {
    struct resp *p = x->p;
    bool stranger = x->n->state == SESSION_NEW;
    struct resp_rules rules = {.args_max = stranger ? STRANGER_ARGS_MAX : ARGS_MAX,
                               .bulk_bytes_max =
                                   stranger ? STRANGER_BYTES_MAX : (uint32_t)x->s->limits->frame_bytes_max,
                               .lines = resp_is_own_listener(x->n)};
    struct why why = {{0}};
    enum resp_got got = resp_take(&p->in, in, &rules, ret_used, &why);
    if (got == RESP_MORE) return SERVED_NOT;
    if (got == RESP_BAD) {
        hang_up(x, why.text);
        return SERVED_NOT;
    }
    x->args = (const struct slice *)(const void *)p->in.args.at;
    x->count = p->in.args.count;
    if (x->count == 0) return SERVED;
    if (resp_is_own_listener(x->n) && is_http(x->args[0])) {
        server_log(x->s, SERVER_WARN, "refused", "%s: HTTP, perhaps of a page in a browser, on the listener for RESP",
                   x->n->address);
        p->ending = true;
        return SERVED_NOT;
    }
    if (resp_multi_waits(x)) {
        *ret_used = 0;
        return SERVED_LATER;
    }
    size_t before = p->held.len;
    if (budget_is_over(x->s, x->n))
        resp_error(&x->out, "BUSY the replies to you that nobody reads fill your share of memory: read them first");
    else
        resp_command_serve(x);
    if (p->held.full) { /* what it changed stays changed, as when a client hangs up before it reads */
        buf_cut(&p->held, before);
        resp_error(&x->out, "ERR the answer is too large: ask for less at once");
    }
    return SERVED;
}

/* Commands until there is none, or no room, or it is another's turn. */
static enum served serve_some(struct resp_ask *x, uint32_t *ret_count, size_t *ret_used) {
    const struct session *n = x->n;
    enum served how = SERVED;
    struct clock *c = x->s->world.clock;
    uint64_t until_us = c->us(c) + TURN_US;
    while (how == SERVED && *ret_count < TURN_COMMANDS_MAX && x->p->held.len < HELD_MAX && !x->p->ending &&
           x->work < RESP_WORK_MAX && !engine_is_full(server_shard(x->s)->engine)) {
        size_t one = 0;
        x->began = x->work;
        x->out.version = x->p->version;
        how = serve_one(x, slice_of(n->in.at + *ret_used, n->in.len - *ret_used), &one);
        *ret_used += one;
        *ret_count += how == SERVED;
        if (c->us(c) >= until_us) break;
    }
    return how;
}

static void serve_session(struct server *s, struct session *n) {
    struct resp *p = resp_of(n);
    struct resp_ask x = {.s = s, .n = n, .p = p, .out = {&p->held, 0}, .now = engine_now(server_shard(s)->engine)};
    x.work = resps_of(s)->work;
    size_t used = 0;
    uint32_t served = 0;
    resp_be(&x);
    enum served how = serve_some(&x, &served, &used);
    resps_of(s)->work = x.work;
    s->served += served;
    s->request_count += served;
    resps_of(s)->command_count += served;
    ENSURE(!p->held.full);
    cut_in(n, p->ending ? n->in.len : used);
    hold(s, n);
    bool waits = n->in.len > 0 && how != SERVED_NOT;
    p->stalled = waits && p->held.len >= HELD_MAX;
    if (waits && !p->stalled) get_ready(s, n);
    bool full = waits && n->in.len > PAUSE_BYTES;
    if (full != n->paused) session_pause(s, n, full);
    if (n->state == SESSION_NEW && n->in.len > STRANGER_BYTES_MAX)
        session_refuse(s, n, 0, ERR_LIMIT, "say who you are first");
    else
        budget_charge(s, n);
}

/* Whether it is the turn of its principal, who has had others before in this pass. */
static bool is_its_turn(const struct server *s, struct account *a) {
    if (a->pass != resps_of(s)->pass) {
        a->pass = resps_of(s)->pass;
        a->spent_us = 0;
    }
    return a->spent_us < TURN_US;
}

/* In their order, and of each principal first some. The rest of them have what is left of the time. */
static void serve_ready(struct server *s, struct vec *now, bool is_first_round, uint64_t until_us,
                        uint64_t most_bytes) {
    struct clock *c = s->world.clock;
    uint64_t at_us = c->us(c);
    for (uint32_t i = 0; i < now->count && at_us < until_us && resps_of(s)->work < RESP_WORK_MAX; i++) {
        if (engine_is_full(server_shard(s)->engine) || s->budget.bytes >= most_bytes) return;
        conn_id *conn = vec_at(now, i);
        struct session *n = session_of(s, *conn);
        if (n == NULL || !resp_of(n)->is_ready) continue;
        budget_welcome(s, n);
        if (is_first_round && !is_its_turn(s, budget_account(s, n))) continue;
        conn_id own = *conn;
        *conn = (conn_id){0};
        resp_of(n)->is_ready = false;
        if (s->draining || n->choked) continue;
        if (session_is_slow(s, n)) {
            session_choke(s, n);
            continue;
        }
        serve_session(s, n);
        uint64_t before_us = at_us;
        at_us = c->us(c);
        if (session_of(s, own) == n) budget_account(s, n)->spent_us += at_us - before_us;
    }
}

/* Those who found no time in this pass come first in the next: behind those who had some, they might never. */
static void put_first(struct server *s, uint32_t had) {
    struct vec *ready = &resps_of(s)->ready;
    size_t first = had * sizeof(conn_id), rest = (ready->count - had) * sizeof(conn_id);
    if (first == 0 || rest == 0) return;
    arena_reset(&s->arena);
    conn_id *copy = arena_alloc(&s->arena, first);
    memcpy(copy, ready->at, first);
    memmove(ready->at, vec_at(ready, had), rest);
    memcpy((uint8_t *)ready->at + rest, copy, first);
}

void resp_serve(struct server *s) {
    struct vec now = resps_of(s)->ready;
    uint64_t until_us = s->world.clock->us(s->world.clock) + PASS_US, most_bytes = s->budget.bytes + PASS_BYTES;
    if (now.count == 0) return;
    resps_of(s)->ready = resps_of(s)->serving;
    resps_of(s)->serving = now;
    resps_of(s)->ready.count = 0;
    resps_of(s)->work = 0;
    resps_of(s)->pass++;
    serve_ready(s, &now, true, until_us, most_bytes);
    serve_ready(s, &now, false, until_us, most_bytes);
    uint32_t had = resps_of(s)->ready.count; /* those that were served and have more */
    for (uint32_t i = 0; i < now.count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(&now, i));
        if (n == NULL) continue;
        resp_of(n)->is_ready = false;
        if (!s->draining) get_ready(s, n);
    }
    put_first(s, had);
}

/* ---- the dialect ---- */

/* No message of the wire is for it. */
static void tell(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
                 const void *message) {
    (void)s, (void)n, (void)op, (void)flags, (void)request, (void)message;
}

static void frames(struct server *s, struct session *n, struct slice bytes) {
    (void)s, (void)n, (void)bytes;
}

static uint64_t memory_bytes(const struct session *n) {
    return resp_of(n)->held.slots + resp_of(n)->queue.slots;
}

const struct dialect_ops resp_dialect = {.name = "RESP",
                                         .spoken = SPOKEN_RESP,
                                         .first = SNIFF_BIT(SNIFF_RESP),
                                         .on_shared_port = true,
                                         .open = open,
                                         .closed = closed,
                                         .received = received,
                                         .tell = tell,
                                         .frames = frames,
                                         .changed = resp_tell,
                                         .refuse = refuse,
                                         .drained = drained,
                                         .memory_bytes = memory_bytes};
