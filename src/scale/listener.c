/* listener.c: see listener.h. */
#include "listener.h"

#include <stdarg.h>
#include <stdio.h>

#include "panic.h"

#define STEP_MS 10000 /* for a dial, a welcome, the first demand */
#define AGAIN_MS 100  /* after the first failure; doubles */
#define AGAIN_MS_MAX 5000
#define FRAME_BYTES_MAX (16u << 20)
#define LINE_MAX 400

static int64_t now_ms(const struct listener *l) {
    return l->o.clock->mono(l->o.clock).ms;
}

static void say(const struct listener *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct listener *l, const char *format, ...) {
    char line[LINE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    l->o.log(l->o.ctx, line);
}

void listener_init(struct listener *l, const struct listener_options *o) {
    *l = (struct listener){.o = *o, .due_ms = o->clock->mono(o->clock).ms};
    buf_init(&l->in, FRAME_BYTES_MAX + FRAME_HEADER_BYTES);
    arena_init(&l->arena, 16384, FRAME_BYTES_MAX * 8);
}

void listener_fini(struct listener *l) {
    if (l->state != LISTENER_DOWN) l->o.net->ops->close(l->o.net, l->conn);
    buf_fini(&l->in);
    arena_fini(&l->arena);
}

static uint32_t put(struct listener *l, enum wire_op op, const void *message) {
    struct buf out;
    buf_init(&out, FRAME_BYTES_MAX);
    if (++l->request == 0) l->request = 1;
    wire_put(&out, op, 0, l->request, message);
    ENSURE(!out.full);
    l->o.net->ops->send(l->o.net, l->conn, buf_slice(&out));
    buf_fini(&out);
    return l->request;
}

static void step(struct listener *l, enum listener_state state) {
    l->state = state;
    l->due_ms = state == LISTENER_UP ? TIME_NEVER : now_ms(l) + STEP_MS;
}

/* ---- falling ---- */

static void fall(struct listener *l, const char *why) {
    bool was_up = l->state == LISTENER_UP;
    int64_t pause = AGAIN_MS << (l->failures < 6 ? l->failures : 6);
    if (pause > AGAIN_MS_MAX) pause = AGAIN_MS_MAX;
    pause += (int64_t)(l->o.clock->random(l->o.clock) % (uint64_t)(pause / 4)); /* not all hosts at once */
    l->state = LISTENER_DOWN;
    l->conn = (conn_id){0};
    l->due_ms = now_ms(l) + pause;
    l->failures++;
    buf_clear(&l->in);
    if (was_up || l->failures == 1) say(l, "disconnected: %s; the next try is in %lld ms", why, (long long)pause);
    if (was_up) l->o.lost(l->o.ctx);
}

static void give_up(struct listener *l, const char *why) {
    l->o.net->ops->close(l->o.net, l->conn);
    fall(l, why);
}

/* ---- what comes ---- */

static void hear_refusal(struct listener *l, const struct frame *f) {
    struct wire_error e = {0};
    struct wire_busy b = {0};
    struct why why = {"busy"};
    if (f->opcode == WIRE_ERROR && wire_take(f, &l->arena, &e, &why) == ERR_OK)
        (void)why_set(&why, ERR_OK, "%.*s: %.*s", SLICE_FMT(e.code), SLICE_FMT(e.message));
    else if (f->opcode == WIRE_BUSY && wire_take(f, &l->arena, &b, &why) == ERR_OK)
        (void)why_set(&why, ERR_OK, "busy: %.*s", SLICE_FMT(b.reason));
    if (!l->was_refused) say(l, "refused: %s", why.text);
    l->was_refused = true;
    if (l->state != LISTENER_UP) give_up(l, why.text); /* else it was about a drain: the next demand shows it */
}

static void hear_demands(struct listener *l, const struct frame *f) {
    struct wire_demands m;
    struct why why;
    if (wire_take(f, &l->arena, &m, &why) != ERR_OK) {
        give_up(l, why.text);
        return;
    }
    if (l->state != LISTENER_UP) {
        say(l, "connected");
        l->was_refused = false;
    }
    step(l, LISTENER_UP);
    l->failures = 0;
    l->o.heard(l->o.ctx, &m);
}

static void hear(struct listener *l, const struct frame *f) {
    arena_reset(&l->arena);
    if (f->opcode == WIRE_ERROR || f->opcode == WIRE_BUSY) {
        hear_refusal(l, f);
    } else if (l->state == LISTENER_HELLO && f->opcode == WIRE_WELCOME) {
        struct wire_demand_watch m = {.kind = l->o.kind};
        step(l, LISTENER_ASKED);
        l->watch = put(l, WIRE_DEMAND_WATCH, &m);
    } else if (l->state >= LISTENER_ASKED && f->opcode == WIRE_DEMANDS && f->request == l->watch) {
        hear_demands(l, f);
    }
}

static void on_opened(void *ctx, conn_id c, const struct net_peer *peer) {
    struct listener *l = ctx;
    (void)peer;
    if (c.v != l->conn.v) return;
    struct wire_hello m = {.version_min = FRAME_VERSION,
                           .version_max = FRAME_VERSION,
                           .peer = WIRE_PEER_CLIENT,
                           .build = slice_str(l->o.build),
                           .token = slice_str(l->o.token != NULL ? l->o.token : ""),
                           .tenant = slice_str(l->o.tenant != NULL ? l->o.tenant : "")};
    step(l, LISTENER_HELLO);
    (void)put(l, WIRE_HELLO, &m);
}

static void on_received(void *ctx, conn_id c, struct slice bytes) {
    struct listener *l = ctx;
    if (c.v != l->conn.v) return;
    buf_put_slice(&l->in, bytes);
    if (l->in.full) {
        give_up(l, "a frame is too large");
        return;
    }
    struct slice left = buf_slice(&l->in);
    for (;;) {
        struct frame f;
        struct why why;
        size_t need = 0;
        if (frame_take(&left, FRAME_BYTES_MAX, &f, &need, &why) != ERR_OK) {
            give_up(l, why.text);
            return;
        }
        if (need != 0) break;
        hear(l, &f);
        if (c.v != l->conn.v) return; /* given up meanwhile */
    }
    if (left.len > 0) memmove(l->in.at, left.ptr, left.len);
    buf_cut(&l->in, left.len);
}

static void on_drained(void *ctx, conn_id c) {
    (void)ctx, (void)c;
}

static void on_closed(void *ctx, conn_id c, const char *why) {
    struct listener *l = ctx;
    if (c.v == l->conn.v && l->state != LISTENER_DOWN) fall(l, why);
}

/* ---- from outside ---- */

void listener_pass(struct listener *l) {
    struct net_handler handler = {on_opened, on_received, on_drained, on_closed, l};
    if (now_ms(l) < l->due_ms) return;
    if (l->state != LISTENER_DOWN) {
        give_up(l, "no answer");
        return;
    }
    l->conn = l->o.net->ops->dial(l->o.net, l->o.server(l->o.ctx), &handler);
    step(l, LISTENER_DIALLING);
}

mono_time listener_next(const struct listener *l) {
    return (mono_time){l->due_ms};
}

void listener_drain(struct listener *l, struct slice worker) {
    struct wire_drain m = {.worker = worker};
    if (l->state == LISTENER_UP) (void)put(l, WIRE_DRAIN, &m);
}
