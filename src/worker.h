/* worker.h: `reeve worker`. */
#ifndef REEVE_WORKER_H
#define REEVE_WORKER_H

#include "err.h"

/* Gets the arguments after the verb. Returns when the worker was drained. */
CHECKED enum err worker_run(int count, char **args, const char *build, struct why *why);

#endif
