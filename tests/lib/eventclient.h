/* eventclient.h: a client of /api/v1/events, by WebSocket or as server-sent events, for tests against a real server. It
 * keeps the position of every event that it heard and fails the test when one does not rise. */
#ifndef REEVE_EVENTCLIENT_H
#define REEVE_EVENTCLIENT_H

#include <stdbool.h>

#include "buf.h"
#include "position.h"
#include "vec.h"

#define EVENTCLIENT_WAIT_MS 20000

struct eventclient {
    int fd;
    bool is_sse;
    bool is_closed;
    uint16_t code; /* of the close, 0 = none came */
    struct buf in;
    size_t used;
    struct vec heard; /* struct position */
    struct position last;
    char hello[256]; /* the first message */
    uint32_t gaps, ticks;
    uint64_t dropped; /* that gaps told of */
};

struct eventclient_message {
    char type[16];
    char text[512]; /* the beginning of it */
    struct position at;
    bool has_position;
};

/* What the system holds for clients opened from now on; 0 = as it likes. With a megabyte or more it would take a while
 * until one who does not read is noticed. */
extern int eventclient_receive_bytes;

/* `query` with its "?", or "". `header` is a whole line with its end, or "". */
void eventclient_open(struct eventclient *c, const char *address, const char *token, const char *query, bool sse,
                      const char *header);
void eventclient_close(struct eventclient *c);
/* The next message; false: the peer closed, or nothing came in time. */
bool eventclient_next(struct eventclient *c, int wait_ms, struct eventclient_message *ret);
/* Takes what is there without waiting. */
void eventclient_pump(struct eventclient *c);
/* Waits until this has been heard, or something behind it. */
void eventclient_until(struct eventclient *c, struct position at);
void eventclient_send(struct eventclient *c, const void *bytes, size_t len); /* as they are */
uint32_t eventclient_count(const struct eventclient *c);
/* Both heard the same, from the first event behind `from` on. */
void eventclient_same(const struct eventclient *a, const struct eventclient *b, struct position from);

#endif
