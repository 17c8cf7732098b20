/* wtime_test.c: the batch clock never goes back, never jumps, and finds the wall clock in the end. */
#include "test.h"

#include "wtime.h"

static void starts_at_the_later_of_wall_and_log(void **state) {
    (void)state;
    struct batch_clock c;
    batch_clock_init(&c, (wall_time){1000}, (mono_time){5}, (wall_time){0});
    assert_int_equal(batch_clock_now(&c, (wall_time){1000}, (mono_time){5}).ms, 1000);
    batch_clock_init(&c, (wall_time){1000}, (mono_time){5}, (wall_time){9000});
    assert_int_equal(batch_clock_now(&c, (wall_time){1000}, (mono_time){5}).ms, 9000);
}

/* The wall clock wanders at random, also backwards. */
static void never_backwards_and_never_a_jump(void **state) {
    (void)state;
    struct test_random r = {5};
    struct batch_clock c;
    int64_t mono = 0;
    batch_clock_init(&c, (wall_time){1000000}, (mono_time){0}, (wall_time){0});
    int64_t last = 1000000;
    int64_t last_mono = 0;
    for (int i = 0; i < 20000; i++) {
        mono += (int64_t)test_random_below(&r, i % 100 == 0 ? 5000 : 30);
        int64_t wall = (int64_t)test_random_below(&r, 4000000);
        int64_t now = batch_clock_now(&c, (wall_time){wall}, (mono_time){mono}).ms;
        assert_true(now >= last);
        assert_true(now - last <= mono - last_mono + (mono - last_mono) / BATCH_CLOCK_SLEW + 1);
        last = now;
        last_mono = mono;
    }
}

static void small_steps_reach_the_wall_clock_too(void **state) {
    (void)state;
    struct batch_clock c;
    batch_clock_init(&c, (wall_time){0}, (mono_time){0}, (wall_time){0});
    int64_t now = 0;
    for (int64_t mono = 0; mono <= 30000; mono++)
        now = batch_clock_now(&c, (wall_time){mono + 1000}, (mono_time){mono}).ms;
    assert_in_range(now, 31000 - 20, 31000);
}

#define DAY_MS INT64_C(86400000)

static void a_log_far_ahead_of_the_wall_clock_is_not_believed(void **state) {
    (void)state;
    struct batch_clock c;
    wall_time wall = {1000 * DAY_MS}, last = {1400 * DAY_MS};
    assert_int_equal(batch_clock_init(&c, wall, (mono_time){5}, last), -400 * DAY_MS);
    assert_int_equal(batch_clock_now(&c, wall, (mono_time){5}).ms, wall.ms);
    last.ms = wall.ms + BATCH_CLOCK_APART_MS; /* so much is drift, and time stands until it is over */
    assert_int_equal(batch_clock_init(&c, wall, (mono_time){5}, last), 0);
    assert_int_equal(batch_clock_now(&c, wall, (mono_time){5}).ms, last.ms);
}

static int64_t steps_after(struct batch_clock *c, int64_t apart_ms, int64_t *mono) {
    for (int64_t end = *mono + 10 * BATCH_CLOCK_PATIENCE_MS; *mono < end; *mono += 1000) {
        int64_t step = batch_clock_step(c, (wall_time){1000 * DAY_MS + apart_ms + *mono}, (mono_time){*mono});
        if (step != 0) return step;
        (void)batch_clock_now(c, (wall_time){1000 * DAY_MS + apart_ms + *mono}, (mono_time){*mono});
    }
    return 0;
}

static void a_wall_clock_that_stays_apart_is_believed_after_a_while(void **state) {
    (void)state;
    struct batch_clock c;
    int64_t mono = 0;
    (void)batch_clock_init(&c, (wall_time){1000 * DAY_MS}, (mono_time){0}, (wall_time){0});
    assert_int_equal(steps_after(&c, 30000, &mono), 0); /* slewed */
    int64_t begun = mono, step = steps_after(&c, -400 * DAY_MS, &mono);
    assert_in_range(-step, 400 * DAY_MS, 400 * DAY_MS + 60000);
    assert_in_range(mono - begun, BATCH_CLOCK_PATIENCE_MS, BATCH_CLOCK_PATIENCE_MS + 2000);
    int64_t now = batch_clock_now(&c, (wall_time){600 * DAY_MS + mono}, (mono_time){mono}).ms;
    assert_int_equal(now, 600 * DAY_MS + mono);
    step = steps_after(&c, 0, &mono); /* and back */
    assert_in_range(step, 400 * DAY_MS - 60000, 400 * DAY_MS + 60000);
}

static void a_wall_clock_that_jumps_about_is_not(void **state) {
    (void)state;
    struct batch_clock c;
    (void)batch_clock_init(&c, (wall_time){1000 * DAY_MS}, (mono_time){0}, (wall_time){0});
    for (int64_t mono = 0; mono < 100 * BATCH_CLOCK_PATIENCE_MS; mono += 10000) {
        wall_time wall = {1000 * DAY_MS + mono + (mono / 10000 % 4 + 1) * DAY_MS};
        assert_int_equal(batch_clock_step(&c, wall, (mono_time){mono}), 0);
        (void)batch_clock_now(&c, wall, (mono_time){mono});
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_at_the_later_of_wall_and_log),
        cmocka_unit_test(never_backwards_and_never_a_jump),
        cmocka_unit_test(small_steps_reach_the_wall_clock_too),
        cmocka_unit_test(a_log_far_ahead_of_the_wall_clock_is_not_believed),
        cmocka_unit_test(a_wall_clock_that_stays_apart_is_believed_after_a_while),
        cmocka_unit_test(a_wall_clock_that_jumps_about_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
