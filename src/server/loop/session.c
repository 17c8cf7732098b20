/* session.c: see session.h. What all dialects share: the life of a connection, how fast it takes its answers, its way
 * into the lanes and its ends. Nothing here touches the engine. */
#include "session.h"

#include <stdio.h>

#include "authenticate.h"
#include "fair_queue.h"
#include "job_token.h"
#include "panic.h"
#include "server_impl.h"

#define BUSY_RETRY_MS 250
#define UNSENT_MAX (16u << 20)
#define AHEAD_BYTES (2u << 20)  /* answers are made so far ahead of who takes them, and one more */
#define LOOK_BYTES 65536u       /* sent, before it is looked at whether they were taken */
#define PRESSED_BYTES 65536u    /* may be left lying by who follows something, when its principal holds too much */
#define PART_BYTES 65536u       /* of a request that has not come as a whole: more may be refused */
#define KEPT_BYTES (256u << 10) /* a buffer larger than this is given back when it is empty */
#define SESSIONS_MAX 100000u

extern const uint8_t closed_sessions_slot, sessions_slot;

struct sessions {
    int64_t next_ms; /* the next one that has to say hello by then */
};

struct session *session_of(const struct server *s, conn_id conn) {
    uint32_t index = conn.v == 0 ? 0 : map_get(&s->session_by_conn, conn.v);
    return index == 0 ? NULL : pool_at(&s->sessions, index);
}

struct session *session_of_worker(const struct server *s, uint32_t number) {
    uint32_t index = map_get(&s->session_by_worker, number);
    struct session *n = index == 0 ? NULL : pool_at(&s->sessions, index);
    ENSURE(n == NULL || (n->conn.v != 0 && n->worker_number == number));
    return n;
}

void session_worker_add(struct server *s, struct session *n, uint32_t number) {
    REQUIRE(number != 0);
    REQUIRE(n->worker_number == 0 && n->attach == ATTACH_NONE);
    ENSURE(map_get(&s->session_by_worker, number) == 0);
    map_put(&s->session_by_worker, number, map_get(&s->session_by_conn, n->conn.v));
    n->worker_number = number;
    n->attach = ATTACH_ASKED;
}

void session_worker_remove(struct server *s, struct session *n) {
    n->attach = ATTACH_NONE;
    if (n->worker_number == 0) return;
    ENSURE(session_of_worker(s, n->worker_number) == n);
    map_del(&s->session_by_worker, n->worker_number);
    n->worker_number = 0;
}

/* ---- out ---- */

static void read_or_not(struct server *s, struct session *n) {
    s->world.net->ops->pause(s->world.net, n->conn, n->paused || n->choked);
}

void session_pause(struct server *s, struct session *n, bool on) {
    n->paused = on;
    read_or_not(s, n);
}

/* Whoever does not take its answers may ask no further questions. */
void session_choke(struct server *s, struct session *n) {
    n->choked = true;
    read_or_not(s, n);
}

void session_look(struct server *s, struct session *n) {
    n->sent_bytes = 0;
    n->unsent = s->world.net->ops->unsent(s->world.net, n->conn);
    if (n->unsent > UNSENT_MAX && !n->choked) session_choke(s, n);
    budget_charge(s, n);
}

bool session_is_slow(struct server *s, struct session *n) {
    if (n->owed + n->unsent + n->sent_bytes <= AHEAD_BYTES) return false;
    session_look(s, n);
    return n->owed + n->unsent > AHEAD_BYTES;
}

struct slice session_tenant(const struct session *n) {
    return n->who.tenant[0] != 0 ? slice_str(n->who.tenant) : SLICE(TENANT_STANDARD);
}

struct rec_caller session_caller(const struct session *n) {
    struct rec_caller c = {.kind = n->who.kind, .token = slice_str(n->who.id)};
    if (n->who.kind == KIND_WORKER) return (struct rec_caller){0};
    c.dialect = n->who.is_by_mcp ? SPOKEN_MCP : n->dialect != NULL ? n->dialect->spoken : SPOKEN_INSIDE;
    c.address = slice_of(n->address_bytes, n->address_len);
    return c;
}

/* Goes on when everything was taken (`drained`), or when what it is owed has left (call.c). */
void session_hold(struct server *s, struct session *n) {
    n->is_held = true;
    if (n->unsent > 0) session_choke(s, n);
}

bool session_may_be_told(struct server *s, struct session *n, uint64_t most) {
    session_look(s, n);
    return n->unsent <= (budget_is_over(s, n) && most > PRESSED_BYTES ? PRESSED_BYTES : most);
}

void session_send_raw(struct server *s, struct session *n, struct slice bytes) {
    s->world.net->ops->send(s->world.net, n->conn, bytes);
    n->sent_bytes += bytes.len;
    if (n->sent_bytes > LOOK_BYTES) session_look(s, n);
}

void session_send_bytes(struct server *s, struct session *n, struct slice frames) {
    n->dialect->frames(s, n, frames);
}

void session_send(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
                  const void *message) {
    n->dialect->tell(s, n, op, flags, request, message);
}

void session_answer(struct server *s, struct session *n, uint32_t request, enum wire_op op, const void *message) {
    if (request != 0) n->dialect->tell(s, n, op, FRAME_ANSWER, request, message);
}

void session_error(struct server *s, struct session *n, uint32_t request, enum err e, const char *text) {
    struct wire_error m = {.lsn = engine_durable_lsn(server_shard(s)->engine),
                           .code = slice_str(err_word(e)),
                           .message = slice_str(text),
                           .retry_after_ms = err_is_retryable(e) ? BUSY_RETRY_MS : 0};
    session_answer(s, n, request, WIRE_ERROR, &m);
}

void session_busy(struct server *s, struct session *n, uint32_t request, const char *reason, uint32_t retry_ms) {
    struct wire_busy m = {.retry_after_ms = retry_ms, .reason = slice_str(reason)};
    s->busy_count++;
    session_answer(s, n, request, WIRE_BUSY, &m);
}

static void forget(struct server *s, struct session *n) {
    if (n->worker_number != 0 || n->watches) {
        part_wake(server_shard(s), closed_sessions_slot);
        struct closed_session *g = vec_push(&s->hung_up);
        *g = (struct closed_session){.conn = n->conn.v, .incarnation = n->incarnation, .watches = n->watches};
        if (n->worker_number != 0) {
            g->worker = n->worker;
            n->worker = NULL;
        }
    }
    session_worker_remove(s, n);
    job_token_leave(s, n);
    if (n->dialect != NULL) n->dialect->closed(s, n);
    shard_conn_gone(server_shard(s), n->conn);
    fair_queue_forget(s, n);
    budget_leave(s, n);
    buf_fini(&n->in);
    buf_fini(&n->early);
    vec_fini(&n->assigns);
    u32vec_fini(&n->watch_ids);
    vec_fini(&n->marks);
    bytes_free(n->worker);
    uint32_t index = map_del(&s->session_by_conn, n->conn.v);
    ENSURE(n->worker_number == 0 && n->job_key == 0); /* no table names its place any more */
    ENSURE(pool_at(&s->sessions, index) == n);
    pool_free(&s->sessions, index);
}

void session_end(struct server *s, struct session *n) {
    conn_id conn = n->conn;
    forget(s, n);
    s->world.net->ops->close(s->world.net, conn);
}

/* ---- which dialect ---- */

static bool is_offered(const struct session *n, const struct dialect_ops *d) {
    return n->only != NULL ? d == n->only : d->on_shared_port;
}

bool session_speak(struct server *s, struct session *n, const struct dialect_ops *d) {
    n->dialect = d;
    return d->open(s, n);
}

/* Bytes of ours on a connection that was silent so far would be taken for the answer to its first request: browsers
 * open connections before they need them. Bytes that nobody here speaks are answered by a dialect whose clients may
 * have sent them. */
static void say_why(struct server *s, struct session *n, uint32_t request, enum err e, const char *text) {
    if (n->dialect != NULL) {
        n->dialect->refuse(s, n, request, e, text);
        return;
    }
    for (const struct dialect_ops *const *d = server_dialects; *d != NULL; d++) {
        if (!is_offered(n, *d) || !((*d)->misfits & SNIFF_BIT(n->spoken))) continue;
        if (session_speak(s, n, *d)) (*d)->misfit(s, n, text);
        return;
    }
}

void session_refuse(struct server *s, struct session *n, uint32_t request, enum err e, const char *text) {
    if (n->attach == ATTACH_ASKED) n->attach = ATTACH_DONE; /* the refusal does not wait for `attached` */
    say_why(s, n, request, e, text);
    server_log(s, SERVER_WARN, "refused", "%s: %s", n->address, text);
    session_end(s, n);
}

/* ---- in ---- */

void session_enqueue(struct server *s, struct session *n, uint8_t op, uint32_t request, struct slice body) {
    const struct wire_info *info = wire_info(op);
    struct lane_entry entry = {.conn = n->conn, .op = op, .request = request, .body = body};
    char text[80];
    if (info == NULL || info->sender == WIRE_FROM_SERVER) {
        if (info == NULL)
            snprintf(text, sizeof text, "unknown opcode %u", op);
        else
            snprintf(text, sizeof text, "%s is a message of the server; a client cannot send it", info->word);
        session_error(s, n, request, info ? ERR_INVALID : ERR_UNSUPPORTED, text);
        return;
    }
    /* Whatever answers carries the id of the request: what has none is refused before anyone looks at it. */
    if (info->answer != 0 && request == 0) {
        snprintf(text, sizeof text, "%s needs a request id other than 0", info->word);
        session_refuse(s, n, 0, ERR_INVALID, text);
        return;
    }
    if (s->draining && info->lane == WIRE_LANE_SECOND) {
        session_busy(s, n, request, "the server is stopping", 1000);
        return;
    }
    budget_welcome(s, n);
    if (fair_queue_put(s, n, info->lane, &entry)) return;
    /* A frame of a worker without an answer must not be lost: its session starts over, and it sends again. */
    if (request == 0)
        session_refuse(s, n, 0, ERR_BUSY, "too much at once");
    else
        session_busy(s, n, request, "too much at once", BUSY_RETRY_MS);
}

/* Whether it is still there after something that may have ended it: then its place is empty, for nobody comes while
 * bytes are taken in. */
static bool is_there(const struct session *n, conn_id conn) {
    return n->conn.v == conn.v;
}

const void *dialect_options(const struct server *s, const struct dialect_ops *d) {
    for (const struct dialect_setting *x = s->options.dialects; x != NULL && x->dialect != NULL; x++)
        if (x->dialect == d) return x->options;
    return NULL;
}

/* "native v2, RESP and HTTP" */
static void offers_text(const struct session *n, char *ret, size_t bytes) {
    const char *last = NULL;
    size_t len = 0;
    ret[0] = 0;
    for (const struct dialect_ops *const *d = server_dialects; *d != NULL; d++) {
        if (!is_offered(n, *d)) continue;
        if (last != NULL) len += (size_t)snprintf(ret + len, bytes - len, "%s%s", len > 0 ? ", " : "", last);
        last = (*d)->name;
    }
    ENSURE(last != NULL && len < bytes);
    snprintf(ret + len, bytes - len, "%s%s", len > 0 ? " and " : "", last);
}

/* By the first bytes that came. True: there is one, and the session is still there. */
static bool find_dialect(struct server *s, struct session *n, struct slice first) {
    enum sniff what = sniff(first);
    char text[160], offers[80];
    n->spoken = (uint8_t)what;
    if (what == SNIFF_MORE) return false;
    for (const struct dialect_ops *const *d = server_dialects; *d != NULL; d++)
        if (is_offered(n, *d) && ((*d)->first & SNIFF_BIT(what))) return session_speak(s, n, *d);
    offers_text(n, offers, sizeof offers);
    snprintf(text, sizeof text, "this listener speaks %s, not %s", offers, sniff_word(what));
    session_refuse(s, n, 0, ERR_UNSUPPORTED, text);
    return false;
}

static void give_back(struct buf *b) {
    size_t max = b->max;
    if (b->len > 0 || b->slots <= KEPT_BYTES) return;
    buf_fini(b);
    buf_init(b, max);
}

void session_came(struct server *s, conn_id conn) {
    struct session *n = session_of(s, conn);
    if (n == NULL) return;
    give_back(&n->in);
    budget_charge(s, n);
    size_t part = n->in.len;
    if (n->dialect != NULL && n->dialect->part_bytes != NULL) part += n->dialect->part_bytes(n);
    if (part > PART_BYTES && budget_is_over(s, n))
        session_refuse(
            s, n, 0, ERR_BUSY,
            "unanswered requests and unread answers fill the memory share of this connection: try again later");
}

/* Until the dialect is known, which takes a few bytes, they are kept. */
static void take_first(struct server *s, struct session *n, struct slice bytes) {
    conn_id conn = n->conn;
    bool buffered = n->in.len > 0;
    if (buffered) buf_put_slice(&n->in, bytes);
    if (find_dialect(s, n, buffered ? buf_slice(&n->in) : bytes))
        n->dialect->received(s, n, buffered ? (struct slice){0} : bytes);
    else if (is_there(n, conn) && !buffered)
        buf_put_slice(&n->in, bytes);
}

static void received(void *ctx, conn_id conn, struct slice bytes) {
    struct server *s = ctx;
    struct session *n = session_of(s, conn);
    if (n == NULL) return;
    if (n->dialect != NULL)
        n->dialect->received(s, n, bytes);
    else
        take_first(s, n, bytes);
    session_came(s, conn);
}

/* Whoever means it says hello at once, so those who have been silent longest are the ones to go. */
static void unauthenticated_limit(struct server *s) {
    uint32_t kept = 0;
    if (s->unauthenticated.count < (uint64_t)s->limits->strangers_max) return;
    for (uint32_t i = 0; i < s->unauthenticated.count; i++) {
        conn_id conn = *(conn_id *)vec_at(&s->unauthenticated, i);
        const struct session *n = session_of(s, conn);
        if (n != NULL && n->state == SESSION_NEW) *(conn_id *)vec_at(&s->unauthenticated, kept++) = conn;
    }
    s->unauthenticated.count = kept;
    if (kept < (uint64_t)s->limits->strangers_max) return;
    struct session *oldest = session_of(s, *(conn_id *)vec_at(&s->unauthenticated, 0));
    session_refuse(s, oldest, 0, ERR_BUSY, "too many unauthenticated connections (strangers_max)");
}

struct session *session_open(struct server *s, conn_id conn, const struct net_peer *peer,
                             const struct dialect_ops *only) {
    unauthenticated_limit(s);
    uint32_t index = pool_alloc(&s->sessions);
    if (index == 0) {
        s->world.net->ops->close(s->world.net, conn);
        return NULL;
    }
    struct session *n = pool_at(&s->sessions, index);
    n->conn = conn;
    n->only = only;
    n->is_local = peer->is_local;
    n->is_of_job = peer->is_of_job;
    n->is_tls = peer->is_tls;
    authenticate_certificate(&n->certified, peer);
    n->uid = peer->uid;
    n->opened_ms = s->world.clock->mono(s->world.clock).ms;
    snprintf(n->address, sizeof n->address, "%s", peer->address);
    n->address_len = (uint8_t)netaddr_read(peer->address, n->address_bytes);
    buf_init(&n->in, (size_t)s->limits->frame_bytes_max + FRAME_HEADER_BYTES + (1u << 20));
    buf_init(&n->early, (size_t)1 << 28);
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++)
        lane_init(&n->lanes[i], (size_t)s->limits->principal_memory_bytes_max);
    vec_init(&n->assigns, sizeof(struct attempt_effect));
    vec_init(&n->marks, sizeof(struct log_mark));
    map_put(&s->session_by_conn, conn.v, index);
    struct why why;
    ENSURE(budget_join(s, n, &why) == ERR_OK); /* unauthenticated have no share of connections */
    *(conn_id *)vec_push(&s->unauthenticated) = conn;
    part_wake(server_shard(s), sessions_slot);
    return n;
}

static void opened(void *ctx, conn_id conn, const struct net_peer *peer) {
    (void)session_open(ctx, conn, peer, NULL);
}

/* The pass of this turn goes on with its streams. */
static void drained(void *ctx, conn_id conn) {
    struct server *s = ctx;
    struct session *n = session_of(s, conn);
    if (n == NULL) return;
    n->unsent = n->sent_bytes = 0;
    n->stalled_ms = 0;
    budget_charge(s, n);
    fair_queue_resume(s, n);
    bool resumes = n->choked;
    n->choked = false;
    if (resumes) read_or_not(s, n);
    if (n->dialect != NULL && n->dialect->drained != NULL) n->dialect->drained(s, n, resumes);
}

static void closed(void *ctx, conn_id conn, const char *why) {
    struct server *s = ctx;
    struct session *n = session_of(s, conn);
    if (n == NULL) return;
    if (n->attach == ATTACH_DONE)
        server_log(s, SERVER_INFO, "worker_away", "%.*s: %s", SLICE_FMT(bytes_slice(n->worker)), why);
    forget(s, n);
}

void session_handler(struct server *s, struct net_handler *ret) {
    *ret = (struct net_handler){opened, received, drained, closed, s};
}

/* ---- time and ends ---- */

static void flush(struct shard *h, void *own) {
    struct sessions *x = own;
    struct server *s = h->server;
    uint32_t kept = 0;
    x->next_ms = TIME_NEVER;
    for (uint32_t i = 0; i < s->unauthenticated.count; i++) {
        conn_id conn = *(conn_id *)vec_at(&s->unauthenticated, i);
        struct session *n = session_of(s, conn);
        if (n == NULL || n->state != SESSION_NEW) continue;
        int64_t until = n->opened_ms + s->limits->hello_ms;
        if (until <= s->now_ms) {
            session_refuse(s, n, 0, ERR_UNAUTHENTICATED, "no HELLO arrived in time");
            continue;
        }
        if (until < x->next_ms) x->next_ms = until;
        *(conn_id *)vec_at(&s->unauthenticated, kept++) = conn;
    }
    s->unauthenticated.count = kept;
}

/* The engine hears of sessions that ended. */
static void step(struct shard *h, void *own) {
    struct server *s = h->server;
    (void)own;
    for (uint32_t i = 0; i < s->hung_up.count; i++) {
        struct closed_session *g = vec_at(&s->hung_up, i);
        struct command cmd = {.kind = CMD_DETACH};
        if (g->worker != NULL) {
            cmd.as.worker.worker = bytes_slice(g->worker);
            cmd.as.worker.incarnation = g->incarnation;
            server_command(s, (conn_id){0}, 0, &cmd);
            bytes_free(g->worker);
        }
        if (g->watches) {
            cmd = (struct command){.kind = CMD_STORE};
            cmd.as.store.op = STORE_UNWATCH;
            cmd.as.store.session = g->conn;
            server_command(s, (conn_id){0}, 0, &cmd);
        }
    }
    s->hung_up.count = 0;
}

static void end_all(struct server *s, bool silent_too) {
    for (uint32_t i = 1; i <= s->sessions.high; i++) {
        struct session *n = pool_at(&s->sessions, i);
        if (n->conn.v != 0 && (silent_too || n->dialect != NULL)) session_end(s, n);
    }
    for (uint32_t i = 0; i < s->hung_up.count; i++)
        bytes_free(((struct closed_session *)vec_at(&s->hung_up, i))->worker);
    s->hung_up.count = 0;
}

void session_end_spoken(struct server *s) {
    end_all(s, false);
}

void session_free_all(struct server *s) {
    end_all(s, true);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct sessions *x = own;
    (void)h;
    return x->next_ms;
}

static void init(struct shard *h, void *own) {
    struct server *s = h->server;
    (void)own;
    pool_init(&s->sessions, sizeof(struct session), SESSIONS_MAX);
    map_init(&s->session_by_conn);
    map_init(&s->session_by_worker);
    map_init(&s->sessions_by_job);
    vec_init(&s->jobs_ended, sizeof(conn_id));
    vec_init(&s->unauthenticated, sizeof(conn_id));
    vec_init(&s->hung_up, sizeof(struct closed_session));
}

static void fini(struct shard *h, void *own) {
    struct server *s = h->server;
    (void)own;
    pool_fini(&s->sessions);
    map_fini(&s->session_by_conn);
    map_fini(&s->session_by_worker);
    map_fini(&s->sessions_by_job);
    vec_fini(&s->jobs_ended);
    vec_fini(&s->unauthenticated);
    vec_fini(&s->hung_up);
}

/* Two parts, because the engine hears first in a pass of who has gone, and those who say no hello are ended late. */
const struct server_part closed_sessions_part = {.name = "closed_sessions", .scope = PART_OF_SERVER, .step = step};
const struct server_part sessions_part = {.name = "sessions",
                                          .scope = PART_OF_SERVER,
                                          .bytes = sizeof(struct sessions),
                                          .init = init,
                                          .fini = fini,
                                          .flush = flush,
                                          .next_due = next_due};
