/* blobs.h: files that a job needs before its start and that come as blobs; and files that it leaves and that go as
 * blobs: artifacts, and a result too large for the journal. One at a time for each attempt, over the one connection;
 * what was broken off goes on after the next attach. */
#ifndef REEVE_BLOBS_H
#define REEVE_BLOBS_H

#include "agent_impl.h"

/* Whether the parents left what it takes of them. */
CHECKED enum err blobs_check(const struct wire_assignment *order, const struct wire_run *run, struct why *why);
/* Begins to fetch what the order needs and says true; or there is nothing to fetch. When all is there, or cannot be
 * had, run_fetched is called. */
bool blobs_fetch(struct agent *a, struct attempt *t, const struct wire_assignment *order, const struct wire_run *run);
/* Where the result of the input of that number lies, when it came as a blob. */
void blobs_input_name(uint32_t number, char ret[32]);

/* Lists what is to be kept. False, with the words: something is missing. */
bool blobs_gather(struct agent *a, struct attempt *t, const struct wire_run *run, struct why *why);
void blobs_keep_result(struct attempt *t, const char *inside);
/* Begins to send it and says true; or there is nothing to send. At the end run_kept is called. */
bool blobs_keep(struct agent *a, struct attempt *t);

void blobs_hear(struct agent *a, const struct frame *f, const void *message);
void blobs_refused(struct agent *a, const struct frame *f, struct slice code, struct slice text);
/* Refused for now: tells the server why the file waits. */
void blobs_held(struct agent *a, uint32_t request, const char *why);
void blobs_again(struct agent *a, struct attempt *t); /* a new connection */
void blobs_stop(struct agent *a, struct attempt *t);

#endif
