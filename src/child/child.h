/* child.h: programs that a worker starts in place of a job's own; see README.md. */
#ifndef REEVE_CHILD_H
#define REEVE_CHILD_H

#include <stdbool.h>

#include "confine.h"

struct child_world { /* what the machine offers it */
    const struct confine *confine;
};

/* Whether these are the arguments of a child; then main has nothing else to do than to run it. */
bool child_is(int argc, char **argv);
int child_run(const struct child_world *world, int argc, char **argv); /* its exit code */

/* For children: cannot do it. Says so on the error output and to the worker; the exit code. */
int child_refuse(const char *text);

/* The children; `args` are those after the name. */
int child_unpack(const struct child_world *world, int count, char **args);

#endif
