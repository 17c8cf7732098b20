/* route.c: see route.h. */
#include "route.h"

#include "call.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"

/* An empty message in a list is two bytes on the wire and a struct of hundreds in memory: what a request may become is
 * bounded by what it was. */
#define DECODED_BYTES_MIN ((size_t)16 << 20)
#define DECODED_TIMES 16u
#define KEPT_BYTES ((size_t)1 << 20) /* of the memory for one request, between two */
#define KEPT_REQUEST_BYTES_MAX ((size_t)256 << 20)

void request_ping(struct server *s, struct request *r) {
    session_answer(s, r->session, r->id, WIRE_PONG, r->message);
}

void request_hello(struct server *s, struct request *r) {
    session_error(s, r->session, r->id, ERR_STATE, "HELLO was already sent on this connection");
}

void request_nothing(struct server *s, struct request *r) {
    (void)s, (void)r;
}

void request_goodbye(struct server *s, struct request *r) {
    (void)s;
    r->session->goodbye = true;
}

void request_stop(struct server *s, struct request *r) {
    const struct wire_stop *m = r->message;
    conn_id conn = r->session->conn;
    bool found = shard_stop_stream(server_shard(s), conn, m->request);
    struct wire_accepted done = {.lsn = engine_durable_lsn(server_shard(s)->engine)};
    if (found)
        session_answer(s, r->session, r->id, WIRE_ACCEPTED, &done);
    else
        session_error(s, r->session, r->id, ERR_NOT_FOUND, "no stream of that request is open");
}

bool request_decode(struct server *s, const struct lane_entry *e, struct request *r) {
    struct frame f = {.opcode = e->op, .request = e->request, .body = e->body};
    struct arena *a = r->arena;
    struct why why = {{0}};
    size_t most = a->bytes_max;
    void *message = arena_alloc(a, wire_info(e->op)->desc->size);
    a->bytes_max = DECODED_BYTES_MIN + DECODED_TIMES * e->body.len;
    enum err err = wire_take(&f, a, message, &why);
    a->bytes_max = most;
    r->body = e->body;
    r->message = message;
    if (err != ERR_OK) session_error(s, r->session, r->id, err, why.text);
    return err == ERR_OK;
}

struct bytes *request_bytes(const struct request *r) {
    if (r->body.ptr != NULL) return bytes_new(r->body);
    struct buf b;
    buf_init(&b, KEPT_REQUEST_BYTES_MAX);
    tlv_encode(wire_info(r->op)->desc, r->message, &b);
    ENSURE(!b.full);
    struct bytes *all = bytes_new(buf_slice(&b));
    buf_fini(&b);
    return all;
}

void route_serve(struct server *s, const struct lane_entry *entry) {
    struct session *n = session_of(s, entry->conn);
    struct why why;
    if (n == NULL || n->state != SESSION_OPEN) return; /* nobody is there any more */
    s->request_count++;
    enum err e = request_may(s, n, entry->op, &why);
    if (e != ERR_OK) {
        session_error(s, n, entry->request, e, why.text);
        return;
    }
    arena_reset(&s->arena);
    struct request r = {.session = n, .op = entry->op, .id = entry->request, .arena = &s->arena};
    if (!n->dialect->decode(s, entry, &r)) return;
    /* What follows from the state is said when that is durable, like everything of it. */
    e = request_check(s, n, entry->op, r.message, &why);
    if (e != ERR_OK) {
        call_fail(s, &r, e, why.text);
        return;
    }
    s->checked = entry->conn;
    request_serve(s, &r);
    s->checked = (conn_id){0};
    if (s->arena.bytes > KEPT_BYTES) arena_reset(&s->arena);
}
