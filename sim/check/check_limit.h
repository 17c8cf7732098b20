/* check_limit.h: concurrency keys, rates and the running attempts of a tenant are never exceeded: by the records at
 * each assignment, and by the processes that are really alive. */
#ifndef REEVE_CHECK_LIMIT_H
#define REEVE_CHECK_LIMIT_H

#include "check_history.h"

void *check_limit_new(void);
void check_limit_free(void *notes);
bool check_limit_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
