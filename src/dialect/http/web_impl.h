/* web_impl.h: what the files of HTTP share. */
#ifndef REEVE_WEB_IMPL_H
#define REEVE_WEB_IMPL_H

#include "api.h"
#include "http_out.h"
#include "web.h"

/* ---- web_answer.c ---- */

/* A refusal: status 0 = that of the error table. `field` and `allow` may be NULL. Ends the request. */
void web_say_error(struct server *s, struct session *n, enum err e, uint16_t status, const char *text,
                   const char *field, const char *allow);
/* {"status": word} */
void web_say_status(struct server *s, struct session *n, uint16_t status, const char *word, const char *note);
void web_say_nothing(struct server *s, struct session *n, const char *allow); /* 204 */
void web_say_continue(struct server *s, struct session *n);
/* Into webs.out; what the connection has a say in is filled in. */
void web_put_head(struct server *s, struct session *n, struct http_head *h);

/* A refusal that says when to come again. */
void web_say_wait(struct server *s, struct session *n, uint32_t wait_ms, const char *text);
/* An answer of one's own: what is written goes out with this head, whose type and length are filled in. */
struct json web_json(struct server *s);
void web_send_json(struct server *s, struct session *n, struct http_head *h);
/* What is in webs.json, of that type, as the answer. Ends the request. */
void web_say_body(struct server *s, struct session *n, const struct api_said *said, const char *type);

/* ---- web_gate.c ---- */

/* Whether the head may go on to be a request; else it was answered. */
bool web_admit(struct server *s, struct session *n);
bool web_is_json(const struct http_request *r); /* its body, by its type */

/* ---- web_session.c ---- */

#define WEB_SESSION_VERBS "GET, HEAD, POST, DELETE, OPTIONS"
void web_session_init(struct server *s);
void web_session_fini(struct server *s);
/* Who comes with this cookie, and whether it may do so with this request. As authenticate. */
CHECKED enum err web_vouch_cookie(struct server *s, struct session *n, struct slice text, struct slice tenant,
                                  struct why *why);
bool web_check_rate(struct server *s, struct session *n); /* else it was answered */
bool web_is_session(const struct http_request *r);        /* about the session of a browser */
bool web_admit_login(struct server *s, struct session *n); /* POST to it, which needs no caller; as web_admit */
void web_serve_session(struct server *s, struct session *n);
bool web_answer_ticket(struct server *s, struct session *n); /* a login link, and then it was answered */

/* ---- web_asset.c ---- */

/* A file of the console, or a page of it. False: the path names neither, and nothing was answered. */
bool web_answer_asset(struct server *s, struct session *n);

/* ---- web_range.c ---- */

/* What a Range header asks for, into the message of a stream. False: there is none that makes sense here, and then
 * everything is sent (RFC 9110, 14.2). */
bool web_range_take(const struct http_request *r, uint8_t op, void *message, uint64_t *ret_most);
/* "bytes 0-9/100" for a part that begins at `from`; false: nothing of it is there, and the text says so. */
bool web_range_text(uint64_t from, uint64_t most, uint64_t total, char ret[64]);

/* ---- web_upload.c ---- */

uint64_t web_body_bytes_max(const struct http_in *in);
bool web_is_upload(const struct http_request *r);
/* A blob as a body: begun when the head was admitted, then whenever some of it came. False: it was refused. */
bool web_upload_begin(struct server *s, struct session *n);
void web_upload_more(struct server *s, struct session *n);

/* ---- web_mcp.c: the Model Context Protocol at /mcp ---- */

#define WEB_MCP_VERBS "POST, OPTIONS"
void web_mcp_init(struct server *s);
void web_mcp_fini(struct server *s);
bool web_is_mcp(const struct http_request *r);
bool web_mcp_admit(struct server *s, struct session *n); /* as web_admit, for a caller that is known */
void web_mcp_serve(struct server *s, struct session *n);
void web_mcp_answer(struct server *s, struct session *n, uint8_t op, const void *const *parts, uint32_t count);
void web_mcp_close(struct server *s, struct session *n); /* the connection is gone; fine when nothing is under way */

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
