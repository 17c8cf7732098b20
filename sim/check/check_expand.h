/* check_expand.h: what is promised of conditions and of foreach jobs, held against the records. */
#ifndef REEVE_CHECK_EXPAND_H
#define REEVE_CHECK_EXPAND_H

#include "check_history.h"

void *check_expand_new(void);
void check_expand_free(void *notes);
bool check_expand_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
