/* plan.h: how many workers there are to be. A function of what is there, what waits and the time; it does nothing
 * itself, and whoever does what it says asks again when something has changed, or at `next_ms`.
 *
 *   up     as many as the waiting jobs would fill, when something has waited for `after_ms`. Workers on their way are
 *          counted, and no more are on their way at once than are there, or `step`: one, two, four, …
 *   down   those that had nothing to do for `idle_ms`, while nothing waits. They are drained: no job is ended for it.
 *          Who was asked for and has not come may be called off likewise.
 *   never  fewer than `min` (but for those that broke and wait to be started again), more than `max` in all. */
#ifndef REEVE_PLAN_H
#define REEVE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct plan_limits {
    uint32_t min, max, step;
    int64_t idle_ms, after_ms;
};

enum plan_state {
    PLAN_NONE,     /* nobody is in this place */
    PLAN_STARTING, /* it was started and is not attached yet */
    PLAN_UP,       /* it is attached and takes jobs */
    PLAN_LEAVING,  /* it takes nothing new, and is there until what it runs is over */
    PLAN_BROKEN,   /* it ended by itself; it is started again at `due_ms`, for it may owe results */
};

enum plan_do { PLAN_LEAVE_IT, PLAN_START, PLAN_DRAIN };

struct plan_worker {
    enum plan_state state;
    int64_t idle_since_ms; /* it has had nothing to do since, or on its way would not have; TIME_NEVER = it has, or
                              nobody knows */
    int64_t due_ms;        /* broken */
    enum plan_do todo;     /* the answer */
};

struct plan {
    struct plan_limits limits;
    bool is_told;          /* the server is there: what follows is true now */
    uint64_t need_milli;   /* thousandths of a worker that waiting jobs would fill */
    int64_t need_since_ms; /* something has waited since; TIME_NEVER = nothing does */
    int64_t now_ms;        /* all times are of one monotonic clock */
    int64_t next_ms;       /* the answer: when to ask again though nothing happens; TIME_NEVER */
};

/* Fills `todo` of each and p->next_ms. New workers take the first places that are empty. */
void plan_make(struct plan *p, struct plan_worker *workers, uint32_t count);

struct plan_counts {
    uint32_t starting, up, leaving, broken;
};
struct plan_counts plan_count(const struct plan_worker *workers, uint32_t count);

#endif
