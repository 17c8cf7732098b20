/* vec_test.c: growth and exact reservation. */
#include "test.h"

#include "vec.h"

static void numbers_come_back_in_order(void **state) {
    (void)state;
    struct u32vec v = {0};
    for (uint32_t i = 0; i < 1000; i++) u32vec_push(&v, i * 3);
    assert_int_equal(v.count, 1000);
    for (uint32_t i = 0; i < 1000; i++) assert_int_equal(v.at[i], i * 3);
    u32vec_fini(&v);
    assert_null(v.at);
}

static void reserve_is_exact(void **state) {
    (void)state;
    struct u32vec v = {0};
    u32vec_reserve(&v, 7);
    assert_int_equal(v.slots, 7);
    u32vec_reserve(&v, 3);
    assert_int_equal(v.slots, 7);
    u32vec_fini(&v);
}

static void elements_start_at_zero(void **state) {
    (void)state;
    struct vec v;
    vec_init(&v, 12);
    for (uint32_t i = 0; i < 100; i++) {
        uint8_t *at = vec_push(&v);
        for (int k = 0; k < 12; k++) assert_int_equal(at[k], 0);
        memset(at, (int)i, 12);
    }
    for (uint32_t i = 0; i < 100; i++) assert_int_equal(*(uint8_t *)vec_at(&v, i), i);
    vec_fini(&v);
}

static void arrays_end_in_steps(void **state) {
    (void)state;
    struct u32vec numbers = {0};
    struct vec v;
    vec_init(&v, 12);
    for (uint32_t i = 0; i < 1000; i++) {
        u32vec_push(&numbers, i);
        vec_push(&v);
    }
    uint32_t slots = numbers.slots, steps = 0;
    assert_false(u32vec_release(&numbers, 399));
    assert_int_equal(numbers.slots, slots - 100);
    assert_int_equal(numbers.at[500], 500);
    while (!u32vec_release(&numbers, 399)) steps++;
    assert_int_equal(steps, (slots - 1) / 100 - 1);
    assert_null(numbers.at);
    for (steps = 1; !vec_release(&v, 1200); steps++) assert_true(v.count <= v.slots);
    assert_in_range(steps, 1000 / 101, 1500 / 101 + 1);
    assert_null(v.at);
}

/* Memory that is not ours is neither freed nor resized: both would abort here. */
static void the_first_number_may_lie_with_the_owner(void **state) {
    (void)state;
    uint32_t place = 0;
    struct u32vec v = {0};
    u32vec_lend(&v, &place, 7);
    assert_ptr_equal(v.at, &place);
    assert_int_equal(v.count, 1);
    assert_int_equal(place, 7);
    assert_int_equal(v.slots, 0); /* nothing is held from the system */
    u32vec_reserve(&v, 1);
    assert_ptr_equal(v.at, &place);
    u32vec_fini(&v);
    assert_null(v.at);

    u32vec_lend(&v, &place, 8);
    for (uint32_t i = 9; i < 100; i++) u32vec_push(&v, i);
    assert_ptr_not_equal(v.at, &place);
    for (uint32_t i = 0; i < v.count; i++) assert_int_equal(v.at[i], 8 + i);
    u32vec_fini(&v);

    u32vec_lend(&v, &place, 3);
    v.count = 0;
    u32vec_push(&v, 4);
    assert_int_equal(v.at[0], 4);
    u32vec_fini(&v);
    u32vec_lend(&v, &place, 5);
    assert_true(u32vec_release(&v, 1));
    assert_null(v.at);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back_in_order),
        cmocka_unit_test(reserve_is_exact),
        cmocka_unit_test(elements_start_at_zero),
        cmocka_unit_test(arrays_end_in_steps),
        cmocka_unit_test(the_first_number_may_lie_with_the_owner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
