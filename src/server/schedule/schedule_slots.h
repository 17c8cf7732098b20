/* schedule_slots.h: the server's calendar: it answers the engine's question which slots of a schedule follow.
 *
 * Nothing is kept: the engine asks again whenever it needs more, also after a restart, and time-zone files are read
 * each time, so that a new tzdata holds from the next question on. */
#ifndef REEVE_SCHEDULE_SLOTS_H
#define REEVE_SCHEDULE_SLOTS_H

#include "effect.h"
#include "recur.h"
#include "vec.h"

struct server;

struct schedule_slots {
    struct vec wanted; /* struct slots_effect; the engine asks once for each schedule, of which there is a limit */
};

void schedule_slots_init(struct server *s);
void schedule_slots_fini(struct server *s);
void schedule_slots_want(struct server *s, const struct slots_effect *e);
void schedule_slots_step(struct server *s); /* inside a pass of the engine */
bool schedule_slots_waits(const struct server *s);

/* The recurrence of an expression and its zone, both in the arena. */
CHECKED enum err schedule_slots_read(struct server *s, struct slice expression, struct arena *arena, struct recur *ret,
                                     const struct zone **ret_zone, struct why *why);

#endif
