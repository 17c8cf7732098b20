/* service.h: processes that are to run until someone says otherwise. Part of apply.
 *
 * A service has no attempts of its own. Each of its versions is a flow of one job, the *runner*, which is placed,
 * leased, adopted, limited and stopped as any job is; what is different is only what follows from the end of an attempt
 * (it starts again) and who decides when the job is over (the service). At most one version has anything to run: the
 * others are over, or wait behind it. One exception: a version that starts first (option `update`) runs beside the one
 * that it replaces, from its deployment until that is decided and the one of both that goes has stopped.
 *
 *   deploy --> current waits behind previous --> runs --> healthy: accepted, the deploying job has SUCCEEDED
 *                                  |               |
 *                                  +---------------+-----> not in time, replaced, called off: the deploying job ends
 *                                                          badly, current is retired, previous runs again
 *
 * While a deployment is under way its job is HELD before a question (GATE_SERVICE) that the engine itself answers. */
#ifndef REEVE_SERVICE_H
#define REEVE_SERVICE_H

#include "state.h"

#define SERVICE_RUNNER 0u /* ordinal of the one job of a version */

uint32_t service_find(const struct state *s, uint32_t tenant, struct slice name); /* 0 = not known */
struct slice service_name(const struct service *v);
/* The service that a flow is a version of. */
uint32_t service_of_flow(const struct state *s, const struct flow *f);

/* A job is new: it deploys, and what it deploys has those options. */
void service_name_runner(struct state *s, struct job *j, uint32_t profile);
bool service_is_deployed_by(const struct state *s, const struct job *j);

/* Everything the job waited for is there: it stands before the question whether what it deploys is healthy. */
void service_deploy(struct state *s, uint32_t job);
/* Everything else of the record is through: unless that called the job off, it makes a version. So a version that runs
 * well is never stopped for a deployment that does not take place. */
void service_begin(struct state *s, uint32_t job);
/* The job no longer asks: unless the version was accepted, the service goes back to the one before. */
void service_give_up(struct state *s, uint32_t job);

/* A new version of a service that has none, as the current one of another; nobody deploys it. */
void service_copy(struct state *s, uint32_t service, uint32_t from);
/* Of its current version; there is one. */
const struct options *service_options(const struct state *s, const struct service *v);

/* Its previous version runs on beside the one that is being deployed. */
bool service_overlaps(const struct state *s, const struct service *v);
/* What is known of the health of one of its versions; NULL = what a worker says of that one does not count. */
const struct health *service_version_health(const struct state *s, const struct service *v, uint32_t flow);

/* What its worker says of the open attempt of a runner. */
void service_health(struct state *s, uint32_t job, const struct rec_health *word);
/* Of a job that deploys: why the new version is not healthy, for people: what its last probe or the end of its last
 * attempt said. Empty = nothing was said, or the deployment is decided. In `arena`, at most NOTE_REASON_BYTES. */
struct slice service_trouble(const struct state *s, uint32_t job, struct arena *arena);
void service_attempt_over(struct state *s, uint32_t job, enum stop_cause stop, enum outcome outcome);
void service_set(struct state *s, uint32_t service, enum service_desired desired);

/* A flow that is a version has nothing more to work through: forgets it, or lets go what waited behind it. */
void service_settled(struct state *s, uint32_t flow);

/* For loading a snapshot: an empty service, and one of its versions. */
uint32_t service_make(struct state *s, uint32_t tenant, struct slice name);
void service_link(struct state *s, uint32_t service, uint32_t flow);

#endif
