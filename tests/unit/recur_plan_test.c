/* recur_plan_test.c: calendars of days: what is read, what is refused and in which words, and the slots that are left.
 * Against a search that takes every slot by itself: property/calendar_test.c. */
#include "test.h"

#include <stdio.h>

#include "civil.h"
#include "recur_plan.h"

static struct arena arena;

static void refused(const char *text, const char *words) {
    struct day_calendar c;
    struct why why = {""};
    assert_int_not_equal(day_calendar_read(slice_str(text), &arena, &c, &why), ERR_OK);
    if (strstr(why.text, words) == NULL) fail_msg("`%s` is refused with `%s`, without `%s`", text, why.text, words);
}

static struct recur_plan plan(const char *recurrence, const char *calendar) {
    struct recur_plan p = {.zone = zone_utc};
    struct why why = {""};
    if (recur_read(slice_str(recurrence), &p.recur, &why) != ERR_OK) fail_msg("`%s`: %s", recurrence, why.text);
    if (day_calendar_read(slice_str(calendar), &arena, &p.days, &why) != ERR_OK)
        fail_msg("`%s`: %s", calendar, why.text);
    return p;
}

/* The entries after a moment in UTC; an excluded day is written as -DATE*SLOTS. */
static void follows(const char *recurrence, const char *calendar, const char *after, const char *expected) {
    struct recur_plan p = plan(recurrence, calendar);
    struct recur_entry e;
    char got[512] = "";
    int64_t seconds;
    bool is_utc;
    assert_true(civil_read(slice_str(after), &seconds, &is_utc));
    int64_t at = seconds * 1000;
    while (strlen(got) < strlen(expected)) {
        char text[CIVIL_TEXT_BYTES] = "nothing";
        bool any = recur_plan_next(&p, at, &e);
        if (any) civil_text(e.at_ms / 1000, text);
        size_t len = strlen(got);
        text[any && !e.excluded ? 16 : 10] = 0;
        snprintf(got + len, sizeof got - len, "%s%s%s", len ? " " : "", any && e.excluded ? "-" : "", text);
        len = strlen(got);
        if (any && e.excluded) snprintf(got + len, sizeof got - len, "*%llu", (unsigned long long)e.count);
        if (!any) break;
        at = e.at_ms;
    }
    if (strcmp(got, expected) != 0) fail_msg("%s; %s after %s: %s", recurrence, calendar, after, got);
}

static void an_excluded_day_is_left_out_as_a_whole(void **state) {
    (void)state;
    follows("cron 0 9 * * *", "not 2026-12-25 Christmas Day, 2026-12-26", "2026-12-24T08:00",
            "2026-12-24T09:00 -2026-12-25*1 -2026-12-26*1 2026-12-27T09:00");
    follows("every 15m", "weekdays mon-fri", "2026-11-13T23:40",
            "2026-11-13T23:45 -2026-11-14*96 -2026-11-15*96 2026-11-16T00:00");
    follows("cron */10 8-9 * * *", "not 2026-12-25", "2026-12-25T09:15", "-2026-12-25*4 2026-12-26T08:00");
    follows("at 2026-12-25T09:00", "not 2026-12-25", "2026-12-01", "-2026-12-25*1 nothing");
}

/* Friday the 25th and the weekend behind it are off; Monday is the 28th. */
static void a_slot_moves_to_the_day_before_or_after(void **state) {
    (void)state;
    follows("cron 0 9 25 * *", "weekdays mon-fri; not 2026-12-25; excluded shift_next", "2026-12-01",
            "2026-12-28T09:00 2027-01-25T09:00");
    follows("cron 0 9 25 * *", "weekdays mon-fri; not 2026-12-25; excluded shift_previous", "2026-12-01",
            "2026-12-24T09:00 2027-01-25T09:00");
    follows("cron 0 9 * * *", "weekdays mon-fri; not 2026-12-25; excluded shift_next", "2026-12-24T08:00",
            "2026-12-24T09:00 2026-12-28T09:00 2026-12-29T09:00");
    follows("cron 0 9 * * *", "weekdays mon-fri; not 2026-12-25; excluded shift_next", "2026-12-26T12:00",
            "2026-12-28T09:00");
    follows("at 2026-12-26T18:00", "weekdays mon-fri; excluded shift_previous", "2026-12-01",
            "2026-12-25T18:00 nothing");
    follows("at 2026-12-26T18:00", "weekdays mon-fri; excluded shift_previous", "2026-12-25T19:00", "nothing");
    follows("cron 0 9,17 * * sat", "weekdays mon-fri; excluded shift_next", "2026-11-14T00:00",
            "2026-11-16T09:00 2026-11-16T17:00 2026-11-23T09:00");
    follows("cron 0 9 25 12 *", "not 2026-12-25; excluded run", "2026-12-01", "2026-12-25T09:00");
}

static void nothing_moves_further_than_a_month(void **state) {
    (void)state;
    char text[1024] = "excluded shift_next; not ";
    for (int i = 0; i < 40; i++) {
        size_t len = strlen(text);
        struct civil c = civil_of((civil_days(2026, 3, 1) + i) * CIVIL_DAY);
        snprintf(text + len, sizeof text - len, "%s%d-%02u-%02u", i ? "," : "", c.year, c.month, c.day);
    }
    follows("cron 0 9 * * *", text, "2026-02-28T08:00", "2026-02-28T09:00 2026-04-10T09:00 2026-04-11T09:00");
    follows("cron 0 9 5 * *", text, "2026-02-28T08:00", "2026-04-10T09:00 2026-05-05T09:00"); /* that of 5 April */
    follows("cron 0 9 1 3 *", text, "2026-02-28T08:00", "2027-03-01T09:00");
}

static void a_calendar_that_leaves_nothing_has_no_slot(void **state) {
    (void)state;
    int64_t at;
    struct recur_plan p = plan("cron 0 9 * * sat", "weekdays mon-fri");
    assert_false(recur_plan_next_slot(&p, 0, &at));
    p = plan("cron 0 9 * * sat", "weekdays mon-fri; excluded shift_next");
    assert_true(recur_plan_next_slot(&p, 0, &at));
}

static void days_are_found_by_date_and_have_names(void **state) {
    (void)state;
    struct recur_plan p = plan("every 1d", "not 2026-12-26,2026-12-24 Christmas Eve , 2026-12-26");
    assert_int_equal(p.days.count, 2);
    const struct excluded_day *d = day_calendar_find(&p.days, civil_days(2026, 12, 24));
    assert_non_null(d);
    assert_true(slice_eq(d->name, SLICE("Christmas Eve")));
    assert_null(day_calendar_find(&p.days, civil_days(2026, 12, 25)));
    assert_true(day_calendar_excludes(&p.days, civil_days(2026, 12, 26)));
    assert_true(day_calendar_acts(&p.days));
    p = plan("every 1d", "");
    assert_false(day_calendar_acts(&p.days));
    p = plan("every 1d", "weekdays fri-mon;");
    assert_int_equal(p.days.weekdays, 1 << 5 | 1 << 6 | 1 << 0 | 1 << 1);
}

static void wrong_calendars_are_refused_with_the_reason(void **state) {
    (void)state;
    refused("not tomorrow", "expected a date like 2026-12-24, found `tomorrow`");
    refused("not 2026-02-29", "expected a date");
    refused("not 2026-12-24,,2026-12-25", "expected a date");
    refused("not 2026-12-24T08:00", "expected a date");
    refused("not", "expected a date");
    refused("weekdays foo", "weekday `foo` is out of range");
    refused("weekdays", "weekdays are missing");
    refused("excluded later", "expected skip, shift_next, shift_previous or run");
    refused("colour blue", "expected weekdays, not or excluded");
    refused("weekdays mon; weekdays tue", "`weekdays` is there twice");
    struct why why = {""};
    struct recur_plan p = plan("every 15m", "weekdays mon-fri; excluded shift_next");
    assert_int_equal(recur_plan_check(&p, &why), ERR_INVALID);
    assert_non_null(strstr(why.text, "at most 96 of them"));
    p = plan("cron * * * * *", "weekdays mon-fri; excluded shift_previous");
    assert_int_equal(recur_plan_check(&p, &why), ERR_INVALID);
}

static int prepare(void **state) {
    (void)state;
    arena_init(&arena, 1u << 12, 1u << 20);
    return 0;
}

static int finish(void **state) {
    (void)state;
    arena_fini(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_excluded_day_is_left_out_as_a_whole),
        cmocka_unit_test(a_slot_moves_to_the_day_before_or_after),
        cmocka_unit_test(nothing_moves_further_than_a_month),
        cmocka_unit_test(a_calendar_that_leaves_nothing_has_no_slot),
        cmocka_unit_test(days_are_found_by_date_and_have_names),
        cmocka_unit_test(wrong_calendars_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, prepare, finish);
}
