/* clock.h: time and randomness, as the world offers them. Simulated in sim/. */
#ifndef REEVE_CLOCK_H
#define REEVE_CLOCK_H

#include <stdint.h>

#include "wtime.h"

struct clock {
    wall_time (*wall)(struct clock *c);
    mono_time (*mono)(struct clock *c);
    uint64_t (*random)(struct clock *c);
    uint64_t (*us)(struct clock *c); /* monotonic microseconds, to measure by and nothing else */
};

#endif
