/* zone.h: what the clocks of a place show, from a compiled time-zone file (TZif, RFC 8536: versions 1 to 4).
 *
 * A zone is a row of spans, each with one offset from UTC; together they cover all time. What lies behind the last
 * transition of the file follows from the rule at its end. */
#ifndef REEVE_ZONE_H
#define REEVE_ZONE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "err.h"
#include "slice.h"

#define ZONE_FILE_BYTES_MAX 65536u /* the largest of tzdata has 4 KiB */
#define ZONE_NAME_BYTES_MAX 64u
#define ZONE_BEGIN INT64_MIN
#define ZONE_END INT64_MAX

struct zone_span {
    int64_t from, until; /* UTC seconds; `until` is no part of it; ZONE_BEGIN and ZONE_END where it has no end */
    int32_t offset;      /* seconds: local = UTC + offset */
};

struct zone;

/* In the arena, as long as that lives. Keeps nothing of `file`. */
CHECKED enum err zone_open(struct slice file, struct arena *arena, struct zone **ret, struct why *why);
extern const struct zone *const zone_utc; /* the one without a file */

/* The span that holds a moment. Neighbours may have the same offset: a file may have other reasons for a transition. */
struct zone_span zone_at(const struct zone *z, int64_t utc);

/* "Europe/Lisbon": letters, digits, `_ + -`, and `/` between parts that are not empty: none leads out of a folder. */
bool zone_name_is_fit(struct slice name);

#endif
