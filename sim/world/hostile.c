/* hostile.c: see hostile.h. */
#include "hostile.h"

#include <stdio.h>

#include "ids.h"
#include "panic.h"
#include "world.h"

#define WORDS_MAX 4u  /* in one write */
#define AGAIN_MAX 20u /* of one request */
#define OUT_BYTES_MAX (1u << 20)
#define SHARD 1u /* of the simulated server */
#define FAR_INCARNATION (UINT64_C(1) << 40)

/* ---- frames ---- */

/* A header by hand: nothing is refused on the way out. Every fourth request cannot be answered. */
static void put_frame(struct hostile *h, uint8_t op, struct slice body) {
    uint32_t id = rng_below(&h->rng, 4) == 0 ? 0 : ++h->request;
    uint8_t head[FRAME_HEADER_BYTES] = {FRAME_VERSION, op};
    for (uint32_t i = 0; i < 4; i++) {
        head[4 + i] = (uint8_t)(id >> (24 - 8 * i));
        head[12 + i] = (uint8_t)(body.len >> (24 - 8 * i));
    }
    if (rng_below(&h->rng, 32) == 0) head[2] = FRAME_ANSWER;
    buf_put(&h->out, head, sizeof head);
    buf_put_slice(&h->out, body);
}

static void put(struct hostile *h, enum wire_op op, const void *message) {
    struct buf body;
    buf_init(&body, OUT_BYTES_MAX);
    tlv_encode(wire_info((uint8_t)op)->desc, message, &body);
    put_frame(h, (uint8_t)op, buf_slice(&body));
    buf_fini(&body);
}

static void put_noise(struct hostile *h) {
    uint8_t bytes[40];
    size_t len = rng_below(&h->rng, sizeof bytes);
    for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)rng_below(&h->rng, 256);
    put_frame(h, (uint8_t)rng_below(&h->rng, 256), slice_of(bytes, len));
}

static void put_hello(struct hostile *h) {
    const char *name = h->is_worker ? HOSTILE_WORKER : rng_below(&h->rng, 2) ? HOSTILE_OPERATOR : HOSTILE_VIEWER;
    struct wire_hello m = {.version_min = FRAME_VERSION,
                           .version_max = FRAME_VERSION,
                           .peer = (uint8_t)(h->is_worker ? WIRE_PEER_WORKER : WIRE_PEER_CLIENT),
                           .build = SLICE("sim"),
                           .token = slice_str(world_token(h->w, name, HOSTILE_TENANT))};
    put(h, WIRE_HELLO, &m);
}

/* ---- somebody else's things ---- */

static uint64_t flow_number(struct hostile *h) {
    uint32_t count = h->w->flows.count;
    if (count == 0 || rng_below(&h->rng, 8) == 0) return 1 + rng_below(&h->rng, 50);
    uint32_t back = (uint32_t)rng_skewed(&h->rng, count - 1);
    return ((struct known_flow *)vec_at(&h->w->flows, count - 1 - back))->id.v;
}

static struct wire_attempt attempt(struct hostile *h) {
    struct wire_attempt a = {.shard = SHARD, .flow = flow_number(h)};
    a.ordinal = (uint32_t)rng_skewed(&h->rng, 5);
    a.attempt = 1 + (uint32_t)rng_skewed(&h->rng, 3);
    return a;
}

static const char *worker_id(struct hostile *h, char room[8]) {
    snprintf(room, 8, "w%u", 1 + rng_below(&h->rng, (uint32_t)h->w->plan.workers));
    return room;
}

/* ---- the worker ---- */

static void say_attach(struct hostile *h) {
    char id[8];
    bool as_itself = rng_below(&h->rng, 4) == 0;
    struct wire_attach m = {.worker = slice_str(as_itself ? HOSTILE_WORKER : worker_id(h, id)),
                            .incarnation = 1 + rng_below(&h->rng, 6),
                            .info = {.slots = 4, .pool = SLICE("")},
                            .load = {.credit = 4}};
    struct wire_held held = {.attempt = attempt(h), .phase = WIRE_HELD_RUNNING};
    if (!as_itself && rng_below(&h->rng, 4) == 0) m.incarnation = FAR_INCARNATION + ++h->request;
    if (rng_below(&h->rng, 4) == 0) m.held = (struct tlv_list){&held, 1};
    put(h, WIRE_ATTACH, &m);
}

static void say_worker(struct hostile *h) {
    struct wire_attempt a = attempt(h);
    struct wire_end end = {.attempt = a, .outcome = (uint8_t)rng_below(&h->rng, WIRE_OUTCOME_COUNT)};
    struct wire_log_piece piece = {.offset = rng_below(&h->rng, 2) * 7, .data = SLICE("forged\n")};
    struct wire_log_batch batch = {a, {&piece, 1}};
    struct wire_progress_item progress = {.attempt = a, .percent = 99};
    struct wire_health_item health = {.attempt = a, .healthy = rng_below(&h->rng, 2) == 0};
    switch (rng_below(&h->rng, 10)) {
    case 0: put(h, WIRE_STARTED, &(struct wire_attempts){{&a, 1}}); return;
    case 1: put(h, WIRE_LOG, &(struct wire_log){{&batch, 1}}); return;
    case 2: put(h, WIRE_PROGRESS, &(struct wire_progress){{&progress, 1}}); return;
    case 3: put(h, WIRE_HEALTH, &(struct wire_health){{&health, 1}}); return;
    case 4: put(h, WIRE_HEARTBEAT, &(struct wire_heartbeat){.load = {.credit = 4}}); return;
    case 5: put(h, WIRE_DETACH, &(struct wire_detach){.reason = SLICE("")}); return;
    case 6:
    case 7: say_attach(h); return;
    default:
        if (rng_below(&h->rng, 2)) end.result = SLICE("{\"forged\":true}");
        put(h, WIRE_DONE, &(struct wire_done){{&end, 1}});
    }
}

/* ---- the client ---- */

static void say_client(struct hostile *h) {
    static const enum wire_op ends[] = {WIRE_CANCEL, WIRE_RETRY, WIRE_DISCARD, WIRE_RERUN};
    char text[FLOW_TEXT_BYTES], id[8];
    flow_text(SHARD, (flow_id){flow_number(h)}, text);
    struct wire_name target = {slice_str(text)};
    struct wire_targets targets = {.targets = {&target, 1}};
    struct wire_drain drain = {.worker = slice_str(worker_id(h, id)), .end = rng_below(&h->rng, 2) == 0};
    switch (rng_below(&h->rng, 10)) {
    case 0:
    case 1: put(h, ends[rng_below(&h->rng, 4)], &targets); return;
    case 2: put(h, WIRE_PAUSE, &(struct wire_pause){WIRE_SCOPE_FLOW, target.name}); return;
    case 3: put(h, WIRE_DRAIN, &drain); return;
    case 4: put(h, WIRE_WAIT, &(struct wire_wait){.targets = {&target, 1}}); return;
    case 5: put(h, WIRE_FOLLOW, &(struct wire_follow){.since = SLICE("")}); return;
    case 6: put(h, WIRE_KV_GET, &(struct wire_kv_get){.most = 100}); return;
    case 7: put(h, WIRE_STATS, &(struct wire_empty){0}); return;
    case 8: put(h, WIRE_VERDICT, &(struct wire_verdict){.question = 1 + rng_below(&h->rng, 30)}); return;
    default: put(h, WIRE_GET, &(struct wire_get){.target = target.name, .details = true});
    }
}

/* ---- connections ---- */

static void on_opened(void *ctx, conn_id c, const struct net_peer *peer) {
    struct hostile *h = ctx;
    (void)peer;
    if (c.v == h->conn.v) h->is_up = true;
}

static void on_received(void *ctx, conn_id c, struct slice bytes) {
    (void)ctx, (void)c, (void)bytes; /* what he must not be told is seen on its way to him */
}

static void on_drained(void *ctx, conn_id c) {
    (void)ctx, (void)c;
}

static void on_closed(void *ctx, conn_id c, const char *why) {
    struct hostile *h = ctx;
    (void)why;
    if (c.v == h->conn.v) h->conn = (conn_id){0};
}

static void hang_up(struct hostile *h) {
    if (h->conn.v != 0) h->net->ops->close(h->net, h->conn);
    h->conn = (conn_id){0};
}

static void dial(struct hostile *h) {
    struct net_handler handler = {on_opened, on_received, on_drained, on_closed, h};
    h->conn = h->net->ops->dial(h->net, "server", &handler);
    h->is_up = h->said_hello = false;
}

/* In one write, hello and all: what was asked is not yet decided when the next word comes. */
static void speak(struct hostile *h) {
    buf_clear(&h->out);
    if (!h->said_hello) put_hello(h);
    h->said_hello = true;
    if (h->is_worker) say_attach(h);
    for (uint32_t n = rng_below(&h->rng, WORDS_MAX); n > 0; n--) {
        if (rng_below(&h->rng, 16) == 0)
            put_noise(h);
        else if (h->is_worker)
            say_worker(h);
        else
            say_client(h);
    }
    uint32_t again = !h->is_worker && rng_below(&h->rng, 8) == 0 ? rng_below(&h->rng, AGAIN_MAX) : 0;
    for (; again > 0; again--) say_client(h);
    WORLD_NOTE(h->w, h->node, 120, h->out.len, "hostile %u: says %zu bytes", h->node, h->out.len);
    h->net->ops->send(h->net, h->conn, buf_slice(&h->out));
}

static void act(void *ctx, uint64_t arg) {
    struct hostile *h = ctx;
    (void)arg;
    if (h->w->quiet) {
        hang_up(h);
        return;
    }
    uint32_t what = rng_below(&h->rng, 8);
    if (h->conn.v != 0 && what == 0)
        hang_up(h);
    else if (h->conn.v != 0 && what == 1)
        h->net->ops->pause(h->net, h->conn, true); /* for good: he never reads again */
    if (h->conn.v == 0) dial(h);
    if (what > 1 && h->is_up) speak(h);
    int64_t mean_us = h->w->plan.hostile_ms * 1000;
    equeue_in(&h->w->queue, rng_range(&h->rng, mean_us / 4, mean_us * 2), act, h, 0);
}

/* ---- life ---- */

static void on_wake(void *ctx) {
    (void)ctx;
}

void hostile_init(struct hostile *h, struct world *w, uint32_t node, bool is_worker, struct rng rng) {
    *h = (struct hostile){.w = w, .node = node, .is_worker = is_worker, .rng = rng};
    buf_init(&h->out, OUT_BYTES_MAX);
    h->net = simnet_port(&w->net, node, on_wake, h);
    simnet_up(&w->net, node);
}

void hostile_fini(struct hostile *h) {
    buf_fini(&h->out);
}

void hostile_start(struct hostile *h) {
    equeue_in(&h->w->queue, rng_range(&h->rng, 0, h->w->plan.hostile_ms * 1000), act, h, 0);
}
