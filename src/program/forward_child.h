/* forward_child.h: the child that hands the audit trail on, to a file or a server (os/osforward.h starts it).
 *
 *     --child-forward LOCATOR TARGET KEPT FORMAT WHAT HEADERS
 *
 * TARGET is file:PATH or a URL; KEPT the file with the number of the last record that was delivered; FORMAT jsonl or
 * ocsf; WHAT people or everything; HEADERS a file with further headers for requests, "" = none.
 *
 * Pages of an export (audit_export.h) go out in order, each again and again until it is taken; then the number is kept,
 * durably, and told: "at LSN". So every record arrives at least once, and in order; a page that was taken just before a
 * crash comes twice, under the same numbers. What stands in the way is told as "bad TEXT". */
#ifndef REEVE_FORWARD_CHILD_H
#define REEVE_FORWARD_CHILD_H

#include <stdbool.h>

bool forward_child_is(int argc, char **argv);
int forward_child_run(char **argv, const char *build);

#endif
