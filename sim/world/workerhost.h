/* workerhost.h: a machine with a worker: the real agent (src/agent) on a simulated disk, network and clock, with
 * simulated processes. It starts the agent, drives its passes, kills it, stops it and its machine, and starts it
 * again. */
#ifndef REEVE_WORKERHOST_H
#define REEVE_WORKERHOST_H

#include "agent.h"
#include "options.h"
#include "simdisk.h"
#include "simnet.h"
#include "simproc.h"
#include "simspace.h"

struct world;

#define WORKER_CAPS_MAX 3u

struct workerhost {
    struct world *w;
    struct rng rng;
    struct clock clock;
    uint32_t node;
    char name[8];
    struct simdisk *disk;
    struct simspace space;
    struct simproc proc;

    struct agent *agent;      /* NULL: its process does not exist */
    uint64_t incarnation;
    uint64_t life;            /* rises at each start and end of the process: earlier events are ignored */
    int64_t stopped_until_us; /* SIGSTOP of the worker process, not of its keepers */
    int64_t machine_until_us; /* the whole machine stands still */
    int64_t pass_at_us;       /* earliest planned pass; 0 = none */
    uint32_t refused_opens;   /* failed starts in a row */

    struct worker_info info; /* what it offers, for who draws demands; slices into static words */
    struct name_item caps[WORKER_CAPS_MAX];
    struct label labels[2];
    struct resource resource;
};

void workerhost_init(struct workerhost *h, struct world *w, uint32_t node, struct rng rng);
void workerhost_fini(struct workerhost *h);
void workerhost_start(struct workerhost *h);
void workerhost_kill(struct workerhost *h, int64_t away_ms, bool power); /* its processes die with it; it comes back */
void workerhost_drain(struct workerhost *h); /* it leaves as people ask it to, and comes back */
void workerhost_stop(struct workerhost *h, int64_t ms);                /* SIGSTOP of the worker process */
void workerhost_stop_machine(struct workerhost *h, int64_t ms);
void workerhost_calm(struct workerhost *h); /* disk faults are over */
bool workerhost_is_done(const struct workerhost *h); /* there, and holds nothing */

/* For its processes. */
void workerhost_wake(struct workerhost *h);
bool workerhost_is_still(const struct workerhost *h);
static inline int64_t workerhost_machine_us(const struct workerhost *h) {
    return h->machine_until_us;
}

struct slice worker_name(struct arena *arena, uint32_t node);
uint32_t worker_node(struct slice name); /* 0 = it is none of the world's workers */

#endif
