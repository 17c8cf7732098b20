/* check_service.h: a service is one process at a time, runs only while it is meant to, and counts as deployed only
 * when a worker said that this very version is healthy. */
#ifndef REEVE_CHECK_SERVICE_H
#define REEVE_CHECK_SERVICE_H

#include "check_history.h"

void *check_service_new(void);
void check_service_free(void *notes);
bool check_service_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
