/* osdetach.h: a process that goes its own way, in a session of its own: it lives on when this one ends. Started without
 * copying this process, however large that is; the calling thread waits until it has its program. */
#ifndef REEVE_OSDETACH_H
#define REEVE_OSDETACH_H

#include <sys/types.h>

/* What it says goes to `log`. 0, or why not (errno). Any thread. */
int osdetach_start(const char *path, char **argv, char **env, int log, pid_t *ret);

#endif
