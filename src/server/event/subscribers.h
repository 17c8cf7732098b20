/* subscribers.h: events to those who follow them by HTTP (WebSocket and server-sent events) or by `follow` of native
 * v2.
 *
 * A follower is a position: in the ring of the feed while it keeps up, else in the journal, from which another process
 * tells it the past until the ring has what comes next (backfill.h). What it was sent and has not taken is bounded by
 * bytes; a follower that does not take what is sent, with more than `event_queue` events waiting for it, has fallen
 * behind. So a slow one costs the others nothing and loses nothing that the archive still has.
 *
 * Events leave when they are durable, as everything does; the first message of a stream when the state is that it was
 * asked in. With many followers they are sent to every few milliseconds, not in every pass: a write to each of them
 * would cost more than what is in it. */
#ifndef REEVE_SUBSCRIBERS_H
#define REEVE_SUBSCRIBERS_H

#include "backfill.h"
#include "event_blocks.h"
#include "net.h"
#include "server_impl.h"

struct filter {           /* whom an event concerns */
    uint32_t kinds;       /* bits of enum event_kind */
    bool metrics;         /* hears the tick */
    struct vec targets;   /* struct target; none = every flow and job */
    struct bytes *tenant; /* NULL = of all */
};

struct subscriber {
    conn_id conn;
    uint32_t request;
    bool is_native; /* frames of the wire; else `form` */
    enum event_form form;
    struct filter filter;
    struct position after; /* all up to here was sent, or does not concern it */
    uint64_t at;           /* place in the ring of what comes next, while it is not behind */
    bool is_behind;
    uint64_t since_lsn; /* nothing leaves before this is durable */
    bool is_greeted;
    bool is_once;              /* up to since_lsn, then it is let go */
    bool is_live_only;         /* what the ring no longer has is a gap: the archive is not read for it */
    bool has_gap;              /* which it was not told of yet */
    struct event_blocks state; /* of the jobs it named, as events of since_lsn: sent with the greeting */
};

struct subscribers {
    struct vec followers;       /* struct subscriber */
    struct event_blocks blocks; /* the end of the ring, as far as followers are there */
    struct position told;       /* of the last event in the ring, or before it */
    uint32_t turn;              /* who comes first: the budget of a turn may not reach everyone */
    bool has_more;              /* for someone who takes it: the budget was used up, or one has joined */
    int64_t sent_ms, tick_ms, ping_ms;
    struct buf ticks[EVENT_FORM_COUNT]; /* numbers that wait until they are durable */
    uint64_t tick_lsn;                  /* which they are with this one; 0 = there are none */
    uint64_t dropped;                   /* records that followers wanted and the archive no longer had */
    struct backfill backfill;
    struct buf out;
};

extern const uint8_t subscribers_slot;

static inline struct subscribers *subscribers_of(const struct server *s) {
    return shard_part(server_shard(s), subscribers_slot);
}

/* ---- for backfill.c ---- */

bool subscribers_may_send(struct server *s, const struct subscriber *f); /* it takes what it is sent */
/* What of a block concerns it; it is then behind the last event of it. Returns the bytes sent. */
size_t subscribers_send(struct server *s, struct subscriber *f, struct event_block *b, uint32_t first);
void subscribers_tell_gap(struct server *s, struct subscriber *f, uint64_t lsn);
/* Joins the ring, if that has what comes next. */
bool subscribers_rejoin(struct server *s, struct subscriber *f);

/* Every kind of event, and the tick. */
#define FILTER_ALL_KINDS (1u << EVENT_FLOW | 1u << EVENT_JOB | 1u << EVENT_WORKER | 1u << EVENT_SERVICE)
bool filter_takes(const struct filter *f, const struct event_view *n);

#endif
