/* titan_test.c: Titan's protocol of the built program, used by a client that was written from the description of Titan
 * alone (titan_client.py) and shares nothing with us. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "realcli.h"
#include "realserver.h"
#include "realworker.h"

static struct realserver server;
static struct realworker worker;
static struct realcli aside; /* of a test that needs another server; ended also when it fails */
static char address[64], resp_address[64];

static int setup(void **state) {
    (void)state;
    realserver_choose_address(address);
    realserver_choose_address(resp_address);
    setenv("TITAN_RESP", resp_address, 1);
    realserver_make(&server);
    const char *const flags[] = {"--titan-listen",      address, "--titan-frame-ms", "2000",
                                 "--may-start-workers", "yes",   "--resp-listen",    resp_address};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    realworker_make(&worker, &server, "w");
    realworker_start(&worker, &server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (aside.data[0] != 0) realcli_stop(&aside);
    if (worker.pid != 0) realworker_kill(&worker); /* what a failed test left running is not waited for */
    (void)realserver_stop(&server);
    realserver_remove(&server);
    return 0;
}

static void play_with(const char *which, const char *at, const char *data) {
    char said[8192];
    if (test_shell(said, sizeof said, "timeout 180 python3 tests/e2e/titan_client.py %s %s %s %s 2>&1", which, at, data,
                   realserver_binary()) != 0)
        fail_msg("%s: %s", which, said);
}

static void play(const char *which) {
    play_with(which, address, server.data);
}

#define CASE(name)                   \
    static void name(void **state) { \
        (void)state;                 \
        play(#name);                 \
    }

CASE(frames)
CASE(other_versions_and_too_long_frames_hear_nothing)
CASE(a_frame_may_have_64_mebibytes)
CASE(who_hangs_in_half_a_frame_is_dropped)
CASE(who_goes_without_reading_hurts_nobody)
CASE(unknown_opcodes)
CASE(store)
CASE(text_of_any_language)
CASE(a_dag_runs)
CASE(it_is_a_flow)
CASE(forms_of_a_dag)
CASE(refused_submissions_leave_nothing)
CASE(a_job_alone)
CASE(files_beside_the_script_are_shared)
CASE(jobs_know_where_the_server_is)
CASE(a_job_submits_jobs)
CASE(a_job_speaks_the_protocol_itself)
CASE(an_installed_sdk_wins)
CASE(same_names_never_mix)
CASE(large_scripts)
CASE(priorities_and_first_come)
CASE(a_job_that_nobody_can_run_blocks_nobody)
CASE(failures_and_their_descendants)
CASE(parents_of_earlier_submissions)
CASE(two_jobs_of_one_id_both_run)
CASE(delays)
CASE(cancel)
CASE(output_of_any_size_in_order)
CASE(files)
CASE(large_files)
CASE(run_a_file)
CASE(archives)
CASE(services)
CASE(what_a_failed_deployment_wrote)
CASE(services_of_files_and_archives)
CASE(keys_as_the_store_of_titan_has_them)
CASE(statistics)
CASE(workers_come_and_go)

/* ---- a server that is killed, or told otherwise ---- */

static void what_was_accepted_outlives_the_server(void **state) {
    (void)state;
    play("before_the_kill");
    realserver_kill(&server);
    realserver_start(&server);
    play("after_the_kill");
}

static void it_can_be_told_otherwise(void **state) {
    (void)state;
    const char *const flags[] = {"--titan-dead-status", "FAILED", "--titan-job-seconds", "1",
                                 "--blob-sweep-ms",     "10",     "--blob-grace-ms",     "1000"};
    assert_int_equal(realserver_stop(&server), 0);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[4 + i] = flags[i];
    realserver_start(&server);
    play("dead_is_called_failed");
    play("timeouts_kill_the_tree");
    play("files_outlive_the_sweep");
}

/* ---- settings ---- */

static void the_listener_is_for_this_machine_unless_said(void **state) {
    (void)state;
    struct realcli own;
    realcli_make(&own);
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-listen 0.0.0.0:0", 4, "pass --titan-open");
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-open maybe", 2, "expected yes or no");
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-dead-status GONE", 2, "expected DEAD or FAILED");
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-retry-backoff some", 2, "expected yes or no");
    realcli_stop(&own);
}

static void up_opens_it_too(void **state) {
    (void)state;
    struct realcli own;
    char path[160], line[400];
    bool found = false;
    realcli_make(&own);
    setenv("TITAN_TEST_KEY", "secret", 1);
    struct ran ran = realcli_ok(&own, "up --listen 127.0.0.1:0 --titan=127.0.0.1:0 --detach", NULL);
    unsetenv("TITAN_TEST_KEY");
    assert_has(ran.out, "Titan's protocol is on 127.0.0.1:0");
    assert_has(ran.out, "Jobs get these variables of this environment: all");
    assert_has(realcli_ok(&own, "run -- printenv TITAN_TEST_KEY", NULL).out, "secret");
    snprintf(path, sizeof path, "%s/serve.log", own.data);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) found |= strstr(line, "(Titan's protocol)") != NULL;
    fclose(f);
    assert_true(found);
    realcli_stop(&own);
}

static void up_brings_workers_with_the_load(void **state) {
    (void)state;
    char args[160], at[64];
    realserver_choose_address(at);
    realcli_make(&aside);
    snprintf(args, sizeof args, "up --listen 127.0.0.1:0 --titan=%s --workers 1..3 --slots 1 --idle 1s --detach", at);
    realcli_ok(&aside, args, NULL);
    play_with("a_load_brings_workers_and_its_end_sends_them_away", at, aside.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames),
        cmocka_unit_test(other_versions_and_too_long_frames_hear_nothing),
        cmocka_unit_test(a_frame_may_have_64_mebibytes),
        cmocka_unit_test(who_hangs_in_half_a_frame_is_dropped),
        cmocka_unit_test(who_goes_without_reading_hurts_nobody),
        cmocka_unit_test(unknown_opcodes),
        cmocka_unit_test(store),
        cmocka_unit_test(text_of_any_language),
        cmocka_unit_test(a_dag_runs),
        cmocka_unit_test(it_is_a_flow),
        cmocka_unit_test(forms_of_a_dag),
        cmocka_unit_test(refused_submissions_leave_nothing),
        cmocka_unit_test(a_job_alone),
        cmocka_unit_test(files_beside_the_script_are_shared),
        cmocka_unit_test(jobs_know_where_the_server_is),
        cmocka_unit_test(a_job_submits_jobs),
        cmocka_unit_test(a_job_speaks_the_protocol_itself),
        cmocka_unit_test(an_installed_sdk_wins),
        cmocka_unit_test(same_names_never_mix),
        cmocka_unit_test(large_scripts),
        cmocka_unit_test(priorities_and_first_come),
        cmocka_unit_test(a_job_that_nobody_can_run_blocks_nobody),
        cmocka_unit_test(failures_and_their_descendants),
        cmocka_unit_test(parents_of_earlier_submissions),
        cmocka_unit_test(two_jobs_of_one_id_both_run),
        cmocka_unit_test(delays),
        cmocka_unit_test(cancel),
        cmocka_unit_test(output_of_any_size_in_order),
        cmocka_unit_test(files),
        cmocka_unit_test(large_files),
        cmocka_unit_test(run_a_file),
        cmocka_unit_test(archives),
        cmocka_unit_test(services),
        cmocka_unit_test(what_a_failed_deployment_wrote),
        cmocka_unit_test(services_of_files_and_archives),
        cmocka_unit_test(keys_as_the_store_of_titan_has_them),
        cmocka_unit_test(statistics),
        cmocka_unit_test(workers_come_and_go),
        cmocka_unit_test(what_was_accepted_outlives_the_server),
        cmocka_unit_test(it_can_be_told_otherwise),
        cmocka_unit_test(the_listener_is_for_this_machine_unless_said),
        cmocka_unit_test(up_opens_it_too),
        cmocka_unit_test(up_brings_workers_with_the_load),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
