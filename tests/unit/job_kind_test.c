/* Tests of job_kind.h: what is format, and what the lines of the table say about each other. */
#include "test.h"

#include <string.h>

#include "job_kind.h"

static void numbers_and_words_of_kinds_are_format(void **state) {
    (void)state;
    static const char *const words[] = {"command", "script", "archive", "service", "http",    "noop",
                                        "sleep",   "fail",   "gate",    "barrier", "external"};
    size_t count = sizeof words / sizeof words[0];
    assert_true(JOB_KIND_COUNT >= count); /* a new one goes to the end */
    for (size_t i = 0; i < count; i++) assert_string_equal(job_kind_words[i], words[i]);
}

static void each_kind_has_a_word_of_its_own(void **state) {
    (void)state;
    for (size_t i = 0; i < JOB_KIND_COUNT; i++)
        for (size_t k = 0; k < i; k++) assert_true(strcmp(job_kind_words[i], job_kind_words[k]) != 0);
}

static void what_ends_on_a_worker_runs_there(void **state) {
    (void)state;
    for (uint8_t kind = 0; kind < JOB_KIND_COUNT; kind++) {
        const struct job_kind_row *row = job_kind_of(kind);
        assert_int_equal(row->runs == JOB_RUNS_NOTHING, row->ends == JOB_ENDS_IN_APPLY);
    }
}

static void only_what_needs_no_worker_stands_before_a_question_of_its_own(void **state) {
    (void)state;
    for (uint8_t kind = 0; kind < JOB_KIND_COUNT; kind++) {
        const struct job_kind_row *row = job_kind_of(kind);
        assert_true(row->asks <= GATE_COUNT);
        if (row->asks != GATE_COUNT) assert_int_equal(row->ends, JOB_ENDS_IN_APPLY);
    }
    assert_int_equal(job_kind_of(JOB_GATE)->asks, GATE_APPROVAL);
    assert_int_equal(job_kind_of(JOB_EXTERNAL)->asks, GATE_EXTERNAL);
    assert_int_equal(job_kind_of(JOB_BARRIER)->asks, GATE_COUNT);
}

static void a_number_that_is_no_kind_may_do_anything(void **state) {
    (void)state;
    assert_int_equal(job_kind_of(JOB_KIND_COUNT)->runs, JOB_RUNS_PROGRAM);
    assert_int_equal(job_kind_of(UINT8_MAX)->ends, JOB_ENDS_ON_WORKER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_words_of_kinds_are_format),
        cmocka_unit_test(each_kind_has_a_word_of_its_own),
        cmocka_unit_test(what_ends_on_a_worker_runs_there),
        cmocka_unit_test(only_what_needs_no_worker_stands_before_a_question_of_its_own),
        cmocka_unit_test(a_number_that_is_no_kind_may_do_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
