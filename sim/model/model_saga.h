/* model_saga.h: compensations, for the second model. */
#ifndef REEVE_MODEL_SAGA_H
#define REEVE_MODEL_SAGA_H

#include "model_job.h"

/* A run of the job went well. */
void model_saga_entered(struct model_flow *f, uint32_t ordinal);
/* A job of the flow failed fatally, and everything that follows from that by the graph has followed. */
void model_saga_fatal(struct model *m, struct model_flow *f, const struct model_job *j);
void model_saga_unwind(struct model *m, struct model_flow *f); /* if there is anything to undo, now or soon */
/* Makes the next compensation a job, in each flow where it is time for it. */
void model_saga_go_on(struct model *m);
/* How many were entered and are not yet jobs. */
uint32_t model_saga_left(const struct model_flow *f);

#endif
