/* target.h: things as people name them: `f3k9a`, `f3k9a/train`, or a beginning that fits only one of them. An exact
 * name beats a beginning. What belongs to another tenant is not there; for a job whose token may not read, neither is
 * any flow but its own. The name of a service, where no flow has it, stands for the job that runs it. */
#ifndef REEVE_TARGET_H
#define REEVE_TARGET_H

#include "server_impl.h"

struct target {
    struct job_ref job;
    bool whole; /* a flow */
};

CHECKED enum err target_flow(struct server *s, const struct session *n, struct slice text, flow_id *ret,
                             struct why *why);
/* The numbers of flows that a text may mean: one, or those that begin with it. False: it is no id of this server. */
bool target_numbers(struct server *s, struct slice text, uint64_t *ret_first, uint64_t *ret_last);
CHECKED enum err target_find(struct server *s, const struct session *n, struct slice text, struct target *ret,
                             struct why *why);
/* The same. Of a job that is named in full, *ret_seen is what was seen of it on the way; else its ref is zero. */
CHECKED enum err target_look(struct server *s, const struct session *n, struct slice text, struct target *ret,
                             struct job_view *ret_seen, struct why *why);
/* The same, and it must be a job. A flow of one job will do. */
CHECKED enum err target_job(struct server *s, const struct session *n, struct slice text, struct job_view *ret,
                            struct why *why);

/* The worker with this id, in full. That of another tenant is not there. */
CHECKED enum err target_worker(struct server *s, const struct session *n, struct slice id, struct worker_view *ret,
                               struct why *why);
bool target_service(struct server *s, const struct session *n, struct slice name, struct service_view *ret);

#endif
