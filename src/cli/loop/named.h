/* named.h: what people call things, as the ids that requests take. The words of a verb in the table say which of its
 * arguments and flags are flows, jobs, workers or blobs; those are completed here, once, before the verb runs.
 *
 *     FLOW, FLOW/JOB    an id, or a beginning of only one (the server completes it); else the name of a flow: the
 *                       newest of that name; @last: the newest flow that this user submitted
 *     WORKER            an id, or a beginning of only one
 *     HASH              a hash, or at least its first 6 digits
 *
 * A whole id always means itself, so that a script that names a flow that is gone never meets a namesake. A verb that
 * changes something tells which flow a name meant. What nothing fits stays as it is: then the server refuses it. */
#ifndef REEVE_NAMED_H
#define REEVE_NAMED_H

#include "cli.h"

#define NAMED_HASH_DIGITS_LEAST 6u
#define NAMED_LAST "@last"

/* For a verb that is connected. */
CHECKED enum err named_arguments(struct cli *c);
/* The flow that this text means, for who only offers; the text itself when nothing else fits. */
struct slice named_flow_quietly(struct cli *c, struct slice text);
/* What the table calls the argument at this place, without brackets and dots: "FLOW|JOB". `count`: arguments that there
 * are. Empty: the verb takes none there. */
struct slice named_place(const struct cli_verb *verb, int at, int count);
/* One of the words between bars is this one. */
bool named_has(struct slice place, const char *word);

#endif
