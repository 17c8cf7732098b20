/* check_tenancy.h: who belongs to a tenant changes nothing of another one's, and is told to run nothing of it. */
#ifndef REEVE_CHECK_TENANCY_H
#define REEVE_CHECK_TENANCY_H

#include "check_history.h"

void *check_tenancy_new(void);
void check_tenancy_free(void *notes);
bool check_tenancy_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
