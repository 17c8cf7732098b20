/* child_fetch.h: makes one request for a server or a command line (port/fetch.h).
 *
 *     --child-fetch
 *
 * What to fetch comes on standard input, what came of it goes to standard output; nothing is in its arguments or its
 * environment. It gives up all files but the system's before it reads a stranger's byte, follows no redirect, and uses
 * no proxy of the environment. */
#ifndef REEVE_CHILD_FETCH_H
#define REEVE_CHILD_FETCH_H

#include "child.h"

int child_fetch(const struct child_world *world, int count, char **args);

#endif
