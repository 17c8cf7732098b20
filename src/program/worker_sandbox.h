/* worker_sandbox.h: what a worker can put around its jobs: it tries, offers it as a capability, has uids for them. */
#ifndef REEVE_WORKER_SANDBOX_H
#define REEVE_WORKER_SANDBOX_H

#include "proc.h"
#include "worker_options.h"

struct worker_sandbox {
    struct why cannot;
    char told[320]; /* a line for the log */
    const char *paths[AGENT_LIST_MAX + 1], *hide[3];
    char text[(AGENT_LIST_MAX + 2) * WORKER_PATH_MAX]; /* of these */
    size_t used;
};

/* Completes the options. Right after the nursery was forked: it forks, too. */
CHECKED enum err worker_sandbox_open(struct worker_sandbox *s, struct worker_options *o, struct proc *proc,
                                     struct why *why);
/* Jobs with uids of their own get through to the directories they run in. */
CHECKED enum err worker_sandbox_reach(const struct worker_options *o, const char *space_path, struct why *why);
/* Whether a worker of this user could keep sandboxes; tried below `data`. With one thread: it forks. */
bool worker_sandbox_works(const char *data, struct why *ret_cannot);

#endif
