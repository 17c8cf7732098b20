/* wireclient.h: a blocking client of the native wire, for tests against a real server. Everything that goes wrong fails
 * the test, unless the call says that it may. */
#ifndef REEVE_WIRECLIENT_H
#define REEVE_WIRECLIENT_H

#include "arena.h"
#include "wire.h"

#define WIRECLIENT_WAIT_MS 20000

struct wireclient {
    int fd; /* -1: not connected */
    struct buf in;
    size_t used;
    uint32_t request_last;
    struct arena arena; /* holds messages until the next wireclient_forget */
};

struct wiregot {
    uint8_t op, flags;
    uint32_t request;
    const void *message;
};

/* "127.0.0.1:7070" or "unix:/path". Says hello and takes the welcome; `token` may be NULL. */
void wireclient_open(struct wireclient *c, const char *address, const char *token, enum wire_peer peer);
bool wireclient_dial(struct wireclient *c, const char *address); /* the socket only; false: nobody there */
void wireclient_close(struct wireclient *c);
void wireclient_forget(struct wireclient *c); /* messages received so far */

bool wireclient_send_raw(struct wireclient *c, const void *bytes, size_t len); /* false: the peer is gone */
uint32_t wireclient_send(struct wireclient *c, enum wire_op op, const void *message); /* its request id; 0: gone */
bool wireclient_tell(struct wireclient *c, enum wire_op op, const void *message);     /* request 0 */
/* The next frame; false: the peer closed, or nothing came in time. */
bool wireclient_next(struct wireclient *c, int wait_ms, struct wiregot *ret);
/* Sends and waits for its answer; frames of the server's own accord are dropped. */
bool wireclient_try(struct wireclient *c, enum wire_op op, const void *message, struct wiregot *ret);
/* The same, and the answer must be of this opcode. */
const void *wireclient_ask(struct wireclient *c, enum wire_op op, const void *message, enum wire_op answer);
/* The same, and it must be refused with this code. Returns the sentence. */
const char *wireclient_refused(struct wireclient *c, enum wire_op op, const void *message, enum err code);

#endif
