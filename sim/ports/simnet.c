/* simnet.c: see simnet.h. */
#include "simnet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "panic.h"
#include "world.h"

#define AGAIN_US 20000 /* between two looks at a line that is cut */

struct chunk { /* bytes on their way */
    struct chunk *next;
    int64_t at_us;
    bool fin; /* the sender closed; no bytes */
    size_t len;
    uint8_t bytes[];
};

struct simnet_stream { /* from one end to the other */
    struct chunk *first, *last;
    int64_t last_us;
    uint64_t bytes; /* on their way */
    bool planned;   /* a delivery is in the queue */
    bool lost;      /* nothing sent from now on arrives */
    bool asked;     /* its sender waits to hear that all is out */
};

struct simnet_end {
    uint32_t node;
    struct net_handler handler;
    bool open;   /* its owner has it */
    bool paused; /* its owner does not read */
};

struct simlink {
    uint32_t place;
    struct simnet_end ends[2];       /* who dialled, who accepted */
    struct simnet_stream streams[2]; /* from ends[i] */
    int64_t dial_until_us;
    bool over;
};

/* Events name a link and one of its ends. */
static uint64_t name_of(const struct simlink *l, uint32_t side) {
    return (uint64_t)l->place * 2 + side;
}

static struct simlink *link_at(const struct simnet *n, uint32_t place) {
    return *(struct simlink **)vec_at(&n->links, place);
}

static conn_id conn_of(const struct simlink *l) {
    return (conn_id){l->place + 1};
}

static struct simlink *link_of(const struct simnet *n, conn_id c) {
    REQUIRE(c.v >= 1 && c.v <= n->links.count);
    return link_at(n, (uint32_t)c.v - 1);
}

static uint32_t side_of(const struct simlink *l, uint32_t node) {
    return l->ends[0].node == node ? 0 : 1;
}

static void stream_drop(struct simnet_stream *s) {
    while (s->first) {
        struct chunk *c = s->first;
        s->first = c->next;
        free(c);
    }
    s->last = NULL;
    s->bytes = 0;
}

static void link_over(struct simnet *n, struct simlink *l) {
    if (l->over) return;
    l->over = true;
    stream_drop(&l->streams[0]);
    stream_drop(&l->streams[1]);
    for (uint32_t i = 0; i < n->live.count; i++) {
        uint32_t *place = vec_at(&n->live, i);
        if (*place != l->place) continue;
        *place = *(uint32_t *)vec_at(&n->live, n->live.count - 1);
        n->live.count--;
        return;
    }
}

/* True when the owner of the end cannot hear anything yet; `again` is then called later. */
static bool is_still(struct simnet *n, const struct simnet_end *e, event_fn again, uint64_t arg) {
    const struct simnode *node = &n->nodes[e->node];
    if (node->still_until_us <= n->w->queue.now_us) return false;
    equeue_at(&n->w->queue, node->still_until_us, again, n, arg);
    return true;
}

static void wake(struct simnet *n, uint32_t node) {
    if (n->nodes[node].wake) n->nodes[node].wake(n->nodes[node].ctx);
}

static int64_t delay_us(struct simnet *n) {
    const struct sim_plan *p = &n->w->plan;
    int64_t delay = rng_range(&n->rng, 10, p->net_us);
    if (rng_chance(&n->rng, (uint32_t)p->late_ppm)) delay += rng_range(&n->rng, 1, p->late_ms) * 1000;
    return delay;
}

/* ---- ends ---- */

/* The end hears that the connection is gone. */
static void told_closed(void *ctx, uint64_t arg) {
    struct simnet *n = ctx;
    struct simlink *l = link_at(n, (uint32_t)(arg / 2));
    struct simnet_end *e = &l->ends[arg % 2];
    if (!e->open) return;
    if (is_still(n, e, told_closed, arg)) return;
    e->open = false;
    if (!l->ends[1 - arg % 2].open) link_over(n, l);
    WORLD_NOTE(n->w, e->node, l->place, 60, "net: %u hears that connection %u is gone", e->node, l->place + 1);
    e->handler.closed(e->handler.ctx, conn_of(l), "connection reset");
    wake(n, e->node);
}

static void tell_closed(struct simnet *n, struct simlink *l, uint32_t side) {
    if (l->ends[side].open) equeue_in(&n->w->queue, delay_us(n), told_closed, n, name_of(l, side));
}

/* ---- bytes ---- */

static void deliver(void *ctx, uint64_t arg);

static void plan_delivery(struct simnet *n, struct simlink *l, uint32_t side) {
    struct simnet_stream *s = &l->streams[side];
    if (s->planned || s->first == NULL || l->ends[1 - side].paused) return;
    s->planned = true;
    equeue_at(&n->w->queue, s->first->at_us, deliver, n, name_of(l, side));
}

static void told_drained(void *ctx, uint64_t arg) {
    struct simnet *n = ctx;
    struct simlink *l = link_at(n, (uint32_t)(arg / 2));
    struct simnet_end *e = &l->ends[arg % 2];
    if (!e->open || is_still(n, e, told_drained, arg)) return;
    e->handler.drained(e->handler.ctx, conn_of(l));
    wake(n, e->node);
}

static void take(struct simnet *n, struct simlink *l, uint32_t side) {
    struct simnet_stream *s = &l->streams[side];
    struct simnet_end *to = &l->ends[1 - side];
    struct chunk *c = s->first;
    s->first = c->next;
    if (s->first == NULL) s->last = NULL;
    s->bytes -= c->len;
    if (s->bytes == 0 && s->asked) {
        s->asked = false;
        equeue_in(&n->w->queue, delay_us(n), told_drained, n, name_of(l, side));
    }
    plan_delivery(n, l, side);
    bool fin = c->fin;
    if (!to->open) { /* whoever was there has died, or does not want to hear any more */
        if (!fin && n->nodes[to->node].up) tell_closed(n, l, side);
    } else if (fin) {
        to->open = false;
        to->handler.closed(to->handler.ctx, conn_of(l), "closed by the peer");
    } else {
        to->handler.received(to->handler.ctx, conn_of(l), slice_of(c->bytes, c->len));
    }
    free(c);
    if (fin) link_over(n, l);
    wake(n, to->node);
}

static void deliver(void *ctx, uint64_t arg) {
    struct simnet *n = ctx;
    struct simlink *l = link_at(n, (uint32_t)(arg / 2));
    uint32_t side = arg % 2;
    struct simnet_stream *s = &l->streams[side];
    struct simnet_end *from = &l->ends[side], *to = &l->ends[1 - side];
    if (l->over || s->first == NULL) {
        s->planned = false;
        return;
    }
    if (n->cut[from->node][to->node]) {
        equeue_in(&n->w->queue, AGAIN_US + rng_below(&n->rng, AGAIN_US), deliver, n, arg);
        return;
    }
    if (is_still(n, to, deliver, arg)) return;
    s->planned = false;
    if (!to->paused) take(n, l, side);
}

static void push(struct simnet *n, struct simlink *l, uint32_t side, const void *bytes, size_t len, bool fin) {
    struct simnet_stream *s = &l->streams[side];
    struct chunk *c = malloc(sizeof *c + len);
    ENSURE(c != NULL);
    int64_t at = n->w->queue.now_us + delay_us(n);
    if (at <= s->last_us) at = s->last_us + 1;
    s->last_us = at;
    *c = (struct chunk){.at_us = at, .fin = fin, .len = len};
    if (len > 0) memcpy(c->bytes, bytes, len);
    if (s->last)
        s->last->next = c;
    else
        s->first = c;
    s->last = c;
    s->bytes += len;
    plan_delivery(n, l, side);
}

/* A stream that lost bytes is of no more use. One end or both may be told, or nobody. */
static void lose(struct simnet *n, struct simlink *l, uint32_t side) {
    l->streams[side].lost = true;
    WORLD_NOTE(n->w, l->ends[side].node, l->place, 61, "net: %u -> %u is broken (connection %u)", l->ends[side].node,
               l->ends[1 - side].node, l->place + 1);
    if (rng_below(&n->rng, 2)) tell_closed(n, l, 0);
    if (rng_below(&n->rng, 2)) tell_closed(n, l, 1);
}

/* ---- the port ---- */

static void told_opened(void *ctx, uint64_t arg) {
    struct simnet *n = ctx;
    struct simlink *l = link_at(n, (uint32_t)(arg / 2));
    struct simnet_end *e = &l->ends[0];
    struct net_peer peer = {.address = "server"};
    if (!e->open || is_still(n, e, told_opened, arg)) return;
    e->handler.opened(e->handler.ctx, conn_of(l), &peer);
    wake(n, e->node);
}

static void dialled(void *ctx, uint64_t arg) {
    struct simnet *n = ctx;
    struct simlink *l = link_at(n, (uint32_t)(arg / 2));
    struct simnode *server = &n->nodes[NET_SERVER];
    struct simnet_end *to = &l->ends[1];
    uint32_t from = l->ends[0].node;
    char address[24];
    if (!l->ends[0].open || l->over) return;
    if (n->cut[from][NET_SERVER] || n->cut[NET_SERVER][from]) {
        equeue_in(&n->w->queue, AGAIN_US + rng_below(&n->rng, AGAIN_US), dialled, n, arg);
        return;
    }
    if (server->up && is_still(n, to, dialled, arg)) return;
    if (!server->up || rng_chance(&n->rng, (uint32_t)n->w->plan.drop_ppm)) {
        tell_closed(n, l, 0);
        return;
    }
    snprintf(address, sizeof address, "node:%u", from);
    to->handler = server->acceptor;
    to->open = true;
    struct net_peer peer = {.address = address};
    to->handler.opened(to->handler.ctx, conn_of(l), &peer);
    wake(n, NET_SERVER);
    equeue_in(&n->w->queue, delay_us(n), told_opened, n, arg);
}

static conn_id op_dial(struct net *net, const char *address, const struct net_handler *handler) {
    struct simnode *node = (struct simnode *)net;
    struct simnet *n = node->n;
    struct simlink *l = calloc(1, sizeof *l);
    ENSURE(l != NULL);
    (void)address;
    l->place = n->links.count;
    l->ends[0] = (struct simnet_end){.node = node->number, .handler = *handler, .open = true};
    l->ends[1] = (struct simnet_end){.node = NET_SERVER};
    *(struct simlink **)vec_push(&n->links) = l;
    *(uint32_t *)vec_push(&n->live) = l->place;
    equeue_in(&n->w->queue, delay_us(n), dialled, n, name_of(l, 0));
    return conn_of(l);
}

static void op_send(struct net *net, conn_id c, struct slice bytes) {
    struct simnode *node = (struct simnode *)net;
    struct simnet *n = node->n;
    struct simlink *l = link_of(n, c);
    uint32_t side = side_of(l, node->number);
    if (!node->up || l->over || !l->ends[side].open || bytes.len == 0 || l->streams[side].lost) return;
    if (rng_chance(&n->rng, (uint32_t)n->w->plan.drop_ppm)) { /* what follows a point inside it is lost */
        size_t kept = (size_t)rng_range(&n->rng, 0, (int64_t)bytes.len - 1);
        if (kept > 0) push(n, l, side, bytes.ptr, kept, false);
        lose(n, l, side);
        return;
    }
    size_t first = bytes.len;
    if (bytes.len > 1 && rng_below(&n->rng, 8) == 0) first = 1 + (size_t)rng_range(&n->rng, 0, (int64_t)bytes.len - 2);
    push(n, l, side, bytes.ptr, first, false);
    if (first < bytes.len) push(n, l, side, bytes.ptr + first, bytes.len - first, false);
}

static uint64_t op_unsent(struct net *net, conn_id c) {
    struct simnode *node = (struct simnode *)net;
    struct simlink *l = link_of(node->n, c);
    struct simnet_stream *s = &l->streams[side_of(l, node->number)];
    if (s->bytes > 0) s->asked = true;
    return s->bytes;
}

static void op_pause(struct net *net, conn_id c, bool on) {
    struct simnode *node = (struct simnode *)net;
    struct simlink *l = link_of(node->n, c);
    uint32_t side = side_of(l, node->number);
    l->ends[side].paused = on;
    if (!on && !l->over) plan_delivery(node->n, l, 1 - side);
}

static void op_close(struct net *net, conn_id c) {
    struct simnode *node = (struct simnode *)net;
    struct simnet *n = node->n;
    struct simlink *l = link_of(n, c);
    uint32_t side = side_of(l, node->number);
    if (!node->up || l->over || !l->ends[side].open) return;
    l->ends[side].open = false;
    l->ends[side].paused = false; /* what still comes is thrown away */
    plan_delivery(n, l, 1 - side);
    bool accepted = l->ends[0].open || l->ends[1].open;
    if (!l->streams[side].lost && accepted) push(n, l, side, NULL, 0, true);
    if (!accepted) link_over(n, l);
}

static uint32_t op_take_port(struct net *net) {
    return 20000 + (uint32_t)rng_below(&((struct simnode *)net)->n->rng, 10000);
}

static void op_give_port(struct net *net, uint32_t port) {
    (void)net, (void)port;
}

/* No port of a simulated machine is held by a stranger. */
static uint64_t op_listeners(struct net *net, uint32_t port) {
    (void)net, (void)port;
    return 0;
}

static const struct net_ops ops = {op_dial,  op_send,      op_unsent,    op_pause,
                                   op_close, op_take_port, op_give_port, op_listeners};

/* ---- life ---- */

struct net *simnet_port(struct simnet *n, uint32_t node, void (*wake_fn)(void *ctx), void *ctx) {
    REQUIRE(node < NET_NODES_MAX);
    struct simnode *s = &n->nodes[node];
    s->net.ops = &ops;
    s->n = n;
    s->number = node;
    s->wake = wake_fn;
    s->ctx = ctx;
    return &s->net;
}

uint32_t simnet_node_of(const struct simnet *n, conn_id c) {
    return link_of(n, c)->ends[0].node;
}

void simnet_up(struct simnet *n, uint32_t node) {
    n->nodes[node].up = true;
}

void simnet_down(struct simnet *n, uint32_t node, bool told) {
    n->nodes[node].up = false;
    n->nodes[node].still_until_us = 0;
    for (uint32_t i = 0; i < n->live.count; i++) {
        struct simlink *l = link_at(n, *(uint32_t *)vec_at(&n->live, i));
        uint32_t side = side_of(l, node);
        struct simnet_end *e = &l->ends[side];
        if (e->node != node || !e->open) continue;
        e->open = e->paused = false;
        if (!told || rng_below(&n->rng, 2)) { /* what it had said last is lost with it */
            stream_drop(&l->streams[side]);
            l->streams[side].lost = true;
        }
        if (told) tell_closed(n, l, 1 - side);
    }
}

void simnet_part(struct simnet *n) {
    uint32_t nodes = n->w->node_count;
    uint32_t direction = rng_below(&n->rng, 4); /* mostly both */
    for (uint32_t i = 1; i < nodes; i++) {
        if (rng_below(&n->rng, 2) == 0) continue;
        n->cut[i][NET_SERVER] = direction != 1;
        n->cut[NET_SERVER][i] = direction != 2;
    }
    for (uint32_t i = 0; i < n->live.count; i++) { /* some give up at once */
        struct simlink *l = link_at(n, *(uint32_t *)vec_at(&n->live, i));
        uint32_t node = l->ends[0].node;
        if (!n->cut[node][NET_SERVER] && !n->cut[NET_SERVER][node]) continue;
        if (rng_below(&n->rng, 4) == 0) tell_closed(n, l, 0);
        if (rng_below(&n->rng, 4) == 0) tell_closed(n, l, 1);
    }
}

void simnet_heal(struct simnet *n) {
    memset(n->cut, 0, sizeof n->cut);
}

void simnet_calm(struct simnet *n) {
    for (uint32_t i = 0; i < n->live.count; i++) {
        struct simlink *l = link_at(n, *(uint32_t *)vec_at(&n->live, i));
        bool half = !l->ends[0].open || (!l->ends[1].open && l->ends[1].handler.closed != NULL);
        if (!half && !l->streams[0].lost && !l->streams[1].lost) continue;
        tell_closed(n, l, 0);
        tell_closed(n, l, 1);
    }
}

void simnet_init(struct simnet *n, struct world *w, struct rng rng) {
    *n = (struct simnet){.w = w, .rng = rng};
    vec_init(&n->links, sizeof(struct simlink *));
    vec_init(&n->live, sizeof(uint32_t));
}

void simnet_fini(struct simnet *n) {
    for (uint32_t i = 0; i < n->links.count; i++) {
        struct simlink *l = link_at(n, i);
        stream_drop(&l->streams[0]);
        stream_drop(&l->streams[1]);
        free(l);
    }
    vec_fini(&n->links);
    vec_fini(&n->live);
}
