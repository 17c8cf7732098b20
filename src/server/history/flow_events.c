/* flow_events.c: see flow_events.h. */
#include "flow_events.h"

#include <stdio.h>

#include "call.h"
#include "event_replay.h"
#include "event_ring.h"
#include "event_view.h"
#include "panic.h"
#include "replay.h"
#include "server_impl.h"
#include "session.h"
#include "target.h"

#define TALES_MAX 4u      /* each is a process that replays the journal */
#define EVENTS_MAX 10000u /* of one answer */
#define IN_BYTES_MAX ((size_t)64 << 20)
#define WORDS_BYTES_MAX ((size_t)256 << 20)

struct told { /* an answer that is being put together */
    struct arena words;
    struct vec events; /* struct wire_event */
    uint32_t most;
    bool more, gap, foreign;
};

struct flow_events_request {
    replay_id recall; /* first: never 0 while in use */
    conn_id conn;
    uint32_t request;
    char flow[64]; /* as it was asked for */
    struct bytes *tenant;
    uint64_t upto;
    struct buf in;
    bool has_ended;
    struct told told;
};

static void told_init(struct told *t, uint32_t most) {
    *t = (struct told){.most = most > 0 && most < EVENTS_MAX ? most : EVENTS_MAX};
    arena_init(&t->words, 16384, WORDS_BYTES_MAX);
    vec_init(&t->events, sizeof(struct wire_event));
}

static void told_fini(struct told *t) {
    arena_fini(&t->words);
    vec_fini(&t->events);
}

static void told_add(struct told *t, const struct event_view *n) {
    if (t->events.count == t->most) {
        t->more = true;
        return;
    }
    struct wire_event *e = vec_push(&t->events);
    *e = n->event;
    e->kind = slice_str(event_view_kind_word(n->kind));
    e->target = arena_slice(&t->words, e->target);
    e->from = arena_slice(&t->words, e->from);
    e->to = arena_slice(&t->words, e->to);
    e->cause = arena_slice(&t->words, e->cause);
    e->worker = arena_slice(&t->words, e->worker);
}

static struct wire_told told_message(const struct told *t, uint64_t lsn, char cursor[POSITION_TEXT_BYTES]) {
    struct wire_told m = {.lsn = lsn, .events = {t->events.at, t->events.count}, .gap = t->gap};
    if (!t->more || t->events.count == 0) return m;
    const struct wire_event *last = vec_at(&t->events, t->events.count - 1);
    m.cursor = position_text((struct position){last->lsn, last->ordinal}, cursor);
    return m;
}

/* ---- life ---- */

static void init(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    pool_init(&flow_events_of(s)->all, sizeof(struct flow_events_request), TALES_MAX);
}

static void flow_events_free(struct server *s, uint32_t index) {
    struct flow_events_request *t = pool_at(&flow_events_of(s)->all, index);
    s->world.replayer->ops->stop(s->world.replayer, t->recall);
    told_fini(&t->told);
    bytes_free(t->tenant);
    buf_fini(&t->in);
    pool_free(&flow_events_of(s)->all, index);
}

static void conn_gone(struct shard *h, void *own, conn_id conn) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 1; flow_events_of(s)->all.count > 0 && i <= flow_events_of(s)->all.high; i++) {
        const struct flow_events_request *t = pool_at(&flow_events_of(s)->all, i);
        if (t->recall.v != 0 && t->conn.v == conn.v) flow_events_free(s, i);
    }
}

static void fini(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 1; i <= flow_events_of(s)->all.high; i++)
        if (((struct flow_events_request *)pool_at(&flow_events_of(s)->all, i))->recall.v != 0) flow_events_free(s, i);
    pool_fini(&flow_events_of(s)->all);
}

static struct flow_events_request *request_of(struct server *s, replay_id id) {
    for (uint32_t i = 1; i <= flow_events_of(s)->all.high; i++) {
        struct flow_events_request *t = pool_at(&flow_events_of(s)->all, i);
        if (t->recall.v == id.v) return t;
    }
    return NULL;
}

/* ---- from the journal ---- */

static void told(void *ctx, replay_id id, struct slice bytes) {
    struct flow_events_request *t = request_of(ctx, id);
    if (t != NULL) buf_put_slice(&t->in, bytes);
}

static void ended(void *ctx, replay_id id) {
    struct flow_events_request *t = request_of(ctx, id);
    if (t != NULL) t->has_ended = true;
}

static void answer(struct server *s, struct flow_events_request *t) {
    struct session *n = session_of(s, t->conn);
    char cursor[POSITION_TEXT_BYTES], text[128];
    struct wire_told m = told_message(&t->told, t->upto, cursor);
    if (n == NULL) return;
    if (t->told.foreign || (t->told.events.count == 0 && !t->told.gap)) {
        snprintf(text, sizeof text, "there is no flow %s", t->flow);
        session_error(s, n, t->request, ERR_NOT_FOUND, text);
    } else {
        session_answer(s, n, t->request, WIRE_TOLD, &m);
    }
}

/* True: it is over. */
static bool hear(struct server *s, struct flow_events_request *t, const struct event_replay_item *item) {
    struct session *n = session_of(s, t->conn);
    switch (item->kind) {
    case EVENT_REPLAY_EVENT:
        if (t->tenant != NULL && !slice_eq(item->notice.tenant, bytes_slice(t->tenant))) t->told.foreign = true;
        told_add(&t->told, &item->notice);
        return false;
    case EVENT_REPLAY_GAP: t->told.gap = true; return false;
    case EVENT_REPLAY_UPTO: answer(s, t); return true;
    case EVENT_REPLAY_FAILED:
        server_log(s, SERVER_WARN, "events", "of %s: %.*s", t->flow, SLICE_FMT(item->text));
        break;
    case EVENT_REPLAY_KIND_COUNT: break;
    }
    if (n != NULL) session_error(s, n, t->request, ERR_IO, "the journal could not be read");
    return true;
}

static bool look(struct server *s, struct flow_events_request *t) {
    struct slice left = buf_slice(&t->in);
    enum event_replay_taken taken;
    struct event_replay_item item;
    while ((taken = event_replay_take(&left, &item)) == EVENT_REPLAY_TAKEN)
        if (hear(s, t, &item)) return true;
    bool lost = taken == EVENT_REPLAY_BAD || t->has_ended || t->in.full;
    if (left.len > 0) memmove(t->in.at, left.ptr, left.len);
    buf_cut(&t->in, left.len);
    item =
        (struct event_replay_item){.kind = EVENT_REPLAY_FAILED, .text = SLICE("the reader of the journal has ended")};
    return lost && hear(s, t, &item);
}

static void flush(struct shard *h, void *own) {
    (void)own;
    struct server *s = h->server;
    for (uint32_t i = 1; flow_events_of(s)->all.count > 0 && i <= flow_events_of(s)->all.high; i++) {
        struct flow_events_request *t = pool_at(&flow_events_of(s)->all, i);
        if (t->recall.v != 0 && look(s, t)) flow_events_free(s, i);
    }
    part_attend(h, flow_events_slot, flow_events_of(s)->all.count > 0);
}

static void read_journal(struct server *s, struct request *r, uint64_t flow, struct position since, uint32_t most) {
    const struct wire_tale *m = r->message;
    struct replayer *recaller = s->world.replayer;
    struct replay_handler handler = {told, ended, s};
    uint32_t index = pool_alloc(&flow_events_of(s)->all);
    part_wake(server_shard(s), flow_events_slot);
    struct told told_so_far;
    told_init(&told_so_far, most);
    struct replay_spec spec = {.after_lsn = since.lsn,
                               .after_ordinal = since.ordinal,
                               .flow = flow,
                               .most = told_so_far.most + 1}; /* one more says that there are more */
    replay_id id = index != 0 ? recaller->ops->start(recaller, &spec, &handler) : (replay_id){0};
    if (id.v == 0) {
        told_fini(&told_so_far);
        if (index != 0) pool_free(&flow_events_of(s)->all, index);
        session_busy(s, r->session, r->id, "too many requests read the journal", 1000);
        return;
    }
    struct flow_events_request *t = pool_at(&flow_events_of(s)->all, index);
    *t = (struct flow_events_request){.recall = id,
                                      .conn = r->session->conn,
                                      .request = r->id,
                                      .upto = engine_durable_lsn(server_shard(s)->engine),
                                      .told = told_so_far};
    if (r->session->who.tenant[0] != 0) t->tenant = bytes_new(slice_str(r->session->who.tenant));
    snprintf(t->flow, sizeof t->flow, "%.*s", SLICE_FMT(m->flow));
    buf_init(&t->in, IN_BYTES_MAX);
    recaller->ops->upto(recaller, id, t->upto);
}

/* ---- from memory ---- */

/* Times of batches never fall: a ring that begins before the flow did has all of it. */
static bool ring_is_enough(struct server *s, uint64_t flow, bool resumes, struct position since) {
    const struct event_ring *d = event_ring_of(s);
    struct flow_view v;
    if (resumes) return !position_is_after((struct position){d->before_lsn, d->before_ordinal}, since);
    if (d->before_lsn == 0) return true;
    return view_flow(server_state(s), (flow_id){flow}, &v) && d->first < d->next &&
           d->ring[d->first % EVENT_RING_SIZE].as.event.time.ms < v.created.ms;
}

static void read_ring(struct server *s, struct request *r, uint64_t flow, struct position since, uint32_t most,
                      bool gap) {
    const struct event_ring *d = event_ring_of(s);
    struct told t;
    char cursor[POSITION_TEXT_BYTES];
    struct call *c = call_open(s, r, 1);
    if (c == NULL) return;
    told_init(&t, most);
    for (uint64_t at = d->first; at < d->next && !t.more; at++) {
        const struct effect *e = &d->ring[at % EVENT_RING_SIZE];
        struct state_view l = {server_state(s), s->options.shard, &s->frame_arena, &s->zones};
        struct event_view n;
        if (e->as.event.kind == EVENT_WORKER || e->as.event.job.flow.v != flow) continue;
        if (!position_is_after((struct position){e->lsn, e->ordinal}, since)) continue;
        arena_reset(&s->frame_arena);
        event_view_make(&l, e, &n);
        told_add(&t, &n);
    }
    t.gap = gap;
    struct wire_told m = told_message(&t, engine_lsn(server_shard(s)->engine), cursor);
    buf_clear(&s->out);
    wire_put(&s->out, WIRE_TOLD, FRAME_ANSWER, r->id, &m);
    call_read(s, r, c, buf_slice(&s->out));
    told_fini(&t);
}

/* One that has left memory is known by its number. */
static enum err flow_find(struct server *s, struct request *r, uint64_t *ret, struct why *why) {
    const struct wire_tale *m = r->message;
    flow_id id = {0};
    uint64_t first = 0, last = 0;
    enum err e = target_flow(s, r->session, m->flow, &id, why);
    *ret = id.v;
    if (e != ERR_NOT_FOUND || !target_numbers(s, m->flow, &first, &last) || first != last) return e;
    if (first == 0 || first > view_flow_last(server_state(s))) return e;
    struct flow_view v;
    if (view_flow(server_state(s), (flow_id){first}, &v)) return e; /* another tenant's */
    *ret = first;
    return ERR_OK;
}

HANDLER(flow_events_read) {
    const struct wire_tale *m = r->message;
    struct position since = {0};
    struct why why = {{0}};
    uint64_t flow = 0;
    bool resumes = m->since.len > 0;
    enum err e = flow_find(s, r, &flow, &why);
    if (e == ERR_OK && resumes && !position_read(m->since, &since))
        e = why_set(&why, ERR_INVALID, "`since` is the position of an event, like 1234.0");
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    /* Of a flow that has left memory the ring does not know whose it was; the journal does. */
    struct flow_view v;
    bool is_own = r->session->who.tenant[0] == 0 || view_flow(server_state(s), (flow_id){flow}, &v);
    if (!is_own && s->world.replayer == NULL) {
        (void)why_set(&why, ERR_NOT_FOUND, "there is no flow %.*s", SLICE_FMT(m->flow));
        call_fail(s, r, ERR_NOT_FOUND, why.text);
        return;
    }
    bool enough = ring_is_enough(s, flow, resumes, since) && is_own;
    if (enough || s->world.replayer == NULL)
        read_ring(s, r, flow, since, m->most, !enough);
    else
        read_journal(s, r, flow, since, m->most);
}

const struct server_part flow_events_part = {.name = "flow_events",
                                             .scope = PART_OF_SHARD,
                                             .bytes = sizeof(struct flow_events),
                                             .init = init,
                                             .fini = fini,
                                             .flush = flush,
                                             .conn_gone = conn_gone};
