/* native.c: native v2, the dialect of our own clients and workers: frames of the wire as they are (frame.h), behind a
 * hello that says who calls. Nothing is translated: a lane holds the bodies of frames, an answer is encoded once. */
#include "native.h"

#include "assign.h"
#include "authenticate.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"

#define HELLO_BYTES_MAX 16384u /* what a stranger may make us hold */
#define SERVER_FRAME_VERSION FRAME_VERSION

/* ---- out ---- */

static void frames(struct server *s, struct session *n, struct slice bytes) {
    if (n->attach == ATTACH_ASKED)
        buf_put_slice(&n->early, bytes);
    else
        session_send_raw(s, n, bytes);
}

/* What was gathered for a worker goes out before, so that order is kept. */
static void tell(struct server *s, struct session *n, enum wire_op op, uint8_t flags, uint32_t request,
                 const void *message) {
    if (n->assigns.count > 0 && op != WIRE_ASSIGN) assign_flush(s, n);
    buf_clear(&s->out);
    wire_put(&s->out, op, flags, request, message);
    ENSURE(!s->out.full);
    /* A worker must know what is no longer its own before `attached` gives it a lease: else it would start, for a
     * moment, an exclusive attempt that waited for one and has been given away since. */
    if (op == WIRE_CANCEL_ATTEMPT)
        session_send_raw(s, n, buf_slice(&s->out));
    else
        frames(s, n, buf_slice(&s->out));
}

static void refuse(struct server *s, struct session *n, uint32_t request, enum err e, const char *text) {
    struct wire_error m = {.code = slice_str(err_word(e)), .message = slice_str(text)};
    tell(s, n, WIRE_ERROR, request != 0 ? FRAME_ANSWER : 0, request, &m);
}

/* ---- hello ---- */

static void welcome(struct server *s, struct session *n, uint32_t request) {
    struct wire_name roles[ROLE_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < ROLE_COUNT; i++)
        if (n->who.roles & ROLE_BIT(i)) roles[count++].name = slice_str(role_words[i]);
    struct wire_welcome m = {.lsn = engine_durable_lsn(server_shard(s)->engine),
                             .version = SERVER_FRAME_VERSION,
                             .build = bytes_slice(s->build),
                             .epoch = server_shard(s)->epoch,
                             .shard = s->options.shard,
                             .principal = slice_str(n->who.name),
                             .tenant = slice_str(n->who.tenant),
                             .roles = {roles, count},
                             .now_ms = s->world.clock->wall(s->world.clock).ms,
                             .frame_bytes_max = (uint32_t)s->limits->frame_bytes_max,
                             .lease_ms = (uint32_t)s->limits->lease_ms,
                             .heartbeat_ms = (uint32_t)s->limits->heartbeat_ms};
    tell(s, n, WIRE_WELCOME, request != 0 ? FRAME_ANSWER : 0, request, &m);
}

/* False: refused, and the session is gone. */
static bool hello(struct server *s, struct session *n, const struct frame *f) {
    struct wire_hello m;
    struct why why = {{0}};
    enum err e = ERR_OK;
    arena_reset(&s->arena);
    if (f->opcode != WIRE_HELLO) e = why_set(&why, ERR_UNAUTHENTICATED, "%s came before HELLO", wire_word(f->opcode));
    if (e == ERR_OK) e = wire_take(f, &s->arena, &m, &why);
    if (e == ERR_OK && (m.version_min > SERVER_FRAME_VERSION || m.version_max < SERVER_FRAME_VERSION))
        e = why_set(&why, ERR_UNSUPPORTED, "this server speaks frames of version %u, not %u to %u",
                    SERVER_FRAME_VERSION, m.version_min, m.version_max);
    if (e == ERR_OK) e = authenticate(s, n, m.token, m.tenant, &why);
    if (e == ERR_OK && s->draining) e = why_set(&why, ERR_BUSY, "the server is stopping");
    if (e != ERR_OK) {
        session_refuse(s, n, f->request, e, why.text);
        return false;
    }
    if (!slice_eq(m.build, bytes_slice(s->build)))
        server_log(s, SERVER_WARN, "build", "%s runs build %.*s, this server %.*s", n->address, SLICE_FMT(m.build),
                   SLICE_FMT(bytes_slice(s->build)));
    n->peer = m.peer;
    if (m.agent) authenticate_agent(&n->who);
    n->state = SESSION_OPEN;
    welcome(s, n, f->request);
    return true;
}

/* ---- in ---- */

/* Whether it is still there after something that may have ended it: then its place is empty, for nobody comes while
 * bytes are taken in. */
static bool is_there(const struct session *n, conn_id conn) {
    return n->conn.v == conn.v;
}

/* Takes whole frames off the front; returns how many bytes are used up. */
static size_t frames_take(struct server *s, struct session *n, struct slice in) {
    struct slice left = in;
    conn_id conn = n->conn;
    for (;;) {
        struct frame f;
        struct why why;
        size_t need = 0;
        size_t most = n->state == SESSION_NEW ? HELLO_BYTES_MAX : (size_t)s->limits->frame_bytes_max;
        enum err e = frame_take(&left, most, &f, &need, &why);
        if (e != ERR_OK) {
            session_refuse(s, n, 0, e, why.text);
            return in.len;
        }
        if (need != 0) return in.len - left.len;
        if (n->state == SESSION_NEW)
            (void)hello(s, n, &f);
        else if (!(f.flags & FRAME_ANSWER))
            session_enqueue(s, n, f.opcode, f.request, f.body);
        if (!is_there(n, conn)) return in.len;
    }
}

static void received(struct server *s, struct session *n, struct slice bytes) {
    conn_id conn = n->conn;
    bool buffered = n->in.len > 0;
    if (buffered) buf_put_slice(&n->in, bytes);
    struct slice all = buffered ? buf_slice(&n->in) : bytes;
    if (n->in.full) {
        session_refuse(s, n, 0, ERR_LIMIT, "the frame is too long");
        return;
    }
    size_t used = frames_take(s, n, all);
    if (!is_there(n, conn)) return;
    size_t left = all.len - used;
    if (buffered && left > 0) memmove(n->in.at, n->in.at + used, left);
    if (buffered)
        buf_cut(&n->in, left);
    else if (left > 0)
        buf_put_slice(&n->in, slice_of(all.ptr + used, left));
}

/* ---- life ---- */

static bool open(struct server *s, struct session *n) {
    (void)s, (void)n;
    return true;
}

static void closed(struct server *s, struct session *n) {
    (void)s, (void)n;
}

const struct dialect_ops native_dialect = {.name = "native v2",
                                           .spoken = SPOKEN_NATIVE,
                                           .first = SNIFF_BIT(SNIFF_NATIVE),
                                           .on_shared_port = true,
                                           .open = open,
                                           .closed = closed,
                                           .received = received,
                                           .decode = request_decode,
                                           .tell = tell,
                                           .frames = frames,
                                           .refuse = refuse};
