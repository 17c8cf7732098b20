/* oscgroup.h: limits of jobs, by the means that the machine has.
 *
 * Control groups of version 2 or 1 keep memory, cpu and number of processes for a whole tree; which of them a worker
 * may make groups in is found once, at its start. Without them memory is limited for each process by itself (rlimit),
 * and the other two are not kept; whoever asked is told.
 *
 * A group is made for an attempt that needs one, and for no other: by its keeper, below the group that the worker is
 * in, named after the keeper. The process enters it before it becomes the job. When nothing of the job lives the keeper
 * reads what was used and removes it; what killed keepers left is removed by the nursery, and what that left by the
 * next worker.
 *
 *     GROUP OF THE WORKER ─┬─ reeve.main    the worker itself: version 2 wants processes in leaves only
 *                          ├─ reeve.812     the job of keeper 812
 *                          └─ reeve.815 */
#ifndef REEVE_OSCGROUP_H
#define REEVE_OSCGROUP_H

#include <sys/types.h>

#include "oscgroup_files.h"

#define OSCGROUP_PATH_MAX 1024u
#define OSCGROUP_TREES_MAX 3u /* one for each limit, at most */

enum oscgroup_by {
    OSCGROUP_AUTO,
    OSCGROUP_BY_V2,
    OSCGROUP_BY_V1,
    OSCGROUP_BY_RLIMIT,
    OSCGROUP_BY_NOTHING,
    OSCGROUP_BY_COUNT
};
extern const char *const oscgroup_by_words[OSCGROUP_BY_COUNT];

struct oscgroup_tree { /* a hierarchy that groups may be made in */
    char path[OSCGROUP_PATH_MAX]; /* below this directory */
    struct oscgroup_kind kind;
};

/* What the machine offers. Found by the worker; nursery and keepers are forks of it, and have it, too. */
struct oscgroup {
    struct oscgroup_tree trees[OSCGROUP_TREES_MAX];
    uint32_t tree_count;
    unsigned keeps;      /* PROC_BITs: by groups */
    bool memory_by_rlimit;
    struct why lacking;  /* why not all by groups; for people */
};

/* `proc` is /proc/self. May move this process, and others of the same program, into reeve.main. An error: it was told
 * to use what is not there. */
CHECKED enum err oscgroup_find(enum oscgroup_by by, const char *proc, struct oscgroup *ret, struct why *why);
/* One sentence about the means. */
void oscgroup_describe(const struct oscgroup *g, char *ret, size_t size);
/* Removes what is left of keepers that no longer live. */
void oscgroup_sweep(const struct oscgroup *g);
void oscgroup_remove(const struct oscgroup *g, pid_t keeper); /* what that one left; nothing may live in it */

/* ---- the job of one keeper ---- */

struct oscgroup_job {
    const struct oscgroup *groups;
    struct proc_limits limits;
    unsigned trees;                /* bits: where it has a group */
    int enter[OSCGROUP_TREES_MAX]; /* descriptors to enter by; -1 = none */
    int oom;                       /* readable when one of its processes may be about to be killed for its memory; -1 =
                                    * the kernel kills all at once, or there is no such limit */
    bool is_oom;
    uint8_t unkept, weak;          /* as in proc_usage */
};

/* Makes the groups that these limits need; without limits none, at no cost. `g` NULL: there are no means. */
CHECKED enum err oscgroup_begin(const struct oscgroup *g, const struct proc_limits *l, struct oscgroup_job *ret,
                                struct why *why);
/* Of the calling process, which is about to become the job: makes system calls only. 0, or errno. */
int oscgroup_enter(const struct oscgroup_job *j);
/* After a word by `oom`: it is this job that wants too much. From then on that is how it ended. */
bool oscgroup_is_oom(struct oscgroup_job *j);
void oscgroup_kill(const struct oscgroup_job *j); /* those in its groups now; others may come */
/* Nothing of the job lives any more. Adds to `usage` what the groups know, and removes them. */
void oscgroup_end(struct oscgroup_job *j, struct proc_usage *usage);

#endif
