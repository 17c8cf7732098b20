/* agent.h: the worker. It dials a server, says what it offers and what it holds, runs what it is given, and lets
 * nothing go before the server has it.
 *
 * Written against ports only: os/ drives it on a machine, sim/ may drive it in a simulated one. The loop's owner calls
 * agent_pass after each turn, and again at agent_next. What a worker owes is in README.md. */
#ifndef REEVE_AGENT_H
#define REEVE_AGENT_H

#include "clock.h"
#include "disk.h"
#include "limit.h"
#include "net.h"
#include "proc.h"
#include "space.h"

struct agent_world {
    struct clock *clock;
    struct disk *disk; /* its own directory */
    struct space *space;
    struct net *net;
    struct proc *proc;
};

struct agent_pair {
    const char *key, *value;
};

struct agent_amount {
    const char *name;
    uint64_t amount;
};

struct agent_handler { /* of a type of job: the program that its owner has chosen for it */
    const char *type;
    const char *const *argv; /* NULL-terminated; the payload comes behind */
};

struct agent_ceilings { /* of what one job may use; 0 = none */
    struct proc_limits standard; /* for jobs that name no limit of their own */
    struct proc_limits most;     /* for all of them */
    bool by_request; /* what was reserved for a job is also the most it gets, unless it names a limit */
};

struct agent_sandbox {
    const char *cannot;     /* why none can be kept here; NULL = all can */
    uint32_t least;         /* enum wire_sandbox: of every job */
    bool own_uids;          /* every process has a uid of its own */
    bool own_uids_in_files; /* those do that see only their own files */
    const char *const *paths; /* that jobs may name all the same when `least` keeps files from them; NULL-terminated */
    const char *const *hide;  /* absolute: no job that sees only its own files sees these */
};

#define AGENT_LIST_MAX 64u
#define AGENT_RESOURCES_MAX 16u

struct agent_options {
    const char *server; /* "host:port", "unix:/path" */
    const char *server_told; /* to jobs; NULL: the same */
    const char *(*server_now)(void *ctx); /* before each dial: where it is by now; may be NULL */
    const char *token;  /* NULL: the socket vouches */
    const char *tenant; /* that it works for; NULL: the token's, else the standard one */
    const char *name;   /* begins the id that it gives itself at its first start */
    const char *build;
    const char *pool;
    const char *capabilities[AGENT_LIST_MAX];
    uint32_t capability_count;
    struct agent_pair labels[AGENT_LIST_MAX];
    uint32_t label_count;
    struct agent_amount resources[AGENT_RESOURCES_MAX];
    uint32_t resource_count;
    struct agent_handler handlers[AGENT_LIST_MAX];
    uint32_t handler_count;
    uint32_t slots, cpu_milli, gpus;
    uint64_t memory_bytes;
    const char *const *gpu_names; /* `gpus` of them, as programs know them; NULL: their numbers */
    struct agent_ceilings ceilings;
    bool permanent;
    bool elsewhere; /* its processes run on another machine: what they are made of goes there with them */
    const char *service_host; /* where its services listen; NULL = here */
    const char *const *env; /* "NAME=value", NULL-terminated: what every job gets of the worker's environment */
    const char *http_private; /* addresses beyond the public ones that http jobs may ask, as child/address.h has it */
    struct agent_sandbox sandbox;
    uint64_t spool_bytes_max; /* output on disk while the server is away; beyond it jobs wait */
    struct limits limits;
    uint32_t (*cpu_percent)(void *ctx); /* of the machine; may be NULL */
    void (*log)(void *ctx, const char *line); /* one per event that matters */
    void *ctx;
};

struct agent;
struct arena;
struct wire_worker_info;

/* What a worker with these options says of itself when it attaches; lists are in the arena. */
void agent_info(const struct agent_options *o, struct arena *arena, struct wire_worker_info *ret);

/* Reads who it is and what it still owes, raises its incarnation; the copy of the options is shallow. */
CHECKED enum err agent_open(const struct agent_world *w, const struct agent_options *o, struct agent **ret,
                            struct why *why);
void agent_close(struct agent *a);
void agent_pass(struct agent *a);
mono_time agent_next(struct agent *a);
/* Takes nothing new, finishes what it holds, says goodbye; then it is over. */
void agent_drain(struct agent *a);
bool agent_is_over(const struct agent *a);

const char *agent_id(const struct agent *a);
uint64_t agent_incarnation(const struct agent *a);
uint32_t agent_held(const struct agent *a); /* attempts, with those that wait for their acknowledgement */

#endif
