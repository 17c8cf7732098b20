/* quota.h: limits of a tenant: concurrency keys, rates, and the tenant as a whole. Counters in the state, changed by
 * apply alone, so that they are exact at every record and the same after a restart.
 *
 *   key     taken when an attempt is assigned, given back when it ends: also while a stop is not confirmed it is taken.
 *           What is taken follows from the open attempts (an index).
 *   rate    a bucket of tokens; an assignment takes one. What it holds is a fact: a number of millionths and the batch
 *           time at which it held them. It fills by integers alone: so many milli-tokens a second are exactly so many
 *           millionths a millisecond, and nothing is rounded away.
 *   tenant  attempts open (dispatch), jobs that have not ended and bytes of their messages (admission).
 *
 * Setting a limit below what is taken takes nothing away: nothing new passes until enough was given back. */
#ifndef REEVE_QUOTA_H
#define REEVE_QUOTA_H

#include "state.h"

#define TOKEN 1000000u /* millionths */
#define RATE_MILLI_TOP 1000000000u
#define RATE_BURST_TOP 1000000000u
#define KEY_WIDTH_UNSET 1u

/* Names of keys and rates; 0 = not known. */
uint32_t quota_find(const struct state *s, uint32_t tenant, enum limit_kind kind, struct slice name);
uint32_t quota_take(struct state *s, uint32_t tenant, enum limit_kind kind, struct slice name); /* made when new */
struct slice quota_name(const struct quota *q);

/* ---- part of apply ---- */

void quota_set(struct state *s, uint32_t tenant, const struct rec_limit *rec);
/* A profile names its keys and rates from its birth to its end. */
void quota_ref(struct state *s, struct profile *p);
void quota_unref(struct state *s, struct profile *p);
/* An attempt is open (1) or no longer (-1). */
void quota_count_run(struct state *s, const struct job *j, int sign);
/* A job has not ended (1) or has (-1). */
void quota_count_job(struct state *s, const struct job *j, int sign);
/* One token of each rate of the job. */
void quota_spend(struct state *s, const struct job *j);

/* ---- for decide and for readers ---- */

struct hold {
    enum limit_kind kind;
    uint32_t quota;  /* 0 for the tenant */
    wall_time until; /* when it ends by itself; TIME_NEVER */
};
/* True when no job of the class may be assigned at `now`, and the first reason: keys, rates, the tenant. */
bool quota_holds(const struct state *s, const struct class_ *c, wall_time now, struct hold *ret);

static inline uint32_t quota_width(const struct quota *q) {
    return q->is_set ? q->width : KEY_WIDTH_UNSET;
}
uint64_t quota_level(const struct quota *q, wall_time now); /* of a rate, in millionths */

static inline bool quota_rate_is_sound(uint64_t rate_milli, uint64_t burst) {
    return rate_milli >= 1 && rate_milli <= RATE_MILLI_TOP && burst >= 1 && burst <= RATE_BURST_TOP;
}

#endif
