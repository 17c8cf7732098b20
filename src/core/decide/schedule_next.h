/* schedule_next.h: when a schedule fires next, from its facts and the slots the shell has named. Changes nothing. */
#ifndef REEVE_SCHEDULE_NEXT_H
#define REEVE_SCHEDULE_NEXT_H

#include "live.h"
#include "state.h"

#define SLOTS_UNKNOWN INT64_MIN

/* The first slot that is not dealt with; TIME_NEVER when none follows; SLOTS_UNKNOWN when the shell must be asked. */
int64_t schedule_next(const struct state *s, const struct live *l, uint32_t schedule);
/* The same, of slots that fire: none that its calendar leaves out. */
int64_t schedule_next_firing(const struct state *s, const struct live *l, uint32_t schedule);
/* The limit that leaves no room for one more flow of it, by name, or NULL. */
const char *schedule_refusal(const struct state *s, const struct limits *limits, const struct schedule *sc);

#endif
