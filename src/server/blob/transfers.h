/* transfers.h: blobs and logs over the wire: uploads, downloads that go on as the peer takes them, logs that are
 * followed, and what workers wrote on its way to being durable. */
#ifndef REEVE_TRANSFERS_H
#define REEVE_TRANSFERS_H

#include "blob.h"
#include "ids.h"
#include "joblog.h"
#include "map.h"
#include "net.h"
#include "pool.h"
#include "server_impl.h"
#include "vec.h"

struct wire_attempt;

struct transfers {
    struct pool uploads; /* struct upload */
    struct map upload_by_number;
    uint64_t upload_last;
    struct vec ending;    /* uint32_t: uploads that are whole and not yet durable */
    struct vec downloads; /* struct download */
    uint32_t pump_at;     /* which of them goes on first */
    bool behind;          /* the last pass had no time for all of them */
    struct pack_reader blob_reader, log_reader;
    uint64_t waiting_bytes, flying_bytes; /* of logs: not yet handed to the disk, and on the way there */
    struct vec deployed;                  /* deploy_log.h */
    bool paused;                          /* workers are not read: too much waits for the disk */
};

extern const uint8_t transfers_slot;

static inline struct transfers *transfers_of(const struct server *s) {
    return shard_part(server_shard(s), transfers_slot);
}

void transfers_handed_over(struct server *s); /* what waited is on its way to the disk */

bool transfer_log_is_own(struct server *s, const struct session *n, const struct wire_attempt *a);
/* Notes how far a log is, for the next acknowledgement; acknowledges what is durable by now. */
void transfer_log_mark(struct session *n, const struct log_key *key, const struct log_state *log);
void transfer_log_ack(struct server *s, struct session *n);
/* The log of an attempt whose job has left memory, as the request says. */
void transfer_log_of(struct server *s, struct request *r, struct job_ref job, uint32_t attempt);

#endif
