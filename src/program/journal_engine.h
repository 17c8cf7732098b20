/* journal_engine.h: the engines behind journal.h that the program knows, from one table (journal_engine.c). The setting
 * `journal` names the one of a server; another process finds a journal by its locator. A further engine is its room,
 * its word in the setting and a line of the table. */
#ifndef REEVE_JOURNAL_ENGINE_H
#define REEVE_JOURNAL_ENGINE_H

#include "disk.h"
#include "journal.h"
#include "settings.h"

/* The journal of a server. `disk` is its data directory, which outlives the journal. */
CHECKED enum err journal_engine_open(const struct settings *s, struct disk *disk, struct journal **ret,
                                     struct why *why);

/* A reader for a process beside the one that owns the journal. */
struct journal_located {
    struct disk *disk; /* that the reader needs; NULL = none */
    struct journal *reader;
};

/* ERR_NOT_FOUND: no engine has a journal there. */
CHECKED enum err journal_engine_locate(const char *locator, struct journal_located *ret, struct why *why);
void journal_located_close(struct journal_located *l);

#endif
