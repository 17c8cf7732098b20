/* inputs.h: everything about the outside world that a pass of the engine may know. The caller reads its clocks and its
 * random source once, before the pass; decide sees these values and no others, so a pass can be repeated exactly. */
#ifndef REEVE_INPUTS_H
#define REEVE_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "wtime.h"

struct inputs {
    wall_time wall; /* from batch_clock_now: never falls but by step_ms */
    mono_time mono;
    uint64_t random;
    uint64_t journal_free_bytes; /* what may still be promised to new work; UINT64_MAX = do not care */
    /* The process did not run for a good part of a lease: silence meanwhile was its own. Every lease that runs is a
     * full one again, as after a restart, and no timer is judged before what waits in the sockets was read, nor is
     * anything given away: the next pass must come at once. */
    bool stood_still;
    /* The clock was found to be wrong: `wall` is that much later, or earlier, than it would have been. */
    int64_t step_ms;
};

#endif
