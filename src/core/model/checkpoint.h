/* checkpoint.h: a checkpoint of the journal: everything up to a record, hashed in its order and signed. To the core it
 * is a note: nothing is decided by it. What is hashed, and how, is docs/formats/proof.md. */
#ifndef REEVE_CHECKPOINT_H
#define REEVE_CHECKPOINT_H

#include <stdint.h>

#include "wtime.h"

#define CHECKPOINT_HASH_BYTES 32u
#define CHECKPOINT_SIGNATURE_BYTES 64u

struct checkpoint {
    uint64_t number;   /* from 1, without gaps; 0 = there is none */
    uint64_t lsn;      /* of its record */
    uint64_t from_lsn; /* the first record that it adds to the one before */
    uint64_t upto_lsn; /* the last one; below its own */
    wall_time time;    /* of its record */
    uint8_t chain[CHECKPOINT_HASH_BYTES];
    uint8_t key[CHECKPOINT_HASH_BYTES]; /* public, of whoever signed */
    uint8_t signature[CHECKPOINT_SIGNATURE_BYTES];
};

#endif
