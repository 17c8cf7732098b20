/* osfilter.h: system calls that a process gives up for good (seccomp).
 *
 * Everything that is not named here stays allowed: jobs are programs of all kinds, and a list of what they may call
 * would be wrong the day after. What is refused are the doors out of a sandbox (namespaces, mounts, other processes'
 * memory) and the parts of the kernel in which most holes were found (bpf, io_uring, userfaultfd, keys, odd sockets).
 * A refused call fails with EPERM, as if a right were missing; programs of another word size are killed at their first
 * call. Inherited by all children; nothing takes it back. */
#ifndef REEVE_OSFILTER_H
#define REEVE_OSFILTER_H

#include "err.h"

enum osfilter_sockets {
    OSFILTER_SOCKETS_PLAIN, /* Unix, IPv4, IPv6 and netlink; none of them raw */
    OSFILTER_SOCKETS_NONE,  /* what is open stays, and pairs may be made */
};

/* The process must not be able to gain privileges any more (PR_SET_NO_NEW_PRIVS). */
CHECKED enum err osfilter_load(enum osfilter_sockets sockets, struct why *why);

#endif
