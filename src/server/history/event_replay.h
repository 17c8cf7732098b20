/* event_replay.h: the past told again. Events are not kept: they follow from the records, so whoever wants old ones
 * has the journal replayed by an engine of its own, from a snapshot before them on. That takes long, and is done by
 * another process (port/replay.h); here is what it does, and what its words look like to who reads them.
 *
 * Its output is a run of items, each `length (4, little-endian, of what follows) | kind (1) | what`. */
#ifndef REEVE_EVENT_REPLAY_H
#define REEVE_EVENT_REPLAY_H

#include "disk.h"
#include "event_view.h"
#include "journal.h"

struct recount;

struct recount_spec {
    struct position after; /* only events behind this one; 0 = from the beginning */
    uint64_t flow;         /* only of this flow; 0 = of everything */
    uint32_t most;         /* so many events, then it ends; 0 = all */
};

/* What goes out goes to `to`, in pieces of some ten thousand bytes. */
struct recount *recount_new(struct disk *disk, const struct recount_spec *spec, struct byte_sink *to);
void recount_free(struct recount *r);
/* Tells everything up to this record, which must be durable, then that it is there. May be called again. */
CHECKED enum err recount_upto(struct recount *r, uint64_t lsn, struct why *why);
/* The last word when something is wrong. */
CHECKED enum err recount_fail(struct recount *r, const struct why *reason, struct why *why);

/* ---- for who reads it ---- */

enum recount_kind {
    RECOUNT_NOTICE,
    RECOUNT_GAP,  /* records up to `lsn` are not in the archive any more; `records` of them were wanted */
    RECOUNT_UPTO, /* everything up to `lsn` was told */
    RECOUNT_FAILED,
    RECOUNT_KIND_COUNT
};

struct recount_item {
    enum recount_kind kind;
    struct notice notice; /* words point into the bytes */
    uint64_t lsn, records;
    struct slice text; /* why it failed */
};

#define RECOUNT_ITEM_BYTES_MAX (1u << 20)

enum recount_taken { RECOUNT_TAKEN, RECOUNT_MORE /* bytes are needed */, RECOUNT_BAD };
/* Takes one item off the front. */
enum recount_taken recount_take(struct slice *bytes, struct recount_item *ret);

#endif
