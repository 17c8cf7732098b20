/* wtime.c: the clock of the batches. Takes both clocks as arguments and reads none itself. */
#include "wtime.h"

#include <stdbool.h>

int64_t batch_clock_init(struct batch_clock *c, wall_time wall, mono_time mono, wall_time last) {
    int64_t behind_ms = last.ms - wall.ms;
    bool wrong = behind_ms > BATCH_CLOCK_APART_MS;
    *c = (struct batch_clock){
        .last = behind_ms > 0 && !wrong ? last : wall, .last_mono = mono, .apart_since = {TIME_NEVER}};
    return wrong ? -behind_ms : 0;
}

static int64_t size(int64_t ms) {
    return ms < 0 ? -ms : ms;
}

int64_t batch_clock_apart(const struct batch_clock *c, wall_time wall, mono_time mono) {
    int64_t elapsed = mono.ms > c->last_mono.ms ? mono.ms - c->last_mono.ms : 0;
    return wall.ms - (c->last.ms + elapsed);
}

int64_t batch_clock_step(struct batch_clock *c, wall_time wall, mono_time mono) {
    int64_t apart_ms = batch_clock_apart(c, wall, mono);
    if (size(apart_ms) <= BATCH_CLOCK_APART_MS) {
        c->apart_since.ms = TIME_NEVER;
        return 0;
    }
    /* the wall clock jumped, again perhaps: the slew alone moves the two by far less than a tenth of what is allowed */
    if (c->apart_since.ms == TIME_NEVER || size(apart_ms - c->apart_ms) > BATCH_CLOCK_APART_MS / 10) {
        c->apart_since = mono;
        c->apart_ms = apart_ms;
        return 0;
    }
    if (mono.ms - c->apart_since.ms < BATCH_CLOCK_PATIENCE_MS) return 0;
    *c = (struct batch_clock){.last = wall, .last_mono = mono, .apart_since = {TIME_NEVER}};
    return apart_ms;
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
