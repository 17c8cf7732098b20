/* check.h: promises that hold whatever the code looks like, checked over the trace of a run.
 *
 * A checker knows what users were promised (nothing acknowledged is lost, nothing runs twice by accident …) and not
 * how jobs are scheduled; it must not include anything of src/core and must not ask the second model. Each lives in its
 * own file, keeps its own notes, and can object to one entry at a time. */
#ifndef REEVE_CHECK_H
#define REEVE_CHECK_H

#include "check_history.h"
#include "trace.h"

struct check;

struct check *check_new(void);
void check_free(struct check *c);

/* Shows one entry to every checker. False from the first objection on; check_finding then says who and why. */
bool check_entry(struct check *c, const struct trace_entry *e);
const char *check_finding(const struct check *c); /* NULL = no objection so far */

#endif
