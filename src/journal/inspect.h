/* inspect.h: what a person may ask of a journal: what is in it. (Is it whole? That is the journal's `verify`.) By a
 * reader (journal.h), so also beside a live server. */
#ifndef REEVE_INSPECT_H
#define REEVE_INSPECT_H

#include "journal.h"

/* How many records of each kind there are; `ret` has REC_KIND_END places. */
CHECKED enum err inspect_count(struct journal *reader, uint64_t ret[], struct why *why);
/* One line of JSON per record with from <= LSN <= to. */
CHECKED enum err inspect_dump(struct journal *reader, uint64_t from, uint64_t to, struct byte_sink *out,
                              struct why *why);

#endif
