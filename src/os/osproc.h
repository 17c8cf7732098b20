/* osproc.h: processes of jobs on Linux (port/proc.h). Who keeps them from outliving their worker: ossupervisor.h.
 *
 * Everything it waits for is behind one descriptor, so that any loop can drive it. */
#ifndef REEVE_OSPROC_H
#define REEVE_OSPROC_H

#include "proc.h"

struct oscgroup;

/* `groups`: by what limits are kept; NULL = by nothing. Forks the nursery: to be called first, while this process is
 * small and has one thread. Ignores SIGPIPE from here on: a job may close its standard input. */
CHECKED enum err osproc_open(const struct oscgroup *groups, struct proc **ret, struct why *why);
/* Uids for processes that ask for one of their own: no two at once have the same. */
void osproc_uids(struct proc *p, uint32_t first, uint32_t last);
void osproc_close(struct proc *p); /* kills what is left, and waits until it is dead */
int osproc_fd(const struct proc *p); /* readable while osproc_run has something to do */
void osproc_run(struct proc *p);     /* calls the handlers; never waits */
bool osproc_is_well(const struct proc *p); /* false: the nursery is gone, and nothing more can be started */

#endif
