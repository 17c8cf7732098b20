/* model_service.h: services, for the second model. What must run follows from the records each time anew. */
#ifndef REEVE_MODEL_SERVICE_H
#define REEVE_MODEL_SERVICE_H

#include "model_job.h"

/* A copy of what a job deploys, with everything in it. */
struct trace_job *model_runner_copy(const struct trace_job *from);
void model_runner_free(const struct trace_job *runner);

/* The job stands before the question whether what it deploys is healthy: it deploys when the record is through. */
void model_service_deploys(struct model *m, uint64_t flow, uint32_t ordinal);
/* The next deployment of the record; false when none is left. */
bool model_service_deploy(struct model *m);

/* Records. False, with the reason, when no correct engine could have written them. */
bool model_service_set(struct model *m, const struct trace_service *r, char *text);
bool model_service_health(struct model *m, struct model_flow *f, struct model_job *j, const struct trace_health *r,
                          char *text);
bool model_replica_scaled(struct model *m, const struct trace_scaled *r, char *text);
bool model_service_unhealthy(struct model *m, struct model_flow *f, struct model_job *j, bool by_nobody, char *text);
void model_service_ended(struct model *m, struct model_flow *f, struct model_job *j, enum trace_outcome outcome);
void model_service_drain(struct model *m, struct trace_bytes worker, bool on, bool own);
void model_service_attach(struct model *m, struct trace_bytes worker);

/* A barrier behind replicas has succeeded: the set has so many from now on, and no service of its name has none. */
void model_replica_trim(struct model *m, struct model_text tenant, struct trace_bytes set, uint32_t replicas);

/* Everything that follows, after each record. */
void model_service_go_on(struct model *m);
void model_services_free(struct model *m);

#endif
