/* check_policy.h: no attempt begins by permission of a policy that is no longer in force. */
#ifndef REEVE_CHECK_POLICY_H
#define REEVE_CHECK_POLICY_H

#include "check_history.h"

void *check_policy_new(void);
void check_policy_free(void *notes);
bool check_policy_entry(void *notes, const struct check_history *h, const struct trace_entry *e, char *text);

#endif
