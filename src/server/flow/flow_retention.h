/* flow_retention.h: what goes when flows leave memory. The engine lets finished flows go by itself (retention_ms,
 * dead_letter_ms) as far as the history has them; without a history it is told that everything durable is in one: the
 * journal's archive is. Logs of flows that are neither in memory nor in the history are swept now and then. */
#ifndef REEVE_FLOW_RETENTION_H
#define REEVE_FLOW_RETENTION_H

#include "server_impl.h"
#include <stdbool.h>
#include <stdint.h>

/* Attempts of a service whose logs stay: its flow may never end, and it may start for ever. */
#define FLOW_RETENTION_SERVICE_LOGS 16u

struct flow_retention {
    uint64_t told_lsn; /* what the engine believes the history has */
    int64_t sweep_ms;  /* monotonic: when logs are looked at next */
    uint32_t sweep_at;
    bool sweeping;
};

extern const uint8_t flow_retention_slot;

static inline struct flow_retention *flow_retention_of(const struct server *s) {
    return shard_part(server_shard(s), flow_retention_slot);
}

#endif
