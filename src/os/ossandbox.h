/* ossandbox.h: the sandbox of a job (struct proc_sandbox of port/proc.h), between a keeper and the job's program.
 *
 *     keeper ── first ── job ── whatever it begets
 *               └─ in namespaces of their own: pid, mount, ipc, uts, and net when it is off ─┘
 *
 * `first` is process 1 of the pid namespace: a fork of the keeper that mounts, starts the job, reaps what loses its
 * parent, and ends with the job; all others of the namespace end with it, the kernel sees to that. A process 1 gets no
 * signal that it does not handle, which is why the job is not it: TERM has to end a job. How the job ended it writes
 * into memory that it shares with the keeper: it cannot die of a signal itself to tell of one. The job cannot reach
 * it: it cannot be traced, and nothing inside can signal it.
 *
 * A job of a worker that is root and sees only its own files has a uid of its own; one of an ordinary user's worker
 * keeps that user's, in a user namespace. What a job gives up besides is in osconfine.h, osfilter.h, oslandlock.h;
 * which files it sees in osroot.h. docs/adr/0075-sandbox.md has the reasons. */
#ifndef REEVE_OSSANDBOX_H
#define REEVE_OSSANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "proc.h"

/* A sandbox on its way to a keeper: this in the order, its texts behind it. */
struct ossandbox_order {
    uint32_t is_on, net_off, files;
    uint32_t uid; /* 0 = the keeper's */
    uint32_t read_count, write_count, hide_count;
};

struct ossandbox {
    struct ossandbox_order o;
    const char *space;
    const char *const *read, *const *write, *const *hide;
    uid_t outer_uid; /* of the keeper: in a fresh user namespace nobody is who he was */
    gid_t outer_gid;
};

struct ossandbox_order ossandbox_put(const struct proc_sandbox *s, uint32_t uid, struct buf *texts);
/* `texts` is moved behind what was read; the rest stays there. */
struct ossandbox ossandbox_take(const struct ossandbox_order *o, char **texts, struct arena *arena);
static inline bool ossandbox_is_any(const struct ossandbox_order *o) {
    return o->is_on || o->uid != 0;
}

/* As fork, into new namespaces; the child must go on to ossandbox_enter. -1 with errno. */
pid_t ossandbox_fork(const struct ossandbox *s);
/* Returns in the process that is to run the job's program, with everything given up. Standard input and outputs are the
 * job's already: what goes wrong is said there, and the process ends with 126. `*ret_status`, shared with the keeper,
 * is set to the job's status as of waitpid, if it runs behind a `first`. */
void ossandbox_enter(const struct ossandbox *s, int *ret_status);

/* Whether a sandbox can be kept here, all of it; tries it, with `dir` as the space. Before there are threads. */
CHECKED enum err ossandbox_probe(const char *dir, uint32_t uid, struct why *why);
void ossandbox_probe_remove(const char *dir); /* what is left of one that was killed */
/* What Landlock adds here, for people. */
const char *ossandbox_extent(void);

/* Uids that are no one's on this machine, as far as can be seen: of a worker that is root and was told none. */
CHECKED enum err ossandbox_uids(uint32_t *ret_first, uint32_t *ret_last, struct why *why);

#endif
