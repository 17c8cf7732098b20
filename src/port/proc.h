/* proc.h: processes of jobs, as a loop offers them.
 *
 * Two implementations: os/ (Linux) and sim/. One call starts a whole tree: whatever the process begets is killed with
 * it, also what left its session, and all of it dies with the caller. All calls are the loop thread's; none waits for
 * the process. */
#ifndef REEVE_PROC_H
#define REEVE_PROC_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "slice.h"

typedef struct { uint64_t v; } proc_id; /* 0 = none */

/* What stands in for a job's own program (src/child): this program again, also after its file was replaced. One that
 * cannot do what it is asked exits with PROC_REFUSED and leaves the words in a file, named from where it starts. */
#define PROC_SELF "/proc/self/exe"
#define PROC_REFUSED 125u
#define PROC_REFUSAL_FILE "refusal" /* beside the folder that it starts in */

enum proc_stream { PROC_OUT, PROC_ERR };

enum proc_limit { PROC_LIMIT_MEMORY, PROC_LIMIT_CPU, PROC_LIMIT_PIDS, PROC_LIMIT_COUNT };
#define PROC_BIT(limit) (1u << (limit))

/* What a tree may use; 0 = as much as it likes. Where the machine has no means for a limit the process runs all the
 * same, and its usage says so. */
struct proc_limits {
    uint64_t memory_bytes; /* of all together; what wants more is killed, and all of it */
    uint32_t cpu_milli;    /* thousandths of a processor; what wants more waits */
    uint32_t pids;         /* processes and threads at once; more are refused */
    uint32_t open_files;   /* of each process */
    uint64_t file_bytes;   /* of each file */
    uint32_t cpu_asked_milli; /* no limit: its weight among those that have some, when there is not enough for all */
};

#define PROC_SANDBOX_PATHS_MAX 64u /* of each list; each is a mount at every start */

/* What it may see and do of the machine. All zero: whatever the worker may. Kept whole or not at all: what cannot be
 * kept is not started. Lists are NULL-terminated, of absolute paths; NULL = none. */
struct proc_sandbox {
    bool is_on;   /* privileges and dangerous system calls given up, no process seen but its own */
    bool net_off; /* no network but a loopback of its own */
    bool files;   /* no file but the system's, `space`, `read`, `write` and a /tmp of its own */
    bool own_uid; /* a uid that no other process has */
    const char *space; /* its directory; all in it becomes its own */
    const char *const *read, *const *write;
    const char *const *hide; /* not seen, also when it lies below something that is; but for `space` */
};

/* What a process is made of, for whoever runs it on another machine: there neither paths of this one nor its
 * environment mean anything. */
struct proc_source {
    const char *space, *file; /* where its bytes are (space.h); no two attempts have the same space */
    const char *entry;   /* of an archive: the file of it that is run */
    const char *const *args; /* NULL-terminated */
    bool is_archive, is_service;
    uint32_t port;       /* of a service; 0 = none */
    const char *beyond;  /* what it asks for beside this, and would not get; NULL = nothing */
};

struct proc_spec {
    const char *const *argv; /* NULL-terminated; argv[0] is looked up in the PATH of `env` */
    const char *const *env;  /* NULL-terminated "NAME=value": all of it */
    const char *workdir;
    bool has_stdin; /* by `feed`; else it reads `stdin_path`, and without that /dev/null */
    struct proc_limits limits;
    const char *stdin_path; /* NULL = none */
    struct proc_sandbox sandbox;
    const struct proc_source *source; /* NULL = it is a command of this machine */
};

struct proc_usage {
    uint64_t cpu_ms;
    uint64_t memory_bytes_max; /* at once: of all together with a limit of memory, of the largest process without */
    uint64_t throttled_ms;     /* it waited for its share of cpu */
    uint32_t oom_kills;        /* processes killed for want of memory */
    bool oom_is_own;           /* of its own limit, not of the machine */
    uint32_t forks_refused;
    uint8_t unkept, weak; /* PROC_BITs of its limits: kept by nothing; kept for each process by itself */
};

/* After `ended` nothing more is heard of a process; its output comes before, up to the last byte that was written. */
struct proc_handler {
    void (*output)(void *ctx, proc_id p, enum proc_stream stream, struct slice bytes); /* valid during the call */
    void (*stdin_ready)(void *ctx, proc_id p); /* everything fed is taken */
    void (*ended)(void *ctx, proc_id p, uint32_t exit_code, uint32_t signal, const struct proc_usage *usage);
    void *ctx;
};

/* Whose socket answers at a port. UNKNOWN: nothing listens there that is seen, or its holder cannot be seen. */
enum proc_port { PROC_PORT_UNKNOWN, PROC_PORT_OWN, PROC_PORT_FOREIGN };

struct proc {
    const struct proc_ops *ops;
};

struct proc_ops {
    /* An error tells why it could not be started (no such program, no right, no memory): the words are for the user. */
    enum err (*start)(struct proc *p, const struct proc_spec *spec, const struct proc_handler *handler, proc_id *ret,
                      struct why *why);
    void (*feed)(struct proc *p, proc_id id, struct slice bytes); /* to its standard input; copied */
    void (*feed_end)(struct proc *p, proc_id id);
    void (*pause)(struct proc *p, proc_id id, bool on); /* while on, its output is not read: it feels it */
    void (*signal)(struct proc *p, proc_id id, int signal); /* to every process of the tree */
    /* The tree is to be dead by then (monotonic), even when the caller no longer runs: a keeper sees to it. TIME_NEVER
     * takes it back. For exclusive jobs, whose lease may end while the worker is stopped. */
    void (*kill_at)(struct proc *p, proc_id id, int64_t mono_ms);
    /* Whether a connection to this TCP port of 127.0.0.1 is answered by a process of the tree. FOREIGN sets `why` to
     * words for the user. Made to be asked again and again: while the sockets stay the same, it costs little. */
    enum proc_port (*port_owner)(struct proc *p, proc_id id, uint32_t port, struct why *why);
};

#endif
