/* exchange.c: see exchange.h. */
#include "exchange.h"

#include "panic.h"
#include "wtime.h"

#define EXCHANGES_MAX 100000u

struct exchange {
    conn_id conn; /* first: never 0 while in use */
    struct buf out, in;
    int64_t by_ms;
    exchange_fn told;
    void *ctx;
    uint64_t token;
    bool was_sent;
};

void exchanges_init(struct exchanges *x, struct clock *clock, struct net *net) {
    *x = (struct exchanges){.clock = clock, .net = net};
    pool_init(&x->all, sizeof(struct exchange), EXCHANGES_MAX);
    map_init(&x->by_conn);
}

static void forget(struct exchanges *x, struct exchange *e) {
    buf_fini(&e->out);
    buf_fini(&e->in);
    pool_free(&x->all, map_del(&x->by_conn, e->conn.v));
}

void exchanges_fini(struct exchanges *x) {
    for (uint32_t i = 1; i <= x->all.high; i++) {
        struct exchange *e = pool_at(&x->all, i);
        if (e->conn.v == 0) continue;
        x->net->ops->close(x->net, e->conn);
        forget(x, e);
    }
    pool_fini(&x->all);
    map_fini(&x->by_conn);
}

static struct exchange *find(struct exchanges *x, conn_id c) {
    uint32_t index = map_get(&x->by_conn, c.v);
    return index != 0 ? pool_at(&x->all, index) : NULL;
}

static void end(struct exchanges *x, struct exchange *e, const struct titan_frame *answer, const char *failure) {
    struct exchange_end said = {answer, failure, e->was_sent};
    exchange_fn told = e->told;
    void *ctx = e->ctx;
    uint64_t token = e->token;
    struct buf kept = e->in; /* the answer lies in it */
    e->in = (struct buf){0};
    forget(x, e);
    told(ctx, token, &said);
    buf_fini(&kept);
}

static void on_opened(void *ctx, conn_id c, const struct net_peer *peer) {
    struct exchanges *x = ctx;
    struct exchange *e = find(x, c);
    (void)peer;
    if (e == NULL) return;
    x->net->ops->send(x->net, c, buf_slice(&e->out));
    e->was_sent = true;
    buf_fini(&e->out);
    buf_init(&e->out, 0);
}

static void on_received(void *ctx, conn_id c, struct slice bytes) {
    struct exchanges *x = ctx;
    struct exchange *e = find(x, c);
    struct titan_frame answer = {0};
    struct why why = {{0}};
    size_t need = 0;
    if (e == NULL) return;
    buf_put_slice(&e->in, bytes);
    struct slice in = buf_slice(&e->in);
    enum err err = e->in.full ? why_set(&why, ERR_LIMIT, "the answer is too long")
                              : titan_take(&in, TITAN_BODY_BYTES_MAX, &answer, &need, &why);
    if (err == ERR_OK && need != 0) return;
    x->net->ops->close(x->net, c);
    end(x, e, err == ERR_OK ? &answer : NULL, err == ERR_OK ? NULL : why.text);
}

static void on_drained(void *ctx, conn_id c) {
    (void)ctx, (void)c;
}

static void on_closed(void *ctx, conn_id c, const char *why) {
    struct exchanges *x = ctx;
    struct exchange *e = find(x, c);
    if (e != NULL) end(x, e, NULL, why);
}

void exchange_begin(struct exchanges *x, const char *address, uint8_t opcode, struct slice body, int64_t timeout_ms,
                    exchange_fn told, void *ctx, uint64_t token) {
    struct net_handler handler = {on_opened, on_received, on_drained, on_closed, x};
    uint32_t index = pool_alloc(&x->all);
    ENSURE(index != 0);
    struct exchange *e = pool_at(&x->all, index);
    *e = (struct exchange){.conn = x->net->ops->dial(x->net, address, &handler),
                           .by_ms = x->clock->mono(x->clock).ms + timeout_ms,
                           .told = told,
                           .ctx = ctx,
                           .token = token};
    buf_init(&e->in, TITAN_HEADER_BYTES + (size_t)TITAN_BODY_BYTES_MAX);
    buf_init(&e->out, TITAN_HEADER_BYTES + body.len);
    titan_put(&e->out, opcode, body);
    map_put(&x->by_conn, e->conn.v, index);
}

void exchanges_pass(struct exchanges *x) {
    int64_t now = x->clock->mono(x->clock).ms;
    for (uint32_t i = 1; i <= x->all.high; i++) {
        struct exchange *e = pool_at(&x->all, i);
        if (e->conn.v == 0 || e->by_ms > now) continue;
        x->net->ops->close(x->net, e->conn);
        end(x, e, NULL, "no answer in time");
    }
}

int64_t exchanges_next(const struct exchanges *x) {
    int64_t next = TIME_NEVER;
    for (uint32_t i = 1; i <= x->all.high; i++) {
        const struct exchange *e = pool_at(&x->all, i);
        if (e->conn.v != 0 && e->by_ms < next) next = e->by_ms;
    }
    return next;
}
