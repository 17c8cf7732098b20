/* named_test.c: what the table of verbs calls the argument at a place. */
#include "test.h"

#include <stdio.h>

#include "named.h"

static const char *place(const char *args, int at, int count) {
    static char text[64];
    struct cli_verb verb = {.words = "verb", .args = args};
    struct slice found = named_place(&verb, at, count);
    snprintf(text, sizeof text, "%.*s", SLICE_FMT(found));
    return text;
}

static void a_place_has_the_words_of_the_table(void **state) {
    (void)state;
    assert_string_equal(place("FLOW|JOB", 0, 1), "FLOW|JOB");
    assert_string_equal(place("FLOW|JOB", 1, 2), "");
    assert_string_equal(place("[FLOW]", 0, 1), "FLOW");
    assert_string_equal(place("JOB [NAME]", 0, 1), "JOB");
    assert_string_equal(place("JOB [NAME]", 1, 2), "NAME");
    assert_string_equal(place("KEY MEMBER...", 0, 3), "KEY");
    assert_string_equal(place("", 0, 1), "");
}

static void dots_repeat_the_last_place(void **state) {
    (void)state;
    assert_string_equal(place("FLOW|JOB...", 5, 6), "FLOW|JOB");
    assert_string_equal(place("KEY MEMBER...", 2, 3), "MEMBER");
    assert_string_equal(place("[--] COMMAND [ARG]...", 7, 8), "ARG");
}

/* `add [FLOW] FILE|-` with one argument: that is the file. */
static void what_may_be_left_out_is_left_out_from_the_beginning(void **state) {
    (void)state;
    assert_string_equal(place("[FLOW] FILE|-", 0, 1), "FILE|-");
    assert_string_equal(place("[FLOW] FILE|-", 0, 2), "FLOW");
    assert_string_equal(place("[FLOW] FILE|-", 1, 2), "FILE|-");
    assert_string_equal(place("[FLOW] FILE|-", 0, UINT8_MAX), "FLOW");
}

static void a_place_may_be_one_of_several_things(void **state) {
    (void)state;
    assert_true(named_has(SLICE("FLOW|JOB"), "FLOW"));
    assert_true(named_has(SLICE("FLOW|JOB"), "JOB"));
    assert_false(named_has(SLICE("FLOW|JOB"), "LOW"));
    assert_false(named_has(SLICE("FLOWS"), "FLOW"));
    assert_false(named_has(SLICE(""), "FLOW"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_place_has_the_words_of_the_table),
        cmocka_unit_test(dots_repeat_the_last_place),
        cmocka_unit_test(what_may_be_left_out_is_left_out_from_the_beginning),
        cmocka_unit_test(a_place_may_be_one_of_several_things),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
