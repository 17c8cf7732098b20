/* jail.h: a process that is to read unauthenticated' bytes gives up what it does not need for that.
 *
 * Tighter than port/confine.h, on which it builds: afterwards it can read what it has open, make files, folders and
 * links below the folder it is in, and nothing else: no other path, no socket, no other process, no program, no new
 * rights, little memory. For good. A kernel without Landlock leaves it with all but the paths. */
#ifndef REEVE_JAIL_H
#define REEVE_JAIL_H

#include <stdint.h>

#include "confine.h"

CHECKED enum err jail_enter(const struct confine *confine, uint64_t file_bytes_max, struct why *why);

#endif
