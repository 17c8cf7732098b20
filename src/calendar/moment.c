/* moment.c: see moment.h. */
#include "moment.h"

#include <stdio.h>

#include "civil.h"

#define NUMBER_MAX 99999         /* of one term: years of hours, and far from where sums overflow */
#define UTC_MIN (-62135596800LL) /* 0001-01-01 */
#define UTC_MAX 253402300799LL   /* 9999-12-31T23:59:59 */

/* ---- the wall ---- */

bool moment_at(const struct zone *z, int64_t wall, bool is_last, bool after_gap, int64_t *ret_utc) {
    struct zone_span span = zone_at(z, wall - CIVIL_DAY); /* no offset is as large as a day */
    int64_t found = 0;
    bool is_found = false;
    while (span.from == ZONE_BEGIN || span.from <= wall + CIVIL_DAY) {
        int64_t at = wall - span.offset;
        bool inside = (span.from == ZONE_BEGIN || at >= span.from) && (span.until == ZONE_END || at < span.until);
        if (inside && (!is_found || is_last)) {
            found = at;
            is_found = true;
        }
        if (span.until == ZONE_END) break;
        struct zone_span next = zone_at(z, span.until);
        bool in_gap = wall >= span.until + span.offset && wall < span.until + next.offset;
        if (in_gap && !is_found && after_gap) {
            found = span.until;
            is_found = true;
        }
        span = next;
    }
    *ret_utc = found;
    return is_found;
}

bool moment_read(struct slice text, const struct zone *z, int64_t *ret_utc) {
    int64_t seconds;
    bool is_utc;
    if (!civil_read(text, &seconds, &is_utc)) return false;
    if (is_utc)
        *ret_utc = seconds;
    else
        (void)moment_at(z, seconds, false, true, ret_utc); /* with its gaps every wall has a moment */
    return true;
}

static int64_t wall_of(const struct zone *z, int64_t utc) {
    return utc + zone_at(z, utc).offset;
}

/* ---- moves ---- */

struct moment_sum {
    int64_t months, days, seconds;
};

static const struct moment_unit {
    const char *word;
    int64_t months, days, seconds;
} units[] = {{"y", 12, 0, 0},   {"mo", 1, 0, 0}, {"w", 0, 7, 0}, {"d", 0, 1, 0},
             {"h", 0, 0, 3600}, {"m", 0, 0, 60}, {"s", 0, 0, 1}};

static const struct moment_unit *unit_of(struct slice word) {
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (slice_eq(word, slice_str(units[i].word))) return &units[i];
    return NULL;
}

/* `-1d12h`: a sign holds until the next one. */
static bool move_read(struct slice text, struct moment_sum *ret) {
    struct moment_sum m = {0};
    int64_t sign = 1;
    size_t i = 0;
    while (i < text.len) {
        if (text.ptr[i] == '+' || text.ptr[i] == '-') sign = text.ptr[i++] == '-' ? -1 : 1;
        int64_t number = 0;
        size_t from = i;
        for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && number <= NUMBER_MAX; i++)
            number = number * 10 + (text.ptr[i] - '0');
        size_t word = i;
        while (i < text.len && text.ptr[i] >= 'a' && text.ptr[i] <= 'z') i++;
        const struct moment_unit *unit = unit_of(slice_of(text.ptr + word, i - word));
        if (word == from || number > NUMBER_MAX || unit == NULL) return false;
        m.months += sign * number * unit->months;
        m.days += sign * number * unit->days;
        m.seconds += sign * number * unit->seconds;
        while (i < text.len && text.ptr[i] == ' ') i++;
    }
    *ret = m;
    return text.len > 0;
}

/* Far beyond the years that are written a sum is cut off, so that none overflows. */
static bool is_near(const struct moment_sum *m) {
    int64_t years = CIVIL_YEAR_MAX;
    return m->months > -years * 12 && m->months < years * 12 && m->days > -years * 366 && m->days < years * 366 &&
           m->seconds > -years * 366 * CIVIL_DAY && m->seconds < years * 366 * CIVIL_DAY;
}

static bool month_move(int64_t wall, int64_t months, int64_t *ret_wall) {
    struct civil c = civil_of(wall);
    int64_t month = (int64_t)c.year * 12 + c.month - 1 + months;
    int64_t year = civil_div(month, 12);
    if (year < CIVIL_YEAR_MIN || year > CIVIL_YEAR_MAX) return false;
    c.year = (int32_t)year;
    c.month = (uint32_t)(month - year * 12) + 1;
    uint32_t last = civil_month_days(c.year, c.month);
    if (c.day > last) c.day = last;
    *ret_wall = civil_seconds(&c);
    return true;
}

enum err moment_move(const struct zone *z, int64_t utc, struct slice move, int64_t *ret_utc, struct why *why) {
    struct moment_sum m;
    int64_t wall = wall_of(z, utc);
    if (!move_read(move, &m))
        return why_set(why, ERR_INVALID, "expected a move like -1d, +1mo or -1d12h (y mo w d h m s), found `%.*s`",
                       SLICE_FMT(move));
    bool is_fit = is_near(&m) && (m.months == 0 || month_move(wall, m.months, &wall));
    if (is_fit && (m.months != 0 || m.days != 0)) (void)moment_at(z, wall + m.days * CIVIL_DAY, false, true, &utc);
    if (is_fit) utc += m.seconds;
    if (!is_fit || wall_of(z, utc) < UTC_MIN || wall_of(z, utc) > UTC_MAX)
        return why_set(why, ERR_INVALID, "`%.*s` leads out of the years %d to %d", SLICE_FMT(move), CIVIL_YEAR_MIN,
                       CIVIL_YEAR_MAX);
    *ret_utc = utc;
    return ERR_OK;
}

/* ---- formats ---- */

/* The week that a day is in is that of its Thursday. */
static void week_of(int64_t days, int32_t *ret_year, uint32_t *ret_week, uint32_t *ret_day) {
    uint32_t from_monday = (civil_weekday(days) + 6) % 7;
    int64_t thursday = days - from_monday + 3;
    *ret_year = civil_of(thursday * CIVIL_DAY).year;
    *ret_week = (uint32_t)(thursday - civil_days(*ret_year, 1, 1)) / 7 + 1;
    *ret_day = from_monday + 1;
}

#define OFFSET_BYTES 16u

static const char *offset_text(int32_t offset, char room[OFFSET_BYTES]) {
    int32_t minutes = (offset < 0 ? -offset : offset) / 60;
    if (offset == 0) return "Z";
    snprintf(room, OFFSET_BYTES, "%c%02d:%02d", offset < 0 ? '-' : '+', (int)(minutes / 60), (int)(minutes % 60));
    return room;
}

struct moment_word {
    const char *word;
    int width;
    int64_t value;
};
#define WORDS 12u

static void words_of(int64_t wall, int64_t utc, struct moment_word ret[WORDS]) {
    int64_t days = civil_div(wall, CIVIL_DAY);
    struct civil c = civil_of(wall);
    int32_t iso_year;
    uint32_t week, weekday;
    week_of(days, &iso_year, &week, &weekday);
    const struct moment_word words[WORDS] = {{"YYYY", 4, c.year},   {"YY", 2, c.year % 100},
                                             {"MM", 2, c.month},    {"DDD", 3, days - civil_days(c.year, 1, 1) + 1},
                                             {"DD", 2, c.day},      {"hh", 2, c.hour},
                                             {"mm", 2, c.minute},   {"ss", 2, c.second},
                                             {"GGGG", 4, iso_year}, {"ww", 2, week},
                                             {"E", 1, weekday},     {"X", 1, utc}};
    memcpy(ret, words, sizeof words);
}

/* How much of the format it was: the longest word that it begins with, or a sign; 0 = a letter without a meaning. */
static size_t put_next(struct slice format, const struct moment_word words[WORDS], int32_t offset, struct buf *out) {
    uint8_t c = format.ptr[0];
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    for (size_t i = 0; is_letter && i < WORDS; i++) {
        struct slice word = slice_str(words[i].word);
        if (!slice_begins(format, word)) continue;
        buf_printf(out, "%0*lld", words[i].width, (long long)words[i].value);
        return word.len;
    }
    char room[OFFSET_BYTES];
    if (is_letter && c != 'Z' && c != 'T' && c != 'W') return 0;
    if (c == 'Z')
        buf_put_slice(out, slice_str(offset_text(offset, room)));
    else
        buf_put_u8(out, c);
    return 1;
}

enum err moment_format(const struct zone *z, int64_t utc, struct slice format, struct buf *out, struct why *why) {
    struct moment_word words[WORDS];
    int64_t wall = wall_of(z, utc);
    words_of(wall, utc, words);
    for (size_t i = 0, step = 0; i < format.len; i += step) {
        step = put_next(slice_of(format.ptr + i, format.len - i), words, (int32_t)(wall - utc), out);
        if (step == 0)
            return why_set(why, ERR_INVALID,
                           "`%c` in the format `%.*s`: expected YYYY YY MM DD hh mm ss DDD GGGG ww E Z X",
                           format.ptr[i], SLICE_FMT(format));
    }
    return ERR_OK;
}

void moment_text(const struct zone *z, int64_t utc, char ret[MOMENT_TEXT_BYTES]) {
    int32_t offset = zone_at(z, utc).offset;
    char wall[CIVIL_TEXT_BYTES], room[OFFSET_BYTES];
    civil_text(utc + offset, wall);
    snprintf(ret, MOMENT_TEXT_BYTES, "%s%s", wall, offset_text(offset, room));
}
