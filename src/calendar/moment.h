/* moment.h: a moment in a zone: as text, and moved by the days and months of its calendar.
 *
 * A move is a sum of terms: `-1d`, `+1mo`, `-1d12h`. Years, months, weeks and days (`y mo w d`) move the date and keep
 * the time of day, whatever clocks do in between; the last day of a month stands for days that a month does not have.
 * Hours, minutes and seconds (`h m s`) then pass as they do on a stopwatch.
 *
 * A format is a pattern of these, and of signs that stand for themselves, as do `T` and `W`:
 *
 *     YYYY MM DD hh mm ss    2026 11 08 02 30 00
 *     YY                     26
 *     DDD                    312, the day of the year
 *     GGGG ww E              2026 45 7: year and week of ISO 8601, and the day in it, 1 = Monday
 *     Z                      +01:00, or Z for an offset of zero
 *     X                      1794105000, seconds since 1970
 *
 * Everything here takes time in proportion to its text. */
#ifndef REEVE_MOMENT_H
#define REEVE_MOMENT_H

#include "buf.h"
#include "zone.h"

#define MOMENT_WORD_BYTES 20u /* at most becomes of one letter */
#define MOMENT_TEXT_BYTES 32u /* 2026-03-29T02:30:00+01:00 */

/* The moment, in seconds UTC, at which the wall shows `wall`: the first or the last of them where clocks are put back.
 * Where they are put forward over it: when the gap is over, if `after_gap`. False when there is none. */
bool moment_at(const struct zone *z, int64_t wall, bool is_last, bool after_gap, int64_t *ret_utc);

/* What civil_read reads; without an offset it is the wall of the zone, whose gaps count as their end. */
bool moment_read(struct slice text, const struct zone *z, int64_t *ret_utc);
void moment_text(const struct zone *z, int64_t utc, char ret[MOMENT_TEXT_BYTES]); /* YYYY-MM-DDThh:mm:ssZ */

/* Between the years 1 and 9999. ERR_INVALID: it is none, or it leads out of them. */
CHECKED enum err moment_move(const struct zone *z, int64_t utc, struct slice move, int64_t *ret_utc, struct why *why);
CHECKED enum err moment_format(const struct zone *z, int64_t utc, struct slice format, struct buf *out,
                               struct why *why);

#endif
