/* playground.h: a server whose plug can be pulled (`reeve up --playground`), and an honest account of what its
 * successor found.
 *
 *  * Before anything leaves, the server notes in memory that outlives it (`plug.mark`, which its supervisor holds)
 * up to which record and which flow everything is durable: whatever was ever acknowledged is below that. Its
 * successor reads the journal and compares: records and flows that are noted and not there are `lost`. That of the
 * attempts under way none was started twice without need is counted as workers come back. */
#ifndef REEVE_PLAYGROUND_H
#define REEVE_PLAYGROUND_H

#include "effect.h"
#include "kill_switch.h"
#include "server_impl.h"
#include "vec.h"
#include "wire_playground.h"

struct held_attempt;

struct playground {
    const struct kill_switch *kill_switch; /* NULL = this is no playground */
    int64_t since_ms;                      /* wall: when it was ready */
    struct wire_recovery recovery;
    struct vec open; /* struct attempt_effect: under way when the plug was pulled, not heard of since */
    bool kill_wanted;
};

extern const uint8_t playground_slot;

static inline struct playground *playground_of(const struct server *s) {
    return shard_part(server_shard(s), playground_slot);
}

/* A worker is back and holds these: how did what it had go on? */
void playground_attached(struct server *s, uint32_t worker, const struct held_attempt *held, uint32_t count);

#endif
