/* simworker.h: a stand-in worker: one machine with slots, a worker process that speaks commands and effects as
 * messages, a keeper with its own timer, and simulated job processes.
 *
 * What a worker owes, and this one keeps:
 *   - its id and the number of its incarnation survive it; finished results are spooled until the server took them
 *   - an attempt is run once: an ASSIGN that comes twice, or after the end, starts nothing
 *   - a process of an `exclusive` job is started, and lives, only inside the lease, counted from the sending of the
 *     last word that the server acknowledged; the keeper sees to it also while the worker process is paused
 *   - messages of a lower epoch, an earlier connection or another incarnation are ignored
 *   - STOP is confirmed by DONE, DROP kills without a word
 *
 * A service ("health=20": healthy after 20 ms, 0 = never) says when it becomes healthy, and again until it is heard.
 *
 * A job's body is text: "ms=40 exit=0 flaky=2" runs 40 ms; its first two attempts end with 1, later ones with 0. */
#ifndef REEVE_SIMWORKER_H
#define REEVE_SIMWORKER_H

#include "command.h"
#include "rng.h"
#include "simnet.h"
#include "vec.h"

struct world;

enum process_state { PROCESS_NONE, PROCESS_LIVE, PROCESS_OVER };

struct holding { /* an attempt this worker knows */
    struct job_ref job;
    uint32_t attempt;
    uint64_t fence;
    uint64_t serial; /* for events about it */
    enum held_phase phase;
    enum process_state process;
    bool exclusive;
    bool started_acked;
    bool stopping;
    bool restored; /* from the spool of an earlier incarnation */
    int64_t run_us;
    enum outcome outcome;
    uint32_t exit_code, signal;
    char undoes[24]; /* the job its body says it undoes */
    uint32_t undoes_len;
    int64_t health_us; /* a service: healthy after so long; 0 = never; -1 = it is none */
    bool has_health, healthy, health_acked;
};

struct tomb { /* an attempt that is over for this incarnation */
    struct job_ref job;
    uint32_t attempt;
};

#define WORKER_SENT_MAX 16u
#define WORKER_CAPS_MAX 3u

struct simworker {
    struct world *w;
    struct rng rng;
    uint32_t node;
    bool alive;               /* the worker process exists */
    uint64_t life;            /* rises at each start and end of the process: earlier events are ignored */
    int64_t stopped_until_us; /* SIGSTOP of the worker process, not of the keeper */
    int64_t machine_until_us; /* the whole machine stands still */
    uint64_t incarnation;
    struct worker_info info; /* slices into the world's static words */
    struct name_item caps[WORKER_CAPS_MAX];
    struct label labels[2];
    struct resource resource;

    uint64_t session;
    uint64_t request;
    bool attached;
    uint64_t attach_request;
    int64_t attach_sent_us;
    uint64_t epoch;
    uint32_t beats_open; /* heartbeats since the last acknowledgement */
    uint64_t beat_request; /* heartbeat that waits for its acknowledgement */
    int64_t beat_sent_us;
    int64_t lease_until_us; /* exclusive processes may live until here */
    bool draining;
    uint32_t live; /* processes */
    uint64_t serial;

    struct vec held;                   /* of holding */
    struct vec tombs;                  /* of tomb */
    struct vec waiting;                /* of struct msg *: arrived while paused */
    struct msg *sent[WORKER_SENT_MAX]; /* for a worker that repeats itself */
    uint32_t sent_count;
};

void simworker_init(struct simworker *v, struct world *w, uint32_t node, struct rng rng);
void simworker_fini(struct simworker *v);
void simworker_start(struct simworker *v);
void simworker_receive(struct simworker *v, struct msg *m);
void simworker_kill(struct simworker *v, int64_t away_ms); /* its processes die with it; it comes back */
void simworker_stop(struct simworker *v, int64_t ms);      /* SIGSTOP of the worker process */
void simworker_stop_machine(struct simworker *v, int64_t ms);
void simworker_calm(struct simworker *v); /* ends pauses and opens a new connection */

struct slice simworker_name(struct arena *arena, uint32_t node);
uint32_t simworker_node(struct slice name);

#endif
