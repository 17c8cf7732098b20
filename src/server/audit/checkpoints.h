/* checkpoints.h: the journal is hashed and signed, so that a later change of it is found (audit/proof.h).
 *
 * Not on the way of a request: a thread aside reads what became durable since the last checkpoint, through a reader of
 * the journal, as it reads pages of the audit trail. The result is a record like any other, REC_CHECKPOINT, so it is
 * under the next checkpoint itself. One is made at an interval, when somebody asks for one, and when the server
 * stops. */
#ifndef REEVE_CHECKPOINTS_H
#define REEVE_CHECKPOINTS_H

#include "call.h"
#include "proof_journal.h"
#include "vec.h"

#define CHECKPOINT_BYTES_MAX (UINT64_C(256) << 20) /* of records that one covers; more are several, in a row */
#define CHECKPOINT_AGAIN_MS 1000                   /* after a failure */
#define CHECKPOINT_BUSY_MS 200                     /* other work is being done aside */

enum checkpoints_state {
    CHECKPOINTS_REST,
    CHECKPOINTS_READ,   /* a thread hashes */
    CHECKPOINTS_MADE,   /* it is through; the command is to come */
    CHECKPOINTS_DECIDE, /* it is in the engine, and not durable */
};

struct checkpoints {
    enum checkpoints_state state;
    struct shard *shard;
    struct proof_next work;
    struct checkpoint last, made;
    atomic_bool stop;
    enum err err;
    struct why why;
    int64_t due_ms; /* monotonic */
    bool is_final;  /* the one of the stop is there */
    bool has_failed;
    struct vec waiting; /* struct checkpoint_wait */
};

struct checkpoint_wait { /* wants one that covers this record */
    conn_id conn;
    uint32_t request;
    uint64_t lsn;
};

void checkpoints_wake(const struct server *s); /* something is waiting */
struct checkpoints *checkpoints_of(const struct server *s);
void checkpoint_message(struct server *s, const struct checkpoint *c, struct wire_checkpoint *ret); /* in the arena */

#endif
