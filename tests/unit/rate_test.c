/* rate_test.c: how often someone may come. */
#include "test.h"

#include "rate.h"

static struct rate r;

static int teardown(void **state) {
    (void)state;
    rate_fini(&r);
    return 0;
}

#define SECOND_NS INT64_C(1000000000)

static void a_burst_then_one_by_one(void **state) {
    (void)state;
    rate_init(&r, SECOND_NS, 3);
    for (int i = 0; i < 3; i++) assert_int_equal(rate_take(&r, 7, 1000), 0);
    assert_int_equal(rate_take(&r, 7, 1000), 1000);
    assert_int_equal(rate_wait(&r, 7, 1400), 600);
    assert_int_equal(rate_take(&r, 7, 1400), 600); /* who was refused has not made it worse */
    assert_int_equal(rate_take(&r, 7, 2000), 0);
    assert_int_equal(rate_take(&r, 7, 2001), 999);
    assert_int_equal(rate_take(&r, 8, 2001), 0);                               /* another one */
    for (int i = 0; i < 3; i++) assert_int_equal(rate_take(&r, 7, 100000), 0); /* no more than a burst is saved up */
    assert_true(rate_take(&r, 7, 100000) > 0);
}

static void asking_takes_nothing(void **state) {
    (void)state;
    rate_init(&r, SECOND_NS, 1);
    for (int i = 0; i < 10; i++) assert_int_equal(rate_wait(&r, 7, 50), 0);
    assert_int_equal(rate_take(&r, 7, 50), 0);
    assert_int_equal(rate_wait(&r, 7, 50), 1000);
}

/* However many names someone has, memory is bounded, and so is what they get together. */
static void many_names_share(void **state) {
    (void)state;
    rate_init(&r, SECOND_NS, 1);
    uint32_t passed = 0;
    for (uint64_t key = 1; key <= 100000; key++) passed += rate_take(&r, key, 5) == 0;
    assert_true(passed <= 1024);
    assert_int_equal(r.slots.count, 1024);
    assert_int_equal(rate_take(&r, 1, 100000), 0); /* and later they are forgotten */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_burst_then_one_by_one, teardown),
        cmocka_unit_test_teardown(asking_takes_nothing, teardown),
        cmocka_unit_test_teardown(many_names_share, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
