/* checkpoints.c: see checkpoints.h. */
#include "checkpoints.h"

#include "background.h"
#include "hex.h"
#include "panic.h"
#include "server_impl.h"
#include "session.h"

extern const uint8_t checkpoints_slot;

struct checkpoints *checkpoints_of(const struct server *s) {
    return shard_part(server_shard(s), checkpoints_slot);
}

void checkpoints_wake(const struct server *s) {
    part_wake(server_shard(s), checkpoints_slot);
}

static bool is_on(const struct shard *h) {
    return h->server->world.signer != NULL && h->server->options.checkpoint_ms > 0;
}

static void init(struct shard *h, void *own) {
    struct checkpoints *p = own;
    p->shard = h;
    vec_init(&p->waiting, sizeof(struct checkpoint_wait));
    p->due_ms = h->server->world.clock->mono(h->server->world.clock).ms + h->server->options.checkpoint_ms;
    if (!is_on(h)) part_retire(h, checkpoints_slot);
}

/* What is being read aside is waited for; it is told to end. */
static void fini(struct shard *h, void *own) {
    struct checkpoints *p = own;
    struct background *b = h->server->world.background;
    atomic_store(&p->stop, true);
    if (p->state == CHECKPOINTS_READ) b->ops->settle(b);
    vec_fini(&p->waiting);
}

/* ---- messages ---- */

static struct slice hex_of(struct server *s, const uint8_t *bytes, size_t len) {
    char *text = arena_alloc(&s->frame_arena, 2 * len + 1);
    hex_write(slice_of(bytes, len), text);
    return slice_of(text, 2 * len);
}

void checkpoint_message(struct server *s, const struct checkpoint *c, struct wire_checkpoint *ret) {
    *ret = (struct wire_checkpoint){.shard = s->options.shard,
                                    .number = c->number,
                                    .lsn = c->lsn,
                                    .from_lsn = c->from_lsn,
                                    .upto_lsn = c->upto_lsn,
                                    .time_ms = c->time.ms};
    if (c->number == 0) return;
    ret->chain = hex_of(s, c->chain, sizeof c->chain);
    ret->key = hex_of(s, c->key, sizeof c->key);
    ret->signature = hex_of(s, c->signature, sizeof c->signature);
}

/* To those whose record it covers; all of them, when there is nothing more to cover. */
static void tell(struct shard *h, struct checkpoints *p, bool all) {
    struct server *s = h->server;
    struct checkpoint last = view_checkpoint(server_state(s));
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->waiting.count; i++) {
        struct checkpoint_wait w = *(struct checkpoint_wait *)vec_at(&p->waiting, i);
        struct session *n = session_of(s, w.conn);
        if (n == NULL) continue;
        if (!all && last.upto_lsn < w.lsn) {
            *(struct checkpoint_wait *)vec_at(&p->waiting, kept++) = w;
            continue;
        }
        struct wire_checkpoint m;
        arena_reset(&s->frame_arena);
        checkpoint_message(s, &last, &m);
        session_answer(s, n, w.request, WIRE_CHECKPOINTED, &m);
    }
    p->waiting.count = kept;
}

static void refuse_all(struct shard *h, struct checkpoints *p, enum err e, const char *text) {
    for (uint32_t i = 0; i < p->waiting.count; i++) {
        const struct checkpoint_wait *w = vec_at(&p->waiting, i);
        struct session *n = session_of(h->server, w->conn);
        if (n != NULL) session_error(h->server, n, w->request, e, text);
    }
    p->waiting.count = 0;
}

static void failed(struct shard *h, struct checkpoints *p, enum err e, const char *text) {
    if (!p->has_failed)
        server_log(h->server, SERVER_ERROR, "audit", "no checkpoint of the journal can be made: %s", text);
    p->has_failed = true;
    p->state = CHECKPOINTS_REST;
    p->is_final = h->server->draining;
    p->due_ms = h->server->now_ms + CHECKPOINT_AGAIN_MS;
    refuse_all(h, p, e, text);
}

/* ---- aside ---- */

static void work(void *ctx) {
    struct checkpoints *p = ctx;
    p->err = proof_next(&p->work, &p->last, &p->made, &p->why);
    if (p->err == ERR_OK) proof_sign(p->shard->server->world.signer, p->work.shard, &p->made);
}

static void done(void *ctx) {
    struct checkpoints *p = ctx;
    p->work.reader->ops->close(p->work.reader);
    p->state = CHECKPOINTS_MADE;
    part_wake(p->shard, checkpoints_slot);
}

/* ---- turns ---- */

/* Whether anything stands in the journal that the last checkpoint neither covers nor is. */
static bool has_new(const struct shard *h, const struct checkpoint *last) {
    uint64_t durable = engine_durable_lsn(h->engine);
    return durable > (last->lsn > last->upto_lsn + 1 ? last->upto_lsn : last->lsn);
}

static void rest(struct shard *h, struct checkpoints *p) {
    p->due_ms = h->server->now_ms + h->server->options.checkpoint_ms;
    p->is_final = h->server->draining;
    tell(h, p, true);
}

static void begin(struct shard *h, struct checkpoints *p) {
    struct server *s = h->server;
    struct background *b = s->world.background;
    p->last = view_checkpoint(server_state(s));
    if (!has_new(h, &p->last)) {
        rest(h, p);
        return;
    }
    p->work = (struct proof_next){.hasher = s->world.hasher,
                                  .stop = &p->stop,
                                  .shard = h->number,
                                  .upto_lsn = engine_durable_lsn(h->engine),
                                  .bytes_max = CHECKPOINT_BYTES_MAX};
    p->err = h->journal->ops->reader(h->journal, &p->work.reader, &p->why);
    if (p->err != ERR_OK) {
        failed(h, p, p->err, p->why.text);
        return;
    }
    p->state = CHECKPOINTS_READ;
    if (b == NULL) {
        work(p);
        done(p);
    } else if (!b->ops->start(b, work, done, p)) {
        p->work.reader->ops->close(p->work.reader);
        p->state = CHECKPOINTS_REST;
        p->due_ms = s->now_ms + CHECKPOINT_BUSY_MS;
    }
}

static void record(struct shard *h, struct checkpoints *p) {
    const struct checkpoint *c = &p->made;
    struct command cmd = {.kind = CMD_CHECKPOINT, .token = part_token(checkpoints_slot, c->number)};
    cmd.as.checkpoint = (struct cmd_checkpoint){.number = c->number,
                                                .from_lsn = c->from_lsn,
                                                .upto_lsn = c->upto_lsn,
                                                .chain = slice_of(c->chain, sizeof c->chain),
                                                .key = slice_of(c->key, sizeof c->key),
                                                .signature = slice_of(c->signature, sizeof c->signature)};
    p->state = CHECKPOINTS_DECIDE;
    server_command(h->server, (conn_id){0}, 0, &cmd);
}

static void step(struct shard *h, void *own) {
    struct checkpoints *p = own;
    struct server *s = h->server;
    bool wanted = s->now_ms >= p->due_ms || p->waiting.count > 0 || (s->draining && !p->is_final);
    if (p->state == CHECKPOINTS_REST && wanted) begin(h, p);
    if (p->state != CHECKPOINTS_MADE) return;
    if (p->err == ERR_OK)
        record(h, p);
    else if (p->err == ERR_STATE) /* no batch ends between what is covered and what is durable */
        p->state = CHECKPOINTS_REST, rest(h, p);
    else
        failed(h, p, p->err, p->why.text);
}

static void answered(struct shard *h, void *own, uint64_t token, const struct reply *r) {
    struct checkpoints *p = own;
    (void)token;
    if (p->state != CHECKPOINTS_DECIDE) return;
    if (r->err != ERR_OK) {
        failed(h, p, r->err, r->why.text);
        return;
    }
    struct checkpoint last = view_checkpoint(server_state(h->server));
    if (p->has_failed) server_log(h->server, SERVER_INFO, "audit", "checkpoints of the journal are made again");
    p->has_failed = false;
    p->state = CHECKPOINTS_REST;
    bool is_all = last.upto_lsn >= p->work.upto_lsn;
    p->due_ms = is_all ? h->server->now_ms + h->server->options.checkpoint_ms : h->server->now_ms;
    if (is_all) p->is_final = h->server->draining;
    tell(h, p, false);
    part_wake(h, checkpoints_slot);
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct checkpoints *p = own;
    if (p->state != CHECKPOINTS_REST) return TIME_NEVER;
    return h->server->draining && !p->is_final ? h->server->now_ms : p->due_ms;
}

static bool is_idle(const struct shard *h, const void *own) {
    const struct checkpoints *p = own;
    return !is_on(h) || (p->state == CHECKPOINTS_REST && p->waiting.count == 0 && p->is_final);
}

static void conn_gone(struct shard *h, void *own, conn_id conn) {
    struct checkpoints *p = own;
    uint32_t kept = 0;
    (void)h;
    for (uint32_t i = 0; i < p->waiting.count; i++) {
        const struct checkpoint_wait *w = vec_at(&p->waiting, i);
        if (w->conn.v != conn.v) *(struct checkpoint_wait *)vec_at(&p->waiting, kept++) = *w;
    }
    p->waiting.count = kept;
}

const struct server_part checkpoints_part = {.name = "checkpoints",
                                             .scope = PART_OF_SHARD,
                                             .bytes = sizeof(struct checkpoints),
                                             .init = init,
                                             .fini = fini,
                                             .step = step,
                                             .next_due = next_due,
                                             .answered = answered,
                                             .is_idle = is_idle,
                                             .conn_gone = conn_gone};
