/* rigdisk.h: what an engine on its own (engine_fixture.h) has recorded, as a journal on a disk. */
#ifndef REEVE_RIGDISK_H
#define REEVE_RIGDISK_H

#include "disk.h"
#include "engine_fixture.h"
#include "journal.h"

void rigdisk_append(const struct fixture *r, struct journal *to, uint64_t epoch);     /* and seals it */
void rigdisk_write(const struct fixture *r, struct disk *to, uint64_t segment_bytes); /* sealed and closed */

#endif
