/* reason.h: why something waits or has failed, for verbs that wait: one line on standard error after a second of
 * silence, again only when the reason changes; and at the end which jobs failed, how, and their last lines. */
#ifndef REEVE_REASON_H
#define REEVE_REASON_H

#include <stdio.h>

#include "cli.h"

#define REASON_AFTER_MS 1000 /* of silence */

/* What is asked on the side while frames of other requests come in. Zeroed = nothing was asked or told yet. */
struct reason {
    uint32_t list_request, why_request; /* 0 = none is open */
    char told[256];                     /* last; the same is not told twice */
};

/* Asks about a job, or about the jobs of a flow that stand still; nothing while an earlier question is open. */
CHECKED enum err reason_ask(struct cli *c, struct reason *r, struct slice target);
/* True: the frame answers such a question, and was dealt with. */
CHECKED bool reason_hear(struct cli *c, struct reason *r, const struct client_frame *f);
/* The connection is another: nothing is open any more. */
void reason_forget(struct reason *r);

/* What a person should know about the reason, as one line: with the command that approves, if that is what it takes. */
void reason_text(const struct wire_reason *r, char *ret, size_t size);

/* The end of what the last attempt of a job wrote, indented; nothing when it wrote nothing. */
void reason_last_lines(struct cli *c, struct slice job, FILE *to);
/* The failed jobs of a flow, or the job, on standard error: exit code, reason and last lines of each. */
CHECKED enum err reason_failures(struct cli *c, struct slice target);

#endif
