/* check_end.h: what was once seen to be over stays so, and at the end every job is over or says why not. */
#ifndef REEVE_CHECK_END_H
#define REEVE_CHECK_END_H

#include "check_history.h"

void *check_end_new(void);
void check_end_free(void *notes);
bool check_end_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
