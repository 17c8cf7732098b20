/* http_judge.h: llhttp as the judge of our reader of requests (ADR 0103). Whatever ours takes, llhttp must take, too,
 * as one message with the same end, method, target, headers and body. Ours may refuse more. */
#ifndef REEVE_HTTP_JUDGE_H
#define REEVE_HTTP_JUDGE_H

#include "http.h"

/* `ours` has read these bytes as one whole message. Panics when llhttp has not. */
void http_judge(const struct http_in *ours, struct slice message);
bool http_judge_takes(struct slice message); /* llhttp alone: one whole message, nothing behind it */

#endif
