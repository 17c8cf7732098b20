/* recur_plan.h: the slots of a recurrence as its calendar of days lets them through.
 *
 * Days are those of the zone. What a calendar leaves out is told too, a day at a time: an entry stands for one slot, or
 * for all slots of one excluded day. A slot that is shifted is a slot of the day that it comes to, and where two come
 * to the same moment they are one. A slot that `shift_previous` moves into the past is gone, as every slot is that
 * lies before its schedule. */
#ifndef REEVE_RECUR_PLAN_H
#define REEVE_RECUR_PLAN_H

#include "day_calendar.h"
#include "recur.h"

#define RECUR_SHIFTED_DAY_MAX 96u /* slots a day of what may be shifted: one every quarter of an hour */

struct recur_plan {
    struct recur recur;
    const struct zone *zone;
    struct day_calendar days;
};

struct recur_entry {
    int64_t at_ms;    /* the slot; of an excluded day the last of its slots */
    int64_t first_ms; /* the same; of an excluded day the first of them */
    uint64_t count;   /* 1; of an excluded day how many */
    bool excluded;
};

/* ERR_INVALID for what no calendar can shift: intervals, and more slots than RECUR_SHIFTED_DAY_MAX a day. */
CHECKED enum err recur_plan_check(const struct recur_plan *p, struct why *why);

bool recur_plan_next(const struct recur_plan *p, int64_t after_ms, struct recur_entry *ret);
/* The next slot that is not left out. False also when years of slots are. */
bool recur_plan_next_slot(const struct recur_plan *p, int64_t after_ms, int64_t *ret_ms);
/* As recur_slots; `earlier` counts slots alone, and none of days that are excluded. */
struct recur_slots recur_plan_slots(const struct recur_plan *p, int64_t after_ms, int64_t now_ms, uint32_t most,
                                    struct recur_entry *ret);
/* The day of a moment, since 1970-01-01. */
int64_t recur_plan_day(const struct recur_plan *p, int64_t at_ms);

#endif
