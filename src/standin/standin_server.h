/* standin_server.h: who answers on the server's port while the server is dead: the supervisor of `reeve up
 * --playground`. It says how things stand, takes the word to start the server again, and tells everyone else to
 * come back in a moment. One request per connection, in the supervisor's own thread, by poll. It knows no flow and
 * keeps nothing. */
#ifndef REEVE_STANDIN_SERVER_H
#define REEVE_STANDIN_SERVER_H

#include <poll.h>

#include "http.h"
#include "limit.h"
#include "wire_playground.h"

#define STANDIN_SEATS 64u
#define STANDIN_FDS (STANDIN_SEATS + 2)

struct seat { /* a connection */
    int fd;   /* -1 = free */
    bool is_orion;
    bool waits;    /* for the server to be there: then it is answered */
    bool answered; /* what is in `out` is the last of it */
    int64_t until_ms;
    struct http_in in;
    struct buf out;
    size_t sent;
};

struct standin {
    const char *data;
    struct limits limits;
    int listen, orion; /* -1 = none */
    const char *origins; /* of pages that may use Orion's interface, with commas; NULL = none */
    struct seat seats[STANDIN_SEATS];
    /* Its owner keeps these as they are. */
    struct wire_playground now;
    int64_t died_ms, back_ms; /* wall: when the server was last seen to end, and to be ready again */
    /* And looks at this. */
    bool recover_wanted;
};

void standin_init(struct standin *u, const char *data, int listen, int orion);
/* What to wait for: the connections, and with `on_stage` the listeners. How many. */
uint32_t standin_poll(struct standin *u, bool on_stage, struct pollfd fds[STANDIN_FDS]);
void standin_step(struct standin *u, const struct pollfd *fds, uint32_t count, int64_t now_ms);
void standin_relieved(struct standin *u);         /* the server is ready */
bool standin_is_waiting(const struct standin *u); /* someone's time may run out: turn within a second */

/* standin_answer.c: writes the whole answer. False: the answer has to wait for the server. */
bool standin_answer(struct standin *u, const struct http_request *r, bool is_orion, struct buf *out);
void standin_refuse(struct standin *u, uint16_t status, enum err e, const char *text, struct buf *out);

#endif
