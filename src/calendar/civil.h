/* civil.h: dates of the Gregorian calendar, without zones. A moment is a number of seconds since 1970-01-01T00:00:00 of
 * the same clock, be that UTC or the clock on somebody's wall. */
#ifndef REEVE_CIVIL_H
#define REEVE_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

#define CIVIL_DAY 86400
#define CIVIL_YEAR_MIN 1
#define CIVIL_YEAR_MAX 9999

struct civil {
    int32_t year;
    uint32_t month, day; /* from 1 */
    uint32_t hour, minute, second;
};

int64_t civil_days(int32_t year, uint32_t month, uint32_t day); /* since 1970-01-01 */
int64_t civil_seconds(const struct civil *c);
struct civil civil_of(int64_t seconds);
uint32_t civil_weekday(int64_t days); /* 0 = Sunday */
uint32_t civil_month_days(int32_t year, uint32_t month);

/* "2026-03-29", "2026-03-29T02:30" or "2026-03-29T02:30:15", a blank in place of the T allowed. With a Z or an offset
 * at its end ("+01:00") the moment is UTC, else the clock on the wall: `ret_is_utc`. False when it is none of these. */
bool civil_read(struct slice text, int64_t *ret_seconds, bool *ret_is_utc);

#define CIVIL_TEXT_BYTES 24u
void civil_text(int64_t seconds, char ret[CIVIL_TEXT_BYTES]); /* 2026-03-29T02:30:15 */

/* Division that rounds down, also below zero. */
static inline int64_t civil_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

#endif
