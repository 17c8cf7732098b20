/* titan_fleet_test.c: Titan's own workers as members of the cluster. Worker, clients and checks were written from the
 * description of Titan alone (titan_worker.py, titan_fleet.py). */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "realserver.h"

static void play(const char *which) {
    char said[16384], ok[64];
    int code = test_shell(said, sizeof said, "timeout 180 python3 tests/e2e/titan_fleet.py %s %s 2>&1",
                          realserver_binary(), which);
    snprintf(ok, sizeof ok, "ok %s", which);
    if (code != 0 || strstr(said, ok) == NULL) fail_msg("%s", said);
}

#define CASE(name, case_)            \
    static void name(void **state) { \
        (void)state;                 \
        play(case_);                 \
    }

/* clang-format off */
CASE(every_answer_is_titans, "golden")
CASE(it_runs_scripts_and_equal_names_never_mix, "member")
CASE(nobody_elses_jobs_come_to_it, "not_for_others")
CASE(what_a_killed_one_ran_is_run_elsewhere, "killed")
CASE(one_that_stands_still_delays_nobody, "stopped")
CASE(one_that_was_started_again_has_forgotten_its_jobs, "forgotten")
CASE(services_live_through_registering_again, "services")
CASE(a_stop_reaches_a_service_that_comes_back, "stop_in_a_pause")
CASE(archives_go_there, "archives")
CASE(a_full_one_costs_no_try, "saturated")
CASE(output_is_whole_and_in_order, "output")
CASE(a_cancel_reaches_it, "cancelled")
CASE(it_takes_what_it_claims_and_nothing_else, "capabilities")
CASE(it_is_told_to_end, "end_worker")
CASE(a_worker_of_ours_may_be_one, "own_hand")
CASE(types_of_jobs_go_to_handlers, "custom_types")
CASE(it_comes_back_to_a_server_that_was_killed, "server_killed")
/* clang-format on */

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_answer_is_titans),
        cmocka_unit_test(it_runs_scripts_and_equal_names_never_mix),
        cmocka_unit_test(nobody_elses_jobs_come_to_it),
        cmocka_unit_test(what_a_killed_one_ran_is_run_elsewhere),
        cmocka_unit_test(one_that_stands_still_delays_nobody),
        cmocka_unit_test(one_that_was_started_again_has_forgotten_its_jobs),
        cmocka_unit_test(services_live_through_registering_again),
        cmocka_unit_test(a_stop_reaches_a_service_that_comes_back),
        cmocka_unit_test(archives_go_there),
        cmocka_unit_test(a_full_one_costs_no_try),
        cmocka_unit_test(output_is_whole_and_in_order),
        cmocka_unit_test(a_cancel_reaches_it),
        cmocka_unit_test(it_takes_what_it_claims_and_nothing_else),
        cmocka_unit_test(it_is_told_to_end),
        cmocka_unit_test(a_worker_of_ours_may_be_one),
        cmocka_unit_test(types_of_jobs_go_to_handlers),
        cmocka_unit_test(it_comes_back_to_a_server_that_was_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
