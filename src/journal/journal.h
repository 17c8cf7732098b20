/* journal.h: the ordered durable log, as six calls. The same engine runs on a file and, later, on a replicated store.
 *
 *   acquire        become the one owner: raises the epoch, locks everyone else out, tells the head
 *   append         make one batch durable, if we still own the journal and the head is where we think
 *   read           batches from an LSN on, oldest first, each verified
 *   snapshot_put / snapshot_get      a state with everything up to an LSN folded in
 *   trim           segments that a snapshot covers may leave (they go to the archive)
 *   watch          be told that the head moved (a standby's call; a file has no second reader and refuses)
 *
 * Rules for callers: one append in flight at most; nothing that an append carries may be shown to anybody before it
 * returned JOURNAL_DURABLE; after any other outcome the journal object is dead (every later call is refused) and the
 * engine above must be destroyed and restored, or the process stopped. */
#ifndef REEVE_JOURNAL_H
#define REEVE_JOURNAL_H

#include <stdint.h>

#include "batch.h"
#include "err.h"

enum journal_outcome {
    JOURNAL_DURABLE, /* synced; it will be there after any crash */
    JOURNAL_FENCED,  /* not appended: another owner took over */
    JOURNAL_UNKNOWN, /* may or may not be there: acquire anew, then read the head */
    JOURNAL_FULL,    /* not appended, nothing harmed: no room for another segment; try again when there is */
    JOURNAL_FAILED,  /* a write or sync failed: stop the process, never retry */
};

struct journal_head {
    uint64_t epoch;
    uint64_t lsn;   /* last durable record, 0 when empty */
    wall_time time; /* of the last batch */
};

/* Called per batch, oldest first; anything but ERR_OK ends the reading and is returned. */
typedef enum err (*journal_batch_fn)(void *ctx, const struct batch *batch, struct why *why);

/* Bytes of a snapshot on their way out or in. `more` moves at most `len` bytes and says how many; 0 = the end. */
struct byte_source {
    enum err (*more)(struct byte_source *s, void *to, size_t len, size_t *ret, struct why *why);
};
struct byte_sink {
    enum err (*more)(struct byte_sink *s, const void *from, size_t len, struct why *why);
};

struct snapshot_info {
    uint64_t lsn; /* everything up to here is folded in; 0 = there is no snapshot */
    uint64_t epoch;
    wall_time time;
};

struct journal {
    const struct journal_ops *ops;
};

struct journal_ops {
    enum err (*acquire)(struct journal *j, uint32_t shard, struct journal_head *ret, struct why *why);
    enum journal_outcome (*append)(struct journal *j, uint64_t epoch, uint64_t expected_head,
                                   const struct batch *batch, struct why *why);
    enum err (*read)(struct journal *j, uint64_t from_lsn, journal_batch_fn each, void *ctx, struct why *why);
    enum err (*snapshot_put)(struct journal *j, const struct snapshot_info *info, struct byte_source *from,
                             struct why *why);
    /* The newest whole snapshot; ret->lsn = 0 when there is none. */
    enum err (*snapshot_get)(struct journal *j, struct snapshot_info *ret, struct byte_sink *to, struct why *why);
    /* 0 = as far as the newest snapshot reaches. */
    enum err (*trim)(struct journal *j, uint64_t upto_lsn, struct why *why);
    enum err (*watch)(struct journal *j, void (*moved)(void *ctx, uint64_t head_lsn), void *ctx, struct why *why);
    void (*close)(struct journal *j); /* without sealing: a caller that stops cleanly seals first */
};

#endif
