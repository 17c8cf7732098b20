/* spool.h: what a worker owes, on its disk: who it is, ends of attempts that the server has not acknowledged, and
 * output that it has not taken yet. Survives the worker; what a killed worker's processes had not finished does not
 * count.
 *
 * `worker`: id, incarnation, highest epoch seen. `spool/batch-N`: ends that went to disk at one moment, with one sync
 * for all: of each attempt the pieces of its log in order, then its end; each as length, CRC-32C, kind, message of the
 * wire. `spool/S-F-O-A`: the same of one attempt whose output had to go to disk before its end. A file without an end
 * is of an attempt that died with its worker, and is removed at the start. */
#ifndef REEVE_SPOOL_H
#define REEVE_SPOOL_H

#include "capture.h"
#include "clock.h"
#include "disk.h"
#include "pool.h"

#define SPOOL_ID_MAX 64u

struct spool_self {
    char id[SPOOL_ID_MAX];
    uint64_t incarnation;
    uint64_t epoch; /* the highest seen */
};

struct spool {
    struct disk *disk;
    struct spool_self self;
    uint64_t bytes; /* in files */
    struct pool batches;
    uint32_t batch;        /* the one that is being written; 0 = none */
    uint64_t batch_number; /* of the last one */
};

struct spool_file { /* of one attempt */
    disk_file file; /* v < 0: none */
    uint32_t batch; /* it is part of this one, from `begin` on; 0 = the file is its own */
    uint64_t begin, bytes;
    uint64_t settled;              /* of these bytes, those that a commit covers */
    uint64_t read_at, read_offset; /* where the piece with that offset begins */
    bool is_open;
};

/* Keeps a second worker out, raises the incarnation. `name` begins the id of a first start. */
CHECKED enum err spool_open(struct spool *s, struct disk *disk, struct clock *clock, const char *name, struct why *why);
CHECKED enum err spool_epoch(struct spool *s, uint64_t epoch, struct why *why); /* remembers a higher one */

/* Ends that earlier incarnations left; the file stays open for its log. */
typedef void (*spool_each_fn)(void *ctx, const struct wire_attempt *attempt, const struct wire_end *end,
                              const struct spool_file *file);
CHECKED enum err spool_read(struct spool *s, spool_each_fn each, void *ctx, struct why *why);

/* Moves what the capture holds in memory to the file. */
CHECKED enum err spool_pieces(struct spool *s, const struct wire_attempt *attempt, struct spool_file *f,
                              struct capture *c, struct why *why);
/* Writes what the capture holds, and the end of the attempt: a wire_end, encoded. With a successful commit all that was
 * written since the last one survives the worker, and spool_settle is due for each; after a failure spool_undo is. */
CHECKED enum err spool_end(struct spool *s, struct spool_file *f, struct capture *c, struct slice end, struct why *why);
CHECKED enum err spool_commit(struct spool *s, struct why *why);
void spool_settle(struct spool_file *f, struct capture *c);
void spool_undo(struct spool *s, struct spool_file *f);
/* The piece at an offset below the capture's `file_end`; its data in `ret_data`. */
CHECKED enum err spool_piece(struct spool *s, struct spool_file *f, uint64_t offset, struct buf *ret_data,
                             struct wire_log_piece *ret, struct why *why);
void spool_forget(struct spool *s, const struct wire_attempt *attempt, struct spool_file *f);
void spool_close(struct spool *s, struct spool_file *f); /* what is on disk stays */
void spool_fini(struct spool *s);

#endif
