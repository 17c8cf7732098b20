/* ram.h: the engine behind journal.h that keeps everything in memory. It shows that the interface is enough, and lets a
 * test or a simulator choose the outcome of an append.
 *
 * `struct ram` is to it what a disk is to the file engine: the caller keeps it, and it outlives the journals that are
 * opened on it. Several may be open at once, as by several processes: the last one to acquire is the owner, and the
 * owner before it is fenced. There is no archive: what is trimmed is gone. */
#ifndef REEVE_RAM_H
#define REEVE_RAM_H

#include "journal.h"

struct ram;

struct ram_options {          /* 0 = the standard */
    uint64_t bytes_max;       /* of all batches: more is no room. Standard: no bound */
    uint64_t batch_bytes_max; /* of the records of one batch. Standard: 64 MiB */
};

struct ram *ram_new(const struct ram_options *o);
void ram_free(struct ram *r); /* every journal on it is closed */
CHECKED enum err ram_open(struct ram *r, struct journal **ret, struct why *why);
/* A journal on memory of its own, which goes with the last of it and its readers to be closed. */
CHECKED enum err ram_open_alone(const struct ram_options *o, struct journal **ret, struct why *why);

enum ram_fault {
    RAM_FENCED,       /* another owner took over just before: the epoch is raised */
    RAM_UNKNOWN_KEPT, /* it is there, the caller is not told */
    RAM_UNKNOWN_LATE, /* it is there from the next acquire on */
    RAM_UNKNOWN_LOST, /* it is not there */
    RAM_FULL,
    RAM_FAILED,
};
/* What becomes of the append after `skip` others, by whichever owner. One at a time; the last one counts. */
void ram_arm(struct ram *r, enum ram_fault what, uint32_t skip);
bool ram_is_armed(struct ram *r); /* false: it has happened */

#endif
