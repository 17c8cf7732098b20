/* retain.h: how long finished flows stay in memory, and with them their logs. A flow leaves finished_keep_ms after it
 * ended, or earlier when there are more than finished_keep_max; the journal's archive still has it. A flow with dead
 * letters stays until someone retried or discarded them. */
#ifndef REEVE_RETAIN_H
#define REEVE_RETAIN_H

#include <stdbool.h>

#include "heap.h"

struct server;
struct effect;

struct retain {
    struct heap finished;   /* flows by the time they ended; some may run again since */
    int64_t rest_until_ms;  /* wall: one had to stay, and is not asked about again at once */
    uint64_t forgotten_lsn; /* of the last record that let a flow go */
    uint64_t swept_lsn;     /* logs of flows forgotten up to here are gone */
    uint32_t sweep_at;
    bool sweeping;
};

void retain_init(struct server *s); /* after recovery */
void retain_fini(struct server *s);
void retain_event(struct server *s, const struct effect *e);
void retain_turn(struct server *s);   /* inside a pass: lets some go */
void retain_sweep(struct server *s);  /* after one: logs that nobody can name any more */
int64_t retain_next(struct server *s); /* monotonic: when a turn is due */

#endif
