/* simram.h: the server's journal in memory (journal/ram/ram.h), in place of the files on its disk. Like the disk it
 * outlives the server. What a disk cannot do, it can: lose the owner its journal, or leave open whether a batch is in
 * it. */
#ifndef REEVE_SIMRAM_H
#define REEVE_SIMRAM_H

#include "ram.h"
#include "rng.h"

/* One of the faults strikes one of the next appends, and *ret says which; nothing changes if one is waiting to. */
void simram_arm(struct ram *r, struct rng *rng, enum ram_fault *ret);
/* The owner's process is gone, and nothing that it still does counts: another owner has the journal. */
void simram_gone(struct ram *r);
/* What compaction is to files: a snapshot of the state at `lsn`. *ret_lsn = 0: there was nothing to fold. */
CHECKED enum err simram_fold(struct ram *r, uint64_t lsn, uint64_t *ret_lsn, struct why *why);

#endif
