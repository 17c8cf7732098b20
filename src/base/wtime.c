/* wtime.c: the clock of the batches. Takes both clocks as arguments and reads none itself. */
#include "wtime.h"

void batch_clock_init(struct batch_clock *c, wall_time wall, mono_time mono, wall_time not_before) {
    c->last.ms = wall.ms > not_before.ms ? wall.ms : not_before.ms;
    c->last_mono = mono;
}

/* The correction is a whole number of milliseconds out of at least BATCH_CLOCK_SLEW of progress, so the two fields
 * move only after that much of it; until then the answer is plain progress. The step never goes backwards: with
 * e >= 20, e - e / 20 is at least 19, the most that was answered before it. */
wall_time batch_clock_now(struct batch_clock *c, wall_time wall, mono_time mono) {
    int64_t elapsed = mono.ms - c->last_mono.ms;
    if (elapsed < 0) elapsed = 0;
    wall_time now = {c->last.ms + elapsed};
    if (elapsed < BATCH_CLOCK_SLEW) return now;

    int64_t slew_max = elapsed / BATCH_CLOCK_SLEW;
    int64_t slew = wall.ms - now.ms;
    if (slew > slew_max) slew = slew_max;
    if (slew < -slew_max) slew = -slew_max;
    now.ms += slew;
    c->last = now;
    c->last_mono = mono;
    return now;
}
