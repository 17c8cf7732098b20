/* call.c: see call.h. */
#include "call.h"

#include <stdio.h>

#include "assign.h"
#include "fair_queue.h"
#include "ids.h"
#include "mutant.h"
#include "panic.h"
#include "server_impl.h"
#include "session.h"

#define CALLS_MAX 1000000u
#define CALL_ARENA_MAX ((size_t)1 << 30)
#define BUSY_RETRY_MS 250u
/* A number is where the call is and, above that, which of those that were there. */
#define INDEX_BITS 20u
#define SERIAL_MASK ((UINT64_C(1) << 21) - 1)
_Static_assert(CALLS_MAX < 1u << INDEX_BITS, "an index has its bits");

struct call *call_open(struct server *s, const struct request *r, uint32_t part_count) {
    REQUIRE(part_count < CALL_PARTS_MAX);
    struct shard *h = server_shard(s);
    uint32_t index = h->calls.count < CALLS_MAX ? pool_alloc(&h->calls) : 0;
    if (index == 0) {
        session_busy(s, r->session, r->id, "too many requests in progress", BUSY_RETRY_MS);
        return NULL;
    }
    struct call *c = pool_at(&h->calls, index);
    c->number = (++h->call_last & SERIAL_MASK) << INDEX_BITS | index;
    c->conn = r->session->conn;
    c->request = r->id;
    c->op = r->op;
    c->part_count = part_count;
    arena_init(&c->arena, 1024, CALL_ARENA_MAX);
    c->parts = part_count <= 1 ? &c->one : ARENA_ARRAY(&c->arena, struct part, part_count);
    r->session->calls++;
    return c;
}

static uint64_t token_of(const struct call *c, uint32_t part) {
    return c->number * CALL_PARTS_MAX + part;
}

enum err call_command(struct server *s, const struct request *r, struct call *c, uint32_t part, struct command *cmd) {
    cmd->token = token_of(c, part);
    cmd->principal = slice_str(r->session->who.name);
    cmd->caller = session_caller(r->session);
    if (cmd->tenant.len == 0) cmd->tenant = slice_str(r->session->who.tenant);
    return server_command(s, r->session->conn, r->id, cmd);
}

void call_refuse(struct server *s, const struct request *r, struct call *c, uint32_t part, enum err e,
                 const char *text) {
    struct command cmd = {.kind = CMD_READ};
    struct part *p = &c->parts[part];
    p->err = e;
    p->refused = true;
    p->text = arena_slice(&c->arena, slice_str(text));
    call_command(s, r, c, part, &cmd);
}

void call_fail(struct server *s, const struct request *r, enum err e, const char *text) {
    struct call *c = call_open(s, r, 1);
    if (c != NULL) call_refuse(s, r, c, 0, e, text);
}

void call_read(struct server *s, const struct request *r, struct call *c, struct slice frames) {
    struct command cmd = {.kind = CMD_READ};
    c->is_read = true;
    c->held = bytes_new(frames);
    r->session->owed += frames.len;
    call_command(s, r, c, 0, &cmd);
}

void call_show(struct server *s, const struct request *r, enum wire_op op, const void *message) {
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    struct slice made;
    const struct dialect_ops *d = r->session->dialect;
    c->is_made = d->make != NULL && d->make(s, r->session, r->id, op, message, &made);
    if (!c->is_made) {
        buf_clear(&s->out);
        wire_put(&s->out, op, FRAME_ANSWER, r->id, message);
    }
    if (s->out.full && !c->is_made)
        call_refuse(s, r, c, 0, ERR_LIMIT, "the answer is too large: ask for less");
    else
        call_read(s, r, c, c->is_made ? made : buf_slice(&s->out));
}

void call_hold_made(const struct request *r, struct call *c, struct slice made) {
    REQUIRE(c->held == NULL && c->answered == 0);
    c->is_read = c->is_made = true;
    c->held = bytes_new(made);
    r->session->owed += made.len;
}

void call_hold(struct server *s, const struct request *r, struct call *c, enum wire_op op, const void *message) {
    const struct dialect_ops *d = r->session->dialect;
    struct slice made;
    if (d->make != NULL && d->make(s, r->session, r->id, op, message, &made)) {
        call_hold_made(r, c, made);
        return;
    }
    buf_clear(&s->out);
    wire_put(&s->out, op, FRAME_ANSWER, r->id, message);
    ENSURE(!s->out.full);
    call_hold_made(r, c, buf_slice(&s->out));
    c->is_made = false;
}

/* ---- answers ---- */

static void answer_error(struct server *s, struct session *n, const struct call *c, uint64_t lsn) {
    const struct part *p = &c->parts[0];
    struct wire_error m = {.lsn = lsn,
                           .code = slice_str(err_word(p->err)),
                           .message = p->text,
                           .retry_after_ms = err_is_retryable(p->err) ? BUSY_RETRY_MS : 0,
                           .version = p->version};
    session_answer(s, n, c->request, WIRE_ERROR, &m);
}

static struct slice flow_name(struct server *s, flow_id id) {
    char *text = arena_alloc(&s->frame_arena, FLOW_TEXT_BYTES);
    flow_text(s->options.shard, id, text);
    return slice_str(text);
}

static void answer_submitted(struct server *s, struct session *n, const struct call *c, uint64_t lsn) {
    struct wire_submitted_flow *list = ARENA_ARRAY(&s->frame_arena, struct wire_submitted_flow, c->part_count);
    for (uint32_t i = 0; i < c->part_count; i++) {
        const struct part *p = &c->parts[i];
        if (p->err == ERR_OK) {
            list[i] = (struct wire_submitted_flow){.flow = p->flow.v != 0 ? flow_name(s, p->flow) : SLICE(""),
                                                   .job_count = p->job_count,
                                                   .repeated = p->repeated};
        } else {
            list[i] = (struct wire_submitted_flow){.code = slice_str(err_word(p->err)),
                                                   .message = p->text,
                                                   .retry_after_ms = err_is_retryable(p->err) ? BUSY_RETRY_MS : 0};
        }
    }
    struct wire_submitted m = {.lsn = lsn, .flows = {list, c->part_count}};
    session_answer(s, n, c->request, WIRE_SUBMITTED, &m);
}

static void answer_accepted(struct server *s, struct session *n, const struct call *c, uint64_t lsn) {
    struct wire_accepted m = {.lsn = lsn, .repeated = c->parts[0].repeated, .more = c->more};
    if (c->part_count == 1 && !c->is_list && c->parts[0].err != ERR_OK) {
        answer_error(s, n, c, lsn);
        return;
    }
    if (c->parts[0].target.len > 0) {
        struct wire_result *list = ARENA_ARRAY(&s->frame_arena, struct wire_result, c->part_count);
        for (uint32_t i = 0; i < c->part_count; i++) {
            const struct part *p = &c->parts[i];
            list[i] = (struct wire_result){.target = p->target, .repeated = p->repeated, .message = p->text};
            if (p->err != ERR_OK) list[i].code = slice_str(err_word(p->err));
        }
        m.results = (struct tlv_list){list, c->part_count};
    }
    session_answer(s, n, c->request, WIRE_ACCEPTED, &m);
}

/* A code in an acknowledgement means that the end will never be recorded. What may still be is not acknowledged. */
static void answer_done(struct server *s, struct session *n, const struct call *c, uint64_t lsn) {
    struct wire_end_ack *list = ARENA_ARRAY(&s->frame_arena, struct wire_end_ack, c->part_count ? c->part_count : 1);
    for (uint32_t i = 0; i < c->part_count; i++) {
        const struct part *p = &c->parts[i];
        if (err_is_retryable(p->err)) {
            session_busy(s, n, c->request, "not all ends could be recorded yet", BUSY_RETRY_MS);
            return;
        }
        list[i] = (struct wire_end_ack){.attempt = p->attempt, .repeated = p->repeated, .message = p->text};
        if (p->err != ERR_OK) list[i].code = slice_str(err_word(p->err));
    }
    struct wire_done_ack m = {.lsn = lsn, .acks = {list, c->part_count}};
    session_answer(s, n, c->request, WIRE_DONE_ACK, &m);
}

/* What was said while the answer to `attach` was under way. */
static void early_send(struct server *s, struct session *n) {
    session_send_bytes(s, n, buf_slice(&n->early));
    buf_fini(&n->early);
    buf_init(&n->early, (size_t)1 << 28);
}

static void answer_attached(struct server *s, struct session *n, const struct call *c, uint64_t lsn) {
    const struct part *p = &c->parts[0];
    if (p->err != ERR_OK) {
        if (MUTANT(attach_by_state) && n->attach == ATTACH_ASKED) n->attach = ATTACH_DONE;
        answer_error(s, n, c, lsn);
        return;
    }
    struct wire_attached m = {.lsn = lsn,
                              .epoch = server_shard(s)->epoch,
                              .lease_ms = p->lease_ms,
                              .heartbeat_ms = (uint32_t)s->limits->heartbeat_ms};
    if (n->assigns.count > 0) assign_flush(s, n);           /* into `early`: behind the answer */
    if (n->attach == ATTACH_ASKED) n->attach = ATTACH_DONE; /* else it has detached since */
    session_answer(s, n, c->request, WIRE_ATTACHED, &m);
    early_send(s, n);
    server_log(s, SERVER_INFO, "worker", "%.*s attached from %s", SLICE_FMT(bytes_slice(n->worker)), n->address);
}

static void answer(struct server *s, struct session *n, const struct call *c, uint64_t lsn) {
    const struct part *p = &c->parts[0];
    if (c->is_read) {
        if (p->err == ERR_OK && c->is_made)
            n->dialect->made(s, n, c->request, bytes_slice(c->held));
        else if (p->err == ERR_OK)
            session_send_bytes(s, n, bytes_slice(c->held));
        else
            answer_error(s, n, c, lsn);
    } else if (c->op == WIRE_SUBMIT || c->op == WIRE_ADD_JOBS || c->op == WIRE_AGAIN ||
               ((c->op == WIRE_SCHEDULE_RUN || c->op == WIRE_SERVICE_ROLLBACK) && p->err == ERR_OK)) {
        answer_submitted(s, n, c, lsn);
    } else if (c->op == WIRE_DONE) {
        answer_done(s, n, c, lsn);
    } else if (c->op == WIRE_ATTACH) {
        answer_attached(s, n, c, lsn);
    } else if (c->op == WIRE_HEARTBEAT && p->err == ERR_OK) {
        struct wire_lease m = {.epoch = server_shard(s)->epoch, .lease_ms = p->lease_ms, .sent_ms = c->sent_ms};
        session_answer(s, n, c->request, WIRE_LEASE, &m);
    } else if (c->op == WIRE_KV_CHANGE && p->err == ERR_OK) {
        struct wire_kv_changed m = {.lsn = lsn, .number = p->number, .version = p->version};
        session_answer(s, n, c->request, WIRE_KV_CHANGED, &m);
    } else if (c->op == WIRE_KV_WATCH && p->err == ERR_OK) {
        /* Changes before the watch began are not told: read once, now. */
        struct wire_kv_event m = {.lsn = lsn, .gap = true};
        session_send(s, n, WIRE_KV_EVENT, FRAME_ANSWER | FRAME_MORE, c->request, &m);
    } else {
        answer_accepted(s, n, c, lsn);
    }
}

static uint32_t index_of(uint64_t number) {
    return (uint32_t)(number & ((1u << INDEX_BITS) - 1));
}

static void call_free(struct shard *h, struct call *c) {
    bytes_free(c->held);
    arena_fini(&c->arena);
    pool_free(&h->calls, index_of(c->number));
}

void call_answered(struct shard *h, uint64_t token, uint64_t lsn, const struct reply *reply) {
    struct server *s = h->server;
    uint64_t number = token / CALL_PARTS_MAX;
    ENSURE(index_of(number) != 0 && index_of(number) <= h->calls.high);
    struct call *c = pool_at(&h->calls, index_of(number));
    ENSURE(c->number == number);
    uint32_t part = (uint32_t)(token % CALL_PARTS_MAX);
    ENSURE(part < c->part_count || (part == 0 && c->part_count == 0));
    struct part *p = &c->parts[part];
    if (!p->refused) {
        p->err = reply->err;
        p->repeated = reply->repeated;
        p->job_count = reply->job_count;
        p->flow = reply->flow;
        p->number = reply->number;
        p->version = reply->version;
        p->lease_ms = (uint32_t)reply->lease_ms;
        if (reply->err != ERR_OK) p->text = arena_slice(&c->arena, slice_str(reply->why.text));
    }
    if (++c->answered < c->part_count) return;
    struct session *n = session_of(s, c->conn);
    if (n != NULL) {
        arena_reset(&s->frame_arena);
        n->calls--;
        if (c->is_read) n->owed -= bytes_slice(c->held).len;
        answer(s, n, c, lsn);
        n = session_of(s, c->conn);
        if (n != NULL) budget_charge(s, n);
        if (n != NULL) fair_queue_resume(s, n);
    }
    call_free(h, c);
}

void call_free_all(struct shard *h) {
    for (uint32_t i = 1; i <= h->calls.high; i++) {
        struct call *c = pool_at(&h->calls, i);
        if (c->number == 0) continue;
        if (MUTANT(call_over_reopen) && c->answered + 1 >= c->part_count)
            call_answered(h, token_of(c, c->answered), 0, &(struct reply){.err = ERR_OK});
        else
            call_free(h, c);
    }
}
