/* titan_worker.h: a worker of a Titan master. It registers, takes what the master stages and starts, and calls back;
 * its port is the worker table of Titan's protocol (proto/titan/titan.h).
 *
 * Written against ports only. The loop's owner gives `hand_handler` to the listener, calls hand_pass after each turn,
 * and again at hand_next. What it does better than Titan's own workers is in README.md. */
#ifndef REEVE_TITAN_WORKER_H
#define REEVE_TITAN_WORKER_H

#include "clock.h"
#include "err.h"
#include "limit.h"
#include "net.h"
#include "proc.h"
#include "space.h"

struct hand_world {
    struct clock *clock;
    struct space *space;
    struct net *net;
    struct proc *proc;
};

struct hand_options {
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

struct hand;

CHECKED enum err hand_open(const struct hand_world *w, const struct hand_options *o, struct hand **ret,
                           struct why *why);
void hand_close(struct hand *h);
const struct net_handler *hand_handler(struct hand *h);
void hand_listens(struct hand *h, uint32_t port); /* where: the master is told; before the first pass */
void hand_pass(struct hand *h);
mono_time hand_next(struct hand *h);
/* Takes nothing new, ends its services, lets jobs end and tells of them; then it is over. */
void hand_drain(struct hand *h);
bool hand_is_over(const struct hand *h);

#endif
