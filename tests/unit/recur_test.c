/* recur_test.c: recurrences and cron patterns: what is read, what is refused and in which words, and the slots that
 * follow from known moments. All zones against the C library: property/calendar_test.c. */
#include "test.h"

#include <stdio.h>

#include "civil.h"
#include "recur.h"

static void refused(const char *text, const char *words) {
    struct recur r;
    struct why why = {""};
    assert_int_not_equal(recur_read(slice_str(text), &r, &why), ERR_OK);
    if (strstr(why.text, words) == NULL) fail_msg("`%s` is refused with `%s`, without `%s`", text, why.text, words);
}

static struct recur read_ok(const char *text) {
    struct recur r;
    struct why why = {""};
    if (recur_read(slice_str(text), &r, &why) != ERR_OK) fail_msg("`%s`: %s", text, why.text);
    return r;
}

static int64_t moment(const char *text) {
    int64_t seconds;
    bool is_utc;
    if (!civil_read(slice_str(text), &seconds, &is_utc)) fail_msg("no moment: %s", text);
    return seconds * 1000;
}

/* The slots after a moment, in UTC: as many as are given, "" = none follows. */
static void follows(const char *recurrence, const char *after, const char *const *slots, size_t count) {
    struct recur r = read_ok(recurrence);
    int64_t at = moment(after);
    for (size_t i = 0; i < count; i++) {
        bool any = recur_next(&r, zone_utc, at, &at);
        char text[CIVIL_TEXT_BYTES] = "";
        if (any) civil_text(at / 1000, text);
        if (strcmp(text, slots[i]) != 0)
            fail_msg("`%s` after %s: %s, expected %s", recurrence, after, any ? text : "nothing", slots[i]);
    }
}
#define FOLLOWS(recurrence, after, ...)                                  \
    do {                                                                 \
        static const char *const slots[] = {__VA_ARGS__};                \
        follows(recurrence, after, slots, sizeof slots / sizeof *slots); \
    } while (0)

static void a_pattern_of_cron_names_its_slots(void **state) {
    (void)state;
    FOLLOWS("cron 30 2 * * *", "2026-01-31T02:30", "2026-02-01T02:30:00", "2026-02-02T02:30:00");
    FOLLOWS("cron */20 23 * * *", "2026-12-31T23:10", "2026-12-31T23:20:00", "2026-12-31T23:40:00",
            "2027-01-01T23:00:00");
    FOLLOWS("cron 15,45 */6 1 JAN-mar *", "2026-01-01T12:16", "2026-01-01T12:45:00", "2026-01-01T18:15:00",
            "2026-01-01T18:45:00", "2026-02-01T00:15:00");
    FOLLOWS("cron 0 9 * * mon-fri", "2026-11-13T09:00", "2026-11-16T09:00:00");
    FOLLOWS("cron 0 9 * * fri-mon", "2026-11-16T09:00", "2026-11-20T09:00:00", "2026-11-21T09:00:00");
    FOLLOWS("cron 0 0 * * 7", "2026-11-14T00:00", "2026-11-15T00:00:00");
    FOLLOWS("cron 0 22-2 * * *", "2026-11-14T22:30", "2026-11-14T23:00:00", "2026-11-15T00:00:00",
            "2026-11-15T01:00:00", "2026-11-15T02:00:00", "2026-11-15T22:00:00");
    FOLLOWS("cron 5/20 * * * *", "2026-11-14T22:30", "2026-11-14T22:45:00", "2026-11-14T23:05:00");
    FOLLOWS("cron 10,40 30 4 * * *", "2026-11-14T04:30:10", "2026-11-14T04:30:40", "2026-11-15T04:30:10");
    FOLLOWS("cron 0 0 29 2 *", "2026-01-01T00:00", "2028-02-29T00:00:00", "2032-02-29T00:00:00");
    FOLLOWS("cron 0 0 29 2 ?", "2096-03-01T00:00", "2104-02-29T00:00:00");
    FOLLOWS("cron @monthly", "2026-01-31T00:00", "2026-02-01T00:00:00");
    FOLLOWS("cron @HOURLY", "2026-01-31T23:00", "2026-02-01T00:00:00");
}

static void days_of_cron_are_found(void **state) {
    (void)state;
    FOLLOWS("cron 0 0 L * *", "2026-01-30T00:00", "2026-01-31T00:00:00", "2026-02-28T00:00:00", "2026-03-31T00:00:00");
    FOLLOWS("cron 0 0 * * fri#2", "2026-11-01T00:00", "2026-11-13T00:00:00", "2026-12-11T00:00:00");
    FOLLOWS("cron 0 0 * * monL", "2026-11-01T00:00", "2026-11-30T00:00:00", "2026-12-28T00:00:00");
    /* Either will do, as in every cron; with a star in front both must. */
    FOLLOWS("cron 0 0 13 * fri", "2026-11-06T00:00", "2026-11-13T00:00:00", "2026-11-20T00:00:00");
    FOLLOWS("cron 0 0 */2 * mon", "2026-11-01T00:00", "2026-11-09T00:00:00", "2026-11-23T00:00:00");
    FOLLOWS("cron 0 0 1,L * *", "2026-02-27T00:00", "2026-02-28T00:00:00", "2026-03-01T00:00:00");
}

/* November 2026 begins with a Sunday and ends with a Monday; May begins with a Friday and ends with a Sunday; August
 * begins with a Saturday. */
static void working_days_near_a_day_are_found(void **state) {
    (void)state;
    FOLLOWS("cron 0 0 L-3 * *", "2026-01-28T00:00", "2026-02-25T00:00:00", "2026-03-28T00:00:00");
    FOLLOWS("cron 0 0 l-30 * *", "2026-01-01T00:00", "2026-03-01T00:00:00", "2026-05-01T00:00:00");
    FOLLOWS("cron 0 0 LW * *", "2026-05-01T00:00", "2026-05-29T00:00:00", "2026-06-30T00:00:00", "2026-07-31T00:00:00",
            "2026-08-31T00:00:00");
    FOLLOWS("cron 0 0 L-1W * *", "2026-05-01T00:00", "2026-05-29T00:00:00", "2026-06-29T00:00:00");
    FOLLOWS("cron 0 0 15W * *", "2026-07-16T00:00", "2026-08-14T00:00:00", "2026-09-15T00:00:00", "2026-10-15T00:00:00",
            "2026-11-16T00:00:00");
    FOLLOWS("cron 0 0 1w * *", "2026-07-02T00:00", "2026-08-03T00:00:00", "2026-09-01T00:00:00", "2026-10-01T00:00:00",
            "2026-11-02T00:00:00");
    FOLLOWS("cron 0 0 31W * *", "2026-04-01T00:00", "2026-05-29T00:00:00", "2026-07-31T00:00:00");
    FOLLOWS("cron 0 0 1W,LW jan *", "2026-12-01T00:00", "2027-01-01T00:00:00", "2027-01-29T00:00:00");
    FOLLOWS("cron 0 0 1W * mon", "2026-10-26T00:00", "2026-11-02T00:00:00", "2026-11-09T00:00:00");
    FOLLOWS("cron 0 0 * * 5L", "2026-11-01T00:00", "2026-11-27T00:00:00", "2026-12-25T00:00:00");
}

static void intervals_and_moments(void **state) {
    (void)state;
    FOLLOWS("every 15m", "2026-11-14T10:07", "2026-11-14T10:15:00", "2026-11-14T10:30:00");
    FOLLOWS("every 1h30m; from 2026-11-14T00:10Z", "2026-11-14T00:10", "2026-11-14T01:40:00", "2026-11-14T03:10:00");
    FOLLOWS("every 1d; from 2027-01-01T00:00+02:00", "2026-11-14T00:10", "2026-12-31T22:00:00");
    FOLLOWS("every 1s", "1969-12-31T23:59:58", "1970-01-01T00:00:00"); /* it begins with the epoch */
    FOLLOWS("at 2026-12-24T18:00", "2026-11-14T00:00", "2026-12-24T18:00:00", "");
    FOLLOWS("at 2026-12-24T18:00-05:30", "2026-11-14T00:00", "2026-12-24T23:30:00", "");
    FOLLOWS("at 2026-12-24", "2026-12-24T00:00", "");
}

static void what_is_meant_when_nothing_is_said(void **state) {
    (void)state;
    struct recur time_of_day = read_ok("cron 30 2 * * *; zone Europe/Lisbon"), interval = read_ok("cron */30 * * * *");
    assert_int_equal(time_of_day.gap, RECUR_GAP_AFTER);
    assert_int_equal(time_of_day.fold, RECUR_FOLD_FIRST);
    assert_true(slice_eq(time_of_day.zone, SLICE("Europe/Lisbon")));
    assert_int_equal(interval.gap, RECUR_GAP_SKIP);
    assert_int_equal(interval.fold, RECUR_FOLD_BOTH);
    assert_int_equal(interval.zone.len, 0);
    assert_int_equal(read_ok("cron 30 2 * * *; gap skip; fold last").fold, RECUR_FOLD_LAST);
}

static void wrong_expressions_are_refused_with_the_reason(void **state) {
    (void)state;
    refused("", "begins with cron, every or at");
    refused("daily", "begins with cron, every or at");
    refused("cron", "five fields");
    refused("cron * * * *", "found 4");
    refused("cron * * * * * * *", "more than 6");
    refused("cron 60 * * * *", "minute `60` is out of range (0-59)");
    refused("cron * 24 * * *", "hour");
    refused("cron * * 0 * *", "day of month `0` is out of range");
    refused("cron * * * 13 *", "month");
    refused("cron * * * foo *", "month `foo` is out of range");
    refused("cron * * * * 8", "weekday");
    refused("cron * * * * fri#6", "first to a fifth");
    refused("cron * * 0W * *", "W follows one day of the month");
    refused("cron * * 32W * *", "W follows one day of the month");
    refused("cron * * 1-5W * *", "W follows one day of the month");
    refused("cron * * W * *", "W follows one day of the month");
    refused("cron * * L-31 * *", "days before it are L-1 to L-30");
    refused("cron * * L3 * *", "days before it are L-1 to L-30");
    refused("cron * * L-x * *", "days before it are L-1 to L-30");
    refused("cron * * 31W feb *", "never happens");
    refused("cron * * * * L", "weekday `L` is out of range");
    refused("cron */0 * * * *", "a step is a number above 0");
    refused("cron */90 * * * *", "is larger than its range");
    refused("cron 1,,2 * * * *", "something is missing in the minute");
    refused("cron 1- * * * *", "minute");
    refused("cron -1 * * * *", "minute");
    refused("cron 0 0 30 2 *", "never happens");
    refused("cron @reboot", "@daily");
    refused("every 0s", "expected a duration like");
    refused("every 5", "expected a duration like");
    refused("every 99999999999999999999w", "at most 366 days");
    refused("every 15m; gap skip", "an interval takes `from` and `zone`");
    refused("every 15m; from 2026-01-01T00:00", "needs its offset");
    refused("at tomorrow", "expected a time like");
    refused("at 2026-02-29T00:00", "expected a time like");
    refused("at 2026-12-24T18:00Z; zone Europe/Lisbon", "contradicts");
    refused("at 2026-12-24T18:00; fold both", "first or last");
    refused("cron 0 0 * * *; zone ../../etc/passwd", "not the name of a zone");
    refused("cron 0 0 * * *; zone /etc/passwd", "not the name of a zone");
    refused("cron 0 0 * * *; gap never", "after or skip");
    refused("cron 0 0 * * *; colour blue", "unexpected `colour`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pattern_of_cron_names_its_slots),
        cmocka_unit_test(days_of_cron_are_found),
        cmocka_unit_test(working_days_near_a_day_are_found),
        cmocka_unit_test(intervals_and_moments),
        cmocka_unit_test(what_is_meant_when_nothing_is_said),
        cmocka_unit_test(wrong_expressions_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
