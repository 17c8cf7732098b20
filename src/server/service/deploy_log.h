/* deploy_log.h: the log of a job that deploys a service: what the new version wrote until it was healthy.
 *
 * A version that never becomes healthy is forgotten with its flow, and nobody could ask for its output any more. So the
 * job that deployed it has a copy, as its attempt 0 (it has no attempts of its own): of all attempts of the version,
 * one after the other, until the deployment has succeeded or the version has ended. */
#ifndef REEVE_DEPLOY_LOG_H
#define REEVE_DEPLOY_LOG_H

#include "ids.h"
#include "joblog.h"

struct server;

void deploy_log_init(struct server *s);
void deploy_log_fini(struct server *s);

/* An attempt was assigned: when it is one of a version under deployment, remembers which job deploys it. A version that
 * is being stopped no longer tells that, and may still write. */
void deploy_log_assigned(struct server *s, flow_id flow);

/* Where the output of this flow is copied to; false: nowhere. */
bool deploy_log_key(struct server *s, flow_id flow, struct log_key *ret);

#endif
