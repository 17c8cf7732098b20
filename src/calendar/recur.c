/* recur.c: see recur.h. */
#include "recur.h"

#include "civil.h"
#include "moment.h"
#include "panic.h"

#define HOUR 3600
/* Slots lie between these: milliseconds of years that people write, far from where sums overflow. */
#define TIME_MIN (-62135596800LL) /* 0001-01-01 */
#define TIME_MAX 253402300799LL   /* 9999-12-31T23:59:59 */

/* ---- one after the other, in seconds UTC ---- */

/* The moment a gap ends, at the beginning of `span`: does something fall into it? */
static bool gap_fires(const struct recur *r, const struct zone *z, const struct zone_span *span) {
    if (r->gap == RECUR_GAP_SKIP || span->from == ZONE_BEGIN) return false;
    int64_t before = span->from + zone_at(z, span->from - 1).offset;
    int64_t local;
    return before < span->from + span->offset && cron_next(&r->cron, before, &local) &&
           local < span->from + span->offset;
}

/* Whether what the wall shows at this moment was shown before, or will be again, and that one counts. */
static bool fold_skips(const struct recur *r, const struct zone *z, const struct zone_span *span, int64_t local) {
    if (r->fold == RECUR_FOLD_FIRST && span->from != ZONE_BEGIN) {
        struct zone_span before = zone_at(z, span->from - 1);
        return local < before.until + before.offset &&
               (before.from == ZONE_BEGIN || local >= before.from + before.offset);
    }
    if (r->fold == RECUR_FOLD_LAST && span->until != ZONE_END) {
        struct zone_span after = zone_at(z, span->until);
        return local >= after.from + after.offset && (after.until == ZONE_END || local < after.until + after.offset);
    }
    return false;
}

static bool next_of_cron(const struct recur *r, const struct zone *z, int64_t after, int64_t *ret) {
    int64_t at = after + 1;
    while (at <= TIME_MAX) {
        struct zone_span span = zone_at(z, at);
        if (at == span.from && gap_fires(r, z, &span)) {
            *ret = at;
            return true;
        }
        int64_t local;
        if (!cron_next(&r->cron, at + span.offset, &local)) return false;
        int64_t found = local - span.offset;
        if (span.until != ZONE_END && found >= span.until) {
            at = span.until;
        } else if (fold_skips(r, z, &span, local)) {
            at = found + 1;
        } else {
            *ret = found;
            return found <= TIME_MAX;
        }
    }
    return false;
}

static bool next_second(const struct recur *r, const struct zone *z, int64_t after, int64_t *ret) {
    switch (r->kind) {
    case RECUR_CRON: return next_of_cron(r, z, after, ret);
    case RECUR_EVERY:
        *ret = after < r->from ? r->from : r->from + (civil_div(after - r->from, r->every) + 1) * r->every;
        return *ret <= TIME_MAX;
    case RECUR_AT:
        return moment_at(z, r->at, r->fold == RECUR_FOLD_LAST, r->gap == RECUR_GAP_AFTER, ret) && *ret > after;
    }
    PANIC("no such recurrence");
}

static int64_t clamp(int64_t seconds) {
    return seconds < TIME_MIN ? TIME_MIN : seconds > TIME_MAX ? TIME_MAX : seconds;
}

bool recur_next(const struct recur *r, const struct zone *z, int64_t after_ms, int64_t *ret_ms) {
    int64_t second;
    if (!next_second(r, z, clamp(civil_div(after_ms, 1000)), &second)) return false;
    *ret_ms = second * 1000;
    return true;
}

/* ---- many ---- */

/* Leaps over whole hours and days of the wall clock in which clocks are not touched, as long as they lie before `until`
 * and hold at most `most` slots. Adds what they hold to `count`; returns the last moment that was dealt with. */
static int64_t leap(const struct recur *r, const struct zone *z, int64_t after, int64_t until, uint64_t most,
                    uint64_t *count) {
    for (;;) {
        int64_t at = after + 1;
        struct zone_span span = zone_at(z, at);
        int64_t local = at + span.offset;
        bool is_calm = span.from == ZONE_BEGIN || at > span.from + CIVIL_DAY; /* no fold and no gap behind us */
        bool is_day = local - civil_div(local, CIVIL_DAY) * CIVIL_DAY == 0;
        bool is_hour = local - civil_div(local, HOUR) * HOUR == 0;
        int64_t length = 0;
        uint64_t holds = 0;
        for (int i = 0; i < 2 && length == 0; i++) {
            int64_t tried = i == 0 ? CIVIL_DAY : HOUR;
            int64_t end = at + tried; /* the first moment behind */
            if (!is_calm || !(i == 0 ? is_day : is_hour) || end - 1 > until) continue;
            if (span.until != ZONE_END && end + CIVIL_DAY > span.until) continue;
            holds = i == 0 ? cron_count_day(&r->cron, local) : cron_count_hour(&r->cron, local);
            if (*count + holds <= most) length = tried;
        }
        if (length == 0) return after;
        *count += holds;
        after += length;
    }
}

/* Counts slots in (after, until], at most `most` of them; `ret_after` is the last moment that was dealt with. */
static uint64_t count_slots(const struct recur *r, const struct zone *z, int64_t after, int64_t until, uint64_t most,
                            int64_t *ret_after) {
    uint64_t count = 0;
    int64_t next;
    if (r->kind == RECUR_EVERY && next_second(r, z, after, &next) && next <= until) {
        uint64_t all = (uint64_t)((until - next) / r->every) + 1;
        count = all < most ? all : most;
        *ret_after = count ? next + (int64_t)(count - 1) * r->every : after;
        return count;
    }
    while (count < most) {
        if (r->kind == RECUR_CRON) after = leap(r, z, after, until, most, &count);
        if (count >= most || !next_second(r, z, after, &next) || next > until) break;
        after = next;
        count++;
    }
    *ret_after = after;
    return count;
}

struct recur_slots recur_slots(const struct recur *r, const struct zone *z, int64_t after_ms, int64_t now_ms,
                               uint32_t most, int64_t *ret) {
    struct recur_slots got = {0};
    int64_t after = clamp(civil_div(after_ms, 1000)), now = clamp(civil_div(now_ms, 1000)), ignored, next;
    uint64_t past = count_slots(r, z, after, now, UINT64_MAX / 4, &ignored);
    if (past > most) {
        got.earlier = past - most;
        (void)count_slots(r, z, after, now, got.earlier, &after);
    }
    while (got.count < most && next_second(r, z, after, &next)) {
        ret[got.count++] = next * 1000;
        after = next;
    }
    got.last = !next_second(r, z, after, &next);
    return got;
}

uint64_t recur_count(const struct recur *r, const struct zone *z, int64_t after_ms, int64_t until_ms, uint64_t most,
                     int64_t *ret_ms) {
    int64_t after = clamp(civil_div(after_ms, 1000)), until = clamp(civil_div(until_ms, 1000)), ignored, before;
    uint64_t count = count_slots(r, z, after, until, most, &ignored);
    *ret_ms = after_ms;
    if (count == 0) return 0;
    int64_t last;
    (void)count_slots(r, z, after, until, count - 1, &before); /* leaps end behind a slot, so the last is stepped to */
    bool any = next_second(r, z, before, &last);
    ENSURE(any);
    *ret_ms = last * 1000;
    return count;
}
