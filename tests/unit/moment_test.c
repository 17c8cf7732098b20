/* moment_test.c: moments in UTC, moved and written; what is refused and in which words. Zones whose clocks change:
 * property/calendar_test.c. */
#include "test.h"

#include "civil.h"
#include "moment.h"

static int64_t moment(const char *text) {
    int64_t utc;
    if (!moment_read(slice_str(text), zone_utc, &utc)) fail_msg("no moment: %s", text);
    return utc;
}

static void moves(const char *from, const char *move, const char *to) {
    int64_t utc = 0;
    char text[MOMENT_TEXT_BYTES];
    struct why why = {""};
    if (moment_move(zone_utc, moment(from), slice_str(move), &utc, &why) != ERR_OK) fail_msg("%s: %s", move, why.text);
    moment_text(zone_utc, utc, text);
    if (strcmp(text, to) != 0) fail_msg("%s %s is %s, expected %s", from, move, text, to);
}

static void days_and_months_move_the_date(void **state) {
    (void)state;
    moves("2026-11-08", "-1d", "2026-11-07T00:00:00Z");
    moves("2026-01-01T02:30", "-1d", "2025-12-31T02:30:00Z");
    moves("2026-03-31", "-1mo", "2026-02-28T00:00:00Z"); /* the last day stands for days that are not there */
    moves("2028-03-31", "-1mo", "2028-02-29T00:00:00Z");
    moves("2028-02-29", "+1y", "2029-02-28T00:00:00Z");
    moves("2026-01-31", "1mo", "2026-02-28T00:00:00Z");
    moves("2026-12-15", "+1mo", "2027-01-15T00:00:00Z");
    moves("2026-01-15", "-13mo", "2024-12-15T00:00:00Z");
    moves("2026-11-08", "+2w", "2026-11-22T00:00:00Z");
    moves("2026-11-08T12:00:00+01:00", "-1d12h", "2026-11-06T23:00:00Z"); /* the sign holds for both */
    moves("2026-11-08", "-1d +12h", "2026-11-07T12:00:00Z");
    moves("2026-03-31", "+1d -1mo", "2026-03-01T00:00:00Z"); /* months first, in whatever order they are written */
    moves("2026-11-08", "+90m30s", "2026-11-08T01:30:30Z");
    moves("2026-11-08", "0d", "2026-11-08T00:00:00Z");
}

static void formats(const char *at, const char *format, const char *gives) {
    struct buf out;
    struct why why = {""};
    buf_init(&out, 1000);
    if (moment_format(zone_utc, moment(at), slice_str(format), &out, &why) != ERR_OK)
        fail_msg("%s: %s", format, why.text);
    if (!slice_eq(buf_slice(&out), slice_str(gives)))
        fail_msg("%s %s is `%.*s`, expected `%s`", at, format, (int)out.len, (const char *)out.at, gives);
    buf_fini(&out);
}

static void a_format_is_made_of_its_words(void **state) {
    (void)state;
    formats("2026-11-08T02:30:05", "YYYY-MM-DDThh:mm:ssZ", "2026-11-08T02:30:05Z");
    formats("2026-11-08T02:30:05", "YYYYMMDD", "20261108");
    formats("2026-11-08T02:30:05", "YY/MM/DD hh_mm", "26/11/08 02_30");
    formats("2026-11-08T02:30:05", "DDD X", "312 1794105005");
    formats("0007-01-02", "YYYY-MM", "0007-01");
    formats("2026-01-01", "GGGG-Www-E", "2026-W01-4");
    formats("2027-01-01", "GGGG-Www-E", "2026-W53-5"); /* a year of ISO 8601 begins with its first Thursday's week */
    formats("2024-12-30", "GGGG-Www-E", "2025-W01-1");
    formats("1969-12-31T23:59:59", "X", "-1");
    formats("2026-11-08", "", "");
}

static void wrong_moves_and_formats_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = {"", "-", "1", "d", "-1x", "-1dd", "1 d", "100000d", "-1d?", "- 1d", "1D", "+-1d"};
    struct why why = {""};
    struct buf out;
    int64_t utc = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(moment_move(zone_utc, 0, slice_str(bad[i]), &utc, &why), ERR_INVALID);
        assert_non_null(strstr(why.text, "expected a move like -1d"));
    }
    assert_int_equal(moment_move(zone_utc, 0, SLICE("+9000y"), &utc, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "`+9000y` leads out of the years 1 to 9999"));
    assert_int_equal(moment_move(zone_utc, 0, SLICE("-99999y"), &utc, &why), ERR_INVALID);
    assert_int_equal(moment_move(zone_utc, 0, SLICE("+99999y99999y99999mo"), &utc, &why), ERR_INVALID);
    assert_int_equal(moment_move(zone_utc, moment("9999-12-31"), SLICE("+1d"), &utc, &why), ERR_INVALID);
    assert_int_equal(moment_move(zone_utc, moment("0001-01-01"), SLICE("-1s"), &utc, &why), ERR_INVALID);
    buf_init(&out, 1000);
    assert_int_equal(moment_format(zone_utc, 0, SLICE("YYYY-MM-dd"), &out, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "`d` in the format `YYYY-MM-dd`: expected YYYY YY MM DD hh mm ss"));
    assert_int_equal(moment_format(zone_utc, 0, SLICE("Y"), &out, &why), ERR_INVALID);
    buf_fini(&out);
    assert_false(moment_read(SLICE("yesterday"), zone_utc, &utc));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_and_months_move_the_date),
        cmocka_unit_test(a_format_is_made_of_its_words),
        cmocka_unit_test(wrong_moves_and_formats_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
