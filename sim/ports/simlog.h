/* simlog.h: the simulator's own copy of every batch that became durable, kept outside the simulated disk. It knows what
 * the journal must still have after a crash, and lets the state be rebuilt from the beginning although the journal was
 * trimmed. The batch that is being appended when a crash falls may be there afterwards or not; nothing else may. */
#ifndef REEVE_SIMLOG_H
#define REEVE_SIMLOG_H

#include <stdbool.h>

#include "batch.h"
#include "err.h"
#include "vec.h"

struct engine;

struct simlog {
    struct vec batches;   /* of struct batch; records are owned */
    struct batch pending; /* taken from the engine, not yet durable; records are owned */
    bool has_pending;
};

void simlog_init(struct simlog *l);
void simlog_fini(struct simlog *l);
void simlog_begin(struct simlog *l, const struct batch *b);
void simlog_commit(struct simlog *l); /* the pending batch is durable */
void simlog_abort(struct simlog *l);  /* it never got there */
uint64_t simlog_lsn(const struct simlog *l);

/* Compares a batch read back after a restart, which may be the pending one. NULL when it is as it must be, else what is
 * wrong with it. What was read is not yet kept: the start may still fail, and the power once more. */
const char *simlog_recovered(struct simlog *l, const struct batch *b);

/* A start has succeeded with this LSN as the last: the pending batch is there for good, or gone. */
void simlog_resumed(struct simlog *l, uint64_t head);

/* Applies everything after `from_lsn` to the engine; false when it refuses. */
bool simlog_replay(const struct simlog *l, struct engine *e, uint64_t from_lsn, struct why *why);

#endif
