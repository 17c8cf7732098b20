/* calendar_test.c: every time zone of this machine, against the C library's own reading of the same files, and slots
 * against a search that looks at every minute. The C library is asked through localtime_r and knows nothing of our
 * parser. */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "civil.h"
#include "moment.h"
#include "recur_plan.h"
#include "zone.h"

#define ZONES "/usr/share/zoneinfo"
#define ZONES_MAX 700u
#define YEAR_1900 (-2208988800LL)
#define YEAR_2100 4102444800LL

static char names[ZONES_MAX][ZONE_NAME_BYTES_MAX + 1];
static uint32_t name_count;
static struct arena arena; /* of the zone at hand */

static void gather(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", ZONES, folder);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;) {
        char name[300];
        struct stat st;
        snprintf(name, sizeof name, "%s%s%s", folder, folder[0] ? "/" : "", entry->d_name);
        snprintf(path, sizeof path, "%s/%s", ZONES, name);
        bool is_other = strcmp(entry->d_name, "right") == 0 || strcmp(entry->d_name, "posix") == 0;
        if (entry->d_name[0] == '.' || is_other || stat(path, &st) != 0) continue;
        if (S_ISDIR(st.st_mode)) {
            gather(name);
        } else if (zone_name_is_fit(slice_str(name)) && entry->d_name[0] >= 'A' && entry->d_name[0] <= 'Z') {
            assert_true(name_count < ZONES_MAX);
            snprintf(names[name_count++], sizeof names[0], "%s", name);
        }
    }
    closedir(d);
}

static size_t read_file(const char *name, uint8_t *to, size_t max) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", ZONES, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t got = fread(to, 1, max, f);
    fclose(f);
    return got;
}

static struct zone *zone_named(const char *name) {
    static uint8_t bytes[ZONE_FILE_BYTES_MAX];
    struct zone *z = NULL;
    struct why why = {""};
    size_t len = read_file(name, bytes, sizeof bytes);
    if (zone_open(slice_of(bytes, len), &arena, &z, &why) != ERR_OK) fail_msg("%s: %s", name, why.text);
    return z;
}

static void library_zone(const char *name) {
    setenv("TZ", name, 1);
    tzset();
}

static int64_t library_offset(int64_t utc) {
    time_t t = (time_t)utc;
    struct tm parts;
    assert_non_null(localtime_r(&t, &parts));
    return parts.tm_gmtoff;
}

static void same_offset(const char *name, const struct zone *z, int64_t utc) {
    struct zone_span span = zone_at(z, utc);
    if (span.offset != library_offset(utc))
        fail_msg("%s at %lld: %d, the C library says %lld", name, (long long)utc, span.offset,
                 (long long)library_offset(utc));
    if (utc < span.from || utc >= span.until) fail_msg("%s at %lld: not in its own span", name, (long long)utc);
}

/* Random moments, and each transition with what is around it. */
static void every_zone_as_the_c_library_has_it(void **state) {
    (void)state;
    struct test_random random = {7};
    uint64_t transitions = 0;
    for (uint32_t i = 0; i < name_count; i++) {
        struct zone *z = zone_named(names[i]);
        library_zone(names[i]);
        for (int k = 0; k < 200; k++)
            same_offset(names[i], z, YEAR_1900 + (int64_t)test_random_below(&random, YEAR_2100 - YEAR_1900));
        for (int64_t at = YEAR_1900; at < YEAR_2100;) {
            struct zone_span span = zone_at(z, at);
            same_offset(names[i], z, at);
            if (span.until == ZONE_END) break;
            same_offset(names[i], z, span.until - 1);
            same_offset(names[i], z, span.until);
            at = span.until;
            transitions++;
        }
        arena_reset(&arena);
    }
    assert_true(name_count > 300);
    assert_true(transitions > 20000);
}

/* A file that has nothing but a rule. */
static struct zone *zone_of_rule(const char *rule) {
    uint8_t file[512] = "TZif2";
    size_t len = 44;
    file[39] = 1; /* one type */
    file[43] = 1; /* one character */
    len += 7;
    memcpy(file + len, file, 44 + 7);
    len += 44 + 7;
    len += (size_t)snprintf((char *)file + len, sizeof file - len, "\n%s\n", rule);
    struct zone *z = NULL;
    struct why why = {""};
    if (zone_open(slice_of(file, len), &arena, &z, &why) != ERR_OK) fail_msg("%s: %s", rule, why.text);
    return z;
}

/* In one half of the year: changes that lie within days of each other are nobody's rule, and everyone reads them
 * differently. */
static void some_change(struct test_random *random, unsigned half, char *ret, size_t max) {
    int kind = (int)test_random_below(random, 3);
    int hour = (int)test_random_below(random, 60) - 20;
    unsigned day = half * 180 + 20 + (unsigned)test_random_below(random, 130);
    if (half == 0 && test_random_below(random, 4) == 0) day = 59 + day % 3; /* where leap years begin to matter */
    if (kind == 0)
        snprintf(ret, max, "J%u/%d", day, hour);
    else if (kind == 1)
        snprintf(ret, max, "%u/%d:30", day, hour);
    else
        snprintf(ret, max, "M%u.%u.%u/%d", half * 6 + 2 + (unsigned)test_random_below(random, 4),
                 1 + (unsigned)test_random_below(random, 5), (unsigned)test_random_below(random, 7), hour);
}

/* Zones that no file has: rules of every form, put to the C library as they are. */
static void every_rule_as_the_c_library_reads_it(void **state) {
    (void)state;
    struct test_random random = {17};
    for (int i = 0; i < 400; i++) {
        char summer[32], winter[32], rule[128];
        some_change(&random, (unsigned)i / 2 % 2, summer, sizeof summer);
        some_change(&random, 1 - (unsigned)i / 2 % 2, winter, sizeof winter);
        snprintf(rule, sizeof rule, i % 2 ? "AAA%d:15BBB,%s,%s" : "<-x1>%d<y+2>-3:30:10,%s,%s",
                 (int)test_random_below(&random, 24) - 12, summer, winter);
        struct zone *z = zone_of_rule(rule);
        library_zone(rule);
        for (int k = 0; k < 100; k++) same_offset(rule, z, (int64_t)test_random_below(&random, YEAR_2100));
        arena_reset(&arena);
    }
}

/* ---- slots ---- */

static bool plain_field(uint64_t bits, uint32_t value) {
    return bits >> value & 1;
}

/* Without seconds, and with days by star: what is left for the naive side is the time of day. */
static bool wall_matches(const struct cron *c, int64_t local) {
    struct civil at = civil_of(local);
    return at.second == 0 && plain_field(c->minutes, at.minute) && plain_field(c->hours, at.hour);
}

/* Every minute of some days, by the C library: what the wall shows then, whether it showed it already, and whether it
 * left something out just before. */
static uint32_t naive_slots(const struct recur *r, int64_t from, int64_t until, int64_t *ret) {
    uint32_t count = 0;
    for (int64_t at = from; at < until; at += 60) {
        int64_t local = at + library_offset(at), before = at - 60 + library_offset(at - 60);
        bool fires = wall_matches(&r->cron, local);
        for (int64_t other = at - 4 * 3600; fires && other < at; other += 60)
            if (r->fold == RECUR_FOLD_FIRST && other + library_offset(other) == local) fires = false;
        for (int64_t other = at + 60; fires && other < at + 4 * 3600; other += 60)
            if (r->fold == RECUR_FOLD_LAST && other + library_offset(other) == local) fires = false;
        for (int64_t missing = before + 60; missing < local && r->gap == RECUR_GAP_AFTER; missing += 60)
            if (wall_matches(&r->cron, missing)) fires = true;
        if (fires) ret[count++] = at * 1000;
    }
    return count;
}

static int64_t next_transition(const struct zone *z, int64_t utc) {
    for (;;) {
        struct zone_span span = zone_at(z, utc);
        if (span.until == ZONE_END) return ZONE_END;
        if (zone_at(z, span.until).offset != span.offset) return span.until;
        utc = span.until;
    }
}

/* Around transitions of this century whose offsets are whole minutes: before, the world did odder things than cron. */
static void slots_around_every_change_of_the_clocks(void **state) {
    (void)state;
    static const char *const patterns[] = {"30 2 * * *", "*/20 * * * *", "0,15,59 0-4 * * *", "0 3 * * *",
                                           "45 23,1 * * *"};
    static const char *const tails[] = {"", "; gap skip", "; gap after; fold both", "; fold last",
                                        "; gap skip; fold first"};
    static int64_t expected[8 * 1440], got[8 * 1440];
    struct test_random random = {11};
    uint64_t checked = 0;
    for (uint32_t i = 0; i < name_count; i++) {
        struct zone *z = zone_named(names[i]);
        library_zone(names[i]);
        int64_t start = 946684800 + (int64_t)test_random_below(&random, 60ull * 365 * CIVIL_DAY);
        int64_t change = next_transition(z, start);
        char text[128];
        struct recur r;
        struct why why;
        snprintf(text, sizeof text, "cron %s%s", patterns[test_random_below(&random, 5)],
                 tails[test_random_below(&random, 5)]);
        assert_int_equal(recur_read(slice_str(text), &r, &why), ERR_OK);
        int64_t middle = change == ZONE_END ? start / 60 * 60 : change;
        int64_t from = middle - CIVIL_DAY, until = middle + CIVIL_DAY;
        uint32_t count = naive_slots(&r, from, until, expected), mine = 0;
        for (int64_t at = from * 1000 - 1; recur_next(&r, z, at, &at) && at < until * 1000;) got[mine++] = at;
        if (count != mine || memcmp(expected, got, count * sizeof *got) != 0)
            fail_msg("%s, %s, around %lld: %u slots, by minute %u", names[i], text, (long long)middle, mine, count);
        checked += count;
        arena_reset(&arena);
    }
    assert_true(checked > name_count);
}

/* ---- days of a month ---- */

/* The naive side of a pattern's days: items as data, and each day of four centuries looked at by itself. */
enum day_kind { DAY_NUMBER, DAY_LAST, DAY_NEAREST, DAY_NEAREST_LAST, DAY_KIND_COUNT };
#define DAY_ITEMS 3u

struct day_pattern {
    struct {
        enum day_kind kind;
        uint32_t number;
    } days[DAY_ITEMS];
    uint32_t day_count;
    uint32_t weekday, nth; /* nth: 1 to 5, 6 = the last, 0 = any weekday will do */
    uint32_t months;       /* a bit for each */
};

static bool is_weekend(int32_t year, uint32_t month, uint32_t day) {
    uint32_t weekday = civil_weekday(civil_days(year, month, day));
    return weekday == 0 || weekday == 6;
}

/* As the manual says it: of that day, else of the days around it in the same month, the nearest; 0 = none. */
static uint32_t naive_nearest(int32_t year, uint32_t month, uint32_t day) {
    uint32_t last = civil_month_days(year, month);
    if (day < 1 || day > last) return 0;
    for (uint32_t away = 0; away <= 2; away++) {
        if (day > away && !is_weekend(year, month, day - away)) return day - away;
        if (day + away <= last && !is_weekend(year, month, day + away)) return day + away;
    }
    return 0;
}

static bool naive_day(const struct day_pattern *p, int32_t year, uint32_t month, uint32_t day) {
    uint32_t last = civil_month_days(year, month);
    bool by_day = false;
    if (!(p->months >> month & 1)) return false;
    for (uint32_t i = 0; i < p->day_count; i++) {
        uint32_t number = p->days[i].number;
        switch (p->days[i].kind) {
        case DAY_NUMBER: by_day |= day == number; break;
        case DAY_LAST: by_day |= day + number == last; break;
        case DAY_NEAREST: by_day |= day == naive_nearest(year, month, number); break;
        case DAY_NEAREST_LAST: by_day |= number < last && day == naive_nearest(year, month, last - number); break;
        case DAY_KIND_COUNT: break;
        }
    }
    if (p->nth == 0) return by_day;
    uint32_t which = 0;
    for (uint32_t d = 1; d <= day; d++) which += civil_weekday(civil_days(year, month, d)) == p->weekday;
    bool is_it = civil_weekday(civil_days(year, month, day)) == p->weekday;
    return by_day || (is_it && (p->nth == 6 ? day + 7 > last : which == p->nth));
}

static void draw_days(struct test_random *random, struct day_pattern *p, char *text, size_t max) {
    static const char *const before[DAY_KIND_COUNT] = {"", "L-", "", "L-"}, *const behind[] = {"", "", "W", "W"};
    static const char *const names_of[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
    size_t at = (size_t)snprintf(text, max, "30 1 ");
    *p = (struct day_pattern){.day_count = 1 + (uint32_t)test_random_below(random, DAY_ITEMS), .months = 0x1ffe};
    for (uint32_t i = 0; i < p->day_count; i++) {
        p->days[i].kind = (enum day_kind)test_random_below(random, DAY_KIND_COUNT);
        bool is_back = p->days[i].kind == DAY_LAST || p->days[i].kind == DAY_NEAREST_LAST;
        p->days[i].number = (uint32_t)test_random_below(random, 31) + (is_back ? 0 : 1);
        at += (size_t)snprintf(text + at, max - at, "%s%s%u%s", i ? "," : "", before[p->days[i].kind],
                               p->days[i].number, behind[p->days[i].kind]);
    }
    if (test_random_below(random, 3) == 0) {
        uint32_t month = 1 + (uint32_t)test_random_below(random, 12);
        p->months = 1u << 1 | 1u << month; /* January has every day, so that each pattern happens */
        at += (size_t)snprintf(text + at, max - at, " 1,%u", month);
    } else {
        at += (size_t)snprintf(text + at, max - at, " *");
    }
    p->weekday = (uint32_t)test_random_below(random, 7);
    p->nth = (uint32_t)test_random_below(random, 7);
    if (p->nth == 0)
        snprintf(text + at, max - at, " *");
    else if (p->nth == 6)
        snprintf(text + at, max - at, " %sL", names_of[p->weekday]);
    else
        snprintf(text + at, max - at, " %u#%u", p->weekday, p->nth);
}

/* The calendar repeats after 400 years, so no other year can tell anything new. */
static void days_of_a_pattern_for_four_centuries(void **state) {
    (void)state;
    struct test_random random = {31};
    for (int round = 0; round < 60; round++) {
        struct day_pattern p;
        struct cron c;
        struct why why = {""};
        char text[128];
        draw_days(&random, &p, text, sizeof text);
        if (cron_read(slice_str(text), &c, &why) != ERR_OK) fail_msg("%s: %s", text, why.text);
        int64_t next = 0, from = civil_days(2000, 1, 1), until = civil_days(2400, 1, 1);
        assert_true(cron_next(&c, from * CIVIL_DAY, &next));
        for (int64_t day = from; day < until; day++) {
            struct civil at = civil_of(day * CIVIL_DAY);
            bool mine = next == day * CIVIL_DAY + 5400;
            if (naive_day(&p, at.year, at.month, at.day) != mine)
                fail_msg("%s: %d-%02u-%02u %s", text, at.year, at.month, at.day, mine ? "is named" : "is left out");
            assert_int_equal(cron_count_day(&c, day * CIVIL_DAY), mine);
            if (mine) assert_true(cron_next(&c, next + 1, &next));
        }
    }
}

/* A time of day comes once on each of its days, also where the wall shows it twice or not at all (half past one, when
 * clocks change at one and at two). */
static void days_of_a_pattern_where_clocks_change(void **state) {
    (void)state;
    static const char *const places[] = {"Europe/Lisbon", "Europe/London", "America/New_York", "Australia/Lord_Howe"};
    struct test_random random = {37};
    for (uint32_t round = 0; round < 24; round++) {
        const char *place = places[round % 4];
        struct zone *z = zone_named(place);
        struct day_pattern p;
        struct recur r;
        struct why why = {""};
        char days[128], text[160];
        library_zone(place);
        draw_days(&random, &p, days, sizeof days);
        snprintf(text, sizeof text, "cron %s", days);
        assert_int_equal(recur_read(slice_str(text), &r, &why), ERR_OK);
        int64_t from = civil_days(2000, 1, 1), until = civil_days(2037, 1, 1);
        int64_t at_ms = (from * CIVIL_DAY - library_offset(from * CIVIL_DAY)) * 1000;
        assert_true(recur_next(&r, z, at_ms, &at_ms));
        for (int64_t day = from; day < until; day++) {
            struct civil at = civil_of(day * CIVIL_DAY);
            int64_t wall = at_ms / 1000 + library_offset(at_ms / 1000);
            bool mine = civil_div(wall, CIVIL_DAY) == day;
            if (naive_day(&p, at.year, at.month, at.day) != mine)
                fail_msg("%s, %s: %d-%02u-%02u", place, text, at.year, at.month, at.day);
            if (mine) assert_true(recur_next(&r, z, at_ms, &at_ms));
        }
        arena_reset(&arena);
    }
}

/* ---- calendars ---- */

/* The first minute of two days at which the wall shows it, or has passed it: then clocks were put forward over it. */
static int64_t naive_moment(int64_t wall) {
    for (int64_t at = wall - CIVIL_DAY; at < wall + CIVIL_DAY; at += 60)
        if (at + library_offset(at) >= wall && at - 60 + library_offset(at - 60) < wall) return at;
    fail_msg("the wall never shows %lld", (long long)wall);
    return 0;
}

/* The naive side of a calendar: every slot of some months is taken by itself, moved or left out, and sorted. */
#define PLAN_DAYS 90
#define PLAN_MARGIN 40

static int by_time(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static bool naive_excluded(const struct day_calendar *c, int64_t day) {
    for (uint32_t i = 0; i < c->count; i++)
        if (c->days[i].day == day) return true;
    return !(c->weekdays >> civil_weekday(day) & 1);
}

/* The slots from `from` on; excluded days, each once, in `ret_days`. */
static uint32_t naive_plan(const struct recur_plan *p, int64_t from, int64_t until, int64_t *ret, int64_t *ret_days,
                           uint32_t *ret_day_count) {
    uint32_t count = 0, kept = 0;
    *ret_day_count = 0;
    int64_t at = (from - PLAN_MARGIN * CIVIL_DAY) * 1000;
    while (recur_next(&p->recur, p->zone, at, &at) && at < (until + PLAN_MARGIN * CIVIL_DAY) * 1000) {
        int64_t wall = at / 1000 + library_offset(at / 1000), day = civil_div(wall, CIVIL_DAY), moved = day;
        int64_t step = p->days.policy == DAY_SHIFT_NEXT ? 1 : -1;
        bool is_out = p->days.policy != DAY_RUN && naive_excluded(&p->days, day);
        if (is_out && p->days.policy == DAY_SKIP) {
            bool is_known = *ret_day_count > 0 && ret_days[*ret_day_count - 1] == day;
            if (!is_known && at / 1000 >= from && at / 1000 < until) ret_days[(*ret_day_count)++] = day;
            continue;
        }
        while (is_out && naive_excluded(&p->days, moved)) moved += step;
        if (moved - day > DAY_SHIFT_MAX || day - moved > DAY_SHIFT_MAX) continue;
        ret[count++] = moved == day ? at : naive_moment(wall + (moved - day) * CIVIL_DAY) * 1000;
    }
    qsort(ret, count, sizeof *ret, by_time);
    for (uint32_t i = 0; i < count; i++)
        if (ret[i] >= from * 1000 && ret[i] < until * 1000 && (kept == 0 || ret[kept - 1] != ret[i]))
            ret[kept++] = ret[i];
    return kept;
}

static void draw_calendar(struct test_random *random, int64_t first_day, char *text, size_t max) {
    static const char *const weekdays[] = {"", "weekdays mon-fri;", "weekdays sat,sun;", "weekdays sun-thu;",
                                           "weekdays wed;"};
    static const char *const policies[] = {"skip", "shift_next", "shift_previous", "run"};
    size_t at = (size_t)snprintf(text, max, "%s excluded %s; not ", weekdays[test_random_below(random, 5)],
                                 policies[test_random_below(random, 4)]);
    uint32_t count = 1 + (uint32_t)test_random_below(random, 40);
    for (uint32_t i = 0; i < count; i++) {
        struct civil day = civil_of((first_day + (int64_t)test_random_below(random, PLAN_DAYS)) * CIVIL_DAY);
        at += (size_t)snprintf(text + at, max - at, "%s%04d-%02u-%02u%s", i ? ", " : "", day.year, day.month, day.day,
                               i % 3 ? "" : " a name");
    }
}

static void calendars_leave_out_and_shift_what_they_say(void **state) {
    (void)state;
    static const char *const patterns[] = {"30 9 * * *", "15 2,23 * * *", "0 */6 * * *", "30 1 15W,L * *",
                                           "0 0 * * mon"};
    static const char *const places[] = {"Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"};
    static int64_t expected[4000], days[400], got[4000];
    struct test_random random = {41};
    uint32_t slots = 0, left_out = 0;
    for (uint32_t round = 0; round < 300; round++) {
        const char *place = places[round % 4];
        struct zone *z = zone_named(place);
        struct recur_plan p = {.zone = z};
        struct why why = {""};
        char text[2048], pattern[64];
        uint32_t count = 0, day_count = 0, mine = 0, mine_days = 0;
        int64_t change = next_transition(z, 946684800 + (int64_t)test_random_below(&random, 30ull * 365 * CIVIL_DAY));
        if (change == ZONE_END) change = 1700000000;
        int64_t first_day = change / CIVIL_DAY - PLAN_DAYS / 2;
        int64_t from = first_day * CIVIL_DAY, until = from + PLAN_DAYS * CIVIL_DAY;
        library_zone(place);
        snprintf(pattern, sizeof pattern, "cron %s", patterns[test_random_below(&random, 5)]);
        assert_int_equal(recur_read(slice_str(pattern), &p.recur, &why), ERR_OK);
        draw_calendar(&random, first_day, text, sizeof text);
        if (day_calendar_read(slice_str(text), &arena, &p.days, &why) != ERR_OK) fail_msg("%s: %s", text, why.text);
        assert_int_equal(recur_plan_check(&p, &why), ERR_OK);
        count = naive_plan(&p, from, until, expected, days, &day_count);
        struct recur_entry entry;
        for (int64_t at = from * 1000 - 1; recur_plan_next(&p, at, &entry) && entry.first_ms < until * 1000;
             at = entry.at_ms) {
            if (!entry.excluded)
                got[mine++] = entry.at_ms;
            else if (mine_days >= day_count || recur_plan_day(&p, entry.at_ms) != days[mine_days++])
                fail_msg("%s, %s, %s: another day is left out", place, pattern, text);
        }
        if (count != mine || day_count != mine_days || memcmp(expected, got, count * sizeof *got) != 0)
            fail_msg("%s, %s, %s from %lld: %u slots and %u days left out, one by one %u and %u", place, pattern, text,
                     (long long)from, mine, mine_days, count, day_count);
        slots += count;
        left_out += day_count;
        arena_reset(&arena);
    }
    assert_true(slots > 5000);
    assert_true(left_out > 500);
}

/* However far back the question begins, the same entries come, and no slot is counted twice or left out. */
static void a_long_past_with_a_calendar(void **state) {
    (void)state;
    static const char *const texts[] = {"cron */7 * * * *", "every 1h30m", "cron 0 */5 9-17 * * *", "cron 30 9 * * *",
                                        "at 2026-06-06T02:30"};
    static const char *const calendars[] = {"weekdays mon-fri; not 2026-05-01,2026-05-02", "not 2026-12-25", "",
                                            "weekdays mon; excluded shift_next", "excluded run; weekdays mon"};
    static struct recur_entry got[64];
    struct test_random random = {43};
    for (uint32_t i = 0; i < 25; i++) {
        struct recur_plan p = {.zone = zone_named("Europe/Berlin")};
        struct why why;
        assert_int_equal(recur_read(slice_str(texts[i % 5]), &p.recur, &why), ERR_OK);
        assert_int_equal(day_calendar_read(slice_str(calendars[i / 5]), &arena, &p.days, &why), ERR_OK);
        if (recur_plan_check(&p, &why) != ERR_OK) continue;
        int64_t after = 1767225600000 + (int64_t)test_random_below(&random, 200ull * CIVIL_DAY * 1000);
        int64_t now = after + (int64_t)test_random_below(&random, 100ull * CIVIL_DAY * 1000), at = after;
        uint64_t past = 0, earlier = 0;
        uint32_t most = 1 + (uint32_t)test_random_below(&random, 64);
        struct recur_entry e;
        while (recur_plan_next(&p, at, &e) && e.at_ms <= now) {
            past++;
            at = e.at_ms;
        }
        at = after;
        for (uint64_t k = 0; past > most && k < past - most; k++) {
            assert_true(recur_plan_next(&p, at, &e));
            earlier += !e.excluded;
            at = e.at_ms;
        }
        struct recur_slots slots = recur_plan_slots(&p, after, now, most, got);
        if (slots.earlier != earlier)
            fail_msg("%s; %s: %llu earlier, one by one %llu", texts[i % 5], calendars[i / 5],
                     (unsigned long long)slots.earlier, (unsigned long long)earlier);
        for (uint32_t k = 0; k < slots.count; k++) {
            assert_true(recur_plan_next(&p, at, &e));
            assert_int_equal(got[k].at_ms, e.at_ms);
            assert_int_equal(got[k].count, e.count);
            at = e.at_ms;
        }
        assert_int_equal(slots.last, !recur_plan_next(&p, at, &e));
        arena_reset(&arena);
    }
}

/* ---- moves ---- */

/* A move by days keeps the time of day, whatever clocks do on the way; one by hours is so many hours. */
static void days_are_moved_on_the_wall(void **state) {
    (void)state;
    struct test_random random = {23};
    for (uint32_t i = 0; i < name_count; i++) {
        struct zone *z = zone_named(names[i]);
        library_zone(names[i]);
        int64_t start = 946684800 + (int64_t)test_random_below(&random, 60ull * 365 * CIVIL_DAY);
        int64_t change = next_transition(z, start), middle = change == ZONE_END ? start : change;
        for (int round = 0; round < 20; round++) {
            int64_t from = (middle / 60 - 2880 + (int64_t)test_random_below(&random, 5760)) * 60, to = 0;
            int hours = (int)test_random_below(&random, 50);
            int days = (1 + (int)test_random_below(&random, 3)) * (round % 2 == 0 ? 1 : -1);
            char move[32], text[MOMENT_TEXT_BYTES];
            struct why why;
            snprintf(move, sizeof move, "%+dd", days);
            int64_t wall = from + library_offset(from) + days * CIVIL_DAY;
            assert_int_equal(moment_move(z, from, slice_str(move), &to, &why), ERR_OK);
            if (to != naive_moment(wall))
                fail_msg("%s: %lld %s is %lld", names[i], (long long)from, move, (long long)to);
            snprintf(move, sizeof move, "%dh", hours);
            assert_int_equal(moment_move(z, from, slice_str(move), &to, &why), ERR_OK);
            assert_int_equal(to, from + hours * 3600);
            moment_text(z, to, text); /* what is written is read again, also where a wall is shown twice */
            assert_true(moment_read(slice_str(text), z, &from));
            assert_int_equal(from, to);
        }
        arena_reset(&arena);
    }
}

/* However far back the question begins, the same slots come, and none is counted twice or left out. */
static void a_long_past_is_counted_as_if_one_by_one(void **state) {
    (void)state;
    static const char *const texts[] = {"cron */7 * * * *",
                                        "cron 15 3 * * *; zone X",
                                        "cron */10 1-3 * * *; fold both",
                                        "cron 59 59 1-3 * * *",
                                        "every 1h30m",
                                        "cron 30 2 29 2 *",
                                        "cron 0 */5 9-17 * * mon-fri",
                                        "at 2026-03-29T02:30",
                                        "cron 0 0 L * *; gap skip",
                                        "cron 0 3 15W,LW,L-3 * *",
                                        "cron 59 23 * * fri#2,monL"};
    static int64_t plain[200000], got[64];
    struct zone *z = zone_named("Europe/Berlin");
    struct test_random random = {3};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct recur r;
        struct why why;
        assert_int_equal(recur_read(slice_str(texts[i]), &r, &why), ERR_OK);
        for (int round = 0; round < 4; round++) {
            int64_t after = 1767225600000 + (int64_t)test_random_below(&random, 300ull * CIVIL_DAY * 1000);
            int64_t now = after + (int64_t)test_random_below(&random, 400ull * CIVIL_DAY * 1000);
            uint32_t past = 0, most = 1 + (uint32_t)test_random_below(&random, 64);
            for (int64_t at = after; recur_next(&r, z, at, &at) && at <= now;) plain[past++] = at;
            struct recur_slots slots = recur_slots(&r, z, after, now, most, got);
            uint64_t earlier = past > most ? past - most : 0;
            if (slots.earlier != earlier)
                fail_msg("%s: %llu earlier, one by one %llu", texts[i], (unsigned long long)slots.earlier,
                         (unsigned long long)earlier);
            int64_t at = earlier ? plain[earlier - 1] : after;
            for (uint32_t k = 0; k < slots.count; k++) {
                assert_true(recur_next(&r, z, at, &at));
                assert_int_equal(got[k], at);
            }
            assert_int_equal(slots.last, !recur_next(&r, z, at, &at));
            if (!slots.last) assert_int_equal(slots.count, most);
        }
    }
    arena_reset(&arena);
}

/* A file with any byte changed or cut anywhere is refused or read, and every moment has its span. */
static void damaged_files_do_no_harm(void **state) {
    (void)state;
    static uint8_t whole[ZONE_FILE_BYTES_MAX], bytes[ZONE_FILE_BYTES_MAX];
    size_t len = read_file("Europe/Lisbon", whole, sizeof whole);
    struct test_random random = {5};
    for (size_t i = 0; i < 2 * len; i++) {
        struct zone *z = NULL;
        arena_reset(&arena);
        size_t used = i < len ? i : len;
        memcpy(bytes, whole, len);
        if (i >= len) bytes[i - len] ^= (uint8_t)(1 + test_random_below(&random, 255));
        if (zone_open(slice_of(bytes, used), &arena, &z, NULL) != ERR_OK) continue;
        assert_true(i >= len);
        for (int k = 0; k < 20; k++) {
            int64_t at = YEAR_1900 + (int64_t)test_random_below(&random, YEAR_2100 - YEAR_1900);
            struct zone_span span = zone_at(z, at);
            assert_true(span.from <= at && at < span.until);
        }
    }
}

static int prepare(void **state) {
    (void)state;
    if (access(ZONES "/Europe/Lisbon", R_OK) != 0) return -1;
    arena_init(&arena, 1u << 18, 1u << 22);
    gather("");
    return 0;
}

static int finish(void **state) {
    (void)state;
    arena_fini(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_zone_as_the_c_library_has_it),
        cmocka_unit_test(every_rule_as_the_c_library_reads_it),
        cmocka_unit_test(slots_around_every_change_of_the_clocks),
        cmocka_unit_test(days_of_a_pattern_for_four_centuries),
        cmocka_unit_test(days_of_a_pattern_where_clocks_change),
        cmocka_unit_test(calendars_leave_out_and_shift_what_they_say),
        cmocka_unit_test(a_long_past_with_a_calendar),
        cmocka_unit_test(days_are_moved_on_the_wall),
        cmocka_unit_test(a_long_past_is_counted_as_if_one_by_one),
        cmocka_unit_test(damaged_files_do_no_harm),
    };
    return cmocka_run_group_tests(tests, prepare, finish);
}
