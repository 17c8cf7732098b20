/* fleet.h: the workers that someone looks after: what the server tells of them, held against what was done about them,
 * and the plan that follows. Whoever owns it starts and drains; here is only what is known.
 *
 * A *local* fleet is of processes of this host: their owner knows which worker is in which place and when it ended, and
 * other workers of the pool are not its business. A fleet of machines elsewhere knows only what the server tells: a
 * worker that appears takes the place of one that was asked for. */
#ifndef REEVE_FLEET_H
#define REEVE_FLEET_H

#include "plan.h"
#include "wire.h"

#define FLEET_MAX 1000u
#define FLEET_ID_BYTES 64u

struct fleet_place {
    char id[FLEET_ID_BYTES]; /* of its worker; empty = not known */
    int64_t started_ms;
    uint64_t served;
    uint32_t active;
    bool asked;    /* to leave, by us: also when the server does not say so yet */
    bool draining; /* the server gives it nothing more */
    bool is_seen;  /* in the last demand */
    bool end_told; /* that it may be ended */
};

struct fleet {
    bool is_local;
    struct plan plan;
    struct plan_worker workers[FLEET_MAX];
    struct fleet_place places[FLEET_MAX];
    uint32_t count;      /* of places; a local fleet has `max`, others room for unauthenticated */
    uint64_t ready;      /* jobs that wait */
    int64_t waited_ms;   /* the first of them, when it was told */
    int64_t told_ms;
};

void fleet_init(struct fleet *f, const struct plan_limits *limits, bool is_local);
/* The server tells; or is gone. */
void fleet_hear(struct fleet *f, const struct wire_demands *m, int64_t now_ms);
void fleet_lost(struct fleet *f);

/* What is to be done: workers[i].todo, until the next call; and when to ask again. */
int64_t fleet_plan(struct fleet *f, int64_t now_ms);

/* What was done, or happened. */
void fleet_started(struct fleet *f, uint32_t i, int64_t now_ms);
void fleet_asked(struct fleet *f, uint32_t i);                /* it was told to leave */
void fleet_gone(struct fleet *f, uint32_t i);                 /* its place is empty */
void fleet_broke(struct fleet *f, uint32_t i, int64_t due_ms); /* it ended by itself; again at that time */

/* Machines elsewhere: drained and without a job, so it may be ended. */
bool fleet_may_end(const struct fleet *f, uint32_t i);
/* How many there are to be when all that was asked for has come and gone. */
uint32_t fleet_wanted(const struct fleet *f);

#endif
