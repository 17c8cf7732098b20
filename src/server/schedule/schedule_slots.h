/* schedule_slots.h: the server's calendar: it answers the engine's question which slots of a schedule follow.
 *
 * Nothing is kept: the engine asks again whenever it needs more, also after a restart. */
#ifndef REEVE_SCHEDULE_SLOTS_H
#define REEVE_SCHEDULE_SLOTS_H

#include "effect.h"
#include "recur_plan.h"
#include "server_impl.h"
#include "vec.h"

struct schedule_slots {
    struct vec wanted; /* struct slots_effect; the engine asks once for each schedule, of which there is a limit */
};

extern const uint8_t schedule_slots_slot;

static inline struct schedule_slots *schedule_slots_of(const struct server *s) {
    return shard_part(server_shard(s), schedule_slots_slot);
}

/* The recurrence of an expression and the days of a calendar, which point into both and into the arena, and the zone:
 * that is good until another is asked for. */
CHECKED enum err schedule_slots_read(struct server *s, struct slice expression, struct slice calendar,
                                     struct arena *arena, struct recur_plan *ret, struct why *why);

#endif
