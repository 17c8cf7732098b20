/* audit_evidence.h: checks an export of the audit trail (audit_export.h) by itself: that its records are those of the
 * batches it names, that the batches are those that were signed, and that what it says of a record is what the record
 * says. It needs neither the journal nor the server; to know who signed, it needs the public key from elsewhere. */
#ifndef REEVE_AUDIT_EVIDENCE_H
#define REEVE_AUDIT_EVIDENCE_H

#include "arena.h"
#include "proof.h"
#include "vec.h"

struct limits;

struct evidence {
    struct hasher *hasher;
    const struct sign_checker *checker;
    const struct limits *limits; /* of JSON */
    const uint8_t *key;          /* every checkpoint must be signed by it; NULL = by the key that it names */

    /* Set by it. */
    uint64_t line;
    uint32_t shard;
    bool has_begun, has_ended, is_stream;
    uint64_t from_lsn, next_lsn;
    uint64_t signed_lsn; /* as far as a checkpoint in it vouches; 0 = none does */
    uint64_t records, checkpoints;
    struct checkpoint last;
    uint8_t chain[DIGEST_BYTES];
    struct arena arena;
    struct vec shown; /* hashes of records that stand before their batch */
    struct vec ends;  /* where the chain stood after batches that no checkpoint covers yet */
};

void evidence_init(struct evidence *v);
void evidence_fini(struct evidence *v);
/* Lines in order, without their ends. ERR_CORRUPT: it was changed; ERR_INVALID: it is no export. */
CHECKED enum err evidence_line(struct evidence *v, struct slice line, struct why *why);
/* After the last line. ERR_CORRUPT: it was cut. */
CHECKED enum err evidence_end(struct evidence *v, struct why *why);

/* Reads a checkpoint: a line of an export, or what `reeve audit checkpoint --json` printed. */
CHECKED enum err evidence_checkpoint(struct slice text, const struct limits *limits, struct arena *arena,
                                     uint32_t *ret_shard, struct checkpoint *ret, struct why *why);

#endif
