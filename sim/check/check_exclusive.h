/* check_exclusive.h: an exclusive job never has two processes at once; where a paused machine makes that impossible to
 * know, the later one carries the higher fence. */
#ifndef REEVE_CHECK_EXCLUSIVE_H
#define REEVE_CHECK_EXCLUSIVE_H

#include "check_history.h"

void *check_exclusive_new(void);
void check_exclusive_free(void *notes);
bool check_exclusive_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
