/* dialect.h: what other systems call our states, for people who come from them (DESIGN: names in other dialects). */
#ifndef REEVE_DIALECT_H
#define REEVE_DIALECT_H

#include "arena.h"
#include "slice.h"
#include "wire.h"

bool dialect_is_known(const char *whose);
/* The state as they call it; `whose` NULL = as we do. The cause tells a job that was dragged down from one that
 * failed. */
struct slice dialect_word(const char *whose, struct slice state, struct slice cause);
/* The same for all that is said of a flow: its state, and its jobs by state. */
void dialect_flow(const char *whose, struct arena *arena, struct wire_flow_view *v);
void dialect_job(const char *whose, struct wire_job_view *v);

#endif
