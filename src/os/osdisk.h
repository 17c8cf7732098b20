/* osdisk.h: port/disk.h on a Linux directory. */
#ifndef REEVE_OSDISK_H
#define REEVE_OSDISK_H

#include "disk.h"

/* `path` is made (mode 0700) when missing. All names stay below it: none may leave the directory. */
CHECKED enum err osdisk_open(const char *path, struct disk **ret, struct why *why);
void osdisk_close(struct disk *d); /* also lets go of its locks; every file must be closed before */
/* Whether a process holds this lock of the directory; its number, 0 = not known. */
bool osdisk_is_locked(const char *path, const char *name, int *ret_pid);

#endif
