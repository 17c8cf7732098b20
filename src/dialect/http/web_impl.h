/* web_impl.h: what the files of HTTP share. */
#ifndef REEVE_WEB_IMPL_H
#define REEVE_WEB_IMPL_H

#include "http_dialect.h"

/* ---- web_answer.c ---- */

void web_say_continue(struct server *s, struct session *n);
/* As dialect_ops.make and made. */
bool web_make(struct server *s, struct session *n, uint32_t request, enum wire_op op, const void *message,
              struct slice *ret);
void web_made(struct server *s, struct session *n, uint32_t request, struct slice made);

/* ---- web_gate.c ---- */

/* Whether the head may go on to be a request; else it was answered. */
bool web_admit(struct server *s, struct session *n);
bool web_is_session(const struct http_request *r); /* about the session of a browser: web_session.c serves it */
/* A refusal of who comes too often, which is counted. */
void web_say_limited(struct server *s, struct session *n, int64_t wait_ms, const char *text);

/* ---- web_session.c ---- */

#define WEB_SESSION_VERBS "GET, HEAD, POST, DELETE, OPTIONS"
void web_session_init(struct server *s);
void web_session_fini(struct server *s);
/* Who comes with this cookie, and whether it may do so with this request. As authenticate. */
CHECKED enum err web_vouch_cookie(struct server *s, struct session *n, struct slice text, struct slice tenant,
                                  struct why *why);
/* POST to it, which needs no caller; as web_admit. */
bool web_admit_login(struct server *s, struct session *n, const struct http_request *r);
void web_serve_session(struct server *s, struct session *n);
bool web_answer_ticket(struct server *s, struct session *n); /* a login link, and then it was answered */

/* For who comes by another way than a token: how long this address has to wait, in ms; that it failed. */
int64_t web_login_wait(struct server *s, const struct session *n);
void web_login_failed(struct server *s, struct session *n, const char *text);
/* `who` (cookie.h) is in: a cookie, and on to the console. On an error nothing was answered. */
CHECKED enum err web_login_enter(struct server *s, struct session *n, const char *who, struct why *why);

/* ---- web_oidc.c ---- */

/* A page of /login, for GET and HEAD. False: it is none, and nothing was answered. */
bool web_answer_login(struct server *s, struct session *n);
void web_oidc_go_on(struct server *s); /* answers of providers came: outside of all others */
void web_oidc_fini(struct server *s);

/* ---- web_asset.c ---- */

/* A file of the console, or a page of it, for GET and HEAD. False: the path names neither, and nothing was answered. */
bool web_answer_asset(struct server *s, struct session *n);

/* ---- web_range.c ---- */

/* What a Range header asks for, into the message of a stream. False: there is none that makes sense here, and then
 * everything is sent (RFC 9110, 14.2). */
bool web_range_take(const struct http_request *r, uint8_t op, void *message, uint64_t *ret_most);
/* "bytes 0-9/100" for a part that begins at `from`; false: nothing of it is there, and the text says so. */
bool web_range_text(uint64_t from, uint64_t most, uint64_t total, char ret[64]);

/* ---- web_upload.c ---- */

/* A blob as a body: begun when the head was admitted, then whenever some of it came. False: it was refused. */
bool web_upload_begin(struct server *s, struct session *n);
void web_upload_more(struct server *s, struct session *n);
void web_unstick(struct server *s); /* the disk has taken something: bodies that wait for it go on */

/* ---- web_stream.c ---- */

bool web_stream_is_watch(const struct web *w); /* of messages, one after the other, in place of events */
void web_stream_tell(struct server *s, struct session *n, enum wire_op op, const void *message); /* one; begins it */
void web_stream_end_session(struct server *s, const struct cookie *c); /* all that came in by this cookie */
void web_stream_received(struct server *s, struct session *n, struct slice bytes);

/* ---- web.c ---- */

const struct http_mount *web_mount_of(const struct http_request *r); /* NULL = its path is of our own face */
void web_deadline(struct server *s, struct web *w, int64_t at_ms);   /* TIME_NEVER = none */

#endif
