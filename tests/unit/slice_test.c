/* slice_test.c: equality and order of borrowed bytes. */
#include "test.h"

#include "slice.h"

static void equal_bytes_are_equal(void **state) {
    (void)state;
    assert_true(slice_eq(SLICE(""), slice_of(NULL, 0)));
    assert_true(slice_eq(SLICE("a\0b"), slice_of("a\0b", 3)));
    assert_false(slice_eq(SLICE("a"), SLICE("ab")));
    assert_false(slice_eq(SLICE("a"), SLICE("b")));
}

static void order_is_by_bytes_then_length(void **state) {
    (void)state;
    static const struct slice sorted[] = {
        {NULL, 0},
        {(const uint8_t *)"a", 1},
        {(const uint8_t *)"a\0", 2},
        {(const uint8_t *)"ab", 2},
        {(const uint8_t *)"b", 1},
        {(const uint8_t *)"\xff", 1},
    };
    int count = sizeof sorted / sizeof sorted[0];
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < count; k++) assert_int_equal(slice_cmp(sorted[i], sorted[k]), (i > k) - (i < k));
    }
}

static void no_bytes_have_an_address_for_libraries(void **state) {
    (void)state;
    assert_non_null(slice_data((struct slice){0}));
    assert_ptr_equal(slice_data(SLICE("a")), SLICE("a").ptr);
}

static void a_text_begins_with_its_beginning(void **state) {
    (void)state;
    assert_true(slice_begins(SLICE("ab"), SLICE("a")));
    assert_true(slice_begins((struct slice){0}, (struct slice){0}));
    assert_true(slice_begins(SLICE("a"), (struct slice){0}));
    assert_false(slice_begins(SLICE("a"), SLICE("ab")));
    assert_false(slice_begins(SLICE("ba"), SLICE("a")));
}

static void a_base_name_is_behind_the_last_slash(void **state) {
    (void)state;
    assert_true(slice_eq(slice_base_name(SLICE("a/b/c")), SLICE("c")));
    assert_true(slice_eq(slice_base_name(SLICE("c")), SLICE("c")));
    assert_int_equal(slice_base_name(SLICE("a/")).len, 0);
    assert_int_equal(slice_base_name((struct slice){0}).len, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_bytes_are_equal),
        cmocka_unit_test(no_bytes_have_an_address_for_libraries),
        cmocka_unit_test(a_text_begins_with_its_beginning),
        cmocka_unit_test(order_is_by_bytes_then_length),
        cmocka_unit_test(a_base_name_is_behind_the_last_slash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
