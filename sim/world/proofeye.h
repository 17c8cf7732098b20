/* proofeye.h: every checkpoint that the server records, against the simulator's own copy of the journal. The chain is
 * made here a second time, from the text of docs/formats/proof.md and not from the server's code. */
#ifndef REEVE_PROOFEYE_H
#define REEVE_PROOFEYE_H

#include "digest.h"
#include "simlog.h"

struct world;

struct proofeye {
    uint32_t seen;   /* batches of the log that were looked at */
    uint64_t number; /* of the last checkpoint */
    uint64_t upto_lsn;
    uint8_t chain[DIGEST_BYTES]; /* there */
};

void proofeye_look(struct proofeye *p, struct world *w, const struct simlog *log); /* at what became durable */

#endif
