/* look_test.c: what people see when they look: jobs and items, reasons, output, word for word. */
#include "test.h"

#include "transcript.h"

static void everything_is_shown_so(void **state) {
    (void)state;
    transcript_check("tests/e2e/look.txt", 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_shown_so),
    };
    return cmocka_run_group_tests(tests, transcript_setup, transcript_teardown);
}
