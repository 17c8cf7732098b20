/* tally.h: what has happened, counted. Every number follows from the journal's records alone: apply counts, live as in
 * replay, and a snapshot keeps the counts. So a restart changes none of them, and neither does a crash.
 *
 * Nothing is decided by a tally. Flows born under rules before TALLY_RULES are not counted: journals of that time keep
 * their digests. */
#ifndef REEVE_TALLY_H
#define REEVE_TALLY_H

#include <stdint.h>

#include "job.h"
#include "rules.h"
#include "wtime.h"

struct state;
struct job;
struct flow;

/* Numbers are format: never reuse one. */
#define TALLY_TABLE(X)                                                                            \
    X(TALLY_FLOWS, 1, "flows accepted")                                                           \
    X(TALLY_FLOWS_SUCCEEDED, 2, "flows that ended well; one that is started again may end again") \
    X(TALLY_FLOWS_FAILED, 3, "flows that ended badly")                                            \
    X(TALLY_FLOWS_CANCELLED, 4, "flows that were ended")                                          \
    X(TALLY_JOBS, 5, "jobs that flows got, children and compensations included")                  \
    X(TALLY_RETRIES, 6, "attempts that ended badly and are tried again")                          \
    X(TALLY_UNDOS, 7, "compensations entered, should they be needed")                             \
    X(TALLY_SAGAS, 8, "flows that began to undo what they did")                                   \
    X(TALLY_SAGAS_DONE, 9, "flows that have undone what they did")                                \
    X(TALLY_COMPENSATIONS, 10, "compensations begun")                                             \
    X(TALLY_COMPENSATIONS_FAILED, 11, "compensations that ended badly")                           \
    X(TALLY_APPROVED, 12, "approvals given")                                                      \
    X(TALLY_REJECTED, 13, "approvals refused")                                                    \
    X(TALLY_EXPIRED, 14, "approvals that nobody gave in time")                                    \
    X(TALLY_POLICY_DENIED, 15, "jobs that a policy denied")                                       \
    X(TALLY_OUTPUTS, 16, "outputs judged")                                                        \
    X(TALLY_ENTERED, 32, "jobs that came into a state: this and the next ones, by state")         \
    X(TALLY_WAIT, 64, "ready until assigned: sum in milliseconds, then one count per bound")      \
    X(TALLY_DISPATCH, 96, "assigned until started, likewise")                                     \
    X(TALLY_RUN, 128, "started until over, likewise")                                             \
    X(TALLY_APPROVAL, 160, "an approval asked until answered, likewise")                          \
    X(TALLY_FLOW, 192, "a flow accepted until over, likewise")

enum tally {
#define X(tally, number, text) tally = number,
    TALLY_TABLE(X)
#undef X
    TALLY_COUNT = 224
};

/* A time is counted at the first bound that it does not exceed, or behind the last. Part of the rules. */
#define TALLY_BOUND_COUNT 18u
extern const uint32_t tally_bounds_ms[TALLY_BOUND_COUNT];
#define TALLY_SPREAD_SLOTS (1u + TALLY_BOUND_COUNT + 1u)
_Static_assert(TALLY_ENTERED + JOB_STATE_COUNT <= TALLY_WAIT, "states fit between");
_Static_assert(TALLY_WAIT + TALLY_SPREAD_SLOTS <= TALLY_DISPATCH, "so do bounds");

/* From apply. */
void tally_add(struct state *s, const struct flow *f, enum tally what, uint64_t n);
void tally_time(struct state *s, const struct flow *f, enum tally spread, int64_t ms);
/* Before `j` is in `to`; `over`: when what it was doing before came to its end. */
void tally_move(struct state *s, const struct job *j, enum job_state to, enum job_cause cause, wall_time over);

#endif
