/* zone_rule.h: the rule at the end of a time-zone file, as POSIX writes it: "WET0WEST,M3.5.0/1,M10.5.0". It says what
 * happens each year after the last transition that the file names. */
#ifndef REEVE_ZONE_RULE_H
#define REEVE_ZONE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "slice.h"

enum zone_day {
    ZONE_DAY_JULIAN,  /* 1 to 365; February 29 is never counted */
    ZONE_DAY_OF_YEAR, /* 0 to 365 */
    ZONE_DAY_OF_WEEK, /* the week-th weekday of a month; 5 = the last */
};

struct zone_change {
    enum zone_day kind;
    uint32_t day; /* of the year, or the weekday */
    uint32_t month, week;
    int32_t time; /* seconds after local midnight; may lie on other days */
};

struct zone_rule {
    bool has_summer;
    int32_t winter_offset, summer_offset; /* seconds east */
    struct zone_change to_summer, to_winter;
};

bool zone_rule_read(struct slice text, struct zone_rule *ret);
/* The moment of the year in UTC, when clocks stand at `offset` before it. */
int64_t zone_rule_moment(const struct zone_change *c, int32_t year, int32_t offset);

#endif
