/* civil.c: see civil.h. The arithmetic counts years from March, so that the day that is sometimes there comes last. */
#include "civil.h"

#include <stdio.h>

#include "panic.h"

#define ERA_YEARS 400
#define ERA_DAYS 146097
#define DAYS_TO_1970 719468 /* from 0000-03-01 */

static bool is_leap(int32_t year) {
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

uint32_t civil_month_days(int32_t year, uint32_t month) {
    static const uint8_t days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    REQUIRE(month >= 1 && month <= 12);
    return days[month - 1] + (month == 2 && is_leap(year) ? 1u : 0u);
}

int64_t civil_days(int32_t year, uint32_t month, uint32_t day) {
    REQUIRE(month >= 1 && month <= 12);
    int64_t y = (int64_t)year - (month <= 2);
    int64_t era = civil_div(y, ERA_YEARS);
    int64_t year_of_era = y - era * ERA_YEARS;
    int64_t month_from_march = (month + 9) % 12;
    int64_t day_of_year = (153 * month_from_march + 2) / 5 + (int64_t)day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * ERA_DAYS + day_of_era - DAYS_TO_1970;
}

int64_t civil_seconds(const struct civil *c) {
    return civil_days(c->year, c->month, c->day) * CIVIL_DAY + (int64_t)c->hour * 3600 + (int64_t)c->minute * 60 +
           (int64_t)c->second;
}

struct civil civil_of(int64_t seconds) {
    int64_t days = civil_div(seconds, CIVIL_DAY);
    uint32_t rest = (uint32_t)(seconds - days * CIVIL_DAY);
    int64_t from_march = days + DAYS_TO_1970;
    int64_t era = civil_div(from_march, ERA_DAYS);
    int64_t day_of_era = from_march - era * ERA_DAYS;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;
    uint32_t month = (uint32_t)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    return (struct civil){.year = (int32_t)(year_of_era + era * ERA_YEARS + (month <= 2)),
                          .month = month,
                          .day = (uint32_t)(day_of_year - (153 * month_from_march + 2) / 5 + 1),
                          .hour = rest / 3600,
                          .minute = rest / 60 % 60,
                          .second = rest % 60};
}

uint32_t civil_weekday(int64_t days) {
    int64_t from_sunday = days + 4; /* 1970-01-01 was a Thursday */
    return (uint32_t)(from_sunday - civil_div(from_sunday, 7) * 7);
}

/* ---- as text ---- */

/* `count` digits, and the sign that must follow them: 0 = none. */
static bool digits(struct slice *text, size_t count, char then, uint32_t *ret) {
    uint32_t value = 0;
    if (text->len < count + (then != 0)) return false;
    for (size_t i = 0; i < count; i++) {
        if (text->ptr[i] < '0' || text->ptr[i] > '9') return false;
        value = value * 10 + (uint32_t)(text->ptr[i] - '0');
    }
    if (then && text->ptr[count] != (uint8_t)then) return false;
    *text = slice_of(text->ptr + count + (then != 0), text->len - count - (then != 0));
    *ret = value;
    return true;
}

static bool read_offset(struct slice text, bool *ret_is_utc, int64_t *ret_seconds) {
    *ret_is_utc = text.len > 0;
    *ret_seconds = 0;
    if (text.len == 0) return true;
    uint8_t sign = text.ptr[0];
    text = slice_of(text.ptr + 1, text.len - 1);
    if (sign == 'Z' || sign == 'z') return text.len == 0;
    uint32_t hours, minutes;
    if (sign != '+' && sign != '-') return false;
    if (!digits(&text, 2, ':', &hours) || !digits(&text, 2, 0, &minutes) || text.len > 0) return false;
    if (hours > 18 || minutes > 59) return false;
    *ret_seconds = ((int64_t)hours * 3600 + (int64_t)minutes * 60) * (sign == '-' ? -1 : 1);
    return true;
}

static bool next_is(struct slice *text, char sign) {
    if (text->len == 0 || text->ptr[0] != (uint8_t)sign) return false;
    *text = slice_of(text->ptr + 1, text->len - 1);
    return true;
}

bool civil_read(struct slice text, int64_t *ret_seconds, bool *ret_is_utc) {
    uint32_t year;
    struct civil c = {0};
    int64_t offset = 0;
    bool is_utc = false;
    if (!digits(&text, 4, '-', &year) || !digits(&text, 2, '-', &c.month) || !digits(&text, 2, 0, &c.day)) return false;
    c.year = (int32_t)year;
    if (year < CIVIL_YEAR_MIN || c.month < 1 || c.month > 12) return false;
    if (c.day < 1 || c.day > civil_month_days(c.year, c.month)) return false;
    if (next_is(&text, 'T') || next_is(&text, 't') || next_is(&text, ' ')) {
        if (!digits(&text, 2, ':', &c.hour) || !digits(&text, 2, 0, &c.minute)) return false;
        if (next_is(&text, ':') && !digits(&text, 2, 0, &c.second)) return false;
        if (c.hour > 23 || c.minute > 59 || c.second > 59) return false;
        if (!read_offset(text, &is_utc, &offset)) return false;
    } else if (text.len > 0) {
        return false;
    }
    *ret_seconds = civil_seconds(&c) - offset;
    *ret_is_utc = is_utc;
    return true;
}

void civil_text(int64_t seconds, char ret[CIVIL_TEXT_BYTES]) {
    struct civil c = civil_of(seconds);
    snprintf(ret, CIVIL_TEXT_BYTES, "%04d-%02u-%02uT%02u:%02u:%02u", (int)c.year, c.month, c.day, c.hour, c.minute,
             c.second);
}
