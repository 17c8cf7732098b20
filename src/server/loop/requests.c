/* requests.c: see requests.h. */
#include "requests.h"

#include "call.h"
#include "job_token.h"
#include "panic.h"
#include "server_impl.h"
#include "session.h"
#include "target.h"

/* An empty message in a list is two bytes on the wire and a struct of hundreds in memory: what a request may become is
 * bounded by what it was. */
#define DECODED_BYTES_MIN ((size_t)16 << 20)
#define DECODED_TIMES 16u
#define KEPT_BYTES ((size_t)1 << 20) /* of the memory for one request, between two */
#define KEPT_REQUEST_BYTES_MAX ((size_t)256 << 20)

bool role_may(uint32_t roles, uint8_t opcode) {
    const struct request_row *row = request_row(opcode);
    return (roles & ROLE_BIT(ROLE_ADMIN)) != 0 || (row != NULL && (roles & row->roles) != 0);
}

/* A dialect may have a request of its own. */
static const struct request_row *row_of(const struct session *n, uint8_t opcode) {
    if (n->dialect->own_row != NULL && n->dialect->own_op == opcode) return n->dialect->own_row;
    return request_row(opcode);
}

/* ---- things ---- */

static bool runs_the_place(const struct session *n) {
    return (n->who.roles & (ROLE_BIT(ROLE_ADMIN) | ROLE_BIT(ROLE_OPERATOR))) != 0;
}

static enum err is_for_all(const struct session *n, struct why *why) {
    if (n->who.tenant[0] == 0) return ERR_OK;
    return why_set(why, ERR_FORBIDDEN, "this concerns all tenants, and the token is limited to tenant %s",
                   n->who.tenant);
}

static enum err is_of_tenant(const struct session *n, struct slice tenant, struct why *why) {
    if (n->who.tenant[0] == 0 || slice_eq(tenant, slice_str(n->who.tenant))) return ERR_OK;
    return why_set(why, ERR_FORBIDDEN, "this token is limited to tenant %s", n->who.tenant);
}

static enum err names_nothing(struct server *s, const struct session *n, const void *message, struct why *why) {
    (void)s, (void)n, (void)message, (void)why;
    return ERR_OK;
}

static enum err names_all_tenants(struct server *s, const struct session *n, const void *message, struct why *why) {
    (void)s, (void)message;
    return is_for_all(n, why);
}

static enum err names_list(struct server *s, const struct session *n, const void *message, struct why *why) {
    const struct wire_list *m = message;
    (void)s;
    if (!job_token_is_confined(n) || m->what == WIRE_LIST_JOBS) return ERR_OK;
    return why_set(why, ERR_FORBIDDEN, "a job's token is not allowed to list anything but the jobs of its own flow");
}

static bool has_role(const struct caller *who, struct slice role) {
    if (role.len == 0 || (who->roles & ROLE_BIT(ROLE_ADMIN))) return true;
    return (who->roles & role_by_word(role)) != 0 || slice_eq(role, slice_str(who->name));
}

/* People answer what people were asked. What a condition, a template, a policy or a look at the output comes to is the
 * server's own to say: a verdict on those would be a way around all of them. */
static enum err names_question(struct server *s, const struct session *n, const void *message, struct why *why) {
    const struct wire_verdict *m = message;
    struct question_view q;
    struct flow_view flow;
    struct job_view job;
    question_id id = {m->question};
    if (id.v == 0) {
        enum err e = target_job(s, n, m->job, &job, why);
        if (e != ERR_OK) return e;
        if (job.question.v == 0) return ERR_OK; /* req_verdict knows what that means */
        id = job.question;
    }
    bool found = view_question(server_state(s), id, &q) && view_flow(server_state(s), q.job.flow, &flow);
    if (!found || is_of_tenant(n, flow.tenant, why) != ERR_OK)
        return why_set(why, ERR_NOT_FOUND, "there is no open question %llu", (unsigned long long)id.v);
    if (q.gate != GATE_APPROVAL && q.gate != GATE_EXTERNAL)
        return why_set(why, ERR_FORBIDDEN, "question %llu is answered by the server itself; it takes no verdict",
                       (unsigned long long)id.v);
    if (!has_role(&n->who, q.role))
        return why_set(why, ERR_FORBIDDEN, "this question is for the role %.*s", SLICE_FMT(q.role));
    return ERR_OK;
}

/* A worker that was away for too long is forgotten; another may take its id before its old connection ends. */
static bool is_replaced(const struct server *s, const struct session *n) {
    uint32_t number = n->attach == ATTACH_NONE ? 0 : view_worker_by_id(server_state(s), bytes_slice(n->worker));
    return number != 0 && number != n->worker_number;
}

static enum err names_worker(struct server *s, const struct session *n, const void *message, struct why *why) {
    const struct wire_drain *m = message;
    struct worker_view ignored;
    bool is_itself = n->attach != ATTACH_NONE && (m->worker.len == 0 || slice_eq(m->worker, bytes_slice(n->worker)));
    if (is_itself && is_replaced(s, n))
        return why_set(why, ERR_STALE, "another incarnation of this worker has attached");
    if (is_itself) return ERR_OK;
    if (!runs_the_place(n))
        return why_set(why, ERR_FORBIDDEN, "a worker can drain only itself; draining others needs the role operator");
    return target_worker(s, n, m->worker, &ignored, why);
}

static enum err names_paused(struct server *s, const struct session *n, const void *message, struct why *why) {
    const struct wire_pause *m = message;
    (void)s;
    if (m->scope == WIRE_SCOPE_FLOW) return ERR_OK;
    if (!runs_the_place(n)) return why_set(why, ERR_FORBIDDEN, "only an operator can pause a pool or a tenant");
    return m->scope == WIRE_SCOPE_TENANT ? is_of_tenant(n, m->name, why) : is_for_all(n, why);
}

static enum err names_tenant(struct server *s, const struct session *n, const void *message, struct why *why) {
    const struct wire_limit *m = message;
    (void)s;
    return m->tenant.len == 0 ? ERR_OK : is_of_tenant(n, m->tenant, why);
}

/* A worker that is started here has the token of the server's own, which is of no tenant. */
static enum err names_standard(struct server *s, const struct session *n, const void *message, struct why *why) {
    (void)s, (void)message;
    return is_of_tenant(n, SLICE(TENANT_STANDARD), why);
}

static enum err names_external(struct server *s, const struct session *n, const void *message, struct why *why) {
    const struct wire_complete *m = message;
    (void)s;
    if (m->token.len > 0 || role_may(n->who.roles, WIRE_CANCEL)) return ERR_OK;
    return why_set(why, ERR_FORBIDDEN,
                   "%s is not allowed to complete: its token lacks the role, and no callback token was given",
                   n->who.name);
}

static enum err names_demand(struct server *s, const struct session *n, const void *message, struct why *why) {
    const struct wire_demand_watch *m = message;
    (void)s;
    if (n->who.roles != ROLE_BIT(ROLE_WORKER) || m->kind.slots != 0) return ERR_OK;
    return why_set(why, ERR_FORBIDDEN, "a worker's token sees the demand for one kind of worker only: name it");
}

/* Those without a rule of their own here are found by who serves them, in a way that finds nothing of others. */
static enum err (*const names_checks[NAMES_COUNT])(struct server *s, const struct session *n, const void *message,
                                                   struct why *why) = {
    [NAMES_NOTHING] = names_nothing,         [NAMES_OWN] = names_nothing,
    [NAMES_FLOWS] = names_nothing,           [NAMES_LIST] = names_list,
    [NAMES_QUESTION] = names_question,       [NAMES_WORKER] = names_worker,
    [NAMES_PAUSED] = names_paused,           [NAMES_TENANT] = names_tenant,
    [NAMES_STANDARD] = names_standard,       [NAMES_EXTERNAL] = names_external,
    [NAMES_DEMAND] = names_demand,           [NAMES_ATTEMPTS] = names_nothing,
    [NAMES_ALL_TENANTS] = names_all_tenants,
};

/* ---- checks ---- */

enum err request_may(const struct server *s, const struct session *n, uint8_t opcode, struct why *why) {
    const struct request_row *row = row_of(n, opcode);
    if (row == NULL) return why_set(why, ERR_UNSUPPORTED, "%s is no request", wire_word(opcode));
    if (n->who.expires_ms != 0 && n->who.expires_ms <= engine_now(server_shard(s)->engine).ms)
        return why_set(why, ERR_UNAUTHENTICATED, "the token has expired: ask for a new one");
    if (!(n->who.roles & (row->roles | ROLE_BIT(ROLE_ADMIN))))
        return why_set(why, ERR_FORBIDDEN, "%s is not allowed to %s: its token lacks the role", n->who.name,
                       wire_word(opcode));
    if ((row->flags & REQUEST_NEEDS_ATTACH) && n->attach == ATTACH_NONE)
        return why_set(why, ERR_STATE, "%s came before ATTACH: attach the worker first", wire_word(opcode));
    if ((row->flags & REQUEST_NEEDS_ATTACH) && is_replaced(s, n))
        return why_set(why, ERR_STALE, "another incarnation of this worker has attached");
    return ERR_OK;
}

enum err request_check(struct server *s, const struct session *n, uint8_t opcode, const void *message,
                       struct why *why) {
    enum err e = request_may(s, n, opcode, why);
    if (e == ERR_OK && n->job.job.flow.v != 0 && !job_token_is_open(s, &n->job))
        e = why_set(why, ERR_UNAUTHENTICATED, "the attempt that this token belongs to has ended");
    if (e == ERR_OK && message != NULL) e = names_checks[row_of(n, opcode)->names](s, n, message, why);
    return e;
}

/* ---- serving ---- */

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

void request_serve(struct server *s, const struct lane_entry *entry) {
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
    row_of(n, r.op)->serve(s, &r);
    s->checked = (conn_id){0};
    if (s->arena.bytes > KEPT_BYTES) arena_reset(&s->arena);
}

/* ---- requests of the connection itself ---- */

HANDLER(request_ping) {
    session_answer(s, r->session, r->id, WIRE_PONG, r->message);
}

HANDLER(request_hello) {
    session_error(s, r->session, r->id, ERR_STATE, "HELLO was already sent on this connection");
}

HANDLER(request_nothing) {
    (void)s, (void)r;
}

HANDLER(request_goodbye) {
    (void)s;
    r->session->goodbye = true;
}

HANDLER(request_stop) {
    const struct wire_stop *m = r->message;
    conn_id conn = r->session->conn;
    bool found = shard_stop_stream(server_shard(s), conn, m->request);
    struct wire_accepted done = {.lsn = engine_durable_lsn(server_shard(s)->engine)};
    if (found)
        session_answer(s, r->session, r->id, WIRE_ACCEPTED, &done);
    else
        session_error(s, r->session, r->id, ERR_NOT_FOUND, "no stream of that request is open");
}
