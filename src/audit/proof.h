/* proof.h: the journal as a chain of hashes, and checkpoints of it. What is hashed is what a record means, not where
 * it lies: the bytes of records and the heads of their batches, not blocks and segments. So the chain is the same for
 * every engine of the journal, and compaction and packing do not change it.
 *
 *     record   = SHA-256(1, the record as it stands in its batch)
 *     batch    = SHA-256(2, shard, rules, first LSN, last LSN, epoch, time, seed, the hashes of its records)
 *     chain(0) = SHA-256(0, "reeve journal", shard, LSN of the first record)
 *     chain(n) = SHA-256(3, chain(n-1), batch(n))
 *
 * A checkpoint signs the chain after a batch. The batch gives the hashes of its records and not their bytes, so that
 * an export may leave records out and still prove the rest. Normative: docs/formats/proof.md.
 *
 * Whoever has the private key can make another journal and sign it. What keeps them from it is a checkpoint, or the
 * public key, that somebody keeps elsewhere. */
#ifndef REEVE_PROOF_H
#define REEVE_PROOF_H

#include "batch.h"
#include "buf.h"
#include "checkpoint.h"
#include "digest.h"
#include "err.h"
#include "signer.h"

#define PROOF_MESSAGE_BYTES 128u

/* Before the first batch, which begins with this LSN. */
void proof_begin(struct hasher *d, uint32_t shard, uint64_t first_lsn, uint8_t ret[DIGEST_BYTES]);
void proof_record(struct hasher *d, struct slice record, uint8_t ret[DIGEST_BYTES]);
/* `hashes`: those of its records, one after the other. b->records is not looked at. */
void proof_batch(struct hasher *d, const struct batch *b, struct slice hashes, uint8_t ret[DIGEST_BYTES]);
void proof_extend(struct hasher *d, uint8_t chain[DIGEST_BYTES], const uint8_t batch[DIGEST_BYTES]);
/* The hashes of the records of a batch. ERR_CORRUPT: these bytes are not its records. */
CHECKED enum err proof_hashes(struct hasher *d, const struct batch *b, struct buf *ret, struct why *why);

/* What the signature of a checkpoint is over; its length. */
size_t proof_message(uint32_t shard, const struct checkpoint *c, uint8_t ret[PROOF_MESSAGE_BYTES]);
void proof_sign(struct signer *s, uint32_t shard, struct checkpoint *c); /* sets key and signature */
bool proof_is_signed(const struct sign_checker *s, uint32_t shard, const struct checkpoint *c);

#endif
