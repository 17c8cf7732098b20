/* replay.h: the past told again, by someone who does not keep the loop waiting. What he says is
 * server/history/event_replay.h's business; here it is bytes. On Linux a process of its own (os/osreplay.h); where
 * there is none (the simulator), old events are not to be had.
 *
 * All calls are the loop thread's and none of them waits. A handler is never called from inside one of the calls. */
#ifndef REEVE_REPLAY_H
#define REEVE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

typedef struct {
    uint64_t v;
} replay_id; /* 0 = none; never used again */

struct replay_spec { /* as event_replay_spec */
    uint64_t after_lsn;
    uint32_t after_ordinal;
    uint64_t flow;
    uint32_t most;
};

struct replay_handler {
    void (*told)(void *ctx, replay_id id, struct slice bytes); /* valid during the call */
    void (*ended)(void *ctx, replay_id id);                    /* by itself, well or not; not after stop */
    void *ctx;
};

struct replayer {
    const struct replayer_ops *ops;
};

struct replayer_ops {
    /* It begins when it is told how far. 0: too many are at work, or the machine has no room. */
    replay_id (*start)(struct replayer *r, const struct replay_spec *spec, const struct replay_handler *h);
    void (*upto)(struct replayer *r, replay_id id, uint64_t lsn); /* goes on up to this record; rising */
    void (*pause)(struct replayer *r, replay_id id, bool on);     /* while on, nothing is told */
    void (*stop)(struct replayer *r, replay_id id);               /* fine with one that has ended */
};

#endif
