/* recur.h: when something recurs: a pattern of the wall clock of a zone, an interval, or one moment.
 *
 * As text, for people and in records; parts are parted by `;`, in this order:
 *
 *     cron 30 2 * * mon-fri; zone Europe/Lisbon; gap after; fold first
 *     every 15m; from 2026-01-01T00:00:00Z
 *     at 2026-12-24T18:00; zone Europe/Lisbon
 *
 * The zone of an interval does not move it: its slots are written in it.
 * Clocks that are put forward leave a gap: moments that the wall shows on no such day. `after`: what falls into it
 * happens once, when the gap is over; `skip`: not at all. Clocks that are put back show an hour twice: `first`, `last`
 * or `both`. Unless said otherwise a pattern that names hours means a time of day (after, first: once each day,
 * whatever the clocks do), one that does not means an interval (skip, both: as if clocks were never touched). */
#ifndef REEVE_RECUR_H
#define REEVE_RECUR_H

#include "buf.h"
#include "cron.h"
#include "zone.h"

enum recur_kind { RECUR_CRON, RECUR_EVERY, RECUR_AT };
enum recur_gap { RECUR_GAP_AFTER, RECUR_GAP_SKIP };
enum recur_fold { RECUR_FOLD_FIRST, RECUR_FOLD_LAST, RECUR_FOLD_BOTH };

struct recur {
    enum recur_kind kind;
    struct cron cron;
    int64_t every, from; /* seconds: from + k * every; `from` in UTC */
    int64_t at;          /* seconds of the wall clock */
    enum recur_gap gap;
    enum recur_fold fold;
    struct slice zone; /* of the text that was read; empty = UTC */
};

CHECKED enum err recur_read(struct slice text, struct recur *ret, struct why *why);

/* The first slot after `after_ms` (milliseconds UTC). False when none follows. */
bool recur_next(const struct recur *r, const struct zone *z, int64_t after_ms, int64_t *ret_ms);

/* The slots after `after_ms`, ascending. When more than `most` lie at or before `now_ms`, the oldest are left out and
 * counted in `ret_earlier`; what room is left is filled with slots to come. A long past costs days, not slots. */
struct recur_slots {
    uint32_t count;
    uint64_t earlier;
    bool last; /* none follows the last of them */
};
struct recur_slots recur_slots(const struct recur *r, const struct zone *z, int64_t after_ms, int64_t now_ms,
                               uint32_t most, int64_t *ret);

/* How many slots lie after `after_ms` and not after `until_ms`, but at most `most`; `ret_ms` is the last of those that
 * were counted, or `after_ms`. */
uint64_t recur_count(const struct recur *r, const struct zone *z, int64_t after_ms, int64_t until_ms, uint64_t most,
                     int64_t *ret_ms);

#endif
