/* writer.h: appends off the loop thread, at most one in flight.
 *
 * With an idle journal the loop appends by itself (one write and one sync are quicker than two hand-overs); under load
 * it hands the batch over and fills the next one meanwhile:
 *
 *     if (writer_append(w, …, may_wait, &r)) use(r);         // done on this thread
 *     else … poll writer_fd(w) … if (writer_take(w, &r)) use(r);
 *
 * A second thread makes the next segment ahead of need, so that no append waits for zeroes to be written. The
 * journal's owner-only calls (seal, read, acquire) may be made by the caller whenever nothing is in flight. */
#ifndef REEVE_WRITER_H
#define REEVE_WRITER_H

#include <stdbool.h>

#include "journal.h"

struct writer;

struct writer_result {
    enum journal_outcome outcome;
    uint64_t last_lsn; /* of the batch */
    struct why why;    /* empty when durable */
};

/* `j` is a file engine's journal, acquired, and stays the caller's. */
CHECKED enum err writer_open(struct journal *j, struct writer **ret, struct why *why);
/* Waits for what is in flight; its result, if not taken, is lost to the caller but not to the disk. */
void writer_close(struct writer *w);

/* Nothing may be in flight. True: appended here and now, the result is in `ret`. False: handed over; the records must
 * stay where they are until writer_take gave the result. `here` = the caller may be kept waiting for the sync. */
bool writer_append(struct writer *w, uint64_t epoch, uint64_t expected_head, const struct batch *batch, bool here,
                   struct writer_result *ret);
bool writer_is_busy(const struct writer *w); /* handed over and not yet taken; asked by the appending thread */
int writer_fd(const struct writer *w);       /* readable when writer_take will succeed */
bool writer_take(struct writer *w, struct writer_result *ret); /* never waits */

#endif
