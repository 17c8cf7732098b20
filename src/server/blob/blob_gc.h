/* sweep.h: blobs that nothing names any more go, and their space comes back. Mark and sweep, a slice in each pass.
 *
 * A blob is named by a flow in memory (the file it was submitted from), by a job in memory (its script, input and
 * files; those of its compensation; its result, its artifacts, the items of a foreach), by a schedule whose flows have
 * such jobs, by a version that a service remembers, by a result that is kept for jobs with the same cache key, and by a
 * key `blob:HASH` of the tenant's store: that is how people keep one. All of these are facts of the journal, so
 * whatever a crash interrupts is found again; what is young (`blob_grace_ms`) stays in any case.
 *
 * Why walking in slices is safe while the state goes on: a name comes into the state by a submit, an end or a put, and
 * each of them marks the blob on the spot (blobs_touch); or it is copied: from a schedule to a flow that it fires, from
 * a job to a version of a service or to a kept result, or back. Schedules are walked first (one that is set later was
 * marked then), jobs before versions and kept results, and a job that succeeds while the walk is under way is marked
 * then (blob_gc_event), so no copy escapes.
 * Nothing is dropped before the state that was walked is durable: a flow that is forgotten must not come back from the
 * journal without its blobs. */
#ifndef REEVE_BLOB_GC_H
#define REEVE_BLOB_GC_H

#include "server_impl.h"
#include <stdbool.h>
#include <stdint.h>

struct effect;
struct bytes;

#define BLOB_GC_KEEP "blob:" /* and then the hash: the key by which people keep one */

enum blob_gc_phase {
    BLOB_GC_IDLE,
    BLOB_GC_SCHEDULES,
    BLOB_GC_JOBS,
    BLOB_GC_SERVICES,
    BLOB_GC_MEMOS,
    BLOB_GC_KEYS,
    BLOB_GC_DURABLE,
    BLOB_GC_DROP
};

struct blob_gc {
    enum blob_gc_phase phase;
    int64_t due_ms;          /* monotonic: when the next one begins */
    uint32_t at;             /* which flow, kept result or tenant; see view.h */
    uint64_t flow;           /* the one it is in the middle of; by the next turn it may be gone */
    uint32_t ordinal, child; /* in it; of a foreach job */
    struct bytes *key_after; /* in the tenant's store */
    uint32_t prefix;         /* of the keys that are walked: those whose name is a hash, then those whose value is */
    uint64_t lsn;            /* of the state that was walked last */
    uint64_t dropped, total_dropped;
};

extern const uint8_t blob_gc_slot;

static inline struct blob_gc *blob_gc_of(const struct server *s) {
    return shard_part(server_shard(s), blob_gc_slot);
}

#endif
