/* titan_worker.h: a worker of a Titan master. It registers, takes what the master stages and starts, and calls back;
 * its port is the worker table of Titan's protocol (proto/titan/titan.h).
 *
 * Written against ports only. The loop's owner gives `titan_worker_handler` to the listener, calls titan_worker_pass
 * after each turn, and again at titan_worker_next. What it does better than Titan's own workers is in README.md. */
#ifndef REEVE_TITAN_WORKER_H
#define REEVE_TITAN_WORKER_H

#include "clock.h"
#include "err.h"
#include "limit.h"
#include "net.h"
#include "proc.h"
#include "space.h"

struct titan_worker_world {
    struct clock *clock;
    struct space *space;
    struct net *net;
    struct proc *proc;
};

struct titan_worker_options {
    const char *master;     /* "host:port" */
    const char *capability; /* "GENERAL,GPU" */
    bool permanent;
    uint32_t slots;
    const char *const *env; /* "NAME=value", NULL-terminated: of every process */
    struct proc_limits limits_each;
    struct limits limits;
    void (*log)(void *ctx, const char *line);
    void *ctx;
};

struct titan_worker;

CHECKED enum err titan_worker_open(const struct titan_worker_world *w, const struct titan_worker_options *o,
                                   struct titan_worker **ret, struct why *why);
void titan_worker_close(struct titan_worker *h);
const struct net_handler *titan_worker_handler(struct titan_worker *h);
void titan_worker_listens(struct titan_worker *h, uint32_t port); /* where: the master is told; before the first pass */
void titan_worker_pass(struct titan_worker *h);
mono_time titan_worker_next(struct titan_worker *h);
/* Takes nothing new, ends its services, lets jobs end and tells of them; then it is over. */
void titan_worker_drain(struct titan_worker *h);
bool titan_worker_is_over(const struct titan_worker *h);

#endif
