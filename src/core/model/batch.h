/* batch.h: what the engine hands to a journal, and gets back from one: a run of records that became durable together.
 *
 * The journal treats `records` as opaque bytes and keeps the rest in its own batch header. Everything a record's
 * meaning depends on besides the state is here: the time, the seed of all randomness and the rules version. */
#ifndef REEVE_BATCH_H
#define REEVE_BATCH_H

#include <stdint.h>

#include "rules.h"
#include "slice.h"
#include "wtime.h"

struct batch {
    uint64_t first_lsn; /* LSNs are dense and start at 1; a batch holds last - first + 1 records, at least one */
    uint64_t last_lsn;
    uint64_t epoch;     /* of the owner that wrote it; never falls along the journal */
    uint32_t shard;
    uint32_t rules;     /* RULES_VERSION of the writer */
    wall_time time;     /* the only clock apply knows; never falls along the journal */
    uint64_t seed;      /* the only randomness apply knows */
    struct slice records;
};

#endif
