/* model_rules.h: what follows from what, for the second model: the way to READY, the ways to end, and how an end
 * travels. Each call leaves the whole model settled: nothing that follows from the graph alone is left undone. */
#ifndef REEVE_MODEL_RULES_H
#define REEVE_MODEL_RULES_H

#include "model_job.h"

/* Judges jobs `first` up to the last of a flow, in order of ordinals, each by its parents: for new jobs. */
void model_rules_judge_new(struct model *m, struct model_flow *f, uint32_t first);
/* Begins a job anew and what it dragged down, in order of ordinals. `with_children`: of a foreach job, its bad children
 * too. */
void model_rules_retry(struct model *m, struct model_flow *f, uint32_t ordinal, bool with_children);
/* The jobs of its stage begin, those of the other outcome are skipped. */
void model_rules_begin_stage(struct model *m, struct model_flow *f);
/* Begins everything anew that did not succeed. */
void model_rules_rerun(struct model *m, struct model_flow *f);

/* The job's time has come; its question is answered with yes. */
void model_rules_time_passed(struct model *m, struct model_flow *f, struct model_job *j);
void model_rules_gate_passed(struct model *m, struct model_flow *f, struct model_job *j);
/* It stands before a question. */
void model_rules_ask(struct model_job *j, enum trace_gate gate);

void model_rules_end(struct model *m, struct model_flow *f, struct model_job *j, enum trace_state state,
                     enum trace_cause cause);
/* All at once, with nothing travelling before the last of them has ended. */
void model_rules_cancel_flow(struct model *m, struct model_flow *f, enum trace_cause cause);

/* A foreach job that waits for its children: no more begin, those that did stop. */
void model_rules_call_off(struct model *m, struct model_flow *f, struct model_job *whole, enum trace_cause cause);
/* A child that was told to stop has stopped. */
void model_rules_end_called_off(struct model *m, struct model_flow *f, struct model_job *child);
/* Lets children begin, or the foreach job end, if it is time. */
void model_rules_go_on(struct model *m, struct model_flow *f, struct model_job *whole);

uint32_t model_rules_parents_open(const struct model_flow *f, const struct model_job *j);
enum trace_flow_state model_rules_flow_state(const struct model_flow *f);

void model_rules_move(struct model *m, struct model_job *j, enum trace_state state);

#endif
