/* buf_test.c: round trips, the sticky marks, and the one form of a varint. */
#include "test.h"

#include <inttypes.h>
#include <stdio.h>

#include "buf.h"

static void what_is_put_is_read_back(void **state) {
    (void)state;
    struct buf b;
    buf_init(&b, 1 << 20);
    buf_put_u8(&b, 1);
    buf_put_u16(&b, 0x0203);
    buf_put_u32(&b, 0x04050607);
    buf_put_u64(&b, 0x08090a0b0c0d0e0f);
    buf_put_varint(&b, 300);
    buf_put_str(&b, SLICE("text"));
    buf_printf(&b, "%d-%s", 42, "x");
    static const uint8_t fixed[] = {1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8, 0xac, 2, 4, 't', 'e', 'x', 't'};
    assert_memory_equal(b.at, fixed, sizeof fixed);

    struct cursor c = cursor_of(buf_slice(&b));
    assert_int_equal(cursor_u8(&c), 1);
    assert_int_equal(cursor_u16(&c), 0x0203);
    assert_int_equal(cursor_u32(&c), 0x04050607);
    assert_int_equal(cursor_u64(&c), 0x08090a0b0c0d0e0f);
    assert_int_equal(cursor_varint(&c), 300);
    assert_true(slice_eq(cursor_str(&c), SLICE("text")));
    assert_true(slice_eq(cursor_bytes(&c, 4), SLICE("42-x")));
    assert_int_equal(cursor_left(&c), 0);
    assert_false(c.bad);
    buf_fini(&b);
}

static void full_is_sticky_until_cut(void **state) {
    (void)state;
    struct buf b;
    buf_init(&b, 10);
    buf_put(&b, "12345678", 8);
    buf_put_u32(&b, 1);
    assert_true(b.full);
    assert_int_equal(b.len, 8);
    buf_put_u8(&b, 1); /* would fit, but comes after a drop */
    assert_int_equal(b.len, 8);
    assert_null(buf_space(&b, 1));
    buf_cut(&b, 4);
    buf_put(&b, "abcdef", 6);
    assert_false(b.full);
    assert_true(slice_eq(buf_slice(&b), SLICE("1234abcdef")));
    assert_panics(buf_cut(&b, 11));
    buf_clear(&b);
    assert_int_equal(b.len, 0);
    buf_fini(&b);
}

static void long_printf_is_whole_or_absent(void **state) {
    (void)state;
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, "%0600d", 7);
    assert_int_equal(b.len, 600);
    assert_int_equal(b.at[599], '7');
    buf_printf(&b, "%0600d", 7);
    assert_true(b.full);
    assert_int_equal(b.len, 600);
    buf_fini(&b);
}

static void every_varint_has_one_form(void **state) {
    (void)state;
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, 1ull << 63, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct buf b;
        buf_init(&b, 64);
        buf_put_varint(&b, values[i]);
        struct cursor c = cursor_of(buf_slice(&b));
        assert_int_equal(cursor_varint(&c), values[i]);
        assert_false(c.bad);
        for (size_t cut = 0; cut < b.len; cut++) {
            c = cursor_of(slice_of(b.at, cut));
            (void)cursor_varint(&c);
            assert_true(c.bad);
        }
        buf_fini(&b);
    }
    struct cursor overlong = cursor_of(SLICE("\x81\x00"));
    (void)cursor_varint(&overlong);
    assert_true(overlong.bad);
    struct cursor wide = cursor_of(SLICE("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"));
    (void)cursor_varint(&wide);
    assert_true(wide.bad);
}

static void bad_is_sticky(void **state) {
    (void)state;
    struct cursor c = cursor_of(SLICE("ab"));
    assert_int_equal(cursor_u32(&c), 0);
    assert_true(c.bad);
    assert_int_equal(cursor_u8(&c), 0);
    assert_int_equal(cursor_bytes(&c, 1).len, 0);
    struct cursor lie = cursor_of(SLICE("\x05"
                                        "ab"));
    assert_int_equal(cursor_str(&lie).len, 0);
    assert_true(lie.bad);
    struct cursor nothing = cursor_of(slice_of(NULL, 0));
    assert_int_equal(cursor_bytes(&nothing, 0).len, 0);
    assert_false(nothing.bad);
}

static void zigzag_round_trips(void **state) {
    (void)state;
    static const int64_t values[] = {0, -1, 1, INT64_MIN, INT64_MAX, -300};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_int_equal(unzigzag(zigzag(values[i])), values[i]);
    }
    assert_int_equal(zigzag(-1), 1);
    assert_int_equal(zigzag(1), 2);
}

static void decimals_are_as_printf_has_them(void **state) {
    (void)state;
    static const uint64_t values[] = {0, 9, 10, 99, 100, 1234567890, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct buf b;
        char expected[24];
        buf_init(&b, 100);
        buf_put_decimal(&b, values[i]);
        snprintf(expected, sizeof expected, "%" PRIu64, values[i]);
        assert_true(slice_eq(buf_slice(&b), slice_str(expected)));
        buf_fini(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_read_back),
        cmocka_unit_test(full_is_sticky_until_cut),
        cmocka_unit_test(long_printf_is_whole_or_absent),
        cmocka_unit_test(every_varint_has_one_form),
        cmocka_unit_test(bad_is_sticky),
        cmocka_unit_test(zigzag_round_trips),
        cmocka_unit_test(decimals_are_as_printf_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
