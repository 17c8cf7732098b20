/* fair_queue.c: see fair_queue.h. */
#include "fair_queue.h"

#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "session.h"

#define PASS_REQUESTS_MAX 65536u
#define PASS_US 4000          /* for a lane in one pass: what was answered leaves at its end */
#define PASS_BYTES (1u << 20) /* of answers: to send them takes time, too, which is not in PASS_US */
#define SLICE_US 500          /* for a principal before it is another's turn; one request at least */
#define SLICE_REQUESTS 256u
#define CONNECTION_REQUESTS 32u /* of one connection before it is the turn of another of the same principal */
#define KEPT_BYTES 16384u       /* of the memory for requests, while none waits */

extern const uint8_t fair_queue_slot;

static void init(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++) fifo_init(&s->turns[i]);
    vec_init(&s->used_up, sizeof(struct buf));
}

static void used_up_free(struct server *s) {
    for (uint32_t i = 0; i < s->used_up.count; i++) buf_fini(vec_at(&s->used_up, i));
    s->used_up.count = 0;
}

static void fini(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    used_up_free(s);
    vec_fini(&s->used_up);
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++) fifo_fini(&s->turns[i]);
}

static void list(struct server *s, struct session *n, uint32_t lane) {
    struct account *a = budget_account(s, n);
    if (n->is_ready[lane]) return;
    n->is_ready[lane] = true;
    fifo_push(&a->ready[lane], n->conn.v);
    if (a->is_listed[lane]) return;
    a->is_listed[lane] = true;
    fifo_push(&s->turns[lane], n->account);
    part_wake(server_shard(s), fair_queue_slot);
}

bool fair_queue_put(struct server *s, struct session *n, enum wire_lane lane, const struct lane_entry *e) {
    if (!lane_put(&n->lanes[lane], e)) return false;
    if (!n->is_held || lane == WIRE_LANE_FIRST) list(s, n, lane);
    return true;
}

void fair_queue_resume(struct server *s, struct session *n) {
    if (!n->is_held) return;
    n->is_held = false;
    if (!lane_is_empty(&n->lanes[WIRE_LANE_SECOND])) list(s, n, WIRE_LANE_SECOND);
}

/* Whoever ended it may still read the request that it was ended for. */
void fair_queue_forget(struct server *s, struct session *n) {
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++) *(struct buf *)vec_push(&s->used_up) = n->lanes[i].bytes;
    part_wake(server_shard(s), fair_queue_slot);
}

/* ---- serving ---- */

static void look_at_clock(struct server *s) {
    s->turn_us = s->world.clock->us(s->world.clock);
}

static bool may_go_on(const struct server *s) {
    return s->served < PASS_REQUESTS_MAX && !engine_is_full(server_shard(s)->engine);
}

static void serve_one(struct server *s, struct session *n, uint32_t lane, const struct lane_entry *e) {
    s->served++;
    if (lane == WIRE_LANE_SECOND && e->request != 0 && budget_is_over(s, n))
        session_busy(s, n, e->request, "unread answers fill the memory share of this connection", 1000);
    else
        request_serve(s, e);
}

/* Some of the requests of one connection; how many. */
static uint32_t serve_connection(struct server *s, struct session *n, uint32_t lane, uint64_t until_us) {
    struct lane_entry e;
    conn_id conn = n->conn;
    uint32_t count = 0;
    n->is_ready[lane] = false;
    while (count < CONNECTION_REQUESTS && may_go_on(s)) {
        if (lane == WIRE_LANE_SECOND && !lane_is_empty(&n->lanes[lane]) && session_is_slow(s, n)) {
            session_hold(s, n);
            break;
        }
        if (!lane_take(&n->lanes[lane], &e)) break;
        serve_one(s, n, lane, &e);
        count++;
        look_at_clock(s);
        if (session_of(s, conn) == NULL) return count;
        if (s->turn_us >= until_us) break;
    }
    lane_trim(&n->lanes[lane], KEPT_BYTES);
    if (!lane_is_empty(&n->lanes[lane]) && !(n->is_held && lane == WIRE_LANE_SECOND)) list(s, n, lane);
    budget_charge(s, n);
    return count;
}

static void serve_account(struct server *s, struct account *a, uint32_t lane) {
    uint64_t until_us = s->turn_us + SLICE_US, conn;
    uint32_t count = 0;
    while (count < SLICE_REQUESTS && may_go_on(s) && fifo_pop(&a->ready[lane], &conn)) {
        struct session *n = session_of(s, (conn_id){conn});
        if (n != NULL) count += serve_connection(s, n, lane, until_us);
        if (count > 0 && s->turn_us >= until_us) return;
    }
}

static void serve_lane(struct server *s, uint32_t lane) {
    uint64_t until_us = s->turn_us + PASS_US, most = s->budget.bytes + PASS_BYTES, index;
    while (may_go_on(s) && fifo_pop(&s->turns[lane], &index)) {
        struct account *a = pool_at(&s->budget.accounts, (uint32_t)index);
        serve_account(s, a, lane);
        a->is_listed[lane] = !fifo_is_empty(&a->ready[lane]);
        if (a->is_listed[lane])
            fifo_push(&s->turns[lane], index);
        else
            budget_release(s, (uint32_t)index);
        if (s->turn_us >= until_us || s->budget.bytes >= most) return;
    }
}

static void step(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    if (fair_queue_wait(s)) look_at_clock(s);
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++) serve_lane(s, i);
    used_up_free(s);
}

bool fair_queue_wait(const struct server *s) {
    for (uint32_t i = 0; i < WIRE_LANE_COUNT; i++)
        if (!fifo_is_empty(&s->turns[i])) return true;
    return false;
}

static int64_t next_due(const struct shard *h, const void *own) {
    (void)own;
    return fair_queue_wait(h->server) ? h->server->now_ms : TIME_NEVER;
}

static bool is_idle(const struct shard *h, const void *own) {
    (void)own;
    return !fair_queue_wait(h->server);
}

const struct server_part fair_queue_part = {.name = "fair_queue",
                                            .scope = PART_OF_SERVER,
                                            .init = init,
                                            .fini = fini,
                                            .step = step,
                                            .next_due = next_due,
                                            .is_idle = is_idle};
