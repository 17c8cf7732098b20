/* web.c: connections that speak HTTP: what they send, and how long they may take. See http_dialect.h. */
#include "http_dialect.h"

#include "event_stream.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"
#include "web_impl.h"

#define WEBS_MAX 100000u
#define HELD_BYTES_MAX ((size_t)64 << 20)  /* an answer in several frames, as frames */
#define TEXT_BYTES_MAX ((size_t)256 << 20) /* one as JSON */
#define ARENA_CHUNK_BYTES 16384u
#define DECODED_BYTES_MIN ((size_t)64 << 20)
#define DECODED_TIMES 48u /* a value of two bytes has a node of the tree */
#define ARENA_BYTES_MAX ((size_t)1 << 30)
#define WAITING_BYTES_MAX 65536u         /* of requests behind the one that is served; then the peer is not read */
#define UPLOAD_PIECE_BYTES 65536u        /* of a body that is a blob: what is held of it */
#define LAST_BYTES_MAX 65536u            /* that a peer will take in the seconds that the net gives to who leaves */
#define KEPT_BYTES_MAX ((size_t)1 << 20) /* of the buffers that all share, after a large answer */

#define UPLOAD_PATH API_PREFIX "/blobs"

extern const uint8_t web_slot;

struct web *web_of(const struct session *n) {
    return n->dialect_state;
}

struct webs *webs_of(const struct server *s) {
    return shard_part(server_shard(s), web_slot);
}

struct logins *logins_of(const struct server *s) {
    return &webs_of(s)->logins;
}

bool web_is_stream(const struct web *w) {
    return w->stream != WEB_STREAM_NONE && w->streaming;
}

static bool is_upload(const struct http_request *r) {
    return r->verb == HTTP_VERB_POST && slice_eq(r->path, SLICE(UPLOAD_PATH));
}

/* ---- life ---- */

static void moved(void *ctx, uint64_t ref, uint32_t position) {
    const struct webs *all = ctx;
    ((struct web *)pool_at(&all->all, (uint32_t)ref))->position = position;
}

static void init(struct shard *h, void *own) {
    struct server *s = h->server;
    struct webs *all = own;
    pool_init(&all->all, sizeof(struct web), WEBS_MAX);
    heap_init(&all->deadlines, moved, all);
    vec_init(&webs_of(s)->ready, sizeof(conn_id));
    arena_init(&all->arena, ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    buf_init(&all->json, TEXT_BYTES_MAX);
    buf_init(&all->out, TEXT_BYTES_MAX + 4096);
    web_session_init(s);
    size_t bytes = sizeof(uint64_t);
    uint32_t most = 1;
    for (const struct http_mount *const *m = http_mounts; *m != NULL; m++) {
        if ((*m)->exchange_bytes > bytes) bytes = (*m)->exchange_bytes;
        if ((*m)->exchanges_max > most) most = (*m)->exchanges_max;
    }
    pool_init(&all->exchanges, bytes, most);
}

static void fini(struct shard *h, void *own) {
    struct server *s = h->server;
    struct webs *all = own;
    pool_fini(&all->exchanges);
    pool_fini(&all->all);
    heap_fini(&all->deadlines);
    vec_fini(&webs_of(s)->ready);
    arena_fini(&all->arena);
    buf_fini(&all->json);
    buf_fini(&all->out);
    web_session_fini(s);
    web_oidc_fini(s);
}

static uint64_t body_bytes_max(const struct http_in *in) {
    return (uint64_t)(is_upload(&in->request) ? in->limits->blob_bytes_max : in->limits->http_body_bytes_max);
}

bool web_open(struct server *s, struct session *n, const struct http_face *face) {
    uint32_t index = pool_alloc(&webs_of(s)->all);
    part_wake(server_shard(s), web_slot);
    ENSURE(index != 0); /* there are as many as sessions */
    struct web *w = pool_at(&webs_of(s)->all, index);
    w->conn = n->conn;
    w->index = index;
    w->since_ms = web_now(s);
    http_in_init(&w->in, s->limits);
    w->in.body_bytes_max = body_bytes_max;
    buf_init(&w->held, HELD_BYTES_MAX);
    websocket_in_init(&w->socket);
    w->face = face;
    n->dialect_state = w;
    return true;
}

void web_closed(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    if (w->mount != NULL) w->mount->closed(s, n);
    web_deadline(s, w, TIME_NEVER);
    http_in_fini(&w->in);
    buf_fini(&w->held);
    websocket_in_fini(&w->socket);
    pool_free(&webs_of(s)->all, w->index);
    n->dialect_state = NULL;
}

/* ---- time ---- */

int64_t web_now(const struct server *s) {
    return s->world.clock->mono(s->world.clock).ms;
}

void web_deadline(struct server *s, struct web *w, int64_t at_ms) {
    struct heap *h = &webs_of(s)->deadlines;
    if (at_ms != TIME_NEVER && w->position != 0)
        heap_rekey(h, w->position, at_ms);
    else if (at_ms != TIME_NEVER)
        heap_push(h, at_ms, w->index);
    else if (w->position != 0)
        heap_remove(h, w->position);
}

/* How long this connection may go on as it is. A body has to come at a kilobyte a second at least. */
static int64_t deadline_of(const struct server *s, const struct web *w) {
    if (w->ending) return web_now(s) + s->limits->http_idle_ms;
    if (w->busy || w->stuck) return w->streaming ? web_now(s) + s->limits->http_idle_ms : TIME_NEVER;
    if (w->in.state == HTTP_IN_BODY) return w->since_ms + s->limits->http_body_ms + (int64_t)w->body_bytes;
    return http_in_is_idle(&w->in) ? web_now(s) + s->limits->http_idle_ms : w->since_ms + s->limits->hello_ms;
}

/* Whoever takes some of its answer, however slowly, is waited for, and so is who has been sent nothing. */
static bool is_patient(struct server *s, struct web *w) {
    uint64_t unsent = s->world.net->ops->unsent(s->world.net, w->conn), before = w->unsent;
    w->unsent = unsent;
    return unsent > 0 ? before == 0 || unsent < before : w->streaming;
}

static void expire_one(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    if (is_patient(s, w)) {
        if (web_stream_is_watch(w)) web_stream_ping(s, n, s->limits->http_idle_ms);
        web_deadline(s, w, web_now(s) + s->limits->http_idle_ms);
        return;
    }
    if (!w->ending && !w->busy && !http_in_is_idle(&w->in))
        web_say_error(s, n, ERR_INVALID, 408, "the request did not arrive in time", NULL, NULL);
    session_end(s, n);
}

/* Ends what is too slow; when the next one is due. */
static int64_t expire(struct server *s) {
    const struct heap_item *top;
    while ((top = heap_top(&webs_of(s)->deadlines)) != NULL && top->key <= s->now_ms) {
        const struct web *w = pool_at(&webs_of(s)->all, (uint32_t)top->ref);
        expire_one(s, session_of(s, w->conn));
    }
    return top != NULL ? top->key : TIME_NEVER;
}

/* ---- requests ---- */

const struct http_mount *web_mount_of(const struct http_request *r) {
    for (const struct http_mount *const *m = http_mounts; *m != NULL; m++)
        if (slice_eq(r->path, slice_str((*m)->path))) return *m;
    return NULL;
}

uint32_t web_request_next(struct web *w) {
    w->request = w->request == UINT32_MAX ? 1 : w->request + 1; /* 0 would ask for no answer */
    return w->request;
}

void web_give(struct server *s, struct session *n, uint8_t op) {
    struct web *w = web_of(n);
    w->busy = true;
    session_enqueue(s, n, op, web_request_next(w), (struct slice){0});
}

void web_give_message(struct server *s, struct session *n, uint8_t op, const void *message) {
    struct web *w = web_of(n);
    w->busy = true;
    buf_clear(&webs_of(s)->out);
    tlv_encode(wire_info(op)->desc, message, &webs_of(s)->out);
    session_enqueue(s, n, op, web_request_next(w), buf_slice(&webs_of(s)->out));
}

static void serve(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    const struct http_mount *mount = web_mount_of(&w->in.request);
    if (web_is_session(&w->in.request))
        web_serve_session(s, n);
    else if (mount != NULL)
        mount->serve(s, n);
    else
        web_give(s, n, w->match.route->op);
}

/* What headers have a say in. */
static bool decode_head(struct server *s, struct session *n, const struct api_route *route, void *message) {
    struct web *w = web_of(n);
    const struct http_request *r = &w->in.request;
    bool streams = route->answer == API_ANSWER_STREAM || route->answer == API_ANSWER_WATCH;
    if (streams && !web_stream_check(s, n)) return false;
    const struct slice *last = route->op == WIRE_FOLLOW ? http_header(r, "last-event-id") : NULL;
    /* A browser that comes back knows better than its address. */
    if (last != NULL && last->len > 0) ((struct wire_follow *)message)->since = *last;
    if (r->verb == HTTP_VERB_HEAD && route->op == WIRE_LOGS)
        ((struct wire_logs *)message)->follow = false; /* nobody would read it */
    w->marks = route->op == WIRE_LOGS && ((const struct wire_logs *)message)->marks;
    w->ranged =
        (route->op == WIRE_LOGS || route->op == WIRE_BLOB_GET) && web_range_take(r, route->op, message, &w->range_most);
    return true;
}

static bool decode(struct server *s, const struct lane_entry *e, struct request *r) {
    struct session *n = r->session;
    struct web *w = web_of(n);
    struct api_match match;
    struct why why = {{0}};
    void *message = NULL;
    if (e->body.len > 0) return request_decode(s, e, r);    /* made here, for a request that was called off */
    if (!w->busy || w->request != e->request) return false; /* it was called off */
    if (w->mount != NULL) return w->mount->decode(s, r);
    struct wire_json_in x = {.arena = r->arena, .why = &why};
    if (w->match.in_request)
        match = w->match;
    else
        api_again(w->match.route, &w->in.request, r->arena, &match);
    /* A short text may become a long list: what a request may become is bounded by what it was. */
    size_t most = r->arena->bytes_max;
    r->arena->bytes_max = DECODED_BYTES_MIN + DECODED_TIMES * w->in.body.len;
    enum err err = api_message(&match, &w->in.request, s->limits, &x, &message);
    r->arena->bytes_max = most;
    if (err != ERR_OK) {
        web_say_error(s, n, err, 0, why.text, x.field, NULL);
        return false;
    }
    r->message = message;
    r->only_item = match.route->answer == API_ANSWER_ITEM;
    return decode_head(s, n, match.route, message);
}

/* What the parser has come to. */
static void step(struct server *s, struct session *n, bool has_more) {
    struct web *w = web_of(n);
    if (w->in.state == HTTP_IN_BAD) {
        web_say_error(s, n, w->in.err, w->in.status, w->in.why.text, NULL, NULL);
        return;
    }
    if (w->in.state == HTTP_IN_HEAD) return;
    if (!w->looked) {
        w->looked = w->face->admit(s, n);
        w->since_ms = web_now(s);
        if (w->looked && w->in.state == HTTP_IN_BODY && w->in.request.wants_continue && !has_more)
            web_say_continue(s, n);
        if (w->looked && is_upload(&w->in.request)) w->looked = web_upload_begin(s, n);
    }
    if (w->upload != 0) {
        web_upload_more(s, n);
        return;
    }
    if (w->looked && w->in.state == HTTP_IN_WHOLE) w->face->serve(s, n);
}

/* Its answers wait for it, and so does its next request. */
static bool is_behind(struct server *s, struct session *n) {
    return http_in_is_idle(&web_of(n)->in) && session_is_slow(s, n);
}

/* Requests from the front of `all`, until one of them is with the server; how many bytes are used up. */
static size_t take(struct server *s, struct session *n, struct slice all) {
    struct web *w = web_of(n);
    struct slice left = all;
    if (w->stuck) web_upload_more(s, n);
    while (!w->busy && !w->ending && !w->stuck && left.len > 0 && !is_behind(s, n)) {
        if (http_in_is_idle(&w->in)) w->since_ms = web_now(s);
        bool much = w->upload != 0 && left.len > UPLOAD_PIECE_BYTES;
        size_t used = http_in_feed(&w->in, much ? slice_of(left.ptr, UPLOAD_PIECE_BYTES) : left);
        if (w->looked) w->body_bytes += used;
        left = slice_of(left.ptr + used, left.len - used);
        step(s, n, left.len > 0);
    }
    return w->ending ? all.len : all.len - left.len;
}

/* Ends a connection, or sets how long it may go on. Who takes long to take a long answer is waited for. */
static void settle(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    if (w->ending && s->world.net->ops->unsent(s->world.net, n->conn) <= LAST_BYTES_MAX)
        session_end(s, n);
    else
        web_deadline(s, w, deadline_of(s, w));
}

void web_drained(struct server *s, struct session *n, bool resumes) {
    (void)resumes;
    bool has_more = n->in.len > 0 && !web_of(n)->busy && !web_of(n)->stuck;
    if (web_of(n)->ending || has_more) *(conn_id *)vec_push(&webs_of(s)->ready) = n->conn;
}

void web_received(struct server *s, struct session *n, struct slice bytes) {
    struct web *w = web_of(n);
    if (w->ending) return;
    if (web_is_stream(w)) {
        web_stream_received(s, n, bytes);
        settle(s, n);
        return;
    }
    if (n->in.len > 0 || w->busy || w->stuck) {
        buf_put_slice(&n->in, bytes);
        bytes = buf_slice(&n->in);
    }
    size_t used = take(s, n, bytes);
    struct slice left = used == 0 ? bytes : slice_of(bytes.ptr + used, bytes.len - used); /* none may be NULL */
    if (n->in.len > 0) {
        if (left.len > 0) memmove(n->in.at, left.ptr, left.len);
        buf_cut(&n->in, left.len);
    } else if (left.len > 0) {
        buf_put_slice(&n->in, left);
    }
    bool much = n->in.len > WAITING_BYTES_MAX && (w->busy || w->stuck || is_behind(s, n));
    if (much != n->paused) session_pause(s, n, much);
    settle(s, n);
}

/* ---- between requests ---- */

static void shrink(struct buf *b, size_t kept) {
    size_t most = b->max;
    if (b->slots > kept) {
        buf_fini(b);
        buf_init(b, most);
    }
    buf_clear(b);
}

void web_finished(struct server *s, struct session *n) {
    struct web *w = web_of(n);
    bool whole = w->in.state == HTTP_IN_WHOLE;
    /* Who has shown no token is a stranger, and gets one answer. */
    w->ending = !whole || !w->in.request.keep_alive || n->state != SESSION_OPEN || s->draining || n->goodbye;
    w->busy = w->streaming = w->looked = w->stuck = false;
    w->upload = 0;
    w->ranged = false;
    w->body_bytes = 0;
    w->stream = WEB_STREAM_NONE;
    w->match.route = NULL;
    shrink(&w->held, 0);
    w->unsent = 0;
    if (!w->ending) http_in_next(&w->in);
    budget_charge(s, n);
    *(conn_id *)vec_push(&webs_of(s)->ready) = n->conn;
}

void web_goodbye(struct server *s, struct session *n) {
    n->goodbye = true;
    if (web_is_stream(web_of(n))) web_stream_end(s, n, WEBSOCKET_GOING_AWAY, "the server is stopping");
    if (web_of(n)->busy || !http_in_is_idle(&web_of(n)->in)) return;
    web_of(n)->ending = true;
    *(conn_id *)vec_push(&webs_of(s)->ready) = n->conn;
}

/* What all share after a large answer. */
static void trim(struct webs *all) {
    shrink(&all->json, KEPT_BYTES_MAX);
    shrink(&all->out, KEPT_BYTES_MAX);
    if (all->arena.bytes <= KEPT_BYTES_MAX) return;
    arena_fini(&all->arena);
    arena_init(&all->arena, ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
}

/* Connections whose answer is out. */
static void go_on(struct server *s) {
    struct vec ready = webs_of(s)->ready;
    if (ready.count == 0) return;
    vec_init(&webs_of(s)->ready, sizeof(conn_id));
    for (uint32_t i = 0; i < ready.count; i++) {
        struct session *n = session_of(s, *(conn_id *)vec_at(&ready, i));
        if (n == NULL || web_of(n)->busy) continue;
        if (web_of(n)->ending)
            settle(s, n);
        else
            web_received(s, n, (struct slice){0});
    }
    vec_fini(&ready);
    trim(webs_of(s));
}

/* ---- the part ---- */

static void flush(struct shard *h, void *own) {
    struct webs *x = own;
    if (x->code_count > 0) web_oidc_go_on(h->server);
    go_on(h->server);
    part_attend(h, web_slot, x->all.count > 0);
    x->next_ms = x->ready.count > 0 ? h->server->now_ms : expire(h->server);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct webs *x = own;
    /* An answer that ends behind our turn lets the next request of its connection begin: in the next pass, not when
     * something else happens. */
    return x->ready.count > 0 ? h->server->now_ms : x->next_ms;
}

static void stored(struct shard *h, void *own, enum err e) {
    (void)own;
    if (e == ERR_OK) web_unstick(h->server);
}

const struct server_part web_part = {.name = "web",
                                     .scope = PART_OF_SERVER,
                                     .bytes = sizeof(struct webs),
                                     .init = init,
                                     .fini = fini,
                                     .flush = flush,
                                     .next_due = next_due,
                                     .stored = stored};

/* ---- the dialect ---- */

bool web_is_idle(const struct session *n) {
    const struct web *w = web_of(n);
    return !w->busy && w->upload == 0 && !web_is_stream(w);
}

uint64_t web_memory_bytes(const struct session *n) {
    const struct web *w = web_of(n);
    return w->in.head.slots + w->in.body.slots + w->held.slots;
}

uint64_t web_part_bytes(const struct session *n) {
    return web_of(n)->in.body.len;
}

static void measure(const struct server *s, struct sample *ret) {
    memcpy(ret->answers, webs_of(s)->answers, sizeof ret->answers);
    ret->logins = logins_of(s)->count;
    ret->logins_failed = logins_of(s)->failed_count;
    ret->http_limited = logins_of(s)->limited_count;
}

static const struct http_face api_face = {.admit = web_admit, .serve = serve, .refusal = api_error};

static bool open(struct server *s, struct session *n) {
    return web_open(s, n, &api_face);
}

const struct dialect_ops http_dialect = {.name = "HTTP",
                                         .spoken = SPOKEN_HTTP,
                                         .first = SNIFF_BIT(SNIFF_HTTP),
                                         .misfits = HTTP_MISFITS,
                                         .on_shared_port = true,
                                         .open = open,
                                         .closed = web_closed,
                                         .received = web_received,
                                         .decode = decode,
                                         .tell = web_tell,
                                         .frames = web_frames,
                                         .make = web_make,
                                         .made = web_made,
                                         .events = &web_events,
                                         .refuse = web_refuse,
                                         .misfit = web_misfit,
                                         .drained = web_drained,
                                         .is_idle = web_is_idle,
                                         .memory_bytes = web_memory_bytes,
                                         .part_bytes = web_part_bytes,
                                         .measure = measure};
