/* mistakes_test.c: the messages for typical mistakes, word for word, with their exit codes. */
#include "test.h"

#include "transcript.h"

static void every_mistake_is_answered_so(void **state) {
    (void)state;
    transcript_check("tests/e2e/mistakes.txt", 40);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mistake_is_answered_so),
    };
    return cmocka_run_group_tests(tests, transcript_setup, transcript_teardown);
}
