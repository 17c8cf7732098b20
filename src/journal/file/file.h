/* file.h: the file engine behind journal.h. Its format is normative in docs/formats/journal.md. */
#ifndef REEVE_FILE_H
#define REEVE_FILE_H

#include "clock.h"
#include "disk.h"
#include "journal.h"

struct file_options {
    uint64_t segment_bytes;     /* fixed size of a segment, a multiple of 4096 */
    uint64_t reserve_bytes;     /* kept free for the records of accepted work; `space` does not count it */
    uint32_t archive_days;      /* trimmed segments stay under archive/ for so long; 0 = they go at once */
    const char *locator;        /* path of the data directory, for other processes; outlives the journal; may be NULL */
};

void file_options_default(struct file_options *o);

/* Takes the lock LOCK of the disk, which keeps other owners out until the disk is closed or the journal released. */
CHECKED enum err file_open(struct disk *disk, struct clock *clock, const struct file_options *o,
                           struct journal **ret, struct why *why);
/* A reader without an owner's object: for another process, beside a live owner or without one. Takes no lock, changes
 * nothing, and looks at no file before it is asked something. */
CHECKED enum err file_reader(struct disk *disk, struct journal **ret, struct why *why);

#endif
