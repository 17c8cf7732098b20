/* schedule_calendar_test.c: what the engine makes of slots on days that the calendar of a schedule leaves out. The
 * calendar itself is the shell's: here a test says which slots there are. */
#include "test.h"

#include "engine_fixture.h"
#include "slot_note.h"
#include "state.h"
#include "view.h"

#define NAME SLICE("nightly")
#define MINUTE 60000

static int setup(void **state) {
    static struct fixture r;
    fixture_init(&r);
    *state = &r;
    return 0;
}

static int teardown(void **state) {
    fixture_fini(*state);
    return 0;
}

static void set(struct fixture *r, enum catch_up catch_up) {
    static struct options options;
    static struct job_spec spec;
    options_default(&options);
    spec = (struct job_spec){.name = SLICE("a"), .body = SLICE("one")};
    struct command cmd = {.kind = CMD_SCHEDULE, .tenant = SLICE("acme")};
    cmd.as.schedule = (struct cmd_schedule){.name = NAME,
                                            .expression = SLICE("every minute"),
                                            .catch_up = catch_up,
                                            .overlap = OVERLAP_QUEUE,
                                            .flow_name = SLICE("night"),
                                            .jobs = {&options, 1, &spec, 1, false},
                                            .calendar = SLICE("not 2026-12-25")};
    if (fixture_command(r, &cmd) != ERR_OK) fail_msg("%s", r->reply.why.text);
}

static struct schedule_view view(const struct fixture *r) {
    struct schedule_view v;
    assert_true(view_schedule(engine_state(r->engine), SLICE("acme"), NAME, &v));
    return v;
}

static const struct slot_note *last_note(const struct fixture *r) {
    struct schedule_view v = view(r);
    assert_true(v.note_count > 0);
    return &v.notes[v.note_count - 1];
}

static enum err tell(struct fixture *r, const int64_t *slots, uint32_t count, uint64_t earlier,
                     const struct cmd_slots_excluded *days, uint32_t day_count) {
    struct command cmd = {.kind = CMD_SCHEDULE_SLOTS};
    cmd.as.schedule_slots =
        (struct cmd_schedule_slots){view(r).revision, view(r).after.ms, slots, count, earlier, true, days, day_count};
    return fixture_command(r, &cmd);
}

static void an_excluded_day_is_told_and_nothing_fires(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL);
    int64_t from = r->in.wall.ms;
    int64_t slots[] = {from + 10 * MINUTE, from + 20 * MINUTE};
    struct cmd_slots_excluded day = {slots[0], from + 5 * MINUTE, 6};
    assert_int_equal(tell(r, slots, 2, 0, &day, 1), ERR_OK);
    struct why_schedule why;
    assert_true(view_why_schedule(engine_state(r->engine), engine_live(r->engine), &r->limits, view(r).revision, &why));
    assert_int_equal(why.next.ms, slots[1]); /* the next that fires */
    fixture_tick(r, 10 * MINUTE - 1);
    assert_int_equal(view(r).note_count, 0);
    fixture_tick(r, 1);
    assert_int_equal(engine_state(r->engine)->flow_last, 0);
    assert_int_equal(view(r).excluded, 6);
    assert_int_equal(view(r).skipped, 0);
    assert_int_equal(view(r).after.ms, slots[0]);
    assert_int_equal(last_note(r)->what, SLOT_EXCLUDED);
    assert_int_equal(last_note(r)->first_ms, day.first_ms);
    assert_int_equal(last_note(r)->count, 6);
    fixture_tick(r, 10 * MINUTE);
    assert_int_equal(engine_state(r->engine)->flow_last, 1);
    fixture_crash(r);
    assert_int_equal(view(r).excluded, 6);
    assert_true(slice_eq(view(r).calendar, SLICE("not 2026-12-25")));
}

/* Of four slots that were missed one is on an excluded day: it is not caught up, and the others are, in order. */
static void a_missed_past_leaves_its_excluded_day_out(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_ALL);
    int64_t from = r->in.wall.ms;
    int64_t slots[] = {from + MINUTE, from + 2 * MINUTE, from + 3 * MINUTE, from + 4 * MINUTE};
    struct cmd_slots_excluded day = {slots[1], slots[1], 1};
    r->in.wall.ms += 60 * MINUTE;
    assert_int_equal(tell(r, slots, 4, 0, &day, 1), ERR_OK);
    fixture_tick(r, 0);
    assert_int_equal(view(r).excluded, 1);
    assert_int_equal(view(r).missed, 0);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).waiting, 2);
}

static void the_newest_missed_slot_is_found_behind_an_excluded_day(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_LAST);
    int64_t from = r->in.wall.ms;
    int64_t slots[] = {from + MINUTE, from + 2 * MINUTE, from + 3 * MINUTE};
    struct cmd_slots_excluded days[] = {{slots[1], slots[1], 1}};
    r->in.wall.ms += 60 * MINUTE;
    assert_int_equal(tell(r, slots, 3, 0, days, 1), ERR_OK);
    fixture_tick(r, 0);
    assert_int_equal(view(r).missed, 1);
    assert_int_equal(view(r).excluded, 1);
    assert_int_equal(view(r).fired, 1);
    assert_int_equal(view(r).fired_slot.ms, slots[2]);
}

/* Nothing but a bound is known of slots that were not named; a day behind them is told after them. */
static void slots_before_an_excluded_day_are_counted_first(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_NONE);
    int64_t slot = r->in.wall.ms + 30 * MINUTE;
    struct cmd_slots_excluded day = {slot, slot, 1};
    r->in.wall.ms += 60 * MINUTE;
    assert_int_equal(tell(r, &slot, 1, 7, &day, 1), ERR_OK);
    fixture_tick(r, 0);
    assert_int_equal(view(r).missed, 7);
    assert_int_equal(view(r).excluded, 1);
    assert_int_equal(view(r).after.ms, slot);
}

static void a_day_without_its_slot_is_refused(void **state) {
    struct fixture *r = *state;
    set(r, CATCH_UP_NONE);
    int64_t slot = r->in.wall.ms + MINUTE;
    struct cmd_slots_excluded days[] = {{slot + 1, slot, 1}, {slot, slot + 1, 1}, {slot, slot, 0}};
    for (uint32_t i = 0; i < 3; i++) assert_int_equal(tell(r, &slot, 1, 0, &days[i], 1), ERR_INVALID);
    assert_int_equal(tell(r, &slot, 1, 0, &days[1], 0), ERR_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_excluded_day_is_told_and_nothing_fires, setup, teardown),
        cmocka_unit_test_setup_teardown(a_missed_past_leaves_its_excluded_day_out, setup, teardown),
        cmocka_unit_test_setup_teardown(the_newest_missed_slot_is_found_behind_an_excluded_day, setup, teardown),
        cmocka_unit_test_setup_teardown(slots_before_an_excluded_day_are_counted_first, setup, teardown),
        cmocka_unit_test_setup_teardown(a_day_without_its_slot_is_refused, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
