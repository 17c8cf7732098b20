/* check_capacity.h: no worker is given more than it offers, and none that drains or is gone is given anything. */
#ifndef REEVE_CHECK_CAPACITY_H
#define REEVE_CHECK_CAPACITY_H

#include "check_history.h"

void *check_capacity_new(void);
void check_capacity_free(void *notes);
bool check_capacity_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
