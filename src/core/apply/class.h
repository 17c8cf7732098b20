/* class.h: option sets kept once (profiles), and queues of ready jobs with the same demand (classes).
 *
 * Both are indices over content: a profile lives as long as a job refers to it, a class as long as a profile refers to
 * it or a job is queued in it. */
#ifndef REEVE_CLASS_H
#define REEVE_CLASS_H

#include "state.h"

/* The profile of these options for this tenant, made when it is new; the caller holds one reference per job. */
uint32_t profile_take(struct state *s, uint32_t tenant, struct slice encoded);
/* Whether it is the one that was taken last. */
bool profile_is_recent(const struct state *s, uint32_t tenant, struct slice encoded);
void profile_ref(struct state *s, uint32_t profile);
void profile_unref(struct state *s, uint32_t profile);

/* Queues a READY job in the class of its demand, or of its preference while that lasts. */
void ready_push(struct state *s, uint32_t job);
/* Takes a READY job out of its queue or off its flow's parked list. */
void ready_remove(struct state *s, uint32_t job);
/* Moves a queued job to its flow's parked list: the flow may not dispatch now. */
void ready_park(struct state *s, uint32_t job);
/* Queues a parked job again, behind those that are ready by now. */
void ready_unpark(struct state *s, uint32_t job);
/* Drops the preferences of a queued job: it moves to its ordinary class. */
void ready_drop_preference(struct state *s, uint32_t job);

/* Takes a class off the list that a round walks, until the quota may let it pass again. */
void class_hold(struct state *s, uint32_t class_, uint32_t quota);
/* Puts all classes back that the quota holds. */
void class_release(struct state *s, uint32_t quota);

#endif
