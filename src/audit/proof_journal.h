/* proof_journal.h: the chain of hashes (proof.h) over a journal that a reader reads: made for the next checkpoint, and
 * checked against those that are there. Reads for long; meant for a thread or a process that keeps nobody waiting. */
#ifndef REEVE_PROOF_JOURNAL_H
#define REEVE_PROOF_JOURNAL_H

#include <stdatomic.h>

#include "journal.h"
#include "proof.h"

/* ---- the next checkpoint ---- */

struct proof_next {
    struct journal *reader;
    struct hasher *hasher;
    const atomic_bool *stop;
    uint32_t shard;
    uint64_t upto_lsn;  /* not beyond: what is durable */
    uint64_t bytes_max; /* of records; more is for the checkpoint after it */
};
/* What follows `last` (number 0 = there is none), as a checkpoint without key and signature. It ends with a batch, and
 * before upto_lsn when there are too many bytes. ERR_STATE: there is nothing, or nobody wants it any longer. */
CHECKED enum err proof_next(const struct proof_next *n, const struct checkpoint *last, struct checkpoint *ret,
                            struct why *why);

/* ---- those that are there ---- */

struct proof_check {
    struct journal *reader;
    struct hasher *hasher;
    const struct sign_checker *checker;
    const atomic_bool *stop;        /* NULL = nothing stops it */
    const uint8_t *key;             /* every checkpoint must be signed by it; NULL = by the key that it names */
    const struct checkpoint *since; /* an older checkpoint, kept elsewhere, which must be in the journal; NULL = none */
    void (*step)(void *ctx, uint64_t done, uint64_t all); /* LSNs; NULL = nobody wants to know */
    void *ctx;
};

struct proof_report {
    uint32_t shard;
    uint64_t from_lsn;      /* what was checked: every record from here */
    uint64_t upto_lsn;      /* to here is as it was signed; 0 = there is no checkpoint */
    uint64_t last_lsn;      /* what follows was read and is not signed yet */
    uint64_t checkpoints;   /* in this range */
    uint64_t keys;          /* that signed them */
    struct checkpoint last; /* number 0 = there is none */
    bool is_whole;          /* from the first record of the chain on: nothing has left the archive */
};

/* ERR_CORRUPT: the journal is not what was signed; `why` names the first records that do not fit. ERR_NOT_FOUND: what
 * `since` covers has left the archive. */
CHECKED enum err proof_check(const struct proof_check *p, struct proof_report *ret, struct why *why);

#endif
