/* event_replay.h: the past told again. Events are not kept: they follow from the records, so whoever wants old ones
 * has the journal replayed by an engine of its own, from a snapshot before them on. That takes long, and is done by
 * another process (port/replay.h); here is what it does, and what its words look like to who reads them.
 *
 * Its output is a run of items, each `length (4, little-endian, of what follows) | kind (1) | what`. */
#ifndef REEVE_EVENT_REPLAY_H
#define REEVE_EVENT_REPLAY_H

#include "event_view.h"
#include "journal.h"

struct event_replay;

struct event_replay_spec {
    struct position after; /* only events behind this one; 0 = from the beginning */
    uint64_t flow;         /* only of this flow; 0 = of everything */
    uint32_t most;         /* so many events, then it ends; 0 = all */
};

/* What goes out goes to `to`, in pieces of some ten thousand bytes. */
struct event_replay *event_replay_new(struct journal *reader, const struct event_replay_spec *spec,
                                      struct byte_sink *to);
void event_replay_free(struct event_replay *r);
/* Tells everything up to this record, which must be durable, then that it is there. May be called again. */
CHECKED enum err event_replay_upto(struct event_replay *r, uint64_t lsn, struct why *why);
/* The last word when something is wrong. */
CHECKED enum err event_replay_fail(struct event_replay *r, const struct why *reason, struct why *why);

/* ---- for who reads it ---- */

enum event_replay_kind {
    EVENT_REPLAY_EVENT,
    EVENT_REPLAY_GAP,  /* records up to `lsn` are not in the archive any more; `records` of them were wanted */
    EVENT_REPLAY_UPTO, /* everything up to `lsn` was told */
    EVENT_REPLAY_FAILED,
    EVENT_REPLAY_KIND_COUNT
};

struct event_replay_item {
    enum event_replay_kind kind;
    struct event_view notice; /* words point into the bytes */
    uint64_t lsn, records;
    struct slice text; /* why it failed */
};

#define EVENT_REPLAY_ITEM_BYTES_MAX (1u << 20)

enum event_replay_taken { EVENT_REPLAY_TAKEN, EVENT_REPLAY_MORE /* bytes are needed */, EVENT_REPLAY_BAD };
/* Takes one item off the front. */
enum event_replay_taken event_replay_take(struct slice *bytes, struct event_replay_item *ret);

#endif
