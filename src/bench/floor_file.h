/* floor_file.h: a preallocated, zero-filled file that is appended to and synced, round and round. */
#ifndef REEVE_FLOOR_FILE_H
#define REEVE_FLOOR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "err.h"

#define FLOOR_FILE_BYTES ((off_t)64 << 20) /* as a segment of the journal */

struct floor_file {
    int fd;
    off_t at;
};

CHECKED enum err floor_file_open(struct floor_file *f, const char *dir, struct why *why);
bool floor_file_append(struct floor_file *f, const void *bytes, size_t len); /* and fdatasync; false: see errno */
void floor_file_close(struct floor_file *f);

#endif
