/* osroot.h: the files that a process sees, as a tree of its own (a mount namespace).
 *
 *     /usr /bin /sbin /lib* /etc   the machine's, to be read
 *     /proc                        of its own processes
 *     /dev                         null, zero, full, random, urandom, shm; no other device
 *     /tmp                         SPACE/tmp
 *     SPACE                        its directory, where it always is
 *     what was named               to be read, or to be changed
 *
 * All else does not exist: what has no name cannot be opened, listed, or asked about. The tree itself is read-only, and
 * nothing in it gives a program more rights or is a device. */
#ifndef REEVE_OSROOT_H
#define REEVE_OSROOT_H

#include <stdbool.h>

#include "err.h"

struct osroot {
    const char *space;
    const char *const *read, *const *write, *const *hide; /* as in struct proc_sandbox; never NULL */
    bool hide_secrets; /* of /etc, where rights do not do it already: the process keeps the worker's uid */
    bool has_net;      /* then names are looked up in what /etc/resolv.conf points to */
};

/* In a fresh mount and pid namespace, with the right to mount. Afterwards there is no way back. */
CHECKED enum err osroot_enter(const struct osroot *r, struct why *why);
/* Only /proc: all other files stay as they are. */
CHECKED enum err osroot_proc(struct why *why);

/* What osroot_enter makes visible of the machine, NULL-terminated: to be read. */
extern const char *const osroot_system[];

#endif
