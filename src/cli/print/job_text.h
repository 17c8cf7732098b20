/* job_text.h: a job in the words that people read, the same in lists, pictures and reasons. */
#ifndef REEVE_JOB_TEXT_H
#define REEVE_JOB_TEXT_H

#include "cli.h"
#include "out.h"

/* Its state; of one that failed only because of another, WIRE_UPSTREAM_FAILED. */
struct slice job_text_state(const struct wire_job_view *v);
/* "exit 3", "signal 9", else the cause; empty = it says nothing. */
void job_text_end(const struct wire_job_view *v, struct buf *to);
/* "200 items: 198 succeeded, 2 failed" of a foreach job. */
void job_text_items(const struct wire_job_view *v, struct buf *to);
/* What its items do, which job it failed because of, or its end. */
void job_text_brief(const struct wire_job_view *v, struct buf *to);
/* The same, or what it waits for; and the reason in words. Empty = nothing is to be said. */
void job_text_reason(const struct wire_job_view *v, struct buf *to);
/* How long its last attempt took, or has taken so far; "-" = it has had none. */
const char *job_text_took(const struct wire_job_view *v, int64_t now_ms, char text[OUT_TIME_BYTES]);

#endif
