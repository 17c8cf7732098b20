/* up_playground.h: the part of `reeve up` that is there with --playground: it binds the ports, hands them to the
 * server, kills the server for real when asked to, and answers in its place until it is started again. */
#ifndef REEVE_UP_PLAYGROUND_H
#define REEVE_UP_PLAYGROUND_H

#include <sys/types.h>

#include "inherited_fds.h"
#include "standin_server.h"

#define UP_PLAYGROUND_FDS (STANDIN_FDS + 1)
#define UP_PLAYGROUND_RESTART_MS 30000 /* a killed server comes back by itself */

struct up_playground {
    struct inherited_fds handover;
    volatile struct playground_mark *mark;
    struct standin understudy;
    int control; /* our end of the line to the present server; -1 = none */
    pid_t pid;   /* of the server; 0 = it is dead */
    bool is_ready;
    int64_t again_ms; /* monotonic: when it is to be started */
};

struct up_playground_where {
    const char *data, *listen;
    const char *orion;      /* NULL = nowhere */
    const char *orion_else; /* when that is taken; NULL = then it cannot start */
};

CHECKED enum err up_playground_open(struct up_playground *p, const struct up_playground_where *where, struct why *why);
CHECKED enum err up_playground_before(struct up_playground *p, struct why *why); /* a start of the server: the line */
void up_playground_child(struct up_playground *p);              /* in it, before exec */
void up_playground_started(struct up_playground *p, pid_t pid); /* in us */
void up_playground_ended(struct up_playground *p, int64_t now_ms);
uint32_t up_playground_poll(struct up_playground *p, struct pollfd fds[UP_PLAYGROUND_FDS]);
/* After poll. */
void up_playground_step(struct up_playground *p, const struct pollfd *fds, uint32_t count, int64_t now_ms);

#endif
