/* route.c: see route.h. */
#include "route.h"

#include "call.h"
#include "requests.h"
#include "session.h"

/* An empty message in a list is two bytes on the wire and a struct of hundreds in memory: what a request may become is
 * bounded by what it was. */
#define DECODED_BYTES_MIN ((size_t)16 << 20)
#define DECODED_TIMES 16u
#define KEPT_BYTES ((size_t)1 << 20) /* of the memory for one request, between two */

void request_ping(struct server *s, struct request *r) {
    session_answer(s, r->session, r->id, WIRE_PONG, r->message);
}

void request_hello(struct server *s, struct request *r) {
    session_error(s, r->session, r->id, ERR_STATE, "hello was said already");
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

static enum err decode(struct server *s, const struct frame *f, void *ret, struct why *why) {
    size_t most = s->arena.bytes_max;
    s->arena.bytes_max = DECODED_BYTES_MIN + DECODED_TIMES * f->body.len;
    enum err e = wire_take(f, &s->arena, ret, why);
    s->arena.bytes_max = most;
    return e;
}

void route_serve(struct server *s, const struct lane_entry *entry) {
    struct session *n = session_of(s, entry->conn);
    struct why why;
    if (n == NULL || n->state != SESSION_OPEN) return; /* nobody is there any more */
    s->request_count++;
    enum err e = request_may(s, n, entry->op, &why);
    struct frame f = {.opcode = entry->op, .request = entry->request, .body = entry->body};
    arena_reset(&s->arena);
    void *message = arena_alloc(&s->arena, wire_info(entry->op)->desc->size);
    if (e == ERR_OK) e = decode(s, &f, message, &why);
    if (e != ERR_OK) {
        session_error(s, n, entry->request, e, why.text);
        return;
    }
    struct request r = {.session = n,
                        .op = entry->op,
                        .id = entry->request,
                        .body = entry->body,
                        .message = message,
                        .arena = &s->arena};
    /* What follows from the state is said when that is durable, like everything of it. */
    e = request_check(s, n, entry->op, message, &why);
    if (e != ERR_OK) {
        call_fail(s, &r, e, why.text);
        return;
    }
    s->checked = entry->conn;
    request_row(entry->op)->serve(s, &r);
    s->checked = (conn_id){0};
    if (s->arena.bytes > KEPT_BYTES) arena_reset(&s->arena);
}
