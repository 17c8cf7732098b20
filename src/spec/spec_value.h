/* spec_value.h: values as people write them: durations, sizes, times, and the name that was probably meant.
 *
 * Pure functions of their text. What is ambiguous is refused: a duration without a unit could be seconds or
 * milliseconds, so it is neither. */
#ifndef REEVE_SPEC_VALUE_H
#define REEVE_SPEC_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

/* "90s", "1h30m", "250ms", "1.5h", "2d", "1w"; "0" alone needs no unit. */
bool spec_duration(struct slice text, int64_t *ret_ms);
/* "4096", "64KiB", "2GiB", "1.5GB"; KiB to TiB count by 1,024, kB to TB by 1,000. */
bool spec_size(struct slice text, uint64_t *ret_bytes);
/* "2026-03-01T08:00:00Z", "2026-03-01T08:00:00.250+02:00": milliseconds since 1970, UTC. */
bool spec_time(struct slice text, int64_t *ret_ms);
/* "2", "0.5": thousandths. */
bool spec_milli(struct slice text, uint32_t *ret);
bool spec_number(struct slice text, int64_t *ret);

/* How many letters must change, appear, vanish or swap to make `b` of `a`; texts beyond 48 bytes are far from
 * everything. */
uint32_t spec_distance(struct slice a, struct slice b);
/* Close enough that a person may have meant it. */
bool spec_is_near(struct slice written, struct slice known);

#endif
