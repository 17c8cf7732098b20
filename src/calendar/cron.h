/* cron.h: patterns of the clock on the wall, as cron writes them: five fields, or six with the seconds first.
 *
 *     second minute hour day-of-month month day-of-week
 *
 * Each field: `*` or `?`, a value, a range `a-b` (which may go round: fri-mon), a list of these with `,`, each with a
 * step `/n`. Months and weekdays by number or by their first three letters; Sunday is 0 and 7. When day of month and
 * day of week are both given, either will do, as in every cron. Also @yearly @annually @monthly @weekly @daily
 * @midnight @hourly.
 *
 * Days that hang on the month, each an item of a list, without a range or a step:
 *
 *     L      the last day of the month          L-3    the third day before it
 *     15W    the working day nearest the 15th   LW     that nearest the last day; also L-3W
 *     fri#2  the second Friday                  friL   the last one
 *
 * A working day is Monday to Friday. The nearest one to a Saturday is the Friday before, to a Sunday the Monday after,
 * but always in the same month: of a 1st that is a Saturday the 3rd, of a last day that is a Sunday two days before. A
 * month that has no such day is left out: 31W does not happen in April, L-30 not in February. */
#ifndef REEVE_CRON_H
#define REEVE_CRON_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "slice.h"

#define CRON_YEARS 50 /* what does not happen in so many years never does: 29 February on a Monday comes within 40 */

struct cron {
    uint64_t seconds, minutes; /* a bit for each value */
    uint32_t hours, days, months;
    uint32_t before_last;         /* bit n: L-n; bit 0 = L */
    uint32_t nearest;             /* bit n: nW */
    uint32_t nearest_before_last; /* bit n: L-nW; bit 0 = LW */
    uint8_t weekdays;
    uint8_t nth[7]; /* by weekday: bit n = the n-th of the month, bit 6 = the last */
    bool any_day, any_weekday;
};

CHECKED enum err cron_read(struct slice text, struct cron *ret, struct why *why);
/* A list of weekdays alone, as the last field has them, without # and L: a bit for each, 0 = Sunday. */
CHECKED enum err cron_read_weekdays(struct slice text, uint8_t *ret, struct why *why);
/* The first moment of the wall clock at or after `local`; false when there is none in CRON_YEARS. */
bool cron_next(const struct cron *c, int64_t local, int64_t *ret);
/* How many moments lie in an hour or in a day of the wall clock that begins at `local`. */
uint64_t cron_count_hour(const struct cron *c, int64_t local);
uint64_t cron_count_day(const struct cron *c, int64_t local);
uint64_t cron_day_slots(const struct cron *c); /* on a day that it names */
bool cron_is_each_hour(const struct cron *c); /* it says nothing about hours */

#endif
