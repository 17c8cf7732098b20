/* webclient.h: a blocking client of HTTP/1.1 that sends what it is told to, good or bad, for tests against a real
 * server. Everything that goes wrong fails the test, unless the call says that it may. */
#ifndef REEVE_WEBCLIENT_H
#define REEVE_WEBCLIENT_H

#include <stdbool.h>

#include "arena.h"
#include "buf.h"

#define WEBCLIENT_WAIT_MS 20000

struct webclient {
    int fd;
    const char *token; /* sent by webclient_ask; NULL = none */
    struct buf in;
    struct arena arena; /* holds answers until it is closed */
};

struct webgot {
    int status; /* 0 = the peer closed without an answer */
    const char *head;
    const char *body; /* terminated */
    size_t bytes;     /* of the body */
};

void webclient_open(struct webclient *c, const char *address, const char *token); /* "127.0.0.1:7070", "unix:/path" */
void webclient_close(struct webclient *c);
/* Whether the server takes a flow, from a connection of its own. */
bool webclient_is_served(const char *address, const char *token);
void webclient_send(struct webclient *c, const char *text); /* may be more than is taken: an end is no failure */
void webclient_send_bytes(struct webclient *c, struct slice bytes);
struct webgot webclient_next(struct webclient *c);          /* the answer to the request that was sent first */
struct webgot webclient_next_head(struct webclient *c);     /* to a HEAD: no body follows */
/* Of an answer without an end: everything that came, from its head on, once it has this text. */
const char *webclient_until(struct webclient *c, const char *text);
bool webclient_is_closed(struct webclient *c);              /* by the peer, soon */
/* One request with Host, token and, where there is a body, its type and length. */
struct webgot webclient_ask(struct webclient *c, const char *verb, const char *path, const char *body);
/* The same, without taking the answer. */
void webclient_ask_only(struct webclient *c, const char *verb, const char *path, const char *body);
/* The same on a connection of its own, and this must be the status. */
struct webgot webclient_once(struct webclient *c, const char *address, const char *text, int status);
/* The text of a member of the outermost object; fails when there is none. */
const char *webgot_text(struct webclient *c, const struct webgot *got, const char *key);

#endif
