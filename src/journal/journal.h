/* journal.h: the ordered durable log of one shard, as a table of functions. An engine (a file, memory, a replicated
 * store) fills the table; everything above it calls the table and nothing else. The program opens an engine by the
 * engine's own header and hands the journal on.
 *
 * Owning it:
 *
 *   acquire        become the one owner: raises the epoch, locks everyone else out, tells the head
 *   append         make one batch durable, if we still own the journal and the head is where we think
 *   seal           mark the tail as clean: at a clean stop, and after a moment without appends
 *   release        stop being the owner, so that another may acquire at once
 *   snapshot_put   store a state with everything up to an LSN folded in
 *   trim           records that a snapshot covers may leave (they go to the archive, if there is one)
 *   space          how much may still be promised to new work
 *   wants_prepare, prepare      work that is better done ahead of an append than in it
 *
 * Reading it, by the owner, before it owns it, or by a reader:
 *
 *   shard          whose journal it is
 *   read           batches of a range of LSNs, oldest first, each verified
 *   pieces         where reading may begin for a caller that goes backwards
 *   snapshots      which snapshots there are
 *   snapshot_get   the newest whole snapshot, or one by its LSN
 *   verify         read every byte, and report
 *   watch          be told that the head moved (a standby's call; an engine without one refuses)
 *   reader         another object for the same journal, which only reads
 *   locator        a text by which another process opens a reader
 *
 * The life of an owner: open, snapshot_get, read from there on, acquire, then append after append. Damage is found by
 * the reading, before anything is written. When the head that acquire tells is beyond what was read, another owner
 * appended meanwhile: read on from there before the first append.
 *
 * Outcomes. One append is in flight at most, and nothing that it carries may be shown to anybody before it returned
 * JOURNAL_DURABLE.
 *
 *   FULL             nothing happened: the same append may be tried again.
 *   FENCED, UNKNOWN  the ownership is lost, the object is not. What was built on the append has to be thrown away:
 *                    destroy the engine above, then live the life of an owner again with the same object:
 *                    snapshot_get, read, acquire. An object that is not the owner gets FENCED from append and
 *                    ERR_FENCED from seal. Only acquire settles whether a batch whose outcome is UNKNOWN is part of
 *                    the journal; before it, a reading may show it or not. While trim or prepare may be under way on
 *                    the other thread, the reading is done by a reader; what is trimmed from under it is ERR_NOT_FOUND,
 *                    and it begins anew.
 *   FAILED           the object is dead: every later call but close is refused. Stop the process; a sync that failed
 *                    is never tried again.
 *
 * Threads. acquire, append, seal, release, read and close belong to the owner, one at a time; the owner may pass them
 * from thread to thread, as the writer does. append may block. snapshot_put, snapshot_get, trim, space and prepare may
 * run beside an append on one other thread, and beside an acquire by an object that has owned the journal before.
 * wants_prepare may be asked by any thread and never waits. A reader is an object of its own: whoever reads on another
 * thread, beside an owner, takes one. */
#ifndef REEVE_JOURNAL_H
#define REEVE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "batch.h"
#include "err.h"

enum journal_outcome {
    JOURNAL_DURABLE, /* synced; it will be there after any crash */
    JOURNAL_FENCED,  /* not appended: another owner took over */
    JOURNAL_UNKNOWN, /* may or may not be there: acquire anew, then read the head */
    JOURNAL_FULL,    /* not appended, nothing harmed: there is no room; try again when there is */
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

#define JOURNAL_SNAPSHOTS_MAX 64u
struct snapshot_list {
    uint64_t lsn[JOURNAL_SNAPSHOTS_MAX]; /* newest first */
    uint32_t count;
};

/* What an engine tells of itself, for people. A number that has no meaning in an engine is 0. */
struct journal_report {
    uint32_t segment_count; /* pieces that hold records, archive included */
    uint32_t archived_count;
    uint64_t batch_count;
    uint64_t mark_count; /* blocks without records: seals, beginnings of an epoch */
    uint64_t payload_bytes;
    uint64_t first_lsn; /* oldest record still there, 0 = none */
    uint64_t last_lsn;
    uint64_t epoch;
    bool sealed;             /* nothing but a mark follows the last batch */
    uint32_t snapshot_count; /* whole ones */
    uint64_t snapshot_lsn;   /* of the newest whole one */
};

/* What the code above has to know of an engine to use it well. Bytes are those of the records of a batch. */
struct journal_limits {
    uint64_t batch_bytes_max;      /* an append with more is a mistake of the caller */
    uint64_t batch_overhead_bytes; /* about what a batch takes of the space beside its records */
    uint64_t fill_bytes;           /* a smaller batch wastes space: worth a short wait when space is scarce */
};

struct journal {
    const struct journal_ops *ops;
    struct journal_limits limits; /* set when it is opened, never changed */
};

struct journal_ops {
    /* ERR_CONFLICT: the journal is another shard's, or another process keeps it. May be called again by the owner: it
     * begins another epoch, and the epoch before is fenced. */
    enum err (*acquire)(struct journal *j, uint32_t shard, struct journal_head *ret, struct why *why);
    enum journal_outcome (*append)(struct journal *j, uint64_t epoch, uint64_t expected_head, const struct batch *batch,
                                   struct why *why);
    /* What follows the seal is known never to have been written. Cheap when nothing was appended since the last one.
     * ERR_NO_SPACE harms nothing; ERR_FENCED is the loss of ownership; after any other error the object is dead. */
    enum err (*seal)(struct journal *j, struct why *why);
    /* Seals, then ends the ownership of `epoch`: another may acquire at once. Afterwards as after FENCED. No other call
     * may be under way: close the writer first. */
    enum err (*release)(struct journal *j, uint64_t epoch, struct why *why);
    /* ERR_NOT_FOUND: the journal is empty. */
    enum err (*shard)(struct journal *j, uint32_t *ret, struct why *why);
    /* Batches that end at or after from_lsn and begin at or before to_lsn. ERR_NOT_FOUND: from_lsn has left the
     * archive. When to_lsn < from_lsn nothing is read: the answer is whether reading could begin there. */
    enum err (*read)(struct journal *j, uint64_t from_lsn, uint64_t to_lsn, journal_batch_fn each, void *ctx,
                     struct why *why);
    /* An engine keeps records in pieces (a file: segments). The first LSNs of the newest `most` pieces that begin at or
     * below upto_lsn, newest first; fewer when there are no more. */
    enum err (*pieces)(struct journal *j, uint64_t upto_lsn, uint64_t *ret_first_lsns, uint32_t most,
                       uint32_t *ret_count, struct why *why);
    enum err (*snapshot_put)(struct journal *j, const struct snapshot_info *info, struct byte_source *from,
                             struct why *why);
    /* Those that are there; snapshot_get tells whether one is whole. A reader may find one gone since. */
    enum err (*snapshots)(struct journal *j, struct snapshot_list *ret, struct why *why);
    /* lsn = 0: the newest whole one from which the records go on; ret->lsn = 0 when there is none. Else exactly that
     * one: ERR_NOT_FOUND, or ERR_CORRUPT when it is not whole. `to` gets verified bytes only, and may be NULL. */
    enum err (*snapshot_get)(struct journal *j, uint64_t lsn, struct snapshot_info *ret, struct byte_sink *to,
                             struct why *why);
    /* Every batch and every snapshot. ERR_CORRUPT names the first damage. */
    enum err (*verify)(struct journal *j, struct journal_report *ret, struct why *why);
    /* 0 = as far as the newest snapshot reaches. */
    enum err (*trim)(struct journal *j, uint64_t upto_lsn, struct why *why);
    /* `moved` is called by the appending thread and must not call the journal. NULL = no longer. */
    enum err (*watch)(struct journal *j, void (*moved)(void *ctx, uint64_t head_lsn), void *ctx, struct why *why);
    /* Bytes that may still be promised to new work, less what the engine keeps back for work accepted before. */
    enum err (*space)(struct journal *j, uint64_t *ret_free_bytes, struct why *why);
    bool (*wants_prepare)(struct journal *j);
    enum err (*prepare)(struct journal *j, struct why *why); /* a failure is no harm: the append meets it again */
    /* Read-only, archive included: acquire, snapshot_put and trim are refused with ERR_STATE. It sees what was durable
     * when a call began, may be used while the owner appends, and is closed by itself. It may outlive `j`, but not what
     * the journal lies on (a file: the disk). */
    enum err (*reader)(struct journal *j, struct journal **ret, struct why *why);
    /* NULL = no other process can open it. Valid while the journal is open. */
    const char *(*locator)(const struct journal *j);
    /* Without sealing: a caller that stops cleanly seals first. Without releasing: what keeps others out goes with the
     * process, which may have more to write than the journal. */
    void (*close)(struct journal *j);
};

#endif
