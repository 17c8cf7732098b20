/* fold.h: a state made from a journal: the newest whole snapshot at or below an LSN, then every batch up to it, by
 * `apply` alone. A reader (journal.h) is all it takes, so it runs beside a live server, in any thread or process. */
#ifndef REEVE_FOLD_H
#define REEVE_FOLD_H

#include "engine.h"
#include "journal.h"

struct fold {
    struct engine *engine;     /* the caller frees it */
    struct snapshot_info info; /* what a snapshot of this state must say */
    uint32_t shard;
    uint64_t snapshot_lsn;     /* where the folding began, 0 = at the beginning */
    uint64_t batch_count;      /* applied */
};

/* The state after the last batch that ends at or below `upto`. ERR_NOT_FOUND when the journal is empty or what is
 * needed lies beyond the archive. */
CHECKED enum err fold_run(struct journal *reader, uint64_t upto, struct fold *ret, struct why *why);
/* The same from as far back as the archive reaches, telling of each batch before it is applied. Whatever `before`
 * returns but ERR_OK ends it and is returned. */
typedef enum err (*fold_fn)(void *ctx, const struct engine *e, const struct batch *b, struct why *why);
CHECKED enum err fold_follow(struct journal *reader, uint64_t upto, fold_fn before, void *ctx, struct fold *ret,
                             struct why *why);
/* For who goes on from time to time: first the newest state at or below `upto` for which all later records are there,
 * or, where the archive no longer reaches back that far, the oldest there is (then info.lsn is above `upto`). Then, as
 * often as one likes, further batches: each that ends at or below the new `upto` is given to `apply`, which must replay
 * it. */
typedef enum err (*fold_apply_fn)(void *ctx, struct engine *e, const struct batch *b, struct why *why);
CHECKED enum err fold_begin(struct journal *reader, uint64_t upto, struct fold *ret, struct why *why);
CHECKED enum err fold_go_on(struct journal *reader, struct fold *f, uint64_t upto, fold_apply_fn apply, void *ctx,
                            struct why *why);

#endif
