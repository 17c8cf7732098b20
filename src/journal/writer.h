/* writer.h: appends off the loop thread, at most one in flight.
 *
 * With an idle journal the loop appends by itself (one write and one sync are quicker than two hand-overs); under load
 * it hands the batch over and fills the next one meanwhile:
 *
 *     if (writer_append(w, …, may_wait, &r)) use(r);         // done on this thread
 *     else … poll writer_fd(w) … if (writer_take(w, &r)) use(r);
 *
 * A second thread keeps house: it makes the next segment ahead of need, so that no append waits for zeroes to be
 * written, and it trims. The journal's owner-only calls (seal, acquire) may be made by the caller whenever nothing is
 * in flight; a writer outlives the loss of the journal and serves the next epoch.
 *
 * Compaction, for a loop that never waits (`c` is os/oschild.h's child; even starting it takes time, because the
 * starting thread waits until the child has its own program):
 *
 *     start            writer_chore(w, fn, ctx), where fn calls oschild_compact(locator, archive_days, &c, &why)
 *     writer_fd        if (writer_chore_take(w)) poll c.pidfd from now on
 *     c.pidfd          if (oschild_ended(&c, &code) && code == 0) writer_trim(w, 0)
 *     writer_fd        if (writer_trim_take(w, &t) && t.err != ERR_OK) log it
 *
 * Idleness: whenever nothing was appended for WRITER_IDLE_MS, call writer_idle(w). */
#ifndef REEVE_WRITER_H
#define REEVE_WRITER_H

#include <stdbool.h>

#include "journal.h"

#define WRITER_IDLE_MS 100

struct writer;

struct writer_result {
    enum journal_outcome outcome;
    bool seal;         /* the result of writer_idle, not of an append: no record became durable by it */
    uint64_t last_lsn; /* of the batch */
    struct why why;    /* empty when durable */
};

/* `j` is acquired and stays the caller's. Not threaded: what is handed over waits until the
 * owner calls writer_step, which is how a simulator has the two threads' work done when it likes; there is no fd. */
CHECKED enum err writer_open(struct journal *j, bool threaded, struct writer **ret, struct why *why);
bool writer_step(struct writer *w); /* one thing that a thread would do; false: there is none */
/* Waits for what is in flight; its result, if not taken, is lost to the caller but not to the disk. */
void writer_close(struct writer *w);

/* Nothing may be in flight. True: appended here and now, the result is in `ret`. False: handed over; the records must
 * stay where they are until writer_take gave the result. `here` = the caller may be kept waiting for the sync. */
bool writer_append(struct writer *w, uint64_t epoch, uint64_t expected_head, const struct batch *batch, bool here,
                   struct writer_result *ret);
bool writer_is_busy(const struct writer *w); /* handed over and not yet taken; asked by the appending thread */
/* Readable when one of the takes may succeed; writer_take clears it. -1 = none. */
int writer_fd(const struct writer *w);
bool writer_take(struct writer *w, struct writer_result *ret); /* never waits */

/* Seals the tail when batches were appended since the last mark: from then on rot in the last one is damage, not a
 * torn end. True: a seal is in flight like an append, and writer_take gives its result. False: nothing to do, or
 * something is in flight. A failed seal is a failed append. */
bool writer_idle(struct writer *w);

/* Has `fn` called once on the housekeeping thread, for what is no business of the journal's and would keep the loop
 * waiting. One at a time; `ctx` is the thread's until writer_chore_take said true. Dropped when the writer is closed
 * before it began. */
void writer_chore(struct writer *w, void (*fn)(void *ctx), void *ctx);
bool writer_chore_take(struct writer *w); /* it has ended. Never waits */

struct writer_trim_result {
    enum err err;
    struct why why;
};
/* Hands a trim to the housekeeping thread; 0 = as far as the newest snapshot reaches. Never waits. Asked again before
 * the first one began, the two are one. */
void writer_trim(struct writer *w, uint64_t upto_lsn);
/* The result of a trim that has ended. Never waits. The next trim begins only when it was taken. A failed one harms
 * nothing: the next one goes on with it, or the next start does. */
bool writer_trim_take(struct writer *w, struct writer_trim_result *ret);

#endif
