/* seen.h: the file `journal.seen` beside the journal: how far the journal was known to reach.
 *
 * A journal whose newest segments were removed looks like a shorter journal, or like none at all. This file says that
 * they were there. It is written after the header of a segment is durable and never before, so it may be behind the
 * journal and cannot be ahead of it. */
#ifndef REEVE_SEEN_H
#define REEVE_SEEN_H

#include "disk.h"

#define SEEN_NAME "journal.seen"

struct seen {
    uint64_t segment;   /* number of the newest segment; 0 = nothing is known */
    uint64_t first_lsn; /* of it */
};

/* No file: all zeroes. */
CHECKED enum err seen_read(struct disk *d, struct seen *ret, struct why *why);
CHECKED enum err seen_write(struct disk *d, const struct seen *seen, struct why *why);

#endif
