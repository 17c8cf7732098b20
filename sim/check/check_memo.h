/* check_memo.h: what is promised of results that are used again. */
#ifndef REEVE_CHECK_MEMO_H
#define REEVE_CHECK_MEMO_H

#include "check_history.h"

void *check_memo_new(void);
void check_memo_free(void *notes);
bool check_memo_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
