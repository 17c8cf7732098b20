/* schedule.h: schedules: named objects of a tenant that make flows at times which come in from outside.
 *
 * The engine knows no calendar. It keeps, for each schedule, the slot up to which all were dealt with (`after_ms`) and
 * asks the shell for those that follow (EFFECT_SLOTS_WANTED). A slot at or before `after_ms` never fires again by
 * itself, and the record that makes a flow is the one that moves it: a crash falls before both or after both. */
#ifndef REEVE_SCHEDULE_H
#define REEVE_SCHEDULE_H

#include "err.h"
#include "objects.h"
#include "state.h"

uint32_t schedule_find(const struct state *s, uint32_t tenant, struct slice name, struct arena *scratch); /* 0 = none */
struct slice schedule_name(const struct schedule *sc);
/* Whether the flow it made last is still running. */
bool schedule_is_running(const struct state *s, const struct schedule *sc);

/* Part of apply. */
void schedule_set(struct state *s, uint32_t tenant, const struct rec_schedule *r);
void schedule_remove(struct state *s, uint32_t index);
void schedule_pause(struct state *s, uint32_t index, const struct rec_schedule_paused *r);
void schedule_slot(struct state *s, uint32_t index, const struct rec_schedule_slot *r);
void schedule_backfill(struct state *s, uint32_t index, const struct rec_schedule_backfill *r);
void schedule_fired(struct state *s, uint32_t index, uint32_t flow, const struct rec_submitted *r);
/* The tick looks at it. */
void schedule_wake(struct state *s, uint32_t index);
/* A change of its key came while its flow is running, and overlap leaves it out. */
void schedule_left_out(struct state *s, uint32_t index);
/* Its flow ended, or runs again. */
void schedule_flow_moved(struct state *s, uint32_t index, enum flow_state state);

/* Part of apply_check. */
CHECKED enum err schedule_check(const struct state *s, struct slice tenant, struct slice name, struct why *why);
CHECKED enum err schedule_check_slot(const struct state *s, const struct rec_schedule_slot *r, struct why *why);
CHECKED enum err schedule_check_fired(const struct state *s, const struct rec_submitted *r, struct why *why);

/* As an object of a snapshot, and back. Lists of the object are in `arena`. */
struct snap_schedule schedule_object(const struct state *s, const struct schedule *sc, struct arena *arena);
CHECKED enum err schedule_load(struct state *s, const struct snap_schedule *o, struct arena *arena, struct why *why);

void schedule_release_memory(struct schedule *sc);
size_t schedule_bytes(const struct schedule *sc);

#endif
