/* wtime.h: two kinds of time that must not be mixed. Wall time is recorded, monotonic time is volatile. */
#ifndef REEVE_WTIME_H
#define REEVE_WTIME_H

#include <stdint.h>

/* clang-format off */
typedef struct { int64_t ms; } wall_time; /* milliseconds since 1970-01-01 UTC */
typedef struct { int64_t ms; } mono_time; /* milliseconds since some moment of this process */
/* clang-format on */

#define TIME_NEVER INT64_MAX

/* The time written into batches: the wall clock at start plus monotonic progress, drawn towards the wall clock by
 * at most one part in `BATCH_CLOCK_SLEW`, never backwards. A jump of the wall clock cannot fire or freeze timers. */
#define BATCH_CLOCK_SLEW 20

struct batch_clock {
    wall_time last;
    mono_time last_mono;
};

void batch_clock_init(struct batch_clock *c, wall_time wall, mono_time mono, wall_time not_before);
wall_time batch_clock_now(struct batch_clock *c, wall_time wall, mono_time mono);

#endif
