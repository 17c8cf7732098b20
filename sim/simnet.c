/* simnet.c: see simnet.h. */
#include "simnet.h"

#include <stdlib.h>

#include "panic.h"
#include "world.h"

#define MSG_BYTES_MAX ((size_t)64 << 20)

void simnet_init(struct simnet *n, struct world *w, struct rng rng) {
    *n = (struct simnet){.w = w, .rng = rng};
}

void simnet_fini(struct simnet *n) {
    while (n->first) {
        n->first->refs = 1;
        simnet_unref(n, n->first);
    }
}

struct msg *simnet_msg(struct simnet *n, enum msg_kind kind, uint32_t from, uint32_t to) {
    REQUIRE(from < NET_NODES_MAX && to < NET_NODES_MAX);
    struct msg *m = calloc(1, sizeof *m);
    ENSURE(m != NULL);
    m->refs = 1;
    m->kind = kind;
    m->from = from;
    m->to = to;
    arena_init(&m->arena, 256, MSG_BYTES_MAX);
    m->next = n->first;
    if (n->first) n->first->prev = m;
    n->first = m;
    return m;
}

void simnet_unref(struct simnet *n, struct msg *m) {
    if (m == NULL) return;
    REQUIRE(m->refs > 0);
    if (--m->refs > 0) return;
    if (m->prev)
        m->prev->next = m->next;
    else
        n->first = m->next;
    if (m->next) m->next->prev = m->prev;
    arena_fini(&m->arena);
    free(m);
}

static bool is_streamed(const struct msg *m) {
    return m->from == NET_SERVER && m->session != 0;
}

/* The message is lost; a stream ends with it. */
static void lose(struct simnet *n, const struct msg *m, const char *how) {
    struct stream *stream = &n->streams[m->to];
    if (is_streamed(m) && stream->session == m->session) stream->broken = true;
    WORLD_NOTE(n->w, m->from, m->to, m->kind, "net: %u -> %u %s", m->from, m->to, how);
}

static void deliver(void *ctx, uint64_t arg) {
    struct simnet *n = ctx;
    struct msg *m = (struct msg *)(uintptr_t)arg;
    const struct stream *stream = &n->streams[m->to];
    bool gap = is_streamed(m) && stream->session == m->session && stream->broken;
    if (gap || n->cut[m->from][m->to])
        lose(n, m, "cut off");
    else
        world_deliver(n->w, m);
    simnet_unref(n, m);
}

static int64_t delay_us(struct simnet *n) {
    const struct plan *p = &n->w->plan;
    int64_t delay = rng_range(&n->rng, 10, p->net_us);
    if (rng_chance(&n->rng, (uint32_t)p->late_ppm)) delay += rng_range(&n->rng, 1, p->late_ms) * 1000;
    return delay;
}

static void post(struct simnet *n, struct msg *m) {
    int64_t at = n->w->queue.now_us + delay_us(n);
    int64_t *last = &n->last_us[m->from][m->to];
    if ((n->w->plan.net_ordered || is_streamed(m)) && at <= *last) at = *last + 1;
    if (at > *last) *last = at;
    m->refs++;
    equeue_at(&n->w->queue, at, deliver, n, (uint64_t)(uintptr_t)m);
}

void simnet_send(struct simnet *n, struct msg *m) {
    const struct plan *p = &n->w->plan;
    struct stream *stream = &n->streams[m->to];
    if (is_streamed(m) && m->session > stream->session) *stream = (struct stream){m->session, false};
    bool gap = is_streamed(m) && (m->session < stream->session || stream->broken);
    if (gap || n->cut[m->from][m->to] || rng_chance(&n->rng, (uint32_t)p->drop_ppm)) {
        lose(n, m, "lost");
        simnet_unref(n, m);
        return;
    }
    post(n, m);
    if (rng_chance(&n->rng, (uint32_t)p->duplicate_ppm)) post(n, m);
    simnet_unref(n, m);
}

void simnet_part(struct simnet *n) {
    uint32_t nodes = n->w->node_count;
    uint32_t direction = rng_below(&n->rng, 4); /* mostly both */
    for (uint32_t i = 1; i < nodes; i++) {
        if (rng_below(&n->rng, 2) == 0) continue;
        n->cut[i][NET_SERVER] = direction != 1;
        n->cut[NET_SERVER][i] = direction != 2;
    }
}

void simnet_heal(struct simnet *n) {
    memset(n->cut, 0, sizeof n->cut);
}
