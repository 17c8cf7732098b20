/* callback_token.h: tokens by which someone outside, who needs no other right here, says that an external job is over.
 * Such a token names the job, what was begun (an attempt, or the question that the job stands before) and when it
 * expires, and proves that by hmac_token.h. So it is of no use for another job, nor for another attempt of the same
 * one, and none is left when the job is over: the first word ends it (req_complete.c). */
#ifndef REEVE_CALLBACK_TOKEN_H
#define REEVE_CALLBACK_TOKEN_H

#include "server_impl.h"

#define CALLBACK_TOKEN_PREFIX "rvc_"
#define CALLBACK_TOKEN_BYTES 192u /* with the zero */
#define CALLBACK_URL_BYTES 512u
#define CALLBACK_PATH "/api/v1/callback/"

struct callback {
    struct job_ref job;
    bool of_question;
    uint64_t number; /* of the question, or of the attempt */
    int64_t expires_ms;
};

void callback_token_make(struct server *s, const struct callback *c, char ret[CALLBACK_TOKEN_BYTES]);
/* Where a token can be sent by HTTP; empty when nobody has said where this server is reached. */
void callback_token_url(const struct server *s, const char *token, char ret[CALLBACK_URL_BYTES]);
/* Whoever comes with it and nothing else: may say how the job is, and no more. */
CHECKED enum err callback_token_caller(struct server *s, struct slice token, struct caller *ret, struct why *why);
/* ERR_UNAUTHENTICATED: forged, or expired. Whether the job still waits is the engine's to say. */
CHECKED enum err callback_token_check(struct server *s, struct slice token, struct callback *ret, struct why *why);

#endif
