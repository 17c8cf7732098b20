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
 * at most one part in `BATCH_CLOCK_SLEW`, never backwards but by a step. A jump of the wall clock cannot fire or freeze
 * timers. */
#define BATCH_CLOCK_SLEW 20

/* Further apart than this is no drift: one of the two is wrong. The wall clock is believed once it has gone on evenly
 * for BATCH_CLOCK_PATIENCE_MS; then the clock of the batches steps, and the step is recorded (ADR 0116). */
#define BATCH_CLOCK_APART_MS 60000
#define BATCH_CLOCK_PATIENCE_MS 60000

struct batch_clock {
    wall_time last;
    mono_time last_mono;
    int64_t apart_ms;      /* wall clock minus this one, when that became too much */
    mono_time apart_since; /* TIME_NEVER = it is not */
};

/* `last`: of the last batch. The clock begins with the wall clock, and not before `last` unless that is too far ahead
 * to be true. Returns the step: how much earlier than `last` it begins, 0 or less. */
int64_t batch_clock_init(struct batch_clock *c, wall_time wall, mono_time mono, wall_time last);
wall_time batch_clock_now(struct batch_clock *c, wall_time wall, mono_time mono);
/* How far the wall clock is ahead of this one; below 0: behind. */
int64_t batch_clock_apart(const struct batch_clock *c, wall_time wall, mono_time mono);
/* Before batch_clock_now: by how much the clock steps now, forwards or back. Mostly 0. */
int64_t batch_clock_step(struct batch_clock *c, wall_time wall, mono_time mono);

#endif
