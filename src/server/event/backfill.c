/* backfill.c: see backfill.h. */
#include "backfill.h"

#include "event_replay.h"
#include "event_ring.h"
#include "panic.h"
#include "server_impl.h"
#include "subscribers.h"

#define IN_BYTES_MAX ((size_t)16 << 20)
#define IN_BYTES_FULL ((size_t)512 << 10) /* the reader rests while so much is not looked at */
#define TURN_BYTES_MAX ((size_t)4 << 20)  /* to all followers in one turn */
#define WAIT_MS 250                       /* for one who does not take it, while others do */
#define WAIT_ALONE_MS 10000               /* while nobody does */
#define AGAIN_MS 200
#define FAILED_AGAIN_MS 1000
#define FAILURES_MAX 3u

void backfill_init(struct server *s) {
    buf_init(&subscribers_of(s)->backfill.in, IN_BYTES_MAX);
}

void backfill_fini(struct server *s) {
    struct backfill *c = &subscribers_of(s)->backfill;
    if (c->recall.v != 0) s->world.replayer->ops->stop(s->world.replayer, c->recall);
    event_block_free(c->block);
    buf_fini(&c->in);
}

/* ---- who ---- */

static bool is_waiting(struct server *s, const struct subscriber *f) {
    return f->is_behind && subscribers_may_send(s, f);
}

/* The reader has not passed it. */
static bool goes_along(const struct backfill *c, const struct subscriber *f) {
    return f->is_behind && f->is_greeted && !position_is_after(c->at, f->after);
}

typedef bool (*each_fn)(struct server *s, struct subscriber *f, void *ctx);

/* How many of those who go along, or (along = false) of all who are behind, `fn` says yes to. */
static uint32_t each(struct server *s, bool along, each_fn fn, void *ctx) {
    struct subscribers *h = subscribers_of(s);
    uint32_t count = 0;
    for (uint32_t i = 0; i < h->followers.count; i++) {
        struct subscriber *f = vec_at(&h->followers, i);
        if (along ? goes_along(&h->backfill, f) : f->is_behind) count += fn(s, f, ctx);
    }
    return count;
}

static bool rejoin(struct server *s, struct subscriber *f, void *ctx) {
    (void)ctx;
    return subscribers_may_send(s, f) && subscribers_rejoin(s, f);
}

static bool tell_gap(struct server *s, struct subscriber *f, void *ctx) {
    subscribers_tell_gap(s, f, *(const uint64_t *)ctx);
    return true;
}

static bool takes(struct server *s, struct subscriber *f, void *ctx) {
    (void)ctx;
    return subscribers_may_send(s, f);
}

static bool does_not_take(struct server *s, struct subscriber *f, void *ctx) {
    (void)ctx;
    return !subscribers_may_send(s, f);
}

/* The oldest position that someone who takes what is sent waits for. */
static bool find_oldest(struct server *s, struct subscriber *f, void *ctx) {
    struct position *oldest = ctx;
    if (!is_waiting(s, f)) return false;
    if (position_is_after(*oldest, f->after)) *oldest = f->after;
    return true;
}

/* ---- the reader ---- */

static void told(void *ctx, replay_id id, struct slice bytes) {
    struct server *s = ctx;
    struct backfill *c = &subscribers_of(s)->backfill;
    if (id.v != c->recall.v) return;
    buf_put_slice(&c->in, bytes);
    ENSURE(!c->in.full); /* it rests long before */
    if (c->in.len < IN_BYTES_FULL || c->is_paused) return;
    c->is_paused = true;
    s->world.replayer->ops->pause(s->world.replayer, id, true);
}

static void ended(void *ctx, replay_id id) {
    struct server *s = ctx;
    if (id.v == subscribers_of(s)->backfill.recall.v) subscribers_of(s)->backfill.has_ended = true;
}

static void stop(struct server *s, int64_t again_ms) {
    struct backfill *c = &subscribers_of(s)->backfill;
    if (c->recall.v != 0) s->world.replayer->ops->stop(s->world.replayer, c->recall);
    event_block_free(c->block);
    buf_fini(&c->in);
    buf_init(&c->in, IN_BYTES_MAX);
    *c = (struct backfill){.in = c->in, .again_ms = again_ms, .failures = c->failures};
}

static void go_on(struct server *s) {
    struct backfill *c = &subscribers_of(s)->backfill;
    c->upto = engine_durable_lsn(server_shard(s)->engine);
    s->world.replayer->ops->upto(s->world.replayer, c->recall, c->upto);
}

/* What is not to be had by reading: those who wait go on with what is in memory. */
static void give_up(struct server *s) {
    uint64_t lsn = event_ring_of(s)->before_lsn;
    each(s, false, tell_gap, &lsn);
    each(s, false, rejoin, NULL);
}

static void start(struct server *s) {
    struct backfill *c = &subscribers_of(s)->backfill;
    struct position oldest = position_end_of(UINT64_MAX);
    if (s->now_ms < c->again_ms || each(s, false, find_oldest, &oldest) == 0) return;
    struct replay_spec spec = {.after_lsn = oldest.lsn, .after_ordinal = oldest.ordinal};
    struct replay_handler handler = {told, ended, s};
    struct replayer *r = s->world.replayer;
    if (r == NULL) {
        give_up(s);
        return;
    }
    c->recall = r->ops->start(r, &spec, &handler);
    c->at = oldest;
    if (c->recall.v != 0)
        go_on(s);
    else
        c->again_ms = s->now_ms + FAILED_AGAIN_MS;
}

/* ---- what it says ---- */

/* False: someone who goes along has to be waited for, or nobody is left. */
static bool may_deliver(struct server *s) {
    struct backfill *c = &subscribers_of(s)->backfill;
    uint32_t ready = each(s, true, takes, NULL), slow = each(s, true, does_not_take, NULL);
    if (slow == 0) return ready > 0;
    if (c->waits_ms == 0) c->waits_ms = s->now_ms;
    return ready > 0 && s->now_ms >= c->waits_ms + WAIT_MS;
}

/* False: later. */
static bool deliver(struct server *s, size_t *budget) {
    struct subscribers *h = subscribers_of(s);
    struct backfill *c = &h->backfill;
    if (c->block == NULL || event_block_count(c->block) == 0) return true;
    c->is_short = *budget == 0;
    if (c->is_short || !may_deliver(s)) return false;
    c->waits_ms = 0;
    struct position last = event_block_last(c->block);
    for (uint32_t i = 0; i < h->followers.count; i++) {
        struct subscriber *f = vec_at(&h->followers, i);
        if (!goes_along(c, f) || !subscribers_may_send(s, f)) continue;
        size_t sent = subscribers_send(s, f, c->block, 0);
        *budget -= sent < *budget ? sent : *budget;
    }
    c->at = last;
    event_block_free(c->block);
    c->block = NULL;
    return true;
}

static bool reach(struct server *s, struct subscriber *f, void *ctx) {
    (void)s;
    const struct position *at = ctx;
    if (position_is_after(*at, f->after)) f->after = *at;
    return true;
}

/* As far as it was asked to go. Those who were left behind want another run, from where they are. */
static void arrived(struct server *s, uint64_t lsn) {
    struct backfill *c = &subscribers_of(s)->backfill;
    struct position at = position_end_of(lsn);
    c->failures = 0;
    each(s, true, reach, &at);
    c->at = at;
    each(s, false, rejoin, NULL);
    struct position oldest = position_end_of(UINT64_MAX);
    bool left_behind = each(s, false, find_oldest, &oldest) > 0 && position_is_after(at, oldest);
    if (left_behind || each(s, true, takes, NULL) == 0)
        stop(s, s->now_ms + AGAIN_MS);
    else
        go_on(s);
}

/* What it was reading may have left the archive meanwhile, or it was killed: another one may do better. */
static void failed(struct server *s, struct slice text) {
    struct backfill *c = &subscribers_of(s)->backfill;
    server_log(s, SERVER_WARN, "events", "past events cannot be read: %.*s", SLICE_FMT(text));
    if (++c->failures >= FAILURES_MAX) give_up(s);
    stop(s, s->now_ms + FAILED_AGAIN_MS);
}

/* False: it was stopped. */
static bool hear(struct server *s, const struct event_replay_item *item) {
    struct backfill *c = &subscribers_of(s)->backfill;
    uint64_t lsn = item->lsn;
    switch (item->kind) {
    case EVENT_REPLAY_EVENT:
        if (c->block == NULL) c->block = event_block_new();
        event_block_add(c->block, &item->notice);
        return true;
    case EVENT_REPLAY_GAP: each(s, true, tell_gap, &lsn); return true;
    case EVENT_REPLAY_UPTO: arrived(s, lsn); break;
    case EVENT_REPLAY_FAILED: failed(s, item->text); break;
    case EVENT_REPLAY_KIND_COUNT: break;
    }
    return c->recall.v != 0;
}

/* True: everything that came was looked at. */
static bool look(struct server *s) {
    struct backfill *c = &subscribers_of(s)->backfill;
    struct slice left = buf_slice(&c->in);
    size_t budget = TURN_BYTES_MAX;
    enum event_replay_taken taken = EVENT_REPLAY_TAKEN;
    bool later = false;
    while (taken == EVENT_REPLAY_TAKEN && !later) {
        struct event_replay_item item;
        struct slice before = left;
        taken = event_replay_take(&left, &item);
        bool whole = c->block != NULL &&
                     (taken != EVENT_REPLAY_TAKEN || item.kind != EVENT_REPLAY_EVENT || event_block_is_full(c->block));
        if (whole && !deliver(s, &budget)) {
            left = before;
            later = true;
        } else if (taken == EVENT_REPLAY_BAD) {
            failed(s, SLICE("the reader of past events sent invalid data"));
            return true;
        } else if (taken == EVENT_REPLAY_TAKEN && !hear(s, &item)) {
            return true;
        }
    }
    if (left.len > 0) memmove(c->in.at, left.ptr, left.len);
    buf_cut(&c->in, left.len);
    return !later;
}

static void rest_or_not(struct server *s) {
    struct backfill *c = &subscribers_of(s)->backfill;
    if (!c->is_paused || c->recall.v == 0 || c->in.len >= IN_BYTES_FULL / 2) return;
    c->is_paused = false;
    s->world.replayer->ops->pause(s->world.replayer, c->recall, false);
}

/* Nobody goes along, or nobody has taken anything for long: there is no use in it for now. */
static bool is_pointless(struct server *s) {
    const struct backfill *c = &subscribers_of(s)->backfill;
    uint32_t ready = each(s, true, takes, NULL), slow = each(s, true, does_not_take, NULL);
    if (ready > 0) return false;
    return slow == 0 || (c->waits_ms != 0 && s->now_ms >= c->waits_ms + WAIT_ALONE_MS);
}

void backfill_step(struct server *s) {
    struct backfill *c = &subscribers_of(s)->backfill;
    if (c->recall.v == 0) {
        if (subscribers_of(s)->followers.count == 0) return;
        each(s, false, rejoin, NULL);
        start(s);
        return;
    }
    bool all = look(s);
    if (c->recall.v == 0) return;
    if (c->has_ended && all)
        failed(s, SLICE("the reader of the journal has ended"));
    else if (is_pointless(s))
        stop(s, s->now_ms + AGAIN_MS);
    else
        rest_or_not(s);
}

int64_t backfill_next(struct server *s) {
    const struct backfill *c = &subscribers_of(s)->backfill;
    struct position oldest = position_end_of(UINT64_MAX);
    if (c->recall.v != 0 && c->is_short) return s->now_ms;
    if (c->recall.v != 0 && c->waits_ms != 0)
        return c->waits_ms + (s->now_ms < c->waits_ms + WAIT_MS ? WAIT_MS : WAIT_ALONE_MS);
    if (c->recall.v != 0) return TIME_NEVER; /* it says something, or someone takes something */
    return each(s, false, find_oldest, &oldest) > 0 ? c->again_ms : TIME_NEVER;
}

bool backfill_is_at_work(struct server *s) {
    return subscribers_of(s)->backfill.recall.v != 0;
}
