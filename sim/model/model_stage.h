/* model_stage.h: what follows the main jobs of a flow, and the flow's own times. */
#ifndef REEVE_MODEL_STAGE_H
#define REEVE_MODEL_STAGE_H

#include "model_job.h"

/* Of a submit or an addition whose jobs were taken. */
void model_stage_born(struct model *m, struct model_flow *f, const struct trace_jobs *r);

bool model_stage_follows(const struct model_flow *f, const struct model_job *j); /* it waits for the main jobs */
bool model_stage_holds(const struct model_flow *f, const struct model_job *j);   /* its stage has not come */
/* Of the main jobs alone. */
bool model_stage_main_over(const struct model_flow *f);
bool model_stage_main_has(const struct model_flow *f, enum trace_state state);

/* Whether the job may start again; when it is a main one and all was over, what followed is to run again. */
bool model_stage_may_retry(const struct model_flow *f, const struct model_job *j);
void model_stage_again(struct model *m, struct model_flow *f);

/* The record is through: goes on to the next stage wherever it is time. True when something happened. */
bool model_stage_go_on(struct model *m);

bool model_stage_due(struct model *m, struct model_flow *f, const struct trace_flow_due *r, char *text);
/* Its timeout or deadline has come, by the time of the record at hand, and nobody has said so. */
bool model_stage_is_overdue(const struct model *m, const struct model_flow *f);

#endif
