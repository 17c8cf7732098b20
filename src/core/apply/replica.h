/* replica.h: replicas of a service: a set of services that came from one deployment. Part of apply.
 *
 * The set `web` is nothing of its own: its members are the services web.1, web.2 … whose current version says (option
 * `replica_of`) that it is one of the set. Each member is deployed by a job of its own and is restarted, moved, rolled
 * back and stopped as any service is. So no fact is kept of a set, and a service that is in none costs nothing.
 *
 * What concerns the set as a whole is here. A deployment ends with a barrier behind the jobs that deploy its members;
 * when that succeeds, members with higher numbers are removed, and so is a service `web` that has no replicas. When a
 * service without replicas is healthy, the members of a set of its name are removed. REC_SCALED removes the highest
 * members, or adds copies of one that runs. What is being deployed at that moment stays as it is. */
#ifndef REEVE_REPLICA_H
#define REEVE_REPLICA_H

#include "state.h"

/* The member of a set, or 0: one that is not known, is being removed, or is a service of that name by itself. */
uint32_t replica_find(const struct state *s, uint32_t tenant, struct slice set, uint32_t number);
/* Writes the name of a member, SET.NUMBER; `ret` has room for `set` and REPLICA_SUFFIX_BYTES more. */
#define REPLICA_SUFFIX_BYTES 11u
struct slice replica_name(struct slice set, uint32_t number, uint8_t *ret);
/* The number in such a name, 0 when it is none of the set. */
uint32_t replica_number(struct slice set, struct slice name);

void replica_trim(struct state *s, uint32_t tenant, struct slice set, uint32_t replicas);
/* A version was found healthy: if it has no replicas, the set of its name goes. */
void replica_accepted(struct state *s, const struct service *v);
void replica_scale(struct state *s, uint32_t tenant, const struct rec_scaled *r);
/* Whether apply can do what the record says. */
enum err replica_check(const struct state *s, const struct rec_scaled *r, struct why *why);

#endif
