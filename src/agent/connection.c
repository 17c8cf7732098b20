/* connection.c: the connection of a worker: dial, hello, attach, heartbeats; and again, with longer and longer pauses,
 * when it breaks. A server that does not answer is as good as gone: no step waits without an end. */
#include <stdarg.h>
#include <stdio.h>

#include "agent_impl.h"
#include "panic.h"

#define STEP_MS 10000 /* for a dial, a welcome, an attach */
#define AGAIN_MS 100  /* after the first failure; doubles */
#define AGAIN_MS_MAX 5000
#define AGAIN_JITTER_MS 100 /* and a tenth of the pause: workers of a dead server must not come back as one */
#define BEATS_OPEN_MAX 2u
#define OUT_BYTES_MAX (64u << 20)

void connection_init(struct agent *a) {
    a->connection = (struct connection){.due_ms = agent_now_ms(a), .again_at_ms = TIME_NEVER};
    a->connection.frame_bytes_max = (size_t)a->o.limits.frame_bytes_max;
    buf_init(&a->connection.in, a->connection.frame_bytes_max + FRAME_HEADER_BYTES);
    buf_init(&a->out, OUT_BYTES_MAX);
}

void connection_fini(struct agent *a) {
    if (a->connection.state != CONNECTION_DOWN) a->w.net->ops->close(a->w.net, a->connection.conn);
    buf_fini(&a->connection.in);
    buf_fini(&a->out);
}

uint32_t connection_request(struct agent *a) {
    if (++a->connection.request == 0) a->connection.request = 1;
    return a->connection.request;
}

void connection_send(struct agent *a, enum wire_op op, uint32_t request, const void *message) {
    if (a->connection.state <= CONNECTION_DIALLING) return;
    wire_put(&a->out, op, 0, request, message);
    ENSURE(!a->out.full);
}

static void flush(struct agent *a) {
    if (a->out.len > 0 && a->connection.state > CONNECTION_DIALLING)
        a->w.net->ops->send(a->w.net, a->connection.conn, buf_slice(&a->out));
    buf_clear(&a->out);
}

static int64_t pause_ms(struct agent *a) {
    uint32_t doublings = a->connection.failures < 6 ? a->connection.failures : 6;
    int64_t pause = AGAIN_MS << doublings;
    if (pause > AGAIN_MS_MAX) pause = AGAIN_MS_MAX;
    uint64_t jitter = (uint64_t)(AGAIN_JITTER_MS + pause / 10);
    return pause + (int64_t)(a->w.clock->random(a->w.clock) % jitter);
}

/* The connection is no longer there. */
static void fall(struct agent *a, const char *why) {
    bool was_up = a->connection.state == CONNECTION_UP;
    int64_t pause = pause_ms(a);
    a->connection.state = CONNECTION_DOWN;
    a->connection.conn = (conn_id){0};
    a->connection.due_ms = agent_now_ms(a) + pause;
    a->connection.failures++;
    buf_clear(&a->connection.in);
    buf_clear(&a->out);
    if (was_up || a->connection.failures == 1)
        agent_log(a, "disconnected: %s; reconnecting in %lld ms", why, (long long)pause);
    worker_proto_again(a);
    run_spool_all(a);
}

void connection_lost(struct agent *a, const char *why) {
    if (a->connection.state == CONNECTION_DOWN) return;
    a->w.net->ops->close(a->w.net, a->connection.conn);
    fall(a, why);
}

static void step(struct agent *a, enum connection_state state) {
    a->connection.state = state;
    a->connection.due_ms = agent_now_ms(a) + STEP_MS;
}

static void on_opened(void *ctx, conn_id c, const struct net_peer *peer) {
    struct agent *a = ctx;
    (void)peer;
    if (c.v != a->connection.conn.v) return;
    step(a, CONNECTION_HELLO);
    struct wire_hello hello = {
        .version_min = FRAME_VERSION,
        .version_max = FRAME_VERSION,
        .peer = WIRE_PEER_WORKER,
        .build = slice_str(a->o.build),
        .token = slice_str(a->o.token != NULL ? a->o.token : ""),
        .tenant = slice_str(a->o.tenant != NULL ? a->o.tenant : ""),
    };
    connection_send(a, WIRE_HELLO, connection_request(a), &hello);
}

static void hear_welcome(struct agent *a, const struct frame *f) {
    struct wire_welcome w;
    struct why why;
    if (wire_take(f, &a->arena, &w, &why) != ERR_OK) {
        connection_lost(a, why.text);
    } else if (!worker_proto_epoch(a, w.epoch)) {
        connection_lost(a, "the server is older than one this worker already talked to");
    } else {
        step(a, CONNECTION_ATTACHING);
        if (!slice_eq(w.build, slice_str(a->o.build)))
            agent_log(a, "the server runs build %.*s, this worker %s", SLICE_FMT(w.build), a->o.build);
        if (w.frame_bytes_max != 0 && w.frame_bytes_max < a->connection.frame_bytes_max)
            a->connection.frame_bytes_max = w.frame_bytes_max;
        a->connection.attach_sent_ms = agent_now_ms(a);
        worker_proto_attach(a);
    }
}

static void hear_attached(struct agent *a, const struct frame *f) {
    struct wire_attached w;
    struct why why;
    if (wire_take(f, &a->arena, &w, &why) != ERR_OK) {
        connection_lost(a, why.text);
        return;
    }
    if (!worker_proto_epoch(a, w.epoch)) {
        connection_lost(a, "the server is older than one this worker already talked to");
        return;
    }
    a->connection.state = CONNECTION_UP;
    a->connection.failures = 0;
    a->connection.was_refused = false;
    a->connection.beats_open = 0;
    a->connection.heartbeat_ms = w.heartbeat_ms != 0 ? w.heartbeat_ms : (uint32_t)a->o.limits.heartbeat_ms;
    a->connection.due_ms = agent_now_ms(a) + a->connection.heartbeat_ms;
    agent_log(a, "attached to %s as %s, incarnation %llu, epoch %llu, holding %u", a->o.server, a->spool.self.id,
              (unsigned long long)a->spool.self.incarnation, (unsigned long long)w.epoch, agent_held(a));
    run_lease(a, a->connection.attach_sent_ms + w.lease_ms);
    worker_proto_again(a);
    if (a->is_draining) connection_drain(a);
}

/* An error or a `busy` on the way up. */
static void hear_refusal(struct agent *a, const struct frame *f) {
    struct wire_error e = {0};
    struct wire_busy b = {0};
    struct why why = {"busy"};
    if (f->opcode == WIRE_ERROR && wire_take(f, &a->arena, &e, &why) == ERR_OK)
        (void)why_set(&why, ERR_OK, "%.*s: %.*s", SLICE_FMT(e.code), SLICE_FMT(e.message));
    else if (f->opcode == WIRE_BUSY && wire_take(f, &a->arena, &b, &why) == ERR_OK)
        (void)why_set(&why, ERR_OK, "busy: %.*s", SLICE_FMT(b.reason));
    if (!a->connection.was_refused) agent_log(a, "refused by %s: %s", a->o.server, why.text);
    a->connection.was_refused = true;
    connection_lost(a, why.text);
}

static void hear_frame(struct agent *a, const struct frame *f) {
    arena_reset(&a->arena);
    bool refused = f->opcode == WIRE_ERROR || f->opcode == WIRE_BUSY;
    switch (a->connection.state) {
    case CONNECTION_DOWN:
    case CONNECTION_DIALLING: break;
    case CONNECTION_HELLO:
        if (f->opcode == WIRE_WELCOME)
            hear_welcome(a, f);
        else if (refused)
            hear_refusal(a, f);
        break;
    case CONNECTION_ATTACHING:
        if (f->opcode == WIRE_ATTACHED)
            hear_attached(a, f);
        else if (f->opcode == WIRE_CANCEL_ATTEMPT) /* before there is a lease to start it in */
            worker_proto_hear(a, f);
        else if (refused)
            hear_refusal(a, f);
        break;
    case CONNECTION_UP: worker_proto_hear(a, f); break;
    }
}

static void on_received(void *ctx, conn_id c, struct slice bytes) {
    struct agent *a = ctx;
    if (c.v != a->connection.conn.v) return;
    buf_put_slice(&a->connection.in, bytes);
    if (a->connection.in.full) {
        connection_lost(a, "a frame is too large");
        return;
    }
    struct slice left = buf_slice(&a->connection.in);
    for (;;) {
        struct frame f;
        size_t need = 0;
        struct why why;
        if (frame_take(&left, (size_t)a->o.limits.frame_bytes_max, &f, &need, &why) != ERR_OK) {
            connection_lost(a, why.text);
            return;
        }
        if (need != 0) break;
        hear_frame(a, &f);
        if (a->connection.conn.v != c.v) return; /* given up meanwhile */
    }
    if (left.len > 0) memmove(a->connection.in.at, left.ptr, left.len);
    buf_cut(&a->connection.in, left.len);
}

static void on_drained(void *ctx, conn_id c) {
    (void)ctx, (void)c; /* the pass that follows looks at what may be sent */
}

static void on_closed(void *ctx, conn_id c, const char *why) {
    struct agent *a = ctx;
    if (c.v == a->connection.conn.v && a->connection.state != CONNECTION_DOWN) fall(a, why);
}

static void dial(struct agent *a) {
    struct net_handler handler = {on_opened, on_received, on_drained, on_closed, a};
    if (a->o.server_now != NULL) a->o.server = a->o.server_now(a->o.ctx);
    a->connection.conn = a->w.net->ops->dial(a->w.net, a->o.server, &handler);
    step(a, CONNECTION_DIALLING);
}

static void heartbeat(struct agent *a) {
    if (a->connection.beats_open > BEATS_OPEN_MAX) {
        connection_lost(a, "the server does not answer");
        return;
    }
    struct wire_heartbeat beat = {
        .load = {worker_proto_credit(a), a->o.cpu_percent != NULL ? a->o.cpu_percent(a->o.ctx) : 0, 0},
        .sent_ms = (uint64_t)agent_now_ms(a),
    };
    a->connection.beats_open++;
    a->connection.due_ms = agent_now_ms(a) + a->connection.heartbeat_ms;
    connection_send(a, WIRE_HEARTBEAT, connection_request(a), &beat);
}

void connection_drain(struct agent *a) {
    if (a->connection.state != CONNECTION_UP) return;
    struct wire_drain drain = {.worker = slice_str(a->spool.self.id)};
    a->connection.drain_request = connection_request(a);
    connection_send(a, WIRE_DRAIN, a->connection.drain_request, &drain);
}

void connection_detach(struct agent *a) {
    struct wire_detach detach = {.reason = SLICE("drained")};
    a->connection.detach_request = connection_request(a);
    connection_send(a, WIRE_DETACH, a->connection.detach_request, &detach);
}

void connection_pass(struct agent *a) {
    if (agent_now_ms(a) >= a->connection.due_ms) switch (a->connection.state) {
        case CONNECTION_DOWN: dial(a); break;
        case CONNECTION_DIALLING:
        case CONNECTION_HELLO:
        case CONNECTION_ATTACHING: connection_lost(a, "no answer"); break;
        case CONNECTION_UP: heartbeat(a); break;
        }
    if (a->connection.state == CONNECTION_UP) worker_proto_say(a);
    flush(a);
}
