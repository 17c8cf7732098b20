/* base64_test.c: bytes come back as they went in, and what is no base64 is refused in Java's words. */
#include "test.h"

#include "base64.h"

static void text_is_read_as_java_reads_it(void **state) {
    struct arena arena;
    struct why why;
    arena_init(&arena, 1024, 65536);
    (void)state;
    static const struct {
        const char *text, *bytes, *refusal;
    } cases[] = {
        {"", "", NULL},
        {"QQ==", "A", NULL},
        {"QQ", "A", NULL},
        {"QUI=", "AB", NULL},
        {"QUJD", "ABC", NULL},
        {"QUJDRA", "ABCD", NULL},
        {"Q", NULL, "Last unit does not have enough valid bits"},
        {"QQ=", NULL, "Input byte array has wrong 4-byte ending unit"},
        {"=", NULL, "Input byte array has wrong 4-byte ending unit"},
        {"QQ==QQ", NULL, "Input byte array has incorrect ending byte at 4"},
        {"Q Q=", NULL, "Illegal base64 character 20"},
        {"DAG-x", NULL, "Illegal base64 character 2d"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct slice got = {0};
        enum err e = base64_read(slice_str(cases[i].text), &arena, &got, &why);
        assert_int_equal(e, cases[i].bytes != NULL ? ERR_OK : ERR_INVALID);
        if (e == ERR_OK)
            assert_true(slice_eq(got, slice_str(cases[i].bytes)));
        else
            assert_string_equal(why.text, cases[i].refusal);
    }
    arena_fini(&arena);
}

/* The test vectors of RFC 4648, 10. */
static void text_is_written_with_padding(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct buf out;
        buf_init(&out, 100);
        base64_put(&out, slice_str(cases[i][0]));
        assert_true(slice_eq(buf_slice(&out), slice_str(cases[i][1])));
        buf_fini(&out);
    }
}

static void every_byte_comes_back(void **state) {
    (void)state;
    uint8_t bytes[256];
    struct arena arena;
    struct why why;
    struct slice got;
    struct buf text;
    arena_init(&arena, 1024, 65536);
    buf_init(&text, 1024);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)i;
    base64_put(&text, slice_of(bytes, sizeof bytes));
    assert_int_equal(base64_read(buf_slice(&text), &arena, &got, &why), ERR_OK);
    assert_true(slice_eq(got, slice_of(bytes, sizeof bytes)));
    buf_fini(&text);
    arena_fini(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_read_as_java_reads_it),
        cmocka_unit_test(text_is_written_with_padding),
        cmocka_unit_test(every_byte_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
