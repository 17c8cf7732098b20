/* rigdisk.h: what an engine on its own (engine_fixture.h) has recorded, as a journal on a disk. */
#ifndef REEVE_RIGDISK_H
#define REEVE_RIGDISK_H

#include "disk.h"
#include "engine_fixture.h"

void rigdisk_write(const struct fixture *r, struct disk *to, uint64_t segment_bytes); /* sealed and closed */

#endif
