/* demand.h: who hears of jobs that wait for room. A watcher gets the present demand, and again whenever it has changed,
 * at most every DEMAND_MS; while nobody watches this costs nothing. What is told is read from the state, so nothing has
 * to be counted along and nothing drifts. */
#ifndef REEVE_DEMAND_H
#define REEVE_DEMAND_H

#include "net.h"
#include "server_impl.h"
#include "vec.h"

#define DEMAND_MS 100 /* a worker takes longer to start */

struct demands {
    struct vec watchers;              /* struct watcher * */
    uint64_t seen_lsn, seen_commands; /* of the state that was last looked at */
    bool stale;                       /* something happened since */
    int64_t next_ms;                  /* not before this is it looked at again */
};

extern const uint8_t demands_slot;

static inline struct demands *demands_of(const struct server *s) {
    return shard_part(server_shard(s), demands_slot);
}

#endif
