/* job_token.h: the token of an attempt, by which a job reaches the server in its own name. It says which attempt it is
 * of, and proves it by an HMAC with a secret that never leaves the server: nothing is stored per attempt, and a restart
 * changes nothing. It is valid while that attempt is open. */
#ifndef REEVE_JOB_TOKEN_H
#define REEVE_JOB_TOKEN_H

#include "server_impl.h"

#define JOB_TOKEN_PREFIX "rvj_"
#define JOB_TOKEN_BYTES 160u /* with the zero */

void job_token_make(struct server *s, const struct attempt_effect *a, char ret[JOB_TOKEN_BYTES]);
/* Fills who comes with it and which attempt it is of. ERR_UNAUTHENTICATED: it is forged, or its flow is gone. */
CHECKED enum err job_token_check(struct server *s, struct slice text, struct caller *ret,
                                 struct attempt_effect *ret_job, struct why *why);
/* TOKEN_ bits that a caller has himself, so that he may give them to the tokens of jobs that he submits. */
uint8_t job_token_rights(const struct caller *c);
/* A job whose token has no further rights: for it, any flow but its own is not there. */
bool job_token_is_confined(const struct session *n);
/* Whether the attempt is still open; asked with each request (request_check). */
bool job_token_is_open(const struct server *s, const struct attempt_effect *a);

/* What a job has open when its attempt ends, ends with it: a watch, a stream, a wait, an upload. n->job was set. */
void job_token_attend(struct server *s, struct session *n);
void job_token_leave(struct server *s, struct session *n);
#endif
