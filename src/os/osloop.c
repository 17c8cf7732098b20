/* osloop.c: turns of the loop, descriptors and signals. See osloop.h; connections are in osnet.c.
 *
 * A turn of libuv is: timers, idle, prepare, poll, check, closing. Everything of ours happens in `check`. The timer
 * only bounds how long `poll` waits; libuv may run it before the next poll, so its callback makes that one return at
 * once. */
#include "osloop.h"

#include <stdlib.h>
#include <time.h>

#include "osloop_impl.h"
#include "panic.h"

#define WATCHES_MAX 100000u
#define WAIT_MS_MAX 86400000

int64_t osloop_mono_ms(void) {
    struct timespec t;
    ENSURE(clock_gettime(CLOCK_MONOTONIC, &t) == 0);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void idle_turn(uv_idle_t *h) {
    (void)h; /* its being there is the point: poll does not wait */
}

void osloop_again(struct osloop *l) {
    l->again = true;
    if (!l->closing && !l->ending) ENSURE(uv_idle_start(&l->idle, idle_turn) == 0);
}

static void timer_fired(uv_timer_t *h) {
    osloop_again(h->data);
}

static void wait_until(struct osloop *l, int64_t due_ms) {
    if (due_ms == TIME_NEVER) {
        ENSURE(uv_timer_stop(&l->timer) == 0);
        return;
    }
    int64_t wait = due_ms - osloop_mono_ms();
    if (wait <= 0) {
        osloop_again(l);
        return;
    }
    if (wait > WAIT_MS_MAX) wait = WAIT_MS_MAX;
    uv_update_time(&l->uv); /* a long pass makes libuv's idea of now old */
    ENSURE(uv_timer_start(&l->timer, timer_fired, (uint64_t)wait, 0) == 0);
}

static bool may_stop(struct osloop *l) {
    return l->stopping && (!osnet_has_unsent(l) || osloop_mono_ms() >= l->stop_by_ms);
}

static void turn_end(uv_check_t *h) {
    struct osloop *l = h->data;
    l->ending = true;
    if (l->owner.pass != NULL) l->owner.pass(l->owner.ctx);
    l->again = false; /* whatever was asked for so far is done by the flush */
    osnet_flush(l);
    int64_t due = osnet_expire(l);
    if (l->owner.next != NULL) {
        mono_time next = l->owner.next(l->owner.ctx);
        if (next.ms < due) due = next.ms;
    }
    if (l->stopping && l->stop_by_ms < due) due = l->stop_by_ms;
    wait_until(l, due);
    l->ending = false;
    l->turn_bytes = 0;
    if (l->again || l->dirty.count > 0)
        osloop_again(l);
    else
        ENSURE(uv_idle_stop(&l->idle) == 0);
    if (may_stop(l)) uv_stop(&l->uv);
}

enum err osloop_open(uint32_t connections_max, struct osloop **ret, struct why *why) {
    struct osloop *l = calloc(1, sizeof *l);
    if (l == NULL) PANIC("no memory");
    int e = uv_loop_init(&l->uv);
    if (e != 0) {
        free(l);
        return why_set(why, ERR_IO, "the loop cannot be made: %s", uv_strerror(e));
    }
    l->net.ops = &osnet_ops;
    l->read_space = malloc(OSLOOP_READ_BYTES);
    if (l->read_space == NULL) PANIC("no memory");
    ENSURE(uv_check_init(&l->uv, &l->check) == 0);
    ENSURE(uv_idle_init(&l->uv, &l->idle) == 0);
    ENSURE(uv_timer_init(&l->uv, &l->timer) == 0);
    l->check.data = l->timer.data = l;
    ENSURE(uv_check_start(&l->check, turn_end) == 0);
    pool_init(&l->conns, sizeof(struct conn), connections_max);
    pool_init(&l->watches, sizeof(struct osloop_watch), WATCHES_MAX);
    map_init(&l->conn_by_id);
    map_init(&l->watch_by_id);
    vec_init(&l->dirty, sizeof(uint64_t));
    vec_init(&l->hurried, sizeof(uint64_t));
    *ret = l;
    return ERR_OK;
}

static void watch_gone(uv_handle_t *h) {
    struct osloop_watch *w = h->data;
    struct osloop *l = w->loop;
    pool_free(&l->watches, map_del(&l->watch_by_id, w->id));
}

void osloop_close(struct osloop *l) {
    if (l == NULL) return;
    l->closing = true;
    osnet_close_all(l);
    for (uint32_t i = 1; i <= l->watches.high; i++) {
        struct osloop_watch *w = pool_at(&l->watches, i);
        if (w->id != 0 && !uv_is_closing((uv_handle_t *)&w->poll)) uv_close((uv_handle_t *)&w->poll, watch_gone);
    }
    for (uint32_t i = 0; i < l->signal_count; i++) uv_close((uv_handle_t *)&l->signals[i].handle, NULL);
    uv_close((uv_handle_t *)&l->check, NULL);
    uv_close((uv_handle_t *)&l->idle, NULL);
    uv_close((uv_handle_t *)&l->timer, NULL);
    while (uv_run(&l->uv, UV_RUN_DEFAULT) != 0) {
    }
    ENSURE(uv_loop_close(&l->uv) == 0);
    pool_fini(&l->conns);
    pool_fini(&l->watches);
    map_fini(&l->conn_by_id);
    while (l->port_leases.count > 0) l->net.ops->give_port(&l->net, l->port_leases.at[0]);
    u32vec_fini(&l->port_leases);
    map_fini(&l->watch_by_id);
    vec_fini(&l->dirty);
    vec_fini(&l->hurried);
    ostls_free(l->tls_server);
    ostls_free(l->tls_client);
    free(l->read_space);
    free(l->plain_space);
    free(l);
}

void osloop_own(struct osloop *l, const struct osloop_owner *owner) {
    l->owner = *owner;
    osloop_again(l);
}

void osloop_run(struct osloop *l) {
    REQUIRE(!l->running);
    l->running = true;
    if (!may_stop(l)) uv_run(&l->uv, UV_RUN_DEFAULT);
    l->running = l->stopping = false;
}

void osloop_stop(struct osloop *l) {
    if (l->stopping) return;
    l->stopping = true;
    l->stop_by_ms = osloop_mono_ms() + OSLOOP_GRACE_MS;
    osloop_again(l);
}

struct net *osloop_net(struct osloop *l) {
    return &l->net;
}

void osloop_tls_server(struct osloop *l, struct ostls *tls) {
    ostls_free(l->tls_server);
    l->tls_server = tls;
    for (uint32_t i = 1; i <= l->conns.high; i++) { /* whoever came in by what is not believed any more leaves */
        struct conn *c = pool_at(&l->conns, i);
        if (c->id != 0 && c->state == CONN_OPEN && c->tls != NULL && ostls_is_revoked(tls, c->tls))
            osnet_fail_now(c, "its certificate was revoked");
    }
}

void osloop_tls_client(struct osloop *l, struct ostls *tls) {
    ostls_free(l->tls_client);
    l->tls_client = tls;
}

/* ---- descriptors ---- */

static void watch_ready(uv_poll_t *h, int status, int events) {
    struct osloop_watch *w = h->data;
    unsigned when = 0;
    if (status < 0 || (events & (UV_READABLE | UV_DISCONNECT))) when |= OSLOOP_READABLE;
    if (events & UV_WRITABLE) when |= OSLOOP_WRITABLE;
    w->ready(w->ctx, when);
}

static void watch_start(struct osloop_watch *w, unsigned when) {
    int events = (when & OSLOOP_READABLE ? UV_READABLE : 0) | (when & OSLOOP_WRITABLE ? UV_WRITABLE : 0);
    int e = events == 0 ? uv_poll_stop(&w->poll) : uv_poll_start(&w->poll, events, watch_ready);
    ENSURE(e == 0);
}

enum err osloop_watch(struct osloop *l, int fd, unsigned when, void (*ready)(void *ctx, unsigned when), void *ctx,
                      watch_id *ret, struct why *why) {
    REQUIRE(fd >= 0);
    uint32_t index = pool_alloc(&l->watches);
    if (index == 0) return why_set(why, ERR_LIMIT, "too many descriptors are watched");
    struct osloop_watch *w = pool_at(&l->watches, index);
    int e = uv_poll_init(&l->uv, &w->poll, fd);
    if (e != 0) {
        pool_free(&l->watches, index);
        return why_set(why, ERR_IO, "descriptor %d cannot be watched: %s", fd, uv_strerror(e));
    }
    w->id = ++l->id_last;
    w->loop = l;
    w->poll.data = w;
    w->ready = ready;
    w->ctx = ctx;
    map_put(&l->watch_by_id, w->id, index);
    watch_start(w, when);
    ret->v = w->id;
    return ERR_OK;
}

void osloop_watch_set(struct osloop *l, watch_id id, unsigned when) {
    uint32_t index = map_get(&l->watch_by_id, id.v);
    REQUIRE(index != 0);
    watch_start(pool_at(&l->watches, index), when);
}

void osloop_unwatch(struct osloop *l, watch_id id) {
    uint32_t index = id.v != 0 ? map_get(&l->watch_by_id, id.v) : 0;
    if (index == 0) return;
    struct osloop_watch *w = pool_at(&l->watches, index);
    if (!uv_is_closing((uv_handle_t *)&w->poll)) uv_close((uv_handle_t *)&w->poll, watch_gone);
}

/* ---- signals ---- */

static void signal_came(uv_signal_t *h, int number) {
    struct signal_watch *s = h->data;
    s->fn(s->ctx, number);
}

enum err osloop_signal(struct osloop *l, int number, void (*fn)(void *ctx, int number), void *ctx, struct why *why) {
    REQUIRE(l->signal_count < OSLOOP_SIGNALS_MAX);
    struct signal_watch *s = &l->signals[l->signal_count];
    *s = (struct signal_watch){.loop = l, .fn = fn, .ctx = ctx};
    int e = uv_signal_init(&l->uv, &s->handle);
    if (e == 0) l->signal_count++;
    s->handle.data = s;
    if (e == 0) e = uv_signal_start(&s->handle, signal_came, number);
    return e == 0 ? ERR_OK : why_set(why, ERR_IO, "signal %d: %s", number, uv_strerror(e));
}
