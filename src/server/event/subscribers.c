/* subscribers.c: see subscribers.h. */
#include "subscribers.h"

#include "call.h"
#include "event_ring.h"
#include "panic.h"
#include "requests.h"
#include "route.h"
#include "server_impl.h"
#include "session.h"
#include "server_view.h"
#include "target.h"
#include "web_stream.h"

#define FOLLOWERS_MAX 10000u
#define UNSENT_MAX 65536u                /* that a follower has not taken; beyond it, it is sent nothing */
#define TURN_BYTES_MAX ((size_t)1 << 20) /* to all followers in one turn: a few milliseconds, with sending */
#define PACE_FOLLOWERS 4u                /* each so many of them let the others wait a millisecond */
#define PACE_MS_MAX 50
#define TICK_MS 1000
#define PING_MS 20000
#define TEXT_BYTES_MAX ((size_t)1 << 20)

static struct follower *follower_at(const struct herald *h, uint32_t i) {
    return vec_at(&h->followers, i);
}

void herald_init(struct server *s) {
    struct herald *h = &s->herald;
    vec_init(&h->followers, sizeof(struct follower));
    tape_init(&h->tape);
    for (uint32_t i = 0; i < TAPE_FORM_COUNT; i++) buf_init(&h->ticks[i], TEXT_BYTES_MAX);
    buf_init(&h->out, TEXT_BYTES_MAX);
    catchup_init(s);
}

static void follower_fini(struct follower *f) {
    bytes_free(f->filter.tenant);
}

void herald_fini(struct server *s) {
    struct herald *h = &s->herald;
    catchup_fini(s);
    for (uint32_t i = 0; i < h->followers.count; i++) follower_fini(follower_at(h, i));
    vec_fini(&h->followers);
    tape_fini(&h->tape);
    for (uint32_t i = 0; i < TAPE_FORM_COUNT; i++) buf_fini(&h->ticks[i]);
    buf_fini(&h->out);
}

/* ---- whom it concerns ---- */

bool filter_takes(const struct filter *f, const struct notice *n) {
    if (!(f->kinds & 1u << n->kind)) return false;
    if (n->kind == EVENT_WORKER) return f->flow == 0 && f->tenant == NULL;
    if (f->tenant != NULL && !slice_eq(n->tenant, bytes_slice(f->tenant))) return false;
    if (f->flow != 0 && n->flow != f->flow) return false;
    return f->ordinal == UINT32_MAX || n->ordinal == f->ordinal;
}

static bool takes_all(const struct filter *f) {
    return f->kinds == FILTER_ALL_KINDS && f->flow == 0 && f->tenant == NULL;
}

/* "job,flow" */
static enum err kinds_read(struct slice words, struct filter *ret, struct why *why) {
    while (words.len > 0) {
        const uint8_t *comma = memchr(words.ptr, ',', words.len);
        size_t len = comma != NULL ? (size_t)(comma - words.ptr) : words.len;
        struct slice word = slice_of(words.ptr, len);
        uint32_t kind = notice_kind_by_word(word);
        if (slice_eq(word, SLICE("metrics")))
            ret->metrics = true;
        else if (kind != UINT32_MAX)
            ret->kinds |= 1u << kind;
        else
            return why_set(why, ERR_INVALID, "there are no events of type %.*s: flow, job, worker, service, metrics",
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
    if (m->flow.len > 0 && m->job.len > 0)
        return why_set(why, ERR_INVALID, "events of a flow or of a job, not of both");
    enum err e = target_find(s, n, m->flow.len > 0 ? m->flow : m->job, &t, why);
    if (e != ERR_OK) return e;
    if (m->flow.len > 0 && !t.whole) return why_set(why, ERR_INVALID, "`flow` names a job: say job=");
    if (m->job.len > 0 && t.whole) return why_set(why, ERR_INVALID, "`job` names a flow: say flow=");
    ret->flow = t.job.flow.v;
    if (!t.whole) ret->ordinal = t.job.ordinal;
    return ERR_OK;
}

static enum err filter_read(struct server *s, const struct session *n, const struct wire_follow *m, struct filter *ret,
                            struct why *why) {
    const struct wire_name *types = m->type.at;
    enum err e = ERR_OK;
    *ret = (struct filter){.ordinal = UINT32_MAX};
    for (uint32_t i = 0; e == ERR_OK && i < m->type.count; i++) e = kinds_read(types[i].name, ret, why);
    if (e == ERR_OK) e = target_read(s, n, m, ret, why);
    if (e != ERR_OK) return e;
    if (m->type.count == 0) {
        ret->kinds = FILTER_ALL_KINDS;
        ret->metrics = ret->flow == 0;
    }
    /* They are numbers of all tenants. */
    ret->metrics = ret->metrics && role_may(n->who.roles, WIRE_STATS) && n->who.tenant[0] == 0;
    if (n->who.tenant[0] != 0) ret->tenant = bytes_new(slice_str(n->who.tenant));
    return ERR_OK;
}

/* ---- joining ---- */

static struct position ring_position(const struct feed *d, uint64_t at) {
    const struct effect *e = &d->ring[at % FEED_RING];
    return (struct position){e->lsn, e->ordinal};
}

bool herald_rejoin(struct server *s, struct follower *f) {
    const struct feed *d = &s->feed;
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
    s->herald.has_more |= low < d->next;
    return true;
}

/* A position that this journal never had is of another one: what there is begins now. */
static void start_at(struct server *s, struct follower *f, bool resumes, struct position since) {
    uint64_t now = engine_lsn(s->engine);
    f->since_lsn = now;
    f->after = resumes && since.lsn <= now ? since : position_end_of(now);
    if (!herald_rejoin(s, f)) f->is_behind = true;
}

static enum err since_read(const struct session *n, const struct wire_follow *m, bool *ret_given, struct position *ret,
                           struct why *why) {
    struct slice text = m->since;
    const struct slice *last = n->web != NULL ? http_header(&n->web->in.request, "last-event-id") : NULL;
    if (last != NULL && last->len > 0) text = *last; /* a browser that comes back knows better than its address */
    *ret_given = text.len > 0;
    if (text.len == 0 || position_read(text, ret)) return ERR_OK;
    return why_set(why, ERR_INVALID, "`since` is the position of an event, like 1234.0");
}

void herald_follow(struct server *s, struct request *r) {
    const struct wire_follow *m = r->message;
    struct session *n = r->session;
    struct follower f = {.conn = n->conn, .request = r->id, .is_native = n->web == NULL, .is_once = m->once};
    struct position since = {0};
    struct why why = {{0}};
    bool resumes = false;
    if (s->herald.followers.count >= FOLLOWERS_MAX) {
        session_busy(s, n, r->id, "too many follow events", 1000);
        return;
    }
    enum err e = since_read(n, m, &resumes, &since, &why);
    if (e == ERR_OK) e = filter_read(s, n, m, &f.filter, &why);
    if (e != ERR_OK) {
        call_fail(s, r, e, why.text);
        return;
    }
    if (!f.is_native) f.form = web_stream_form(n);
    start_at(s, &f, resumes, since);
    if (s->herald.followers.count == 0) { /* nobody listened meanwhile */
        s->herald.tick_ms = s->herald.ping_ms = s->now_ms;
        tape_clear(&s->herald.tape, s->feed.next);
    }
    *(struct follower *)vec_push(&s->herald.followers) = f;
}

static void leave(struct herald *h, uint32_t i) {
    follower_fini(follower_at(h, i));
    *follower_at(h, i) = *follower_at(h, h->followers.count - 1);
    h->followers.count--;
}

bool herald_stop(struct server *s, conn_id conn, uint32_t request) {
    struct herald *h = &s->herald;
    for (uint32_t i = 0; i < h->followers.count; i++) {
        const struct follower *f = follower_at(h, i);
        if (f->conn.v != conn.v || f->request != request) continue;
        struct wire_events last = {0};
        session_answer(s, session_of(s, conn), request, WIRE_EVENTS, &last);
        leave(h, i);
        return true;
    }
    return false;
}

void herald_forget(struct server *s, conn_id conn) {
    struct herald *h = &s->herald;
    for (uint32_t i = 0; i < h->followers.count;)
        if (follower_at(h, i)->conn.v == conn.v)
            leave(h, i);
        else
            i++;
}

/* ---- sending ---- */

static void send_text(struct server *s, const struct follower *f, const char *type, const struct position *at,
                      struct slice text) {
    struct session *n = session_of(s, f->conn);
    buf_clear(&s->herald.out);
    tape_frame_put(f->form, type, at, text, &s->herald.out);
    if (n != NULL && s->herald.out.len > 0) session_send_raw(s, n, buf_slice(&s->herald.out));
}

static void greet(struct server *s, struct follower *f) {
    struct session *n = session_of(s, f->conn);
    f->is_greeted = true;
    if (f->is_native) {
        struct wire_events hello = {0};
        session_send(s, n, WIRE_EVENTS, FRAME_ANSWER | FRAME_MORE, f->request, &hello);
        return;
    }
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    web_stream_begin(s, n);
    tape_dialect(f->form)->hello(&text, f->after, s->world.clock->wall(s->world.clock).ms);
    send_text(s, f, "hello", &f->after, buf_slice(&text));
    buf_fini(&text);
}

static void greet_new(struct server *s) {
    for (uint32_t i = 0; i < s->herald.followers.count; i++) {
        struct follower *f = follower_at(&s->herald, i);
        if (!f->is_greeted && engine_durable_lsn(s->engine) >= f->since_lsn) greet(s, f);
    }
}

bool herald_may_send(struct server *s, const struct follower *f) {
    const struct session *n = session_of(s, f->conn);
    return f->is_greeted && n != NULL && (n->web == NULL || !n->web->ending) &&
           s->world.net->ops->unsent(s->world.net, f->conn) <= UNSENT_MAX;
}

static size_t send_native(struct server *s, struct session *n, const struct follower *f, const struct tape_block *b,
                          uint32_t first) {
    arena_reset(&s->show);
    struct wire_event *list = ARENA_ARRAY(&s->show, struct wire_event, TAPE_BLOCK_EVENTS);
    uint32_t count = 0;
    for (uint32_t i = first; i < tape_block_count(b); i++)
        if (filter_takes(&f->filter, tape_block_at(b, i))) list[count++] = tape_block_at(b, i)->event;
    struct wire_events m = {.events = {list, count}};
    if (count > 0) session_send(s, n, WIRE_EVENTS, FRAME_ANSWER | FRAME_MORE, f->request, &m);
    return s->out.len;
}

static size_t send_range(struct server *s, struct session *n, const struct follower *f, struct tape_block *b,
                         uint32_t first, uint32_t end) {
    struct slice bytes = tape_block_bytes(b, f->form, first, end);
    if (bytes.len > 0) session_send_raw(s, n, bytes);
    return bytes.len;
}

static size_t send_some(struct server *s, struct session *n, const struct follower *f, struct tape_block *b,
                        uint32_t first) {
    size_t sent = 0;
    uint32_t count = tape_block_count(b);
    while (first < count) {
        uint32_t end = first;
        while (end < count && filter_takes(&f->filter, tape_block_at(b, end))) end++;
        sent += send_range(s, n, f, b, first, end);
        first = end + 1;
    }
    return sent;
}

size_t herald_send(struct server *s, struct follower *f, struct tape_block *b, uint32_t first) {
    struct session *n = session_of(s, f->conn);
    uint32_t count = tape_block_count(b);
    size_t sent = 0;
    while (first < count && !position_is_after(notice_position(tape_block_at(b, first)), f->after)) first++;
    if (first == count) return 0;
    if (f->is_native)
        sent = send_native(s, n, f, b, first);
    else if (takes_all(&f->filter))
        sent = send_range(s, n, f, b, first, count);
    else
        sent = send_some(s, n, f, b, first);
    f->after = tape_block_last(b);
    return sent;
}

void herald_tell_gap(struct server *s, struct follower *f, uint64_t lsn) {
    if (!position_is_after(position_end_of(lsn), f->after)) return;
    uint64_t records = lsn - f->after.lsn;
    s->herald.dropped += records;
    f->after = position_end_of(lsn);
    if (f->is_native) {
        struct wire_events m = {.gap = true};
        session_send(s, session_of(s, f->conn), WIRE_EVENTS, FRAME_ANSWER | FRAME_MORE, f->request, &m);
        return;
    }
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    tape_dialect(f->form)->gap(&text, f->after, records);
    send_text(s, f, "gap", &f->after, buf_slice(&text));
    buf_fini(&text);
}

/* ---- from the ring ---- */

static void notice_of(struct server *s, uint64_t at, struct notice *ret) {
    struct lens l = {server_state(s), s->options.shard, &s->show};
    arena_reset(&s->show);
    notice_make(&l, &s->feed.ring[at % FEED_RING], ret);
}

static bool anyone_keeps_up(const struct herald *h) {
    for (uint32_t i = 0; i < h->followers.count; i++)
        if (!follower_at(h, i)->is_behind) return true;
    return false;
}

/* Whoever needs what the ring no longer has is behind; if that is everyone, nothing has to be put into words here. */
static void fill_tape(struct server *s) {
    struct herald *h = &s->herald;
    const struct feed *d = &s->feed;
    for (uint32_t i = 0; i < h->followers.count; i++) {
        struct follower *f = follower_at(h, i);
        if (!f->is_behind && f->at < d->first) f->is_behind = true;
    }
    if (!anyone_keeps_up(h)) tape_clear(&h->tape, d->next);
    if (h->tape.next < d->first) tape_clear(&h->tape, d->first);
    while (h->tape.next < d->next) {
        struct notice n;
        notice_of(s, h->tape.next, &n);
        tape_push(&h->tape, &n);
    }
}

/* For one who resumes with what the tape no longer has and the ring still does. */
static struct tape_block *block_of_ring(struct server *s, uint64_t at, uint64_t end) {
    struct tape_block *b = tape_block_new();
    for (; at < end && !tape_block_is_full(b); at++) {
        struct notice n;
        notice_of(s, at, &n);
        tape_block_add(b, &n);
    }
    return b;
}

static void deliver(struct server *s, struct follower *f, size_t *budget) {
    struct herald *h = &s->herald;
    while (f->at < h->tape.next && herald_may_send(s, f)) {
        uint32_t first = 0;
        struct tape_block *b = tape_find(&h->tape, f->at, &first), *own = NULL;
        if (*budget == 0) {
            h->has_more = true;
            return;
        }
        if (b == NULL) b = own = block_of_ring(s, f->at, h->tape.first);
        size_t sent = herald_send(s, f, b, first);
        f->at += tape_block_count(b) - first;
        *budget -= sent < *budget ? sent : *budget;
        tape_block_free(own);
    }
    if (h->tape.next - f->at > (uint64_t)s->limits->event_queue) f->is_behind = true;
}

static void deliver_all(struct server *s) {
    struct herald *h = &s->herald;
    size_t budget = TURN_BYTES_MAX;
    uint64_t least = h->tape.next;
    uint32_t count = h->followers.count;
    h->has_more = false;
    for (uint32_t i = 0; i < count; i++) {
        struct follower *f = follower_at(h, (h->turn + i) % count);
        if (f->is_behind) continue;
        deliver(s, f, &budget);
        if (!f->is_behind && f->at < least) least = f->at;
    }
    h->turn = count > 0 ? (h->turn + 1) % count : 0;
    tape_trim(&h->tape, least);
}

/* Those who wanted to hear up to a certain record, and have. */
static void let_go(struct server *s) {
    struct herald *h = &s->herald;
    const struct feed *d = &s->feed;
    for (uint32_t i = h->followers.count; i-- > 0;) {
        struct follower *f = follower_at(h, i);
        if (!f->is_once || !f->is_greeted || f->is_behind) continue;
        if (f->at < d->next && ring_position(d, f->at).lsn <= f->since_lsn) continue;
        struct session *n = session_of(s, f->conn);
        if (f->is_native)
            (void)herald_stop(s, f->conn, f->request);
        else
            web_stream_end(s, n, WEBSOCKET_NORMAL, "that was all");
    }
}

/* ---- time ---- */

static int64_t pace_ms(const struct herald *h) {
    int64_t ms = h->followers.count / PACE_FOLLOWERS;
    return ms < PACE_MS_MAX ? ms : PACE_MS_MAX;
}

static bool anyone_counts(const struct herald *h) {
    for (uint32_t i = 0; i < h->followers.count; i++)
        if (follower_at(h, i)->filter.metrics) return true;
    return false;
}

static void tick_make(struct server *s) {
    struct herald *h = &s->herald;
    h->tick_ms = s->now_ms;
    h->tick_lsn = engine_lsn(s->engine) + 1; /* never 0 */
    arena_reset(&s->show);
    struct sample now;
    sample_take(s, &now);
    struct tlv_list numbers = metric_stats(&now, &s->show);
    for (uint32_t i = 0; i < TAPE_FORM_COUNT; i++) {
        buf_clear(&h->ticks[i]);
        tape_dialect((enum tape_form)i)
            ->metrics(&h->ticks[i], s->world.clock->wall(s->world.clock).ms, numbers.at, numbers.count);
    }
}

/* Numbers of the present state leave when that is durable. They are no record: one who is late gets the next ones. */
static void tick(struct server *s) {
    struct herald *h = &s->herald;
    if (h->tick_lsn == 0 && s->now_ms >= h->tick_ms + TICK_MS && anyone_counts(h)) tick_make(s);
    if (h->tick_lsn == 0 || engine_durable_lsn(s->engine) + 1 < h->tick_lsn) return;
    h->tick_lsn = 0;
    for (uint32_t i = 0; i < h->followers.count; i++) {
        const struct follower *f = follower_at(h, i);
        if (!f->is_native && f->filter.metrics && herald_may_send(s, f))
            send_text(s, f, "metrics", NULL, buf_slice(&h->ticks[f->form]));
    }
}

static void ping(struct server *s) {
    struct herald *h = &s->herald;
    if (s->now_ms < h->ping_ms + PING_MS) return;
    h->ping_ms = s->now_ms;
    for (uint32_t i = 0; i < h->followers.count; i++) {
        const struct follower *f = follower_at(h, i);
        struct session *n = session_of(s, f->conn);
        if (n != NULL && n->web != NULL && f->is_greeted) web_stream_ping(s, n, PING_MS);
    }
}

void herald_turn(struct server *s) {
    struct herald *h = &s->herald;
    if (h->followers.count == 0) {
        if (h->tape.blocks.count > 0) tape_clear(&h->tape, s->feed.next);
        catchup_turn(s);
        return;
    }
    greet_new(s);
    if (h->has_more || s->now_ms >= h->sent_ms + pace_ms(h)) {
        h->sent_ms = s->now_ms;
        fill_tape(s);
        deliver_all(s);
    }
    catchup_turn(s);
    let_go(s);
    tick(s);
    ping(s);
}

int64_t herald_next(struct server *s) {
    struct herald *h = &s->herald;
    if (h->followers.count == 0) return TIME_NEVER;
    int64_t next = h->ping_ms + PING_MS;
    int64_t pace = h->tape.next < s->feed.next ? h->sent_ms + pace_ms(h) : TIME_NEVER;
    int64_t beat = anyone_counts(h) && h->tick_lsn == 0 ? h->tick_ms + TICK_MS : TIME_NEVER;
    int64_t past = catchup_next(s);
    if (h->has_more) return s->now_ms;
    if (pace < next) next = pace;
    if (beat < next) next = beat;
    return past < next ? past : next;
}
