/* check_attempt.h: an attempt is given, run and completed at most once, and no job gets more of them than its
 * budget. */
#ifndef REEVE_CHECK_ATTEMPT_H
#define REEVE_CHECK_ATTEMPT_H

#include "check_history.h"

void *check_attempt_new(void);
void check_attempt_free(void *notes);
bool check_attempt_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
