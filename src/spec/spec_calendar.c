/* spec_calendar.c: the days of a calendar file, as the text of a calendar has them (day_calendar.h).
 *
 *     BEGIN:VEVENT                          2026-12-24 Christmas Eve      holidays:
 *     DTSTART;VALUE=DATE:20261224           2026-12-25                      - 2026-12-24
 *     DTEND;VALUE=DATE:20261226             # a remark                      2026-12-25: Christmas Day
 *     SUMMARY:Christmas
 *     END:VEVENT
 *
 * An event's end is the first day behind it. One that comes back each year is written out for the years around now:
 * a schedule keeps days, and nothing is worked out later. */
#include <stdio.h>

#include "civil.h"
#include "spec.h"

#define NAME_BYTES_MAX 80u
#define EVENT_DAYS_MAX 366
#define YEARS_AHEAD 10

static bool is_blank(uint8_t b) {
    return b == ' ' || b == '\t' || b == '\r';
}

static struct slice trim(struct slice s) {
    while (s.len && is_blank(s.ptr[0])) s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && is_blank(s.ptr[s.len - 1])) s.len--;
    return s;
}

static struct slice after(struct slice s, size_t count) {
    return slice_of(s.ptr + count, s.len - count);
}

/* The next line, without its end. False when there is none. */
static bool next_line(struct slice *rest, struct slice *ret) {
    if (rest->len == 0) return false;
    const uint8_t *end = memchr(rest->ptr, '\n', rest->len);
    size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
    *ret = slice_of(rest->ptr, len);
    *rest = end ? after(*rest, len + 1) : slice_of(rest->ptr + len, 0);
    return true;
}

/* A day with its name, in which nothing may be read as a sign of the calendar's own. */
static void put_day(struct buf *ret, int64_t day, struct slice name) {
    char date[CIVIL_TEXT_BYTES];
    civil_text(day * CIVIL_DAY, date);
    buf_printf(ret, "%s%.10s%s", ret->len > 0 ? "," : "", date, name.len > 0 ? " " : "");
    for (size_t i = 0; i < name.len && i < NAME_BYTES_MAX; i++) {
        bool is_sign = name.ptr[i] == ',' || name.ptr[i] == ';' || name.ptr[i] < ' ';
        if (name.ptr[i] != '\\') buf_put_u8(ret, is_sign ? ' ' : name.ptr[i]); /* iCalendar escapes a comma by it */
    }
}

/* ---- lines ---- */

/* `- "2026-12-25": 'Christmas Day'`, and everything that is less. */
static enum err read_line(struct slice name, uint32_t number, struct slice line, struct buf *ret, struct why *why) {
    int64_t seconds;
    bool is_utc;
    struct slice text = trim(line);
    if (text.len > 1 && text.ptr[0] == '-' && is_blank(text.ptr[1])) text = trim(after(text, 2));
    if (text.len == 0 || text.ptr[0] == '#' || slice_eq(text, SLICE("---"))) return ERR_OK;
    if (text.ptr[text.len - 1] == ':' && (text.ptr[0] < '0' || text.ptr[0] > '9')) return ERR_OK; /* a heading */
    bool is_quoted = text.ptr[0] == '"' || text.ptr[0] == '\'';
    if (is_quoted) text = after(text, 1);
    size_t len = text.len < 10 ? text.len : 10;
    if (!civil_read(slice_of(text.ptr, len), &seconds, &is_utc))
        return why_set(why, ERR_INVALID, "%.*s:%u: expected a date like 2026-12-25, found `%.*s`", SLICE_FMT(name),
                       number, (int)(line.len < 60 ? line.len : 60), (const char *)line.ptr);
    struct slice rest = after(text, len);
    while (rest.len > 0 && (is_blank(rest.ptr[0]) || memchr("\"':,#", rest.ptr[0], 5) != NULL)) rest = after(rest, 1);
    while (rest.len > 0 && (is_blank(rest.ptr[rest.len - 1]) || memchr("\"'", rest.ptr[rest.len - 1], 2) != NULL))
        rest.len--;
    put_day(ret, seconds / CIVIL_DAY, rest);
    return ERR_OK;
}

/* ---- iCalendar ---- */

struct calendar_event {
    int64_t start, end; /* days; `end` is the first behind it. NO_DAY = not said */
    struct slice summary, rule;
};
#define NO_DAY INT64_MIN

/* 20261224, or 20261224T000000Z: the day alone counts. */
static bool read_date(struct slice value, int64_t *ret_day) {
    char text[11];
    int64_t seconds;
    bool is_utc;
    if (value.len < 8 || (value.len > 8 && value.ptr[8] != 'T')) return false;
    snprintf(text, sizeof text, "%.4s-%.2s-%.2s", (const char *)value.ptr, (const char *)value.ptr + 4,
             (const char *)value.ptr + 6);
    if (!civil_read(slice_str(text), &seconds, &is_utc)) return false;
    *ret_day = civil_div(seconds, CIVIL_DAY);
    return true;
}

static void put_span(struct buf *ret, int64_t start, int64_t days, struct slice name) {
    for (int64_t i = 0; i < days; i++) put_day(ret, start + i, name);
}

static enum err put_event(struct slice file, const struct calendar_event *e, int64_t now_day, struct buf *ret,
                          struct why *why) {
    if (e->start == NO_DAY)
        return why_set(why, ERR_INVALID, "%.*s: event `%.*s` has no DTSTART with a date", SLICE_FMT(file),
                       SLICE_FMT(e->summary));
    int64_t days = e->end == NO_DAY || e->end <= e->start ? 1 : e->end - e->start;
    if (days > EVENT_DAYS_MAX)
        return why_set(why, ERR_LIMIT, "%.*s: event `%.*s` lasts more than %d days", SLICE_FMT(file),
                       SLICE_FMT(e->summary), EVENT_DAYS_MAX);
    if (e->rule.len == 0) {
        put_span(ret, e->start, days, e->summary);
        return ERR_OK;
    }
    if (!slice_eq(e->rule, SLICE("FREQ=YEARLY")) && !slice_eq(e->rule, SLICE("FREQ=YEARLY;INTERVAL=1")))
        return why_set(why, ERR_UNSUPPORTED,
                       "%.*s: event `%.*s` repeats by the rule `%.*s`; only FREQ=YEARLY is read: list its dates",
                       SLICE_FMT(file), SLICE_FMT(e->summary), SLICE_FMT(e->rule));
    struct civil first = civil_of(e->start * CIVIL_DAY), now = civil_of(now_day * CIVIL_DAY);
    for (int32_t year = first.year > now.year ? first.year : now.year; year <= now.year + YEARS_AHEAD; year++)
        if (first.day <= civil_month_days(year, first.month)) /* 29 February comes in leap years */
            put_span(ret, civil_days(year, first.month, first.day), days, e->summary);
    return ERR_OK;
}

/* `NAME;with=parameters:value`. */
static bool is_property(struct slice line, const char *name, struct slice *ret_value) {
    size_t len = strlen(name);
    const uint8_t *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;
    if (line.len <= len || memcmp(line.ptr, name, len) != 0 || colon == NULL) return false;
    if (line.ptr[len] != ':' && line.ptr[len] != ';') return false;
    *ret_value = trim(after(line, (size_t)(colon - line.ptr) + 1));
    return true;
}

static enum err read_property(struct slice file, struct slice line, struct calendar_event *e, struct why *why) {
    struct slice value;
    if (is_property(line, "SUMMARY", &value)) {
        e->summary = value;
    } else if (is_property(line, "RRULE", &value)) {
        e->rule = value;
    } else if (is_property(line, "DTSTART", &value) || is_property(line, "DTEND", &value)) {
        bool is_start = line.ptr[2] == 'S';
        if (!read_date(value, is_start ? &e->start : &e->end))
            return why_set(why, ERR_INVALID, "%.*s: expected a date like 20261225, found `%.*s`", SLICE_FMT(file),
                           SLICE_FMT(value));
    }
    return ERR_OK;
}

static enum err read_ical(struct slice file, struct slice rest, int64_t now_day, struct buf *ret, struct why *why) {
    struct calendar_event event = {NO_DAY, NO_DAY, {0}, {0}};
    struct slice line;
    bool inside = false;
    enum err e = ERR_OK;
    while (e == ERR_OK && next_line(&rest, &line)) {
        line = slice_of(line.ptr, line.len - (line.len > 0 && line.ptr[line.len - 1] == '\r'));
        if (slice_eq(line, SLICE("BEGIN:VEVENT"))) {
            event = (struct calendar_event){NO_DAY, NO_DAY, {0}, {0}};
            inside = true;
        } else if (slice_eq(line, SLICE("END:VEVENT"))) {
            if (inside) e = put_event(file, &event, now_day, ret, why);
            inside = false;
        } else if (inside) {
            e = read_property(file, line, &event, why); /* the second line of a folded text is none, and left out */
        }
    }
    return e;
}

enum err spec_calendar_file(struct slice name, struct slice bytes, int64_t now_ms, struct buf *ret, struct why *why) {
    struct slice rest = bytes, line;
    size_t before = ret->len;
    enum err e = ERR_OK;
    if (rest.len >= 3 && memcmp(rest.ptr, "\xef\xbb\xbf", 3) == 0) rest = after(rest, 3);
    if (slice_begins(rest, SLICE("BEGIN:VCALENDAR"))) {
        e = read_ical(name, rest, civil_div(now_ms, CIVIL_DAY * 1000), ret, why);
    } else {
        for (uint32_t number = 1; e == ERR_OK && next_line(&rest, &line); number++)
            e = read_line(name, number, line, ret, why);
    }
    if (e == ERR_OK && ret->full) e = why_set(why, ERR_LIMIT, "%.*s: the calendar is too large", SLICE_FMT(name));
    if (e == ERR_OK && ret->len == before) e = why_set(why, ERR_INVALID, "%.*s names no day", SLICE_FMT(name));
    return e;
}
