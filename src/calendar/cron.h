/* cron.h: patterns of the clock on the wall, as cron writes them: five fields, or six with the seconds first.
 *
 *     second minute hour day-of-month month day-of-week
 *
 * Each field: `*` or `?`, a value, a range `a-b` (which may go round: fri-mon), a list of these with `,`, each with a
 * step `/n`. Months and weekdays by number or by their first three letters; Sunday is 0 and 7. `L` as day of month is
 * its last day, `fri#2` the second Friday, `friL` the last. When day of month and day of week are both given, either
 * will do, as in every cron. Also @yearly @annually @monthly @weekly @daily @midnight @hourly. */
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
    uint8_t weekdays;
    bool last_day;         /* L */
    uint8_t nth[7];        /* by weekday: bit n = the n-th of the month, bit 6 = the last */
    bool any_day, any_weekday;
};

CHECKED enum err cron_read(struct slice text, struct cron *ret, struct why *why);
/* The first moment of the wall clock at or after `local`; false when there is none in CRON_YEARS. */
bool cron_next(const struct cron *c, int64_t local, int64_t *ret);
/* How many moments lie in an hour or in a day of the wall clock that begins at `local`. */
uint64_t cron_count_hour(const struct cron *c, int64_t local);
uint64_t cron_count_day(const struct cron *c, int64_t local);
bool cron_is_each_hour(const struct cron *c); /* it says nothing about hours */

#endif
