/* day_calendar.c: see day_calendar.h. */
#include "day_calendar.h"

#include "civil.h"
#include "cron.h"
#include "panic.h"

#define EVERY_WEEKDAY 0x7fu
#define DATE_BYTES 10u

const char *const day_policy_words[DAY_POLICY_COUNT] = {"skip", "shift_next", "shift_previous", "run"};

static bool is_blank(uint8_t b) {
    return b == ' ' || b == '\t' || b == '\n' || b == '\r';
}

static struct slice trim(struct slice s) {
    while (s.len && is_blank(s.ptr[0])) s = slice_of(s.ptr + 1, s.len - 1);
    while (s.len && is_blank(s.ptr[s.len - 1])) s.len--;
    return s;
}

/* What stands before the next `sign`, trimmed. False at the end. */
static bool next_piece(struct slice *rest, char sign, struct slice *ret) {
    if (rest->ptr == NULL) return false;
    const uint8_t *end = rest->len ? memchr(rest->ptr, sign, rest->len) : NULL;
    size_t len = end ? (size_t)(end - rest->ptr) : rest->len;
    *ret = trim(slice_of(rest->ptr, len));
    *rest = end ? slice_of(end + 1, rest->len - len - 1) : slice_of(NULL, 0);
    return true;
}

/* Ascending, each once; of those written twice the first stays. Lists come in order, so this seldom moves anything. */
static uint32_t put_day(struct excluded_day *days, uint32_t count, struct excluded_day day) {
    uint32_t at = count;
    while (at > 0 && days[at - 1].day > day.day) at--;
    if (at > 0 && days[at - 1].day == day.day) return count;
    memmove(&days[at + 1], &days[at], (count - at) * sizeof *days);
    days[at] = day;
    return count + 1;
}

static enum err read_days(struct slice text, struct arena *arena, struct day_calendar *ret, struct why *why) {
    size_t most = 1;
    struct slice rest = text, piece;
    for (size_t i = 0; i < text.len; i++) most += text.ptr[i] == ',';
    struct excluded_day *days = ARENA_ARRAY(arena, struct excluded_day, most);
    while (next_piece(&rest, ',', &piece)) {
        struct slice date = slice_of(piece.ptr, piece.len < DATE_BYTES ? piece.len : DATE_BYTES);
        int64_t seconds;
        bool is_utc;
        bool has_name = piece.len > date.len;
        if (!civil_read(date, &seconds, &is_utc) || (has_name && !is_blank(piece.ptr[date.len])))
            return why_set(why, ERR_INVALID, "calendar: expected a date like 2026-12-24, found `%.*s`",
                           SLICE_FMT(piece));
        struct slice name = trim(slice_of(piece.ptr + date.len, piece.len - date.len));
        ret->count = put_day(days, ret->count, (struct excluded_day){civil_div(seconds, CIVIL_DAY), name});
    }
    ret->days = days;
    return ERR_OK;
}

static enum err read_part(struct slice word, struct slice value, struct arena *arena, struct day_calendar *ret,
                          struct why *why) {
    if (slice_eq(word, SLICE("weekdays"))) return cron_read_weekdays(value, &ret->weekdays, why);
    if (slice_eq(word, SLICE("not"))) return read_days(value, arena, ret, why);
    if (!slice_eq(word, SLICE("excluded")))
        return why_set(why, ERR_INVALID, "calendar: unexpected `%.*s`; expected weekdays, not or excluded",
                       SLICE_FMT(word));
    for (int i = 0; i < DAY_POLICY_COUNT; i++)
        if (slice_eq(value, slice_str(day_policy_words[i]))) {
            ret->policy = (enum day_policy)i;
            return ERR_OK;
        }
    return why_set(why, ERR_INVALID, "calendar: `excluded %.*s`: expected skip, shift_next, shift_previous or run",
                   SLICE_FMT(value));
}

enum err day_calendar_read(struct slice text, struct arena *arena, struct day_calendar *ret, struct why *why) {
    struct day_calendar c = {.weekdays = EVERY_WEEKDAY};
    struct slice rest = trim(text), part, seen[3];
    uint32_t seen_count = 0;
    if (rest.len == 0) rest.ptr = NULL;
    while (next_piece(&rest, ';', &part)) {
        size_t len = 0;
        if (part.len == 0 && rest.ptr == NULL) break; /* a `;` at the end */
        while (len < part.len && !is_blank(part.ptr[len])) len++;
        struct slice word = slice_of(part.ptr, len), value = trim(slice_of(part.ptr + len, part.len - len));
        for (uint32_t i = 0; i < seen_count; i++)
            if (slice_eq(seen[i], word))
                return why_set(why, ERR_INVALID, "calendar: `%.*s` is there twice", SLICE_FMT(word));
        enum err e = read_part(word, value, arena, &c, why);
        if (e != ERR_OK) return e;
        ENSURE(seen_count < 3);
        seen[seen_count++] = word;
    }
    if (c.weekdays == 0) return why_set(why, ERR_INVALID, "calendar: no weekday is left");
    *ret = c;
    return ERR_OK;
}

bool day_calendar_acts(const struct day_calendar *c) {
    return c->policy != DAY_RUN && (c->count > 0 || c->weekdays != EVERY_WEEKDAY);
}

const struct excluded_day *day_calendar_find(const struct day_calendar *c, int64_t day) {
    uint32_t from = 0, until = c->count;
    while (from < until) {
        uint32_t middle = from + (until - from) / 2;
        if (c->days[middle].day < day)
            from = middle + 1;
        else
            until = middle;
    }
    return from < c->count && c->days[from].day == day ? &c->days[from] : NULL;
}

bool day_calendar_excludes(const struct day_calendar *c, int64_t day) {
    return !(c->weekdays >> civil_weekday(day) & 1) || day_calendar_find(c, day) != NULL;
}
