/* view_history.h: reading what the history keeps: how attempts went, labels, and which flows ended since a record. As
 * in view.h nothing is changed. */
#ifndef REEVE_VIEW_HISTORY_H
#define REEVE_VIEW_HISTORY_H

#include "arena.h"
#include "effect.h"
#include "ids.h"
#include "record.h"
#include "wtime.h"

struct state;

struct attempt_view {
    uint32_t attempt;
    struct slice worker; /* its id; empty = it is gone, and the attempt is of a time without notes */
    bool is_open;        /* what follows means nothing, but for the first two times */
    enum outcome outcome;
    enum stop_cause stop;
    uint32_t exit_code, signal;
    wall_time assigned, started, ended; /* 0 = not, or not known */
    uint64_t log_bytes, log_cut_bytes;
    struct slice reason;
    struct rec_usage usage;
};

/* The last attempts of a job, oldest first, in the arena; how many. */
uint32_t view_attempts(const struct state *s, struct job_ref ref, struct arena *arena, struct attempt_view **ret);
/* The labels of a flow, in the arena; how many. */
uint32_t view_labels(const struct state *s, flow_id flow, struct arena *arena, const struct label **ret);

/* By which record a flow that is over changed last: its end, or a later word about it. False: it is not over, or not
 * there. After a restore the number may be higher than it was, never lower. */
bool view_ended(const struct state *s, flow_id flow, uint64_t *ret_lsn);
/* All whose number is above `after_lsn`, in its order. Costs as many steps as there are. */
typedef void (*view_ended_fn)(void *ctx, flow_id flow, uint64_t lsn);
void view_each_ended(const struct state *s, uint64_t after_lsn, view_ended_fn each, void *ctx);

/* Their numbers, in no order, and how many; more than `max`: too many. */
uint32_t view_ended_after(const struct state *s, uint64_t after_lsn, uint64_t *ret, uint32_t max);

/* The highest number below `before` of a flow in memory that is on one of these shelves; 0 = none. Costs the same
 * however many there are. */
#define VIEW_SHELF(state) (1u << (state))  /* enum flow_state */
#define VIEW_KEPT (1u << FLOW_STATE_COUNT) /* over, and kept by a service: in no list of ended ones yet */
#define VIEW_ALL (2u * VIEW_KEPT - 1u)
uint64_t view_flow_below(const struct state *s, uint64_t before, uint32_t shelves);

#endif
