/* attempt.h: open attempts (runs) and what they take of a worker. Part of apply. */
#ifndef REEVE_ATTEMPT_H
#define REEVE_ATTEMPT_H

#include "state.h"

void attempt_assign(struct state *s, uint32_t job, uint32_t worker, uint32_t attempt, uint64_t incarnation);
void attempt_start(struct state *s, uint32_t job);
/* Records why the attempt must stop and has the worker told. A cancel overrules an earlier cause. */
void attempt_stop(struct state *s, uint32_t job, enum stop_cause cause, uint32_t confirm_ms);
void attempt_end(struct state *s, uint32_t job, const struct rec_ended *rec);

/* For how long, at `now`, the job's open attempt runs or waits to be started: it ended at most so long ago. */
static inline uint64_t attempt_age_ms(const struct job *j, wall_time now) {
    return now.ms > j->since.ms ? (uint64_t)(now.ms - j->since.ms) : 0;
}

/* The delay before the next attempt of a job that failed `used` times, jitter included. */
int64_t backoff_ms(const struct options *o, uint32_t used, uint64_t seed, struct job_ref ref);

/* `base_ms`, doubled so often, but never above the cap. */
int64_t doubled_ms(int64_t base_ms, int64_t cap_ms, uint32_t times);

/* The same for the restart of a service. */
int64_t restart_ms(const struct options *o, uint32_t used, uint64_t seed, struct job_ref ref);
/* What an attempt that did not end well failed by. */
enum job_cause attempt_cause(enum stop_cause stop, enum outcome outcome);

/* Counts a run in at, or off, its worker. Loading a snapshot restores runs through it, in order of their fences. */
void run_attach(struct state *s, uint32_t run);

struct attempt_effect attempt_effect_of(const struct state *s, const struct job *j);

#endif
