/* web_stream.h: a connection of HTTP that has become a stream of events (subscribers.h): the handshake of WebSocket or
 * the head of server-sent events, what a client sends on a WebSocket, and ends. Nothing here ends the session itself:
 * whoever sends may walk a list that the end would change; web_step does. */
#ifndef REEVE_WEB_STREAM_H
#define REEVE_WEB_STREAM_H

#include "event_blocks.h"
#include "server_impl.h"

/* Whether the request may become one, and which; else it was answered. */
bool web_stream_check(struct server *s, struct session *n);
enum event_form web_stream_form(const struct session *n);
void web_stream_begin(struct server *s, struct session *n); /* the head; from here on it is one */
bool web_stream_is_open(const struct web *w);
bool web_stream_is_watch(const struct web *w); /* of messages, one after the other, in place of events */
void web_stream_tell(struct server *s, struct session *n, const struct frame *f); /* one of these; begins it */
void web_stream_end_session(struct server *s, const struct cookie *c); /* all that came in by this cookie */
void web_stream_received(struct server *s, struct session *n, struct slice bytes);
/* Are you there? Ends one that has not said a word for long, or whose token has expired. */
void web_stream_ping(struct server *s, struct session *n, int64_t period_ms);
void web_stream_end(struct server *s, struct session *n, enum websocket_code code, const char *why);
void web_stream_last_word(struct server *s, struct session *n, enum websocket_code code, const char *why);

#endif
