/* crashtest_test.c: `reeve crashtest` on its command line: a few rounds, what it prints, what it refuses, and that
 * nothing is left behind. Many rounds, and power cuts, are run with the release build (crash/kills, crash/power). */
#include "test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "realcli.h"
#include "realserver.h"

static struct realcli r;

static int setup(void **state) {
    (void)state;
    realcli_make(&r);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", r.data);
    return system(command);
}

static void nothing_is_left(void) {
    DIR *d = opendir(r.data);
    assert_non_null(d);
    for (struct dirent *f = readdir(d); f != NULL; f = readdir(d))
        if (f->d_name[0] != '.') fail_msg("%s was left behind", f->d_name);
    closedir(d);
}

static void a_few_rounds_lose_nothing(void **state) {
    (void)state;
    struct ran ran = realcli_ok(&r, "crashtest --rounds 6 --seed 11 --json", NULL);
    assert_has(ran.out, "{\"rounds\":6,\"power_cut\":false,\"seed\":11,");
    assert_has(ran.out, "\"lost\":0,\"jobs_run\":");
    assert_has(ran.out, "\"run_twice\":0,\"ended_badly\":0,\"hung\":0,\"is_down\":false,");
    assert_has(ran.out, "\"limits\":{\"acknowledged\":4,\"lost\":0,");
    assert_has_not(ran.out, "\"acknowledged\":0,\"lost\":0,\"jobs_run\""); /* it did something */
    nothing_is_left();
}

static void people_get_a_table(void **state) {
    (void)state;
    struct ran ran = realcli_ok(&r, "crashtest --rounds 2", NULL);
    assert_has(ran.out, "acknowledged       lost");
    assert_has(ran.out, "at a random moment ");
    assert_has(ran.out, "that hang: 0");
    assert_has(ran.out, "from a start to the first answer: ");
    ran = realcli_ok(&r, "crashtest --help", NULL);
    assert_has(ran.out, "--power-cut");
    nothing_is_left();
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    realcli_refused(&r, "crashtest --rounds 0", 2, "a number from 1 to");
    realcli_refused(&r, "crashtest --rounds x", 2, "a number from 1 to");
    realcli_refused(&r, "crashtest --patience 0", 2, "a number from 1 to");
    realcli_refused(&r, "crashtest --wrong", 2, "there is no flag --wrong");
    realcli_refused(&r, "crashtest --lie", 2, "--lie goes with --power-cut");
    realcli_refused(&r, "crashtest --data /nowhere", 5, "/nowhere");
}

static void ended_early_it_leaves_nothing(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "timeout -k 30 -s TERM 2 %s crashtest --rounds 1000 --data %s >/dev/null 2>&1",
             realserver_binary(), r.data);
    assert_int_not_equal(system(command), 0);
    nothing_is_left();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_few_rounds_lose_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(people_get_a_table, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_requests_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(ended_early_it_leaves_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
