/* worker_titan.h: `reeve worker --titan-master`: a worker of a Titan master (titan_worker/titan_worker.h) on a real
 * machine. */
#ifndef REEVE_WORKER_TITAN_H
#define REEVE_WORKER_TITAN_H

#include "worker_options.h"

struct proc;

CHECKED enum err worker_titan_check(const struct worker_options *o, struct why *why);
/* Until it is drained by a signal, or its master has it end. */
CHECKED enum err worker_titan_run(const struct worker_options *o, struct proc *proc, const char *space_path,
                                  void (*log)(void *ctx, const char *line), struct why *why);

#endif
