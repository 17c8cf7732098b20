/* secure.h: TLS over a connected socket, for programs that wait for one thing at a time (the command line). os/ has the
 * only one there is. */
#ifndef REEVE_SECURE_H
#define REEVE_SECURE_H

#include "err.h"
#include "slice.h"

struct secure_files { /* as in os/ostls.h: each may be NULL */
    const char *cert, *key, *ca, *pin;
};

struct secure; /* one connection */

struct secure_ops {
    /* Shakes hands over a socket that stays the caller's. `host` is who must be there. */
    enum err (*open)(const struct secure_files *files, int fd, const char *host, struct secure **ret, struct why *why);
    enum err (*send)(struct secure *s, struct slice bytes, struct why *why);
    /* Waits until something came; *ret 0 = nothing in time, or a signal. wait_ms < 0 = for ever. */
    enum err (*receive)(struct secure *s, void *to, size_t bytes, int wait_ms, size_t *ret, struct why *why);
    void (*close)(struct secure *s);
};

#endif
