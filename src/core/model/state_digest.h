/* state_digest.h: a whole state as others see it: a number to compare it by, and where its bytes go. Two engines whose
 * digests are equal hold the same facts; snapshot.h says how both are made. */
#ifndef REEVE_STATE_DIGEST_H
#define REEVE_STATE_DIGEST_H

#include <stdint.h>

#include "err.h"
#include "slice.h"

struct digest {
    uint64_t lo, hi;
};

/* Takes the next piece of a snapshot. Its error ends the writing and becomes the writer's. */
typedef enum err (*snapshot_write_fn)(void *ctx, struct slice piece, struct why *why);

#endif
