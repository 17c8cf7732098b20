/* titan_hand_test.c: the built program as a worker of a Titan master, asked by a master that was written from the
 * description of Titan alone (titan_master.py) and shares nothing with us. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "realserver.h"

static void with_master(const char *what) {
    char said[8192], ok[64];
    int code = test_shell(said, sizeof said, "timeout 180 python3 tests/e2e/titan_master.py %s %s 2>&1",
                          realserver_binary(), what);
    snprintf(ok, sizeof ok, "ok %s", what);
    if (code != 0 || strstr(said, ok) == NULL) fail_msg("%s", said);
}

#define CASE(name, case_)            \
    static void name(void **state) { \
        (void)state;                 \
        with_master(case_);          \
    }

/* clang-format off */
CASE(every_answer_is_titans, "golden")
CASE(frames_come_in_any_pieces, "frames")
CASE(archives_run_in_the_folder_of_their_entry, "archives")
CASE(services_are_stopped_and_started_again, "services")
CASE(a_full_worker_says_so, "saturation")
CASE(equal_names_never_mix, "same_name")
CASE(scripts_lie_in_one_workspace, "workspace")
CASE(output_is_whole_and_in_order, "output")
CASE(a_master_that_was_away_is_told, "master_away")
CASE(a_killed_worker_takes_its_processes_along, "kill_worker")
CASE(another_worker_comes_and_goes, "another_worker")
CASE(a_drained_worker_finishes, "drain")
/* clang-format on */

static void refused(const char *args, const char *said) {
    char got[2048];
    assert_int_not_equal(test_shell(got, sizeof got, "timeout 20 %s worker %s 2>&1", realserver_binary(), args), 0);
    assert_has(got, said);
}

static void its_port_is_not_open_to_others_by_accident(void **state) {
    (void)state;
    refused("--titan-master 127.0.0.1:9 --titan-listen 0.0.0.0:0 --data /tmp/reeve-hand-none", "pass --titan-open");
    refused("--titan-master nowhere --data /tmp/reeve-hand-none", "--titan-master: expected HOST:PORT");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_is_titans),
        cmocka_unit_test(frames_come_in_any_pieces),
        cmocka_unit_test(archives_run_in_the_folder_of_their_entry),
        cmocka_unit_test(services_are_stopped_and_started_again),
        cmocka_unit_test(a_full_worker_says_so),
        cmocka_unit_test(equal_names_never_mix),
        cmocka_unit_test(scripts_lie_in_one_workspace),
        cmocka_unit_test(output_is_whole_and_in_order),
        cmocka_unit_test(a_master_that_was_away_is_told),
        cmocka_unit_test(a_killed_worker_takes_its_processes_along),
        cmocka_unit_test(another_worker_comes_and_goes),
        cmocka_unit_test(a_drained_worker_finishes),
        cmocka_unit_test(its_port_is_not_open_to_others_by_accident),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
