/* check_finale.h: what is promised of the jobs that follow the main ones. */
#ifndef REEVE_CHECK_FINALE_H
#define REEVE_CHECK_FINALE_H

#include "check_history.h"

void *check_finale_new(void);
void check_finale_free(void *notes);
bool check_finale_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
