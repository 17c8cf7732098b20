/* subscribers.c: see subscribers.h. */
#include "subscribers.h"

#include "call.h"
#include "event_blocks.h"
#include "event_ring.h"
#include "event_stream.h"
#include "event_view.h"
#include "panic.h"
#include "requests.h"
#include "server_impl.h"
#include "server_view.h"
#include "session.h"
#include "target.h"

#define FOLLOWERS_MAX 10000u
#define UNSENT_MAX 65536u                /* that a follower has not taken; beyond it, it is sent nothing */
#define TURN_BYTES_MAX ((size_t)1 << 20) /* to all followers in one turn: a few milliseconds, with sending */
#define PACE_FOLLOWERS 4u                /* each so many of them let the others wait a millisecond */
#define PACE_MS_MAX 50
#define TICK_MS 1000
#define PING_MS 20000
#define TEXT_BYTES_MAX ((size_t)1 << 20)
#define STATE_EVENTS_MAX 10000u /* of `state_first`; further jobs are told of when they change */

static struct subscriber *subscriber_at(const struct subscribers *h, uint32_t i) {
    return vec_at(&h->followers, i);
}

static void init(struct shard *shard, void *own) {
    (void)own;
    struct server *s = shard->server;
    struct subscribers *h = subscribers_of(s);
    vec_init(&h->followers, sizeof(struct subscriber));
    event_blocks_init(&h->blocks);
    for (uint32_t i = 0; i < EVENT_FORM_COUNT; i++) buf_init(&h->ticks[i], TEXT_BYTES_MAX);
    buf_init(&h->out, TEXT_BYTES_MAX);
    backfill_init(s);
}

static void subscriber_fini(struct subscriber *f) {
    bytes_free(f->filter.tenant);
    vec_fini(&f->filter.targets);
    event_blocks_fini(&f->state);
}

static void fini(struct shard *shard, void *own) {
    (void)own;
    struct server *s = shard->server;
    struct subscribers *h = subscribers_of(s);
    backfill_fini(s);
    for (uint32_t i = 0; i < h->followers.count; i++) subscriber_fini(subscriber_at(h, i));
    vec_fini(&h->followers);
    event_blocks_fini(&h->blocks);
    for (uint32_t i = 0; i < EVENT_FORM_COUNT; i++) buf_fini(&h->ticks[i]);
    buf_fini(&h->out);
}

/* ---- whom it concerns ---- */

bool filter_takes(const struct filter *f, const struct event_view *n) {
    if (!(f->kinds & 1u << n->kind)) return false;
    if (n->kind == EVENT_WORKER) return f->targets.count == 0 && f->tenant == NULL;
    if (f->tenant != NULL && !slice_eq(n->tenant, bytes_slice(f->tenant))) return false;
    for (uint32_t i = 0; i < f->targets.count; i++) {
        const struct target *t = vec_at(&f->targets, i);
        if (t->job.flow.v == n->flow && (t->whole || t->job.ordinal == n->ordinal)) return true;
    }
    return f->targets.count == 0;
}

static bool takes_all(const struct filter *f) {
    return f->kinds == FILTER_ALL_KINDS && f->targets.count == 0 && f->tenant == NULL;
}

/* "job,flow" */
static enum err kinds_read(struct slice words, struct filter *ret, struct why *why) {
    while (words.len > 0) {
        const uint8_t *comma = memchr(words.ptr, ',', words.len);
        size_t len = comma != NULL ? (size_t)(comma - words.ptr) : words.len;
        struct slice word = slice_of(words.ptr, len);
        uint32_t kind = event_view_kind_by_word(word);
        if (slice_eq(word, SLICE("metrics")))
            ret->metrics = true;
        else if (kind != UINT32_MAX)
            ret->kinds |= 1u << kind;
        else
            return why_set(why, ERR_INVALID,
                           "there are no events of type `%.*s`; expected flow, job, worker, service or metrics",
                           (int)(word.len < 64 ? word.len : 64), (const char *)word.ptr);
        words = slice_of(words.ptr + len, words.len - len);
        if (comma != NULL) words = slice_of(words.ptr + 1, words.len - 1);
    }
    return ERR_OK;
}

static enum err target_read(struct server *s, const struct session *n, const struct wire_follow *m, struct filter *ret,
                            struct why *why) {
    struct target t;
    if (m->flow.len == 0 && m->job.len == 0) return ERR_OK;
    if (m->flow.len > 0 && m->job.len > 0) return why_set(why, ERR_INVALID, "name a flow or a job, not both");
    enum err e = target_find(s, n, m->flow.len > 0 ? m->flow : m->job, &t, why);
    if (e != ERR_OK) return e;
    if (m->flow.len > 0 && !t.whole) return why_set(why, ERR_INVALID, "`flow` names a job: use job=");
    if (m->job.len > 0 && t.whole) return why_set(why, ERR_INVALID, "`job` names a flow: use flow=");
    *(struct target *)vec_push(&ret->targets) = t;
    return ERR_OK;
}

static enum err targets_read(struct server *s, const struct session *n, const struct wire_follow *m, struct filter *ret,
                             struct why *why) {
    const struct wire_name *names = m->targets.at;
    enum err e = ERR_OK;
    if (m->targets.count == 0) return target_read(s, n, m, ret, why);
    if (m->flow.len > 0 || m->job.len > 0)
        return why_set(why, ERR_INVALID, "`targets` stands in place of `flow` and `job`");
    for (uint32_t i = 0; e == ERR_OK && i < m->targets.count; i++) {
        struct target t;
        e = target_find(s, n, names[i].name, &t, why);
        if (e == ERR_OK) *(struct target *)vec_push(&ret->targets) = t;
    }
    return e;
}

static enum err filter_read(struct server *s, const struct session *n, const struct wire_follow *m, struct filter *ret,
                            struct why *why) {
    const struct wire_name *types = m->type.at;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < m->type.count; i++) e = kinds_read(types[i].name, ret, why);
    if (e == ERR_OK) e = targets_read(s, n, m, ret, why);
    if (e != ERR_OK) return e;
    if (m->type.count == 0) {
        ret->kinds = FILTER_ALL_KINDS;
        ret->metrics = ret->targets.count == 0;
    }
    /* They are numbers of all tenants. */
    ret->metrics = ret->metrics && role_may(n->who.roles, WIRE_STATS) && n->who.tenant[0] == 0;
    if (n->who.tenant[0] != 0) ret->tenant = bytes_new(slice_str(n->who.tenant));
    return ERR_OK;
}

/* ---- joining ---- */

static struct position ring_position(const struct event_ring *d, uint64_t at) {
    const struct effect *e = &d->ring[at % EVENT_RING_SIZE];
    return (struct position){e->lsn, e->ordinal};
}

bool subscribers_rejoin(struct server *s, struct subscriber *f) {
    const struct event_ring *d = event_ring_of(s);
    struct position before = {d->before_lsn, d->before_ordinal};
    if (position_is_after(before, f->after)) return false;
    uint64_t low = d->first, high = d->next;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (position_is_after(ring_position(d, middle), f->after))
            high = middle;
        else
            low = middle + 1;
    }
    f->at = low;
    f->is_behind = false;
    subscribers_of(s)->has_more |= low < d->next;
    return true;
}

/* What comes next for it is no longer in the ring: it is told by the archive, or not at all. */
static void fall_behind(struct server *s, struct subscriber *f) {
    if (!f->is_live_only) {
        f->is_behind = true;
        return;
    }
    f->at = event_ring_of(s)->first;
    f->has_gap = true;
    subscribers_of(s)->has_more = true;
}

/* A position that this journal never had is of another one: what there is begins now. */
static void start_at(struct server *s, struct subscriber *f, bool resumes, struct position since) {
    uint64_t now = engine_lsn(server_shard(s)->engine);
    f->since_lsn = now;
    f->after = resumes && since.lsn <= now ? since : position_end_of(now);
    if (!subscribers_rejoin(s, f)) fall_behind(s, f);
}

static enum err since_read(const struct wire_follow *m, bool *ret_given, struct position *ret, struct why *why) {
    *ret_given = m->since.len > 0;
    if (m->since.len == 0 || position_read(m->since, ret)) return ERR_OK;
    return why_set(why, ERR_INVALID, "`since` is the position of an event, like 1234.0");
}

struct state_events {
    struct server *s;
    struct subscriber *f;
};

static void state_event(void *ctx, const struct job_view *job) {
    struct state_events *x = ctx;
    struct event_blocks *to = &x->f->state;
    if (to->next - to->first >= STATE_EVENTS_MAX) return;
    struct event_view n = {.kind = EVENT_JOB, .flow = job->ref.flow.v, .ordinal = job->ref.ordinal};
    if (x->f->filter.tenant != NULL) n.tenant = bytes_slice(x->f->filter.tenant); /* no target is of another */
    arena_reset(&x->s->frame_arena);
    n.event = (struct wire_event){
        .lsn = x->f->since_lsn,
        .ordinal = UINT32_MAX, /* behind all of that record: who resumes from here hears what follows */
        .time_ms = job->since.ms,
        .target = server_view_job_name(x->s, job),
        .to = slice_str(job_state_word(job->state)),
        .attempt = job->attempt};
    event_blocks_push(to, &n);
}

/* The present state is taken now and sent when it is durable: by then there may be a later one, which is not. */
static void take_state(struct server *s, struct subscriber *f) {
    struct state_events x = {s, f};
    for (uint32_t i = 0; i < f->filter.targets.count; i++) {
        const struct target *t = vec_at(&f->filter.targets, i);
        struct job_view job;
        if (t->whole)
            view_each_job(server_state(s), t->job.flow, state_event, &x);
        else if (view_job(server_state(s), t->job, &job))
            state_event(&x, &job);
    }
}

/* Positions in a stream of HTTP rise, so that its client can resume from each; a state has none between the events. */
static enum err state_first_check(const struct subscriber *f, struct why *why) {
    if (!f->is_native)
        return why_set(why, ERR_INVALID, "`state_first` is of the native protocol: GET the flow after `hello`");
    if (f->filter.targets.count == 0)
        return why_set(why, ERR_INVALID, "`state_first` needs `targets`, a flow or a job");
    return ERR_OK;
}

static void add(struct server *s, struct request *r, const struct wire_follow *m, bool is_live_only) {
    struct session *n = r->session;
    struct subscriber f = {.conn = n->conn,
                           .request = r->id,
                           .is_native = n->dialect->events == NULL,
                           .is_once = m->once,
                           .is_live_only = is_live_only};
    struct position since = {0};
    struct why why = {{0}};
    bool resumes = false;
    if (subscribers_of(s)->followers.count >= FOLLOWERS_MAX) {
        session_busy(s, n, r->id, "too many clients follow events", 1000);
        return;
    }
    vec_init(&f.filter.targets, sizeof(struct target));
    event_blocks_init(&f.state);
    enum err e = since_read(m, &resumes, &since, &why);
    if (e == ERR_OK) e = filter_read(s, n, m, &f.filter, &why);
    if (e == ERR_OK && m->state_first) e = state_first_check(&f, &why);
    if (e != ERR_OK) {
        subscriber_fini(&f);
        call_fail(s, r, e, why.text);
        return;
    }
    if (!f.is_native) f.form = n->dialect->events->form(n);
    start_at(s, &f, resumes, since);
    if (m->state_first) take_state(s, &f);
    if (subscribers_of(s)->followers.count == 0) { /* nobody listened meanwhile */
        subscribers_of(s)->tick_ms = subscribers_of(s)->ping_ms = s->now_ms;
        event_blocks_clear(&subscribers_of(s)->blocks, event_ring_of(s)->next);
    }
    *(struct subscriber *)vec_push(&subscribers_of(s)->followers) = f;
    part_wake(server_shard(s), subscribers_slot);
}

HANDLER(subscribers_add) {
    add(s, r, r->message, false);
}

/* SUBSCRIBE of clients of earlier versions. */
HANDLER(subscribers_add_live) {
    const struct wire_subscribe *m = r->message;
    struct wire_follow as_follow = {.targets = m->targets, .state_first = m->state_first && m->targets.count > 0};
    char since[POSITION_TEXT_BYTES];
    if (m->after_lsn != 0 || m->from_start)
        as_follow.since = position_text((struct position){m->after_lsn, m->after_ordinal}, since);
    add(s, r, &as_follow, true);
}

static void leave(struct subscribers *h, uint32_t i) {
    subscriber_fini(subscriber_at(h, i));
    *subscriber_at(h, i) = *subscriber_at(h, h->followers.count - 1);
    h->followers.count--;
}

static void conn_gone(struct shard *shard, void *own, conn_id conn) {
    (void)own;
    struct server *s = shard->server;
    struct subscribers *h = subscribers_of(s);
    for (uint32_t i = 0; i < h->followers.count;)
        if (subscriber_at(h, i)->conn.v == conn.v)
            leave(h, i);
        else
            i++;
}

/* ---- sending ---- */

static void send_text(struct server *s, const struct subscriber *f, const char *type, const struct position *at,
                      struct slice text) {
    struct session *n = session_of(s, f->conn);
    buf_clear(&subscribers_of(s)->out);
    event_frame_put(f->form, type, at, text, &subscribers_of(s)->out);
    if (n != NULL && subscribers_of(s)->out.len > 0) session_send_raw(s, n, buf_slice(&subscribers_of(s)->out));
}

bool subscribers_may_send(struct server *s, const struct subscriber *f) {
    const struct session *n = session_of(s, f->conn);
    return f->is_greeted && n != NULL && (f->is_native || !n->dialect->events->is_ending(n)) &&
           s->world.net->ops->unsent(s->world.net, f->conn) <= UNSENT_MAX;
}

static void send_frame(struct server *s, const struct subscriber *f, const struct wire_events *m) {
    session_send(s, session_of(s, f->conn), WIRE_EVENTS, FRAME_ANSWER | FRAME_MORE, f->request, m);
}

static size_t send_native(struct server *s, const struct subscriber *f, const struct event_block *b, uint32_t first) {
    arena_reset(&s->frame_arena);
    struct wire_event *list = ARENA_ARRAY(&s->frame_arena, struct wire_event, EVENT_BLOCK_EVENTS);
    uint32_t count = 0;
    for (uint32_t i = first; i < event_block_count(b); i++)
        if (filter_takes(&f->filter, event_block_at(b, i))) list[count++] = event_block_at(b, i)->event;
    struct wire_events m = {.events = {list, count}};
    if (count > 0) send_frame(s, f, &m);
    return s->out.len;
}

static size_t send_range(struct server *s, struct session *n, const struct subscriber *f, struct event_block *b,
                         uint32_t first, uint32_t end) {
    struct slice bytes = event_block_bytes(b, f->form, first, end);
    if (bytes.len > 0) session_send_raw(s, n, bytes);
    return bytes.len;
}

static size_t send_some(struct server *s, struct session *n, const struct subscriber *f, struct event_block *b,
                        uint32_t first) {
    size_t sent = 0;
    uint32_t count = event_block_count(b);
    while (first < count) {
        uint32_t end = first;
        while (end < count && filter_takes(&f->filter, event_block_at(b, end))) end++;
        sent += send_range(s, n, f, b, first, end);
        first = end + 1;
    }
    return sent;
}

static size_t send_block(struct server *s, const struct subscriber *f, struct event_block *b, uint32_t first) {
    struct session *n = session_of(s, f->conn);
    if (f->is_native) return send_native(s, f, b, first);
    if (takes_all(&f->filter)) return send_range(s, n, f, b, first, event_block_count(b));
    return send_some(s, n, f, b, first);
}

size_t subscribers_send(struct server *s, struct subscriber *f, struct event_block *b, uint32_t first) {
    uint32_t count = event_block_count(b);
    while (first < count && !position_is_after(event_view_position(event_block_at(b, first)), f->after)) first++;
    if (first == count) return 0;
    size_t sent = send_block(s, f, b, first);
    f->after = event_block_last(b);
    return sent;
}

static void say_hello(struct server *s, const struct subscriber *f) {
    struct session *n = session_of(s, f->conn);
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    n->dialect->events->begin(s, n);
    event_blocks_wording(f->form)->hello(&text, f->after, s->world.clock->wall(s->world.clock).ms);
    send_text(s, f, "hello", &f->after, buf_slice(&text));
    buf_fini(&text);
}

static void greet(struct server *s, struct subscriber *f) {
    struct wire_events hello = {0};
    f->is_greeted = true;
    if (f->is_native)
        send_frame(s, f, &hello);
    else
        say_hello(s, f);
    for (uint32_t i = 0; i < f->state.blocks.count; i++)
        (void)send_block(s, f, *(struct event_block *const *)vec_at(&f->state.blocks, i), 0);
    event_blocks_clear(&f->state, 1);
}

static void greet_new(struct server *s) {
    for (uint32_t i = 0; i < subscribers_of(s)->followers.count; i++) {
        struct subscriber *f = subscriber_at(subscribers_of(s), i);
        if (!f->is_greeted && engine_durable_lsn(server_shard(s)->engine) >= f->since_lsn) greet(s, f);
    }
}

void subscribers_tell_gap(struct server *s, struct subscriber *f, uint64_t lsn) {
    if (!position_is_after(position_end_of(lsn), f->after)) return;
    uint64_t records = lsn - f->after.lsn;
    subscribers_of(s)->dropped += records;
    f->after = position_end_of(lsn);
    if (f->is_native) {
        send_frame(s, f, &(struct wire_events){.gap = true});
        return;
    }
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    event_blocks_wording(f->form)->gap(&text, f->after, records);
    send_text(s, f, "gap", &f->after, buf_slice(&text));
    buf_fini(&text);
}

/* ---- from the ring ---- */

static void notice_of(struct server *s, uint64_t at, struct event_view *ret) {
    struct state_view l = {server_state(s), s->options.shard, &s->frame_arena, &s->zones};
    arena_reset(&s->frame_arena);
    event_view_make(&l, &event_ring_of(s)->ring[at % EVENT_RING_SIZE], ret);
}

static bool anyone_keeps_up(const struct subscribers *h) {
    for (uint32_t i = 0; i < h->followers.count; i++)
        if (!subscriber_at(h, i)->is_behind) return true;
    return false;
}

/* Whoever needs what the ring no longer has is behind; if that is everyone, nothing has to be put into words here. */
static void fill_tape(struct server *s) {
    struct subscribers *h = subscribers_of(s);
    const struct event_ring *d = event_ring_of(s);
    for (uint32_t i = 0; i < h->followers.count; i++) {
        struct subscriber *f = subscriber_at(h, i);
        if (!f->is_behind && f->at < d->first) fall_behind(s, f);
    }
    if (!anyone_keeps_up(h)) event_blocks_clear(&h->blocks, d->next);
    if (h->blocks.next < d->first) event_blocks_clear(&h->blocks, d->first);
    while (h->blocks.next < d->next) {
        struct event_view n;
        notice_of(s, h->blocks.next, &n);
        event_blocks_push(&h->blocks, &n);
    }
}

/* For one who resumes with what the tape no longer has and the ring still does. */
static struct event_block *block_of_ring(struct server *s, uint64_t at, uint64_t end) {
    struct event_block *b = event_block_new();
    for (; at < end && !event_block_is_full(b); at++) {
        struct event_view n;
        notice_of(s, at, &n);
        event_block_add(b, &n);
    }
    return b;
}

static void deliver(struct server *s, struct subscriber *f, size_t *budget) {
    struct subscribers *h = subscribers_of(s);
    if (f->has_gap && subscribers_may_send(s, f)) {
        send_frame(s, f, &(struct wire_events){.gap = true});
        f->has_gap = false;
    }
    while (f->at < h->blocks.next && subscribers_may_send(s, f)) {
        uint32_t first = 0;
        struct event_block *b = event_blocks_find(&h->blocks, f->at, &first), *own = NULL;
        if (*budget == 0) {
            h->has_more = true;
            return;
        }
        if (b == NULL) b = own = block_of_ring(s, f->at, h->blocks.first);
        size_t sent = subscribers_send(s, f, b, first);
        f->at += event_block_count(b) - first;
        *budget -= sent < *budget ? sent : *budget;
        event_block_free(own);
    }
    if (!f->is_live_only && h->blocks.next - f->at > (uint64_t)s->limits->event_queue) f->is_behind = true;
}

static void deliver_all(struct server *s) {
    struct subscribers *h = subscribers_of(s);
    size_t budget = TURN_BYTES_MAX;
    uint64_t least = h->blocks.next;
    uint32_t count = h->followers.count;
    h->has_more = false;
    for (uint32_t i = 0; i < count; i++) {
        struct subscriber *f = subscriber_at(h, (h->turn + i) % count);
        if (f->is_behind) continue;
        deliver(s, f, &budget);
        if (!f->is_behind && f->at < least) least = f->at;
    }
    h->turn = count > 0 ? (h->turn + 1) % count : 0;
    event_blocks_trim(&h->blocks, least);
}

/* What has happened by now is told before the last frame: nobody who stops at the end of a flow misses that. */
static bool stop(struct shard *shard, void *own, conn_id conn, uint32_t request) {
    struct subscribers *h = own;
    struct server *s = shard->server;
    for (uint32_t i = 0; i < h->followers.count; i++) {
        struct subscriber *f = subscriber_at(h, i);
        if (f->conn.v != conn.v || f->request != request) continue;
        size_t budget = TURN_BYTES_MAX;
        struct wire_events last = {0};
        fill_tape(s);
        if (!f->is_behind) deliver(s, f, &budget);
        session_answer(s, session_of(s, conn), request, WIRE_EVENTS, &last);
        leave(h, i);
        return true;
    }
    return false;
}

/* Those who wanted to hear up to a certain record, and have. */
static void let_go(struct server *s) {
    struct subscribers *h = subscribers_of(s);
    const struct event_ring *d = event_ring_of(s);
    for (uint32_t i = h->followers.count; i-- > 0;) {
        struct subscriber *f = subscriber_at(h, i);
        if (!f->is_once || !f->is_greeted || f->is_behind) continue;
        if (f->at < d->next && ring_position(d, f->at).lsn <= f->since_lsn) continue;
        struct session *n = session_of(s, f->conn);
        if (f->is_native)
            (void)stop(server_shard(s), subscribers_of(s), f->conn, f->request);
        else
            n->dialect->events->end(s, n, "that was all");
    }
}

/* ---- time ---- */

static int64_t pace_ms(const struct subscribers *h) {
    int64_t ms = h->followers.count / PACE_FOLLOWERS;
    return ms < PACE_MS_MAX ? ms : PACE_MS_MAX;
}

static bool anyone_counts(const struct subscribers *h) {
    for (uint32_t i = 0; i < h->followers.count; i++)
        if (subscriber_at(h, i)->filter.metrics) return true;
    return false;
}

static void tick_make(struct server *s) {
    struct subscribers *h = subscribers_of(s);
    h->tick_ms = s->now_ms;
    h->tick_lsn = engine_lsn(server_shard(s)->engine) + 1; /* never 0 */
    arena_reset(&s->frame_arena);
    struct sample now;
    sample_take(s, &now);
    struct tlv_list numbers = metric_stats(&now, &s->frame_arena);
    for (uint32_t i = 0; i < EVENT_FORM_COUNT; i++) {
        buf_clear(&h->ticks[i]);
        event_blocks_wording((enum event_form)i)
            ->metrics(&h->ticks[i], s->world.clock->wall(s->world.clock).ms, numbers.at, numbers.count);
    }
}

/* Numbers of the present state leave when that is durable. They are no record: one who is late gets the next ones. */
static void tick(struct server *s) {
    struct subscribers *h = subscribers_of(s);
    if (h->tick_lsn == 0 && s->now_ms >= h->tick_ms + TICK_MS && anyone_counts(h)) tick_make(s);
    if (h->tick_lsn == 0 || engine_durable_lsn(server_shard(s)->engine) + 1 < h->tick_lsn) return;
    h->tick_lsn = 0;
    for (uint32_t i = 0; i < h->followers.count; i++) {
        const struct subscriber *f = subscriber_at(h, i);
        if (!f->is_native && f->filter.metrics && subscribers_may_send(s, f))
            send_text(s, f, "metrics", NULL, buf_slice(&h->ticks[f->form]));
    }
}

static void ping(struct server *s) {
    struct subscribers *h = subscribers_of(s);
    if (s->now_ms < h->ping_ms + PING_MS) return;
    h->ping_ms = s->now_ms;
    for (uint32_t i = 0; i < h->followers.count; i++) {
        const struct subscriber *f = subscriber_at(h, i);
        struct session *n = session_of(s, f->conn);
        if (n != NULL && !f->is_native && f->is_greeted) n->dialect->events->ping(s, n, PING_MS);
    }
}

static void serve(struct server *s, struct subscribers *all) {
    if (all->followers.count == 0) {
        if (all->blocks.blocks.count > 0) event_blocks_clear(&all->blocks, event_ring_of(s)->next);
        backfill_step(s);
        return;
    }
    greet_new(s);
    if (all->has_more || s->now_ms >= all->sent_ms + pace_ms(all)) {
        all->sent_ms = s->now_ms;
        fill_tape(s);
        deliver_all(s);
    }
    backfill_step(s);
    let_go(s);
    tick(s);
    ping(s);
}

/* Whoever follows is to be told, and the journal may be read for it: a turn in every pass. */
static void flush(struct shard *h, void *own) {
    struct subscribers *all = own;
    serve(h->server, all);
    part_attend(h, subscribers_slot, all->followers.count > 0 || backfill_is_at_work(h->server));
}

static int64_t next_due(const struct shard *h, const void *own) {
    const struct subscribers *all = own;
    struct server *s = h->server;
    if (all->followers.count == 0) return TIME_NEVER;
    int64_t next = all->ping_ms + PING_MS;
    int64_t pace = all->blocks.next < event_ring_of(s)->next ? all->sent_ms + pace_ms(all) : TIME_NEVER;
    int64_t beat = anyone_counts(all) && all->tick_lsn == 0 ? all->tick_ms + TICK_MS : TIME_NEVER;
    int64_t past = backfill_next(s);
    if (all->has_more) return s->now_ms;
    if (pace < next) next = pace;
    if (beat < next) next = beat;
    return past < next ? past : next;
}

const struct server_part subscribers_part = {.name = "subscribers",
                                             .scope = PART_OF_SHARD,
                                             .bytes = sizeof(struct subscribers),
                                             .init = init,
                                             .fini = fini,
                                             .flush = flush,
                                             .next_due = next_due,
                                             .conn_gone = conn_gone,
                                             .stop = stop};
