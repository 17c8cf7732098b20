/* view_demand.h: which ready jobs wait for room alone: what more workers would take. As in view.h nothing is changed.
 *
 * Everything follows from the state, so that whoever looks after a restart sees what was seen before. A job counts if
 * it would start at once given a worker: no pause, limit or lapsed permission holds it, and no worker that is there has
 * room for it. Of jobs that share a limit no more count than the limit lets run. */
#ifndef REEVE_VIEW_DEMAND_H
#define REEVE_VIEW_DEMAND_H

#include "arena.h"
#include "options.h"
#include "view.h"
#include "wtime.h"

/* Jobs of one class that are looked at one by one, because some may be of paused flows: a view costs the number of
 * classes, and nobody can start more workers than for these at a time. */
#define DEMAND_LOOK_MAX 10000u

struct demand_view { /* of one class */
    struct slice tenant;
    const struct demand *demand;
    uint32_t priority;
    uint32_t ready;  /* jobs that wait for room alone */
    bool more;       /* and perhaps others, behind the first DEMAND_LOOK_MAX */
    wall_time since; /* the one that has been ready for longest */
    enum block block;
    uint32_t at_once; /* how many of them one worker of the kind asked about holds; 0 = nobody asked about a kind */
};

struct demand_query {
    const struct worker_info *kind; /* only what such a worker would take; NULL = everything */
    struct slice tenant;            /* only its jobs; empty = of all */
};

typedef void (*view_demand_fn)(void *ctx, const struct demand_view *v);
void view_demand(const struct state *s, const struct live *l, const struct limits *limits,
                 const struct demand_query *query, view_demand_fn each, void *ctx);

/* Workers of a kind that are attached. */
struct demand_worker {
    struct slice id;
    uint32_t slots, active;
    bool draining;
    uint64_t served; /* changes whenever it is given something */
};
typedef void (*view_demand_worker_fn)(void *ctx, const struct demand_worker *w);
void view_demand_workers(const struct state *s, const struct live *l, const struct worker_info *kind,
                         view_demand_worker_fn each, void *ctx);

/* A kind as someone described it, checked and put in order as a worker's own words are when it attaches. */
CHECKED enum err view_demand_kind(const struct limits *limits, const struct worker_info *given, struct arena *arena,
                                  struct worker_info *ret, struct why *why);

#endif
