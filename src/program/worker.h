/* worker.h: `reeve worker`. */
#ifndef REEVE_WORKER_H
#define REEVE_WORKER_H

#include "wire.h"
#include "worker_options.h"

struct osloop;

/* Gets the arguments after the verb. Returns when the worker was drained. */
CHECKED enum err worker_run(int count, char **args, const char *build, struct why *why);

/* For who starts workers: what one with these arguments would say of itself, and how it would reach its server. Once in
 * a process; keeps pointers into `args`. On this machine it is tried out what one can do; of one elsewhere only what
 * the arguments say is known. */
struct worker_foreseen {
    const struct worker_options *options;
    struct wire_worker_info info;
};
CHECKED enum err worker_foresee(int count, char **args, const char *build, bool elsewhere, struct worker_foreseen *ret,
                                struct why *why);
const char *worker_server(void);                                     /* where its server is by now */
CHECKED enum err worker_secure(struct osloop *loop, struct why *why); /* makes the loop fit to dial it */

#endif
