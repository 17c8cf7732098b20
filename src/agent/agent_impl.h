/* agent_impl.h: what the modules of the worker share: agent.c (life), connection.c (the connection), worker_proto.c
 * (what is said on it), run.c (what is done about an attempt), job_setup.c (what an assignment means), service_health.c
 * (what a service needs). */
#ifndef REEVE_AGENT_IMPL_H
#define REEVE_AGENT_IMPL_H

#include "agent.h"
#include "attempts.h"
#include "gpus.h"
#include "titan_place.h"
#include "wire.h"

enum connection_state { CONNECTION_DOWN, CONNECTION_DIALLING, CONNECTION_HELLO, CONNECTION_ATTACHING, CONNECTION_UP };

struct connection {
    conn_id conn;
    enum connection_state state;
    struct buf in;
    int64_t due_ms;  /* when down: to dial; on the way up: to give up; when up: to speak */
    uint32_t failures; /* in a row */
    uint32_t request;  /* the last id given */
    uint32_t drain_request, detach_request;
    int64_t attach_sent_ms;
    uint32_t beats_open; /* heartbeats since the last answer */
    uint32_t heartbeat_ms;
    size_t frame_bytes_max;
    int64_t again_at_ms; /* ends that were refused for now are said again then */
    bool was_refused;    /* the last refusal was told already */
};

struct agent {
    struct arena birth; /* holds this struct */
    struct agent_world w;
    struct agent_options o;
    struct spool spool;
    struct attempts attempts;
    struct map by_process; /* index of the attempt */
    struct map by_request; /* of a transfer: index of the attempt */
    struct pool tended;    /* services that run here */
    struct map by_conn;    /* of a probe: index of the attempt */
    struct connection connection;
    struct arena arena; /* of one message */
    struct buf out;     /* frames of one pass */
    int64_t lease_until_ms; /* exclusive processes may live until here */
    bool is_draining, is_detaching, is_over;
    int64_t detach_until_ms;
    struct gpus gpus;
    struct titan_place titan_place;
    bool has_gpus_back; /* since those who wait for some were looked at */
};

static inline int64_t agent_now_ms(const struct agent *a) {
    return a->w.clock->mono(a->w.clock).ms;
}
static inline int64_t agent_wall_ms(const struct agent *a) {
    return a->w.clock->wall(a->w.clock).ms;
}
void agent_log(const struct agent *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* connection.c */
void connection_init(struct agent *a);
void connection_fini(struct agent *a);
void connection_pass(struct agent *a);
void connection_lost(struct agent *a, const char *why); /* gives the connection up */
void connection_drain(struct agent *a);
void connection_detach(struct agent *a);
void connection_send(struct agent *a, enum wire_op op, uint32_t request,
                     const void *message); /* leaves with the pass */
uint32_t connection_request(struct agent *a);

/* worker_proto.c */
void worker_proto_hear(struct agent *a, const struct frame *f); /* when attached */
void worker_proto_attach(struct agent *a);
void worker_proto_say(struct agent *a);                   /* everything that has become sayable */
void worker_proto_again(struct agent *a);                 /* nothing counts as said: a new connection */
bool worker_proto_epoch(struct agent *a, uint64_t epoch); /* false: it is a message of an earlier server */
uint32_t worker_proto_credit(const struct agent *a);

/* run.c */
void run_assign(struct agent *a, const struct wire_assignment *order);
void run_stop(struct agent *a, const struct wire_stopped *stop);
void run_lease(struct agent *a, int64_t until_ms);
void run_due(struct agent *a);
void run_flow(struct agent *a, struct attempt *t); /* pauses its process, or lets it go on */
void run_spool_all(struct agent *a); /* ends that are only in memory go to disk: the server is away */
void run_forget(struct agent *a, struct attempt *t);
void run_fetched(struct agent *a, struct attempt *t, const char *why); /* its blobs are there; NULL = all of them */
void run_kept(struct agent *a, struct attempt *t, const char *why);    /* its artifacts are */
/* The order of an attempt that kept it, read again into the worker's arena. */
void run_order(struct agent *a, const struct attempt *t, struct wire_assignment *ret, struct wire_run *ret_run);
void run_end_services(struct agent *a); /* all of them, by our own choice */
void run_end_unwell(struct agent *a, struct attempt *t); /* a service whose probes fail */

/* sandbox.c: what this job may see and do here: what it asks for, and at least what the worker's owner does. */
CHECKED enum err sandbox_make(struct agent *a, const struct attempt *t, const struct wire_run *run,
                              struct proc_sandbox *ret, struct why *why);

/* source.c: what its process is made of, in the worker's arena. */
struct job_setup;
const struct proc_source *source_make(struct agent *a, const struct attempt *t, const struct wire_assignment *order,
                                      const struct job_setup *w);

/* workload.c */
struct job_setup {
    struct wire_run run;
    struct proc_sandbox sandbox;
    const char *const *argv, *const *env;
    char workdir[SPACE_PATH_MAX], stdin_path[SPACE_PATH_MAX]; /* stdin: empty = none from a file */
};
/* Fills the workspace and says what to start. */
CHECKED enum err job_setup_make(struct agent *a, struct attempt *t, const struct wire_assignment *order,
                                struct job_setup *ret, struct why *why);
/* The command that looks whether a service is well: where the service is, with its environment; of one in a sandbox, in
 * another of the same kind, with a directory of its own that is removed with the service's. */
#define JOB_SETUP_PROBE_SPACE "-probe" /* behind the name of the attempt's directory */
CHECKED enum err job_setup_probe(struct agent *a, struct attempt *t, struct proc_spec *ret, struct why *why);
/* What it wrote to $REEVE_OUTPUT: nothing, JSON, or a refusal. `ret` is in the worker's arena; empty when the result is
 * large, and then among what is to be kept as blobs. */
CHECKED enum err job_setup_result(struct agent *a, struct attempt *t, struct slice *ret, struct why *why);
/* Of an http job that failed: how long the server that it asked wants to be left alone; 0 = it does not say. */
uint32_t job_setup_retry_ms(struct agent *a, const struct attempt *t);
/* Whether a child that stood in for its program could not do it, by exit code PROC_REFUSED; and its words. */
bool job_setup_refused(struct agent *a, struct attempt *t, struct why *ret);
struct slice job_setup_short_name(struct slice job);                           /* without its flow */
CHECKED enum err job_setup_check(const struct wire_run *run, struct why *why); /* before anything is fetched */

#endif
