/* pipes_test.c: what verbs print for programs, by jq: the commands that people type, with what comes out. */
#include "test.h"

#include "transcript.h"

static void every_pipe_gives_this(void **state) {
    (void)state;
    transcript_check("tests/e2e/pipes.txt", 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pipe_gives_this),
    };
    return cmocka_run_group_tests(tests, transcript_setup, transcript_teardown);
}
