/* check_log.h: nothing leaves before it is durable, nothing durable is lost or changed, epochs and times never fall. */
#ifndef REEVE_CHECK_LOG_H
#define REEVE_CHECK_LOG_H

#include "check_history.h"

void *check_log_new(void);
void check_log_free(void *notes);
bool check_log_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
