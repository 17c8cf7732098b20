/* compact.h: folds closed segments into a new snapshot. Runs in a process of its own, started by the server, so that
 * neither its time nor its memory is the server's; the server trims when it has ended well. */
#ifndef REEVE_COMPACT_H
#define REEVE_COMPACT_H

#include "disk.h"
#include "journal.h"

struct compact_report {
    uint64_t lsn;          /* of the newest snapshot now; 0 = there was nothing to fold */
    uint64_t snapshot_lsn; /* of the one before it */
    uint64_t batch_count;  /* folded in */
};

/* `upto` = 0: all closed segments. */
CHECKED enum err compact_run(struct disk *d, uint64_t upto, struct compact_report *ret, struct why *why);

#endif
