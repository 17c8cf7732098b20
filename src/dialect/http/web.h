/* web.h: HTTP, a second dialect of a session. A request is turned into the message of the wire that it means (api.h)
 * and goes into the same lanes; frames that answer it are turned into JSON on their way out. So an answer by HTTP
 * leaves when one by native v2 would, and a route of HTTP is a line in a table.
 *
 * One request of a connection is served at a time, and further ones wait in its buffer: answers are in order, and each
 * request may come with a token of its own. */
#ifndef REEVE_WEB_H
#define REEVE_WEB_H

#include "server_impl.h"

void web_init(struct server *s);
void web_fini(struct server *s);

void web_open(struct server *s, struct session *n);  /* its first bytes were those of HTTP */
void web_close(struct server *s, struct session *n); /* it goes; nothing to do when it spoke native v2 */
/* With what waits in n->in before them. The session may be gone afterwards. */
void web_received(struct server *s, struct session *n, struct slice bytes);
/* Frames that would leave by native v2. The session stays. */
void web_frames(struct server *s, struct session *n, struct slice frames);
/* An answer of one message to the request that is under way, without a frame in between. web_make leaves it in webs.out
 * for whoever holds it until it may leave by web_made; web_message sends it. False: it has to go as frames. */
bool web_make(struct server *s, struct session *n, uint32_t request, uint8_t op, const void *message);
void web_made(struct server *s, struct session *n, uint32_t request, struct slice made);
bool web_message(struct server *s, struct session *n, uint32_t request, uint8_t op, const void *message);
/* The answer to this request tells one item of a list and nothing else of its message: the rest need not be made. */
bool web_tells_item(const struct session *n, uint32_t request);
/* The last answer, when the session is ended from outside. */
void web_refuse(struct server *s, struct session *n, enum err e, const char *text);

void web_drained(struct server *s, struct session *n); /* everything is out */
void web_unstick(struct server *s);      /* the disk has taken something: bodies that wait for it go on */
void web_step(struct server *s);         /* the end of each pass: connections whose answer is out */
int64_t web_expire(struct server *s);    /* ends what is too slow; when the next one is due */

#endif
