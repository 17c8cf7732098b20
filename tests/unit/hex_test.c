/* hex_test.c: each byte as digits and back, and what is refused. */
#include "test.h"

#include <stdio.h>

#include "hex.h"

static void every_byte_comes_back(void **state) {
    (void)state;
    for (unsigned i = 0; i < 256; i++) {
        uint8_t byte = (uint8_t)i, back = 0;
        char text[3], wanted[3];
        snprintf(wanted, sizeof wanted, "%02x", i);
        hex_write(slice_of(&byte, 1), text);
        assert_string_equal(text, wanted);
        assert_true(hex_read(slice_str(text), 1, &back));
        assert_int_equal(back, byte);
    }
}

static void a_digit_has_its_value_in_either_case(void **state) {
    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *at = c == 0 ? NULL : strchr(digits, (int)c);
        assert_int_equal(hex_digit((uint8_t)c), at == NULL ? -1 : (at - digits) % 16);
    }
}

static void other_texts_are_refused(void **state) {
    (void)state;
    uint8_t ret[2] = {7, 7};
    static const char *const wrong[] = {"", "0", "012", "01234", "012g", "01 2", "012F", "+123", "0x12"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_false(hex_read(slice_str(wrong[i]), 2, ret));
    assert_int_equal(ret[0], 7);
    assert_int_equal(ret[1], 7);
    assert_true(hex_read(SLICE("0fa0"), 2, ret));
    assert_int_equal(ret[0], 0x0f);
    assert_int_equal(ret[1], 0xa0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_comes_back),
        cmocka_unit_test(a_digit_has_its_value_in_either_case),
        cmocka_unit_test(other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
