/* model_memo.h: results that are kept and given to other jobs, for the second model. */
#ifndef REEVE_MODEL_MEMO_H
#define REEVE_MODEL_MEMO_H

#include "model_job.h"

/* What is kept for a job's tenant and key and may be used at this moment; NULL = nothing. */
const struct model_memo *model_memo_for(const struct model *m, const struct model_flow *f, const struct model_job *j);
void model_memo_from(const struct model_memo *memo, uint64_t *ret_flow, uint32_t *ret_ordinal);
/* The records. False and the reason when no correct engine could have written them. */
bool model_memo_kept(struct model *m, const struct model_flow *f, const struct model_job *j, const struct trace_memo *r,
                     char *text);
bool model_memo_dropped(struct model *m, const struct trace_memo *r, char *text);
/* The result of this job was judged unfit: nobody else may get it. */
void model_memo_taint(struct model *m, const struct model_flow *f, const struct model_job *j);
void model_memos_free(struct model *m);

#endif
