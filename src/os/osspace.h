/* osspace.h: port/space.h on Linux: directories below one, removed by a thread of its own. */
#ifndef REEVE_OSSPACE_H
#define REEVE_OSSPACE_H

#include "space.h"

CHECKED enum err osspace_open(const char *path, struct space **ret, struct why *why); /* made when missing */
/* Removes what an earlier process left there, in the background. Only when no other process can be using it: after the
 * lock of the directory, before the first space is made. */
CHECKED enum err osspace_sweep(struct space *s, struct why *why);
void osspace_close(struct space *s); /* waits for what is being removed */

#endif
