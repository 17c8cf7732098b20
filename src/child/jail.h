/* jail.h: a process that is to read strangers' bytes gives up what it does not need for that.
 *
 * Afterwards it can read what it has open, make files, folders and links below one folder, and nothing else: no other
 * path (Landlock), no socket, no other process, no program, no new rights (seccomp), little memory. For good. A kernel
 * without Landlock leaves it with the rest. */
#ifndef REEVE_JAIL_H
#define REEVE_JAIL_H

#include <stdint.h>

#include "err.h"

/* `folder`: a descriptor of the one folder. `file_bytes_max`: of a file that is written. */
CHECKED enum err jail_enter(int folder, uint64_t file_bytes_max, struct why *why);

#endif
