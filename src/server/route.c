/* route.c: see route.h. */
#include "route.h"

#include <stdio.h>

#include "call.h"
#include "callback.h"
#include "jobtoken.h"
#include "orion_session.h"
#include "playground.h"
#include "session.h"
#include "tale.h"
#include "titan_session.h"

/* An empty message in a list is two bytes on the wire and a struct of hundreds in memory: what a request may become is
 * bounded by what it was. */
#define DECODED_BYTES_MIN ((size_t)16 << 20)
#define DECODED_TIMES 16u
#define KEPT_BYTES ((size_t)1 << 20) /* of the memory for one request, between two */

typedef void (*serve_fn)(struct server *s, struct request *r);

static void serve_ping(struct server *s, struct request *r) {
    session_answer(s, r->session, r->id, WIRE_PONG, r->message);
}

static void serve_nothing(struct server *s, struct request *r) {
    (void)s, (void)r;
}

static void serve_goodbye(struct server *s, struct request *r) {
    (void)s;
    r->session->goodbye = true;
}

static void serve_stop(struct server *s, struct request *r) {
    const struct wire_stop *m = r->message;
    conn_id conn = r->session->conn;
    bool found = feed_stop(s, conn, m->request) || herald_stop(s, conn, m->request) ||
                 streams_stop(s, conn, m->request) || ask_kv_stop(s, r, m->request) || demand_stop(s, conn, m->request);
    struct wire_accepted done = {.lsn = engine_durable_lsn(s->engine)};
    if (found)
        session_answer(s, r->session, r->id, WIRE_ACCEPTED, &done);
    else
        session_error(s, r->session, r->id, ERR_NOT_FOUND, "no stream of that request is open");
}

static const serve_fn routes[256] = {
    [WIRE_PING] = serve_ping,
    [WIRE_PONG] = serve_nothing,
    [WIRE_ERROR] = serve_nothing,
    [WIRE_GOODBYE] = serve_goodbye,
    [WIRE_STOP] = serve_stop,
    [WIRE_SUBMIT] = ask_submit,
    [WIRE_ADD_JOBS] = ask_add,
    [WIRE_CANCEL] = ask_targets,
    [WIRE_RETRY] = ask_targets,
    [WIRE_DISCARD] = ask_targets,
    [WIRE_DEAD_RETRY] = ask_dead,
    [WIRE_DEAD_DISCARD] = ask_dead,
    [WIRE_RERUN] = ask_targets,
    [WIRE_PAUSE] = ask_pause,
    [WIRE_RESUME] = ask_pause,
    [WIRE_VERDICT] = ask_verdict,
    [WIRE_COMPLETE] = ask_complete,
    [WIRE_CALLBACK] = ask_callback,
    [WIRE_GET] = ask_get,
    [WIRE_LIST] = ask_list,
    [WIRE_WHY] = ask_why,
    [WIRE_AUDIT] = ask_audit,
    [WIRE_WORKER_START] = ask_launch,
    [WIRE_STATS] = ask_stats,
    [WIRE_METRICS] = ask_metrics,
    [WIRE_WAIT] = feed_wait,
    [WIRE_SUBSCRIBE] = feed_subscribe,
    [WIRE_FOLLOW] = herald_follow,
    [WIRE_TALE] = tale_ask,
    [WIRE_LOGS] = stream_logs,
    [WIRE_BLOB_BEGIN] = stream_blob_begin,
    [WIRE_BLOB_PART] = stream_blob_part,
    [WIRE_BLOB_END] = stream_blob_end,
    [WIRE_BLOB_PUT] = stream_blob_put,
    [WIRE_BLOB_GET] = stream_blob_get,
    [WIRE_BLOB_LS] = stream_blob_ls,
    [WIRE_KV_CHANGE] = ask_kv_change,
    [WIRE_KV_GET] = ask_kv_get,
    [WIRE_KV_WATCH] = ask_kv_watch,
    [WIRE_LOGIN_NEW] = ask_login_new,
    [WIRE_TOKEN_NEW] = ask_token_new,
    [WIRE_TOKEN_REVOKE] = ask_token_revoke,
    [WIRE_TOKEN_LS] = ask_token_ls,
    [WIRE_SCHEDULE_SET] = ask_schedule_set,
    [WIRE_SCHEDULE_CHANGE] = ask_schedule_change,
    [WIRE_SCHEDULE_LS] = ask_schedule_ls,
    [WIRE_POOL] = ask_pool,
    [WIRE_TOPIC] = ask_topic,
    [WIRE_TENANT] = ask_tenant,
    [WIRE_LIMIT] = ask_limit,
    [WIRE_LIMIT_LS] = ask_limit_ls,
    [WIRE_DRAIN] = ask_drain,
    [WIRE_SERVICE_SET] = ask_service_set,
    [WIRE_SERVICE_LS] = ask_service_ls,
    [WIRE_DEMAND_WATCH] = demand_watch,
    [WIRE_ORION_GET] = ask_orion,
    [WIRE_TITAN_GET] = ask_titan,
    [WIRE_PLAYGROUND_GET] = ask_playground,
    [WIRE_PLAYGROUND_DO] = ask_playground_do,
    [WIRE_ATTACH] = ask_attach,
    [WIRE_HEARTBEAT] = ask_heartbeat,
    [WIRE_CREDIT] = ask_credit,
    [WIRE_DETACH] = ask_detach,
    [WIRE_STARTED] = ask_started,
    [WIRE_PROGRESS] = ask_progress,
    [WIRE_HEALTH] = ask_health,
    [WIRE_LOG] = stream_log,
    [WIRE_DONE] = ask_done,
};

/* Words of a worker make sense only on a connection that is attached. */
static bool needs_attach(uint8_t op) {
    return op >= WIRE_HEARTBEAT && wire_info(op)->sender == WIRE_FROM_WORKER;
}

static enum err check(const struct server *s, const struct session *n, uint8_t op, struct why *why) {
    if (n->who.expires_ms != 0 && n->who.expires_ms <= engine_now(s->engine).ms)
        return why_set(why, ERR_UNAUTHENTICATED, "the token has expired: ask for a new one");
    if (op == WIRE_HELLO) return why_set(why, ERR_STATE, "hello was said already");
    if (routes[op] == NULL) return why_set(why, ERR_UNSUPPORTED, "this server cannot do %s yet", wire_word(op));
    if (!role_may(n->who.roles, op) && op != WIRE_PONG && op != WIRE_ERROR)
        return why_set(why, ERR_FORBIDDEN, "%s may not %s: the role for it is missing", n->who.name, wire_word(op));
    if (needs_attach(op) && n->attach == ATTACH_NONE)
        return why_set(why, ERR_STATE, "%s before attach: say which worker this is", wire_word(op));
    return ERR_OK;
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
    enum err e = check(s, n, entry->op, &why);
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
    /* That an attempt is over is read from the state, so it is said when that is durable, like everything of it. */
    if (n->job.job.flow.v != 0 && !jobtoken_is_open(s, &n->job))
        call_fail(s, &r, ERR_UNAUTHENTICATED, "the attempt that this token is of is over");
    else
        routes[entry->op](s, &r);
    if (s->arena.bytes > KEPT_BYTES) arena_reset(&s->arena);
}
