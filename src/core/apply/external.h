/* external.h: external jobs that have something done on a worker: an attempt begins the work outside, further ones ask
 * how it is. Between attempts the job waits and holds no slot, until someone outside says that it is over, a poll says
 * so, or its time is up. An attempt that ends with "not yet" uses up no retry. */
#ifndef REEVE_EXTERNAL_H
#define REEVE_EXTERNAL_H

#include "record.h"
#include "state.h"

/* What is known of it; NULL: nothing was begun yet. */
const struct external *external_of(const struct state *s, const struct job *j);
/* When the job must be over at the latest: its own deadline, or that of what was begun. 0 = never. */
int64_t external_deadline_ms(const struct state *s, const struct job *j);
/* When it is asked next, should it be told "not yet" at `now`. */
int64_t external_again_ms(const struct state *s, const struct job *j, wall_time now);

/* An attempt has ended, neither cancelled nor too late. True: it was settled here. */
bool external_ended(struct state *s, uint32_t job, const struct rec_ended *rec);
/* Someone outside has said that it is over. */
bool external_may_hear(const struct state *s, const struct job *j);
void external_hear(struct state *s, uint32_t job, const struct rec_verdict *rec);

#endif
