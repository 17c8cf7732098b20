/* agentlab.h: a server and a worker, each in a process of its own that can be killed, and a client that speaks to the
 * server over its Unix socket. Real processes, files and sockets throughout. */
#ifndef REEVE_AGENTLAB_H
#define REEVE_AGENTLAB_H

#include <sys/types.h>

#include "arena.h"
#include "limit.h"
#include "wire.h"

struct agentlab {
    char dir[200], socket[240];
    struct limits limits;       /* of both; may be changed before a start */
    uint32_t slots;
    uint64_t spool_bytes_max;
    pid_t server, worker;
    int conn; /* of the client; -1 = none */
    uint32_t request;
    struct buf in;
    struct arena arena; /* of answers */
};

struct lab_job {
    const char *name;
    uint8_t kind;      /* enum job_kind */
    const char *shell; /* or what `run` says */
    struct wire_run run;
    const uint32_t *parents;
    uint32_t parent_count;
    uint32_t attempts_max; /* 0 = 1 here: a test counts */
    bool exclusive;
    int64_t run_timeout_ms;
};

void agentlab_open(struct agentlab *l);
void agentlab_close(struct agentlab *l);
void agentlab_server_start(struct agentlab *l);
void agentlab_server_kill(struct agentlab *l); /* -9, and the client's connection is gone */
void agentlab_worker_start(struct agentlab *l);
void agentlab_worker_kill(struct agentlab *l); /* -9 */
int agentlab_worker_term(struct agentlab *l);  /* drains; its exit code */

/* Asks and waits for the last frame of the answer, which must be the one of the table; fails the test otherwise. */
const void *agentlab_ask(struct agentlab *l, enum wire_op op, const void *message);
/* One flow of these jobs; its id, in the arena. */
struct slice agentlab_submit(struct agentlab *l, const struct lab_job *jobs, uint32_t count);
struct slice agentlab_run(struct agentlab *l, const char *shell); /* one job named `x` */
const struct wire_job_view *agentlab_job(struct agentlab *l, struct slice flow, const char *name);
/* Until the job is in that state, or for a minute; the job. */
const struct wire_job_view *agentlab_until(struct agentlab *l, struct slice flow, const char *name, const char *state);
/* Its output, streams one after the other as they came. */
struct slice agentlab_log(struct agentlab *l, struct slice flow, const char *name);
/* Until that file is there; its text. */
const char *agentlab_file(struct agentlab *l, const char *path);
bool agentlab_is_dead_soon(long pid);

#endif
