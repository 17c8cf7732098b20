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
/* What is in webs.json, of that type, as the answer. Ends the request. */
void web_say_body(struct server *s, struct session *n, const struct api_said *said, const char *type);

/* ---- web_gate.c ---- */

/* Whether the head may go on to be a request; else it was answered. */
bool web_admit(struct server *s, struct session *n);

/* The name that the request calls us by is one of ours; a page that sends it came from here. */
bool web_knows_host(const struct server *s, const struct session *n);
bool web_is_own_page(const struct session *n, struct slice origin);

/* ---- web.c ---- */

/* The message that a request means, as a frame into its lane. */
void web_give(struct server *s, struct session *n, uint8_t op, const void *message);

int64_t web_now(const struct server *s);                 /* monotonic; passes may lie far apart */
void web_goodbye(struct server *s, struct session *n);  /* the server is stopping */
void web_finished(struct server *s, struct session *n); /* its answer is out */
void web_deadline(struct server *s, struct web *w, int64_t at_ms); /* TIME_NEVER = none */

#endif
