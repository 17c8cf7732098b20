/* model_limit.h: what a tenant may have queued, as the second model sees it. The limits on dispatch are a checker's
 * business (check_limit.h). */
#ifndef REEVE_MODEL_LIMIT_H
#define REEVE_MODEL_LIMIT_H

#include "model_job.h"

void model_limit_set(struct model *m, const struct trace_limit *r);
/* False when the tenant may not have `jobs` more that have not ended, with messages of `bytes` in all. */
bool model_limit_has_room(const struct model *m, struct trace_bytes tenant, uint64_t jobs, uint64_t bytes);
void model_limits_free(struct model *m);

#endif
