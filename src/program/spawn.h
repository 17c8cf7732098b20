/* spawn.h: a process that must not outlive this one, started from a program with a loop and perhaps threads. */
#ifndef REEVE_SPAWN_H
#define REEVE_SPAWN_H

#include <sys/types.h>

#include "err.h"

struct spawn {
    const char *path;
    const char *const *argv; /* NULL-terminated */
    const char *variable;    /* "NAME=value", added to our environment; NULL = none */
    int input, output;       /* descriptors; -1 = /dev/null, our standard error */
    int death_signal;        /* that the kernel sends it when we are gone */
};

/* In a process group of its own: what a terminal sends us is for us, and the group can be killed whole. */
CHECKED enum err spawn_start(const struct spawn *s, pid_t *ret, struct why *why);

#endif
