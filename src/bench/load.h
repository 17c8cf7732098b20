/* load.h: connections that send the same request again and again. Made once and only renumbered, so that what is
 * measured is the server and not who asks. */
#ifndef REEVE_LOAD_H
#define REEVE_LOAD_H

#include "buf.h"
#include "err.h"
#include "wire.h"

#define LOAD_CONNECTIONS_MAX 64u

struct load_conn {
    int fd;
    uint32_t sent, answered;
    struct buf in;
    size_t used; /* of `in` */
};

struct load_conns {
    uint32_t count;
    int epoll;
    struct load_conn conns[LOAD_CONNECTIONS_MAX];
};

/* A token of NULL: nothing is said on the connections before the first request. */
CHECKED enum err load_open(struct load_conns *l, const char *address, uint32_t count, const char *token,
                           const char *build, struct why *why);
void load_close(struct load_conns *l);

struct load_plan {
    struct buf *request; /* one frame, or with `http` a request of HTTP */
    bool http;
    uint8_t answer;       /* opcode that is expected; anything else is a failure. By HTTP: 2xx */
    uint32_t flight;      /* requests under way on each connection */
    uint64_t answers_max; /* when it is over; 0 = by time */
    double seconds;
    struct bench *progress; /* NULL = not shown */
    const char *what;
};
/* *ret_seconds is from the first request to the last answer. Nothing is under way afterwards. */
CHECKED enum err load_run(struct load_conns *l, const struct load_plan *p, uint64_t *ret_answers, double *ret_seconds,
                          struct why *why);

#endif
