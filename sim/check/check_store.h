/* check_store.h: the shared store does what one thread with a table would do: every answer is the one that follows from
 * the commands decided before it, nothing that was answered is lost by a restart, no key is shown at or behind its time
 * to expire, and the keys of a flow are gone with it. */
#ifndef REEVE_CHECK_STORE_H
#define REEVE_CHECK_STORE_H

#include "check_history.h"

void *check_store_new(void);
void check_store_free(void *notes);
bool check_store_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
