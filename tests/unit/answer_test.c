/* answer_test.c: what the head of a server's answer says about the next attempt. */
#include "test.h"

#include "answer.h"

#define NOW_S 784111777 /* Sun, 06 Nov 1994 08:49:37 GMT */

static uint32_t wait_of(const char *retry_after, const char *date) {
    struct answer a;
    char line[400];
    answer_init(&a, 4096, NULL);
    assert_true(answer_head_line(&a, SLICE("HTTP/1.1 503 Service Unavailable\r\n")));
    if (date != NULL) {
        snprintf(line, sizeof line, "Date: %s\r\n", date);
        assert_true(answer_head_line(&a, slice_str(line)));
    }
    snprintf(line, sizeof line, "Retry-After: %s\r\n", retry_after);
    assert_true(answer_head_line(&a, slice_str(line)));
    uint32_t ms = answer_retry_ms(&a, NOW_S);
    answer_fini(&a);
    return ms;
}

static void a_retry_after_in_seconds_is_a_wait(void **state) {
    (void)state;
    assert_int_equal(wait_of("0", NULL), 0);
    assert_int_equal(wait_of("2", NULL), 2000);
    assert_int_equal(wait_of(" 0120 ", "Sun, 06 Nov 1994 08:49:37 GMT"), 120000);
}

static void huge_numbers_become_the_largest(void **state) {
    (void)state;
    assert_int_equal(wait_of("4294967", NULL), UINT32_MAX);
    assert_int_equal(wait_of("18446744073709551617", NULL), UINT32_MAX);
    assert_int_equal(wait_of("99999999999999999999999999999999999999999999999999999999999999999999999", NULL),
                     UINT32_MAX);
    assert_int_equal(wait_of("Fri, 31 Dec 9999 23:59:59 GMT", NULL), UINT32_MAX);
}

static void dates_in_all_three_forms(void **state) {
    (void)state;
    assert_int_equal(wait_of("Sun, 06 Nov 1994 08:49:40 GMT", NULL), 3000);
    assert_int_equal(wait_of("Sunday, 06-Nov-94 08:50:37 GMT", NULL), 60000);
    assert_int_equal(wait_of("Sun Nov  6 09:49:37 1994", NULL), 3600000);
    assert_int_equal(wait_of("Sun, 06 Nov 1994 08:49:37 GMT", NULL), 0);
    assert_int_equal(wait_of("Sun, 06 Nov 1994 08:49:36 GMT", NULL), 0);
    assert_int_equal(wait_of("Thu, 01 Jan 1970 00:00:00 GMT", NULL), 0);
}

/* The clock of the server may be wrong; what it means is the time between its two dates. */
static void a_date_counts_by_the_clock_of_the_server(void **state) {
    (void)state;
    assert_int_equal(wait_of("Tue, 18 Nov 2025 10:00:05 GMT", "Tue, 18 Nov 2025 10:00:00 GMT"), 5000);
    assert_int_equal(wait_of("Tue, 18 Nov 2025 10:00:05 GMT", "Tue, 18 Nov 2025 10:00:06 GMT"), 0);
    assert_int_equal(wait_of("Sun, 06 Nov 1994 08:49:40 GMT", "yesterday"), 3000);
}

static void anything_else_says_nothing(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "-1",
        "+1",
        "1.5",
        "1s",
        "1, 2",
        "0x10",
        "soon",
        "Sun, 06 Nov 1994",
        "Sun, 06 Nov 1994 08:49:40 GMT later",
        "Sun, 06 Nov 1994 08:49:40 +0100",
        "1994-11-06T08:49:40Z",
        "Sun, 06 Nov 1994 08:49:40                                                           GMT"};
    struct answer none;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (wait_of(texts[i], NULL) != 0) fail_msg("`%s` says %u ms", texts[i], wait_of(texts[i], NULL));
    answer_init(&none, 4096, NULL);
    assert_int_equal(answer_retry_ms(&none, NOW_S), 0);
    answer_fini(&none);
}

/* Bytes that are no UTF-8 would both become the same sign in JSON. */
static void a_name_that_is_no_token_is_left_out(void **state) {
    (void)state;
    struct answer a;
    answer_init(&a, 4096, NULL);
    assert_true(answer_head_line(&a, SLICE("HTTP/1.1 200 OK\r\n")));
    assert_true(answer_head_line(&a, SLICE("\xff: one\r\n")));
    assert_true(answer_head_line(&a, SLICE("\xfe: two\r\n")));
    assert_true(answer_head_line(&a, SLICE("a b: three\r\n")));
    assert_true(answer_head_line(&a, SLICE(": four\r\n")));
    assert_true(answer_head_line(&a, SLICE("X-Good_1!: five\r\n")));
    assert_int_equal(a.header_count, 1);
    assert_true(slice_eq(answer_header(&a, "x-good_1!"), SLICE("five")));
    answer_fini(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_retry_after_in_seconds_is_a_wait),
        cmocka_unit_test(huge_numbers_become_the_largest),
        cmocka_unit_test(dates_in_all_three_forms),
        cmocka_unit_test(a_date_counts_by_the_clock_of_the_server),
        cmocka_unit_test(anything_else_says_nothing),
        cmocka_unit_test(a_name_that_is_no_token_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
