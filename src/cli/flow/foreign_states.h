/* foreign_states.h: what other systems call our states, for people who come from them (DESIGN: names in other
 * dialects). */
#ifndef REEVE_FOREIGN_STATES_H
#define REEVE_FOREIGN_STATES_H

#include "arena.h"
#include "state_word.h"
#include "wire.h"

/* All that is said of a flow (its state, and its jobs by state) or a job as they call it; NULL = as we do. */
void foreign_states_flow(const char *whose, struct arena *arena, struct wire_flow_view *v);
void foreign_states_job(const char *whose, struct wire_job_view *v);

#endif
