/* oslisteners.h: which sockets listen at a TCP port of this machine, and whose they are, from /proc. */
#ifndef REEVE_OSLISTENERS_H
#define REEVE_OSLISTENERS_H

#include <stdint.h>
#include <sys/types.h>

#include "err.h"
#include "proc.h"

/* See net.h. */
uint64_t oslisteners_at(uint32_t port);

/* What the last look found: the same sockets are not looked at twice. All zero: there was none. */
struct oslisteners_seen {
    uint64_t sockets; /* a number for them, as that of net.h */
    enum proc_port owner;
    uint32_t holder; /* pid, of foreign ones */
    char name[16];   /* of the holder, as the kernel keeps it */
};

/* Whether a connection to 127.0.0.1 is answered by a process below `root`: see proc.h. */
enum proc_port oslisteners_owner(uint32_t port, pid_t root, struct oslisteners_seen *seen, struct why *why);

#endif
