/* check_saga.h: what is promised of compensations, held against the processes that really ran. */
#ifndef REEVE_CHECK_SAGA_H
#define REEVE_CHECK_SAGA_H

#include "check_history.h"

void *check_saga_new(void);
void check_saga_free(void *notes);
bool check_saga_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
