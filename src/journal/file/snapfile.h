/* snapfile.h: the container around a state with everything up to an LSN folded in: file journal/snap-<lsn>. What the
 * bytes inside mean is the core's business; the container's format is normative in docs/formats/snapshot.md.
 *
 * A snapshot appears whole or not at all: written under another name, synced, renamed, the name synced. */
#ifndef REEVE_SNAPFILE_H
#define REEVE_SNAPFILE_H

#include "disk.h"
#include "journal.h"

#define SNAPFILE_BLOCK_BYTES 65536u

struct snapfile_writer;

/* Push the bytes in any pieces, then commit or abandon; both end the writer. */
CHECKED enum err snapfile_begin(struct disk *d, uint32_t shard, const struct snapshot_info *info,
                                struct snapfile_writer **ret, struct why *why);
CHECKED enum err snapfile_push(struct snapfile_writer *w, struct slice bytes, struct why *why);
CHECKED enum err snapfile_commit(struct snapfile_writer *w, struct why *why);
void snapfile_abandon(struct snapfile_writer *w);

/* At most JOURNAL_SNAPSHOTS_MAX are looked at; keep.c keeps two, and with an archive about ten (archive.h). */
CHECKED enum err snapfile_list_load(struct disk *d, struct snapshot_list *ret, struct why *why);

/* Reads and verifies every byte; `to` may be NULL. ERR_CORRUPT names file and byte. A sink may have got bytes before
 * the damage was found: verify first. */
CHECKED enum err snapfile_read(struct disk *d, uint64_t lsn, struct snapshot_info *ret, struct byte_sink *to,
                               struct why *why);
/* The header alone: cheap, and says nothing about the rest. */
CHECKED enum err snapfile_info(struct disk *d, uint64_t lsn, struct snapshot_info *ret, struct why *why);
/* One that is gone already is fine: two may be tidying up at once. */
CHECKED enum err snapfile_remove(struct disk *d, uint64_t lsn, struct why *why);
/* Removes all but the newest `keep`. */
CHECKED enum err snapfile_prune(struct disk *d, uint32_t keep, struct why *why);
/* Removes what crashed writers left. Only for who is about to write one: it would take another's away. */
CHECKED enum err snapfile_sweep(struct disk *d, struct why *why);

#endif
