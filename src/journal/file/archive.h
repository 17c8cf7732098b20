/* archive.h: what becomes of trimmed segments: packed, kept for `days`, removed. And which snapshots stay, so that a
 * state can be rebuilt for every record the archive still holds. The rule is in docs/formats/journal.md §8.
 *
 * Two callers: the server thins snapshots when it trims; the compaction child packs and removes segments. */
#ifndef REEVE_ARCHIVE_H
#define REEVE_ARCHIVE_H

#include "disk.h"
#include "journal.h"

struct archive_report {
    uint32_t packed_count;
    uint32_t removed_count; /* segments past their time */
    uint64_t plain_bytes;   /* used parts of the packed ones, before */
    uint64_t packed_bytes;  /* and after */
};

/* Removes the snapshots that neither a start nor the archive needs: the two newest stay, the newest one from before
 * `days` ago stays (the archive begins there), and between them one per eighth of `days`. */
CHECKED enum err archive_thin(struct disk *d, uint32_t days, wall_time now, struct why *why);

/* Removes archived segments past their time and packs the others. Interrupted anywhere, it loses nothing and the next
 * run finishes. A damaged segment is left as it is and the rest is done; the first error is returned at the end, with
 * `ret` filled in all the same. One process at a time: see compact_lock. */
CHECKED enum err archive_run(struct disk *d, uint32_t days, wall_time now, struct archive_report *ret,
                             struct why *why);

#endif
