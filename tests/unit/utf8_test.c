/* utf8_test.c: every code point is written and read back, and what is not UTF-8 is not taken for it. */
#include "test.h"

#include <stdio.h>

#include "utf8.h"

static void every_code_point_comes_back(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        if (code >= 0xd800 && code <= 0xdfff) continue;
        uint8_t bytes[UTF8_BYTES_MAX];
        size_t len = utf8_write(code, bytes);
        assert_int_equal(utf8_sequence(slice_of(bytes, len)), len);
        static const uint32_t mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
        uint32_t read = bytes[0] & mask[len];
        for (size_t i = 1; i < len; i++) read = read << 6 | (bytes[i] & 0x3fu);
        assert_int_equal(read, code);
        if (len > 1) assert_int_equal(utf8_sequence(slice_of(bytes, len - 1)), 0);
    }
}

/* All sequences of one to three bytes: as many are valid as there are code points that need so many. */
static void nothing_else_is_valid(void **state) {
    (void)state;
    uint32_t valid[4] = {0};
    for (uint32_t n = 0; n < 1u << 24; n++) {
        uint8_t bytes[3] = {(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
        size_t len = utf8_sequence(slice_of(bytes, 3));
        if (len == 1 && n % 65536 == 0) valid[1]++;
        if (len == 2 && n % 256 == 0) valid[2]++;
        if (len == 3) valid[3]++;
    }
    assert_int_equal(valid[1], 0x80);
    assert_int_equal(valid[2], 0x800 - 0x80);
    assert_int_equal(valid[3], 0x10000 - 0x800 - 0x800);
}

static void a_text_is_valid_as_a_whole(void **state) {
    (void)state;
    assert_true(utf8_is_valid(SLICE("")));
    assert_true(utf8_is_valid(SLICE("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80")));
    assert_false(utf8_is_valid(SLICE("a\xc3")));
    assert_false(utf8_is_valid(SLICE("\xc0\x80")));
    assert_false(utf8_is_valid(SLICE("\xf4\x90\x80\x80")));
}

static void surrogates_are_not_written(void **state) {
    (void)state;
    uint8_t bytes[UTF8_BYTES_MAX];
    assert_panics((void)utf8_write(0xd800, bytes));
    assert_panics((void)utf8_write(0x110000, bytes));
}

static void what_commands_a_terminal_is_not_shown(void **state) {
    (void)state;
    static const struct {
        const char *text, *clean;
    } cases[] = {{"plain", "plain"},
                 {"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80"},
                 {"\x1b[2J\x07\x7f", "?[2J??"},
                 {"a\nb\tc", "a?b?c"},
                 {"\xc2\x9b"
                  "31m",
                  "?31m"},                            /* CSI in one character */
                 {"\xe2\x80\xaegpj.exe", "?gpj.exe"}, /* right to left from here */
                 {"\xe2\x81\xa7x\xe2\x81\xa9", "?x?"},
                 {"\xd8\x9c\xe2\x80\xa8", "??"},
                 {"\xff\xc3", "??"},
                 {"\xd9\x85\xdb\x8c\xe2\x80\x8c", "\xd9\x85\xdb\x8c\xe2\x80\x8c"}, /* Persian needs this one */
                 {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s", cases[i].text);
        utf8_clean(text);
        assert_string_equal(text, cases[i].clean);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point_comes_back),
        cmocka_unit_test(nothing_else_is_valid),
        cmocka_unit_test(a_text_is_valid_as_a_whole),
        cmocka_unit_test(surrogates_are_not_written),
        cmocka_unit_test(what_commands_a_terminal_is_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
