/* base64_test.c: bytes come out as they went in, and what is no base64 is told by its character. */
#include "test.h"

#include "base64.h"

static void known_texts(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct buf out;
        uint8_t bad = 0;
        buf_init(&out, 64);
        base64_put(&out, slice_str(pairs[i][0]));
        assert_true(slice_eq(buf_slice(&out), slice_str(pairs[i][1])));
        buf_clear(&out);
        assert_true(base64_take(slice_str(pairs[i][1]), &out, &bad));
        assert_true(slice_eq(buf_slice(&out), slice_str(pairs[i][0])));
        buf_fini(&out);
    }
}

static void padding_may_be_left_out(void **state) {
    (void)state;
    struct buf out;
    uint8_t bad = 0;
    buf_init(&out, 64);
    assert_true(base64_take(SLICE("Zm9vYg"), &out, &bad));
    assert_true(slice_eq(buf_slice(&out), SLICE("foob")));
    buf_fini(&out);
}

static void what_does_not_belong_there_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint8_t bad;
    } cases[] = {
        {"!!!", '!'}, {"Zm9v Zm9v", ' '}, {"Zm9v\n", '\n'},  {"Zg=", '='}, {"Z", 0},
        {"Zm9vY", 0}, {"====", '='},      {"Zg==Zg==", '='}, {"=", '='},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out;
        uint8_t bad = 1;
        buf_init(&out, 64);
        buf_put_u8(&out, 'x');
        assert_false(base64_take(slice_str(cases[i].text), &out, &bad));
        assert_int_equal(bad, cases[i].bad);
        assert_int_equal(out.len, 1);
        buf_fini(&out);
    }
}

static void any_bytes_come_back(void **state) {
    (void)state;
    struct test_random random = {7};
    for (size_t len = 0; len < 300; len++) {
        uint8_t bytes[300], bad = 0;
        struct buf text, out;
        for (size_t i = 0; i < len; i++) bytes[i] = (uint8_t)test_random_next(&random);
        buf_init(&text, 1000);
        buf_init(&out, 1000);
        base64_put(&text, slice_of(bytes, len));
        assert_true(base64_take(buf_slice(&text), &out, &bad));
        assert_true(slice_eq(buf_slice(&out), slice_of(bytes, len)));
        buf_fini(&text);
        buf_fini(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts),
        cmocka_unit_test(padding_may_be_left_out),
        cmocka_unit_test(what_does_not_belong_there_is_named),
        cmocka_unit_test(any_bytes_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
