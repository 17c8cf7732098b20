/* web_impl.h: what the files of HTTP share. */
#ifndef REEVE_WEB_IMPL_H
#define REEVE_WEB_IMPL_H

#include "api.h"
#include "web.h"

/* ---- web_answer.c ---- */

/* A refusal: status 0 = that of the error table. `field` and `allow` may be NULL. Ends the request. */
void web_say_error(struct server *s, struct session *n, enum err e, uint16_t status, const char *text,
                   const char *field, const char *allow);
/* {"status": word} */
void web_say_status(struct server *s, struct session *n, uint16_t status, const char *word);
void web_say_nothing(struct server *s, struct session *n, const char *allow); /* 204 */
void web_say_continue(struct server *s, struct session *n);

/* ---- web_gate.c ---- */

/* Whether the head may go on to be a request; else it was answered. */
bool web_admit(struct server *s, struct session *n);

/* ---- web_upload.c ---- */

uint64_t web_body_bytes_max(const struct http_in *in);
bool web_is_upload(const struct http_request *r);
/* A blob as a body: begun when the head was admitted, then whenever some of it came. False: it was refused. */
bool web_upload_begin(struct server *s, struct session *n);
void web_upload_more(struct server *s, struct session *n);

/* ---- web.c ---- */

int64_t web_now(const struct server *s);                 /* monotonic; passes may lie far apart */
void web_goodbye(struct server *s, struct session *n);  /* the server is stopping */
void web_finished(struct server *s, struct session *n); /* its answer is out */
void web_deadline(struct server *s, struct web *w, int64_t at_ms); /* TIME_NEVER = none */

#endif
