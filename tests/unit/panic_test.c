/* panic_test.c: a panic tells the hook first, then stops the process with the fact on stderr. */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mutant.h"

static void kept_facts_pass(void **state) {
    (void)state;
    REQUIRE(1 + 1 == 2);
    ENSURE(state != NULL || true);
}

static void hook_is_called_once(void **state) {
    (void)state;
    assert_panics(REQUIRE(1 + 1 == 3));
    assert_panics(PANIC("told"));
}

static void process_stops_with_the_fact(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        ENSURE(2 < 1);
    }
    (void)close(ends[1]);
    char text[512] = {0};
    assert_true(read(ends[0], text, sizeof text - 1) > 0);
    (void)close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_non_null(strstr(text, "panic_test.c:"));
    assert_non_null(strstr(text, "ensure: 2 < 1"));
}

static void no_mutant_is_active(void **state) {
    (void)state;
    assert_false(MUTANT(forget_cascade));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_facts_pass),
        cmocka_unit_test(hook_is_called_once),
        cmocka_unit_test(process_stops_with_the_fact),
        cmocka_unit_test(no_mutant_is_active),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
