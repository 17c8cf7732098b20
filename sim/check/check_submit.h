/* check_submit.h: an acknowledged submit is there exactly once; a key means one body and one answer. */
#ifndef REEVE_CHECK_SUBMIT_H
#define REEVE_CHECK_SUBMIT_H

#include "check_history.h"

void *check_submit_new(void);
void check_submit_free(void *notes);
bool check_submit_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
