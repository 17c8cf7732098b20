/* spec_calendar_test.c: the calendar of a schedule as a flow file has it, and the days of calendar files. */
#include "test.h"

#include <stdio.h>

#include "flowlab.h"

static void days_of(const char *file, const char *expected) {
    struct buf out;
    struct why why = {""};
    buf_init(&out, 1u << 16);
    if (spec_calendar_file(SLICE("days"), slice_str(file), FLOWLAB_NOW_MS, &out, &why) != ERR_OK)
        fail_msg("`%s`: %s", file, why.text);
    if (!slice_eq(buf_slice(&out), slice_str(expected)))
        fail_msg("`%s` names %.*s", file, (int)out.len, (const char *)out.at);
    buf_fini(&out);
}

static void refused(const char *file, const char *words) {
    struct buf out;
    struct why why = {""};
    buf_init(&out, 1u << 16);
    assert_int_not_equal(spec_calendar_file(SLICE("days"), slice_str(file), FLOWLAB_NOW_MS, &out, &why), ERR_OK);
    if (strstr(why.text, words) == NULL) fail_msg("`%s` is refused with `%s`, without `%s`", file, why.text, words);
    buf_fini(&out);
}

static void a_file_of_lines_names_its_days(void **state) {
    (void)state;
    days_of("2026-12-25", "2026-12-25");
    days_of("# of the office\n2026-12-24 Christmas Eve\r\n\n2026-12-25\n", "2026-12-24 Christmas Eve,2026-12-25");
    days_of("---\nholidays:\n  - 2026-12-24\n  - \"2026-12-25\"  # Christmas\n", "2026-12-24,2026-12-25 Christmas");
    days_of("2026-12-24: 'Eve; of, it'\n", "2026-12-24 Eve  of  it"); /* no sign of the calendar's own is left */
    days_of("\xef\xbb\xbf"
            "2026-12-24\n",
            "2026-12-24");
    refused("2026-12-24\ntomorrow\n", "days:2: expected a date like 2026-12-25, found `tomorrow`");
    refused("2026-02-29\n", "expected a date");
    refused("# nothing\n", "names no day");
    refused("", "names no day");
}

static void an_icalendar_file_names_the_days_of_its_events(void **state) {
    (void)state;
    days_of("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20261224\r\nDTEND;VALUE=DATE:20261226\r\n"
            "SUMMARY:Christmas\\, both\r\nEND:VEVENT\r\nBEGIN:VEVENT\r\nDTSTART:20270101T000000Z\r\nEND:VEVENT\r\n"
            "END:VCALENDAR\r\n",
            "2026-12-24 Christmas  both,2026-12-25 Christmas  both,2027-01-01");
    /* the test's present is November 2023 */
    days_of("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20200229\nRRULE:FREQ=YEARLY\nSUMMARY:Leap\n"
            "END:VEVENT\nEND:VCALENDAR\n",
            "2024-02-29 Leap,2028-02-29 Leap,2032-02-29 Leap");
    refused("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20200101\nRRULE:FREQ=WEEKLY\nSUMMARY:S\nEND:VEVENT\n",
            "repeats by the rule `FREQ=WEEKLY`; only FREQ=YEARLY is read");
    refused("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:S\nEND:VEVENT\n", "event `S` has no DTSTART");
    refused("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:soon\nEND:VEVENT\n", "expected a date like 20261225");
    refused("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20200101\nDTEND:20300101\nEND:VEVENT\n", "more than 366 days");
    refused("BEGIN:VCALENDAR\nEND:VCALENDAR\n", "names no day");
}

static void calendar_is(const char *schedule, const char *expected) {
    struct flowlab l;
    struct wire_schedule_set m;
    char text[512];
    flowlab_init(&l);
    l.has_slot = true;
    snprintf(text, sizeof text, "name: n\nschedule: %s\njobs: {a: x}\n", schedule);
    if (flowlab_read(&l, slice_str(text), NULL) != ERR_OK) fail_msg("%s: %s", schedule, l.why.text);
    assert_int_equal(spec_schedule_message(&l.schedule, &l.arena, &m, &l.why), ERR_OK);
    if (!slice_eq(m.calendar, slice_str(expected)))
        fail_msg("%s: the calendar is `%.*s`", schedule, SLICE_FMT(m.calendar));
    flowlab_fini(&l);
}

static void bad(const char *schedule, bool has_slot, const char *words) {
    struct flowlab l;
    char text[512];
    flowlab_init(&l);
    l.has_slot = has_slot;
    snprintf(text, sizeof text, "name: n\nschedule: %s\njobs: {a: x}\n", schedule);
    enum err e = flowlab_read(&l, slice_str(text), NULL);
    if (words == NULL && e != ERR_OK) fail_msg("%s: %s", schedule, l.why.text);
    if (words != NULL && (e == ERR_OK || strstr(l.why.text, words) == NULL))
        fail_msg("%s: `%s`, without `%s`", schedule, l.why.text, words);
    flowlab_fini(&l);
}

static void a_schedule_says_on_which_days_it_does_not_run(void **state) {
    (void)state;
    calendar_is("'0 9 * * *'", "");
    calendar_is("{cron: '0 9 * * *', calendar: {not: [2026-12-24, 2026-12-25 Christmas]}}",
                "not 2026-12-24,2026-12-25 Christmas");
    calendar_is("{cron: '0 9 * * *', calendar: {weekdays: mon-fri, not: 2026-12-25, on_excluded: shift_next}}",
                "weekdays mon-fri; not 2026-12-25; excluded shift_next");
    calendar_is("{cron: '0 9 * * *', calendar: {weekdays: [mon, wed-fri]}}", "weekdays mon,wed-fri");
    calendar_is("{cron: '0 9 * * *', calendar: days.txt}", "not 2026-12-24 Christmas Eve,2026-12-25");
    calendar_is("{cron: '0 9 * * *', calendar: {file: [days.txt], not: 2026-12-26}}",
                "not 2026-12-26,2026-12-24 Christmas Eve,2026-12-25");
    bad("{every: 15m, calendar: {weekdays: mon-fri, on_excluded: shift_next}}", true, "needs times of the day");
    bad("{every: 15m, calendar: {not: soon}}", true, "expected a date like 2026-12-24, found `soon`");
    bad("{every: 15m, calendar: {weekday: mon}}", true, "weekdays");
    bad("{every: 15m, calendar: {file: none.ics}}", true, "none.ics: No such file");
    bad("{every: 15m, calendar: {file: none.ics}}", false, NULL); /* a submit does not ask what the schedule needs */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_of_lines_names_its_days),
        cmocka_unit_test(an_icalendar_file_names_the_days_of_its_events),
        cmocka_unit_test(a_schedule_says_on_which_days_it_does_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
