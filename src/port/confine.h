/* confine.h: a process gives up what it does not need, for good: for programs of ours that read unauthenticated' bytes.
 *
 * One implementation, os/osconfine.c. Children of src/child get it in their `struct child_world`. */
#ifndef REEVE_CONFINE_H
#define REEVE_CONFINE_H

#include <stdbool.h>

#include "err.h"

struct confine_spec {
    const char *write;       /* a directory: all below it may be changed; NULL = nothing */
    const char *const *read; /* files and directories that may be read, NULL-terminated; NULL = those of the system */
    bool sockets;            /* it may make connections; else it may not even make a socket */
};

struct confine {
    /* Holds for this thread and what it begets: call it with one thread, after libraries were loaded. It runs no
     * program with more rights than its own, sees files only as said, keeps no capability, makes no namespace, dumps
     * no memory. ERR_UNSUPPORTED, in words, where the kernel cannot keep it; then nothing of it may be relied on. */
    enum err (*self)(const struct confine_spec *spec, struct why *why);
};

#endif
