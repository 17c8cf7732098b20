/* reason_view.h: why a job does not run, or how it ended, in the words that every client shows. Everything is put into
 * the arena of the frame. */
#ifndef REEVE_REASON_VIEW_H
#define REEVE_REASON_VIEW_H

#include "server_impl.h"

void reason_view(struct server *s, const struct job_view *job, struct wire_reason *ret);
/* How a job that is over ended, in a sentence. */
struct slice reason_view_end(struct server *s, const struct wire_job_view *v);

#endif
