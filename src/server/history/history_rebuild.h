/* history_rebuild.h: old flows, made again for a history that was lost: the journal is read from as far back as its
 * archive reaches, with an engine of its own, and each flow that left memory is put as it was just before. Flows that
 * left before the archive begins are gone. Runs on the history's thread; touches nothing of the server's. */
#ifndef REEVE_HISTORY_REBUILD_H
#define REEVE_HISTORY_REBUILD_H

#include "history.h"
#include "journal.h"

struct history_rebuild;
struct zones;

/* The reader is closed when it has run, or when it is freed. */
struct history_rebuild *history_rebuild_new(struct journal *reader, uint32_t shard, uint64_t upto_lsn,
                                            struct zones *zones);
void history_rebuild_free(struct history_rebuild *r); /* fine for NULL */
/* A history_rebuild_fn, once; `ctx` is a struct history_rebuild. */
enum err history_rebuild_run(void *ctx, struct history_sink *to, struct why *why);
/* How far it is; may be asked by any thread. */
uint64_t history_rebuild_at(const struct history_rebuild *r);
uint64_t history_rebuild_upto(const struct history_rebuild *r);

#endif
