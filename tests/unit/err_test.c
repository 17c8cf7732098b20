/* err_test.c: the table is complete and the text is bounded. */
#include "test.h"

#include "err.h"

static void every_error_has_a_word_of_its_own(void **state) {
    (void)state;
    for (int a = 0; a < ERR_COUNT; a++) {
        assert_true(strlen(err_word((enum err)a)) > 0);
        assert_true(strlen(err_meaning((enum err)a)) > 0);
        assert_true(err_http_status((enum err)a) >= 200);
        assert_int_equal(err_find(slice_str(err_word((enum err)a)), ERR_COUNT), a);
        for (int b = 0; b < a; b++) assert_string_not_equal(err_word((enum err)a), err_word((enum err)b));
        if (a != ERR_OK) assert_int_not_equal(err_exit_code((enum err)a), 0);
    }
    assert_true(err_is_retryable(ERR_BUSY));
    assert_false(err_is_retryable(ERR_CYCLE));
    assert_int_equal(err_find(SLICE("no such word"), ERR_UNKNOWN), ERR_UNKNOWN);
    assert_panics((void)err_word(ERR_COUNT));
}

static void context_grows_and_the_code_stays(void **state) {
    (void)state;
    struct why why;
    assert_int_equal(why_set(&why, ERR_LIMIT, "%d jobs", 7), ERR_LIMIT);
    assert_int_equal(why_wrap(&why, ERR_LIMIT, "flow %s", "f1"), ERR_LIMIT);
    assert_string_equal(why.text, "flow f1: 7 jobs");
    assert_int_equal(why_set(NULL, ERR_IO, "x"), ERR_IO);
    assert_int_equal(why_wrap(NULL, ERR_IO, "x"), ERR_IO);
}

static void long_text_is_cut_and_terminated(void **state) {
    (void)state;
    struct why why;
    (void)why_set(&why, ERR_IO, "%0500d", 1);
    assert_int_equal(strlen(why.text), sizeof why.text - 1);
    (void)why_wrap(&why, ERR_IO, "here");
    assert_int_equal(strlen(why.text), sizeof why.text - 1);
    assert_memory_equal(why.text, "here: 000", 9);
    (void)why_wrap(&why, ERR_IO, "%0500d", 2);
    assert_int_equal(strlen(why.text), sizeof why.text - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_error_has_a_word_of_its_own),
        cmocka_unit_test(context_grows_and_the_code_stays),
        cmocka_unit_test(long_text_is_cut_and_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
