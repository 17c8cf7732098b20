/* ossupervisor.h: the processes that stand between a worker and its jobs, so that nothing outlives what it belongs to.
 *
 *     worker ── nursery ─┬─ keeper ── job ── whatever it begets
 *                        └─ keeper ── job
 *
 * The nursery is forked once, while the worker is still small, and forks keepers: forks of a small process, which the
 * worker itself soon no longer is. A keeper looks after one job at a time, and waits for the next one when nothing of
 * that is left. It is the subreaper of its job: what leaves its session or its parent comes back to the keeper, so the
 * keeper's children are the whole tree. It kills all of it when the job's first process ends, when the worker says so,
 * when the worker is gone (end of file), and at a time given beforehand, by a clock of its own. The nursery is a
 * subreaper too: it kills the trees of keepers that died, and everything when the worker is gone. So any one of the
 * three may be killed, and no process stays. */
#ifndef REEVE_OSSUPERVISOR_H
#define REEVE_OSSUPERVISOR_H

#include <stdint.h>

#include "err.h"
#include "ossandbox.h"
#include "proc.h"

/* By these names others know them: osprocs.h. */
#define OSSUPERVISOR_NAME "reeve-keeper"
#define OSSUPERVISOR_FORK_SERVER_NAME "reeve-nursery"

/* Words arrive in order, so one that comes after the end of its job finds the keeper idle, and is ignored. One process
 * image writes and reads these (the keeper is a fork of it), so plain structs may travel. */
enum supervisor_word {
    SUPERVISOR_NEW = 1, /* to the nursery, with the keeper's end of its control socket */
    SUPERVISOR_ORDER,   /* with descriptors: run this */
    SUPERVISOR_SIGNAL,
    SUPERVISOR_KILL_AT,
    SUPERVISOR_ENDED, /* from the keeper; it is free again */
    SUPERVISOR_BORN,  /* from the keeper, its first word: `pid` */
};

struct supervisor_message {
    uint32_t word; /* enum supervisor_word */
    int32_t signal;
    int32_t pid;
    int64_t kill_at_ms; /* monotonic */
    uint32_t exit_code, exit_signal;
    struct proc_usage usage;
};

/* What an order's first descriptor holds, a memory file: this, then texts, each with its zero: program, workdir, argv,
 * env, those of the sandbox. */
struct supervisor_order {
    uint32_t argc, envc;
    uint32_t has_stdin;
    struct proc_limits limits;
    struct ossandbox_order sandbox;
};
enum supervisor_fd { SUPERVISOR_FD_ORDER, SUPERVISOR_FD_OUT, SUPERVISOR_FD_ERR, SUPERVISOR_FD_IN, SUPERVISOR_FD_COUNT };

struct oscgroup;

/* Forks the nursery; it and its keepers use copies of `groups` (NULL: there are none). `ret_socket` is where new
 * keepers are asked for; its end tells the nursery that the worker is gone. */
CHECKED enum err ossupervisor_fork_server(const struct oscgroup *groups, int *ret_socket, int32_t *ret_pid,
                                          struct why *why);

/* A message with descriptors. ERR_BUSY: not now; ERR_IO: nobody is there. */
CHECKED enum err ossupervisor_send(int socket, const struct supervisor_message *m, const int *fds, uint32_t count,
                                   struct why *why);

#endif
