/* decide_options.h: from options as someone wrote them to options as they are recorded. */
#ifndef REEVE_DECIDE_OPTIONS_H
#define REEVE_DECIDE_OPTIONS_H

#include "decide.h"

/* Checks one set against the limits and completes it: defaults filled in, lists sorted. Slices stay the caller's. */
CHECKED enum err decide_options(struct decision *d, const struct options *given, struct options *ret);
/* A complete set as the compensation of a job has it. */
void decide_undo_options(const struct decision *d, const struct options *complete, struct options *ret);
/* A complete set as the children of a foreach job have it; `whole` keeps what is asked once for all. */
void decide_child_options(struct options *whole, struct options *ret);
/* A complete set as what a job deploys has it. */
void decide_runner_options(const struct options *complete, struct options *ret);
/* As decide_options, for what a worker says of itself. */
CHECKED enum err decide_worker_info(struct decision *d, const struct worker_info *given, struct worker_info *ret);

#endif
