/* dialect.h: how a stream of events is worded. Whoever sends events (server/event/event_blocks.h) knows no words: it
 * asks a dialect for the text of each message and frames that. A dialect that has nothing to say at some point writes
 * nothing, and then nothing is sent. */
#ifndef REEVE_DIALECT_H
#define REEVE_DIALECT_H

#include "position.h"
#include "wire.h"

struct dialect {
    const char *word; /* of the dialect itself */
    /* What happened. */
    void (*event)(struct buf *out, const struct wire_event *e);
    /* The first message: what follows is after `at`. */
    void (*hello)(struct buf *out, struct position at, int64_t time_ms);
    /* Up to `at` is no longer to be had; `records` of the journal were left out. */
    void (*gap)(struct buf *out, struct position at, uint64_t records);
    /* Once a second; no record of the journal, so without a position. */
    void (*metrics)(struct buf *out, int64_t time_ms, const struct wire_amount *numbers, uint32_t count);
};

extern const struct dialect event_format_dialect; /* ours: event_format.h */

#endif
