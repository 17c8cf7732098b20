/* service_versions.h: the versions that a service remembers. Part of apply.
 *
 *   service_begin --> DEPLOYING --> healthy in time: CURRENT --> the next one is healthy: RETIRED
 *                         |
 *                         +-------> not healthy, replaced, called off: FAILED; the one before it stays CURRENT
 *
 * A version keeps a record of what deployed it: its flow may leave memory long before somebody wants it back. What a
 * job in a sandbox deployed is not kept: its bounds are those of an attempt, which is over. */
#ifndef REEVE_SERVICE_VERSIONS_H
#define REEVE_SERVICE_VERSIONS_H

#include "objects.h"
#include "state.h"

/* The job deploys the current version of the service. `rec` is the job as it is kept. */
void service_versions_begin(struct state *s, struct service *v, uint32_t job, const struct rec_job *rec);
/* The current version is healthy. */
void service_versions_accept(struct state *s, struct service *v);
/* The version that this flow ran is over. */
void service_versions_end(struct state *s, struct service *v, uint32_t flow, enum version_state how);
void service_versions_release(struct service *v); /* their memory */

struct tlv_list service_versions_object(const struct service *v, struct arena *arena); /* of snap_version */
CHECKED enum err service_versions_load(struct service *v, const struct snap_service *o, struct arena *arena,
                                       struct why *why);

#endif
