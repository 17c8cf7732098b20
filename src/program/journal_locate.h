/* journal_locate.h: a reader of a journal by its locator (journal.h), for processes beside the one that owns it. A
 * locator that is a path names the data directory of a journal in files; there are no others yet. */
#ifndef REEVE_JOURNAL_LOCATE_H
#define REEVE_JOURNAL_LOCATE_H

#include "disk.h"
#include "journal.h"

struct journal_located {
    struct disk *disk; /* that the reader needs */
    struct journal *reader;
};

/* ERR_NOT_FOUND: there is no such directory. */
CHECKED enum err journal_locate(const char *locator, struct journal_located *ret, struct why *why);
void journal_located_close(struct journal_located *l);

#endif
