/* diskio.h: the loops around port/disk.h that every caller needs: a read or write may move less than asked. */
#ifndef REEVE_DISKIO_H
#define REEVE_DISKIO_H

#include "disk.h"

/* Reads up to `len` bytes; fewer only at the end of the file. */
CHECKED enum err diskio_read(struct disk *d, disk_file f, uint64_t offset, void *to, size_t len, size_t *ret,
                             struct why *why);
/* Writes all of it or fails. */
CHECKED enum err diskio_write(struct disk *d, disk_file f, uint64_t offset, const void *from, size_t len,
                              struct why *why);

#endif
