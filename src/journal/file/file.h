/* file.h: the file engine behind journal.h. Its format is normative in docs/formats/journal.md. */
#ifndef REEVE_FILE_H
#define REEVE_FILE_H

#include "clock.h"
#include "disk.h"
#include "journal.h"

struct file_options {
    uint64_t segment_bytes;     /* fixed size of a segment, a multiple of 4096 */
    uint64_t reserve_bytes;     /* kept free for the records of accepted work, see file_space */
    uint32_t archive_days;      /* trimmed segments stay under archive/ for so long; 0 = they go at once */
    uint32_t read_only;         /* for verify, dump and at: takes no lock, changes nothing, acquire is refused */
};

void file_options_default(struct file_options *o);

/* How much the records of one batch may have in segments of this size; 0 = of the standard size. */
uint64_t file_batch_bytes_max(uint64_t segment_bytes);

CHECKED enum err file_open(struct disk *disk, struct clock *clock, const struct file_options *o,
                           struct journal **ret, struct why *why);

/* Marks the tail as clean: what follows the seal is known never to have been written. Called at a clean stop and after
 * 100 ms of idleness. */
CHECKED enum err file_seal(struct journal *j, struct why *why);

/* Bytes that may still be promised to new work: room in the open segment and on the disk, less the reserve. */
CHECKED enum err file_space(struct journal *j, uint64_t *ret_free_bytes, struct why *why);

/* Prepares the next segment ahead of need, off the append path; cheap when it is already there. */
CHECKED enum err file_prepare(struct journal *j, struct why *why);
/* True when there is no prepared segment. Never waits; may be asked by any thread. */
bool file_wants_prepare(struct journal *j);

#endif
