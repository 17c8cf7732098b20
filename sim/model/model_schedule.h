/* model_schedule.h: the rules of schedules, as the second model reads them. Part of model.h.
 *
 * A schedule of a run is always "every so many milliseconds from a moment on", so the model can count for itself which
 * slots there are: each of them must be fired, left out or set waiting, in order, once, for a reason that holds. */
#ifndef REEVE_MODEL_SCHEDULE_H
#define REEVE_MODEL_SCHEDULE_H

#include "model_job.h"

void model_schedule_clock(struct model *m, int64_t now_ms); /* none goes on from later than now */
bool model_schedule_record(struct model *m, const struct trace_entry *e, char *text);
/* A submit that names a schedule: may its slot fire now? */
bool model_schedule_may_fire(const struct model *m, const struct trace_jobs *r, char *text);
void model_schedule_fired(struct model *m, const struct trace_jobs *r);
/* Keys of the store were changed: what that is to schedules. */
void model_schedule_changes(struct model *m, const struct trace_change *r);
void model_schedules_free(struct model *m);

#endif
