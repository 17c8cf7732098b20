/* cron.c: see cron.h. */
#include "cron.h"

#include "civil.h"
#include "panic.h"

#define LAST_OF_MONTH 6u /* bit of `nth` */
#define SUNDAY 0u
#define SATURDAY 6u

static const char *const month_names[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                          "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const weekday_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

enum field { FIELD_SECOND, FIELD_MINUTE, FIELD_HOUR, FIELD_DAY, FIELD_MONTH, FIELD_WEEKDAY, FIELD_COUNT };

static const struct field_desc {
    const char *what;
    uint32_t min, max;
    const char *const *names; /* of values from `min` */
    uint32_t name_count;
} fields[FIELD_COUNT] = {
    {"second", 0, 59, NULL, 0},       {"minute", 0, 59, NULL, 0},        {"hour", 0, 23, NULL, 0},
    {"day of month", 1, 31, NULL, 0}, {"month", 1, 12, month_names, 12}, {"weekday", 0, 6, weekday_names, 7},
};

static const struct {
    const char *word, *means;
} nicknames[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"}, {"@weekly", "0 0 * * 0"},
    {"@daily", "0 0 * * *"},  {"@midnight", "0 0 * * *"}, {"@hourly", "0 * * * *"},
};

/* ---- reading ---- */

static uint8_t lower(uint8_t b) {
    return b >= 'A' && b <= 'Z' ? (uint8_t)(b + 32) : b;
}

static bool is_word(struct slice text, const char *word) {
    size_t len = strlen(word);
    if (text.len != len) return false;
    for (size_t i = 0; i < len; i++)
        if (lower(text.ptr[i]) != (uint8_t)word[i]) return false;
    return true;
}

/* What stands before the first `sign`; the rest without it, empty with a NULL pointer when there was none. */
static struct slice cut(struct slice text, char sign, struct slice *ret_rest) {
    const uint8_t *at = text.len ? memchr(text.ptr, sign, text.len) : NULL;
    if (at == NULL) {
        *ret_rest = slice_of(NULL, 0);
        return text;
    }
    size_t before = (size_t)(at - text.ptr);
    *ret_rest = slice_of(at + 1, text.len - before - 1);
    return slice_of(text.ptr, before);
}

static bool read_number(struct slice text, uint32_t *ret) {
    uint32_t value = 0;
    if (text.len == 0 || text.len > 4) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        value = value * 10 + (uint32_t)(text.ptr[i] - '0');
    }
    *ret = value;
    return true;
}

static enum err read_value(const struct field_desc *f, struct slice text, uint32_t *ret, struct why *why) {
    for (uint32_t i = 0; i < f->name_count; i++)
        if (is_word(text, f->names[i])) {
            *ret = f->min + i;
            return ERR_OK;
        }
    uint32_t value;
    bool is_sunday = f == &fields[FIELD_WEEKDAY];
    if (!read_number(text, &value) || value < f->min || value > f->max + (is_sunday ? 1 : 0))
        return why_set(why, ERR_INVALID, "%s `%.*s` is out of range (%u-%u)", f->what, SLICE_FMT(text), f->min, f->max);
    *ret = is_sunday ? value % 7 : value;
    return ERR_OK;
}

static enum err read_step(const struct field_desc *f, struct slice text, uint32_t *ret, struct why *why) {
    if (!read_number(text, ret) || *ret == 0)
        return why_set(why, ERR_INVALID, "`/%.*s` in the %s field: a step is a number above 0", SLICE_FMT(text),
                       f->what);
    if (*ret > f->max)
        return why_set(why, ERR_INVALID, "`/%u` in the %s field is larger than its range (%u-%u)", *ret, f->what,
                       f->min, f->max);
    return ERR_OK;
}

static bool ends_in(struct slice item, uint8_t sign) {
    return item.len > 0 && lower(item.ptr[item.len - 1]) == sign;
}

/* fri#2, friL, 5#2, 5L */
static enum err read_nth(struct slice item, struct cron *c, bool *ret_is_nth, struct why *why) {
    struct slice rest, day = cut(item, '#', &rest);
    uint32_t value, nth = LAST_OF_MONTH;
    bool is_last = item.len > 1 && ends_in(item, 'l');
    *ret_is_nth = rest.ptr != NULL || is_last;
    if (!*ret_is_nth) return ERR_OK;
    if (rest.ptr == NULL) day = slice_of(item.ptr, item.len - 1);
    enum err e = read_value(&fields[FIELD_WEEKDAY], day, &value, why);
    if (e != ERR_OK) return e;
    if (rest.ptr != NULL && (!read_number(rest, &nth) || nth < 1 || nth > 5))
        return why_set(why, ERR_INVALID, "`%.*s`: a month has a first to a fifth of each weekday", SLICE_FMT(item));
    c->nth[value] |= (uint8_t)(1u << nth);
    return ERR_OK;
}

/* L, L-3, LW, L-3W, 15W */
static enum err read_month_day(struct slice item, struct cron *c, bool *ret_is_one, struct why *why) {
    struct slice text = item, back;
    bool is_nearest = ends_in(item, 'w'), is_last = item.len > 0 && lower(item.ptr[0]) == 'l';
    uint32_t day = 0;
    *ret_is_one = is_nearest || is_last;
    if (!*ret_is_one) return ERR_OK;
    if (is_nearest) text.len--;
    if (!is_last) {
        if (!read_number(text, &day) || day < 1 || day > 31)
            return why_set(why, ERR_INVALID, "`%.*s`: W follows one day of the month (1W to 31W) or L",
                           SLICE_FMT(item));
        c->nearest |= 1u << day;
        return ERR_OK;
    }
    struct slice word = cut(text, '-', &back);
    if (!is_word(word, "l") || (back.ptr != NULL && (!read_number(back, &day) || day > 30)))
        return why_set(why, ERR_INVALID, "`%.*s`: the last day of the month is L, days before it are L-1 to L-30",
                       SLICE_FMT(item));
    *(is_nearest ? &c->nearest_before_last : &c->before_last) |= 1u << day;
    return ERR_OK;
}

static enum err read_item(const struct field_desc *f, struct slice item, uint64_t *bits, struct why *why) {
    struct slice step_text, to_text;
    struct slice range = cut(item, '/', &step_text);
    struct slice from_text = cut(range, '-', &to_text);
    uint32_t from = f->min, to = f->max, step = 1;
    enum err e = ERR_OK;
    if (step_text.ptr != NULL) e = read_step(f, step_text, &step, why);
    if (e == ERR_OK && !is_word(range, "*") && !is_word(range, "?")) {
        e = read_value(f, from_text, &from, why);
        if (e == ERR_OK && to_text.ptr != NULL)
            e = read_value(f, to_text, &to, why);
        else if (step_text.ptr == NULL)
            to = from;
    }
    if (e != ERR_OK) return e;
    uint32_t span = to >= from ? to - from : to + (f->max - f->min + 1) - from; /* it may go round */
    for (uint32_t i = 0; i <= span; i += step) {
        uint32_t value = from + i;
        *bits |= 1ull << (value > f->max ? value - (f->max - f->min + 1) : value);
    }
    return ERR_OK;
}

static enum err read_field(enum field which, struct slice text, struct cron *c, uint64_t *ret_bits, struct why *why) {
    uint64_t bits = 0;
    struct slice rest = text;
    while (rest.ptr != NULL) {
        struct slice item = cut(rest, ',', &rest);
        bool is_special = false;
        enum err e = ERR_OK;
        if (item.len == 0)
            return why_set(why, ERR_INVALID, "`%.*s`: something is missing in the %s", SLICE_FMT(text),
                           fields[which].what);
        if (which == FIELD_DAY) e = read_month_day(item, c, &is_special, why);
        if (which == FIELD_WEEKDAY) e = read_nth(item, c, &is_special, why);
        if (e == ERR_OK && !is_special) e = read_item(&fields[which], item, &bits, why);
        if (e != ERR_OK) return e;
    }
    *ret_bits = bits;
    return ERR_OK;
}

enum err cron_read_weekdays(struct slice text, uint8_t *ret, struct why *why) {
    uint64_t bits = 0;
    struct slice rest = text;
    if (text.len == 0) return why_set(why, ERR_INVALID, "weekdays are missing: expected a list like mon-fri");
    while (rest.ptr != NULL) {
        struct slice item = cut(rest, ',', &rest);
        while (item.len > 0 && item.ptr[0] == ' ') item = slice_of(item.ptr + 1, item.len - 1);
        while (item.len > 0 && item.ptr[item.len - 1] == ' ') item.len--;
        enum err e = read_item(&fields[FIELD_WEEKDAY], item, &bits, why);
        if (e != ERR_OK) return e;
    }
    *ret = (uint8_t)bits;
    return ERR_OK;
}

static uint32_t split(struct slice text, struct slice ret[FIELD_COUNT + 1]) {
    uint32_t count = 0;
    size_t i = 0;
    while (count <= FIELD_COUNT) {
        while (i < text.len && (text.ptr[i] == ' ' || text.ptr[i] == '\t')) i++;
        size_t from = i;
        while (i < text.len && text.ptr[i] != ' ' && text.ptr[i] != '\t') i++;
        if (i == from) break;
        ret[count++] = slice_of(text.ptr + from, i - from);
    }
    return count;
}

static enum err read_nickname(struct slice word, struct cron *ret, struct why *why) {
    for (size_t i = 0; i < sizeof nicknames / sizeof *nicknames; i++)
        if (is_word(word, nicknames[i].word)) return cron_read(slice_str(nicknames[i].means), ret, why);
    return why_set(why, ERR_INVALID, "unknown `%.*s`; expected @hourly, @daily, @weekly, @monthly or @yearly",
                   SLICE_FMT(word));
}

enum err cron_read(struct slice text, struct cron *ret, struct why *why) {
    struct slice words[FIELD_COUNT + 1];
    uint32_t count = split(text, words);
    if (count == 1 && words[0].ptr[0] == '@') return read_nickname(words[0], ret, why);
    if (count != FIELD_COUNT && count != FIELD_COUNT - 1)
        return why_set(
            why, ERR_INVALID,
            "a cron pattern has five fields (minute hour day month weekday), or six with the second first; found %s%u",
            count > FIELD_COUNT ? "more than " : "", count > FIELD_COUNT ? FIELD_COUNT : count);
    struct cron c = {0};
    uint64_t bits[FIELD_COUNT] = {1}; /* second 0 */
    enum field first = count == FIELD_COUNT ? FIELD_SECOND : FIELD_MINUTE;
    for (uint32_t i = 0; i < count; i++) {
        enum err e = read_field((enum field)(first + i), words[i], &c, &bits[first + i], why);
        if (e != ERR_OK) return e;
    }
    struct slice day = words[count - 3], weekday = words[count - 1];
    c.any_day = day.ptr[0] == '*' || day.ptr[0] == '?';
    c.any_weekday = weekday.ptr[0] == '*' || weekday.ptr[0] == '?';
    c.seconds = bits[FIELD_SECOND];
    c.minutes = bits[FIELD_MINUTE];
    c.hours = (uint32_t)bits[FIELD_HOUR];
    c.days = (uint32_t)bits[FIELD_DAY];
    c.months = (uint32_t)bits[FIELD_MONTH];
    c.weekdays = (uint8_t)bits[FIELD_WEEKDAY];
    int64_t once;
    if (!cron_next(&c, 0, &once)) return why_set(why, ERR_INVALID, "`%.*s` never happens", SLICE_FMT(text));
    *ret = c;
    return ERR_OK;
}

/* ---- matching ---- */

static uint32_t first_bit(uint64_t bits, uint32_t from) { /* 64 = none */
    return from < 64 && bits >> from ? from + (uint32_t)__builtin_ctzll(bits >> from) : 64;
}

static bool weekday_matches(const struct cron *c, const struct civil *at, int64_t days) {
    uint32_t weekday = civil_weekday(days);
    if (c->weekdays >> weekday & 1) return true;
    uint32_t nth = (at->day - 1) / 7 + 1;
    bool is_last = at->day + 7 > civil_month_days(at->year, at->month);
    return (c->nth[weekday] >> nth & 1) || (is_last && (c->nth[weekday] >> LAST_OF_MONTH & 1));
}

/* The days of the month whose nearest working day is asked for: a bit for each, of days that the month has. */
static uint32_t days_near(const struct cron *c, uint32_t last) {
    uint32_t days = c->nearest & (uint32_t)((1ull << (last + 1)) - 1);
    for (uint32_t back = first_bit(c->nearest_before_last, 0); back < last;
         back = first_bit(c->nearest_before_last, back + 1))
        days |= 1u << (last - back);
    return days;
}

/* Whether this day is the working day nearest to one of those. */
static bool is_nearest(uint32_t near, uint32_t day, uint32_t weekday, uint32_t last) {
    if (near == 0 || weekday == SUNDAY || weekday == SATURDAY) return false;
    bool monday = weekday == SUNDAY + 1, friday = weekday == SATURDAY - 1;
    if (near >> day & 1) return true;
    if (friday && day + 1 <= last && near >> (day + 1) & 1) return true; /* of the Saturday after it */
    if (friday && day + 2 == last && near >> last & 1) return true;      /* of a Sunday that ends the month */
    if (monday && day > 1 && near >> (day - 1) & 1) return true;         /* of the Sunday before it */
    return monday && day == 3 && near >> 1 & 1;                          /* of a Saturday that begins the month */
}

static bool day_matches(const struct cron *c, const struct civil *at, int64_t days) {
    if (!(c->months >> at->month & 1)) return false;
    uint32_t last = civil_month_days(at->year, at->month);
    bool by_day = (c->days >> at->day & 1) || (c->before_last >> (last - at->day) & 1) ||
                  is_nearest(days_near(c, last), at->day, civil_weekday(days), last);
    bool by_weekday = weekday_matches(c, at, days);
    /* With a star in one of them (a step counts as a star, as in every cron) both must do, else either. */
    return c->any_day || c->any_weekday ? by_day && by_weekday : by_day || by_weekday;
}

/* The first time of day at or after the one given, in seconds; -1 = none is left. */
static int64_t next_time(const struct cron *c, int64_t second_of_day) {
    uint32_t hour = (uint32_t)(second_of_day / 3600), minute = (uint32_t)(second_of_day / 60 % 60);
    uint32_t second = first_bit(c->seconds, (uint32_t)(second_of_day % 60));
    uint32_t first_second = first_bit(c->seconds, 0), first_minute = first_bit(c->minutes, 0);
    bool same_hour = c->hours >> hour & 1;
    if (same_hour && (c->minutes >> minute & 1) && second < 60) return (int64_t)hour * 3600 + minute * 60 + second;
    uint32_t next_minute = first_bit(c->minutes, minute + 1);
    if (same_hour && next_minute < 60) return (int64_t)hour * 3600 + next_minute * 60 + first_second;
    uint32_t next_hour = first_bit(c->hours, hour + 1);
    return next_hour < 24 ? (int64_t)next_hour * 3600 + first_minute * 60 + first_second : -1;
}

bool cron_next(const struct cron *c, int64_t local, int64_t *ret) {
    int64_t days = civil_div(local, CIVIL_DAY);
    int64_t second_of_day = local - days * CIVIL_DAY;
    struct civil at = civil_of(local);
    int32_t year_end = at.year + CRON_YEARS;
    while (at.year <= year_end) {
        if (!(c->months >> at.month & 1)) { /* on to the first day of the next month */
            days += civil_month_days(at.year, at.month) - at.day + 1;
        } else {
            int64_t time = day_matches(c, &at, days) ? next_time(c, second_of_day) : -1;
            if (time >= 0) {
                *ret = days * CIVIL_DAY + time;
                return true;
            }
            days++;
        }
        second_of_day = 0;
        at = civil_of(days * CIVIL_DAY);
    }
    return false;
}

uint64_t cron_count_hour(const struct cron *c, int64_t local) {
    int64_t days = civil_div(local, CIVIL_DAY);
    struct civil at = civil_of(local);
    REQUIRE(at.minute == 0 && at.second == 0);
    if (!day_matches(c, &at, days) || !(c->hours >> at.hour & 1)) return 0;
    return (uint64_t)__builtin_popcountll(c->minutes) * (uint64_t)__builtin_popcountll(c->seconds);
}

uint64_t cron_day_slots(const struct cron *c) {
    return (uint64_t)__builtin_popcount(c->hours) * (uint64_t)__builtin_popcountll(c->minutes) *
           (uint64_t)__builtin_popcountll(c->seconds);
}

uint64_t cron_count_day(const struct cron *c, int64_t local) {
    int64_t days = civil_div(local, CIVIL_DAY);
    struct civil at = civil_of(local);
    REQUIRE(local == days * CIVIL_DAY);
    return day_matches(c, &at, days) ? cron_day_slots(c) : 0;
}

bool cron_is_each_hour(const struct cron *c) {
    return c->hours == (1u << 24) - 1;
}
