/* zone_rule.c: see zone_rule.h. */
#include "zone_rule.h"

#include "civil.h"
#include "panic.h"

static bool take(struct slice *text, char sign) {
    if (text->len == 0 || text->ptr[0] != (uint8_t)sign) return false;
    *text = slice_of(text->ptr + 1, text->len - 1);
    return true;
}

static bool take_number(struct slice *text, uint32_t max, uint32_t *ret) {
    uint32_t value = 0;
    size_t count = 0;
    while (count < text->len && text->ptr[count] >= '0' && text->ptr[count] <= '9' && value <= max)
        value = value * 10 + (uint32_t)(text->ptr[count++] - '0');
    if (count == 0 || value > max) return false;
    *text = slice_of(text->ptr + count, text->len - count);
    *ret = value;
    return true;
}

/* "CET", or anything in angle brackets: "<+0330>". */
static bool skip_abbreviation(struct slice *text) {
    size_t count = 0;
    if (take(text, '<')) {
        while (count < text->len && text->ptr[count] != '>') count++;
        if (count == text->len) return false;
        *text = slice_of(text->ptr + count + 1, text->len - count - 1);
        return true;
    }
    while (count < text->len && ((text->ptr[count] | 32) >= 'a' && (text->ptr[count] | 32) <= 'z')) count++;
    *text = slice_of(text->ptr + count, text->len - count);
    return count >= 3;
}

/* "[+-]hh[:mm[:ss]]" in seconds. */
static bool take_time(struct slice *text, uint32_t hours_max, int32_t *ret) {
    bool negative = take(text, '-');
    if (!negative) (void)take(text, '+');
    uint32_t hours, minutes = 0, seconds = 0;
    if (!take_number(text, hours_max, &hours)) return false;
    if (take(text, ':') && !take_number(text, 59, &minutes)) return false;
    if (take(text, ':') && !take_number(text, 59, &seconds)) return false;
    int32_t value = (int32_t)(hours * 3600 + minutes * 60 + seconds);
    *ret = negative ? -value : value;
    return true;
}

static bool take_change(struct slice *text, struct zone_change *ret) {
    *ret = (struct zone_change){.time = 2 * 3600};
    if (take(text, 'M')) {
        ret->kind = ZONE_DAY_OF_WEEK;
        if (!take_number(text, 12, &ret->month) || ret->month == 0 || !take(text, '.')) return false;
        if (!take_number(text, 5, &ret->week) || ret->week == 0 || !take(text, '.')) return false;
        if (!take_number(text, 6, &ret->day)) return false;
    } else if (take(text, 'J')) {
        ret->kind = ZONE_DAY_JULIAN;
        if (!take_number(text, 365, &ret->day) || ret->day == 0) return false;
    } else {
        ret->kind = ZONE_DAY_OF_YEAR;
        if (!take_number(text, 365, &ret->day)) return false;
    }
    return !take(text, '/') || take_time(text, 167, &ret->time);
}

bool zone_rule_read(struct slice text, struct zone_rule *ret) {
    struct zone_rule rule = {0};
    int32_t west;
    if (!skip_abbreviation(&text) || !take_time(&text, 24, &west)) return false;
    rule.winter_offset = rule.summer_offset = -west;
    if (text.len > 0) {
        rule.has_summer = true;
        rule.summer_offset = rule.winter_offset + 3600;
        if (!skip_abbreviation(&text)) return false;
        if (text.len > 0 && text.ptr[0] != ',') {
            if (!take_time(&text, 24, &west)) return false;
            rule.summer_offset = -west;
        }
        if (!take(&text, ',') || !take_change(&text, &rule.to_summer)) return false;
        if (!take(&text, ',') || !take_change(&text, &rule.to_winter)) return false;
        if (text.len > 0) return false;
    }
    *ret = rule;
    return true;
}

static int64_t day_of(const struct zone_change *c, int32_t year) {
    int64_t first = civil_days(year, 1, 1);
    bool is_leap = civil_month_days(year, 2) == 29;
    switch (c->kind) {
    case ZONE_DAY_JULIAN: return first + c->day - 1 + (is_leap && c->day >= 60);
    case ZONE_DAY_OF_YEAR: return first + c->day;
    case ZONE_DAY_OF_WEEK: {
        int64_t month = civil_days(year, c->month, 1);
        int64_t day = month + (c->day + 7 - civil_weekday(month)) % 7 + (int64_t)(c->week - 1) * 7;
        return day < month + civil_month_days(year, c->month) ? day : day - 7;
    }
    }
    PANIC("no such day");
}

int64_t zone_rule_moment(const struct zone_change *c, int32_t year, int32_t offset) {
    return day_of(c, year) * CIVIL_DAY + c->time - offset;
}
