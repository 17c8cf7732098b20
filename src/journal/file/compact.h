/* compact.h: folds closed segments into a new snapshot and puts the archive in order. Runs in a process of its own,
 * started by the server, so that neither its time nor its memory is the server's; the server trims when it has ended
 * well. */
#ifndef REEVE_COMPACT_H
#define REEVE_COMPACT_H

#include "archive.h"
#include "disk.h"
#include "journal.h"

struct compact_report {
    uint64_t lsn;          /* of the newest snapshot now; 0 = there was nothing to fold */
    uint64_t snapshot_lsn; /* of the one before it */
    uint64_t batch_count;  /* folded in */
    struct archive_report archive;
    enum err archive_err;   /* the archive's trouble is not the snapshot's: told here, and the run is a success */
    struct why archive_why;
};

struct compact_options {
    uint64_t upto;         /* fold up to this record; 0 = all closed segments */
    uint32_t archive_days; /* as in file_options */
    wall_time now;
};

/* Keeps a second compaction out for the life of the disk object: two would write the same files. ERR_CONFLICT. */
CHECKED enum err compact_lock(struct disk *d, struct why *why);
CHECKED enum err compact_run(struct disk *d, const struct compact_options *o, struct compact_report *ret,
                             struct why *why);

#endif
