/* simspace.h: workspaces of jobs in memory, behind port/space.h. They belong to a machine and outlive the worker that
 * made them, as directories do. */
#ifndef REEVE_SIMSPACE_H
#define REEVE_SIMSPACE_H

#include "space.h"
#include "vec.h"

struct simspace {
    struct space space; /* first: what the port gives back */
    struct vec dirs;
};

void simspace_init(struct simspace *s);
void simspace_fini(struct simspace *s);
/* The hand of a process: puts a file into a workspace. */
void simspace_put(struct simspace *s, const char *name, const char *inside, struct slice bytes);

#endif
