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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_at_the_later_of_wall_and_log),
        cmocka_unit_test(never_backwards_and_never_a_jump),
        cmocka_unit_test(small_steps_reach_the_wall_clock_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
