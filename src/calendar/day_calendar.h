/* day_calendar.h: days on which a schedule does not run, as a list that is complete in itself: nothing is looked up
 * when a slot comes, so the same slots follow for ever.
 *
 * As text, for people and in records; parts are parted by `;`, in any order, each at most once:
 *
 *     weekdays mon-fri; not 2026-12-24, 2026-12-25 Christmas Day; excluded shift_next
 *
 * `weekdays` are those on which it runs (names or 0 to 7, ranges that may go round, lists), `not` the dates on which it
 * does not, each with a name for people if it has one. Both are days of the schedule's zone. `excluded` says what
 * becomes of a slot on another day: `skip` (it is left out), `shift_next` or `shift_previous` (it moves to the same
 * time of the next or the previous day that is not excluded), `run` (the calendar is put aside). */
#ifndef REEVE_DAY_CALENDAR_H
#define REEVE_DAY_CALENDAR_H

#include "arena.h"
#include "err.h"
#include "slice.h"

enum day_policy { DAY_SKIP, DAY_SHIFT_NEXT, DAY_SHIFT_PREVIOUS, DAY_RUN, DAY_POLICY_COUNT };
extern const char *const day_policy_words[DAY_POLICY_COUNT];

#define DAY_SHIFT_MAX 31 /* days: further than this no slot moves, it is left out */

struct excluded_day {
    int64_t day; /* since 1970-01-01 */
    struct slice name;
};

struct day_calendar {
    enum day_policy policy;
    uint8_t weekdays;                /* a bit for each on which it runs; 0 = Sunday */
    const struct excluded_day *days; /* ascending, each once */
    uint32_t count;
};

/* An empty text is the calendar that excludes nothing. Names point into the text. */
CHECKED enum err day_calendar_read(struct slice text, struct arena *arena, struct day_calendar *ret, struct why *why);
/* Whether anything follows from it: it excludes some day, and its policy is not `run`. */
bool day_calendar_acts(const struct day_calendar *c);
bool day_calendar_excludes(const struct day_calendar *c, int64_t day);
/* The day as the calendar lists it; NULL = it does not, and it is excluded, if at all, by its weekday. */
const struct excluded_day *day_calendar_find(const struct day_calendar *c, int64_t day);

#endif
