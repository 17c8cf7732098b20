/* titan_worker_impl.h: what the modules of a hand share: titan_worker.c (life, registering), titan_worker_port.c (what
 * the master asks), titan_worker_stage.c (files), titan_worker_run.c (jobs and services), titan_worker_tell.c (calls
 * back to the master). */
#ifndef REEVE_TITAN_WORKER_IMPL_H
#define REEVE_TITAN_WORKER_IMPL_H

#include "arena.h"
#include "bytes.h"
#include "exchange.h"
#include "titan_place.h"
#include "titan_worker.h"
#include "vec.h"
#include "wtime.h"

#define TITAN_WORKER_NAME_MAX 256u /* of a file */
#define TITAN_WORKER_ID_MAX 1024u  /* of a job: more is nobody's id */
#define TITAN_WORKER_JOBS_MAX 100000u

struct titan_worker_task { /* a job, or a service */
    uint32_t number; /* first: never 0 while in use */
    bool is_service, is_archive, is_worker; /* worker: another one like this */
    struct bytes *id, *args;
    char file[TITAN_WORKER_NAME_MAX]; /* in its directory */
    char entry[SPACE_PATH_MAX]; /* of an archive */
    uint32_t port;
    uint32_t starts;
    char space[48]; /* its directory; another one at each start */
    uint32_t ticket; /* of its script's name, in the place that all share; 0 = it has none */
    proc_id process;
    bool is_over;     /* and nothing of it runs */
    bool is_stopping; /* by the master, or by us */
    bool is_late;     /* it ran into its timeout */
    bool is_paused;   /* the master is slower than its output */
    uint32_t failures; /* of a service, in a row */
    int64_t started_ms, kill_at_ms, timeout_at_ms, restart_at_ms; /* monotonic */
    uint32_t exit_code, signal;
    struct why refusal; /* it could not be run: why */
    struct buf head;    /* of a job: the beginning of its output, for its result */
    uint64_t bytes;     /* of output, in all */
    struct buf text;    /* output that the master has not been told of */
    uint32_t lines;     /* in it */
    int64_t text_ms;    /* when the first of it came */
};

struct titan_worker_session { /* a connection to its port */
    conn_id conn; /* first: never 0 while in use */
    struct buf in;
    uint32_t waits_for; /* number of a task: its end is the answer */
    uint8_t waits_op;
    bool is_ready;      /* frames that waited may be served */
};

struct titan_worker_file { /* the newest that was staged by this name */
    char name[TITAN_WORKER_NAME_MAX];
    uint64_t serial; /* names its directory */
};

struct titan_worker {
    struct arena birth; /* holds this struct */
    struct titan_worker_world w;
    struct titan_worker_options o;
    struct net_handler handler;
    struct exchanges exchanges;
    struct pool sessions, tasks;
    struct map session_by_conn, task_by_process;
    struct titan_place place; /* where scripts lie that run */
    struct vec files;         /* struct titan_worker_file, the latest staged last */
    struct arena frame; /* of what a frame brings */
    struct arena arena; /* of one start */
    struct buf out;
    uint64_t serial;
    uint32_t number_last;

    uint32_t port;
    int64_t register_at_ms;
    bool is_registering, is_registered, was_refused;

    bool is_telling;    /* one call back is under way */
    uint32_t told_task; /* about it */
    uint8_t told_op;
    size_t told_bytes;  /* of its text */
    int64_t tell_at_ms; /* after a failure: not before */
    uint32_t tell_failures;

    bool is_draining;
    int64_t over_at_ms; /* killed by the master: when */
};

static inline int64_t titan_worker_now(const struct titan_worker *h) {
    return h->w.clock->mono(h->w.clock).ms;
}
void titan_worker_log(const struct titan_worker *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Up to the first bar, which is taken off; all that is left without one. */
struct slice titan_worker_cut(struct slice *in);

/* titan_worker_port.c */
void titan_worker_port_init(struct titan_worker *h);
void titan_worker_port_fini(struct titan_worker *h);
void titan_worker_port_pass(struct titan_worker *h);
void titan_worker_port_ended(struct titan_worker *h,
                             const struct titan_worker_task *t); /* whoever waits for its end is answered */

/* titan_worker_stage.c */
/* The path of what was written is in `ret`. A name is one of a file, without a path. */
CHECKED enum err titan_worker_stage_put(struct titan_worker *h, struct slice name, struct slice bytes,
                                        char ret[SPACE_PATH_MAX], struct why *why);
void titan_worker_stage_path(struct titan_worker *h, struct slice name,
                             char ret[SPACE_PATH_MAX]); /* where it would be */
CHECKED enum err titan_worker_stage_get(struct titan_worker *h, struct slice name, struct buf *ret, struct why *why);
bool titan_worker_stage_is_name(struct slice name);

/* titan_worker_run.c */
struct titan_worker_run_order {
    bool is_service, is_archive, is_worker;
    struct slice id, file, entry, args, bytes;
    uint32_t port;
    const char *refusal; /* it cannot be run, and this is why */
};
uint32_t titan_worker_run_active(const struct titan_worker *h); /* jobs that run */
/* The newest that is not over. */
struct titan_worker_task *titan_worker_run_find(const struct titan_worker *h, struct slice id, bool is_service);
/* A task that could not be started is over already, and says why; ERR_BUSY: there are too many. */
CHECKED enum err titan_worker_run_begin(struct titan_worker *h, const struct titan_worker_run_order *o,
                                        struct titan_worker_task **ret, struct why *why);
void titan_worker_run_stop(struct titan_worker *h, struct titan_worker_task *t);
void titan_worker_run_forget(struct titan_worker *h, struct titan_worker_task *t);
void titan_worker_run_flow(struct titan_worker *h,
                           struct titan_worker_task *t); /* pauses its process, or lets it go on */
void titan_worker_run_due(struct titan_worker *h);
int64_t titan_worker_run_next(const struct titan_worker *h);

/* titan_worker_tell.c */
void titan_worker_tell_output(struct titan_worker *h, struct titan_worker_task *t, struct slice bytes);
void titan_worker_tell_pass(struct titan_worker *h);
int64_t titan_worker_tell_next(const struct titan_worker *h);

#endif
