/* titan_http_test.c: the HTTP interface of Titan's dashboard, by the built program, used by a client that was written
 * from the description of that interface alone (titan_http_client.py) and shares nothing with us. */
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
static char web[64], titan[64];

static int setup(void **state) {
    (void)state;
    realserver_choose_address(web);
    realserver_choose_address(titan);
    realserver_make(&server);
    const char *const flags[] = {"--titan-http-listen", web, "--titan-listen", titan, "--may-start-workers", "yes"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[i] = flags[i];
    realserver_start(&server);
    realworker_make(&worker, &server, "w");
    realworker_start(&worker, &server);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    if (worker.pid != 0) realworker_kill(&worker); /* what a failed test left running is not waited for */
    (void)realserver_stop(&server);
    realserver_remove(&server);
    return 0;
}

static void play(const char *which) {
    char said[8192];
    if (test_shell(said, sizeof said, "timeout 180 python3 tests/e2e/titan_http_client.py %s %s %s %s %s 2>&1", which,
                   web, titan, server.address, server.data) != 0)
        fail_msg("%s: %s", which, said);
}

#define CASE(name)                   \
    static void name(void **state) { \
        (void)state;                 \
        play(#name);                 \
    }

CASE(scripts_are_uploaded)
CASE(a_name_cannot_lead_elsewhere)
CASE(bad_uploads)
CASE(workspace_files)
CASE(a_large_file_comes_in_pieces)
CASE(a_dag_from_the_page)
CASE(bad_dags)
CASE(a_dag_that_fails)
CASE(no_logs_yet)
CASE(cancel)
CASE(redeploy_and_replay)
CASE(the_manifest_groups)
CASE(bad_manifests)
CASE(a_long_manifest)
CASE(drafts)
CASE(gates)
CASE(a_dag_with_a_gate)
CASE(many_gates_wait)
CASE(workers)
CASE(pages_lead_to_the_console)
CASE(unknown_paths_and_methods)
CASE(pages_of_others_are_refused)
CASE(only_http_is_spoken_here)
CASE(one_connection_many_requests)

/* ---- a server that is killed, or told otherwise ---- */

static void what_was_kept_outlives_the_server(void **state) {
    (void)state;
    play("before_the_kill");
    realserver_kill(&server);
    realserver_start(&server);
    play("after_the_kill");
}

static void what_can_be_run_again_outlives_the_sweep(void **state) {
    (void)state;
    const char *const flags[] = {"--blob-sweep-ms", "10", "--blob-grace-ms", "1000"};
    assert_int_equal(realserver_stop(&server), 0);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) server.flags[6 + i] = flags[i];
    realserver_start(&server);
    play("payloads_outlive_the_sweep");
}

/* ---- settings ---- */

static void the_listener_is_for_this_machine_unless_said(void **state) {
    (void)state;
    struct realcli own;
    realcli_make(&own);
    realcli_refused(&own, "serve --listen 127.0.0.1:0 --titan-http-listen 0.0.0.0:0", 4, "pass --titan-open");
    realcli_stop(&own);
}

static bool log_has(const struct realcli *own, const char *text) {
    char path[160], line[400];
    bool found = false;
    snprintf(path, sizeof path, "%s/serve.log", own->data);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) != NULL) found |= strstr(line, text) != NULL;
    fclose(f);
    return found;
}

static void up_opens_it_too_and_says_when_it_cannot(void **state) {
    (void)state;
    struct realcli own;
    char command[200];
    realcli_make(&own);
    realcli_ok(&own, "up --listen 127.0.0.1:0 --titan=127.0.0.1:0 --titan-http=127.0.0.1:0 --detach", NULL);
    assert_true(log_has(&own, "(Titan's protocol)") && log_has(&own, "(Titan's dashboard)"));
    realcli_stop(&own);
    realcli_make(&own);
    snprintf(command, sizeof command, "up --listen 127.0.0.1:0 --titan-http=%s --detach", web); /* which is taken */
    realcli_refused(&own, command, 9, web);
    realcli_stop(&own);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_are_uploaded),
        cmocka_unit_test(a_name_cannot_lead_elsewhere),
        cmocka_unit_test(bad_uploads),
        cmocka_unit_test(workspace_files),
        cmocka_unit_test(a_large_file_comes_in_pieces),
        cmocka_unit_test(a_dag_from_the_page),
        cmocka_unit_test(bad_dags),
        cmocka_unit_test(a_dag_that_fails),
        cmocka_unit_test(no_logs_yet),
        cmocka_unit_test(cancel),
        cmocka_unit_test(redeploy_and_replay),
        cmocka_unit_test(the_manifest_groups),
        cmocka_unit_test(bad_manifests),
        cmocka_unit_test(a_long_manifest),
        cmocka_unit_test(drafts),
        cmocka_unit_test(gates),
        cmocka_unit_test(a_dag_with_a_gate),
        cmocka_unit_test(many_gates_wait),
        cmocka_unit_test(workers),
        cmocka_unit_test(pages_lead_to_the_console),
        cmocka_unit_test(unknown_paths_and_methods),
        cmocka_unit_test(pages_of_others_are_refused),
        cmocka_unit_test(only_http_is_spoken_here),
        cmocka_unit_test(one_connection_many_requests),
        cmocka_unit_test(what_was_kept_outlives_the_server),
        cmocka_unit_test(what_can_be_run_again_outlives_the_sweep),
        cmocka_unit_test(the_listener_is_for_this_machine_unless_said),
        cmocka_unit_test(up_opens_it_too_and_says_when_it_cannot),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
