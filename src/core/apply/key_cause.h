/* key_cause.h: schedules whose flows a key of the store starts, not the clock. Part of apply.
 *
 * A cause is one key of a tenant, or all that begin with a prefix. A record that changes such a key leaves a *change*
 * behind: it waits in the cause until the tick makes a flow of it, and the record of that flow takes it away. So no
 * crash falls between the two, and a change is handled once.
 *
 *     set a=1   ─▶  a waits                      (edge: it is the change that counts, not the value)
 *     set a=2   ─▶  a waits, changed twice       (one start for all changes of a key that wait)
 *     set b=1   ─▶  a, b wait                    (in the order in which they began to wait)
 *     the tick  ─▶  a flow for a, with a's value of that moment; b waits for its end
 *
 * When CAUSE_KEYS_MAX keys wait, a change of a further one counts as one more of the newest. What a schedule that is
 * paused, or outside its time, sees change starts nothing, and neither does what the flows of the schedule itself
 * change, unless it says so. */
#ifndef REEVE_KEY_CAUSE_H
#define REEVE_KEY_CAUSE_H

#include "state.h"

#define CAUSE_PREFIX_AT 4u /* in the text of a cause */
#define CAUSE_KEY_AT 5u

void causes_init(struct causes *c);
void causes_fini(struct causes *c);
size_t causes_bytes(const struct causes *c);

/* What a schedule that was set says about keys: its cause is made, kept with what waits, or dropped. */
void cause_set(struct state *s, uint32_t schedule, const struct rec_schedule *r);
void cause_drop(struct state *s, uint32_t schedule);

/* A key of a tenant was changed, by a job of flow `by` (0 = by nobody's): it waits where it is a cause. */
void cause_changed(struct state *s, uint32_t tenant, uint64_t by, struct slice key, unsigned how, uint64_t version);
/* The one that a flow was made of; the next in line. */
void cause_taken(struct state *s, uint32_t schedule);

struct slice change_key(const struct key_change *c);
/* The change that is next, NULL = none waits. */
const struct key_change *cause_first(const struct state *s, const struct schedule *sc);
uint32_t cause_waiting(const struct state *s, const struct schedule *sc);
/* How many causes the tenant has. */
uint32_t causes_of(const struct state *s, uint32_t tenant);

/* For the loader: a change at the end of the line. False: it is there already. */
bool cause_load_change(struct state *s, uint32_t schedule, const struct key_change *change, struct slice key);

#endif
