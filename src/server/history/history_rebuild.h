/* history_rebuild.h: old flows, made again for a history that was lost: the journal is read from as far back as its
 * archive reaches, with an engine of its own, and each flow that left memory is put as it was just before. Flows that
 * left before the archive begins are gone. Runs on the history's thread; touches nothing of the server's. */
#ifndef REEVE_HISTORY_REBUILD_H
#define REEVE_HISTORY_REBUILD_H

#include "disk.h"
#include "history.h"

struct rebuild;

struct rebuild *rebuild_new(struct disk *disk, uint32_t shard, uint64_t upto_lsn);
void rebuild_free(struct rebuild *r); /* fine for NULL */
/* A history_rebuild_fn; `ctx` is a struct rebuild. */
enum err rebuild_run(void *ctx, struct history_sink *to, struct why *why);
/* How far it is; may be asked by any thread. */
uint64_t rebuild_at(const struct rebuild *r);
uint64_t rebuild_upto(const struct rebuild *r);

#endif
