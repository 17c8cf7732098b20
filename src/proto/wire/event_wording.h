/* event_wording.h: how a stream of events is worded. Whoever sends events (server/event/event_blocks.h) knows no words:
 * it asks a wording for the text of each message and frames that. A wording that has nothing to say at some point
 * writes nothing, and then nothing is sent. */
#ifndef REEVE_EVENT_WORDING_H
#define REEVE_EVENT_WORDING_H

#include "position.h"
#include "wire.h"

struct event_wording {
    const char *word; /* of the wording itself */
    /* What happened. */
    void (*event)(struct buf *out, const struct wire_event *e);
    /* The first message: what follows is after `at`. */
    void (*hello)(struct buf *out, struct position at, int64_t time_ms);
    /* Up to `at` is no longer to be had; `records` of the journal were left out. */
    void (*gap)(struct buf *out, struct position at, uint64_t records);
    /* Once a second; no record of the journal, so without a position. */
    void (*metrics)(struct buf *out, int64_t time_ms, const struct wire_amount *numbers, uint32_t count);
};

extern const struct event_wording event_format_wording; /* ours: event_format.h */

#endif
