/* up.h: `reeve up` and `reeve down`: a small supervisor over two processes, the server and a worker. */
#ifndef REEVE_UP_H
#define REEVE_UP_H

#include "err.h"

/* Both get the arguments after the verb. The first returns when both processes have ended, or with --detach when both
 * are there. */
CHECKED enum err up_run(int count, char **args, const char *build, struct why *why);
CHECKED enum err up_down(int count, char **args, struct why *why);

#endif
