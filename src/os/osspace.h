/* osspace.h: port/space.h on Linux: directories below one, removed by a thread of its own. */
#ifndef REEVE_OSSPACE_H
#define REEVE_OSSPACE_H

#include "space.h"

/* Made when missing. What an earlier process left there is removed, in the background. */
CHECKED enum err osspace_open(const char *path, struct space **ret, struct why *why);
void osspace_close(struct space *s); /* waits for what is being removed */

#endif
