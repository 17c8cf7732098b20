/* inherited_fds.h: what `reeve up --playground` hands to its server: sockets that stay open when the server is killed,
 * memory that outlives it, and a line to the supervisor. They are descriptors that the server inherits; a variable
 * of the environment says which is which. */
#ifndef REEVE_INHERITED_FDS_H
#define REEVE_INHERITED_FDS_H

#include "err.h"
#include "kill_switch.h"

#define INHERITED_FDS_VARIABLE "REEVE_HANDOVER"

/* What the server says on the line, a byte each. */
#define INHERITED_FDS_READY 'r' /* it listens */
#define INHERITED_FDS_KILL 'k'  /* somebody pulled the plug */

struct inherited_fds {
    int listen, orion; /* sockets that listen; -1 = none */
    int control;       /* the server's end of the line */
    int mark;          /* struct playground_mark, in a file without a name */
    uint32_t kills;
    bool killed; /* a server before this one was */
    int64_t died_ms; /* wall: when; 0 = none was */
};

/* The supervisor, between fork and exec: the descriptors stay open, and the variable is set. */
void inherited_fds_give(const struct inherited_fds *h);
/* The server. False: nothing was handed over. Afterwards the variable is gone, and no child inherits the rest. */
bool inherited_fds_take(struct inherited_fds *ret);
/* Either: the memory behind `mark`. */
CHECKED enum err inherited_fds_map(int mark, volatile struct playground_mark **ret, struct why *why);

#endif
