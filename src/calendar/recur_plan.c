/* recur_plan.c: see recur_plan.h.
 *
 * Shifting is worked out from the day that slots come to. With shift_next and a free Monday behind a weekend:
 *
 *     day        Thu   Fri   Sat   Sun   Mon
 *     excluded               x     x     x      (and Tue is the next that is not)
 *     its slots  09:00 09:00 09:00 09:00 09:00
 *
 * Tuesday has its own slot and those of the run of excluded days before it, all of them at 09:00: one slot. */
#include "recur_plan.h"

#include "civil.h"
#include "moment.h"
#include "panic.h"

#define EXCLUDED_MAX 4000 /* days without a slot, one after the other: then there is none */
#define NO_DAY INT64_MIN

static int64_t day_of(const struct zone *z, int64_t utc) {
    return civil_div(utc + zone_at(z, utc).offset, CIVIL_DAY);
}

/* The first second of a day, UTC. */
static int64_t day_begin(const struct zone *z, int64_t day) {
    int64_t utc = 0;
    (void)moment_at(z, day * CIVIL_DAY, false, true, &utc); /* with its gaps every wall has a moment */
    return utc;
}

int64_t recur_plan_day(const struct recur_plan *p, int64_t at_ms) {
    return day_of(p->zone, civil_div(at_ms, 1000));
}

enum err recur_plan_check(const struct recur_plan *p, struct why *why) {
    const struct recur *r = &p->recur;
    if (p->days.policy != DAY_SHIFT_NEXT && p->days.policy != DAY_SHIFT_PREVIOUS) return ERR_OK;
    uint64_t slots = r->kind == RECUR_CRON ? cron_day_slots(&r->cron) : 1;
    if (r->kind != RECUR_EVERY && slots <= RECUR_SHIFTED_DAY_MAX) return ERR_OK;
    return why_set(why, ERR_INVALID, "calendar: `excluded %s` needs times of the day, at most %u of them; use skip",
                   day_policy_words[p->days.policy], RECUR_SHIFTED_DAY_MAX);
}

/* ---- one after the other ---- */

/* The slot, or all that its excluded day still has. */
static bool next_or_day(const struct recur_plan *p, int64_t after_ms, struct recur_entry *ret) {
    int64_t at;
    if (!recur_next(&p->recur, p->zone, after_ms, &at)) return false;
    *ret = (struct recur_entry){.at_ms = at, .first_ms = at, .count = 1};
    int64_t day = recur_plan_day(p, at);
    if (!day_calendar_acts(&p->days) || !day_calendar_excludes(&p->days, day)) return true;
    int64_t end_ms = day_begin(p->zone, day + 1) * 1000 - 1;
    if (end_ms < at) end_ms = at; /* clocks that are put back over midnight */
    ret->excluded = true;
    ret->count = recur_count(&p->recur, p->zone, after_ms, end_ms, UINT64_MAX / 4, &ret->at_ms);
    return true;
}

/* The day that a slot of this one comes to: itself unless it is excluded. */
static int64_t day_to(const struct recur_plan *p, int64_t day, int64_t step) {
    for (int64_t moved = 0; moved <= DAY_SHIFT_MAX; moved++)
        if (!day_calendar_excludes(&p->days, day + moved * step)) return day + moved * step;
    return NO_DAY;
}

/* The first slot after `after` (seconds) that day `from` brings to day `to`. */
static bool next_brought(const struct recur_plan *p, int64_t from, int64_t to, int64_t after, int64_t *ret) {
    int64_t at_ms = (from == to && day_of(p->zone, after) == to ? after : day_begin(p->zone, from) - 1) * 1000;
    while (recur_next(&p->recur, p->zone, at_ms, &at_ms)) {
        int64_t at = at_ms / 1000, moved = at;
        if (day_of(p->zone, at) != from) return false;
        if (from != to) {
            int64_t wall = at + zone_at(p->zone, at).offset + (to - from) * CIVIL_DAY;
            (void)moment_at(p->zone, wall, false, true, &moved);
        }
        if (moved <= after) continue;
        *ret = moved;
        return true;
    }
    return false;
}

/* The first slot of a day that is not excluded, its own or one that is brought there; `ret_last` is the last day that
 * brings it one. */
static bool next_of_day(const struct recur_plan *p, int64_t day, int64_t step, int64_t after, int64_t *ret_last,
                        int64_t *ret) {
    int64_t best = INT64_MAX, at;
    *ret_last = day;
    for (int64_t from = day; from == day || day_calendar_excludes(&p->days, from); from -= step) {
        if (from - day > DAY_SHIFT_MAX || day - from > DAY_SHIFT_MAX) break;
        if (from > *ret_last) *ret_last = from;
        if (next_brought(p, from, day, after, &at) && at < best) best = at;
    }
    *ret = best;
    return best != INT64_MAX;
}

static bool is_shifted(const struct recur_plan *p) {
    return day_calendar_acts(&p->days) && p->days.policy != DAY_SKIP;
}

static bool next_shifted(const struct recur_plan *p, int64_t after_ms, struct recur_entry *ret) {
    int64_t step = p->days.policy == DAY_SHIFT_NEXT ? 1 : -1;
    int64_t after = civil_div(after_ms, 1000), day = day_of(p->zone, after + 1);
    for (int tried = 0; tried < EXCLUDED_MAX; tried++) {
        int64_t found, next_ms, last = day;
        if (!day_calendar_excludes(&p->days, day) && next_of_day(p, day, step, after, &last, &found)) {
            *ret = (struct recur_entry){.at_ms = found * 1000, .first_ms = found * 1000, .count = 1};
            return true;
        }
        if (step > 0 && day_calendar_excludes(&p->days, day)) { /* what it brings comes to a later day */
            day++;
            continue;
        }
        if (!recur_next(&p->recur, p->zone, day_begin(p->zone, last + 1) * 1000 - 1, &next_ms)) return false;
        int64_t next = recur_plan_day(p, next_ms), to = day_to(p, next, step);
        day = to == NO_DAY || to <= day ? next + 1 : to;
    }
    return false;
}

bool recur_plan_next(const struct recur_plan *p, int64_t after_ms, struct recur_entry *ret) {
    return is_shifted(p) ? next_shifted(p, after_ms, ret) : next_or_day(p, after_ms, ret);
}

bool recur_plan_next_slot(const struct recur_plan *p, int64_t after_ms, int64_t *ret_ms) {
    struct recur_entry entry;
    for (int tried = 0; tried < EXCLUDED_MAX && recur_plan_next(p, after_ms, &entry); tried++) {
        if (!entry.excluded) {
            *ret_ms = entry.at_ms;
            return true;
        }
        after_ms = entry.at_ms;
    }
    return false;
}

/* ---- many ---- */

/* The entries of a past, a day or an entry at a time. */
struct past_piece {
    uint64_t slots, entries;
    int64_t until_ms; /* all up to here are counted */
};

static bool next_piece(const struct recur_plan *p, int64_t after_ms, int64_t now_ms, struct past_piece *ret) {
    struct recur_entry entry;
    if (!recur_plan_next(p, after_ms, &entry) || entry.at_ms > now_ms) return false;
    *ret = (struct past_piece){!entry.excluded, 1, entry.at_ms};
    if (entry.excluded || is_shifted(p)) return true;
    int64_t end_ms = day_begin(p->zone, recur_plan_day(p, entry.at_ms) + 1) * 1000 - 1;
    if (end_ms > now_ms) end_ms = now_ms;
    if (end_ms < entry.at_ms) end_ms = entry.at_ms;
    ret->slots = ret->entries = recur_count(&p->recur, p->zone, after_ms, end_ms, UINT64_MAX / 4, &ret->until_ms);
    ENSURE(ret->slots > 0);
    return true;
}

struct recur_slots recur_plan_slots(const struct recur_plan *p, int64_t after_ms, int64_t now_ms, uint32_t most,
                                    struct recur_entry *ret) {
    struct recur_slots got = {0};
    struct past_piece piece;
    uint64_t past = 0;
    for (int64_t at = after_ms; next_piece(p, at, now_ms, &piece); at = piece.until_ms) past += piece.entries;
    uint64_t surplus = past > most ? past - most : 0;
    while (surplus > 0 && next_piece(p, after_ms, now_ms, &piece)) {
        if (piece.entries > surplus) {
            (void)recur_count(&p->recur, p->zone, after_ms, piece.until_ms, surplus, &after_ms);
            got.earlier += surplus;
            break;
        }
        surplus -= piece.entries;
        got.earlier += piece.slots;
        after_ms = piece.until_ms;
    }
    while (got.count < most && recur_plan_next(p, after_ms, &ret[got.count])) after_ms = ret[got.count++].at_ms;
    struct recur_entry beyond;
    got.last = !recur_plan_next(p, after_ms, &beyond);
    return got;
}
