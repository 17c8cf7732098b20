/* simpeer.c: see simpeer.h. */
#include "simpeer.h"

#include <stdio.h>

#include "panic.h"
#include "simwire.h"
#include "wire.h"
#include "world.h"

#define FRAME_BYTES_MAX ((size_t)64 << 20)
#define SILENCE_US 1500000 /* a server that leaves a request unanswered for so long is dialled anew */
#define WAITING_MAX 200u

struct peer_pending *simpeer_pending(struct simpeer *p, uint32_t request) {
    for (uint32_t i = 0; i < p->pending.count; i++) {
        struct peer_pending *q = vec_at(&p->pending, i);
        if (q->request == request) return q;
    }
    return NULL;
}

static void pending_drop(struct simpeer *p, struct peer_pending *q) {
    simmsg_unref(&p->w->msgs, q->ask);
    simmsg_unref(&p->w->msgs, q->answer);
    *q = *(struct peer_pending *)vec_at(&p->pending, p->pending.count - 1);
    p->pending.count--;
}

static void waiting_drop(struct simpeer *p) {
    for (uint32_t i = 0; i < p->waiting.count; i++) simmsg_unref(&p->w->msgs, *(struct msg **)vec_at(&p->waiting, i));
    p->waiting.count = 0;
}

static void fall(struct simpeer *p) {
    p->state = PEER_DOWN;
    p->conn = (conn_id){0};
    buf_clear(&p->in);
    while (p->pending.count > 0) pending_drop(p, vec_at(&p->pending, 0));
    waiting_drop(p);
}

static void give_up(struct simpeer *p) {
    p->net->ops->close(p->net, p->conn);
    fall(p);
}

static void transmit(struct simpeer *p, struct msg *m) {
    struct buf out;
    struct peer_pending *q = vec_push(&p->pending);
    *q = (struct peer_pending){.request = ++p->request, .sent_us = p->w->queue.now_us, .ask = simmsg_ref(m)};
    buf_init(&out, FRAME_BYTES_MAX);
    simwire_put(p->w, m, q->request, &out);
    p->net->ops->send(p->net, p->conn, buf_slice(&out));
    buf_fini(&out);
}

/* ---- hearing ---- */

static void on_opened(void *ctx, conn_id c, const struct net_peer *peer) {
    struct simpeer *p = ctx;
    struct buf out;
    (void)peer;
    if (c.v != p->conn.v) return;
    struct wire_hello hello = {.version_min = FRAME_VERSION,
                               .version_max = FRAME_VERSION,
                               .peer = WIRE_PEER_CLIENT,
                               .build = SLICE("sim"),
                               .token = slice_str(p->token)};
    buf_init(&out, 4096);
    wire_put(&out, WIRE_HELLO, 0, ++p->request, &hello);
    p->net->ops->send(p->net, p->conn, buf_slice(&out));
    buf_fini(&out);
    p->state = PEER_HELLO;
}

static void hear_welcome(struct simpeer *p, const struct frame *f) {
    if (f->opcode != WIRE_WELCOME) { /* it is stopping, or so full that it takes nobody */
        give_up(p);
        return;
    }
    p->state = PEER_UP;
    struct vec waiting = p->waiting;
    vec_init(&p->waiting, sizeof(struct msg *));
    for (uint32_t i = 0; i < waiting.count; i++) {
        struct msg *m = *(struct msg **)vec_at(&waiting, i);
        transmit(p, m);
        simmsg_unref(&p->w->msgs, m);
    }
    vec_fini(&waiting);
}

static void hear(struct simpeer *p, const struct frame *f) {
    struct peer_pending *q = f->flags & FRAME_ANSWER ? simpeer_pending(p, f->request) : NULL;
    if (q == NULL) return; /* goodbyes, and what a watch sees after its first word */
    if (q->answer == NULL) q->answer = simmsg_new(&p->w->msgs, p->node);
    struct msg *answer = q->answer;
    if (!simwire_take(p->w, f, q->ask, answer))
        world_red(p->w, "answer", "client %u does not understand a frame `%s`", p->node, wire_word(f->opcode));
    bool more = (f->flags & FRAME_MORE) && f->opcode != WIRE_KV_EVENT;
    if (more) return;
    answer->asked = q->ask->cmd.kind;
    answer->request = q->ask->request;
    answer->call = q->call;
    answer->read = q->ask->read;
    (void)simmsg_ref(answer);
    pending_drop(p, q);
    p->answered(p->ctx, answer);
    simmsg_unref(&p->w->msgs, answer);
}

static void on_received(void *ctx, conn_id c, struct slice bytes) {
    struct simpeer *p = ctx;
    if (c.v != p->conn.v) return;
    buf_put_slice(&p->in, bytes);
    ENSURE(!p->in.full);
    struct slice left = buf_slice(&p->in);
    for (;;) {
        struct frame f;
        struct why why;
        size_t need = 0;
        if (frame_take(&left, FRAME_BYTES_MAX, &f, &need, &why) != ERR_OK)
            world_red(p->w, "answer", "client %u hears what is no frame: %s", p->node, why.text);
        if (need != 0) break;
        if (p->state == PEER_HELLO)
            hear_welcome(p, &f);
        else
            hear(p, &f);
        if (p->conn.v != c.v) return;
    }
    if (left.len > 0) memmove(p->in.at, left.ptr, left.len);
    buf_cut(&p->in, left.len);
}

static void on_drained(void *ctx, conn_id c) {
    (void)ctx, (void)c;
}

static void on_closed(void *ctx, conn_id c, const char *why) {
    struct simpeer *p = ctx;
    (void)why;
    if (c.v == p->conn.v) fall(p);
}

/* ---- asking ---- */

static void dial(struct simpeer *p) {
    struct net_handler handler = {on_opened, on_received, on_drained, on_closed, p};
    p->conn = p->net->ops->dial(p->net, "server", &handler);
    p->state = PEER_DIALLING;
    p->dialled_us = p->w->queue.now_us;
}

static bool is_silent(const struct simpeer *p) {
    int64_t since = p->w->queue.now_us - SILENCE_US;
    if (p->state == PEER_DIALLING || p->state == PEER_HELLO) return p->dialled_us < since;
    for (uint32_t i = 0; i < p->pending.count; i++)
        if (((const struct peer_pending *)vec_at(&p->pending, i))->sent_us < since) return true;
    return false;
}

void simpeer_send(struct simpeer *p, struct msg *m) {
    if (p->state != PEER_DOWN && is_silent(p)) give_up(p);
    if (p->state == PEER_DOWN) dial(p);
    if (p->state == PEER_UP)
        transmit(p, m);
    else if (p->waiting.count < WAITING_MAX)
        *(struct msg **)vec_push(&p->waiting) = simmsg_ref(m);
}

void simpeer_init(struct simpeer *p, struct world *w, uint32_t node, struct slice principal, struct slice tenant) {
    *p = (struct simpeer){.w = w, .node = node, .net = &w->net.nodes[node].net};
    snprintf(p->principal, sizeof p->principal, "%.*s", SLICE_FMT(principal));
    snprintf(p->tenant, sizeof p->tenant, "%.*s", SLICE_FMT(tenant));
    p->token = world_token(w, p->principal, p->tenant);
    buf_init(&p->in, FRAME_BYTES_MAX);
    vec_init(&p->pending, sizeof(struct peer_pending));
    vec_init(&p->waiting, sizeof(struct msg *));
}

void simpeer_fini(struct simpeer *p) {
    fall(p);
    buf_fini(&p->in);
    vec_fini(&p->pending);
    vec_fini(&p->waiting);
}
