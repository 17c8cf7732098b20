/* child.h: programs that a worker starts in place of a job's own; see README.md. */
#ifndef REEVE_CHILD_H
#define REEVE_CHILD_H

#include <stdbool.h>

#include "confine.h"

#define CHILD_EXE "/proc/self/exe" /* also after the file was replaced: what the worker is */

struct child_world { /* what the machine offers it */
    const struct confine *confine;
};

/* Whether these are the arguments of a child; then main has nothing else to do than to run it. */
bool child_is(int argc, char **argv);
int child_run(const struct child_world *world, int argc, char **argv); /* its exit code */

#endif
